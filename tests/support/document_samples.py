"""Documents for tests: five made by real programs, small ones made here, and hostile ones of every kind."""

from __future__ import annotations

import random
import struct
import zipfile
import zlib
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from io import BytesIO
from pathlib import Path

from msgspec import Struct

from shared.extractor.reasons import Reason

REAL = Path(__file__).with_name("documents")
"""How they were made stands in its README."""

_W = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"
_MIB = 1024 * 1024
_MAIN = {"docx": "word/document.xml", "pptx": "ppt/slides/slide1.xml", "xlsx": "xl/worksheets/sheet1.xml"}
_TEXT = "The settlement worker drains the queue."

# Reasons a hostile document may be refused for; () where its text may also be given, whole or cut.
Reasons = frozenset[Reason]


class Hostile(Struct, frozen=True, kw_only=True):
    """A document that means harm."""

    name: str
    kind: str
    data: bytes
    reasons: Reasons = frozenset()


# --- good ones --------------------------------------------------------------------------------------------------------


def make_docx(text: str = _TEXT, title: str = "Handbook") -> bytes:
    """Make a document of one heading, one paragraph and one table."""
    import docx

    document = docx.Document()
    document.core_properties.title = title
    document.add_heading("Restart", 1)
    document.add_paragraph(text)
    table = document.add_table(2, 2)
    for row, cells in zip(table.rows, (("Role", "Name"), ("Owner", "Inês")), strict=True):
        for cell, words in zip(row.cells, cells, strict=True):
            cell.text = words
    return _saved(document.save)


def make_pptx(text: str = _TEXT, notes: str = "Thank the team.") -> bytes:
    """Make a presentation of two slides."""
    import pptx

    presentation = pptx.Presentation()
    for title in ("Targets", "Plan"):
        slide = presentation.slides.add_slide(presentation.slide_layouts[1])
        slide.shapes.title.text = title
        slide.placeholders[1].text_frame.text = text
        slide.notes_slide.notes_text_frame.text = notes
    return _saved(presentation.save)


def make_xlsx(
    rows: tuple[tuple[object, ...], ...] = (("Service", "Cost"), ("Bus", 840)), sheet: str = "Costs"
) -> bytes:
    """Make a workbook of one sheet and an empty one."""
    import openpyxl

    book = openpyxl.Workbook()
    book.active.title = sheet
    for row in rows:
        book.active.append(row)
    book.create_sheet("Empty")
    return _saved(book.save)


def make_pdf(*pages: str, extra: bytes = b"", catalog: str = "") -> bytes:
    """Make a PDF of one line of text a page."""
    kids = " ".join(f"{4 + 2 * index} 0 R" for index in range(len(pages)))
    objects = [
        f"<< /Type /Catalog /Pages 2 0 R {catalog} >>".encode(),
        f"<< /Type /Pages /Kids [{kids}] /Count {len(pages)} >>".encode(),
        b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>",
    ]
    for index, text in enumerate(pages):
        content = f"BT /F1 12 Tf 72 720 Td ({text}) Tj ET".encode("latin-1")
        objects += [_page(5 + 2 * index), _stream(content)]
    return pdf_of(objects, extra)


def pdf_of(objects: list[bytes], extra: bytes = b"") -> bytes:
    """Put numbered objects into a file with a right table of them."""
    out = BytesIO()
    out.write(b"%PDF-1.7\n")
    places = []
    for number, body in enumerate(objects, start=1):
        places.append(out.tell())
        out.write(b"%d 0 obj\n%s\nendobj\n" % (number, body))
    start = out.tell()
    out.write(b"xref\n0 %d\n0000000000 65535 f \n" % (len(objects) + 1))
    out.write(b"".join(b"%010d 00000 n \n" % place for place in places))
    out.write(b"trailer\n<< /Size %d /Root 1 0 R %s >>\nstartxref\n%d\n%%%%EOF\n" % (len(objects) + 1, extra, start))
    return out.getvalue()


def _page(content: int) -> bytes:
    return (
        f"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Contents {content} 0 R "
        "/Resources << /Font << /F1 3 0 R >> >> >>"
    ).encode()


def _stream(content: bytes, entries: str = "") -> bytes:
    return f"<< /Length {len(content)} {entries} >>\nstream\n".encode() + content + b"\nendstream"


