"""A damaged index is told from a busy, full, foreign or newer one; what is damaged is set aside once and built anew."""

import hashlib
from pathlib import Path

import anyio
import apsw
import pytest

from shared.errors import ErrorCode, KxError
from shared.index_files import beside, is_suspect
from shared.index_format import SCHEMA_VERSION
from shared.index_open import open_reader, open_writer
from shared.messages import ProgressRequest
from shared.subjects import PROGRESS
from tests.support.index_facts import facts_of
from tests.support.indexing import Indexing, indexing
from tests.support.rows import passed

pytestmark = pytest.mark.anyio


@pytest.fixture
def root(tmp_path: Path) -> Path:
    root = tmp_path / "tree"
    root.mkdir()
    for number in range(6):
        (root / f"n{number}.md").write_text(f"# Note {number}\n\nText about word{number}. " + "Filler. " * 300)
    return root


def names_of(root: Path) -> list[str]:
    return sorted(path.name for path in root.iterdir())


async def run(root: Path, home: Path) -> Indexing:
    """Bring the index up to date, in a run of its own."""
    async with indexing(root, home) as work:
        await work.touch(*names_of(root))
        await work.until("vectors")
    return work


async def refusal(root: Path, home: Path) -> ErrorCode:
    """What the indexer says to a touch."""
    async with indexing(root, home) as work:
        with pytest.raises(KxError) as caught:
            await work.touch(*names_of(root))
    return caught.value.code


def break_page(path: Path, number: int) -> None:
    data = bytearray(path.read_bytes())
    data[(number - 1) * 8_192 : (number - 1) * 8_192 + 512] = b"\xa5" * 512
    path.write_bytes(data)


async def test_damage_met_by_a_reader_is_mended_by_the_running_indexer(root, tmp_path):
    """Case 32: whoever reads leaves a sign, the writer looks for itself, sets aside and goes on; progress says so."""
    work = await run(root, tmp_path / ".kx")
    path, instance = work.project.index_path, work.project.instance
    sound = facts_of(path, instance)
    async with indexing(root, tmp_path / ".kx") as again:
        await again.touch("n0.md")
        await again.until("text")
        connection = apsw.Connection(str(path))
        connection.execute("DELETE FROM document_e1 WHERE path = 'n3.md'").fetchall()  # its passages stay behind
        connection.close()
        beside(path, ".suspect").touch()
        with anyio.fail_after(30):
            while True:
                progress = await again.bus.request(PROGRESS, ProgressRequest(instance=instance))
                if progress.set_aside:
                    break
                await anyio.sleep(0.05)
        assert [str(file) for file in path.parent.glob("*.damaged-*Z")] == [progress.set_aside]
        await again.touch(*names_of(root))
        await again.until("vectors")
        assert facts_of(path, instance) == sound
    assert not is_suspect(path)


async def test_reader_of_a_damaged_index_says_so_and_leaves_a_sign(root, tmp_path):
    """Row F10: until it is built anew the answer is an error with the way out."""
    work = await run(root, tmp_path / ".kx")
    path = work.project.index_path
    path.write_bytes(b"no database at all" * 1_000)
    with pytest.raises(KxError) as caught:
        open_reader(path, work.project.instance)
    assert caught.value.code is ErrorCode.INDEX_DAMAGED
    assert "kx index" in caught.value.hint
    assert is_suspect(path)


async def test_sign_at_a_sound_index_is_taken_away(root, tmp_path):
    """Nobody is believed without a look."""
    work = await run(root, tmp_path / ".kx")
    path = work.project.index_path
    beside(path, ".suspect").touch()
    await run(root, tmp_path / ".kx")
    assert not is_suspect(path)
    assert list(path.parent.glob("*.damaged-*")) == []


