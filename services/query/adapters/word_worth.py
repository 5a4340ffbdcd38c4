"""What each word of a question is worth in one index: by it the lines to show are chosen."""

from __future__ import annotations

from itertools import pairwise

from services.query.adapters.projects import SearchProject
from services.query.adapters.reader import IndexReaders
from services.query.core.evidence.asked import rarity
from services.query.core.excerpts import pair_key
from services.query.core.question import Question
from shared.errors import KxError

LEAST_WORTH = 0.01
"""A word that stands in every passage still tells one line from another."""


def word_worth(readers: IndexReaders, project: SearchProject, question: Question, chunks: int) -> dict[str, float]:
    """Give the rarity of each term asked, of a pair asked side by side that of its commoner term; blocks.

    A synonym has its share of the term's.

    Without the index all are worth the same: which lines are shown is never a reason to give no answer.
    """
    terms = question.terms.terms
    try:
        with readers.snapshot(project.index, project.instance) as snapshot:
            worth = {term: max(rarity(chunks, snapshot.chunks_with(term)), LEAST_WORTH) for term in terms}
    except KxError:
        worth = dict.fromkeys(terms, 1.0)
    also = {
        synonym.term: synonym.share
        * (max(rarity(chunks, synonym.chunks), LEAST_WORTH) if synonym.chunks else worth[terms[synonym.item]])
        for synonym in question.synonyms
    }
    pairs = {pair_key(a, b): min(worth[a], worth[b]) for a, b in pairwise(question.terms.stems)}
    return also | pairs | worth
