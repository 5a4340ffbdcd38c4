"""The sections of a note's body: found by their headings, added to at their ends (pure).

Only headings, fences and comments that begin a line count: what is indented belongs to a list item, and ends with it.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from msgspec import Struct

from services.megabrain.core.frontmatter import front_matter
from services.megabrain.core.note import Note
from services.megabrain.core.words import folded

LOG = ("log de progresso", "progresso", "progress log", "log")
BLOCKS = ("erros e bloqueios", "bloqueios", "erros", "errors and blocks")
SESSIONS = ("sessoes claude code", "sessoes claude", "sessoes", "sessions")
STATUS = ("status", "situacao")
LINKS = ("links relacionados", "links")
ARTIFACTS = ("artefatos publicados", "artefatos")

TITLES = {
    LOG: "Log de Progresso",
    BLOCKS: "Erros e Bloqueios",
    SESSIONS: "Sessões Claude Code",
    STATUS: "Status",
    LINKS: "Links Relacionados",
    ARTIFACTS: "Artefatos Publicados",
}

_HEADING = re.compile(r"(#{1,6})(?:[ \t]+(.*?))?(?:[ \t]+#+)?[ \t]*$")
_FENCE = re.compile(r"(`{3,}(?=[^`]*$)|~{3,})")
_UNDERLINE = re.compile(r"(=+|-+)[ \t]*$")
_NO_PARAGRAPH = re.compile(r"[ \t]*(?:[-*+>|<#]|\d+[.)]|$)")


class Section(Struct, frozen=True):
    """A heading and what lies under it, smaller headings included."""

    title: str
    level: int  # 1..6
    start: int  # line of the heading
    body: int  # first line after it
    end: int  # line after the last one


def sections(note: Note) -> tuple[Section, ...]:
    """Find every section, in order."""
    heads = _headings(note)
    found = []
    for at, head in enumerate(heads):
        end = next((other.start for other in heads[at + 1 :] if other.level <= head.level), len(note.lines))
        found.append(Section(head.title, head.level, head.start, head.body, end))
    return tuple(found)


def section_named(note: Note, names: Sequence[str]) -> Section | None:
    """Find the section with the first of these folded names that there is; the title of the note is none."""
    by_name: dict[str, Section] = {}
    for section in sorted(sections(note), key=lambda one: one.level):  # a heading inside a description is a smaller one
        if section.level > 1:
            by_name.setdefault(folded(section.title), section)
    return next((by_name[name] for name in names if name in by_name), None)


def with_section(note: Note, names: tuple[str, ...]) -> tuple[Note, Section]:
    """Give the section, made before the links or at the end of the note where there is none."""
    section = section_named(note, names)
    if section is None:
        links = section_named(note, LINKS) if names != LINKS else None
        at = links.start if links is not None else note.last_text(0, len(note.lines))
        note = note.with_block(at, [f"## {TITLES[names]}"])
        section = section_named(note, names)
        if section is None:  # what comes before never ends: a fence or a comment
            at = next(at for at in range(len(note.lines)) if note.bare(at) == f"## {TITLES[names]}")
            section = Section(TITLES[names], 2, at, at + 1, len(note.lines))
    return note, section


def subsections(note: Note, section: Section) -> tuple[Section, ...]:
    """Give the sections inside one."""
    return tuple(one for one in sections(note) if section.start < one.start < section.end)


def _headings(note: Note) -> list[Section]:
    block = front_matter(note)
    first = 0 if block is None else block.end + 1
    found: list[Section] = []
    fence, in_comment = "", False
    for at in range(first, len(note.lines)):
        line = note.bare(at)
        mark = _FENCE.match(line)
        if fence:
            if (
                mark
                and mark.group()[0] == fence[0]
                and len(mark.group()) >= len(fence)
                and not line[mark.end() :].strip()
            ):
                fence = ""
        elif in_comment or line.startswith("<!--"):
            in_comment = "-->" not in line
        elif mark:
            fence = mark.group()
        elif heading := _HEADING.match(line):
            found.append(Section(heading[2] or "", len(heading[1]), at, at + 1, 0))
        elif _UNDERLINE.match(line) and _is_title(note, at - 1, first):
            found.append(Section(note.bare(at - 1).strip(), 1 if line[0] == "=" else 2, at - 1, at + 1, 0))
    return found


def _is_title(note: Note, at: int, first: int) -> bool:
    """Tell a title that is underlined from prose above a rule: it stands alone on its line."""
    return at >= first and not _NO_PARAGRAPH.match(note.bare(at)) and (at == first or note.is_blank(at - 1))
