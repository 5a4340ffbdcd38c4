"""The indexer over real SQLite: what the disk says gets in, once, and what cannot be embedded is seen."""

import struct
from pathlib import Path

import anyio
import pytest

from services.indexer.adapters.reading import TICK_NS
from services.indexer.core.embedplan import BULK_REQUEST_TOKENS
from services.indexer.writer import IndexWriter
from shared.index_open import open_reader
from shared.messages import ProgressRequest
from shared.subjects import PROGRESS
from tests.support.index_facts import facts_of
from tests.support.indexing import indexing

pytestmark = pytest.mark.anyio

ONES = struct.pack("<384f", *([1.0] * 384))


@pytest.fixture
def root(tmp_path: Path) -> Path:
    root = tmp_path / "tree"
    root.mkdir()
    for number in range(5):
        (root / f"n{number}.md").write_text(f"# Note {number}\n\nText about word{number} and nothing else.\n")
    return root


def paths_of(root: Path) -> list[str]:
    return sorted(str(path.relative_to(root)) for path in root.rglob("*") if path.is_file())


async def test_touched_files_get_words_and_vectors(root, tmp_path):
    """The whole way of a file, and its numbers agree."""
    async with indexing(root, tmp_path / ".kx") as work:
        await work.touch(*paths_of(root))
        progress = await work.until("vectors")
    assert (progress.documents, progress.vectors_ready, progress.vectors_missing) == (5, 5, 0)
    facts = facts_of(work.project.index_path, work.project.instance)
    assert facts.chunks == facts.postings == facts.vectors == 5


async def test_the_same_text_is_embedded_once_wherever_it_stands(root, tmp_path):
    """A copy, a rename and a touch without a change cost no embedding (MISSION 2.6, case 33)."""
    async with indexing(root, tmp_path / ".kx") as work:
        (root / "copy.md").write_bytes((root / "n0.md").read_bytes())
        await work.touch(*paths_of(root))
        await work.until("vectors")
        (root / "n1.md").rename(root / "renamed.md")
        await work.touch("n1.md", "renamed.md", "n2.md", "n2.md")
        progress = await work.until("vectors")
        assert len(work.embedder.asked) == len(set(work.embedder.asked)) == 5
        assert progress.documents == 6


async def test_duplicates_and_any_order_of_touches_end_equal(root, tmp_path):
    """Applying a change twice equals once; a touch of what never was does nothing."""
    async with indexing(root, tmp_path / ".kx") as work:
        await work.touch("n4.md", "n0.md", "never.md", "n0.md")
        await work.touch(*reversed(paths_of(root)))
        await work.touch(*paths_of(root), urgency="live")
        progress = await work.until("text")
    assert progress.documents == 5


@pytest.mark.parametrize(
    "path", ["sub/../n0.md", "../secret.md", "./n0.md", "/n0.md", "sub//n0.md", "n0.md\0", "\0", "../"]
)
async def test_a_path_that_no_tree_can_hold_gets_no_row(path, root, tmp_path):
    """Row B7: a second spelling of a file would be a second document, and nobody could remove it."""
    (root / "sub").mkdir()
    async with indexing(root, tmp_path / ".kx") as work:
        await work.touch(*paths_of(root))
        await work.touch(path)
        await work.until("text")
    facts = facts_of(work.project.index_path, work.project.instance)
    assert {row[0] for row in facts.rows} == set(paths_of(root))


async def test_live_edits_are_embedded_before_bulk(root, tmp_path):
    """A person who saves waits at most for the two requests that were on their way (MISSION 3.1)."""
    async with indexing(root, tmp_path / ".kx") as work:
        work.embedder.is_away = True
        (root / "bulk.md").write_text("\n\n".join(f"# H{n}\n\nbulk text {n} " + "filler " * 150 for n in range(80)))
        await work.touch("bulk.md")
        await work.until("text")
        (root / "n0.md").write_text("# Saved\n\nthe live edit\n")
        await work.touch("n0.md", urgency="live")
        await work.until("text")
        work.embedder.is_away = False
        await work.until("vectors")
        place = next(number for number, text in enumerate(work.embedder.asked) if "the live edit" in text)
        assert place <= 2 * BULK_REQUEST_TOKENS // 160  # tokens of a text
        assert len(work.embedder.asked) > 2 * place


