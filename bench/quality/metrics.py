"""Scores of ranked lists: NDCG@10, MRR@10, Recall@10 over distinct files (pure)."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence

from msgspec import Struct

DEPTH = 10


class Scores(Struct, frozen=True):
    """Of one question, or the mean of many."""

    ndcg: float = 0.0
    mrr: float = 0.0
    recall: float = 0.0


def scores(ranked: Sequence[str], relevant: Sequence[str]) -> Scores:
    """Score a list of distinct files, best first; judgements are binary.

    Each rank that holds an answer adds 1 / log2(rank + 1), divided by the best possible.
    """
    wanted = list(dict.fromkeys(relevant))
    ranks = []
    for path in wanted:
        rank = next((i for i, found in enumerate(ranked[:DEPTH], 1) if is_same_file(found, path)), 0)
        if rank:
            ranks.append(rank)
    gain = sum(1 / math.log2(rank + 1) for rank in set(ranks))
    best = sum(1 / math.log2(rank + 1) for rank in range(1, min(DEPTH, len(wanted)) + 1))
    return Scores(
        ndcg=gain / best if best else 0.0,
        mrr=1 / min(ranks) if ranks else 0.0,
        recall=len(ranks) / len(wanted) if wanted else 0.0,
    )


def is_same_file(found: str, wanted: str) -> bool:
    """Tell whether one path is the other, or its end at a folder's border."""
    return found == wanted or found.endswith("/" + wanted) or wanted.endswith("/" + found)


def mean(items: Iterable[Scores]) -> Scores:
    """Average question by question."""
    found = list(items)
    count = max(1, len(found))
    return Scores(
        ndcg=sum(item.ndcg for item in found) / count,
        mrr=sum(item.mrr for item in found) / count,
        recall=sum(item.recall for item in found) / count,
    )


def mean_of_groups(items: Iterable[tuple[str, Scores]]) -> Scores:
    """Average within each group, then over groups: how figures over repositories are published."""
    groups: defaultdict[str, list[Scores]] = defaultdict(list)
    for group, item in items:
        groups[group].append(item)
    return mean(mean(group) for group in groups.values())


def by(items: Iterable[tuple[str, Scores]], summed: Callable[[Iterable[Scores]], Scores] = mean) -> dict[str, Scores]:
    """Average each group, in the order of its name."""
    groups: defaultdict[str, list[Scores]] = defaultdict(list)
    for group, item in items:
        groups[group].append(item)
    return {group: summed(groups[group]) for group in sorted(groups)}
