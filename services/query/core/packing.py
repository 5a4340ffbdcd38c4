"""Excerpts of the results of a page, within limits of lines and of tokens (pure).

Within a budget the best set is packed: as many of the first results as can be shown with a few lines each, then, from
the best on, as much of each text as still fits. So an excerpt is shortened before a result is left out, the last ones
first. The place of the first result is always kept.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from msgspec import Struct
from msgspec.structs import replace

from services.query.core.excerpts import Ruler, Source
from shared.excerpts import Budget, Excerpt
from shared.token_estimate import tokens

FEW_LINES = 3
"""A result is shown with so many lines, or sentences of a long one, before the next is tried for: less is only a place."""


class Wanted(Struct, frozen=True, kw_only=True):
    """One result to be shown."""

    source: Source
    most: int  # lines of its excerpt, within a budget pieces; 0 is its place alone
    beside: tuple[str, ...] = ()  # what is shown of it besides


class Packed(Struct, frozen=True, kw_only=True):
    """What is shown: an excerpt, or None, for each of the first results."""

    excerpts: tuple[Excerpt | None, ...]
    shortened: int = 0  # excerpts that the budget made shorter


def excerpts(wanted: Sequence[Wanted], worth: Mapping[str, float], budget: Budget | None = None) -> Packed:
    """Take the excerpt of each result; with a budget of as many as fit."""
    if budget is None:
        shown = (Ruler(one.source, worth).excerpt(one.most) if one.most else None for one in wanted)
        return Packed(excerpts=tuple(shown))
    return _packed(wanted, [Ruler(one.source, worth, is_fine=True) for one in wanted], budget)


def _packed(wanted: Sequence[Wanted], rulers: Sequence[Ruler], budget: Budget) -> Packed:
    wanted = [_in_pieces(one, ruler) for one, ruler in zip(wanted, rulers, strict=True)]
    left = budget.tokens
    few: list[Excerpt | None] = []
    for one, ruler in zip(wanted, rulers, strict=True):
        left -= budget.per_result + sum(tokens(text) + 2 for text in one.beside)
        found = _longest(ruler, min(FEW_LINES, one.most), left)
        if few and (left < 0 or (found is None and one.most)):
            break
        left -= _cost(found)
        few.append(found)
        if left < 0:
            return Packed(excerpts=(None,), shortened=int(one.most > 0))
    shown: list[Excerpt | None] = []
    for one, ruler, least in zip(wanted, rulers, few, strict=False):
        grown = _longest(ruler, one.most, left + _cost(least), least)
        left += _cost(least) - _cost(grown)
        shown.append(grown)
    whole = (ruler.excerpt(one.most) for one, ruler in zip(wanted, rulers, strict=True))
    shortened = sum(_chars(one) < _chars(all_of_it) for one, all_of_it in zip(shown, whole, strict=False))
    return Packed(excerpts=tuple(shown), shortened=shortened)


def _in_pieces(one: Wanted, ruler: Ruler) -> Wanted:
    """Let a text of few enough lines have all of its pieces."""
    lines = one.source.text.count("\n") + 1
    return replace(one, most=len(ruler.pieces)) if lines <= one.most else one


def _longest(ruler: Ruler, most: int, limit: int, least: Excerpt | None = None) -> Excerpt | None:
    """Give the longest excerpt of at most `most` pieces that costs at most `limit`; `least` does."""
    found, low, high = least, 0, min(most, len(ruler.pieces))
    while low < high:
        middle = (low + high + 1) // 2
        tried = ruler.excerpt(middle)
        if tried is not None and _cost(tried) <= limit:
            found, low = (tried if _chars(tried) >= _chars(found) else found), middle
        else:
            high = middle - 1
    return found


def _cost(excerpt: Excerpt | None) -> int:
    return 0 if excerpt is None else tokens(excerpt.text)


def _chars(excerpt: Excerpt | None) -> int:
    return 0 if excerpt is None else len(excerpt.text)
