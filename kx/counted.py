"""Numbers of things as a person says them: one thing is not many (pure)."""

from __future__ import annotations

from kx.catalogue import Catalogue


def documents(count: int, catalogue: Catalogue) -> str:
    """Give a number of documents."""
    return catalogue.text("{count} documents" if count != 1 else "1 document", count=count)


def passages(count: int, catalogue: Catalogue) -> str:
    """Give a number of passages."""
    return catalogue.text("{count} passages" if count != 1 else "1 passage", count=count)


def files(count: int, catalogue: Catalogue) -> str:
    """Give a number of files."""
    return catalogue.text("{count} files" if count != 1 else "1 file", count=count)


def items(count: int, catalogue: Catalogue) -> str:
    """Give a number of items."""
    return catalogue.text("{count} items" if count != 1 else "1 item", count=count)
