"""From a touched path to what the writer shall do: look at the disk, judge, read, cut, analyse.

Everything that costs time and needs no database; runs on the writer's thread for a few paths, in `readers` for many.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Protocol, TypeAlias

import structlog
from msgspec import Struct
from msgspec.structs import replace
from structlog.typing import FilteringBoundLogger

from services.indexer.adapters.files import Gone, ReadDocument, Skipped, Unstable, read_document, read_folder
from services.indexer.adapters.parsers import ParserError
from services.indexer.core.chunking import Syntax, no_syntax
from services.indexer.core.prepare import PreparedChunk, PreparedDocument, prepare_chunks
from shared.analyzer import index_terms
from shared.errors import ErrorCode, KxError
from shared.extraction import EXTRACTION_CODES, Extracted, extract_blocking
from shared.index_format import CUT_TEXT, NO_STRUCTURE
from shared.kinds import document_kind
from shared.pathgate import PathGate
from shared.relpath import RelPath, can_name_an_entry
from shared.treerules import RulesConfig, TreeRules

# Reading the rules costs 1.6 ms, a twentieth of a batch at most. Whatever changes them touches paths after it, and is
# older than rules that are read after the touch; this bounds how long a lost event could matter.
RULES_KEPT_S = 2.0

# A file that changes again within one tick of the file system's clock, and keeps its size, looks as it did. The kernel's
# tick is 10 ms at most; where times are whole seconds, it is one or two.
TICK_NS, COARSE_TICK_NS = 20_000_000, 2_000_000_000
NO_TIME_NS = -1  # no file has it: the next walk finds another one, and has the file read again

_log: FilteringBoundLogger = structlog.get_logger()


class Content(Struct, frozen=True):
    """What tells whether a document must be cut anew."""

    content_hash: bytes
    kind: str
    language: str


class Unchanged(Struct, frozen=True):
    """The bytes are those of the index; only the stat may be new."""

    size: int
    mtime_ns: int
    ctime_ns: int
    is_young: bool = False  # it may change without looking so: its time proves nothing


class Prepared(Struct, frozen=True):
    """A text lane to write."""

    document: PreparedDocument
    is_young: bool = False  # as above


class Failed(Struct, frozen=True):
    """The text could not be cut; the document is shown as failed."""

    document: PreparedDocument  # without chunks
    code: str
    detail: str


Outcome: TypeAlias = Unchanged | Prepared | Failed | Skipped | Gone | Unstable


class Extract(Protocol):
    """Takes the text out of a document, as `shared.extraction` does."""

    def __call__(self, data: bytes, *, suffix: str, name: str) -> Extracted:
        """Give the text, or raise a KxError of EXTRACTION_CODES."""
        ...


class Reader:
    """Reads paths of one tree; source is parsed by `syntax`, in this process without one."""

    def __init__(
        self,
        root: Path,
        count: Callable[[str], int],
        syntax: Syntax | None = None,
        *,
        extract: Extract = extract_blocking,
    ) -> None:
        self._extract = extract
        self._root = root
        self._count = count
        self._syntax = syntax
        self._rules: TreeRules | None = None
        self._rules_since = 0.0

    def begin(
        self, paths: Sequence[str], config: RulesConfig, *, touched_s: float = -math.inf
    ) -> tuple[PathGate, TreeRules]:
        """Give the gate and the rules for a batch of `paths`, the last of which was touched at `touched_s` (monotonic).

        Raises:
            KxError: ROOT_MISSING; CONFIG_INVALID for a pattern.
        """
        now, rules = time.monotonic(), self._rules
        is_old = now - self._rules_since > RULES_KEPT_S or self._rules_since <= touched_s
        if rules is None or rules.config != config or is_old or any(map(TreeRules.governs, paths)):
            rules = self._rules = TreeRules(self._root, config)
            self._rules_since = now
        return PathGate(self._root), rules

    def read(self, gate: PathGate, rules: TreeRules, path: str, known: Content | None) -> Outcome:
        """Read one path; `known` is what every epoch has of it, None where one must be written.

        Raises:
            KxError: of the environment (a damaged vocabulary, a missing root), never of the document.
        """
        if path and not can_name_an_entry(path):  # from a foreign message: it gets no row, and one of earlier goes
            return Gone()
        if path.endswith("/"):
            return read_folder(gate, rules, RelPath(path))
        began_ns = time.time_ns()
        found = read_document(gate, rules, RelPath(path))
        if not isinstance(found, ReadDocument):
            return found
        is_young = _is_young(found.ctime_ns, began_ns)
        if known == Content(found.content_hash, str(found.file_type.kind), found.file_type.language):
            return Unchanged(found.size, found.mtime_ns, found.ctime_ns, is_young)
        outcome = self._prepare(found)
        return Prepared(outcome.document, is_young) if isinstance(outcome, Prepared) else outcome

    def _prepare(self, found: ReadDocument) -> Prepared | Failed | Skipped:
        bare = PreparedDocument(
            path=found.path,
            kind=found.file_type.kind,
            language=found.file_type.language,
            size=found.size,
            mtime_ns=found.mtime_ns,
            ctime_ns=found.ctime_ns,
            content_hash=found.content_hash,
            path_terms=index_terms(found.path),
            chunks=(),
        )
        try:
            if found.sealed:
                return self._prepare_document(bare, found.sealed)
            return Prepared(self._with_chunks(bare, found.text))
        except KxError:
            raise  # of the environment: no document's fault
        except Exception as error:  # noqa: BLE001  # one poisonous text must not stop the indexer
            _log.warning("document.failed", path=found.path, error_type=type(error).__name__, exc_info=True)
            return Failed(bare, ErrorCode.INTERNAL, type(error).__name__)

    def _prepare_document(self, bare: PreparedDocument, sealed: bytes) -> Prepared | Failed | Skipped:
        """Take the text out of a document; what gives none is set aside until it changes."""
        try:
            found = self._extract(sealed, suffix=f".{document_kind(bare.path)}", name=bare.path)
        except KxError as error:
            if error.code not in EXTRACTION_CODES:
                raise
            return Failed(bare, error.code, error.params.get("reason", error.code))
        cut = replace(bare, reason=CUT_TEXT, detail="; ".join(found.notes)) if found.notes else bare
        return Prepared(self._with_chunks(cut, found.markdown))

    def _with_chunks(self, bare: PreparedDocument, text: str) -> PreparedDocument:
        """Cut a text by its structure; by its form alone where that cannot be had."""
        try:
            return bare.with_chunks(self._chunks(bare, text, self._syntax))
        except KxError:
            raise
        except Exception as error:  # noqa: BLE001  # whatever a parser does, the words of its file are worth having
            detail = str(error) if isinstance(error, ParserError) else type(error).__name__
            _log.warning("structure.lost", path=bare.path, detail=detail)
            chunks = self._chunks(bare, text, no_syntax)
            return replace(bare, chunks=chunks, reason=NO_STRUCTURE, detail=detail)

    def _chunks(self, bare: PreparedDocument, text: str, syntax: Syntax | None) -> tuple[PreparedChunk, ...]:
        return prepare_chunks(text, kind=bare.kind, language=bare.language, count=self._count, syntax=syntax)


def _is_young(ctime_ns: int, now_ns: int) -> bool:
    tick_ns = TICK_NS if ctime_ns % 1_000_000_000 else COARSE_TICK_NS
    return now_ns < ctime_ns + tick_ns
