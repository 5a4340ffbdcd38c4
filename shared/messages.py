"""Every Struct that crosses a process boundary (pure).

Grow by optional fields with defaults; never change a meaning. Unknown fields pass. Facts are past tense, commands
imperative, questions a pair of request and reply. Paths are the reversible escape of `shared.relpath`.
"""

from __future__ import annotations

from typing import Literal

from msgspec import Struct

from shared.errors import ErrorDetails
from shared.excerpts import Budget, Excerpt, Place, Snippets, Span
from shared.identity import InstanceId, TextHash

Urgency = Literal["live", "bulk"]
Upto = Literal["text", "vectors"]
Mode = Literal["auto", "rrf", "hybrid", "semantic", "lexical"]
KindFilter = Literal["docs", "code", "config", "vault"]
Origin = Literal["both", "vector", "lexical"]
Group = Literal["file", "passage"]
LaneState = Literal["ok", "partial", "off", "failed"]
ProjectState = Literal["ready", "indexing", "rebuilding", "not_indexed", "root_missing"]
Upkeep = Literal["", "erasing", "compacting"]
Listing = Literal["documents", "skipped", "failed"]


class Message(Struct, frozen=True, kw_only=True, tag=True):
    """What crosses a process boundary; the tag field `type` carries the class name."""


class InstanceMessage(Message, frozen=True, kw_only=True):
    """A message about one tree; the receiver compares `instance` with the subject's."""

    instance: InstanceId


# --- watcher -> indexer -------------------------------------------------------------------------------------------


class PathsTouched(InstanceMessage, frozen=True, kw_only=True):
    """Something may have changed at these paths; the disk says what. Idempotent: by path."""

    paths: tuple[str, ...]  # at most MAX_TOUCHED_PATHS; a pruned folder ends with "/"
    urgency: Urgency = "bulk"
    reason: str = "walk"  # what noticed it: walk, event, answer, ingest, ...


class TouchAccepted(Message, frozen=True, kw_only=True):
    """The paths are in the indexer's bounded queue (not yet on disk)."""

    queued: int  # paths waiting in that queue now


MAX_TOUCHED_PATHS = 500

# --- indexer -> embedder ------------------------------------------------------------------------------------------


class TextItem(Struct, frozen=True, kw_only=True):
    """One text to embed, addressed by its content."""

    text_hash: TextHash
    text: str


class EmbedTexts(Message, frozen=True, kw_only=True):
    """Embed these texts with exactly this model. Idempotent: by (model, text_hash)."""

    model_id: str
    items: tuple[TextItem, ...]  # together at most 2,048 tokens; 1,024 while live work waits
    urgency: Urgency = "bulk"  # a live request goes before the next part of a bulk one


class VectorItem(Struct, frozen=True, kw_only=True):
    """One vector, addressed by the text it stands for."""

    text_hash: TextHash
    vector: bytes  # little-endian float32 x dim, L2-normalised


class TextsEmbedded(Message, frozen=True, kw_only=True):
    """The vectors of the texts that could be embedded; a text that failed alone is in `failed`."""

    model_id: str
    items: tuple[VectorItem, ...]
    failed: tuple[TextHash, ...] = ()


# --- commands to the indexer --------------------------------------------------------------------------------------


class RebuildIndex(InstanceMessage, frozen=True, kw_only=True):
    """Begin a new epoch beside the one that answers; a rebuild under way goes on. Idempotent: by epoch."""


class RebuildStarted(Message, frozen=True, kw_only=True):
    """The epoch being built; it answers once every path announced after this is in it."""

    epoch: int


class FinishRebuild(InstanceMessage, frozen=True, kw_only=True):
    """Every path of the tree was announced to this epoch: it answers once the queue is empty and it is complete.

    An epoch that is not being built is ignored: a walk that began before the rebuild did proves nothing.
    """

    epoch: int  # the epoch whose manifest the walk was compared with


class PrioritiseTexts(InstanceMessage, frozen=True, kw_only=True):
    """Embed these texts before any other bulk work."""

    text_hashes: tuple[TextHash, ...]


class RetryFailed(InstanceMessage, frozen=True, kw_only=True):
    """Forget the recorded failures so that their work is tried again."""


class Accepted(Message, frozen=True, kw_only=True):
    """The command was taken; its effect shows in progress and status."""


