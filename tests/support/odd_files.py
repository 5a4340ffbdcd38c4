"""Files as nobody wants them, with the text that is right for each: what rows B2 and B3 read."""

from __future__ import annotations

import os
import random
from collections.abc import Callable

from msgspec import Struct

WORDS = [
    "alpha",
    "beta",
    "gamma",
    "delta",
    "ação",
    "über",
    "naïve",
    "list",
    "value",
    "return",
    "import",
    "class",
    "order",
    "index",
    "café",
    "niño",
]
ENDINGS = ("\n", "\r\n", "\r")
NAMES = ("a.txt", "b.md", "c.py", "d.json", "e.log", "noextension", "f.js", "g.yaml", "h.c", "i.unheard")


class OddFile(Struct, frozen=True):
    """One file."""

    name: str
    data: bytes
    text: str | None  # what its passages are parts of, lines ended by "\n"; None where skipping it is right
    may_be_skipped: bool = False


def odd_file(rng: random.Random, number: int) -> OddFile:
    """Make one file of a random encoding, with random line ends, sometimes damaged."""
    name = f"{number:05d}{rng.choice(NAMES)}"
    if rng.random() < 0.05:
        return OddFile(name, rng.choice([b"", b"\n\n\r\n", b" \t \n", b"x"]), None)
    text, written = _text(rng, number)
    return rng.choice(_WRITERS)(rng, name, text, written)


def _text(rng: random.Random, number: int) -> tuple[str, str]:
    """Give a text twice: with LF, and with the line ends it is written with."""
    lines = [f"odd file number {number} has tok{number}x in it"]
    for _ in range(rng.randint(0, 60)):
        line = " ".join(rng.choice(WORDS) for _ in range(rng.randint(0, 14)))
        lines.append(rng.choice(["", "    ", "# ", "- "]) + line + rng.choice(["", "", "\f", "\u2028x", "\x0bx"]))
    endings = [rng.choice(ENDINGS)] * len(lines) if rng.random() < 0.7 else rng.choices(ENDINGS, k=len(lines))
    written = "".join(line + end for line, end in zip(lines, endings, strict=True))
    return written.replace("\r\n", "\n").replace("\r", "\n"), written


def _unicode(rng: random.Random, name: str, text: str, written: str) -> OddFile:
    encoding = rng.choice(["utf-8", "utf-16-le", "utf-16-be", "utf-32-le", "utf-32-be"])
    mark = "\ufeff" if rng.random() < 0.6 else ""
    return OddFile(name, (mark + written).encode(encoding), text)


def _plain(_rng: random.Random, name: str, text: str, written: str) -> OddFile:
    return OddFile(name, written.encode(), text)


def _western(rng: random.Random, name: str, text: str, written: str) -> OddFile:
    encoding = rng.choice(["latin-1", "cp1252"])
    bare = str.maketrans({"\u2028": " "})
    return OddFile(name, written.translate(bare).encode(encoding), text.translate(bare))


def _with_nul(rng: random.Random, name: str, _text: str, written: str) -> OddFile:
    data = written.encode()
    at = rng.randrange(len(data))
    return OddFile(name, data[:at] + b"\0" + data[at:], None)


def _damaged(rng: random.Random, name: str, _text: str, written: str) -> OddFile:
    """Put a byte that is no UTF-8 into one: read as Western or skipped, never a mixture of lines."""
    data = written.encode()
    at = rng.randrange(len(data))
    data = data[:at] + bytes([rng.choice([0x81, 0xC3, 0xF5, 0xFF])]) + data[at:]
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError:
        text = _western_text(data)
    return OddFile(name, data, text.replace("\r\n", "\n").replace("\r", "\n"), may_be_skipped=True)


def _western_text(data: bytes) -> str:
    try:
        return data.decode("cp1252")
    except UnicodeDecodeError:
        return data.decode("latin-1")


_Writer = Callable[[random.Random, str, str, str], OddFile]
_WRITERS: tuple[_Writer, ...] = (_unicode, _unicode, _plain, _western, _with_nul, _damaged)


def odd_name(rng: random.Random) -> bytes:
    """Make a file name of any bytes but "/" and NUL, of the kinds row B3 lists."""
    kind = rng.randrange(8)
    length = rng.choice([1, 3, 12, 40, 251])
    if kind == 0:
        return bytes(rng.choice([byte for byte in range(1, 256) if byte != 0x2F]) for _ in range(length))
    if kind == 1:
        return rng.choice([b"new\nline", b"\r\n", b"tab\there", b"a\x7fb", b"\x1b[31m"]) + str(length).encode()
    if kind == 2:
        return ("😀" * min(length, 60)).encode()
    if kind == 3:
        return rng.choice(["a\u00e7\u00e3o", "ac\u0327a\u0303o", "\u2126", "\u03a9"]).encode() + b".md"
    if kind == 4:
        return b"-" + b"x" * length
    if kind == 5:
        return b" lead and trail " + b" " * min(length, 40)
    if kind == 6:
        return rng.choice([b"bad\xff", b"\xc3", b"\xed\xa0\x80", b"\xfe\xfe"]) + b".txt"
    return rng.choice([b"a\\b", b"\\x41", b"...", b"..a", b"~", b"*?[", b"'\";--", b"$(x)", b"%s"]) + b".md"


def is_usable(name: bytes) -> bool:
    """Tell whether a file may bear the name at all."""
    return name not in {b"", b".", b".."} and len(name) <= 255 and os.fsdecode(name) == os.fsdecode(name)
