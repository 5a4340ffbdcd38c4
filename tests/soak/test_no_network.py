"""Row A15: the product works where there is no network, and does not look for one."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.soak.conftest import Report
from tests.support.repository import ROOT

pytestmark = [pytest.mark.soak, pytest.mark.timeout(1_200)]

REPRESENTATIVE = ("tests/e2e/test_first_run.py", "tests/e2e/test_mcp.py", "tests/e2e/test_http.py")
ALONE = ("unshare", "--map-root-user", "--net", "sh", "-c", 'ip link set lo up && exec "$@"', "sh")
TRACED = (
    "strace",
    "--follow-forks",
    "--seccomp-bpf",
    "--quiet=all",
    "-e",
    "trace=connect,sendto,sendmsg,sendmmsg",
    "-e",
    "signal=none",
)
_INET = re.compile(r'sa_family=AF_INET6?,.*?(?:inet_addr\("|inet_pton\(AF_INET6, "|sin6_addr=.*?")([0-9a-fA-F.:]+)"')
_HERE = re.compile(r"127\.\d+\.\d+\.\d+|::1|::ffff:127\.\d+\.\d+\.\d+")


def elsewhere(trace: str) -> list[str]:
    """Give the lines that name an address of another machine.

    >>> elsewhere('7 connect(3, {sa_family=AF_INET, sin_port=htons(80), sin_addr=inet_addr("192.0.2.1")}, 16) = -1')
    ['7 connect(3, {sa_family=AF_INET, sin_port=htons(80), sin_addr=inet_addr("192.0.2.1")}, 16) = -1']
    >>> elsewhere('7 connect(3, {sa_family=AF_INET, sin_port=htons(80), sin_addr=inet_addr("127.0.0.1")}, 16) = 0')
    []
    """
    found = ((line, _INET.search(line)) for line in trace.splitlines())
    return [line for line, address in found if address and not _HERE.fullmatch(address[1])]


@pytest.fixture(scope="module", autouse=True)
def namespaces() -> None:
    """Skip where the kernel makes no network of one's own, or nothing can look at what is called."""
    missing = [name for name in ("unshare", "ip", "strace") if shutil.which(name) is None]
    if missing:
        pytest.skip(f"not installed: {', '.join(missing)}")
    tried = subprocess.run([*ALONE, "true"], capture_output=True, text=True, check=False)
    if tried.returncode:
        pytest.skip(f"the kernel makes no network namespace: {tried.stderr.strip()}")


def alone(trace: Path, *command: str) -> subprocess.CompletedProcess[str]:
    """Run with a network of loopback alone, every address it calls written down."""
    environ = {name: value for name, value in os.environ.items() if name != "KX_SOAK"}
    line = [*ALONE, *TRACED, "-o", str(trace), *command]
    return subprocess.run(line, cwd=ROOT, env=environ, capture_output=True, text=True, check=False)


def test_an_attempt_would_be_seen(tmp_path: Path):
    """Row A15, its guard: who calls another machine is named."""
    script = "import socket; socket.socket().connect_ex(('192.0.2.1', 80))"
    alone(tmp_path / "trace", sys.executable, "-c", script)
    assert len(elsewhere((tmp_path / "trace").read_text())) == 1


def test_the_product_needs_no_network_and_looks_for_none(tmp_path: Path, report: Report):
    """Row A15: first run, agents over stdio and over HTTP; they pass, and nobody else is called."""
    pytest_line = (sys.executable, "-m", "pytest", "-p", "no:cacheprovider", *REPRESENTATIVE)
    ran = alone(tmp_path / "trace", *pytest_line)
    trace = (tmp_path / "trace").read_text(errors="replace")
    attempts = elsewhere(trace)
    passed = re.search(r"(\d+) passed", ran.stdout)
    problems = attempts if ran.returncode == 0 and passed else [*attempts, ran.stdout[-2_000:]]
    report("A15", problems, tests=passed[1] if passed else 0, calls=len(trace.splitlines()), elsewhere=len(attempts))
