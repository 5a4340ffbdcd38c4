"""What the user, and never a project's own file, allows for one root: the key `projects` of `~/.kx/config.json`."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Annotated

from msgspec import Struct
from msgspec.structs import replace

from shared.config_file import invalid, keys_of, meta, shown, to_struct, unknown_keys
from shared.patterns import check_patterns

PROJECTS_WORDS = "an object: root path → { index, allowDenied }"


class ProjectGrant(Struct, frozen=True, kw_only=True, rename="camel"):
    """What the user, and never a project's own file, may allow for one root."""

    index: Annotated[
        str,
        meta("Where this project's index file is, outside `~/.kx/data`.", "an absolute path that ends in .sqlite"),
    ] = ""
    allow_denied: Annotated[
        tuple[str, ...],
        meta(
            "Patterns of the default denylist that are indexed here all the same.",
            "a list of patterns relative to the root",
        ),
    ] = ()


GRANT_KEYS = keys_of(ProjectGrant)


def grants_of(projects: object, path: Path, user_home: Path) -> dict[str, ProjectGrant]:
    """Read the grants by canonical root; `path` is the file they stand in, `~` in them means `user_home`.

    Raises:
        KxError: CONFIG_INVALID.
    """
    if not isinstance(projects, dict):
        raise invalid(path, "projects", shown(projects), PROJECTS_WORDS)
    grants: dict[str, ProjectGrant] = {}
    for root, value in projects.items():
        at = f"projects.{root}"
        if not isinstance(value, dict) or not root.startswith(("/", "~/")):
            raise invalid(path, at, shown(value), PROJECTS_WORDS)
        for unknown in unknown_keys(value, GRANT_KEYS):  # what widens is never guessed: a typing error is an error
            raise invalid(path, f"{at}.{unknown}", "unknown", "one of " + ", ".join(GRANT_KEYS))
        grant = _checked(to_struct(value, ProjectGrant, path, at=at), path, at, user_home)
        grants[os.path.realpath(absolute(Path(root), user_home))] = grant
    return grants


def _checked(grant: ProjectGrant, path: Path, at: str, user_home: Path) -> ProjectGrant:
    check_patterns(grant.allow_denied, path, f"{at}.allowDenied")
    if not grant.index:
        return grant
    if not grant.index.startswith(("/", "~/")) or not grant.index.endswith(".sqlite"):
        raise invalid(path, f"{at}.index", shown(grant.index), GRANT_KEYS["index"].expects)
    return replace(grant, index=os.fsdecode(absolute(Path(grant.index), user_home)))


def absolute(path: Path, user_home: Path) -> Path:
    """Give `path` without `~` and `..`, from the working directory when it is relative."""
    first, *rest = path.parts or (".",)
    if first == "~":
        return user_home.joinpath(*rest)
    return Path(os.path.normpath(path if path.is_absolute() else Path.cwd() / path))
