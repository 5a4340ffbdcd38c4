"""Knowledge bases and memory: their errors, hints, help and answers."""

from __future__ import annotations

KNOWLEDGE: dict[str, str] = {
    "the content is longer than {limit} bytes": "o conteúdo tem mais de {limit} bytes",
    "split it into smaller documents": "divida-o em documentos menores",
    "nothing was handed over under the name {name}": "nada foi entregue sob o nome {name}",
    "send the content again": "envie o conteúdo de novo",
}
