"""The process that parses source for the indexer: a text in, its outline out, until nothing comes for a while.

Run as `python -I -m services.indexer.adapters.parsing`; imports little, so that it is there in a tenth of a second and
costs some ten megabytes. It exists to die in the indexer's place: the kernel ends it when a parse takes too much
time or memory.
"""

from __future__ import annotations

import os
import resource
import select
import signal
import struct
from contextlib import suppress

import msgspec
from msgspec import Struct

from services.indexer.core.chunking.code import outline_tree
from services.indexer.core.chunking.outline import Outline

# A million characters, the most a parser is given, take half a second with the walk; the work limit stops a parse that
# is merely slow long before this.
PARSE_CPU_S = 5.0
# The trees of a million characters take a fifth of it.
MEMORY_BYTES = 1024 * 1024 * 1024
IDLE_S = 600.0  # starting again costs a save a tenth of a second, waiting 11 MB

_FRAME = struct.Struct("<I")
_CHUNK_BYTES = 1024 * 1024


class ParseRequest(Struct, frozen=True, array_like=True):
    """A source text; its bytes are UTF-8 with surrogates passed through."""

    language: str
    text: bytes


class ParseReply(Struct, frozen=True, array_like=True):
    """The outline, None where there is no tree worth having."""

    outline: Outline | None


def timed_outline(text: str, lines: list[str], language: str) -> Outline | None:
    """Parse; a parse without end ends the process with SIGPROF."""
    signal.setitimer(signal.ITIMER_PROF, PARSE_CPU_S)
    try:
        return outline_tree(text, lines, language)
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)


def limit_memory(size: int) -> None:
    """Let this process have at most `size` bytes of its own, where the system can say so."""
    with suppress(OSError, ValueError):
        resource.setrlimit(resource.RLIMIT_DATA, (size, size))


def framed(payload: bytes) -> bytes:
    """Put the length in front."""
    return _FRAME.pack(len(payload)) + payload


def missing_bytes(received: bytearray) -> int:
    """Give how many bytes a frame still lacks."""
    if len(received) < _FRAME.size:
        return _FRAME.size - len(received)
    return int(_FRAME.size + _FRAME.unpack_from(received)[0] - len(received))


def payload_of(frame: bytearray) -> memoryview:
    """Give what a whole frame holds."""
    return memoryview(frame)[_FRAME.size :]


def main() -> None:
    """Answer until the input ends or nothing came for IDLE_S."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # whether work stops is for the indexer to say
    limit_memory(MEMORY_BYTES)
    source, sink = os.dup(0), os.dup(1)
    os.dup2(2, 1)  # whatever a library prints is no answer
    requests = msgspec.msgpack.Decoder(ParseRequest)
    while (frame := _next_frame(source)) is not None:
        request = requests.decode(payload_of(frame))
        text = request.text.decode("utf-8", "surrogatepass")
        reply = ParseReply(timed_outline(text, text.split("\n"), request.language))
        answer = memoryview(framed(msgspec.msgpack.encode(reply)))
        while answer:
            answer = answer[os.write(sink, answer) :]


def _next_frame(source: int) -> bytearray | None:
    if not select.select([source], [], [], IDLE_S)[0]:
        return None
    frame = bytearray()
    while missing := missing_bytes(frame):
        data = os.read(source, min(missing, _CHUNK_BYTES))
        if not data:
            return None
        frame += data
    return frame


if __name__ == "__main__":
    main()
