"""The lexical lane over a real index: the best of many matches, and counts that follow the commits."""

from __future__ import annotations

from pathlib import Path

from services.query.adapters.lexical_lane import lexical_hits
from services.query.adapters.passages import Filters
from services.query.adapters.reader import IndexReaders
from shared.analyzer import query_terms
from shared.identity import InstanceId
from tests.support.index_builder import IndexBuilder

INSTANCE = InstanceId("0123456789abcdef")
DEPTH = 20


def found(path: Path, query: str, filters: Filters | None = None) -> list[str]:
    readers = IndexReaders()
    with readers.snapshot(path, INSTANCE) as snapshot:
        hits = lexical_hits(snapshot, query_terms(query), filters or Filters(), DEPTH)
    readers.close()
    return [hit.passage.at.path for hit in hits]


def test_more_ties_than_are_looked_at_come_in_path_order(tmp_path: Path) -> None:
    """Row ids differ between machines, so they never decide who is among the best."""
    path = tmp_path / "index.sqlite"
    with IndexBuilder(path, INSTANCE, tmp_path) as index:
        for number in reversed(range(100)):
            index.add(f"{number:03}.md", f"kumquat number{number}", is_on_disk=False)
    assert found(path, "kumquat") == [f"{number:03}.md" for number in range(DEPTH)]


def test_denied_documents_among_the_best_make_room_for_the_others(tmp_path: Path) -> None:
    """However many of the best are denied, what may be shown fills the answer."""
    path = tmp_path / "index.sqlite"
    with IndexBuilder(path, INSTANCE, tmp_path) as index:
        for number in range(90):
            index.add(f"secret{number}.md", f"kumquat kumquat number{number}", is_on_disk=False)
        for number in range(30):
            index.add(f"open{number:02}.md", f"a kumquat is a fruit number{number}", is_on_disk=False)
    assert found(path, "kumquat", Filters(is_denied=lambda name: "secret" in name)) == [
        f"open{number:02}.md" for number in range(DEPTH)
    ]


def test_counts_of_a_word_follow_the_commits(tmp_path: Path) -> None:
    """What is remembered is of one commit."""
    path = tmp_path / "index.sqlite"
    readers = IndexReaders()
    for count in (1, 2):
        with IndexBuilder(path, INSTANCE, tmp_path) as index:
            index.add(f"{count}.md", "kumquat", is_on_disk=False)
        for _ in range(2):
            with readers.snapshot(path, INSTANCE) as snapshot:
                assert snapshot.chunks_with(query_terms("kumquat").terms[0]) == count
                assert snapshot.chunks_with("nowhere") == 0
    readers.close()
