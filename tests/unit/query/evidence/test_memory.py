"""What was read of passages is kept, whatever order they come in."""

import numpy as np
import pytest

from services.query.core.evidence.memory import Excerpt, Memory, names_in
from services.query.core.evidence.tokens import analyse
from shared.embedded_text import embed_text


def excerpt(text: str, *, heading: str = "", symbols: tuple[str, ...] = ()) -> Excerpt:
    return Excerpt(heading=heading, symbols=symbols, text=text)


def names_known(memory: Memory, passages: list[Excerpt], *, prose: bool = False) -> list[list[int]]:
    recalled = memory.recall(passages, [prose] * len(passages))
    return [recalled.names[recalled.passage == place].tolist() for place in range(len(passages))]


def test_passages_are_recalled_as_they_were_read_in_any_order() -> None:
    """One that was read ahead, one met before and a new one stand in the order asked."""
    passages = [excerpt("the circuit breaker"), excerpt("closes"), excerpt("opens again", heading="Breaker")]
    memory = Memory()
    memory.read([passages[2], passages[0]], [False, False])
    order = [passages[1], passages[0], passages[2], passages[0]]
    recalled, new = memory.recall(order, [False] * 4), analyse([f"{p.heading}\n{p.text}" for p in order])
    assert recalled.tokens.words[recalled.tokens.word].tolist() == new.words[new.word].tolist()
    for measured, expected in zip(
        (
            recalled.tokens.text,
            recalled.tokens.sizes.tokens,
            recalled.tokens.sizes.telling,
            recalled.tokens.sizes.grams,
        ),
        (new.text, new.sizes.tokens, new.sizes.telling, new.sizes.grams),
        strict=True,
    ):
        assert np.array_equal(measured, expected)
    assert memory.passages == 3


def test_one_text_in_code_and_in_prose_has_other_names_in_each() -> None:
    """A comment sign is a heading in prose; symbols of one file are not those of its copy."""
    memory = Memory()
    text = excerpt("# Install", heading="Guide", symbols=("install",))
    code, prose = names_known(memory, [text]), names_known(memory, [text], prose=True)
    assert code == [memory.names.read(["Guide", "install"]).tolist()]
    assert prose == [memory.names.read(["Guide", "Install"]).tolist()]
    bare = excerpt("# Install", heading="Guide")
    assert names_known(memory, [bare, text]) == [memory.names.read(["Guide"]).tolist(), *code]


def test_links_to_other_targets_are_other_texts() -> None:
    """What is embedded of a link is its alias alone, so both have one vector; their words differ."""
    first, second = excerpt("see [[breaker|this]]"), excerpt("see [[router|this]]")
    assert embed_text("", first.text) == embed_text("", second.text)
    tokens = Memory().recall([first, second], [True, True]).tokens
    assert len(tokens.distinct) == 4


def test_what_was_forgotten_is_read_again() -> None:
    """Nothing refers to numbers of before."""
    memory = Memory()
    passages = [excerpt("a circuit"), excerpt("breaker opens", symbols=("open",))]
    before = memory.recall(passages, [False, False])
    taken = memory.bytes
    memory.forget()
    assert memory.passages == 0
    after = memory.recall(passages[::-1], [False, False])
    assert memory.bytes == taken
    assert sorted(after.tokens.words.tolist()) == sorted(before.tokens.words.tolist())


@pytest.mark.parametrize(
    ("heading", "symbols", "text", "is_prose", "expected"),
    [
        ("Guide > Install", (), "## Linux ##\napt\n# no", True, ["Guide", "Install", "Linux", "no"]),
        ("Router.match", ("match", "find"), "# comment", False, ["Router", "match", "find"]),
    ],
    ids=["prose", "code"],
)
def test_names_of_a_passage(
    heading: str, symbols: tuple[str, ...], text: str, is_prose: bool, expected: list[str]
) -> None:
    """Headings of prose, definitions of code."""
    assert names_in(excerpt(text, heading=heading, symbols=symbols), is_prose=is_prose) == expected
