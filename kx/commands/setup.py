"""`kx setup`: keep kx for a project: its configuration, its index, its agents, and kx at login; and all of it back."""

from __future__ import annotations

import os
from pathlib import Path

import anyio
import click
from msgspec import Struct

from kx.commands.index import Options, Run
from kx.context import Context
from kx.exits import Exit
from kx.login import Command, Login
from kx.render import as_json
from kx.roots import refuse_huge, refuse_unseen
from kx.setup.agents import AGENTS, INSTRUCTIONS, TITLES, Agent
from kx.setup.changes import Change, are_pending, make, take_back
from kx.setup.machine import Machine, present_agents, run_program, this_machine
from kx.setup.plan import Subject, plan_agent, plan_configuration, shown
from kx.setup.records import Records
from kx.setup.report import Report
from kx.setup.undo import plan_undo
from kx.terminal import visible
from shared.errors import ErrorCode, KxError
from shared.project_config import load_project_config
from shared.stack_file import running_stack

JSON_SCHEMA = 1
_ORDER = ("configuration", *AGENTS, "login")


class Wanted(Struct, frozen=True, kw_only=True):
    """What the command line says."""

    agents: tuple[str, ...]
    index: bool
    login: bool
    yes: bool
    dry_run: bool


@click.command(
    "setup", epilog="Examples: kx setup    kx setup --dry-run    kx setup --yes --agent claude    kx setup --undo"
)
@click.argument("path", type=click.Path(path_type=Path), required=False)
@click.option(
    "--agent",
    "agents",
    type=click.Choice([*AGENTS, "all", "none"]),
    multiple=True,
    help="Set up this agent, also where it was not found (default: those that are found).",
)
@click.option("--index/--no-index", default=True, help="Index the project where it is not indexed (default), or not.")
@click.option("--login/--no-login", default=True, help="Start kx at login (default), or not.")
@click.option("--yes", is_flag=True, help="Make every change without asking.")
@click.option("--dry-run", is_flag=True, help="Show every change and make none.")
@click.option("--undo", is_flag=True, help="Take back what setup has changed for this project.")
@click.option(
    "--show",
    type=click.Choice([*AGENTS, "all"]),
    is_flag=False,
    flag_value="all",
    help="Print the ready-made configuration of an agent, or of all, and change nothing.",
)
@click.option("--json", "is_json", is_flag=True, help="Print JSON (documented in docs/commands.md).")
@click.pass_obj
def command(  # noqa: PLR0913  # one parameter an option
    context: Context,
    path: Path | None,
    *,
    agents: tuple[str, ...],
    index: bool,
    login: bool,
    yes: bool,
    dry_run: bool,
    undo: bool,
    show: str | None,
    is_json: bool,
) -> int:
    """Keep kx for the project of PATH: configuration, index, agents, start at login.

    Each change is shown before it is made, and asked about. What is there already stays as it is, and kx setup --undo takes
    back exactly what was changed.
    """
    _refuse_both(undo=undo, show=show is not None)
    root = context.find(path)[0].root
    subject = Subject(root=root, project=load_project_config(root, context.settings).config.project)
    if show is not None:
        return _show(
            context, subject, AGENTS if show == "all" else tuple(one for one in AGENTS if one == show), is_json
        )
    wanted = Wanted(agents=agents, index=index, login=login, yes=yes, dry_run=dry_run)
    setup = Setup(context, subject, wanted, is_json=is_json)
    return setup.undo() if undo else setup.go()


