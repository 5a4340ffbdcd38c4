"""Give the text of a document (.pdf .docx .pptx .xlsx) as Markdown, read by a limited child process of its own.

The document's bytes go through a pipe and are parsed behind the walls of `shared/extractor/walls.py` alone: whatever
they do to their reader, this process waits for an answer, at most until the deadline, and then kills.
"""

from __future__ import annotations

import os
import selectors
import signal
import subprocess
import sys
import tempfile
import time
from contextlib import suppress
from functools import cache, partial
from pathlib import Path

import anyio
import msgspec
from anyio import CapacityLimiter, from_thread, to_thread
from msgspec import Struct

from shared.document_kinds import DOCUMENT_SUFFIXES, EXTRA, can_read
from shared.errors import ErrorCode, KxError
from shared.extractor.reading import Note
from shared.extractor.reasons import REFUSED, Reason
from shared.kinds import document_kind

__all__ = [
    "AT_ONCE",
    "DEFAULT_LIMITS",
    "DOCUMENT_SUFFIXES",
    "EXTRA",
    "EXTRACTION_CODES",
    "Extracted",
    "Limits",
    "Walls",
    "can_read",
    "extract",
    "extract_blocking",
    "extract_from_thread",
    "walls",
]

EXTRACTION_CODES = frozenset({ErrorCode.EXTRACTION_FAILED, ErrorCode.EXTRACTION_MISSING, ErrorCode.EXTRACTION_REFUSED})
AT_ONCE = 2  # children; each may take the memory of its limit

_CHILD = Path(__file__).with_name("extractor") / "child.py"
_PIPE_BYTES = 1 << 16
_ENVELOPE_BYTES = 1 << 16  # what an answer is longer than its text, escapes apart
_PROBE_S = 5.0
WALLS = ("group", "namespace", "folder", "cpu", "memory", "files", "core", "processes", "privileges", "descriptors")


class Limits(Struct, frozen=True, kw_only=True):
    """What one document may cost."""

    input_bytes: int = 32 * 1024 * 1024
    output_bytes: int = 8 * 1024 * 1024  # of Markdown; the text is cut there, and says so
    memory_bytes: int = 512 * 1024 * 1024  # address space of the child
    wall_s: float = 10.0
    cpu_s: int = 10
    parts: int = 5_000  # pages, slides or sheets that are read


DEFAULT_LIMITS = Limits()


class Extracted(Struct, frozen=True, kw_only=True):
    """The text of a document."""

    markdown: str  # ends with a newline; pages, slides and sheets are headings of the second level
    title: str  # what the document calls itself, or the name of its file
    kind: str  # pdf, docx, pptx or xlsx
    parts: int  # pages, slides or sheets read; 1 for a docx
    notes: tuple[str, ...] = ()  # what is missing, English sentences


class Walls(Struct, frozen=True, kw_only=True):
    """The walls that stand around a child on this machine, and those that the kernel does not allow."""

    standing: tuple[str, ...]
    missing: tuple[str, ...]


class _Answer(Struct, frozen=True):
    """What a child says; nothing of it is believed beyond its types."""

    markdown: str = ""
    title: str = ""
    parts: int = 0
    notes: tuple[str, ...] = ()
    reason: str = ""
    walls: tuple[str, ...] = ()


async def extract(data: bytes, *, suffix: str, name: str = "", limits: Limits = DEFAULT_LIMITS) -> Extracted:
    """Give the text of a document; `suffix` says what it shall be, `name` is for its title and for errors.

    Raises:
        KxError: EXTRACTION_MISSING without the extra; EXTRACTION_REFUSED, EXTRACTION_FAILED with the reason.
    """
    child = _Child()
    try:
        return await to_thread.run_sync(
            lambda: _extract(child, data, suffix=suffix, name=name, limits=limits),
            limiter=_limiter(),
            abandon_on_cancel=True,
        )
    except anyio.get_cancelled_exc_class():
        child.kill()
        raise


def extract_from_thread(data: bytes, *, suffix: str, name: str = "", limits: Limits = DEFAULT_LIMITS) -> Extracted:
    """Do what `extract` does, on a worker thread of an event loop: cancelling the task that waits ends the child."""
    return from_thread.run(partial(extract, data, suffix=suffix, name=name, limits=limits))


def extract_blocking(data: bytes, *, suffix: str, name: str = "", limits: Limits = DEFAULT_LIMITS) -> Extracted:
    """Do what `extract` does on the caller's thread."""
    return _extract(_Child(), data, suffix=suffix, name=name, limits=limits)


@cache
def walls() -> Walls:
    """Tell which walls stand; starts a child once."""
    answer = _answer(_Child().talk("probe", b"", Limits(wall_s=_PROBE_S)))
    standing = answer.walls if answer is not None else ()
    return Walls(
        standing=tuple(wall for wall in WALLS if wall in standing),
        missing=tuple(wall for wall in WALLS if wall not in standing),
    )


@cache
def _limiter() -> CapacityLimiter:
    return CapacityLimiter(AT_ONCE)


