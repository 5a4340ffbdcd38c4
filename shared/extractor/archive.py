"""Judge an Office file's archive by its directory before anything of it is unpacked."""

from __future__ import annotations

import re
import zipfile
import zlib
from io import BytesIO

from shared.extractor.reasons import Reason, Unreadable

MAX_ENTRIES = 10_000
MAX_UNPACKED_BYTES = 128 * 1024 * 1024  # what the parsers make of it has to fit the child's memory
MAX_RATIO = 250  # sheets of one repeated value reach a hundred
RATIO_FROM_BYTES = 16 * 1024 * 1024

_OLD = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
_ENCRYPTED = "EncryptedPackage".encode("utf-16-le")
_MAIN = {"docx": "word/", "pptx": "ppt/", "xlsx": "xl/"}
_XML = (".xml", ".rels")
_DECLARES = re.compile(rb"<\0?!\0?(?:D\0?O\0?C\0?T\0?Y\0?P\0?E|E\0?N\0?T\0?I\0?T\0?Y)")
_READ_BYTES = 1 << 20
_OVERLAP = 16  # longer than what is looked for


def check(data: bytes, kind: str) -> None:
    """Refuse what is no archive of `kind`, or would unpack to too much.

    Raises:
        Unreadable: with the reason.
    """
    if data.startswith(_OLD):
        raise Unreadable(Reason.ENCRYPTED if _ENCRYPTED in data else Reason.OLD_FORMAT)
    if not data.startswith(b"PK"):
        raise Unreadable(Reason.OTHER_TYPE)
    try:
        with zipfile.ZipFile(BytesIO(data)) as archive:
            _judge(archive, kind)
            _look_into(archive)
    except (zipfile.BadZipFile, zlib.error, NotImplementedError, EOFError, ValueError, OverflowError) as error:
        raise Unreadable(Reason.DAMAGED) from error


def _judge(archive: zipfile.ZipFile, kind: str) -> None:
    entries = archive.infolist()
    if len(entries) > MAX_ENTRIES:
        raise Unreadable(Reason.TOO_MANY_ENTRIES)
    if any(entry.flag_bits & 1 for entry in entries):
        raise Unreadable(Reason.ENCRYPTED)
    unpacked, packed = sum(entry.file_size for entry in entries), sum(entry.compress_size for entry in entries)
    if unpacked > MAX_UNPACKED_BYTES or (unpacked > RATIO_FROM_BYTES and unpacked > MAX_RATIO * packed):
        raise Unreadable(Reason.UNPACKS_TOO_LARGE)
    names = [entry.filename for entry in entries]
    if "[Content_Types].xml" not in names or not any(name.startswith(_MAIN[kind]) for name in names):
        raise Unreadable(Reason.OTHER_TYPE)


def _look_into(archive: zipfile.ZipFile) -> None:
    """Read each part of XML once: a size that lies ends in its checksum, a document type in a refusal."""
    for entry in archive.infolist():
        if not entry.filename.lower().endswith(_XML):
            continue
        with archive.open(entry) as part:
            before = b""
            while piece := part.read(_READ_BYTES):
                if _DECLARES.search(before + piece):
                    raise Unreadable(Reason.DECLARES_ENTITIES)
                before = piece[-_OVERLAP:]
