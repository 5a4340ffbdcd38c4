"""Status, listings and the manifest, over a real index file."""

from __future__ import annotations

from pathlib import Path

import pytest

from shared.bus import MAX_MESSAGE_BYTES, Endpoint, ServiceContract
from shared.codec import encode
from shared.index_format import CUT_TEXT, NO_STRUCTURE, Meta
from shared.messages import (
    Failure,
    IndexProgress,
    Listing,
    ListingPage,
    ListingRequest,
    ListingRow,
    ManifestPage,
    ManifestRequest,
    ProgressRequest,
    ServiceStatusRequest,
    SurveyTree,
    TreeSurveyed,
)
from shared.subjects import INDEXER, LISTING, MANIFEST, PROGRESS, QUERY, SURVEY, WATCHER, service_status
from tests.support.index_builder import BuiltChunk
from tests.support.query_bench import Asker, QueryBench

pytestmark = pytest.mark.anyio


@pytest.fixture
def bench(tmp_path: Path) -> QueryBench:
    return QueryBench(tmp_path)


async def rows_of(ask: Asker, listing: Listing, limit: int = 500) -> list[ListingRow]:
    """Collect a listing page by page."""
    rows: list[ListingRow] = []
    while True:
        request = ListingRequest(
            instance=ask.instance, listing=listing, after=rows[-1].path if rows else "", limit=limit
        )
        page: ListingPage = await ask.bus.request(LISTING, request)
        rows += page.rows
        if page.complete:
            return rows


async def test_what_was_walked_adds_up(bench: QueryBench) -> None:
    """Issue 2: walked = documents + skipped + failed, also where a text could not be embedded."""
    with bench.index() as index:
        index.add("a.md", "one", "two").add("b.py", "three", kind="code")
        index.add("bad.md", BuiltChunk(text="unembeddable", is_embedded=False), "fine")
        index.fail_text("unembeddable", "KX_EMBEDDER_FAILED")
        index.skip("x.bin", "binary").skip("y.bin", "binary").skip("node_modules/", "excluded")
        index.fail("broken.md", "KX_INTERNAL", "ValueError")
    async with bench.serving() as ask:
        status = await ask.status()
        documents = [row.path for row in await rows_of(ask, "documents")]
        failed = [
            (row.path, f"{row.reason}: {row.detail}" if row.detail else row.reason)
            for row in await rows_of(ask, "failed")
        ]
        skipped = [(row.path, row.reason) for row in await rows_of(ask, "skipped")]
    assert status.documents + sum(status.skipped.values()) + len(status.failed) == 7
    assert (status.documents, status.by_kind) == (2, {"code": 1, "docs": 1})
    assert status.skipped == {"binary": 2, "excluded": 1}
    expected = [("bad.md", "KX_EMBEDDER_FAILED"), ("broken.md", "KX_INTERNAL: ValueError")]
    assert status.failed == tuple(Failure(path=path, reason=reason) for path, reason in expected)
    assert (documents, failed) == (["a.md", "b.py"], expected)
    assert skipped == [("node_modules/", "excluded"), ("x.bin", "binary"), ("y.bin", "binary")]
    assert (status.chunks, status.vectors_ready, status.vectors_missing) == (5, 4, 0)
    assert status.state == "ready"
    assert status.model_id == bench.encoder.model_id
    assert status.index_bytes >= bench.project.index_path.stat().st_size


async def test_a_tree_without_documents_is_ready(bench: QueryBench) -> None:
    """Case 18: nothing to index is a result, not an endless wait."""
    with bench.index() as index:
        index.skip("a.png", "binary").skip("b.png", "binary")
    async with bench.serving() as ask:
        status = await ask.status()
    assert (status.state, status.documents, status.skipped) == ("ready", 0, {"binary": 2})


async def test_the_state_says_what_goes_on(bench: QueryBench) -> None:
    """not_indexed, indexing, rebuilding, ready, root_missing."""
    async with bench.serving() as ask:
        assert (await ask.status()).state == "not_indexed"
        with bench.index() as index:
            index.add("a.md", BuiltChunk(text="one", is_embedded=False)).commit()
            waiting = await ask.status()
            assert (waiting.state, waiting.vectors_missing) == ("indexing", 1)
            index.execute("DELETE FROM missing_e1")
            index.commit()
            assert (await ask.status()).state == "ready"
            index.set_meta(Meta.BUILDING, 2)
            index.begin_epoch(2)
            index.commit()
            assert (await ask.status()).state == "rebuilding"
        bench.root.rename(bench.root.with_name("away"))
        assert (await ask.status()).state == "root_missing"


async def test_texts_tried_again_are_named_with_their_reason(bench: QueryBench) -> None:
    """Case 36: what waits after a failure shows in status."""
    with bench.index() as index:
        index.add("a.md", BuiltChunk(text="one", is_embedded=False))
        index.fail_text("one", "KX_EMBEDDER_FAILED", next_try_ns=1)
    async with bench.serving() as ask:
        status = await ask.status()
    assert (status.vectors_missing, status.failed) == (1, ())
    assert "1 texts wait to be embedded again after KX_EMBEDDER_FAILED" in status.notes


async def test_document_cut_by_form_alone_is_named(bench: QueryBench) -> None:
    """A parser that died shows in status."""
    with bench.index() as index:
        index.add("a.js", BuiltChunk(text="one"))
        index.execute(f"UPDATE document_e1 SET reason = '{NO_STRUCTURE}'")
        index.commit()
    async with bench.serving() as ask:
        status = await ask.status()
    assert "1 documents are cut by form alone, their parser died: a.js" in status.notes
    assert status.documents == 1


