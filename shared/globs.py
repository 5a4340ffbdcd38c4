"""Glob patterns in git's dialect: one pattern, and an ordered list of them (pure).

Used for ignore files, the denylist and configured sources. Nothing here backtracks without bound (row A16): a hostile
pattern costs pattern length times path length at most.

Source: git's documentation (gitignore) and its observable behaviour, with git itself as the oracle of the tests.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from msgspec import Struct

from shared.globregex import NEVER, MalformedGlobError, lowered, translate

_SPECIAL = re.compile(r"[*?\[\\]")
MAX_REGEXES = 20_000  # of one list; each costs every path about 0.2 us
MAX_COMBINED = 1_000  # tested as one expression; more would take longer to compile than they save


class Glob(Struct, frozen=True):
    """One pattern, taken apart."""

    written: str
    line: int  # 1-based; 0 outside a file
    negated: bool
    dir_only: bool
    name_only: bool  # it has no slash: compared with a path's last component
    glob: str  # without "!", the first and the last slash
    fold: bool = False  # compare with lower-case text: git's core.ignoreCase


def parse_line(line: str, number: int = 0, *, fold: bool = False) -> Glob | None:
    """Take one line of an ignore file apart; None for a comment or nothing.

    With `fold` the pattern is for text whose ASCII letters are lower case. As in git, letters in brackets and escaped
    ones keep their case then (so "[A]" fits nothing), but ranges and classes do not.
    """
    if line.startswith("#"):
        return None
    line = _trim(line.removesuffix("\r").partition("\0")[0])
    negated = line.startswith("!")
    glob = line[1:] if negated else line
    dir_only = glob.endswith("/")
    glob = glob.removesuffix("/")
    if not glob:
        return None
    name_only = "/" not in glob
    glob = glob.removeprefix("/")
    return Glob(line, number, negated, dir_only, name_only, lowered(glob) if fold else glob, fold)


class GlobSet:
    """An ordered list of patterns of which the last that fits decides.

    Of the patterns that need a regular expression only the last `MAX_REGEXES` count: a list beyond that is an attack.
    """

    def __init__(self, globs: Sequence[Glob]) -> None:
        self._matchers = _matchers(globs)
        self._may_match = _prefilter([matcher.glob for matcher in self._matchers])

    def __bool__(self) -> bool:
        return bool(self._matchers)

    def fits(self, path: str, *, is_dir: bool) -> bool:
        """Tell whether the last pattern that fits is no negation."""
        glob = self.last(path, is_dir)
        return glob is not None and not glob.negated

    def last(self, path: str, is_dir: bool) -> Glob | None:
        """Give the last pattern that fits `path` itself (its parents are not looked at)."""
        name = path[path.rfind("/") + 1 :]
        if not self._may_match(path, name):
            return None
        for matcher in self._matchers:
            glob = matcher.glob
            if glob.dir_only and not is_dir:
                continue
            if matcher.fits(name if glob.name_only else path):
                return glob
        return None


class _Matcher:
    """One pattern; its regular expression is made when the fixed beginning and end have fitted for the first time."""

    def __init__(self, glob: Glob) -> None:
        self.glob = glob
        self._is_literal = _is_literal(glob.glob)
        self._start = _literal_start(glob.glob)
        self._end = "" if self._is_literal else _literal_end(glob.glob)
        self._is_simple = _is_tail(glob) or _is_head(glob)
        self.is_cheap = self._is_literal or self._is_simple
        self._fullmatch: Callable[[str], re.Match[str] | None] | None = None

    def fits(self, text: str) -> bool:
        if self._is_literal:
            return text == self._start
        if not (text.startswith(self._start) and text.endswith(self._end)):
            return False
        if self._is_simple:
            return True
        if self._fullmatch is None:
            self._fullmatch = re.compile(_regex_or_never(self.glob), re.DOTALL).fullmatch
        return self._fullmatch(text) is not None


def regex_of(glob: Glob) -> str:
    """Translate a pattern to a regular expression for `fullmatch` with DOTALL.

    Raises:
        MalformedGlobError: it can never match.
    """
    return translate(glob.glob, paths=not glob.name_only, fold=glob.fold)


def _trim(line: str) -> str:
    """Remove trailing spaces (not tabs); a backslash keeps the first of them."""
    end = len(line.rstrip(" "))
    if end == len(line):
        return line
    backslashes = end - len(line[:end].rstrip("\\"))
    return line[: end + backslashes % 2]


def _is_literal(glob: str) -> bool:
    return _SPECIAL.search(glob) is None


def _is_tail(glob: Glob) -> bool:
    return glob.name_only and glob.glob.startswith("*") and _is_literal(glob.glob[1:])


def _is_head(glob: Glob) -> bool:
    return glob.name_only and glob.glob.endswith("*") and _is_literal(glob.glob[:-1])


def _literal_start(glob: str) -> str:
    special = _SPECIAL.search(glob)
    return glob if special is None else glob[: special.start()]


def _literal_end(glob: str) -> str:
    """Give what a matching text must end with; "**/" may stand for nothing at all."""
    return "" if "\\" in glob or "[" in glob else glob[max(glob.rfind("*"), glob.rfind("?")) + 1 :].lstrip("/")


def _regex_or_never(glob: Glob) -> str:
    try:
        return regex_of(glob)
    except MalformedGlobError:
        return NEVER


def _matchers(globs: Sequence[Glob]) -> list[_Matcher]:
    """Give the matchers, the last pattern first."""
    matchers: list[_Matcher] = []
    regexes = 0
    for glob in reversed(globs):
        matcher = _Matcher(glob)
        regexes += not matcher.is_cheap
        if matcher.is_cheap or regexes <= MAX_REGEXES:
            matchers.append(matcher)
    return matchers


def _prefilter(globs: Sequence[Glob]) -> Callable[[str, str], bool]:
    """Give a quick test that may say yes wrongly and never no wrongly: most paths meet no pattern at all."""
    literal = [glob for glob in globs if _is_literal(glob.glob)]
    names = {glob.glob for glob in literal if glob.name_only}
    paths = {glob.glob for glob in literal if not glob.name_only}
    tails = tuple(glob.glob[1:] for glob in globs if _is_tail(glob))
    heads = tuple(glob.glob[:-1] for glob in globs if _is_head(glob))
    others = [glob for glob in globs if not (_is_literal(glob.glob) or _is_tail(glob) or _is_head(glob))]
    in_name = _any_of([glob for glob in others if glob.name_only])
    in_path = _any_of([glob for glob in others if not glob.name_only])

    def may_match(path: str, name: str) -> bool:
        return (
            name in names
            or path in paths
            or name.endswith(tails)
            or name.startswith(heads)
            or in_name(name)
            or in_path(path)
        )

    return may_match


def _any_of(globs: Sequence[Glob]) -> Callable[[str], bool]:
    if not globs:
        return lambda _: False
    if len(globs) > MAX_COMBINED:
        return lambda _: True
    fullmatch = re.compile("|".join(f"(?:{_regex_or_never(glob)})" for glob in globs), re.DOTALL).fullmatch
    return lambda text: fullmatch(text) is not None
