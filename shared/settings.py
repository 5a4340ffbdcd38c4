"""The settings of one process: flag > `KX_*` environment > `~/.kx/config.json` > default.

Loaded once in each `__main__` and passed on as a value. The only module that looks at the environment. What a project
says about itself is in `shared/project_config.py`.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, Literal, cast

import msgspec
from msgspec import Struct
from msgspec.structs import FieldInfo

from shared.config_file import Key, invalid, parse_object, read_config, shown, unknown_keys, warn_unknown
from shared.errors import ErrorCode, KxError
from shared.grants import PROJECTS_WORDS, ProjectGrant, absolute, grants_of
from shared.language import Lang, language_of, locale_language
from shared.private_folder import OTHERS, ensure_private

LogLevel = Literal["debug", "info", "warning", "error"]
HttpMode = Literal["auto", "on", "off"]
HttpHost = Literal["127.0.0.1", "0.0.0.0"]  # noqa: S104 - only when it is asked for by name, and with a token

CONFIG_NAME = "config.json"
FOLDERS = ("data", "projects", "run", "cache", "memory", "spaces")
_MAX_SOCKET_PATH_BYTES = 100  # of 104 on macOS and 108 on Linux, room for the terminator


def _setting(
    help_line: str, expects: str, *, env: str = "", key: str = "", flag: str = "", default: str = "", **limits: Any
) -> msgspec.Meta:
    extra = {"expects": expects, "env": env, "key": key, "flag": flag, "default": default}
    return msgspec.Meta(description=help_line, extra=extra, **limits)


class Settings(Struct, frozen=True, kw_only=True):
    """Everything a process of kx is told from outside; see `docs/settings.md`, which is the same list."""

    home: Annotated[
        Path,
        _setting("The folder kx keeps everything in.", "a path", env="KX_HOME", flag="--home", default="~/.kx"),
    ]
    lang: Annotated[
        Lang,
        _setting(
            "Language of help, messages and errors.",
            "en or pt",
            env="KX_LANG",
            key="lang",
            flag="--lang",
            default="the locale's",
        ),
    ] = "en"
    log_level: Annotated[
        LogLevel,
        _setting(
            "The least severe log line written to stderr.",
            "debug, info, warning or error",
            env="KX_LOG_LEVEL",
            key="logLevel",
            flag="--log-level",
        ),
    ] = "warning"
    bus_port: Annotated[
        int,
        _setting(
            "Port of the local bus; 0 takes a free one.",
            "a whole number from 0 to 65535",
            env="KX_BUS_PORT",
            key="busPort",
            flag="--bus-port",
            ge=0,
            le=65535,
        ),
    ] = 0
    threads: Annotated[
        int,
        _setting(
            "Threads the model may use; 0 means one for each usable core.",
            "a whole number from 0 to 256",
            env="KX_THREADS",
            key="threads",
            flag="--threads",
            ge=0,
            le=256,
        ),
    ] = 0
    model_dir: Annotated[
        Path | None,
        _setting(
            "Folder of another 384-dimensional sentence encoder instead of the one installed with kx.",
            "a path",
            env="KX_MODEL_DIR",
            key="modelDir",
            flag="--model-dir",
        ),
    ] = None
    project_root: Annotated[
        Path | None,
        _setting("Root of the project `kx mcp` serves.", "a path", env="KX_PROJECT_ROOT", flag="--project-root"),
    ] = None
    session_id: Annotated[
        str, _setting("Name of the session, recorded with activities.", "a name", env="KX_SESSION_ID", flag="--session")
    ] = ""
    http: Annotated[
        HttpMode,
        _setting(
            "Whether the stack serves agents over HTTP; auto does once there is a token.",
            "auto, on or off",
            env="KX_HTTP",
            key="http",
            flag="--http",
        ),
    ] = "auto"
    http_port: Annotated[
        int,
        _setting(
            "Port of HTTP; 0 takes a free one.",
            "a whole number from 0 to 65535",
            env="KX_HTTP_PORT",
            key="httpPort",
            flag="--http-port",
            ge=0,
            le=65535,
        ),
    ] = 5959
    http_host: Annotated[
        HttpHost,
        _setting(
            "Where HTTP listens; 0.0.0.0 is every address of this machine, and never without a token.",
            "127.0.0.1 or 0.0.0.0",
            env="KX_HTTP_HOST",
            flag="--http-host",
        ),
    ] = "127.0.0.1"
    knowledge: Annotated[
        bool,
        _setting(
            "Whether knowledge bases may be used; the memory of projects is kept either way.",
            "true or false",
            env="KX_KNOWLEDGE",
            key="knowledge",
        ),
    ] = True
    projects: dict[str, ProjectGrant] = {}  # canonical root → what the user allows there (key `projects`)
    user_home: Path  # HOME
    xdg_config_home: Path  # XDG_CONFIG_HOME, where git's own excludes are
    codex_home: Path | None = None  # CODEX_HOME, where Codex keeps its configuration if not in ~/.codex
    xdg_runtime_dir: Path | None = None  # XDG_RUNTIME_DIR, for sockets when the home path is too long
    color: bool = True  # false when NO_COLOR or TERM says so
    warnings: tuple[str, ...] = ()

    @property
    def config_path(self) -> Path:
        """The user's own configuration file."""
        return self.home / CONFIG_NAME

    @property
    def data_dir(self) -> Path:
        """Where index files are."""
        return self.home / "data"

    @property
    def projects_dir(self) -> Path:
        """Where the registry is."""
        return self.home / "projects"

    @property
    def run_dir(self) -> Path:
        """What belongs to running processes: state, credentials."""
        return self.home / "run"

    @property
    def cache_dir(self) -> Path:
        """What can be made again."""
        return self.home / "cache"

    @property
    def memory_dir(self) -> Path:
        """Memories of projects."""
        return self.home / "memory"

    @property
    def spaces_dir(self) -> Path:
        """Trees derived from knowledge spaces and memories, which only `knowledge` shows."""
        return self.home / "spaces"

    @property
    def socket_dir(self) -> Path:
        """Where local sockets are: `run_dir`, unless a socket's path would be longer than the system takes."""
        longest = len(os.fsencode(self.run_dir / "gateway.sock"))
        if longest <= _MAX_SOCKET_PATH_BYTES or self.xdg_runtime_dir is None:
            return self.run_dir
        return self.xdg_runtime_dir / "kx"

    @property
    def worker_threads(self) -> int:
        """`threads` with 0 resolved to the cores this process may use: a container may allow fewer than there are."""
        return self.threads or (
            len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
        )

    def grant(self, root: Path) -> ProjectGrant:
        """Give what the user allows for this canonical root."""
        return self.projects.get(os.fsdecode(root), ProjectGrant())


