"""What starts kx at login: the texts, and who is told of them."""

from __future__ import annotations

import plistlib
import shlex
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path

import pytest
from msgspec.structs import replace

from kx.login import Login
from kx.setup.changes import make, take_back
from kx.setup.json_entry import UnchangeableError
from kx.setup.login_files import launchd_agent, systemd_unit
from kx.setup.machine import Ended, Machine
from kx.setup.records import Records
from kx.setup.undo import plan_undo
from tests.support.configs import make_settings

LINUX = Machine(
    system="linux", is_root=False, is_wsl=False, uid=1000, launcher=("/opt/kx/bin/kx",), agent_command=("kx",)
)
ODD = "/tmp/a b/%h $HOME 'q' \"d\" \\ ção;#/kx"


class FakeManager:
    """systemd or launchd as far as it is asked."""

    def __init__(self, *, state: str = "running") -> None:
        self.state = state
        self.ran: list[str] = []
        self.enabled = False

    def __call__(self, command: Sequence[str]) -> Ended:
        """Note what changes something, answer what asks."""
        words = shlex.join(command)
        if "is-system-running" in words:
            return Ended(code=0 if self.state == "running" else 1, out=self.state)
        if "is-enabled" in words or "is-active" in words or " print " in words:
            return Ended(code=0 if self.enabled else 1)
        self.ran.append(words)
        self.enabled = "enable" in words.split() or "bootstrap" in words or ("reload" in words and self.enabled)
        return Ended(code=0)


def test_unit_starts_the_launcher_with_its_home():
    """R-SET-6: the installed launcher, the home where it is another, again after a failure."""
    unit = systemd_unit(("/opt/kx/bin/kx", "up"), {"KX_HOME": "/data/100%/kx"})
    assert 'ExecStart="/opt/kx/bin/kx" "up"\n' in unit
    assert 'Environment="KX_HOME=/data/100%%/kx"\n' in unit
    assert "Restart=on-failure\n" in unit
    assert "RestrictAddressFamilies=AF_UNIX AF_INET AF_INET6\n" in unit
    assert "Environment" not in systemd_unit(("/opt/kx/bin/kx", "up"), {})


@pytest.mark.skipif(shutil.which("systemd-analyze") is None, reason="no systemd here")
def test_systemd_itself_understands_any_path(tmp_path):
    """R-SET-6: spaces, percent signs, quotes, dollars and accents, judged by systemd's own parser."""
    for number, folder in enumerate(["plain", "a b", "100% ç", "$HOME", "q\"d'q", "back\\slash"]):
        program = tmp_path / folder / "kx"
        program.parent.mkdir()
        program.write_text("#!/bin/sh\n")
        program.chmod(0o755)
        unit = tmp_path / f"kx{number}.service"
        unit.write_text(systemd_unit((str(program), "up"), {"KX_HOME": str(program.parent)}))
        ran = subprocess.run(
            ["systemd-analyze", "verify", "--user", "--man=no", str(unit)],
            env={"XDG_RUNTIME_DIR": str(tmp_path), "HOME": str(tmp_path), "PATH": "/usr/bin:/bin"},
            capture_output=True,
            check=False,
        )
        assert (ran.returncode, ran.stderr) == (0, b""), folder


def test_agent_of_launchd_is_a_sound_property_list():
    """R-SET-6: every path comes back as it was."""
    agent = plistlib.loads(launchd_agent((ODD, "up"), {"KX_HOME": ODD}, log=ODD))
    assert agent["ProgramArguments"] == [ODD, "up"]
    assert agent["EnvironmentVariables"] == {"KX_HOME": ODD}
    assert (agent["RunAtLoad"], agent["KeepAlive"]) == (True, {"SuccessfulExit": False})


