"""A .docx as Markdown: headings, paragraphs, lists, tables and notes, in the order of the body (python-docx, lxml)."""

from __future__ import annotations

from collections.abc import Iterator
from io import BytesIO

import docx
from docx.document import Document
from docx.oxml import parse_xml
from docx.oxml.ns import qn
from lxml import etree

from shared.extractor.archive import check
from shared.extractor.reading import Found

_MAX_DEPTH = 40  # of containers in containers
_CONTAINERS = {qn(name) for name in ("w:sdt", "w:sdtContent", "w:ins", "w:moveTo", "w:smartTag", "w:customXml")}
_UNSEEN = {qn(name) for name in ("w:del", "w:moveFrom", "w:instrText", "w:pPr", "w:rPr")} | {
    "{http://schemas.openxmlformats.org/markup-compatibility/2006}Fallback"
}
_BREAKS = {qn("w:tab"): " ", qn("w:br"): "\n", qn("w:cr"): "\n", qn("w:noBreakHyphen"): "-", qn("w:p"): " "}
_NOTES = ("/footnotes", "/endnotes")

Item = tuple[int, str, str]


class _Styles:
    """What the styles and lists of a document mean."""

    def __init__(self, document: Document) -> None:
        self._names = {
            style.get(qn("w:styleId")): _value(style, "w:name").lower()
            for style in document.styles.element.iter(qn("w:style"))
        }
        self._based = {
            style.get(qn("w:styleId")): _value(style, "w:basedOn")
            for style in document.styles.element.iter(qn("w:style"))
        }
        self._ordered = _ordered_lists(document)

    def heading(self, paragraph: etree._Element) -> int:
        """Give the level of a heading, 1 being the title; 0 for what is none."""
        style = _value(paragraph, "w:pPr/w:pStyle")
        for _ in range(8):  # a chain of styles may be a circle
            name = self._names.get(style, "")
            if name == "title":
                return 1
            if name.startswith("heading ") and name[8:].isdigit():
                return min(int(name[8:]), 5) + 1
            style = self._based.get(style, "")
        return 0

    def is_contents(self, paragraph: etree._Element) -> bool:
        """Tell whether a paragraph belongs to the table of contents."""
        return self._names.get(_value(paragraph, "w:pPr/w:pStyle"), "").startswith(("toc ", "contents "))

    def item(self, paragraph: etree._Element) -> tuple[int, str] | None:
        """Give depth and mark of a list's item."""
        number = _value(paragraph, "w:pPr/w:numPr/w:numId")
        depth = _value(paragraph, "w:pPr/w:numPr/w:ilvl")
        name = self._names.get(_value(paragraph, "w:pPr/w:pStyle"), "")
        if number in {"", "0"}:
            if name.startswith("list number"):
                return 0, "1."
            return (0, "-") if name.startswith("list bullet") else None
        level = int(depth) if depth.isdigit() else 0
        return min(level, 8), "1." if (number, level) in self._ordered else "-"


def read(data: bytes, found: Found) -> None:
    """Write the body of a document, then its footnotes."""
    check(data, "docx")
    document = docx.Document(BytesIO(data))
    found.parts = 1
    styles = _Styles(document)
    blocks = list(_blocks(document.element.body, 0))
    own_title = any(styles.heading(block) == 1 and _text(block).strip() for block in blocks if block.tag == qn("w:p"))
    if own_title:
        found.title = next(
            _text(b) for b in blocks if b.tag == qn("w:p") and styles.heading(b) == 1 and _text(b).strip()
        )
    else:
        found.begin_document(document.core_properties.title)
    _write(blocks, styles, found)
    for text in _notes(document):
        found.page.text(text)


def _blocks(body: etree._Element, depth: int) -> Iterator[etree._Element]:
    for child in body:
        if child.tag in {qn("w:p"), qn("w:tbl")}:
            yield child
        elif child.tag in _CONTAINERS and depth < _MAX_DEPTH:
            yield from _blocks(child, depth + 1)


def _write(blocks: list[etree._Element], styles: _Styles, found: Found) -> None:
    items: list[Item] = []
    for block in blocks:
        item = styles.item(block) if block.tag == qn("w:p") and not styles.heading(block) else None
        if item is not None:
            items.append((*item, _text(block)))
            continue
        found.page.items(items)
        items = []
        if block.tag == qn("w:tbl"):
            found.page.table(_table(block))
        elif level := styles.heading(block):
            found.page.heading(level, _text(block))
        elif not styles.is_contents(block):
            found.page.text(_text(block))
    found.page.items(items)


def _table(table: etree._Element) -> list[list[str]]:
    return [
        [
            " ".join(_text(paragraph) for paragraph in cell.iter(qn("w:p")))
            for cell in row.iter(qn("w:tc"))
            if cell.getparent().getparent() is not None and _owner(cell) is table
        ]
        for row in table.iter(qn("w:tr"))
        if _owner(row) is table
    ]


def _owner(part: etree._Element) -> etree._Element:
    return next(part.iterancestors(qn("w:tbl")))


def _text(block: etree._Element) -> str:
    """Give the words of a paragraph as they would be printed."""
    pieces: list[str] = []
    unseen: etree._Element | None = None
    for event, part in etree.iterwalk(block, events=("start", "end")):
        if unseen is not None:
            unseen = None if event == "end" and part is unseen else unseen
        elif event == "start" and part.tag in _UNSEEN:
            unseen = part
        elif event == "start" and part.tag == qn("w:t"):
            pieces.append(part.text or "")
        elif event == "start" and part is not block:
            pieces.append(_BREAKS.get(part.tag, ""))
    return "".join(pieces)


def _notes(document: Document) -> Iterator[str]:
    for relation in document.part.rels.values():
        if not relation.is_external and relation.reltype.endswith(_NOTES):
            for note in parse_xml(relation.target_part.blob):
                if note.get(qn("w:type")) is None:
                    yield "\n".join(_text(paragraph) for paragraph in note.iter(qn("w:p")))


def _ordered_lists(document: Document) -> set[tuple[str, int]]:
    """Give (number, level) of the lists that count."""
    part = next((r.target_part for r in document.part.rels.values() if r.reltype.endswith("/numbering")), None)
    if part is None:
        return set()
    root = parse_xml(part.blob)
    counting = {
        (abstract.get(qn("w:abstractNumId")), int(level.get(qn("w:ilvl"), "0")))
        for abstract in root.iter(qn("w:abstractNum"))
        for level in abstract.iter(qn("w:lvl"))
        if _value(level, "w:numFmt") not in {"bullet", "none", ""}
    }
    return {
        (number.get(qn("w:numId")), level)
        for number in root.iter(qn("w:num"))
        for abstract, level in counting
        if _value(number, "w:abstractNumId") == abstract
    }


def _value(element: etree._Element, path: str) -> str:
    found = element.find("/".join(qn(step) for step in path.split("/")))
    return "" if found is None else str(found.get(qn("w:val")) or "")
