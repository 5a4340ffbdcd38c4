"""Activities: what a note says of one, the moves between its states, and how a move is written down (pure)."""

from __future__ import annotations

import re
from collections.abc import Sequence

from msgspec import Struct

from services.megabrain.core import sections
from services.megabrain.core.frontmatter import FrontMatter, front_matter, quoted, with_item, with_value
from services.megabrain.core.log import LogEntry, item, last_entry, with_obstacle, with_progress
from services.megabrain.core.note import Note
from services.megabrain.core.words import folded
from shared.errors import ErrorCode, KxError
from shared.megabrain_messages import UpdateKind

TYPE = "atividade"
IN_PROGRESS, PENDING, BLOCKED, DONE = "em-andamento", "pendente", "bloqueado", "concluida"
STATES = (IN_PROGRESS, PENDING, BLOCKED, DONE)
NO_SQUAD = "transversal"

_SPELLINGS = {
    "em andamento": IN_PROGRESS, "andamento": IN_PROGRESS, "in progress": IN_PROGRESS, "doing": IN_PROGRESS,
    "pendente": PENDING, "nao iniciado": PENDING, "pending": PENDING, "todo": PENDING, "a fazer": PENDING,
    "bloqueado": BLOCKED, "bloqueada": BLOCKED, "blocked": BLOCKED,
    "concluida": DONE, "concluido": DONE, "done": DONE, "finalizada": DONE,
}  # fmt: skip
_NEXT: dict[UpdateKind, str] = {"progress": IN_PROGRESS, "block": BLOCKED, "done": DONE, "reopen": IN_PROGRESS}
_KINDS: dict[UpdateKind, str] = {"progress": "avanço", "block": "bloqueio", "done": "conclusão", "reopen": "reabertura"}
_BOX = re.compile(r"(\s*[-*+] \[)([ xX])(\] )(.*)$")
_BOXES = {IN_PROGRESS: "em andamento", PENDING: "pendente", BLOCKED: "bloquead", DONE: "concluid"}
_OPENINGS: dict[UpdateKind, str] = {"done": "Concluída", "reopen": "Reaberta"}


class Activity(Struct, frozen=True, kw_only=True):
    """What a note says of its activity."""

    slug: str
    id: int  # 0 where the note has none
    title: str
    state: str  # one of STATES, or the note's own word
    squad: str
    module: str
    started: str
    due: str
    updated: str
    sessions: tuple[str, ...]
    stopped: LogEntry | None


class Draft(Struct, frozen=True, kw_only=True):
    """A new activity, its texts fit for a note already."""

    id: int
    title: str
    squad: str
    state: str
    started: str
    updated: str
    module: str = ""
    due: str = ""
    doc: str = ""
    session: str = ""
    tags: tuple[str, ...] = ()
    branches: tuple[tuple[str, str], ...] = ()  # repository, branch
    description: tuple[str, ...] = ()


class Change(Struct, frozen=True, kw_only=True):
    """What is to be recorded."""

    kind: UpdateKind
    text: tuple[str, ...]
    today: str  # YYYY-MM-DD
    now: str  # YYYY-MM-DDTHH:MM:SS
    session: str = ""


def read_activity(slug: str, note: Note) -> Activity | None:
    """Read a note; None when it is no activity.

    Raises:
        KxError: VAULT_DAMAGED.
    """
    block = front_matter(note)
    if block is None or folded(block.value("type")) != TYPE:
        return None
    state = state_of(block.value("status"))
    return Activity(
        slug=slug,
        id=_number(block),
        title=block.value("titulo") or slug,
        state=state,
        squad=block.value("squad") or NO_SQUAD,
        module=block.value("modulo"),
        started=block.value("data_inicio"),
        due=block.value("data_entrega"),
        updated=block.value("updated") or block.value("data_inicio"),
        sessions=block.items("sessoes_claude"),
        stopped=last_entry(note, is_blocked=state == BLOCKED),
    )


def state_of(written: str) -> str:
    """Give the state a note means; a word nobody knows stays, none is in progress.

    >>> state_of("Concluída"), state_of("em revisão")
    ('concluida', 'em revisão')
    """
    return _SPELLINGS.get(folded(written), written.strip() or IN_PROGRESS)


