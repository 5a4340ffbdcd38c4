"""What is said about access tokens and HTTP."""

from __future__ import annotations

ACCESS: dict[str, str] = {
    # kx token
    "Make, list and revoke the tokens that let agents in over HTTP.": (
        "Cria, lista e revoga os tokens que deixam agentes entrar por HTTP."
    ),
    "Make a token and print it, once: kx keeps only its hash.": (
        "Cria um token e o mostra uma única vez: o kx guarda só o hash."
    ),
    "What it allows; repeatable (default: search).": "O que ele permite; pode ser repetida (padrão: search).",
    "A project it is good for, by instance or path; repeatable (default: the one of the working directory; knowledge over "
    "/api/v1 needs none).": (
        "Um projeto para o qual ele vale, por instância ou caminho; pode ser repetida (padrão: o da pasta atual; "
        "conhecimento por /api/v1 não precisa de nenhum)."
    ),
    "The kind of client, which decides the tools it is shown.": (
        "O tipo de cliente, que decide as ferramentas mostradas a ele."
    ),
    "When it ends: 30d, 12h, a date such as 2030-01-31 (UTC), or never.": (
        "Quando termina: 30d, 12h, uma data como 2030-01-31 (UTC), ou never (nunca)."
    ),
    "On whose behalf it acts (default: a name of its own).": "Em nome de quem ele age (padrão: um nome próprio).",
    "A word to recognise it by.": "Uma palavra para reconhecê-lo.",
    "Show the tokens that were made and what each allows; never the tokens themselves.": (
        "Mostra os tokens criados e o que cada um permite; nunca os próprios tokens."
    ),
    "Make the token called ID worthless, at once and for good.": "Anula o token chamado ID, na hora e para sempre.",
    "this is shown once; send it as: Authorization: Bearer TOKEN": (
        "isto só é mostrado uma vez; envie-o assim: Authorization: Bearer TOKEN"
    ),
    "there is no token; make one with: kx token create": "não há nenhum token; crie um com: kx token create",
    "the token {token} lets nobody in any more": "o token {token} não deixa mais ninguém entrar",
    "there is no token {token}": "não há token {token}",
    "see the tokens with: kx token list": "veja os tokens com: kx token list",
    "{name} cannot be a principal": "{name} não pode ser um principal",
    "use at most 64 lower-case letters, digits, and . _ @ -": (
        "use no máximo 64 letras minúsculas, algarismos e . _ @ -"
    ),
    "30d, 12h, a date to come such as 2030-01-31, or never": (
        "30d, 12h, uma data futura como 2030-01-31, ou never (nunca)"
    ),
    "mend it, or move it away: then no token is valid and new ones can be made": (
        "conserte-o ou tire-o daí: então nenhum token vale e novos podem ser criados"
    ),
    # HTTP
    "Serve agents over HTTP, also before there is a token.": "Atende agentes por HTTP, mesmo antes de haver um token.",
    "Port of HTTP (default 5959; 0: any free one).": "Porta do HTTP (padrão 5959; 0: qualquer uma livre).",
    "Where HTTP listens (default 127.0.0.1); 0.0.0.0 is every address of this machine, never without a token.": (
        "Onde o HTTP escuta (padrão 127.0.0.1); 0.0.0.0 é todo endereço desta máquina, nunca sem um token."
    ),
    "this token is not good for the project you named": "este token não vale para o projeto que você indicou",
    "this token does not allow the tool {tool}": "este token não permite a ferramenta {tool}",
    "go on without it, or ask for a token with its scope: kx token create --scope {scope}": (
        "siga sem ela, ou peça um token com o escopo dela: kx token create --scope {scope}"
    ),
    "the tool {tool} is not for clients of the profile {profile}": (
        "a ferramenta {tool} não é para clientes do perfil {profile}"
    ),
    "go on without it, or ask for a token of another profile: kx token create --profile …": (
        "siga sem ela, ou peça um token de outro perfil: kx token create --profile …"
    ),
    "auto, on or off": "auto, on ou off",
    "valid": "válido",
    "expired": "expirado",
    "revoked": "revogado",
}
