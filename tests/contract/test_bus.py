"""What every bus promises (`shared/bus.py`), on the one in memory and on a real nats-server."""

from __future__ import annotations

import anyio
import anyio.lowlevel
import pytest
from anyio.abc import TaskStatus

from shared import messages as m
from shared import subjects
from shared.bus import GRACE_S, MAX_MESSAGE_BYTES, Endpoint, ServiceContract
from shared.errors import ErrorCode, KxError
from shared.identity import InstanceId
from tests.support.buses import (
    INSTANCE,
    OTHER_INSTANCE,
    Buses,
    echo,
    listening_contract,
    make_reply,
    make_search,
    memory_buses,
    query_contract,
)

pytestmark = pytest.mark.anyio

STEP_S = 5  # for what should happen at once
A_MOMENT_S = 0.05  # for what should not


async def test_reply_comes_back_to_its_caller(buses: Buses) -> None:
    """A request is answered by the handler of its route."""
    async with buses.query.serve(query_contract(echo)):
        reply = await buses.command.request(subjects.SEARCH, make_search("olá"))
    assert reply == make_reply("olá")


async def test_error_of_a_handler_keeps_code_hint_and_values(buses: Buses) -> None:
    """STYLE 17: the caller can show the error as if it had been raised beside it."""

    async def refuse(_: m.SearchRequest) -> m.SearchReply:
        raise KxError(
            ErrorCode.INDEX_MISSING, "no index of {root}", hint="run {cmd}", retryable=True, root="/é", cmd="k"
        )

    async with buses.query.serve(query_contract(refuse)):
        with pytest.raises(KxError) as caught:
            await buses.command.request(subjects.SEARCH, make_search())
    error = caught.value
    assert (error.code, error.hint, error.retryable) == (ErrorCode.INDEX_MISSING, "run {cmd}", True)
    assert error.params == {"root": "/é", "cmd": "k"}
    assert str(error) == "no index of /é"


async def test_error_values_that_are_no_unicode_still_travel(buses: Buses) -> None:
    """Row B3: a file name of any bytes may be in an error."""

    async def refuse(_: m.SearchRequest) -> m.SearchReply:
        raise KxError(ErrorCode.PATH_NOT_FOUND, "{path}", path="bad\udcff" + "x" * MAX_MESSAGE_BYTES)

    async with buses.query.serve(query_contract(refuse)):
        with pytest.raises(KxError) as caught:
            await buses.command.request(subjects.SEARCH, make_search())
    assert caught.value.code == ErrorCode.PATH_NOT_FOUND
    assert caught.value.params["path"].startswith("bad?x")


async def test_unexpected_exception_is_answered_without_its_text(buses: Buses) -> None:
    """STYLE 19: the dispatcher converts, and no text of a document leaks through an exception's message."""

    async def crash(_: m.SearchRequest) -> m.SearchReply:
        raise ValueError("secret text")

    async with buses.query.serve(query_contract(crash)):
        with pytest.raises(KxError) as caught:
            await buses.command.request(subjects.SEARCH, make_search())
    assert caught.value.code == ErrorCode.INTERNAL
    assert "secret" not in repr(caught.value.details())


async def test_slow_service_is_a_timeout(buses: Buses) -> None:
    """STYLE 31: every wait on another process has a deadline."""

    async def never(_: m.SearchRequest) -> m.SearchReply:
        await released.wait()
        return make_reply()

    released = anyio.Event()
    async with buses.query.serve(query_contract(never)):
        with pytest.raises(KxError) as caught:
            await buses.command.request(subjects.SEARCH, make_search(), timeout_s=A_MOMENT_S)
        released.set()
    assert (caught.value.code, caught.value.retryable) == (ErrorCode.TIMEOUT, True)


async def test_route_without_a_service_fails_at_once(buses: Buses) -> None:
    """A service that does not run is told apart from one that is slow."""
    with anyio.fail_after(STEP_S), pytest.raises(KxError) as caught:
        await buses.command.request(subjects.SEARCH, make_search(), timeout_s=STEP_S * 10)
    assert (caught.value.code, caught.value.retryable) == (ErrorCode.SERVICE_UNAVAILABLE, True)
    assert caught.value.params["service"] == "query"


