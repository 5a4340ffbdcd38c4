"""The derived trees equal the database, and what is destroyed leaves no bytes in them."""

from __future__ import annotations

import os
import shutil
import stat
from pathlib import Path

import pytest

from shared import knowledge_messages as kb
from shared import subjects as s
from shared.project_config import load_project_config
from shared.registry import Registry
from shared.treerules import SkipReason, TreeRules
from tests.support.knowledge_product import KnowledgeProduct, indexed, titles

pytestmark = pytest.mark.anyio

RESTART = "# Restart\n\nDrain the queue before the broker is restarted.\n"
CANARY = "CANARY-7f3a9e0c5b-of-the-runbook"


@pytest.fixture
def product(tmp_path: Path) -> KnowledgeProduct:
    return KnowledgeProduct(tmp_path)


async def test_tree_holds_what_is_published_and_nothing_else(product: KnowledgeProduct) -> None:
    """ADR 8: one file for each published current revision of an active base, private to its user."""
    async with product.serving() as me:
        base, other = await me.base("Runbooks"), await me.base("Other")
        kept = await me.item(base.id, "Kept", RESTART, publish=True)
        gone = await me.item(base.id, "Archived", "one\n", publish=True)
        await me.item(base.id, "Draft", "two\n")
        await me.item(other.id, "Of an archived base", "three\n", publish=True)
        await me.edit(kept.id, RESTART + "\nAnd watch it.\n")
        await me.move(gone.id, "archive")
        await me.move_base(other.id, "archive")
        assert product.files(base.space) == {"_kept_.md": RESTART + "\nAnd watch it.\n"}
        await me.move(gone.id, "restore")
        await me.move_base(other.id, "restore")
        assert set(product.files(base.space)) == {"_kept_.md", "_archived_.md", "_of-an-archived-base_.md"}
    for path in product.settings.spaces_dir.rglob("*"):
        assert stat.S_IMODE(path.lstat().st_mode) & 0o077 == 0, path


async def test_new_title_moves_the_file_and_embeds_nothing(product: KnowledgeProduct) -> None:
    """A text is embedded once, whatever it is called."""
    async with product.serving() as me:
        base = await me.base("Runbooks")
        item = await me.item(base.id, "Broker", RESTART, publish=True)
        before = await indexed(me.bus, product.tree(base.space).instance)
        await me.ask(s.ITEM_EDIT, kb.EditItem(caller=me.caller, item=item.id, title="Message broker"))
        after = await indexed(me.bus, product.tree(base.space).instance)
        assert product.files(base.space) == {"_message-broker_.md": RESTART}
        assert await titles(me, "message broker", mode="lexical") == ["Message broker"]
        assert before.embedded == after.embedded == 1


@pytest.mark.parametrize("harm", ["lost", "altered", "foreign", "whole tree lost", "index lost"])
async def test_start_makes_the_tree_equal_to_the_database(product: KnowledgeProduct, harm: str) -> None:
    """ADR 8: restoring the database restores everything else."""
    async with product.serving() as me:
        base = await me.base("Runbooks")
        await me.item(base.id, "Broker", RESTART, publish=True)
        await indexed(me.bus, product.tree(base.space).instance)
    tree = product.tree(base.space)
    (file,) = (tree.root_path / "kb").rglob("*.md")
    if harm == "lost":
        file.unlink()
    elif harm == "altered":
        file.write_text("other")
    elif harm == "foreign":
        (file.parent / "put-there.md").write_text("put there by hand")
    elif harm == "whole tree lost":
        shutil.rmtree(product.settings.spaces_dir)
    else:
        tree.index_path.unlink()
    async with product.serving() as me:
        await indexed(me.bus, product.tree(base.space).instance)
        assert product.files(base.space) == {"_broker_.md": RESTART}
        assert await titles(me, "drain the queue") == ["Broker"]
        assert await titles(me, "put there by hand") in ([], ["Broker"])


async def test_tree_that_is_taken_away_is_written_again(product: KnowledgeProduct) -> None:
    """Nobody has to start anything anew."""
    async with product.serving() as me:
        base = await me.base("Runbooks")
        await me.item(base.id, "Broker", RESTART, publish=True)
        shutil.rmtree(product.settings.spaces_dir)
        await me.item(base.id, "Copies", "Copies are kept for thirty days.\n", publish=True)
        assert set(product.files(base.space)) == {"_broker_.md", "_copies_.md"}
        await indexed(me.bus, product.tree(base.space).instance)
        assert (await titles(me, "drain the queue"))[0] == "Broker"


async def test_what_was_written_without_an_indexer_is_found_once_there_is_one(product: KnowledgeProduct) -> None:
    """The truth is on the disk; the index is told again."""
    async with product.serving() as me:
        base = await me.base("Runbooks")
        await me.item(base.id, "Copies", "Copies are kept for thirty days.\n", publish=True)
    async with product.serving(indexes=False) as me:
        await me.item(base.id, "Broker", RESTART, publish=True)
        assert await titles(me, "drain the queue", mode="lexical") == []
    for _ in range(2):
        async with product.serving() as me:
            await indexed(me.bus, product.tree(base.space).instance)
            assert await titles(me, "drain the queue", mode="lexical") == ["Broker"]
    assert not (product.settings.spaces_dir / base.space / ".behind").exists()


