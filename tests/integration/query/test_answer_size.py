"""How much source an answer shows: settings, single calls, budgets, pages."""

from __future__ import annotations

from pathlib import Path

import pytest

from shared.errors import ErrorCode, KxError
from shared.excerpts import Budget, Snippets
from shared.messages import SearchReply
from tests.support.product import product
from tests.support.query_bench import QueryBench

pytestmark = pytest.mark.anyio

BUDGETS = (1, 150, 400, 900, 2_000, 20_000)


@pytest.fixture
def bench(tmp_path: Path) -> QueryBench:
    """Make an index of twenty files, each with the word in the middle of one long passage."""
    bench = QueryBench(tmp_path)
    with bench.index() as index:
        for number in range(20):
            lines = [f"filler {number} {line}" for line in range(30)]
            lines[15] = f"the kumquat number {number}"
            index.add(f"{number:02}.md", "\n".join(lines))
    return bench


def assert_lines_of_files(bench: QueryBench, reply: SearchReply) -> None:
    """Compare what is shown with the files, byte for byte."""
    for hit in reply.results:
        if hit.excerpt is not None:
            lines = (bench.root / hit.path).read_text().split("\n")
            assert "\n".join(lines[hit.excerpt.start_line - 1 : hit.excerpt.end_line]) == hit.excerpt.text


async def test_first_results_show_the_lines_that_answer(bench: QueryBench) -> None:
    """MISSION 4.5: by default seven lines of three results, centred on the evidence; the passage stays whole beside it."""
    async with bench.serving() as ask:
        reply = await ask.search("kumquat", mode="lexical")
    shown = [hit.excerpt for hit in reply.results]
    assert [one is not None for one in shown] == [True] * 3 + [False] * 7
    assert {(one.start_line, one.end_line) for one in shown[:3]} == {(13, 19)}
    assert all(hit.text.count("\n") == 29 for hit in reply.results)
    assert_lines_of_files(bench, reply)


async def test_settings_of_the_project_hold_and_a_call_overrides_them(bench: QueryBench) -> None:
    """`.kx.json` says how many lines of how many results; each of the two may be said in a call."""
    bench.configure('{"maxSnippetLines": 3, "maxSnippetResults": 1}')
    async with bench.serving() as ask:

        async def heights(**given: int) -> list[int]:
            hits = await ask.hits("kumquat", mode="lexical", snippets=Snippets(**given))
            return [0 if hit.excerpt is None else hit.excerpt.text.count("\n") + 1 for hit in hits[:3]]

        assert await heights() == [3, 0, 0]
        assert await heights(results=2) == [3, 3, 0]
        assert await heights(lines=5) == [5, 0, 0]
        assert await heights(lines=0, results=20) == [0, 0, 0]
        for wrong in ({"lines": 51}, {"lines": -1}, {"results": 21}):
            with pytest.raises(KxError) as error:
                await heights(**wrong)
            assert error.value.code == ErrorCode.BAD_REQUEST


async def test_a_small_file_is_shown_whole(tmp_path: Path) -> None:
    """MISSION 4.5: what lies around the passage too, as the file has it; one line more and it is an excerpt."""
    bench = QueryBench(tmp_path)
    with bench.index() as index:
        index.add("small.md", "# One", "alpha\nthe kumquat", "# Two", "omega\nbeta\ngamma")
        index.add("large.md", "# One", "alpha\nthe other kumquat", "# Two", "omega\nbeta\ngamma\ndelta")
    async with bench.serving() as ask:
        reply = await ask.search("kumquat", mode="lexical")
    by_path = {hit.path: hit for hit in reply.results}
    assert by_path["small.md"].excerpt.text == (bench.root / "small.md").read_text().removesuffix("\n")
    assert (by_path["small.md"].start_line, by_path["small.md"].excerpt.start_line) == (2, 1)
    assert by_path["large.md"].excerpt.text == by_path["large.md"].text
    assert_lines_of_files(bench, reply)


