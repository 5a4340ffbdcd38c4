"""What a project says about itself: `.kx.json`, or an existing `.xindex.json`.

Such a file comes with a clone, from strangers: it may narrow what kx does, never widen it. What widens stands in the
user's own `~/.kx/config.json` (`shared/settings.py`) or is a flag. Anything unreadable or wrong is an error that names
file and key, so a mistake never ends in an empty denylist.
"""

from __future__ import annotations

import json
import os
import uuid
from collections.abc import Sequence
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Annotated, Any, Literal

from msgspec import Struct
from msgspec.structs import replace

from shared.config_file import (
    expected_at,
    invalid,
    keys_of,
    meta,
    parse_object,
    read_config,
    shown,
    to_struct,
    unknown_keys,
    warn_unknown,
)
from shared.errors import ErrorCode, KxError
from shared.kinds import Kind
from shared.patterns import check_patterns
from shared.project_name import is_project_name, name_of_folder
from shared.relpath import encode_path
from shared.settings import Settings

if TYPE_CHECKING:  # the command reads a configuration long before it judges files, if it ever does
    from shared.treerules import RulesConfig

KX_JSON = ".kx.json"
XINDEX_JSON = ".xindex.json"
CONFIG_NAMES = (KX_JSON, XINDEX_JSON)  # the first wins

DEFAULT_MAX_FILE_BYTES = 10 * 1024 * 1024
MAX_FILE_BYTES = 100 * 1024 * 1024  # what a project may ask for; a text larger than that is data
DEFAULT_RECENCY = 0.03  # about two ranks; the original used 0.3
MAX_SYNONYMS = 1_000
SPACE_PREFIX = "space-"  # index files of knowledge spaces


class Source(Struct, frozen=True, kw_only=True, rename="camel"):
    """A part of the tree that is indexed in its own way; the deepest matching one wins."""

    type: Annotated[
        Kind | None, meta("Kind of its files; without it each file is judged.", "docs, code, config or vault")
    ] = None
    path: Annotated[
        str, meta("Folder or file, relative to the root; indexed also when gitignored.", "a path inside the root")
    ] = "."
    glob: Annotated[
        tuple[str, ...], meta("Only files that match one of these; all without it.", "a pattern or a list of patterns")
    ] = ()
    exclude: Annotated[
        tuple[str, ...], meta("Files that match one of these are left out.", "a pattern or a list of patterns")
    ] = ()
    weight: Annotated[float, meta("Factor on the score of its files.", "a number from 0.1 to 10", ge=0.1, le=10.0)] = (
        1.0
    )


class Indexing(Struct, frozen=True, kw_only=True, rename="camel"):
    """What of the tree is read."""

    deny: Annotated[
        tuple[str, ...],
        meta("Patterns that are never indexed nor shown, in addition to the default denylist.", "a list of patterns"),
    ] = ()
    allow_denied: Annotated[
        tuple[str, ...],
        meta(
            "Patterns of the default denylist that are indexed all the same; only in `~/.kx/config.json`.",
            "a list of patterns",
        ),
    ] = ()
    max_file_bytes: Annotated[
        int,
        meta(
            "Larger files are skipped.",
            f"a whole number from 1 to {MAX_FILE_BYTES}",
            ge=1,
            le=MAX_FILE_BYTES,
        ),
    ] = DEFAULT_MAX_FILE_BYTES
    hard_links: Annotated[
        Literal["allow", "deny"], meta("Whether files with several hard links are read.", "allow or deny")
    ] = "allow"


class Search(Struct, frozen=True, kw_only=True, rename="camel"):
    """How answers are ranked."""

    recency: Annotated[
        bool | float,
        meta("Bounded boost of recently changed files; true is 0.03.", "true, false or a number from 0 to 1"),
    ] = True
    synonyms: Annotated[
        dict[str, tuple[str, ...]],
        meta("Words of the team and what they also mean.", "an object: word → text or a list of texts"),
    ] = {}

    @property
    def recency_boost(self) -> float:
        """The bound of the boost as a number; 0 is off."""
        if isinstance(self.recency, bool):
            return DEFAULT_RECENCY if self.recency else 0.0
        return self.recency