async def test_live_edit_is_embedded_while_bulk_requests_are_on_their_way(root, tmp_path, monkeypatch):
    """R-IDX-29: it has requests of its own, and what both loops met is embedded once."""
    monkeypatch.setattr("tests.support.indexing.ENDS_AFTER_S", 3_600)
    async with indexing(root, tmp_path / ".kx") as work:
        work.embedder.hangs_on.add("bulk text")
        (root / "bulk.md").write_text("\n\n".join(f"# H{n}\n\nbulk text {n} " + "filler " * 150 for n in range(40)))
        await work.touch("bulk.md")
        await work.until("text")
        await anyio.wait_all_tasks_blocked()
        (root / "n0.md").write_text("# Saved\n\nthe live edit\n")
        await work.touch("n0.md", urgency="live")
        with anyio.fail_after(20):
            while not any("the live edit" in text for text in work.embedder.asked):
                await work.bus.request(
                    PROGRESS, ProgressRequest(instance=work.project.instance, until="vectors", wait_ms=100)
                )
        assert len(set(work.embedder.asked)) == len(work.embedder.asked)


@pytest.mark.parametrize(
    "vector",
    [
        pytest.param(b"\0" * 1536, id="zeros"),
        pytest.param(struct.pack("<384f", *([float("nan")] * 384)), id="nan"),
        pytest.param(ONES, id="not of length one"),
        pytest.param(ONES[:-4], id="383 numbers"),
        pytest.param(ONES + b"\0\0\0\0", id="385 numbers"),
    ],
)
async def test_a_bad_vector_is_never_stored_and_its_text_stays_searchable(root, tmp_path, vector):
    """Row B10, case 28: refused, tried three times, then set aside where status shows it."""
    async with indexing(root, tmp_path / ".kx") as work:
        work.embedder.nonsense = {"word3": vector}
        await work.touch(*paths_of(root))
        with anyio.fail_after(60):
            progress = await work.until("vectors")
    assert (progress.vectors_ready, progress.vectors_missing, progress.texts_failed) == (4, 1, 1)
    assert facts_of(work.project.index_path, work.project.instance).vectors == 4
    assert sum("word3" in text for text in work.embedder.asked) == 3


async def test_texts_whose_vectors_no_message_holds_go_one_by_one(root, tmp_path, monkeypatch):
    """Whatever makes a reply too large, asking the same again would go on for ever."""
    monkeypatch.setattr("shared.serving.MAX_MESSAGE_BYTES", 4_096)
    monkeypatch.setattr("services.indexer.embed_flow.retry_after_s", lambda *_: 0.01)
    async with indexing(root, tmp_path / ".kx") as work:
        await work.touch(*paths_of(root))
        progress = await work.until("vectors")
    assert (progress.vectors_ready, progress.texts_failed) == (5, 0)


async def test_an_embedder_that_was_away_loses_nothing(root, tmp_path):
    """Case 36: nothing is marked failed, the work goes on by itself."""
    async with indexing(root, tmp_path / ".kx") as work:
        work.embedder.is_away = True
        await work.touch(*paths_of(root))
        waiting = await work.until("text")
        assert (waiting.vectors_missing, waiting.texts_failed) == (5, 0)
        work.embedder.is_away = False
        progress = await work.until("vectors")
        assert (progress.vectors_ready, progress.texts_failed) == (5, 0)


async def test_a_changed_text_is_tried_again_after_it_failed(root, tmp_path):
    """A failure belongs to a text, not to a file."""
    async with indexing(root, tmp_path / ".kx") as work:
        work.embedder.nonsense = {"word3": ONES}
        await work.touch(*paths_of(root))
        await work.until("vectors")
        (root / "n3.md").write_text("# Note 3\n\nOther words.\n")
        await work.touch("n3.md", urgency="live")
        progress = await work.until("vectors")
        assert (progress.vectors_missing, progress.texts_failed) == (0, 0)


async def test_a_file_that_became_a_folder_leaves_its_files_alone(root, tmp_path):
    """Case 19: `f.md` becomes `f.md/`; what is in it stays."""
    async with indexing(root, tmp_path / ".kx") as work:
        await work.touch(*paths_of(root))
        await work.until("text")
        (root / "n0.md").unlink()
        (root / "n0.md").mkdir()
        (root / "n0.md" / "inner.md").write_text("# Inner\n\nInside.\n")
        await work.touch("n0.md/inner.md", "n0.md")
        await work.until("text")
    rows = facts_of(work.project.index_path, work.project.instance).rows
    assert {row[0] for row in rows} == {"n0.md/inner.md", "n1.md", "n2.md", "n3.md", "n4.md"}


