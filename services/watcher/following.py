"""Follow every registered project: one supervised task each, as long as it is in the registry."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

import anyio
import structlog
from anyio import CancelScope, to_thread
from anyio.abc import TaskGroup
from msgspec import Struct
from structlog.typing import FilteringBoundLogger

from services.watcher.adapters.registry_watch import RegistryWatch
from services.watcher.follower import Follower, Pace
from shared import logs
from shared.identity import InstanceId
from shared.registry import Project

FIRST_RESTART_S, MAX_RESTART_S = 0.5, 30.0  # doubling

_log: FilteringBoundLogger = structlog.get_logger()


class _Followed(Struct, frozen=True):
    project: Project
    scope: CancelScope


class Following:
    """The followed trees; `run` it in a task group."""

    def __init__(self, registry: RegistryWatch, make: Callable[[Project], Awaitable[Follower]], pace: Pace) -> None:
        self._registry = registry
        self._make = make
        self._pace = pace
        self._followed: dict[InstanceId, _Followed] = {}
        self._followers: dict[InstanceId, Follower] = {}
        self._asked = anyio.Event()

    def follower(self, instance: InstanceId) -> Follower | None:
        """Give who follows a tree; asking for one that is not followed looks at the registry at once."""
        found = self._followers.get(instance)
        if found is None:
            self._asked.set()
        return found

    @property
    def trouble(self) -> str:
        """What keeps trees from being followed as they should be."""
        troubles = [(name, follower.trouble) for name, follower in self._names() if follower.trouble]
        return "; ".join(f"{name}: {trouble}" for name, trouble in troubles)

    def reconcile_all(self, *, is_indexer_new: bool = False) -> None:
        """Compare every tree soon."""
        for follower in self._followers.values():
            follower.reconcile(is_indexer_new=is_indexer_new)

    async def run(self) -> None:
        """Follow what the registry says until cancelled."""
        async with anyio.create_task_group() as tasks:
            while True:
                self._asked = anyio.Event()
                projects = await to_thread.run_sync(self._registry.changed)
                if projects is not None:
                    self._agree_with(projects, tasks)
                with anyio.move_on_after(self._pace.registry_s):
                    await self._asked.wait()

    def _agree_with(self, projects: tuple[Project, ...], tasks: TaskGroup) -> None:
        wanted = {project.instance: project for project in projects}
        for instance, followed in list(self._followed.items()):
            if wanted.get(instance) != followed.project:
                followed.scope.cancel()
                del self._followed[instance]
                self._followers.pop(instance, None)
        for instance, project in wanted.items():
            if instance not in self._followed:
                followed = _Followed(project, CancelScope())
                self._followed[instance] = followed
                tasks.start_soon(self._keep_following, followed)

    async def _keep_following(self, followed: _Followed) -> None:
        pause_s = FIRST_RESTART_S
        with followed.scope:
            while True:
                await self._follow(followed.project)
                await anyio.sleep(pause_s)
                pause_s = min(pause_s * 2, MAX_RESTART_S)

    async def _follow(self, project: Project) -> None:
        follower = await self._make(project)
        self._followers[project.instance] = follower
        try:
            await follower.run()
        except Exception as error:  # noqa: BLE001 - a door: one tree's failure does not end the others'
            follower.state = "crashed"
            _log.error("follower.crashed", instance=project.instance, **logs.error_fields(error))
        finally:
            if follower.state != "crashed" and self._followers.get(project.instance) is follower:
                del self._followers[project.instance]

    def _names(self) -> list[tuple[str, Follower]]:
        return [
            (followed.project.project, self._followers[i])
            for i, followed in self._followed.items()
            if i in self._followers
        ]
