"""The words a person reads: English templates and their Portuguese, chosen once per process.

Codes, JSON and file formats never change with the language. A template without a translation is shown in English.
"""

from __future__ import annotations

from kx.portuguese import PORTUGUESE
from shared.errors import KxError, fill


class Catalogue:
    """Translates templates into one language."""

    def __init__(self, lang: str) -> None:
        self._translations = PORTUGUESE if lang == "pt" else {}

    def text(self, template: str, **params: object) -> str:
        """Give the sentence for `template` in this language, filled."""
        return fill(self._translations.get(template, template), {name: str(value) for name, value in params.items()})

    def error(self, error: KxError) -> tuple[str, str]:
        """Give the message and the hint of an error."""
        message = self._translations.get(error.message, error.message)
        hint = self._translations.get(error.hint, error.hint)
        return fill(message, error.params), fill(hint, error.params)
