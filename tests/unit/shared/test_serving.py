"""The door between a bus and the handlers."""

from __future__ import annotations

import json

import anyio
import pytest

from shared import logs, subjects
from shared.bus import MAX_MESSAGE_BYTES
from shared.codec import JSON, MSGPACK, decode, encode
from shared.errors import ErrorCode, KxError
from shared.identity import InstanceId
from shared.messages import SearchReply, SearchRequest
from shared.serving import Answer, Delivery, Serving, read_message
from tests.support.buses import INSTANCE, OTHER_INSTANCE, echo, make_reply, make_search, query_contract

pytestmark = pytest.mark.anyio

SUBJECT = subjects.subject_of(subjects.SEARCH, INSTANCE)


async def answer_to(serving: Serving, data: bytes, *, subject: str = SUBJECT, content_type: str = MSGPACK) -> Answer:
    arrived = anyio.Event()
    answers: list[Answer] = []

    async def respond(answer: Answer) -> None:
        answers.append(answer)
        arrived.set()

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(serving.run)
        delivery = Delivery(subject=subject, data=data, content_type=content_type, respond=respond)
        await serving.request_intake(0).send(delivery)
        with anyio.fail_after(5):
            await arrived.wait()
            await serving.stop(anyio.current_time() + 1)
    return answers[0]


async def test_answer_comes_in_the_form_of_the_question() -> None:
    """DESIGN 3: JSON is answered in JSON."""
    answer = await answer_to(Serving(query_contract(echo)), encode(make_search(), JSON), content_type=JSON)
    assert answer.content_type == JSON
    assert decode(answer.data, SearchReply, JSON) == make_reply()


async def test_message_about_another_instance_is_refused() -> None:
    """DESIGN 3: the receiver compares the subject's instance with the message's."""
    answer = await answer_to(Serving(query_contract(echo)), encode(make_search(instance=OTHER_INSTANCE)))
    assert answer.error is not None
    assert answer.error.code == ErrorCode.MESSAGE_INVALID


async def test_failures_are_counted() -> None:
    """Row B7: malformed messages are counted, never a crash."""
    serving = Serving(query_contract(echo))
    await answer_to(serving, b"\xc1")
    assert (serving.counters[0].requests, serving.counters[0].errors) == (1, 1)
    assert serving.counters[0].last_error == "KX_MESSAGE_INVALID"


@pytest.mark.parametrize(
    ("failure", "outcome", "code"),
    [
        pytest.param(None, "ok", None, id="answered"),
        pytest.param(KxError(ErrorCode.INDEX_MISSING, "no"), "refused", "KX_INDEX_MISSING", id="refused"),
        pytest.param(ValueError("secret text"), "failed", "KX_INTERNAL", id="failed"),
    ],
)
async def test_every_message_has_one_log_line(
    failure: Exception | None, outcome: str, code: str | None, capsys: pytest.CaptureFixture[str]
) -> None:
    """STYLE 36: one canonical line per message; row A17: without anyone's text."""

    async def handle(_: SearchRequest) -> SearchReply:
        if failure is not None:
            raise failure
        return make_reply()

    logs.configure("info")
    try:
        await answer_to(Serving(query_contract(handle)), encode(make_search("the question")))
    finally:
        logs.configure("warning")
    written = capsys.readouterr().err
    (line,) = [json.loads(text) for text in written.splitlines()]
    assert (line["event"], line["service"], line["instance"]) == ("message.handled", "query", INSTANCE)
    assert (line["subject"], line["outcome"], line["error_code"]) == (SUBJECT, outcome, code)
    assert line["took_ms"] >= 0
    assert "secret" not in written
    assert "the question" not in written


@pytest.mark.parametrize(
    ("delivery", "code"),
    [
        pytest.param(
            Delivery(subject=SUBJECT, data=b"x" * (MAX_MESSAGE_BYTES + 1)), ErrorCode.MESSAGE_TOO_LARGE, id="too large"
        ),
        pytest.param(Delivery(subject=SUBJECT, data=b"", content_type="text/xml"), ErrorCode.MESSAGE_INVALID, id="xml"),
        pytest.param(
            Delivery(subject="kx.v1.query.search", data=encode(make_search())),
            ErrorCode.MESSAGE_INVALID,
            id="subject without an instance",
        ),
        pytest.param(
            Delivery(subject="kx.v1.-.query.search", data=encode(make_search(instance=InstanceId("-")))),
            ErrorCode.MESSAGE_INVALID,
            id="instance that is no id",
        ),
    ],
)
async def test_delivery_that_is_no_message_of_its_route_is_refused(delivery: Delivery, code: ErrorCode) -> None:
    """Row B7: oversize and foreign messages."""
    with pytest.raises(KxError) as caught:
        read_message(delivery, subjects.SEARCH)
    assert caught.value.code == code


async def test_handler_that_does_not_end_is_cut_off_at_the_deadline() -> None:
    """STYLE 25: what is cut off was not answered, so it comes again."""
    started = anyio.Event()

    async def hang(_: SearchRequest) -> SearchReply:
        started.set()
        await anyio.sleep_forever()
        return make_reply()

    serving = Serving(query_contract(hang))
    with anyio.fail_after(5):
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(serving.run)
            await serving.request_intake(0).send(Delivery(subject=SUBJECT, data=encode(make_search())))
            await started.wait()
            await serving.stop(anyio.current_time() + 0.05)
