"""One entry for each tree, whatever happens to it."""

from __future__ import annotations

import errno
import os
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from shared import atomic_file
from shared.errors import ErrorCode, KxError
from shared.project_config import load_project_config
from shared.registry import Project, Registry
from shared.settings import Settings, ensure_home
from tests.support.configs import make_root, make_settings

ID_A = "3f8e2c1a-9d1b-4c5e-8f7a-0123456789ab"
ID_B = "aaaaaaaa-9d1b-4c5e-8f7a-0123456789ab"


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    return make_settings(tmp_path)


@pytest.fixture
def registry(settings: Settings) -> Registry:
    return Registry(settings)


def enrol(registry: Registry, settings: Settings, root: Path) -> Project:
    """Enrol a root with its own configuration."""
    return registry.enrol(root, load_project_config(root, settings))


def code_of(caught: pytest.ExceptionInfo[KxError]) -> ErrorCode:
    """Give the code."""
    return caught.value.code


def test_first_use_mints_an_instance_and_later_uses_find_it(
    tmp_path: Path, registry: Registry, settings: Settings
) -> None:
    """MISSION 1.6."""
    root = make_root(tmp_path, config={"project": "a", "mcp": {"projectId": ID_A}})
    first = enrol(registry, settings, root)
    assert (first.project, first.project_id, first.root) == ("a", ID_A, str(root))
    assert first.index == str(settings.data_dir / "a.sqlite")
    assert enrol(registry, settings, root) == registry.get(first.instance) == registry.find(root) == first
    assert registry.projects() == (first,)


def test_entry_is_private_and_nothing_is_written_into_the_tree(
    tmp_path: Path, registry: Registry, settings: Settings
) -> None:
    """MISSION 1.2 and 1.4."""
    root = make_root(tmp_path)
    project = enrol(registry, settings, root)
    path = settings.projects_dir / f"{project.instance}.json"
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert list(root.iterdir()) == []


def test_link_to_a_root_is_the_same_project(tmp_path: Path, registry: Registry, settings: Settings) -> None:
    """Row A2: the canonical root counts."""
    project = enrol(registry, settings, make_root(tmp_path))
    (tmp_path / "link").symlink_to("proj")
    assert enrol(registry, settings, tmp_path / "link") == project


def test_two_clones_are_two_instances_with_two_indexes(tmp_path: Path, registry: Registry, settings: Settings) -> None:
    """MISSION 1.6: a taken default name gets eight digits of the instance; so does one that differs in case only."""
    first = enrol(registry, settings, make_root(tmp_path, "a", {"project": "same"}))
    second = enrol(registry, settings, make_root(tmp_path, "b", {"project": "same"}))
    third = enrol(registry, settings, make_root(tmp_path, "c", {"project": "SAME"}))
    assert first.index_path.name == "same.sqlite"
    assert second.index_path.name == f"same-{second.instance[:8]}.sqlite"
    assert third.index_path.name == f"SAME-{third.instance[:8]}.sqlite"


def test_forgotten_index_is_not_taken_over(tmp_path: Path, registry: Registry, settings: Settings) -> None:
    """A file nobody claims holds another instance's rows."""
    root = make_root(tmp_path)
    first = enrol(registry, settings, root)
    first.index_path.touch()
    registry.remove(first.instance)
    second = enrol(registry, settings, root)
    assert (second.instance != first.instance, second.index != first.index) == (True, True)


def test_project_name_cannot_take_the_index_of_a_space(tmp_path: Path, registry: Registry, settings: Settings) -> None:
    """Index files of knowledge spaces are called space-{id}.sqlite."""
    project = enrol(registry, settings, make_root(tmp_path, config={"project": "space-1"}))
    assert project.index_path.name == f"space-1-{project.instance[:8]}.sqlite"


