"""How a text of a knowledge base is cited (pure): `knowledge:<item>@<revision>`, or without the revision the current one."""

from __future__ import annotations

import re

from msgspec import Struct

from shared.errors import ErrorCode, KxError

_FORM = re.compile(r"(?:knowledge:)?([A-Za-z0-9_-]{1,100})(?:@([A-Za-z0-9_-]{1,100}))?")


class Reference(Struct, frozen=True):
    """An item, and the revision where one is pinned."""

    item: str
    revision: str | None = None

    def __str__(self) -> str:
        return f"knowledge:{self.item}" + (f"@{self.revision}" if self.revision else "")


def parse_reference(text: str) -> Reference:
    """Read a reference, with or without its prefix.

    Raises:
        KxError: BAD_REQUEST.

    >>> parse_reference("knowledge:itm_1@rev_2"), str(parse_reference("itm_1"))
    (Reference(item='itm_1', revision='rev_2'), 'knowledge:itm_1')
    """
    found = _FORM.fullmatch(text.strip())
    if found is None:
        raise KxError(
            ErrorCode.BAD_REQUEST,
            "{reference} is no reference",
            hint="give it as knowledge:ITEM@REVISION, or knowledge:ITEM for the current revision",
            reference=text,
        )
    return Reference(found[1], found[2])
