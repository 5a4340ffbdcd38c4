"""What a project's own file may say, and what is said when it is wrong."""

from __future__ import annotations

import errno
import json
import os
import random
from collections.abc import Callable
from pathlib import Path

import pytest

from shared import config_file
from shared.config_file import MAX_CONFIG_BYTES
from shared.errors import ErrorCode, KxError
from shared.kinds import Kind
from shared.project_config import (
    DEFAULT_MAX_FILE_BYTES,
    DEFAULT_RECENCY,
    LoadedConfig,
    Source,
    load_project_config,
)
from shared.project_name import is_project_name, name_of_folder
from tests.support.config_fuzz import FULL, PROJECT_ID, check_loaded, check_refusal, mutated
from tests.support.configs import make_root, make_settings, write_json


def load(user_home: Path, kx: object = None, xindex: object = None, user: object = None) -> LoadedConfig:
    """Load a project `proj` with these files."""
    root = make_root(user_home, config=kx)
    if xindex is not None:
        write_json(root / ".xindex.json", xindex)
    return load_project_config(root, make_settings(user_home, user))


def failure(user_home: Path, kx: object = None, xindex: object = None) -> KxError:
    """Give the error of loading."""
    with pytest.raises(KxError) as caught:
        load(user_home, kx, xindex)
    return caught.value


# --- what is accepted -------------------------------------------------------------------------------------------------


def test_every_key_is_read(tmp_path: Path) -> None:
    """MISSION 1.1, in the form the original wrote it."""
    loaded = load(tmp_path, FULL)
    config = loaded.config
    assert loaded.warnings == ()
    assert loaded.path == tmp_path / "proj" / ".kx.json"
    assert loaded.index == tmp_path / ".kx" / "data" / "projeto-a.sqlite"
    assert config.project == "projeto-a"
    assert config.sources == (Source(type=Kind.DOCS, path="docs", glob=("**/*.md",), exclude=("old/**",), weight=1.5),)
    assert config.indexing.deny == (".vault/private/**", "**/.env*", "**/*.key")
    assert (config.indexing.max_file_bytes, config.indexing.hard_links) == (1000, "deny")
    assert config.search.recency_boost == 0.3
    assert config.search.synonyms == {"disjuntor": ("circuit breaker",)}
    assert (config.ignore_keywords, config.ignore_files) == (("foo",), ("*.log", "!keep.log"))
    assert (config.max_snippet_lines, config.max_snippet_results) == (50, 20)
    assert config.squads == ("Plataforma",)
    assert config.mcp.project_id == PROJECT_ID


def test_rules_for_files_carry_every_key_they_need(tmp_path: Path) -> None:
    """What is configured reaches the judgement of files."""
    rules = load(tmp_path, FULL).config.rules()
    assert (rules.deny, rules.ignore_files) == ((".vault/private/**", "**/.env*", "**/*.key"), ("*.log", "!keep.log"))
    assert (rules.max_file_bytes, rules.hard_links) == (1000, "deny")
    (source,) = rules.sources
    assert (source.type, source.path, source.glob, source.weight) == ("docs", "docs", ("**/*.md",), 1.5)
    assert load(tmp_path / "other", {"sources": [{}]}).config.rules().sources[0].type == ""


@pytest.mark.parametrize("kx", [None, {}, "\ufeff{}", " {}\n"], ids=["no_file", "empty_object", "bom", "blanks"])
def test_nothing_said_means_defaults(tmp_path: Path, kx: object) -> None:
    """MISSION 1.2: a root without `.kx.json` is an ad-hoc project."""
    loaded = load(tmp_path, kx)
    config = loaded.config
    assert (config.project, loaded.index, loaded.path is None) == ("proj", None, kx is None)
    assert (config.max_snippet_lines, config.max_snippet_results) == (7, 3)
    assert (config.indexing.max_file_bytes, config.indexing.hard_links) == (DEFAULT_MAX_FILE_BYTES, "allow")
    assert config.mcp.project_id is None


@pytest.mark.parametrize(
    ("recency", "boost"),
    [(True, DEFAULT_RECENCY), (False, 0.0), (0, 0.0), (1, 1.0), (0.3, 0.3)],
    ids=["true", "false", "zero", "one", "original"],
)
def test_recency_is_a_switch_or_a_number(tmp_path: Path, recency: object, boost: float) -> None:
    """MISSION 4.3: settable, off with `false`."""
    assert load(tmp_path, {"search": {"recency": recency}}).config.search.recency_boost == boost


