"""The same services as separate processes on the real bus."""

import pytest

from tests.support.stack import running_stack, wait_until_ready

QUERIES = ("circuit-open", "what happens after repeated errors", "disjuntor", "retry backoff attempts")


def without_times(answer):
    """Leave out what may differ between two runs."""
    answer = dict(answer, took_ms=0)
    answer["lanes"] = {name: dict(lane, took_ms=0) for name, lane in answer["lanes"].items()}
    return answer


@pytest.mark.connected
def test_a_stack_answers_exactly_as_the_embedded_mode(kx, tree):
    """Byte for byte the same JSON apart from times; and what the stack indexed, the embedded mode can search."""
    assert kx("project", "add", tree).code == 0
    with running_stack(kx):
        wait_until_ready(kx, tree)
        indexed = kx("index", tree, "--stack")
        assert indexed.code == 0, indexed.err
        over_the_bus = [kx("search", query, "--in", tree, "--json", "--stack") for query in QUERIES]
        embedded = [kx("search", query, "--in", tree, "--json", "--no-stack") for query in QUERIES]
    for one, other in zip(over_the_bus, embedded, strict=True):
        assert one.code == other.code == 0
        assert without_times(one.json()) == without_times(other.json())
        assert one.json()["results"]


@pytest.mark.connected
def test_an_index_held_by_the_stack_is_not_written_by_another(kx, tree):
    """Two writers never meet: the second says who holds the lock, a search goes on meanwhile."""
    assert kx("project", "add", tree).code == 0
    with running_stack(kx) as processes:
        wait_until_ready(kx, tree)
        assert kx("index", tree, "--stack").code == 0
        refused = kx("index", tree, "--no-stack")
        assert refused.code == 75
        assert "KX_INDEX_LOCKED" in refused.err
        assert str(processes["indexer"].pid) in refused.err
        assert kx("search", "circuit-open", "--in", tree, "--no-stack").code == 0
