"""Activities: notes read, and changes written into them."""

from __future__ import annotations

import random
import re

import pytest

from services.megabrain.core.activity import (
    BLOCKED,
    DONE,
    IN_PROGRESS,
    PENDING,
    Activity,
    Change,
    Draft,
    new_note,
    read_activity,
    with_artifact,
    with_change,
    without_artifact,
)
from services.megabrain.core.frontmatter import front_matter
from services.megabrain.core.note import Note
from services.megabrain.core.sections import LOG, section_named
from shared.errors import ErrorCode, KxError
from shared.megabrain_messages import UpdateKind
from tests.support.notes import BY_HAND, ORIGINAL, mutated, with_hand_edit
from tests.support.rows import passed

TODAY = "2026-11-30"


def read(note: Note) -> Activity:
    found = read_activity("nota", note)
    assert found is not None
    return found


def make_change(kind: UpdateKind = "progress", text: str = "andou", *, day: str = TODAY, session: str = "") -> Change:
    return Change(
        kind=kind, text=tuple(text.split("\n")) if text else (), today=day, now=f"{day}T10:00:00", session=session
    )


def changed(note: Note, *changes: Change) -> Note:
    for change in changes:
        note = with_change(note, read(note), change)
    return note


def make_note(**fields: object) -> Note:
    given = {
        "id": 3,
        "title": "Nova",
        "squad": "core",
        "state": IN_PROGRESS,
        "started": TODAY,
        "updated": f"{TODAY}T09:00:00",
    }
    return new_note(Draft(**{**given, **fields}))  # type: ignore[arg-type]


def test_note_of_the_original_is_read():
    """Mission 6: a vault written by the original tool opens unchanged."""
    found = read(Note.parse(ORIGINAL.encode()))
    assert (found.id, found.state, found.squad, found.due) == (7, IN_PROGRESS, "pdv-core", "2026-07-15")
    assert found.sessions == ("uuid-1", "uuid-2")
    assert found.stopped is not None
    assert (found.stopped.date, found.stopped.text) == ("2026-07-10", "segundo dia")


def test_note_written_by_hand_is_read():
    """States in other words, sections under other names, entries dated in bold."""
    found = read(Note.parse(BY_HAND.encode()))
    assert (found.id, found.state, found.title) == (0, PENDING, 'Uma "nota" à mão')
    assert found.stopped is not None
    assert (found.stopped.date, found.stopped.text) == ("2026-01-02", "andou - detalhe")


def test_progress_in_a_note_of_the_original():
    """Golden: exactly these lines are new, in the order of days that the note has."""
    before = ORIGINAL.encode()
    after = (
        changed(Note.parse(before), make_change(text="terceiro dia\ncom detalhe", session="s-9")).to_bytes().decode()
    )
    assert after == (
        ORIGINAL.replace("updated: 2026-07-10", f"updated: {TODAY}")
        .replace('"uuid-2"]', '"uuid-2", "s-9"]')
        .replace("Criacao da atividade |\n", f"Criacao da atividade |\n| s-9 | {TODAY} | avanço: terceiro dia |\n")
        .replace("### 2026-07-10\n", f"### {TODAY}\n\n- terceiro dia\n  com detalhe\n\n### 2026-07-10\n")
    )


def test_block_and_conclusion_in_a_note_of_the_original():
    """Golden: the placeholder gives way, the boxes follow the state, the day it was delivered is told."""
    after = changed(Note.parse(ORIGINAL.encode()), make_change("block", "sem VPN"), make_change("done", "entregue"))
    assert after.to_bytes().decode() == (
        ORIGINAL.replace("updated: 2026-07-10", f"updated: {TODAY}")
        .replace("status: em-andamento        #", "status: concluida        #")
        .replace("data_entrega: 2026-07-15", f"data_entrega: {TODAY}")
        .replace("### 2026-07-10\n", f"### {TODAY}\n\n- Concluída: entregue\n\n### 2026-07-10\n")
        .replace("\n-\n", f"\n- [{TODAY}] sem VPN\n")
        .replace("- [x] Em andamento", "- [ ] Em andamento")
        .replace("- [ ] Concluido", "- [x] Concluido")
    )


