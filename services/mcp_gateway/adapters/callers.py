"""Who calls: what each caller may do, and which project a call of its is about.

An agent on the local socket has one project and every scope. The holder of a token has the projects of the token, and
names the one it means in every call: nothing about a project is remembered between two of them.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import AbstractAsyncContextManager, nullcontext
from pathlib import Path
from typing import Protocol

from services.mcp_gateway.adapters.projects import SessionProject, canonical
from services.mcp_gateway.adapters.turns import Turns
from services.mcp_gateway.core.guard import Assertion, unknown_project, unnamed_project
from services.mcp_gateway.core.permits import LOCAL, Permit, permit_of
from shared.access import AccessToken
from shared.errors import KxError
from shared.identity import InstanceId
from shared.registry import Registry
from shared.settings import Settings

CALLER = "kx.caller"  # the key of an HTTP request's caller in its scope


class Caller(Protocol):
    """One who calls; the methods block for small reads. Safe across threads."""

    @property
    def permit(self) -> Permit:
        """What it may do."""

    def is_gated(self) -> bool:
        """Tell whether a call has to name its project."""

    def project(self, stated: Assertion) -> SessionProject:
        """Choose the project of a call; whether it is let in is checked after this."""

    def turn(self) -> AbstractAsyncContextManager[None]:
        """Enter when a call of it may be worked on."""


class LocalCaller:
    """An agent on the local socket, started for one project."""

    permit = LOCAL

    def __init__(self, project: SessionProject) -> None:
        self._project = project
        self._turns = Turns()

    def is_gated(self) -> bool:
        """Tell whether the project wants to be named."""
        return self._project.is_gated()

    def project(self, stated: Assertion) -> SessionProject:  # noqa: ARG002 - there is no choice
        """Give the project it was started for."""
        return self._project

    def turn(self) -> AbstractAsyncContextManager[None]:
        """Enter when the session's call before this one has ended, or has had its turn."""
        return self._turns.of("")


class TokenProjects:
    """The projects that tokens are good for, each with its configuration as last read."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._registry = Registry(settings)
        self._known: dict[InstanceId, SessionProject] = {}

    def of(self, token: AccessToken) -> Mapping[str, SessionProject]:
        """Give a token's projects by canonical root; one that was forgotten since is left out."""
        found = {}
        for instance in token.instances:
            try:
                root = self._registry.get(instance).root
            except KxError:
                continue
            known = self._known.get(instance)
            if known is None or known.shown_root != root:
                known = self._known[instance] = SessionProject(Path(root), self._settings)
            found[root] = known
        return found


class TokenCaller:
    """The holder of a token, for one request."""

    def __init__(self, token: AccessToken, projects: TokenProjects) -> None:
        self.permit = permit_of(token)
        self._token = token
        self._projects = projects

    def is_gated(self) -> bool:
        """Tell whether a call has to name its project: where there are several, or the only one wants it."""
        found = list(self._projects.of(self._token).values())
        return len(found) != 1 or found[0].is_gated()

    def project(self, stated: Assertion) -> SessionProject:
        """Choose by the stated root among the token's projects; without one, the only one.

        Raises:
            KxError: PROJECT_ASSERTION_REQUIRED, PROJECT_MISMATCH.
        """
        found = self._projects.of(self._token)
        if stated.root is None:
            if len(found) != 1:
                raise unnamed_project()
            return next(iter(found.values()))
        project = found.get(canonical(stated.root) or "")
        if project is None:
            raise unknown_project()
        return project

    def turn(self) -> AbstractAsyncContextManager[None]:
        """Enter at once: the door has seen to it."""
        return nullcontext()
