"""What speaks against a file."""

import pytest

from services.query.core.evidence.demotion import asides, is_aside, is_test, misplaced_code, misplaced_prose, only_tests
from tests.support.evidence import make_asked, make_corpus

CORPUS = make_corpus("a b c")


@pytest.mark.parametrize(
    "path",
    [
        "tests/a.py",
        "src/__tests__/b.ts",
        "pkg/app_test.go",
        "test_app.py",
        "spec/models/user.rb",
        "UserTest.java",
        "x.spec.ts",
    ],
)
def test_tests_are_known_by_their_path(path: str) -> None:
    """Folder or file pattern of the common languages."""
    assert is_test(path)


@pytest.mark.parametrize(
    "path", ["src/latest.py", "contest/a.py", "attestation.go", "docs/testing-guide.md", "src/app.py"]
)
def test_a_word_that_only_contains_test_is_no_test(path: str) -> None:
    """Components, not substrings."""
    assert not is_test(path)


@pytest.mark.parametrize(
    "path", ["examples/todo.py", "src/compat.py", "vendor/lib/x.go", "scripts/build.sh", "a/_compat_v1.py"]
)
def test_asides_are_known_by_their_path(path: str) -> None:
    """Examples, vendored and legacy code, scripts."""
    assert is_aside(path)
    assert not is_aside("src/app.py")


def test_nothing_is_demoted_that_was_asked_for() -> None:
    """A question about tests wants tests."""
    paths = ["tests/test_app.py", "examples/app.py"]
    plain, about = make_asked("how the app starts", CORPUS), make_asked("test of the app", CORPUS)
    assert only_tests(paths, plain).tolist() == [1.0, 0.0]
    assert asides(paths, plain).tolist() == [0.0, 1.0]
    assert not only_tests(paths, about).any()
    assert not asides(paths, about).any()


@pytest.mark.parametrize(
    ("query", "prose", "code"),
    [
        ("how do I install it", 0.0, 1.0),
        ("how does it start itself", 0.0, 0.0),
        ("retry of the service", 1.0, 0.0),
    ],
    ids=["use", "working", "thing"],
)
def test_the_wording_tells_which_kind_is_misplaced(query: str, prose: float, code: float) -> None:
    """How to use something is asked of documentation, the thing itself of code, how it works of both."""
    asked = make_asked(query, CORPUS)
    assert misplaced_prose(["docs", "code"], asked).tolist() == [prose, 0.0]
    assert misplaced_code(["docs", "code"], asked).tolist() == [0.0, code]
