"""The ignore files in force in a folder of a tree, in the order in which git asks them.

The deepest `.gitignore` first, up to the top of the repository (also above the root), then the repository's
`info/exclude`, then the user's own file. A submodule or a repository inside the tree begins a scope of its own.
Without a repository `.gitignore` files count all the same.
"""

from __future__ import annotations

import os
from pathlib import Path

from shared.gitfiles import GitLink, git_top, ignores_case, read_rule_file, user_excludes_file
from shared.ignore import IgnoreFile
from shared.relpath import RelPath, encode_path

IGNORE_FILE = ".gitignore"


class IgnoreLists:
    """Reads ignore files; `home` replaces the user's home folder and its environment."""

    def __init__(self, root: Path, home: Path | None = None) -> None:
        self._root = root
        self._users = _users_file(home)

    def of_folder(self, path: bytes, rel: str, *, fold: bool) -> tuple[IgnoreFile, ...]:
        """Give the folder's own ignore file, if it says anything."""
        text = read_rule_file(path + b"/" + IGNORE_FILE.encode())
        parsed = IgnoreFile.parse(text, rel, fold=fold) if text else None
        return (parsed,) if parsed else ()

    def of_repository(self, link: GitLink, base: str) -> tuple[IgnoreFile, ...]:
        """Give what counts in a whole repository whose top is at `base`."""
        fold = ignores_case(link)
        text = read_rule_file(link.common_dir / "info" / "exclude", follow=True)
        excludes = IgnoreFile.parse(text, base, source=".git/info/exclude", fold=fold) if text else None
        return ((excludes,) if excludes else ()) + self._of_user(base, fold=fold)

    def of_root(self) -> tuple[tuple[IgnoreFile, ...], bool]:
        """Give all that counts in the root, and whether case does not.

        If git ignores the root itself, the surroundings that made it do so do not count.
        """
        found = git_top(self._root)
        fold = found is not None and ignores_case(found[1])
        own = self.of_folder(os.fsencode(self._root), "", fold=fold)
        return own + (self._of_user("") if found is None else self._around_root(*found, fold=fold)), fold

    def _around_root(self, top: Path, link: GitLink, *, fold: bool) -> tuple[IgnoreFile, ...]:
        if top == self._root:
            return self.of_repository(link, "")
        parts = [encode_path(os.fsencode(part)) for part in self._root.relative_to(top).parts]
        outer = [*self._above_root(top, len(parts), fold=fold), *((0, list_) for list_ in self.of_repository(link, ""))]
        if _is_ignored(parts, outer):  # the user chose it: rules look at what is below the root only
            return self._of_user("", fold=fold)
        return tuple(list_.seen_from("/".join(parts[depth:])) for depth, list_ in outer)

    def _above_root(self, top: Path, depth: int, *, fold: bool) -> list[tuple[int, IgnoreFile]]:
        """Give the ignore files of the folders above the root up to the top, each with its depth below the top."""
        found: list[tuple[int, IgnoreFile]] = []
        for folder in self._root.parents:
            depth -= 1
            found += ((depth, list_) for list_ in self.of_folder(os.fsencode(folder), "", fold=fold))
            if folder == top:
                break
        return found

    def _of_user(self, base: str, *, fold: bool = False) -> tuple[IgnoreFile, ...]:
        if self._users is None:
            return ()
        text, source = self._users
        parsed = IgnoreFile.parse(text, base, source=source, fold=fold)
        return (parsed,) if parsed else ()


def _users_file(home: Path | None) -> tuple[bytes, str] | None:
    # Git's own variable, not a setting of ours: the verdicts must be git's.
    configured = os.environ.get("XDG_CONFIG_HOME", "") if home is None else ""  # noqa: TID251
    home = home or Path.home()
    file = user_excludes_file(home, Path(configured) if configured else home / ".config")
    text = read_rule_file(file, follow=True) if file is not None else None
    return (text, str(file)) if text else None


def _is_ignored(parts: list[RelPath], outer: list[tuple[int, IgnoreFile]]) -> bool:
    """Tell whether git, asked from the top, ignores the folder at `parts`."""
    for end in range(1, len(parts) + 1):
        matches = (list_.match("/".join(parts[depth:end]), is_dir=True) for depth, list_ in outer if depth < end)
        first = next((match for match in matches if match is not None), None)
        if first is not None and first.ignored:
            return True
    return False
