"""Every subject of the bus and who may use it (pure); the bus permissions are derived from this table.

Subjects are `kx.v1.{instance}.{service}.{verb}`, without a project `kx.v1.{service}.{verb}`.
"""

from __future__ import annotations

from typing import Any, Generic, TypeVar

from msgspec import Struct

from shared import knowledge_messages as kb
from shared import knowledge_upkeep_messages as kbu
from shared import megabrain_messages as mb
from shared import memory_messages as mem
from shared import messages as m
from shared import search_messages as se
from shared import upkeep_messages as up
from shared.identity import InstanceId

PREFIX = "kx.v1"

WATCHER, EMBEDDER, INDEXER, QUERY = "watcher", "embedder", "indexer", "query"
MEGABRAIN = "megabrain"
KNOWLEDGE = "knowledge"
GATEWAY = "mcp_gateway"  # agents, and whatever it forwards for a `kx` command on the local socket
COMMAND = "command"  # the `kx` command and, on its behalf, whoever supervises
TOOL = "tool"  # other programs with credentials for one instance

Q = TypeVar("Q", bound=m.Message)
R = TypeVar("R", bound=m.Message)


class RequestRoute(Struct, Generic[Q, R], frozen=True, kw_only=True):
    """A question or command: one service answers, the callers wait for its reply."""

    service: str
    verb: str
    request: type[Q]
    reply: type[R]
    callers: tuple[str, ...]
    per_instance: bool = True


class EventRoute(Struct, Generic[Q], frozen=True, kw_only=True):
    """A fact: the publisher waits for nobody, every subscriber hears it or not."""

    service: str  # the publisher
    verb: str
    event: type[Q]
    subscribers: tuple[str, ...]
    per_instance: bool = True


TOUCHED = RequestRoute(
    service=INDEXER,
    verb="touched",
    request=m.PathsTouched,
    reply=m.TouchAccepted,
    callers=(WATCHER, QUERY, MEGABRAIN, KNOWLEDGE),
)
REBUILD = RequestRoute(
    service=INDEXER, verb="rebuild", request=m.RebuildIndex, reply=m.RebuildStarted, callers=(COMMAND, GATEWAY)
)
FINISH_REBUILD = RequestRoute(
    service=INDEXER, verb="finish_rebuild", request=m.FinishRebuild, reply=m.Accepted, callers=(WATCHER,)
)
PRIORITISE = RequestRoute(
    service=INDEXER, verb="prioritise", request=m.PrioritiseTexts, reply=m.Accepted, callers=(COMMAND, GATEWAY)
)
RETRY_FAILED = RequestRoute(
    service=INDEXER, verb="retry_failed", request=m.RetryFailed, reply=m.Accepted, callers=(COMMAND, GATEWAY)
)
PURGE = RequestRoute(
    service=INDEXER, verb="purge", request=up.PurgePaths, reply=up.PathsPurged, callers=(COMMAND, GATEWAY, KNOWLEDGE)
)
COMPACT = RequestRoute(
    service=INDEXER, verb="compact", request=up.CompactIndex, reply=m.Accepted, callers=(COMMAND, GATEWAY)
)
PROGRESS = RequestRoute(
    service=INDEXER,
    verb="progress",
    request=m.ProgressRequest,
    reply=m.IndexProgress,
    callers=(COMMAND, GATEWAY, QUERY, KNOWLEDGE),
)
EMBED = RequestRoute(
    service=EMBEDDER,
    verb="embed",
    request=m.EmbedTexts,
    reply=m.TextsEmbedded,
    callers=(INDEXER,),
    per_instance=False,
)
RECONCILE = RequestRoute(
    service=WATCHER,
    verb="reconcile",
    request=m.ReconcileTree,
    reply=m.TreeReconciled,
    callers=(COMMAND, GATEWAY, KNOWLEDGE),
)
SURVEY = RequestRoute(
    service=WATCHER, verb="survey", request=m.SurveyTree, reply=m.TreeSurveyed, callers=(COMMAND, GATEWAY, QUERY)
)
MANIFEST = RequestRoute(
    service=QUERY, verb="manifest", request=m.ManifestRequest, reply=m.ManifestPage, callers=(WATCHER,)
)
SEARCH = RequestRoute(
    service=QUERY, verb="search", request=m.SearchRequest, reply=m.SearchReply, callers=(COMMAND, GATEWAY, TOOL)
)
SPACE_SEARCH = RequestRoute(  # the trees that `knowledge` writes; nobody else is let in there
    service=QUERY, verb="space_search", request=m.SearchRequest, reply=m.SearchReply, callers=(KNOWLEDGE,)
)
CANDIDATES = RequestRoute(
    service=QUERY, verb="candidates", request=m.CandidatesRequest, reply=m.CandidateTexts, callers=(COMMAND, GATEWAY)
)
WHY_NOT = RequestRoute(
    service=QUERY, verb="why_not", request=se.WhyNotRequest, reply=se.WhyNotReply, callers=(COMMAND, GATEWAY)
)
STATUS = RequestRoute(
    service=QUERY, verb="status", request=m.StatusRequest, reply=m.StatusReply, callers=(COMMAND, GATEWAY, TOOL)
)
LISTING = RequestRoute(
    service=QUERY, verb="listing", request=m.ListingRequest, reply=m.ListingPage, callers=(COMMAND, GATEWAY, TOOL)
)
ACTIVITY_ADD = RequestRoute(
    service=MEGABRAIN, verb="add", request=mb.AddActivity, reply=mb.ActivityWritten, callers=(COMMAND, GATEWAY)
)
ACTIVITY_UPDATE = RequestRoute(
    service=MEGABRAIN, verb="update", request=mb.UpdateActivity, reply=mb.ActivityWritten, callers=(COMMAND, GATEWAY)
)
ACTIVITIES = RequestRoute(
    service=MEGABRAIN, verb="status", request=mb.ActivitiesRequest, reply=mb.Activities, callers=(COMMAND, GATEWAY)
)
ACTIVITY = RequestRoute(
    service=MEGABRAIN, verb="get", request=mb.ActivityRequest, reply=mb.ActivityText, callers=(COMMAND, GATEWAY)
)
ARTIFACT_ADD = RequestRoute(
    service=MEGABRAIN, verb="artifact_add", request=mb.AddArtifact, reply=mb.ArtifactWritten, callers=(COMMAND, GATEWAY)
)
ARTIFACT_LINK = RequestRoute(
    service=MEGABRAIN,
    verb="artifact_link",
    request=mb.LinkArtifact,
    reply=mb.ArtifactWritten,
    callers=(COMMAND, GATEWAY),
)
ARTIFACTS = RequestRoute(
    service=MEGABRAIN, verb="artifacts", request=mb.ArtifactsRequest, reply=mb.Artifacts, callers=(COMMAND, GATEWAY)
)


