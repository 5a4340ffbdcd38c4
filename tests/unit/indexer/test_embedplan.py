"""Packing texts into embed requests."""

from hypothesis import given
from hypothesis import strategies as st

from services.indexer.core.embedplan import (
    ASIDE_NS,
    ASKED,
    BULK,
    BULK_REQUEST_TOKENS,
    LIVE,
    MissingText,
    bulk_order_ns,
    pack,
)
from shared.bus import MAX_MESSAGE_BYTES
from shared.codec import encode
from shared.identity import TextHash, text_hash
from shared.messages import TextsEmbedded, VectorItem
from shared.model import DIM

texts_of_any_size = st.lists(
    st.builds(
        lambda n, tokens, urgency: MissingText(
            text_hash=TextHash(n.to_bytes(16, "big")), text=str(n), tokens=tokens, urgency=urgency
        ),
        st.integers(0, 10_000),
        st.integers(1, 440),
        st.sampled_from((ASKED, LIVE, BULK)),
    ),
    unique_by=lambda text: text.text_hash,
    max_size=60,
)


def some_of(texts):
    """Every third text, as those that an embedder failed on."""
    return {text.text_hash for text in texts[::3]}


@given(texts_of_any_size, st.integers(100, 2_048))
def test_every_text_is_packed_once_and_no_group_is_above_the_budget(texts, budget):
    """A text is embedded exactly once, a run never eats more memory than planned (a lone text may)."""
    groups = list(pack(texts, budget, alone=some_of(texts)))
    packed = [text for group in groups for text in group]
    assert sorted(text.text_hash for text in packed) == sorted(text.text_hash for text in texts)
    assert all(len(group) == 1 or sum(text.tokens for text in group) <= budget for group in groups)


@given(texts_of_any_size)
def test_urgent_texts_never_share_a_group_with_others_and_come_first(texts):
    """What a person waits for is not slowed by what nobody waits for; suspects of an urgent class do not come last.

    They would never be sent: the flow stops at a less urgent group while a more urgent text waits (row F2).
    """
    groups = list(pack(texts, 512, alone=some_of(texts)))
    assert all(len({text.urgency for text in group}) == 1 for group in groups)
    assert [group[0].urgency for group in groups] == sorted(group[0].urgency for group in groups)


@given(texts_of_any_size)
def test_who_is_suspected_goes_alone_and_after_the_others_of_its_class(texts):
    """Row F12: a text that may kill the embedder delays no innocent one of its class and takes none with it."""
    suspects = some_of(texts)
    groups = list(pack(texts, 512, alone=suspects))
    assert all(len(group) == 1 for group in groups if group[0].text_hash in suspects)
    order = [(group[0].urgency, group[0].text_hash in suspects) for group in groups]
    assert order == sorted(order)


def test_vectors_of_any_request_fit_a_message():
    """Two hundred one-line files are 2,000 tokens and 300 kB of vectors: such a request would fail for ever."""
    texts = [MissingText(text_hash=text_hash(str(n)), text=str(n), tokens=4, urgency=BULK) for n in range(500)]
    for group in pack(texts, BULK_REQUEST_TOKENS):
        items = tuple(VectorItem(text_hash=text.text_hash, vector=bytes(4 * DIM)) for text in group)
        assert len(encode(TextsEmbedded(model_id="m" * 200, items=items))) <= MAX_MESSAGE_BYTES


def test_in_a_fresh_clone_the_product_is_embedded_before_its_tests():
    """All files have one age, and tests are written last; what people changed since comes before both."""
    written = ["docs/use.md", "src/app.py", "examples/x.py", "tests/test_app.py", "vendor/lib.js", "src/app_pb2.py"]
    ages = {path: 1_700_000_000_000_000_000 + number for number, path in enumerate(written)}
    ages["tests/test_new.py"] = ages["src/app.py"] + 2 * ASIDE_NS
    order = sorted(ages, key=lambda path: bulk_order_ns(path, ages[path]), reverse=True)
    assert order[:3] == ["tests/test_new.py", "src/app.py", "docs/use.md"]
