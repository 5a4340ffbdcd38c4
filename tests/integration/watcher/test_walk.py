"""Walking real trees."""

from __future__ import annotations

import errno
import inspect
import os
import random
import sys
from collections import Counter
from pathlib import Path

import pytest

from services.watcher.adapters.walk import WalkEntry, walk
from shared.errors import ErrorCode, KxError
from shared.relpath import decode_path, encode_path
from shared.treerules import RulesConfig, SkipReason
from tests.support.trees import make_repository, make_rules, write_tree


def _walk(root: Path, *subtrees: str, config: RulesConfig | None = None) -> dict[str, WalkEntry]:
    entries = list(walk(root, make_rules(root, config), subtrees or ("",), lambda: False))
    by_path = {entry.path: entry for entry in entries}
    assert len(by_path) == len(entries), "an entry came twice"
    return by_path


def test_every_entry_is_met_once_with_its_verdict(tmp_path: Path) -> None:
    """MISSION 2.2: walked = documents + skipped + failed; a pruned folder is one entry."""
    root = write_tree(
        tmp_path,
        {"a.md": "x", "d/b.py": "xy", "d/.gitignore": "c.*\n", "d/c.log": "x", "node_modules/p/q.js": "x", ".env": "x"},
    )
    entries = _walk(root)
    assert {path: entry.reason for path, entry in entries.items()} == {
        "a.md": None,
        "d/.gitignore": None,
        "d/b.py": None,
        "d/c.log": SkipReason.GITIGNORED,
        "node_modules/": SkipReason.EXCLUDED_DIR,
        ".env": SkipReason.DENIED,
    }
    assert entries["d/b.py"].size == 2
    assert entries["d/b.py"].mtime_ns == (root / "d/b.py").stat().st_mtime_ns
    assert entries["node_modules/"] == WalkEntry("node_modules/", 0, 0, True, SkipReason.EXCLUDED_DIR, "node_modules")


def test_change_of_rules_changes_the_entry(tmp_path: Path) -> None:
    """Case 19: a manifest of size and time notices that a file is ignored now, or not any more."""
    root = write_tree(tmp_path, {"a.log": "text"})
    before = _walk(root)["a.log"]
    write_tree(root, {".gitignore": "*.log\n"})
    after = _walk(root)["a.log"]
    assert (before.size, before.mtime_ns) != (after.size, after.mtime_ns)
    write_tree(root, {"a.log": "text, and more"})
    assert _walk(root)["a.log"] == after


def test_links_end_the_walk_at_once_and_each_file_comes_once(tmp_path: Path) -> None:
    """Case 21: `loop -> .`, `a/b -> ../..`, a ring, a broken link, a link to a file indexed elsewhere."""
    root = write_tree(tmp_path / "r", {"a/f.md": "x", "g.md": "y"})
    links = {"loop": ".", "a/b": "../..", "x": "y", "y": "x", "broken": "nowhere", "alias.md": "g.md", "out": "/etc"}
    for name, target in links.items():
        (root / name).symlink_to(target)
    entries = _walk(root)
    reasons = Counter(entry.reason for entry in entries.values())
    assert [path for path, entry in entries.items() if entry.reason is None] == ["g.md", "a/f.md"]
    assert reasons[SkipReason.SYMLINK] == 2
    assert reasons[SkipReason.BROKEN_LINK] == 3
    assert reasons[SkipReason.SYMLINK_OUT] == 2


def test_root_may_be_a_link(tmp_path: Path) -> None:
    """Row A2: a legitimate root symlink works."""
    write_tree(tmp_path / "real", {"a.md": "x"})
    (tmp_path / "alias").symlink_to("real")
    assert set(_walk(tmp_path / "alias")) == {"a.md"}


def test_subtrees_give_what_is_below_them(tmp_path: Path) -> None:
    """A touched folder is walked alone; repeats, files, vanished paths and excluded places are no trouble."""
    root = write_tree(tmp_path, {"a/b/x.md": "x", "a/y.md": "x", "c.md": "x", "node_modules/z.js": "x"})
    assert set(_walk(root, "a")) == {"a/b/x.md", "a/y.md"}
    assert set(_walk(root, "a/", "a/b", "a")) == {"a/b/x.md", "a/y.md"}
    assert set(_walk(root, "c.md", "gone", "gone/deeper")) == {"c.md"}
    assert set(_walk(root, "node_modules")) == {"node_modules/"}
    assert set(_walk(root, "node_modules/z.js")) == set()
    assert set(_walk(root, "a", "")) == {"a/b/x.md", "a/y.md", "c.md", "node_modules/"}


def test_subtree_obeys_the_rules_above_it(tmp_path: Path) -> None:
    """Row B4: a subtree is judged as in the whole tree."""
    root = write_tree(tmp_path, {".gitignore": "/a/*.log\nb/\n", "a/x.log": "x", "b/c/d.md": "x"})
    assert _walk(root, "a")["a/x.log"].reason is SkipReason.GITIGNORED
    assert _walk(root, "b/c") == {}


