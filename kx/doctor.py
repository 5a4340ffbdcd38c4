"""Is this machine fit for kx: one check after the other, each with what was found and what to do about it.

Nothing is changed and nothing is started. A check that finds an error of kx shows its own message and hint.
"""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Literal

import anyio
from msgspec import Struct

from kx.bus_server import find_nats_server
from kx.client import health, services
from kx.isolation import strangers
from kx.stack_lock import holder
from shared.access_tokens import AccessTokens
from shared.document_kinds import DOCUMENT_SUFFIXES, EXTRA, can_read
from shared.errors import ErrorCode, KxError
from shared.index_files import is_suspect
from shared.index_open import open_reader, require_recent_sqlite
from shared.kinds import document_kind
from shared.model import locate_model, verify
from shared.project_config import load_project_config
from shared.registry import Project, Registry
from shared.settings import FOLDERS, Settings, ensure_home
from shared.stack_file import running_stack

State = Literal["ok", "warning", "error"]
LITTLE_DISK_BYTES = 1_000_000_000  # an index of a large project, and a copy of it while it is compacted
KNOWLEDGE_FILE = "knowledge.sqlite"
FEW_WATCHES = 65_536  # folders; a large tree with its dependencies has some ten thousand
_WATCHES = Path("/proc/sys/fs/inotify/max_user_watches")


class Finding(Struct, frozen=True, kw_only=True):
    """What one check found; the texts are templates that `params` fill."""

    check: str
    state: State
    found: str
    hint: str = ""
    code: str = ""  # of kx's errors
    params: dict[str, str] = {}


Check = Callable[[Settings], Iterator[Finding]]


def examine(settings: Settings) -> Iterator[Finding]:
    """Run every check in order; what one of them meets never keeps the next from running."""
    for check in CHECKS:
        try:
            yield from check(settings)
        except KxError as error:
            yield _refused(check.__name__, error)
        except (OSError, ImportError) as error:
            yield Finding(check=check.__name__, state="error", found="{problem}", params={"problem": str(error)})


def installation(_: Settings) -> Iterator[Finding]:
    """Is it our own code that runs, on a Python that is recent enough."""
    hidden = strangers()
    if hidden:
        yield Finding(
            check="installation",
            state="error",
            found="another distribution hides packages of kx: {packages}",
            hint="install kx in an environment of its own, for example with pipx or uv tool",
            code=ErrorCode.ENVIRONMENT_SHADOWED,
            params={"packages": ", ".join(sorted(hidden))},
        )
    yield _ok("installation", "Python {version}", version=sys.version.split()[0])


def database(_: Settings) -> Iterator[Finding]:
    """Is SQLite recent enough, with full-text search and vectors."""
    import apsw
    import sqlite_vec

    require_recent_sqlite()
    connection = apsw.Connection(":memory:")
    try:
        connection.execute("CREATE VIRTUAL TABLE word USING fts5(body)")
        connection.enable_load_extension(True)
        connection.load_extension(sqlite_vec.loadable_path())
        version = connection.execute("SELECT vec_version()").fetchone()
    except apsw.Error as error:
        yield Finding(
            check="database",
            state="error",
            found="SQLite cannot do what kx needs: {problem}",
            hint="install it again: pip install --force-reinstall apsw sqlite-vec",
            params={"problem": str(error)},
        )
        return
    finally:
        connection.close()
    told = "" if version is None else str(version[0])
    yield _ok("database", "SQLite {sqlite}, sqlite-vec {vectors}", sqlite=apsw.sqlite_lib_version(), vectors=told)


def model(settings: Settings) -> Iterator[Finding]:
    """Is the sentence encoder there, byte for byte; without it search goes by words only."""
    files = locate_model(settings.model_dir)
    verify(files)
    yield _ok("model", "{model}", model=files.model_id)


def documents(_: Settings) -> Iterator[Finding]:
    """Can documents be read, and behind which walls."""
    unread = [suffix for suffix in DOCUMENT_SUFFIXES if not can_read(document_kind(suffix) or "")]
    if unread:
        yield Finding(
            check="documents",
            state="warning",
            found="{suffixes} files are not read",
            hint="install the extra that reads them: pip install '{extra}'",
            params={"suffixes": " ".join(unread), "extra": EXTRA},
        )
        return
    from shared.extraction import walls

    found = walls()
    if found.missing:
        yield Finding(
            check="documents",
            state="warning",
            found="documents are read behind fewer walls than there could be; missing: {walls}",
            hint="they are still limited in time and memory; the kernel does not allow the rest here",
            params={"walls": ", ".join(found.missing)},
        )
        return
    yield _ok("documents", "read behind all {count} walls", count=len(found.standing))


def home(settings: Settings) -> Iterator[Finding]:
    """Is kx's folder the user's alone, and is there space."""
    if not settings.home.exists():
        yield _ok("home", "{home} is made when it is needed", home=settings.home)
        return
    ensure_home(settings)
    for folder in (settings.home, *(settings.home / name for name in FOLDERS)):
        if not os.access(folder, os.W_OK | os.X_OK):
            yield Finding(
                check="home",
                state="error",
                found="{folder} cannot be written",
                hint="make it writable, or set KX_HOME to a folder of your own",
                params={"folder": str(folder)},
            )
            return
    free = shutil.disk_usage(settings.home).free
    params = {"home": str(settings.home), "free": f"{free / 1e9:.1f}"}
    if free < LITTLE_DISK_BYTES:
        yield Finding(
            check="home",
            state="warning",
            found="{home} has {free} GB left",
            hint="free some space, or set KX_HOME to a folder on another disk",
            params=params,
        )
        return
    yield _ok("home", "{home}, {free} GB free", **params)