async def test_request_above_the_limit_is_refused_before_it_is_sent(buses: Buses) -> None:
    """DESIGN 3: messages have at most 256 KiB."""
    async with buses.query.serve(query_contract(echo)):
        with pytest.raises(KxError) as caught:
            await buses.command.request(subjects.SEARCH, make_search("x" * MAX_MESSAGE_BYTES))
    assert caught.value.code == ErrorCode.MESSAGE_TOO_LARGE


async def test_reply_above_the_limit_is_an_error_of_the_request(buses: Buses) -> None:
    """DESIGN 3: messages have at most 256 KiB, in both directions."""

    async def too_much(_: m.SearchRequest) -> m.SearchReply:
        return make_reply(notes=("x" * MAX_MESSAGE_BYTES,))

    async with buses.query.serve(query_contract(too_much)):
        with pytest.raises(KxError) as caught:
            await buses.command.request(subjects.SEARCH, make_search())
    assert caught.value.code == ErrorCode.MESSAGE_TOO_LARGE


async def test_message_just_below_the_limit_arrives(buses: Buses) -> None:
    """The limit is the message's; headers and subject do not count."""
    query = "x" * (MAX_MESSAGE_BYTES - 400)
    async with buses.query.serve(query_contract(echo)):
        assert (await buses.command.request(subjects.SEARCH, make_search(query))).query == query


async def test_text_that_is_no_unicode_is_refused(buses: Buses) -> None:
    """Row B1: a query with a lone surrogate is an error, not a crash."""
    async with buses.query.serve(query_contract(echo)):
        with pytest.raises(KxError) as caught:
            await buses.command.request(subjects.SEARCH, make_search("a\udc80"))
    assert caught.value.code == ErrorCode.MESSAGE_INVALID


@pytest.mark.parametrize("instance", ["*", ">", "a.b", "", "0123456789ABCDEF", "0123456789abcdef\r\nPUB x 0\r\n"])
async def test_instance_that_is_no_id_is_refused(buses: Buses, instance: str) -> None:
    """Row A13: an instance becomes a token of a subject, so nothing else may pass as one."""
    async with buses.query.serve(query_contract(echo)):
        with pytest.raises(KxError) as caught:
            await buses.command.request(subjects.SEARCH, make_search(instance=InstanceId(instance)))
    assert caught.value.code == ErrorCode.MESSAGE_INVALID


async def test_each_of_200_concurrent_callers_gets_its_own_reply(buses: Buses) -> None:
    """Replies are never mixed up, whatever order they are made in."""
    replies: dict[str, str] = {}

    async def ask(number: int) -> None:
        query = f"q{number}"
        replies[query] = (await buses.command.request(subjects.SEARCH, make_search(query))).query

    async with buses.query.serve(query_contract(echo)), anyio.create_task_group() as group:
        for number in range(200):
            group.start_soon(ask, number)
    assert replies == {f"q{number}": f"q{number}" for number in range(200)}


async def test_no_more_handlers_than_allowed_run_at_once(buses: Buses) -> None:
    """STYLE 28: an endpoint's work is bounded; callers beyond wait and are answered all the same."""
    running = 0
    most = 0

    async def count(request: m.SearchRequest) -> m.SearchReply:
        nonlocal running, most
        running += 1
        most = max(most, running)
        await anyio.sleep(0.001)
        running -= 1
        return make_reply(request.query)

    async with buses.query.serve(query_contract(count, at_once=3)), anyio.create_task_group() as group:
        for _ in range(30):
            group.start_soon(buses.command.request, subjects.SEARCH, make_search())
    assert most == 3


