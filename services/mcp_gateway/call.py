"""A call of a tool that has passed the gate."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Generic, TypeVar

from msgspec import Struct

from services.mcp_gateway.adapters.projects import SessionProject
from services.mcp_gateway.core.inputs import ToolInput
from services.mcp_gateway.core.permits import LOCAL, Permit
from shared.identity import InstanceId
from shared.project_config import LoadedConfig

I = TypeVar("I", bound=ToolInput)  # noqa: E741 - the letter of its kind


Report = Callable[[float, str], Awaitable[None]]  # how far a call is, ever growing, and what it is at


async def unreported(progress: float, doing: str) -> None:
    """Tell nobody how far a call is."""


class Call(Struct, Generic[I], frozen=True, kw_only=True):
    """One call that has passed the gate."""

    session: SessionProject
    loaded: LoadedConfig
    instance: InstanceId
    asked: I
    permit: Permit = LOCAL
    report: Report = unreported
