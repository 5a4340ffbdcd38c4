"""A PDF as Markdown: a section a page, paragraphs put together from its lines (PDFium).

PDFium and not a parser in Python: the same text on real documents at a fifteenth of the time, so that the deadline
is one for hostile documents and not for long ones.
"""

from __future__ import annotations

import ctypes
import re
from collections import Counter
from dataclasses import dataclass
from statistics import median

import pypdfium2
import pypdfium2.raw as pdfium

from shared.extractor.markdown import one_line
from shared.extractor.reading import Found, Note
from shared.extractor.reasons import Reason, Unreadable

_SIGNATURE_WITHIN = 1024  # bytes; readers accept what stands before it
_MAX_FAILED_PAGES = 50  # in a row: the count of pages was a lie
_RUNNING_TIMES = 3  # a first or last line of this many pages is no text
_HEADING_FROM = 1.15  # times the height of the body's lines
_GREAT_HEADING_FROM = 1.5
_HEADING_CHARS = 150
_SAME_HEIGHT = 0.12
_PARAGRAPH_GAP = 0.65  # of a line's height
_FULL_LINE = 0.8  # of the widest line on the page: what is shorter ends where it ends
_FONT_NAME_BYTES = 128
_BOLD_WORDS = (b"bold", b"black", b"heavy", b"-bd", b"cmbx", b"medi")
_SOFT_HYPHENS = ("\x02", "\u00ad", "\ufffe")
_JOINED_AT = "\ufffe"
_AROUND_WORDS = ".,;:!?()[]\"'«»“”‘’…\ufffe"
_BULLET = re.compile(r"[•▪▫‣◦●○■□–—·*-]\s+(?=\S)")
_NUMBER = re.compile(r"(?:\d{1,3}|[a-zA-Z])[.)]\s+(?=\S)")
_LEADER = re.compile(r"(?:\s?[.·…]){5,}")
_DIGITS = re.compile(r"\d+")
_PAGE_NUMBER = re.compile(r"[\W_]*(?:\d+|[ivxlc]+)[\W_]*", re.IGNORECASE)


@dataclass
class _Line:
    text: str
    top: float
    bottom: float
    left: float
    right: float
    is_bold: bool

    @property
    def height(self) -> float:
        return max(self.top - self.bottom, 0.1)


@dataclass
class _Body:
    """What most of a document looks like."""

    height: float
    is_bold_told: bool  # bold lines are headings


