"""The project gate, pure; the whole table over the file system is in the integration tests."""

from __future__ import annotations

import pytest

from services.mcp_gateway.core.guard import Assertion, Identity, assertion_of, check, is_comparable
from shared.errors import ErrorCode, KxError

ID = "3f2b8c1e-5d7a-4e0f-9b6c-1a2d3e4f5a6b"
ROOT = "/home/ana/shop"
GATED = Identity(project_id=ID, root=ROOT)
OPEN = Identity(project_id=None, root=ROOT)


def verdict(identity: Identity, project_id: object, root: object, canonical: str | None) -> ErrorCode | None:
    try:
        check(identity, Assertion(project_id=project_id, root=root), canonical)
    except KxError as error:
        return error.code
    return None


@pytest.mark.parametrize(
    ("identity", "project_id", "root", "canonical", "expected"),
    [
        (GATED, ID, ROOT, ROOT, None),
        (GATED, ID.upper(), "/link", ROOT, None),
        (GATED, None, None, None, ErrorCode.PROJECT_ASSERTION_REQUIRED),
        (GATED, ID, None, None, ErrorCode.PROJECT_ASSERTION_REQUIRED),
        (GATED, None, ROOT, ROOT, ErrorCode.PROJECT_ASSERTION_REQUIRED),
        (GATED, ID, "/home/ana", "/home/ana", ErrorCode.PROJECT_MISMATCH),
        (GATED, ID, "/home/ana/shop-old", "/home/ana/shop-old", ErrorCode.PROJECT_MISMATCH),
        (GATED, ID, "/nowhere", None, ErrorCode.PROJECT_MISMATCH),
        (GATED, "another", ROOT, ROOT, ErrorCode.PROJECT_MISMATCH),
        (OPEN, None, None, None, None),
        (OPEN, None, ROOT, ROOT, None),
        (OPEN, None, "/", "/", ErrorCode.PROJECT_MISMATCH),
        (OPEN, ID, None, None, ErrorCode.PROJECT_MISMATCH),
    ],
)
def test_who_is_let_in(identity, project_id, root, canonical, expected):
    """MISSION 1.8."""
    assert verdict(identity, project_id, root, canonical) is expected


@pytest.mark.parametrize("root", ["shop", "", "~/shop", "/a/../b", "/..", "/a\0b", None, 7, ["/a"]])
def test_a_root_that_names_no_place_is_not_looked_up(root):
    """Relative names would count from the gateway's own folder."""
    assert not is_comparable(root)


def test_empty_text_says_nothing():
    """A client that fills every argument with an empty text has asserted nothing."""
    assert assertion_of({"expected_project_id": "", "expected_project_root": ""}) == Assertion()