def test_configuration_that_is_a_link_inside_the_root_is_read(tmp_path: Path) -> None:
    """Only links that leave the root are refused."""
    root = make_root(tmp_path)
    write_json(root / "conf" / "kx.json", {"project": "linked"})
    (root / ".kx.json").symlink_to("conf/kx.json")
    assert load(tmp_path).config.project == "linked"


def test_root_is_found_through_a_link(tmp_path: Path) -> None:
    """Row A2: a root that is itself a link works."""
    make_root(tmp_path, config={"project": "real", "sources": [{"path": "docs"}]})
    (tmp_path / "link").symlink_to("proj")
    assert load_project_config(tmp_path / "link", make_settings(tmp_path)).config.project == "real"


# --- .xindex.json -----------------------------------------------------------------------------------------------------


def test_xindex_keys_are_honoured(tmp_path: Path) -> None:
    """MISSION 1.3."""
    given = {"ignoreKeywords": ["Foo", "x", ""], "ignoreFiles": ["!a"], "maxSnippetLines": 1, "maxSnippetResults": 0}
    loaded = load(tmp_path, xindex=given)
    config = loaded.config
    assert loaded.path == tmp_path / "proj" / ".xindex.json"
    assert (config.ignore_keywords, config.ignore_files) == (("Foo", "x", ""), ("!a",))
    assert (config.max_snippet_lines, config.max_snippet_results) == (1, 0)
    assert ["too short" in warning for warning in loaded.warnings] == [True, True]


@pytest.mark.parametrize("content", ["", " \n", "\ufeff", {}], ids=["empty", "blank", "bom", "object"])
def test_empty_xindex_means_defaults(tmp_path: Path, content: object) -> None:
    """MISSION 1.3: missing or empty is no error."""
    assert load(tmp_path, xindex=content).config == load(tmp_path / "other").config


def test_kx_json_wins_key_by_key(tmp_path: Path) -> None:
    """A `.kx.json` beside an old file overrides it, and does not silently bring ignored files back."""
    config = load(
        tmp_path, {"maxSnippetLines": 9}, {"maxSnippetLines": 1, "ignoreFiles": ["secret/"], "project": "no"}
    ).config
    assert (config.max_snippet_lines, config.ignore_files, config.project) == (9, ("secret/",), "proj")


def test_broken_xindex_is_named_also_beside_a_good_kx_json(tmp_path: Path) -> None:
    """An ignore list that cannot be read is never dropped."""
    error = failure(tmp_path, {}, {"ignoreFiles": "x"})
    assert error.code is ErrorCode.CONFIG_INVALID
    assert error.params["file"].endswith("/.xindex.json")
    assert error.params["key"] == "ignoreFiles"


