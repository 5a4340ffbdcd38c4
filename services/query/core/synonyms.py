"""What a team calls the same thing: `search.synonyms`, in both directions and across accents (pure).

A synonym found counts as the word that was asked, at a discount, so that the word itself is always the better witness.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from msgspec import Struct

from shared.analyzer import QueryTerms, terms

SYNONYM_SHARE: Final = 0.7
"""What a synonym counts beside the word asked; the words of a synonym of several share it."""

MAX_SYNONYMS: Final = 32
"""Terms added to one question."""


class Synonym(Struct, frozen=True):
    """A term to look for in place of one that was asked."""

    term: str
    item: int  # place in the question's `terms` of what it stands for
    share: float  # what finding it counts, 0..1
    chunks: int = 0  # that hold it, where they are counted: what was asked tells no more than the commonest of them


class SynonymTable(Struct, frozen=True):
    """Groups of phrases, as terms, that mean the same."""

    groups: tuple[tuple[tuple[str, ...], ...], ...] = ()


NO_SYNONYMS: Final = SynonymTable()


def synonym_table(configured: Mapping[str, Sequence[str]]) -> SynonymTable:
    """Read the configuration: each entry and its list are one group.

    >>> synonym_table({"disjuntor": ["circuit breaker"]}).groups
    ((('disjuntor',), ('circuit', 'breac')),)
    """
    groups = []
    for name, others in configured.items():
        phrases = dict.fromkeys(phrase for text in (name, *others) if (phrase := tuple(terms(text))))
        if len(phrases) > 1:
            groups.append(tuple(phrases))
    return SynonymTable(tuple(groups))


def synonyms_of(question: QueryTerms, table: SynonymTable) -> tuple[Synonym, ...]:
    """Find what else to look for; terms that were asked themselves are not among it."""
    found: dict[str, Synonym] = {}
    for group in table.groups:
        for phrase in group:
            place = _place(phrase, question.terms)
            if place is None:
                continue
            for other in group:
                for term in other:
                    if term not in question.terms:
                        found.setdefault(term, Synonym(term, place, SYNONYM_SHARE / len(other)))
    return tuple(found.values())[:MAX_SYNONYMS]


def _place(phrase: Sequence[str], asked: Sequence[str]) -> int | None:
    """Give where a phrase begins among the terms asked; its terms must stand side by side."""
    for start in range(len(asked) - len(phrase) + 1):
        if tuple(asked[start : start + len(phrase)]) == tuple(phrase):
            return start
    return None
