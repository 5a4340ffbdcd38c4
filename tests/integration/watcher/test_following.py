"""Following a real tree with the real library: what is saved, moved and deleted becomes an announcement."""

from __future__ import annotations

import shutil
from collections.abc import AsyncIterator
from pathlib import Path

import anyio
import anyio.to_thread
import pytest

from shared.errors import ErrorCode
from tests.support.trees import make_repository, write_tree
from tests.support.watcher_bench import Followed, WatcherBench

pytestmark = pytest.mark.anyio

LIMIT_S = 20  # the machine may be busy; what is measured is in bench/freshness.py


@pytest.fixture
def bench(tmp_path: Path) -> WatcherBench:
    return WatcherBench(tmp_path)


@pytest.fixture
async def followed(bench: WatcherBench) -> AsyncIterator[Followed]:
    write_tree(bench.root, {"kept.md": "kept"})
    with anyio.fail_after(4 * LIMIT_S):
        async with bench.following() as followed:
            await followed.agrees(["kept.md"])
            yield followed


async def test_create_edit_rename_and_delete_are_followed(followed: Followed) -> None:
    """MISSION 3.1: creates, edits, moves and deletes."""
    with anyio.fail_after(LIMIT_S):
        write_tree(followed.root, {"a.md": "one"})
        await followed.agrees(["kept.md", "a.md"])
        write_tree(followed.root, {"a.md": "one, two"})
        await followed.agrees(["kept.md", "a.md"])
        (followed.root / "a.md").rename(followed.root / "b.md")
        await followed.agrees(["kept.md", "b.md"])
        (followed.root / "b.md").unlink()
        await followed.agrees(["kept.md"])
    assert {message.urgency for message in followed.index.messages} == {"live"}


async def test_atomic_save_keeps_the_file(followed: Followed) -> None:
    """Case 23: saving through a temporary name reports "added" for the target and "deleted" for the other."""
    with anyio.fail_after(LIMIT_S):
        write_tree(followed.root, {".kept.md.swp": "new text of it"})
        (followed.root / ".kept.md.swp").rename(followed.root / "kept.md")
        await followed.marker()
        await followed.agrees(["kept.md", "marker.md"])


@pytest.mark.parametrize(
    ("folder", "sign"), [("work", "work/CACHEDIR.TAG"), ("env", "env/bin/activate"), ("dist", "pyproject.toml")]
)
async def test_folder_is_judged_anew_when_its_sign_comes_or_goes(bench: WatcherBench, folder: str, sign: str) -> None:
    """Row L3: what tells a build's output apart comes after it in a checkout, and goes again."""
    write_tree(bench.root, {"kept.md": "kept", f"{folder}/a.md": "one", f"{folder}/bin/b.md": "two"})
    both = [f"{folder}/a.md", f"{folder}/bin/b.md"]
    with anyio.fail_after(LIMIT_S):
        async with bench.following() as followed:
            await followed.agrees(["kept.md", *both])
            write_tree(followed.root, {sign: "Signature: one\n"})
            await followed.agrees(["kept.md", *([] if sign.startswith(folder) else [sign])])
            (followed.root / sign).unlink()
            await followed.agrees(["kept.md", *both])


async def test_folder_moved_in_and_out(followed: Followed, tmp_path: Path) -> None:
    """Case 19, fact M9: a moved folder makes one event, its files none."""
    files = {f"d/e{n % 3}/f{n}.md": f"text {n}" for n in range(20)}
    write_tree(tmp_path / "outside", files)
    with anyio.fail_after(LIMIT_S):
        (tmp_path / "outside/d").rename(followed.root / "d")
        await followed.agrees(["kept.md", *files])
        (followed.root / "d").rename(followed.root / "g")
        await followed.agrees(["kept.md", *("g" + path[1:] for path in files)])
        (followed.root / "g").rename(tmp_path / "outside/d")
        await followed.agrees(["kept.md"])