class ProgressRequest(InstanceMessage, frozen=True, kw_only=True):
    """Wait until the work named by `until` is done, at most `wait_ms`, then say how far it is."""

    until: Upto | None = None
    wait_ms: int = 0


class IndexProgress(Message, frozen=True, kw_only=True):
    """How far the indexer is with one index."""

    text_pending: int  # paths queued or in hand
    documents: int
    chunks: int
    vectors_ready: int  # distinct texts of live chunks that have a vector
    vectors_missing: int
    texts_failed: int  # distinct texts set aside after failing alone
    text_done: int  # paths handled since the indexer started
    bytes_done: int  # source bytes read since the indexer started
    embedded: int  # texts embedded since the indexer started
    rebuilding: bool = False
    priority_missing: int = 0  # of the prioritised texts, those without a vector
    stalled: ErrorDetails | None = None  # what stops the work now, None while it goes on
    upkeep: Upkeep = ""  # what is being done for the file itself
    set_aside: str = ""  # where the damaged index is that this one replaces


# --- commands to the watcher --------------------------------------------------------------------------------------


class ReconcileTree(InstanceMessage, frozen=True, kw_only=True):
    """Walk, compare with the manifest, announce every difference; the reply comes when all were accepted."""

    subtrees: tuple[str, ...] = ("",)  # "" is the whole tree
    force: bool = False  # announce unchanged entries too
    urgency: Urgency = "bulk"


class TreeReconciled(Message, frozen=True, kw_only=True):
    """What a walk met and announced."""

    walked: int  # files and pruned folders
    announced: int
    took_ms: float


class SurveyTree(InstanceMessage, frozen=True, kw_only=True):
    """Count the differences between tree and index without announcing them."""

    walk: bool = True  # False: only what whoever follows the tree holds already, told at once


class FolderCount(Struct, frozen=True, kw_only=True):
    """How many files of a tree lie in one folder."""

    path: str  # ends with "/"
    files: int


class TreeSurveyed(Message, frozen=True, kw_only=True):
    """How far the index is behind the tree."""

    walked: int
    behind: int  # new, changed and deleted entries; without a walk what is `held`
    root_missing: bool = False
    held: int = 0  # paths noticed, and not yet taken by the indexer
    is_followed: bool = False  # changes are noticed by themselves
    trouble: str = ""  # why they are noticed late or not at all, an English sentence
    largest: tuple[FolderCount, ...] = ()  # after a walk: where the files are


# --- questions to the read side -----------------------------------------------------------------------------------


class ManifestRequest(InstanceMessage, frozen=True, kw_only=True):
    """Ask for the known entries of a tree in path order, a page at a time."""

    after: str = ""  # last path of the page before
    limit: int = 2_000


class ManifestEntry(Struct, frozen=True, array_like=True):
    """One known path: what its stat said when it was last handled."""

    path: str
    size: int  # bytes
    mtime_ns: int
    ctime_ns: int = 0


class ManifestPage(Message, frozen=True, kw_only=True):
    """A page of the manifest; `complete` says that no page follows."""

    entries: tuple[ManifestEntry, ...]
    complete: bool
    epoch: int = 0  # the epoch these entries belong to: the one being built when there is one


class SearchRequest(InstanceMessage, frozen=True, kw_only=True):
    """A question. `query` is the user's text, never a query language of the store."""

    query: str
    top: int = 10  # 1..100 results
    offset: int = 0  # results to leave out, for paging
    kinds: tuple[KindFilter, ...] = ()  # () means every kind
    path_glob: str = ""  # project-relative, `*` within a name, `**` across folders
    folders: tuple[str, ...] = ()  # only what lies below one of these; () means the whole tree
    mode: Mode = "auto"
    k: int = 60  # RRF constant, 1..1000
    alpha: float = 0.5  # hybrid mix: 1 lexical, 0 semantic
    group: Group = "file"
    explain: bool = False
    snippets: Snippets = Snippets()
    budget: Budget | None = None


