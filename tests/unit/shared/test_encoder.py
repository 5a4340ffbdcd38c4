"""The encoder against reference vectors computed from the fp32 weights, and what it refuses."""

import json
import random
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from shared.encoder import EMBED_MAX_TOKENS, MAX_RUN_TEXTS, MAX_RUN_TOKENS, OnnxEncoder, mean_pooled, normalised, pack
from shared.errors import ErrorCode, KxError
from shared.model import DIM, TOKENIZER_PATH, locate_model
from shared.token_budget import EMBED_SAFE_TOKENS
from shared.tokens import TokenCounter
from shared.vectors import EmbeddingMatrix, VectorFlaw, check_vectors
from tests.support.fake_encoder import FakeEncoder

REFERENCE: Final = json.loads(
    (Path(__file__).parents[2] / "data" / "reference_vectors.json").read_text(encoding="utf-8")
)

NOWHERE: Final = Path(__file__) / "cache"  # below a file, so that nothing can be written there


@pytest.fixture(scope="module")
def cache_dir() -> Iterator[Path]:
    # Not tmp_path: pytest keeps the last three of those, and a folded model is 90 MB.
    with tempfile.TemporaryDirectory() as folder:
        yield Path(folder) / "cache"


@pytest.fixture(scope="module")
def encoder(cache_dir: Path) -> Iterator[OnnxEncoder]:
    opened = OnnxEncoder.open(locate_model(), cache_dir=cache_dir, threads=1, spinning=False)
    yield opened
    opened.close()


def cosines(left: EmbeddingMatrix, right: EmbeddingMatrix) -> list[float]:
    return [float(cosine) for cosine in (left * right).sum(axis=1)]


def test_vectors_agree_with_the_fp32_reference(encoder: OnnxEncoder) -> None:
    """Eight sentences in English, Portuguese and code: cosine of at least 0.995 each."""
    vectors = encoder.encode([entry["text"] for entry in REFERENCE])
    reference = np.array([entry["vector"] for entry in REFERENCE], dtype=np.float32)
    assert len(REFERENCE) == 8
    assert min(cosines(vectors, reference)) >= 0.995
    # and to its own sentence only, so that a constant vector would not pass
    assert (vectors @ reference.T).argmax(axis=1).tolist() == list(range(8))


def test_vectors_are_sound_and_in_the_order_of_the_texts(encoder: OnnxEncoder) -> None:
    """Sorting and packing inside do not show: each text's vector is the one it has alone."""
    texts = [" ".join(["word", "beta", "gamma"][: n % 3 + 1] * (n * 7 % 23)) for n in range(20)]
    random.Random(1).shuffle(texts)
    together = encoder.encode(texts)
    assert together.shape == (20, DIM)
    assert together.dtype == np.float32
    assert check_vectors(together, encoder.dim) == [None] * 20
    alone = np.concatenate([encoder.encode([text]) for text in texts])
    assert min(cosines(together, alone)) > 0.99999


def test_last_sentence_of_a_full_chunk_changes_its_vector(encoder: OnnxEncoder) -> None:
    """Nothing of a chunk of exactly 440 tokens is cut off: its end has its part in the vector (case 11)."""
    count = TokenCounter.load(TOKENIZER_PATH)
    bees = "Beekeeping needs smoke, patience and a veil."
    filler = "The scheduler wakes the worker, which reads the queue and commits."
    without = " ".join([filler] * 100).split()
    while count(" ".join(without) + " " + bees) > EMBED_SAFE_TOKENS:
        without.pop()
    text = " ".join(without)
    assert count(f"{text} {bees}") == EMBED_SAFE_TOKENS
    before = encoder.truncated
    with_bees, without_bees, question = encoder.encode([f"{text} {bees}", text, "beekeeping"])
    assert float(with_bees @ without_bees) < 0.995
    assert float(question @ with_bees) > float(question @ without_bees)
    assert encoder.truncated == before == 0


def test_longer_than_the_model_is_cut_and_counted(encoder: OnnxEncoder) -> None:
    """A text beyond 512 tokens is embedded by its beginning, and the cut is visible (RELIABILITY rule 9, 11)."""
    before = encoder.truncated
    long, cut = encoder.encode(["word " * 2_000, "word " * (EMBED_MAX_TOKENS - 2)])
    assert encoder.truncated == before + 1
    assert float(long @ cut) > 0.99999


@pytest.mark.parametrize("text", ["", " \n", "\x00", "\ud800", "🚀", "[SEP]", "a" * 10_000], ids=repr)
def test_any_text_has_a_sound_vector(encoder: OnnxEncoder, text: str) -> None:
    """Empty, odd and unencodable texts neither raise nor give a bad vector (RELIABILITY B1, B10)."""
    assert check_vectors(encoder.encode([text]), DIM) == [None]


