"""Hits in documents: an address in place of lines, proven by the file's bytes."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest

from kx.catalogue import Catalogue
from kx.render import search_json, search_text
from tests.support.document_samples import REAL, make_pdf
from tests.support.product import product

pytestmark = pytest.mark.anyio


@pytest.fixture
def root(tmp_path: Path) -> Path:
    root = tmp_path / "tree"
    root.mkdir()
    shutil.copy(REAL / "runbook.pdf", root)
    return root


async def test_hit_in_a_document_has_its_page_and_says_so_everywhere(root, tmp_path):
    """No lines are named that nobody could look up; on the terminal, in JSON and in the message."""
    async with product(root, tmp_path) as served:
        await served.index()
        reply = await served.search("verification of checksums")
    hit = reply.results[0]
    assert (hit.path, hit.kind, hit.address) == ("runbook.pdf", "docs", "page 2")
    assert "torn page" in hit.text
    assert "runbook.pdf (page 2) [docs|" in search_text(reply, Catalogue())
    assert search_json(reply)["results"][0]["address"] == "page 2"


async def test_document_is_shown_while_its_bytes_are_those_that_were_read(root, tmp_path):
    """A touch hides nothing; another content under the same name is never shown as the old."""
    file = root / "runbook.pdf"
    async with product(root, tmp_path) as served:
        await served.index()
        os.utime(file, ns=(1, 1))
        assert await served.found("verification of checksums") == ["runbook.pdf"]
        file.write_bytes(file.read_bytes() + b"%")
        reply = await served.search("verification of checksums")
        assert reply.results == ()
        file.write_bytes(make_pdf("The turbine is inspected yearly."))
        await served.index()
        assert await served.found("verification of checksums") == []
        assert [hit.address for hit in await served.hits("turbine")] == ["page 1"]
