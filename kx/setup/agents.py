"""What each agent is told about kx: which file, which entry, which words (pure)."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

from kx.setup import json_entry, toml_entry
from kx.setup.json_entry import SERVERS
from kx.setup.splice import Splice

Agent = Literal["claude", "codex", "cursor"]
AGENTS: tuple[Agent, ...] = ("claude", "codex", "cursor")
TITLES: dict[Agent, str] = {"claude": "Claude Code", "codex": "Codex", "cursor": "Cursor"}
ENTRY = "kx"
_NOT_IN_A_NAME = re.compile(r"[^A-Za-z0-9_-]+")  # Codex takes no other characters

INSTRUCTIONS = """\
## Finding things in this project

Before you read files one by one, ask kx: its tool `search` finds passages of code, docs, configuration and notes by meaning
and by exact words, with exact lines. Where a tool asks for `expected_project_id` and `expected_project_root`, the first is
`mcp.projectId` in `.kx.json`, the second the absolute path of this folder."""


def entry_for(command: Sequence[str], root: str, environment: Mapping[str, str]) -> dict[str, Any]:
    """Give what starts kx for one project; the same for every agent."""
    program, *before = command
    entry: dict[str, Any] = {
        "command": program,
        "args": [*before, "mcp", "--strict-project-root", "--project-root", root],
    }
    return entry | ({"env": dict(environment)} if environment else {})


def file_of(agent: Agent, root: Path, codex_home: Path) -> Path:
    """Give the file an agent reads; that of Codex is one for all projects."""
    return {
        "claude": root / ".mcp.json",
        "cursor": root / ".cursor" / "mcp.json",
        "codex": codex_home / "config.toml",
    }[agent]


def name_in(agent: Agent, text: str, project: str, root: str, mark: str) -> str:
    """Give the name of the project's entry; in Codex' file that of another project of this name gets a `mark`.

    Raises:
        UnchangeableError: the file cannot be read.
    """
    if agent != "codex":
        return ENTRY
    name = f"{ENTRY}-{_NOT_IN_A_NAME.sub('-', project).strip('-') or mark}"
    taken = toml_entry.table_of(text, name)
    arguments = taken.get("args") if isinstance(taken, dict) else None
    is_free = taken is None or (isinstance(arguments, list) and root in arguments)
    return name if is_free else f"{name}-{mark}"


def put(agent: Agent, text: str, name: str, entry: Mapping[str, Any]) -> Splice | None:
    """Give the change that tells the agent; None where it is told already.

    Raises:
        UnchangeableError: the file cannot be changed safely.
    """
    return toml_entry.put_table(text, name, entry) if agent == "codex" else json_entry.put_entry(text, name, entry)


def drop(agent: Agent, text: str, name: str) -> Splice | None:
    """Give the change that takes the entry out again; None where it is not there.

    Raises:
        UnchangeableError: the file cannot be changed safely.
    """
    return toml_entry.drop_table(text, name) if agent == "codex" else json_entry.drop_entry(text, name)


def others(agent: Agent, text: str, name: str) -> dict[str, Any]:
    """Give what the file says beside the entry.

    Raises:
        UnchangeableError: the file cannot be read.
    """
    return toml_entry.others(text, name) if agent == "codex" else json_entry.others(text, name)


def paste(agent: Agent, name: str, entry: Mapping[str, Any]) -> str:
    """Give the configuration as one would write it by hand."""
    if agent == "codex":
        return toml_entry.table_text(name, entry)
    return json.dumps({SERVERS: {name: entry}}, indent=2, ensure_ascii=False) + "\n"
