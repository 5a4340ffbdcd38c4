"""Random trees with ignore files, and what git itself says of them: the oracle of our ignore rules (row B4)."""

from __future__ import annotations

import os
import random
import subprocess
from pathlib import Path

from shared.relpath import encode_path
from shared.treerules import RulesConfig, SkipReason, TreeRules

NAMES = [
    b"a", b"b", b"ab", b"foo", b"bar", b"foobar", b"Foo", b"x.py", b"y.py", b"x.log", b"keep.log", b"lib", b"doc",
    b"a b", b"end ", b"!x", b"#x", b"[a]", b"a*b", b"q\\r", "\u00e9".encode(), "e\u0301".encode(), b"bad\xff", b"n\nl", b"-d",
    b".h", b"a-b", b"a]", b"tab\t", b"gen", b"A",
]  # fmt: skip
ALPHABET = [
    "a",
    "b",
    "f",
    "o",
    "*",
    "*",
    "**",
    "?",
    "[",
    "]",
    "!",
    "^",
    "-",
    "/",
    "/",
    "\\",
    ".",
    " ",
    "[:alpha:]",
    "py",
]
BRACKETS = [
    "[ab]",
    "[!a]",
    "[^f]",
    "[a-f]",
    "[]a]",
    "[!]a]",
    "[\\a-b]",
    "[[:alpha:]]",
    "[[:punct:]x]",
    "[a-]",
    "[[:bad:]]",
    "[z-a]",
]


def _pattern(rng: random.Random, paths: list[bytes]) -> bytes:
    """Write a line that has a chance to match something."""
    kind = rng.random()
    if kind < 0.15:
        return "".join(rng.choice(ALPHABET) for _ in range(rng.randint(1, 7))).encode()
    parts = rng.choice(paths).split(b"/")
    if rng.random() < 0.5:
        parts = parts[-rng.randint(1, len(parts)) :]
    line = b"/".join(_bent(rng, part) for part in parts)
    if rng.random() < 0.2:
        line = rng.choice([b"**/", b"/**/", b"*/", b"/*"]) + line
    if rng.random() < 0.15:
        line += rng.choice([b"/**", b"/*", b"**", b"*", b"/**/" + rng.choice(NAMES)])
    line = (b"/" if rng.random() < 0.2 else b"") + line + (b"/" if rng.random() < 0.25 else b"")
    line = line.swapcase() if rng.random() < 0.1 else line
    line = (b"!" if rng.random() < 0.3 else b"") + line
    return line + rng.choice(
        [b"", b"", b"", b" ", b"  ", b"\\ ", b"\r", b"\t", b"\\"] if rng.random() < 0.15 else [b""]
    )


def _bent(rng: random.Random, part: bytes) -> bytes:
    kind = rng.random()
    if kind < 0.45 or not part:
        return part
    if kind < 0.55:
        return rng.choice([b"*", b"**", b"?", b"***"])
    at = rng.randrange(len(part))
    middle = rng.choice(
        [b"*", b"?", b"**", b"\\" + part[at : at + 1], b"[" + part[at : at + 1] + b"]", rng.choice(BRACKETS).encode()]
    )
    return part[:at] + middle + part[at + rng.randint(0, 2) :]


def make_tree(rng: random.Random, top: Path) -> list[bytes]:
    """Make folders and files; give all paths, folders included."""
    base = os.fsencode(top)
    folders = [b""]
    paths: list[bytes] = []
    for _ in range(rng.randint(4, 22)):
        folder = rng.choice(folders)
        path = (folder + b"/" if folder else b"") + rng.choice(NAMES)
        full = base + b"/" + path
        if os.path.lexists(full) or path.count(b"/") > 4:
            continue
        kind = rng.random()
        if kind < 0.45:
            Path(os.fsdecode(full)).mkdir()
            folders.append(path)
        elif kind < 0.93:
            Path(os.fsdecode(full)).write_bytes(b"x\n")
        else:
            Path(os.fsdecode(full)).symlink_to(".")
        paths.append(path)
    for folder in folders:
        if not folder or rng.random() < 0.35:
            lines = [_pattern(rng, paths) for _ in range(rng.randint(1, 6))]
            text = (b"\xef\xbb\xbf" if rng.random() < 0.1 else b"") + b"\n".join(lines) + rng.choice([b"", b"\n"])
            Path(os.fsdecode(base + b"/" + folder), ".gitignore").write_bytes(text)
    return paths


