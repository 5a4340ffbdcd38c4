"""What became of each file of an import, counted, as text and as JSON (pure)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any, Literal

from msgspec import Struct

from kx.catalogue import Catalogue
from kx.knowledge.documents import document
from kx.knowledge.sources import Source
from kx.paint import PLAIN, Paint
from kx.terminal import visible
from shared.errors import KxError
from shared.knowledge_messages import BaseRow, ItemRow, ItemWritten

Outcome = Literal["created", "changed", "unchanged", "failed", "denied", "skipped"]
OUTCOMES: tuple[Outcome, ...] = ("created", "changed", "unchanged", "failed", "denied", "skipped")
REASONS = {
    "kind": "no kind of file that is taken; see which are: kx kb limits",
    "link": "a link, which is not followed",
}


class Imported(Struct, frozen=True, kw_only=True):
    """What became of one file."""

    path: str
    outcome: Outcome
    item: ItemRow | None = None
    error: KxError | None = None  # why it was not taken
    reason: str = ""  # why it was left out, or has no content: an English sentence
    is_named: bool = False  # by the person

    @property
    def is_fault(self) -> bool:
        """Tell whether something was asked for and not done."""
        return self.outcome == "failed" or (self.outcome == "denied" and self.is_named)


def done(source: Source, written: ItemWritten, *, is_new: bool) -> Imported:
    """Say what became of a file that was taken."""
    item = written.item
    outcome: Outcome = "failed" if item.failure else "created" if is_new else "changed"
    if not written.is_changed and not item.failure:
        outcome = "unchanged"
    return Imported(path=str(source.path), outcome=outcome, item=item, reason=item.failure, is_named=source.is_named)


def failed(source: Source, error: KxError) -> Imported:
    """Say that a file was refused."""
    return Imported(path=str(source.path), outcome="failed", error=error, is_named=source.is_named)


def refused(source: Source) -> Imported:
    """Say that a file was not even read."""
    if source.refusal == "denied":
        reason = f"denied by the pattern {source.detail}"
        return Imported(path=str(source.path), outcome="denied", reason=reason, is_named=source.is_named)
    if source.refusal == "unreadable":
        return Imported(path=str(source.path), outcome="failed", reason=f"it cannot be read: {source.detail}")
    return Imported(path=str(source.path), outcome="skipped", reason=REASONS[source.refusal or "kind"])


def counts(outcomes: Iterable[Imported]) -> dict[str, int]:
    """Count what became of the files."""
    found = Counter(one.outcome for one in outcomes)
    return {outcome: found[outcome] for outcome in OUTCOMES}


def import_json(base: BaseRow, outcomes: Sequence[Imported]) -> dict[str, Any]:
    """Give the documented form of an import."""
    return document(base=base, counts=counts(outcomes), files=[_row(one) for one in outcomes])


def outcome_text(one: Imported, catalogue: Catalogue, paint: Paint = PLAIN) -> str:
    """Give what became of a file on one line; why not, below it."""
    t = catalogue.text
    state = f" [{t(one.item.status)}]" if one.item is not None else ""
    beside = f" {paint.aside(visible(one.item.reference or one.item.id))}" if one.item is not None else ""
    lines = [f"{t(one.outcome)} {paint.place(visible(one.path))}{state}{beside}"]
    if one.error is not None:
        message, hint = catalogue.error(one.error)
        lines += [f"    {visible(text)}" for text in (f"{one.error.code}: {message}", hint) if text]
    elif one.reason:
        lines.append(f"    {visible(catalogue.sentence(one.reason))}")
    return "\n".join(lines)


def summary_text(outcomes: Sequence[Imported], catalogue: Catalogue) -> str:
    """Give the counts that are not zero."""
    found = [f"{count} {catalogue.text(outcome)}" for outcome, count in counts(outcomes).items() if count]
    return ", ".join(found) or catalogue.text("no file was found")


def _row(one: Imported) -> dict[str, Any]:
    code = str(one.error.code) if one.error else None
    reason = str(one.error) if one.error else one.reason
    return {"path": one.path, "outcome": one.outcome, "item": one.item, "code": code, "reason": reason}
