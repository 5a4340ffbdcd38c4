"""Artifacts: pages an agent published, kept as structured truth, and the page derived from it (pure).

The form of the store is the original's, and what it holds beyond our keys is kept.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any
from urllib.parse import quote, urlsplit, urlunsplit

import msgspec
from msgspec import Struct

from services.megabrain.core.activity import Activity
from services.megabrain.core.words import one_line
from shared.errors import ErrorCode, KxError

SCHEMA = 1
MAX_URL_CHARS = 2_000
NO_TITLE = "Artefato sem título"

Document = dict[str, Any]  # JSON


class Version(Struct, frozen=True, kw_only=True):
    """One publication."""

    versao: int
    data: str
    label: str | None = None
    sessao: str | None = None


class Artifact(Struct, frozen=True, kw_only=True):
    """One published page; the names are those of the store."""

    url: str
    titulo: str = ""
    descricao: str = ""
    arquivo: str | None = None
    atividade: str | None = None  # slug
    agente: str = ""
    sessao: str | None = None
    criado: str = ""
    atualizado: str = ""
    versao: int = 1
    historico: tuple[Version, ...] = ()


class Store(Struct, frozen=True):
    """All artifacts of a project, with the document they were read from."""

    document: Document
    artifacts: tuple[Artifact, ...]

    def find(self, url: str) -> Artifact | None:
        """Find one by its address."""
        return next((one for one in self.artifacts if one.url == url), None)


def read_store(data: bytes | None, file: str, project: str) -> Store:
    """Read the store; an absent one is empty.

    Raises:
        KxError: VAULT_DAMAGED: what cannot be read is never replaced.
    """
    if data is None:
        return Store({"versao_schema": SCHEMA, "projeto": project, "artefatos": []}, ())
    try:
        document = msgspec.json.decode(data.removeprefix(b"\xef\xbb\xbf"), type=dict[str, Any])
        artifacts = msgspec.convert(document["artefatos"], tuple[Artifact, ...])
        schema = msgspec.convert(document.get("versao_schema", SCHEMA), int)
    except (msgspec.MsgspecError, UnicodeError, KeyError, RecursionError) as error:
        problem = "artefatos is missing" if isinstance(error, KeyError) else str(error)
        raise _damaged(file, problem) from error
    if schema > SCHEMA:
        raise _damaged(file, f"it was written by a newer version (versao_schema {schema})")
    return Store(document, artifacts)


def store_bytes(store: Store) -> bytes:
    """Write the store as JSON that people can read and merge."""
    return msgspec.json.format(msgspec.json.encode(store.document), indent=2) + b"\n"


def published(store: Store, given: Mapping[str, str], today: str) -> tuple[Store, Artifact]:
    """Record a publication: a new address is version 1, a known one the next; only what is given overwrites.

    `given` holds texts by the names of the store, `url` among them, and `label` for this version.
    """
    fields: Document = {name: text for name, text in given.items() if text and name != "label"}
    known = store.find(given["url"])
    number = known.versao + 1 if known else 1
    version: Document = {"versao": number, "data": today}
    version |= {name: given[name] for name in ("label", "sessao") if given.get(name)}
    if known is None:
        record: Document = {
            "url": given["url"],
            "titulo": NO_TITLE,
            "descricao": "",
            "agente": "",
            "criado": today,
            **fields,
        }
        record |= {"atualizado": today, "versao": 1, "historico": [version]}
        return _with_records(store, [*store.document["artefatos"], record], given["url"])
    at = store.artifacts.index(known)
    old = store.document["artefatos"][at]
    record = {**old, **fields, "atualizado": today, "versao": number, "historico": [*old.get("historico", []), version]}
    return _with_records(store, _replaced(store, at, record), given["url"])


def linked(store: Store, url: str, slug: str, today: str) -> tuple[Store, Artifact]:
    """Tie a known artifact to an activity.

    Raises:
        KxError: ARTIFACT_UNKNOWN.
    """
    known = store.find(url)
    if known is None:
        raise KxError(
            ErrorCode.ARTIFACT_UNKNOWN,
            "no artifact {url} is recorded",
            hint="record it with: kx artifact add {url}",
            url=url,
        )
    if known.atividade == slug:
        return store, known
    at = store.artifacts.index(known)
    record = {**store.document["artefatos"][at], "atividade": slug, "atualizado": today}
    return _with_records(store, _replaced(store, at, record), url)


def address(url: str) -> str:
    """Give the one spelling of an address: http or https, scheme and host in lower case, nothing that ends a link.

    Raises:
        KxError: BAD_REQUEST.

    >>> address(" HTTPS://Example.org/A (b)")
    'https://example.org/A%20%28b%29'
    """
    text = url.strip()
    try:
        parts = urlsplit(text)
        host = parts.hostname
        is_known = parts.scheme in {"http", "https"} and bool(host) and len(text) <= MAX_URL_CHARS
        _ = parts.port
    except ValueError:
        is_known, host = False, None
    if not is_known or host is None or "@" in parts.netloc or not text.isprintable() or not _is_host(parts.netloc):
        raise KxError(
            ErrorCode.BAD_REQUEST,
            "{url} is no address of a published page",
            hint="give an http or https address without credentials",
            url=url[:MAX_URL_CHARS],
        )
    kept = "%/?#:@!$&'*+,;=~-._"
    rest = (quote(piece, safe=kept) for piece in (parts.path, parts.query, parts.fragment))
    return urlunsplit((parts.scheme, parts.netloc.lower(), *rest))


def newest_first(artifacts: Sequence[Artifact]) -> list[Artifact]:
    """Order by the day of the last version; of one day the one recorded later comes first."""
    return sorted(artifacts, key=lambda one: one.atualizado)[::-1]


def note_line(one: Artifact) -> str:
    """Write an artifact as the line that stands in the note of its activity."""
    return f"- [{_inline(one.titulo)}]({one.url}) — v{one.versao} ({one.atualizado})"


def page(project: str, artifacts: Sequence[Artifact], activities: Sequence[Activity], file: str, today: str) -> bytes:
    """Write the page of all artifacts, by activity."""
    by_slug = {one.slug: one for one in activities}
    groups: dict[str, list[Artifact]] = {}
    for one in newest_first(artifacts):
        groups.setdefault(one.atividade or "", []).append(one)
    alone = groups.pop("", [])
    blocks = [_group(slug, by_slug.get(slug), ones) for slug, ones in groups.items()]
    name = _inline(one_line("project", project))
    lines = [
        "---", "type: indice", "topic: artefatos-publicados", f"total: {len(artifacts)}", f"updated: {today}",
        "tags: [artefatos]", "---", "", f"# Artefatos publicados — {name}", "",
        f"> Derivado de `{file}`: não edite à mão, o kx escreve esta página de novo a cada registro.",
        "", "## Por atividade", "", "\n\n".join(blocks) or "(nenhum)",
        "", "## Sem atividade vinculada", "", "\n".join(_lines(one) for one in alone) or "(nenhum)",
    ]  # fmt: skip
    return ("\n".join(lines) + "\n").encode("utf-8", "replace")


def _group(slug: str, activity: Activity | None, artifacts: Sequence[Artifact]) -> str:
    title = _inline(activity.title) if activity else slug
    number = f"#{activity.id} — " if activity and activity.id else ""
    return f"### {number}{title} · [[{slug}]]\n\n" + "\n".join(_lines(one) for one in artifacts)


def _lines(one: Artifact) -> str:
    versions = ", ".join(
        f"v{version.versao} ({version.data}{', ' + _inline(version.label) if version.label else ''})"
        for version in one.historico
    )
    beside = [f"agente {_inline(one.agente)}"] if one.agente else []
    beside += [f"arquivo `{one.arquivo.replace('`', '')}`"] if one.arquivo else []
    beside += [f"sessão `{one.sessao.replace('`', '')}`"] if one.sessao else []
    lines = [f"- **{_inline(one.titulo)}** — v{one.versao} · {one.atualizado} · <{one.url}>"]
    lines += [f"  - {_inline(one.descricao)}"] if one.descricao else []
    lines += [f"  - Origem: {' · '.join(beside)}"] if beside else []
    lines += [f"  - Versões: {versions}"] if len(one.historico) > 1 else []
    return "\n".join(lines)


def _inline(text: str) -> str:
    """Take the meaning out of characters that would begin a link, code or HTML."""
    line = " ".join(text.split())
    for char in "\\`[]<*|":
        line = line.replace(char, "\\" + char)
    return line


def _is_host(netloc: str) -> bool:
    return all(char.isalnum() or char in ".-:[]_" for char in netloc)


def _replaced(store: Store, at: int, record: Document) -> list[Document]:
    records = list(store.document["artefatos"])
    records[at] = record
    return records


def _with_records(store: Store, records: list[Document], url: str) -> tuple[Store, Artifact]:
    changed = Store({**store.document, "artefatos": records}, msgspec.convert(records, tuple[Artifact, ...]))
    found = changed.find(url)
    assert found is not None
    return changed, found


def _damaged(file: str, problem: str) -> KxError:
    return KxError(
        ErrorCode.VAULT_DAMAGED,
        "{file} cannot be used: {problem}",
        hint="mend the file in an editor; nothing was changed",
        file=file,
        problem=problem,
    )
