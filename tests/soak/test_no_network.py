"""Row A15: the product works where there is no network, and does not look for one."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.soak.conftest import IS_SOAK, Report
from tests.support.repository import ROOT

pytestmark = [pytest.mark.soak, pytest.mark.timeout(5_400 if IS_SOAK else 1_200)]

Alone = Callable[..., tuple[subprocess.CompletedProcess[str], str]]

REPRESENTATIVE = ("tests/e2e/test_first_run.py", "tests/e2e/test_mcp.py", "tests/e2e/test_http.py")
WHOLE = ("-n", "2", f"--ignore={Path(__file__).relative_to(ROOT)}", "tests")  # what is traced cannot trace
PLAIN, MAPPED = (
    ("unshare", "--net"),
    ("unshare", "--map-root-user", "--net"),
)  # the first is root's alone, who is all users
LOOPBACK_ALONE = ("sh", "-c", 'ip link set lo up && exec "$@"', "sh")
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
HELD_S = 15 if IS_SOAK else 0  # the runtime's first report comes after ten
HOLDING = """
import pathlib, sys, tempfile, time
from shared.encoder import OnnxEncoder
from shared.model import locate_model
with tempfile.TemporaryDirectory() as folder:
    encoder = OnnxEncoder.open(locate_model(), cache_dir=pathlib.Path(folder), threads=1, spinning=False)
    encoder.encode(["the breaker opens"])
    time.sleep(float(sys.argv[1]))
    encoder.close()
"""
_INET = re.compile(r'sa_family=AF_INET6?,.*?(?:inet_addr\("|inet_pton\(AF_INET6, "|sin6_addr=.*?")([0-9a-fA-F.:]+)"')
_NAME_SERVER = "htons(53)"  # where none is set, names are asked for at our own address
_HERE = re.compile(r"127\.\d+\.\d+\.\d+|::1|::ffff:127\.\d+\.\d+\.\d+")


def elsewhere(trace: str) -> list[str]:
    """Give the lines that name an address of another machine, or ask for one.

    >>> elsewhere('7 connect(3, {sa_family=AF_INET, sin_port=htons(80), sin_addr=inet_addr("192.0.2.1")}, 16) = -1')
    ['7 connect(3, {sa_family=AF_INET, sin_port=htons(80), sin_addr=inet_addr("192.0.2.1")}, 16) = -1']
    >>> elsewhere('7 connect(3, {sa_family=AF_INET, sin_port=htons(80), sin_addr=inet_addr("127.0.0.1")}, 16) = 0')
    []
    """
    found = ((line, _INET.search(line)) for line in trace.splitlines())
    return [line for line, to in found if to and (_NAME_SERVER in line or not _HERE.fullmatch(to[1]))]


@pytest.fixture(scope="module")
def namespace() -> tuple[str, ...]:
    """Give what enters a network of one's own; skip where there is none, or nothing can look at what is called."""
    missing = [name for name in ("unshare", "ip", "strace") if shutil.which(name) is None]
    if missing:
        pytest.skip(f"not installed: {', '.join(missing)}")
    for entering in (PLAIN, MAPPED):
        tried = subprocess.run([*entering, *LOOPBACK_ALONE, "true"], capture_output=True, text=True, check=False)
        if tried.returncode == 0:
            return (*entering, *LOOPBACK_ALONE)
    pytest.skip(f"the kernel makes no network namespace: {tried.stderr.strip()}")


@pytest.fixture
def alone(namespace: tuple[str, ...], tmp_path: Path) -> Alone:
    """Run with a network of loopback alone; give how it ended, and every call that was made to another process."""

    def run(*command: str) -> tuple[subprocess.CompletedProcess[str], str]:
        environ = {name: value for name, value in os.environ.items() if name != "KX_SOAK"}
        line = [*namespace, *TRACED, "-o", str(tmp_path / "trace"), *command]
        ran = subprocess.run(line, cwd=ROOT, env=environ, capture_output=True, text=True, check=False)
        return ran, (tmp_path / "trace").read_text(errors="replace")

    return run


@pytest.mark.parametrize("address", ["('192.0.2.1', 80)", "('127.0.0.1', 53)"], ids=["a machine", "a name server"])
def test_an_attempt_would_be_seen(address: str, alone: Alone):
    """Row A15, its guard: who calls another machine is named."""
    _, trace = alone(sys.executable, "-c", f"import socket; socket.socket().connect_ex({address})")
    assert len(elsewhere(trace)) == 1


def test_a_model_that_is_held_open_calls_nobody(alone: Alone, report: Report):
    """Row A15: the model's runtime reports to its maker, some seconds after a model was opened, unless it is told not to."""
    ran, trace = alone(sys.executable, "-c", HOLDING, str(HELD_S))
    attempts = elsewhere(trace)
    report("A15", attempts + ran.stderr.splitlines(), held_s=HELD_S, elsewhere=len(attempts))


def test_the_product_needs_no_network_and_looks_for_none(alone: Alone, report: Report):
    """Row A15: the whole suite, in CI first run, agents over stdio and over HTTP; it passes, and nobody else is called."""
    suite = WHOLE if IS_SOAK else REPRESENTATIVE
    ran, trace = alone(sys.executable, "-m", "pytest", "-p", "no:cacheprovider", *suite)
    attempts = elsewhere(trace)
    passed = re.search(r"(\d+) passed", ran.stdout)
    failed = re.findall(r"^(?:FAILED|ERROR) .*", ran.stdout, re.MULTILINE)
    if ran.returncode and not failed:
        failed = [(ran.stdout + ran.stderr)[-2_000:]]
    problems = attempts + failed
    report("A15", problems, tests=passed[1] if passed else 0, calls=len(trace.splitlines()), elsewhere=len(attempts))