def watching(_: Settings) -> Iterator[Finding]:
    """How many folders may be watched; beyond, changes are found by looking again and again."""
    try:
        limit = int(_WATCHES.read_text())
    except (OSError, ValueError):
        return  # no inotify, no such limit
    if limit < FEW_WATCHES:
        yield Finding(
            check="watching",
            state="warning",
            found="this user may watch {limit} folders",
            hint="for large trees raise it: sudo sysctl fs.inotify.max_user_watches=524288",
            params={"limit": str(limit)},
        )
        return
    yield _ok("watching", "{limit} folders may be watched", limit=limit)


def stack(settings: Settings) -> Iterator[Finding]:
    """Is the bus installed, and do the services of a running stack answer."""
    yield _ok("bus", "{server}", server=find_nats_server())
    if running_stack(settings.run_dir) is None:
        if holder(settings.run_dir) is not None:
            yield Finding(check="stack", state="warning", found="it is starting", hint="ask again in a moment")
        else:
            yield _ok("stack", "none runs; commands do their work alone")
        return
    silent = anyio.run(_silent, settings)
    if silent:
        yield Finding(
            check="stack",
            state="error",
            found="no answer from {services}",
            hint="start it again: kx down, then kx up -d; its logs are in {logs}",
            params={"services": ", ".join(silent), "logs": str(settings.run_dir)},
        )
        return
    yield _ok("stack", "all services answer")


async def _silent(settings: Settings) -> list[str]:
    async with services(settings, writes=False, mode="kx doctor", stack=True) as reach:
        return [name for name, found in (await health(reach.bus)).items() if found is None]


def tokens(settings: Settings) -> Iterator[Finding]:
    """Can the tokens be read."""
    store = AccessTokens(settings.home)
    try:
        count = len(store.all())
    finally:
        store.close()
    yield _ok("tokens", "{count} access tokens" if count != 1 else "1 access token", count=count)


def knowledge(settings: Settings) -> Iterator[Finding]:
    """Can what people wrote be read, which nothing can build anew: knowledge bases and the memory of projects."""
    files = [settings.home / KNOWLEDGE_FILE, *sorted(settings.memory_dir.glob("*.sqlite"))]
    kept = [path for path in files if path.exists()]
    unreadable = [(path, problem) for path in kept if (problem := _problem_of(path))]
    for path, problem in unreadable:
        yield Finding(
            check="knowledge",
            state="error",
            found="the database {path} cannot be used: {reason}",
            hint="nothing was changed: look at the file and its disk, or put a copy of it back in its place",
            code=ErrorCode.KNOWLEDGE_DAMAGED,
            params={"path": str(path), "reason": problem},
        )
    if not unreadable:
        told = "{count} databases of knowledge and memory" if len(kept) != 1 else "1 database of knowledge and memory"
        yield _ok("knowledge", told, count=len(kept))


def _problem_of(database: Path) -> str:
    """Give what is wrong with a database, "" for a sound or a busy one, which somebody can read."""
    import apsw

    try:
        with closing(apsw.Connection(str(database), flags=apsw.SQLITE_OPEN_READONLY)) as connection:
            told = str(connection.pragma("quick_check"))
    except apsw.BusyError:
        return ""
    except apsw.Error as error:
        return str(error)
    return "" if told == "ok" else told.splitlines()[0]


def projects(settings: Settings) -> Iterator[Finding]:
    """Is each project's tree there, its configuration sound and its index whole."""
    registry = Registry(settings)
    for error in registry.damaged():
        yield _refused("project", error)
    for project in registry.projects():
        try:
            yield _project(project, settings)
        except KxError as error:
            yield _refused("project", error) if error.code is not ErrorCode.INDEX_MISSING else _not_indexed(project)


def _project(project: Project, settings: Settings) -> Finding:
    if not project.root_path.is_dir():
        return Finding(
            check="project",
            state="warning",
            found="the folder {root} is not there",
            hint="bring it back, tell where it went (kx project move {instance} FOLDER), or forget it: kx project remove "
            "{instance}",
            params={"root": project.root, "instance": project.instance},
        )
    load_project_config(project.root_path, settings)
    open_reader(project.index_path, project.instance).close()
    if is_suspect(project.index_path):
        return Finding(
            check="project",
            state="warning",
            found="the index {index} is suspect; the next indexing examines it",
            hint="have it examined now: kx index {root}",
            params={"index": project.index, "root": project.root},
        )
    return _ok("project", "{project} in {root}", project=project.project, root=project.root)


def _not_indexed(project: Project) -> Finding:
    return Finding(
        check="project",
        state="warning",
        found="{root} is not indexed yet",
        hint="index it: kx index {root}; or forget it: kx project remove {instance}",
        code=ErrorCode.INDEX_MISSING,
        params={"root": project.root, "instance": project.instance},
    )


CHECKS: tuple[Check, ...] = (
    installation, database, model, documents, home, watching, stack, tokens, knowledge, projects,
)  # fmt: skip


def _ok(check: str, found: str, **params: object) -> Finding:
    return Finding(check=check, state="ok", found=found, params={name: str(value) for name, value in params.items()})


def _refused(check: str, error: KxError) -> Finding:
    return Finding(
        check=check, state="error", found=error.message, hint=error.hint, code=error.code.value, params=error.params
    )