def read(data: bytes, found: Found) -> None:
    """Write the pages of a PDF."""
    if b"%PDF-" not in data[:_SIGNATURE_WITHIN]:
        raise Unreadable(Reason.OTHER_TYPE)
    document = _open(data)
    found.begin_document(document.get_metadata_value("Title"))
    pages = _pages(document, found)
    _drop_running_lines(pages)
    heights = [line.height for _, lines in pages for line in lines for _ in range(1 + len(line.text) // 20)]
    body = median(heights) if heights else 1.0
    every = [line for _, lines in pages for line in lines]
    is_bold_told = 2 * sum(line.is_bold for line in every) < len(every)  # in a text of bold letters it says nothing
    for number, lines in pages:
        if lines:
            found.page.heading(2, f"Page {number}")
            _write(lines, _Body(body, is_bold_told), found)


def _open(data: bytes) -> pypdfium2.PdfDocument:
    try:
        return pypdfium2.PdfDocument(data)
    except pypdfium2.PdfiumError as error:
        is_locked = getattr(error, "err_code", None) in {pdfium.FPDF_ERR_PASSWORD, pdfium.FPDF_ERR_SECURITY}
        raise Unreadable(Reason.ENCRYPTED if is_locked else Reason.DAMAGED) from error


def _pages(document: pypdfium2.PdfDocument, found: Found) -> list[tuple[int, list[_Line]]]:
    pages: list[tuple[int, list[_Line]]] = []
    count, failed = len(document), 0
    if count > found.max_parts:
        found.note(Note.PARTS)
    for index in range(min(count, found.max_parts)):
        try:
            lines = _lines(document, index)
        except pypdfium2.PdfiumError:
            found.note(Note.UNREADABLE_PARTS)
            failed += 1
            if failed == _MAX_FAILED_PAGES:
                break
            continue
        failed = 0
        found.parts += 1
        pages.append((index + 1, lines))
    return pages


def _lines(document: pypdfium2.PdfDocument, index: int) -> list[_Line]:
    page = document[index]
    try:
        text_page = page.get_textpage()
        try:
            return _lines_of(text_page)
        finally:
            text_page.close()
    finally:
        page.close()


def _lines_of(text_page: pypdfium2.PdfTextPage) -> list[_Line]:
    lines: list[_Line] = []
    at = 0  # in UTF-16 units, as PDFium counts
    for raw in text_page.get_text_range().split("\n"):
        text = raw.removesuffix("\r")
        stripped = text.strip(" \t")
        if stripped:
            start = at + len(text) - len(text.lstrip(" \t"))
            first = _box(text_page, start)
            end = start + len(stripped.encode("utf-16-le")) // 2 - 1
            last = _box(text_page, end)
            # The last character tells the height: the first may be a bullet of another font.
            bold = _is_bold(text_page, start) and _is_bold(text_page, end)
            lines.append(_Line(_with_hyphens(stripped), last.top, last.bottom, first.left, last.right, bold))
        at += len(raw.encode("utf-16-le")) // 2 + 1
    return lines


def _with_hyphens(text: str) -> str:
    """Give names back the hyphen that PDFium took for one of a word parted at the end of a line.

    It joins the two lines and leaves a mark. Among letters alone the hyphen was the line's; `_acme-challenge.shop`, an option or
    an address is to be copied as it was.
    """
    return " ".join(
        word if word.strip(_AROUND_WORDS).replace(_JOINED_AT, "").isalpha() else word.replace(_JOINED_AT, "-")
        for word in text.split(" ")
    )


def _box(text_page: pypdfium2.PdfTextPage, text_index: int) -> pdfium.FS_RECTF:
    box = pdfium.FS_RECTF()
    char = pdfium.FPDFText_GetCharIndexFromTextIndex(text_page, text_index)
    if char >= 0:
        pdfium.FPDFText_GetLooseCharBox(text_page, char, ctypes.byref(box))
    return box


def _is_bold(text_page: pypdfium2.PdfTextPage, text_index: int) -> bool:
    """Tell by the font's name: its weight is told by few files."""
    char = pdfium.FPDFText_GetCharIndexFromTextIndex(text_page, text_index)
    name = ctypes.create_string_buffer(_FONT_NAME_BYTES)
    pdfium.FPDFText_GetFontInfo(text_page, char, name, _FONT_NAME_BYTES, ctypes.byref(ctypes.c_int()))
    return any(word in name.value.lower() for word in _BOLD_WORDS)


def _drop_running_lines(pages: list[tuple[int, list[_Line]]]) -> None:
    """Take headers, footers and page numbers out; a header stays where it stands first."""
    long = [lines for _, lines in pages if len(lines) > 1]
    times = Counter(key for lines in long for key in {_running_key(lines[0]), _running_key(lines[-1])})
    running = {key for key, count in times.items() if count >= _RUNNING_TIMES}
    seen: set[str] = set()
    for _, lines in pages:
        for place in (-1, 0):
            if not lines:
                continue
            key = _running_key(lines[place])
            is_number = len(pages) > 1 and _PAGE_NUMBER.fullmatch(lines[place].text) is not None
            if is_number or (key in running and key in seen):
                del lines[place]
            seen.add(key)


def _running_key(line: _Line) -> str:
    return _DIGITS.sub("0", line.text)


def _write(lines: list[_Line], body: _Body, found: Found) -> None:
    width = max(line.right for line in lines) - min(line.left for line in lines)
    paragraph: list[_Line] = []
    for line in lines:
        if paragraph and _begins_anew(paragraph[-1], line):
            _write_paragraph(paragraph, body, width, found)
            paragraph = []
        paragraph.append(line)
    _write_paragraph(paragraph, body, width, found)


def _begins_anew(before: _Line, line: _Line) -> bool:
    if abs(before.height - line.height) > _SAME_HEIGHT * before.height:
        return True
    if before.is_bold != line.is_bold:
        return True
    gap = before.bottom - line.top
    return gap > _PARAGRAPH_GAP * line.height or gap < -2 * line.height  # up again: another column


def _write_paragraph(lines: list[_Line], body: _Body, width: float, found: Found) -> None:
    text = _joined(lines, width)
    height = lines[0].height / body.height
    is_bold = body.is_bold_told and lines[0].is_bold and not text.endswith((".", ":", ";", ","))
    if (height >= _HEADING_FROM or is_bold) and len(text) <= _HEADING_CHARS:
        found.page.heading(3 if height >= _GREAT_HEADING_FROM else 4, text)
    else:
        found.page.text(text)


def _joined(lines: list[_Line], width: float) -> str:
    """Put lines together again that only the width of the page had parted."""
    parts: list[str] = []
    left = min(line.left for line in lines)
    is_open = False
    for line in lines:
        text = _BULLET.sub("- ", line.text) if _BULLET.match(line.text) else line.text
        if is_open and not text.startswith("- ") and not _NUMBER.match(text):
            parts[-1] = _continued(parts[-1], text)
        else:
            parts.append(text.rstrip("".join(_SOFT_HYPHENS)))
        is_open = line.right - left >= _FULL_LINE * width or text.endswith(_SOFT_HYPHENS)
        if text.endswith(_SOFT_HYPHENS):
            parts[-1] = parts[-1].rstrip("".join(_SOFT_HYPHENS)) + _SOFT_HYPHENS[0]
    return "\n".join(_LEADER.sub(" … ", one_line(part)) for part in parts)


def _continued(before: str, text: str) -> str:
    if before.endswith(_SOFT_HYPHENS):
        return before[:-1] + text
    if before.endswith("-") and before[-2:-1].isalpha() and text[:1].islower():
        return before[:-1] + text
    return f"{before} {text}"
