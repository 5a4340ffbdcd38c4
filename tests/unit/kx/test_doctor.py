"""What the doctor finds, each fault by its own name, and what it leaves alone."""

from __future__ import annotations

from pathlib import Path

import pytest
from msgspec.structs import replace

from kx import doctor
from kx.doctor import Finding, examine
from shared.identity import InstanceId
from shared.index_open import open_writer
from shared.project_config import load_project_config
from shared.registry import Project, Registry
from shared.settings import Settings, ensure_home
from tests.support.configs import make_settings


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    made = make_settings(tmp_path)
    ensure_home(made)
    return made


def make_shop(settings: Settings, root: Path) -> Project:
    root.mkdir()
    return Registry(settings).enrol(root, load_project_config(root, settings))


def troubles(settings: Settings) -> dict[str, Finding]:
    return {one.check: one for one in examine(settings) if one.state != "ok"}


def test_a_sound_machine_has_nothing_to_mend(settings, tmp_path):
    """Every check is made, and none finds a fault."""
    project = make_shop(settings, tmp_path / "shop")
    open_writer(project.index_path, project.instance, project="shop", root=project.root).close()
    assert [one for one in examine(settings) if one.state == "error"] == []
    assert {"installation", "database", "model", "home", "bus", "stack", "tokens", "project"} <= {
        one.check for one in examine(settings)
    }


def test_a_home_that_is_not_made_yet_is_not_made_by_looking(tmp_path):
    """The doctor changes nothing."""
    settings = make_settings(tmp_path / "fresh")
    assert [one for one in examine(settings) if one.state == "error"] == []
    assert not settings.home.exists()


def test_a_model_that_is_not_there_is_named_with_its_repair(settings, tmp_path):
    """What kx would say at the first search is said before it."""
    found = troubles(replace(settings, model_dir=tmp_path / "no-model"))["model"]
    assert (found.state, found.code) == ("error", "KX_MODEL_MISSING")
    assert found.hint


def test_a_home_that_cannot_be_written_is_named(settings, monkeypatch):
    """Found by asking whether, because whoever runs the tests may be allowed everything."""
    run = str(settings.run_dir)
    monkeypatch.setattr("os.access", lambda path, _: str(path) != run)
    found = troubles(settings)["home"]
    assert (found.state, found.params["folder"]) == ("error", run)


def test_damaged_knowledge_and_memory_are_named(settings):
    """What people wrote cannot be built anew: who looks after the machine hears of it before somebody needs it."""
    assert "knowledge" not in troubles(settings)
    for path in (settings.home / "knowledge.sqlite", settings.memory_dir / "0123456789abcdef.sqlite"):
        path.write_bytes(b"no database, for sure" * 100)
        found = troubles(settings)["knowledge"]
        assert (found.state, found.code, found.params["path"]) == ("error", "KX_KNOWLEDGE_DAMAGED", str(path))
        path.unlink()


def test_a_project_without_an_index_is_named_by_its_folder(settings, tmp_path):
    """The hint works from wherever it is read."""
    project = make_shop(settings, tmp_path / "shop")
    found = troubles(settings)["project"]
    assert (found.state, found.params["root"]) == ("warning", project.root)
    assert "kx index {root}" in found.hint


def test_a_damaged_index_a_foreign_one_and_a_lost_folder_are_told_apart(settings, tmp_path):
    """Each with what to do; one bad project hides no other."""
    damaged, foreign, lost = (make_shop(settings, tmp_path / name) for name in ("damaged", "foreign", "lost"))
    damaged.index_path.write_bytes(b"no database" * 1000)
    other = InstanceId("0123456789abcdef")
    open_writer(foreign.index_path, other, project="other", root="/elsewhere").close()
    lost.root_path.rmdir()
    found = [one for one in examine(settings) if one.check == "project"]
    assert sorted((one.state, one.code) for one in found) == [
        ("error", "KX_INDEX_DAMAGED"),
        ("error", "KX_INDEX_FOREIGN"),
        ("warning", ""),
    ]
    assert all(one.hint for one in found)


def test_a_token_file_that_cannot_be_read_is_told(settings):
    """It lets nobody in, and its owner should know why."""
    (settings.home / "tokens.sqlite").write_bytes(b"x" * 4096)
    assert troubles(settings)["tokens"].state == "error"


def test_little_space_and_few_watches_are_warnings(settings, tmp_path, monkeypatch):
    """What will fail later is told now."""
    few = tmp_path / "max_user_watches"
    few.write_text("8192\n")
    monkeypatch.setattr(doctor, "_WATCHES", few)
    monkeypatch.setattr(doctor, "LITTLE_DISK_BYTES", 1 << 60)
    found = troubles(settings)
    assert (found["watching"].state, found["home"].state) == ("warning", "warning")
