"""The text lane: walk, decode, chunk, analyse, write, commit; megabytes per second beside the tokenizer's own speed.

    python bench/reading.py [FOLDER] [--megabytes 30] [--processes 1 2]

Files of FOLDER (default: the standard library of the running Python and its installed packages) are copied into a tree
of about that size and indexed from nothing, without vectors, by the services on the in-memory bus: once with the writer
reading, once with reading processes beside it. Time is from the first message to the last commit, processor time that of
this process, so it is shown only where it reads alone. The tokenizer is asked for every text once, as a chunker must; what is not
indexed is not counted.
"""

import argparse
import os
import shutil
import sys
import sysconfig
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import anyio

from kx.embedded import embedded_bus
from kx.indexing import index_text
from shared import logs
from shared.bus import Bus
from shared.messages import IndexProgress, SearchRequest
from shared.model import TOKENIZER_PATH
from shared.project_config import load_project_config
from shared.registry import Project, Registry
from shared.settings import ensure_home, load_settings
from shared.subjects import SEARCH
from shared.tokens import TokenCounter, load_tokenizer

ENDS = (".py", ".pyi", ".md", ".rst", ".txt", ".c", ".h", ".js", ".json", ".toml", ".html", ".css")
LARGEST_BYTES = 1_000_000


class Quiet:
    """A meter that shows nothing."""

    def text(self, progress: IndexProgress) -> None:
        """Show nothing."""

    def vectors(self, progress: IndexProgress) -> None:
        """Show nothing."""


def main() -> None:
    """Print one line per way."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", nargs="?", type=Path, default=Path(sysconfig.get_paths()["stdlib"]))
    parser.add_argument("--megabytes", type=float, default=30.0)
    parser.add_argument(
        "--processes", type=int, nargs="*", default=[1, 2], help="1: the writer reads; n: n processes do"
    )
    arguments = parser.parse_args()
    logs.configure("error")
    with tempfile.TemporaryDirectory(prefix="kx-bench-") as base:
        tree = Path(base) / "tree"
        copied = copy(arguments.folder, tree, arguments.megabytes * 1e6)
        sys.stdout.write(f"{len(copied)} files, {sum(map(len, copied)) / 1e6:.1f} MB of text from {arguments.folder}\n")
        tokenizer_line(copied)
        for processes in arguments.processes:
            anyio.run(lane_line, tree, Path(base) / f"home{processes}", processes)


def copy(folder: Path, tree: Path, size: float) -> list[str]:
    """Copy files until `size` bytes are together; give their texts."""
    texts: list[str] = []
    copied = 0
    for source in text_files(folder):
        data = source.read_bytes()
        target = tree / source.relative_to(folder)
        if "site-packages" in target.parts:  # an excluded name would hide it
            target = tree / "packages" / source.relative_to(folder / "site-packages")
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(source, target)
        texts.append(data.decode("utf-8", "replace"))
        copied += len(data)
        if copied >= size:
            break
    return texts


def text_files(folder: Path) -> Iterator[Path]:
    """Yield the folder's texts in a fixed order, none empty, none huge."""
    for path in sorted(folder.rglob("*")):
        if path.suffix in ENDS and path.is_file() and 0 < path.stat().st_size <= LARGEST_BYTES:
            yield path


def tokenizer_line(texts: list[str]) -> None:
    """Print how fast the model's tokenizer and our counter are on the same texts, on one core."""
    os.environ["TOKENIZERS_PARALLELISM"] = "false"
    tokenizer, counter = load_tokenizer(TOKENIZER_PATH), TokenCounter.load(TOKENIZER_PATH)
    sample = texts[:: max(1, len(texts) // 400)]
    megabytes = sum(len(text.encode("utf-8", "replace")) for text in sample) / 1e6
    began = time.process_time()
    tokens = sum(len(encoding.ids) for encoding in tokenizer.encode_batch_fast(sample))
    own = time.process_time() - began
    began = time.process_time()
    for text in sample:
        for line in text.split("\n"):
            counter.count(line)
    counted = time.process_time() - began
    sys.stdout.write(
        f"tokenizer {megabytes / own:.2f} MB/s ({tokens / own / 1e6:.2f} M tokens/s), counter {megabytes / counted:.2f} MB/s,"
        f" one core, {megabytes:.1f} MB\n"
    )


async def lane_line(tree: Path, home: Path, processes: int) -> None:
    """Index the tree from nothing and print the rate; then the time to the first answer."""
    settings = load_settings(environ={"HOME": str(home), "KX_HOME": str(home / ".kx"), "KX_THREADS": str(processes)})
    ensure_home(settings)
    project = Registry(settings).enrol(tree, load_project_config(tree, settings))
    async with embedded_bus(settings, writes=True, mode="bench") as bus:
        began, spent = time.monotonic(), processor_s()
        done = (await index_text(bus, project.instance, Quiet())).progress
        seconds = time.monotonic() - began
        answer_s = await ask(bus, project)
        megabytes = done.bytes_done / 1e6
    cpu = processor_s() - spent
    alone = f" {megabytes / cpu:.2f} MB per second of processor;" if processes == 1 else ""
    sys.stdout.write(
        f"text lane {megabytes / seconds:.2f} MB/s, {done.documents / seconds:.0f} files/s, {done.chunks / seconds:.0f} chunks/s"
        f" ({processes} reading, {megabytes:.1f} MB in {seconds:.1f} s;{alone}"
        f" first answer after {answer_s * 1000:.0f} ms)\n"
    )


async def ask(bus: Bus, project: Project) -> float:
    """Give the seconds of one lexical search."""
    began = time.monotonic()
    message = SearchRequest(instance=project.instance, query="read a file line by line", mode="lexical")
    await bus.request(SEARCH, message, timeout_s=60)
    return time.monotonic() - began


def processor_s() -> float:
    """Give the processor time of this process in seconds."""
    return time.process_time()


if __name__ == "__main__":
    main()