def new_note(draft: Draft) -> Note:
    """Write the note of a new activity, with the sections of the original in its order."""
    tags = ", ".join(quoted(tag) for tag in dict.fromkeys(("atividade", *draft.tags)))
    today = draft.updated[:10]
    front = [
        "---", f"type: {TYPE}", f"id: {draft.id}", f"titulo: {quoted(draft.title)}", f"squad: {quoted(draft.squad)}",
        f"modulo: {quoted(draft.module)}", f"status: {draft.state}", f"data_inicio: {draft.started}",
        f"data_entrega: {draft.due}", f"tags: [{tags}]", f"updated: {draft.updated}", "sessoes_claude: []", "---",
    ]  # fmt: skip
    rows = [f"| {repository} | {branch} |" for repository, branch in draft.branches] or ["| | |"]
    body = [
        "", f"# Atividade: {draft.title}",
        "", "## Descrição", "", *described(draft.description or ("(a preencher)",)),
        "", "## Squad e Módulo", "", f"- Squad: {draft.squad}", f"- Módulo/Serviço: {draft.module}".rstrip(),
        "", "## Arquitetura e Documentação", "", f"- Doc da feature: {draft.doc}".rstrip(),
        "", "## Branches", "", "| Repositório | Branch |", "|---|---|", *rows,
        "", "## Sessões Claude Code", "", "| ID da Sessão | Data | Resumo |", "|---|---|---|", "| | | |",
        "", "## Log de Progresso", "", f"### {today}", "", "- Atividade criada.",
        "", "## Erros e Bloqueios", "", "-",
        "", "## Status", "", *_boxes(draft.state),
        "", "## Links Relacionados", "", "- [[MOC-Atividades]]",
    ]  # fmt: skip
    text = "\n".join([line.rstrip() for line in front] + body) + "\n"
    note = Note.parse(text.encode())
    return _with_session(note, draft.session, today, "Criação da atividade") if draft.session else note


def described(lines: Sequence[str]) -> list[str]:
    """Write lines so that they stay inside their section: headings pushed below it, fences and comments closed."""
    found, headings, fence = list[str](), dict[int, int](), ""
    for line in lines:
        mark = re.match(r"`{3,}|~{3,}", line)
        depth = re.match(r"(#{1,6})(?=[ \t]|$)", line)
        if mark and (not fence or mark.group().startswith(fence)):
            fence = "" if fence else mark.group()
        elif not fence and depth:
            headings[len(found)] = len(depth[1])
        found.append(f"\\{line}" if not fence and line.startswith("<!--") else line)
    for at, level in headings.items():
        deeper = max(3 - min(headings.values()), 0) + level
        found[at] = "#" * min(deeper, 6) + found[at][level:]
    return [*found, *([fence] if fence else [])]


def with_change(note: Note, activity: Activity, change: Change) -> Note:
    """Write a change into the note of an activity; the same change of the same day is written once.

    Raises:
        KxError: ACTIVITY_CLOSED when it is done and not to be reopened; BAD_REQUEST without a text; VAULT_DAMAGED.
    """
    text = _worded(change)
    if not text:
        raise KxError(
            ErrorCode.BAD_REQUEST, "the text is empty", hint="say in a sentence what was done or what is in the way"
        )
    changed = _with_text(note, change, text)
    if activity.state == DONE and change.kind != "reopen":
        if change.kind == "done" and changed == note:
            return note
        raise KxError(
            ErrorCode.ACTIVITY_CLOSED,
            "#{id} {slug} is concluded",
            hint="reopen it first: kx activity update {slug} --reopen 'why'",
            id=activity.id,
            slug=activity.slug,
        )
    state = _NEXT[change.kind]
    if change.session and change.session not in activity.sessions:
        changed = _with_session(
            changed,
            change.session,
            change.today,
            f"{_KINDS[change.kind]}: {change.text[0] if change.text else text[0]}",
        )
    if changed == note and state == activity.state:
        return note
    return _with_state(changed, activity, state, change)


