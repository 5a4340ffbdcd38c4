"""What speaks against a file."""

from collections.abc import Sequence

import numpy as np
import pytest

from services.query.core.evidence import demotion
from services.query.core.evidence.asked import Asked
from services.query.core.evidence.demotion import is_aside, is_record, is_test, misplaced_code, only_tests
from services.query.core.evidence.wording import Shares
from shared.messages import KindFilter
from tests.support.evidence import make_asked, make_corpus

CORPUS = make_corpus("a b c")
BOTH: Sequence[KindFilter] = ("docs", "code")


def asides(paths: Sequence[str], asked: Asked) -> Shares:
    return demotion.asides(paths, ["docs" for _ in paths], asked)


def misplaced_prose(query: str, *, in_code: bool = True) -> list[float]:
    has_all = np.array([True, in_code])
    return list(demotion.misplaced_prose(BOTH, make_asked(query, CORPUS), has_all).tolist())


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
    assert misplaced_prose(query) == [prose, 0.0]
    assert misplaced_code(BOTH, asked).tolist() == [0.0, code]


@pytest.mark.parametrize("query", ["retry_policy", '"no more than three times"'])
def test_prose_is_no_worse_for_what_no_code_has(query: str) -> None:
    """A configuration key or a quoted sentence is wanted where it stands."""
    assert misplaced_prose(query, in_code=False) == [0.0, 0.0]
    assert misplaced_prose(query, in_code=True) == [1.0, 0.0]
    assert misplaced_prose("retry policy", in_code=False) == [1.0, 0.0]


@pytest.mark.parametrize(
    "path", ["CHANGELOG.md", "CHANGES.rst", "LICENSE", "LICENSE-MIT.txt", "news-2.1.md", "SECURITY.md"]
)
def test_records_are_known_by_their_name(path: str) -> None:
    """They name everything that ever changed and explain nothing; code and pages about such things are none."""
    assert is_record(path, "docs")
    assert not is_record("src/history.ts", "code")
    assert not is_record("docs/security-model.md", "docs")


def test_records_are_not_demoted_when_they_were_asked_for() -> None:
    """What changed is told by the changelog."""
    assert asides(["CHANGELOG.md"], make_asked("retries of the service", CORPUS)).tolist() == [1.0]
    assert not asides(["CHANGELOG.md"], make_asked("new in the last version", CORPUS)).any()
    assert not asides(["LICENSE"], make_asked("qual é a licença", CORPUS)).any()
