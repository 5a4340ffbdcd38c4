from __future__ import annotations

import os
import stat
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from shared import spool
from shared.errors import ErrorCode, KxError
from tests.support.configs import make_settings


def test_what_is_put_is_taken_once(tmp_path: Path) -> None:
    """Content too long for a message arrives whole, is readable by its user alone, and does not stay behind."""
    settings = make_settings(tmp_path)
    name = spool.put(settings, b"\0long" * 1000)
    written = settings.run_dir / spool.FOLDER / name
    assert stat.S_IMODE(written.stat().st_mode) == 0o600
    assert spool.take(settings, name, max_bytes=5000) == b"\0long" * 1000
    assert not written.exists()
    with pytest.raises(KxError) as gone:
        spool.take(settings, name, max_bytes=5000)
    assert gone.value.code is ErrorCode.BAD_REQUEST


@pytest.mark.parametrize("name", ["", "../../etc/passwd", "a" * 31, "A" * 32, "/" + "0" * 31])
def test_a_name_that_was_not_given_opens_nothing(tmp_path: Path, name: str) -> None:
    """No path leaves the spool: only names of its own form are looked at."""
    with pytest.raises(KxError) as refused:
        spool.take(make_settings(tmp_path), name, max_bytes=10)
    assert refused.value.code is ErrorCode.BAD_REQUEST


def test_too_much_is_refused_and_removed(tmp_path: Path) -> None:
    """A content over the limit is not kept anywhere."""
    settings = make_settings(tmp_path)
    name = spool.put(settings, b"12345678901")
    with pytest.raises(KxError) as refused:
        spool.take(settings, name, max_bytes=10)
    assert refused.value.code is ErrorCode.CONTENT_TOO_LARGE
    assert list((settings.run_dir / spool.FOLDER).iterdir()) == []


def test_what_nobody_took_is_swept(tmp_path: Path) -> None:
    """A sender that died leaves no text lying about for ever."""
    settings = make_settings(tmp_path)
    left = settings.run_dir / spool.FOLDER / spool.put(settings, b"x")
    os.utime(left, (1, 1))
    spool.put(settings, b"y")
    assert not left.exists()


def test_what_is_taken_while_another_is_put_disturbs_nobody(tmp_path: Path) -> None:
    """Several hand over and take at once, each in its own time."""
    settings = make_settings(tmp_path)

    def hand_over(number: int) -> bool:
        data = b"%d" % number
        return spool.take(settings, spool.put(settings, data), max_bytes=10) == data

    with ThreadPoolExecutor(8) as threads:
        assert all(threads.map(hand_over, range(1_000)))
