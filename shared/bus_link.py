"""One live connection to nats-server; when it ends it is over, and `bus_nats` makes the next one.

nats-py's own reconnecting is off: a restarted bus has another port and other passwords, requests in flight should fail
at once, and nothing may wait unseen in its buffer. Its callbacks only fill a waiting place or a bounded stream.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence

import anyio
import structlog
from nats import errors as nats_errors
from nats.aio.client import Client
from nats.aio.msg import Msg
from nats.aio.subscription import Subscription
from structlog.typing import FilteringBoundLogger

from shared.bus_address import BusAddress
from shared.bus_config import HOST
from shared.errors import ErrorCode, KxError
from shared.permissions import inbox_prefix

CONNECT_TIMEOUT_S = 2.0
ROUND_TRIP_TIMEOUT_S = 2
PING_INTERVAL_S = 20  # a bus that stands still is left after two unanswered ones
# Of one subscription, in the client; each may hold a message of 256 KiB, the byte bound ends it earlier.
PENDING_MESSAGES = 4_096
PENDING_BYTES = 32 * 1024 * 1024

# What nats-py raises once a connection has ended, in whichever step it was.
BROKEN = (nats_errors.Error, OSError, TimeoutError)

_log: FilteringBoundLogger = structlog.get_logger()


class Link:
    """A connection, the replies it waits for, and the event of its end."""

    def __init__(self, user: str) -> None:
        self.lost = anyio.Event()
        self._client = Client()
        self._user = user
        self._inbox = ""
        self._waiting: dict[str, _Waiting] = {}
        self._requests = 0

    async def open(self, address: BusAddress, name: str) -> None:
        """Connect once.

        Raises:
            KxError: `KX_BUS_UNAVAILABLE`, also for wrong credentials.
        """
        try:
            with anyio.fail_after(CONNECT_TIMEOUT_S):
                await self._connect(address, name)
                self._inbox = self._client.new_inbox()
                await self._client.subscribe(f"{self._inbox}.*", cb=self._take_reply)
        except BROKEN as error:
            await self.close()
            raise KxError(
                ErrorCode.BUS_UNAVAILABLE,
                "the bus on port {port} cannot be reached as {user}: {reason}",
                hint="start it with: kx serve bus",
                retryable=True,
                port=address.port,
                user=address.user,
                reason=str(self._client.last_error or error) or type(error).__name__,
            ) from error
        except BaseException:
            await self.close()
            raise

    async def close(self) -> None:
        """End the connection; what was published before is sent."""
        with anyio.CancelScope(shield=True), anyio.move_on_after(ROUND_TRIP_TIMEOUT_S):
            try:
                await self._client.close()
            except BROKEN:
                _log.debug("bus.close_failed")
        self._end()

    async def ask(self, subject: str, data: bytes) -> Msg | None:
        """Send a request and wait for whatever comes back; None when the connection ended before.

        The caller sets the time limit.
        """
        self._requests += 1
        token = str(self._requests)
        waiting = _Waiting()
        self._waiting[token] = waiting
        try:
            await self._client.publish(subject, data, reply=f"{self._inbox}.{token}")
            if not self.lost.is_set():
                await waiting.arrived.wait()
        except BROKEN:
            return None
        finally:
            del self._waiting[token]
        return waiting.reply

    async def send(self, subject: str, data: bytes, headers: dict[str, str] | None = None) -> bool:
        """Publish; False when the connection has ended."""
        try:
            await self._client.publish(subject, data, headers=headers)
        except BROKEN:
            return False
        return True

    async def subscribe(self, subject: str, take: Callable[[Msg], Awaitable[None]], *, queue: str = "") -> Subscription:
        """Hand every message on `subject` to `take`, one after the other."""

        async def callback(message: Msg) -> None:
            await take(message)

        return await self._client.subscribe(
            subject, queue=queue, cb=callback, pending_msgs_limit=PENDING_MESSAGES, pending_bytes_limit=PENDING_BYTES
        )

    async def round_trip(self) -> None:
        """Return once the server has seen everything sent before; a server that does not answer is left.

        Two defects of nats-py 2.16 are met here. It writes a PING past what it still buffers, so that one pong proves
        nothing: the first exchange empties the buffer, the second one stands behind it. And a pong for which nobody
        waits any more ends its reader unseen: so the wait is not cancelled, and one that failed ends the connection.
        """
        with anyio.CancelScope(shield=True):
            try:
                await self._client.flush(ROUND_TRIP_TIMEOUT_S)
                await self._client.flush(ROUND_TRIP_TIMEOUT_S)
            except BROKEN:
                await self.close()
                raise

    async def unsubscribe(self, subscriptions: Sequence[Subscription]) -> None:
        """Have nothing more delivered, and return once everything delivered before was taken.

        nats-py's own drain sends its PING before its UNSUB (see `round_trip`), and drops what comes after the pong.
        """
        for subscription in subscriptions:
            await self._client._send_unsubscribe(subscription._id)  # noqa: SLF001
        await self.round_trip()
        for subscription in subscriptions:
            await subscription._pending_queue.join()  # noqa: SLF001
            await subscription.unsubscribe()

    async def _connect(self, address: BusAddress, name: str) -> None:
        await self._client.connect(
            f"nats://{HOST}:{address.port}",
            user=address.user,
            password=address.password,
            name=name,
            inbox_prefix=inbox_prefix(self._user),
            allow_reconnect=False,
            # Two tries, the second at once: nats-py reads 0 as "for ever".
            max_reconnect_attempts=1,
            reconnect_time_wait=0,
            connect_timeout=int(CONNECT_TIMEOUT_S),
            ping_interval=PING_INTERVAL_S,
            error_cb=self._report,
            closed_cb=self._closed,
        )

    async def _take_reply(self, message: Msg) -> None:
        waiting = self._waiting.get(message.subject.rpartition(".")[2])
        if waiting is not None and waiting.reply is None:
            waiting.reply = message
            waiting.arrived.set()

    async def _report(self, error: Exception) -> None:
        if isinstance(error, nats_errors.SlowConsumerError):
            _log.warning("message.dropped", subject=error.subject)
        elif "permissions violation" in str(error).lower():
            _log.error("bus.refused", reason=str(error))
        else:
            _log.debug("bus.reported", reason=str(error) or type(error).__name__)

    async def _closed(self) -> None:
        self._end()

    def _end(self) -> None:
        self.lost.set()
        for waiting in self._waiting.values():
            waiting.arrived.set()


class _Waiting:
    """A caller's place for the reply."""

    def __init__(self) -> None:
        self.arrived = anyio.Event()
        self.reply: Msg | None = None
