"""How well names match a question."""

import numpy as np
import pytest

from services.query.core.evidence import naming
from services.query.core.evidence.asked import BARELY, CERTAIN, MAYBE, names_asked
from services.query.core.evidence.memory import Memory
from tests.support.evidence import make_asked, make_corpus

CORPUS = make_corpus("session loading of a router", "user names", "path and file", documents=100)


def names(*files: tuple[str, list[str]]) -> naming.Names:
    memory = Memory()
    defined = memory.names.read([name for _, its_names in files for name in its_names])
    file = np.repeat(np.arange(len(files)), [len(its_names) for _, its_names in files])
    path = memory.paths.read([path for path, _ in files])
    return naming.names_of(memory.names, defined, file, memory.paths, path)


def test_the_name_that_is_asked_whole_beats_longer_and_partial_ones() -> None:
    """Overlap counts both ways: how much of the name was asked, how much of the question it is."""
    found = names(
        ("a.py", ["load_session"]), ("b.py", ["load_session_from_disk_cache"]), ("c.py", ["load"]), ("d.py", [])
    )
    whole, longer, part, none = naming.name_overlap(found, make_asked("load session", CORPUS))
    assert whole > longer > none == 0.0
    assert whole > part > 0.0
    assert whole == pytest.approx(1.0)


def test_a_file_called_like_the_question_beats_one_in_such_a_folder() -> None:
    """File name and path are different evidence."""
    found = names(("src/router.py", []), ("router/main.py", []), ("x.py", []))
    asked = make_asked("router", CORPUS)
    called, inside, _ = naming.file_name_overlap(found, asked)
    assert called > inside == 0.0
    assert naming.path_overlap(found, asked).tolist() == [1.0, 1.0, 0.0]


@pytest.mark.parametrize(
    ("query", "certainty"),
    [
        ("loadSession", CERTAIN),
        ("where is load_session used", CERTAIN),
        ("what does the Router do", MAYBE),
        ("how routes are found", BARELY),
    ],
    ids=["camel", "snake", "capital", "plain"],
)
def test_how_a_word_is_written_tells_whether_it_is_a_name(query: str, certainty: float) -> None:
    """A name in code is written like one."""
    assert max(name.certainty for name in names_asked(query)) == certainty


def test_a_definition_is_found_as_written_before_folded() -> None:
    """`Router` is not `router` while there is a `Router`."""
    found = names(("a.py", ["Router"]), ("b.py", ["router"]), ("c.py", []))
    asked = make_asked("the Router class", CORPUS)
    assert naming.definition_asked(found, asked, 100, {CERTAIN, MAYBE}).tolist() == [1.0, 0.0, 0.0]
    lower = names(("b.py", ["router"]))
    assert naming.definition_asked(lower, asked, 100, {CERTAIN, MAYBE}).tolist() == [1.0]


def test_a_name_defined_in_many_files_says_little() -> None:
    """Rarity."""
    many = names(*((f"{i}.py", ["Router"]) for i in range(50)))
    (first, *_) = naming.definition_asked(many, make_asked("the Router class", CORPUS), 100, {CERTAIN, MAYBE})
    assert 0.0 < first < 0.5


def test_words_side_by_side_spell_a_defined_name() -> None:
    """`user name` asks for `userName`; three words are better than two."""
    found = names(("a.py", ["userName"]), ("b.py", ["user"]), ("c.py", ["loadUserName"]))
    two, one, _ = naming.joined_name(found, make_asked("user name of somebody", CORPUS), 100)
    assert two > one == 0.0
    *_, three = naming.joined_name(found, make_asked("load user name", CORPUS), 100)
    assert three > two


def test_a_word_of_the_question_is_the_files_whole_name() -> None:
    """Separators and case do not matter."""
    found = names(("src/fs-poll.c", []), ("src/poll.c", []))
    assert naming.file_name_asked(found, make_asked("fsPoll", CORPUS)).tolist() == [CERTAIN, 0.0]


def test_of_a_file_with_very_many_names_the_first_count() -> None:
    """A table of symbols is no better witness for its length; each name counts once."""
    many = [f"name{i}" for i in range(naming.MAX_NAMES)]
    found = names(("a.py", ["load_session"]), ("b.py", [*many[:1], *many, "load_session"]), ("c.py", ["load_session"]))
    assert np.bincount(found.file).tolist() == [1, naming.MAX_NAMES, 1]
    first, beyond, last = naming.name_overlap(found, make_asked("load session", CORPUS))
    assert first == last == pytest.approx(1.0)
    assert beyond == 0.0


def test_no_names_is_no_evidence() -> None:
    """Files without names, questions without words."""
    for query in ("router", "?"):
        asked = make_asked(query, CORPUS)
        for found in (names(("...", [])), names()):
            for measure in (naming.name_overlap, naming.file_name_overlap, naming.path_overlap):
                assert not measure(found, asked).any()
            assert not naming.joined_name(found, asked, 10).any()
