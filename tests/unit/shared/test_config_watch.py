"""A project's configuration as it stands now."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from shared.config_watch import VANISHED_S, ConfigWatch
from shared.errors import ErrorCode, KxError
from tests.support.configs import make_root, make_settings, write_json

DENY = {"indexing": {"deny": ["secret/**"]}}


def watched(tmp_path: Path, wait: Callable[[float], None]) -> tuple[Path, ConfigWatch]:
    root = make_root(tmp_path, config=DENY)
    watch = ConfigWatch(root, make_settings(tmp_path), wait=wait)
    assert watch.current().config.indexing.deny == ("secret/**",)
    return root, watch


def refuse_to_wait(_seconds: float) -> None:
    raise AssertionError("waited")


def test_a_change_is_seen_at_once(tmp_path: Path) -> None:
    """Without a restart, without waiting; nothing is read again while nothing changed."""
    root, watch = watched(tmp_path, refuse_to_wait)
    before = watch.current()
    assert watch.current() is before
    write_json(root / ".kx.json", {"indexing": {"deny": ["secret/**", "more/**"]}})
    assert watch.current().config.indexing.deny == ("secret/**", "more/**")


def test_a_file_renamed_away_and_back_never_loses_its_denies(tmp_path: Path) -> None:
    """An editor that saves by renaming leaves no file for an instant; nothing denied is open meanwhile."""

    def come_back(_seconds: float) -> None:
        (root / "backup").rename(root / ".kx.json")

    root, watch = watched(tmp_path, come_back)
    (root / ".kx.json").rename(root / "backup")
    assert watch.current().config.indexing.deny == ("secret/**",)


def test_a_file_that_stays_away_is_believed_to_be_gone(tmp_path: Path) -> None:
    """Deleting the configuration takes effect, after a moment and not later."""
    waits: list[float] = []
    root, watch = watched(tmp_path, waits.append)
    (root / ".kx.json").unlink()
    assert watch.current().config.indexing.deny == ()
    assert sum(waits) == pytest.approx(VANISHED_S)
    waits.clear()
    watch.current()
    assert waits == []


def test_a_missing_root_is_no_project_without_denies(tmp_path: Path) -> None:
    """It is an error at once."""
    root, watch = watched(tmp_path, refuse_to_wait)
    root.rename(root.with_name("away"))
    with pytest.raises(KxError) as caught:
        watch.current()
    assert caught.value.code is ErrorCode.ROOT_MISSING
