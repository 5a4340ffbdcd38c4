"""Glob patterns in git's dialect: one pattern, and an ordered list of them (pure).

Used for ignore files, the denylist and configured sources. Nothing here backtracks without bound (row A16): a hostile
pattern costs pattern length times path length at most.

Source: git's documentation (gitignore) and its observable behaviour, with git itself as the oracle of the tests.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from msgspec import Struct

_SPECIAL = re.compile(r"[*?\[\\]")
_LITERAL_RUN = re.compile(r"[^*?\[\\]*")
# As git's own tables have them: "space" knows neither form feed nor vertical tab.
_CLASSES = {
    "alnum": "0-9A-Za-z",
    "alpha": "A-Za-z",
    "blank": " \\t",
    "cntrl": "\\x00-\\x1f\\x7f",
    "digit": "0-9",
    "graph": "!-~",
    "lower": "a-z",
    "print": " -~",
    "punct": "!-/:-@\\[-`{-~",
    "space": " \\t\\n\\r",
    "upper": "A-Z",
    "xdigit": "0-9A-Fa-f",
}
_NEVER = "(?!)"

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


class MalformedGlobError(ValueError):
    """A pattern that can never match: an unclosed bracket, an unknown class, a backslash at the end."""


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
    return Glob(line, number, negated, dir_only, name_only, _lowered(glob) if fold else glob, fold)


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

    A star is taken lazily and, with the star-free piece after it, put in an atomic group: the first place where the
    piece fits is as good as any later one (it has a fixed length, or it holds a slash and can stand in one place only),
    so there is nothing to come back to. The same holds for what stands between two "**/".

    Raises:
        MalformedGlobError: it can never match.
    """
    return _Translation(glob.glob, paths=not glob.name_only, fold=glob.fold).regex


def _trim(line: str) -> str:
    """Remove trailing spaces (not tabs); a backslash keeps the first of them."""
    end = len(line.rstrip(" "))
    if end == len(line):
        return line
    backslashes = end - len(line[:end].rstrip("\\"))
    return line[: end + backslashes % 2]


def _lowered(glob: str) -> str:
    """Put ASCII letters in lower case, but not those in brackets and behind a backslash."""
    out = ""
    at = 0
    while at < len(glob):
        end = at + 1
        if glob[at] == "[":
            try:
                end = _bracket_items(glob, at + 1 + (glob[at + 1 : at + 2] in {"!", "^"}), fold=True)[1]
            except MalformedGlobError:
                return glob  # it fits nothing in any case
            out += glob[at:end]
        elif glob[at] == "\\":
            end = at + 2
            out += glob[at:end]
        else:
            out += glob[at].lower() if glob[at].isascii() else glob[at]
        at = end
    return out


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
        return _NEVER


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


