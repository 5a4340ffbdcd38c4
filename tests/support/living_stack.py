"""A stack under `kx up -d` that is hurt while a project changes, and whether its index is right in the end."""

from __future__ import annotations

import fcntl
import itertools
import json
import os
import random
import signal
import subprocess
import sys
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any

from kx.processes import BUS
from shared.bus_address import read_bus_file
from shared.index_open import open_reader
from shared.registry import Project, Registry
from shared.settings import Settings, load_settings
from shared.subjects import SERVICES
from tests.support.command import Kx
from tests.support.index_facts import IndexFacts, facts_of
from tests.support.processes import eventually, processes_of

SUPERVISOR = "supervisor"
BACK_S = 15.0 * 5  # row F2, with the slack of a busy machine
GONE_S = 5.0 * 5  # row F15
SETTLED_S = 120.0
WORDS = ("breaker", "retry", "queue", "ledger", "harbour", "lantern", "meadow", "copper")


def settings_of(kx: Kx) -> Settings:
    """Give the settings that the command uses."""
    return load_settings({"home": str(kx.home)}, {"HOME": str(kx.home.parent)})


def project_at(kx: Kx, root: Path) -> Project:
    """Give the registered project of a tree."""
    (found,) = [project for project in Registry(settings_of(kx)).projects() if project.root_path == root.resolve()]
    return found


def write_tree_of(root: Path, files: int) -> None:
    """Write that many small documents."""
    for number in range(files):
        write_document(root / f"d{number % 20}" / f"f{number}.md", f"first {number}")


def write_document(path: Path, said: str) -> None:
    """Write one; its words differ with what is said."""
    path.parent.mkdir(parents=True, exist_ok=True)
    word = WORDS[len(said) % len(WORDS)]
    path.write_text(f"# About {said}\n\nThe {word} of {said}.\n")


class LivingStack:
    """A stack with one project that is edited."""

    def __init__(self, kx: Kx, root: Path, files: int) -> None:
        self.kx = kx
        self.root = root
        self._edits = 0
        self._chance = random.Random(files)
        write_tree_of(root, files)
        added = kx("project", "add", root)
        assert added.code == 0, added.err
        self.up()

    def up(self) -> None:
        """Start, and wait until every service answers."""
        ran = self.kx("up", "-d")
        assert ran.code == 0, ran.err
        assert eventually(self.pids, within_s=BACK_S), "the stack did not come up"

    def pids(self) -> dict[str, int]:
        """Give the process ids by name; empty while one service does not answer."""
        ran = self.kx("status", "--in", self.root, "--json", "--stack")
        services = ran.json()["services"] if ran.code == 0 else {}
        found = {name: one["pid"] for name, one in services.items() if one["state"] == "ready"}
        bus = self._bus()
        if set(found) != set(SERVICES) or bus is None:
            return {}
        return found | {BUS: bus, SUPERVISOR: self._supervisor()}

    def edit(self, files: int = 6) -> None:
        """Save some, rename one, delete one, make one."""
        self._edits += 1
        known = sorted(self.root.rglob("*.md"))
        gone, moved, *saved = self._chance.sample(known, files + 2)
        for path in (*saved, self.root / "new" / f"n{self._edits}.md"):
            write_document(path, f"edit {self._edits} {path.stem}")
        gone.unlink()
        moved.rename(moved.with_name(f"m{self._edits}-{moved.name[-20:]}"))

    def kill(self, name: str) -> str | None:
        """Kill one in the middle of edits; give what did not come right again."""
        before = self.pids() or eventually(self.pids, within_s=BACK_S)
        if not before:
            return f"before {name}: not all services answer"
        self.edit()
        os.kill(before[name], signal.SIGKILL)
        self.edit()
        if name == SUPERVISOR:
            if eventually(partial(self._is_all_gone), within_s=GONE_S) is False:
                return f"left: {processes_of(self.kx.home)}"
            self.up()
            return None
        is_back = eventually(lambda: self.pids().get(name, before[name]) != before[name], within_s=BACK_S)
        return None if is_back else f"{name} stayed away"

    def keep_bus_away(self, seconds: float) -> str | None:
        """Kill the bus again and again while files change."""
        looks = itertools.count()

        def once_more() -> bool:
            pid = self._bus()
            if pid is not None:
                with suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)
            if next(looks) % 10 == 0:
                self.edit()
            return False

        eventually(once_more, within_s=seconds)
        return None if eventually(self.pids, within_s=BACK_S) else "not all came back"

    def differences(self, fresh: Kx) -> list[str]:
        """Wait until nothing is left to do, and compare with a new index of the same tree; how they differ."""
        ran = fresh("index", self.root, "--wait", "text", "--no-stack")
        assert ran.code == 0, ran.err
        there = project_at(fresh, self.root)
        wanted = facts_of(there.index_path, there.instance)
        here = project_at(self.kx, self.root)

        def now() -> IndexFacts:
            return facts_of(here.index_path, here.instance)

        eventually(lambda: _differ(now(), wanted) == [], within_s=SETTLED_S)
        return _differ(now(), wanted) + _failures(here)

    def _bus(self) -> int | None:
        found = read_bus_file(self.kx.home / "run")
        return found.pid if found is not None and found.pid in processes_of(self.kx.home) else None

    def _supervisor(self) -> int:
        (found,) = [pid for pid, line in processes_of(self.kx.home).items() if " kx up " in f"{line} "]
        return found

    def _is_all_gone(self) -> bool:
        return not processes_of(self.kx.home)


