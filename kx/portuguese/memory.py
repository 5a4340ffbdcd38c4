"""What memory and the search of knowledge refuse and note."""

from __future__ import annotations

MEMORY: dict[str, str] = {
    "a text to remember has 1 to {limit} characters, this one has {count}": (
        "um texto para lembrar tem de 1 a {limit} caracteres, este tem {count}"
    ),
    "say it shortly; what is long belongs into a knowledge base: kx kb add": (
        "diga em poucas palavras; o que é longo vai para uma base de conhecimento: kx kb add"
    ),
    "a record has at most {limit} tags": "um registro tem no máximo {limit} etiquetas",
    "a durable record does not expire": "um registro durável não expira",
    "remember it as working, or leave expires_s out": "lembre-o como transitório, ou omita expires_s",
    "a viewer of a team space does not change its memory": "um leitor de um espaço de equipe não altera a memória dele",
    "ask the owner of the space for another role": "peça outro papel ao dono do espaço",
    "there is no record {id}": "não há registro {id}",
    "the memory of this project holds {limit} records": "a memória deste projeto tem {limit} registros",
    "forget some: kx memory list, kx memory forget ID": "esqueça alguns: kx memory list, kx memory forget ID",
    "{count} records are too many to forget at once": "{count} registros são demais para esquecer de uma vez",
    "name at most {limit}": "cite no máximo {limit}",
    "{differing} passages differ from their revision and were left out": (
        "{differing} trechos diferem da sua revisão e ficaram de fora"
    ),
    "the texts of the space {name} are not in the index yet": "os textos do espaço {name} ainda não estão no índice",
    "its texts are not in the index yet": "os textos dele ainda não estão no índice",
    "nothing is published in what was searched": "nada está publicado onde se buscou",
    "memory was searched by words alone: {code}": "a memória foi buscada só por palavras: {code}",
    "no knowledge is given: the token lacks the scope knowledge:read": (
        "nenhum conhecimento é dado: falta ao token o escopo knowledge:read"
    ),
    "no knowledge is linked to this project, and there is no team space": (
        "nenhum conhecimento está ligado a este projeto, e não há espaço de equipe"
    ),
    "no knowledge is given: {code}": "nenhum conhecimento é dado: {code}",
    "{count} texts did not fit the tokens asked for": "{count} textos não couberam nos tokens pedidos",
}
