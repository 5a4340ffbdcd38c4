"""What a person gives to be written: a file, stdin, or words on the command line."""

from __future__ import annotations

import sys
from pathlib import Path

from kx.knowledge.sources import denied_by
from shared.deny import DenyList
from shared.errors import ErrorCode, KxError
from shared.kinds import classify

STDIN = "-"
MAX_BYTES = 32 * 1024 * 1024  # beyond any text that is taken: the service tells the limit, nothing endless is read


def given_bytes(file: str | None, content: str | None) -> bytes | None:
    """Read what was given; None when nothing was.

    Raises:
        KxError: USAGE, PATH_DENIED, PATH_NOT_FOUND, CONTENT_TOO_LARGE.
    """
    if file is not None and content is not None:
        raise KxError(ErrorCode.USAGE, "give FILE or --content, not both", hint="leave one of them out")
    if content is not None:
        return content.encode("utf-8", "surrogateescape")
    if file is None:
        return None
    data = sys.stdin.buffer.read(MAX_BYTES + 1) if file == STDIN else _read(Path(file))
    if len(data) > MAX_BYTES:
        raise KxError(
            ErrorCode.CONTENT_TOO_LARGE,
            "the content is longer than {limit} bytes",
            hint="split it into smaller documents",
            limit=MAX_BYTES,
        )
    return data


def format_of(file: str | None) -> str:
    """Say what kind of text a file's name promises.

    >>> format_of("a/b.py"), format_of("-"), format_of(None)
    ('python', 'markdown', 'markdown')
    """
    return classify(Path(file).name).language if file not in {None, STDIN} else "markdown"


def _read(path: Path) -> bytes:
    pattern = denied_by(path.expanduser().resolve(), DenyList())
    if pattern is not None:
        raise KxError(
            ErrorCode.PATH_DENIED,
            "{path} is denied by {pattern}",
            hint="secrets are never kept nor shown; write down what is to be known in a file of its own",
            path=path,
            pattern=pattern,
        )
    try:
        with path.open("rb") as opened:
            return opened.read(MAX_BYTES + 1)
    except OSError as error:
        raise KxError(
            ErrorCode.PATH_NOT_FOUND,
            "{path} cannot be read: {problem}",
            hint="name a file that is there",
            path=path,
            problem=error.strerror or str(error),
        ) from error
