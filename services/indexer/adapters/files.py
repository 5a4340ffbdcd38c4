"""One path of a project to its text, or to the reason why it has none.

What is returned is what stood in the file at one moment: the status before and after reading must be the same. The
rules are asked before anything is opened, and the path gate opens.
"""

from __future__ import annotations

import hashlib
import os
import stat

from msgspec import Struct

from shared.decoding import Refused, decode
from shared.errors import ErrorCode, KxError
from shared.exclusions import excluded_text
from shared.kinds import FileType, Kind, classify, document_kind
from shared.pathgate import PathGate
from shared.relpath import RelPath, decode_path
from shared.treerules import SkipReason, TreeRules, Verdict, errno_name

MIN_CHARS = 2  # non-blank; less says nothing
_FIRST_LINE_CHARS = 200  # a shebang is short
_GONE = (FileNotFoundError, NotADirectoryError)


class ReadDocument(Struct, frozen=True, kw_only=True):
    """A file that is indexed."""

    path: RelPath
    file_type: FileType
    text: str
    content_hash: bytes  # SHA-256 of the raw bytes
    size: int  # bytes
    mtime_ns: int
    ctime_ns: int
    encoding: str
    sealed: bytes = b""  # of a document whose text is still to be extracted


class Skipped(Struct, frozen=True, kw_only=True):
    """An entry that is not indexed, and why.

    Size and time are 0 unless the content decided: then the same content is not read again. So a walk's entry differs
    from the known one as soon as the rules change their mind, and what could not be read is tried at each walk.
    """

    reason: SkipReason
    detail: str = ""
    size: int = 0  # bytes
    mtime_ns: int = 0
    ctime_ns: int = 0
    below_pruned: bool = False  # a folder above is out: it is the entry that counts, this one is none


class Gone(Struct, frozen=True):
    """Nothing to index is at the path. With `is_folder` a folder is there now, whose files come by themselves."""

    is_folder: bool = False


class Unstable(Struct, frozen=True):
    """The file changed while it was read: ask again."""


def read_document(gate: PathGate, rules: TreeRules, rel: RelPath) -> ReadDocument | Skipped | Gone | Unstable:
    """Read one file of the tree.

    Raises:
        KxError: ROOT_MISSING if the root is not the one the gate was made for.
    """
    try:
        before = gate.status(rel)
    except _GONE:
        return Gone()
    except (OSError, ValueError) as error:
        return _unreadable(error)
    verdict = rules.verdict(rel, before)
    if not verdict.admitted:
        return _skipped(verdict)
    if stat.S_ISDIR(before.st_mode):
        return Gone(is_folder=True)
    try:
        data = _read_unchanged(gate, rel, before)
    except _GONE:
        return Gone()
    except OSError as error:
        return _unreadable(error)
    except KxError as error:
        if error.code is ErrorCode.ROOT_MISSING:
            raise
        return _skip_read(SkipReason.SYMLINK, "met while opening", before)
    return Unstable() if data is None else _document(rules, rel, data, before)


def read_folder(gate: PathGate, rules: TreeRules, rel: RelPath) -> Skipped | Gone:
    """Judge a folder that was met as one entry; its path ends with "/". Gone means that it is not out any more."""
    path = rel.rstrip("/")
    try:
        status = gate.status(path)
    except _GONE:
        return Gone()
    except (OSError, ValueError) as error:
        return _unreadable(error)
    if not stat.S_ISDIR(status.st_mode):
        return Gone()
    folder = rules.folder(path)
    if folder.out is not None:
        return Skipped(
            reason=folder.out.reason or SkipReason.UNREADABLE,
            detail=folder.out.detail,
            below_pruned=folder.rel != path,
        )
    try:
        os.scandir(os.fsencode(gate.root) + b"/" + decode_path(path)).close()
    except OSError as error:
        return _unreadable(error)
    return Gone(is_folder=True)


def _read_unchanged(gate: PathGate, rel: RelPath, before: os.stat_result) -> bytes | None:
    """Read all of a file; None if it is not the one that was judged, or changes meanwhile."""
    opened = gate.open_file(rel, follow=False)
    with os.fdopen(opened.fd, "rb", buffering=0) as file:
        if _state(opened.stat) != _state(before):
            return None
        data = file.read(before.st_size + 1) if before.st_size else b""
        while len(data) < before.st_size:
            more = file.read(before.st_size + 1 - len(data))
            if not more:
                return None
            data += more
        after = os.fstat(file.fileno())
    return data if len(data) == before.st_size and _state(after) == _state(before) else None


def _document(rules: TreeRules, rel: RelPath, data: bytes, status: os.stat_result) -> ReadDocument | Skipped:
    if document_kind(rel) is not None:
        return _read(_file_type(rules, rel, ""), rel, data, status, sealed=data)
    decoded = decode(data)
    if isinstance(decoded, Refused):
        return _skip_read(SkipReason(decoded.reason), decoded.detail, status)
    letters = "".join(decoded.text[:1000].split()) or "".join(decoded.text.split())
    if len(letters) < MIN_CHARS:
        reason = SkipReason.TOO_SHORT if letters else SkipReason.EMPTY
        return _skip_read(reason, f"{len(letters)} characters that are no blanks", status)
    file_type = _file_type(rules, rel, decoded.text)
    excluded = excluded_text(file_type.language, decoded.text)
    if excluded is not None:
        return _skip_read(SkipReason.EXCLUDED_FILE, excluded, status)
    return _read(file_type, rel, data, status, text=decoded.text, encoding=decoded.encoding)


def _read(  # noqa: PLR0913  # the fields of what was read
    file_type: FileType,
    rel: RelPath,
    data: bytes,
    status: os.stat_result,
    *,
    text: str = "",
    encoding: str = "",
    sealed: bytes = b"",
) -> ReadDocument:
    return ReadDocument(
        path=rel,
        file_type=file_type,
        text=text,
        content_hash=hashlib.sha256(data).digest(),
        size=status.st_size,
        mtime_ns=status.st_mtime_ns,
        ctime_ns=status.st_ctime_ns,
        encoding=encoding,
        sealed=sealed,
    )


def _file_type(rules: TreeRules, rel: RelPath, text: str) -> FileType:
    judged = classify(rel, text[:_FIRST_LINE_CHARS].partition("\n")[0])
    source = rules.source_of(rel)
    return FileType(Kind(source.type), judged.language) if source is not None and source.type else judged


def _state(status: os.stat_result) -> tuple[int, ...]:
    return (status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns, status.st_ctime_ns, status.st_mode)


def _skipped(verdict: Verdict) -> Skipped:
    return Skipped(reason=verdict.reason or SkipReason.UNREADABLE, detail=verdict.detail, below_pruned=verdict.pruned)


def _skip_read(reason: SkipReason, detail: str, status: os.stat_result) -> Skipped:
    return Skipped(
        reason=reason, detail=detail, size=status.st_size, mtime_ns=status.st_mtime_ns, ctime_ns=status.st_ctime_ns
    )


def _unreadable(error: Exception) -> Skipped:
    detail = errno_name(error) if isinstance(error, OSError) else "bad path"
    return Skipped(reason=SkipReason.UNREADABLE, detail=detail)
