"""A call of a tool that has passed the gate."""

from __future__ import annotations

from typing import Generic, TypeVar

from msgspec import Struct

from services.mcp_gateway.adapters.projects import SessionProject
from services.mcp_gateway.core.inputs import ToolInput
from shared.identity import InstanceId
from shared.project_config import LoadedConfig

I = TypeVar("I", bound=ToolInput)  # noqa: E741 - the letter of its kind


class Call(Struct, Generic[I], frozen=True, kw_only=True):
    """One call that has passed the gate."""

    session: SessionProject
    loaded: LoadedConfig
    instance: InstanceId
    asked: I
