"""The mirror of the vectors over a real index: equal to the exact lane, and never behind a commit."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
import pytest

from services.query.adapters.mirror_lane import FOLLOWED_AT_ONCE, MirrorLane
from services.query.adapters.passages import Filters
from services.query.adapters.reader import IndexReaders, Snapshot
from services.query.adapters.vector_lane import ExactVectorLane
from services.query.core.passages import LaneHit
from shared.identity import InstanceId
from shared.index_format import Meta
from shared.vectors import EmbeddingMatrix, Vector, vector_to_bytes
from tests.support.fake_encoder import FakeEncoder
from tests.support.index_builder import BuiltChunk, IndexBuilder
from tests.support.vectors import like_sentences

INSTANCE = InstanceId("0123456789abcdef")
DEPTH = 100
QUESTION = like_sentences(1, seed=9)[0]


class CountedLane:
    """The exact lane, with a count of what it was asked."""

    def __init__(self) -> None:
        self.asked = 0

    def nearest(self, snapshot: Snapshot, vector: bytes, filters: Filters, depth: int) -> list[LaneHit]:
        """Ask the exact lane."""
        self.asked += 1
        return ExactVectorLane().nearest(snapshot, vector, filters, depth)


class Ground:
    """One index, and both lanes over it."""

    def __init__(self, folder: Path) -> None:
        self.path = folder / "index.sqlite"
        self.folder = folder
        self.readers = IndexReaders()
        self.exact_lane = CountedLane()
        self.lane = MirrorLane(self.readers, self.exact_lane, min_vectors=1, few_chunks=-1)

    def write(self, *, encoder: FakeEncoder | None = None, epoch: int = 1) -> IndexBuilder:
        """Open the index to be written; committed on leaving."""
        return IndexBuilder(self.path, INSTANCE, self.folder, encoder=encoder, epoch=epoch)

    def nearest(self, question: Vector = QUESTION, depth: int = DEPTH, filters: Filters | None = None) -> list[LaneHit]:
        """Ask the lane under test."""
        with self.readers.snapshot(self.path, INSTANCE, limit_s=60.0) as snapshot:
            return self.lane.nearest(snapshot, vector_to_bytes(question), filters or Filters(), depth)

    def exact(self, question: Vector = QUESTION, filters: Filters | None = None) -> list[LaneHit]:
        """Ask the exact lane."""
        with self.readers.snapshot(self.path, INSTANCE, limit_s=60.0) as snapshot:
            return ExactVectorLane().nearest(snapshot, vector_to_bytes(question), filters or Filters(), DEPTH)

    def mirrored(self, filters: Filters | None = None) -> Ground:
        """Ask until the mirror answers."""
        for _ in range(2):
            self.nearest(filters=filters)
        self.lane.settle()
        self.exact_lane.asked = 0
        self.nearest(filters=filters)
        assert self.exact_lane.asked == 0
        return self


@pytest.fixture
def ground(tmp_path: Path) -> Iterator[Ground]:
    ground = Ground(tmp_path)
    yield ground
    ground.lane.close()
    ground.readers.close()


def chunks(matrix: EmbeddingMatrix, name: str) -> list[BuiltChunk]:
    return [BuiltChunk(text=f"{name} {row}", vector=vector_to_bytes(vector)) for row, vector in enumerate(matrix)]


def paths(hits: Sequence[LaneHit]) -> list[str]:
    return [hit.passage.at.path for hit in hits]


def toward(question: Vector, share: float) -> Vector:
    """Make a vector that lies so near to the question."""
    other = like_sentences(1, seed=77)[0]
    other = other - (other @ question) * question
    near: Vector = (share * question + np.sqrt(1 - share**2) * other / np.linalg.norm(other)).astype(np.float32)
    return near


def near_chunk(text: str, share: float) -> BuiltChunk:
    return BuiltChunk(text=text, vector=vector_to_bytes(toward(QUESTION, share)))


@pytest.mark.timeout(120)
def test_answers_over_twenty_thousand_texts_equal_the_exact_lane(ground: Ground) -> None:
    """RELIABILITY L8: the best ten are equal, of a hundred 0.99, and the cosines are the same numbers."""
    matrix = like_sentences(20_000, seed=1)
    with ground.write() as index:
        for part in range(20):
            own = matrix[part * 1_000 : (part + 1) * 1_000]
            index.add(f"part{part}.md", *chunks(own, f"part {part}"), is_on_disk=False)
    ground.mirrored()
    assert ground.lane.held == len(matrix)
    shares = []
    for question in like_sentences(5, seed=2):
        found, exact = ground.nearest(question), ground.exact(question)
        assert [hit.passage for hit in found[:10]] == [hit.passage for hit in exact[:10]]
        cosines = {hit.passage.chunk: hit.score for hit in exact}
        same = [hit for hit in found if hit.passage.chunk in cosines]
        assert all(hit.score == pytest.approx(cosines[hit.passage.chunk], abs=1e-5) for hit in same)
        shares.append(len(same) / DEPTH)
    assert np.mean(shares) >= 0.99


def test_the_first_question_makes_no_mirror(ground: Ground) -> None:
    """A command that asks once pays for none."""
    with ground.write() as index:
        index.add("a.md", *chunks(like_sentences(50, seed=1), "a"))
    assert paths(ground.nearest()) == paths(ground.exact())
    ground.lane.settle()
    assert ground.lane.held == 0


def test_a_vector_is_found_right_after_its_commit(ground: Ground) -> None:
    """A question takes in what was committed before it."""
    with ground.write() as index:
        index.add("a.md", *chunks(like_sentences(50, seed=1), "a"))
    ground.mirrored()
    with ground.write() as index:
        index.add("new.md", near_chunk("new", 0.99))
    assert paths(ground.nearest())[0] == "new.md"
    assert ground.lane.held == 51


def test_more_than_a_question_takes_in_is_found_by_the_exact_lane_at_once(ground: Ground) -> None:
    """A mirror that is behind does not answer."""
    with ground.write() as index:
        index.add("a.md", *chunks(like_sentences(50, seed=1), "a"))
    ground.mirrored()
    with ground.write() as index:
        many = chunks(like_sentences(FOLLOWED_AT_ONCE + 100, seed=3), "many")
        index.add("many.md", *many, near_chunk("last", 0.99), is_on_disk=False)
    assert ground.nearest()[0].passage.text == "last"
    ground.lane.settle()
    assert ground.lane.held == 50 + FOLLOWED_AT_ONCE + 101
    assert ground.nearest()[0].passage.text == "last"


def test_a_removed_document_is_not_found_though_its_vectors_stay(ground: Ground) -> None:
    """What no chunk points to is no answer; those behind it fill the places."""
    with ground.write() as index:
        index.add("a.md", *chunks(like_sentences(300, seed=1), "a"))
        index.add("gone.md", *[near_chunk(f"gone {row}", 0.9 + row / 10_000) for row in range(900)], is_on_disk=False)
    ground.mirrored()
    assert set(paths(ground.nearest())) == {"gone.md"}
    with ground.write() as index:
        index.remove("gone.md")
    found = ground.nearest()
    assert paths(found) == ["a.md"] * DEPTH
    assert [hit.passage for hit in found] == [hit.passage for hit in ground.exact()]


@pytest.mark.parametrize("is_last", [True, False], ids=["the last one", "one among others"])
def test_an_erased_vector_leaves_memory(ground: Ground, is_last: bool) -> None:
    """Erasure removes vectors, too: nothing of them is kept."""
    with ground.write() as index:
        index.add("a.md", *chunks(like_sentences(50, seed=1), "a"))
    ground.mirrored()
    with ground.write() as index:
        index.execute(f"DELETE FROM embedding WHERE id = {50 if is_last else 7}")
    assert len(ground.nearest()) == 49
    ground.lane.settle()
    assert ground.lane.held == 49


def test_a_vector_that_took_an_erased_ones_place_is_found(ground: Ground) -> None:
    """SQLite gives the highest id again once its row is gone."""
    with ground.write() as index:
        far = near_chunk("far", -0.9)  # so that what is known of it would never be chosen
        index.add("a.md", *chunks(like_sentences(900, seed=1), "a"), far, is_on_disk=False)
    ground.mirrored()
    with ground.write() as index:
        index.execute("DELETE FROM embedding WHERE id = 901")
        index.add("new.md", near_chunk("new", 0.99))
    assert paths(ground.nearest())[0] == "new.md"
    ground.lane.settle()
    assert paths(ground.nearest())[0] == "new.md"


def test_another_model_is_another_mirror(ground: Ground) -> None:
    """Vectors of two models are never compared."""
    with ground.write() as index:
        index.add("a.md", *chunks(like_sentences(50, seed=1), "a"))
    ground.mirrored()
    with ground.write(encoder=FakeEncoder("other@1")) as index:
        index.execute("INSERT INTO model VALUES(2, 'other@1')")
        index.execute("UPDATE epoch SET model = 2")
        index.set_meta(Meta.EPOCH, 1)
    assert ground.nearest() == []
    assert ground.lane.held == 0


def test_an_index_that_was_replaced_is_read_anew(ground: Ground) -> None:
    """A mirror belongs to one file on disk, not to its name."""
    with ground.write() as index:
        index.add("a.md", *chunks(like_sentences(50, seed=1), "a"))
    ground.mirrored()
    for file in ground.folder.glob("index.sqlite*"):
        file.rename(file.with_name(f"old-{file.name}"))
    with ground.write() as index:
        index.add("other.md", *chunks(like_sentences(20, seed=5), "other"))
    assert set(paths(ground.nearest())) == {"other.md"}


CONFIG = Filters(kinds=("config",))
DOCS = Filters(kinds=("docs",))


@pytest.mark.parametrize("filters", [CONFIG, DOCS], ids=["narrow", "broad"])
def test_filters_are_answered_in_full(ground: Ground, filters: Filters) -> None:
    """A kind that is rare among the nearest still fills the answer."""
    with ground.write() as index:
        index.add("a.md", *[near_chunk(f"near {row}", 0.9 + row / 10_000) for row in range(900)], is_on_disk=False)
        index.add("rare.toml", *chunks(like_sentences(120, seed=1), "rare"), kind="config")
    found = ground.mirrored(filters).nearest(filters=filters)
    assert [hit.passage for hit in found] == [hit.passage for hit in ground.exact(filters=filters)]
    assert len(found) == DEPTH


def test_filters_follow_the_documents(ground: Ground) -> None:
    """A document that came, went, or is of another kind now is seen so by the next question."""
    with ground.write() as index:
        index.add("a.md", *chunks(like_sentences(60, seed=1), "a"))
        index.add("old.toml", *chunks(like_sentences(5, seed=2), "old"), kind="config")
        index.add("moved.toml", near_chunk("moved", 0.9), kind="config")
    ground.mirrored(CONFIG)
    with ground.write() as index:
        index.add("new.toml", near_chunk("new", 0.99), kind="config")
        index.remove("old.toml").remove("moved.toml").add("moved.toml", near_chunk("moved", 0.9), kind="docs")
    assert paths(ground.nearest(filters=CONFIG)) == ["new.toml"]
    assert ground.exact_lane.asked == 0


def test_a_filter_nothing_passes_finds_nothing(ground: Ground) -> None:
    """No place is filled with what was not asked for."""
    with ground.write() as index:
        index.add("a.md", *chunks(like_sentences(60, seed=1), "a"))
    assert ground.mirrored(CONFIG).nearest(filters=CONFIG) == []


def test_filters_of_a_rebuilt_index_read_its_documents(ground: Ground) -> None:
    """Each epoch counts its documents from one."""
    with ground.write() as index:
        index.add("a.md", *chunks(like_sentences(60, seed=1), "a")).add("a.toml", near_chunk("x", 0.9), kind="config")
    ground.mirrored(CONFIG)
    with ground.write(epoch=2) as index:
        index.add("b.toml", near_chunk("x", 0.9), kind="config").add("a.md", *chunks(like_sentences(60, seed=1), "a"))
        index.answer_with_epoch()
    assert paths(ground.nearest(filters=CONFIG)) == ["b.toml"]


def test_denied_documents_take_no_places(ground: Ground) -> None:
    """What is denied now is left out, and the others move up."""
    with ground.write() as index:
        index.add("secret.md", *[near_chunk(f"near {row}", 0.9 + row / 10_000) for row in range(900)], is_on_disk=False)
        index.add("open.md", *chunks(like_sentences(120, seed=1), "open"))
    ground.mirrored()
    found = ground.nearest(filters=Filters(is_denied=lambda path: path == "secret.md"))
    assert paths(found) == ["open.md"] * DEPTH


def test_an_idle_mirror_gives_its_memory_back(ground: Ground) -> None:
    """Nobody pays for what nobody asks."""
    with ground.write() as index:
        index.add("a.md", *chunks(like_sentences(50, seed=1), "a"))
    ground.mirrored().lane.drop_idle(older_than_s=0.0)
    assert ground.lane.held == 0
    assert len(ground.nearest()) == 50
