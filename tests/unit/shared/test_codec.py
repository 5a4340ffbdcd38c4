"""Messages and errors as bytes."""

from __future__ import annotations

import json

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from shared import messages as m
from shared.codec import JSON, MAX_PARAM_CHARS, MSGPACK, decode, decode_error, encode, encode_error
from shared.errors import ErrorCode, ErrorDetails, KxError
from tests.support.samples import ERROR, INSTANCE, SAMPLES


@pytest.mark.parametrize("content_type", [MSGPACK, JSON])
@pytest.mark.parametrize("sample", SAMPLES, ids=lambda sample: type(sample).__name__)
def test_message_survives_the_round_trip(sample: m.Message, content_type: str) -> None:
    """STYLE 57: encode then decode is identity, in both forms."""
    assert decode(encode(sample, content_type), type(sample), content_type) == sample


@given(st.text(st.characters(exclude_categories=["Cs"])), st.integers(1, 100))
def test_any_text_survives_the_round_trip(query: str, top: int) -> None:
    """Row B1: a question is any text."""
    request = m.SearchRequest(instance=INSTANCE, query=query, top=top)
    assert decode(encode(request), m.SearchRequest) == request


@pytest.mark.parametrize("content_type", [MSGPACK, JSON])
def test_field_of_a_later_version_passes(content_type: str) -> None:
    """STYLE 14: messages grow by fields; an older reader ignores them."""
    written = {"type": "TouchAccepted", "queued": 3, "of_a_later_version": [1]}
    data = json.dumps(written).encode() if content_type == JSON else msgspec.msgpack.encode(written)
    assert decode(data, m.TouchAccepted, content_type) == m.TouchAccepted(queued=3)


@pytest.mark.parametrize(
    "data",
    [
        pytest.param(b"", id="nothing"),
        pytest.param(b"\xc1", id="no msgpack"),
        pytest.param(msgspec.msgpack.encode({"type": "Accepted"}), id="another message"),
        pytest.param(msgspec.msgpack.encode({"type": "TouchAccepted"}), id="a field is missing"),
        pytest.param(msgspec.msgpack.encode({"type": "TouchAccepted", "queued": "1"}), id="another type"),
        pytest.param(encode(m.TouchAccepted(queued=1)) + b"\0", id="more after it"),
        pytest.param(b"\x82\xa4type\xadTouchAccepted\xa6queued\xa1\xff", id="no Unicode"),
        pytest.param(b"\x91" * 100_000, id="very deep"),
    ],
)
def test_anything_else_is_an_invalid_message(data: bytes) -> None:
    """Row B7: what cannot be read is one error, whatever is wrong."""
    with pytest.raises(KxError) as caught:
        decode(data, m.TouchAccepted)
    assert caught.value.code == ErrorCode.MESSAGE_INVALID
    assert caught.value.params["type"] == "TouchAccepted"


def test_type_may_be_left_out() -> None:
    """DESIGN 3: the subject says what a message is; a tool that writes JSON by hand need not repeat it."""
    assert decode(b'{"queued": 1}', m.TouchAccepted, JSON) == m.TouchAccepted(queued=1)


def test_error_survives_the_round_trip() -> None:
    """STYLE 17: another process raises the same error again."""
    assert decode_error(encode_error(ERROR)) == ERROR


def test_error_of_any_content_can_be_sent() -> None:
    """Row B3: values are file names too; they are shortened and made text, never a second failure."""
    details = ErrorDetails(code=ErrorCode.PATH_NOT_FOUND, message="\udc80", params={"path": "\udcff" * 10_000})
    for content_type in (MSGPACK, JSON):
        assert encode_error(details, content_type)
    assert decode_error(encode_error(details)).params["path"] == "?" * MAX_PARAM_CHARS


@pytest.mark.parametrize(
    "data", [b"", b"\xc1", msgspec.msgpack.encode({"code": "KX_OF_A_LATER_VERSION", "message": ""})]
)
def test_error_that_cannot_be_read_is_an_internal_one(data: bytes) -> None:
    """A process of another version may send codes of its own."""
    assert decode_error(data).code == ErrorCode.INTERNAL