class Hit(Struct, frozen=True, kw_only=True):
    """One result: a file with its best passage, or a passage when grouping is off."""

    path: str
    kind: KindFilter
    start_line: int  # 1-based, inclusive
    end_line: int
    address: str = ""  # of a document, such as "page 3": its lines are those of the text taken out of it
    score: float  # better is higher; comparable within one answer
    confidence: float | None = None  # 0..1 that it answers; told in mode auto only
    origin: Origin
    heading: str
    text: str  # exactly the file's lines start_line..end_line; "" where a budget is given, which `excerpt` keeps to
    excerpt: Excerpt | None = None  # None: only the place is shown
    keywords: tuple[str, ...] = ()
    spans: tuple[Span, ...] = ()
    also: tuple[Place, ...] = ()
    parts: dict[str, float] = {}  # with explain: named parts of the score


class LaneReport(Struct, frozen=True, kw_only=True):
    """What one lane did for an answer."""

    state: LaneState
    coverage: float  # share of the live chunks this lane could see, 0..1
    took_ms: float
    considered: int = 0  # candidates it returned
    reason: str = ""  # why it is not "ok"


class Pending(Struct, frozen=True, kw_only=True):
    """What the answer could not know yet."""

    text: int  # paths changed on disk and not yet in the index
    vectors: int  # texts without a vector


class SearchReply(Message, frozen=True, kw_only=True):
    """The ranked answer; a lane that failed is a field of it, never silence."""

    query: str
    mode: Mode
    project: str
    results: tuple[Hit, ...]
    lanes: dict[str, LaneReport]  # "vector", "lexical"
    pending: Pending
    total: int  # results before paging, as far as candidates go
    took_ms: float
    notes: tuple[str, ...] = ()  # what was cut, ignored or fell back, as English sentences
    state: ProjectState = "ready"
    next_offset: int | None = None  # ask again with it for what follows; None: nothing does


class CandidatesRequest(InstanceMessage, frozen=True, kw_only=True):
    """Ask which texts without a vector the lexical lane would show for this query, best first."""

    query: str
    depth: int = 200  # chunks
    kinds: tuple[KindFilter, ...] = ()


class CandidateTexts(Message, frozen=True, kw_only=True):
    """Distinct texts worth embedding first."""

    text_hashes: tuple[TextHash, ...]


class StatusRequest(InstanceMessage, frozen=True, kw_only=True):
    """Ask what the index holds."""


class Failure(Struct, frozen=True, kw_only=True):
    """One path that could not be indexed, or whose text could not be embedded."""

    path: str
    reason: str  # error code or skip reason, with detail


class StatusReply(Message, frozen=True, kw_only=True):
    """What the index of one tree holds; walked = documents + skipped + failed."""

    project: str
    root: str  # canonical, display form
    state: ProjectState
    documents: int
    chunks: int
    by_kind: dict[str, int]  # documents by kind
    vectors_ready: int
    vectors_missing: int
    skipped: dict[str, int]  # entries by reason
    failed: tuple[Failure, ...]
    model_id: str
    index_bytes: int  # database and write-ahead log
    epoch: int = 0
    seq: int = 0
    notes: tuple[str, ...] = ()


class ListingRequest(InstanceMessage, frozen=True, kw_only=True):
    """Ask for the documents, skipped or failed entries in path order, a page at a time."""

    listing: Listing
    after: str = ""
    limit: int = 500


class ListingRow(Struct, frozen=True, kw_only=True):
    """One entry of a listing."""

    path: str
    kind: str = ""
    chunks: int = 0
    content_hash: str = ""  # sha256 of the file's bytes, hex
    reason: str = ""  # skip reason or error code: the keys of StatusReply.skipped
    detail: str = ""  # which rule, what was found


class ListingPage(Message, frozen=True, kw_only=True):
    """A page of a listing; `complete` says that no page follows."""

    rows: tuple[ListingRow, ...]
    complete: bool


class ServiceStatusRequest(Message, frozen=True, kw_only=True):
    """Ask a service how it is."""


class ServiceStatus(Message, frozen=True, kw_only=True):
    """One process that answers for a service."""

    service: str
    state: Literal["ready", "degraded"]
    pid: int
    rss_bytes: int
    detail: str = ""


class IndexCommitted(InstanceMessage, frozen=True, kw_only=True):
    """The index of this tree moved on."""

    seq: int
    epoch: int


class IndexerStarted(Message, frozen=True, kw_only=True):
    """An indexer came up: whoever walks trees should reconcile them."""
