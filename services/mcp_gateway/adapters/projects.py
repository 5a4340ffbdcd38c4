"""Which project an agent's session is about, and the gate before it.

The project is chosen once, when the session begins, and never replaced by another. Its configuration is read again
before each call, so that a project id written later holds at once.
"""

from __future__ import annotations

import os
from pathlib import Path

from services.mcp_gateway.core.guard import Assertion, Identity, check, is_comparable
from shared.config_watch import ConfigWatch
from shared.discovery import find_project
from shared.errors import ErrorCode, KxError
from shared.local_link import Hello
from shared.project_config import LoadedConfig
from shared.registry import Project, Registry, canonical_root
from shared.settings import Settings


class SessionProject:
    """The project of one session; every method blocks for some stats and small reads. Safe across threads."""

    def __init__(self, root: Path, settings: Settings, *, session_id: str = "") -> None:
        self.root = root  # canonical
        self.session_id = session_id  # the agent's own name for its session, where its client told it
        self._watch = ConfigWatch(root, settings)
        self._registry = Registry(settings)

    @property
    def shown_root(self) -> str:
        """The root as text, for finding it in messages; it is not told to agents."""
        return os.fsdecode(self.root)

    def configuration(self) -> LoadedConfig:
        """Read the configuration as it is now.

        Raises:
            KxError: CONFIG_*, ROOT_MISSING.
        """
        return self._watch.current()

    def is_gated(self) -> bool:
        """Tell whether the project wants to be named; one whose configuration is wrong does."""
        try:
            return self.configuration().config.mcp.project_id is not None
        except KxError:
            return True

    def admit(self, stated: Assertion) -> LoadedConfig:
        """Let a call through the gate; nothing of the project but its configuration was touched before.

        Raises:
            KxError: PROJECT_ASSERTION_REQUIRED, PROJECT_MISMATCH, CONFIG_*, ROOT_MISSING.
        """
        loaded = self.configuration()
        identity = Identity(project_id=loaded.config.mcp.project_id, root=self.shown_root)
        check(identity, stated, canonical(stated.root))
        return loaded

    def enrolled(self, loaded: LoadedConfig) -> tuple[Project, bool]:
        """Give the registry's entry, made on first use; the flag says that it is new. Only after `admit`."""
        known = self._registry.find(self.root, loaded)
        return self._registry.enrol(self.root, loaded), known is None


def project_of(hello: Hello, settings: Settings) -> SessionProject:
    """Choose the project of a session: the named root, else the project around the working directory.

    Raises:
        KxError: CONFIG_INVALID when the named root has no configuration of its own, USAGE when a root has to be named
            and is not, and what is wrong with the path or the configuration.
    """
    if hello.project_root is not None:
        root = canonical_root(Path(hello.project_root))
        found = find_project(root, Registry(settings), settings, explicit=True)
        if found.root != root or found.config_path is None:
            raise _no_config(root)
    elif hello.strict_project_root:
        raise KxError(
            ErrorCode.USAGE,
            "--strict-project-root needs the root to be named",
            hint="add --project-root FOLDER, or set KX_PROJECT_ROOT",
        )
    else:
        root = find_project(Path(hello.cwd), Registry(settings), settings, explicit=False).root
    project = SessionProject(root, settings, session_id=hello.session_id or "")
    project.configuration()  # a wrong one is told at the start, not at the first call
    return project


def canonical(stated: object) -> str | None:
    """Bring a stated root into canonical form; None where there is no such form or nothing is there."""
    if not is_comparable(stated):
        return None
    try:
        return os.path.realpath(str(stated), strict=True)
    except (OSError, ValueError):
        return None


def _no_config(root: Path) -> KxError:
    return KxError(
        ErrorCode.CONFIG_INVALID,
        "{root} has no .kx.json, so it is not a project an agent can be given",
        hint="make it one with: kx setup {root}",
        root=root,
    )
