"""Connections to index files: lent, limited, let go."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from services.query.adapters.reader import IndexReaders
from shared.errors import ErrorCode, KxError
from shared.identity import InstanceId
from shared.index_open import AUDIT_EVENT
from tests.support.index_builder import IndexBuilder

INSTANCE = InstanceId("0123456789abcdef")
ENDLESS = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT count(*) FROM n"

opened: list[str] = []
sys.addaudithook(lambda event, args: opened.append(args[0]) if event == AUDIT_EVENT else None)


@pytest.fixture
def index(tmp_path: Path) -> Path:
    path = tmp_path / "index.sqlite"
    with IndexBuilder(path, INSTANCE, tmp_path) as builder:
        builder.add("a.md", "kumquat")
    opened.clear()
    return path


def test_an_endless_statement_is_cut_off_and_the_connection_lives_on(index: Path) -> None:
    """A reader never stays longer than its limit, or it would pin the write-ahead log."""
    readers = IndexReaders()
    with pytest.raises(KxError) as error, readers.snapshot(index, INSTANCE, limit_s=0.05) as snapshot:
        snapshot.number(ENDLESS)
    assert error.value.code == ErrorCode.TIMEOUT
    with readers.snapshot(index, INSTANCE) as snapshot:
        assert snapshot.number("SELECT count(*) FROM chunk{e}") == 1
    assert opened == [str(index)]


def test_a_connection_is_used_again_and_two_at_once_are_two(index: Path) -> None:
    """Lanes run in parallel, each on a connection of its own."""
    readers = IndexReaders()
    with readers.snapshot(index, INSTANCE), readers.snapshot(index, INSTANCE):
        pass
    with readers.snapshot(index, INSTANCE), readers.snapshot(index, INSTANCE):
        pass
    assert len(opened) == 2


def test_an_idle_connection_is_closed(index: Path) -> None:
    """What nobody asks for does not hold a file."""
    readers = IndexReaders()
    with readers.snapshot(index, INSTANCE):
        pass
    readers.close_idle(older_than_s=0.0)
    with readers.snapshot(index, INSTANCE):
        pass
    assert len(opened) == 2


def test_a_snapshot_does_not_see_later_commits(index: Path, tmp_path: Path) -> None:
    """All that one answer reads is of one state."""
    readers = IndexReaders()
    with readers.snapshot(index, INSTANCE) as before:
        with IndexBuilder(index, INSTANCE, tmp_path) as builder:
            builder.add("b.md", "another")
        assert before.number("SELECT count(*) FROM document{e}") == 1
    with readers.snapshot(index, INSTANCE) as after:
        assert after.number("SELECT count(*) FROM document{e}") == 2
        assert after.seq > before.seq


def test_nothing_can_be_written_through_a_reader(index: Path) -> None:
    """The read side never writes; only the temporary view of the terms is made, outside the file."""
    readers = IndexReaders()
    for statement in ("DELETE FROM meta", "CREATE TABLE t(x)"):
        with readers.snapshot(index, INSTANCE) as snapshot:
            assert snapshot.define_vocabulary()
        with pytest.raises(KxError) as error, readers.snapshot(index, INSTANCE) as snapshot:
            snapshot.all(statement)
        assert error.value.code == ErrorCode.INDEX_READ_ONLY
