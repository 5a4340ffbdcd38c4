"""What git keeps in files and kx must know: where repositories lie and which ignore files are in force.

Everything is read in process. Git itself is never run, because a repository's own configuration can make git run code;
for the same reason only the user's configuration is asked for an excludes file, not the repository's.
"""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Iterator
from pathlib import Path

from msgspec import Struct

MAX_RULE_FILE_BYTES = 4 * 1024 * 1024  # an ignore file beyond this is not one
_MAX_LINK_FILE_BYTES = 64 * 1024
_SECTION = re.compile(r"\[\s*([A-Za-z0-9.-]+)\s*(?:\"((?:[^\"\\]|\\.)*)\")?\s*\]")


class GitLink(Struct, frozen=True):
    """What the `.git` of a folder says: its own repository, a linked worktree of another, or a submodule."""

    git_dir: Path
    common_dir: Path  # where `info/exclude` is; the same as `git_dir` but in a linked worktree

    @property
    def is_worktree(self) -> bool:
        """Tell a linked worktree, a second copy of a tree that is elsewhere."""
        return self.git_dir != self.common_dir

    @property
    def main_tree(self) -> Path | None:
        """Give the folder whose repository this worktree belongs to; None for a bare repository."""
        for folder in (self.common_dir, *self.common_dir.parents):
            if folder.name == ".git":
                return folder.parent
        return None


def read_rule_file(path: Path | bytes, *, follow: bool = False) -> bytes | None:
    """Read a small regular file; None if there is none. Like git, an ignore file that is a link is not followed."""
    flags = os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC | (0 if follow else os.O_NOFOLLOW)
    try:
        fd = os.open(path, flags)
    except (OSError, ValueError):
        return None
    with os.fdopen(fd, "rb") as file:
        if not stat.S_ISREG(os.fstat(fd).st_mode):
            return None
        try:
            data = file.read(MAX_RULE_FILE_BYTES + 1)
        except OSError:
            return None
    return data if len(data) <= MAX_RULE_FILE_BYTES else None


def git_link(folder: Path) -> GitLink | None:
    """Tell what kind of work tree a folder is the top of; None for an ordinary folder."""
    dot_git = folder / ".git"
    try:
        mode = dot_git.lstat().st_mode
    except (OSError, ValueError):
        return None
    if stat.S_ISDIR(mode):
        return GitLink(dot_git, dot_git) if (dot_git / "HEAD").exists() else None
    if not stat.S_ISREG(mode):
        return None
    line = (read_rule_file(dot_git) or b"")[:_MAX_LINK_FILE_BYTES].decode("utf-8", "surrogateescape")
    if not line.startswith("gitdir:") or "\0" in line:
        return None
    git_dir = _normal(folder, line.removeprefix("gitdir:").strip())
    if git_dir.parent.name != "worktrees":
        return GitLink(git_dir, git_dir)
    common = read_rule_file(git_dir / "commondir")
    target = "../.." if common is None or b"\0" in common else common.decode("utf-8", "surrogateescape").strip()
    return GitLink(git_dir, _normal(git_dir, target))


def git_top(folder: Path) -> tuple[Path, GitLink] | None:
    """Find the work tree a folder lies in, going up on one file system as git does."""
    try:
        device = folder.stat().st_dev
        for candidate in (folder, *folder.parents):
            if candidate.stat().st_dev != device:
                return None
            link = git_link(candidate)
            if link is not None:
                return candidate, link
    except OSError:
        return None
    return None


def user_excludes_file(home: Path, config_home: Path) -> Path | None:
    """Give the user's global excludes file: `core.excludesFile`, else git's default place."""
    found: str | None = None
    for config in (Path("/etc/gitconfig"), config_home / "git" / "config", home / ".gitconfig"):
        text = read_rule_file(config, follow=True)
        for value in _config_values(text or b"", "core.excludesfile"):
            found = value
    if found == "":
        return None
    if found is None:
        return config_home / "git" / "ignore"
    if found == "~" or found.startswith("~/"):
        return home / found[2:]
    return home / found


def ignores_case(link: GitLink) -> bool:
    """Tell whether the repository compares names without regard to case, as `git init` notes on such a file system."""
    values = list(_config_values(read_rule_file(link.common_dir / "config", follow=True) or b"", "core.ignorecase"))
    return bool(values) and values[-1].lower() in {"true", "yes", "on", "1"}


def _normal(base: Path, target: str) -> Path:
    return Path(os.path.realpath(base / target))


def _config_values(raw: bytes, wanted: str) -> Iterator[str]:
    """Give the values of one key of a git configuration file, in order. Includes are not followed."""
    section = ""
    text = raw.decode("utf-8", "surrogateescape").removeprefix("\ufeff").replace("\r\n", "\n")
    for line in text.replace("\\\n", "").split("\n"):
        rest = line.strip()
        header = _SECTION.match(rest)
        if header is not None:
            section = header.group(1).lower() + (f".{header.group(2)}" if header.group(2) is not None else "")
            rest = rest[header.end() :].strip()
        key, equals, value = rest.partition("=")
        if equals and f"{section}.{key.strip().lower()}" == wanted:
            yield _config_value(value)


def _config_value(value: str) -> str:
    """Read a value: quotes group, a backslash escapes, "#" and ";" outside quotes begin a comment."""
    out: list[str] = []
    quoted = False
    kept = 0
    chars = iter(value.strip())
    for char in chars:
        if char == '"':
            quoted = not quoted
            kept = len(out)
        elif char == "\\":
            out.append({"n": "\n", "t": "\t", "b": "\b"}.get(following := next(chars, ""), following))
            kept = len(out)
        elif char in "#;" and not quoted:
            break
        else:
            out.append(char)
            if quoted or not char.isspace():
                kept = len(out)
    return "".join(out[:kept])