class Mcp(Struct, frozen=True, kw_only=True, rename="camel"):
    """What an agent has to know to be let in."""

    project_id: Annotated[
        str | None, meta("Every MCP tool requires this UUID and the root when it is set.", "a UUID")
    ] = None  # lower case, with hyphens


class ProjectConfig(Struct, frozen=True, kw_only=True, rename="camel"):
    """All keys of `.kx.json`; see `docs/settings.md`, which is the same list."""

    project: Annotated[
        str,
        meta(
            "Name of the project.",
            "a name of at most 64 letters, digits, . _ - that does not begin with . or -",
            default="the folder's name",
        ),
    ] = ""  # never empty once loaded
    index: Annotated[
        str,
        meta("Name of the index file in `~/.kx/data`.", "a file name such as kx.sqlite", default="{project}.sqlite"),
    ] = ""
    sources: Annotated[
        tuple[Source, ...], meta("Parts of the tree with a kind, filter or weight of their own.", "a list of objects")
    ] = ()
    indexing: Indexing = Indexing()
    search: Search = Search()
    ignore_keywords: Annotated[
        tuple[str, ...], meta("Words never shown as keywords (exact, any case).", "a list of words")
    ] = ()
    ignore_files: Annotated[
        tuple[str, ...], meta("Patterns of files to leave out, in gitignore syntax with `!`.", "a list of patterns")
    ] = ()
    max_snippet_lines: Annotated[
        int, meta("Lines of an excerpt; a file of no more is shown whole.", "a whole number from 0 to 50", ge=0, le=50)
    ] = 7
    max_snippet_results: Annotated[
        int, meta("So many of the first results have an excerpt.", "a whole number from 0 to 20", ge=0, le=20)
    ] = 3
    squads: Annotated[tuple[str, ...], meta("Teams an activity can belong to.", "a list of names")] = ()
    mcp: Mcp = Mcp()

    def rules(self) -> RulesConfig:
        """Give what the judgement of files needs to know."""
        from shared.sources import SourceConfig
        from shared.treerules import RulesConfig

        return RulesConfig(
            deny=self.indexing.deny,
            allow_denied=self.indexing.allow_denied,
            ignore_files=self.ignore_files,
            max_file_bytes=self.indexing.max_file_bytes,
            hard_links=self.indexing.hard_links,
            sources=tuple(
                SourceConfig(
                    type=source.type or "",
                    path=encode_path(source.path.encode()),
                    glob=source.glob,
                    exclude=source.exclude,
                    weight=source.weight,
                )
                for source in self.sources
            ),
        )


KEYS = keys_of(ProjectConfig)
XINDEX_KEYS = {name: KEYS[name] for name in ("ignoreKeywords", "ignoreFiles", "maxSnippetLines", "maxSnippetResults")}


class LoadedConfig(Struct, frozen=True, kw_only=True):
    """A project's configuration with what the user's own file allows for it."""

    config: ProjectConfig
    path: Path | None  # `.kx.json`, else `.xindex.json`, else None: an ad-hoc project
    index: Path | None  # where an explicit index is; None means the default name in `~/.kx/data`
    warnings: tuple[str, ...] = ()
    keys: frozenset[str] = frozenset()  # of the top level that a file sets

    @property
    def allow_denied(self) -> tuple[str, ...]:
        """What of the default denylist the user lets in here."""
        return self.config.indexing.allow_denied


# --- loading ----------------------------------------------------------------------------------------------------------


