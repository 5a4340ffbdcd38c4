"""What a file to be imported is, and whether it may be: judged by its name and where it comes from (pure)."""

from __future__ import annotations

from functools import cache
from typing import Literal

from services.knowledge.core.limits import DOCUMENT_SUFFIXES, MAX_LOCATOR_CHARS, TEXT_SUFFIXES
from services.knowledge.core.words import name_of
from shared.deny import DenyList
from shared.errors import ErrorCode, KxError

FileKind = Literal["text", "document"]

_HEADING_WITHIN = 4_000  # characters: what names a text stands at its beginning


def base_name(path: str) -> str:
    r"""Give the last component of a path of any system.

    >>> base_name("docs/guide.md"), base_name("C:\\docs\\guide.md")
    ('guide.md', 'guide.md')
    """
    return name_of("file name", path.replace("\\", "/").rstrip("/").rpartition("/")[2], MAX_LOCATOR_CHARS)


def suffix_of(name: str) -> str:
    """Give the suffix of a file's name in lower case, with its dot; empty without one."""
    stem, dot, extension = name.rpartition(".")
    return dot + extension.lower() if stem else ""


def kind_of(name: str) -> FileKind:
    """Tell how a file is read.

    Raises:
        KxError: BAD_REQUEST for a kind that is not taken.
    """
    suffix = suffix_of(name)
    if suffix in DOCUMENT_SUFFIXES:
        return "document"
    if suffix in TEXT_SUFFIXES:
        return "text"
    raise KxError(
        ErrorCode.BAD_REQUEST,
        "{file} is of a kind that is not taken",
        hint="see which are: kx kb limits; or save it as Markdown",
        file=name,
    )


def heading_of(markdown: str) -> str:
    r"""Give the heading that names a Markdown text; empty where its beginning has none.

    >>> heading_of("\n# Disco cheio #\n\nApague nada.\n"), heading_of("```sh\n# no heading\n```\n")
    ('Disco cheio', '')
    """
    for one in markdown[:_HEADING_WITHIN].removeprefix("\ufeff").split("\n"):
        if one.startswith("# "):
            return one[2:].strip().rstrip("#").strip()
        if one.startswith(("```", "~~~", "---")):  # a comment of code or of front matter looks the same
            break
    return ""


def require_allowed(*paths: str) -> None:
    """Refuse what the denylist keeps out of an index, whatever the name of the file or of a folder above it.

    Raises:
        KxError: PATH_DENIED.
    """
    for path in paths:
        rel = path.replace("\\", "/").strip("/")
        pattern = _denied().denies(rel) if rel else None
        if pattern is not None:
            raise KxError(
                ErrorCode.PATH_DENIED,
                "{path} is denied by {pattern}",
                hint="secrets are never kept nor shown; write down what is to be known in a file of its own",
                path=path[:200],
                pattern=pattern,
            )


@cache
def _denied() -> DenyList:
    return DenyList()
