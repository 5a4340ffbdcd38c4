"""Searches through the service, over a real index file and an in-memory bus."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from shared.errors import ErrorCode, KxError
from tests.support.fake_encoder import FakeEncoder
from tests.support.index_builder import BuiltChunk
from tests.support.query_bench import QueryBench

pytestmark = pytest.mark.anyio


@pytest.fixture
def bench(tmp_path: Path) -> QueryBench:
    return QueryBench(tmp_path)


async def test_both_lanes_find_a_text_and_the_answer_says_so(bench: QueryBench) -> None:
    """A text that shares words and meaning comes first, with the score of two first ranks, lines and lanes."""
    with bench.index() as index:
        index.add("docs/breaker.md", "intro line", "the circuit breaker opens\nafter five failures")
        index.add("docs/garden.md", "roses need water")
    async with bench.serving() as ask:
        reply = await ask.search("circuit breaker opens", mode="rrf")
    best = reply.results[0]
    assert (best.path, best.start_line, best.end_line) == ("docs/breaker.md", 2, 3)
    assert best.text == "the circuit breaker opens\nafter five failures"
    assert best.origin == "both"
    assert best.score == pytest.approx(2 / 61, abs=1e-6)  # one age: no boost
    assert (reply.lanes["vector"].state, reply.lanes["lexical"].state) == ("ok", "ok")
    assert reply.pending.vectors == 0
    assert reply.state == "ready"
    assert reply.notes == ("nobody watches this tree; changes since the last kx index are not known",)


@pytest.mark.parametrize("mode", ["auto", "rrf", "hybrid", "semantic", "lexical"])
async def test_every_mode_finds_the_text(bench: QueryBench, mode: str) -> None:
    """Each mode of MISSION 4.2 answers and is named in the reply."""
    with bench.index() as index:
        index.add("a.md", "alpha beta gamma").add("b.md", "delta epsilon")
    async with bench.serving() as ask:
        reply = await ask.search("beta gamma", mode=mode)
    assert reply.results[0].path == "a.md"
    assert reply.mode == mode


async def test_two_answers_to_one_question_are_equal(bench: QueryBench) -> None:
    """Order is total: equal scores are ordered by path and place."""
    with bench.index() as index:
        for name in "dbca":
            index.add(f"{name}.md", f"same words here {name}")
    async with bench.serving() as ask:
        first, second = [await ask.hits("same words", mode="lexical") for _ in range(2)]
    assert first == second
    assert [hit.path for hit in first] == ["a.md", "b.md", "c.md", "d.md"]


async def test_a_commit_between_two_equal_questions_is_seen(bench: QueryBench) -> None:
    """The order of the first is not the second's."""
    with bench.index() as index:
        index.add("a.md", "the circuit breaker opens")
    async with bench.serving() as ask:
        for _ in range(2):
            assert await ask.paths("circuit breaker") == ["a.md"]
        with bench.index() as index:
            index.add("b.md", "a circuit breaker, the circuit breaker")
        for _ in range(2):
            assert set(await ask.paths("circuit breaker")) == {"a.md", "b.md"}


async def test_each_of_two_equal_answers_is_proven_on_disk(bench: QueryBench) -> None:
    """They share their order and nothing else."""
    with bench.index() as index:
        index.add("a.md", "the circuit breaker opens")
        index.add("b.md", "a circuit breaker closes")
    async with bench.serving() as ask:
        assert set(await ask.paths("circuit breaker")) == {"a.md", "b.md"}
        (bench.root / "a.md").write_text("something else")
        answer = await ask.search("circuit breaker")
    assert [hit.path for hit in answer.results] == ["b.md"]
    assert answer.pending.text == 1


async def test_one_result_per_file_with_further_spans(bench: QueryBench) -> None:
    """MISSION 4.5: a file is one result with its best passage and at most two more; passages can be had flat."""
    with bench.index() as index:
        index.add("a.md", "kiwi kiwi", "kiwi and more", "kiwi again here", "kiwi once more please")
    async with bench.serving() as ask:
        (by_file,) = await ask.hits("kiwi")
        flat = await ask.hits("kiwi", group="passage")
    assert len(by_file.spans) == 2
    assert len(flat) == 4
    assert all(not hit.spans for hit in flat)