# --- unknown keys -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("config", "unknown", "near"),
    [
        ({"ignorefiles": []}, "ignorefiles", "ignoreFiles"),
        ({"indexing": {"denny": []}}, "indexing.denny", "indexing.deny"),
        ({"deny": []}, "deny", "indexing.deny"),
        ({"sources": [{}, {"wieght": 2}]}, "sources[1].wieght", "sources[].weight"),
        ({"maxSnipetLines": 3}, "maxSnipetLines", "maxSnippetLines"),
        ({"zzz": 3}, "zzz", ""),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_unknown_key_is_warned_about_with_the_nearest(tmp_path: Path, config: object, unknown: str, near: str) -> None:
    """MISSION 1.1."""
    (warning,) = load(tmp_path, config).warnings
    assert f"key {unknown} " in warning
    assert ("did you mean " + near in warning) if near else ("did you mean" not in warning)


# --- what is refused --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("config", "key"),
    [
        ({"project": 3}, "project"),
        ({"project": "../x"}, "project"),
        ({"project": ".hidden"}, "project"),
        ({"project": "a\nb"}, "project"),
        ({"project": "é" * 65}, "project"),
        ({"project": None}, "project"),
        ({"index": "a.db"}, "index"),
        ({"index": ".sqlite"}, "index"),
        ({"index": "x.sqlite.lock"}, "index"),
        ({"index": "space-1.sqlite"}, "index"),
        ({"sources": {}}, "sources"),
        ({"sources": [3]}, "sources[0]"),
        ({"sources": [{"type": "x"}]}, "sources[0].type"),
        ({"sources": [{}, {"weight": 0}]}, "sources[1].weight"),
        ({"sources": [{"path": ""}]}, "sources[0].path"),
        ({"sources": [{"glob": ["a", "../b"]}]}, "sources[0].glob[1]"),
        ({"sources": [{"exclude": [3]}]}, "sources[0].exclude[0]"),
        ({"indexing": []}, "indexing"),
        ({"indexing": {"deny": "x"}}, "indexing.deny"),
        ({"indexing": {"deny": ["a", 3]}}, "indexing.deny[1]"),
        ({"indexing": {"deny": ["a", "/b"]}}, "indexing.deny[1]"),
        ({"indexing": {"deny": ["../b"]}}, "indexing.deny[0]"),
        ({"indexing": {"deny": [""]}}, "indexing.deny[0]"),
        ({"indexing": {"deny": ["!.env"]}}, "indexing.deny[0]"),
        ({"indexing": {"deny": ["a"] * 1001}}, "indexing.deny"),
        ({"indexing": {"deny": ["a" * 1001]}}, "indexing.deny[0]"),
        ({"indexing": {"deny": None}}, "indexing.deny"),
        ({"indexing": {"maxFileBytes": -1}}, "indexing.maxFileBytes"),
        ({"indexing": {"maxFileBytes": 1.5}}, "indexing.maxFileBytes"),
        ({"indexing": {"maxFileBytes": True}}, "indexing.maxFileBytes"),
        ({"indexing": {"maxFileBytes": 10**40}}, "indexing.maxFileBytes"),
        ({"indexing": {"hardLinks": "maybe"}}, "indexing.hardLinks"),
        ({"search": {"recency": "on"}}, "search.recency"),
        ({"search": {"recency": -0.1}}, "search.recency"),
        ('{"search": {"recency": 1e999}}', "search.recency"),
        ({"search": {"synonyms": {"a": 3}}}, "search.synonyms.a"),
        ({"search": {"synonyms": {"a": []}}}, "search.synonyms.a"),
        ({"search": {"synonyms": []}}, "search.synonyms"),
        ({"ignoreKeywords": "x"}, "ignoreKeywords"),
        ({"ignoreFiles": ["a", 1]}, "ignoreFiles[1]"),
        ({"ignoreFiles": ["a\0"]}, "ignoreFiles[0]"),
        ('{"ignoreFiles": ["\\ud800"]}', "ignoreFiles[0]"),
        ({"maxSnippetLines": 51}, "maxSnippetLines"),
        ({"maxSnippetResults": -1}, "maxSnippetResults"),
        ({"squads": [" "]}, "squads[0]"),
        ({"mcp": None}, "mcp"),
        ({"mcp": []}, "mcp"),
        ({"mcp": {}}, "mcp.projectId"),
        ({"mcp": {"projectId": "<uuid>"}}, "mcp.projectId"),
        ({"mcp": {"projectId": "0" * 8 + "-0000-0000-0000-" + "0" * 12}}, "mcp.projectId"),
        ({"mcp": {"projectId": PROJECT_ID.replace("-", "")}}, "mcp.projectId"),
        ({"mcp": {"projectID": PROJECT_ID}}, "mcp.projectID"),
        ({"mcp": {"projectId": PROJECT_ID, "strict": True}}, "mcp.strict"),
        ('{"indexing": {"deny": ["a"], "deny": []}}', "deny"),
    ],
    ids=lambda value: value if isinstance(value, str) and len(value) < 30 else "",
)
def test_wrong_value_names_file_key_and_what_was_expected(tmp_path: Path, config: object, key: str) -> None:
    """MISSION 1.1, 1.7 and 1.8."""
    error = failure(tmp_path, config)
    assert error.code is ErrorCode.CONFIG_INVALID
    assert error.params["file"] == str(tmp_path / "proj" / ".kx.json")
    assert error.params["key"] == key
    assert error.params["expected"]
    assert error.params["found"]


