"""Random documents of every kind for the chunkers, and where their fences are (row B5)."""

from __future__ import annotations

import random
import re

FENCE_TOKENS = 330  # a fence up to here fits a chunk, with its heading
KINDS = (
    ("docs", "markdown"), ("docs", "markdown"), ("vault", "markdown"), ("docs", "text"), ("docs", "restructuredtext"),
    ("docs", "html"), ("code", "python"), ("code", "javascript"), ("code", "typescript"), ("code", "tsx"), ("code", "java"),
    ("code", "go"), ("code", "rust"), ("code", "c"), ("code", "cpp"), ("code", "sql"), ("code", "bash"), ("code", "cobol"),
    ("config", "yaml"), ("config", "json"), ("config", "toml"), ("config", "xml"), ("config", "dockerfile"),
)  # fmt: skip
_WORDS = [
    "alpha",
    "beta",
    "gamma",
    "value",
    "ação",
    "order",
    "index",
    "result",
    "naïve",
    "queue",
    "worker",
    "認証",
    "retry_policy",
    "CircuitBreaker",
    "x1",
    "[[note|see]]",
]
_LINES = (
    "", "", "   ", "# One", "## Two", "### Three", "Title", "=====", "-----", "---", "- item", "  - inner", "1. first",
    "> quote", "| a | b |", "|---|---|", "key: value", "key = 1", "[section]", '"key": {', "}", "};", "def f(x):",
    "class A:", "    return 1", "func main() {", "fn main() {", "int main(void) {", "#ifdef X", "/*", "*/", "// c", "<tag>",
    "</tag>", "SELECT * FROM t;", "FROM debian AS base", "\t\tdeep", "a\fb", "\x0c", "[SEP] [CLS]", "e\u0301", "\ud800",
)  # fmt: skip
_OPENING = re.compile(r" {0,3}(`{3,}(?=[^`]*$)|~{3,})")


def random_document(rng: random.Random) -> tuple[str, str, str]:
    """Give text, kind and language."""
    kind, language = rng.choice(KINDS)
    lines: list[str] = []
    for _ in range(rng.randint(0, 80)):
        choice = rng.random()
        if choice < 0.45:
            lines.append(" ".join(rng.choice(_WORDS) for _ in range(rng.randint(1, 18))))
        elif choice < 0.9:
            lines.append(rng.choice(_LINES))
        elif choice < 0.97:
            lines += _fence(rng)
        else:
            lines.append("".join(rng.choice("ab .,;(){}[]<>#'\"-=") for _ in range(rng.randint(200, 3_000))))
    return "\n".join(lines), kind, language


def _fence(rng: random.Random) -> list[str]:
    mark = rng.choice(["```", "~~~", "````"])
    inner = [rng.choice(["# no heading", "code = 1", "", "  call(x)", "---"]) for _ in range(rng.randint(0, 40))]
    return [mark + rng.choice(["", "python"]), *inner, mark]


def fences_of(text: str) -> list[tuple[int, int]]:
    """Give first and last line of every closed fence, 1-based, as CommonMark pairs them."""
    found: list[tuple[int, int]] = []
    opened: tuple[int, str] | None = None
    for number, line in enumerate(text.split("\n"), 1):
        if opened is None:
            match = _OPENING.match(line)
            opened = (number, match.group(1)) if match else None
        elif re.fullmatch(rf" {{0,3}}{re.escape(opened[1][0])}{{{len(opened[1])},}}[ \t]*", line):
            found.append((opened[0], number))
            opened = None
    return found