def _saved(save: Callable[[BytesIO], object]) -> bytes:
    out = BytesIO()
    save(out)
    return out.getvalue()


# --- hostile archives -------------------------------------------------------------------------------------------------


def repacked(data: bytes, changed: Mapping[str, bytes]) -> bytes:
    """Put other contents into an Office file."""
    out = BytesIO()
    with (
        zipfile.ZipFile(BytesIO(data)) as source,
        zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as made,
    ):
        for entry in source.infolist():
            if entry.filename not in changed:
                made.writestr(entry, source.read(entry))
        for name, content in changed.items():
            made.writestr(name, content)
    return out.getvalue()


def _bomb(kind: str) -> Hostile:
    data = repacked(_GOOD[kind](), {_MAIN[kind]: b"<a>" + b" " * (160 * _MIB)})
    return Hostile(name="bomb", kind=kind, data=data, reasons=frozenset({Reason.UNPACKS_TOO_LARGE}))


def _lying(kind: str) -> Hostile:
    """A bomb whose directory says that it is small."""
    data = bytearray(repacked(_GOOD[kind](), {"media/bomb.xml": b" " * (160 * _MIB)}))
    at = data.rindex(b"PK\x01\x02", 0, data.rindex(b"media/bomb.xml"))
    struct.pack_into("<L", data, at + 24, 1000)
    return Hostile(name="lying size", kind=kind, data=bytes(data), reasons=frozenset({Reason.DAMAGED}))


def _overlapping(kind: str) -> Hostile:
    """Many entries of one stretch of packed bytes."""
    data = repacked(_GOOD[kind](), {"media/one.xml": b" " * _MIB})
    end = data.rindex(b"PK\x05\x06")
    _, start = struct.unpack_from("<LL", data, end + 12)
    at = data.rindex(b"PK\x01\x02", start, end)
    entry, copies = data[at:end], 2_000
    directory = data[start:end] + entry * copies
    count = struct.unpack_from("<H", data, end + 8)[0] + copies
    tail = struct.pack("<4sHHHHLLH", b"PK\x05\x06", 0, 0, count, count, len(directory), start, 0)
    return Hostile(
        name="overlapping",
        kind=kind,
        data=data[:start] + directory + tail,
        reasons=frozenset({Reason.UNPACKS_TOO_LARGE}),
    )


def _nested(kind: str) -> Hostile:
    """Archives in archives; whoever does not open them has nothing to fear."""
    inner = b" " * (20 * _MIB)
    for depth in range(6):
        out = BytesIO()
        with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
            for copy in range(4):
                archive.writestr(f"{depth}{copy}.zip", inner)
        inner = out.getvalue()
    return Hostile(name="nested", kind=kind, data=repacked(_GOOD[kind](), {"embeddings/a.zip": inner}))


def _many_entries(kind: str) -> Hostile:
    data = repacked(_GOOD[kind](), {f"x/{number}.xml": b"" for number in range(12_000)})
    return Hostile(name="many entries", kind=kind, data=data, reasons=frozenset({Reason.TOO_MANY_ENTRIES}))


def _laughs(kind: str, encoding: str = "utf-8") -> Hostile:
    levels = "".join(f'<!ENTITY l{n} "{f"&l{n - 1};" * 10}">' for n in range(1, 10))
    text = f'<?xml version="1.0" encoding="{encoding}"?><!DOCTYPE a [<!ENTITY l0 "lol">{levels}]><a>&l9;</a>'
    data = repacked(_GOOD[kind](), {_MAIN[kind]: text.encode(encoding)})
    return Hostile(name=f"laughs {encoding}", kind=kind, data=data, reasons=frozenset({Reason.DECLARES_ENTITIES}))


def _external(kind: str) -> Hostile:
    text = '<?xml version="1.0"?><!DOCTYPE a [<!ENTITY x SYSTEM "file:///etc/passwd">]><a>&x;</a>'
    data = repacked(_GOOD[kind](), {_MAIN[kind]: text.encode()})
    return Hostile(name="external", kind=kind, data=data, reasons=frozenset({Reason.DECLARES_ENTITIES}))