@pytest.mark.parametrize(
    "content",
    ["", " ", "{", "[]", "3", '{"a":1,}', '{"a":NaN}', '{"a":-Infinity}', b"\xff\xfe{\x00}\x00", b'{"a":"\xff"}',
     "// x\n{}", "{}{}", '{"a":' + "[" * 5000 + "]" * 5000 + "}", '{"a":' + "[" * 20 + "]" * 20 + "}", "9" * 5000],
    ids=["empty", "blank", "cut", "list", "number", "comma", "nan", "infinity", "utf16", "latin1", "comment", "twice",
         "very_deep", "deep", "digits"],
)  # fmt: skip
def test_what_is_no_json_object_is_refused(tmp_path: Path, content: object) -> None:
    """An unreadable configuration never becomes an empty one (row B8)."""
    error = failure(tmp_path, content)
    assert error.code is ErrorCode.CONFIG_INVALID
    assert error.params["file"].endswith("/.kx.json")


def test_broken_json_names_line_and_column(tmp_path: Path) -> None:
    """A person finds the place without counting."""
    error = failure(tmp_path, '{\n  "project": "a"\n  "index": 3\n}')
    assert (error.params["line"], error.params["column"]) == ("3", "3")
    error = failure(tmp_path, b'{\n  "a": "\xe7"}')
    assert (error.params["line"], error.params["column"]) == ("2", "9")


def make_folder(path: Path, outside: Path) -> None:
    path.mkdir()


def make_fifo(path: Path, outside: Path) -> None:
    os.mkfifo(path)


def make_outward_link(path: Path, outside: Path) -> None:
    path.symlink_to(write_json(outside, {}))


def make_dangling_link(path: Path, outside: Path) -> None:
    path.symlink_to(path.parent / "nothing")


def make_ring(path: Path, outside: Path) -> None:
    path.symlink_to(path.name)


def make_huge(path: Path, outside: Path) -> None:
    path.write_bytes(b" " * MAX_CONFIG_BYTES + b"{}")


@pytest.mark.parametrize("name", [".kx.json", ".xindex.json"])
@pytest.mark.parametrize("make", [make_folder, make_fifo, make_outward_link, make_dangling_link, make_ring, make_huge])
def test_what_cannot_be_read_is_an_error(tmp_path: Path, name: str, make: Callable[[Path, Path], None]) -> None:
    """A file that is there counts, whatever stands in the way: no denylist is lost by a trick."""
    make(make_root(tmp_path) / name, tmp_path / "outside.json")
    error = failure(tmp_path)
    assert error.code is ErrorCode.CONFIG_UNREADABLE
    assert name in error.params["file"] or "outside" in error.params["file"]


def test_file_without_permission_is_an_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Neither is a denylist lost by a file's permissions (root may read everything, so the refusal is made here)."""
    root, settings = make_root(tmp_path, config={}), make_settings(tmp_path)

    def refuse(path: Path, flags: int) -> int:
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), path)

    monkeypatch.setattr(config_file.os, "open", refuse)
    with pytest.raises(KxError) as caught:
        load_project_config(root, settings)
    assert caught.value.code is ErrorCode.CONFIG_UNREADABLE


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a file away")
def test_file_of_another_user_is_not_trusted(tmp_path: Path) -> None:
    """MISSION 1.1: a file not owned by the user configures nothing."""
    os.chown(make_root(tmp_path, config={}) / ".kx.json", 12345, 12345)
    assert failure(tmp_path).code is ErrorCode.CONFIG_NOT_TRUSTED


def test_missing_root_is_not_a_project_without_rules(tmp_path: Path) -> None:
    """Case 25: while the root is away nothing is concluded from its absence."""
    with pytest.raises(KxError) as caught:
        load_project_config(tmp_path / "gone", make_settings(tmp_path))
    assert caught.value.code is ErrorCode.ROOT_MISSING


# --- narrow, never widen ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("config", "key"),
    [
        ({"index": "/elsewhere/a.sqlite"}, "index"),
        ({"index": "~/a.sqlite"}, "index"),
        ({"index": "../a.sqlite"}, "index"),
        ({"index": "~/.kx/data/../a.sqlite"}, "index"),
        ({"index": "~/.kx/data/deep/a.sqlite"}, "index"),
        ({"index": "./a.sqlite"}, "index"),
        ({"sources": [{"path": ".."}]}, "sources[0].path"),
        ({"sources": [{}, {"path": "docs/../../x"}]}, "sources[1].path"),
        ({"sources": [{"path": "/etc"}]}, "sources[0].path"),
        ({"sources": [{"path": "~/notes"}]}, "sources[0].path"),
        ({"sources": [{"path": "link"}]}, "sources[0].path"),
        ({"sources": [{"path": "link/deeper"}]}, "sources[0].path"),
    ],
    ids=str,
)
def test_what_widens_is_not_trusted(tmp_path: Path, config: object, key: str) -> None:
    """MISSION 1.4: a stranger's repository may not send kx elsewhere."""
    (make_root(tmp_path) / "link").symlink_to("/etc")
    error = failure(tmp_path, config)
    assert error.code is ErrorCode.CONFIG_NOT_TRUSTED
    assert error.params["key"] == key


