"""Row A12, first half: every role, scope, state and revision against a matrix that is written down here once more."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from services.knowledge import bases, items, reading, spaces
from services.knowledge.adapters.store import Store, Tables
from services.knowledge.changes import Moment
from shared import knowledge_messages as kb
from shared import knowledge_upkeep_messages as kbu
from shared.access import Scope
from shared.errors import ErrorCode, KxError
from shared.knowledge_messages import Caller
from tests.soak.conftest import Report

AT = "2026-11-30T10:00:00.000Z"
ACTORS = ("owner", "admin", "member", "viewer", "agent", "stranger")
READ_ONLY: tuple[Scope, ...] = ("knowledge:read",)
CALLERS = {
    **{name: Caller(principal=name) for name in ("owner", "admin", "member", "viewer", "stranger")},
    "agent": Caller(principal="owner", scopes=READ_ONLY),  # a token for reading alone lends no role its rights
}

# What each actor gets, in the order of ACTORS: y done, f forbidden, u unknown, b refused as impossible, . not found by
# a search. Mission 7.4, with 7.2 for what is hidden.
MATRIX = """
space member               team      y y f f f u
space audit                team      y y f f f u
base create                active    y y f f f u
base update                active    y y f f f u
base archive               active    y y f f f u
base restore               active    y y f f f u
base delete                active    y y f f f u
base update                archived  y y f u u u
base archive               archived  y y f u u u
base restore               archived  y y f u u u
base delete                archived  y y f u u u
item create                active    y y y f f u
item edit                  draft     y y y u u u
item publish               draft     y y y u u u
item archive               draft     y y y u u u
item restore               draft     y y y u u u
item delete                draft     y y f u u u
item edit                  published y y y f f u
item publish               published y y y f f u
item archive               published y y y f f u
item restore               published y y y f f u
item delete                published y y f f f u
item edit                  archived  y y y u u u
item publish               archived  b b b u u u
item archive               archived  y y y u u u
item restore               archived  y y y u u u
item delete                archived  y y f u u u
read current               draft     y y y u u u
read current               published y y y y y u
read current               archived  u u u u u u
read current               base      u u u u u u
read pinned-current        draft     y y y u u u
read pinned-current        published y y y y y u
read pinned-current        archived  u u u u u u
read pinned-current        base      u u u u u u
read pinned-old            draft     y y y u u u
read pinned-old            published y y y y y u
read pinned-old            archived  u u u u u u
read pinned-old            base      u u u u u u
read pinned-unpublished    published y y y u u u
read pinned-unpublished    archived  u u u u u u
read pinned-unpublished    base      u u u u u u
search current             draft     . . . . . .
search current             published y y y y y .
search current             archived  . . . . . .
search current             base      . . . . . .
search old                 draft     . . . . . .
search old                 published . . . . . .
search old                 archived  . . . . . .
search old                 base      . . . . . .
"""


class Cell(NamedTuple):
    """One actor's try."""

    operation: str
    variant: str
    state: str
    actor: str
    expected: str


def cells() -> Iterator[Cell]:
    for line in MATRIX.strip().splitlines():
        operation, variant, state, *marks = line.split()
        for actor, mark in zip(ACTORS, marks, strict=True):
            yield Cell(operation, variant, state, actor, mark)


class Undone(Exception):  # noqa: N818 - it ends a transaction, nothing is wrong
    """What a try came to."""

    def __init__(self, result: str) -> None:
        super().__init__(result)
        self.result = result