async def test_endpoints_do_not_wait_for_each_other(buses: Buses) -> None:
    """A full endpoint leaves the others of its service answering."""
    release = anyio.Event()

    async def handle(request: m.Message) -> m.Message:
        if isinstance(request, m.SearchRequest):
            await release.wait()
            return make_reply()
        return m.Accepted()

    async def ask_status() -> None:
        with pytest.raises(KxError) as caught:  # the handler answers with another type on purpose
            await buses.command.request(subjects.STATUS, m.StatusRequest(instance=INSTANCE))
        assert caught.value.code == ErrorCode.MESSAGE_INVALID
        release.set()

    async with buses.query.serve(query_contract(handle, at_once=1)), anyio.create_task_group() as group:
        group.start_soon(buses.command.request, subjects.SEARCH, make_search())
        group.start_soon(ask_status)


async def test_every_listener_hears_every_event_in_order(buses: Buses) -> None:
    """STYLE: a fact is told to whoever listens; one listener's events arrive one after the other."""
    heard: list[list[int]] = [[], []]
    complete = anyio.Event()

    def hear_into(log: list[int]) -> ServiceContract:
        async def hear(event: m.IndexCommitted) -> None:
            await anyio.lowlevel.checkpoint()
            log.append(event.seq)
            if all(len(entry) == 100 for entry in heard):
                complete.set()

        return listening_contract(hear)

    async with buses.query.serve(hear_into(heard[0])), buses.query.serve(hear_into(heard[1])):
        for seq in range(100):
            await buses.indexer.publish(subjects.INDEX_COMMITTED, m.IndexCommitted(instance=INSTANCE, seq=seq, epoch=0))
        with anyio.fail_after(STEP_S):
            await complete.wait()
    assert heard == [list(range(100)), list(range(100))]


async def test_failing_listener_hears_the_next_event(buses: Buses) -> None:
    """STYLE 19: the door of the dispatcher is one for events too."""
    heard_second = anyio.Event()

    async def hear(event: m.IndexCommitted) -> None:
        if event.seq == 1:
            raise ValueError("broken")
        heard_second.set()

    async with buses.query.serve(listening_contract(hear)):
        for seq in (1, 2):
            await buses.indexer.publish(subjects.INDEX_COMMITTED, m.IndexCommitted(instance=INSTANCE, seq=seq, epoch=0))
        with anyio.fail_after(STEP_S):
            await heard_second.wait()


async def test_event_without_listeners_is_nobodys_trouble(buses: Buses) -> None:
    """The publisher waits for nobody."""
    await buses.indexer.publish(subjects.INDEXER_STARTED, m.IndexerStarted())


async def test_services_of_one_name_share_the_requests(buses: Buses) -> None:
    """DESIGN 8: more embedders are only started."""
    handled = [0, 0]

    def count_into(place: int) -> ServiceContract:
        async def handle(request: m.SearchRequest) -> m.SearchReply:
            handled[place] += 1
            return make_reply(request.query)

        return query_contract(handle)

    async with buses.query.serve(count_into(0)), buses.query.serve(count_into(1)):
        for _ in range(40):
            await buses.command.request(subjects.SEARCH, make_search())
    assert sum(handled) == 40
    assert min(handled) > 0


async def test_one_service_answers_for_every_instance(buses: Buses) -> None:
    """DESIGN 3: endpoints are subscribed once, for all trees."""

    async def tell(request: m.SearchRequest) -> m.SearchReply:
        return make_reply(request.instance)

    async with buses.query.serve(query_contract(tell)):
        for instance in (INSTANCE, OTHER_INSTANCE):
            assert (await buses.command.request(subjects.SEARCH, make_search(instance=instance))).query == instance