async def test_a_rare_kind_gets_its_hits(bench: QueryBench) -> None:
    """Filters work inside the lanes: 300 better matches of another kind do not crowd out one configuration file."""
    with bench.index() as index:
        for number in range(300):
            index.add(f"src/{number}.py", f"timeout timeout timeout {number}", kind="code")
        index.add("conf/app.toml", "a long line that has the timeout somewhere among other words", kind="config")
    async with bench.serving() as ask:
        reply = await ask.search("timeout", kinds=("config",))
    assert [(hit.path, hit.origin) for hit in reply.results] == [("conf/app.toml", "both")]


async def test_a_path_glob_filters_inside_the_lanes(bench: QueryBench) -> None:
    """MISSION 4.1: only files that the glob selects come back, however many others match better."""
    with bench.index() as index:
        for number in range(150):
            index.add(f"src/{number}.py", f"timeout timeout {number}", kind="code")
        index.add("docs/deep/er/note.md", "the timeout of the gateway")
    async with bench.serving() as ask:
        assert await ask.paths("timeout", path_glob="docs/**/*.md") == ["docs/deep/er/note.md"]
        assert await ask.paths("timeout", path_glob="docs/*.md") == []
        with pytest.raises(KxError) as error:
            await ask.search("timeout", path_glob="docs/[")
    assert error.value.code == ErrorCode.BAD_REQUEST


async def test_equal_text_is_one_result_that_names_every_place(bench: QueryBench) -> None:
    """Case 33: two identical files are one result naming both; once one is deleted it names the other."""
    with bench.index() as index:
        index.add("a/LICENSE", "permission is hereby granted").add("b/LICENSE", "permission is hereby granted")
    async with bench.serving() as ask:
        (hit,) = await ask.hits("permission granted")
        assert (hit.path, [place.path for place in hit.also]) == ("a/LICENSE", ["b/LICENSE"])
        (bench.root / "a/LICENSE").unlink()  # the index does not know yet
        (hit,) = await ask.hits("permission granted")
        assert (hit.path, hit.also) == ("b/LICENSE", ())


async def test_text_that_moved_in_its_file_gets_its_new_lines(bench: QueryBench) -> None:
    """What is shown is what the file has now: lines follow an edit that the index has not seen."""
    with bench.index() as index:
        index.add("a.md", "heading", "the kumquat paragraph")
    (bench.root / "a.md").write_text("new\nlines\nabove\nheading\nthe kumquat paragraph\n")
    async with bench.serving() as ask:
        (hit,) = await ask.hits("kumquat")
    assert (hit.start_line, hit.end_line) == (5, 5)


async def test_changed_and_deleted_text_is_never_shown(bench: QueryBench) -> None:
    """Case 24: text that is gone from the disk leaves no hit, and the answer says that the index is behind."""
    with bench.index() as index:
        index.add("edited.md", "oldword stands here").add("ghost.md", "oldword haunts").add("kept.md", "oldword lives")
    (bench.root / "edited.md").write_text("newword stands here\n")
    (bench.root / "ghost.md").unlink()
    async with bench.serving() as ask:
        reply = await ask.search("oldword")
    assert [hit.path for hit in reply.results] == ["kept.md"]
    assert reply.total == 1
    assert reply.pending.text >= 2
    assert "2 passages changed on disk and were left out" in reply.notes


@pytest.mark.parametrize(
    ("flip", "shown"),
    [
        ("UPDATE chunk_e1 SET text = replace(text, 'lives', 'dies')", []),
        ("UPDATE chunk_e1 SET heading = 'Another'", [("a.md", "oldword lives", "")]),
        ("UPDATE chunk_e1 SET text_hash = zeroblob(16)", [("a.md", "oldword lives", "")]),
    ],
    ids=["text", "heading", "address"],
)
async def test_text_that_the_disk_changed_in_the_index_is_never_shown_as_the_files(
    bench: QueryBench, flip: str, shown: list[tuple[str, str, str]]
) -> None:
    """Issue 5.6: the file is as it was indexed, its row is not: what the file does not hold is left out."""
    with bench.index() as index:
        index.add("a.md", BuiltChunk(text="oldword lives", heading="Life"))
        index.execute(flip)
    async with bench.serving() as ask:
        reply = await ask.search("oldword", mode="lexical")
    assert [(hit.path, hit.text, hit.heading) for hit in reply.results] == shown
    assert ("1 passages changed on disk and were left out" in reply.notes) is (not shown)


