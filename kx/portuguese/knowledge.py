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
    "this token does not allow {operation}": "este token não permite {operation}",
    "use a token with its scope: kx token create --scope {scope}": (
        "use um token com o escopo dela: kx token create --scope {scope}"
    ),
    "the request cannot be used: {problem}": "a requisição não pode ser usada: {problem}",
    "its form is told at /api/v1/openapi.json": "a forma dela está em /api/v1/openapi.json",
    "the request failed unexpectedly": "a requisição falhou inesperadamente",
    "the log names the place": "o log diz o lugar",
    "the content has half of a character in it": "o conteúdo tem metade de um caractere",
    "send it as UTF-8": "envie-o em UTF-8",
}
