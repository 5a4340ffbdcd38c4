"""Where a setting comes from, and what is said when it is wrong."""

from __future__ import annotations

import os
import stat
from pathlib import Path

import pytest

from shared.errors import ErrorCode, KxError
from shared.settings import Settings, child_environ, ensure_home, harden_process, load_settings
from tests.support.configs import make_settings, write_json


def failure(user_home: Path, config: object = None, flags: dict[str, object] | None = None, **environ: str) -> KxError:
    """Give the error of loading."""
    if config is not None:
        write_json(user_home / ".kx" / "config.json", config)
    with pytest.raises(KxError) as caught:
        load_settings(flags, {"HOME": str(user_home), **environ})
    return caught.value


@pytest.mark.parametrize(
    ("flags", "environ", "file", "port"),
    [
        ({"bus_port": 1}, {"KX_BUS_PORT": "2"}, {"busPort": 3}, 1),
        ({"bus_port": None}, {"KX_BUS_PORT": "2"}, {"busPort": 3}, 2),
        ({}, {"KX_BUS_PORT": ""}, {"busPort": 3}, 3),
        ({}, {}, {}, 0),
    ],
    ids=["flag", "environment", "file", "default"],
)
def test_flag_goes_before_environment_before_file_before_default(
    tmp_path: Path, flags: dict[str, object], environ: dict[str, str], file: dict[str, object], port: int
) -> None:
    """One order for every setting; empty and absent mean "not given"."""
    write_json(tmp_path / ".kx" / "config.json", file)
    assert load_settings(flags, {"HOME": str(tmp_path), **environ}).bus_port == port


def test_kx_home_moves_everything(tmp_path: Path) -> None:
    """MISSION 1.4: `KX_HOME` moves `~/.kx`, its configuration file included."""
    write_json(tmp_path / "elsewhere" / "config.json", {"busPort": 7})
    settings = make_settings(tmp_path, KX_HOME="~/elsewhere")
    assert settings.bus_port == 7
    folders = [settings.data_dir, settings.projects_dir, settings.run_dir, settings.cache_dir, settings.memory_dir]
    assert {folder.parent for folder in folders} == {tmp_path / "elsewhere"}


@pytest.mark.parametrize(
    ("environ", "lang"),
    [
        ({}, "en"),
        ({"LANG": "pt_BR.UTF-8"}, "pt"),
        ({"LANG": "pt_BR.UTF-8", "LC_ALL": "C"}, "en"),
        ({"LANG": "de_DE"}, "en"),
        ({"LANG": "en_US", "KX_LANG": "pt-BR"}, "pt"),
    ],
    ids=["none", "locale", "lc_all_wins", "unspoken", "kx_lang_wins"],
)
def test_language_follows_kx_lang_then_locale(tmp_path: Path, environ: dict[str, str], lang: str) -> None:
    """MISSION 8: English and Portuguese, by `KX_LANG` or the locale."""
    assert make_settings(tmp_path, **environ).lang == lang


@pytest.mark.parametrize(
    ("file", "key"),
    [
        ({"busPort": 65536}, "busPort"),
        ({"busPort": "1"}, "busPort"),
        ({"busPort": True}, "busPort"),
        ({"threads": -1}, "threads"),
        ({"threads": 10**30}, "threads"),
        ({"lang": "fr"}, "lang"),
        ({"logLevel": "loud"}, "logLevel"),
        ({"modelDir": 3}, "modelDir"),
        ({"modelDir": ""}, "modelDir"),
        ({"modelDir": None}, "modelDir"),
        ({"projects": []}, "projects"),
        ({"projects": {"/p": 3}}, "projects./p"),
        ({"projects": {"p": {}}}, "projects.p"),
        ({"projects": {"/p": {"indx": "/a.sqlite"}}}, "projects./p.indx"),
        ({"projects": {"/p": {"index": "a.sqlite"}}}, "projects./p.index"),
        ({"projects": {"/p": {"index": "/a.db"}}}, "projects./p.index"),
        ({"projects": {"/p": {"allowDenied": ["ok", "!x"]}}}, "projects./p.allowDenied[1]"),
        ('{"lang": "en", "lang": "pt"}', "lang"),
    ],
    ids=str,
)
def test_wrong_value_in_the_file_names_file_and_key(tmp_path: Path, file: object, key: str) -> None:
    """Issue 2: a clear error names the file, the key and what was expected."""
    error = failure(tmp_path, file)
    assert error.code is ErrorCode.CONFIG_INVALID
    assert error.params["file"] == str(tmp_path / ".kx" / "config.json")
    assert error.params["key"] == key
    assert error.params["expected"]


def test_broken_json_names_line_and_column(tmp_path: Path) -> None:
    """A person finds the place without counting."""
    error = failure(tmp_path, '{"lang": "en",\n  busPort: 3}')
    assert error.code is ErrorCode.CONFIG_INVALID
    assert (error.params["line"], error.params["column"]) == ("2", "3")