# --- loading ----------------------------------------------------------------------------------------------------------


def load_settings(flags: Mapping[str, object] | None = None, environ: Mapping[str, str] | None = None) -> Settings:
    """Load the settings; `flags` are by field name, None and absent mean "not given".

    Raises:
        KxError: CONFIG_INVALID or CONFIG_UNREADABLE (file or variable, key, what was expected), USAGE (a flag).
    """
    given = {name: value for name, value in (flags or {}).items() if value is not None}
    env = os.environ if environ is None else environ  # noqa: TID251 - this is the module the rule points to
    user_home = _user_home(env)
    asked = given.get("home") or env.get("KX_HOME")
    home = absolute(Path(str(asked)), user_home) if asked else user_home / ".kx"
    path = home / CONFIG_NAME
    raw = read_config(path)
    file = parse_object(raw, path, FILE_KEYS) if raw is not None else {}
    values: dict[str, Any] = {"home": home}
    for field in msgspec.structs.fields(Settings):
        source = _source(field)
        if source and field.name not in values:
            value = _chosen(field, source, given, env, file, path)
            if value is not msgspec.UNSET:
                values[field.name] = absolute(value, user_home) if isinstance(value, Path) else value
    _refuse_two_roots(given, env, values)
    return Settings(
        **{"lang": locale_language(env)} | values,
        projects=grants_of(projects, path, user_home) if (projects := file.get("projects")) is not None else {},
        user_home=user_home,
        codex_home=Path(env["CODEX_HOME"]) if env.get("CODEX_HOME") else None,
        xdg_config_home=Path(env.get("XDG_CONFIG_HOME") or user_home / ".config"),
        xdg_runtime_dir=Path(env["XDG_RUNTIME_DIR"]) if env.get("XDG_RUNTIME_DIR") else None,
        color=not env.get("NO_COLOR") and env.get("TERM") != "dumb",
        warnings=tuple(
            warn_unknown(path, key, FILE_KEYS) for key in unknown_keys(file, FILE_KEYS, open_keys=["projects"])
        ),
    )


def _user_home(env: Mapping[str, str]) -> Path:
    if env.get("HOME"):
        return Path(env["HOME"])
    try:
        return Path("~").expanduser()
    except RuntimeError as error:
        raise KxError(
            ErrorCode.CONFIG_INVALID,
            "the environment variable {key} is not set and this user has no home folder",
            hint="set KX_HOME and HOME",
            key="HOME",
        ) from error


