"""Run one reader over one document, and say what came of it in plain values."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from enum import StrEnum

from shared.extractor.markdown import Full, Page, one_line
from shared.extractor.reasons import Reason, Unreadable

MAX_TITLE_CHARS = 300


class Note(StrEnum):
    """What is not in the text."""

    CUT = "the text is longer than is kept: its end is missing"
    PARTS = "it has more pages, slides or sheets than are read: the last ones are missing"
    UNREADABLE_PARTS = "some of its pages, slides or sheets could not be read"


@dataclass
class Found:
    """What a reader has found so far."""

    page: Page
    max_parts: int
    title: str = ""
    parts: int = 0
    notes: list[Note] = field(default_factory=list)

    def note(self, note: Note) -> None:
        """Say once what is not in the text."""
        if note not in self.notes:
            self.notes.append(note)

    def begin_document(self, title: str) -> None:
        """Take the title a document gives itself."""
        self.title = one_line(title)[:MAX_TITLE_CHARS]
        self.page.heading(1, self.title)


Reader = Callable[[bytes, Found], None]


def read_document(read: Reader, data: bytes, *, output_bytes: int, parts: int) -> dict[str, object]:
    """Give the text of a document, or the reason why there is none."""
    found = Found(Page(output_bytes), parts)
    try:
        try:
            read(data, found)
        except Full:
            found.note(Note.CUT)
        return _answer(found)
    except Unreadable as error:
        return {"reason": error.reason.name}
    except MemoryError:
        return {"reason": Reason.TOO_MUCH_MEMORY.name}
    except Exception:  # noqa: BLE001  # a library met what its author did not think of; the document is to blame
        return {"reason": Reason.DAMAGED.name}


def _answer(found: Found) -> dict[str, object]:
    text = str(found.page)
    if not any(line and not line.startswith("#") for line in text.split("\n")):
        raise Unreadable(Reason.NO_TEXT)
    return {"markdown": text, "title": found.title, "parts": found.parts, "notes": [note.name for note in found.notes]}
