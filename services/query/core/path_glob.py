r"""Path globs of a request: `*` within a name, `**` across folders (pure).

The user's text never reaches the store's own pattern language: it becomes one of our matchers, which does not
backtrack without bound, and what it selects is a list of document ids.
"""

from __future__ import annotations

import re
import unicodedata

from msgspec import Struct

from shared.globs import Glob, regex_of

_WILD = re.compile(r"[*?\[]")

MAX_GLOB_CHARS = 1_000


class PathGlob(Struct, frozen=True, kw_only=True):
    """A compiled glob."""

    pattern: re.Pattern[str]

    def matches(self, path: str) -> bool:
        """Tell whether a project-relative path is selected; NFC and NFD spellings are equal."""
        return self.pattern.fullmatch(unicodedata.normalize("NFC", path)) is not None


class Below(Struct, frozen=True, kw_only=True):
    """What lies below one of many folders, and within a glob where there is one; the folders cost the same, however many."""

    folders: frozenset[str]
    glob: PathGlob | None = None

    def matches(self, path: str) -> bool:
        """Tell whether a path is selected.

        >>> Below(folders=frozenset({"a/b"})).matches("a/b/c.md"), Below(folders=frozenset({"a/b"})).matches("a/bc.md")
        (True, False)
        """
        parts = path.split("/")
        is_below = any("/".join(parts[:count]) in self.folders for count in range(1, len(parts)))
        return is_below and (self.glob is None or self.glob.matches(path))


def compile_glob(glob: str) -> PathGlob:
    """Compile a glob; `ValueError` when it is too long or malformed, such as an unclosed bracket.

    Without a wildcard it names a file, or a folder with everything below; wildcards without a slash are compared with
    the name alone, at any depth, as git and ripgrep do.

    >>> compile_glob("docs/**/*.md").matches("docs/a/b.md"), compile_glob("docs/*.md").matches("docs/a/b.md")
    (True, False)
    >>> compile_glob("*.md").matches("docs/a/b.md"), compile_glob("docs").matches("docs/a/b.md")
    (True, True)
    """
    if len(glob) > MAX_GLOB_CHARS:
        raise ValueError(f"a path glob has at most {MAX_GLOB_CHARS} characters")
    text = unicodedata.normalize("NFC", glob).removeprefix("./").lstrip("/")
    folder = text.rstrip("/")
    if _WILD.search(text) is None:
        below = "" if not folder else re.escape(folder) + "(?:/.*)?"
        return PathGlob(pattern=re.compile(below or ".*", re.DOTALL))
    if text.endswith("/"):
        text = folder + "/**"
    elif "/" not in text:
        text = "**/" + text
    translated = regex_of(Glob(glob, 0, negated=False, dir_only=False, name_only=False, glob=text))
    return PathGlob(pattern=re.compile(translated, re.DOTALL))
