"""Throughput of the bulk encoder against what this machine's matrix multiplication allows in the same run.

Machines are shared and differ, so tokens per second mean little alone. The limit is the sgemm rate divided by the
multiplications a token needs. Both are measured in turns, a second each, and the ratio is the median over the pairs:

    python bench/embedding.py [--chunks 16] [--rounds 15]
"""

import argparse
import json
import statistics
import sysconfig
import tempfile
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np

from shared.encoder import BULK_THREADS, OnnxEncoder
from shared.model import locate_model
from shared.token_budget import TARGET_TOKENS
from shared.tokens import TokenCounter

LAYERS = 6
WIDTH = 384
SGEMM_SIZE = 2048
SGEMM_REPEATS = 8


def flop_per_token(length: int) -> float:
    """Count a token's multiplications and additions in a text of `length` tokens.

    Each layer has four width x width projections and two of width x 4 width; attention adds two products with all
    `length` tokens. Softmax, norms and GELU are left out, which makes the limit stricter.
    """
    return LAYERS * (2 * (4 + 8) * WIDTH * WIDTH + 2 * 2 * length * WIDTH)


def chunks_of_library(count: TokenCounter) -> Iterator[str]:
    """Cut the standard library's modules into pieces of whole lines, up to the target length."""
    for path in sorted(Path(sysconfig.get_paths()["stdlib"]).glob("*.py")):
        lines: list[str] = []
        for line in path.read_text(encoding="utf-8").splitlines():
            if count("\n".join([*lines, line])) > TARGET_TOKENS:
                yield "\n".join(lines)
                lines = []
            lines.append(line)


def seconds(call: object, *args: object) -> float:
    started = time.perf_counter()
    call(*args)  # type: ignore[operator]  # any callable
    return time.perf_counter() - started


def sgemm_rate() -> float:
    """Measure single-precision operations per second on as many threads as numpy takes."""
    a = np.ones((SGEMM_SIZE, SGEMM_SIZE), dtype=np.float32)
    out = np.empty_like(a)
    took_s = seconds(lambda: [np.matmul(a, a, out=out) for _ in range(SGEMM_REPEATS)])
    return SGEMM_REPEATS * 2 * SGEMM_SIZE**3 / took_s


def spread(values: Sequence[float]) -> str:
    return f"{statistics.median(values):,.0f} ({min(values):,.0f} to {max(values):,.0f})"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--chunks", type=int, default=16, help="how many texts a round embeds")
    parser.add_argument("--rounds", type=int, default=15, help="pairs of measurements")
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    options = parser.parse_args()

    files = locate_model()
    count = TokenCounter.load(files.tokenizer)
    every = list(chunks_of_library(count))
    wanted = options.chunks * options.rounds
    texts = every[:: max(1, len(every) // wanted)][:wanted]

    rates, limits = [], []
    with tempfile.TemporaryDirectory() as folder:
        encoder = OnnxEncoder.open(files, cache_dir=Path(folder), threads=BULK_THREADS, spinning=True)
        encoder.encode(texts[: options.chunks])
        for start in range(0, len(texts), options.chunks):
            part = texts[start : start + options.chunks]
            lengths = [count(text) for text in part]
            before = sgemm_rate()
            rates.append(sum(lengths) / seconds(encoder.encode, part))
            flop = sum(length * flop_per_token(length) for length in lengths)
            limits.append(sum(lengths) / flop * (before + sgemm_rate()) / 2)
        encoder.close()
    ratio = statistics.median(rate / limit for rate, limit in zip(rates, limits, strict=True))
    if options.json:
        print(json.dumps({"tokens_per_s": rates, "sgemm_limit_tokens_per_s": limits, "ratio": ratio}))
        return
    mean = sum(map(count, texts)) / len(texts)
    print(f"texts {len(texts)}, mean {mean:.0f} tokens, {BULK_THREADS} threads, {len(rates)} pairs")
    print(f"tokens/s          {spread(rates)}; {statistics.median(rates) / mean:.1f} texts/s")
    print(f"sgemm limit       {spread(limits)}")
    print(f"ratio to the limit {ratio:.2f}")


if __name__ == "__main__":
    main()
