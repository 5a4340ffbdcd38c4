"""How much of an answer a reader can take, and what fits (pure).

A client refuses a tool result above its limit as a whole, so the estimate errs on the high side.
"""

from __future__ import annotations

from collections.abc import Sequence

from msgspec.structs import replace

from services.mcp_gateway.core.answers import FoundPassage
from shared.excerpts import Budget
from shared.token_estimate import CHARS_PER_TOKEN, tokens

ENVELOPE_TOKENS = 300  # counts, the sentence about project text
NOTES_TOKENS = 100  # what notes usually take
HIT_TOKENS = 70  # names of the fields, numbers, punctuation of one result


def fitting(found: Sequence[FoundPassage], limit: int, notes: Sequence[str] = ()) -> list[FoundPassage]:
    """Keep as many of the first results as fit into `limit` tokens beside the notes, which stand there twice.

    Of the first at least the place and some lines are kept.
    """
    limit -= 2 * sum(tokens(note) + 2 for note in notes)
    left = limit - ENVELOPE_TOKENS
    kept: list[FoundPassage] = []
    for one in found:
        left -= _tokens_of(one)
        if left < 0:
            break
        kept.append(one)
    if kept or not found:
        return kept
    return [_shortened(found[0], max(limit - ENVELOPE_TOKENS - HIT_TOKENS, CHARS_PER_TOKEN))]


def budget_of(max_tokens: int) -> Budget:
    """Give what the results may cost of an answer of so many tokens."""
    return Budget(tokens=max(max_tokens - ENVELOPE_TOKENS - NOTES_TOKENS, 1), per_result=HIT_TOKENS)


def _tokens_of(one: FoundPassage) -> int:
    places = (one.path, *one.also_lines, *one.same_text, *one.parts)  # in the structured content and in the text block
    texts = (*places, *places, one.heading, one.text, *one.keywords)
    return HIT_TOKENS + sum(tokens(text) + 2 for text in texts) + 8 * len(one.parts)


def _shortened(one: FoundPassage, limit: int) -> FoundPassage:
    """Cut one passage to the characters that `limit` tokens surely hold."""
    text = one.text[:limit]  # a token is at least one character, so this is never too much
    left_out = one.text.count("\n") - text.count("\n")
    bare = FoundPassage(
        path=one.path,
        start_line=one.start_line,
        end_line=one.end_line,
        kind=one.kind,
        origin=one.origin,
        score=one.score,
        confidence=one.confidence,
    )
    return _with_text(bare, text, cut=left_out)


def _with_text(one: FoundPassage, text: str, *, cut: int) -> FoundPassage:
    return replace(one, text=text, cut_lines=one.cut_lines + cut)
