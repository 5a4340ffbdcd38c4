"""Rows F10 and F13: whatever happens to the file of an index, it is served rightly or built anew; a sound one is kept."""

import random
import shutil
import threading
from collections.abc import Callable
from pathlib import Path

import apsw
import pytest

from services.indexer.adapters.soundness import flaw_of
from shared.errors import ErrorCode, KxError
from shared.index_files import beside
from shared.index_open import index_lock, open_reader, open_writer
from tests.soak.conftest import Report
from tests.support.index_facts import IndexFacts, facts_of
from tests.support.indexing import indexing

pytestmark = pytest.mark.anyio

Amount = Callable[[int], int]

FILES = 40
PAGE = 8_192


def write_tree(root: Path) -> list[str]:
    root.mkdir()
    for number in range(FILES):
        parts = (f"# Part {part}\n\nWord{number}x{part} " + "stands here. " * 40 for part in range(4))
        (root / f"f{number}.md").write_text("\n\n".join(parts))
    return [f"f{number}.md" for number in range(FILES)]


async def index(root: Path, home: Path, names: list[str]) -> tuple[Path, str]:
    """Bring the index up to date with the tree, in a run of its own."""
    async with indexing(root, home) as work:
        await work.touch(*names)
        await work.until("vectors")
    return work.project.index_path, work.project.instance


def copy_home(home: Path, to: Path) -> Path:
    if to.exists():
        shutil.rmtree(to)
    return Path(shutil.copytree(home, to))


def asides(path: Path) -> list[Path]:
    return [file for file in path.parent.glob("*.damaged-*") if not file.name.endswith(("-wal", "-shm"))]


def read(path: Path, instance) -> IndexFacts | ErrorCode:
    try:
        return facts_of(path, instance)
    except KxError as error:
        return error.code
    except apsw.Error:
        return ErrorCode.INDEX_DAMAGED


