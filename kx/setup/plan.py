"""What setting a project up would change here: looked at, not touched."""

from __future__ import annotations

import hashlib
import os
import uuid
from collections.abc import Sequence
from pathlib import Path

import msgspec

from kx.setup.agents import Agent, entry_for, file_of, name_in, paste, put
from kx.setup.changes import Change
from kx.setup.json_entry import UnchangeableError
from kx.setup.machine import Machine, codex_home, environment_for
from kx.setup.splice import Splice
from kx.setup.target import Target, read_target
from shared.project_config import KX_JSON
from shared.settings import Settings

PUBLIC = 0o644  # of a file that may be committed with the project
PRIVATE = 0o600


class Subject(msgspec.Struct, frozen=True, kw_only=True):
    """The project that is set up."""

    root: Path  # canonical
    project: str

    @property
    def mark(self) -> str:
        """Tell two projects of one name apart."""
        return hashlib.sha256(os.fsencode(self.root)).hexdigest()[:6]


def new_configuration(project: str, *, is_open: bool = False) -> bytes:
    """Give the `.kx.json` of a new project; an open one has no identity that agents must state."""
    content: dict[str, object] = {"project": project}
    if not is_open:
        content["mcp"] = {"projectId": str(uuid.uuid4())}
    return msgspec.json.format(msgspec.json.encode(content), indent=2) + b"\n"


def plan_configuration(subject: Subject) -> Change:
    """Give the project a `.kx.json`, without which no agent can name it; one that is there stays as it is."""
    path = subject.root / KX_JSON
    if os.path.lexists(path):
        return Change(step="configuration", kind="nothing", path=path)
    root = os.fsdecode(subject.root)
    if not _is_text(root):
        return Change(step="configuration", kind="refused", path=path, why="a path in it is not valid UTF-8")
    return Change(
        step="configuration",
        kind="change",
        path=path,
        root=root,
        target=Target(path=path, real=path, text=None, mode=PUBLIC),
        splice=Splice(start=0, removed="", inserted=new_configuration(subject.project).decode()),
    )


def plan_agent(agent: Agent, subject: Subject, machine: Machine, settings: Settings) -> Change:
    """Tell one agent how to start kx for the project, in the file that agent reads."""
    root = os.fsdecode(subject.root)
    path = file_of(agent, subject.root, codex_home(settings))
    entry = entry_for(machine.agent_command, root, environment_for(settings))
    by_hand = paste(agent, name_in(agent, "", subject.project, root, subject.mark), entry)
    try:
        return _planned(agent, path, subject, settings, entry)
    except UnchangeableError as error:
        return Change(step=agent, kind="refused", path=path, root=root, why=str(error), paste=by_hand)


def _planned(agent: Agent, path: Path, subject: Subject, settings: Settings, entry: dict[str, object]) -> Change:
    root = os.fsdecode(subject.root)
    if not _is_text(root) or not _is_text(str(entry)):
        raise UnchangeableError("a path in it is not valid UTF-8")
    bounds = bounds_of(agent, subject.root, settings)
    target = read_target(path, inside=bounds, new_mode=PRIVATE if agent == "codex" else PUBLIC)
    name = name_in(agent, target.text or "", subject.project, root, subject.mark)
    splice = put(agent, target.text or "", name, entry)
    return Change(
        step=agent,
        kind="nothing" if splice is None else "change",
        path=path,
        root=root,
        name=name,
        target=target,
        splice=splice,
    )


def bounds_of(step: Agent, root: Path, settings: Settings) -> Path:
    """Give the folder that links of an agent's file must not leave."""
    if step != "codex":
        return root
    home = codex_home(settings)
    return settings.user_home if home.is_relative_to(settings.user_home) else home


def _is_text(words: str) -> bool:
    try:
        words.encode()
    except UnicodeEncodeError:
        return False
    return True


def shown(
    agents: Sequence[Agent], subject: Subject, machine: Machine, settings: Settings
) -> dict[Agent, tuple[Path, str]]:
    """Give the ready-made configuration of each agent: the file, and what belongs into it."""
    root = os.fsdecode(subject.root)
    entry = entry_for(machine.agent_command, root, environment_for(settings))
    return {
        agent: (
            file_of(agent, subject.root, codex_home(settings)),
            paste(agent, name_in(agent, "", subject.project, root, subject.mark), entry),
        )
        for agent in agents
    }