class Setup:
    """One run."""

    def __init__(self, context: Context, subject: Subject, wanted: Wanted, *, is_json: bool) -> None:
        self._context = context
        self._subject = subject
        self._wanted = wanted
        self._machine: Machine = this_machine()
        self._records = Records(context.settings)
        self._login = Login(context.settings, self._machine, run_program)
        self._report = Report(context, is_json=is_json)
        self._has_failed = False

    def go(self) -> int:
        """Show, ask, change; or only show."""
        refuse_huge(self._context, self._subject.root, is_meant=self._wanted.yes or self._wanted.dry_run)
        changes = self._plan()
        if not self._may_change(changes):
            for change in changes:
                self._report.planned(change)
            return self._end(changes)
        has_configuration = True
        for change in changes:
            if change.step in AGENTS and not has_configuration:
                self._report.skipped(change, "without a .kx.json agents cannot name the project")
                continue
            is_made = self._offer(change)
            if is_made is None:
                return Exit.INTERRUPTED
            has_configuration = has_configuration and (is_made or change.step != "configuration")
        return self._end(changes)

    def _plan(self) -> list[Change]:
        subject, settings = self._subject, self._context.settings
        changes = [plan_configuration(subject)]
        if self._wanted.index:
            changes.append(self._plan_index())
        changes += [plan_agent(agent, subject, self._machine, settings) for agent in self._agents()]
        if self._wanted.login:
            changes.append(self._login.plan(self._records, root=os.fsdecode(subject.root)))
        return changes

    def _plan_index(self) -> Change:
        root = self._subject.root
        found = self._context.registry.find(root, load_project_config(root, self._context.settings))
        is_there = found is not None and found.index_path.exists()
        return Change(step="index", kind="nothing" if is_there else "change", path=root)

    def _agents(self) -> tuple[Agent, ...]:
        named = self._wanted.agents
        if "none" in named:
            return ()
        if "all" in named:
            return AGENTS
        return (
            tuple(one for one in AGENTS if one in named)
            if named
            else present_agents(self._context.settings, self._subject.root)
        )

    def _may_change(self, changes: list[Change]) -> bool:
        if self._wanted.dry_run:
            return False
        can_ask = self._context.can_ask() and not self._report.is_json  # a program gets one document, and is not asked
        return self._wanted.yes or can_ask or not are_pending(changes)

    def _offer(self, change: Change) -> bool | None:
        """Make a change if it is wanted; None when it was interrupted."""
        if change.kind != "change":
            self._report.planned(change)
            return change.kind == "nothing"
        is_login = change.step == "login"
        was_there = change.target is not None and change.target.text is not None
        self._report.diff(change, self._login.will_run(was_there=was_there) if is_login else ())
        if not self._wanted.yes and not self._context.confirm("Do this?"):
            self._report.ended(change, "declined")
            return False
        if change.step == "index":
            return self._index(change)
        try:
            make(change, self._records)
        except OSError:
            self._report.ended(change, "refused", why="it cannot be written")
            self._has_failed = True
            return False
        left: tuple[Command, ...] = self._login.activate(was_there=was_there) if is_login else ()
        self._report.ended(change, "done", commands=left, hints=self._login.hints() if left else ())
        return True

    def _index(self, change: Change) -> bool | None:
        if running_stack(self._context.settings.run_dir) is not None:
            refuse_unseen(self._context, self._subject.root, is_meant=self._wanted.yes)
        project = self._context.enrol(self._subject.root)
        options = Options(full=False, retry_failed=False, upto="text", is_meant=self._wanted.yes)
        if not anyio.run(Run(self._context, project, ("",), options).go, None):
            self._report.ended(change, "declined")
            return None
        self._report.ended(change, "done")
        return True

    def _end(self, changes: list[Change]) -> int:
        is_unasked = are_pending(changes) and not self._may_change(changes) and not self._wanted.dry_run
        if is_unasked:
            self._context.tell("nothing was changed: there is no terminal to ask on; with --yes all of it is done")
        elif self._wanted.dry_run and are_pending(changes):
            self._context.tell("nothing was changed; without --dry-run each change is asked about")
        elif not are_pending(changes):
            self._context.tell("nothing to change")
        if self._report.has_told_agents:
            self._context.tell("agents see kx when they are started anew")
        self._report.print()
        is_refused = self._has_failed or any(change.kind == "refused" for change in changes)
        return Exit.FAILED if is_unasked or is_refused else Exit.DONE

    def undo(self) -> int:
        """Show what goes back, ask, take it back; or only show."""
        records = self._records.all()
        root = os.fsdecode(self._subject.root)
        has_others = any(one.root != root and one.what != "login" for one in records)
        mine = [one for one in records if one.root == root and one.what != "login"]
        if not has_others:  # the last project that was set up takes login with it; one installed by itself stays
            mine += [one for one in records if one.what == "login" and one.root]
        mine.sort(key=lambda record: _ORDER.index(record.what), reverse=True)
        changes = [plan_undo(record, self._context.settings) for record in mine]
        may_change = self._may_change(changes)
        for change in changes:
            if may_change:
                self._offer_back(change)
            else:
                self._report.planned(change)
        code = self._end(changes)
        project = self._context.registry.find(self._subject.root)
        if project is not None and project.index_path.exists():
            self._context.tell("the index stays; to remove it: kx project remove --delete-index {root}", root=root)
        return code

    def _offer_back(self, change: Change) -> None:
        if change.kind != "change":
            take_back(change, self._records)
            self._report.planned(change)
            return
        is_login = change.step == "login"
        self._report.diff(change, self._login.ending() if is_login and self._login.has_manager() else ())
        if not self._wanted.yes and not self._context.confirm("Do this?"):
            self._report.ended(change, "declined")
            return
        left = self._login.deactivate() if is_login else ()
        try:
            take_back(change, self._records)
        except OSError:
            self._report.ended(change, "refused", why="it cannot be written")
            self._has_failed = True
            return
        left += self._login.after_removal() if is_login else ()
        self._report.ended(change, "done", commands=left)


def _show(context: Context, subject: Subject, agents: tuple[Agent, ...], is_json: bool) -> int:
    found = shown(agents, subject, this_machine(), context.settings)
    words = context.catalogue.text(INSTRUCTIONS)
    if is_json:
        rows = [{"agent": one, "file": str(path), "content": text} for one, (path, text) in found.items()]
        context.say(as_json({"schema": JSON_SCHEMA, "agents": rows, "instructions": words}))
        return Exit.DONE
    for agent, (path, text) in found.items():
        context.say(visible(f"# {TITLES[agent]}: {path}") + f"\n{visible(text)}")
    context.say(context.catalogue.text("# What helps in CLAUDE.md or AGENTS.md; kx never writes it:") + f"\n{words}")
    return Exit.DONE


def _refuse_both(*, undo: bool, show: bool) -> None:
    if undo and show:
        raise KxError(ErrorCode.USAGE, "--undo and --show exclude each other", hint="give one of the two")
