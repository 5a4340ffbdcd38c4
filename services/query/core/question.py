"""A request to a question that can be asked: cleaned, analysed, its limits checked (pure)."""

from __future__ import annotations

import re
from collections.abc import Callable

from msgspec import Struct
from msgspec.structs import replace

from services.query.core.path_glob import Below, PathGlob, compile_glob
from services.query.core.synonyms import MAX_SYNONYMS, Synonym, SynonymTable, synonyms_of
from services.query.core.translation import better_known, counterparts_of
from shared.analyzer import MAX_QUERY_CHARS, QueryTerms, query_terms
from shared.errors import ErrorCode, KxError
from shared.excerpts import MAX_SNIPPET_LINES, MAX_SNIPPET_RESULTS
from shared.messages import SearchRequest

MAX_TOP = 100
MAX_OFFSET = 10_000
MAX_K = 1_000

_NOT_TEXT = re.compile("[\0\ud800-\udfff]")


class Question(Struct, frozen=True, kw_only=True):
    """What the lanes ask for."""

    text: str  # for the model
    terms: QueryTerms
    glob: PathGlob | Below | None = None
    synonyms: tuple[Synonym, ...] = ()

    @property
    def lexical(self) -> QueryTerms:
        """What the lexical lane asks: the terms, and what the project says they also mean."""
        if not self.synonyms:
            return self.terms
        also = (synonym.term for synonym in self.synonyms)
        return replace(self.terms, terms=tuple(dict.fromkeys((*self.terms.terms, *also))))

    @property
    def is_searchable(self) -> bool:
        """Whether it has any word; without one the nearest vectors would be noise."""
        return bool(self.terms.terms or self.terms.phrases)


def with_synonyms(question: Question, table: SynonymTable) -> Question:
    """Let a question also ask for what its words mean in this project."""
    return replace(question, synonyms=synonyms_of(question.terms, table))


def has_counterparts(question: Question) -> bool:
    """Tell whether `with_counterparts` would have to look into the index."""
    return bool(counterparts_of(question.terms))


def with_counterparts(question: Question, chunks_with: Callable[[str], int]) -> Question:
    """Let a question also ask for what its words are called in the other language, where the index knows that better.

    What the project says of a word stands: it has no other counterpart then.
    """
    said = {synonym.item for synonym in question.synonyms}
    unsaid = (one for one in counterparts_of(question.terms) if one.item not in said)
    found = better_known(unsaid, question.terms, chunks_with)
    return replace(question, synonyms=(*question.synonyms, *found)[:MAX_SYNONYMS]) if found else question


def clean(query: str) -> str:
    r"""Remove what is no text: NUL and lone surrogates.

    >>> clean("a\0b")
    'ab'
    """
    return _NOT_TEXT.sub("", query)


def question_of(request: SearchRequest) -> Question:
    """Read a request.

    Raises:
        KxError: BAD_REQUEST for a number out of its range or a malformed path glob; no query text is ever refused.
    """
    _require(1 <= request.top <= MAX_TOP, "top", request.top, f"1 to {MAX_TOP}")
    _require(0 <= request.offset <= MAX_OFFSET, "offset", request.offset, f"0 to {MAX_OFFSET}")
    _require(1 <= request.k <= MAX_K, "k", request.k, f"1 to {MAX_K}")
    _require(0.0 <= request.alpha <= 1.0, "alpha", request.alpha, "0 to 1")
    _check_limits(request)
    text = clean(request.query)
    return Question(text=text[:MAX_QUERY_CHARS], terms=query_terms(text), glob=_where(request))


def _check_limits(request: SearchRequest) -> None:
    lines, results = request.snippets.lines, request.snippets.results
    _require(0 <= (lines or 0) <= MAX_SNIPPET_LINES, "snippets.lines", lines, f"0 to {MAX_SNIPPET_LINES}")
    _require(0 <= (results or 0) <= MAX_SNIPPET_RESULTS, "snippets.results", results, f"0 to {MAX_SNIPPET_RESULTS}")
    if request.budget is not None:
        _require(request.budget.tokens >= 1, "budget.tokens", request.budget.tokens, "1 or more")
        _require(request.budget.per_result >= 0, "budget.per_result", request.budget.per_result, "0 or more")


def _where(request: SearchRequest) -> PathGlob | Below | None:
    glob = _glob(request.path_glob)
    if not request.folders:
        return glob
    return Below(folders=frozenset(folder.strip("/") for folder in request.folders), glob=glob)


def _glob(written: str) -> PathGlob | None:
    if not written:
        return None
    try:
        return compile_glob(written)
    except ValueError as error:
        raise KxError(
            ErrorCode.BAD_REQUEST,
            "the path glob {glob} cannot be used: {reason}",
            hint="* stands for part of a name, ** for folders: docs/**/*.md",
            glob=written[:200],
            reason=error,
        ) from error


def _require(is_right: bool, name: str, value: object, expected: str) -> None:
    if not is_right:
        raise KxError(
            ErrorCode.BAD_REQUEST, "{name} is {value}, expected {expected}", name=name, value=value, expected=expected
        )
