"""The path gate: nothing outside the root is ever opened."""

from __future__ import annotations

import os
import threading
from pathlib import Path

import pytest

from shared.errors import ErrorCode, KxError
from shared.pathgate import PathGate
from shared.relpath import encode_path
from tests.support.trees import write_tree

CANARY = "canary-7d1f"


def _read(gate: PathGate, rel: str, *, follow: bool = True) -> str:
    opened = gate.open_file(rel, follow=follow)
    with os.fdopen(opened.fd) as file:
        return file.read()


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """Give a root with a few files, and a canary beside it."""
    write_tree(tmp_path, {"outside.md": CANARY, "outdir/x.md": CANARY, "rootx/x.md": CANARY})
    return write_tree(tmp_path / "root", {"a.md": "in", "d/e/b.md": "deep"})


@pytest.mark.parametrize(
    "rel",
    [
        "",
        ".",
        "..",
        "../outside.md",
        "d/../../outside.md",
        "/etc/passwd",
        "d//e/b.md",
        "./a.md",
        "a.md/",
        "a\0b",
        "d/../a.md",
    ],
)
def test_path_that_is_not_plain_is_refused(root: Path, rel: str) -> None:
    """Row A1: only names and slashes."""
    with pytest.raises(KxError) as caught:
        PathGate(root).open_file(rel)
    assert caught.value.code is ErrorCode.PATH_OUTSIDE_ROOT


def test_file_is_opened_and_known_by_its_place(root: Path) -> None:
    """The ordinary case."""
    gate = PathGate(root)
    assert _read(gate, "d/e/b.md") == "deep"
    opened = gate.open_file("a.md")
    os.close(opened.fd)
    assert (opened.path, opened.stat.st_size) == ("a.md", 2)


@pytest.mark.parametrize(
    ("link", "target"),
    [
        pytest.param("l", "../outside.md", id="file"),
        pytest.param("l", "../outdir", id="folder"),
        pytest.param("l", "/proc/self/environ", id="proc"),
        pytest.param("l", "../rootx/x.md", id="same prefix"),
        pytest.param("d/l", "../../outside.md", id="deep"),
        pytest.param("l", "d/../../outside.md", id="through a folder"),
    ],
)
def test_link_out_of_the_root_is_refused(root: Path, link: str, target: str) -> None:
    """Row A2: to a file, a folder, /proc, by any spelling."""
    (root / link).symlink_to(target)
    gate = PathGate(root)
    for rel in (link, f"{link}/x.md"):
        with pytest.raises(KxError) as caught:
            gate.open_file(rel)
        assert caught.value.code is ErrorCode.PATH_OUTSIDE_ROOT


def test_absolute_link_out_and_chain_out_are_refused(root: Path, tmp_path: Path) -> None:
    """Row A2: chains, and absolute targets."""
    (root / "abs").symlink_to(tmp_path / "outside.md")
    (root / "prefix").symlink_to(tmp_path / "rootx" / "x.md")
    (root / "chain").symlink_to("chain2")
    (root / "chain2").symlink_to("abs")
    for rel in ("abs", "prefix", "chain"):
        with pytest.raises(KxError):
            PathGate(root).open_file(rel)


def test_link_inside_the_root_is_followed_to_its_real_place(root: Path) -> None:
    """Row A2: the caller asks the rules about the real path."""
    (root / "l").symlink_to("d/../a.md")
    (root / "dir").symlink_to("d/e")
    (root / "abs").symlink_to(root / "d")
    gate = PathGate(root)
    for rel, real in (("l", "a.md"), ("dir/b.md", "d/e/b.md"), ("abs/e/b.md", "d/e/b.md")):
        opened = gate.open_file(rel)
        os.close(opened.fd)
        assert opened.path == real


def test_no_link_is_followed_unless_asked(root: Path) -> None:
    """The indexer reads real files only."""
    (root / "l").symlink_to("a.md")
    with pytest.raises(KxError):
        PathGate(root).open_file("l", follow=False)


def test_ring_of_links_ends(root: Path) -> None:
    """Case 21."""
    (root / "x").symlink_to("y")
    (root / "y").symlink_to("x")
    (root / "loop").symlink_to(".")
    gate = PathGate(root)
    with pytest.raises(KxError):
        gate.open_file("x")
    assert _read(gate, "loop/loop/a.md") == "in"


def test_root_may_be_a_link(root: Path, tmp_path: Path) -> None:
    """Row A2: the root itself may be reached through a link, and links inside may spell it so."""
    (tmp_path / "alias").symlink_to(root)
    (root / "l").symlink_to(tmp_path / "alias" / "a.md")
    gate = PathGate(tmp_path / "alias")
    assert _read(gate, "a.md") == "in"
    assert _read(gate, "l") == "in"


