"""How a process finds the bus of its home."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest

from shared.bus_address import BUS_FILE, BusAddress, BusFile, load_bus_address
from shared.errors import ErrorCode, KxError


def write(run_dir: Path, data: bytes) -> None:
    (run_dir / BUS_FILE).write_bytes(data)


def test_address_is_what_the_bus_wrote(tmp_path: Path) -> None:
    """DESIGN 3: port and password are new at every start."""
    write(tmp_path, msgspec.json.encode(BusFile(port=4222, pid=1, passwords={"query": "secret"})))
    assert load_bus_address(tmp_path, "query") == BusAddress(port=4222, user="query", password="secret")


@pytest.mark.parametrize("data", [None, b"", b"{", b'{"port": "x"}', b"\xff\xfe"])
def test_missing_or_broken_file_says_how_to_start_the_bus(tmp_path: Path, data: bytes | None) -> None:
    """STYLE 18: the hint is the command to type."""
    if data is not None:
        write(tmp_path, data)
    with pytest.raises(KxError) as caught:
        load_bus_address(tmp_path, "query")
    assert caught.value.code == ErrorCode.BUS_UNAVAILABLE
    assert "kx serve bus" in caught.value.hint


def test_user_the_bus_does_not_know_is_refused(tmp_path: Path) -> None:
    """A bus of an older version lacks the users of newer services."""
    write(tmp_path, msgspec.json.encode(BusFile(port=4222, pid=1, passwords={})))
    with pytest.raises(KxError) as caught:
        load_bus_address(tmp_path, "query")
    assert caught.value.code == ErrorCode.BUS_UNAVAILABLE


def test_password_is_not_shown() -> None:
    """Row A17: values end in logs by their repr."""
    assert "secret" not in repr(BusAddress(port=1, user="query", password="secret"))
