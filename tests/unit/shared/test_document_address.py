"""Where in a document a passage stands."""

from __future__ import annotations

import pytest

from shared.document_address import address_of, begins_part, looks_like_address


@pytest.mark.parametrize(
    ("language", "heading", "address"),
    [
        ("pdf", "Runbook > Page 3 > Restoring", "page 3"),
        ("pptx", "Slide 12", "slide 12"),
        ("xlsx", "Costs of the platform > Sheet Q1 costs", "sheet Q1 costs"),
        ("docx", "Handbook > Contacts", "section Contacts"),
        ("docx", "Page 3", "section Page 3"),
        ("pdf", "Runbook", "document"),
        ("markdown", "Page 3", ""),
        ("", "", ""),
    ],
)
def test_address_is_that_of_the_page_slide_sheet_or_section(language: str, heading: str, address: str):
    """A hit of a text file has lines and no address; one of a document always says that it is one."""
    assert address_of(language, heading) == address


def test_only_headings_of_the_second_level_begin_a_part():
    """In a Word document a heading may be called anything."""
    assert begins_part("## Page 3", "pdf")
    assert not begins_part("## Page 3", "docx")
    assert not begins_part("### Page 3", "pdf")
    assert not begins_part("## Pages", "pdf")
    assert looks_like_address("Sheet music")