def _extract(child: _Child, data: bytes, *, suffix: str, name: str, limits: Limits) -> Extracted:
    kind = document_kind(suffix if "." in suffix else "." + suffix)
    if kind is None:
        raise _unreadable(name or suffix, Reason.OTHER_TYPE)
    if not can_read(kind):
        raise _missing(name or suffix)
    if len(data) > limits.input_bytes:
        raise _unreadable(name or suffix, Reason.TOO_LARGE)
    said = child.talk(kind, data, limits)
    answer = _answer(said)
    if answer is None:
        raise _unreadable(name or suffix, said if isinstance(said, Reason) else Reason.DIED)
    if answer.reason:
        raise _unreadable(name or suffix, Reason.__members__.get(answer.reason, Reason.DAMAGED))
    notes = tuple(str(Note[note]) for note in answer.notes if note in Note.__members__)
    title = answer.title or Path(name).stem
    return Extracted(markdown=answer.markdown, title=title, kind=kind, parts=answer.parts, notes=notes)


class _Child:
    """One child, from its start to its end."""

    def __init__(self) -> None:
        self._process: subprocess.Popen[bytes] | None = None
        self._is_killed = False

    def talk(self, kind: str, data: bytes, limits: Limits) -> bytes | Reason:
        """Send the document, and give what is said before the deadline; blocks."""
        deadline = time.monotonic() + limits.wall_s
        arguments = (limits.memory_bytes, limits.cpu_s, limits.output_bytes, limits.parts, os.getpid())
        self._process = process = _start(kind, tuple(map(str, arguments)))
        try:
            if self._is_killed:
                return Reason.DIED
            said = _exchange(process, data, deadline, 2 * limits.output_bytes + _ENVELOPE_BYTES)
            if isinstance(said, Reason):
                return said
            return said if process.wait(max(deadline - time.monotonic(), 0.1)) == 0 else _reason(process.returncode)
        except subprocess.TimeoutExpired:
            return Reason.TOO_SLOW
        finally:
            self.kill()
            process.wait()
            for pipe in (process.stdin, process.stdout):
                if pipe is not None:
                    with suppress(OSError):
                        pipe.close()

    def kill(self) -> None:
        """End the child and whatever it started."""
        self._is_killed = True
        if self._process is not None and self._process.returncode is None:
            with suppress(ProcessLookupError, PermissionError):
                os.killpg(self._process.pid, signal.SIGKILL)


def _start(kind: str, arguments: tuple[str, ...]) -> subprocess.Popen[bytes]:
    """Start a child in a folder that is deleted at once: empty for ever, and no trace whatever ends first."""
    folder = tempfile.mkdtemp(prefix="kx-document-")
    try:
        return subprocess.Popen(  # noqa: S603  # our own interpreter and our own file
            (sys.executable, "-I", "-X", "utf8", str(_CHILD), kind, *arguments),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            cwd=folder,
            env={},
            close_fds=True,
            start_new_session=True,
            bufsize=0,
        )
    finally:
        with suppress(OSError):
            Path(folder).rmdir()


def _exchange(process: subprocess.Popen[bytes], data: bytes, deadline: float, most: int) -> bytes | Reason:
    """Write and read at once, so that neither side waits for the other."""
    stdin, stdout = process.stdin, process.stdout
    assert stdin is not None
    assert stdout is not None
    os.set_blocking(stdin.fileno(), False)
    left, said = memoryview(data), bytearray()
    with selectors.DefaultSelector() as selector:
        selector.register(stdout, selectors.EVENT_READ)
        selector.register(stdin, selectors.EVENT_WRITE)
        while True:
            wait_s = deadline - time.monotonic()
            if wait_s <= 0:
                return Reason.TOO_SLOW
            for key, _ in selector.select(wait_s):
                if key.fileobj is stdin:
                    left = _write(stdin.fileno(), left)
                    if not left:
                        selector.unregister(stdin)
                        stdin.close()
                    continue
                piece = os.read(stdout.fileno(), _PIPE_BYTES)
                if not piece:
                    return bytes(said)
                said += piece
                if len(said) > most:
                    return Reason.DIED


def _write(pipe: int, left: memoryview) -> memoryview:
    try:
        return left[os.write(pipe, left[:_PIPE_BYTES]) :]
    except BlockingIOError:
        return left
    except BrokenPipeError:  # it has ended: what it said tells why
        return left[:0]


def _reason(code: int) -> Reason:
    return Reason.TOO_SLOW if code in {-signal.SIGXCPU, -signal.SIGKILL} else Reason.DIED


def _answer(said: bytes | Reason) -> _Answer | None:
    if isinstance(said, Reason):
        return None
    try:
        return msgspec.json.decode(said, type=_Answer)
    except msgspec.DecodeError:
        return None


def _missing(name: str) -> KxError:
    return KxError(
        ErrorCode.EXTRACTION_MISSING,
        "{name} cannot be read: the extra {extra} is not installed",
        hint="install it: pip install '{extra}'",
        name=name,
        extra=EXTRA,
    )


def _unreadable(name: str, reason: Reason) -> KxError:
    code = ErrorCode.EXTRACTION_REFUSED if reason in REFUSED else ErrorCode.EXTRACTION_FAILED
    return KxError(
        code,
        "no text was taken from {name}: {reason}",
        hint="save the document anew, or as text, and try again",
        name=name,
        reason=reason,
    )
