"""The command line: language, refusals, exit codes and help, without starting a process."""

from __future__ import annotations

import errno
import os
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import CliRunner

from kx.catalogue import Catalogue
from kx.cli import execute, main
from kx.exits import Exit
from shared import logs

Run = Callable[..., tuple[int, str]]


@pytest.fixture
def run(tmp_path: Path, monkeypatch, capfd) -> Run:
    """Give `run(*arguments, **variables)`, which gives exit code and stderr; nothing is read but an empty home."""

    def execute_here(*arguments: str, **variables: str) -> tuple[int, str]:
        for name in ("LC_ALL", "LC_MESSAGES", "LANG", "KX_LANG"):
            monkeypatch.delenv(name, raising=False)
        for name, value in {"HOME": str(tmp_path), "KX_HOME": str(tmp_path / "home"), **variables}.items():
            monkeypatch.setenv(name, value)
        code = execute(arguments)
        logs.configure("warning")
        return code, capfd.readouterr().err

    return execute_here


@pytest.mark.parametrize(
    ("arguments", "variables", "told"),
    [
        (("serch",), {}, "Did you mean one of: 'search', 'serve', 'service'?)\nsee: kx --help\n"),
        (("search", "x", "--mode"), {}, "Option '--mode' requires an argument.\nsee: kx search --help\n"),
        (("search", "x", "--top", "0"), {}, "'--top': 0 is not in the range 1<=x<=100.\nsee: kx search --help\n"),
        (("project", "mov"), {}, "Did you mean one of: 'move', 'remove'?)\nsee: kx project --help\n"),
        (("--lang", "pt", "search"), {}, "Falta o argumento 'QUERY'.\nveja: kx search --help\n"),
        (("search",), {"KX_LANG": "pt"}, "Falta o argumento 'QUERY'.\nveja: kx search --help\n"),
        (("search",), {"LANG": "pt_BR.UTF-8"}, "Falta o argumento 'QUERY'.\nveja: kx search --help\n"),
        (("--lang", "en", "search"), {"KX_LANG": "pt"}, "Missing argument 'QUERY'.\nsee: kx search --help\n"),
    ],
    ids=["verb", "value", "range", "verb of a group", "flag", "variable", "locale", "flag before variable"],
)
def test_mistake_is_refused_with_what_to_type(run: Run, arguments, variables, told: str):
    """A usage error has its code, the nearest name and `kx VERB --help`, in the language of the run."""
    code, err = run(*arguments, **variables)
    assert (code, err.startswith("KX_USAGE: ")) == (Exit.USAGE, True)
    assert err.endswith(told)


def test_error_of_a_verb_is_told_in_the_language_of_the_flag(run: Run):
    """Not only the settings decide: `--lang` holds for errors too; the code does not change."""
    code, err = run("--lang", "pt", "project", "remove", "/nowhere", KX_LANG="en")
    assert code == Exit.NOT_SET_UP
    assert (
        err == "KX_PROJECT_UNKNOWN: nenhum projeto /nowhere está registrado\nveja os registrados com: kx project list\n"
    )


def test_broken_settings_are_told_in_the_language_asked_for(run: Run, tmp_path: Path):
    """The file that could say the language is what is wrong."""
    (tmp_path / "home").mkdir()
    (tmp_path / "home" / "config.json").write_text("{")
    code, err = run("project", "list", KX_LANG="pt")
    assert (code, "não é JSON válido" in err) == (Exit.CONFIGURATION, True)


def test_warning_of_the_settings_is_told_once(run: Run, tmp_path: Path):
    """A misspelt key of config.json is not silent, and not an error."""
    (tmp_path / "home").mkdir()
    (tmp_path / "home" / "config.json").write_text('{"lagn": "pt"}')
    code, err = run("project", "list")
    assert (code, err.count("lagn")) == (Exit.DONE, 1)
    assert "did you mean lang?" in err


@pytest.mark.parametrize("lang", ["en", "pt"])
def test_help_of_the_command_names_the_ways_in_and_every_exit_code(lang: str):
    """`kx --help` says how to begin and what an exit code means."""
    text = CliRunner().invoke(main.in_language_of(Catalogue(lang)), ["--help"]).output
    assert "kx search --index" in text
    assert [code for code in Exit if f"    {code.value} " not in text] == []


def test_help_of_a_verb_shows_examples_and_defaults_in_portuguese():
    """Titles, options, defaults and click's own words change; what is typed does not."""
    text = CliRunner().invoke(main.in_language_of(Catalogue("pt")), ["search", "--help"], prog_name="kx").output
    for part in ("Uso: kx search [OPÇÕES] QUERY", "Opções:", "[padrão: 10; 1<=x<=100]", "Mostra esta mensagem e sai."):
        assert part in text
    assert "  Exemplos:\n    kx search 'circuit-open' --top 4\n" in text


def test_a_language_does_not_stay(run: Run):
    """Speaking makes a copy: the verbs of the module remain English."""
    CliRunner().invoke(main.in_language_of(Catalogue("pt")), ["search", "--help"])
    assert "Usage: kx search" in CliRunner().invoke(main, ["search", "--help"], prog_name="kx").output


@pytest.mark.parametrize(
    ("number", "code", "exit_code"),
    [
        (errno.EACCES, "KX_CONFIG_UNREADABLE", 78),
        (errno.EROFS, "KX_CONFIG_UNREADABLE", 78),
        (errno.ENOSPC, "KX_DISK_FULL", 1),
    ],
    ids=["permission", "read-only", "full"],
)
def test_what_the_machine_refuses_is_told_with_its_path(run: Run, monkeypatch, number: int, code: str, exit_code: int):
    """A folder nobody may write to is no fault of the program, and has no traceback."""

    def refused(*_: object) -> None:
        raise OSError(number, os.strerror(number), "/somewhere/up.lock")

    monkeypatch.setattr("kx.commands.project.canonical_root", refused)
    ended, told = run("project", "add", ".")
    assert (ended, told.splitlines()[0]) == (
        exit_code,
        f"{code}: /somewhere/up.lock cannot be used: {os.strerror(number)}",
    )
