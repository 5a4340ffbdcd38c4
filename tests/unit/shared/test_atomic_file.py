"""Whole files, or the old ones."""

from __future__ import annotations

import errno
import os
import stat
from pathlib import Path

import pytest

from shared import atomic_file
from shared.atomic_file import write_atomic
from shared.errors import ErrorCode, KxError


def test_new_file_is_private_whatever_the_umask(tmp_path: Path) -> None:
    """State of kx is readable by its user alone."""
    before = os.umask(0)
    try:
        write_atomic(tmp_path / "a.json", b"{}")
    finally:
        os.umask(before)
    assert (tmp_path / "a.json").read_bytes() == b"{}"
    assert stat.S_IMODE((tmp_path / "a.json").stat().st_mode) == 0o600


def test_mode_asked_for_is_the_mode_given(tmp_path: Path) -> None:
    """A note in a vault is as readable as its author wants, under kx's own umask."""
    before = os.umask(0o077)
    try:
        write_atomic(tmp_path / "note.md", b"x", mode=0o644)
    finally:
        os.umask(before)
    assert stat.S_IMODE((tmp_path / "note.md").stat().st_mode) == 0o644


def test_old_file_is_replaced_and_nothing_else_stays(tmp_path: Path) -> None:
    """A second write leaves one file with the second content."""
    write_atomic(tmp_path / "a", b"old and longer")
    write_atomic(tmp_path / "a", b"new")
    assert [(path.name, path.read_bytes()) for path in tmp_path.iterdir()] == [("a", b"new")]


def test_link_is_replaced_and_its_target_untouched(tmp_path: Path) -> None:
    """A planted link cannot make kx write elsewhere (row A2)."""
    (tmp_path / "victim").write_bytes(b"mine")
    (tmp_path / "a").symlink_to(tmp_path / "victim")
    write_atomic(tmp_path / "a", b"new")
    assert (tmp_path / "victim").read_bytes() == b"mine"
    assert (tmp_path / "a").read_bytes() == b"new"


def test_name_of_255_bytes_can_be_written(tmp_path: Path) -> None:
    """The temporary name does not grow with the file's."""
    write_atomic(tmp_path / ("n" * 255), b"x")
    assert (tmp_path / ("n" * 255)).read_bytes() == b"x"


@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EDQUOT], ids=["disk", "quota"])
def test_full_disk_keeps_the_old_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, number: int) -> None:
    """Half a state file is never left behind (row F5)."""
    write_atomic(tmp_path / "a", b"old")

    def full(descriptor: int) -> None:
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr(atomic_file.os, "fsync", full)
    with pytest.raises(KxError) as caught:
        write_atomic(tmp_path / "a", b"new")
    assert caught.value.code is ErrorCode.DISK_FULL
    assert [(path.name, path.read_bytes()) for path in tmp_path.iterdir()] == [("a", b"old")]


def test_missing_folder_is_the_callers_error(tmp_path: Path) -> None:
    """Only a full disk is translated; the rest stays what it is."""
    with pytest.raises(FileNotFoundError):
        write_atomic(tmp_path / "no" / "a", b"x")


def test_a_failure_names_the_file_that_was_meant(tmp_path):
    """Nobody knows the temporary one."""
    path = tmp_path / "missing" / "a.json"
    with pytest.raises(OSError) as failed:
        write_atomic(path, b"{}")
    assert failed.value.filename == str(path)
