"""The project gate: is this the project the agent means (pure).

An agent states which project it works on; a server that was started for another one then refuses, so that no answer of
one project is taken for an answer of another. What is expected is never told: an agent knows its own two values or it
has no business here.
"""

from __future__ import annotations

from collections.abc import Mapping

from msgspec import Struct

from shared.errors import ErrorCode, KxError

PROJECT_ID = "expected_project_id"
PROJECT_ROOT = "expected_project_root"

WHERE_TO_LOOK = (
    "take expected_project_id from mcp.projectId in the .kx.json of the project you work on, and expected_project_root "
    "from the absolute path of that project's folder"
)


class Identity(Struct, frozen=True, kw_only=True):
    """The project a session was started for."""

    project_id: str | None  # lower case; None where the project asks for no assertion
    root: str  # canonical


class Assertion(Struct, frozen=True, kw_only=True):
    """What the agent says, as it came; None where it says nothing."""

    project_id: object = None
    root: object = None


def assertion_of(arguments: Mapping[str, object]) -> Assertion:
    """Take the two values out of a call's arguments; empty text is as good as nothing."""
    return Assertion(project_id=arguments.get(PROJECT_ID) or None, root=arguments.get(PROJECT_ROOT) or None)


def is_comparable(root: object) -> bool:
    """Tell whether a stated root can be brought into canonical form at all.

    It must be absolute, because the gateway's working directory is nobody's; a `..` is no way to name one's own root.

    >>> is_comparable("/home/ana/shop"), is_comparable("shop"), is_comparable("/home/ana/shop/../shop")
    (True, False, False)
    """
    return isinstance(root, str) and root.startswith("/") and ".." not in root.split("/") and "\0" not in root


def check(identity: Identity, stated: Assertion, canonical: str | None) -> None:
    """Let through who means this project; `canonical` is the stated root without links, None where there is none.

    Must be called before anything of the project is opened, counted or written.

    Raises:
        KxError: PROJECT_ASSERTION_REQUIRED, PROJECT_MISMATCH.
    """
    if identity.project_id is not None and (stated.project_id is None or stated.root is None):
        raise unnamed_project()
    if stated.project_id is not None and not _is_same_id(stated.project_id, identity.project_id):
        raise _mismatch()
    if stated.root is not None and (canonical is None or canonical != identity.root):
        raise _mismatch()


def _is_same_id(stated: object, ours: str | None) -> bool:
    return isinstance(stated, str) and ours is not None and stated.lower() == ours


def unnamed_project() -> KxError:
    """Ask who calls to say which project it means."""
    return KxError(
        ErrorCode.PROJECT_ASSERTION_REQUIRED,
        "this project wants to be named: expected_project_id and expected_project_root are required",
        hint=WHERE_TO_LOOK,
    )


def unknown_project() -> KxError:
    """Refuse a project a token is not good for; whether there is such a project is not told."""
    return KxError(
        ErrorCode.PROJECT_MISMATCH,
        "this token is not good for the project you named",
        hint=WHERE_TO_LOOK + "; if both are right, ask for a token for that project: kx token create --project FOLDER",
    )


def _mismatch() -> KxError:
    return KxError(
        ErrorCode.PROJECT_MISMATCH,
        "this server was started for another project than the one you named",
        hint=WHERE_TO_LOOK + "; if both are right, start kx in that project: kx mcp --project-root FOLDER",
    )
