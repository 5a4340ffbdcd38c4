"""Knowledge bases and memory on a terminal."""

from __future__ import annotations

from msgspec.structs import replace

from kx import counted
from kx.catalogue import Catalogue
from kx.knowledge.outcomes import Imported, counts, outcome_text, summary_text
from kx.knowledge.text import (
    audit_text,
    base_text,
    hit_text,
    item_text,
    items_text,
    memory_text,
    recalled_text,
    revision_text,
    search_text,
    space_text,
)
from shared.errors import ErrorCode, KxError
from shared.knowledge_messages import KnowledgeReply
from shared.knowledge_upkeep_messages import AuditRow
from shared.memory_messages import MemoryHit, RecalledContext
from shared.messages import LaneReport, Pending
from tests.support.knowledge_samples import BASE, HIT, ITEM, RECORD, REVISION, SPACE

EN, PT = Catalogue(), Catalogue("pt")
HOSTILE = "a\x1b[2Jb\u202ec\x07"
LANES = {"lexical": LaneReport(state="failed", coverage=0.0, took_ms=1.0, considered=0, reason="its index is damaged")}


def reply(**changes) -> KnowledgeReply:
    values = {"query": "q", "mode": "hybrid", "results": (HIT,), "total": 1, "lanes": LANES}
    return KnowledgeReply(**{**values, "pending": Pending(text=2, vectors=3), "took_ms": 1.0, **changes})


def test_item_names_its_state_its_citation_and_its_failure():
    """What is needed to find, cite and mend it is on its lines; the state is told in the language."""
    lines = item_text(ITEM, PT).split("\n")
    assert lines[0] == "Reinício [publicado] r2 · Runbooks · docs/reinicio.md"
    assert lines[1].strip() == "knowledge:i1@r2"
    assert lines[2].strip() == "sem conteúdo: está criptografado"
    assert item_text(replace(ITEM, reference=""), EN).split("\n")[1].strip() == "i1"


def test_one_thing_is_not_called_many():
    """Below a list, and where something is destroyed or written."""
    assert items_text((ITEM,), 1, EN).split("\n")[-1] == "1 item"
    assert items_text((ITEM,), 2, EN).split("\n")[-1] == "1 of 2 items"
    assert [counted.items(count, PT) for count in (0, 1, 2)] == ["0 itens", "1 item", "2 itens"]


def test_search_gives_citation_and_exact_lines_and_tells_what_it_could_not_know():
    """A passage without its citation could not be cited; a lane that failed and what is pending are said."""
    lines = search_text(reply(), EN).split("\n")
    assert lines[:3] == ["[0.5000] Reinício:1-1 [Equipe/Runbooks]", "knowledge:i1@r2", "olá"]
    assert lines[3] == "1 result"
    assert any("lexical" in line and "damaged" in line for line in lines)
    assert any(line.startswith("pending: 2 ") for line in lines)


def test_hit_of_a_document_names_its_page_in_the_language():
    """A long page is several passages, and the heading that numbers it stands in the first alone."""
    hit = replace(HIT, heading="Runbook > Page 3 > Restoring")
    assert hit_text(hit, PT).startswith("[0.5000] Reinício:1-1 (página 3) [Equipe/Runbooks]")
    assert hit_text(replace(HIT, heading="Sheet music"), EN).startswith("[0.5000] Reinício:1-1 [Equipe/Runbooks]")


def test_recall_tells_memory_apart_from_knowledge_and_counts_tokens():
    """A record is called by its id and source, a passage by its citation."""
    found = RecalledContext(
        query="q", memory=(MemoryHit(record=RECORD, score=0.25),), knowledge=(HIT,), tokens=9, truncated=False
    )
    text = recalled_text(found, EN)
    assert text.startswith("[0.2500] m1 working · ")
    assert "docs/fila.md" in text
    assert "knowledge:i1@r2" in text
    assert text.endswith("1 of memory, 1 of knowledge, 9 tokens")


def test_hostile_text_of_an_item_or_a_record_is_made_visible():
    """Titles, contents, sources and names were written by others: nothing in them acts on the terminal."""
    audit = AuditRow(number=1, at="2030", principal=HOSTILE, action="item.created", object="o", detail={"t": HOSTILE})
    shown = [
        item_text(replace(ITEM, title=HOSTILE, locator=HOSTILE, failure=HOSTILE), EN),
        base_text(replace(BASE, name=HOSTILE, description=HOSTILE), HOSTILE, EN),
        space_text(replace(SPACE, name=HOSTILE), EN),
        revision_text(replace(REVISION, source={"file": HOSTILE}, format=HOSTILE), EN),
        hit_text(replace(HIT, title=HOSTILE, content=HOSTILE, base=HOSTILE), EN),
        memory_text(replace(RECORD, text=HOSTILE, source=HOSTILE, tags=(HOSTILE,)), EN),
        search_text(reply(notes=(HOSTILE,)), EN),
        outcome_text(Imported(path=HOSTILE, outcome="failed", reason=HOSTILE), EN),
        audit_text(audit),
    ]
    assert [text for text in shown if any(char in text for char in "\x1b\x07\u202e")] == []
    assert all("\\x1b[2J" in text for text in shown)


def test_summary_counts_what_happened_and_a_refusal_says_why():
    """Nothing is silent: each file has a line, a refusal its code and its hint."""
    error = KxError(ErrorCode.CONTENT_TOO_LARGE, "the content is longer than {limit} bytes", hint="split it", limit=9)
    told = [
        Imported(path="a.md", outcome="created", item=ITEM),
        Imported(path="b.md", outcome="failed", error=error),
        Imported(path=".env", outcome="denied", reason="denied by the pattern .env* (built in)"),
    ]
    assert counts(told)["failed"] == 1
    assert summary_text(told, EN) == "1 created, 1 failed, 1 denied"
    assert "KX_CONTENT_TOO_LARGE: o conteúdo tem mais de 9 bytes" in outcome_text(told[1], PT)
    assert "negado pelo padrão .env* (built in)" in outcome_text(told[2], PT)


def test_denied_file_is_a_fault_only_when_it_was_named():
    """A folder may hold an .env; whoever names it wants it in, and does not get it."""
    denied = Imported(path=".env", outcome="denied")
    assert (denied.is_fault, replace(denied, is_named=True).is_fault) == (False, True)


def test_page_of_items_says_how_many_there_are():
    """Who sees a page knows that there is more; who sees none knows how to begin."""
    assert items_text([ITEM], 7, EN).endswith("1 of 7 items")
    assert "kx kb add" in items_text([], 0, EN)
