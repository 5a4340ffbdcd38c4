"""An agent's file gets one entry or loses it, and says everything else as before, byte for byte."""

from __future__ import annotations

import json
import tomllib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kx.portuguese import PORTUGUESE
from kx.setup.agents import entry_for, name_in, paste
from kx.setup.json_entry import UnchangeableError, drop_entry, put_entry
from kx.setup.json_entry import others as json_others
from kx.setup.splice import diff_lines
from kx.setup.toml_entry import drop_table, put_table
from kx.setup.toml_entry import others as toml_others
from tests.support.templates import _trees

ENTRY = entry_for(("kx",), '/home/ana/sh "op" é', {"KX_HOME": "C:\\x"})

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)
SERVERS = st.dictionaries(
    st.text(min_size=1) | st.just("kx"), st.dictionaries(st.text(), VALUES, max_size=3), max_size=3
)
DOCUMENTS = st.one_of(
    st.dictionaries(st.text(), VALUES, max_size=3),
    st.builds(
        lambda before, servers, after: {**before, "mcpServers": servers, **after},
        st.dictionaries(st.text().filter(lambda key: key != "mcpServers"), VALUES, max_size=2),
        SERVERS,
        st.dictionaries(st.text().filter(lambda key: key != "mcpServers"), VALUES, max_size=2),
    ),
)
FORMS = st.sampled_from([None, 0, 1, 2, 4, "\t"])


def written(document: dict, form: int | str | None, *, is_tight: bool, is_windows: bool) -> str:
    text = json.dumps(document, indent=form, separators=(",", ":") if is_tight else None, ensure_ascii=is_tight) + "\n"
    return text.replace("\n", "\r\n") if is_windows else text


@given(DOCUMENTS, FORMS, st.booleans(), st.booleans())
def test_everything_else_in_json_is_unchanged(document, form, is_tight, is_windows):
    """R-SET-1: any document in any layout: the entry says what it should, the rest what it said, in its order."""
    text = written(document, form, is_tight=is_tight, is_windows=is_windows)
    if not isinstance(document.get("mcpServers", {}), dict):
        with pytest.raises(UnchangeableError):
            put_entry(text, "kx", ENTRY)
        return
    splice = put_entry(text, "kx", ENTRY)
    told = text if splice is None else splice.on(text)
    entry = json.loads(told)["mcpServers"]["kx"]
    assert {key: entry[key] for key in ("command", "args")} == {key: ENTRY[key] for key in ("command", "args")}
    assert list(json_others(told, "kx").items()) == list(json_others(text, "kx").items())
    assert put_entry(told, "kx", ENTRY) is None
    if splice is not None:
        assert splice.back(told) == text
    gone = drop_entry(told, "kx")
    assert gone is not None
    assert json_others(gone.on(told), "kx") == json_others(text, "kx")
    if len(set(document.get("mcpServers", {})) - {"kx"}) > 0 and "kx" not in document["mcpServers"]:
        assert gone.on(told) == text


@pytest.mark.parametrize(
    "text",
    [
        '{\n  // the servers\n  "mcpServers": {}\n}',
        '{"mcpServers": {"a": {}},}',
        "[]",
        '{"mcpServers": []}',
        '{"mcpServers": {"kx": "kx mcp"}}',
        '{"mcpServers": {}, "mcpServers": {}}',
        '{"mcpServers": {"a": {"n": NaN}}}',
        "\ufeff{}",
        "[" * 100_000,
    ],
    ids=["comment", "comma", "list", "list of servers", "text", "twice", "NaN", "mark", "deep"],
)
def test_json_that_cannot_be_changed_safely_is_refused(text: str):
    """R-SET-2: it is named with what to paste, never destroyed."""
    with pytest.raises(UnchangeableError):
        put_entry(text, "kx", ENTRY)


def test_a_new_entry_changes_no_line_of_the_others_and_shows_none():
    """R-SET-3: neighbours may hold keys; they stay out of the diff."""
    text = '{\n    "mcpServers": {\n        "db": {"env": {"TOKEN": "canary"}}\n    }\n}\n'
    splice = put_entry(text, "kx", ENTRY)
    assert splice is not None
    assert set(text.splitlines()) <= set(splice.on(text).splitlines())
    assert "canary" not in "\n".join(diff_lines(text, splice))
    assert splice.on(text).splitlines()[2] == '        "kx": {'


def test_what_the_user_added_to_the_entry_stays():
    """A flag of the agent's own in our entry is the user's."""
    text = json.dumps({"mcpServers": {"kx": {"command": "/old/kx", "args": [], "disabled": True, "env": {"A": "1"}}}})
    splice = put_entry(text, "kx", ENTRY)
    assert splice is not None
    assert json.loads(splice.on(text))["mcpServers"]["kx"] == {
        **ENTRY,
        "disabled": True,
        "env": {"A": "1", "KX_HOME": "C:\\x"},
    }