def test_sections_of_fences_and_comments_are_none():
    """A note by hand: the entry goes under the heading that is one, not into a fence or a comment."""
    after = changed(Note.parse(BY_HAND.encode()), make_change("block", "parou")).to_bytes().decode()
    assert after.startswith(
        BY_HAND.split("## 📈")[0].replace('status: "Pendente"', 'status: "bloqueado"').split("...")[0]
    )
    assert after.endswith(f"|---|---|\n\n## Erros e Bloqueios\n\n- [{TODAY}] parou\n")


def test_new_note_reads_back():
    """Front matter of the mission in its order; the description cannot end its section."""
    note = make_note(title="fase 2: x", description=("# Título", "```", "# código", "## Status"), session="s-1")
    text = note.to_bytes().decode()
    keys = [line.partition(":")[0] for line in text.split("---")[1].strip().split("\n")]
    assert keys == [
        "type", "id", "titulo", "squad", "modulo", "status", "data_inicio", "data_entrega", "tags", "updated",
        "sessoes_claude",
    ]  # fmt: skip
    found = read(note)
    assert (found.id, found.title, found.sessions) == (3, "fase 2: x", ("s-1",))
    assert section_named(note, LOG) is not None
    assert "### Título\n```\n# código\n## Status\n```\n" in text


def test_states_move_as_recorded():
    """Issue 8: a block blocks, work resumes, an end ends, only reopening begins again."""
    note = make_note(state=PENDING)
    seen = [
        read(note := changed(note, make_change(kind, kind))).state for kind in ("progress", "block", "progress", "done")
    ]
    assert seen == [IN_PROGRESS, BLOCKED, IN_PROGRESS, DONE]
    for kind in ("progress", "block"):
        with pytest.raises(KxError) as caught:
            changed(note, make_change(kind, "mais"))
        assert caught.value.code is ErrorCode.ACTIVITY_CLOSED
    reopened = read(changed(note, make_change("reopen", "voltou")))
    assert (reopened.state, reopened.due) == (IN_PROGRESS, "")
    assert reopened.stopped is not None
    assert reopened.stopped.text == "Reaberta: voltou"


@pytest.mark.parametrize("kind", ["progress", "block", "done", "reopen"])
def test_same_change_of_the_same_day_is_written_once(kind: UpdateKind):
    """Whoever asks again after a timeout makes no second entry."""
    note = changed(make_note(), make_change(kind, "uma\n\nvez", session="s"))
    assert changed(note, make_change(kind, "uma\n\nvez", session="s")) == note
    assert changed(note, make_change(kind if kind != "done" else "reopen", "uma")) != note


def test_text_cannot_break_the_note():
    """B11: headings, fences, rules and comments in an entry belong to the entry."""
    note = make_note()
    hostile = "## Status\n---\n```\n<!--\n# Log de Progresso\n- [x] Bloqueado"
    for kind in ("progress", "block"):
        note = changed(note, make_change(kind, hostile))
    after = changed(note, make_change("progress", "depois"))
    assert read(after).stopped.text == "depois"  # type: ignore[union-attr]
    assert sum(line == "## Status\n" for line in after.lines) == 1


def test_text_is_needed_where_it_is_the_point():
    """Progress without a word says nothing; an end does."""
    with pytest.raises(KxError) as caught:
        changed(make_note(), make_change("progress", ""))
    assert caught.value.code is ErrorCode.BAD_REQUEST
    assert read(changed(make_note(), make_change("done", ""))).stopped.text == "Concluída."  # type: ignore[union-attr]


