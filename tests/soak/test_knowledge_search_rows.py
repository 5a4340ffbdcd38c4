"""Row A12 of RELIABILITY.md, for what is searched: any history, over a real index."""

from __future__ import annotations

import random
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

from services.knowledge.trees import Trees
from shared.errors import KxError
from shared.knowledge_messages import ItemRow
from tests.soak.conftest import Report
from tests.support.knowledge_bench import Asker
from tests.support.knowledge_product import KnowledgeProduct, indexed, search

pytestmark = pytest.mark.anyio

WORD = "harbour"  # in every text
KEPT = 0.3  # of the changes
MAX_ITEMS = 60  # fewer than a lane looks at
ITEM_MOVES = ("publish", "publish", "publish", "archive", "restore", "restore")


class History:
    """Random steps over some bases and items, and what a search may show after each."""

    def __init__(self, asker: Asker, bases: list[str], seed: int) -> None:
        self._asker = asker
        self._bases = dict.fromkeys(bases, True)  # by id: whether it is active
        self._items: dict[str, ItemRow] = {}
        self._chance = random.Random(seed)
        self._texts = 0

    async def step(self) -> None:
        """Do one thing; what the rules refuse changes nothing."""
        base = self._chance.choice(list(self._bases))
        what = self._chance.choice((*["add"] * 3, *["edit"] * 4, *["move"] * 6, "base"))
        try:
            if what == "base" or not self._bases[base]:  # what is archived does not stay so for long
                is_active = not self._bases[base]
                await self._asker.move_base(base, "restore" if is_active else "archive")
                self._bases[base] = is_active
            elif not self._items or (what == "add" and len(self._items) < MAX_ITEMS):
                item = await self._asker.item(base, f"Text {self._texts}", self._text(), publish=self._coin())
                self._items[item.id] = item
            else:
                await self._touch(self._chance.choice(list(self._items)), what)
        except KxError:
            return

    def restore(self, base: str) -> None:
        """Know that a base is active again."""
        self._bases[base] = True

    def shown(self) -> set[str]:
        """Give the references that a search may show now."""
        items = self._items.values()
        found = [one for one in items if one.status == "published" and self._bases[one.base]]
        return {f"knowledge:{one.id}@{one.current_revision_id}" for one in found}

    async def _touch(self, item: str, what: str) -> None:
        if what != "move":
            self._items[item] = await self._asker.edit(item, self._text())
        else:
            self._items[item] = await self._asker.move(item, self._chance.choice(ITEM_MOVES))

    def _text(self) -> str:
        self._texts += 1
        return f"# Text {self._texts}\n\nThe {WORD} of revision {self._texts}.\n"

    def _coin(self) -> bool:
        return self._chance.random() < 0.5


async def found_by(asker: Asker) -> set[str]:
    """Give the references of everything that is found."""
    return {hit.reference for hit in (await search(asker, WORD, mode="lexical", top=100)).results}


def forgetful(keep: Callable[..., Awaitable[bool]], chance: random.Random) -> Callable[..., Awaitable[bool]]:
    """Keep a tree now and then only: the index is behind the database."""

    async def maybe(trees: Trees, tree: str, **fields: Any) -> bool:
        return await keep(trees, tree, **fields) if chance.random() < KEPT else True

    return maybe


@pytest.mark.timeout(1_800)
async def test_no_history_makes_a_search_show_what_is_not_published(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, amount: Callable[[int], int], report: Report
) -> None:
    """Row A12: 0 drafts, 0 archived, 0 old revisions, though the index is often behind; all that is published in the end."""
    product, steps, problems = KnowledgeProduct(tmp_path), amount(1_000), []
    async with product.serving() as me:
        bases = [await me.base(name) for name in ("One", "Two")]
        history = History(me, [base.id for base in bases], seed=steps)
        with monkeypatch.context() as behind:
            behind.setattr(Trees, "keep", forgetful(Trees.keep, random.Random(steps)))
            for number in range(steps):
                await history.step()
                wrong = await found_by(me) - history.shown()
                problems += [f"step {number}: {sorted(wrong)}"] if wrong else []
        await me.move_base(bases[0].id, "restore")
        history.restore(bases[0].id)
    async with product.serving() as me:
        await indexed(me.bus, product.tree(bases[0].space).instance)
        found, shown = await found_by(me), history.shown()
        problems += [f"in the end: {sorted(found ^ shown)}"] if found != shown else []
    report("A12 searched", problems, steps=steps, shown=len(shown), wrong=len(problems))