async def test_text_changed_under_its_old_size_and_time_is_never_shown(bench: QueryBench) -> None:
    """Case 26, row F6: what sets a time back cannot set the ctime back."""
    with bench.index() as index:
        index.add("a.md", "oldword stands here").add("b.md", "oldword stays")
        for name in ("a.md", "b.md"):
            found = (bench.root / name).stat()
            index.execute(f"UPDATE document_e1 SET ctime_ns = {found.st_ctime_ns} WHERE path = '{name}'")
    before = (bench.root / "a.md").stat()
    (bench.root / "a.md").write_text("newword stands here\n")
    os.utime(bench.root / "a.md", ns=(before.st_atime_ns, before.st_mtime_ns))
    async with bench.serving() as ask:
        assert await ask.paths("oldword", mode="lexical") == ["b.md"]


async def test_a_touched_file_is_shown_as_it_is(bench: QueryBench) -> None:
    """A new mtime alone changes nothing."""
    with bench.index() as index:
        index.add("a.md", "the kumquat paragraph")
    os.utime(bench.root / "a.md", ns=(1, 1))
    async with bench.serving() as ask:
        assert await ask.paths("kumquat") == ["a.md"]


async def test_a_path_denied_now_is_never_shown_though_the_index_has_it(bench: QueryBench) -> None:
    """DESIGN 6.2: the denylist is asked again at query time, for hits and for other places, in every lane."""
    with bench.index() as index:
        for number in range(120):
            index.add(f"private/{number}.md", f"canary canary canary {number}")
        index.add("private/copy.md", "the canary text").add("shown.md", "the canary text").add(".env", "canary=1")
    bench.configure('{"indexing": {"deny": ["private/**"]}}')
    async with bench.serving() as ask:
        for mode in ("auto", "semantic", "lexical"):
            hits = await ask.hits("canary", mode=mode)
            assert [(hit.path, hit.also) for hit in hits] == [("shown.md", ())], mode
        bench.configure("{}")
        assert len(await ask.hits("canary")) == 10


async def test_only_indexed_documents_are_shown(bench: QueryBench) -> None:
    """Skipped and failed entries have no hits."""
    with bench.index() as index:
        index.add("a.md", "kumquat").skip("kumquat.bin", "binary").fail("kumquat.md", "KX_INTERNAL")
    async with bench.serving() as ask:
        assert await ask.paths("kumquat") == ["a.md"]


async def test_missing_vectors_show_as_coverage_and_pending(bench: QueryBench) -> None:
    """The answer says how much the vector lane could see, and finds the rest by words."""
    with bench.index() as index:
        index.add("a.md", "the first kumquat", BuiltChunk(text="the second kumquat", is_embedded=False))
    async with bench.serving() as ask:
        reply = await ask.search("second kumquat")
    assert (reply.lanes["vector"].state, reply.lanes["vector"].coverage) == ("partial", 0.5)
    assert reply.pending.vectors == 1
    (hit,) = reply.results
    assert len(hit.spans) == 1


async def test_without_any_vector_the_answer_is_lexical_and_says_so(bench: QueryBench) -> None:
    """MISSION 4.2: each mode falls back to words."""
    with bench.index() as index:
        index.add("a.md", BuiltChunk(text="the kumquat", is_embedded=False))
    async with bench.serving() as ask:
        reply = await ask.search("kumquat", mode="semantic")
    assert [hit.path for hit in reply.results] == ["a.md"]
    assert reply.lanes["vector"].state == "off"
    assert "mode semantic needs a lane that did not answer: ranked as lexical" in reply.notes


