"""Which entries of one tree are read: every rule there is, asked folder by folder as git does.

Order of judgement: denied, ignored by the configuration, ignored by git's rules, links and special files, built-in
exclusions, sources, size, hard links. What lies in a folder that is out is out with it, so nothing comes back below.
`.vault/` and sources that name a place are read even when git ignores them.

Rules are read once and kept: after a change to a file that `governs` names, make a new `TreeRules`.
"""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Callable
from enum import StrEnum
from pathlib import Path
from typing import Literal

from msgspec import Struct

from shared.deny import DenyList
from shared.document_kinds import EXTRA, can_read
from shared.exclusions import excluded_file, excluded_folder
from shared.gitfiles import GitLink, git_link, ignores_case
from shared.ignore import IgnoreFile, Match, as_byte_text
from shared.ignorelists import IGNORE_FILE, IgnoreLists
from shared.kinds import VAULT, document_kind
from shared.relpath import RelPath, decode_path, encode_path, name, parent
from shared.sources import SourceConfig, Sources

CONFIG_FILES = (".kx.json", ".xindex.json")


class SkipReason(StrEnum):
    """Why an entry of the tree is not a document; the words of `kx status --skipped`."""

    DENIED = "denied"
    GITIGNORED = "gitignored"
    IGNORED = "ignored"
    EXCLUDED_DIR = "excluded_dir"
    EXCLUDED_FILE = "excluded_file"
    NOT_IN_SOURCES = "not_in_sources"
    TOO_LARGE = "too_large"
    EMPTY = "empty"
    TOO_SHORT = "too_short"
    BINARY = "binary"
    UNDECODABLE = "undecodable"
    SYMLINK = "symlink"
    SYMLINK_OUT = "symlink_out"
    BROKEN_LINK = "broken_link"
    HARD_LINK = "hard_link"
    SPECIAL_FILE = "special_file"
    WORKTREE = "worktree"
    UNREADABLE = "unreadable"


class RulesConfig(Struct, frozen=True, kw_only=True):
    """What a project's configuration says about its files."""

    deny: tuple[str, ...] = ()
    allow_denied: tuple[str, ...] = ()  # the user's own, see `shared/grants.py`
    ignore_files: tuple[str, ...] = ()
    max_file_bytes: int = 10_000_000
    hard_links: Literal["allow", "deny"] = "allow"
    sources: tuple[SourceConfig, ...] = ()


class Verdict(Struct, frozen=True):
    """What the rules say about one entry; `pruned` means a whole folder is out, and this entry with it."""

    admitted: bool
    reason: SkipReason | None = None
    detail: str = ""
    pruned: bool = False


ADMITTED = Verdict(admitted=True)


class Folder(Struct, frozen=True):
    """What is known about a folder: whether it is out, and the ignore files in force inside."""

    rel: RelPath
    out: Verdict | None = None
    lists: tuple[IgnoreFile, ...] = ()  # the deepest first, then info/exclude, then the user's
    fold: bool = False  # case does not count in this repository
    ignored: Match | None = None  # set where git ignores the folder but something named lies below


