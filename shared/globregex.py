"""Translate one glob of git's dialect to a regular expression that does not backtrack without bound (pure).

Source: git's documentation (gitignore) and its observable behaviour, with git itself as the oracle of the tests.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

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
NEVER = "(?!)"


class MalformedGlobError(ValueError):
    """A pattern that can never match: an unclosed bracket, an unknown class, a backslash at the end."""


def translate(glob: str, *, paths: bool, fold: bool) -> str:
    """Give the expression, for `fullmatch` with DOTALL. `paths`: a slash separates; `fold`: the text is lower case.

    A star is taken lazily and, with the star-free piece after it, put in an atomic group: the first place where the
    piece fits is as good as any later one (it has a fixed length, or it holds a slash and can stand in one place only),
    so there is nothing to come back to. The same holds for what stands between two "**/".

    Raises:
        MalformedGlobError: it can never match.
    """
    return _Translation(glob, paths=paths, fold=fold).regex


def lowered(glob: str) -> str:
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
        return f"(?!/)[{items}]" if items else NEVER


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