async def test_vectors_of_another_model_are_not_compared(bench: QueryBench) -> None:
    """Case 29: never a mixture of two models; the lane is off and says why."""
    with bench.index() as index:
        index.add("a.md", "the kumquat")
    async with bench.serving(encoder=FakeEncoder("another@1")) as ask:
        reply = await ask.search("kumquat")
    assert [hit.path for hit in reply.results] == ["a.md"]
    assert reply.lanes["vector"].state == "off"
    assert "another@1" in reply.lanes["vector"].reason


class BrokenEncoder(FakeEncoder):
    """Fails as a model does, or as only a bug does."""

    def __init__(self, error: Exception) -> None:
        super().__init__()
        self._error = error

    def encode(self, texts: object) -> object:  # type: ignore[override]
        """Fail."""
        raise self._error if texts else AssertionError


@pytest.mark.parametrize(
    ("error", "code"),
    [(KxError(ErrorCode.EMBEDDER_FAILED, "no"), "KX_EMBEDDER_FAILED"), (ZeroDivisionError(), "KX_INTERNAL")],
    ids=["known", "bug"],
)
async def test_a_failing_encoder_leaves_the_lexical_lane(bench: QueryBench, error: Exception, code: str) -> None:
    """MISSION 4.2: a failing lane never kills the answer, it is a field of it."""
    with bench.index() as index:
        index.add("a.md", "the kumquat")
    async with bench.serving(encoder=BrokenEncoder(error)) as ask:
        reply = await ask.search("kumquat")
    assert [hit.path for hit in reply.results] == ["a.md"]
    assert reply.lanes["vector"].state == "failed"
    assert code in reply.lanes["vector"].reason


async def test_a_damaged_full_text_index_leaves_the_vector_lane(bench: QueryBench) -> None:
    """Case 2: "failed" and "nothing there" are never the same answer."""
    with bench.index() as index:
        index.add("a.md", "the kumquat").commit()
        index.execute("UPDATE chunk_fts_e1_data SET block = x'00' WHERE id > 10")
    async with bench.serving() as ask:
        reply = await ask.search("kumquat")
    assert [hit.path for hit in reply.results] == ["a.md"]
    assert reply.lanes["lexical"].state == "failed"
    assert reply.lanes["lexical"].reason


async def test_an_index_that_is_not_there_is_said(bench: QueryBench) -> None:
    """Nothing to search is no error and no silence."""
    async with bench.serving() as ask:
        reply = await ask.search("kumquat")
    assert (reply.state, reply.results) == ("not_indexed", ())
    assert "kx index" in reply.notes[0]


async def test_a_root_that_is_gone_is_said(bench: QueryBench) -> None:
    """Case 25: while the root is away there are no results and the state says so; they come back with it."""
    with bench.index() as index:
        index.add("a.md", "the kumquat")
    away = bench.root.rename(bench.root.with_name("away"))
    async with bench.serving() as ask:
        reply = await ask.search("kumquat")
        assert (reply.state, reply.results) == ("root_missing", ())
        away.rename(bench.root)
        assert await ask.paths("kumquat") == ["a.md"]


async def test_pages_fit_together(bench: QueryBench) -> None:
    """Paging gives each result once, also when a stale one is skipped on the way."""
    with bench.index() as index:
        for number in range(25):
            index.add(f"{number:02}.md", f"kumquat number {number}")
    (bench.root / "03.md").unlink()
    async with bench.serving() as ask:
        pages = [await ask.paths("kumquat", top=10, offset=offset) for offset in (0, 10, 20)]
    seen = [path for page in pages for path in page]
    assert [len(page) for page in pages] == [10, 10, 4]
    assert len(set(seen)) == 24
    assert "03.md" not in seen


async def test_a_huge_answer_is_cut_with_a_note(bench: QueryBench) -> None:
    """Case 39: an answer stays within a bus message and says what it left out."""
    with bench.index() as index:
        for number in range(20):
            index.add(f"{number:02}.md", f"kumquat {number} " + "x" * 30_000)
    async with bench.serving() as ask:
        reply = await ask.search("kumquat", top=20)
    assert 0 < len(reply.results) < 20
    assert reply.total == 20
    assert any("did not fit" in note for note in reply.notes)


