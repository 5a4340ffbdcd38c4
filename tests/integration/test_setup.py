"""Setting a project up and taking it back, on real files: links, permissions, and what the user did in between."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from kx.setup.changes import Change, make, take_back
from kx.setup.machine import Machine, present_agents
from kx.setup.plan import Subject, plan_agent, plan_configuration
from kx.setup.records import Records
from kx.setup.undo import plan_undo
from shared.errors import KxError
from shared.settings import Settings
from tests.support.configs import make_settings

MACHINE = Machine(
    system="linux", is_root=False, is_wsl=False, uid=1000, launcher=("/opt/kx/bin/kx",), agent_command=("kx",)
)
OTHERS = '{\n\t"mcpServers": {\n\t\t"db": {"command": "db",\n\t\t\t"env": {"TOKEN": "canary"}}\n\t},\n\t"x": 1\n}'


class Shop:
    """A project in a home, and the settings of its user."""

    def __init__(self, home: Path) -> None:
        self.settings: Settings = make_settings(home)
        self.records = Records(self.settings)
        self.root = home / "shop"
        self.root.mkdir()
        self.subject = Subject(root=self.root, project="shop")

    def plan(self, agent: str) -> Change:
        """Look at one agent."""
        return plan_agent(agent, self.subject, MACHINE, self.settings)  # type: ignore[arg-type]

    def set_up(self, agent: str) -> Path:
        """Set one agent up and give its file."""
        change = self.plan(agent)
        assert change.path is not None
        make(change, self.records)
        return change.path

    def undo(self) -> list[Change]:
        """Take everything back."""
        changes = [plan_undo(record, self.settings) for record in self.records.all()]
        for change in changes:
            take_back(change, self.records)
        return changes


@pytest.fixture
def shop(tmp_path: Path) -> Shop:
    return Shop(tmp_path)


@pytest.mark.parametrize(
    ("agent", "name", "text"),
    [
        ("claude", "shop/.mcp.json", OTHERS),
        ("cursor", "shop/.cursor/mcp.json", OTHERS.replace("\n", "\r\n")),
        ("codex", ".codex/config.toml", 'model = "o3"\n\n# mine\n[mcp_servers.db]\ncommand = "db"'),
    ],
)
def test_set_up_twice_and_undone_the_file_is_what_it_was(shop, tmp_path, agent, name, text):
    """R-SET-4: the second time there is nothing to do; undone, bytes and permissions are those of before."""
    path = tmp_path / name
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(text.encode())
    path.chmod(0o640)
    assert shop.set_up(agent) == path
    assert (b"--strict-project-root" in path.read_bytes(), path.stat().st_mode & 0o777) == (True, 0o640)
    assert shop.plan(agent).kind == "nothing"
    shop.undo()
    assert (path.read_bytes(), path.stat().st_mode & 0o777) == (text.encode(), 0o640)
    assert not (shop.settings.home / "setup").exists()


@pytest.mark.parametrize("agent", ["claude", "cursor", "codex"])
def test_files_and_folders_that_setup_made_go_with_it(shop, tmp_path, agent):
    """R-SET-4: nothing is left of what was not there."""
    before = set(tmp_path.iterdir())
    path = shop.set_up(agent)
    assert path.stat().st_mode & 0o777 == (0o600 if agent == "codex" else 0o644)
    shop.undo()
    assert set(tmp_path.iterdir()) - {shop.settings.home} == before
    assert list(shop.root.iterdir()) == []


@pytest.mark.parametrize("agent", ["claude", "codex"])
def test_what_the_user_changed_since_stays(shop, agent):
    """R-SET-5: of a file that was edited our own entry alone is taken out."""
    path = shop.set_up(agent)
    if agent == "codex":
        path.write_text(path.read_text() + "\n# to be filled in\n")
        left = "\n# to be filled in\n"
    else:
        edited = json.loads(path.read_text())
        edited["mcpServers"] = {"db": {"command": "db"}, "kx": {**edited["mcpServers"]["kx"], "disabled": True}}
        path.write_text(json.dumps(edited, indent=1))
        left = json.dumps({"mcpServers": {"db": {"command": "db"}}}, indent=1)
    shop.undo()
    assert path.read_text() == left
    assert shop.records.all() == []


def test_an_entry_that_was_replaced_comes_back(shop):
    """R-SET-5: also when another line was changed meanwhile."""
    path = shop.root / ".mcp.json"
    text = '{"mcpServers": {"kx": {"command": "npx", "args": ["kx"]}}, "x": 1}'
    path.write_text(text)
    shop.set_up("claude")
    path.write_text(path.read_text().replace('"x": 1', '"x": 2'))
    shop.undo()
    assert path.read_text() == text.replace('"x": 1', '"x": 2')


def test_a_configuration_that_was_edited_is_left_and_said(shop):
    """R-SET-5: rules the user wrote into it are not thrown away."""
    make(plan_configuration(shop.subject), shop.records)
    path = shop.root / ".kx.json"
    path.write_text(path.read_text().replace("shop", "shops"))
    assert [change.kind for change in shop.undo()] == ["refused"]
    assert path.exists()
    path.unlink()
    assert [change.kind for change in shop.undo()] == ["nothing"]
    assert shop.records.all() == []


def test_no_link_leads_out_of_the_project(shop, tmp_path):
    """R-SET-2: a clone cannot have kx write into the home; links inside, and of the home's own files, are followed."""
    outside = tmp_path / "settings.json"
    outside.write_text("{}")
    (shop.root / ".mcp.json").symlink_to(outside)
    (shop.root / ".cursor").symlink_to(tmp_path)
    assert [shop.plan(agent).kind for agent in ("claude", "cursor")] == ["refused", "refused"]
    assert "--project-root" in shop.plan("claude").paste
    dotfiles = tmp_path / "dotfiles"
    dotfiles.mkdir()
    (dotfiles / "config.toml").write_text("a = 1\n")
    (tmp_path / ".codex").mkdir()
    (tmp_path / ".codex" / "config.toml").symlink_to(dotfiles / "config.toml")
    shop.set_up("codex")
    assert "kx-shop" in (dotfiles / "config.toml").read_text()
    assert (tmp_path / ".codex" / "config.toml").is_symlink()


