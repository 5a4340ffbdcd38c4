"""Why a document gives no text; the child names a reason, its parent makes an error of it."""

from __future__ import annotations

from enum import StrEnum


class Reason(StrEnum):
    """What is wrong with a document, in words that follow its name."""

    TOO_LARGE = "it is larger than a document may be"
    ENCRYPTED = "it is encrypted"
    OLD_FORMAT = "it is of the old binary format; save it as .docx, .pptx or .xlsx"
    OTHER_TYPE = "its content is not what its name says"
    TOO_MANY_ENTRIES = "it is packed of more parts than are read"
    UNPACKS_TOO_LARGE = "it would unpack to more than is read"
    DECLARES_ENTITIES = "its XML declares a document type, which no document needs"
    NO_TEXT = "it holds no text, perhaps only pictures of it"
    TOO_MUCH_MEMORY = "reading it takes more memory than is allowed"
    TOO_SLOW = "reading it takes longer than is allowed"
    DAMAGED = "it is damaged"
    DIED = "its reader died of it"


REFUSED = frozenset(Reason) - {Reason.DAMAGED, Reason.DIED}
"""Reasons that are a decision; the others are accidents."""


class Unreadable(Exception):  # noqa: N818  # says what the document is
    """The document gives no text."""

    def __init__(self, reason: Reason) -> None:
        super().__init__(reason)
        self.reason = reason
