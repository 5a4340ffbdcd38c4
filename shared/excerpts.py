"""How much source an answer shows, and where what it shows stands (pure): values of requests and replies."""

from __future__ import annotations

from msgspec import Struct

MAX_SNIPPET_LINES = 50
MAX_SNIPPET_RESULTS = 20


class Snippets(Struct, frozen=True, kw_only=True):
    """How much source is shown; None is what the project's configuration says, or all of it where a budget is given."""

    lines: int | None = None  # 0..50, of each excerpt
    results: int | None = None  # 0..20, so many of the first results have an excerpt


class Budget(Struct, frozen=True, kw_only=True):
    """What the results of an answer may cost their reader, in tokens estimated from above."""

    tokens: int  # at least 1
    per_result: int = 70  # what a result costs beside its texts, in the form it will be shown in


class Span(Struct, frozen=True, kw_only=True):
    """A further passage of a result's file."""

    start_line: int  # 1-based, inclusive
    end_line: int
    score: float
    address: str = ""  # as of the hit


class Place(Struct, frozen=True, kw_only=True):
    """Another place where exactly the same text stands."""

    path: str
    start_line: int  # 1-based, inclusive
    end_line: int
    address: str = ""  # as of the hit


def lines_text(start_line: int, end_line: int, address: str) -> str:
    """Give lines as a person reads them; of a document, whose lines nobody sees, its address."""
    return address or f"{start_line}-{end_line}"


def place_text(path: str, start_line: int, end_line: int, address: str) -> str:
    """Give a place as a person reads it.

    >>> place_text("plan.pdf", 1, 9, "page 3")
    'plan.pdf (page 3)'
    """
    return f"{path} ({address})" if address else f"{path}:{start_line}-{end_line}"


class Excerpt(Struct, frozen=True, kw_only=True):
    """The lines of a result's file that answer."""

    start_line: int  # 1-based, inclusive
    end_line: int
    text: str  # exactly these lines, joined by "\n"
    is_part: bool = False  # it begins or ends inside a long line: then exactly that part of them