class World:
    """A team space with an item in each state, each with revisions: never published, old, current."""

    def __init__(self, path: Path) -> None:
        self.store = Store(path)
        owner = CALLERS["owner"]
        self.space = self.run(spaces.create, kb.CreateSpace(caller=owner, name="Team")).space.id
        for name in ("admin", "member", "viewer"):
            self.run(spaces.set_member, kb.SetMember(caller=owner, space=self.space, principal=name, role=name))
        self.bases = {state: self._base(state) for state in ("active", "archived", "base")}
        self.items = {state: self._item("active", state) for state in ("draft", "published", "archived")}
        self.items["base"] = self._item("base", "published")
        for state in ("archived", "base"):
            self.run(bases.move, kb.MoveBase(caller=owner, base=self.bases[state], move="archive"))

    def run(self, operation: Callable[[Tables, Any, Moment], Any], message: Any) -> Any:
        """Do it for good."""
        return self.store.write(lambda tables: operation(tables, message, Moment(message.caller, AT))).reply

    def _base(self, state: str) -> str:
        asked = kb.CreateBase(caller=CALLERS["owner"], name=state, space=self.space)
        return self.run(bases.create, asked).base.id

    def _item(self, base: str, state: str) -> dict[str, str]:
        caller = CALLERS["member"]
        asked = kb.CreateItem(caller=caller, base=self.bases[base], title=state)
        create = lambda tables, message, moment: items.create(tables, message, b"first", moment)  # noqa: E731
        first = self.run(create, asked).item
        found = {"item": first.id, "unpublished": first.current_revision_id}
        found["old"] = self._edit(first.id, b"second")
        if state != "draft":
            self.run(items.move, kb.MoveItem(caller=caller, item=first.id, move="publish"))
        found["current"] = self._edit(first.id, b"third")
        if state == "archived":
            self.run(items.move, kb.MoveItem(caller=caller, item=first.id, move="archive"))
        return found

    def _edit(self, item: str, content: bytes) -> str:
        asked = kb.EditItem(caller=CALLERS["member"], item=item)
        edit = lambda tables, message, moment: items.edit(tables, message, content, moment)  # noqa: E731
        return self.run(edit, asked).item.current_revision_id

    def outcome(self, cell: Cell) -> str:
        """Do it in a transaction that is taken back."""

        def work(tables: Tables) -> None:
            raise Undone(self._done(tables, cell, CALLERS[cell.actor]))

        try:
            self.store.write(work)
        except Undone as undone:
            return undone.result
        raise AssertionError

    def _done(self, tables: Tables, cell: Cell, caller: Caller) -> str:
        try:
            if cell.operation == "search":
                return self._searched(tables, cell, caller)
            {"space": self._on_space, "base": self._on_base, "item": self._on_item, "read": self._read}[cell.operation](
                tables, cell, caller
            )
        except KxError as error:
            return {
                ErrorCode.KNOWLEDGE_FORBIDDEN: "f",
                ErrorCode.KNOWLEDGE_UNKNOWN: "u",
                ErrorCode.BAD_REQUEST: "b",
            }.get(error.code, str(error))
        return "y"

    def _on_space(self, tables: Tables, cell: Cell, caller: Caller) -> None:
        if cell.variant == "audit":
            assert reading.audit(tables, kbu.AuditRequest(caller=caller, space=self.space)).rows
            return
        asked = kb.SetMember(caller=caller, space=self.space, principal="another", role="viewer")
        spaces.set_member(tables, asked, Moment(caller, AT))

    def _on_base(self, tables: Tables, cell: Cell, caller: Caller) -> None:
        base, moment = self.bases[cell.state], Moment(caller, AT)
        if cell.variant == "create":
            bases.create(tables, kb.CreateBase(caller=caller, name="another", space=self.space), moment)
        elif cell.variant == "update":
            bases.update(tables, kb.UpdateBase(caller=caller, base=base, description="other"), moment)
        elif cell.variant == "delete":
            bases.delete(tables, kb.DeleteBase(caller=caller, base=base, confirm=cell.state), moment)
        else:
            move: kb.BaseMove = "archive" if cell.variant == "archive" else "restore"
            bases.move(tables, kb.MoveBase(caller=caller, base=base, move=move), moment)

    def _on_item(self, tables: Tables, cell: Cell, caller: Caller) -> None:
        moment = Moment(caller, AT)
        if cell.variant == "create":
            asked = kb.CreateItem(caller=caller, base=self.bases["active"], title="another")
            items.create(tables, asked, b"text", moment)
            return
        item = self.items[cell.state]["item"]
        if cell.variant == "edit":
            items.edit(tables, kb.EditItem(caller=caller, item=item), b"fourth", moment)
        elif cell.variant == "delete":
            items.delete(tables, kb.DeleteItem(caller=caller, item=item, confirm=item), moment)
        else:
            items.move(tables, kb.MoveItem(caller=caller, item=item, move=cell.variant), moment)  # type: ignore[arg-type]

    def _read(self, tables: Tables, cell: Cell, caller: Caller) -> None:
        found = self.items[cell.state]
        revision = found[cell.variant.removeprefix("pinned-")] if cell.variant != "current" else None
        part = reading.read(tables, kb.ReadItem(caller=caller, item=found["item"], revision=revision))
        assert part.content == {"unpublished": b"first", "old": b"second"}.get(cell.variant[7:], b"third")

    def _searched(self, tables: Tables, cell: Cell, caller: Caller) -> str:
        found = self.items[cell.state]
        pairs = [(found["item"], found[cell.variant])]
        return "y" if reading.visible(tables, caller, pairs) else "."


@pytest.fixture
def world(tmp_path: Path) -> Iterator[World]:
    made = World(tmp_path / "knowledge.sqlite")
    yield made
    made.store.close()


def test_every_cell_is_as_in_the_matrix(world: World, report: Report):
    """Row A12: role × operation × state × revision, and a token that may read alone; 0 deviations."""
    found = [(cell, world.outcome(cell)) for cell in cells()]
    problems = [f"{' '.join(cell)} got {got}" for cell, got in found if got != cell.expected]
    report("A12 matrix", problems, cells=len(found), deviations=len(problems))


def test_scopes_never_lend_what_the_role_has_not(world: World):
    """A token with the scope admin and the role viewer writes nothing; one without any scope of knowledge reads nothing."""
    item = world.items["published"]["item"]
    message = kb.MoveItem(caller=Caller(principal="viewer", scopes=("admin",)), item=item, move="archive")
    with pytest.raises(KxError) as caught:
        world.run(items.move, message)
    assert caught.value.code is ErrorCode.KNOWLEDGE_FORBIDDEN
    nobody = Caller(principal="owner", scopes=("search", "megabrain:write"))
    with pytest.raises(KxError) as caught:
        world.store.read(lambda tables: reading.read(tables, kb.ReadItem(caller=nobody, item=item)))
    assert caught.value.code is ErrorCode.KNOWLEDGE_FORBIDDEN
