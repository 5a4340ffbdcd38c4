"""What a record of memory may be, whose it is, how long it lasts, and what of it bears on a question (pure)."""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import TypeVar

from msgspec import Struct

from services.knowledge.core.places import FOLDER, lettered
from services.knowledge.core.words import line
from shared.analyzer import query_terms, terms
from shared.errors import ErrorCode, KxError
from shared.knowledge_messages import Caller
from shared.memory_messages import MemoryRecord, Remember
from shared.token_estimate import tokens

MAX_TEXT_CHARS = 20_000
MAX_SOURCE_CHARS = 1_000
MAX_WORD_CHARS = 200  # of a session, a client
MAX_TAG_CHARS = 60
MAX_TAGS = 20
WORKING_S = 14 * 86_400
MAX_EXPIRES_S = 366 * 86_400
_NO_TEXT = frozenset("\0")

T = TypeVar("T")


class Fitted(Struct, frozen=True):
    """What of two lists fits a budget, each in its order."""

    first: tuple[int, ...]  # places in the first list
    second: tuple[int, ...]
    tokens: int
    left_out: int


def new_record(asked: Remember, *, record_id: str, space: str, now: datetime) -> MemoryRecord:
    """Make a record of what is asked to be remembered.

    Raises:
        KxError: BAD_REQUEST.
    """
    text = asked.text.strip()
    if not text or len(text) > MAX_TEXT_CHARS or not _NO_TEXT.isdisjoint(text):
        raise KxError(
            ErrorCode.BAD_REQUEST,
            "a text to remember has 1 to {limit} characters, this one has {count}",
            hint="say it shortly; what is long belongs into a knowledge base: kx kb add",
            limit=MAX_TEXT_CHARS,
            count=len(text),
        )
    if len(asked.tags) > MAX_TAGS:
        raise KxError(ErrorCode.BAD_REQUEST, "a record has at most {limit} tags", limit=MAX_TAGS)
    return MemoryRecord(
        id=record_id,
        kind=asked.kind,
        text=text,
        created=written(now),
        expires=_expiry(asked, now),
        principal=asked.caller.principal,
        client=line("client", asked.caller.client[:MAX_WORD_CHARS], MAX_WORD_CHARS),
        session=line("session", asked.session, MAX_WORD_CHARS),
        source=line("source", asked.source, MAX_SOURCE_CHARS),
        tags=tuple(dict.fromkeys(line("tag", tag, MAX_TAG_CHARS) for tag in asked.tags if tag.strip())),
        space=space,
    )


def owner_of(record: MemoryRecord) -> str:
    """Say whose a record is: a team space's, else a principal's own."""
    return f"space:{record.space}" if record.space else f"principal:{record.principal}"


def digest_of(text: str) -> str:
    """Give by what the same text is known."""
    return hashlib.sha256(text.encode()).hexdigest()


def sees(record: MemoryRecord, caller: Caller, spaces: Collection[str]) -> bool:
    """Tell whether a record is there for the caller, a member of `spaces`."""
    return record.space in spaces if record.space else record.principal == caller.principal


def is_expired(record: MemoryRecord, now: datetime) -> bool:
    """Tell whether a record has ended; then it is answered to nobody."""
    return record.expires is not None and datetime.fromisoformat(record.expires) <= now


def written(moment: datetime) -> str:
    """Write a moment as RFC 3339 in UTC."""
    return moment.astimezone(UTC).isoformat(timespec="seconds").replace("+00:00", "Z")


def path_of_record(record_id: str) -> str:
    """Say where the text of a record lies in its tree.

    >>> path_of_record("mem_0f")
    'kb/mem_ap/_note_.md'
    """
    return f"{FOLDER}/{lettered(record_id)}/_note_.md"


def folder_of_record(record_id: str) -> str:
    """Name the folder of a record."""
    return f"{FOLDER}/{lettered(record_id)}"


def shares(records: Mapping[str, str], query: str) -> dict[str, float]:
    """Give of texts that share a word with a question which share of its words they have, by the keys of the texts.

    >>> shares({"a": "drain the queue", "b": "soup"}, "queue draining")
    {'a': 1.0}
    """
    asked = set(query_terms(query).terms)
    found = {key: len(asked.intersection(terms(text))) / len(asked) for key, text in records.items() if asked}
    return {key: share for key, share in found.items() if share > 0}


def fitted(first: Sequence[str], second: Sequence[str], *, max_tokens: int) -> Fitted:
    """Take texts of two lists in turn, best first, as long as they fit; what is too long makes room for what is not.

    >>> fitted(["abc", "abcabc"], ["abc" * 9], max_tokens=3)
    Fitted(first=(0, 1), second=(), tokens=3, left_out=1)
    """
    taken: tuple[list[int], list[int]] = ([], [])
    used = left_out = 0
    for place in range(max(len(first), len(second))):
        for texts, kept in zip((first, second), taken, strict=True):
            if place >= len(texts):
                continue
            cost = tokens(texts[place])
            if used + cost <= max_tokens:
                kept.append(place)
                used += cost
            else:
                left_out += 1
    return Fitted(tuple(taken[0]), tuple(taken[1]), used, left_out)


def _expiry(asked: Remember, now: datetime) -> str | None:
    if asked.kind == "knowledge":
        if asked.expires_s is not None:
            raise KxError(
                ErrorCode.BAD_REQUEST,
                "a durable record does not expire",
                hint="remember it as working, or leave expires_s out",
            )
        return None
    seconds = WORKING_S if asked.expires_s is None else asked.expires_s
    if not 1 <= seconds <= MAX_EXPIRES_S:
        raise KxError(
            ErrorCode.BAD_REQUEST,
            "{name} is {value}, expected {expected}",
            name="expires_s",
            value=seconds,
            expected=f"1 to {MAX_EXPIRES_S}",
        )
    return written(now + timedelta(seconds=seconds))
