"""Ask before a very large root is indexed by accident."""

from __future__ import annotations

import os
from pathlib import Path

from kx.context import Context
from shared.bus import Bus
from shared.errors import ErrorCode, KxError
from shared.messages import SurveyTree, TreeSurveyed
from shared.registry import Project
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
