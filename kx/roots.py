"""Ask before a very large root is indexed by accident."""

from __future__ import annotations

import os
from pathlib import Path

from kx.context import Context
from shared.errors import ErrorCode, KxError


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
