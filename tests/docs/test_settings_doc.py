"""`docs/settings.md` and the Structs are one list."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import Path

import msgspec
import pytest

from shared.config_file import Key, keys_of
from shared.grants import ProjectGrant
from shared.project_config import ProjectConfig
from shared.settings import FILE_KEYS, Settings, load_settings

DOC = Path(__file__).parents[2] / "docs" / "settings.md"


def row(*cells: str) -> str:
    """Give one line of a table."""
    return "| " + " | ".join(cells) + " |\n"


def table(header: tuple[str, ...], rows: list[str]) -> str:
    """Give a whole table."""
    return row(*header) + "|" + "---|" * len(header) + "\n" + "".join(rows)


def code(text: str) -> str:
    """Show what is typed as code, and nothing as nothing."""
    return f"`{text}`" if text else ""


def settings_table() -> str:
    """Every setting of `Settings` that has a source outside, in the order of the fields."""
    rows = []
    for field in msgspec.structs.fields(Settings):
        note = next((note for note in getattr(field.type, "__metadata__", ())), None)
        if note is None:
            continue
        default = note.extra["default"] or keys_of(Settings)[field.encode_name].default.strip('"')
        cells = [code(note.extra[name]) for name in ("env", "key", "flag")]
        rows.append(row(code(field.name), *cells, default, note.extra["expects"], note.description))
    return table(("setting", "environment", "key", "flag", "default", "values", "meaning"), rows)


def keys_table(keys: Mapping[str, Key]) -> str:
    """Every key that holds a value; objects are shown by their keys."""
    rows = [row(code(key.name), key.default, key.expects, key.help) for key in keys.values() if key.help]
    return table(("key", "default", "values", "meaning"), rows)


TABLES = {
    "settings": settings_table(),
    "grants": keys_table(keys_of(ProjectGrant)),
    "project": keys_table(keys_of(ProjectConfig)),
}


@pytest.mark.parametrize("name", TABLES)
def test_table_is_what_the_struct_says(name: str, update_golden: bool) -> None:
    """STYLE 22: no setting without a line in the document, no line without a setting."""
    text = DOC.read_text("utf-8")
    block = re.compile(rf"(<!-- table: {name} -->\n)(.*?)(<!-- end -->)", re.DOTALL)
    if update_golden:
        DOC.write_text(block.sub(lambda found: found[1] + TABLES[name] + found[3], text), "utf-8")
    found = block.search(DOC.read_text("utf-8"))
    assert found is not None
    assert found[2] == TABLES[name]


def test_every_setting_has_help_and_values() -> None:
    """A key without a word of explanation is an unfinished one."""
    for kind in (ProjectConfig, ProjectGrant):
        for key in keys_of(kind).values():
            assert key.expects
            assert key.help or any(other.startswith((f"{key.name}.", f"{key.name}[]")) for other in keys_of(kind))
    named = {field.encode_name for field in msgspec.structs.fields(Settings) if hasattr(field.type, "__metadata__")}
    told_by_the_system = {
        "projects",
        "user_home",
        "codex_home",
        "xdg_config_home",
        "xdg_runtime_dir",
        "color",
        "warnings",
    }
    assert named | told_by_the_system == set(Settings.__struct_fields__)


class Recorder(Mapping[str, str]):
    """An environment that remembers what was asked for."""

    def __init__(self, values: dict[str, str]) -> None:
        self.values_ = values
        self.asked: set[str] = set()

    def __getitem__(self, name: str) -> str:
        self.asked.add(name)
        return self.values_[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self.values_)

    def __len__(self) -> int:
        return len(self.values_)


def test_every_variable_that_is_read_is_documented_and_the_other_way_round(tmp_path: Path) -> None:
    """No hidden switch, no promise without effect."""
    environ = Recorder({"HOME": str(tmp_path)})
    load_settings(environ=environ)
    documented = set(
        re.findall(r"`((?:KX|XDG|LC)_[A-Z_]+|CODEX_HOME|HOME|LANG|NO_COLOR|TERM)`", DOC.read_text("utf-8"))
    )
    codes = {name for name in documented if name.startswith("KX_CONFIG_")}
    assert environ.asked == documented - codes


def test_every_key_of_the_users_file_is_documented() -> None:
    """`~/.kx/config.json` too."""
    text = DOC.read_text("utf-8")
    for key in FILE_KEYS:
        assert f"`{key}`" in text or f'"{key}"' in text
