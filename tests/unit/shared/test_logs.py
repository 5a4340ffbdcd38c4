"""Log lines: to stderr, one JSON object each, without anyone's text."""

from __future__ import annotations

import json
import logging
import sys
from collections.abc import Iterator

import pytest
import structlog

from shared import logs


@pytest.fixture(autouse=True)
def restore_logs() -> Iterator[None]:
    yield
    logs.configure("warning")


def fail(error: Exception) -> None:
    raise error


def lines_of(capsys: pytest.CaptureFixture[str]) -> list[dict[str, object]]:
    captured = capsys.readouterr()
    assert captured.out == ""
    return [json.loads(line) for line in captured.err.splitlines()]


def test_line_is_one_json_object_on_stderr(capsys: pytest.CaptureFixture[str]) -> None:
    """STYLE 34: stdout belongs to MCP and to command output."""
    logs.configure("info")
    structlog.get_logger().info("document.indexed", path="a\nb", chunks=3)
    (line,) = lines_of(capsys)
    assert (line["event"], line["level"], line["path"], line["chunks"]) == ("document.indexed", "info", "a\nb", 3)


def test_lines_below_the_level_are_left_out(capsys: pytest.CaptureFixture[str]) -> None:
    """STYLE 37: the level is a setting."""
    logs.configure("warning")
    structlog.get_logger().info("document.indexed")
    structlog.get_logger().warning("lane.failed")
    assert [line["event"] for line in lines_of(capsys)] == ["lane.failed"]


def test_terminal_gets_a_pretty_line(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    """STYLE 34: pretty on a terminal."""
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    logs.configure("info")
    structlog.get_logger().info("service.ready")
    written = capsys.readouterr().err
    assert "service.ready" in written
    assert not written.startswith("{")


def test_other_libraries_come_the_same_way(capsys: pytest.CaptureFixture[str]) -> None:
    """A library's warning is a line like any other, with the type of its exception only."""
    logs.configure("info")
    try:
        fail(ValueError("secret text"))
    except ValueError:
        logging.getLogger("nats").exception("went wrong")
    (line,) = lines_of(capsys)
    assert (line["event"], line["logger"], line["error_type"]) == ("library.reported", "nats", "ValueError")
    assert "secret" not in json.dumps(line)


def test_stderr_that_is_gone_ends_nobody(monkeypatch: pytest.MonkeyPatch) -> None:
    """A supervisor that died leaves a broken pipe."""

    class Gone:
        def isatty(self) -> bool:
            return False

        def write(self, _: str) -> None:
            raise BrokenPipeError

    monkeypatch.setattr(sys, "stderr", Gone())
    logs.configure("info")
    structlog.get_logger().error("service.crashed")


def test_error_fields_say_type_and_place_without_the_message() -> None:
    """Row A17: no file text in logs at the default level."""
    try:
        fail(KeyError("secret text"))
    except KeyError as error:
        fields = logs.error_fields(error)
    assert fields["error_type"] == "KeyError"
    assert fields["error_at"].startswith(__file__)
    assert "secret" not in str(fields)