async def test_files_in_nested_new_folders_are_all_found(followed: Followed) -> None:
    """Row F8, fact M8: 300 nested folders made at once; the library reports about half of their files."""
    files = {f"d{n}/e/f/g.md": f"text {n}" for n in range(300)}
    with anyio.fail_after(2 * LIMIT_S):
        write_tree(followed.root, files)
        await followed.agrees(["kept.md", *files])


async def test_name_that_is_no_text_does_not_blind_the_watcher(followed: Followed) -> None:
    """Case 9, row F9, fact M11: the library dies of it; the file and every later edit are found all the same."""
    with anyio.fail_after(LIMIT_S):
        write_tree(followed.root, {r"bad\xff.md": "text"})
        await followed.agrees(["kept.md", r"bad\xff.md"])
        await followed.marker()
    assert (await followed.health()).state == "ready"


async def test_change_of_an_ignore_file_changes_what_is_indexed(followed: Followed) -> None:
    """Case 19: without a change of the files themselves, in both directions."""
    write_tree(followed.root, {"d/a.log": "text", "d/b.md": "text"})
    with anyio.fail_after(LIMIT_S):
        await followed.agrees(["kept.md", "d/a.log", "d/b.md"])
        followed.index.messages.clear()
        write_tree(followed.root, {"d/.gitignore": "*.log\n"})
        await followed.index.until(lambda: "d/a.log" in followed.index.touched())
        followed.index.messages.clear()
        write_tree(followed.root, {"d/a.log": "ignored now, and announced once"})
        await followed.marker()
        assert "d/a.log" not in followed.index.touched()
        (followed.root / "d/.gitignore").unlink()
        await followed.index.until(lambda: "d/a.log" in followed.index.touched())


async def test_change_of_the_configuration_changes_what_is_indexed(followed: Followed) -> None:
    """Case 19: the denylist of a project is obeyed as soon as it is saved; a broken one stops nothing for good."""
    write_tree(followed.root, {"secret/a.md": "text"})
    with anyio.fail_after(LIMIT_S):
        await followed.agrees(["kept.md", "secret/a.md"])
        write_tree(followed.root, {".kx.json": "{ broken"})
        while (await followed.health()).state == "ready":  # the watcher says so once it has seen it
            await followed.survey()
        write_tree(followed.root, {".kx.json": '{"ignoreFiles": ["secret/"]}'})
        await followed.index.until(lambda: "secret/" in followed.index.touched())
        while (await followed.health()).state != "ready":
            await followed.survey()


async def test_what_git_writes_for_itself_is_no_event(followed: Followed) -> None:
    """Row L3: a commit makes thousands of events in `.git`; none of them is a path of the project."""
    write_tree(make_repository(followed.root), {".git/info/": ""})
    with anyio.fail_after(LIMIT_S):
        await followed.marker()
        write_tree(followed.root, {f".git/objects/{n}": "x" for n in range(50)})
        write_tree(followed.root, {".git/info/exclude": "kept.md\n"})
        followed.index.messages.clear()
        await followed.index.until(lambda: "kept.md" in followed.index.touched())
        await followed.marker()
    assert [path for path in followed.index.touched() if path.startswith(".git/")] in ([], [".git/"])


async def test_burst_is_few_messages(followed: Followed) -> None:
    """Row L3: a checkout of 2,000 files is one burst, not two thousand requests."""
    files = {f"d{n % 20}/f{n}.md": f"text {n}" for n in range(2_000)}
    write_tree(followed.root, {f"d{n}/": "" for n in range(20)})
    with anyio.fail_after(2 * LIMIT_S):
        await followed.marker()
        followed.index.messages.clear()
        write_tree(followed.root, files)
        await followed.agrees(["kept.md", "marker.md", *files])
    assert len(followed.index.messages) < 40
    bulk = sum(len(message.paths) for message in followed.index.messages if message.urgency == "bulk")
    assert bulk > 1_000


async def test_nothing_is_lost_while_the_indexer_refuses(followed: Followed) -> None:
    """MISSION 3.2: what is not accepted stays in the dirty set, is told, and is announced again."""
    followed.index.refusals += [ErrorCode.INDEX_BUSY, ErrorCode.TIMEOUT]
    with anyio.fail_after(LIMIT_S):
        write_tree(followed.root, {"a.md": "one"})
        while not (await followed.survey()).held:
            await anyio.lowlevel.checkpoint()
        await followed.agrees(["kept.md", "a.md"])
        while (await followed.survey()).held:
            await anyio.lowlevel.checkpoint()