def load_project_config(root: Path, settings: Settings) -> LoadedConfig:
    """Load the configuration of the tree at `root`; defaults where there is no file.

    Keys of `.xindex.json` hold unless `.kx.json` sets them too.

    Raises:
        KxError: CONFIG_INVALID, CONFIG_UNREADABLE, CONFIG_NOT_TRUSTED; each names the file and, where there is one, the
            key. ROOT_MISSING.
    """
    root = Path(os.path.realpath(root))
    if not root.is_dir():  # without its root a project has no configuration, and that is not the same as none
        raise KxError(
            ErrorCode.ROOT_MISSING,
            "the folder {root} is not there",
            hint="if it was moved, tell kx where it is now: kx project move",
            retryable=True,
            root=root,
        )
    grant = settings.grant(root)
    own, own_warnings = _load(root, KX_JSON, settings)
    other, other_warnings = _load(root, XINDEX_JSON, settings)
    file = root / (XINDEX_JSON if own is None else KX_JSON)
    given = (other or {}) | (own or {})
    config = to_struct(_with_lists(given), ProjectConfig, file)
    config = _checked(config, root, file)
    config = replace(config, indexing=replace(config.indexing, allow_denied=grant.allow_denied))
    index = Path(grant.index) if grant.index else _trusted_index(config.index, file, root, settings)
    return LoadedConfig(
        config=config if config.project else replace(config, project=name_of_folder(root)),
        path=None if own is None and other is None else file,
        index=index,
        warnings=own_warnings + other_warnings,
        keys=frozenset(given),
    )


def _load(root: Path, name: str, settings: Settings) -> tuple[dict[str, Any] | None, tuple[str, ...]]:
    """Read and type-check one file on its own, so that an error names the right one."""
    file = root / name
    raw = read_config(file, inside=root)
    if raw is None:
        return None, ()
    keys = KEYS if name == KX_JSON else XINDEX_KEYS
    if name == XINDEX_JSON and not raw.removeprefix(b"\xef\xbb\xbf").strip():
        return {}, ()
    value = parse_object(raw, file, keys)
    _refuse_widening(value, root, file, settings)
    unknown = unknown_keys(value, keys, open_keys=["search.synonyms"])
    _check_mcp(value, file, unknown)
    warnings = [warn_unknown(file, key, keys) for key in unknown]
    if name == XINDEX_JSON:
        value = {key: item for key, item in value.items() if key in keys}
    _check_synonyms(value, file)
    to_struct(_with_lists(value), ProjectConfig, file)
    short = [word for word in value.get("ignoreKeywords", []) if len(word) <= 1]
    warnings += [f"{file}: ignoreKeywords: {shown(word)} is too short to be a keyword" for word in short]
    return value, tuple(warnings)


def _with_lists(value: dict[str, Any]) -> dict[str, Any]:
    """Let one text stand for a list of one where a person would write it so."""
    result = dict(value)
    if isinstance(value.get("sources"), list):
        result["sources"] = [_listed(source, ("glob", "exclude")) for source in value["sources"]]
    search = value.get("search")
    if isinstance(search, dict) and isinstance(search.get("synonyms"), dict):
        result["search"] = search | {"synonyms": _listed(search["synonyms"], tuple(search["synonyms"]))}
    return result


def _listed(value: Any, names: Sequence[str]) -> Any:
    if not isinstance(value, dict):
        return value
    return value | {name: [value[name]] for name in names if isinstance(value.get(name), str)}


# --- what a type cannot say -------------------------------------------------------------------------------------------


def _refuse_widening(value: dict[str, Any], root: Path, file: Path, settings: Settings) -> None:
    """Refuse what only the user may allow, wherever it is written: ignored in silence, it would be missed later."""
    indexing = value.get("indexing")
    for key, holder in (("indexing.allowDenied", indexing), ("allowDenied", value)):
        if isinstance(holder, dict) and "allowDenied" in holder:
            raise _not_trusted(
                file,
                key,
                json.dumps(holder["allowDenied"]),
                "{key} of {file} would let denied files in: {value}",
                'take it out, or put this in {config}: {"projects": {"{root}": {"allowDenied": {value}}}}',
                root=root,
                config=settings.config_path,
            )


def _check_mcp(value: dict[str, Any], file: Path, unknown: list[str]) -> None:
    """Refuse a half-written gate: with a misspelt key it would stand open."""
    mcp = value.get("mcp")
    if mcp is None:
        return
    for key in unknown:
        if key.startswith("mcp."):
            raise invalid(file, key, "unknown", "mcp.projectId")
    if isinstance(mcp, dict) and "projectId" not in mcp:
        raise invalid(file, "mcp.projectId", "missing", "a UUID")


