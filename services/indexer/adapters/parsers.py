"""Parse in a process of its own, for a writer that must outlive every parser.

Parsers are native code over text that anybody wrote: one that crashes, hangs or wants all memory costs its file the
structure, and this process nothing. Reading processes (`readers`) parse by themselves: they may die.
"""

from __future__ import annotations

import os
import select
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Sequence
from contextlib import suppress

import msgspec
import structlog
from structlog.typing import FilteringBoundLogger

from services.indexer.adapters.parsing import ParseReply, ParseRequest, framed, missing_bytes, payload_of
from services.indexer.core.chunking.code import is_parsable
from services.indexer.core.chunking.outline import Outline
from shared.errors import ErrorCode, KxError

COMMAND = (sys.executable, "-I", "-m", "services.indexer.adapters.parsing")

# The process counts its own processor time and ends much earlier; this is for one that was stopped or cannot run.
ANSWER_LIMIT_S = 60.0
TRIES = 2  # it may have been killed for another's sake
_EXIT_S = 5.0  # from the end of its output to its own: a dump of its memory may be written
_CHUNK_BYTES = 1024 * 1024

_log: FilteringBoundLogger = structlog.get_logger()
_replies = msgspec.msgpack.Decoder(ParseReply)


class ParserError(Exception):
    """A text ended what parses it; the message says how."""


class _EndedError(Exception):
    """The process ended before it answered."""

    def __init__(self, status: int) -> None:
        super().__init__(status)
        self.status = status


class ParsingProcess:
    """One process for all trees, started when a text needs it; may be asked from any thread."""

    def __init__(self, command: Sequence[str] = COMMAND) -> None:
        self._command = command
        self._process: subprocess.Popen[bytes] | None = None
        self._lock = threading.Lock()

    def outline(self, text: str, _lines: list[str], language: str) -> Outline | None:
        """Give the outline of a source text, None where there is no tree worth having.

        Raises:
            ParserError: the text is at fault.
            KxError: SERVICE_UNAVAILABLE (retryable) when no process can be started.
        """
        if not is_parsable(text, language):
            return None
        request = ParseRequest(language, text.encode("utf-8", "surrogatepass"))
        frame = framed(msgspec.msgpack.encode(request))
        with self._lock:
            return self._answered(frame)

    def close(self) -> None:
        """End the process; the next text starts another."""
        process, self._process = self._process, None
        if process is not None:
            process.kill()
            _end(process)

    def _answered(self, frame: bytes) -> Outline | None:
        deaths = 0
        while True:
            process = self._process = self._process or _start(self._command)
            try:
                return _replies.decode(payload_of(_exchange(process, frame))).outline
            except _EndedError as ended:
                self._process = None
                if ended.status == 0:  # it left, because nothing had come for long
                    continue
                deaths += 1
                is_slow = ended.status == -signal.SIGPROF
                _log.warning("parser.died", exit_status=ended.status)
                if is_slow or deaths == TRIES:
                    raise ParserError("its parser found no end" if is_slow else "its parser died") from ended


def _start(command: Sequence[str]) -> subprocess.Popen[bytes]:
    try:
        # In a session of its own, deaf to Ctrl+C from its first instruction; it ends when its input does, so it cannot
        # outlive this process. Not by the kernel's promise to a child: that is about the thread that starts it.
        process = subprocess.Popen(  # noqa: S603  # our own interpreter
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            cwd="/",
            bufsize=0,
            start_new_session=True,
        )
    except OSError as error:
        raise KxError(
            ErrorCode.SERVICE_UNAVAILABLE,
            "no process can be started to parse source: {reason}",
            hint="free memory or end other processes; indexing goes on by itself",
            retryable=True,
            reason=error.strerror or type(error).__name__,
        ) from error
    assert process.stdin is not None
    os.set_blocking(process.stdin.fileno(), False)
    return process


def _exchange(process: subprocess.Popen[bytes], frame: bytes) -> bytearray:
    """Send a frame and give the one that comes back."""
    assert process.stdin is not None
    assert process.stdout is not None
    deadline = time.monotonic() + ANSWER_LIMIT_S
    try:
        _send(process.stdin.fileno(), memoryview(frame), deadline)
        return _receive(process.stdout.fileno(), deadline)
    except TimeoutError as error:
        process.kill()
        _end(process)
        raise _EndedError(-signal.SIGPROF) from error
    except (OSError, EOFError) as error:
        raise _EndedError(_end(process)) from error


def _send(sink: int, left: memoryview, deadline: float) -> None:
    while left:
        _wait(sink, select.POLLOUT, deadline)
        left = left[os.write(sink, left) :]


def _receive(source: int, deadline: float) -> bytearray:
    frame = bytearray()
    while missing := missing_bytes(frame):
        _wait(source, select.POLLIN, deadline)
        data = os.read(source, min(missing, _CHUNK_BYTES))
        if not data:
            raise EOFError
        frame += data
    return frame


def _wait(descriptor: int, event: int, deadline: float) -> None:
    poll = select.poll()
    poll.register(descriptor, event)
    if not poll.poll(max(0.0, deadline - time.monotonic()) * 1000):
        raise TimeoutError


def _end(process: subprocess.Popen[bytes]) -> int:
    """Wait for a process that is ending, not for long; give how it ended."""
    with suppress(subprocess.TimeoutExpired):
        process.wait(_EXIT_S)
    process.kill()
    status = process.wait()
    for pipe in (process.stdin, process.stdout):
        if pipe is not None:
            pipe.close()
    return status
