"""The example for other programs in docs/messages.md runs as it stands there."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from functools import partial
from pathlib import Path

import anyio
import pytest

from shared.bus_address import load_bus_address
from shared.bus_nats import NatsBus
from shared.errors import KxError
from shared.messages import ServiceStatusRequest
from shared.subjects import COMMAND, QUERY, service_status
from tests.support.command import Kx
from tests.support.markdown import sections
from tests.support.repository import text_of

READY_S = 60


def example() -> str:
    (found,) = re.findall(r"```python\n(.+?)```", text_of(Path("docs/messages.md")), re.DOTALL)
    return found


async def answers(run_dir: Path) -> None:
    """Return once the query service answers."""
    async with NatsBus.connect(partial(load_bus_address, run_dir, COMMAND), name="test", wait_s=READY_S) as bus:
        with anyio.fail_after(READY_S):
            while True:
                try:
                    await bus.request(service_status(QUERY), ServiceStatusRequest())
                except KxError:
                    await anyio.sleep(0.05)
                else:
                    return


@pytest.mark.connected
def test_example_finds_a_passage(tmp_path: Path):
    """Issue 3: any NATS client gets search by request-reply with its own credentials, on a real bus and service."""
    kx, root = Kx(tmp_path / "home" / ".kx"), tmp_path / "shop"
    root.mkdir()
    (root / "resilience.md").write_text("# Retries\n\nFailed calls are retried three times, then given up.\n")
    assert kx("index", root, "--wait", "text", "--no-stack").code == 0
    with kx.running("serve", "bus", log=tmp_path / "bus.log"), kx.running("serve", QUERY, log=tmp_path / "query.log"):
        anyio.run(answers, kx.home / "run")
        path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
        ran = subprocess.run(
            [sys.executable, "-c", example()],
            cwd=root,
            env={"PATH": path, "KX_HOME": str(kx.home), "HOME": str(tmp_path)},
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )
    assert ran.returncode == 0, ran.stderr
    assert ran.stdout.splitlines()[0] == "resilience.md:1 Retries"


def test_credentials_and_list_print_the_documented_keys(tmp_path: Path):
    """docs/commands.md shows what programs may rely on; without a bus the server is null."""
    kx, root = Kx(tmp_path / "home" / ".kx"), tmp_path / "shop"
    root.mkdir()
    assert kx("project", "add", root).code == 0
    made = kx("bus", "credentials", "--json", cwd=root)
    assert made.code == 0, made.err
    assert list(made.json()) == list(documented("kx bus credentials"))
    assert made.json()["server"] is None
    listed = kx("bus", "list", "--json").json()
    assert list(listed) == list(documented("kx bus list"))
    assert [list(user) for user in listed["users"]] == [list(user) for user in documented("kx bus list")["users"]]
    assert made.json()["password"] not in kx("bus", "list").out


def documented(command: str) -> dict:
    found = re.search(r"```json\n(.+?)```", sections("docs/commands.md")[command], re.DOTALL)
    assert found is not None
    return json.loads(found[1])