def test_worktree_is_one_entry_and_a_submodule_is_walked(tmp_path: Path) -> None:
    """Case 20: one hit for a word that stands once in the main tree."""
    root = make_repository(tmp_path)
    write_tree(
        root,
        {
            "a.py": "word",
            ".wt/one/.git": f"gitdir: {root}/.git/worktrees/one\n",
            ".wt/one/a.py": "word",
            "lib/.git": "gitdir: ../.git/modules/lib\n",
            "lib/b.py": "x",
        },
    )
    entries = _walk(root)
    assert {path for path, entry in entries.items() if entry.reason is None} == {"a.py", "lib/b.py"}
    assert entries[".wt/one/"].reason is SkipReason.WORKTREE


def test_tree_without_documents_is_counted(tmp_path: Path) -> None:
    """Case 18 (a): empty files and images; the reasons add up."""
    root = write_tree(tmp_path, {"a.txt": "", "b.png": "x", "c/d.jpg": "x", "c/e.py": ""})
    reasons = Counter(entry.reason for entry in _walk(root).values())
    assert reasons == {SkipReason.EMPTY: 2, SkipReason.EXCLUDED_FILE: 2}


def test_any_name_is_met_and_can_be_opened_again(tmp_path: Path) -> None:
    """Case 9 and row B3: every byte but slash and NUL, invalid UTF-8, newlines, NFC and NFD pairs, 255 bytes."""
    rng = random.Random(3)
    names = {b"bad\xff.txt", b"a\nb", b"-x", b"end ", "😀.md".encode(), b"z" * 255, b"a\"b'c;--.md", "ação".encode()}
    names |= {"ac\u0327a\u0303o".encode(), b"a\\b", b"a\\x41", b"*", b"[a]", b"!a", b"#a"}
    names |= {bytes([byte]) + b"n" for byte in range(1, 256) if byte != ord("/")}
    names |= {bytes(rng.choices([b for b in range(1, 256) if b != ord("/")], k=rng.randint(3, 40))) for _ in range(200)}
    names -= {b".", b".."}
    for name in names:
        (tmp_path / os.fsdecode(name)).write_bytes(b"text")
    entries = _walk(tmp_path)
    assert {decode_path(path) for path in entries} == names
    assert all(encode_path(decode_path(path)) == path for path in entries)


def test_deep_tree_does_not_end_the_walk(tmp_path: Path) -> None:
    """No recursion: a tree deeper than the frames that are left is walked to its end."""
    root = write_tree(tmp_path, {"/".join("d" * 150) + "/f": "x"})
    rules = make_rules(root)
    frames = len(inspect.stack())
    limit = sys.getrecursionlimit()
    sys.setrecursionlimit(frames + 100)
    try:
        entries = list(walk(root, rules))
    finally:
        sys.setrecursionlimit(limit)
    assert [entry.path.count("/") for entry in entries] == [150]


def test_stop_is_asked_and_obeyed(tmp_path: Path) -> None:
    """A cancelled walk ends at the next folder."""
    root = write_tree(tmp_path, {f"d{n}/f.md": "x" for n in range(50)})
    asked = iter([False, False, False])
    assert len(list(walk(root, make_rules(root), ("",), lambda: next(asked, True)))) == 2


def _forbid(monkeypatch: pytest.MonkeyPatch, folder: Path) -> None:
    """Make a folder unreadable also for a superuser, who runs tests in containers."""
    scandir = os.scandir

    def guarded(path: bytes) -> object:
        if path == os.fsencode(folder):
            raise PermissionError(errno.EACCES, "forbidden")
        return scandir(path)

    monkeypatch.setattr(os, "scandir", guarded)


def test_unreadable_folder_is_an_entry(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Rule 11 of RELIABILITY: every failure is counted and visible."""
    root = write_tree(tmp_path, {"d/a.md": "x", "b.md": "x"})
    _forbid(monkeypatch, root / "d")
    entries = _walk(root)
    assert entries["d/"] == WalkEntry("d/", 0, 0, True, SkipReason.UNREADABLE, "EACCES")
    assert entries["b.md"].reason is None


def test_unreadable_root_is_an_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Row F14: an unreadable root is never taken for an empty tree."""
    root = write_tree(tmp_path, {"b.md": "x"})
    _forbid(monkeypatch, root)
    with pytest.raises(KxError) as caught:
        _walk(root)
    assert caught.value.code is ErrorCode.ROOT_MISSING


def test_missing_root_is_an_error(tmp_path: Path) -> None:
    """Row F14: gone is not empty."""
    rules = make_rules(write_tree(tmp_path / "r", {"a": "x"}))
    (tmp_path / "r").rename(tmp_path / "s")
    with pytest.raises(KxError) as caught:
        list(walk(tmp_path / "r", rules))
    assert caught.value.code is ErrorCode.ROOT_MISSING


def test_subtree_in_an_unreadable_folder_is_unknown(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Issue 5.2: a folder that cannot be entered has not lost its files."""
    root = write_tree(tmp_path, {"d/e/a.md": "x"})
    lstat = os.lstat

    def guarded(path: bytes | str) -> os.stat_result:
        if os.fsencode(path).startswith(os.fsencode(root / "d/")):
            raise PermissionError(errno.EACCES, "forbidden")
        return lstat(path)

    monkeypatch.setattr(os, "lstat", guarded)
    assert _walk(root, "d/e/a.md")["d/e/a.md/"].reason is SkipReason.UNREADABLE
    assert _walk(root, "d/e")["d/e/"].reason is SkipReason.UNREADABLE
    monkeypatch.undo()
    assert _walk(root, "d/gone") == {}