def test_explicit_index_of_another_instance_is_foreign(tmp_path: Path, registry: Registry, settings: Settings) -> None:
    """MISSION 1.6."""
    enrol(registry, settings, make_root(tmp_path, "a", {"index": "x.sqlite"}))
    with pytest.raises(KxError) as caught:
        enrol(registry, settings, make_root(tmp_path, "b", {"index": "~/.kx/data/x.sqlite"}))
    assert code_of(caught) is ErrorCode.INDEX_FOREIGN
    assert len(registry.projects()) == 1


def test_changed_name_and_id_are_recorded_and_the_index_stays(
    tmp_path: Path, registry: Registry, settings: Settings
) -> None:
    """A renamed project keeps its instance and its index."""
    root = make_root(tmp_path, config={"project": "a"})
    before = enrol(registry, settings, root)
    make_root(tmp_path, config={"project": "b", "mcp": {"projectId": ID_B}})
    after = registry.refresh(before, load_project_config(root, settings))
    assert (after.instance, after.index, after.project, after.project_id) == (before.instance, before.index, "b", ID_B)
    assert registry.get(before.instance) == after


def test_moved_tree_keeps_its_instance(tmp_path: Path, registry: Registry, settings: Settings) -> None:
    """Device and inode tell that the same folder now lies elsewhere."""
    root = make_root(tmp_path, config={"project": "a"})
    before = enrol(registry, settings, root)
    moved = root.rename(tmp_path / "elsewhere")
    after = enrol(registry, settings, moved)
    assert (after.instance, after.root, after.index) == (before.instance, str(moved), before.index)
    assert registry.projects() == (after,)


def test_reused_inode_does_not_make_a_stranger_the_moved_tree(
    tmp_path: Path, registry: Registry, settings: Settings
) -> None:
    """MISSION 1.2: nothing ever falls back to another project."""
    root = make_root(tmp_path, config={"project": "a", "mcp": {"projectId": ID_A}})
    before = enrol(registry, settings, root)
    other = root.rename(tmp_path / "other")  # the same inode, as after deleting one folder and making another
    make_root(tmp_path, "other", {"project": "a", "mcp": {"projectId": ID_B}})
    assert registry.find(other) is None
    assert enrol(registry, settings, other).instance != before.instance


def test_new_tree_at_the_old_place_keeps_the_instance(tmp_path: Path, registry: Registry, settings: Settings) -> None:
    """Case 25: the root counts before the inode; what was renamed away is another instance."""
    root = make_root(tmp_path, config={"project": "a"})
    before = enrol(registry, settings, root)
    away = root.rename(tmp_path / "away")
    make_root(tmp_path, config={"project": "a"})
    assert enrol(registry, settings, away).instance != before.instance
    assert enrol(registry, settings, root).instance == before.instance


def test_copied_tree_is_another_instance(tmp_path: Path, registry: Registry, settings: Settings) -> None:
    """While the old tree is there nothing was moved."""
    first = enrol(registry, settings, make_root(tmp_path, "a", {"project": "p"}))
    assert enrol(registry, settings, make_root(tmp_path, "b", {"project": "p"})).instance != first.instance


def test_recreated_root_is_the_same_project(tmp_path: Path, registry: Registry, settings: Settings) -> None:
    """Case 25: a deleted and made again root goes on as the same instance, with its new inode."""
    root = make_root(tmp_path)
    before = enrol(registry, settings, root)
    root.rename(tmp_path / "kept")
    after = enrol(registry, settings, make_root(tmp_path))
    assert after.instance == before.instance
    assert after.inode == root.stat().st_ino != before.inode


def test_move_records_the_new_root_and_refuses_an_occupied_one(
    tmp_path: Path, registry: Registry, settings: Settings
) -> None:
    """`kx project move`."""
    first = enrol(registry, settings, make_root(tmp_path, "a"))
    second = enrol(registry, settings, make_root(tmp_path, "b"))
    with pytest.raises(KxError) as caught:
        registry.move(first.instance, second.root_path)
    assert code_of(caught) is ErrorCode.PROJECT_EXISTS
    moved = registry.move(first.instance, make_root(tmp_path, "c"))
    assert (moved.instance, moved.root, moved.index) == (first.instance, str(tmp_path / "c"), first.index)


