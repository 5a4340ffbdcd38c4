"""Which documents (.pdf .docx .pptx .xlsx) this installation can read: their parsers are an extra."""

from __future__ import annotations

from functools import cache
from importlib.util import find_spec

from shared.kinds import DOCUMENTS, document_kind

EXTRA = "kx[documents]"
DOCUMENT_SUFFIXES = tuple(f".{kind}" for kind in DOCUMENTS)

_LIBRARIES = {"pdf": "pypdfium2", "docx": "docx", "pptx": "pptx", "xlsx": "openpyxl"}


def can_read(kind: str) -> bool:
    """Tell whether the parser for a kind of document is installed."""
    return _is_there(_LIBRARIES[kind])


def is_extracted(path: str) -> bool:
    """Tell whether the text of a file is taken out of it by a child process, by its name."""
    kind = document_kind(path)
    return kind is not None and can_read(kind)


@cache
def _is_there(library: str) -> bool:
    return find_spec(library) is not None
