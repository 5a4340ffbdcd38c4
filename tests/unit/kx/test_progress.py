"""Progress on stderr."""

from __future__ import annotations

import io
import sys

import pytest

from kx.catalogue import Catalogue
from kx.progress import Bar
from shared.messages import IndexProgress


class Terminal(io.StringIO):
    """A stderr that a person looks at."""

    def isatty(self) -> bool:
        """A person looks at it."""
        return True


def progress(**changes) -> IndexProgress:
    values = {"text_done": 1, "text_pending": 3, "vectors_ready": 2, "vectors_missing": 2}
    rest = dict.fromkeys(("documents", "chunks", "texts_failed", "bytes_done", "embedded"), 0)
    return IndexProgress(**{**values, **rest, **changes})


@pytest.mark.parametrize(("lang", "words"), [("en", ("Reading", "Embedding")), ("pt", ("Lendo", "Vetorizando"))])
def test_bar_names_what_is_done_and_is_gone_afterwards(monkeypatch, lang: str, words: tuple[str, ...]):
    """First files, then texts; the line is cleared at the end."""
    monkeypatch.setattr(sys, "stderr", Terminal())
    with Bar(Catalogue(lang)) as bar:
        bar.text(progress())
        bar.vectors(progress())
    shown = sys.stderr.getvalue()
    assert [word in shown for word in words] == [True, True]
    assert "25%" in shown
    assert shown.endswith("\r")


@pytest.mark.parametrize("quiet", [True, False], ids=["quiet", "no terminal"])
def test_nothing_is_shown_where_nobody_looks(monkeypatch, quiet: bool):
    """Logs and pipes get no bars."""
    monkeypatch.setattr(sys, "stderr", Terminal() if quiet else io.StringIO())
    with Bar(Catalogue(), quiet=quiet) as bar:
        bar.text(progress())
    assert sys.stderr.getvalue() == ""


def test_no_bar_is_made_for_no_work(monkeypatch):
    """An index that is up to date shows no bar of zero files."""
    monkeypatch.setattr(sys, "stderr", Terminal())
    with Bar(Catalogue()) as bar:
        bar.text(progress(text_done=0, text_pending=0))
    assert sys.stderr.getvalue() == ""
