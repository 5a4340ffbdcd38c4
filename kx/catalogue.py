"""The words a person reads: English templates and their Portuguese, chosen once per run (pure).

Codes, JSON and file formats never change with the language. A template without a translation is shown in English.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from shared.errors import KxError, fill

_PLACEHOLDER = re.compile(r"\{(\w+)\}")

# Values that are sentences themselves, by the name of their placeholder. Any other value belongs to the user: a folder
# or a project may be called like a word of ours.
_WORDED = frozenset({"error", "expected", "flaw", "found", "holder", "message", "problem", "reason", "repair"})


class Catalogue:
    """Translates templates into one language."""

    def __init__(self, lang: str = "en") -> None:
        self._translations: Mapping[str, str] = {}
        self._recognised: Mapping[str, str] = {}
        if lang == "pt":
            from kx.portuguese import PORTUGUESE, RECOGNISED

            self._translations, self._recognised = PORTUGUESE, RECOGNISED

    def text(self, template: str, **params: object) -> str:
        """Give the sentence for `template` in this language, filled."""
        return fill(self._translations.get(template, template), {name: str(value) for name, value in params.items()})

    def error(self, error: KxError) -> tuple[str, str]:
        """Give the message and the hint of an error; reasons among its values are worded in this language too."""
        params = {name: self._value(name, value) for name, value in error.params.items()}
        return self.text(error.message, **params), self.text(error.hint, **params)

    def sentence(self, filled: str) -> str:
        """Give a sentence that arrives filled, such as a note of an answer, in this language; one unknown stays.

        Its template is recognised by its form: the longest literal text decides, one that begins with a value comes
        last.
        """
        if filled in self._recognised:
            return self._recognised[filled]
        for template in sorted(self._recognised, key=_decisiveness):
            if "{" in template and (found := _match(template, filled)) is not None:
                return fill(
                    self._recognised[template], {name: self._value(name, value) for name, value in found.items()}
                )
        return filled

    def _value(self, name: str, value: str) -> str:
        return self.sentence(value) if name in _WORDED else value


def _decisiveness(template: str) -> tuple[bool, int]:
    return template.startswith("{"), -len(_PLACEHOLDER.sub("", template))


def _match(template: str, filled: str) -> dict[str, str] | None:
    pieces = _PLACEHOLDER.split(template)  # literal, name, literal, name, … literal
    if not all(literal in filled for literal in pieces[::2]):
        return None
    pattern = "".join(f"(?P<{piece}>.+?)" if at % 2 else re.escape(piece) for at, piece in enumerate(pieces))
    found = re.fullmatch(pattern, filled, re.DOTALL)
    return found.groupdict() if found is not None else None