def test_wrong_variable_and_wrong_flag_are_named(tmp_path: Path) -> None:
    """The message says where the value came from."""
    error = failure(tmp_path, KX_THREADS="many")
    assert (error.code, error.params["key"]) == (ErrorCode.CONFIG_INVALID, "KX_THREADS")
    error = failure(tmp_path, flags={"threads": 1000})
    assert (error.code, error.params["flag"]) == (ErrorCode.USAGE, "--threads")


def test_unknown_key_is_warned_about_with_the_nearest(tmp_path: Path) -> None:
    """MISSION 1.1, for the user's own file too."""
    (warning,) = make_settings(tmp_path, {"busport": 3}).warnings
    assert "busport" in warning
    assert "busPort" in warning


def test_two_different_roots_for_the_gateway_are_refused(tmp_path: Path) -> None:
    """MISSION 5.1: conflicts are errors, equal spellings are not."""
    error = failure(tmp_path, flags={"project_root": "/a"}, KX_PROJECT_ROOT="/b")
    assert error.code is ErrorCode.USAGE
    settings = load_settings({"project_root": "/a"}, {"HOME": str(tmp_path), "KX_PROJECT_ROOT": "/a"})
    assert settings.project_root == Path("/a")


def test_grant_is_found_by_canonical_root(tmp_path: Path) -> None:
    """A grant written for a link or with `~` holds for the tree it means."""
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to("real")
    grants = {"~/link": {"index": "~/fast/x.sqlite", "allowDenied": [".env.example"]}}
    settings = make_settings(tmp_path, {"projects": grants})
    grant = settings.grant(tmp_path / "real")
    assert (grant.index, grant.allow_denied) == (str(tmp_path / "fast" / "x.sqlite"), (".env.example",))
    assert settings.grant(tmp_path).index == ""


def test_child_process_gets_the_same_settings(tmp_path: Path) -> None:
    """Flags of the parent reach its children through the environment."""
    parent = load_settings(
        {"home": str(tmp_path / "h"), "bus_port": 5, "lang": "pt", "threads": 2}, {"HOME": str(tmp_path)}
    )
    child = load_settings(environ=child_environ(parent) | {"HOME": str(tmp_path)})
    assert (child.home, child.bus_port, child.lang, child.threads) == (parent.home, 5, "pt", 2)


def mode(path: Path) -> int:
    """Give the permission bits."""
    return stat.S_IMODE(path.stat().st_mode)


def test_home_and_its_folders_are_private(tmp_path: Path) -> None:
    """MISSION 1.4: `~/.kx` is 0700, also one the user made by hand."""
    write_json(tmp_path / ".kx" / "config.json", {})
    (tmp_path / ".kx").chmod(0o755)
    settings = make_settings(tmp_path)
    ensure_home(settings)
    ensure_home(settings)
    assert mode(settings.home) == mode(settings.data_dir) == mode(settings.projects_dir) == 0o700


def test_folder_of_other_things_is_never_closed(tmp_path: Path) -> None:
    """`KX_HOME=/tmp` must not take `/tmp` away from everyone."""
    (tmp_path / "shared" / "things").mkdir(parents=True)
    (tmp_path / "shared").chmod(0o755)
    with pytest.raises(KxError) as caught:
        ensure_home(make_settings(tmp_path, KX_HOME=str(tmp_path / "shared")))
    assert caught.value.code is ErrorCode.CONFIG_NOT_TRUSTED
    assert mode(tmp_path / "shared") == 0o755


def test_home_that_is_a_file_is_a_clear_error(tmp_path: Path) -> None:
    """No traceback for a wrong KX_HOME."""
    (tmp_path / "f").touch()
    with pytest.raises(KxError) as caught:
        ensure_home(make_settings(tmp_path, KX_HOME=str(tmp_path / "f" / "x")))
    assert caught.value.code in {ErrorCode.CONFIG_UNREADABLE, ErrorCode.NOT_A_DIRECTORY}


def test_new_files_of_the_process_are_private(tmp_path: Path) -> None:
    """MISSION 1.4: every process has umask 077."""
    before = os.umask(0o022)
    try:
        harden_process()
        (tmp_path / "x").touch()
    finally:
        os.umask(before)
    assert mode(tmp_path / "x") == 0o600


def test_socket_moves_when_the_home_is_too_deep(tmp_path: Path) -> None:
    """A socket's path is limited to about 104 bytes."""
    deep: Settings = make_settings(tmp_path, KX_HOME="/" + "d" * 100, XDG_RUNTIME_DIR="/run/user/1")
    assert deep.socket_dir == Path("/run/user/1/kx")
    short = make_settings(tmp_path, KX_HOME="/h", XDG_RUNTIME_DIR="/run/user/1")
    assert short.socket_dir == Path("/h/run")


def test_colours_are_off_where_they_are_not_wanted(tmp_path):
    """NO_COLOR says so, and a terminal that can show none."""
    home = {"HOME": str(tmp_path)}
    told = [{}, {"TERM": "xterm"}, {"TERM": "dumb"}, {"NO_COLOR": "1"}]
    assert [load_settings(environ=home | one).color for one in told] == [True, True, False, False]
