"""The verdict of our ignore rules against git's own, on random trees (row B4)."""

from __future__ import annotations

import os
import random
import shutil
import subprocess
from pathlib import Path

import pytest

from shared.relpath import encode_path
from shared.treerules import RulesConfig, SkipReason, TreeRules

TREES = int(os.environ.get("KX_ORACLE_TREES", "100"))
BATCH = 10  # trees a test: one bad tree does not hide the others
FIRST_SEED = int(os.environ.get("KX_ORACLE_SEED", "0"))

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

pytestmark = pytest.mark.skipif(shutil.which("git") is None, reason="git is the oracle")


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


def _make_tree(rng: random.Random, top: Path) -> list[bytes]:
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


def _make_repository(top: Path, rng: random.Random, paths: list[bytes]) -> None:
    for folder in ("objects", "refs", "info"):
        (top / ".git" / folder).mkdir(parents=True)
    (top / ".git" / "HEAD").write_text("ref: refs/heads/main\n")
    if rng.random() < 0.25:
        (top / ".git" / "config").write_text("[core]\n\trepositoryformatversion = 0\n\tignoreCase = true\n")
    lines = [_pattern(rng, paths) for _ in range(rng.randint(0, 3))]
    (top / ".git" / "info" / "exclude").write_bytes(b"\n".join(lines))


def _make_home(home: Path, rng: random.Random, paths: list[bytes]) -> None:
    home.mkdir()
    kind = rng.random()
    file = home / ".config" / "git" / "ignore" if kind < 0.5 else home / "my excludes"
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(b"\n".join(_pattern(rng, paths) for _ in range(rng.randint(0, 2))))
    if kind >= 0.5:
        (home / ".gitconfig").write_text('[user]\n\tname = "x"\n[core]\n\tExcludesFile = "~/my excludes" ; mine\n')


def _ask_git(top: Path, home: Path, paths: list[bytes]) -> dict[bytes, str]:
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


def _ask_ours(root: Path, home: Path, paths: list[bytes]) -> dict[bytes, str]:
    rules = TreeRules(root, RulesConfig(), home=home)
    verdicts = {}
    for path in paths:
        rel = encode_path(path)
        verdict = rules.verdict(rel, os.lstat(os.fsencode(root) + b"/" + path))
        is_ignored = verdict.reason is SkipReason.GITIGNORED
        verdicts[path] = verdict.detail if is_ignored else ""
    return verdicts


def _differences(git: dict[bytes, str], ours: dict[bytes, str]) -> list[str]:
    found = []
    for path, said in git.items():
        mine = ours[path]
        agrees = mine.startswith(encode_path(os.fsencode(said)) + ":") if said else mine == ""
        if not agrees:
            found.append(f"{path!r}: git {said or 'keeps it'!r}, ours {mine or 'keeps it'!r}")
    return found


def _texts(top: Path) -> str:
    files = [*sorted(top.rglob(".gitignore")), top / ".git" / "info" / "exclude"]
    return "\n".join(f"{file.relative_to(top)}: {file.read_bytes()!r}" for file in files)


@pytest.mark.parametrize("first", range(FIRST_SEED, FIRST_SEED + TREES, BATCH))
def test_every_verdict_is_git_s(first: int, tmp_path: Path) -> None:
    """Row B4, cases 16 and 17: nested, negated, anchored and escaped rules, info/exclude, the user's excludes."""
    for seed in range(first, first + BATCH):
        rng = random.Random(seed)
        top, home = tmp_path / str(seed) / "top", tmp_path / str(seed) / "home"
        top.mkdir(parents=True)
        paths = _make_tree(rng, top)
        _make_repository(top, rng, paths or [b"a"])
        _make_home(home, rng, paths or [b"a"])
        differences = _differences(_ask_git(top, home, paths), _ask_ours(top, home, paths)) if paths else []
        assert not differences, f"seed {seed}\n" + "\n".join(differences) + "\n" + _texts(top)
        shutil.rmtree(tmp_path / str(seed))


@pytest.mark.parametrize("first", range(FIRST_SEED, FIRST_SEED + TREES // 2, BATCH))
def test_root_below_the_top_of_a_repository_is_judged_from_the_top(first: int, tmp_path: Path) -> None:
    """Row B4: ignore files between the top and a root below it count, unless git ignores the root itself."""
    for seed in range(first, first + BATCH):
        rng = random.Random(-1 - seed)
        top, home = tmp_path / str(seed) / "top", tmp_path / str(seed) / "home"
        top.mkdir(parents=True)
        paths = _make_tree(rng, top)
        _make_repository(top, rng, paths or [b"a"])
        _make_home(home, rng, paths or [b"a"])
        git = _ask_git(top, home, paths) if paths else {}
        for root in paths:
            place = top / os.fsdecode(root)
            if git[root] or place.is_symlink() or not place.is_dir():
                continue
            below = [path[len(root) + 1 :] for path in paths if path.startswith(root + b"/")]
            ours = _ask_ours(place, home, below)
            wrong = [path for path in below if bool(git[root + b"/" + path]) != bool(ours[path])]
            assert not wrong, f"seed {seed} root {root!r}: {wrong} {git}\n" + _texts(top)
        shutil.rmtree(tmp_path / str(seed))


def test_oracle_trees_are_worth_asking(tmp_path: Path) -> None:
    """The random trees contain ignored and kept paths, and negations that decide: agreement on nothing proves nothing."""
    ignored = kept = 0
    for seed in range(20):
        rng = random.Random(seed)
        top, home = tmp_path / str(seed), tmp_path / f"home{seed}"
        top.mkdir()
        paths = _make_tree(rng, top)
        _make_repository(top, rng, paths or [b"a"])
        _make_home(home, rng, paths or [b"a"])
        verdicts = _ask_git(top, home, paths).values() if paths else ()
        ignored += sum(map(bool, verdicts))
        kept += sum(not verdict for verdict in verdicts)
    assert ignored > 20
    assert kept > 20
