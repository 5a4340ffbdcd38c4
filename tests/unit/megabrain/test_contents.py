"""The map of contents: derived lists in a page that people write too."""

from __future__ import annotations

from services.megabrain.core.activity import Activity
from services.megabrain.core.contents import with_map
from services.megabrain.core.note import Note

TODAY = "2026-11-30"

PAGE_OF_ORIGINAL = """---
type: moc
topic: atividades
updated: 2026-07-10
---

# Atividades - Map of Content (KX activity manager)

> Fonte de verdade.

## Em Andamento

- [[a]] — Fazer A (squad core)
- [[sumiu]] — Outra pasta (squad core)
- [[a]] lembrar de falar com Ana

## Pendente / Não Iniciado

## Concluídas Recentemente

- [[b]] — Fazer B (squad infra, 2026-07-10)

## Por Squad

- [[team/squads/core]]: [[a]], [[x]]

## Minhas notas

texto meu
"""


def make_activity(slug: str, state: str = "em-andamento", **fields: object) -> Activity:
    given = {
        "id": 1, "title": f"Fazer {slug.upper()}", "squad": "core", "module": "", "started": "", "due": "",
        "updated": "2026-07-10", "sessions": (), "stopped": None,
    }  # fmt: skip
    return Activity(slug=slug, state=state, **{**given, **fields})  # type: ignore[arg-type]


def text_of(note: Note) -> str:
    return note.to_bytes().decode()


def test_new_page_lists_by_state_and_squad():
    """Mission 6: in progress, pending, recently done, by squad."""
    activities = [
        make_activity("a"),
        make_activity("b", "bloqueado", id=2, title="[[x]] <!-- B"),
        make_activity("c", "pendente", id=3, squad="infra"),
        make_activity("d", "concluida", id=4, due="2026-11-29"),
    ]
    text = text_of(with_map(None, activities, TODAY))
    assert "-->\n- [[a]] — #1 Fazer A (squad core)\n- [[b]] — #2 ((x)) <! -- B (squad core, bloqueado)\n<!--" in text
    assert "-->\n- [[c]] — #3 Fazer C (squad infra)\n<!--" in text
    assert "-->\n- [[d]] — #4 Fazer D (squad core, 2026-11-29)\n<!--" in text
    assert "-->\n- **core**: [[a]], [[b]], [[d]]\n- **infra**: [[c]]\n<!--" in text


def test_page_of_the_original_keeps_what_people_wrote():
    """Issue 8: lines of the original become ours, every other line stays where it is."""
    page = Note.parse(PAGE_OF_ORIGINAL.replace("\n", "\r\n").encode())
    text = text_of(with_map(page, [make_activity("a"), make_activity("b", "concluida", due="2026-07-10")], TODAY))
    assert text.count("[[a]] — ") == text.count("[[b]] — ") == 1
    kept = [line for line in PAGE_OF_ORIGINAL.split("\n") if " — Fazer" not in line and not line.startswith("updated")]
    rest = iter(text.split("\r\n"))
    assert all(line in rest for line in kept)
    assert "## Em Andamento\r\n\r\n<!-- kx:lista em-andamento -->\r\n- [[a]]" in text
    assert "\n" not in text.replace("\r\n", "")


def test_page_that_is_up_to_date_is_left_alone():
    """Nothing to say, nothing written."""
    page = with_map(None, [make_activity("a")], TODAY)
    assert with_map(page, [make_activity("a")], "2027-01-01") == page


def test_state_that_changed_moves_its_line():
    """A concluded activity stands in another list, once."""
    page = with_map(None, [make_activity("a")], TODAY)
    text = text_of(with_map(page, [make_activity("a", "concluida", due=TODAY)], TODAY))
    assert text.count("- [[a]]") == 1
    assert text.index("- [[a]]") > text.index("## Concluídas")


def test_text_around_the_lists_is_kept():
    """Before, between, after; also where a closing marker was deleted."""
    page = with_map(None, [make_activity("a")], TODAY)
    text = text_of(page).replace("## Pendente", "meu texto\n\n## Pendente").replace("## Por", "- [[a]] meu\n\n## Por")
    text = text.replace("(squad core)\n<!-- /kx:lista -->", "(squad core)\n\nlogo depois", 1) + "fim, sem quebra"
    changed = text_of(with_map(Note.parse(text.encode()), [make_activity("a", title="Novo")], TODAY))
    for mine in ("meu texto\n\n## Pendente", "- [[a]] meu\n", "\nlogo depois", "fim, sem quebra"):
        assert mine in changed
    assert "- [[a]] — #1 Novo (squad core)\n<!-- /kx:lista -->\n\nlogo depois" in changed


def test_list_that_somebody_took_out_stays_out():
    """A page is its owner's: with one marker gone only the others are kept up."""
    text = text_of(with_map(None, [], TODAY))
    head, _, rest = text.partition("## Por Squad")
    changed = text_of(with_map(Note.parse(head.encode()), [make_activity("a")], TODAY))
    assert rest
    assert "Por Squad" not in changed
    assert "- [[a]]" in changed
