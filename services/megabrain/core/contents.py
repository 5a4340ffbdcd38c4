"""The map of contents: lists derived from the activities, kept between markers in a page that people write too (pure).

A list whose markers were taken out of a page with others stays out. Lines that the original wrote without markers are
recognised by their form and taken over; every other line is somebody's text.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from services.megabrain.core.activity import BLOCKED, DONE, PENDING, Activity
from services.megabrain.core.frontmatter import front_matter, with_value
from services.megabrain.core.note import Note
from services.megabrain.core.sections import section_named
from services.megabrain.core.words import folded

RECENT = 20  # concluded activities that are listed
LISTS = {
    "em-andamento": "Em Andamento",
    "pendente": "Pendente / Não Iniciado",
    "concluida": "Concluídas Recentemente",
    "squad": "Por Squad",
}
_NAMES = {
    "em-andamento": ("em andamento",),
    "pendente": ("pendente nao iniciado", "pendente", "pendentes"),
    "concluida": ("concluidas recentemente", "concluidas"),
    "squad": ("por squad",),
}
_END = "<!-- /kx:lista -->"
_OF_ORIGINAL = re.compile(r"- \[\[([^\]|#]+)\]\] — .* \(squad [^()]*\)\s*$")


def with_map(page: Note | None, activities: Sequence[Activity], today: str) -> Note:
    """Bring the lists of the page up to date; a page that says it already is given back as it is.

    Raises:
        KxError: VAULT_DAMAGED when the front matter of the page is.
    """
    note = page if page is not None else _new_page(today)
    changed = _without_lines_of_original(note, {one.slug for one in activities})
    is_new = not any(_begin(name) in map(str.strip, changed.lines) for name in LISTS)
    for name, lines in _lists(activities).items():
        changed = _with_list(changed, name, lines, may_add=is_new)
    if changed == page:
        return changed
    block = front_matter(changed)
    return with_value(changed, "updated", today) if block is not None and block.entry("updated") else changed


def _lists(activities: Sequence[Activity]) -> dict[str, list[str]]:
    ordered = sorted(activities, key=lambda one: (one.id, one.slug))
    done = [one for one in ordered if one.state == DONE]
    done.sort(key=lambda one: one.due or one.updated, reverse=True)
    squads: dict[str, list[Activity]] = {}
    for one in ordered:
        squads.setdefault(one.squad, []).append(one)
    return {
        "em-andamento": [_line(one) for one in ordered if one.state not in {PENDING, DONE}],
        "pendente": [_line(one) for one in ordered if one.state == PENDING],
        "concluida": [_line(one) for one in done[:RECENT]],
        "squad": [f"- **{_plain(name)}**: {_links(squads[name])}" for name in sorted(squads, key=folded)],
    }


def _line(one: Activity) -> str:
    beside = f"squad {_plain(one.squad)}"
    if one.state == BLOCKED:
        beside += ", bloqueado"
    if one.state == DONE and (one.due or one.updated):
        beside += f", {(one.due or one.updated)[:10]}"
    return f"- [[{one.slug}]] — {f'#{one.id} ' if one.id else ''}{_plain(one.title)} ({beside})"


def _links(activities: Iterable[Activity]) -> str:
    return ", ".join(f"[[{one.slug}]]" for one in activities)


def _plain(text: str) -> str:
    """Take the meaning out of characters that would make a link or hide the rest of the line."""
    line = " ".join(text.split()).encode("utf-8", "replace").decode()
    return line.replace("[", "(").replace("]", ")").replace("<!--", "<! --")


def _begin(name: str) -> str:
    return f"<!-- kx:lista {name} -->"


def _with_list(note: Note, name: str, lines: Sequence[str], *, may_add: bool) -> Note:
    begin = next((at for at in range(len(note.lines)) if note.bare(at).strip() == _begin(name)), None)
    if begin is not None:
        end = _end_of(note, begin)
        kept = [note.bare(at) for at in range(begin + 1, end)]
        is_closed = end < len(note.lines) and note.bare(end).strip() == _END
        return (
            note
            if kept == lines and is_closed
            else note.with_lines(begin + 1, end, [*lines, *([] if is_closed else [_END])])
        )
    if not may_add:
        return note
    section = section_named(note, _NAMES[name])
    block = [_begin(name), *lines, _END]
    if section is None:
        at = note.last_text(0, len(note.lines))
        return note.with_block(at, [f"## {LISTS[name]}", "", *block])
    at = section.body + 1 if section.body < section.end and note.is_blank(section.body) else section.body
    return note.with_block(at, block)


def _end_of(note: Note, begin: int) -> int:
    """Find the closing marker; where somebody took it away, the list ends with its lines."""
    for at in range(begin + 1, len(note.lines)):
        line = note.bare(at).strip()
        if line == _END:
            return at
        if line.startswith(("#", "<!-- kx:lista")):
            break
    at = begin + 1
    while at < len(note.lines) and note.bare(at).startswith("- "):
        at += 1
    return at


def _without_lines_of_original(note: Note, slugs: set[str]) -> Note:
    """Drop what the original listed: the same activities stand in our lists."""
    inside, dropped = False, list[int]()
    for at in range(len(note.lines)):
        line = note.bare(at)
        inside = (
            (inside or line.strip().startswith("<!-- kx:lista")) and line.strip() != _END and not line.startswith("#")
        )
        found = _OF_ORIGINAL.match(line)
        if not inside and found and found[1] in slugs:
            dropped.append(at)
    for at in reversed(dropped):
        note = note.with_lines(at, at + 1, [])
    return note


def _new_page(today: str) -> Note:
    front = f"---\ntype: moc\ntopic: atividades\nupdated: {today}\n---\n"
    words = (
        "As listas entre os comentários `kx:lista` são escritas pelo kx a partir das notas em `megabrain/`; "
        "o resto da página é seu."
    )
    titles = "".join(f"\n## {title}\n" for title in LISTS.values())
    return Note.parse(f"{front}\n# Atividades - Map of Content\n\n> {words}\n{titles}".encode())