def test_artifact_has_one_line_that_follows_it():
    """A new version replaces the line; a link to another activity takes it away."""
    note = with_artifact(Note.parse(ORIGINAL.encode()), "- [A](https://x/1) — v1", "https://x/1")
    assert "- [A](https://x/1) — v1\n\n## Links Relacionados" in note.to_bytes().decode()
    note = with_artifact(
        with_artifact(note, "- [B](https://x/2) — v1", "https://x/2"), "- [A](https://x/1) — v2", "https://x/1"
    )
    assert "- [A](https://x/1) — v2\n- [B](https://x/2) — v1\n\n" in note.to_bytes().decode()
    assert "https://x/1" not in without_artifact(note, "https://x/1").to_bytes().decode()


# --- B11 --------------------------------------------------------------------------------------------------------------


OUR_KEYS = {"status", "updated", "data_entrega", "sessoes_claude"}


def lines_kept(data: bytes) -> list[str]:
    """Give the lines that updates must not change: all but our keys with their values, boxes and placeholders."""
    note = Note.parse(data)
    block = front_matter(note)
    assert block is not None
    ours = {at for entry in block.entries if entry.key in OUR_KEYS for at in range(entry.start, entry.end)}
    is_box = re.compile(r"\s*- \[[ xX]\] ")
    return [
        line
        for at, line in enumerate(note.lines)
        if at not in ours and not is_box.match(line) and line.strip() not in {"-", "| | | |"}
    ]


def assert_kept(before: bytes, after: bytes) -> None:
    """Every such line is still there, in its order, byte for byte; only the last may get an ending."""
    rest = iter(Note.parse(after).lines)
    for line in lines_kept(before):
        assert any(found == line or (found.rstrip("\r\n") == line and line[-1:] != "\n") for found in rest), line


def assert_one_block(data: bytes) -> None:
    lines = [line.rstrip(b"\r") for line in data.removeprefix(b"\xef\xbb\xbf").split(b"\n")]
    end = next(at for at in range(1, len(lines)) if lines[at].rstrip() in {b"---", b"..."})
    assert lines[0].rstrip() == b"---"
    assert not any(line.startswith(b"type:") for line in lines[end:])


def updated_ten_times(data: bytes, chance: random.Random) -> bytes:
    """Play ten updates with hand edits between them; what was there before each is kept."""
    for turn in range(10):
        note = Note.parse(data)
        assert note.to_bytes() == data
        kinds: tuple[UpdateKind, ...] = ("progress", "block", "reopen")
        kind = chance.choice(kinds) if read(note).state != DONE else "reopen"
        change = make_change(kind, f"entrada {turn}", day=f"2026-11-{10 + turn // 2}", session=f"s-{turn % 3}")
        after = with_change(note, read(note), change).to_bytes()
        assert_kept(data, after)
        assert_one_block(after)
        assert f"entrada {turn}".encode() in after
        data, line = with_hand_edit(after, chance)
        assert line in data
        if read_activity("nota", Note.parse(data)) is None:
            break
    return data


def play(seed: int) -> bool:
    chance = random.Random(seed)
    data = mutated(chance)
    try:
        if read_activity("nota", Note.parse(data)) is None:
            return False
    except KxError:
        return False
    try:
        updated_ten_times(data, chance)
    except KxError as error:  # a hand edit may break the front matter: refused, and nothing is written
        return error.code is ErrorCode.VAULT_DAMAGED
    return True


def test_mutated_notes_survive_their_updates():
    """B11, case 15: no exception, one block, everything else byte for byte; most of the notes are activities."""
    assert sum(play(seed) for seed in range(60)) > 30


@pytest.mark.soak
def test_many_mutated_notes_survive_their_updates():
    """B11 in full."""
    activities = sum(play(seed) for seed in range(1_000, 1_500))
    assert activities > 250
    passed("B11", notes=500, activities=activities, updates_each=10, exceptions=0, two_blocks=0)
