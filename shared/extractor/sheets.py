"""A .xlsx as Markdown: a section a sheet, each block of rows a table with its first row as header (openpyxl)."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import date, datetime, time
from io import BytesIO
from typing import Any

import openpyxl

from shared.extractor.archive import check
from shared.extractor.markdown import Full
from shared.extractor.reading import Found, Note

_MAX_COLUMNS = 500  # of a row; beyond, a table is no text
_MAX_CELLS = 300_000  # of a workbook: three seconds; what is longer is data and no text
_ROWS_AT_ONCE = 500  # a longer table is continued under the same header
_MAX_EMPTY_ROWS = 10_000  # in a row: a cell far away is not worth the walk


def read(data: bytes, found: Found) -> None:
    """Write the sheets that hold anything."""
    check(data, "xlsx")
    book = openpyxl.load_workbook(BytesIO(data), read_only=True, data_only=True, keep_links=False)
    found.begin_document(book.properties.title or "")
    room = _MAX_CELLS
    for number, sheet in enumerate(book.worksheets, start=1):
        if number > found.max_parts:
            found.note(Note.PARTS)
            break
        room = _write(sheet, room, found)


def _write(sheet: Any, room: int, found: Found) -> int:
    """Write one sheet of at most `room` cells; give the room that is left."""
    sheet.reset_dimensions()  # what the file says of its size may be a lie
    is_begun = False
    for block in _blocks(sheet.iter_rows(values_only=True)):
        if not is_begun:
            found.page.heading(2, f"Sheet {sheet.title}")
            found.parts += 1
            is_begun = True
        room -= sum(map(len, block))
        if room < 0:
            raise Full
        found.page.table(block)
    return room


def _blocks(rows: Iterator[tuple[object, ...]]) -> Iterator[list[list[str]]]:
    """Give runs of rows between empty ones."""
    block: list[list[str]] = []
    empty = 0
    for row in rows:
        cells = [_words(cell) for cell in row[:_MAX_COLUMNS]]
        if any(cells):
            empty = 0
            block.append(cells)
            if len(block) > _ROWS_AT_ONCE:
                yield block
                block = block[:1]
            continue
        empty += 1
        if empty > _MAX_EMPTY_ROWS:
            break
        if block:
            yield block
            block = []
    if len(block) > 1 or (block and empty == 0):
        yield block


def _words(value: object) -> str:
    if value is None:
        return ""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return str(int(value)) if value.is_integer() and abs(value) < 1e15 else f"{value:.12g}"
    if isinstance(value, datetime):
        return str(value.date()) if value.time() == time() else value.isoformat(sep=" ", timespec="minutes")
    if isinstance(value, date | time):
        return value.isoformat()
    return str(value)
