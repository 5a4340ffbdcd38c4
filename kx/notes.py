"""Activities and artifacts as terminal text or as JSON that programs may rely on (pure)."""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from typing import Any

import msgspec

from kx.catalogue import Catalogue
from kx.paint import PLAIN, Paint
from kx.terminal import visible
from shared.megabrain_messages import Activities, ActivityRow, ActivityWritten, ArtifactRow, Artifacts, ArtifactWritten

JSON_SCHEMA = 1
COLUMNS = ("em-andamento", "bloqueado", "pendente", "concluida")
MIN_COLUMN = 18  # characters; a narrower terminal shows the states one below the other
GAP = 2


def activities_json(found: Activities) -> dict[str, Any]:
    """Give the documented form of a list of activities."""
    return {
        "schema": JSON_SCHEMA,
        "project": found.project,
        "counts": found.counts,
        "total": found.total,
        "activities": [msgspec.to_builtins(one) for one in found.activities],
        "notes": list(found.notes),
    }


def artifact_json(found: Artifacts) -> dict[str, Any]:
    """Give the documented form of a list of artifacts."""
    return {
        "schema": JSON_SCHEMA,
        "project": found.project,
        "total": found.total,
        "artifacts": [msgspec.to_builtins(one) for one in found.artifacts],
    }


def activity_written_json(written: ActivityWritten) -> dict[str, Any]:
    """Give the documented form of what became of an activity."""
    return {
        "schema": JSON_SCHEMA,
        "activity": msgspec.to_builtins(written.activity),
        "changed": written.is_changed,
        "notes": list(written.notes),
    }


def activity_text_json(activity: ActivityRow, text: str) -> dict[str, Any]:
    """Give the documented form of a note."""
    return {"schema": JSON_SCHEMA, "activity": msgspec.to_builtins(activity), "text": text}


def artifact_written_json(written: ArtifactWritten) -> dict[str, Any]:
    """Give the documented form of what became of an artifact."""
    return {
        "schema": JSON_SCHEMA,
        "artifact": msgspec.to_builtins(written.artifact),
        "new": written.is_new,
        "notes": list(written.notes),
    }


def activities_text(found: Activities, catalogue: Catalogue, paint: Paint = PLAIN) -> str:
    """Give the counts, then each activity with where it stopped."""
    counts = " · ".join(f"{_state(name, catalogue)} {count}" for name, count in found.counts.items())
    if not found.activities:
        return f"{visible(found.project)}: {counts}\n" + catalogue.text(
            "no activity; begin one with: kx activity add TITLE"
        )
    lines = [f"{visible(found.project)}: {counts}"]
    for one in found.activities:
        lines.append(f"{paint.place(_name(one))} [{visible(_state(one.state, catalogue))}] {paint.aside(_beside(one))}")
        if one.stopped:
            lines.append("    " + visible(f"{one.stopped_at} {one.stopped}".strip()))
    return "\n".join(lines)


def activity_line(one: ActivityRow, catalogue: Catalogue) -> str:
    """Give an activity on one line: number, title, state, note."""
    return f"{_name(one)} [{visible(_state(one.state, catalogue))}] {visible(one.path)}"


def artifact_text(one: ArtifactRow) -> str:
    """Give an artifact on one line, a second for what it is about."""
    tied = f" #{one.activity_id} {one.activity}" if one.activity_id else f" {one.activity}" if one.activity else ""
    line = visible(f"v{one.version} {one.title} · {one.updated} ·{tied} {one.url}")
    return line + (f"\n    {visible(one.description)}" if one.description else "")


def board_text(rows: Sequence[ActivityRow], catalogue: Catalogue, paint: Paint = PLAIN, *, width: int = 100) -> str:
    """Give the states side by side; where the terminal is too narrow, one below the other."""
    names = [*COLUMNS, *sorted({one.state for one in rows} - set(COLUMNS))]
    cells = {
        name: [f"#{one.id} {one.title}" if one.id else one.title for one in rows if one.state == name] for name in names
    }
    size = (width + GAP) // len(names) - GAP
    heads = {name: f"{_state(name, catalogue)} ({len(cells[name])})" for name in names}
    if size < MIN_COLUMN:
        blocks = ["\n".join([visible(heads[name]), *(f"  {visible(text)}" for text in cells[name])]) for name in names]
        return "\n".join(blocks)
    columns = [[line for text in cells[name] for line in _wrapped(visible(text), size)] for name in names]
    depth = max(map(len, columns))
    head = (" " * GAP).join(_padded(visible(heads[name]), size) for name in names).rstrip()
    lines = [paint.place(head), paint.aside((" " * GAP).join("-" * size for _ in names))]
    for at in range(depth):
        cut = [column[at] if at < len(column) else "" for column in columns]
        lines.append((" " * GAP).join(_padded(text, size) for text in cut).rstrip())
    return "\n".join(lines)


def _name(one: ActivityRow) -> str:
    return visible(f"#{one.id} {one.title}" if one.id else one.title)


def _beside(one: ActivityRow) -> str:
    return visible(" · ".join(filter(None, [one.squad, one.module, one.updated.replace("T", " "), one.slug])))


def _state(name: str, catalogue: Catalogue) -> str:
    return catalogue.text(name) if name in COLUMNS else name


def _width(text: str) -> int:
    """Count the columns of a terminal: East Asian characters take two, combining ones none."""
    return sum(
        0 if unicodedata.combining(char) else 2 if unicodedata.east_asian_width(char) in "WF" else 1 for char in text
    )


def _padded(text: str, size: int) -> str:
    cut = text
    while _width(cut) > size:
        cut = cut[:-1]
    return cut + " " * (size - _width(cut))


def _wrapped(text: str, size: int) -> list[str]:
    """Break a title at its words; what goes on is indented."""
    lines, line = list[str](), ""
    for word in text.split():
        if line and _width(line) + 1 + _width(word) > size:
            lines.append(line)
            line = "  " + word
        else:
            line = f"{line} {word}".strip() if not line.startswith("  ") else f"{line} {word}"
    return [*lines, line]
