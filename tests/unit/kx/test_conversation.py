"""What survives a restart of the gateway under a living agent."""

from __future__ import annotations

import json

from kx.conversation import Conversation

INITIALIZE = b'{"jsonrpc":"2.0","id":0,"method":"initialize","params":{}}\n'
INITIALIZED = b'{"jsonrpc":"2.0","method":"notifications/initialized"}\n'


def request(number: object, method: str = "tools/call") -> bytes:
    return json.dumps({"jsonrpc": "2.0", "id": number, "method": method}).encode() + b"\n"


def answer(number: object) -> bytes:
    return json.dumps({"jsonrpc": "2.0", "id": number, "result": {}}).encode() + b"\n"


def test_the_handshake_is_repeated_and_its_second_answer_kept_from_the_agent():
    """Row F15, issue 3: a gateway that was killed comes back, and the agent sees nothing of it."""
    talk = Conversation()
    for line in (INITIALIZE, INITIALIZED):
        talk.sent(line)
    assert talk.is_for_agent(answer(0))
    assert talk.broken() == []
    assert talk.renewed() == [INITIALIZE, INITIALIZED]
    assert not talk.is_for_agent(answer(0))
    assert talk.is_for_agent(answer(0))


def test_a_handshake_that_was_not_answered_is_repeated_and_its_answer_passed_on():
    """The agent still waits for it."""
    talk = Conversation()
    talk.sent(INITIALIZE)
    assert talk.broken() == []
    assert talk.renewed() == [INITIALIZE]
    assert talk.is_for_agent(answer(0))


def test_whoever_waits_is_told_once_that_the_answer_is_lost():
    """An agent must not wait for an answer that cannot come."""
    talk = Conversation()
    for number in (1, "two", 3, 4):
        talk.sent(request(number))
    talk.is_for_agent(answer(3))
    talk.sent(b'{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":4}}\n')
    lost = [json.loads(line) for line in talk.broken()]
    assert [one["id"] for one in lost] == [1, "two"]
    assert {one["error"]["data"]["code"] for one in lost} == {"KX_STACK_UNREACHABLE"}
    assert all(not -32768 <= one["error"]["code"] <= -32000 for one in lost)
    assert talk.broken() == []
    assert talk.renewed() == []


def test_lines_that_are_no_message_are_carried_as_they_are():
    """The gateway answers them; the pump judges nothing."""
    talk = Conversation()
    for line in (b"garbage\n", b"[]\n", b"\xff\n", b'{"id":[1],"method":"x"}\n', b"\n"):
        talk.sent(line)
        assert talk.is_for_agent(line)
    assert talk.broken() == []