class TreeRules:
    """The rules of one tree.

    Raises:
        KxError: `KX_CONFIG_INVALID` for a pattern of the denylist or a source that cannot be accepted.
    """

    def __init__(self, root: Path, config: RulesConfig, *, home: Path | None = None) -> None:
        self.root = Path(os.path.realpath(root))
        self.config = config
        self._raw_root = os.fsencode(self.root)
        self._deny = DenyList(config.deny, config.allow_denied)
        self._sources = Sources(config.sources)
        configured = IgnoreFile.parse("\n".join(config.ignore_files), source="ignoreFiles")
        self._configured = (configured,) if configured else ()
        self._ignore_lists = IgnoreLists(self.root, home)
        lists, fold = self._ignore_lists.of_root()
        self._folders = {"": Folder(RelPath(""), lists=lists, fold=fold)}
        self._denied_files: set[tuple[int, int]] | None = None

    def verdict(self, rel: str, status: os.stat_result) -> Verdict:
        """Judge the entry at `rel`, whose `lstat` is `status`."""
        folder = self.folder(parent(rel))
        if folder.out is not None:
            self._remember_denied(folder.out, status)
            return folder.out
        if stat.S_ISDIR(status.st_mode):
            return self.folder(rel).out or ADMITTED
        return self.judge_file(folder, rel, status)

    def denies(self, rel: str) -> str | None:
        """Give the denylist pattern that forbids a path, whatever stands there; for checks at query time."""
        return self._deny.denies(rel)

    def source_of(self, rel: str) -> SourceConfig | None:
        """Give the source a file belongs to: the deepest that takes it."""
        return self._sources.best(rel)

    @staticmethod
    def governs(rel: str) -> bool:
        """Tell whether a change of this file changes the rules, so that a new `TreeRules` and a walk are due."""
        return name(rel) == IGNORE_FILE or rel in CONFIG_FILES or rel.endswith(".git/info/exclude")

    def folder(self, rel: str) -> Folder:
        """Give what is known about a folder; below one that is out, that one."""
        known = self._folders.get(rel)
        if known is not None:
            return known
        missing: list[str] = []
        while known is None:
            missing.append(rel)
            rel = parent(rel)
            known = self._folders.get(rel)
        while missing and known.out is None:
            rel = missing.pop()
            known = self._enter(known, RelPath(rel))
            if known.out is None or known.out.reason is not SkipReason.UNREADABLE:
                self._folders[rel] = known
        return known

    def judge_file(self, folder: Folder, rel: str, status: os.stat_result) -> Verdict:
        """Judge what is no folder, knowing its folder."""
        denied = self._deny.denies_entry(rel)
        if denied is not None:
            verdict = _skip(SkipReason.DENIED, denied)
            self._remember_denied(verdict, status)
            return verdict
        path = as_byte_text(rel)
        match = _last_match(self._configured, path, is_dir=False)
        if match is not None and match.ignored:
            return _skip(SkipReason.IGNORED, _said_by(match))
        match = folder.ignored or _last_match(folder.lists, path, is_dir=False)
        if match is not None and match.ignored and not self._is_lifted(rel):
            return _skip(SkipReason.GITIGNORED, _said_by(match))
        if not stat.S_ISREG(status.st_mode):
            return self._judge_special(rel, status)
        return self._judge_regular(rel, status)

    def _judge_special(self, rel: str, status: os.stat_result) -> Verdict:
        if not stat.S_ISLNK(status.st_mode):
            return _skip(SkipReason.SPECIAL_FILE, _special_kind(status.st_mode))
        try:
            target = os.path.realpath(self._path(rel), strict=True)
        except OSError as error:
            return _skip(SkipReason.BROKEN_LINK, errno_name(error))
        if target == self._raw_root or target.startswith(self._raw_root.rstrip(b"/") + b"/"):
            inside = target[len(self._raw_root.rstrip(b"/")) + 1 :]
            return _skip(SkipReason.SYMLINK, f"-> {encode_path(inside) or '.'}")
        return _skip(SkipReason.SYMLINK_OUT)

    def _judge_regular(self, rel: str, status: os.stat_result) -> Verdict:
        excluded = excluded_file(rel)
        if excluded is not None:
            return _skip(SkipReason.EXCLUDED_FILE, excluded)
        kind = document_kind(rel)
        if kind is not None and not can_read(kind):
            return _skip(SkipReason.EXCLUDED_FILE, f"document (.{kind}): its text needs the extra {EXTRA}")
        if name(rel) == ".git":
            return _skip(SkipReason.EXCLUDED_FILE, "link to a git folder")
        if not self._sources.takes(rel) and not _in_vault(rel):
            return _skip(SkipReason.NOT_IN_SOURCES)
        if status.st_size == 0:
            return _skip(SkipReason.EMPTY)
        if status.st_size > self.config.max_file_bytes:
            return _skip(SkipReason.TOO_LARGE, f"{status.st_size} bytes, the limit is {self.config.max_file_bytes}")
        if status.st_nlink > 1:
            return self._judge_hard_link(status)
        return ADMITTED

    def _judge_hard_link(self, status: os.stat_result) -> Verdict:
        if self.config.hard_links == "deny":
            return _skip(SkipReason.HARD_LINK, f"{status.st_nlink} names, and indexing.hardLinks is deny")
        if self._denied_files is None:
            self._denied_files = self._find_denied_files()
        if (status.st_dev, status.st_ino) in self._denied_files:
            return _skip(SkipReason.HARD_LINK, "another name of a denied file")
        return ADMITTED

    def _remember_denied(self, verdict: Verdict, status: os.stat_result) -> None:
        if verdict.reason is SkipReason.DENIED and self._denied_files is not None and stat.S_ISREG(status.st_mode):
            self._denied_files.add((status.st_dev, status.st_ino))

    def _find_denied_files(self) -> set[tuple[int, int]]:
        """Find the identity of every denied file, also inside folders that are out: a link may lead out of them."""
        found: set[tuple[int, int]] = set()
        waiting = [("", False)]
        while waiting:
            folder, is_denied = waiting.pop()
            try:
                with os.scandir(self._path(folder)) as entries:
                    for entry in entries:
                        rel = f"{folder}/{encode_path(entry.name)}" if folder else encode_path(entry.name)
                        denied = is_denied or self._deny.denies_entry(rel) is not None
                        if entry.is_dir(follow_symlinks=False):
                            waiting.append((rel, denied))
                        elif denied:
                            status = entry.stat(follow_symlinks=False)
                            found.add((status.st_dev, status.st_ino))
            except OSError:
                continue  # what cannot be listed cannot be opened through its folder either
        return found

    def _enter(self, above: Folder, rel: RelPath) -> Folder:
        path = self._path(rel)
        try:
            status = os.lstat(path)
        except OSError as error:
            return Folder(rel, out=_prune(SkipReason.UNREADABLE, errno_name(error)))
        if not stat.S_ISDIR(status.st_mode):
            verdict = self.judge_file(above, rel, status)
            return Folder(rel, out=_prune(verdict.reason or SkipReason.SPECIAL_FILE, verdict.detail))
        link = git_link(Path(os.fsdecode(path))) if os.path.lexists(path + b"/.git") else None
        match = above.ignored or _last_match(above.lists, as_byte_text(rel), is_dir=True)
        ignored = match if match is not None and match.ignored else None
        out = self._judge_folder(rel, path, link, ignored)
        if out is not None:
            return Folder(rel, out=out)
        fold = above.fold if link is None else ignores_case(link)
        own = self._ignore_lists.of_folder(path, rel, fold=fold)
        outer = above.lists if link is None else self._ignore_lists.of_repository(link, rel)
        return Folder(rel, lists=own + outer, ignored=ignored, fold=fold)

    def _judge_folder(self, rel: RelPath, path: bytes, link: GitLink | None, ignored: Match | None) -> Verdict | None:
        denied = self._deny.denies_entry(rel)
        if denied is not None:
            return _prune(SkipReason.DENIED, denied)
        configured = _last_match(self._configured, as_byte_text(rel), is_dir=True)
        if configured is not None and configured.ignored:
            return _prune(SkipReason.IGNORED, _said_by(configured))
        if ignored is not None and not self._is_lifted(rel) and not self._sources.leads_to_named(rel):
            return _prune(SkipReason.GITIGNORED, _said_by(ignored))
        excluded = excluded_folder(name(rel), inside=_exists_in(path), beside=_exists_in(path.rpartition(b"/")[0]))
        if excluded is not None:
            return _prune(SkipReason.EXCLUDED_DIR, excluded)
        if link is not None and link.is_worktree and self._is_copy(link):
            return _prune(SkipReason.WORKTREE, "a second work tree of a repository that is read here")
        if not self._sources.reaches(rel) and not _in_vault(rel):
            return _prune(SkipReason.NOT_IN_SOURCES)
        return None

    def _is_copy(self, link: GitLink) -> bool:
        main = link.main_tree
        return main is not None and (main.is_relative_to(self.root) or self.root.is_relative_to(main))

    def _is_lifted(self, rel: str) -> bool:
        return _in_vault(rel) or self._sources.named(rel)

    def _path(self, rel: str) -> bytes:
        return self._raw_root + b"/" + decode_path(rel) if rel else self._raw_root


