"""The stack as it is lived with: started, killed in parts, ended (rows F2, F3, F15)."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import pytest

from kx.processes import BUS, PROCESSES
from shared.bus_address import read_bus_file
from shared.subjects import SERVICES
from tests.support.command import Kx
from tests.support.processes import eventually, processes_of
from tests.support.repository import ROOT

pytestmark = [pytest.mark.connected, pytest.mark.timeout(300)]

CYCLES = int(os.environ.get("KX_TEST_CYCLES", "3"))  # row F15 asks for 50
BACK_S = 30.0  # row F2 asks for 15; a test machine may be busy
GONE_S = 5.0


@pytest.fixture(autouse=True)
def nothing_stays(kx: Kx) -> Iterator[None]:
    """End whatever a failed test has left."""
    yield
    kx("down")
    for pid in processes_of(kx.home):
        os.kill(pid, signal.SIGKILL)


def supervisor_of(kx: Kx) -> int:
    (found,) = [pid for pid, line in processes_of(kx.home).items() if " kx up " in f"{line} "]
    return found


def ready_services(kx: Kx, root: Path) -> dict[str, int]:
    """The process ids by service; empty while one does not answer."""
    ran = kx("status", "--in", root, "--json", "--stack")
    services = ran.json()["services"] if ran.code == 0 else {}
    pids = {name: found["pid"] for name, found in services.items() if found["state"] == "ready"}
    return pids if set(pids) == set(SERVICES) else {}


def bus_pid(kx: Kx) -> int:
    found = read_bus_file(kx.home / "run")
    assert found is not None
    return found.pid


def test_killed_processes_come_back_and_a_killed_supervisor_leaves_none(kx: Kx, tree: Path):
    """Rows F2, F3 and F15, case 35: each process in turn, the bus, in the end the supervisor."""
    assert kx("index", tree, "--wait", "text", "--no-stack").code == 0
    up = kx("up", "-d")
    assert up.code == 0, up.err
    assert ready_services(kx, tree), "ready was said too early"
    for name in [process.name for process in PROCESSES]:
        victim = bus_pid(kx) if name == BUS else ready_services(kx, tree)[name]
        write_note(tree, f"before {name}")
        os.kill(victim, signal.SIGKILL)
        write_note(tree, f"after {name}")
        assert eventually(partial(came_back, kx, tree, name, victim), within_s=BACK_S), f"{name} stayed away"
    expected = {f"docs/{moment} {process.name}.md" for moment in ("before", "after") for process in PROCESSES}
    assert eventually(lambda: expected <= documents(kx, tree), within_s=BACK_S), expected - documents(kx, tree)
    found = kx("search", "circuit-open", "--in", tree, "--mode", "lexical", "--stack")
    assert "resilience.md" in found.out, found.err

    os.kill(supervisor_of(kx), signal.SIGKILL)
    eventually(lambda: not processes_of(kx.home), within_s=GONE_S)
    assert processes_of(kx.home) == {}
    down = kx("down")
    assert (down.code, "no stack is running" in down.err) == (0, True)


def write_note(root: Path, name: str) -> None:
    (root / "docs" / f"{name}.md").write_text(f"# {name}\n\nWritten {name} was killed.\n")


def documents(kx: Kx, root: Path) -> set[str]:
    ran = kx("status", "--in", root, "--json", "--documents", "--stack")
    return {row["path"] for row in ran.json()["documents_list"]} if ran.code == 0 else set()


def came_back(kx: Kx, root: Path, name: str, victim: int) -> bool:
    """Another process answers for it, and so do all the others."""
    pids = ready_services(kx, root)
    return bool(pids) and (bus_pid(kx) if name == BUS else pids[name]) != victim


def test_down_leaves_no_process(kx: Kx):
    """Row F15: a stack that was started ends, every time, and can be started again."""
    for _ in range(CYCLES):
        up = kx("up", "-d", "--json")
        assert up.json() == {"schema": 1, "ready": True, "pid": supervisor_of(kx)}, up.err
        assert len(processes_of(kx.home)) == len(PROCESSES) + 1
        assert kx("down", "--json").json()["ended"]
        assert processes_of(kx.home) == {}
    assert not (kx.home / "run" / "stack.json").exists()
    assert not list((kx.home / "run").glob("*.sock"))


def test_down_without_anything_to_end_is_fine(kx: Kx):
    """Exit 0, a sentence, and no folder made."""
    down = kx("down")
    assert (down.code, down.err) == (0, "no stack is running\n")
    assert not kx.home.exists()


def test_one_of_two_starters_is_refused(kx: Kx):
    """One supervisor a home; the other names it."""
    with kx.running("up", "-d") as one, kx.running("up", "-d") as other:
        errors = [process.communicate(timeout=100)[1].decode() for process in (one, other)]
        codes = [one.returncode, other.returncode]
    assert sorted(codes) == [0, 1], errors
    refusal = errors[codes.index(1)]
    assert "KX_ALREADY_RUNNING" in refusal
    foreground = kx("up")
    assert foreground.code == 1
    assert str(supervisor_of(kx)) in foreground.err


ENSURE = (
    "from kx.stack_start import ensure_stack; from shared.settings import harden_process, load_settings;"
    "harden_process(); ensure_stack(load_settings(), 2.0)"
)


def test_ten_that_need_a_stack_get_one_and_it_ends_unused(kx: Kx, tmp_path: Path):
    """DESIGN 4: `kx mcp` may be started by many agents at once; what they started ends after the last of them."""
    environ = {**os.environ, "KX_HOME": str(kx.home), "HOME": str(tmp_path)}
    line = [sys.executable, "-I", "-c", ENSURE]
    many = [subprocess.Popen(line, env=environ, stderr=subprocess.PIPE) for _ in range(10)]
    errors = [process.communicate(timeout=100)[1].decode() for process in many]
    assert [process.returncode for process in many] == [0] * 10, errors
    assert supervisor_of(kx)
    assert eventually(lambda: not processes_of(kx.home), within_s=60), processes_of(kx.home)


def test_watch_follows_until_ctrl_c_and_says_what_was_done(kx: Kx, tree: Path):
    """MISSION 3.1: index first, then follow; a stack is started for it, or not if that is forbidden."""
    forbidden = kx("watch", tree, "--no-start")
    assert forbidden.code != 0
    assert processes_of(kx.home) == {}
    with kx.running("watch", tree) as watch:
        assert watch.stderr is not None
        told = read_until(watch.stderr, b"following")
        (tree / "docs" / "moon.md").write_text("# Moon\n\nIt is made of rye bread.\n")
        told += read_until(watch.stderr, b"following")
        found = kx("search", "rye bread", "--in", tree, "--mode", "lexical", "--stack")
        assert "moon.md" in found.out, found.err
        watch.send_signal(signal.SIGINT)
        _, rest = watch.communicate(timeout=30)
    assert watch.returncode == 0, told + rest
    assert b"passages embedded in 0:" in rest
    with kx.running("watch", tree, "--json") as watch:
        assert watch.stderr is not None
        read_until(watch.stderr, b"following")
        watch.send_signal(signal.SIGINT)
        (row,) = json.loads(watch.communicate(timeout=30)[0])["projects"]
    assert (row["root"], row["documents"] > 0, row["files"]) == (str(tree), True, 0)


def read_until(lines, mark: bytes) -> bytes:
    """Read up to the line that holds the mark."""
    told = b""
    for line in lines:
        told += line
        if mark in line:
            return told
    raise AssertionError(told.decode())


def test_honcho_brings_all_up_and_ctrl_c_ends_all(kx: Kx, tree: Path):
    """Issue 3: `honcho start` in a clone brings up everything, and one interrupt ends it."""
    assert kx("index", tree, "--wait", "text", "--no-stack").code == 0
    bin_dir = Path(sys.executable).parent
    environ = {
        **os.environ,
        "PATH": f"{bin_dir}{os.pathsep}{os.environ['PATH']}",
        "KX_HOME": str(kx.home),
        "HOME": str(kx.home.parent),
    }
    log = kx.home.parent / "honcho.log"
    with log.open("wb") as out:
        honcho = subprocess.Popen([bin_dir / "honcho", "start"], cwd=ROOT, env=environ, stdout=out, stderr=out)
        try:
            assert eventually(lambda: ready_services(kx, tree), within_s=60), log.read_text()
            second = kx("up", "-d")
            assert (second.code, "KX_ALREADY_RUNNING" in second.err) == (1, True)
            honcho.send_signal(signal.SIGINT)
            honcho.wait(timeout=20)
        finally:
            honcho.kill()
            honcho.wait()
    eventually(lambda: not processes_of(kx.home), within_s=GONE_S)
    assert processes_of(kx.home) == {}
