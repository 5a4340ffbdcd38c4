"""What a search needs to know of the project it asks: where its index is, and what its configuration says now."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from functools import lru_cache
from pathlib import Path
from typing import Literal

from msgspec import Struct

from services.query.core.synonyms import NO_SYNONYMS, SynonymTable, synonym_table
from shared.config_watch import ConfigWatch
from shared.deny import DenyList
from shared.excerpts import Snippets
from shared.identity import InstanceId
from shared.project_config import LoadedConfig, ProjectConfig
from shared.registry import Project, Registry, unknown_project
from shared.relpath import encode_path
from shared.settings import Settings
from shared.sources import Sources
from shared.treerules import RulesConfig

Trees = Literal["projects", "spaces", "all"]

VERDICTS_KEPT = 65_536
"""A denylist verdict costs some 20 microseconds, and the same paths are asked about again and again."""


class SearchProject(Struct, frozen=True, kw_only=True):
    """One tree as its registry entry and its configuration have it at this moment."""

    instance: InstanceId
    name: str
    root: Path
    is_root_there: bool  # without it there is no configuration, and nothing may be shown
    index: Path
    is_denied: Callable[[str], bool]  # path, judged by today's denylist
    weight_of: Callable[[str], float]  # path to the weight of its source
    recency: float  # bound of the boost; 0 is off
    ignore_keywords: tuple[str, ...]
    synonyms: SynonymTable = NO_SYNONYMS
    snippets: Snippets = Snippets()
    rules: RulesConfig = RulesConfig()
    config_file: str = ""  # the name of its configuration file, "" where it has none

    @property
    def shown_root(self) -> str:
        """The root as text that can be shown and sent."""
        return encode_path(os.fsencode(self.root))


class Projects:
    """Resolves instances; blocks for some stats, and to read what changed. Safe across threads.

    Which trees it knows is chosen once: nobody but `knowledge` is answered about a tree that `knowledge` writes.
    """

    def __init__(self, settings: Settings, *, trees: Trees = "projects") -> None:
        self._settings = settings
        self._trees = trees
        self._registry = Registry(settings)
        self._lock = threading.Lock()
        self._watches: dict[str, ConfigWatch] = {}
        self._made: dict[InstanceId, tuple[Project, LoadedConfig, SearchProject]] = {}

    def get(self, instance: InstanceId) -> SearchProject:
        """Give the project of an instance.

        Raises:
            KxError: PROJECT_UNKNOWN, and CONFIG_* while its configuration is wrong: without it nobody knows what is
                denied.
        """
        project = self._registry.tree(instance)
        if self._trees != "all" and self._registry.is_space(project) != (self._trees == "spaces"):
            raise unknown_project(instance)
        if not project.root_path.is_dir():
            return _search_project(project, None)
        with self._lock:
            watch = self._watches.setdefault(project.root, ConfigWatch(project.root_path, self._settings))
        loaded = watch.current()
        made = self._made.get(instance)
        if made is not None and made[1] is loaded and made[0] == project:
            return made[2]
        found = _search_project(project, loaded)
        self._made[instance] = (project, loaded, found)
        return found


def _search_project(project: Project, loaded: LoadedConfig | None) -> SearchProject:
    config = ProjectConfig() if loaded is None else loaded.config
    rules = config.rules()
    deny, sources = DenyList(rules.deny, rules.allow_denied), Sources(rules.sources)

    @lru_cache(maxsize=VERDICTS_KEPT)
    def is_denied(path: str) -> bool:
        return deny.denies(path) is not None

    def weight_of(path: str) -> float:
        best = sources.best(path)
        return 1.0 if best is None else best.weight

    return SearchProject(
        instance=project.instance,
        name=project.project,
        root=project.root_path,
        is_root_there=loaded is not None,
        index=project.index_path,
        is_denied=is_denied,
        weight_of=weight_of,
        recency=config.search.recency_boost,
        ignore_keywords=config.ignore_keywords,
        synonyms=synonym_table(config.search.synonyms),
        snippets=Snippets(lines=config.max_snippet_lines, results=config.max_snippet_results),
        rules=rules,
        config_file="" if loaded is None or loaded.path is None else loaded.path.name,
    )
