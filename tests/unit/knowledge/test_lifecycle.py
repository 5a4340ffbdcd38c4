"""States and moves of items and bases, against the mission's words."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from services.knowledge.core.lifecycle import base_moved, is_citable, is_found, is_hidden, moved
from services.knowledge.core.records import Base, Item, Revision
from shared.errors import ErrorCode, KxError
from shared.knowledge_messages import ItemMove, ItemStatus

BASE = Base(id="b", space="s", name="B", description="", status="active", created="", updated="")
ITEM = Item(
    id="i",
    base="b",
    title="T",
    locator="",
    status="draft",
    was="draft",
    origin="user_created",
    current="r",
    number=1,
    author="local",
    failure="",
    file_hash="",
    created="",
    updated="",
)
REVISION = Revision(
    id="r",
    item="i",
    number=1,
    format="markdown",
    content_hash="",
    content_bytes=0,
    source={},
    provenance={},
    created="",
    published_at="then",
)


@pytest.mark.parametrize(
    ("status", "was", "move", "expected"),
    [
        ("draft", "draft", "publish", "published"),
        ("published", "draft", "publish", "published"),
        ("draft", "draft", "archive", "archived"),
        ("published", "draft", "archive", "archived"),
        ("archived", "draft", "archive", "archived"),
        ("archived", "draft", "restore", "draft"),
        ("archived", "published", "restore", "published"),
        ("draft", "draft", "restore", "draft"),
        ("published", "draft", "restore", "published"),
    ],
)
def test_item_moves_as_the_mission_says(status: ItemStatus, was: ItemStatus, move: ItemMove, expected: ItemStatus):
    """Mission 7.2: draft, published, archived, and back to what it was; a move made already changes nothing."""
    item = replace(ITEM, status=status, was=was)
    after = moved(item, move)
    assert after.status == expected
    assert (after is item) == (status == expected)
    assert moved(after, move) is after


def test_what_was_archived_twice_is_restored_to_what_it_was():
    """Archiving what is archived does not forget what it was."""
    published = replace(ITEM, status="published")
    assert moved(moved(moved(published, "archive"), "archive"), "restore").status == "published"


@pytest.mark.parametrize("item", [replace(ITEM, status="archived"), replace(ITEM, current=None)])
def test_what_is_archived_or_empty_is_not_published(item: Item):
    """There is no way from archived to published but by restoring; nothing without content is published."""
    with pytest.raises(KxError) as caught:
        moved(item, "publish")
    assert caught.value.code is ErrorCode.BAD_REQUEST


def test_base_is_archived_and_restored():
    """A base moves between two states, and a move made already changes nothing."""
    archived = base_moved(BASE, "archive")
    assert archived.status == "archived"
    assert base_moved(archived, "archive") is archived
    assert base_moved(archived, "restore").status == "active"


@pytest.mark.parametrize("base", ["active", "archived"])
@pytest.mark.parametrize("item", ["draft", "published", "archived"])
@pytest.mark.parametrize("published_at", [None, "then"])
def test_only_what_is_published_in_an_active_base_is_found_and_cited(base: str, item: str, published_at: str | None):
    """Mission 7.2: the one combination that a reader sees; whatever is archived is hidden from everybody."""
    a_base = replace(BASE, status=base)  # type: ignore[arg-type]
    an_item = replace(ITEM, status=item)  # type: ignore[arg-type]
    is_out = (base, item) == ("active", "published")
    assert is_found(a_base, an_item) == is_out
    assert is_citable(a_base, an_item, replace(REVISION, published_at=published_at)) == (
        is_out and published_at is not None
    )
    assert is_hidden(a_base, an_item) == ("archived" in {base, item})