FRAGMENTS = (
    'model{n} = "o3" # best',
    'text{n} = """\n[mcp_servers.kx-shop]\ncommand = "no"\n"""',
    "raw{n} = '''\n[mcp_servers.kx-shop]\n[x]'''",
    "list{n} = [\n  [1, 2],\n  # [mcp_servers.kx-shop]\n  [3],\n]",
)
TABLES = (
    '[mcp_servers.other{n}]\ncommand = "npx"\nargs = ["-y",\n  "x"]',
    '[mcp_servers.other{n}.env]\nTOKEN = "a#b"',
    '[[profile{n}]]\nname = "a"\n\n[[profile{n}]]\nname = "b"',
    '# about it\n[ "odd table{n}" ] # why\nmcp_servers = {{ kx-shop = 1 }}',
    '[mcp_servers."kx shop{n}"]\ncommand = "y"',
    "[deep{n}.mcp_servers.kx-shop]\nz = 1979-05-27T07:32:00Z",
)
OURS = '[mcp_servers.kx-shop]\ncommand = "/old/kx"\nargs = [\n "mcp",\n]\n'


@given(
    st.lists(st.sampled_from(FRAGMENTS), max_size=3),
    st.lists(st.sampled_from(TABLES), max_size=4),
    st.lists(st.sampled_from(TABLES), max_size=2),
    st.booleans(),
    st.booleans(),
    st.sampled_from(["\n", "\n\n", "\n# end\n\n"]),
)
def test_everything_else_in_toml_is_unchanged(keys, before, after, is_there, is_windows, joint):
    """R-SET-1: with headers inside texts, comments, arrays of tables, with and without an entry of before."""
    tables = [*before, *([OURS] if is_there else []), *after]
    parts = [part.format(n=number) if part is not OURS else part for number, part in enumerate([*keys, *tables])]
    text = joint.join(parts)
    text = text.replace("\n", "\r\n") if is_windows else text
    splice = put_table(text, "kx-shop", ENTRY)
    assert splice is not None
    told = splice.on(text)
    assert tomllib.loads(told)["mcp_servers"]["kx-shop"] == ENTRY
    assert toml_others(told, "kx-shop") == toml_others(text, "kx-shop")
    assert put_table(told, "kx-shop", ENTRY) is None
    assert splice.back(told) == text
    gone = drop_table(told, "kx-shop")
    assert gone is not None
    assert toml_others(gone.on(told), "kx-shop") == toml_others(text, "kx-shop")
    assert all(line in gone.on(told) for line in text.splitlines() if line.startswith("# "))
    if not is_there and text.endswith("\n"):
        assert gone.on(told) == text


def test_a_comment_before_the_next_table_stays_with_it():
    """It is about that one; a table that is changed or goes does not take it along."""
    text = '[mcp_servers.kx-shop]\ncommand = "old"\nargs = []\n\n# my database\n[mcp_servers.db]\ncommand = "db"\n'
    splice = put_table(text, "kx-shop", ENTRY)
    assert splice is not None
    assert "\n\n# my database\n[mcp_servers.db]\n" in splice.on(text)
    gone = drop_table(text, "kx-shop")
    assert gone is not None
    assert gone.on(text) == '\n# my database\n[mcp_servers.db]\ncommand = "db"\n'


@pytest.mark.parametrize(
    "text",
    [
        "a = ",
        'mcp_servers = { x = { command = "y" } }\n',
        "mcp_servers = 1\n",
        'mcp_servers.kx-shop.command = "y"\n',
        '[mcp_servers.kx-shop]\ncommand = "y"\nstartup_timeout_sec = 60\n',
        "[mcp_servers.kx-shop]\ncommand = 'y'\nenv = { TOKEN = 'canary' }\n",
        "[mcp_servers.kx-shop]\ncommand = 'y'\n[mcp_servers.kx-shop.tools.search]\napproval_mode = 'auto'\n",
    ],
    ids=["broken", "inline", "number", "dotted", "more keys", "variables", "more tables"],
)
def test_toml_that_cannot_be_changed_safely_is_refused(text: str):
    """R-SET-2: what kx did not write in such a table it does not take away."""
    with pytest.raises(UnchangeableError):
        put_table(text, "kx-shop", ENTRY)


def test_two_projects_of_one_name_have_an_entry_each_in_codex():
    """Its file is one for all projects."""
    text = paste("codex", "kx-shop", entry_for(("kx",), "/a/shop", {}))
    assert name_in("codex", text, "shop", "/a/shop", "f00d") == "kx-shop"
    assert name_in("codex", text, "shop", "/b/shop", "f00d") == "kx-shop-f00d"
    assert name_in("codex", "", "my.café", "/b", "f00d") == "kx-my-caf"


def test_every_reason_of_a_refusal_is_translated():
    """They are shown beside the step that is left out."""
    import ast

    said = {
        node.args[0].value
        for tree in _trees().values()
        for node in ast.walk(tree)
        if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "UnchangeableError"
        if isinstance(node.args[0], ast.Constant)
    }
    assert said
    assert said - set(PORTUGUESE) == set()
