"""Bad input gets a clear error with the next command to type, and an exit code that means something."""

import sqlite3
from pathlib import Path

import pytest

from tests.support.command import Kx


def refused(ran, code, error, *words):
    assert (ran.code, error in ran.err) == (code, True), (ran.code, ran.err)
    assert "Traceback" not in ran.err
    assert ran.out == ""
    for word in words:
        assert word in ran.err


def test_a_tree_that_was_never_indexed_names_the_two_ways_in(kx, tree):
    """`kx search` without an index says what to type."""
    refused(kx("search", "anything", "--in", tree), 3, "KX_INDEX_MISSING", "kx search --index", "kx setup")


def test_a_file_that_is_no_folder_is_named(kx, tree):
    """A root must be a folder."""
    refused(kx("project", "add", tree / "config/app.yaml"), 2, "KX_NOT_A_DIRECTORY", "app.yaml")


def test_a_path_that_is_not_there_is_named(kx, tree):
    """A typing mistake in a path is told as such."""
    refused(kx("index", tree / "nowhere"), 2, "KX_PATH_NOT_FOUND", "nowhere")


@pytest.mark.parametrize(
    ("content", "words"),
    [
        pytest.param('{"project": ', ("line 1",), id="no JSON"),
        pytest.param('{"indexing": {"maxFileBytes": "big"}}', ("indexing.maxFileBytes", "big"), id="wrong type"),
        pytest.param('{"indexing": {"deny": ["/etc/*"]}}', ("indexing.deny", "/etc/*"), id="absolute pattern"),
        pytest.param("[]", (".kx.json",), id="no object"),
    ],
)
def test_a_malformed_configuration_names_file_and_key(kx, tree, content, words):
    """Nothing is indexed with half a configuration."""
    (tree / ".kx.json").write_text(content)
    refused(kx("index", tree), 78, "KX_CONFIG_INVALID", ".kx.json", *words)


def test_a_configuration_that_cannot_be_read_stops_the_run(kx, tree):
    """A folder in the place of the file, as a stand-in for any unreadable one (tests may run as root)."""
    (tree / ".kx.json").mkdir()
    refused(kx("index", tree), 78, "KX_CONFIG_UNREADABLE", ".kx.json")


def test_an_unknown_key_is_warned_about_with_the_nearest_known(kx, tree):
    """A typing mistake in a key is no error, and not silent."""
    (tree / ".kx.json").write_text('{"project": "shop", "ignoreFile": ["*.log"]}')
    ran = kx("index", tree, "--wait", "text")
    assert ran.code == 0
    assert ran.err.count("ignoreFiles") == 1


def index_of(kx: Kx) -> Path:
    return next(path for path in (kx.home / "data").iterdir() if path.suffix == ".sqlite")


@pytest.fixture
def indexed(kx, tree):
    assert kx("index", tree, "--wait", "text").code == 0
    return tree


def set_meta(kx: Kx, key: str, value: object) -> None:
    with sqlite3.connect(index_of(kx)) as connection:
        connection.execute("UPDATE meta SET value = ? WHERE key = ?", (value, key))
    connection.close()


@pytest.mark.parametrize("verb", ["index", "search", "status"])
def test_an_index_of_another_tree_is_refused(kx, indexed, verb):
    """The first statement after opening compares the index with the registry."""
    set_meta(kx, "instance", "f" * 16)
    ran = {"index": lambda: kx("index", indexed), "search": lambda: kx("search", "x", "--in", indexed)}.get(
        verb, lambda: kx("status", "--in", indexed)
    )()
    refused(ran, 1, "KX_INDEX_FOREIGN", str(index_of(kx)))


@pytest.mark.parametrize("verb", ["index", "search"])
def test_an_index_of_a_newer_kx_is_refused_unchanged(kx, indexed, verb):
    """Row F17: a downgrade says so and leaves the file as it is."""
    set_meta(kx, "schema", 999)
    before = index_of(kx).read_bytes()
    ran = kx("index", indexed) if verb == "index" else kx("search", "x", "--in", indexed)
    refused(ran, 1, "KX_INDEX_NEWER", "999")
    assert index_of(kx).read_bytes() == before


