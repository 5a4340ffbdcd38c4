"""The bytes of every message stay what they were: other programs, and processes of another version, read them."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from shared import (
    knowledge_messages,
    knowledge_upkeep_messages,
    megabrain_messages,
    memory_messages,
    messages,
    search_messages,
    upkeep_messages,
)
from shared.codec import decode, encode, encode_error
from shared.messages import InstanceMessage, Message
from tests.support.samples import ERROR, SAMPLES

MODULES = {
    messages.__name__,
    knowledge_messages.__name__,
    knowledge_upkeep_messages.__name__,
    megabrain_messages.__name__,
    memory_messages.__name__,
    search_messages.__name__,
    upkeep_messages.__name__,
}
ABSTRACT = {InstanceMessage, knowledge_messages.KnowledgeMessage}
GOLDEN = Path(__file__).with_name("golden_messages.json")


def all_messages(base: type[Message] = Message) -> Iterator[type[Message]]:
    for kind in base.__subclasses__():
        if kind not in ABSTRACT and kind.__module__ in MODULES:
            yield kind
        yield from all_messages(kind)


def test_every_message_has_one_sample() -> None:
    """STYLE 52: a new message brings its golden bytes."""
    assert sorted(type(sample).__name__ for sample in SAMPLES) == sorted(kind.__name__ for kind in all_messages())


@pytest.mark.parametrize("sample", SAMPLES, ids=lambda sample: type(sample).__name__)
def test_sample_sets_every_field_to_something_else_than_its_default(sample: Message) -> None:
    """A field added later is missed here, so that its bytes become golden too."""
    with_default = sample.__struct_fields__[-len(sample.__struct_defaults__) :] if sample.__struct_defaults__ else ()
    defaults = dict(zip(with_default, sample.__struct_defaults__, strict=True))
    assert [name for name, default in defaults.items() if getattr(sample, name) == default] == []


def test_bytes_of_every_message_are_the_golden_ones(update_golden: bool) -> None:
    """STYLE 14: messages grow by optional fields and never change a meaning; rewritten with `--update-golden`."""
    now = {type(sample).__name__: encode(sample).hex() for sample in SAMPLES}
    now["ErrorDetails"] = encode_error(ERROR).hex()
    if update_golden:
        GOLDEN.write_text(json.dumps(now, indent=1) + "\n", encoding="utf-8")
    assert json.loads(GOLDEN.read_text(encoding="utf-8")) == now


@pytest.mark.parametrize("sample", SAMPLES, ids=lambda sample: type(sample).__name__)
def test_golden_bytes_are_read_as_the_sample(sample: Message) -> None:
    """What another process wrote is understood."""
    golden = json.loads(GOLDEN.read_text(encoding="utf-8"))
    assert decode(bytes.fromhex(golden[type(sample).__name__]), type(sample)) == sample
