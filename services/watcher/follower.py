"""Follow one tree: events, walks after every doubt, and the life of its root.

Events are hints. Each path is looked at when it is due and handed to the announcer; folders are walked. The whole tree
is compared with the index when the watch begins, after any doubt, and now and then. While the root is not there nothing
is announced, so a lost disk empties no index.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import anyio
import structlog
from anyio import CapacityLimiter, to_thread
from msgspec import Struct
from structlog.typing import FilteringBoundLogger

from services.watcher.adapters.roots import RootIdentity
from services.watcher.adapters.tree import WatchedTree
from services.watcher.adapters.watch import Watch, WatchFailedError
from services.watcher.announcer import Announcer
from services.watcher.comparison import Comparison
from services.watcher.core.changes import BURST_PATHS, Changes, Due
from shared.bus import Bus
from shared.errors import ErrorCode, KxError
from shared.messages import FinishRebuild, Urgency
from shared.subjects import FINISH_REBUILD

FIRST_PAUSE_S, MAX_PAUSE_S = 0.05, 5.0  # doubling, between tries of what failed
HEALTHY_S = 10.0  # a watch that held this long begins its pauses anew
LASTING_PAUSE_S = 30.0  # opening a tree only to meet the same limit again costs a walk
LATE_S = 5.0  # a poll this late means that the process was stopped: events may have been dropped meanwhile
WALK_SHARE = 20  # polling may cost a twentieth of a core

FollowState = Literal["starting", "following", "polling", "root_missing", "crashed"]

_log: FilteringBoundLogger = structlog.get_logger()


class Pace(Struct, frozen=True, kw_only=True):
    """How often the watcher looks by itself."""

    root_s: float = 1.0  # at the root's identity
    registry_s: float = 1.0  # at the registry
    reconcile_s: float = 300.0  # at the whole tree: events can be lost without a sign
    poll_s: float = 2.0  # at the whole tree while events do not come


class Follower:
    """Follows one tree while `run`."""

    def __init__(self, bus: Bus, tree: WatchedTree, comparison: Comparison, *, watch: Watch, pace: Pace) -> None:
        self.state: FollowState = "starting"
        self._bus = bus
        self._tree = tree
        self._instance = tree.project.instance
        self._comparison = comparison
        self._watch = watch
        self._pace = pace
        self._announcer = Announcer(bus, self._instance)
        self._looks = CapacityLimiter(1)
        self._changes = Changes()
        self._noticed = anyio.Event()
        self._looking = 0
        self._whole, self._parts = _Wishes(), _Wishes()
        self._watch_trouble = ""

    @property
    def held(self) -> int:
        """Paths noticed, and not yet taken by the indexer."""
        return len(self._changes) + self._looking + len(self._parts) + self._announcer.held

    @property
    def trouble(self) -> str:
        """Why this tree is not followed as it should be; "" when it is, or when there is no tree."""
        if self.state == "root_missing":
            return ""
        if self.state == "crashed":
            return "following it failed unexpectedly; it is tried again"
        return self._watch_trouble or self._whole.trouble or self._parts.trouble or self._announcer.trouble

    def reconcile(self, *, is_indexer_new: bool = False) -> None:
        """Compare the whole tree soon."""
        self._whole.add("")
        if is_indexer_new:
            self._announcer.retry_now()

    async def run(self) -> None:
        """Follow until cancelled."""
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(self._announcer.run)
            while True:
                identity = await self._wait_for_root()
                async with anyio.create_task_group() as life:
                    life.start_soon(self._keep_watching)
                    life.start_soon(self._handle_changes)
                    life.start_soon(self._reconcile_all, self._whole)
                    life.start_soon(self._reconcile_all, self._parts)
                    life.start_soon(self._reconcile_now_and_then)
                    await self._wait_for_other_root(identity)
                    life.cancel_scope.cancel()
                self._forget()

    # --- the root ---------------------------------------------------------------------------------------------------

    async def _wait_for_root(self) -> RootIdentity:
        while True:
            identity = await to_thread.run_sync(self._tree.identity)
            if identity is not None:
                return identity
            if self.state != "root_missing":
                self.state = "root_missing"
                _log.warning("root.lost", instance=self._instance)
            await anyio.sleep(self._pace.root_s)

    async def _wait_for_other_root(self, identity: RootIdentity) -> None:
        seen = anyio.current_time()
        while await to_thread.run_sync(self._tree.identity) == identity:
            await anyio.sleep(self._pace.root_s)
            now = anyio.current_time()
            if now - seen > self._pace.root_s + LATE_S:
                self.reconcile()
            seen = now

    def _forget(self) -> None:
        """Drop what was noticed about a root that is gone; the walk of the next one finds everything."""
        self.state = "starting"
        self._changes = Changes()
        self._looking = 0
        self._announcer.clear()
        self._whole, self._parts = _Wishes(), _Wishes()

    # --- events -----------------------------------------------------------------------------------------------------

    async def _keep_watching(self) -> None:
        pause_s = FIRST_PAUSE_S
        while True:
            started = anyio.current_time()
            failure = await self._watch_until_it_ends()
            if failure is None:
                await anyio.sleep(FIRST_PAUSE_S)  # folders rarely come alone
                continue
            self.state, self._watch_trouble = "polling", failure.reason
            _log.warning("watch.failed", instance=self._instance, reason=failure.reason)
            if anyio.current_time() - started > HEALTHY_S:
                pause_s = FIRST_PAUSE_S
            await self._poll_for(LASTING_PAUSE_S if failure.is_lasting else pause_s)
            pause_s = min(pause_s * 2, MAX_PAUSE_S)

    async def _watch_until_it_ends(self) -> WatchFailedError | None:
        try:
            await self._watch(self._tree.root, self._tree.is_of_interest, self._on_ready, self._on_paths)
        except WatchFailedError as failure:
            return failure
        return None

    def _on_ready(self) -> None:
        self.state, self._watch_trouble = "following", ""
        self.reconcile()

    def _on_paths(self, paths: list[str]) -> None:
        if "" in paths:  # the root itself changed (its rights, its name), or some changes may be missing
            self.reconcile()
        self._changes.add([path for path in paths if path], anyio.current_time())
        self._noticed.set()

    async def _poll_for(self, pause_s: float) -> None:
        """Walk now and then instead of hearing of changes."""
        until = anyio.current_time() + pause_s
        while (left := until - anyio.current_time()) > 0:
            self.reconcile()
            await anyio.sleep(min(left, max(self._pace.poll_s, WALK_SHARE * self._whole.took_s)))

    async def _handle_changes(self) -> None:
        while True:
            due = await self._next_due()
            if due.is_doubtful:
                self.reconcile()
            self._parts.add(*due.folders)
            if due.paths:
                await self._look(due.paths, _urgency(due.paths))
            if due.burst:
                await self._look(due.burst, "bulk")

    async def _next_due(self) -> Due:
        while True:
            self._noticed = anyio.Event()
            at = self._changes.next_due()
            if at is not None and at <= anyio.current_time():
                return self._changes.take(anyio.current_time())
            with anyio.move_on_after(None if at is None else at - anyio.current_time()):
                await self._noticed.wait()

    async def _look(self, paths: Sequence[str], urgency: Urgency) -> None:
        self._looking = len(paths)
        try:
            seen = await to_thread.run_sync(self._tree.look, paths, limiter=self._looks)
        except KxError as error:  # no root, or a configuration nobody can read: the walk tries until it can
            _log.debug("look.failed", instance=self._instance, error_code=error.code.value)
            self.reconcile()
            return
        finally:
            self._looking = 0
        self._announcer.put(seen.touched, urgency, "event")
        self._parts.add(*seen.folders, *seen.scopes)
        self._changes.walk_again(seen.folders, anyio.current_time())

    # --- walks ------------------------------------------------------------------------------------------------------

    async def _reconcile_now_and_then(self) -> None:
        while True:
            await anyio.sleep(max(self._pace.reconcile_s, WALK_SHARE * self._whole.took_s))
            self.reconcile()

    async def _reconcile_all(self, wishes: _Wishes) -> None:
        pause_s = FIRST_PAUSE_S
        while True:
            subtrees = await wishes.take()
            try:
                wishes.took_s = await self._reconcile(subtrees)
            except KxError as error:
                is_told_elsewhere = error.retryable or error.code is ErrorCode.ROOT_MISSING
                wishes.trouble = "" if is_told_elsewhere else str(error)
                wishes.add(*subtrees)
                await anyio.sleep(pause_s)
                pause_s = min(pause_s * 2, MAX_PAUSE_S)
            else:
                wishes.trouble, pause_s = "", FIRST_PAUSE_S

    async def _reconcile(self, subtrees: tuple[str, ...]) -> float:
        compared = await self._comparison.compare(self._tree, subtrees)
        self._announcer.put(compared.paths, _urgency(compared.paths), "walk")
        if "" in subtrees:
            await self._announcer.accepted()
            await self._bus.request(FINISH_REBUILD, FinishRebuild(instance=self._instance, epoch=compared.epoch))
        return compared.took_s


def _urgency(paths: Sequence[str]) -> Urgency:
    return "bulk" if len(paths) > BURST_PATHS else "live"


class _Wishes:
    """Subtrees to be walked, each once however often it was wished."""

    def __init__(self) -> None:
        self._subtrees: dict[str, None] = {}
        self._added = anyio.Event()
        self._in_hand = 0
        self.trouble = ""
        self.took_s = 0.0

    def __len__(self) -> int:
        return len(self._subtrees) + self._in_hand

    def add(self, *subtrees: str) -> None:
        self._subtrees.update(dict.fromkeys(subtrees))
        if subtrees:
            self._added.set()

    async def take(self) -> tuple[str, ...]:
        self._in_hand = 0
        while not self._subtrees:
            self._added = anyio.Event()
            await self._added.wait()
        subtrees = ("",) if "" in self._subtrees else tuple(self._subtrees)
        self._subtrees.clear()
        self._in_hand = len(subtrees)
        return subtrees