def _last_match(lists: tuple[IgnoreFile, ...], path: str, *, is_dir: bool) -> Match | None:
    for list_ in lists:
        match = list_.match_byte_text(path, is_dir)
        if match is not None:
            return match
    return None


def _in_vault(rel: str) -> bool:
    return rel == VAULT or rel.startswith(VAULT + "/")


def _exists_in(folder: bytes) -> Callable[[str], bool]:
    return lambda rel: os.path.lexists(folder + b"/" + rel.encode())


def _skip(reason: SkipReason, detail: str = "") -> Verdict:
    return Verdict(admitted=False, reason=reason, detail=detail)


def _prune(reason: SkipReason, detail: str = "") -> Verdict:
    return Verdict(admitted=False, reason=reason, detail=detail, pruned=True)


def _said_by(match: Match) -> str:
    return f"{match.source}:{match.line}: {match.pattern}"


def _special_kind(mode: int) -> str:
    for test, kind in ((stat.S_ISFIFO, "pipe"), (stat.S_ISSOCK, "socket"), (stat.S_ISBLK, "device")):
        if test(mode):
            return kind
    return "device" if stat.S_ISCHR(mode) else "special"


def errno_name(error: OSError) -> str:
    """Give the short name of an operating system's error, such as "EACCES"."""
    return errno.errorcode.get(error.errno or 0, "error")
