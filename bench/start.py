"""First answer of `kx mcp`: with a stack up (at most 300 ms), and where it has to start one (at most 2 s).

    just bench start [--warm 20] [--cold 3]

Each run is a process of its own that is asked `initialize` and `server/discover`; a home of its own is used and removed.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ENVELOPE = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientInfo": {"name": "bench", "version": "1"},
    "io.modelcontextprotocol/clientCapabilities": {},
}
QUESTIONS = {
    "initialize": {
        "protocolVersion": "2025-06-18",
        "capabilities": {},
        "clientInfo": {"name": "bench", "version": "1"},
    },
    "server/discover": {"_meta": ENVELOPE},
}
KX = (sys.executable, "-I", "-m", "kx")
WARM_MS, COLD_MS = 300.0, 2_000.0


def main() -> None:
    """Measure and print one line for each of the two."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--warm", type=int, default=20)
    parser.add_argument("--cold", type=int, default=3)
    wanted = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        bench = Bench(Path(folder))
        cold = [bench.cold(number) for number in range(wanted.cold)]
        bench.first_answer("initialize")
        warm = [bench.first_answer(list(QUESTIONS)[number % 2]) for number in range(wanted.warm)]
        bench.down()
    report("with a stack up", warm, WARM_MS)
    report("starting the stack", cold, COLD_MS)


class Bench:
    """One home and one small project."""

    def __init__(self, folder: Path) -> None:
        self._root = folder / "project"
        self._root.mkdir()
        (self._root / "readme.md").write_text("# A project\n\nWith one page that says something.\n")
        kept = {name: value for name, value in os.environ.items() if not name.startswith("KX_")}
        self._environ = kept | {"KX_HOME": str(folder / ".kx"), "HOME": str(folder)}

    def cold(self, number: int) -> float:
        """Give the milliseconds to the first answer where no stack runs."""
        self.down()
        return self.first_answer(list(QUESTIONS)[number % 2])

    def first_answer(self, method: str) -> float:
        """Start what an agent starts and give the milliseconds to its first answer."""
        question = json.dumps({"jsonrpc": "2.0", "id": 1, "method": method, "params": QUESTIONS[method]}) + "\n"
        started = time.perf_counter()
        pipe = subprocess.PIPE
        with subprocess.Popen([*KX, "mcp"], cwd=self._root, env=self._environ, stdin=pipe, stdout=pipe) as pump:
            assert pump.stdin is not None
            assert pump.stdout is not None
            pump.stdin.write(question.encode())
            pump.stdin.flush()
            answer = json.loads(pump.stdout.readline())
            took_ms = (time.perf_counter() - started) * 1_000
            pump.stdin.close()
        if "result" not in answer:
            raise SystemExit(f"{method}: {answer}")
        return took_ms

    def down(self) -> None:
        """End the stack, if one runs."""
        subprocess.run([*KX, "down"], env=self._environ, capture_output=True, check=False)


def report(what: str, took_ms: list[float], goal_ms: float) -> None:
    """Print the line."""
    within = sum(took <= goal_ms for took in took_ms)
    middle, worst = statistics.median(took_ms), max(took_ms)
    print(
        f"first MCP answer, {what}: {within}/{len(took_ms)} within {goal_ms:.0f} ms, p50 {middle:.0f}, max {worst:.0f} ms"
    )


if __name__ == "__main__":
    main()
