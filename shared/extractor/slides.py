"""A .pptx as Markdown: a section a slide, with its title, texts, tables and the speaker's notes (python-pptx)."""

from __future__ import annotations

from collections.abc import Iterator
from io import BytesIO
from typing import Any

import pptx
from pptx.enum.shapes import MSO_SHAPE_TYPE, PP_PLACEHOLDER

from shared.extractor.archive import check
from shared.extractor.markdown import one_line
from shared.extractor.reading import Found, Note

_MAX_DEPTH = 20  # of groups in groups
_EMU = 914_400 // 4  # shapes whose tops differ by less stand side by side
_NO_TEXT_OF_ITS_OWN = {PP_PLACEHOLDER.SLIDE_NUMBER, PP_PLACEHOLDER.DATE, PP_PLACEHOLDER.FOOTER}


def read(data: bytes, found: Found) -> None:
    """Write the slides of a presentation."""
    check(data, "pptx")
    presentation = pptx.Presentation(BytesIO(data))
    found.begin_document(presentation.core_properties.title)
    for number, slide in enumerate(presentation.slides, start=1):
        if number > found.max_parts:
            found.note(Note.PARTS)
            break
        found.page.heading(2, f"Slide {number}")
        found.parts += 1
        _write(slide, found)


def _write(slide: Any, found: Found) -> None:
    title = slide.shapes.title
    if title is not None:
        found.page.heading(3, title.text_frame.text)
    for shape in _shapes(slide.shapes, 0):
        if title is not None and shape.shape_id == title.shape_id:
            continue
        if getattr(shape, "has_table", False):
            found.page.table([[cell.text_frame.text for cell in row.cells] for row in shape.table.rows])
        elif getattr(shape, "has_chart", False):
            _write_chart(shape.chart, found)
        elif shape.has_text_frame:
            _write_text(shape, found)
    if slide.has_notes_slide and slide.notes_slide.notes_text_frame is not None:
        text = slide.notes_slide.notes_text_frame.text
        if one_line(text):
            found.page.text("Notes: " + text.strip())


def _shapes(shapes: Any, depth: int) -> Iterator[Any]:
    """Give shapes as a person reads them: from the top, from the left."""
    for shape in sorted(shapes, key=lambda shape: ((shape.top or 0) // _EMU, shape.left or 0)):
        if shape.shape_type == MSO_SHAPE_TYPE.GROUP:
            if depth < _MAX_DEPTH:
                yield from _shapes(shape.shapes, depth + 1)
        elif not (shape.is_placeholder and shape.placeholder_format.type in _NO_TEXT_OF_ITS_OWN):
            yield shape


def _write_text(shape: Any, found: Found) -> None:
    paragraphs = [
        (paragraph.level, paragraph.text) for paragraph in shape.text_frame.paragraphs if paragraph.text.strip()
    ]
    if len(paragraphs) > 1:
        found.page.items([(level, "-", text) for level, text in paragraphs])
    elif paragraphs:
        found.page.text(paragraphs[0][1])


def _write_chart(chart: Any, found: Found) -> None:
    if chart.has_title and chart.chart_title.has_text_frame:
        found.page.text(chart.chart_title.text_frame.text)
    for plot in chart.plots:
        names = [str(category) for category in plot.categories]
        rows = [[series.name or "", *(_number(value) for value in series.values)] for series in plot.series]
        found.page.table([["", *names], *rows])


def _number(value: float | None) -> str:
    return "" if value is None else f"{value:g}"
