"""Prove that text is nowhere in the files of an index: choose what is unmistakably its own, look at every byte."""

from __future__ import annotations

import mmap
import re
from collections.abc import Iterable, Iterator
from pathlib import Path

import apsw
from msgspec import Struct

from shared.analyzer import index_terms
from shared.identity import InstanceId
from shared.index_files import COMPANIONS, beside
from shared.index_format import Meta, for_epoch
from shared.index_open import open_reader, translated

PROBES_AT_MOST = 64
LINE_BYTES = 24  # a longer piece could be split over two pages
SHORTEST = 10  # less is in many texts by chance
SHARED_BYTES = 4  # the full-text index leaves out what a word shares with the word before

_TEXTS = "SELECT d.path, c.heading, c.text FROM chunk{e} c JOIN document{e} d ON d.id = c.document"


class Probes(Struct, frozen=True):
    """Pieces of bytes that stand in the purged text and in no other text of the index."""

    pieces: frozenset[bytes]


def probes_of(index: Path, instance: InstanceId, path: str, on_disk: Iterable[str] = ()) -> Probes:
    """Choose what tells the text of `path` (a file or folder) from all else that is indexed.

    `on_disk` are the texts of the files as they are now: an index that forgot a path knows them no more.
    """
    own: list[str] = [*on_disk]
    others: list[str] = []
    for found, *texts in _texts(index, instance):
        is_own = not path or found == path or found.startswith(path + "/")
        (own if is_own else others).extend(texts)
    pieces = _most_telling(own)
    for text in others:
        data = f"{text}\n{index_terms(text)}".encode("utf-8", "surrogatepass")
        pieces = [piece for piece in pieces if piece not in data]
    return Probes(frozenset(pieces[:PROBES_AT_MOST]))


def found_in(index: Path, probes: Probes) -> dict[str, int]:
    """Give for each file of the index how many of the probes stand in it."""
    files = [beside(index, suffix) for suffix in ("", *COMPANIONS)]
    return {file.name: sum(_stands_in(file, piece) for piece in probes.pieces) for file in files if file.exists()}


def _texts(index: Path, instance: InstanceId) -> Iterator[tuple[str, ...]]:
    connection: apsw.Connection = open_reader(index, instance)
    try:
        with translated(index):
            row = connection.execute("SELECT value FROM meta WHERE key = ?", (str(Meta.EPOCH),)).fetchone()
            epoch = int(row[0]) if row is not None else 0
            for texts in connection.execute(for_epoch(_TEXTS, epoch)).fetchall() if epoch else ():
                yield tuple(map(str, texts))
    finally:
        connection.close()


def _most_telling(texts: list[str]) -> list[bytes]:
    """Give pieces of lines and ends of words, the longest first; more than are looked for, because others hold some."""
    lines = {line.strip().encode("utf-8", "surrogatepass")[:LINE_BYTES] for text in texts for line in text.split("\n")}
    words = {word.encode() for text in texts for word in re.split(r"\s+", index_terms(text))}
    pieces = {line for line in lines if len(line) >= SHORTEST}
    pieces |= {word[SHARED_BYTES:] for word in words if len(word) >= SHORTEST + SHARED_BYTES}
    return sorted(pieces, key=lambda piece: (-len(piece), piece))[: 8 * PROBES_AT_MOST]


def _stands_in(file: Path, piece: bytes) -> bool:
    with file.open("rb") as opened:
        if not opened.seek(0, 2):
            return False
        with mmap.mmap(opened.fileno(), 0, access=mmap.ACCESS_READ) as content:
            return content.find(piece) >= 0