@pytest.mark.parametrize("tokens", BUDGETS)
async def test_a_budget_packs_the_first_results_and_says_how_to_go_on(bench: QueryBench, tokens: int) -> None:
    """Pages within a budget follow each other without a gap or a repeat until there are no more."""
    seen: list[str] = []
    async with bench.serving() as ask:
        everything = await ask.paths("kumquat", mode="lexical", top=100)
        offset: int | None = 0
        while offset is not None:
            budget = Budget(tokens=tokens, per_result=20)
            reply = await ask.search("kumquat", mode="lexical", top=100, offset=offset, budget=budget)
            assert reply.results
            assert all(hit.text == "" for hit in reply.results)
            assert_lines_of_files(bench, reply)
            seen += [hit.path for hit in reply.results]
            is_cut = offset + len(reply.results) < len(everything)
            assert is_cut == any("did not fit" in note for note in reply.notes)
            offset = reply.next_offset
    assert seen == everything


async def test_a_budget_shortens_before_it_drops(bench: QueryBench) -> None:
    """All ten results are there, the first with its whole passage, and a note counts the shortened ones."""
    async with bench.serving() as ask:
        reply = await ask.search("kumquat", mode="lexical", budget=Budget(tokens=1_200, per_result=20))
    heights = [hit.excerpt.text.count("\n") + 1 for hit in reply.results]
    assert len(heights) == 10
    assert heights[0] == 30
    assert heights == sorted(heights, reverse=True)
    assert heights[-1] == 3
    assert (
        f"{sum(height < 30 for height in heights)} excerpts were shortened to keep to the tokens asked for"
        in reply.notes
    )


@pytest.mark.parametrize("group", ["file", "passage"])
@pytest.mark.parametrize("mode", ["auto", "lexical", "rrf"])
async def test_pages_of_any_size_are_parts_of_one_order(bench: QueryBench, mode: str, group: str) -> None:
    """Paging by `next_offset` gives the very sequence that one large page has."""
    async with bench.serving() as ask:
        whole = await ask.paths("kumquat", mode=mode, group=group, top=100)
        for top in (1, 7, 20):
            paged: list[str] = []
            offset: int | None = 0
            while offset is not None:
                reply = await ask.search("kumquat", mode=mode, group=group, top=top, offset=offset)
                paged += [hit.path for hit in reply.results]
                offset = reply.next_offset
            assert paged == whole


async def test_evidence_is_weighed_by_rarity(tmp_path: Path) -> None:
    """The line with the rare word is shown, not the one with the word that stands everywhere."""
    bench = QueryBench(tmp_path)
    with bench.index() as index:
        for number in range(30):
            index.add(f"{number}.md", f"the service number {number}")
        lines = ["plain", "service one", *["plain"] * 12, "the kumquat", *["plain"] * 12, "service two"]
        index.add("both.md", "\n".join(lines))
    async with bench.serving() as ask:
        (first, *_) = await ask.hits("kumquat service", mode="lexical", snippets=Snippets(lines=3))
    assert (first.path, first.excerpt.start_line) == ("both.md", 14)


async def test_parts_of_one_long_line_are_told_once(tmp_path: Path) -> None:
    """Many passages stand on line 3; the result names it once, and the other places."""
    root = tmp_path / "tree"
    root.mkdir()
    long_line = " ".join(f"kumquat word{number}" for number in range(1_500))
    (root / "a.md").write_text(f"# A\n\n{long_line}\n\n# B\n\nthe kumquat\n\n# C\n\nanother kumquat\n")
    async with product(root, tmp_path) as served:
        await served.index()
        (hit,) = await served.hits("kumquat")
    lines = [(hit.start_line, hit.end_line), *((span.start_line, span.end_line) for span in hit.spans)]
    assert sum(start <= 3 <= end for start, end in lines) == 1
    assert len(lines) > 1
    assert all(one[1] < other[0] for one, other in zip(sorted(lines), sorted(lines)[1:], strict=False))
