"""Path globs of a request."""

import pytest

from services.query.core.path_glob import compile_glob


@pytest.mark.parametrize(
    ("glob", "path", "selected"),
    [
        ("docs/**/*.md", "docs/a.md", True),
        ("docs/**/*.md", "docs/x/y/a.md", True),
        ("docs/**/*.md", "src/docs/a.md", False),
        ("docs/*.md", "docs/x/a.md", False),
        ("docs/**", "docs/x/a.md", True),
        ("docs/", "docs/x/a.md", True),
        ("docs", "docs/x/a.md", True),
        ("docs", "docs2/a.md", False),
        ("./docs/*.md", "docs/a.md", True),
        ("*.md", "deep/er/a.md", True),
        ("**/test_*.py", "tests/unit/test_a.py", True),
        ("src/?.py", "src/a.py", True),
        ("src/?.py", "src/ab.py", False),
        ("src/[ab].py", "src/b.py", True),
        ("a.md", "axmd", False),
        ("%", "anything", False),
        ("notas/a\u00e7\u00e3o.md", "notas/ac\u0327a\u0303o.md", True),
        ("x' OR 1=1 --", "a.md", False),
        ("**", "a/b", True),
    ],
)
def test_a_glob_selects_exactly(glob: str, path: str, selected: bool) -> None:
    """MISSION 4.1 and row A8: `*` within a name, `**` across folders, everything else literal."""
    assert compile_glob(glob).matches(path) is selected


@pytest.mark.parametrize("glob", ["docs/[", "x" * 2_000], ids=["bracket", "long"])
def test_a_malformed_glob_is_refused(glob: str) -> None:
    """A glob that can select nothing is an error, not an empty answer."""
    with pytest.raises(ValueError):
        compile_glob(glob)


def test_a_hostile_glob_ends() -> None:
    """Row A16: no backtracking without bound."""
    assert not compile_glob("*a" * 400 + "b").matches("a" * 4_000)