def test_the_hint_is_the_line_to_put_into_the_users_own_file(tmp_path: Path) -> None:
    """MISSION 1.4: the error names the key and where to put it; doing so helps."""
    error = failure(tmp_path, {"index": "/elsewhere/a.sqlite"})
    line = error.hint.partition("{config}: ")[2]
    for name in ("root", "value"):
        line = line.replace("{" + name + "}", error.params[name])
    assert error.params["config"] == str(tmp_path / ".kx" / "config.json")
    loaded = load(tmp_path, {"index": "/elsewhere/a.sqlite"}, user=json.loads(line))
    assert loaded.index == Path("/elsewhere/a.sqlite")


@pytest.mark.parametrize(
    ("config", "key"),
    [({"allowDenied": [".env"]}, "allowDenied"), ({"indexing": {"allowDenied": [".env"]}}, "indexing.allowDenied")],
    ids=["at the top", "in indexing"],
)
def test_allow_denied_counts_only_in_the_users_own_file(tmp_path: Path, config: object, key: str) -> None:
    """MISSION 1.4: in a project's file it is an error that says where to put it; there, it holds."""
    error = failure(tmp_path, config)
    assert (error.code, error.params["key"]) == (ErrorCode.CONFIG_NOT_TRUSTED, key)
    line = error.hint.partition("{config}: ")[2]
    for name in ("root", "value"):
        line = line.replace("{" + name + "}", error.params[name])
    loaded = load(tmp_path, {}, user=json.loads(line))
    assert loaded.config.rules().allow_denied == (".env",)


@pytest.mark.parametrize("index", ["a.sqlite", "~/.kx/data/a.sqlite", "{home}/data/a.sqlite"])
def test_index_in_the_data_folder_is_accepted_wherever_the_home_is(tmp_path: Path, index: str) -> None:
    """The original's spelling means kx's data folder, also when `KX_HOME` moved it."""
    settings = make_settings(tmp_path, KX_HOME=str(tmp_path / "moved"))
    root = make_root(tmp_path, config={"index": index.replace("{home}", str(settings.home))})
    assert load_project_config(root, settings).index == tmp_path / "moved" / "data" / "a.sqlite"


# --- names ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("folder", "name"),
    [("proj", "proj"), ("My Project", "My-Project"), ("ac\u0327a\u0303o", "ação"), (".dotfiles", "dotfiles"),
     ("a/b"[2:], "b"), ("...", "project"), ("--x--", "x"), ("n" * 255, "n" * 64), ("字" * 80, "字" * 64),
     ("😀", "project"), ("𝒜" * 64, "𝒜" * 50)],
    ids=str,
)  # fmt: skip
def test_folder_names_become_project_names(folder: str, name: str) -> None:
    """An ad-hoc project has a name that is safe as a file name."""
    assert name_of_folder(Path("/r") / folder) == name
    assert is_project_name(name)


def test_folder_name_that_is_not_utf8_still_gives_a_name() -> None:
    """Case 9: names are bytes."""
    assert name_of_folder(Path(os.fsdecode(b"/r/bad\xff"))) == "bad"


# --- fuzz -------------------------------------------------------------------------------------------------------------


def test_no_mutated_configuration_loses_the_denylist(tmp_path: Path) -> None:
    """Row B8: a clear error naming the file, or a configuration that denies all the file says and the defaults."""
    rng = random.Random(20)
    outcomes = {"loaded": 0, "refused": 0}
    root, settings = make_root(tmp_path), make_settings(tmp_path)
    for _ in range(int(os.environ.get("KX_TEST_FUZZ_CONFIGS", "300"))):
        raw = mutated(rng)
        write_json(root / ".kx.json", raw)
        try:
            loaded = load_project_config(root, settings)
        except KxError as error:
            outcomes["refused"] += 1
            check_refusal(error, root, raw)
        else:
            outcomes["loaded"] += 1
            check_loaded(loaded, raw)
    assert min(outcomes.values()) >= 20, outcomes
