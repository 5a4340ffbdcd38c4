"""A task group whose single failure is raised as itself, so that a caller can catch a `KxError` by its type."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import anyio
from anyio.abc import TaskGroup


@asynccontextmanager
async def task_group() -> AsyncIterator[TaskGroup]:
    """Open an anyio task group; several failures at once still are an exception group."""
    try:
        async with anyio.create_task_group() as tasks:
            yield tasks
    except BaseExceptionGroup as group:
        if len(group.exceptions) == 1:
            (alone,) = group.exceptions
            raise alone from alone.__cause__
        raise
