"""Where in a document a passage stands (pure): its text has headings in place of lines of the file.

The readers of `shared/extractor` write `## Page 3`, `## Slide 2`, `## Sheet Costs` and nothing else of that form.
"""

from __future__ import annotations

import re

ANYWHERE = "document"  # of what stands before the first page or section
SEPARATOR = " > "  # of a heading's path

_ADDRESSES = {"pdf": re.compile(r"Page (\d+)"), "pptx": re.compile(r"Slide (\d+)"), "xlsx": re.compile(r"Sheet (.+)")}
PARTED = tuple(_ADDRESSES)  # the kinds that have pages, slides or sheets
_TOLD = {"pdf": "page {}", "pptx": "slide {}", "xlsx": "sheet {}"}


def begins_part(line: str, language: str) -> bool:
    """Tell whether a line of a document's text begins a page, a slide or a sheet."""
    address = _ADDRESSES.get(language)
    return address is not None and line.startswith("## ") and address.fullmatch(line[3:]) is not None


def looks_like_address(words: str) -> bool:
    """Tell whether words of a document could be taken for an address."""
    return any(address.fullmatch(words) for address in _ADDRESSES.values())


def address_of(language: str, heading: str) -> str:
    """Give the address of a passage by the path of its heading; "" for a text whose lines are those of its file.

    >>> address_of("pdf", "Runbook > Page 3 > Restoring")
    'page 3'
    >>> address_of("docx", "Handbook > Contacts")
    'section Contacts'
    """
    names = heading.split(SEPARATOR) if heading else []
    address = _ADDRESSES.get(language)
    if address is not None:
        found = next(filter(None, map(address.fullmatch, names)), None)
        return _TOLD[language].format(found[1]) if found else ANYWHERE
    if language == "docx":
        return f"section {names[-1]}" if names else ANYWHERE
    return ""


def numbered_part(heading: str) -> str:
    """Give the page or slide of a passage of a text taken out of a document, whose kind is no longer told; else "".

    >>> numbered_part("Runbook > Page 3 > Restoring"), numbered_part("Sheet music")
    ('page 3', '')
    """
    found = (address_of(kind, heading) for kind in ("pdf", "pptx"))
    return next((address for address in found if address != ANYWHERE), "")