def _check_synonyms(value: dict[str, Any], file: Path) -> None:
    """Check what a Struct could only report without naming the word."""
    search = value.get("search")
    synonyms = search.get("synonyms") if isinstance(search, dict) else None
    if not isinstance(synonyms, dict):
        return
    if len(synonyms) > MAX_SYNONYMS:
        raise invalid(file, "search.synonyms", f"an object of {len(synonyms)} words", f"at most {MAX_SYNONYMS} words")
    for word, given in synonyms.items():
        meanings = given if isinstance(given, list) else [given]
        if not word.strip() or not meanings or not all(isinstance(text, str) and text.strip() for text in meanings):
            raise invalid(file, f"search.synonyms.{word}", shown(given), "a text or a list of texts, none empty")


def _checked(config: ProjectConfig, root: Path, file: Path) -> ProjectConfig:
    def refuse(key: str, value: object) -> KxError:
        return invalid(file, key, shown(value), expected_at(KEYS, key))

    if config.project and not is_project_name(config.project):
        raise refuse("project", config.project)
    check_patterns(config.indexing.deny, file, "indexing.deny")
    for number, source in enumerate(config.sources):
        _check_source(source, f"sources[{number}]", root, file)
    if not 0 <= config.search.recency <= 1:
        raise refuse("search.recency", config.search.recency)
    for number, squad in enumerate(config.squads):
        if not squad.strip() or not squad.isprintable():
            raise refuse(f"squads[{number}]", squad)
    project_id = config.mcp.project_id
    if project_id is None:
        return config
    try:
        canonical = uuid.UUID(project_id)
    except ValueError:
        raise refuse("mcp.projectId", project_id) from None
    if canonical.int == 0 or len(project_id) != len(str(canonical)):
        raise refuse("mcp.projectId", project_id)
    return replace(config, mcp=Mcp(project_id=str(canonical)))


def _check_source(source: Source, at: str, root: Path, file: Path) -> None:
    path = PurePosixPath(source.path)
    target = Path(os.path.realpath(root / path))
    outside = path.is_absolute() or ".." in path.parts or path.parts[:1] == ("~",)
    if outside or not target.is_relative_to(root):
        raise _not_trusted(
            file,
            f"{at}.path",
            source.path,
            "{key} of {file} leads out of the project: {value}",
            "give a path inside {root}, or add that folder as a project of its own: kx project add {value}",
            root=root,
        )
    if not source.path.strip():
        raise invalid(file, f"{at}.path", shown(source.path), expected_at(KEYS, f"{at}.path"))
    check_patterns(source.glob, file, f"{at}.glob")
    check_patterns(source.exclude, file, f"{at}.exclude")


def _trusted_index(index: str, file: Path, root: Path, settings: Settings) -> Path | None:
    """Give the place of an index the project names: always a file of its own in the data folder."""
    if not index:
        return None
    folder, _, name = index.rpartition("/")
    if folder and folder not in {"~/.kx/data", os.fsdecode(settings.data_dir)}:
        raise _not_trusted(
            file,
            "index",
            index,
            "{key} of {file} is outside kx's data folder: {value}",
            'give a plain file name, or put this in {config}: {"projects": {"{root}": {"index": "{value}"}}}',
            root=root,
            config=settings.config_path,
        )
    stem = name.removesuffix(".sqlite")
    if stem == name or not is_project_name(stem) or stem.startswith(SPACE_PREFIX):
        raise invalid(file, "index", shown(index), expected_at(KEYS, "index"))
    return settings.data_dir / name


def _not_trusted(file: Path, key: str, value: str, message: str, hint: str, **params: Path) -> KxError:
    error = KxError(ErrorCode.CONFIG_NOT_TRUSTED, message, hint=hint, file=file, key=key, value=value)
    error.params |= {name: str(path) for name, path in params.items()}
    return error
