r"""A question's terms to one FTS5 MATCH expression (pure).

Each term is an FTS5 string: quotes doubled, NUL removed. So nothing a user types is an operator, and nothing raises.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

COMMON_SHARE = 0.10
"""A term in more than this share of the chunks is dropped when rarer ones are there: bm25 would score every match
(four common words: 435 ms at 500,000 chunks), and it says the least."""

MIN_CHUNKS_TO_DROP = 1_000
"""In a small index nothing is slow and every word may tell."""


def quoted(term: str) -> str:
    """Make a term an FTS5 string.

    >>> print(quoted('a"b'))
    "a""b"
    """
    return '"' + term.replace("\0", "").replace('"', '""') + '"'


def telling_terms(terms: Sequence[str], chunks_with: Mapping[str, int], chunks: int) -> tuple[str, ...]:
    """Leave out terms that are too common to tell, as long as a rarer one occurs at all.

    >>> telling_terms(("self", "circuit"), {"self": 9_000, "circuit": 3}, 10_000)
    ('circuit',)
    """
    if chunks < MIN_CHUNKS_TO_DROP:
        return tuple(terms)
    limit = COMMON_SHARE * chunks
    telling = tuple(term for term in terms if chunks_with.get(term, 0) <= limit)
    if any(chunks_with.get(term, 0) > 0 for term in telling):
        return telling
    return tuple(terms)


def match_expression(terms: Sequence[str], phrases: Sequence[Sequence[str]]) -> str:
    """Any of the terms, and each of the phrases; "" when there is neither.

    >>> match_expression(("a", "b"), (("c", "d"),))
    '("c d") AND ("a" OR "b")'
    """
    required = [f"({quoted(' '.join(phrase))})" for phrase in phrases if phrase]
    any_of = " OR ".join(quoted(term) for term in terms if term)
    if not required:
        return any_of
    return " AND ".join([*required, f"({any_of})"] if any_of else required)
