"""Who is let in over HTTP, and who is not (row A7): 120 ways to ask, each with its answer."""

from __future__ import annotations

import base64
import time
from collections.abc import Sequence
from functools import partial
from typing import Any

import anyio
import msgspec
import pytest

from services.mcp_gateway.adapters.http_door import LARGE_AT_ONCE, HttpDoor
from shared.access_tokens import AccessTokens
from tests.support.gateway_bench import fake_services, make_settings
from tests.support.http_bench import HOST, PORT, Answered, Headers, ask, headers_of, http_door, make_token, modern
from tests.support.rows import passed

pytestmark = pytest.mark.anyio

HEADS = {"host": "Host", "origin": "Origin", "token": "Authorization", "type": "Content-Type", "accept": "Accept"}
HEADS |= {"version": "MCP-Protocol-Version", "called": "Mcp-Method", "name": "Mcp-Name", "length": "Content-Length"}
LEGACY = {"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {}}
TOO_LONG = 4 * 1024 * 1024 + 1
BURST = 6


class Case:
    """One request: the right one with something changed, and the status it gets."""

    def __init__(self, told: str, status: int, *, body: Any = None, how: dict[str, str] | None = None, **heads: Any):
        self.told = told
        self.status = status
        self.body = body
        self.how = how or {}
        self.heads = heads

    def headers(self, right: Headers) -> Headers:
        """Replace what the case says: None takes a header out, several values send it several times."""
        changed = [(HEADS.get(key, key.replace("_", "-")), value) for key, value in self.heads.items()]
        names = {name.lower() for name, _ in changed}
        kept = [(name, value) for name, value in right if name.lower() not in names]
        for name, value in changed:
            values: Sequence[str] = [] if value is None else [value] if isinstance(value, str) else value
            kept += [(name, one) for one in values]
        return kept


def host_cases() -> list[Case]:
    good = [HOST, f"localhost:{PORT}", f"LOCALHOST:{PORT}", f"[::1]:{PORT}"]
    bad = [
        "", "127.0.0.1", "localhost", "[::1]", "127.0.0.1:80", "localhost:1", "evil.example", f"evil.example:{PORT}",
        f"127.0.0.1.evil.example:{PORT}", f"localhost.evil.example:{PORT}", f"evil.localhost:{PORT}", f"{HOST}.evil.example",
        f"127.0.0.2:{PORT}", f"0.0.0.0:{PORT}", f"127.1:{PORT}", f"2130706433:{PORT}", f"0x7f.0.0.1:{PORT}", f"[::]:{PORT}",
        f"::1:{PORT}", f"[::ffff:127.0.0.1]:{PORT}", f"[::1%25lo]:{PORT}", f"localhost.:{PORT}", f"user@localhost:{PORT}",
        f"localhost:{PORT}/", f" localhost:{PORT}", f"192.168.0.1:{PORT}", f"localhost:0{PORT}",
    ]  # fmt: skip
    wrong = [Case("no Host", 400, host=None), Case("two Hosts", 400, host=[HOST, "evil.example"])]
    wrong.append(Case("one Host twice", 400, host=[HOST, HOST]))
    return (
        [Case(f"host {one}", 200, host=one) for one in good]
        + [Case(f"host {one}", 403, host=one) for one in bad]
        + wrong
    )


def origin_cases() -> list[Case]:
    good = [f"http://{HOST}", f"http://localhost:{PORT}", f"http://[::1]:{PORT}"]
    bad = [
        "null", "", "http://evil.example", "https://evil.example", f"http://evil.example:{PORT}", f"https://localhost:{PORT}",
        "http://localhost", "http://localhost:1", "http://127.0.0.1", f"http://127.0.0.1.evil.example:{PORT}",
        "http://localhost.evil.example", f"http://localhost:{PORT}.evil.example", f"http://localhost:{PORT}@evil.example",
        f"http://evil.example#http://localhost:{PORT}", "file://", f"file://localhost:{PORT}", "chrome-extension://abcdef",
        f"http://localhost:{PORT}/", f"http://localhost:{PORT} http://evil.example", f"//localhost:{PORT}", f"localhost:{PORT}",
        "*", "http://[::1]:1",
    ]  # fmt: skip
    cases = [Case(f"origin {one}", 200, origin=one) for one in good]
    cases += [Case(f"origin {one}", 403, origin=one) for one in bad]
    return [*cases, Case("two origins", 403, origin=[f"http://{HOST}", "http://evil.example"])]


def token_cases(token: str, expired: str, revoked: str, foreign: str) -> list[Case]:
    bad = {
        "empty": "", "no token": "Bearer", "only a space": "Bearer ", "some word": "Bearer secret", "no scheme": token,
        "another scheme": f"Basic {token}", "two spaces": f"Bearer  {token}", "shortened": f"Bearer {token[:-1]}",
        "lengthened": f"Bearer {token}0", "altered": f"Bearer {token[:-1]}{'1' if token[-1] == '0' else '0'}",
        "upper case": f"Bearer {token.upper()}", "expired": f"Bearer {expired}", "revoked": f"Bearer {revoked}",
        "of another home": f"Bearer {foreign}", "two in one": f"Bearer {token}, Bearer {token}",
    }  # fmt: skip
    cases = [Case(f"token {told}", 401, token=value) for told, value in bad.items()]
    return [
        *cases,
        Case("token absent", 401, token=None),
        Case("token twice", 401, token=[f"Bearer {token}", f"Bearer {token}"]),
        Case("token in the address", 401, token=None, how={"query": f"access_token={token}"}),
        Case("token in a cookie", 401, token=None, cookie=f"access_token={token}"),
        Case("scheme in lower case", 200, token=f"bearer {token}"),
    ]


def kind_cases() -> list[Case]:
    methods = ["GET", "HEAD", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE", "post"]
    paths = ["/", "/mcp/", "/MCP", "//mcp", "/.well-known/oauth-protected-resource"]
    types = [None, "text/plain", "application/x-www-form-urlencoded", "application/jsonx", ["application/json"] * 2]
    preflight = {"Access_Control_Request_Method": "POST"}
    return [
        *(Case(f"method {one}", 405, how={"method": one}) for one in methods),
        Case("preflight without a token", 401, how={"method": "OPTIONS"}, token=None, **preflight),
        Case("preflight of a page", 403, how={"method": "OPTIONS"}, origin="http://evil.example", **preflight),
        *(Case(f"path {one}", 404, how={"path": one}) for one in paths),
        *(Case(f"type {one}", 415, type=one) for one in types),
        Case("type with charset", 200, type="application/json; charset=utf-8"),
        Case("compressed", 415, content_encoding="gzip"),
        Case("accepts a page only", 406, accept="text/html"),
        Case("says it is too long", 413, length=str(TOO_LONG)),
        Case("is too long", 413, body=[b" " * 1024 * 1024] * 4 + [b"{}"]),
    ]


def body_cases() -> list[Case]:
    call = modern("tools/call", {"name": "status", "arguments": {}})
    broken = {
        "empty": b"",
        "no JSON": b"{",
        "a batch": b"[]",
        "a number": b"5",
        "null": b"null",
        "deep": b"[" * 100_000,
    }
    broken |= {"no UTF-8": b'{"a":"\xff"}', "NaN": b'{"a":NaN}', "a response": b'{"jsonrpc":"2.0","id":1,"result":{}}'}
    encoded = base64.b64encode(b"status").decode()
    return [
        *(Case(f"body {told}", 400, body=body) for told, body in broken.items()),
        Case("another method in the header", 400, called="tools/call"),
        Case("method twice", 400, called=["tools/list", "tools/list"]),
        Case("no method in the header", 400, called=None),
        Case("another version in the header", 400, version="2025-11-25"),
        Case("no version in the header", 400, version=None),
        Case("a version nobody knows", 400, version="2099-01-01"),
        Case("version twice", 400, version=["2026-07-28", "2025-11-25"]),
        Case("legacy body, wrong method in the header", 400, body=LEGACY, version="2025-11-25", called="ping"),
        Case("legacy body", 200, body=LEGACY, version="2025-11-25", called=None),
        Case("another name in the header", 400, body=call, called="tools/call", name="search"),
        Case("no name in the header", 400, body=call, called="tools/call", name=None),
        Case("name as base64", 200, body=call, called="tools/call", name=f"=?base64?{encoded}?="),
        Case("name as broken base64", 400, body=call, called="tools/call", name="=?base64?c3Rh*?="),
    ]


def every_case(settings, other, project) -> tuple[str, list[Case]]:
    token = make_token(settings, project)
    expired = make_token(settings, project, expires_s=int(time.time()) - 1)
    revoked = make_token(settings, project)
    AccessTokens(settings.home).revoke(revoked.split("_")[1], 1)
    foreign = make_token(other, project)
    tokens = token_cases(token, expired, revoked, foreign)
    return token, [*host_cases(), *origin_cases(), *tokens, *kind_cases(), *body_cases()]


async def asked(door, token: str, case: Case) -> Answered:
    message = modern("tools/list")
    right = headers_of(token, message)
    body = message if case.body is None else case.body
    return await ask(
        door, case.headers(right), msgspec.json.encode(body) if isinstance(body, dict) else body, **case.how
    )


async def test_every_way_to_ask_is_answered_as_specified(settings, tmp_path, gated):
    """Row A7: rebinding, `null`, suffixes, ports, IPv6, absent, header against body, tokens; no grant to other origins."""
    token, cases = every_case(settings, make_settings(tmp_path / "other"), gated)
    wrong: list[tuple[str, int, int]] = []
    async with fake_services() as (bus, fakes), http_door(bus, settings) as door:
        for case in cases:
            answered = await asked(door, token, case)
            if answered.status != case.status:
                wrong.append((case.told, case.status, answered.status))
            assert not [name for name in answered.headers if name.startswith("access-control")], case.told
            assert token not in repr(answered)
            if answered.status == 401:
                assert answered.headers["www-authenticate"] == "Bearer"
            if answered.status == 405:
                assert answered.headers["allow"] == "POST"
        assert wrong == []
        assert fakes.asked == []
    assert len(cases) >= 120
    passed("A7", cases=len(cases))


async def test_every_place_and_token_is_judged_for_rest_as_for_mcp(settings, tmp_path, gated):
    """Row A7 below `/api/v1`: who is refused by Host, Origin or token there is refused here, and nobody is granted more."""
    token, cases = every_case(settings, make_settings(tmp_path / "other"), gated)
    refused = [
        case for case in cases if case.status in {401, 403} or case.told.endswith(("no Host", "Hosts", "Host twice"))
    ]
    async with fake_services() as (bus, fakes), http_door(bus, settings) as door:
        for case in refused:
            case.how = {"path": "/api/v1/knowledge/search"}
            answered = await asked(door, token, case)
            assert answered.status == case.status, case.told
            assert set(answered.json()) == {"error"}, case.told
            assert not [name for name in answered.headers if name.startswith("access-control")], case.told
            assert token not in repr(answered)
        assert fakes.asked == []
    passed("A7", interface="rest", cases=len(refused))


async def test_an_open_door_takes_addresses_but_no_names(settings, gated):
    """Bound to 0.0.0.0 any address of the machine may be the Host; a name could be anybody's."""
    token = make_token(settings, gated)
    async with fake_services() as (bus, _), http_door(bus, settings, is_open=True) as door:
        for host, status in {
            f"192.168.0.7:{PORT}": 200, f"[fd00::7]:{PORT}": 200, HOST: 200, f"kx.example:{PORT}": 403, "192.168.0.7": 403,
            f"192.168.0.7.evil.example:{PORT}": 403, f"fd00::7:{PORT}": 403,
        }.items():  # fmt: skip
            assert (await asked(door, token, Case(host, status, host=host))).status == status, host


async def test_a_greedy_caller_is_told_when_to_come_again_and_others_are_served(settings, gated):
    """Row A14: a bucket for each token; what is refused carries Retry-After."""
    greedy, calm = make_token(settings, gated), make_token(settings, gated)
    async with fake_services() as (bus, _), http_door(bus, settings, rate=1, burst=5, tick_s=lambda: 0.0) as door:
        answers = [await asked(door, greedy, Case("greedy", 200)) for _ in range(20)]
        assert [one.status for one in answers] == [200] * 5 + [429] * 15
        assert {one.headers["retry-after"] for one in answers[5:]} == {"1"}
        assert (await asked(door, calm, Case("calm", 200))).status == 200
    passed("A14", refused=15, others="served")


async def test_who_asks_on_every_connection_is_refused_in_time_and_others_are_served(settings, gated, monkeypatch):
    """Row A14: refusals wait, so that a connection asks nothing meanwhile; only so many, and never those of others."""
    monkeypatch.setattr("services.mcp_gateway.adapters.http_door.TELL_S", 60.0)
    monkeypatch.setattr("services.mcp_gateway.adapters.http_door.MAX_HELD", 3)
    greedy, calm = make_token(settings, gated), make_token(settings, gated)
    told: list[int] = []
    is_told = anyio.Event()

    async def insist() -> None:
        told.append((await asked(door, greedy, Case("greedy", 429))).status)
        if len(told) == 5:
            is_told.set()

    async with fake_services() as (bus, _), http_door(bus, settings, rate=1, burst=2, tick_s=lambda: 0.0) as door:
        async with anyio.create_task_group() as tasks:
            for _ in range(8):
                tasks.start_soon(insist)
            with anyio.fail_after(30):
                await is_told.wait()
                assert (await asked(door, calm, Case("calm", 200))).status == 200
            assert sorted(told) == [200] * 2 + [429] * 3
            tasks.cancel_scope.cancel()
        assert not door._held


async def test_a_body_that_does_not_come_is_not_waited_for(settings, gated, monkeypatch):
    """Issue 7: a caller that says nothing more keeps neither its connection nor the memory of what it said."""
    monkeypatch.setattr("services.mcp_gateway.adapters.http_door.BODY_S", 0.01)
    token = make_token(settings, gated)
    async with fake_services() as (bus, _), http_door(bus, settings) as door:
        answered = await ask(door, headers_of(token, modern("tools/list")), [])
    assert (answered.status, answered.headers["connection"]) == (408, "close")


async def test_large_bodies_wait_for_one_another_and_nobody_for_them(settings, gated):
    """Issue 7: twenty uploads of one token would be a gigabyte of the gateway's memory."""
    token = make_token(settings, gated)
    upload = Case("upload", 408, type="application/octet-stream", length=str(30_000_000)).headers(
        headers_of(token, modern("tools/list"))
    )
    async with fake_services() as (bus, _), http_door(bus, settings) as door, anyio.create_task_group() as tasks:
        for _ in range(LARGE_AT_ONCE + 3):
            tasks.start_soon(partial(ask, door, upload, [], path="/api/v1/knowledge/items:import"))
        with anyio.fail_after(30):
            while door._large.statistics().tasks_waiting < 3:
                await anyio.lowlevel.checkpoint()
        assert door._large.borrowed_tokens == LARGE_AT_ONCE
        assert (await asked(door, token, Case("small", 200))).status == 200
        tasks.cancel_scope.cancel()


class Slow:
    """What stands behind a door: notes how many calls of it are worked on, and ends them when told."""

    def __init__(self, door: HttpDoor, fast: str) -> None:
        self.now = self.most = 0
        self.may_end = anyio.Event()
        self._inner, self._fast = door._inner, fast
        door._inner = self

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        """Serve; at once for the token that is not slow."""
        if (b"authorization", f"Bearer {self._fast}".encode()) not in scope["headers"]:
            self.now += 1
            self.most = max(self.most, self.now)
            if self.now == BURST:
                self.may_end.set()
            await self.may_end.wait()
            self.now -= 1
        await self._inner(scope, receive, send)


async def test_calls_of_one_token_are_worked_on_one_after_the_other(settings, gated, monkeypatch):
    """Row A14: others do not wait behind all of it."""
    monkeypatch.setattr("services.mcp_gateway.adapters.turns.TURN_S", 60.0)
    greedy, calm = make_token(settings, gated), make_token(settings, gated)
    async with fake_services() as (bus, _), http_door(bus, settings) as door, anyio.create_task_group() as tasks:
        slow = Slow(door, calm)
        for _ in range(BURST):
            tasks.start_soon(asked, door, greedy, Case("greedy", 200))
        for _ in range(BURST):
            assert (await asked(door, calm, Case("calm", 200))).status == 200
        assert slow.now == slow.most == 1
        slow.may_end.set()
    assert (slow.now, slow.most) == (0, 1)


async def test_nobody_waits_for_long_calls_of_the_same_token(settings, gated, monkeypatch):
    """Row A14: two walks that go on do not keep an agent from searching."""
    monkeypatch.setattr("services.mcp_gateway.adapters.turns.TURN_S", 0.01)
    token = make_token(settings, gated)
    async with fake_services() as (bus, _), http_door(bus, settings) as door, anyio.create_task_group() as tasks:
        slow = Slow(door, "nobody")
        for _ in range(BURST):  # they end once all of them are worked on
            tasks.start_soon(asked, door, token, Case("long", 200))
    assert slow.most == BURST


async def test_a_damaged_token_file_lets_nobody_in(settings, gated):
    """Fail closed, and say so without a word about tokens."""
    token = make_token(settings, gated)
    (settings.home / "tokens.sqlite").write_bytes(b"x" * 4096)
    async with fake_services() as (bus, fakes), http_door(bus, settings) as door:
        assert (await asked(door, token, Case("damaged", 503))).status == 503
        assert fakes.asked == []