def _knowledge(verb: str, request: type[Q], reply: type[R]) -> RequestRoute[Q, R]:
    callers = (COMMAND, GATEWAY)
    is_of_project = issubclass(request, m.InstanceMessage)
    return RequestRoute(
        service=KNOWLEDGE, verb=verb, request=request, reply=reply, callers=callers, per_instance=is_of_project
    )


SPACES = _knowledge("spaces", kb.SpacesRequest, kb.Spaces)
SPACE_CREATE = _knowledge("space_create", kb.CreateSpace, kb.SpaceWritten)
SPACE_MEMBER = _knowledge("space_member", kb.SetMember, kb.SpaceWritten)
BASES = _knowledge("bases", kb.BasesRequest, kb.Bases)
BASE_CREATE = _knowledge("base_create", kb.CreateBase, kb.BaseWritten)
BASE_UPDATE = _knowledge("base_update", kb.UpdateBase, kb.BaseWritten)
BASE_MOVE = _knowledge("base_move", kb.MoveBase, kb.BaseWritten)
BASE_DELETE = _knowledge("base_delete", kb.DeleteBase, kb.Erased)
ITEMS = _knowledge("items", kb.ItemsRequest, kb.Items)
ITEM_CREATE = _knowledge("item_create", kb.CreateItem, kb.ItemWritten)
ITEM_IMPORT = _knowledge("item_import", kb.ImportItem, kb.ItemWritten)
ITEM_EDIT = _knowledge("item_edit", kb.EditItem, kb.ItemWritten)
ITEM_MOVE = _knowledge("item_move", kb.MoveItem, kb.ItemWritten)
ITEM_DELETE = _knowledge("item_delete", kb.DeleteItem, kb.Erased)
ITEM_READ = _knowledge("item_read", kb.ReadItem, kb.RevisionText)
REVISIONS = _knowledge("revisions", kb.RevisionsRequest, kb.Revisions)
KNOWLEDGE_SEARCH = _knowledge("search", kb.SearchKnowledge, kb.KnowledgeReply)
AUDIT = _knowledge("audit", kbu.AuditRequest, kbu.Audit)
LINK_SET = _knowledge("link_set", kbu.SetLink, kbu.Links)
LINKS = _knowledge("links", kbu.LinksRequest, kbu.Links)
LIMITS = _knowledge("limits", kbu.LimitsRequest, kbu.KnowledgeLimits)
REMEMBER = _knowledge("remember", mem.Remember, mem.Remembered)
FORGET = _knowledge("forget", mem.Forget, mem.Forgotten)
PROMOTE = _knowledge("promote", mem.PromoteMemory, mem.Remembered)
MEMORIES = _knowledge("memories", mem.MemoriesRequest, mem.Memories)
RECALL = _knowledge("recall", mem.RecallContext, mem.RecalledContext)
KNOWLEDGE_ROUTES: tuple[RequestRoute[Any, Any], ...] = (
    SPACES,
    SPACE_CREATE,
    SPACE_MEMBER,
    BASES,
    BASE_CREATE,
    BASE_UPDATE,
    BASE_MOVE,
    BASE_DELETE,
    ITEMS,
    ITEM_CREATE,
    ITEM_IMPORT,
    ITEM_EDIT,
    ITEM_MOVE,
    ITEM_DELETE,
    ITEM_READ,
    REVISIONS,
    KNOWLEDGE_SEARCH,
    AUDIT,
    LINK_SET,
    LINKS,
    LIMITS,
    REMEMBER,
    FORGET,
    PROMOTE,
    MEMORIES,
    RECALL,
)
INDEX_COMMITTED = EventRoute(service=INDEXER, verb="committed", event=m.IndexCommitted, subscribers=(QUERY,))
INDEXER_STARTED = EventRoute(
    service=INDEXER, verb="started", event=m.IndexerStarted, subscribers=(WATCHER,), per_instance=False
)


