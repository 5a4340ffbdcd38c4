"""One path as the rules, the disk and the index have it: what a search could know of it."""

from __future__ import annotations

import os
import stat

from msgspec import Struct

from services.query.adapters.projects import SearchProject
from services.query.adapters.reader import Snapshot
from shared.errors import ErrorCode, KxError
from shared.identity import ChunkId, TextHash
from shared.pathgate import PathGate
from shared.relpath import RelPath, parent
from shared.treerules import SkipReason, TreeRules, errno_name

MAX_CHUNKS = 20_000  # of one file: 10 MB of text have fewer

_DOCUMENT = "SELECT id, kind, state, reason, detail, size, mtime_ns, ctime_ns FROM document{e} WHERE path = ?"
_CHUNKS = """
SELECT c.id, c.start_line, c.end_line, c.text_hash, m.text_hash IS NULL, coalesce(f.code, '')
FROM chunk{e} c LEFT JOIN missing{e} m ON m.text_hash = c.text_hash
LEFT JOIN failure f ON f.subject = c.text_hash AND f.next_try_ns = 0
WHERE c.document = ? ORDER BY c.ordinal LIMIT ?
"""
_TEXT = "SELECT heading, symbols, text FROM chunk{e} WHERE id = ?"


class KeptOut(Struct, frozen=True, kw_only=True):
    """A rule that keeps the path out."""

    reason: str  # as in `kx status --skipped`
    detail: str
    folder: str = ""  # the folder that is out, where it is not the path itself


class OnDisk(Struct, frozen=True, kw_only=True):
    """What stands at the path now; None of all of it: nothing."""

    status: os.stat_result | None = None
    kept_out: KeptOut | None = None

    @property
    def is_folder(self) -> bool:
        """Whether it is a folder."""
        return self.status is not None and stat.S_ISDIR(self.status.st_mode)


class KnownDocument(Struct, frozen=True, kw_only=True):
    """The index's row of the path."""

    document: int
    kind: str
    state: str
    reason: str
    detail: str
    size: int
    mtime_ns: int
    ctime_ns: int

    def is_as_indexed(self, status: os.stat_result) -> bool:
        """Tell whether the file looks as it did when it was handled."""
        same = (self.size, self.mtime_ns) == (status.st_size, status.st_mtime_ns)
        return same and self.ctime_ns in {0, status.st_ctime_ns}


class KnownPassage(Struct, frozen=True, kw_only=True):
    """One passage of the document in the index."""

    chunk: ChunkId
    start_line: int  # 1-based, inclusive
    end_line: int
    text_hash: TextHash
    has_vector: bool
    failure: str = ""  # error code of a text that was set aside


def look(project: SearchProject, path: str) -> OnDisk:
    """Judge a path as the watcher and the indexer do; blocks for the ignore files. A denied path is not looked at.

    Raises:
        KxError: ROOT_MISSING.
    """
    rules = TreeRules(project.root, project.rules)
    denied = rules.denies(path)
    if denied is not None:
        return OnDisk(kept_out=KeptOut(reason=SkipReason.DENIED, detail=denied))
    try:
        status = PathGate(project.root).status(path)
    except (FileNotFoundError, NotADirectoryError):
        return OnDisk()
    except (OSError, ValueError) as error:
        detail = errno_name(error) if isinstance(error, OSError) else "bad path"
        return OnDisk(kept_out=KeptOut(reason=SkipReason.UNREADABLE, detail=detail))
    verdict = rules.verdict(RelPath(path), status)
    if verdict.admitted:
        return OnDisk(status=status)
    folder = rules.folder(path if stat.S_ISDIR(status.st_mode) else parent(path))
    above = folder.rel if verdict.pruned and folder.rel != path else ""
    kept_out = KeptOut(reason=str(verdict.reason), detail=verdict.detail, folder=above)
    return OnDisk(status=status, kept_out=kept_out)


def known_document(snapshot: Snapshot, path: str) -> KnownDocument | None:
    """Give the index's row of a path; blocks."""
    for row in snapshot.all(_DOCUMENT, (path,)):
        return KnownDocument(
            document=int(row[0]),  # type: ignore[arg-type]
            kind=str(row[1]),
            state=str(row[2]),
            reason=str(row[3]),
            detail=str(row[4]),
            size=int(row[5]),  # type: ignore[arg-type]
            mtime_ns=int(row[6]),  # type: ignore[arg-type]
            ctime_ns=int(row[7]),  # type: ignore[arg-type]
        )
    return None


def known_passages(snapshot: Snapshot, document: int) -> list[KnownPassage]:
    """List the passages of a document in their order; blocks."""
    return [
        KnownPassage(
            chunk=ChunkId(int(row[0])),  # type: ignore[arg-type]
            start_line=int(row[1]),  # type: ignore[arg-type]
            end_line=int(row[2]),  # type: ignore[arg-type]
            text_hash=TextHash(bytes(row[3])),  # type: ignore[arg-type]
            has_vector=bool(row[4]),
            failure=str(row[5]),
        )
        for row in snapshot.all(_CHUNKS, (document, MAX_CHUNKS))
    ]


def searched_text(snapshot: Snapshot, chunk: ChunkId) -> str:
    """Give all the lexical lane knows of a passage besides its path; blocks."""
    return "\n".join(str(value) for row in snapshot.all(_TEXT, (chunk,)) for value in row)


def no_file(path: str) -> KxError:
    """Say that a folder cannot be examined."""
    return KxError(
        ErrorCode.BAD_REQUEST,
        "{path} is a folder, and answers show files",
        hint="name a file in it, as kx search prints them",
        path=path,
    )
