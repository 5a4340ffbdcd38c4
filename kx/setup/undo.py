"""Take back what setup wrote: the file as it was, or our entry alone where somebody has changed the file since."""

from __future__ import annotations

from pathlib import Path

from kx.setup.agents import AGENTS, Agent, drop, others
from kx.setup.changes import Change
from kx.setup.json_entry import UnchangeableError
from kx.setup.plan import bounds_of
from kx.setup.records import Record, digest_of
from kx.setup.splice import Splice, between
from kx.setup.target import Target, read_target
from shared.settings import Settings


def plan_undo(record: Record, settings: Settings) -> Change:
    """Give the change that takes a recorded one back."""
    path = Path(record.path)
    try:
        target = read_target(path, inside=_bounds(record, settings), new_mode=0o600)
        splice, removes = _way_back(record, target)
    except UnchangeableError as error:
        return Change(step=record.what, kind="refused", path=path, why=str(error), record=record)
    return Change(
        step=record.what,
        kind="nothing" if splice is None else "change",
        path=path,
        target=target,
        splice=splice,
        removes=removes,
        record=record,
    )


def _bounds(record: Record, settings: Settings) -> Path:
    if record.what == "login":
        return Path(record.path).parent
    if record.what == "configuration":
        return Path(record.root)
    return bounds_of(record.what, Path(record.root), settings)


def _way_back(record: Record, target: Target) -> tuple[Splice | None, bool]:
    """Give the change, and whether the whole file goes."""
    text = target.text
    if text is None:
        return None, False
    if digest_of(text) == record.digest:
        if record.created:
            return between(text, 0, len(text), ""), True
        if record.splice.inserted:
            return _trimmed(text, _required(record.splice.back(text))), False
    agent = next((one for one in AGENTS if one == record.what), None)
    if agent is None:
        raise UnchangeableError("it was changed by hand since; remove it by hand if you want to")
    return _entry_back(agent, record, text)


def _entry_back(agent: Agent, record: Record, text: str) -> tuple[Splice | None, bool]:
    before = record.splice.back(text)
    if before is not None and _says_the_same(agent, before, text, record.name):
        splice: Splice | None = _trimmed(text, before)
    elif record.splice.removed.strip():
        raise UnchangeableError("its entry for kx replaced another, and was changed by hand since")
    else:
        splice = drop(agent, text, record.name)
    if splice is not None and record.created and _is_empty(agent, splice.on(text), record.name):
        return between(text, 0, len(text), ""), True
    return splice, False


def _is_empty(agent: Agent, text: str, name: str) -> bool:
    """Tell whether a file that setup made has nothing in it any more; comments of TOML are something."""
    return not text.strip() if agent == "codex" else not others(agent, text, name)


def _says_the_same(agent: Agent, before: str, text: str, name: str) -> bool:
    try:
        return others(agent, before, name) == others(agent, text, name)
    except UnchangeableError:
        return False


def _trimmed(text: str, before: str) -> Splice:
    """Give the change from one text to the other, as short as it is."""
    start = 0
    while start < min(len(text), len(before)) and text[start] == before[start]:
        start += 1
    tail = 0
    while tail < min(len(text), len(before)) - start and text[-1 - tail] == before[-1 - tail]:
        tail += 1
    return between(text, start, len(text) - tail, before[start : len(before) - tail])


def _required(before: str | None) -> str:
    if before is None:
        raise UnchangeableError("it is written in a way kx does not change")
    return before
