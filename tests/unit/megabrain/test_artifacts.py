"""Artifacts: the store, and the page derived from it."""

from __future__ import annotations

import msgspec
import pytest

from services.megabrain.core.artifacts import Store, address, linked, page, published, read_store, store_bytes
from shared.errors import ErrorCode, KxError

URL = "https://example.org/p"
STORE_OF_ORIGINAL = {
    "versao_schema": 1,
    "projeto": "demo",
    "extra": {"keep": [1]},
    "artefatos": [
        {
            "url": URL, "titulo": "Painel", "descricao": "canais", "agente": "claude-code", "sessao": "s-1",
            "criado": "2026-09-01", "atualizado": "2026-09-02", "versao": 2, "mine": True,
            "historico": [{"versao": 1, "data": "2026-09-01"}, {"versao": 2, "data": "2026-09-02", "label": "fim", "x": 1}],
        },
    ],
}  # fmt: skip


def read(document: object) -> Store:
    return read_store(msgspec.json.encode(document), "store.json", "demo")


def test_new_address_is_version_one_and_known_one_the_next():
    """Mission 6: known URL → new version, only given fields overwrite."""
    store, first = published(
        read_store(None, "f", "demo"), {"url": URL, "titulo": "Painel", "descricao": "d"}, "2026-01-01"
    )
    assert (first.versao, first.criado) == (1, "2026-01-01")
    store, second = published(store, {"url": URL, "titulo": "", "descricao": "nova", "label": "b"}, "2026-01-02")
    assert (second.versao, second.titulo, second.descricao) == (2, "Painel", "nova")
    assert (second.criado, second.atualizado) == ("2026-01-01", "2026-01-02")
    assert [(one.versao, one.label) for one in second.historico] == [(1, None), (2, "b")]
    assert len(store.artifacts) == 1


def test_store_of_the_original_keeps_its_foreign_keys():
    """Issue 8: what we do not know survives, at every level."""
    store, _ = published(read(STORE_OF_ORIGINAL), {"url": URL, "titulo": "Novo"}, "2026-10-01")
    written = msgspec.json.decode(store_bytes(store))
    assert written["extra"] == {"keep": [1]}
    assert written["artefatos"][0]["mine"] is True
    assert written["artefatos"][0]["historico"][1] == {"versao": 2, "data": "2026-09-02", "label": "fim", "x": 1}
    assert written["artefatos"][0]["historico"][2] == {"versao": 3, "data": "2026-10-01"}


@pytest.mark.parametrize(
    "data",
    [b"", b"{", b"[]", b"{}", b'{"artefatos": 1}', b'{"artefatos": [{}]}', b'{"artefatos": [{"url": 1}]}',
     b'{"artefatos": [], "versao_schema": 2}', b"\xff", b'{"artefatos": [{"url": "u", "historico": [{}]}]}'],
)  # fmt: skip
def test_store_that_cannot_be_understood_is_refused(data: bytes):
    """Issue 8: a corrupt store fails loudly."""
    with pytest.raises(KxError) as caught:
        read_store(data, "store.json", "demo")
    assert caught.value.code is ErrorCode.VAULT_DAMAGED
    assert caught.value.params["file"] == "store.json"


def test_link_ties_and_moves():
    """Linking twice changes nothing, linking elsewhere moves."""
    store, _ = linked(read(STORE_OF_ORIGINAL), URL, "a", "2026-10-01")
    again, _ = linked(store, URL, "a", "2026-10-02")
    assert again is store
    _, moved = linked(store, URL, "b", "2026-10-02")
    assert (moved.atividade, moved.versao) == ("b", 2)
    with pytest.raises(KxError) as caught:
        linked(store, "https://example.org/other", "a", "2026-10-01")
    assert caught.value.code is ErrorCode.ARTIFACT_UNKNOWN


@pytest.mark.parametrize(
    ("url", "kept"),
    [
        (" HTTPS://Example.ORG/P?a=1&b=c%20d#F ", "https://example.org/P?a=1&b=c%20d#F"),
        ("http://x/a(b)<c>", "http://x/a%28b%29%3Cc%3E"),
        ("http://[::1]:8080/ação", "http://[::1]:8080/a%C3%A7%C3%A3o"),
    ],
)
def test_address_has_one_spelling_that_ends_no_link(url: str, kept: str):
    """The same page is not recorded twice, and its address cannot break the page it is written on."""
    assert address(url) == kept


@pytest.mark.parametrize(
    "url",
    ["", "x", "ftp://x/y", "javascript:alert(1)", "file:///etc/passwd", "https://", "https://u:p@x/", "https://x/\n- y",
     "https://x y/", "http://x:99999999/", "http://[", "https://x/" + "a" * 2_000, "data:text/html,x", "//x/y"],
)  # fmt: skip
def test_what_is_no_web_address_is_refused(url: str):
    """Mission 6: http(s) only; credentials do not get into the vault."""
    with pytest.raises(KxError) as caught:
        address(url)
    assert caught.value.code is ErrorCode.BAD_REQUEST


def test_page_shows_hostile_text_as_text():
    """Free text cannot make a link, code, HTML or a line of its own."""
    store, _ = published(
        read_store(None, "f", "demo"),
        {"url": URL, "titulo": "](http://evil) <b> `x`", "descricao": "a\n## b"},
        "2026-01-01",
    )
    text = page("demo", store.artifacts, [], "store.json", "2026-01-01").decode()
    assert f"- **\\](http://evil) \\<b> \\`x\\`** — v1 · 2026-01-01 · <{URL}>\n  - a ## b\n" in text