def _deep(kind: str) -> Hostile:
    depth = 200_000
    inside = b"<w:sdt><w:sdtContent>" * depth + b"<w:p/>" + b"</w:sdtContent></w:sdt>" * depth
    text = f'<w:document xmlns:w="{_W}"><w:body>'.encode() + inside + b"</w:body></w:document>"
    return Hostile(name="deep", kind=kind, data=repacked(_GOOD[kind](), {_MAIN[kind]: text}))


def _crowded(kind: str) -> Hostile:
    """So many elements that their tree does not fit."""
    text = f'<w:document xmlns:w="{_W}"><w:body>'.encode() + b"<w:p/>" * 2_600_000 + b"</w:body></w:document>"
    return Hostile(name="crowded", kind=kind, data=repacked(_GOOD[kind](), {_MAIN[kind]: text}))


def _locked(kind: str) -> Hostile:
    data = bytearray(_GOOD[kind]())
    for mark, offset in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
        at = data.find(mark)
        while at >= 0:
            data[at + offset] |= 1
            at = data.find(mark, at + 4)
    return Hostile(name="locked", kind=kind, data=bytes(data), reasons=frozenset({Reason.ENCRYPTED}))


def _container(kind: str) -> Hostile:
    data = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(2000) + "EncryptedPackage".encode("utf-16-le") + bytes(9000)
    return Hostile(name="encrypted", kind=kind, data=data, reasons=frozenset({Reason.ENCRYPTED}))


