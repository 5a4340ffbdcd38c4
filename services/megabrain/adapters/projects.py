"""What megabrain needs to know of a project: where its vault is, its squads, and what is denied."""

from __future__ import annotations

import threading

from msgspec import Struct

from services.megabrain.adapters.vault import VAULT, Vault
from shared.config_watch import ConfigWatch
from shared.deny import DenyList
from shared.errors import ErrorCode, KxError
from shared.identity import InstanceId
from shared.project_config import LoadedConfig
from shared.registry import Project, Registry
from shared.settings import Settings


class VaultProject(Struct, frozen=True, kw_only=True):
    """One project as its registry entry and its configuration have it now."""

    instance: InstanceId
    name: str
    vault: Vault
    squads: tuple[str, ...]
    deny: DenyList


class Projects:
    """Resolves instances; blocks for some stats, and to read what changed. Safe across threads."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._registry = Registry(settings)
        self._lock = threading.Lock()
        self._watches: dict[str, ConfigWatch] = {}
        self._made: dict[InstanceId, tuple[Project, LoadedConfig, VaultProject]] = {}

    def get(self, instance: InstanceId) -> VaultProject:
        """Give the project of an instance.

        Raises:
            KxError: PROJECT_UNKNOWN, ROOT_MISSING, CONFIG_*: without its configuration nobody knows what is denied.
        """
        project = self._registry.get(instance)
        with self._lock:
            watch = self._watches.setdefault(project.root, ConfigWatch(project.root_path, self._settings))
        loaded = watch.current()
        made = self._made.get(instance)
        if made is not None and made[1] is loaded and made[0] == project:
            return made[2]
        found = VaultProject(
            instance=instance,
            name=loaded.config.project,
            vault=Vault(project.root_path),
            squads=loaded.config.squads,
            deny=DenyList(loaded.config.indexing.deny, loaded.allow_denied),
        )
        self._made[instance] = (project, loaded, found)
        return found

    def for_writing(self, instance: InstanceId) -> VaultProject:
        """Give the project of an instance that may get a vault: a configured one, or one that has a vault already.

        Raises:
            KxError: those of `get`; PROJECT_UNKNOWN when it is a mere folder: nothing is left in those.
        """
        found = self.get(instance)
        project, loaded, _ = self._made[instance]
        if loaded.path is None and not (project.root_path / VAULT).is_dir():
            raise KxError(
                ErrorCode.PROJECT_UNKNOWN,
                "{root} has no .kx.json and no .vault, so nothing is written there",
                hint="make it a project first: kx setup {root}",
                root=project.root,
            )
        return found
