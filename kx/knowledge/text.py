"""Answers of knowledge bases and memory as a person reads them (pure). Foreign text is made visible."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from kx.catalogue import Catalogue
from kx.paint import PLAIN, Paint
from kx.render import lane_text
from kx.terminal import visible
from shared.document_address import numbered_part
from shared.knowledge_messages import BaseRow, ItemRow, KnowledgeHit, KnowledgeReply, RevisionRow, SpaceRow
from shared.knowledge_upkeep_messages import AuditRow, KnowledgeLimits, LinkRow
from shared.memory_messages import MemoryHit, MemoryRecord, RecalledContext

SEPARATOR = "---"
PASSAGE_LINES = 40  # of a passage on the terminal; JSON holds it whole
INDENT = "    "
KINDS = {"knowledge": "durable", "working": "working"}  # of records, as a person reads them beside knowledge bases


def space_text(one: SpaceRow, catalogue: Catalogue, paint: Paint = PLAIN) -> str:
    """Give a space on one line, its members below it."""
    t = catalogue.text
    count = t("{count} bases" if one.bases != 1 else "1 base", count=one.bases)
    head = f"{paint.place(visible(one.name))} [{t(one.kind)}] {t(one.role)} · {count}  {paint.aside(visible(one.id))}"
    return "\n".join([head, *(f"{INDENT}{visible(who.principal)} {t(who.role)}" for who in one.members)])


def base_text(one: BaseRow, space: str, catalogue: Catalogue, paint: Paint = PLAIN) -> str:
    """Give a base on one line, a second for what it is about; `space` is the name of its space."""
    t = catalogue.text
    counts = t(
        "items {items}, published {published}, drafts {drafts}",
        items=one.items,
        published=one.published,
        drafts=one.drafts,
    )
    where = f" · {visible(space)}" if space else ""
    lines = [f"{paint.place(visible(one.name))} [{t(one.status)}] {counts}{where}  {paint.aside(visible(one.id))}"]
    return "\n".join(lines + ([INDENT + visible(one.description)] if one.description else []))


def item_text(one: ItemRow, catalogue: Catalogue, paint: Paint = PLAIN) -> str:
    """Give an item on one line, what it is called by on a second, why it has no content on a third."""
    t = catalogue.text
    beside = visible(" · ".join(filter(None, [f"r{one.number}", one.base_name, one.locator])))
    lines = [f"{paint.place(visible(one.title))} [{t(one.status)}] {beside}"]
    lines.append(INDENT + paint.aside(visible(one.reference or one.id)))
    if one.failure:
        lines.append(INDENT + visible(t("no content: {reason}", reason=catalogue.sentence(one.failure))))
    return "\n".join(lines)


def items_text(rows: Sequence[ItemRow], total: int, catalogue: Catalogue, paint: Paint = PLAIN) -> str:
    """Give a page of items, and how many there are."""
    if not total:
        return catalogue.text("no item; write one with: kx kb add BASE --title TITLE FILE")
    count = catalogue.text("{shown} of {total} items" if total != 1 else "1 item", shown=len(rows), total=total)
    return "\n".join([*(item_text(one, catalogue, paint) for one in rows), paint.aside(count)])


def revision_text(one: RevisionRow, catalogue: Catalogue, paint: Paint = PLAIN) -> str:
    """Give a revision: what it is called by, and below it where it comes from."""
    t = catalogue.text
    state = t("never published") if one.published_at is None else t("published {when}", when=one.published_at)
    mark = f" [{t('current')}]" if one.is_current else ""
    head = f"{paint.place(f'r{one.number}')}{mark} {visible(one.id)} · {visible(one.created)} · {visible(state)}"
    size = t("{count} bytes", count=one.content_bytes)
    lines = [head, INDENT + paint.aside(visible(f"{one.format}, {size}, sha256 {one.content_hash}"))]
    told = (", ".join(f"{name}: {text}" for name, text in of.items()) for of in (one.source, one.provenance))
    return "\n".join(lines + [INDENT + paint.aside(visible(text)) for text in told if text])


def search_text(reply: KnowledgeReply, catalogue: Catalogue, paint: Paint = PLAIN) -> str:
    """Give the passages, best first, each with its citation; then what the answer could not know."""
    t = catalogue.text
    count = len(reply.results)
    told = t("{count} results" if count != 1 else "1 result", count=count) if count else t("No results.")
    blocks = _separated([hit_text(hit, catalogue, paint) for hit in reply.results], paint)
    notes = [visible(catalogue.sentence(note)) for note in reply.notes]
    for name, lane in reply.lanes.items():
        if lane.state in {"off", "failed"}:
            notes.append(visible(lane_text(name, lane, catalogue)))
    if reply.pending.text or reply.pending.vectors:
        notes.append(
            t(
                "pending: {text} changed files not indexed yet, {vectors} passages without a vector",
                text=reply.pending.text,
                vectors=reply.pending.vectors,
            )
        )
    return "\n".join([*blocks, told, *(paint.aside(note) for note in notes)])


def hit_text(hit: KnowledgeHit, catalogue: Catalogue, paint: Paint = PLAIN) -> str:
    """Give a passage with its score, place and citation."""
    score = paint.score(f"[{hit.score:.4f}]")
    part = catalogue.sentence(numbered_part(hit.heading))
    place = paint.place(visible(f"{hit.title}:{hit.start_line}-{hit.end_line}" + (f" ({part})" if part else "")))
    lines = [f"{score} {place} {paint.aside(visible(f'[{hit.space}/{hit.base}]'))}"]
    return "\n".join([*lines, paint.aside(visible(hit.reference)), *_passage(hit.content, catalogue, paint)])


def audit_text(one: AuditRow) -> str:
    """Give one thing that was done on one line."""
    detail = "".join(f" {name}={text}" for name, text in one.detail.items())
    return visible(f"{one.number} {one.at} {one.principal} {one.action} {one.object}{detail}")


def link_text(one: LinkRow, catalogue: Catalogue) -> str:
    """Give a link on one line."""
    return f"{visible(one.name)} [{catalogue.text(one.kind)}] {visible(one.target)}"


def limits_text(one: KnowledgeLimits, catalogue: Catalogue) -> str:
    """Say how large what may be, and which files are taken."""
    t = catalogue.text
    documents = " ".join(one.document_suffixes)
    if not one.documents_available:
        documents = t("{kinds} (not installed: pip install 'kx[documents]')", kinds=documents)
    rows = [
        (t("largest text"), t("{count} bytes", count=one.max_text_bytes)),
        (t("largest document"), t("{count} bytes", count=one.max_document_bytes)),
        (t("longest title"), t("{count} characters", count=one.max_title_chars)),
        (t("texts"), " ".join(one.text_suffixes)),
        (t("documents"), documents),
    ]
    width = max(len(name) for name, _ in rows)
    return "\n".join(f"{name:<{width}}  {visible(value)}" for name, value in rows)


def memory_text(one: MemoryRecord, catalogue: Catalogue, paint: Paint = PLAIN) -> str:
    """Give a record: what it is called by and where it comes from, then its text."""
    t = catalogue.text
    told = [t(KINDS[one.kind]), one.created, " ".join(filter(None, [one.principal, one.client])), one.source]
    told += [" ".join(f"#{tag}" for tag in one.tags), t("expires {when}", when=one.expires) if one.expires else ""]
    head = f"{paint.place(visible(one.id))} {paint.aside(visible(' · '.join(filter(None, told))))}"
    return "\n".join([head, *(INDENT + line for line in visible(one.text).split("\n"))])


def recalled_text(found: RecalledContext, catalogue: Catalogue, paint: Paint = PLAIN) -> str:
    """Give what bears on the question: memory first, then knowledge with its citations."""
    t = catalogue.text
    blocks = [_scored(hit, catalogue, paint) for hit in found.memory]
    blocks += [hit_text(hit, catalogue, paint) for hit in found.knowledge]
    told = t("{memory} of memory, {knowledge} of knowledge, {tokens} tokens", **_counts(found))
    if not blocks:
        told = t("Nothing is remembered that bears on it.")
    notes = [paint.aside(visible(catalogue.sentence(note))) for note in found.notes]
    return "\n".join([*_separated(blocks, paint), told, *notes])


def _passage(text: str, catalogue: Catalogue, paint: Paint) -> list[str]:
    lines = visible(text).split("\n")
    more = len(lines) - PASSAGE_LINES
    if more <= 0:
        return lines
    cut = catalogue.text("… {count} more lines" if more != 1 else "… 1 more line", count=more)
    return [*lines[:PASSAGE_LINES], paint.aside(cut)]


def _counts(found: RecalledContext) -> dict[str, int]:
    return {"memory": len(found.memory), "knowledge": len(found.knowledge), "tokens": found.tokens}


def _scored(hit: MemoryHit, catalogue: Catalogue, paint: Paint) -> str:
    return f"{paint.score(f'[{hit.score:.4f}]')} {memory_text(hit.record, catalogue, paint)}"


def _separated(blocks: Iterable[str], paint: Paint) -> list[str]:
    lines: list[str] = []
    for block in blocks:
        lines += [paint.aside(SEPARATOR), block] if lines else [block]
    return lines