async def test_edits_before_an_indexer_is_there_arrive_when_it_comes(bench: WatcherBench) -> None:
    """MISSION 3.2: a service that is away ends in a reconcile that makes the index equal the tree."""
    write_tree(bench.root, {"a.md": "one"})
    with anyio.fail_after(LIMIT_S):
        async with bench.following(indexer=False) as followed:
            while (await followed.survey()).held != 1:
                await anyio.lowlevel.checkpoint()
            write_tree(bench.root, {"b.md": "two"})
            while (await followed.survey()).held != 2:
                await anyio.lowlevel.checkpoint()
            async with followed.index.serving(followed.bus):
                await followed.agrees(["a.md", "b.md"])


async def test_started_indexer_gets_what_it_lost(followed: Followed) -> None:
    """Row F1: what an indexer had accepted and not written is announced to the next."""
    followed.index.known[followed.instance].clear()
    with anyio.fail_after(LIMIT_S):
        async with followed.index.serving(followed.bus):
            await followed.agrees(["kept.md"])


async def test_projects_are_followed_as_they_are_registered(followed: Followed, bench: WatcherBench) -> None:
    """Issue 3: a new project is followed without a restart, a removed one is left alone."""
    other = bench.folder / "other"
    write_tree(other, {"x.md": "text"})
    with anyio.fail_after(LIMIT_S):
        project = bench.register(other)
        followed.index.adopt(project)
        await followed.index.until(lambda: "x.md" in followed.index.files(project.instance))
        bench.registry.remove(project.instance)
        followed.index.messages.clear()
        write_tree(bench.root, {"y.md": "text"})
        await followed.agrees(["kept.md", "y.md"])
    assert (await followed.survey()).is_followed


async def test_large_announcement_does_not_hold_up_a_save(bench: WatcherBench) -> None:
    """Issue 5.3: live overtakes bulk, also while the bulk announcement waits for its answer."""
    files = {f"f{n}.md": f"text {n}" for n in range(1_200)}
    write_tree(bench.root, files)
    with anyio.fail_after(2 * LIMIT_S):
        async with bench.following(indexer=False) as followed:
            followed.index.hold_bulk()
            async with followed.index.serving(followed.bus):
                await followed.index.bulk_held.wait()
                write_tree(bench.root, {"marker.md": "a save"})
                await followed.index.until(lambda: bool(followed.index.messages))
                assert followed.index.files(followed.instance) == {"marker.md"}
                followed.index.release_bulk()
                await followed.agrees(["marker.md", *files])


async def test_folder_replaced_by_a_file_and_back(followed: Followed) -> None:
    """Case 23: one name, two kinds, in quick succession."""
    with anyio.fail_after(LIMIT_S):
        write_tree(followed.root, {"d/a.md": "one"})
        await followed.agrees(["kept.md", "d/a.md"])
        shutil.rmtree(followed.root / "d")
        write_tree(followed.root, {"d": "a file"})
        await followed.agrees(["kept.md", "d"])
        (followed.root / "d").unlink()
        write_tree(followed.root, {"d/a.md": "two"})
        await followed.agrees(["kept.md", "d/a.md"])


@pytest.mark.usefixtures("blocking_is_an_error")
async def test_following_never_blocks_the_event_loop(bench: WatcherBench) -> None:
    """STYLE 30: walks, looks and the registry are read in threads."""
    write_tree(bench.root, {"a.md": "one"})
    with anyio.fail_after(LIMIT_S):
        async with bench.following() as followed:
            write = anyio.to_thread.run_sync
            await write(write_tree, bench.root, {"d/b.md": "two", ".gitignore": "*.log\n"})
            await followed.index.until(lambda: {"d/b.md", ".gitignore"} <= set(followed.index.touched()))
            await followed.reconcile()
            await followed.survey(walk=True)