def test_add_refuses_a_known_root(tmp_path: Path, registry: Registry, settings: Settings) -> None:
    """`kx project add`."""
    root = make_root(tmp_path)
    loaded = load_project_config(root, settings)
    project = registry.add(root, loaded, index=tmp_path / "x.sqlite")
    assert project.index == str(tmp_path / "x.sqlite")
    with pytest.raises(KxError) as caught:
        registry.add(root, loaded)
    assert code_of(caught) is ErrorCode.PROJECT_EXISTS


@pytest.mark.parametrize("instance", ["0" * 16, "../../etc/x", "", "ABCDEF0123456789"], ids=str)
def test_unknown_instance_is_named(registry: Registry, instance: str) -> None:
    """Also one that is no instance at all, and never a path."""
    for ask in (registry.get, registry.remove):
        with pytest.raises(KxError) as caught:
            ask(instance)
        assert code_of(caught) is ErrorCode.PROJECT_UNKNOWN


@pytest.mark.parametrize(
    "damage",
    [b"", b"{", b"[]", b'{"instance": 3}', b'{"root": "relative"}', b"\xff"],
    ids=["empty", "cut", "list", "types", "fields", "bytes"],
)
def test_damaged_entry_is_named_and_never_overwritten(
    tmp_path: Path, registry: Registry, settings: Settings, damage: bytes
) -> None:
    """A truth that cannot be read is for a person to mend: other projects work, no second instance is made."""
    root, other = make_root(tmp_path, "a"), make_root(tmp_path, "b")
    broken, sound = enrol(registry, settings, root), enrol(registry, settings, other)
    path = settings.projects_dir / f"{broken.instance}.json"
    path.write_bytes(damage)
    assert registry.projects() == (sound,)
    assert enrol(registry, settings, other) == sound
    (told,) = registry.damaged()
    assert (told.code, told.params["file"]) == (ErrorCode.CONFIG_INVALID, str(path))
    for ask in (lambda: enrol(registry, settings, root), lambda: registry.get(broken.instance)):
        with pytest.raises(KxError) as caught:
            ask()
        assert caught.value.params["file"] == str(path)
    assert path.read_bytes() == damage
    registry.remove(broken.instance)
    assert enrol(registry, settings, root).instance != broken.instance


def test_entry_under_another_name_is_damaged(tmp_path: Path, registry: Registry, settings: Settings) -> None:
    """A copied entry does not make two instances of one."""
    project = enrol(registry, settings, make_root(tmp_path))
    entry = settings.projects_dir / f"{project.instance}.json"
    (settings.projects_dir / f"{'0' * 16}.json").write_bytes(entry.read_bytes())
    assert registry.projects() == (project,)
    assert len(registry.damaged()) == 1


def test_root_whose_name_is_not_utf8_comes_back_exactly(tmp_path: Path, registry: Registry, settings: Settings) -> None:
    """Case 9: names are bytes, the entry is text."""
    root = tmp_path / os.fsdecode(b"bad\xff\\x\n")
    root.mkdir()
    project = enrol(registry, settings, root)
    assert registry.projects() == (project,)
    assert os.fsencode(project.root) == os.fsencode(tmp_path) + b"/bad\xff\\x\n"


@pytest.mark.parametrize("name", ["gone", "file"])
def test_root_that_is_no_folder_is_refused(tmp_path: Path, registry: Registry, settings: Settings, name: str) -> None:
    """Bad input gets a clear error."""
    (tmp_path / "file").touch()
    loaded = load_project_config(make_root(tmp_path), settings)
    with pytest.raises(KxError) as caught:
        registry.enrol(tmp_path / name, loaded)
    assert code_of(caught) in {ErrorCode.PATH_NOT_FOUND, ErrorCode.NOT_A_DIRECTORY}


