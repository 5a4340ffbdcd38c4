"""Portuguese for the templates of the command, by their English form."""

from __future__ import annotations

PORTUGUESE: dict[str, str] = {
    "{count} results": "{count} resultado(s) encontrado(s).",
}
