"""Choosing words: templates, errors, and sentences that arrive filled."""

from __future__ import annotations

import pytest

from kx.catalogue import Catalogue
from shared.errors import ErrorCode, KxError

PT = Catalogue("pt")


def test_template_is_filled_in_either_language():
    """The same call gives English or Portuguese."""
    assert Catalogue().text("{root} is forgotten", root="/a") == "/a is forgotten"
    assert PT.text("{root} is forgotten", root="/a") == "/a foi esquecido"


def test_unknown_template_is_shown_in_english():
    """A missing translation costs the language, never the message."""
    assert PT.text("a new {thing}", thing="x") == "a new x"


@pytest.mark.parametrize(
    ("note", "told"),
    [
        ("3 passages changed on disk and were left out", "3 trechos mudaram no disco e ficaram de fora"),
        (
            "KX_MODEL_MISSING: /m/model.onnx is not there",
            "KX_MODEL_MISSING: /m/model.onnx não está lá",
        ),
        (
            "/a/.kx.json: the unknown key idnex is ignored; did you mean index?",
            "/a/.kx.json: a chave desconhecida idnex é ignorada; você quis dizer index?",
        ),
        ("/a/.kx.json: the unknown key zzz is ignored", "/a/.kx.json: a chave desconhecida zzz é ignorada"),
        (
            "Invalid value for '--top': 0 is not in the range 1<=x<=100.",
            "Valor inválido para '--top': 0 não está no intervalo 1<=x<=100.",
        ),
        ("No such command 'serch'. Did you mean 'search'?", "O comando 'serch' não existe. Você quis dizer 'search'?"),
        ("something nobody has a template for", "something nobody has a template for"),
    ],
    ids=["note", "lane that failed", "nearest key", "unknown key", "click, nested", "suggestion", "unknown"],
)
def test_filled_sentence_is_recognised(note: str, told: str):
    """Notes, reasons and warnings cross process boundaries filled, in English."""
    assert PT.sentence(note) == told
    assert Catalogue().sentence(note) == note


def test_reason_inside_an_error_is_translated():
    """A Portuguese message does not end in English."""
    error = KxError(
        ErrorCode.CONFIG_INVALID, "{file}: {key} is {found}, expected {expected}",
        hint="in {file}, mend or remove {key}", file="a.json", key="lang", found="missing", expected="en or pt",
    )  # fmt: skip
    assert PT.error(error) == (
        "a.json: lang é ausente, esperado: en ou pt",
        "em a.json, corrija ou remova lang",
    )


@pytest.mark.parametrize("name", ["index", "it is empty", "a path", "missing", "the encoder is closed"])
def test_name_of_the_user_is_never_translated(name: str):
    """A project may be called like a word of ours."""
    error = KxError(ErrorCode.PROJECT_UNKNOWN, "no project {name} is registered", name=name)
    assert PT.error(error)[0] == f"nenhum projeto {name} está registrado"
