"""The Portuguese of the command is whole, fits its English, and holds nothing that is never said."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import get_args, get_type_hints

import click
import pytest

from kx.cli import main
from kx.knowledge.outcomes import Outcome
from kx.knowledge.text import KINDS
from kx.portuguese import PORTUGUESE, RECOGNISED
from kx.portuguese.click_words import CLICK
from kx.portuguese.phrases import PHRASES
from services.query.adapters.lag import NOBODY_WATCHES
from shared.config_file import _TYPE_WORDS, warn_unknown
from shared.extractor.reading import Note
from shared.extractor.reasons import Reason
from shared.grants import GRANT_KEYS
from shared.knowledge_messages import BaseStatus, ItemStatus, Role, SpaceKind
from shared.knowledge_upkeep_messages import LinkRow
from shared.messages import LaneState, Listing, Origin, ProjectState, ServiceStatus
from shared.patterns import PATTERN_WORDS
from shared.project_config import KEYS, XINDEX_KEYS
from shared.settings import FILE_KEYS
from shared.vectors import VectorFlaw
from tests.support.templates import (
    help_texts,
    is_filled,
    literals,
    placeholders,
    skeleton,
    spoken_templates,
    worded_templates,
)

NOT_WORDS = {
    "{problem}",  # a refusal of the command line, whose whole text is a value
    "mcp.projectId",  # a key
    "{internal}: {__name__}",  # a code and the name of an exception
    "clients={clients}",
    "-> {}",
    "",
}
SKELETONS = {skeleton(template) for template in RECOGNISED}  # a value has no name of its own in an f-string
STATES = {*get_args(ProjectState), *get_args(LaneState), *get_args(ServiceStatus.__annotations__["state"])}
SHOWN_WORDS = {*get_args(Origin), *get_args(Listing), "down", "not_running", *STATES}
KNOWLEDGE_WORDS = {
    word
    for words in (BaseStatus, ItemStatus, Outcome, Role, SpaceKind, get_type_hints(LinkRow)["kind"])
    for word in get_args(words)
} | set(KINDS.values())


def is_translated(text: str) -> bool:
    return text in PORTUGUESE or skeleton(text) in SKELETONS


def is_translated_filled(text: str) -> bool:
    """Also where a constant of the source fills a phrase, such as `a whole number from 0 to 256`."""
    return is_translated(text) or any(is_filled(phrase, text) for phrase in PHRASES if not phrase.startswith("{"))


@cache
def words_of_click() -> str:
    folder = Path(click.__file__).parent
    return "\n".join(path.read_text() for path in folder.glob("*.py")).replace("!r}", "}")


def test_all_that_the_command_says_is_translated():
    """No English sentence is left among Portuguese ones."""
    every = (*spoken_templates(), *worded_templates())
    missing = [said for said in every if not (is_translated(said.text) if said.is_filled else said.text in PORTUGUESE)]
    assert [said for said in missing if said.text not in NOT_WORDS] == []


def test_help_is_translated():
    """Every verb and every option that is shown has Portuguese help."""
    assert [text for text in help_texts(main) if text not in PORTUGUESE] == []


@pytest.mark.parametrize("word", sorted(SHOWN_WORDS | KNOWLEDGE_WORDS))
def test_state_and_origin_are_translated(word: str):
    """Words of the messages that an answer shows have a Portuguese form."""
    assert word.replace("_", " ") in PORTUGUESE


@pytest.mark.parametrize(
    "keys", [FILE_KEYS, KEYS, XINDEX_KEYS, GRANT_KEYS], ids=["config.json", ".kx.json", ".xindex.json", "grants"]
)
def test_what_a_key_expects_is_translated(keys):
    """An error about a value says in Portuguese what would have been right."""
    assert [key.expects for key in keys.values() if not is_translated_filled(key.expects)] == []


@pytest.mark.parametrize("text", [PATTERN_WORDS, NOBODY_WATCHES, *VectorFlaw, *Reason, *Note, *_TYPE_WORDS.values()])
def test_named_sentence_is_translated(text: str):
    """Sentences that are constants of a module are not forgotten."""
    assert is_translated(text)


def test_translation_has_the_placeholders_of_its_template():
    """No value is lost, none is invented."""
    pairs = PORTUGUESE.items()
    assert [template for template, told in pairs if placeholders(told) != placeholders(template)] == []


def test_no_translation_is_dead():
    """What is never said is not kept."""
    said = {*literals(), *help_texts(main), *(key.expects for key in (*KEYS.values(), *FILE_KEYS.values()))}
    said |= {warn_unknown(Path("a"), "deyn", keys) for keys in ((), ("deny",))}
    said |= {text.replace("_", " ") for text in said if text.isidentifier()}
    skeletons = {skeleton(text) for text in said}
    unsaid = [template for template in PORTUGUESE if template not in CLICK and skeleton(template) not in skeletons]
    assert [template for template in unsaid if not any(is_filled(template, text) for text in said)] == []


def test_words_of_click_are_those_it_uses():
    """An upgrade that rewords its messages is noticed."""
    known = words_of_click()
    pieces = {piece for template in CLICK for piece in template.replace("\n\t", "{}").split("{")}
    literal = {piece.partition("}")[2] or piece for piece in pieces if "}" in piece or piece}
    assert [piece for piece in literal if piece.strip(" .:") and piece.strip(" .:\n\t[]") not in known] == []