def _truncated(kind: str) -> Hostile:
    data = _GOOD[kind]()
    return Hostile(name="truncated", kind=kind, data=data[: 2 * len(data) // 3], reasons=frozenset({Reason.DAMAGED}))


def _other(kind: str) -> Hostile:
    return Hostile(name="other type", kind=kind, data=make_pdf("a"), reasons=frozenset({Reason.OTHER_TYPE}))


def _far_cell() -> Hostile:
    sheet = (
        b'<worksheet xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"><dimension ref="A1:XFD1048576"/>'
        b'<sheetData><row r="1"><c r="A1"><v>1</v></c></row><row r="1048576"><c r="XFD1048576"><v>2</v></c></row>'
        b"</sheetData></worksheet>"
    )
    return Hostile(name="far cell", kind="xlsx", data=repacked(make_xlsx(), {_MAIN["xlsx"]: sheet}))


def _long_sheet() -> Hostile:
    rows = b"".join(b"<row><c><v>%d</v></c><c><v>%d</v></c></row>" % (n, n * n) for n in range(1_000_000))
    sheet = (
        b'<worksheet xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"><dimension ref="A1:B1000000"/><sheetData>'
        + rows
    )
    return Hostile(
        name="long sheet", kind="xlsx", data=repacked(make_xlsx(), {_MAIN["xlsx"]: sheet + b"</sheetData></worksheet>"})
    )


# --- hostile PDFs -----------------------------------------------------------------------------------------------------


def _pdf(name: str, data: bytes, *reasons: Reason) -> Hostile:
    return Hostile(name=name, kind="pdf", data=data, reasons=frozenset(reasons))


def _hostile_pdfs() -> Iterator[Callable[[], Hostile]]:
    font = b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>"
    catalog = b"<< /Type /Catalog /Pages 2 0 R >>"
    zeros = zlib.compress(zlib.compress(b" " * (200 * _MIB), 1), 1)
    yield lambda: _pdf("loop of pages", pdf_of([catalog, b"<< /Type /Pages /Kids [2 0 R 2 0 R] /Count 9 >>"]))
    yield lambda: _pdf("count that lies", make_pdf("a").replace(b"/Count 1 ", b"/Count 1000000 "))
    yield lambda: _pdf(
        "million pages",
        pdf_of(
            [
                catalog,
                b"<< /Type /Pages /Count 1000000 /Kids [%s] >>" % (b"4 0 R " * 1_000_000),
                font,
                _page(5),
                _stream(b""),
            ]
        ),
    )
    yield lambda: _pdf("loop of tables", make_pdf("a", extra=b"/Prev 9").replace(b"/Prev 9", b"/Prev 400"))
    yield lambda: _pdf(
        "packed twice",
        pdf_of(
            [
                catalog,
                b"<< /Type /Pages /Kids [4 0 R] /Count 1 >>",
                font,
                _page(5),
                _stream(zeros, "/Filter [/FlateDecode /FlateDecode]"),
            ]
        ),
    )
    yield lambda: _pdf("deep arrays", make_pdf("a", catalog="/X " + "[" * 500_000 + "]" * 500_000))
    yield lambda: _pdf("deep dictionaries", make_pdf("a", catalog="/X " + "<</A " * 300_000 + "1" + ">>" * 300_000))
    yield lambda: _pdf(
        "form that calls itself",
        pdf_of(
            [
                catalog,
                b"<< /Type /Pages /Kids [4 0 R] /Count 1 >>",
                font,
                b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 9 9] /Contents 5 0 R /Resources << /XObject << /F 6 0 R >> >> >>",
                _stream(b"/F Do " * 1000),
                _stream(
                    b"/F Do " * 1000,
                    "/Type /XObject /Subtype /Form /BBox [0 0 9 9] /Resources << /XObject << /F 6 0 R >> >>",
                ),
            ]
        ),
    )
    yield lambda: _pdf(
        "endless text",
        pdf_of(
            [
                catalog,
                b"<< /Type /Pages /Kids [4 0 R] /Count 1 >>",
                font,
                _page(5),
                _stream(
                    zlib.compress(b"BT /F1 9 Tf " + b"(aaaa) Tj 1 1 Td " * 3_000_000 + b"ET", 1), "/Filter /FlateDecode"
                ),
            ]
        ),
    )
    yield lambda: _pdf(
        "encrypted",
        make_pdf(
            "a",
            extra=b"/ID [<00><00>] /Encrypt << /Filter /Standard /V 2 /R 3 /Length 128 /P -4 /O <%s> /U <%s> >>"
            % (b"11" * 32, b"22" * 32),
        ),
        Reason.ENCRYPTED,
    )
    yield lambda: _pdf("truncated", make_pdf(*["Some text"] * 40)[:300], Reason.DAMAGED, Reason.NO_TEXT)
    yield lambda: _pdf("zip by another name", make_docx(), Reason.OTHER_TYPE)
    yield lambda: _pdf("no page", make_pdf(), Reason.NO_TEXT, Reason.DAMAGED)
    yield lambda: _pdf("head alone", b"%PDF-1.7\n" + bytes(100_000), Reason.DAMAGED)
    yield lambda: _pdf("noise", b"%PDF-1.7\n" + random.Random(9).randbytes(2 * _MIB), Reason.DAMAGED)


_GOOD: dict[str, Callable[[], bytes]] = {
    "docx": make_docx,
    "pptx": make_pptx,
    "xlsx": make_xlsx,
    "pdf": lambda: make_pdf(_TEXT),
}

_ARCHIVES: tuple[Callable[[str], Hostile], ...] = (
    _bomb,
    _lying,
    _overlapping,
    _nested,
    _many_entries,
    _laughs,
    lambda kind: _laughs(kind, "utf-16"),
    _external,
    _deep,
    _crowded,
    _locked,
    _container,
    _truncated,
    _other,
)


def hostile_documents() -> list[Callable[[], Hostile]]:
    """Give makers of every hostile document, those of different kinds beside each other; the worst are first."""
    of_archives: list[Callable[[], Hostile]] = [partial(make, kind) for make in _ARCHIVES for kind in _MAIN]
    pdfs = list(_hostile_pdfs())
    mixed = [maker for index, maker in enumerate(of_archives) for maker in (maker, *pdfs[index : index + 1])]
    return [
        *mixed,
        _far_cell,
        _long_sheet,
        lambda: Hostile(name="empty", kind="pdf", data=b"", reasons=frozenset({Reason.OTHER_TYPE})),
    ]


def mutated(seed: int) -> Hostile:
    """Give a good document with a few bytes changed, a stretch cut out or doubled."""
    chance = random.Random(seed)
    kind = chance.choice(tuple(_GOOD))
    data = bytearray(_GOOD[kind]())
    for _ in range(chance.randint(1, 12)):
        at = chance.randrange(len(data))
        match chance.randrange(3):
            case 0:
                data[at] = chance.randrange(256)
            case 1:
                del data[at : at + chance.randint(1, 200)]
            case _:
                data[at:at] = data[at : at + chance.randint(1, 200)]
    return Hostile(name=f"mutated {seed}", kind=kind, data=bytes(data))
