"""Walk a tree: every entry met, with size, time and what the rules say about it.

Nothing is read here and no link is followed, so a ring of links ends at once and each real file comes once. A folder
that is out comes as one entry whose path ends with "/". The indexer judges each file again when it reads it.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from msgspec import Struct

from shared.errors import ErrorCode, KxError
from shared.relpath import RelPath, decode_path, encode_path, parent
from shared.treerules import Folder, SkipReason, TreeRules, errno_name

_GONE = ("ENOENT", "ENOTDIR")


class WalkEntry(Struct, frozen=True, gc=False):
    """One entry of the tree.

    Size and time are 0 for what the rules keep out: nobody cares that an ignored log grows, and when the rules change
    their mind the entry differs from what was known, in both directions.
    """

    path: RelPath
    size: int  # bytes
    mtime_ns: int
    is_dir_pruned: bool
    reason: SkipReason | None = None  # None: to be read
    detail: str = ""
    ctime_ns: int = 0  # nobody can set it back


def walk(
    root: Path, rules: TreeRules, subtrees: Sequence[str] = ("",), stop: Callable[[], bool] = lambda: False
) -> Iterator[WalkEntry]:
    """Give every entry of the subtrees; "" is the whole tree, a subtree may be a file or be gone.

    `stop` is asked once a folder; when it says yes the walk ends early. A subtree inside a folder that is out gives
    nothing. Order: a folder's files before its folders, otherwise as the system lists them.

    Raises:
        KxError: ROOT_MISSING if the root cannot be listed, so that it is never taken for an empty tree.
    """
    raw_root = os.fsencode(os.path.realpath(root))
    _check_root(raw_root, root)
    waiting: list[RelPath] = []
    for subtree in _outermost(subtrees):
        yield from _begin(raw_root, rules, subtree, waiting)
    while waiting and not stop():
        yield from _list_folder(raw_root, rules, waiting)


def _check_root(raw_root: bytes, root: Path) -> None:
    try:
        os.scandir(raw_root).close()
    except OSError as error:
        raise KxError(
            ErrorCode.ROOT_MISSING,
            "the root {root} cannot be listed ({reason})",
            hint="mount or restore it; if it was moved: kx project move",
            retryable=True,
            root=str(root),
            reason=errno_name(error),
        ) from error


def _outermost(subtrees: Sequence[str]) -> list[RelPath]:
    """Drop repeats and what lies in another subtree."""
    kept: list[RelPath] = []
    for subtree in sorted({subtree.strip("/") for subtree in subtrees}):
        if not any(outer == "" or subtree.startswith(outer + "/") for outer in kept):
            kept.append(RelPath(subtree))
    return kept


def _begin(raw_root: bytes, rules: TreeRules, subtree: RelPath, waiting: list[RelPath]) -> Iterator[WalkEntry]:
    if subtree == "":
        waiting.append(subtree)
        return
    above = rules.folder(parent(subtree))
    if above.out is not None:
        if above.out.reason is SkipReason.UNREADABLE and above.out.detail not in _GONE:
            yield _pruned(subtree, SkipReason.UNREADABLE, above.out.detail)
        return
    try:
        status = os.lstat(_raw(raw_root, subtree))
    except OSError as error:
        if errno_name(error) not in _GONE:
            yield _pruned(subtree, SkipReason.UNREADABLE, errno_name(error))
        return  # gone: the caller sees that it is not among the entries
    yield from _entry(rules, above, subtree, status, waiting)


def _list_folder(raw_root: bytes, rules: TreeRules, waiting: list[RelPath]) -> Iterator[WalkEntry]:
    rel = waiting.pop()
    folder = rules.folder(rel)
    prefix = f"{rel}/" if rel else ""
    try:
        listing = _scan(_raw(raw_root, rel))
    except FileNotFoundError:
        return
    except OSError as error:
        yield _pruned(rel, SkipReason.UNREADABLE, errno_name(error))
        return
    found: list[RelPath] = []
    for name, entry in listing:
        path = RelPath(prefix + name)
        try:
            status = entry.stat(follow_symlinks=False)
        except FileNotFoundError:
            continue
        except OSError as error:
            yield _kept_out(path, SkipReason.UNREADABLE, errno_name(error))
            continue
        yield from _entry(rules, folder, path, status, found)
    waiting.extend(reversed(found))


def _scan(path: bytes) -> list[tuple[str, os.DirEntry[bytes]]]:
    with os.scandir(path) as entries:
        return sorted((encode_path(entry.name), entry) for entry in entries)


def _entry(
    rules: TreeRules, folder: Folder, path: RelPath, status: os.stat_result, waiting: list[RelPath]
) -> Iterator[WalkEntry]:
    if stat.S_ISDIR(status.st_mode):
        out = rules.folder(path).out
        if out is None:
            waiting.append(path)
        else:
            yield _pruned(path, out.reason, out.detail)
        return
    verdict = rules.judge_file(folder, path, status)
    if verdict.reason is None:
        yield WalkEntry(path, status.st_size, status.st_mtime_ns, False, ctime_ns=status.st_ctime_ns)
    else:
        yield _kept_out(path, verdict.reason, verdict.detail)


def _kept_out(path: RelPath, reason: SkipReason, detail: str) -> WalkEntry:
    return WalkEntry(path, 0, 0, False, reason, detail)


def _pruned(rel: str, reason: SkipReason | None, detail: str) -> WalkEntry:
    return WalkEntry(RelPath(rel + "/"), 0, 0, True, reason, detail)


def _raw(raw_root: bytes, rel: str) -> bytes:
    return raw_root + b"/" + decode_path(rel) if rel else raw_root