def test_strange_files_are_refused(shop):
    """R-SET-2: a pipe is not waited for, bytes that are no text are not rewritten."""
    path = shop.root / ".mcp.json"
    os.mkfifo(path)
    assert shop.plan("claude").kind == "refused"
    path.unlink()
    path.write_bytes(b'{"a": "\xff"}')
    assert (shop.plan("claude").kind, path.read_bytes()) == ("refused", b'{"a": "\xff"}')


def test_a_file_that_changed_between_look_and_write_is_not_overwritten(shop):
    """R-SET-2: an agent may write its own file at the same moment."""
    path = shop.root / ".mcp.json"
    path.write_text("{}")
    change = shop.plan("claude")
    path.write_text('{"mine": 1}')
    with pytest.raises(KxError):
        make(change, shop.records)
    assert path.read_text() == '{"mine": 1}'
    assert shop.records.all() == []


def test_records_hold_no_key_of_another_server(shop):
    """R-SET-3: only kx's own lines are kept for the way back."""
    (shop.root / ".mcp.json").write_text(OTHERS)
    shop.set_up("claude")
    assert all(b"canary" not in path.read_bytes() for path in (shop.settings.home / "setup").iterdir())


def test_agents_are_found_by_their_folders(shop, tmp_path, monkeypatch):
    """Only those that are used here are offered."""
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    assert present_agents(shop.settings, shop.root) == ()
    (tmp_path / ".codex").mkdir()
    (shop.root / ".cursor").mkdir()
    program = tmp_path / "bin" / "claude"
    program.parent.mkdir()
    program.write_text("#!/bin/sh\n")
    program.chmod(0o755)
    assert present_agents(shop.settings, shop.root) == ("claude", "codex", "cursor")