def service_status(service: str) -> RequestRoute[m.ServiceStatusRequest, m.ServiceStatus]:
    """Give the route on which `service` tells how it is; every service answers it."""
    return RequestRoute(
        service=service,
        verb="health",
        request=m.ServiceStatusRequest,
        reply=m.ServiceStatus,
        callers=(COMMAND, GATEWAY),
        per_instance=False,
    )


SERVICES = (WATCHER, EMBEDDER, INDEXER, QUERY, MEGABRAIN, KNOWLEDGE, GATEWAY)
REQUEST_ROUTES: tuple[RequestRoute[Any, Any], ...] = (
    TOUCHED,
    REBUILD,
    FINISH_REBUILD,
    PRIORITISE,
    RETRY_FAILED,
    PURGE,
    COMPACT,
    PROGRESS,
    EMBED,
    RECONCILE,
    SURVEY,
    MANIFEST,
    SEARCH,
    SPACE_SEARCH,
    CANDIDATES,
    WHY_NOT,
    STATUS,
    LISTING,
    ACTIVITY_ADD,
    ACTIVITY_UPDATE,
    ACTIVITIES,
    ACTIVITY,
    ARTIFACT_ADD,
    ARTIFACT_LINK,
    ARTIFACTS,
    *KNOWLEDGE_ROUTES,
    *(service_status(name) for name in SERVICES),
)
EVENT_ROUTES: tuple[EventRoute[Any], ...] = (INDEX_COMMITTED, INDEXER_STARTED)


def subject_of(
    route: RequestRoute[Q, R] | EventRoute[Q], instance: InstanceId | None = None, *, prefix: str = PREFIX
) -> str:
    """Build the concrete subject; `instance` is needed exactly when the route is per instance.

    >>> subject_of(EMBED)
    'kx.v1.embedder.embed'
    """
    if route.per_instance != (instance is not None):
        raise ValueError(
            f"{route.service}.{route.verb}: instance given {instance!r}, per_instance {route.per_instance}"
        )
    middle = f".{instance}" if instance is not None else ""
    return f"{prefix}{middle}.{route.service}.{route.verb}"


def pattern_of(route: RequestRoute[Q, R] | EventRoute[Q]) -> str:
    """Build the subscription that matches the route for every instance.

    >>> pattern_of(SEARCH)
    'kx.v1.*.query.search'
    """
    return subject_of(route, InstanceId("*") if route.per_instance else None)


def instance_of(subject: str) -> InstanceId | None:
    """Read the instance out of a concrete subject; None where the subject carries none.

    >>> instance_of("kx.v1.0123456789abcdef.query.search")
    '0123456789abcdef'
    """
    parts = subject.split(".")
    return InstanceId(parts[2]) if len(parts) == 5 else None
