"""Set-up of the logs: structlog to stderr, and the field names every line uses.

stdout belongs to MCP and to command output. An event is a constant `noun.verb` in the past tense; all data are fields;
chunk text is never one, query text only at debug.
"""

from __future__ import annotations

import logging
import sys
from collections.abc import Mapping, MutableMapping
from typing import Any, Literal

import structlog
from structlog.typing import Processor

Level = Literal["debug", "info", "warning", "error"]

SERVICE = "service"
PROJECT = "project"
INSTANCE = "instance"
SUBJECT = "subject"
OUTCOME = "outcome"  # "ok", "refused" (a KxError answered), "failed" (an unexpected exception)
TOOK_MS = "took_ms"
ERROR_CODE = "error_code"
ERROR_TYPE = "error_type"
ERROR_AT = "error_at"  # file:line of the frame that raised; the message may hold text of a document and is left out


def configure(level: Level = "info") -> None:
    """Send every log line from `level` up to stderr: pretty on a terminal, JSON elsewhere.

    Lines of other libraries (the standard library's `logging`) come the same way, from warning up.
    """
    pretty = sys.stderr.isatty()
    shared_processors: list[Processor] = [
        structlog.contextvars.merge_contextvars,
        structlog.processors.add_log_level,
        structlog.processors.TimeStamper(fmt="iso", utc=True),
    ]
    last: list[Processor] = (
        [structlog.dev.ConsoleRenderer()]
        if pretty
        else [structlog.processors.format_exc_info, structlog.processors.JSONRenderer()]
    )
    structlog.configure(
        processors=[*shared_processors, *last],
        wrapper_class=structlog.make_filtering_bound_logger(level),
        logger_factory=_StderrLogger,
        cache_logger_on_first_use=False,
    )
    logging.basicConfig(handlers=[_Forward()], level=logging.WARNING, force=True)


def error_fields(error: BaseException) -> dict[str, str]:
    """Say what an unexpected exception was and where it was raised, without its message."""
    frame = error.__traceback__
    while frame is not None and frame.tb_next is not None:
        frame = frame.tb_next
    where = f"{frame.tb_frame.f_code.co_filename}:{frame.tb_lineno}" if frame is not None else ""
    return {ERROR_TYPE: type(error).__name__, ERROR_AT: where}


class _StderrLogger:
    """Writes finished lines; a stderr that is gone must not end a service."""

    def __init__(self, *_: object) -> None:
        pass

    def msg(self, line: str) -> None:
        try:
            sys.stderr.write(line + "\n")
            sys.stderr.flush()
        except (OSError, ValueError):  # ValueError: the stream was closed
            return

    debug = info = warning = warn = error = critical = exception = fatal = log = failure = msg


class _Forward(logging.Handler):
    """Hands the standard library's records to structlog."""

    def emit(self, record: logging.LogRecord) -> None:
        fields: MutableMapping[str, Any] = {"logger": record.name, "detail": record.getMessage()}
        if record.exc_info and record.exc_info[1] is not None:
            fields.update(error_fields(record.exc_info[1]))
        _log_at(record.levelno, fields)


def _log_at(level: int, fields: Mapping[str, Any]) -> None:
    logger: structlog.typing.FilteringBoundLogger = structlog.get_logger()
    logger.log(level, "library.reported", **fields)
