"""The parts of docs/messages.md that are derived from the code; `just docs` writes them, a test compares them."""

from __future__ import annotations

import ast
import inspect
from pathlib import Path
from typing import Any

from shared import (
    excerpts,
    knowledge_messages,
    knowledge_upkeep_messages,
    megabrain_messages,
    memory_messages,
    messages,
    search_messages,
    subjects,
    upkeep_messages,
)
from shared.subjects import EventRoute, RequestRoute
from tests.support.repository import ROOT, syntax_of, text_of

PAGE = Path("docs/messages.md")
SOURCES = {
    module: Path("shared") / f"{module.__name__.rpartition('.')[2]}.py"
    for module in (
        messages,
        excerpts,
        search_messages,
        upkeep_messages,
        megabrain_messages,
        knowledge_messages,
        knowledge_upkeep_messages,
        memory_messages,
    )
}


def derived_blocks() -> dict[str, str]:
    """Every derived block of the page, by the name in its markers."""
    return {"subjects": _subjects(), "messages": _messages(True), "values": _messages(False)}


def split_page(text: str) -> dict[str, str]:
    """Read the blocks that the page holds now."""
    return {name: text.split(_begin(name))[1].split(_END, maxsplit=1)[0].strip() for name in derived_blocks()}


def write_page() -> None:
    """Bring the derived blocks of the page up to date."""
    text = (ROOT / PAGE).read_text(encoding="utf-8")
    for name, block in derived_blocks().items():
        before, rest = text.split(_begin(name))
        _, after = rest.split(_END, 1)
        text = f"{before}{_begin(name)}\n\n{block}\n\n{_END}{after}"
    (ROOT / PAGE).write_text(text, encoding="utf-8")


_END = "<!-- end -->"


def _begin(name: str) -> str:
    return f"<!-- begin {name}: derived from the code by `just docs` -->"


def _subjects() -> str:
    requests = [_row(route, route.callers, (route.service,)) for route in subjects.REQUEST_ROUTES]
    events = [_row(route, (route.service,), route.subscribers) for route in subjects.EVENT_ROUTES]
    head = ["| subject | asked or told by | answered or heard by | message | reply |", "|---|---|---|---|---|"]
    return "\n".join([*head, *requests, *events])


def _row(route: RequestRoute[Any, Any] | EventRoute[Any], senders: tuple[str, ...], receivers: tuple[str, ...]) -> str:
    subject = subjects.pattern_of(route).replace("*", "{instance}")
    if isinstance(route, RequestRoute):
        message, reply = route.request, f"`{route.reply.__name__}`"
    else:
        message, reply = route.event, "–"
    return f"| `{subject}` | {', '.join(senders)} | {', '.join(receivers)} | `{message.__name__}` | {reply} |"


def _messages(crossing: bool) -> str:
    bases = (messages.Message, messages.InstanceMessage, knowledge_messages.KnowledgeMessage)
    structs = [
        value
        for module in SOURCES
        for value in vars(module).values()
        if inspect.isclass(value) and value.__module__ == module.__name__ and value not in bases
    ]
    chosen = [one for one in structs if issubclass(one, messages.Message) == crossing]
    return "\n\n".join(_section(one) for one in chosen)


def _section(struct: type) -> str:
    fields = _fields_of(struct)
    text = inspect.cleandoc(struct.__doc__ or "")
    if struct.__struct_config__.array_like:  # type: ignore[attr-defined]  # msgspec's own attribute
        text += "\n\nWritten as an array in this order."
    if not fields:
        return f"### {struct.__name__}\n\n{text}\n\nNo fields."
    rows = [f"| `{name}` | `{kind}` | {default} | {comment} |" for name, kind, default, comment in fields]
    return "\n".join(
        [f"### {struct.__name__}", "", text, "", "| field | type | default | meaning |", "|---|---|---|---|", *rows]
    )


def _fields_of(struct: type) -> list[tuple[str, str, str, str]]:
    inherited = []
    if issubclass(struct, messages.InstanceMessage):
        inherited.append(("instance", "InstanceId", "required", "the tree; the same as in the subject"))
    if issubclass(struct, knowledge_messages.KnowledgeMessage):
        inherited.append(("caller", "Caller", "required", "on whose behalf"))
    source = next(path for module, path in SOURCES.items() if module.__name__ == struct.__module__)
    own = next(
        node for node in syntax_of(source).body if isinstance(node, ast.ClassDef) and node.name == struct.__name__
    )
    lines = text_of(source).splitlines()
    fields = [node for node in own.body if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name)]
    rows = [(node.target.id, _kind(node.annotation), _default(node.value), _comment(lines, node)) for node in fields]  # type: ignore[union-attr]
    return [*inherited, *rows]


def _kind(annotation: ast.expr) -> str:
    text = ast.unparse(annotation)
    for name, value in _aliases().items():
        text = value if text == name else text.replace(f"[{name}", f"[{value}")
    return text.replace("'", '"').replace("|", "\\|")


def _aliases() -> dict[str, str]:
    """The closed sets of words, spelled out: who writes JSON has no Python to look them up in."""
    assigned = [node for path in SOURCES.values() for node in syntax_of(path).body if isinstance(node, ast.Assign)]
    return {
        node.targets[0].id: " | ".join(ast.unparse(word) for word in node.value.slice.elts)  # type: ignore[attr-defined]
        for node in assigned
        if isinstance(node.value, ast.Subscript) and isinstance(node.targets[0], ast.Name)
    }


def _default(value: ast.expr | None) -> str:
    return f"`{ast.unparse(value)}`".replace("'", '"') if value else "required"


def _comment(lines: list[str], node: ast.AnnAssign) -> str:
    _, _, comment = lines[(node.end_lineno or 1) - 1][node.end_col_offset or 0 :].partition("# ")
    return comment.replace("|", "\\|")


if __name__ == "__main__":
    write_page()