def test_only_regular_files_are_opened(root: Path) -> None:
    """A pipe would block for ever; a folder has no text."""
    os.mkfifo(root / "p")
    gate = PathGate(root)
    for rel in ("p", "d"):
        with pytest.raises(KxError) as caught:
            gate.open_file(rel)
        assert caught.value.code is ErrorCode.PATH_DENIED


def test_missing_file_is_the_systems_error(root: Path) -> None:
    """Gone is no attack."""
    gate = PathGate(root)
    with pytest.raises(FileNotFoundError):
        gate.open_file("nope")
    with pytest.raises(NotADirectoryError):
        gate.open_file("a.md/x")


def test_replaced_root_is_noticed(root: Path, tmp_path: Path) -> None:
    """Row F14: another folder in its place is not the project."""
    gate = PathGate(root)
    root.rename(tmp_path / "elsewhere")
    with pytest.raises(KxError) as caught:
        gate.open_file("a.md")
    assert caught.value.code is ErrorCode.ROOT_MISSING
    write_tree(root, {"a.md": CANARY})
    with pytest.raises(KxError) as caught:
        gate.open_file("a.md")
    assert caught.value.code is ErrorCode.ROOT_MISSING


def test_swap_between_check_and_open_leads_nowhere(root: Path, tmp_path: Path) -> None:
    """Row A2: a folder swapped for a link out, over and over, while it is opened."""
    stop = threading.Event()
    write_tree(root, {"s/x.md": "in"})
    (tmp_path / "evil").symlink_to(tmp_path / "outdir")

    def swap() -> None:
        while not stop.is_set():
            (root / "s").rename(tmp_path / "kept")
            (root / "s").symlink_to(tmp_path / "outdir")
            (root / "s").unlink()
            (tmp_path / "kept").rename(root / "s")

    thread = threading.Thread(target=swap)
    thread.start()
    gate = PathGate(root)
    try:
        seen = set()
        for _ in range(300):
            try:
                seen.add(_read(gate, "s/x.md"))
            except (KxError, OSError):
                continue
    finally:
        stop.set()
        thread.join()
    assert CANARY not in seen


@pytest.mark.parametrize(
    ("typed", "rel"),
    [
        ("a.md", "a.md"),
        ("./d/../a.md", "a.md"),
        ("d/e/", "d/e"),
        (".", ""),
        ("new/file.md", "new/file.md"),
        ("sub/../.env", ".env"),
        ("SUB/.ENV", "SUB/.ENV"),
    ],
)
def test_typed_path_becomes_the_projects(root: Path, typed: str, rel: str) -> None:
    """Case 40: `..` is taken away before the denylist is asked."""
    assert PathGate(root).resolve(typed, root) == rel
    assert PathGate(root).resolve(root / typed, root / "d") == rel


@pytest.mark.parametrize(
    "typed", ["../outside.md", "..", "/etc/passwd", "link", "link2/x.md", "../rootx", "a\0b", "d/../../outdir"]
)
def test_typed_path_outside_is_refused(root: Path, tmp_path: Path, typed: str) -> None:
    """Case 40, row A1: any spelling of a place outside."""
    (root / "link").symlink_to(tmp_path / "outside.md")
    (root / "link2").symlink_to("../outdir")
    with pytest.raises(KxError) as caught:
        PathGate(root).resolve(typed, root)
    assert caught.value.code is ErrorCode.PATH_OUTSIDE_ROOT


def test_typed_path_through_a_link_to_the_root_is_accepted(root: Path, tmp_path: Path) -> None:
    """Row A5: symlinked spellings of the right root."""
    (tmp_path / "alias").symlink_to(root)
    assert PathGate(root).resolve(tmp_path / "alias" / "a.md", tmp_path) == "a.md"


@pytest.mark.parametrize(
    "raw", [b"bad\xff.txt", b"a\nb", b"a\\b", b"a\\x41", b" x ", b"-x", b"\xf0\x9f\x98\x80.md", b"z" * 255]
)
def test_odd_name_can_be_opened_and_typed_as_it_is_shown(root: Path, raw: bytes) -> None:
    """Case 9, row B3: each name is re-openable from its text form."""
    (root / os.fsdecode(raw)).write_text("odd")
    rel = encode_path(raw)
    gate = PathGate(root)
    assert _read(gate, rel) == "odd"
    assert gate.resolve(rel, root) == rel
    assert gate.resolve(os.fsdecode(raw), root) == rel
