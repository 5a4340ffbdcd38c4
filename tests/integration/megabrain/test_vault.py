"""The vault: nothing outside it is read or written, and no write leaves half a file."""

from __future__ import annotations

import os
import resource
import stat
import threading
from pathlib import Path

import pytest

from services.megabrain.adapters.vault import LOCK, ChangedUnderneathError, Vault
from shared.errors import ErrorCode, KxError


@pytest.fixture
def root(tmp_path: Path) -> Path:
    (tmp_path / "root").mkdir()
    return tmp_path / "root"


def code_of(call, *arguments: object) -> ErrorCode:
    with pytest.raises(KxError) as caught:
        call(*arguments)
    return caught.value.code


def test_file_is_written_whole_and_keeps_its_mode(root: Path):
    """A note stays as readable as its owner made it; a new one is private."""
    vault = Vault(root)
    vault.write("megabrain/a.md", b"one", None)
    path = root / ".vault/megabrain/a.md"
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    path.chmod(0o664)
    vault.write("megabrain/a.md", b"two", vault.read("megabrain/a.md"))
    assert (path.read_bytes(), stat.S_IMODE(path.stat().st_mode)) == (b"two", 0o664)
    assert [one.name for one in path.parent.iterdir()] == ["a.md"]


def test_edit_between_reading_and_writing_is_noticed(root: Path):
    """Issue 8: what an editor saved meanwhile is not overwritten."""
    vault = Vault(root)
    vault.write("a.md", b"one", None)
    seen = vault.read("a.md")
    (root / ".vault/a.md").write_bytes(b"by hand")
    with pytest.raises(ChangedUnderneathError):
        vault.write("a.md", b"two", seen)
    with pytest.raises(ChangedUnderneathError):
        vault.write("a.md", b"two", None)
    assert (root / ".vault/a.md").read_bytes() == b"by hand"


@pytest.mark.parametrize("where", ["vault", "folder", "file"])
def test_link_leads_nowhere(root: Path, tmp_path: Path, where: str):
    """A2: no path leaves the vault, neither to read nor to write."""
    outside = tmp_path / "outside"
    (outside / "megabrain").mkdir(parents=True)
    (outside / "megabrain/a.md").write_text("secret")
    vault = Vault(root)
    if where == "vault":
        (root / ".vault").symlink_to(outside)
    elif where == "folder":
        (root / ".vault").mkdir()
        (root / ".vault/megabrain").symlink_to(outside / "megabrain")
    else:
        (root / ".vault/megabrain").mkdir(parents=True)
        (root / ".vault/megabrain/a.md").symlink_to(outside / "megabrain/a.md")
    assert code_of(vault.read, "megabrain/a.md") is ErrorCode.PATH_OUTSIDE_ROOT
    if where == "file":
        with pytest.raises(ChangedUnderneathError):
            vault.write("megabrain/a.md", b"x", None)
    else:
        assert code_of(vault.write, "megabrain/a.md", b"x", None) is ErrorCode.PATH_OUTSIDE_ROOT
    assert (outside / "megabrain/a.md").read_text() == "secret"
    assert sorted(one.name for one in outside.rglob("*")) == ["a.md", "megabrain"]


def test_vault_may_be_a_link_inside_the_root(root: Path):
    """A2: a legitimate link is followed as long as it stays inside."""
    (root / "notes").mkdir()
    (root / ".vault").symlink_to("notes")
    Vault(root).write("megabrain/a.md", b"x", None)
    assert (root / "notes/megabrain/a.md").read_bytes() == b"x"


@pytest.mark.parametrize("name", ["fifo", "folder"])
def test_what_is_no_file_is_refused(root: Path, name: str):
    """A pipe would block who opens it."""
    path = root / ".vault/a.md"
    path.parent.mkdir()
    os.mkfifo(path) if name == "fifo" else path.mkdir()
    assert code_of(Vault(root).read, "a.md") is ErrorCode.VAULT_DAMAGED


def test_full_disk_leaves_the_old_file(root: Path):
    """F5: a file-size limit in the place of a full disk; no half note, nothing left beside it."""
    vault = Vault(root)
    vault.write("a.md", b"old", None)
    seen = vault.read("a.md")
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (4_096, limits[1]))
    try:
        assert code_of(vault.write, "a.md", b"x" * 10_000, seen) is ErrorCode.DISK_FULL
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    assert (root / ".vault/a.md").read_bytes() == b"old"
    assert [one.name for one in (root / ".vault").iterdir()] == ["a.md"]


def test_writers_wait_for_each_other(root: Path):
    """A second lock of the same vault, whatever process it is of, is taken when the first is given back."""
    entered = threading.Event()

    def write() -> None:
        with Vault(root).locked():
            entered.set()

    thread = threading.Thread(target=write)
    with Vault(root).locked():
        thread.start()
        assert not entered.wait(0.1)
    assert entered.wait(5)
    thread.join()


def test_lock_held_by_another_is_told(root: Path, monkeypatch: pytest.MonkeyPatch):
    """Nobody waits for ever."""
    monkeypatch.setattr("services.megabrain.adapters.vault.LOCK_S", 0.05)
    with Vault(root).locked(), pytest.raises(KxError) as caught, Vault(root).locked():
        pass
    assert caught.value.code is ErrorCode.VAULT_BUSY
    assert caught.value.retryable
    assert (root / ".vault" / LOCK).exists()


def test_root_that_is_gone_is_told(root: Path):
    """A vanished project has no activities, but that is not what is said of it."""
    vault = Vault(root)
    root.rmdir()
    assert code_of(vault.names, "megabrain") is ErrorCode.ROOT_MISSING
