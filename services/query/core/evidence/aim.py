"""What a question is after, as its wording tells: how something is used, how it works, or the thing itself (pure).

How to use something is told by documentation, what does it lies in code; how something works is told by either, so
neither is preferred for it.
"""

from __future__ import annotations

import re
from enum import StrEnum
from typing import Final


class Aim(StrEnum):
    """What is asked for."""

    USE = "use"
    WORKING = "working"
    THING = "thing"


# "How do I", "which", "can I", "my", "install", "guide".
_USE: Final = re.compile(
    r"^(?:how (?:to|do (?:i|you)|can (?:i|you)|should i)|what|which|can (?:i|you|we)|where (?:do|can|is|are)|is there"
    r"|(?:do|should) i|como|qual|quais|o que|onde|posso)\b"
    r"|\b(?:my|i|i'm|we|meu|minha)\b"
    r"|\b(?:install\w*|set ?up|tutorial|guide|documentation|docs|readme|changelog|best practices?|recommended|comparison"
    r"|instala\w*|guia|documentação)\b",
    re.IGNORECASE,
)
_SPEAKER: Final = re.compile(r"\b(?:my|i|i'm|we|meu|minha)\b", re.IGNORECASE)
# "What happens when it fails" begins like a question to documentation and is none.
_EVENT: Final = re.compile(
    r"^(?:what happens|o que acontece|quando|por ?qu[eê]|quant[oa]s?"
    r"|(?:como|onde) (?:funcionam?|ficam?|é|são|foi|foram|está|estão|se|os?|as?|uma?|cada))\b",
    re.IGNORECASE,
)
_AUXILIARY: Final = "does|do|is|are|was|were|did|can|could|has|have|should|would|much|many|long|often"
_WORKING: Final = re.compile(rf"^(?:how|why|when|where) (?:{_AUXILIARY})\b", re.IGNORECASE)
# "How sessions are set up": no question but a description, as one writes it of code.
_DESCRIPTION: Final = re.compile(rf"^how (?!(?:to|about|{_AUXILIARY})\b)", re.IGNORECASE)


def aim_of(question: str) -> Aim:
    """Tell what a question is after.

    >>> [str(aim_of(q)) for q in ("how do I retry", "how does it retry", "how retries are counted", "retry policy")]
    ['use', 'working', 'thing', 'thing']
    """
    if _EVENT.match(question):
        return Aim.WORKING
    is_description = _DESCRIPTION.match(question) and not _SPEAKER.search(question)
    if _USE.search(question) and not is_description:
        return Aim.USE
    return Aim.WORKING if _WORKING.match(question) else Aim.THING
