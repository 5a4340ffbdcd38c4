"""Knowledge bases and memory: their errors, hints, help and answers."""

from __future__ import annotations

KNOWLEDGE: dict[str, str] = {
    "the content is longer than {limit} bytes": "o conteúdo tem mais de {limit} bytes",
    "split it into smaller documents": "divida-o em documentos menores",
    "nothing was handed over under the name {name}": "nada foi entregue sob o nome {name}",
    "send the content again": "envie o conteúdo de novo",
    "query or reference is needed": "é preciso query ou reference",
    "say what you look for in query": "diga em query o que procura",
    "{reference} is no reference": "{reference} não é uma referência",
    "give it as knowledge:ITEM@REVISION, or knowledge:ITEM for the current revision": (
        "escreva-a como knowledge:ITEM@REVISÃO, ou knowledge:ITEM para a revisão atual"
    ),
    "{path} is kept by kx itself and can be no project": "{path} é mantido pelo próprio kx e não pode ser um projeto",
    "search what is written down with: kx kb search": "busque o que está registrado com: kx kb search",
}