def with_updated(note: Note, now: str) -> Note:
    """Record when it was changed, to the day where the note is kept to the day."""
    block = front_matter(note)
    is_day = block is not None and re.fullmatch(r"\d{4}-\d\d-\d\d", block.value("updated")) is not None
    return with_value(note, "updated", now[:10] if is_day else now)


def with_artifact(note: Note, line: str, url: str) -> Note:
    """Put the line of an artifact into the note: in the place of its old one, else last of its section."""
    note, section = sections.with_section(note, sections.ARTIFACTS)
    old = _line_of(note, section, url)
    if old is not None:
        return note.with_line(old, line)
    at = note.last_text(section.body, section.end)
    if at == section.body:
        return note.with_block(at, [line])
    after = [""] if at < len(note.lines) and not note.is_blank(at) else []
    return note.with_lines(at, at, [line, *after])


def without_artifact(note: Note, url: str) -> Note:
    """Take the line of an artifact out: it belongs to another activity now."""
    section = sections.section_named(note, sections.ARTIFACTS)
    old = _line_of(note, section, url) if section is not None else None
    return note if old is None else note.with_lines(old, old + 1, [])


def _line_of(note: Note, section: sections.Section, url: str) -> int | None:
    for at in range(section.body, section.end):
        if f"({url})" in note.bare(at) and note.bare(at).lstrip().startswith(("-", "*", "+")):
            return at
    return None


def _worded(change: Change) -> tuple[str, ...]:
    opening = _OPENINGS.get(change.kind)
    if opening is None:
        return change.text
    first, *rest = change.text or ("",)
    return (f"{opening}: {first}" if first else f"{opening}.", *rest)


def _with_text(note: Note, change: Change, text: tuple[str, ...]) -> Note:
    if change.kind == "block":
        return with_obstacle(note, change.today, text)
    return with_progress(note, change.today, text)


def _with_state(note: Note, activity: Activity, state: str, change: Change) -> Note:
    if state != activity.state:
        note = with_value(note, "status", state)
        note = _with_boxes(note, state)
    if change.kind == "done":
        note = with_value(note, "data_entrega", change.today)
    if change.kind == "reopen" and activity.state == DONE:
        note = with_value(note, "data_entrega", "")
    return with_updated(note, change.now)


def _with_session(note: Note, session: str, today: str, summary: str) -> Note:
    """Record a session in the front matter, and in the table or list of its section where there is one."""
    note = with_item(note, "sessoes_claude", session)
    section = sections.section_named(note, sections.SESSIONS)
    if section is None:
        return note
    rows = [at for at in range(section.body, section.end) if note.bare(at).lstrip().startswith("|")]
    if len(rows) < 2:
        return note.with_block(note.last_text(section.body, section.end), item((f"{session} — {today}",)))
    row = f"| {_cell(session)} | {today} | {_cell(summary)} |"
    empty = [at for at in rows[2:] if not note.bare(at).strip("| \t")]
    if empty:
        return note.with_line(empty[0], row)
    return note.with_lines(rows[-1] + 1, rows[-1] + 1, [row])


def _with_boxes(note: Note, state: str) -> Note:
    section = sections.section_named(note, sections.STATUS)
    if section is None:
        return note
    found = [(at, box) for at in range(section.body, section.end) if (box := _BOX.match(note.bare(at)))]
    known = [(at, box) for at, box in found if any(folded(box[4]).startswith(word) for word in _BOXES.values())]
    for at, box in known:
        mark = "x" if folded(box[4]).startswith(_BOXES[state]) else " "
        if (box[2] == " ") != (mark == " "):
            note = note.with_line(at, f"{box[1]}{mark}{box[3]}{box[4]}")
    return note


def _boxes(state: str) -> list[str]:
    labels = {IN_PROGRESS: "Em andamento", BLOCKED: "Bloqueado", PENDING: "Pendente / não iniciado", DONE: "Concluído"}
    return [f"- [{'x' if name == state else ' '}] {label}" for name, label in labels.items()]


def _cell(text: str) -> str:
    shown = text if len(text) <= 60 else text[:59] + "…"
    return shown.replace("|", "\\|")


def _number(block: FrontMatter) -> int:
    found = re.fullmatch(r"#?(\d{1,9})", block.value("id"))
    return int(found[1]) if found else 0