@pytest.mark.parametrize("becomes", ["file", "link"])
async def test_files_of_a_folder_that_became_something_else_are_gone(root, tmp_path, becomes):
    """Case 19: a folder is moved away and a file or a link stands there; no event names what was in it."""
    (root / "d").mkdir()
    (root / "d" / "inner.md").write_text("# Inner\n\nInside.\n")
    async with indexing(root, tmp_path / ".kx") as work:
        await work.touch(*paths_of(root))
        await work.until("text")
        (root / "d").rename(tmp_path / "away")
        (root / "d").write_text("now a text") if becomes == "file" else (root / "d").symlink_to("n0.md")
        await work.touch("d", urgency="live")
        await work.until("text")
    rows = facts_of(work.project.index_path, work.project.instance).rows
    assert "d" in {row[0] for row in rows}
    assert "d/inner.md" not in {row[0] for row in rows}


async def test_a_path_is_judged_by_rules_that_are_newer_than_its_touch(root, tmp_path):
    """Row L3: a checkout brings an ignore file amid many others; whoever reads remembers the rules of a moment ago."""
    async with indexing(root, tmp_path / ".kx") as work:
        await work.touch("n0.md")
        await work.until("text")
        (root / ".gitignore").write_text("n*.md\n")
        await work.touch(".gitignore", urgency="live")
        await work.touch("n0.md", "n1.md")
        await work.until("text")
        rows = facts_of(work.project.index_path, work.project.instance).rows
        assert {row[0]: row[2] for row in rows if row[0] != ".gitignore"} == {"n0.md": "skipped", "n1.md": "skipped"}


@pytest.mark.parametrize(("age_ns", "is_kept"), [(0, False), (TICK_NS, True)])
async def test_a_file_read_within_a_tick_of_its_change_is_read_again_at_the_next_walk(
    root, tmp_path, monkeypatch, age_ns, is_kept
):
    """Case 26: two edits within one tick and of one size leave the same times; a walk must not take them for one."""
    changed_ns = (root / "n0.md").stat().st_ctime_ns
    monkeypatch.setattr("services.indexer.adapters.reading.time.time_ns", lambda: changed_ns + age_ns)
    async with indexing(root, tmp_path / ".kx") as work:
        await work.touch("n0.md")
        await work.until("text")
    connection = open_reader(work.project.index_path, work.project.instance)
    (row,) = connection.execute("SELECT ctime_ns FROM document_e1").fetchall()
    connection.close()
    assert (row[0] == changed_ns) is is_kept


async def test_many_files_are_read_by_processes_with_the_same_result(tmp_path):
    """Reading ahead in other processes must not change what gets in."""
    root = tmp_path / "many"
    root.mkdir()
    for number in range(400):
        (root / f"f{number}.py").write_text(f"def function_{number}():\n    return {number}\n")
    facts = []
    for home, order in (("a", list), ("b", reversed)):
        async with indexing(root, tmp_path / home / ".kx") as work:
            work.embedder.is_away = True
            names = list(order(paths_of(root)))
            step = 500 if home == "a" else 20
            for start in range(0, len(names), step):
                await work.touch(*names[start : start + step])
                if step == 20:
                    await work.until("text")
            await work.until("text")
        facts.append(facts_of(work.project.index_path, work.project.instance))
    assert facts[0].rows == facts[1].rows
    assert facts[0].chunks == facts[1].postings == 400


async def test_numbers_of_a_finished_index_are_its_own(tmp_path, monkeypatch):
    """They are asked between the last text and the news of it, and were counted before it."""
    told = anyio.Event()
    true_committed = IndexWriter.committed

    async def committed(self: IndexWriter) -> None:
        await told.wait()
        await true_committed(self)

    monkeypatch.setattr(IndexWriter, "committed", committed)
    (tmp_path / "tree").mkdir()
    (tmp_path / "tree" / "a.md").write_text("# A\n\nText.\n")
    async with indexing(tmp_path / "tree", tmp_path / ".kx") as work:
        message = ProgressRequest(instance=work.project.instance)
        assert (await work.bus.request(PROGRESS, message)).documents == 0
        await work.touch("a.md")
        with anyio.fail_after(10):
            while (progress := await work.bus.request(PROGRESS, message)).text_pending:
                await anyio.lowlevel.checkpoint()
        told.set()
    assert progress.documents == 1