async def test_explained_parts_add_up(bench: QueryBench) -> None:
    """MISSION 4.4: every factor is visible and they add up to the score."""
    bench.configure('{"sources": [{"path": ".", "weight": 2.0}]}')
    with bench.index() as index:
        index.add("old.md", "kumquat pie", mtime_ns=1).add("new.md", "kumquat cake")
    os.utime(bench.root / "old.md", ns=(1, 1))
    async with bench.serving() as ask:
        hits = await ask.hits("kumquat", explain=True, mode="rrf")
    assert {"lexical", "vector", "recency", "weight"} <= set(hits[0].parts) | set(hits[1].parts)
    for hit in hits:
        assert sum(hit.parts.values()) == pytest.approx(hit.score, abs=1e-5)


async def test_a_new_configuration_holds_at_once(bench: QueryBench) -> None:
    """`.kx.json` is read again when it changes; while it is malformed nothing is shown, for nobody knows the denylist."""
    with bench.index() as index:
        index.add("a.md", "the kumquat")
    async with bench.serving() as ask:
        assert await ask.paths("kumquat") == ["a.md"]
        bench.configure("{")
        with pytest.raises(KxError) as error:
            await ask.search("kumquat")
        assert error.value.code == ErrorCode.CONFIG_INVALID
        bench.configure('{"indexing": {"deny": ["a.md"]}}')
        assert await ask.paths("kumquat") == []


async def test_a_replaced_index_file_is_opened_anew(bench: QueryBench) -> None:
    """Connections belong to one file on disk, not to a name."""
    with bench.index() as index:
        index.add("a.md", "the kumquat")
    async with bench.serving() as ask:
        assert await ask.paths("kumquat") == ["a.md"]
        for file in bench.project.index_path.parent.glob("*.sqlite*"):
            file.unlink()
        with bench.index() as index:
            index.add("b.md", "another kumquat")
        assert await ask.paths("kumquat") == ["b.md"]


async def test_a_rebuilt_epoch_takes_over(bench: QueryBench) -> None:
    """Readers look the epoch up in their own transaction: the swap is one commit."""
    with bench.index() as index:
        index.add("a.md", "the old kumquat")
        index.commit()
        async with bench.serving() as ask:
            assert await ask.paths("kumquat") == ["a.md"]
            index.begin_epoch(2)
            index.add("b.md", "the new kumquat")
            index.commit()
            assert await ask.paths("kumquat") == ["a.md"]
            index.answer_with_epoch()
            index.commit()
            assert await ask.paths("kumquat") == ["b.md"]


async def test_a_foreign_index_is_refused(bench: QueryBench, tmp_path: Path) -> None:
    """An index of another tree is an error with its code, not an empty answer."""
    from shared.identity import InstanceId
    from tests.support.index_builder import IndexBuilder

    with IndexBuilder(bench.project.index_path, InstanceId("f" * 16), tmp_path) as index:
        index.add("a.md", "kumquat", is_on_disk=False)
    async with bench.serving() as ask:
        with pytest.raises(KxError) as error:
            await ask.search("kumquat")
    assert error.value.code == ErrorCode.INDEX_FOREIGN


async def test_candidates_are_the_lexical_hits_without_a_vector(bench: QueryBench) -> None:
    """What is worth embedding first: distinct, best first, nothing that has a vector or failed for good."""
    from shared.identity import text_hash
    from shared.messages import CandidatesRequest
    from shared.subjects import CANDIDATES

    waiting = [
        BuiltChunk(text=text, is_embedded=False) for text in ("kumquat kumquat", "a kumquat tree", "bad kumquat")
    ]
    with bench.index() as index:
        index.add("a.md", "kumquat with a vector", *waiting).add("b.md", waiting[0])
        index.fail_text("bad kumquat", "KX_EMBEDDER_FAILED")
    async with bench.serving() as ask:
        reply = await ask.bus.request(CANDIDATES, CandidatesRequest(instance=ask.instance, query="kumquat"))
    assert reply.text_hashes == (text_hash("kumquat kumquat"), text_hash("a kumquat tree"))