@pytest.mark.parametrize("path", ["/a\udcff/kx", "/a\x01/kx"], ids=["no UTF-8", "control"])
def test_a_path_that_cannot_be_said_is_refused(path: str):
    """Better nothing than another program."""
    with pytest.raises(UnchangeableError):
        launchd_agent((path, "up"), {}, log="/l")
    if path.isascii():
        assert "\\x01" in systemd_unit((path, "up"), {})
    else:
        with pytest.raises(UnchangeableError):
            systemd_unit((path, "up"), {})


def test_login_is_written_enabled_and_taken_back_to_the_byte(tmp_path):
    """R-SET-7: the second time nothing is left to do; undone, neither file nor folder is left."""
    settings, manager = make_settings(tmp_path), FakeManager()
    login, records = Login(settings, LINUX, manager), Records(settings)
    change = login.plan(records)
    make(change, records)
    assert login.activate(was_there=False) == ()
    assert manager.ran == ["systemctl --user daemon-reload", "systemctl --user enable --now kx.service"]
    assert login.plan(records).kind == "nothing"
    record = records.of("login", login.path)
    assert record is not None
    assert login.deactivate() == ()
    take_back(plan_undo(record, settings), records)
    assert login.after_removal() == ()
    assert manager.ran[2:] == ["systemctl --user disable --now kx.service", "systemctl --user daemon-reload"]
    assert list(tmp_path.rglob("systemd")) == []
    assert records.all() == []


def test_where_nobody_manages_services_the_commands_are_left_to_type(tmp_path):
    """R-SET-7: a container, or WSL without systemd, which is also told how to get one."""
    login = Login(make_settings(tmp_path), replace(LINUX, is_wsl=True), FakeManager(state="offline"))
    assert [" ".join(command) for command in login.activate(was_there=False)] == [
        "systemctl --user daemon-reload",
        "systemctl --user enable --now kx.service",
    ]
    assert "systemd=true" in login.hints()[0]


def test_on_macos_the_agent_is_loaded_into_the_users_session(tmp_path):
    """R-SET-7: by launchctl bootstrap, and out again by bootout."""
    settings, manager = make_settings(tmp_path), FakeManager()
    login, records = Login(settings, replace(LINUX, system="macos", uid=501), manager), Records(settings)
    make(login.plan(records), records)
    login.activate(was_there=False)
    path = tmp_path / "Library" / "LaunchAgents" / "local.kx.plist"
    assert manager.ran == [shlex.join(["launchctl", "bootstrap", "gui/501", str(path)])]
    assert login.plan(records).kind == "nothing"
    login.deactivate()
    assert manager.ran[-1] == "launchctl bootout gui/501/local.kx"


def test_a_unit_of_the_users_own_and_root_are_let_alone(tmp_path):
    """R-SET-7: what kx did not write it does not replace, and root is never meant in silence."""
    settings = make_settings(tmp_path)
    login = Login(settings, LINUX, FakeManager())
    login.path.parent.mkdir(parents=True)
    login.path.write_text("[Service]\nExecStart=kx up\n")
    assert login.plan(Records(settings)).kind == "refused"
    assert Login(settings, replace(LINUX, is_root=True), FakeManager()).plan(Records(settings)).kind == "skipped"
    login.path.unlink()
    assert (
        Login(settings, replace(LINUX, is_root=True), FakeManager()).plan(Records(settings), as_root=True).kind
        == "change"
    )


def test_a_moved_launcher_is_followed_and_started_again(tmp_path):
    """A new installation of kx elsewhere: the unit that kx wrote is brought up to date."""
    settings, manager = make_settings(tmp_path), FakeManager()
    records = Records(settings)
    make(Login(settings, LINUX, manager).plan(records), records)
    login = Login(settings, replace(LINUX, launcher=("/new/kx",)), manager)
    make(login.plan(records), records)
    login.activate(was_there=True)
    assert manager.ran[-1] == "systemctl --user restart kx.service"
    assert "/new/kx" in login.path.read_text()
    take_back(plan_undo(records.all()[0], settings), records)
    assert not login.path.exists()
    assert isinstance(login.path, Path)
