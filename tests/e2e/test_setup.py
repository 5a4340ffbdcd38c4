"""`kx setup` as a new user runs it: everything in, nothing twice, everything out again."""

from __future__ import annotations

import json
import os
import tomllib

ALL = ("setup", "--agent", "all")


def snapshot(folder):
    """Every file below a folder, but kx's own home."""
    return {
        str(path): path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file() and ".kx" not in path.parts
    }


def test_setup_keeps_a_project_and_undo_gives_the_bytes_back(kx, tree):
    """R-SET-4: an empty home and a tree: files as documented, a second run without change, undo to the byte."""
    home = kx.home.parent
    (home / ".codex").mkdir(parents=True)
    (home / ".codex" / "config.toml").write_text('model = "o3" # mine')
    before = snapshot(tree.parent)
    ran = kx(*ALL, "--yes", cwd=tree)
    assert ran.code == 0, ran.err
    assert json.loads((tree / ".kx.json").read_text())["mcp"]["projectId"]
    arguments = ["mcp", "--strict-project-root", "--project-root", str(tree)]
    for path in (tree / ".mcp.json", tree / ".cursor" / "mcp.json"):
        assert json.loads(path.read_text())["mcpServers"]["kx"]["args"][-4:] == arguments
    codex = tomllib.loads((home / ".codex" / "config.toml").read_text())
    assert codex["mcp_servers"]["kx-shop"]["args"][-4:] == arguments
    unit = home / ".config" / "systemd" / "user" / "kx.service"
    assert unit.exists() == (os.geteuid() != 0)
    assert kx("search", "circuit-open", "--in", tree, "--json").json()["total"] > 0

    after = snapshot(tree.parent)
    again = kx(*ALL, "--yes", "--json", cwd=tree)
    assert {step["state"] for step in again.json()["steps"]} <= {"nothing", "skipped"}
    assert "nothing to change" in again.err
    assert snapshot(tree.parent) == after

    assert kx("setup", "--undo", "--yes", cwd=tree).code == 0
    assert snapshot(tree.parent) == before


def test_without_a_terminal_nothing_is_changed(kx, tree):
    """R-SET-8: what would be done is shown, and the exit code says that it was not."""
    before = snapshot(tree.parent)
    shown, dry = kx(*ALL, cwd=tree), kx(*ALL, "--dry-run", "--json", cwd=tree)
    assert (shown.code, dry.code) == (1, 0)
    assert '+  "mcpServers": {' in shown.out
    assert {step["step"] for step in dry.json()["steps"] if step["state"] == "planned"} >= {
        "configuration",
        "index",
        "claude",
        "codex",
        "cursor",
    }
    assert snapshot(tree.parent) == before
    assert not kx.home.exists() or not any(kx.home.rglob("*.sqlite"))


def test_a_file_that_cannot_be_changed_is_named_with_what_to_paste(kx, tree):
    """R-SET-2: comments in JSON: left as it is, the others are set up all the same."""
    commented = '{\n  // our servers\n  "mcpServers": {}\n}\n'
    (tree / ".mcp.json").write_text(commented)
    ran = kx("setup", "--yes", "--agent", "claude", "--agent", "cursor", "--no-index", "--no-login", "--json", cwd=tree)
    states = {step["step"]: step for step in ran.json()["steps"]}
    assert (ran.code, states["claude"]["state"], states["cursor"]["state"]) == (1, "refused", "done")
    assert str(tree) in states["claude"]["paste"]
    assert (tree / ".mcp.json").read_text() == commented


def test_ready_made_configuration_is_printed_and_nothing_written(kx, tree):
    """R-SET-8: `--show` for whoever writes it by hand."""
    before = snapshot(tree.parent)
    ran = kx("setup", "--show", "codex", cwd=tree)
    assert "[mcp_servers.kx-shop]" in ran.out
    rows = kx("setup", "--show", "--json", cwd=tree).json()
    assert [row["agent"] for row in rows["agents"]] == ["claude", "codex", "cursor"]
    assert "expected_project_id" in rows["instructions"]
    assert snapshot(tree.parent) == before


def test_service_is_installed_and_uninstalled(kx):
    """R-SET-7: the file is written, what is left to type is shown, and it goes without a trace."""
    unit = kx.home.parent / ".config" / "systemd" / "user" / "kx.service"
    if os.geteuid() == 0:
        assert kx("service", "install").code == 2
    (step,) = kx("service", "install", "--as-root", "--json").json()["steps"]
    assert "KX_HOME=" not in unit.read_text()
    assert ' "up"' in unit.read_text()
    status = kx("service", "status", "--json").json()
    assert (status["file"], status["installed"]) == (str(unit), True)
    assert status["enabled"] or "systemctl --user enable --now kx.service" in step["commands"]
    assert [step["state"] for step in kx("service", "uninstall", "--json").json()["steps"]] == ["done"]
    assert kx("service", "uninstall", "--json").json()["steps"] == []
    assert not (kx.home.parent / ".config").exists()


def test_login_goes_with_the_last_project_that_was_set_up(kx, tree, tmp_path):
    """R-SET-4: undone in any order, nothing is left; one that was installed by itself stays."""
    other = tmp_path / "other"
    other.mkdir()
    for root in (tree, other):
        assert kx("setup", "--yes", "--agent", "codex", "--no-index", cwd=root).code == 0
    codex = kx.home.parent / ".codex" / "config.toml"
    assert set(tomllib.loads(codex.read_text())["mcp_servers"]) == {"kx-shop", "kx-other"}
    assert kx("setup", "--undo", "--yes", cwd=tree).code == 0
    assert set(tomllib.loads(codex.read_text())["mcp_servers"]) == {"kx-other"}
    assert kx("setup", "--undo", "--yes", cwd=other).code == 0
    assert not codex.parent.exists()
    assert not (kx.home.parent / ".config").exists()
