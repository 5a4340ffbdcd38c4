"""One followed tree: its rules as they are now, walks of it, and a look at single paths.

Remembers which entries the rules keep out, so that a log nobody reads can grow without a word to the indexer. All of it
blocks and runs in threads; `is_of_interest` is called from the watch's own.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Callable, Sequence

from msgspec import Struct

from services.watcher.adapters.roots import RootIdentity, root_identity
from services.watcher.adapters.walk import WalkEntry, walk
from services.watcher.core.noise import is_git_internal, is_own_file, scope_of
from shared.config_watch import ConfigWatch
from shared.errors import ErrorCode, KxError
from shared.exclusions import judged_by
from shared.messages import ManifestEntry
from shared.registry import Project
from shared.relpath import decode_path, encode_path, parent
from shared.settings import Settings
from shared.treerules import SkipReason, TreeRules

_GONE = (FileNotFoundError, NotADirectoryError)


class Met(Struct, frozen=True, kw_only=True):
    """What a walk met."""

    entries: list[ManifestEntry]
    unreadable: tuple[str, ...]  # of these, and of what is below, nothing is known


class Sighting(Struct, frozen=True, kw_only=True):
    """What a look at some paths found."""

    touched: list[str]  # for the indexer to look at: files first, then what is gone
    folders: list[str]  # folders: what is in them came without an event
    scopes: list[str]  # folders whose rules changed


class WatchedTree:
    """The tree of one registered project."""

    def __init__(self, project: Project, settings: Settings) -> None:
        self.project = project
        self.root = project.root_path
        self._raw_root = os.fsencode(project.root)
        self._config = ConfigWatch(self.root, settings)
        self._rules: TreeRules | None = None
        self._kept_out: dict[str, SkipReason] = {}
        self._home = self._inside(settings.home)
        self._index = self._inside(project.index_path)

    def is_of_interest(self, path: str) -> bool:
        """Tell whether an event at `path` can concern the project; rather once too often."""
        if is_git_internal(path) or is_own_file(path, home=self._home, index=self._index):
            return False
        rules = self._rules
        if rules is None or path == "" or path.endswith(".git/info/exclude"):
            return True
        above = rules.folder(parent(path)).out
        if above is None or above.reason is SkipReason.UNREADABLE:
            return True
        return any(rules.folder(parent(folder)).out is None for folder in judged_by(path))

    def identity(self) -> RootIdentity | None:
        """Tell which folder stands at the root now."""
        return root_identity(self.root)

    def require_root(self) -> RootIdentity:
        """Give the identity of the root.

        Raises:
            KxError: ROOT_MISSING.
        """
        found = self.identity()
        if found is None:
            raise self.root_missing("it is not there, or cannot be listed")
        return found

    def is_registered(self, identity: RootIdentity) -> bool:
        """Tell whether this is the very folder that was registered."""
        return (identity.device, identity.inode) == (self.project.device, self.project.inode)

    def root_missing(self, reason: str) -> KxError:
        """Make the error of a root that cannot be trusted to be the tree."""
        return KxError(
            ErrorCode.ROOT_MISSING,
            "the root {root} is not usable: {reason}",
            hint="mount or restore it; if it was moved: kx project move",
            retryable=True,
            root=self.project.root,
            reason=reason,
        )

    def walk(self, subtrees: Sequence[str], stop: Callable[[], bool]) -> Met:
        """Walk under the rules as they are now.

        Raises:
            KxError: ROOT_MISSING; CONFIG_* while the configuration is wrong.
        """
        rules = self._renew_rules()
        entries = list(walk(self.root, rules, subtrees, stop))
        self._remember(entries, is_whole="" in subtrees and not stop())
        return Met(
            entries=[ManifestEntry(entry.path, entry.size, entry.mtime_ns, entry.ctime_ns) for entry in entries],
            unreadable=tuple(entry.path for entry in entries if entry.reason is SkipReason.UNREADABLE),
        )

    def look(self, paths: Sequence[str]) -> Sighting:
        """Find out what stands at paths at which something changed.

        Raises:
            KxError: ROOT_MISSING: then nothing is gone, the whole tree is; CONFIG_* while the configuration is wrong.
        """
        self.require_root()
        scopes = [scope for path in paths if (scope := scope_of(path)) is not None]
        scopes += [folder for path in paths for folder in judged_by(path)]
        rules = self._renew_rules() if scopes or self._rules is None else self._rules
        files: list[str] = []
        gone: list[str] = []
        folders: list[str] = []
        for path in paths:
            self._look_at(rules, path, files, gone, folders)
        return Sighting(touched=files + gone, folders=folders, scopes=scopes)

    def _look_at(self, rules: TreeRules, path: str, files: list[str], gone: list[str], folders: list[str]) -> None:
        if path == "" or is_git_internal(path + "/"):
            return
        try:
            status = os.lstat(self._raw_root + b"/" + decode_path(path))
        except _GONE:
            gone.append(path)
            if self._kept_out.pop(path + "/", None) is not None:
                gone.append(path + "/")
            self._kept_out.pop(path, None)
            return
        except (OSError, ValueError):
            return  # nothing is known of it, so nothing is said; a walk tries again
        if stat.S_ISDIR(status.st_mode):
            folders.append(path)
            return
        verdict = rules.verdict(path, status)
        if verdict.reason is None:
            self._kept_out.pop(path, None)
            files.append(path)
        elif not verdict.pruned and self._kept_out.get(path) is not verdict.reason:
            self._kept_out[path] = verdict.reason
            files.append(path)

    def _renew_rules(self) -> TreeRules:
        # Made anew for every walk: they remember what they once read of ignore files, also of those outside the tree.
        rules = TreeRules(self.root, self._config.current().config.rules())
        self._rules = rules
        return rules

    def _remember(self, entries: Sequence[WalkEntry], *, is_whole: bool) -> None:
        if is_whole:
            self._kept_out = {entry.path: entry.reason for entry in entries if entry.reason is not None}
            return
        for entry in entries:
            if entry.reason is None:
                self._kept_out.pop(entry.path, None)
            else:
                self._kept_out[entry.path] = entry.reason

    def _inside(self, path: os.PathLike[str]) -> str | None:
        prefix = self._raw_root.rstrip(b"/") + b"/"
        raw = os.fsencode(os.path.realpath(path))
        return encode_path(raw.removeprefix(prefix)) if raw.startswith(prefix) else None