def _source(field: FieldInfo) -> dict[str, str]:
    notes = [note for note in getattr(field.type, "__metadata__", ()) if isinstance(note, msgspec.Meta)]
    return cast("dict[str, str]", notes[0].extra) if notes else {}


def _chosen(
    field: FieldInfo,
    source: dict[str, str],
    given: Mapping[str, object],
    env: Mapping[str, str],
    file: Mapping[str, object],
    path: Path,
) -> Any:
    if field.name in given:
        return _converted(
            field,
            given[field.name],
            KxError(
                ErrorCode.USAGE,
                "{flag} is {found}, expected {expected}",
                flag=source["flag"],
                found=shown(given[field.name]),
                expected=source["expects"],
            ),
        )
    if source["env"] and env.get(source["env"]):
        return _converted(
            field,
            env[source["env"]],
            KxError(
                ErrorCode.CONFIG_INVALID,
                "the environment variable {key} is {found}, expected {expected}",
                hint="correct {key} or unset it",
                key=source["env"],
                found=shown(env[source["env"]]),
                expected=source["expects"],
            ),
        )
    if source["key"] and source["key"] in file:
        value = file[source["key"]]
        return _converted(field, value, invalid(path, source["key"], shown(value), source["expects"]), strict=True)
    return msgspec.UNSET


def _converted(field: FieldInfo, value: object, error: KxError, *, strict: bool = False) -> Any:
    if field.name == "lang" and isinstance(value, str):
        value = language_of(value)
    try:
        return msgspec.convert(value, field.type, strict=strict, dec_hook=_path_hook)
    except (msgspec.ValidationError, OverflowError) as problem:
        raise error from problem


def _path_hook(kind: type, value: object) -> object:
    if kind is Path and isinstance(value, str) and value and "\0" not in value:
        return Path(value)
    raise ValueError(value)


def fallback_language(flag: str | None, environ: Mapping[str, str] | None = None) -> Lang:
    """Give the language in which to say that the settings themselves are wrong: no file is read, nothing refused."""
    env = os.environ if environ is None else environ  # noqa: TID251 - this is the module the rule points to
    asked = language_of(flag or env.get("KX_LANG", ""))
    return cast("Lang", asked) if asked in {"en", "pt"} else locale_language(env)


def _refuse_two_roots(given: Mapping[str, object], env: Mapping[str, str], values: Mapping[str, Any]) -> None:
    variable = env.get("KX_PROJECT_ROOT")
    if variable and "project_root" in given and Path(variable).absolute() != values["project_root"]:
        raise KxError(
            ErrorCode.USAGE,
            "--project-root is {flag} and KX_PROJECT_ROOT is {variable}",
            hint="give one of the two",
            flag=values["project_root"],
            variable=variable,
        )


FILE_KEYS = {
    source["key"]: Key(name=source["key"], expects=source["expects"], help="")
    for source in map(_source, msgspec.structs.fields(Settings))
    if source.get("key")
} | {"projects": Key(name="projects", expects=PROJECTS_WORDS, help="")}


# --- the process and its folders --------------------------------------------------------------------------------------


def harden_process() -> None:
    """Make everything this process creates private to the user; called first in every `main`."""
    os.umask(OTHERS)


def child_environ(settings: Settings) -> dict[str, str]:
    """Give the environment for a process of ours: this one's, with these settings whatever flags they came from."""
    told = dict(os.environ)  # noqa: TID251 - this is the module the rule points to
    for field in msgspec.structs.fields(Settings):
        name = _source(field).get("env")
        value = getattr(settings, field.name)
        if name and value is not None:
            told[name] = os.fsdecode(value) if isinstance(value, Path) else str(value)
    return told


def ensure_home(settings: Settings) -> None:
    """Create kx's folders, readable by nobody else; cheap when they exist.

    Raises:
        KxError: CONFIG_UNREADABLE (cannot be created), CONFIG_NOT_TRUSTED (another user's, or an open folder that
            holds foreign things and so is not ours to close).
    """
    try:
        ensure_private(settings.home, ours=_looks_like_home)
        for name in FOLDERS:
            ensure_private(settings.home / name, ours=lambda _: True)
    except OSError as error:
        raise KxError(
            ErrorCode.CONFIG_UNREADABLE,
            "{file} cannot be used: {problem}",
            hint="set KX_HOME to a folder of your own",
            file=error.filename or settings.home,
            problem=error.strerror or error,
        ) from error


def _looks_like_home(folder: Path) -> bool:
    """Tell a kx home (or an empty folder) from some folder KX_HOME points to by mistake, such as `/tmp`."""
    names = {entry.name for entry in folder.iterdir()}
    return names <= {*FOLDERS, CONFIG_NAME} or {"projects", "data"} <= names
