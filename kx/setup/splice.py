"""One change of one text: what goes out, what comes in, and where; everything else stays byte for byte (pure)."""

from __future__ import annotations

from msgspec import Struct


class Splice(Struct, frozen=True, kw_only=True):
    """`removed` at `start` becomes `inserted`."""

    start: int  # characters
    removed: str
    inserted: str

    def on(self, text: str) -> str:
        """Make the change."""
        return text[: self.start] + self.inserted + text[self.start + len(self.removed) :]

    def back(self, text: str) -> str | None:
        """Take the change back from a text that may have changed elsewhere; None where it is not there exactly once."""
        if text[self.start : self.start + len(self.inserted)] == self.inserted != "":
            at = self.start
        elif self.inserted.strip() and text.count(self.inserted) == 1:
            at = text.index(self.inserted)
        else:
            return None
        return text[:at] + self.removed + text[at + len(self.inserted) :]


def between(text: str, start: int, end: int, inserted: str) -> Splice:
    """Replace the characters from `start` up to `end`."""
    return Splice(start=start, removed=text[start:end], inserted=inserted)


def diff_lines(text: str, splice: Splice) -> list[str]:
    """Show a change as a diff without its surroundings, where other servers may keep their keys.

    A line that is changed in its middle is shown from where the change begins.
    """
    line = text.count("\n", 0, splice.start) + 1
    gone = [f"-{one}" for one in _lines(splice.removed)]
    come = [f"+{one}" for one in _lines(splice.inserted)]
    return [f"@@ {line} @@", *gone, *come]


def _lines(text: str) -> list[str]:
    return [line for line in text.splitlines() if line.strip()]
