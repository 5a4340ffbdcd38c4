"""One document on standard input, its Markdown on standard output; run by path, as a program of its own.

First the readers are imported, then the walls are raised, then the document is read: nothing of it comes before a wall.
Arguments: kind, bytes of memory, seconds of processor, bytes of output, parts, process id of the parent.
"""

from __future__ import annotations

import codecs
import json
import sys
from importlib import import_module
from pathlib import Path

_ROOT = str(Path(__file__).resolve().parents[2])
# Python finds an encoding in a file at its first use, which is too late behind the walls.
_ENCODINGS = (
    "utf-8-sig",
    "utf-16",
    "utf-16-le",
    "utf-16-be",
    "utf-32",
    "latin-1",
    "ascii",
    "cp437",
    "cp1252",
    "unicode_escape",
)
_READERS = {"pdf": "pdf", "docx": "word", "pptx": "slides", "xlsx": "sheets"}


def main(arguments: list[str]) -> None:
    """Read the document, or with kind `probe` only say which walls stand."""
    if _ROOT not in sys.path:
        sys.path.append(_ROOT)  # at the end: it hides nothing
    from shared.child import end_with_parent
    from shared.extractor.reading import read_document
    from shared.extractor.walls import raise_walls

    kind, (memory_bytes, cpu_s, output_bytes, parts, parent) = arguments[0], map(int, arguments[1:])
    end_with_parent(parent)
    reader = import_module(f"shared.extractor.{_READERS[kind]}") if kind != "probe" else None
    for encoding in _ENCODINGS:
        codecs.lookup(encoding)
    standing = raise_walls(memory_bytes=memory_bytes, cpu_s=cpu_s)
    if sys.platform == "linux":
        end_with_parent(parent)  # once more: the kernel forgets it when the user changes
    if reader is None:
        answer: dict[str, object] = {"walls": standing}
    else:
        answer = read_document(reader.read, sys.stdin.buffer.read(), output_bytes=output_bytes, parts=parts)
    sys.stdout.buffer.write(json.dumps(answer, ensure_ascii=False).encode("utf-8", "replace"))
    sys.stdout.buffer.flush()


if __name__ == "__main__":
    main(sys.argv[1:])
