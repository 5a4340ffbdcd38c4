"""A process is known by more than its number."""

from __future__ import annotations

import os
import subprocess
import sys

from msgspec.structs import replace

from shared.process_identity import identity_of, is_running, own_identity


def test_process_that_runs_is_known():
    """This process is itself."""
    assert is_running(own_identity())
    assert identity_of(os.getpid()) == own_identity()


def test_number_used_again_is_another_process():
    """Row F2: a stale file never leads to a signal at a stranger."""
    mine = own_identity()
    assert not is_running(replace(mine, start_ticks=mine.start_ticks - 1))
    assert not is_running(replace(mine, boot_id="another boot"))


def test_process_that_ended_runs_no_more():
    """Also while nobody has collected it yet."""
    with subprocess.Popen([sys.executable, "-I", "-c", "input()"], stdin=subprocess.PIPE) as child:
        identity = identity_of(child.pid)
        assert identity is not None
        child.kill()
        os.waitid(os.P_PID, child.pid, os.WEXITED | os.WNOWAIT)
        assert not is_running(identity)
    assert identity_of(child.pid) is None
