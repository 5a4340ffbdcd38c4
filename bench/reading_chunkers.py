"""Measure chunking alone: megabytes per second by language, without token counting and with it.

    python bench/reading_chunkers.py [FOLDER]

The folder defaults to the standard library of the running Python. Without counting means a stand-in of one
token per four characters; the tokenizer's own speed is printed beside, because it bounds the second figure.
"""

from __future__ import annotations

import argparse
import sys
import sysconfig
import time
from collections import defaultdict
from collections.abc import Callable
from functools import partial
from pathlib import Path

import shared
from services.indexer.core.chunking import chunk
from shared.kinds import classify
from shared.tokens import TokenCounter

TOKENIZER = Path(shared.__file__).parent / "data" / "tokenizer.json"
Document = tuple[str, str, str]  # text, kind, language


def documents(folder: Path, *, step: int) -> dict[str, list[Document]]:
    """Read every `step`-th text file below a folder, by language."""
    found: dict[str, list[Document]] = defaultdict(list)
    for path in sorted(path for path in folder.rglob("*") if path.is_file())[::step]:
        try:
            text = path.read_text("utf-8").replace("\r\n", "\n").replace("\r", "\n")
        except (UnicodeDecodeError, OSError):
            continue
        if "\0" not in text:
            file_type = classify(path.relative_to(folder).as_posix(), text[:200].partition("\n")[0])
            found[file_type.language].append((text, str(file_type.kind), file_type.language))
    return found


def seconds(work: Callable[[], object]) -> float:
    """Return the processor time of a piece of work."""
    start = time.process_time()
    work()
    return time.process_time() - start


def main() -> None:
    """Print one line per language."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", nargs="?", type=Path, default=Path(sysconfig.get_paths()["stdlib"]))
    parser.add_argument("--step", type=int, default=10, help="read every n-th file")
    arguments = parser.parse_args()
    count = TokenCounter.load(TOKENIZER).count
    sys.stdout.write(
        "language            files      MB  chunking  counting  both, memo warm (MB/s of processor time)\n"
    )
    for language, texts in sorted(documents(arguments.folder, step=arguments.step).items()):
        megabytes = sum(len(text.encode("utf-8", "replace")) for text, _, _ in texts) / 1e6
        if megabytes < 0.01:
            continue
        alone = seconds(partial(chunk_all, texts, lambda passage: len(passage) // 4 + 2))
        counting = seconds(partial(count_all, texts, count))
        both = seconds(partial(chunk_all, texts, count))
        rates = "  ".join(f"{megabytes / max(spent, 1e-6):8.1f}" for spent in (alone, counting, both))
        sys.stdout.write(f"{language:18} {len(texts):6} {megabytes:7.2f}  {rates}\n")


def count_all(texts: list[Document], count: Callable[[str], int]) -> None:
    """Count the tokens of every line."""
    for text, _, _ in texts:
        for line in text.split("\n"):
            count(line)


def chunk_all(texts: list[Document], count: Callable[[str], int]) -> None:
    """Chunk every document."""
    for text, kind, language in texts:
        chunk(text, kind=kind, language=language, count=count)


if __name__ == "__main__":
    main()
