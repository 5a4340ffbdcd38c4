"""Which project a path belongs to."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from shared import discovery
from shared.discovery import Found, find_project
from shared.errors import ErrorCode, KxError
from shared.project_config import load_project_config
from shared.registry import Registry
from tests.support.configs import make_root, make_settings, write_json


def find(user_home: Path, start: Path, *, explicit: bool = False) -> Found:
    """Find the project of `start` for the user whose home is `user_home`."""
    settings = make_settings(user_home)
    return find_project(start, Registry(settings), settings, explicit=explicit)


def register(user_home: Path, root: Path) -> None:
    """Put a root into the registry."""
    settings = make_settings(user_home)
    Registry(settings).enrol(root, load_project_config(root, settings))


def folder(path: Path) -> Path:
    """Make a folder."""
    path.mkdir(parents=True, exist_ok=True)
    return path


both = pytest.mark.parametrize("explicit", [True, False], ids=["named", "working_directory"])


@both
def test_nearest_configuration_above_decides(tmp_path: Path, explicit: bool) -> None:
    """MISSION 1.1: found by walking up."""
    outer = make_root(tmp_path, "a", {})
    inner = make_root(tmp_path, "a/b", {})
    assert find(tmp_path, folder(inner / "c" / "d"), explicit=explicit) == Found(
        root=inner, config_path=inner / ".kx.json", adhoc=False
    )
    assert find(tmp_path, folder(outer / "x"), explicit=explicit).root == outer


def test_xindex_json_marks_a_root_too_and_kx_json_wins(tmp_path: Path) -> None:
    """MISSION 1.3."""
    root = make_root(tmp_path, "a")
    write_json(root / ".xindex.json", "")
    assert find(tmp_path, folder(root / "b")) == Found(root=root, config_path=root / ".xindex.json", adhoc=True)
    write_json(root / ".kx.json", {})
    assert find(tmp_path, root / "b") == Found(root=root, config_path=root / ".kx.json", adhoc=False)


@pytest.mark.parametrize("git", ["folder", "file"])
def test_search_stops_at_the_git_top_level(tmp_path: Path, git: str) -> None:
    """MISSION 1.1; a worktree and a submodule have a file there."""
    make_root(tmp_path, "outer", {})
    top = folder(tmp_path / "outer" / "repo")
    folder(top / ".git") if git == "folder" else write_json(top / ".git", "gitdir: x")
    below = folder(top / "a" / "b")
    assert find(tmp_path, below).root == top
    assert find(tmp_path, below, explicit=True).root == below
    write_json(top / ".kx.json", {})
    assert find(tmp_path, below, explicit=True).root == top


def test_home_is_no_root_for_what_lies_below_it(tmp_path: Path) -> None:
    """MISSION 1.1: one forgotten file in the home folder must not make everything one project."""
    write_json(tmp_path / ".kx.json", {})
    folder(tmp_path / ".git")
    below = folder(tmp_path / "a")
    assert find(tmp_path, below).root == below
    assert find(tmp_path, tmp_path).config_path == tmp_path / ".kx.json"


def test_search_does_not_leave_the_home(tmp_path: Path) -> None:
    """MISSION 1.1: the home folder is a border, also through a link to it."""
    make_root(tmp_path, ".", {})
    home = folder(tmp_path / "home")
    (tmp_path / "link").symlink_to("home")
    below = folder(home / "a")
    assert find(tmp_path / "link", below).root == below
    assert find(home, home).config_path is None


def test_working_directory_without_anything_is_its_own_project(tmp_path: Path) -> None:
    """MISSION 1.2: an ad-hoc project."""
    here = folder(tmp_path / "a" / "b")
    assert find(tmp_path, here) == Found(root=here, config_path=None, adhoc=True)


@both
def test_registered_root_above_decides_when_there_is_no_configuration(tmp_path: Path, explicit: bool) -> None:
    """A sub-folder of a known ad-hoc project is no project of its own; the nearest counts."""
    for name in ("a", "a/b"):
        register(tmp_path, make_root(tmp_path, name))
    assert find(tmp_path, folder(tmp_path / "a" / "b" / "c"), explicit=explicit).root == tmp_path / "a" / "b"
    assert find(tmp_path, folder(tmp_path / "a" / "x"), explicit=explicit).root == tmp_path / "a"


def test_registered_root_beyond_the_git_top_level_does_not_count(tmp_path: Path) -> None:
    """Another repository is another project."""
    register(tmp_path, make_root(tmp_path, "a"))
    top = folder(tmp_path / "a" / "repo")
    folder(top / ".git")
    assert find(tmp_path, folder(top / "x")).root == top


def test_moved_in_stranger_is_not_taken_for_a_registered_root(tmp_path: Path) -> None:
    """Discovery goes by paths; only enrolling, which knows the project, follows a move."""
    root = make_root(tmp_path, "a")
    register(tmp_path, root)
    moved = root.rename(tmp_path / "b")
    assert find(tmp_path, folder(moved / "c"), explicit=True).root == moved / "c"


def test_named_file_belongs_to_the_project_of_its_folder(tmp_path: Path) -> None:
    """`kx index FILE`."""
    root = make_root(tmp_path, "a", {})
    write_json(root / "b" / "x.md", "text")
    assert find(tmp_path, root / "b" / "x.md", explicit=True).root == root


def test_link_is_followed_before_walking_up(tmp_path: Path) -> None:
    """Row A2: where the files are decides, not the way there."""
    root = make_root(tmp_path, "real", {})
    make_root(tmp_path, "other", {})
    folder(root / "sub")
    (tmp_path / "other" / "link").symlink_to(root / "sub")
    assert find(tmp_path, tmp_path / "other" / "link").root == root


def test_what_is_missing_or_no_folder_is_a_clear_error(tmp_path: Path) -> None:
    """Issue 2: bad input is named."""
    write_json(tmp_path / "f", "x")
    os.mkfifo(tmp_path / "fifo")
    (tmp_path / "ring").symlink_to("ring")
    expected = {
        "gone": ErrorCode.PATH_NOT_FOUND,
        "ring": ErrorCode.PATH_NOT_FOUND,
        "a\0b": ErrorCode.PATH_NOT_FOUND,
        "n" * 300: ErrorCode.PATH_NOT_FOUND,
        "f/x": ErrorCode.NOT_A_DIRECTORY,
        "fifo": ErrorCode.NOT_A_DIRECTORY,
    }
    for name, code in expected.items():
        with pytest.raises(KxError) as caught:
            find(tmp_path, tmp_path / name, explicit=True)
        assert (name, caught.value.code, bool(caught.value.hint)) == (name, code, True)


def trust_all_but(monkeypatch: pytest.MonkeyPatch, *foreign: Path) -> None:
    """Let these paths belong to another user."""
    inodes = {path.lstat().st_ino for path in foreign}
    monkeypatch.setattr(discovery, "is_trusted_owner", lambda found: found.st_ino not in inodes)


def test_configuration_of_another_user_ends_the_search(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """MISSION 1.1: a file planted in a shared folder configures nothing, nor does what lies above it."""
    make_root(tmp_path, "a", {})
    planted = make_root(tmp_path, "a/b", {}) / ".kx.json"
    below = folder(planted.parent / "c")
    trust_all_but(monkeypatch, planted)
    assert find(tmp_path, below).root == below


def test_folder_of_another_user_ends_the_search(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """MISSION 1.1: whoever owns a folder decides what lies in it; the folder one stands in still counts."""
    make_root(tmp_path, "a", {})
    middle = make_root(tmp_path, "a/b", {})
    below = folder(middle / "c")
    trust_all_but(monkeypatch, middle)
    assert find(tmp_path, below).root == below
    trust_all_but(monkeypatch, below)
    assert find(tmp_path, below).root == below


def test_search_stops_at_a_file_system_border(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """MISSION 1.1."""
    make_root(tmp_path, "a", {})
    mounted = folder(tmp_path / "a" / "mnt")
    below = folder(mounted / "c")
    monkeypatch.setattr(
        discovery, "device_of", lambda found: 7 if found.st_ino == (tmp_path / "a").stat().st_ino else 1
    )
    assert find(tmp_path, below).root == below


@both
def test_configuration_that_cannot_be_read_is_found_all_the_same(tmp_path: Path, explicit: bool) -> None:
    """Loading then fails with its name; a broken link never makes an ad-hoc project of a configured one."""
    root = make_root(tmp_path, "a")
    (root / ".kx.json").symlink_to("nothing")
    assert find(tmp_path, folder(root / "b"), explicit=explicit).config_path == root / ".kx.json"


@both
def test_derived_tree_is_no_project(tmp_path: Path, explicit: bool) -> None:
    """ADR 8: neither the command nor an agent's session is about a space."""
    inside = folder(make_settings(tmp_path).spaces_dir / "s1" / "items")
    with pytest.raises(KxError) as caught:
        find(tmp_path, inside, explicit=explicit)
    assert caught.value.code is ErrorCode.PATH_DENIED