def make_repository(top: Path, rng: random.Random, paths: list[bytes]) -> None:
    """Make a work tree's top of a folder, with excludes of its own."""
    for folder in ("objects", "refs", "info"):
        (top / ".git" / folder).mkdir(parents=True)
    (top / ".git" / "HEAD").write_text("ref: refs/heads/main\n")
    if rng.random() < 0.25:
        (top / ".git" / "config").write_text("[core]\n\trepositoryformatversion = 0\n\tignoreCase = true\n")
    lines = [_pattern(rng, paths) for _ in range(rng.randint(0, 3))]
    (top / ".git" / "info" / "exclude").write_bytes(b"\n".join(lines))


def make_home(home: Path, rng: random.Random, paths: list[bytes]) -> None:
    """Make a home folder with the user's excludes."""
    home.mkdir()
    kind = rng.random()
    file = home / ".config" / "git" / "ignore" if kind < 0.5 else home / "my excludes"
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(b"\n".join(_pattern(rng, paths) for _ in range(rng.randint(0, 2))))
    if kind >= 0.5:
        (home / ".gitconfig").write_text('[user]\n\tname = "x"\n[core]\n\tExcludesFile = "~/my excludes" ; mine\n')


def ask_git(top: Path, home: Path, paths: list[bytes]) -> dict[bytes, str]:
    """Give for each path the "file:line" that makes git ignore it, or ""."""
    command = ["git", "-c", "core.fsmonitor=", "-c", "core.hooksPath="]
    command += ["check-ignore", "--no-index", "--stdin", "-z", "-v", "-n"]
    done = subprocess.run(
        command,
        cwd=top,
        input=b"\0".join(paths) + b"\0",
        capture_output=True,
        check=False,
        env={"HOME": str(home), "PATH": os.environ["PATH"], "GIT_CONFIG_NOSYSTEM": "1", "LC_ALL": "C"},
    )
    assert done.returncode in {0, 1}, done.stderr
    fields = done.stdout.split(b"\0")
    verdicts = {}
    for source, line, pattern, path in zip(*(fields[start:-1:4] for start in range(4)), strict=True):
        ignored = pattern and not pattern.startswith(b"!")
        verdicts[path] = f"{os.fsdecode(source)}:{os.fsdecode(line)}" if ignored else ""
    return verdicts


def ask_ours(root: Path, home: Path, paths: list[bytes]) -> dict[bytes, str]:
    """Give the same in the words of our rules."""
    rules = TreeRules(root, RulesConfig(), home=home)
    verdicts = {}
    for path in paths:
        rel = encode_path(path)
        verdict = rules.verdict(rel, os.lstat(os.fsencode(root) + b"/" + path))
        is_ignored = verdict.reason is SkipReason.GITIGNORED
        verdicts[path] = verdict.detail if is_ignored else ""
    return verdicts


def differences(git: dict[bytes, str], ours: dict[bytes, str]) -> list[str]:
    """Say where the two disagree, or name different rules."""
    found = []
    for path, said in git.items():
        mine = ours[path]
        agrees = mine.startswith(encode_path(os.fsencode(said)) + ":") if said else mine == ""
        if not agrees:
            found.append(f"{path!r}: git {said or 'keeps it'!r}, ours {mine or 'keeps it'!r}")
    return found


def texts(top: Path) -> str:
    """Show the rule files of a tree, for a failure's message."""
    files = [*sorted(top.rglob(".gitignore")), top / ".git" / "info" / "exclude"]
    return "\n".join(f"{file.relative_to(top)}: {file.read_bytes()!r}" for file in files)
