"""The parsing process, and a reading one, with a parser that certain words end as native code ends.

Run as a script it is `services.indexer.adapters.parsing`; `read` stands in for the work of a reading process.
"""

from __future__ import annotations

import ctypes
import os
import sys
from pathlib import Path

import tree_sitter

from services.indexer.adapters import parsing, readers
from services.indexer.adapters.readers import ReadBatch
from services.indexer.adapters.reading import Outcome
from services.indexer.core.chunking import code
from services.indexer.core.chunking.grammars import Grammar

CPU_S = 0.3
IDLE_S = float(os.environ.get("FRAGILE_IDLE_S", "60"))
COMMAND = (sys.executable, str(Path(__file__)))

_true_parse = code._parse
_true_read = readers._read


def parse(source: bytes, grammar: Grammar) -> tree_sitter.Node | None:
    """Parse, or die."""
    if b"crashword" in source:
        ctypes.string_at(0)
    while b"hangword" in source:
        pass
    if b"hungerword" in source:
        libc = ctypes.CDLL(None)
        libc.malloc.restype = ctypes.c_void_p
        libc.malloc.argtypes = (ctypes.c_size_t,)
        while libc.malloc(1 << 20):
            pass
        os.abort()  # as a parser does that gets no memory
    return _true_parse(source, grammar)


def make_fragile() -> None:
    """Put the parser that dies in place of the true one, in this process."""
    code._parse = parse
    parsing.PARSE_CPU_S = CPU_S
    parsing.IDLE_S = IDLE_S


def read(batch: ReadBatch) -> list[Outcome]:
    """Do the work of a reading process."""
    make_fragile()
    return _true_read(batch)


if __name__ == "__main__":
    make_fragile()
    parsing.main()
