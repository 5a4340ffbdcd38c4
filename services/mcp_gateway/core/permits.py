"""Who may use which tool (pure): a tool needs a scope, and some kinds of client are not shown every tool."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from msgspec import Struct

from services.mcp_gateway.core.tool import Tool
from shared.access import ADMIN, LOCAL_PRINCIPAL, SCOPES, AccessToken, Profile, Scope
from shared.errors import ErrorCode, KxError

# A client that others than its user see into is not shown what a team has written down.
HIDDEN: Mapping[Profile, frozenset[str]] = {
    "ordinary-full": frozenset(),
    "cursor-plugin": frozenset(),
    "chatgpt-public": frozenset({"search_knowledge"}),
    "generic-public": frozenset({"search_knowledge"}),
}


class Permit(Struct, frozen=True, kw_only=True):
    """What a caller may do, and in whose name."""

    principal: str
    scopes: frozenset[Scope]
    profile: Profile

    def allows(self, tool: Tool) -> bool:
        """Tell whether the tool is listed for this caller and may be called by it."""
        return tool.name not in HIDDEN[self.profile] and (tool.scope in self.scopes or ADMIN in self.scopes)

    def check(self, tool: Tool) -> None:
        """Refuse a tool this caller may not use; nothing of a project was touched before.

        Raises:
            KxError: TOOL_FORBIDDEN.
        """
        if self.allows(tool):
            return
        if tool.name in HIDDEN[self.profile]:
            raise KxError(
                ErrorCode.TOOL_FORBIDDEN,
                "the tool {tool} is not for clients of the profile {profile}",
                hint="go on without it, or ask for a token of another profile: kx token create --profile …",
                tool=tool.name,
                profile=self.profile,
            )
        raise KxError(
            ErrorCode.TOOL_FORBIDDEN,
            "this token does not allow the tool {tool}",
            hint="go on without it, or ask for a token with its scope: kx token create --scope {scope}",
            tool=tool.name,
            scope=tool.scope,
        )


LOCAL = Permit(principal=LOCAL_PRINCIPAL, scopes=frozenset(SCOPES), profile="ordinary-full")


def permit_of(token: AccessToken) -> Permit:
    """Give what the holder of a token may do."""
    return Permit(principal=token.principal, scopes=frozenset(token.scopes), profile=token.profile)


def listed(tools: Sequence[Tool], permit: Permit) -> list[Tool]:
    """Give the tools that a caller is shown, in their order."""
    return [tool for tool in tools if permit.allows(tool)]