def test_something_that_is_no_database_is_told_from_an_empty_index(kx, indexed):
    """A damaged file is named as damaged, with the way out."""
    index_of(kx).write_bytes(b"this is no database" * 1000)
    for suffix in ("-wal", "-shm"):
        Path(f"{index_of(kx)}{suffix}").unlink(missing_ok=True)
    refused(kx("search", "x", "--in", indexed), 1, "KX_INDEX_DAMAGED", "kx index")


@pytest.mark.parametrize("damage", ["missing", "altered"])
def test_without_the_model_words_still_answer_and_the_answer_says_so(kx, indexed, tmp_path, damage):
    """Row F11, case 34: refused before use, one clear message, lexical search works."""
    folder = tmp_path / "model"
    folder.mkdir()
    if damage == "altered":
        (folder / "model.onnx").write_bytes(b"version https://git-lfs.github.com/spec/v1\n")
        (folder / "tokenizer.json").write_bytes(b"{}")
    ran = kx("--model-dir", folder, "search", "circuit-open", "--in", indexed, "--json")
    assert ran.code == 0, ran.err
    answer = ran.json()
    assert answer["results"][0]["path"] in ("src/breaker.py", "docs/resilience.md")
    assert answer["lanes"]["vector"]["state"] in ("off", "failed")
    assert answer["lanes"]["vector"]["reason"]


def test_a_huge_root_asks_first(kx, tmp_path):
    """The home folder is not indexed by accident."""
    home = tmp_path / "home"
    home.mkdir()
    refused(kx("index", home), 1, "KX_ROOT_TOO_LARGE", "--yes")
    refused(kx("search", "--index", "anything", "--in", home), 1, "KX_ROOT_TOO_LARGE")
    assert kx("project", "list", "--json").json()["projects"] == []


def test_a_registered_project_without_an_index_names_the_two_ways_in(kx, tree):
    """After `kx init` there is nothing to search yet."""
    assert kx("init", tree).code == 0
    refused(kx("search", "anything", "--in", tree), 3, "KX_INDEX_MISSING", "kx search --index", "kx setup")


def test_messages_come_in_portuguese_and_codes_stay(kx, tree):
    """Codes and JSON never change with the language; sentences do."""
    ran = kx("search", "anything", "--in", tree, lang="pt")
    assert "KX_INDEX_MISSING" in ran.err
    assert "is not indexed" not in ran.err


def test_a_hostile_working_directory_is_never_executed(kx, tree):
    """The tree may have its own `services/` and `shared/`; they are data."""
    for name in ("services", "shared", "kx"):
        package = tree / name
        package.mkdir()
        (package / "__init__.py").write_text("open('/'.join([__path__[0], 'ran']), 'w')\n")
    ran = kx("index", tree, "--wait", "text", cwd=tree)
    assert ran.code == 0, ran.err
    assert not list(tree.glob("*/ran"))


@pytest.mark.parametrize("script", ['"$@" >&-', '"$@" >&- 2>&-', '"$@" <&-'], ids=["stdout", "both", "stdin"])
def test_a_closed_stream_is_no_fault(kx, script):
    """What is printed goes nowhere, and not into the next file that is opened."""
    ran = kx.by_shell(script, "project", "list")
    assert (ran.code, ran.out, "Traceback" in ran.err) == (0, "", False)


def test_an_answer_that_cannot_be_written_is_told(kx):
    """A full disk behind `>` ends in a sentence, not in a traceback."""
    ran = kx.by_shell('"$@" >/dev/full', "doctor", "--json")
    refused(ran, 1, "KX_DISK_FULL")
    assert ran.err.count("\n") == 2


@pytest.mark.parametrize(
    "verb", [("search", "anything"), ("index",), ("purge", "a"), ("mcp",)], ids=lambda verb: verb[0]
)
def test_a_working_directory_that_is_gone_is_told(kx, tmp_path, verb):
    """A shell may stand in a folder that another one removed."""
    gone = tmp_path / "gone"
    gone.mkdir()
    ran = kx.by_shell(f'cd "{gone}" && rmdir "{gone}" && exec "$@"', *verb)
    refused(ran, 2, "KX_PATH_NOT_FOUND", "working directory", "cd ~")