@pytest.mark.parametrize("call", ["listdir", "open"])
def test_registry_that_cannot_be_used_is_a_clear_error(
    tmp_path: Path, registry: Registry, settings: Settings, monkeypatch: pytest.MonkeyPatch, call: str
) -> None:
    """A read-only disk or a folder of another user is no traceback (root may do anything, so the refusal is made)."""
    root = make_root(tmp_path)
    loaded = load_project_config(root, settings)
    ensure_home(settings)

    def refuse(path: object, *rest: object, **named: object) -> None:
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), str(path))

    monkeypatch.setattr(atomic_file.os, call, refuse)
    with pytest.raises(KxError) as caught:
        registry.enrol(root, loaded)
    assert code_of(caught) is ErrorCode.CONFIG_UNREADABLE
    assert caught.value.params["file"].startswith(str(settings.projects_dir))


_ENROL = """
import sys
from pathlib import Path
from shared.project_config import load_project_config
from shared.registry import Registry
from shared.settings import load_settings
settings = load_settings()
root = Path(sys.argv[1])
loaded = load_project_config(root, settings)
print("ready", flush=True)
sys.stdin.read(1)
print(Registry(settings).enrol(root, loaded).instance)
"""


def test_processes_that_enrol_at_once_get_one_instance(tmp_path: Path, registry: Registry) -> None:
    """MISSION 1.6: the lock in the registry decides."""
    root = make_root(tmp_path)
    python = [sys.executable, "-c", _ENROL, str(root)]
    started = [
        subprocess.Popen(
            python,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env={"HOME": str(tmp_path)},
            cwd=Path(__file__).parents[3],
        )
        for _ in range(3)
    ]
    for process in started:
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
    for process in started:
        assert process.stdin is not None
        process.stdin.write("x")
        process.stdin.flush()
    instances = {process.communicate()[0].strip() for process in started}
    assert instances == {project.instance for project in registry.projects()}
    assert len(instances) == 1


# --- derived trees ----------------------------------------------------------------------------------------------------


def test_derived_tree_is_followed_and_is_no_project(registry: Registry, settings: Settings, tmp_path: Path) -> None:
    """ADR 8: watcher and indexer treat a space as any tree, a person never meets it."""
    root = make_root(settings.spaces_dir, "s1", {"project": "space-s1"})
    space = registry.enrol_space(root, load_project_config(root, settings))
    project = enrol(registry, settings, make_root(tmp_path))
    assert space.index == str(settings.data_dir / "space-s1.sqlite")
    assert registry.projects() == (project,)
    assert set(registry.trees()) == {project, space}
    assert registry.tree(space.instance) == space
    with pytest.raises(KxError) as caught:
        registry.get(space.instance)
    assert code_of(caught) is ErrorCode.PROJECT_UNKNOWN


@pytest.mark.parametrize("way", ["enrol", "add", "move"])
def test_derived_tree_becomes_no_project(registry: Registry, settings: Settings, tmp_path: Path, way: str) -> None:
    """A team's texts as somebody's project would be a way around the roles, through a link too."""
    space = make_root(settings.spaces_dir, "s1/items", {"project": "mine"})
    link = tmp_path / "link"
    link.symlink_to(space)
    known = enrol(registry, settings, make_root(tmp_path))
    ways = {
        "enrol": lambda: enrol(registry, settings, link),
        "add": lambda: registry.add(link, load_project_config(link, settings)),
        "move": lambda: registry.move(known.instance, link),
    }
    with pytest.raises(KxError) as caught:
        ways[way]()
    assert code_of(caught) is ErrorCode.PATH_DENIED


def test_project_called_like_a_space_takes_no_index_of_one(
    registry: Registry, settings: Settings, tmp_path: Path
) -> None:
    """A name is the user's to choose."""
    named = enrol(registry, settings, make_root(tmp_path, config={"project": "space-s1"}))
    assert named in registry.projects()
    assert named.index != str(settings.data_dir / "space-s1.sqlite")
