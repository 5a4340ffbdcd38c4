"""The changes setup makes or takes back: each a value that can be shown, made and recorded."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Literal

from msgspec import Struct
from msgspec.structs import replace

from kx.setup.records import Record, Records, digest_of
from kx.setup.splice import Splice, diff_lines
from kx.setup.target import Target, missing_folders, remove_target, write_target

Step = Literal["configuration", "index", "claude", "codex", "cursor", "login"]
Kind = Literal["change", "nothing", "refused", "skipped"]


class Change(Struct, frozen=True, kw_only=True):
    """What one step does, or why it does nothing."""

    step: Step
    kind: Kind
    path: Path | None = None
    name: str = ""  # of the entry
    root: str = ""
    target: Target | None = None
    splice: Splice | None = None
    why: str = ""  # an English sentence: why it is refused or skipped
    paste: str = ""  # what to write by hand where it is refused
    removes: bool = False  # the whole file, which setup had created
    record: Record | None = None  # the change that is taken back


def diff_of(change: Change) -> str:
    """Show a change of a file: kx's own lines and nothing of what stands around them."""
    if change.target is None or change.splice is None:
        return ""
    old = "/dev/null" if change.target.text is None else str(change.path)
    new = "/dev/null" if change.removes else str(change.path)
    return "\n".join([f"--- {old}", f"+++ {new}", *diff_lines(change.target.text or "", change.splice)])


def make(change: Change, records: Records) -> None:
    """Make a change of a file; it is recorded first, so that none is ever made that cannot be taken back.

    Raises:
        KxError: the file was changed since it was looked at, or the disk is full; OSError.
    """
    if change.target is None or change.splice is None or change.step == "index":
        return
    text = change.splice.on(change.target.text or "")
    before = records.of(change.step, change.target.path, change.root)
    record = Record(
        what=change.step,
        path=str(change.target.path),
        root=change.root,
        name=change.name,
        created=change.target.text in {None, text}
        if before is None
        else before.created,  # equal: ours, of another home
        folders=tuple(map(str, missing_folders(change.target.real.parent))) if before is None else before.folders,
        # of a second change to the same entry only the first way back is of use
        splice=change.splice if before is None else Splice(start=0, removed=before.splice.removed, inserted=""),
        digest=digest_of(text),
    )
    records.keep(record)
    try:
        write_target(change.target, text)
    except BaseException:
        records.forget(record)
        if before is not None:
            records.keep(before)
        raise


def take_back(change: Change, records: Records) -> None:
    """Undo a change of a file, then forget that it was made.

    Raises:
        KxError: the file was changed since it was looked at, or the disk is full; OSError.
    """
    record = change.record
    if record is None:
        return
    if change.kind == "change" and change.target is not None and change.splice is not None:
        if change.removes:
            remove_target(change.target, tuple(map(Path, record.folders)))
        else:
            write_target(change.target, change.splice.on(change.target.text or ""))
            _hand_over(record, records)
    if change.kind != "refused":
        records.forget(record)


def _hand_over(record: Record, records: Records) -> None:
    """Let the next project in a file that setup made, Codex' is one for all, take it along when it is the last."""
    heir = next((one for one in records.all() if one.path == record.path and one.root != record.root), None)
    if record.created and heir is not None:
        records.keep(replace(heir, created=True, folders=record.folders))


def are_pending(changes: Sequence[Change]) -> bool:
    """Tell whether anything would change."""
    return any(change.kind == "change" for change in changes)