def _differ(found: IndexFacts, wanted: IndexFacts) -> list[str]:
    missing, odd = wanted.rows - found.rows, found.rows - wanted.rows
    problems = [f"missing {sorted(map(str, missing))[:3]}"] * bool(missing)
    problems += [f"not there any more {sorted(map(str, odd))[:3]}"] * bool(odd)
    numbers = (found.chunks, found.postings, found.texts, found.vectors, found.missing)
    if numbers != (wanted.chunks, wanted.postings, wanted.texts, wanted.texts, 0):
        problems.append(f"chunks, postings, texts, vectors, missing {numbers}")
    return problems


def _failures(project: Project) -> list[str]:
    connection = open_reader(project.index_path, project.instance)
    try:
        return [f"marked failed: {row}" for row in connection.execute("SELECT code, attempts FROM failure")]
    finally:
        connection.close()


def held_locks(home: Path) -> list[str]:
    """Give the files of a home that some process has locked."""
    found = []
    for path in (one for one in home.rglob("*") if one.is_file() and not one.is_symlink()):
        with path.open("rb") as file:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                found.append(path.name)
    return found


QUESTIONS: dict[str, dict[str, Any]] = {
    "initialize": {
        "protocolVersion": "2025-06-18",
        "capabilities": {},
        "clientInfo": {"name": "test", "version": "1"},
    },
    "server/discover": {
        "_meta": {
            "io.modelcontextprotocol/protocolVersion": "2026-07-28",
            "io.modelcontextprotocol/clientInfo": {"name": "test", "version": "1"},
            "io.modelcontextprotocol/clientCapabilities": {},
        }
    },
}


def asked_pump(kx: Kx, root: Path, method: str) -> tuple[subprocess.Popen[bytes], dict[str, Any]]:
    """Start `kx mcp` as an agent does and ask one thing; the process, and its first answer."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("KX_")}
    environ = kept | {"KX_HOME": str(kx.home), "HOME": str(kx.home.parent)}
    pipe = subprocess.PIPE
    line = [sys.executable, "-I", "-m", "kx", "mcp"]
    pump = subprocess.Popen(line, cwd=root, env=environ, stdin=pipe, stdout=pipe)
    assert pump.stdin is not None
    assert pump.stdout is not None
    question = {"jsonrpc": "2.0", "id": 1, "method": method, "params": QUESTIONS[method]}
    pump.stdin.write(json.dumps(question).encode() + b"\n")
    pump.stdin.flush()
    return pump, json.loads(pump.stdout.readline())
