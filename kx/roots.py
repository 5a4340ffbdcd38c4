"""Ask before a very large root is indexed by accident."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

import anyio
from msgspec.structs import replace

from kx.context import Context
from kx.embedded import embedded_bus
from shared.bus import Bus
from shared.errors import ErrorCode, KxError
from shared.messages import SurveyTree, TreeSurveyed
from shared.project_config import load_project_config
from shared.registry import Project, Registry
from shared.settings import Settings, ensure_home
from shared.subjects import SURVEY

MANY_FILES = 50_000  # more than the largest of a hundred repositories of one product; usually data lies in between
SURVEY_TIMEOUT_S = 600.0


def refuse_huge(context: Context, root: Path, *, is_meant: bool = False) -> None:
    """Ask whether `/` or the home folder is meant; without a terminal to ask, refuse.

    Raises:
        KxError: ROOT_TOO_LARGE.
    """
    home = Path(os.path.realpath(context.settings.user_home))
    if is_meant or root not in (Path(root.anchor), home):
        return
    if context.confirm("{root} is a very large root. Index all of it?", root=root):
        return
    raise KxError(
        ErrorCode.ROOT_TOO_LARGE,
        "{root} is a very large root",
        hint="name a project's folder instead, or say that you mean it: kx index --yes {root}",
        root=root,
    )


async def refuse_many(context: Context, bus: Bus, project: Project, *, is_meant: bool = False) -> None:
    """Before a first index, ask whether a tree of very many files is meant; show where they are and what drops them.

    Raises:
        KxError: ROOT_TOO_LARGE.
    """
    if is_meant or project.index_path.exists():
        return
    survey = await bus.request(SURVEY, SurveyTree(instance=project.instance), timeout_s=SURVEY_TIMEOUT_S)
    _refuse_large(context, project, survey)


def refuse_unseen(context: Context, root: Path, *, is_meant: bool = False) -> None:
    """Ask as `refuse_huge` and `refuse_many` do before a stack hears of a tree that has no index yet.

    A stack begins with a tree as soon as it is registered. It is therefore counted by itself, in a home made for that.

    Raises:
        KxError: ROOT_TOO_LARGE.
    """
    refuse_huge(context, root, is_meant=is_meant)
    known = context.registry.find(root, load_project_config(root, context.settings))
    if is_meant or (known is not None and known.index_path.exists()):
        return
    with tempfile.TemporaryDirectory(prefix="kx-") as folder:
        project, survey = anyio.run(_counted, root, replace(context.settings, home=Path(folder) / "home"))
    _refuse_large(context, project, survey)


def refuse_unseen_projects(context: Context) -> None:
    """Ask about each registered project that has no index yet, before a stack begins with all of them.

    Raises:
        KxError: ROOT_TOO_LARGE.
    """
    for project in context.registry.projects():
        if project.index_path.exists() or not project.root_path.is_dir():
            continue
        try:
            refuse_unseen(context, project.root_path)
        except KxError as error:
            if error.code is ErrorCode.ROOT_TOO_LARGE:
                raise  # anything else is one project's fault, which the stack tells without ending for it


async def _counted(root: Path, settings: Settings) -> tuple[Project, TreeSurveyed]:
    ensure_home(settings)
    project = Registry(settings).enrol(root, load_project_config(root, settings))
    async with embedded_bus(settings, writes=False, mode="kx") as bus:
        return project, await bus.request(SURVEY, SurveyTree(instance=project.instance), timeout_s=SURVEY_TIMEOUT_S)


def _refuse_large(context: Context, project: Project, survey: TreeSurveyed) -> None:
    if survey.walked <= MANY_FILES:
        return
    _show_largest(context, project, survey)
    if context.confirm("Index all {count} files of {root}?", count=survey.walked, root=project.root):
        return
    raise KxError(
        ErrorCode.ROOT_TOO_LARGE,
        "{root} has {count} files",
        hint="leave folders out in .kx.json as shown, or say that you mean it: kx index --yes {root}",
        root=project.root,
        count=survey.walked,
    )


def _show_largest(context: Context, project: Project, survey: TreeSurveyed) -> None:
    context.tell("{root} has {count} files; most of them are in:", root=project.root, count=survey.walked)
    for folder in survey.largest:
        context.tell("{files}  {path}", files=f"{folder.files:>9,}", path=folder.path)
    if survey.largest:
        line = '"ignoreFiles": ["/' + survey.largest[0].path + '"]'
        context.tell("to leave one out, write into {file}: {line}", file=f"{project.root}/.kx.json", line=line)
