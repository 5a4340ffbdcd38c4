"""One ignore file, pattern by pattern; git itself is asked in tests/integration/test_ignore_oracle.py."""

from __future__ import annotations

import time

import pytest

from shared.globregex import MalformedGlobError
from shared.globs import Glob, GlobSet, parse_line, regex_of
from shared.ignore import IgnoreFile


@pytest.mark.parametrize(
    ("line", "path", "is_dir", "fits"),
    [
        pytest.param("*.log", "a/b.log", False, True, id="name at any depth"),
        pytest.param("/b.log", "a/b.log", False, False, id="anchored"),
        pytest.param("a/b.log", "a/b.log", False, True, id="slash anchors"),
        pytest.param("a/b.log", "x/a/b.log", False, False, id="slash anchors to the base"),
        pytest.param("**/b.log", "a/x/b.log", False, True, id="any depth"),
        pytest.param("a/**/b", "a/b", False, True, id="no folder between"),
        pytest.param("a/**/b", "a/x/y/b", False, True, id="folders between"),
        pytest.param("a/**", "a/x/y", False, True, id="all below"),
        pytest.param("a/**", "a", True, False, id="not the folder itself"),
        pytest.param("a/*", "a/x/y", False, False, id="star stops at a slash"),
        pytest.param("foo**/bar", "foobar", False, True, id="git's reading of stars behind a word"),
        pytest.param("build/", "build", True, True, id="folder only"),
        pytest.param("build/", "build", False, False, id="no file"),
        pytest.param("a ", "a", False, True, id="trailing space"),
        pytest.param("a\\ ", "a ", False, True, id="escaped space"),
        pytest.param("a\t", "a", False, False, id="tab stays"),
        pytest.param("a\r", "a", False, True, id="CRLF"),
        pytest.param("\\#x", "#x", False, True, id="escaped hash"),
        pytest.param("# x", "# x", False, False, id="comment"),
        pytest.param("\\!x", "!x", False, True, id="escaped bang"),
        pytest.param("[a-c]x", "bx", False, True, id="range"),
        pytest.param("[!a-c]x", "bx", False, False, id="negated range"),
        pytest.param("[]x]", "]", False, True, id="bracket in a bracket"),
        pytest.param("[[:digit:]]", "7", False, True, id="class"),
        pytest.param("[[:space:]]", "\\x0c", False, False, id="no form feed in the class"),
        pytest.param("a[/]b", "a/b", False, False, id="bracket is no slash"),
        pytest.param("[a", "[a", False, False, id="unclosed"),
        pytest.param("a\\", "a\\", False, False, id="backslash at the end"),
        pytest.param("?", "é", False, False, id="one byte, as git counts"),
        pytest.param("??", "é", False, True, id="two bytes"),
        pytest.param("A", "a", False, False, id="case counts"),
    ],
)
def test_pattern_fits_as_git_says(line: str, path: str, is_dir: bool, fits: bool) -> None:
    """Row B4: each kind of pattern alone."""
    assert (IgnoreFile.parse(line).match(path, is_dir) is not None) is fits


def test_last_fitting_pattern_decides_and_is_named() -> None:
    """A verdict can be explained: file, line and pattern."""
    file = IgnoreFile.parse("*.log\n\n!keep.log\n", "sub")
    match = file.match("sub/keep.log", is_dir=False)
    assert match is not None
    assert (match.ignored, match.pattern, match.line, match.source) == (False, "!keep.log", 3, "sub/.gitignore")


def test_byte_order_mark_is_no_pattern() -> None:
    """A file saved by a Windows editor works."""
    assert IgnoreFile.parse(b"\xef\xbb\xbfa\n").match("a", is_dir=False) is not None


def test_name_that_is_not_utf8_can_be_ignored() -> None:
    """Row B3: patterns and paths are compared byte by byte."""
    assert IgnoreFile.parse(b"bad\xff").match("bad\\xff", is_dir=False) is not None


HOSTILE = [
    pytest.param("*a" * 50 + "b", "a" * 4000, id="many stars"),
    pytest.param("**/" * 40 + "*a" * 20 + "b", "a/" * 1500 + "c", id="many globstars"),
    pytest.param("**/a" * 30 + "/b", "a/" * 1500 + "c", id="globstar ladder"),
    pytest.param("?*" * 40 + "b", "a" * 4000, id="question marks and stars"),
    pytest.param("[a-z]*" * 40 + "b", "a" * 4000, id="brackets and stars"),
    pytest.param("x/" + "*a*" * 40 + "/b", "x/" + "a" * 3000, id="stars in a folder"),
    pytest.param("[" * 5000, "[" * 3000, id="open brackets"),
    pytest.param("*" * 5000 + "b", "a" * 4000, id="a row of stars"),
    pytest.param("/**" * 1500 + "/b", "a/" * 1500 + "c", id="long globstar chain"),
]


@pytest.mark.parametrize(("line", "path"), HOSTILE)
@pytest.mark.timeout(20)
def test_hostile_pattern_costs_little(line: str, path: str) -> None:
    """Row A16: no pattern of a stranger's repository stops the walk (deadline, five times the promised second)."""
    started = time.process_time()
    assert IgnoreFile.parse(line).match(path, is_dir=False) is None
    assert time.process_time() - started < 5


def test_many_patterns_are_tested_at_once() -> None:
    """Row A16: a file of thousands of patterns still answers, and the right one."""
    lines = [f"dir{n}/*.x{n}" for n in range(1_500)] + [f"*name[{n % 10}]{n}*" for n in range(1_500)]
    file = IgnoreFile.parse("\n".join(lines))
    match = file.match("dir77/a.x77", is_dir=False)
    assert match is not None
    assert match.line == 78
    assert file.match("dir77/a.x78", is_dir=False) is None


def test_malformed_pattern_is_told_apart() -> None:
    """The denylist refuses what an ignore file may silently contain."""
    with pytest.raises(MalformedGlobError):
        regex_of(Glob("[a", 0, False, False, True, "[a"))


def test_empty_lines_are_no_patterns() -> None:
    """Nothing, a comment, a slash and a bare bang say nothing."""
    assert [parse_line(line) for line in ("", "   ", "#", "/", "!", "!/")] == [None] * 6
    assert not GlobSet([])