class _Translation:
    """One walk over a pattern. `paths` says that a slash separates, so that "**" means something."""

    def __init__(self, glob: str, *, paths: bool, fold: bool) -> None:
        self._glob = glob
        self._paths = paths
        self._fold = fold
        self._at = 0
        literal = _LITERAL_RUN.match(glob)
        # Git compares the literal beginning first and matches the rest alone, so "**" right behind it counts as
        # standing at a beginning: "foo**/bar" fits "foobar". Odd, but git's verdict.
        self._start = literal.end() if literal is not None else 0
        self.regex = self._whole()

    def _whole(self) -> str:
        regions = [self._region()]
        skips: list[str] = []
        while self._at < len(self._glob):
            skips.append(self._globstar())
            regions.append(self._region())
        regex = _joined(regions[0], last=not skips)
        for number, (skip, region) in enumerate(zip(skips, regions[1:], strict=True), 1):
            last = number == len(skips)
            inner = _joined(region, last=last)
            regex += skip + inner if last else f"(?>{skip}?{inner})"
        return regex

    def _region(self) -> list[str]:
        """Read up to the next globstar; give the star-free pieces between single stars."""
        pieces = [""]
        while self._at < len(self._glob):
            char = self._glob[self._at]
            if char == "*":
                if self._is_globstar():
                    break
                self._skip_stars()
                pieces.append("")
            else:
                pieces[-1] += self._single(char)
        return pieces

    def _skip_stars(self) -> None:
        while self._glob[self._at : self._at + 1] == "*":
            self._at += 1

    def _is_globstar(self) -> bool:
        at = self._at
        if not self._paths or not self._glob.startswith("**", at):
            return False
        if at != self._start and self._glob[at - 1 : at] != "/":
            return False
        rest = self._glob[at:].lstrip("*")
        return rest == "" or rest.startswith(("/", "\\/"))

    def _globstar(self) -> str:
        self._skip_stars()
        if self._at == len(self._glob):
            return ".*"
        if self._glob[self._at] == "/":
            self._at += 1
            return "(?:[^/]*/)*"
        self._at += 2
        return "(?:[^/]*/)+"

    def _single(self, char: str) -> str:
        """Translate what stands for exactly one character."""
        if char == "?":
            self._at += 1
            return "[^/]"
        if char == "[":
            return self._bracket()
        if char == "\\":
            self._at += 1
            if self._at == len(self._glob):
                raise MalformedGlobError(self._glob)
            char = self._glob[self._at]
        self._at += 1
        return re.escape(char)

    def _bracket(self) -> str:
        glob = self._glob
        at = self._at + 1
        negated = glob[at : at + 1] in {"!", "^"}
        if negated:
            at += 1
        items, self._at = _bracket_items(glob, at, fold=self._fold)
        if negated:
            return f"[^/{items}]"
        return f"(?!/)[{items}]" if items else _NEVER


def _joined(pieces: Sequence[str], *, last: bool) -> str:
    """Put single stars between pieces; the last piece of a pattern must reach the end, so it may be tried later."""
    regex = pieces[0]
    for number, piece in enumerate(pieces[1:], 1):
        if last and number == len(pieces) - 1:
            regex += "[^/]*" + piece
        else:
            regex += f"(?>[^/]*?{piece})"
    return regex


def _bracket_items(glob: str, at: int, *, fold: bool) -> tuple[str, int]:
    """Read a bracket from its first item; give a regex class body and where the pattern goes on."""
    items = ""
    previous = ""  # what a "-" may begin a range with
    first = True
    while first or glob[at : at + 1] != "]":
        first = False
        char = glob[at : at + 1]
        if not char:
            raise MalformedGlobError(glob)
        if char == "-" and previous and glob[at + 1 : at + 2] not in {"", "]"}:
            end, at = _escaped(glob, at + 1)
            items += _range(previous, end)
            if fold:
                items += _range(max(previous, "A"), min(end, "Z")).lower()
            previous = ""
        elif char == "[" and glob[at + 1 : at + 2] == ":":
            name, after = _class_name(glob, at)
            if name is None:
                items, previous, at = items + "\\[", "[", at + 1
            else:
                items, previous, at = items + _CLASSES["lower" if fold and name == "upper" else name], "", after
        else:
            previous, at = _escaped(glob, at)
            items += re.escape(previous)
    return items, at + 1


def _range(begin: str, end: str) -> str:
    return f"{re.escape(begin)}-{re.escape(end)}" if begin <= end else ""


def _escaped(glob: str, at: int) -> tuple[str, int]:
    if glob[at] == "\\":
        at += 1
    if at >= len(glob):
        raise MalformedGlobError(glob)
    return glob[at], at + 1


def _class_name(glob: str, at: int) -> tuple[str | None, int]:
    """Read "[:name:]"; None when the ":]" is missing, so that the bracket is an ordinary character."""
    close = glob.find("]", at + 2)
    if close < 0:
        raise MalformedGlobError(glob)
    if close - 1 < at + 2 or glob[close - 1] != ":":
        return None, at
    name = glob[at + 2 : close - 1]
    if name not in _CLASSES:
        raise MalformedGlobError(glob)
    return name, close + 1
