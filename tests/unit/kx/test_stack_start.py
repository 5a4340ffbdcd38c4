"""What is said before a stack is started in the background."""

from __future__ import annotations

import os

import pytest

from kx import stack_start
from kx.stack_lock import try_hold
from shared.errors import ErrorCode, KxError
from tests.support.configs import make_settings


def test_a_missing_server_is_told_at_once_and_keeps_no_lock(tmp_path, monkeypatch):
    """Nobody waits a minute for services that cannot come, to be sent to a log."""

    def missing() -> None:
        raise KxError(ErrorCode.BUS_UNAVAILABLE, "nats-server is not installed")

    monkeypatch.setattr(stack_start, "find_nats_server", missing)
    settings = make_settings(tmp_path)
    with pytest.raises(KxError, match="not installed"):
        stack_start.start_detached(settings)
    held = try_hold(settings.run_dir)
    assert held is not None
    os.close(held)
