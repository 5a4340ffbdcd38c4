"""Why a question shows a file or not: each reason once, over a real index and a real tree."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from kx.catalogue import Catalogue
from shared.errors import ErrorCode, KxError
from shared.messages import SearchRequest
from shared.search_messages import WhyNotReply, WhyNotRequest
from shared.subjects import WHY_NOT
from tests.support.index_builder import BuiltChunk
from tests.support.product import Product, product
from tests.support.query_bench import Asker, QueryBench

pytestmark = pytest.mark.anyio

PORTUGUESE = Catalogue("pt")


@pytest.fixture
def bench(tmp_path: Path) -> QueryBench:
    return QueryBench(tmp_path)


async def why_not(ask: Asker, path: str, query: str = "kumquat", line: int = 0, **fields: Any) -> WhyNotReply:
    """Ask why `path` is shown or not; whatever the reason, it has its Portuguese."""
    search = SearchRequest(instance=ask.instance, query=query, **fields)
    request = WhyNotRequest(instance=ask.instance, search=search, path=path, line=line)
    reply = await ask.bus.request(WHY_NOT, request, timeout_s=10)
    assert [sentence for sentence in reply.why if PORTUGUESE.sentence(sentence) == sentence] == []
    return reply


# --- where it stands --------------------------------------------------------------------------------------------------


async def test_a_result_says_its_place_and_its_parts_add_up(bench: QueryBench) -> None:
    """Rank in each lane, by both alone, and as the mode ranks; the parts are the score, beside the last one shown."""
    with bench.index() as index:
        index.add("a.md", "kumquat kumquat").add("b.md", "one kumquat among other words")
    async with bench.serving() as ask:
        for mode in ("auto", "rrf", "hybrid"):
            reply = await why_not(ask, "b.md", mode=mode)
            (one,) = reply.passages
            assert (reply.outcome, one.result, one.rank) == ("shown", 2, 2)
            assert (one.lexical.rank, one.vector.rank, one.fused) == (2, 2, 2)
            assert sum(one.parts.values()) == pytest.approx(one.score)
            assert (reply.last_shown.path, reply.last_shown.score) == ("b.md", one.score)


async def test_what_is_beyond_top_is_compared_with_the_last_shown(bench: QueryBench) -> None:
    """Its place, its score, and the score it would have had to beat with the parts of both."""
    with bench.index() as index:
        for number in range(5):
            index.add(f"{number}.md", "kumquat " + "word " * number)
    async with bench.serving() as ask:
        reply = await why_not(ask, "4.md", top=2)
        first = await why_not(ask, "0.md", top=2, offset=1)
    assert (reply.outcome, reply.passages[0].result, reply.last_shown.result) == ("beyond_top", 5, 2)
    assert reply.passages[0].score < reply.last_shown.score
    assert sum(reply.last_shown.parts.values()) == pytest.approx(reply.last_shown.score)
    assert first.outcome == "before_offset"


async def test_what_no_lane_found_is_scored_beside_their_last_candidate(bench: QueryBench) -> None:
    """Beyond a hundred better ones it still has a score; without any of the words it says which are missing."""
    with bench.index() as index:
        for number in range(130):
            index.add(f"many/{number:03}.md", f"kumquat kumquat kumquat {number}")
        index.add("far.md", "a kumquat among very many other words that say nothing of it " * 3)
        index.add("other.md", "roses need water", BuiltChunk(text="tulips too", is_embedded=False))
    async with bench.serving() as ask:
        far = (await why_not(ask, "far.md", mode="lexical")).passages[0]
        other = await why_not(ask, "other.md", "kumquat pie", line=1)
        tulips = await why_not(ask, "other.md", line=2)
    assert (far.outcome, far.lexical.rank) == ("not_found", 0)
    assert 0 < far.lexical.score < far.lexical.last
    assert other.passages[0].missing_words == ("kumquat", "pie")
    assert other.why[0] == "no word that was asked for stands in it"
    assert other.why[1].startswith("by meaning it scores")
    assert not tulips.passages[0].has_vector
    assert "it has no vector yet, so it cannot be found by meaning" in tulips.why


async def test_a_text_that_could_not_be_embedded_says_so(bench: QueryBench) -> None:
    """Set aside after failing: the code is named."""
    with bench.index() as index:
        index.add("a.md", BuiltChunk(text="roses", is_embedded=False)).add("b.md", "kumquat")
        index.fail_text("roses", "KX_EMBEDDER_FAILED")
    async with bench.serving() as ask:
        reply = await why_not(ask, "a.md")
    assert reply.passages[0].failure == "KX_EMBEDDER_FAILED"
    assert "its text could not be embedded (KX_EMBEDDER_FAILED), so it cannot be found by meaning" in reply.why


async def test_a_passage_of_a_shown_file_is_grouped(bench: QueryBench) -> None:
    """By its line: the file is a result with another passage; as a flat list it is one of its own."""
    with bench.index() as index:
        index.add("a.md", "kumquat kumquat", "one kumquat and many other words")
    async with bench.serving() as ask:
        grouped = await why_not(ask, "a.md", line=2)
        whole = await why_not(ask, "a.md")
        flat = await why_not(ask, "a.md", line=2, group="passage")
        beyond = await why_not(ask, "a.md", line=99)
    assert (grouped.outcome, grouped.passages[0].shown_as.start_line) == ("grouped", 1)
    assert (whole.outcome, [one.outcome for one in whole.passages]) == ("shown", ["shown", "grouped"])
    assert (flat.outcome, flat.passages[0].result) == ("shown", 2)
    assert (beyond.outcome, beyond.why) == ("no_passage", ("no passage holds line 99; the last ends at line 2",))


async def test_equal_text_is_folded_into_the_place_that_is_shown(bench: QueryBench) -> None:
    """With the same heading and with another; the place is named."""
    with bench.index() as index:
        index.add("a.md", "the kumquat").add("b.md", "the kumquat")
        index.add("c.md", BuiltChunk(text="the kumquat", heading="Another"))
    async with bench.serving() as ask:
        for path in ("b.md", "c.md"):
            reply = await why_not(ask, path, mode="lexical")
            places = {"a.md", "b.md", "c.md"} - {path}
            if reply.outcome == "shown":  # of the two texts the better one is shown, whichever that is
                continue
            assert reply.outcome == "folded", path
            assert reply.passages[0].shown_as.path in places
        outcomes = [(await why_not(ask, path, mode="lexical")).outcome for path in ("a.md", "b.md", "c.md")]
    assert sorted(outcomes) == ["folded", "folded", "shown"]


async def test_changed_text_is_said_to_have_changed(bench: QueryBench) -> None:
    """What was found is not on disk any more; a change elsewhere in the file is told beside the rest."""
    with bench.index() as index:
        index.add("a.md", "the kumquat").add("b.md", "another kumquat")
    (bench.root / "a.md").write_text("roses\n")
    (bench.root / "b.md").write_text("more\nanother kumquat\n")
    async with bench.serving() as ask:
        assert (await why_not(ask, "a.md")).outcome == "changed"
        moved = await why_not(ask, "b.md")
    assert moved.outcome == "shown"
    assert any("changed on disk" in sentence for sentence in moved.why)


async def test_a_mode_that_does_not_look_says_so(bench: QueryBench) -> None:
    """Found by words, asked by meaning."""
    with bench.index() as index:
        index.add("a.md", BuiltChunk(text="the kumquat", is_embedded=False)).add("b.md", "roses")
    async with bench.serving() as ask:
        reply = await why_not(ask, "a.md", mode="semantic")
    assert (reply.outcome, reply.why[0]) == ("not_ranked", "mode semantic does not look at the lane that found it")


async def test_filters_are_named(bench: QueryBench) -> None:
    """Kind and path glob keep it out whatever its words; a query without words finds nothing at all."""
    with bench.index() as index:
        index.add("src/a.py", "the kumquat", kind="code")
    async with bench.serving() as ask:
        kind = await why_not(ask, "src/a.py", kinds=("docs", "vault"))
        path = await why_not(ask, "src/a.py", path_glob="docs/**")
        words = await why_not(ask, "src/a.py", "???")
    assert (kind.outcome, kind.why) == ("filtered_kind", ("it is code, and only docs, vault was asked for",))
    assert (path.outcome, path.why) == ("filtered_path", ("its path does not match docs/**",))
    assert (words.outcome, words.why) == ("no_words", ("the query has no word that can be searched",))


async def test_what_is_not_there_is_said(bench: QueryBench) -> None:
    """Gone from disk, not indexed yet, failed, a root that is away, and paths that are none."""
    with bench.index() as index:
        index.add("a.md", "the kumquat").add("gone.md", "kumquat").fail("bad.md", "KX_INTERNAL", "ValueError")
    (bench.root / "gone.md").unlink()
    (bench.root / "new.md").write_text("kumquat\n")
    (bench.root / "bad.md").write_text("kumquat\n")
    async with bench.serving() as ask:
        assert (await why_not(ask, "never.md")).outcome == "not_on_disk"
        gone = await why_not(ask, "gone.md")
        assert (gone.outcome, len(gone.why)) == ("not_on_disk", 2)
        assert (await why_not(ask, "new.md")).outcome == "not_indexed"
        failed = await why_not(ask, "bad.md")
        assert (failed.outcome, failed.reason, failed.rule) == ("failed", "KX_INTERNAL", "ValueError")
        for wrong, code in (("../a.md", ErrorCode.PATH_OUTSIDE_ROOT), ("", ErrorCode.PATH_OUTSIDE_ROOT)):
            with pytest.raises(KxError) as error:
                await why_not(ask, wrong)
            assert error.value.code == code
        (bench.root / "folder").mkdir()
        with pytest.raises(KxError) as error:
            await why_not(ask, "folder")
        assert error.value.code == ErrorCode.BAD_REQUEST
        bench.root.rename(bench.root.with_name("away"))
        assert (await why_not(ask, "a.md")).outcome == "root_missing"


async def test_without_an_index_it_is_not_indexed(bench: QueryBench) -> None:
    """The way in is named, and rules are judged all the same."""
    (bench.root / "a.md").write_text("kumquat\n")
    async with bench.serving() as ask:
        reply = await why_not(ask, "a.md")
        denied = await why_not(ask, ".env")
    assert reply.outcome == "not_indexed"
    assert "kx index" in reply.why[0]
    assert (denied.outcome, denied.reason) == ("skipped", "denied")


# --- what keeps it out ------------------------------------------------------------------------------------------------

LIMIT = 20_000
TREE = {
    ".kx.json": b'{"ignoreFiles": ["", "*.tmp.md"], "indexing": {"deny": ["private/**"], "maxFileBytes": %d}}' % LIMIT,
    ".gitignore": b"# logs\n*.log\nout/\n",
    "docs/.gitignore": b"draft.md\n",
    "private/plan.md": b"the kumquat plan\n",
    ".env": b"KUMQUAT=1\n",
    "a.log": b"the kumquat log\n",
    "out/deep/page.md": b"the kumquat page\n",
    "docs/draft.md": b"the kumquat draft\n",
    "note.tmp.md": b"the kumquat note\n",
    "large.md": b"the kumquat is large\n" * 2_000,
    "binary.txt": b"kumquat\0\1\2\3" * 300,
    "empty.md": b"",
    "blank.md": b" \n k \n",
    "photo.png": b"\x89PNG kumquat",
    "package-lock.json": b'{"kumquat": 1}',
    "node_modules/kumquat/index.js": b"kumquat()\n",
    "shown.md": b"the kumquat that is shown\n",
}
REASONS = [
    ("private/plan.md", "denied", "private/** (indexing.deny of .kx.json)"),
    ("private/never.md", "denied", "private/** (indexing.deny of .kx.json)"),
    (".env", "denied", "*.env (built in)"),
    ("a.log", "gitignored", ".gitignore:2: *.log"),
    ("out/deep/page.md", "gitignored", ".gitignore:3: out/"),
    ("docs/draft.md", "gitignored", "docs/.gitignore:1: draft.md"),
    ("note.tmp.md", "ignored", ".kx.json, ignoreFiles:2: *.tmp.md"),
    ("large.md", "too_large", "42000 bytes, the limit is 20000"),
    ("binary.txt", "binary", None),
    ("empty.md", "empty", ""),
    ("blank.md", "too_short", "1 characters that are no blanks"),
    ("photo.png", "excluded_file", "media (.png)"),
    ("package-lock.json", "excluded_file", "lock file"),
    ("node_modules/kumquat/index.js", "excluded_dir", "node_modules"),
    ("node_modules", "excluded_dir", "node_modules"),
    ("link.md", "symlink", "-> shown.md"),
]


@pytest.fixture
async def small_tree(tmp_path: Path) -> AsyncIterator[Product]:
    """Index a tree that has one entry for each reason."""
    root = tmp_path / "tree"
    for name, data in TREE.items():
        file = root / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(data)
    (root / "link.md").symlink_to("shown.md")
    (root / ".git").mkdir()
    async with product(root, tmp_path) as served:
        await served.index()
        yield served


async def test_every_rule_that_keeps_a_file_out_is_named_with_its_file(small_tree: Product) -> None:
    """The same reasons as `kx status --skipped`, judged as the watcher judges."""
    ask = Asker(small_tree.bus, small_tree.project)
    skipped = await small_tree.reasons()
    for path, reason, rule in REASONS:
        reply = await why_not(ask, path, mode="lexical")
        assert (reply.outcome, reply.reason) == ("skipped", reason), path
        assert rule is None or reply.rule == rule, path
        listed = [skipped[name] for name in skipped if f"{path}/".startswith(name.rstrip("/") + "/")]
        assert listed == [reason] or not (small_tree.project.root_path / path).exists()
    folder = await why_not(ask, "out/deep/page.md")
    assert folder.why == ("its folder out is not indexed: gitignored (.gitignore:3: out/)",)
    assert (await why_not(ask, "shown.md", mode="lexical")).outcome == "shown"