def test_no_texts_give_an_empty_matrix(encoder: OnnxEncoder) -> None:
    """An empty request is answered in the right shape."""
    assert encoder.encode([]).shape == (0, DIM)


def test_folded_model_is_made_once_and_gives_the_same_vectors(encoder: OnnxEncoder, cache_dir: Path) -> None:
    """The cache holds the folded copy and its hash, and where it cannot be written the vectors are the same."""
    assert sorted(path.suffix for path in cache_dir.iterdir()) == [".onnx", ".sha256"]
    unfolded = OnnxEncoder.open(locate_model(), cache_dir=NOWHERE, threads=1, spinning=False)
    texts = [entry["text"] for entry in REFERENCE]
    assert min(cosines(encoder.encode(texts), unfolded.encode(texts))) > 0.99999


def test_closed_encoder_says_so(cache_dir: Path) -> None:
    """Closing twice is harmless, encoding afterwards is a named error."""
    opened = OnnxEncoder.open(locate_model(), cache_dir=cache_dir, threads=1, spinning=False)
    opened.close()
    opened.close()
    with pytest.raises(KxError) as caught:
        opened.encode(["a"])
    assert caught.value.code is ErrorCode.EMBEDDER_FAILED


def test_encoder_of_another_width_is_refused(encoder: OnnxEncoder, cache_dir: Path) -> None:
    """A model of 384 numbers offered where 256 are stored never reaches the index (case 29, RELIABILITY F11)."""
    files = locate_model()
    narrow = type(files)(name=files.name, model_id="narrow@1", graph=files.graph, vocabulary=files.vocabulary, dim=256)
    with pytest.raises(KxError) as caught:
        OnnxEncoder.open(narrow, cache_dir=cache_dir, threads=1, spinning=False)
    assert caught.value.code is ErrorCode.MODEL_WIDTH
    assert caught.value.params["expected"] == "256"


@pytest.mark.parametrize("broken", ["model.onnx", "tokenizer.json"])
def test_override_that_is_no_encoder_is_refused(tmp_path: Path, broken: str) -> None:
    """A folder with a pointer instead of a model or a tokenizer is an error, not a crash (RELIABILITY F11)."""
    default = locate_model()
    (tmp_path / "model.onnx").symlink_to(default.onnx)
    (tmp_path / "tokenizer.json").symlink_to(default.tokenizer)
    (tmp_path / broken).unlink()
    (tmp_path / broken).write_text("version of a pointer file\noid sha256:00\nsize 22928619\n", encoding="utf-8")
    with pytest.raises(KxError) as caught:
        OnnxEncoder.open(locate_model(tmp_path), cache_dir=NOWHERE, threads=1, spinning=False)
    assert caught.value.code is ErrorCode.MODEL_ALTERED


@given(st.lists(st.integers(2, EMBED_MAX_TOKENS), max_size=60))
def test_packing_keeps_every_text_within_the_limits(lengths: list[int]) -> None:
    """Each text is in exactly one run, and no run is above its bounds, padding included."""
    runs = list(pack(lengths))
    assert sorted(position for run in runs for position in run) == list(range(len(lengths)))
    assert all(0 < len(run) <= MAX_RUN_TEXTS for run in runs)
    assert all(len(run) * max(lengths[p] for p in run) <= MAX_RUN_TOKENS for run in runs)


def test_pooling_leaves_padding_out() -> None:
    """The mean is over a text's own tokens only, and a zero vector stays for the check to find."""
    states = np.array([[[1, 0], [3, 0], [99, 99]], [[0, 0], [0, 0], [0, 0]]], dtype=np.float32)
    mask = np.array([[1, 1, 0], [1, 1, 1]])
    pooled = mean_pooled(states, mask)
    assert pooled.tolist() == [[2, 0], [0, 0]]
    assert check_vectors(normalised(pooled), 2) == [None, VectorFlaw.NORM]


def test_fake_encoder_keeps_the_promises_of_the_real_one() -> None:
    """The stand-in of other tests gives sound, ordered, repeatable vectors, related texts nearer."""
    fake = FakeEncoder()
    vectors = fake.encode(["the database migration", "migration of a database", "bees and honey", ""])
    assert check_vectors(vectors, fake.dim) == [None] * 4
    assert float(vectors[0] @ vectors[1]) > 0.4 > abs(float(vectors[0] @ vectors[2]))
    np.testing.assert_array_equal(vectors[2:3], FakeEncoder().encode(["bees and honey"]))
    assert vectors[0, :3].tolist() == pytest.approx([-0.077158, -0.019800, -0.024279], abs=1e-5)