def flip_page(path: Path, chosen: random.Random) -> None:
    data = bytearray(path.read_bytes())
    page = chosen.randrange(len(data) // PAGE)
    for _ in range(chosen.choice((1, 16, 512))):
        data[page * PAGE + chosen.randrange(PAGE)] ^= chosen.randrange(1, 256)
    path.write_bytes(data)


def truncate(path: Path, chosen: random.Random) -> None:
    data = path.read_bytes()
    path.write_bytes(data[: chosen.randrange(1, len(data))])


def foreign_log(path: Path, chosen: random.Random) -> None:
    other = path.with_name("other.sqlite")
    for file in (other, beside(other, "-wal"), beside(other, "-shm")):
        file.unlink(missing_ok=True)
    connection = open_writer(other, "f" * 16, project="other", root="/other")
    connection.execute("INSERT INTO model(model_id) VALUES('x')").fetchall()
    shutil.copy(beside(other, "-wal"), beside(path, "-wal"))
    connection.close()
    for file in (other, beside(other, "-wal"), beside(other, "-shm")):
        file.unlink(missing_ok=True)


def no_length(path: Path, chosen: random.Random) -> None:
    path.write_bytes(b"")


def no_database(path: Path, chosen: random.Random) -> None:
    path.write_bytes(chosen.randbytes(50_000))


DAMAGES = [(flip_page, 100), (truncate, 20), (foreign_log, 3), (no_length, 1), (no_database, 2)]


@pytest.mark.parametrize(("damage", "figure"), DAMAGES, ids=lambda value: getattr(value, "__name__", ""))
async def test_damaged_index_is_served_rightly_or_built_anew(tmp_path, damage, figure, amount: Amount, report: Report):
    """Row F10, cases 30 and 32: no crash, no wrong content, what was there is set aside once and kept."""
    root, home = tmp_path / "tree", tmp_path / "sound" / ".kx"
    names = write_tree(root)
    path, instance = await index(root, home, names)
    sound = facts_of(path, instance)
    chosen = random.Random(5)
    problems: list[str] = []
    rebuilt = 0
    cases = min(figure, amount(figure))
    for _ in range(cases):
        copy = copy_home(home, tmp_path / "copy")
        place = copy / path.relative_to(home)
        entry = next((copy / "projects").glob("*.json"))
        entry.write_text(entry.read_text().replace(str(home), str(copy)))
        damage(place, chosen)
        before = place.read_bytes()
        read(place, instance)  # a reader may say what it likes, but must come back
        await index(root, copy, names)
        found = read(place, instance)
        if found != sound:
            problems.append(f"{place}: {found}")
        connection = open_writer(place, instance, project="demo", root=str(root))
        problems += [flaw for flaw in [flaw_of(connection)] if flaw]
        connection.close()
        kept = asides(place)
        rebuilt += len(kept)
        problems += [f"{place}: {kept}"] if len(kept) > 1 else []
        problems += [f"{file} was changed" for file in kept if file.read_bytes() != before]
    report("F10", problems, damage=damage.__name__, cases=cases, rebuilt=rebuilt, wrong=len(problems))


async def test_sound_index_is_never_set_aside_however_many_open_it(tmp_path, amount: Amount, report: Report):
    """Row F10, case 32: four open it at once while it is written and while it is held; busy is no damage."""
    root, home = tmp_path / "tree", tmp_path / ".kx"
    names = write_tree(root)
    path, instance = await index(root, home, names)
    opens, refused = amount(1_000), []

    def open_often() -> None:
        for _ in range(opens // 4 + 1):
            try:
                open_reader(path, instance).close()
            except KxError as error:
                refused.append(error.code)

    async with indexing(root, home) as work:
        threads = [threading.Thread(target=open_often) for _ in range(4)]
        for thread in threads:
            thread.start()
        (root / names[0]).write_text("# Changed\n\nwhile they open it\n")
        await work.touch(*names)
        with pytest.raises(KxError, match="is being written by"), index_lock(path, mode="second", since=""):
            pass
        await work.until("vectors")
        for thread in threads:
            thread.join()
    problems = [str(code) for code in refused if code is not ErrorCode.INDEX_BUSY] + [str(p) for p in asides(path)]
    problems += ["suspected"] if beside(path, ".suspect").exists() else []
    report("F10", problems, opens=4 * (opens // 4 + 1), set_aside=len(asides(path)), busy=len(refused))


async def test_copy_taken_at_any_moment_opens_and_ends_equal(tmp_path, amount: Amount, report: Report):
    """Row F13: database and log copied while they are written, the log cut at any byte; the next run ends equal."""
    root, home = tmp_path / "tree", tmp_path / "source" / ".kx"
    names = write_tree(root)
    copies = amount(200)
    torn: list[Path] = []
    chosen = random.Random(9)
    async with indexing(root, home) as work:
        path, instance = work.project.index_path, work.project.instance
        await work.touch(names[0])
        await work.until("text")
        while len(torn) < copies:
            for name in chosen.sample(names, 8):
                (root / name).write_text(f"# {name}\n\nVersion {len(torn)} of it. " + "More words. " * 300)
            await work.touch(*names)
            await work.until("text")
            copy = copy_home(home, tmp_path / f"torn{len(torn)}" / ".kx")
            log = beside(copy / path.relative_to(home), "-wal")
            data = log.read_bytes()
            kept = chosen.choice((0, len(data), chosen.randrange(len(data) + 1), 32 + 8_216 * chosen.randrange(9)))
            log.write_bytes(data[:kept])
            torn.append(copy)
        await work.until("vectors")
    expected = facts_of(path, instance)
    problems: list[str] = []
    rebuilt = 0
    for copy in torn:
        place = copy / path.relative_to(home)
        entry = next((copy / "projects").glob("*.json"))
        entry.write_text(entry.read_text().replace(str(home), str(copy)))
        await index(root, copy, names)
        found = facts_of(place, instance)
        if (found.rows, found.vectors, found.missing) != (expected.rows, expected.vectors, 0):
            problems.append(str(copy))
        rebuilt += len(asides(place))
    report("F13", problems, copies=copies, equal=copies - len(problems), rebuilt=rebuilt)
