"""kx at login: the user unit of systemd or the agent of launchd, written, enabled and taken back."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

from kx.setup.changes import Change
from kx.setup.json_entry import UnchangeableError
from kx.setup.login_files import LABEL, UNIT_NAME, launchd_agent, systemd_unit
from kx.setup.machine import Machine, Run, environment_for, has_user_manager
from kx.setup.records import Records
from kx.setup.splice import between
from kx.setup.target import read_target
from shared.settings import Settings

Command = tuple[str, ...]
NO_SYSTEMD_IN_WSL = (
    "WSL runs no systemd: write [boot] and systemd=true into /etc/wsl.conf, then run in Windows: wsl --shutdown"
)
_SYSTEMCTL = ("systemctl", "--user")


class Login:
    """Start at login on this machine."""

    def __init__(self, settings: Settings, machine: Machine, run: Run) -> None:
        self._settings = settings
        self._machine = machine
        self._run = run

    @property
    def path(self) -> Path:
        """The file that says it."""
        if self._machine.system == "macos":
            return self._settings.user_home / "Library" / "LaunchAgents" / f"{LABEL}.plist"
        return self._settings.xdg_config_home / "systemd" / "user" / UNIT_NAME

    def plan(self, records: Records, *, root: str = "", as_root: bool = False) -> Change:
        """Give the change that makes kx start at login; `root` is the project it is set up with."""
        step = Change(step="login", kind="nothing", path=self.path, root=root)
        if self._machine.system == "other":
            return _refused(step, "only systemd and launchd are known here", skipped=True)
        if self._machine.is_root and not as_root:
            return _refused(step, "you are root, and kx would run as root at every login", skipped=True)
        try:
            target = read_target(self.path, inside=self.path.parent, new_mode=0o644)
            told = self._text()
        except UnchangeableError as error:
            return _refused(step, str(error))
        known = records.of("login", self.path)
        if target.text is not None and target.text != told and known is None:
            return _refused(step, "it is there already, and kx did not write it")
        if target.text == told and self._is_enabled():
            return step
        splice = (
            between(told, 0, 0, "")
            if target.text == told
            else between(target.text or "", 0, len(target.text or ""), told)
        )
        owner = root if known is None else known.root
        return Change(step="login", kind="change", path=self.path, root=owner, target=target, splice=splice)

    def _text(self) -> str:
        command = (*self._machine.launcher, "up")
        environment = environment_for(self._settings)
        if self._machine.system == "macos":
            log = os.fsdecode(self._settings.run_dir / "login.log")
            return launchd_agent(command, environment, log=log).decode()
        return systemd_unit(command, environment)

    def has_manager(self) -> bool:
        """Tell whether somebody is there who starts things for this user."""
        return self._machine.system == "macos" or has_user_manager(self._run)

    def will_run(self, *, was_there: bool) -> tuple[Command, ...]:
        """Give the commands `activate` runs here."""
        return self.starting(again=was_there) if self.has_manager() else ()

    def activate(self, *, was_there: bool) -> tuple[Command, ...]:
        """Let the manager know; gives the commands that are left for the user to type."""
        if not self.has_manager():
            return self.starting()
        return self._all(self.starting(again=was_there))

    def hints(self) -> tuple[str, ...]:
        """Say what to do first where nobody is there to start anything."""
        return (NO_SYSTEMD_IN_WSL,) if self._machine.is_wsl and not self.has_manager() else ()

    def deactivate(self) -> tuple[Command, ...]:
        """End what was started, before its file goes; gives the commands that could not be run."""
        return self._all(self.ending()) if self.has_manager() else ()

    def after_removal(self) -> tuple[Command, ...]:
        """Let the manager forget the file."""
        if self._machine.system == "macos" or not self.has_manager():
            return ()
        return self._all([(*_SYSTEMCTL, "daemon-reload")])

    def starting(self, *, again: bool = False) -> tuple[Command, ...]:
        """Give the commands that enable and start it."""
        if self._machine.system == "macos":
            begin = ("launchctl", "bootstrap", f"gui/{self._machine.uid}", str(self.path))
            return (*(self.ending() if again else ()), begin)
        restart = ((*_SYSTEMCTL, "restart", UNIT_NAME),) if again else ()
        return ((*_SYSTEMCTL, "daemon-reload"), (*_SYSTEMCTL, "enable", "--now", UNIT_NAME), *restart)

    def ending(self) -> tuple[Command, ...]:
        """Give the commands that stop and disable it."""
        if self._machine.system == "macos":
            return (("launchctl", "bootout", f"gui/{self._machine.uid}/{LABEL}"),)
        return ((*_SYSTEMCTL, "disable", "--now", UNIT_NAME),)

    def is_active(self) -> bool:
        """Tell whether the manager runs it now."""
        if self._machine.system == "macos":
            return self._run(("launchctl", "print", f"gui/{self._machine.uid}/{LABEL}")).code == 0
        return self._run((*_SYSTEMCTL, "is-active", "--quiet", UNIT_NAME)).code == 0

    def _is_enabled(self) -> bool:
        """Tell whether nothing is left to do; without a manager only the file can be had."""
        if self._machine.system == "macos":
            return self.is_active()
        return not self.has_manager() or self._run((*_SYSTEMCTL, "is-enabled", "--quiet", UNIT_NAME)).code == 0

    def is_enabled(self) -> bool:
        """Tell whether it starts at the next login."""
        return self.path.is_file() and self.has_manager() and self._is_enabled()

    def _all(self, commands: Sequence[Command]) -> tuple[Command, ...]:
        """Run commands; those that fail are given back. One that only ends what does not run may fail."""
        failed = [command for command in commands if self._run(command).code != 0]
        return tuple(command for command in failed if "bootout" not in command)


def _refused(step: Change, why: str, *, skipped: bool = False) -> Change:
    return Change(step="login", kind="skipped" if skipped else "refused", path=step.path, root=step.root, why=why)
