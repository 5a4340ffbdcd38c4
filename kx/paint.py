"""Colours of answers on a terminal, few and discreet; off wherever a program reads (pure)."""

from __future__ import annotations

import click


class Paint:
    """Colours by what a text is. Paint what is safe to print already: colours are escapes themselves."""

    def __init__(self, *, is_on: bool = False) -> None:
        self._is_on = is_on

    def score(self, text: str) -> str:
        """Colour a score."""
        return self._style(text, fg="yellow")

    def place(self, text: str) -> str:
        """Colour a path and its lines."""
        return self._style(text, fg="cyan", bold=True)

    def aside(self, text: str) -> str:
        """Dim what is beside the point: kind and origin, notes, separators."""
        return self._style(text, dim=True)

    def _style(self, text: str, *, fg: str | None = None, bold: bool | None = None, dim: bool | None = None) -> str:
        return click.style(text, fg=fg, bold=bold, dim=dim) if self._is_on else text


PLAIN = Paint()