async def test_second_damaged_file_does_not_replace_the_first(root, tmp_path):
    """What is set aside is evidence: it is never overwritten."""
    kept = []
    for word in (b"first", b"second"):
        work = await run(root, tmp_path / ".kx")
        work.project.index_path.write_bytes(word * 5_000)
        kept.append(word * 5_000)
    path = (await run(root, tmp_path / ".kx")).project.index_path
    assert sorted(file.read_bytes() for file in path.parent.glob("*.damaged-*Z*") if file.stat().st_size) == kept


async def test_database_of_another_program_is_left_alone(root, tmp_path):
    """Foreign is no damage."""
    path = (await run(root, tmp_path / ".kx")).project.index_path
    path.unlink()
    connection = apsw.Connection(str(path))
    connection.execute("CREATE TABLE mine(x); INSERT INTO mine VALUES(1); CREATE TABLE meta(key, value)").fetchall()
    connection.close()
    before = path.read_bytes()
    assert await refusal(root, tmp_path / ".kx") is ErrorCode.INDEX_FOREIGN
    assert path.read_bytes() == before


async def test_newer_format_is_refused_and_the_file_stays_as_it_is(root, tmp_path):
    """Row F17: a downgrade changes nothing."""
    work = await run(root, tmp_path / ".kx")
    path = work.project.index_path
    connection = open_writer(path, work.project.instance, project="demo", root=str(root))
    connection.execute("UPDATE meta SET value = ? WHERE key = 'schema'", (SCHEMA_VERSION + 1,)).fetchall()
    connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
    connection.close()
    before = hashlib.sha256(path.read_bytes()).digest()
    assert await refusal(root, tmp_path / ".kx") is ErrorCode.INDEX_NEWER
    with pytest.raises(KxError, match="newer kx"):
        open_reader(path, work.project.instance)
    assert hashlib.sha256(path.read_bytes()).digest() == before
    passed("F17", direction="down", refused=1, bytes_changed=0)


async def test_older_format_is_migrated_and_ends_equal(root, tmp_path):
    """Row F17: an index of the format before answers no question until the indexer has brought it up to date."""
    work = await run(root, tmp_path / ".kx")
    path, instance = work.project.index_path, work.project.instance
    expected = facts_of(path, instance)
    connection = open_writer(path, instance, project="demo", root=str(root))
    connection.execute("ALTER TABLE document_e1 DROP COLUMN ctime_ns").fetchall()
    connection.execute("UPDATE meta SET value = 1 WHERE key = 'schema'").fetchall()
    connection.execute("DELETE FROM meta WHERE key LIKE 'erasure%'").fetchall()
    connection.close()
    with pytest.raises(KxError) as caught:
        open_reader(path, instance)
    assert caught.value.code is ErrorCode.INDEX_MISSING
    again = await run(root, tmp_path / ".kx")
    assert facts_of(path, instance) == expected
    assert again.embedder.asked == []
    passed("F17", direction="up", equal=1, embedded=0)


async def test_busy_database_is_no_damage_and_the_work_goes_on(root, tmp_path):
    """Case 32: a lock held by another program delays, and nothing is lost or set aside."""
    work = await run(root, tmp_path / ".kx")
    path = work.project.index_path
    async with indexing(root, tmp_path / ".kx") as again:
        await again.touch("n0.md")
        await again.until("text")
        holder = apsw.Connection(str(path))
        holder.execute("BEGIN IMMEDIATE").fetchall()
        (root / "n1.md").write_text("# New\n\nwritten while it is busy\n")
        await again.touch("n1.md", urgency="live")
        with anyio.fail_after(20):
            while True:
                progress = await again.bus.request(PROGRESS, ProgressRequest(instance=work.project.instance))
                if progress.stalled is not None:
                    break
                await anyio.sleep(0.05)
        assert progress.stalled.code is ErrorCode.INDEX_BUSY
        holder.execute("ROLLBACK").fetchall()
        holder.close()
        done = await again.until("vectors")
        assert (done.text_pending, done.vectors_missing) == (0, 0)
    assert list(path.parent.glob("*.damaged-*")) == []
