"""Fixtures of the tests that run the real command."""

from pathlib import Path

import pytest

from tests.soak.conftest import amount, report
from tests.support.command import Kx

__all__ = ["amount", "report"]  # fixtures: some tests here are rows with a line


@pytest.fixture
def kx(tmp_path: Path) -> Kx:
    """The command with an empty home."""
    return Kx(tmp_path / "home" / ".kx")


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """A small project: docs, code, configuration, a vault note, things that are skipped."""
    root = tmp_path / "shop"
    files = {
        "docs/resilience.md": "# Resilience\n\nWhen the alert circuit-open fires, look at the breaker first.\n\n"
        "## Retry\n\nCalls are retried three times with backoff, then given up.\n",
        "src/breaker.py": 'class CircuitBreaker:\n    """Opens after five failures."""\n\n'
        '    STATE_OPEN = "circuit-open"\n\n    def trip(self) -> None:\n        self.state = self.STATE_OPEN\n',
        "config/app.yaml": "retry:\n  attempts: 3\n  backoff_ms: 200\n",
        ".vault/decisao.md": "# Decisão\n\nAbrir o disjuntor após cinco falhas em trinta segundos.\n",
        ".env": "SECRET=canary-7f3a\n",
        "node_modules/left-pad/index.js": "module.exports = 1\n",
        "logo.png": "\x89PNG\x00\x00",
    }
    for name, text in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text.encode("latin-1" if name.endswith("png") else "utf-8"))
    return root
