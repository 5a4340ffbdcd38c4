r"""A question's terms to one FTS5 MATCH expression (pure).

Each term is an FTS5 string: quotes doubled, NUL removed. So nothing a user types is an operator, and nothing raises.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from shared.analyzer import stem

COMMON_SHARE = 0.10
"""A term in more than this share of the chunks is common: bm25 would score every match (four common words: 435 ms at
500,000 chunks), and it says the least."""

MIN_CHUNKS_TO_DROP = 1_000
"""In a small index nothing is slow and every word may tell."""

ENOUGH_MATCHES = 1_000
"""With fewer matches of rare terms the candidates are few and one-sided, so that common terms are asked, too, rarest
first (20 public repositories: 97 in 100 answers among the candidates without them, 99 with them) ..."""

MAX_COMMON_MATCHES = 20_000
"""... as long as one costs no more than this (about 20 ms)."""

MAX_MATCHES = 15_000
"""All terms together: with enough matches of the rarer ones, a term that would bring more than this is not asked. bm25
costs 1.3 microseconds a match, so that a long question of 500,000 chunks would take a third of a second."""

MAX_JOINED_WORDS = 3


def quoted(term: str) -> str:
    """Make a term an FTS5 string.

    >>> print(quoted('a"b'))
    "a""b"
    """
    return '"' + term.replace("\0", "").replace('"', '""') + '"'


def telling_terms(terms: Sequence[str], chunks_with: Mapping[str, int], chunks: int) -> tuple[str, ...]:
    """Leave out terms that are too common to tell, as long as rarer ones give enough to choose from.

    >>> telling_terms(("self", "circuit"), {"self": 90_000, "circuit": 3}, 100_000)
    ('circuit',)
    """
    if chunks < MIN_CHUNKS_TO_DROP:
        return tuple(terms)
    kept: set[str] = set()
    matches = 0
    for term in sorted(terms, key=lambda term: chunks_with.get(term, 0)):
        having = chunks_with.get(term, 0)
        is_common = having > COMMON_SHARE * chunks
        is_enough = matches >= ENOUGH_MATCHES
        if is_common and (is_enough or having > MAX_COMMON_MATCHES) and matches:
            continue
        if is_enough and matches + having > MAX_MATCHES:
            continue
        kept.add(term)
        matches += having
    return tuple(term for term in terms if term in kept)


def joined_terms(words: Sequence[str]) -> tuple[str, ...]:
    """Give the terms of neighbouring words written as one: who asks for a "type adapter factory" means that name, too.

    >>> joined_terms(("user", "name"))
    ('usern',)
    """
    joined = (
        stem("".join(words[start : start + size]))
        for size in range(2, MAX_JOINED_WORDS + 1)
        for start in range(len(words) - size + 1)
    )
    return tuple(dict.fromkeys(joined))


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