async def test_document_of_which_a_part_is_missing_is_named(bench: QueryBench) -> None:
    """A document that is too long is found by its beginning, and status says that this is not all."""
    with bench.index() as index:
        index.add("a.pdf", BuiltChunk(text="one"))
        index.execute(f"UPDATE document_e1 SET reason = '{CUT_TEXT}'")
        index.commit()
    async with bench.serving() as ask:
        status = await ask.status()
    assert "1 documents are indexed in part, the rest is too long or unreadable: a.pdf" in status.notes


async def test_pages_cover_a_listing_without_overlap(bench: QueryBench) -> None:
    """Pages go by path; documents carry the hash of their bytes."""
    with bench.index() as index:
        for number in range(7):
            index.add(f"{number}.md", "one", "two")
    async with bench.serving() as ask:
        rows = await rows_of(ask, "documents", limit=3)
    assert [row.path for row in rows] == [f"{number}.md" for number in range(7)]
    assert {row.chunks for row in rows} == {2}
    assert all(len(row.content_hash) == 64 for row in rows)


async def test_long_paths_make_shorter_pages_never_too_large_ones(bench: QueryBench) -> None:
    """A message has a limit: a page may be short and say that more follows."""
    with bench.index() as index:
        for number in range(900):
            index.skip("é" * 400 + f"{number:03}", "binary")
    async with bench.serving() as ask:
        page: ManifestPage = await ask.bus.request(MANIFEST, ManifestRequest(instance=ask.instance))
        rows = await rows_of(ask, "skipped", limit=2_000)
        status = await ask.status()
    assert len(encode(page)) < MAX_MESSAGE_BYTES
    assert not page.complete
    assert len(rows) == 900
    assert status.skipped == {"binary": 900}


async def test_the_manifest_names_every_handled_path_in_order(bench: QueryBench) -> None:
    """A walk is compared with it: documents, skipped, failed and pruned folders."""
    with bench.index() as index:
        index.add("b.md", "one").skip("a/", "excluded").fail("c.md", "KX_INTERNAL")
    async with bench.serving() as ask:
        page: ManifestPage = await ask.bus.request(MANIFEST, ManifestRequest(instance=ask.instance))
        first: ManifestPage = await ask.bus.request(MANIFEST, ManifestRequest(instance=ask.instance, limit=2))
        rest = await ask.bus.request(MANIFEST, ManifestRequest(instance=ask.instance, after=first.entries[-1].path))
    assert [entry.path for entry in page.entries] == ["a/", "b.md", "c.md"]
    assert (page.complete, first.complete, rest.complete) == (True, False, True)
    assert page.entries == first.entries + rest.entries
    assert page.epoch == 1


async def test_during_a_rebuild_the_manifest_is_the_new_epochs(bench: QueryBench) -> None:
    """A rebuild must hear of every path: what its epoch does not have counts as new."""
    with bench.index() as index:
        index.add("a.md", "one").add("b.md", "two")
        index.set_meta(Meta.BUILDING, 2)
        index.begin_epoch(2)
        index.add("a.md", "one")
    async with bench.serving() as ask:
        page = await ask.bus.request(MANIFEST, ManifestRequest(instance=ask.instance))
    assert ([entry.path for entry in page.entries], page.epoch) == (["a.md"], 2)


async def test_without_an_index_nothing_is_known(bench: QueryBench) -> None:
    """The first walk announces everything."""
    async with bench.serving() as ask:
        page = await ask.bus.request(MANIFEST, ManifestRequest(instance=ask.instance))
        assert (page.entries, page.complete) == ((), True)
        assert await rows_of(ask, "documents") == []


def progress(pending: int) -> IndexProgress:
    """Make an indexer's answer."""
    return IndexProgress(
        text_pending=pending,
        documents=1,
        chunks=1,
        vectors_ready=1,
        vectors_missing=0,
        texts_failed=0,
        text_done=0,
        bytes_done=0,
        embedded=0,
    )


async def test_what_is_pending_is_asked_of_the_indexer_then_of_the_watcher(bench: QueryBench) -> None:
    """MISSION 4: an answer says how far the index is behind the disk, and where nobody knows, that nobody does."""
    with bench.index() as index:
        index.add("a.md", "kumquat")

    async def survey(_: SurveyTree) -> TreeSurveyed:
        return TreeSurveyed(walked=10, behind=4)

    async def told(_: ProgressRequest) -> IndexProgress:
        return progress(pending=7)

    watcher = ServiceContract(name=WATCHER, description="", endpoints=(Endpoint(route=SURVEY, handle=survey),))
    indexer = ServiceContract(name=INDEXER, description="", endpoints=(Endpoint(route=PROGRESS, handle=told),))
    async with bench.serving() as ask:
        assert (await ask.search("kumquat")).pending.text == 0
        async with ask.bus.serve(watcher):
            behind = await ask.search("kumquat")
            assert (behind.pending.text, behind.state, behind.notes) == (4, "indexing", ())
            async with ask.bus.serve(indexer):
                assert (await ask.search("kumquat")).pending.text == 7
                assert (await ask.status()).state == "indexing"


async def test_the_service_tells_how_it_is(bench: QueryBench) -> None:
    """Every service answers health."""
    async with bench.serving() as ask:
        health = await ask.bus.request(service_status(QUERY), ServiceStatusRequest())
    assert (health.service, health.state) == ("query", "ready")
    assert health.rss_bytes > 0