@pytest.mark.parametrize("state", ["published", "archived", "superseded"])
async def test_destroyed_item_leaves_no_bytes_anywhere(product: KnowledgeProduct, state: str) -> None:
    """MISSION 7.3: permanent deletion destroys physically: database, tree, index and their logs."""
    async with product.serving() as me:
        base = await me.base("Runbooks")
        await me.item(base.id, "Stays", RESTART, publish=True)
        item = await me.item(base.id, "Goes", f"The code is {CANARY}, keep it.\n", publish=True)
        await indexed(me.bus, product.tree(base.space).instance)
        assert product.holding(CANARY) != []
        if state == "archived":
            await me.move(item.id, "archive")
        elif state == "superseded":
            await me.edit(item.id, "The code is told nowhere now.\n")
        erased = await me.ask(s.ITEM_DELETE, kb.DeleteItem(caller=me.caller, item=item.id, confirm=item.id))
        assert erased.residue == 0
        assert product.holding(CANARY) == []
        assert await titles(me, "drain the queue") == ["Stays"]
    assert product.holding(CANARY) == []


async def test_text_that_another_item_has_too_is_no_residue(product: KnowledgeProduct) -> None:
    """A copy that is kept, in the same base or another, is no trace of what was destroyed."""
    async with product.serving() as me:
        base = await me.base("Runbooks")
        item = await me.item(base.id, "Goes", f"The code is {CANARY}, keep it.\n", publish=True)
        copy = await me.item((await me.base("Copies")).id, "Stays", f"The code is {CANARY}, keep it.\n", publish=True)
        await indexed(me.bus, product.tree(base.space).instance)
        for one, left in ((item, True), (copy, False)):
            erased = await me.ask(s.ITEM_DELETE, kb.DeleteItem(caller=me.caller, item=one.id, confirm=one.id))
            assert (erased.residue, product.holding(CANARY) != []) == (0, left)


async def test_erasure_without_an_indexer_is_done_when_there_is_one(product: KnowledgeProduct) -> None:
    """What could not be forgotten now is told, and is not forgotten to be forgotten."""
    async with product.serving() as me:
        base = await me.base("Runbooks")
        await me.item(base.id, "Stays", RESTART, publish=True)
        item = await me.item(base.id, "Goes", f"The code is {CANARY}, keep it.\n", publish=True)
        await indexed(me.bus, product.tree(base.space).instance)
    async with product.serving(indexes=False) as me:
        asked = kb.DeleteItem(caller=me.caller, item=item.id, confirm=item.id)
        assert (await me.ask(s.ITEM_DELETE, asked)).residue > 0
    assert product.holding(CANARY) == ["data/space-" + base.space + ".sqlite"]
    async with product.serving() as me:
        await indexed(me.bus, product.tree(base.space).instance)
        assert product.holding(CANARY) == []


async def test_tree_of_a_space_that_is_none_is_removed(product: KnowledgeProduct) -> None:
    """A database that was taken away takes along what was derived from it."""
    async with product.serving() as me:
        base = await me.base("Runbooks")
        await me.item(base.id, "Broker", RESTART, publish=True)
    index = product.tree(base.space).index_path
    for path in product.settings.home.glob("knowledge.sqlite*"):
        path.unlink()
    async with product.serving():
        assert not (product.settings.spaces_dir / base.space).exists()
    assert Registry(product.settings).trees() == ()
    assert not index.exists()


async def test_no_ignore_file_of_the_surroundings_hides_a_text(product: KnowledgeProduct) -> None:
    """A home folder under git, as of dotfiles, ignores what it does not know."""
    (product.home / ".git").mkdir()
    (product.home / ".git" / "HEAD").write_text("ref: refs/heads/main\n")
    (product.home / ".gitignore").write_text("*.md\nkb/\n")
    async with product.serving() as me:
        base = await me.base("Runbooks")
        await me.item(base.id, "Broker", RESTART, publish=True)
        assert await titles(me, "drain the queue") == ["Broker"]


async def test_walk_of_the_home_folder_leaves_derived_trees_out(tmp_path: Path) -> None:
    """ADR 8: nobody reaches a team's texts around the roles, not by indexing everything there is either."""
    product = KnowledgeProduct(tmp_path, KX_HOME=str(tmp_path / "elsewhere"))
    async with product.serving() as me:
        base = await me.base("Runbooks")
        await me.item(base.id, "Broker", RESTART, publish=True)
    rules = TreeRules(tmp_path, load_project_config(tmp_path, product.settings).config.rules())
    (file,) = product.settings.spaces_dir.rglob("_broker_.md")
    verdict = rules.verdict(file.relative_to(tmp_path).as_posix(), os.lstat(file))
    assert verdict.reason is SkipReason.EXCLUDED_DIR
