"""Queries that are dangerous to some query language, and words planted among them (row B1)."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator

MARKS = (
    *"\"'()*^:-[]%\\{}+~/;<>|&!?@#$=,.`_",
    "\0",
    "🚀",
    "👩‍👩‍👧",
    "\u202e",
    "\u200b",
    "\x1b[2J",
    "\ud800",
    "\udfff",
    "\t",
    "\n",
)
OPERATORS = ("OR", "AND", "NOT", "NEAR", "NEAR(", "NEAR/2", "body:", "{a b}:", "-x", "+x", "a*", "--", "/*", "';")
SPEECH = (
    "how",
    "does",
    "the",
    "kumquat",
    "retry",
    "ação",
    "認証",
    "끝말",
    "e\u0301",
    "ſtraße",
    "x" * 300,
    "0x1F",
    "a.b.c",
)

MAX_CHARS = 10_000
"""The longest query the gateway lets in."""

CJK_FIRST, CJK_LAST = 0x4E00, 0x9FA5


def planted_word(number: int) -> str:
    """Give one of many distinct words: as code, prose and other scripts write them."""
    letters = "".join(chr(ord("a") + int(digit)) for digit in f"{number:04}")
    shapes: tuple[Callable[[], str], ...] = (
        lambda: f"zq{number}xw",
        lambda: f"zqCamel{letters.capitalize()}Xw",
        lambda: f"zq_snake_{letters}_xw",
        lambda: f"zqção{letters}",
        lambda: f"ZQ-{letters.upper()}-{number}",
        lambda: "".join(chr(CJK_FIRST + (number * step) % (CJK_LAST - CJK_FIRST)) for step in (7, 11, 13)),
    )
    return shapes[number % len(shapes)]()


def around(rng: random.Random, word: str) -> str:
    """Put noise around a word: no quote, which would make a phrase of what it encloses, and too little to cut it off."""
    pieces = [rng.choice((*MARKS[1:], *OPERATORS)) for _ in range(rng.randrange(12))]
    pieces.insert(rng.randrange(len(pieces) + 1), f" {word} ")
    return "".join(pieces)


def hostile_queries(rng: random.Random) -> Iterator[str]:
    """Give queries without end: short noise mostly, among it the longest that are let in."""
    vocabulary = (*MARKS, *OPERATORS, *SPEECH)
    long_ones: tuple[Callable[[], str], ...] = (
        lambda: "(" * 2_000 + ")" * 2_000,
        lambda: "[{(" * 700,
        lambda: rng.choice(MARKS) * MAX_CHARS,
        lambda: " ".join(f"word{rng.randrange(10_000)}" for _ in range(1_100)),
        lambda: "".join(rng.choice(vocabulary) for _ in range(2_000)),
        lambda: "".join(chr(rng.randrange(0x11_0000)) for _ in range(MAX_CHARS)),
        lambda: '"' * rng.randrange(1, 2_000),
        lambda: " OR ".join(['"a"'] * 1_000),
    )
    while True:
        if rng.randrange(20) == 0:
            yield rng.choice(long_ones)()[:MAX_CHARS]
        elif rng.randrange(4) == 0:
            yield "".join(chr(rng.randrange(1, 0x11_0000)) for _ in range(rng.randrange(1, 40)))
        else:
            joint = rng.choice(("", " ", " "))
            yield joint.join(rng.choice(vocabulary) for _ in range(rng.randrange(1, 20)))
