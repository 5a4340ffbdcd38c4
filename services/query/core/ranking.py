"""Candidates to a ranked list: a scorer by mode, then the priors, then one total order (pure).

Mode `auto` scores by evidence, which has to be gathered first: the caller brings that scorer.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from msgspec import Struct

from services.query.core.evidence.score import confidence
from services.query.core.evidence.weights import GATHERED
from services.query.core.fusion import RRF_K, Parts, Scorer, lexical_only, linear_mix, reciprocal_rank, vector_only
from services.query.core.passages import Candidate, Ranked
from services.query.core.recency import Recency
from shared.messages import Mode


class RankingRule(Struct, frozen=True, kw_only=True):
    """How the candidates of one request are put in order."""

    mode: Mode
    recency: Recency
    weight_of: Callable[[str], float] = lambda _: 1.0  # path to the weight of the source it belongs to
    k: int = RRF_K
    alpha: float = 0.5
    by_evidence: Scorer | None = None  # of mode `auto`; without it `auto` is `rrf`


def rank(candidates: Sequence[Candidate], rule: RankingRule) -> list[Ranked]:
    """Score every candidate that the mode looks at and sort them, best first, ties by path and ordinal."""
    shown = [candidate for candidate in candidates if _counts(candidate, rule.mode)]
    scorer = _scorer(shown, rule)
    ranked = [_with_priors(candidate, scorer(candidate), rule) for candidate in shown]
    return sorted(ranked, key=best_first)


def best_first(ranked: Ranked) -> tuple[float, str, int]:
    """Give the sort key of the one total order of results."""
    return (-ranked.score, *ranked.passage.at.order)


def effective_mode(mode: Mode, *, has_vector: bool, has_lexical: bool) -> Mode:
    """Fall back to the lane that answered when the one the mode needs did not."""
    if mode in {"semantic", "hybrid"} and not has_vector:
        return "lexical"
    if mode in {"lexical", "hybrid"} and not has_lexical:
        return "semantic"
    return mode


def _counts(candidate: Candidate, mode: Mode) -> bool:
    if mode == "semantic":
        return candidate.vector is not None
    return mode != "lexical" or candidate.lexical is not None


def _scorer(candidates: Sequence[Candidate], rule: RankingRule) -> Scorer:
    match rule.mode:
        case "semantic":
            return vector_only
        case "lexical":
            return lexical_only
        case "hybrid":
            return linear_mix(candidates, alpha=rule.alpha)
        case "auto" if rule.by_evidence is not None:
            return rule.by_evidence
        case _:
            return reciprocal_rank(k=rule.k)


def _with_priors(candidate: Candidate, parts: Parts, rule: RankingRule) -> Ranked:
    """Multiply by recency and source weight; as parts both are what they add, so that the parts still add up."""
    base = sum(parts.values())
    boost = rule.recency.boost(candidate.passage.at.mtime_ns)
    weight = rule.weight_of(candidate.passage.at.path)
    priors = {"recency": base * (boost - 1.0), "weight": base * boost * (weight - 1.0)}
    named = {name: value for name, value in (parts | priors).items() if value}
    is_weighed = rule.mode == "auto" and rule.by_evidence is not None
    sure = confidence(base - _gathered(parts)) if is_weighed else None
    return Ranked(candidate=candidate, score=base * boost * weight, parts=named, confidence=sure)


def _gathered(parts: Parts) -> float:
    """Sum what tells one file from another and not whether anything answers."""
    return sum(parts.get(name, 0.0) for name in GATHERED)
