"""`docs/reading.md` names every reason and every kind there is, and none that is not."""

from __future__ import annotations

import re

from shared.kinds import Kind
from shared.treerules import SkipReason
from tests.support.repository import ROOT

TEXT = (ROOT / "docs" / "reading.md").read_text("utf-8")


def first_cells(heading: str) -> set[str]:
    """Give the words in the first column of the table below a heading."""
    section = TEXT.partition(f"## {heading}\n")[2].partition("\n## ")[0]
    return set(re.findall(r"^\| `(\w+)` \|", section, re.MULTILINE))


def test_every_skip_reason_is_explained() -> None:
    """STYLE 22: what `kx status --skipped` prints stands in the page."""
    assert first_cells("Why an entry is skipped") == set(SkipReason)


def test_every_kind_is_explained() -> None:
    """The values of `--type`."""
    assert first_cells("Kinds") == set(Kind)
