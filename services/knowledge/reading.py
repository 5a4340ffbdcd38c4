"""What the endpoints that read and prove do: addressed reads, revisions, visibility, the audit. One transaction each."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct

from services.knowledge.access import FoundItem, find_item, find_space, require_scope, seen_item, standings, unknown
from services.knowledge.adapters.item_rows import ALL_NUMBERS
from services.knowledge.adapters.store import Tables
from services.knowledge.core.lifecycle import is_found
from services.knowledge.core.records import Revision
from services.knowledge.core.roles import Right, reads
from services.knowledge.items import row
from services.knowledge.pages import check_page, fitting
from shared.errors import ErrorCode, KxError
from shared.knowledge_messages import (
    PAGE_BYTES,
    PERSONAL,
    Caller,
    ReadItem,
    RevisionRow,
    Revisions,
    RevisionsRequest,
    RevisionText,
)
from shared.knowledge_upkeep_messages import Audit, AuditRequest

REVISIONS_AT_ONCE = 200


class Visible(Struct, frozen=True, kw_only=True):
    """A published current revision that the caller may be shown, as it is at this moment."""

    item_id: str
    revision_id: str
    title: str
    format: str
    content: str
    base_id: str
    base: str  # name
    space_id: str
    space: str  # name


def read(tables: Tables, asked: ReadItem) -> RevisionText:
    """Read a part of a revision: the pinned one, else the current one.

    Raises:
        KxError: KNOWLEDGE_UNKNOWN, the same for what is not there and what the caller may not read; KNOWLEDGE_DAMAGED.
    """
    require_scope(asked.caller, Right.READ)
    named = asked.item if asked.revision is None else f"{asked.item}@{asked.revision}"
    found = seen_item(tables, asked.caller, asked.item)
    wanted = asked.revision or (found.item.current if found is not None else None)
    revision = tables.items.revision(wanted) if wanted is not None else None
    if found is None or revision is None or revision.item != found.item.id:
        raise unknown(named)
    if not reads(found.standing, found.base, found.item, revision):
        raise unknown(named)
    content = tables.items.content(revision.id) or b""
    if not 0 <= asked.offset <= len(content):
        raise KxError(
            ErrorCode.BAD_REQUEST,
            "offset {offset} is beyond the {size} bytes of the content",
            hint="begin at 0 and go on at next_offset",
            offset=asked.offset,
            size=len(content),
        )
    end = min(len(content), asked.offset + PAGE_BYTES)
    return RevisionText(
        item=row(tables, found.item, found.base),
        revision=_revision_row(revision, found),
        content=content[asked.offset : end],
        offset=asked.offset,
        next_offset=end if end < len(content) else None,
    )


def revisions(tables: Tables, asked: RevisionsRequest) -> Revisions:
    """List the revisions of an item, the newest first; those never published for editors alone.

    Raises:
        KxError: KNOWLEDGE_UNKNOWN, KNOWLEDGE_FORBIDDEN.
    """
    found = find_item(tables, asked.caller, asked.item, Right.READ)
    before = ALL_NUMBERS if asked.before is None else max(0, min(asked.before, ALL_NUMBERS))
    some = tables.items.revisions(found.item.id, before=before, limit=REVISIONS_AT_ONCE + 1)
    told = [one for one in some if found.standing.is_editor or one.published_at is not None]
    rows = fitting(_revision_row(one, found) for one in told[:REVISIONS_AT_ONCE])
    return Revisions(revisions=rows, complete=len(rows) == len(told) and len(some) <= REVISIONS_AT_ONCE)


def visible(tables: Tables, caller: Caller, pairs: Sequence[tuple[str, str]]) -> dict[tuple[str, str], Visible]:
    """Give of (item, revision) those that a query search may show the caller at this moment, with their exact texts.

    Raises:
        KxError: KNOWLEDGE_FORBIDDEN without the scope; KNOWLEDGE_DAMAGED.
    """
    require_scope(caller, Right.READ)
    shown: dict[tuple[str, str], Visible] = {}
    for item_id, revision_id in dict.fromkeys(pairs):
        found = seen_item(tables, caller, item_id)
        if found is None or not is_found(found.base, found.item) or found.item.current != revision_id:
            continue
        revision = tables.items.revision(revision_id)
        content = tables.items.content(revision_id)
        if revision is not None and content is not None:
            shown[item_id, revision_id] = Visible(
                item_id=item_id,
                revision_id=revision_id,
                title=found.item.title,
                format=revision.format,
                content=content.decode(),
                base_id=found.base.id,
                base=found.base.name,
                space_id=found.base.space,
                space=found.standing.space.name,
            )
    return shown


def audit(tables: Tables, asked: AuditRequest) -> Audit:
    """Give a page of what was done in a space, oldest first.

    Raises:
        KxError: BAD_REQUEST, KNOWLEDGE_UNKNOWN, KNOWLEDGE_FORBIDDEN.
    """
    check_page(asked.after, asked.limit)
    mine = standings(tables, asked.caller)
    if asked.space == PERSONAL and not any(one.space.kind == "personal" for one in mine):
        return Audit(rows=(), complete=True)
    space = find_space(tables, asked.caller, asked.space, Right.SPACE_ADMIN).space
    some = tables.journal.page(space.id, after=asked.after, limit=asked.limit + 1)
    rows = fitting(some[: asked.limit])
    return Audit(rows=rows, complete=len(rows) == len(some))


def _revision_row(revision: Revision, found: FoundItem) -> RevisionRow:
    return RevisionRow(
        id=revision.id,
        item=revision.item,
        number=revision.number,
        format=revision.format,
        content_hash=revision.content_hash,
        content_bytes=revision.content_bytes,
        source=revision.source,
        provenance=revision.provenance,
        created=revision.created,
        published_at=revision.published_at,
        is_current=revision.id == found.item.current,
    )
