"""Reading Markdown documents of the repository in tests."""

from __future__ import annotations

import re
from pathlib import Path

from tests.support.repository import text_of


def first_column(page: str, pattern: str) -> list[str]:
    """Give the first cells of the table rows that match `pattern`, without code marks, in order."""
    cells = (line.split("|")[1].strip().strip("`") for line in text_of(Path(page)).splitlines() if line.startswith("|"))
    return [cell for cell in cells if re.fullmatch(pattern, cell)]


def sections(page: str, level: int = 2) -> dict[str, str]:
    """Give the text below each heading of a level, by heading."""
    parts = re.split(rf"^{'#' * level} (.+)$", text_of(Path(page)), flags=re.MULTILINE)
    return dict(zip(parts[1::2], parts[2::2], strict=True))


def links(page: Path) -> list[str]:
    """Give the relative targets a page links to, without their anchors."""
    targets = re.findall(r"\]\(([^)\s]+)\)", text_of(page))
    return [target.partition("#")[0] for target in targets if "://" not in target and not target.startswith("#")]