async def test_leaving_finishes_what_is_in_hand_and_takes_nothing_new(buses: Buses) -> None:
    """STYLE 25: intake stops first, then what was accepted is answered."""
    started, leave, release = anyio.Event(), anyio.Event(), anyio.Event()
    answered: list[str] = []

    async def slow(request: m.SearchRequest) -> m.SearchReply:
        started.set()
        await release.wait()
        return make_reply(request.query)

    async def ask() -> None:
        answered.append((await buses.command.request(subjects.SEARCH, make_search("in hand"))).query)

    async def serve(*, task_status: TaskStatus[None]) -> None:
        async with buses.query.serve(query_contract(slow)):
            task_status.started()
            await leave.wait()
        answered.append("left")

    async def wait_until_refused() -> None:
        while True:
            try:
                await buses.command.request(subjects.SEARCH, make_search("new"), timeout_s=A_MOMENT_S)
            except KxError as error:
                if error.code == ErrorCode.SERVICE_UNAVAILABLE:
                    return

    async with anyio.create_task_group() as group:
        await group.start(serve)
        group.start_soon(ask)
        await started.wait()
        leave.set()
        with anyio.fail_after(GRACE_S):
            await wait_until_refused()
        assert answered == []
        release.set()
    assert sorted(answered) == ["in hand", "left"]


async def test_work_in_hand_outlives_the_cancellation_of_its_service(buses: Buses) -> None:
    """STYLE 25: stopping cancels the intake; what a handler needs is closed after it ended."""
    started, release = anyio.Event(), anyio.Event()
    steps: list[str] = []

    async def slow(request: m.SearchRequest) -> m.SearchReply:
        started.set()
        await release.wait()
        steps.append("handled")
        return make_reply(request.query)

    async def ask() -> None:
        await buses.command.request(subjects.SEARCH, make_search())

    async def release_later() -> None:
        await anyio.wait_all_tasks_blocked()
        release.set()

    async with anyio.create_task_group() as group:
        with anyio.CancelScope() as service:
            try:
                async with buses.query.serve(query_contract(slow)):
                    group.start_soon(ask)
                    await started.wait()
                    group.start_soon(release_later)
                    service.cancel()
                    await anyio.sleep_forever()
            finally:
                steps.append("closed")
    assert steps == ["handled", "closed"]


async def test_caller_that_gives_up_harms_nobody(buses: Buses) -> None:
    """A cancelled request is the caller's matter: the handler ends in peace and the next caller is answered."""
    started, release, ended = anyio.Event(), anyio.Event(), anyio.Event()

    async def slow(request: m.SearchRequest) -> m.SearchReply:
        if request.query == "given up":
            started.set()
            await release.wait()
            ended.set()
        return make_reply(request.query)

    async with buses.query.serve(query_contract(slow)):
        async with anyio.create_task_group() as group:
            group.start_soon(buses.command.request, subjects.SEARCH, make_search("given up"))
            await started.wait()
            group.cancel_scope.cancel()
        release.set()
        with anyio.fail_after(STEP_S):
            await ended.wait()
            assert (await buses.command.request(subjects.SEARCH, make_search("next"))).query == "next"


async def test_error_of_the_body_comes_out_of_the_bus_as_itself(anyio_backend: str) -> None:
    """The command catches a KxError by its type, whatever task groups lie between."""
    with pytest.raises(KxError):
        async with memory_buses() as buses, buses.query.serve(query_contract(echo)):
            raise KxError(ErrorCode.USAGE, "no")


async def test_services_may_ask_each_other_while_they_answer(buses: Buses) -> None:
    """A handler that waits for another service does not stop its own."""

    async def survey(request: m.SurveyTree) -> m.TreeSurveyed:
        await buses.watcher.request(subjects.MANIFEST, m.ManifestRequest(instance=request.instance))
        return m.TreeSurveyed(walked=1, behind=0)

    async def manifest(_: m.ManifestRequest) -> m.ManifestPage:
        return m.ManifestPage(entries=(m.ManifestEntry("a", 1, 2),), complete=True)

    watcher = ServiceContract(
        name="watcher", description="", endpoints=(Endpoint(route=subjects.SURVEY, handle=survey),)
    )
    query = ServiceContract(
        name="query", description="", endpoints=(Endpoint(route=subjects.MANIFEST, handle=manifest),)
    )
    async with buses.watcher.serve(watcher), buses.query.serve(query):
        reply = await buses.command.request(subjects.SURVEY, m.SurveyTree(instance=INSTANCE))
    assert reply.walked == 1
