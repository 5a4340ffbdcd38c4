"""Events that say nothing about the project."""

import pytest

from services.watcher.core.noise import is_git_internal, is_own_file, scope_of


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        (".git/index.lock", True),
        ("sub/.git/refs/heads/main", True),
        (".git/info/exclude", False),
        ("sub/.git/info/exclude", False),
        (".git", False),
        ("a.git/x", False),
        (".gitignore", False),
        ("", False),
    ],
)
def test_git_writes_much_for_itself(path, expected):
    """Fact I: a commit gave 18,000 events."""
    assert is_git_internal(path) is expected


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        (".kx/run/stack.json", True),
        (".kx", True),
        (".kxx/a", False),
        ("idx/p.sqlite", True),
        ("idx/p.sqlite-wal", True),
        ("idx/p.sqlite.lock", True),
        ("idx/p.sqlite.md", False),
        ("a.md", False),
    ],
)
def test_own_files_never_trigger(path, expected):
    """Issue 5.1: the index and the home may lie in the tree."""
    assert is_own_file(path, home=".kx", index="idx/p.sqlite") is expected
    assert not is_own_file(path, home=None, index=None)


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        (".gitignore", ""),
        ("a/.gitignore", "a"),
        (".kx.json", ""),
        (".xindex.json", ""),
        ("a/b/.git", "a/b"),
        ("a/.git/info/exclude", "a"),
        (".git/info/exclude", ""),
        ("a/b.md", None),
    ],
)
def test_rules_change_in_their_folder(path, expected):
    """Case 19: what a change of an ignore file or of the configuration may change."""
    assert scope_of(path) == expected
