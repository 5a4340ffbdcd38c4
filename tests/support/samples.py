"""One sample of every message, with every field set: what the golden bytes are made of."""

from __future__ import annotations

from shared import messages as m
from shared.errors import ErrorCode, ErrorDetails
from shared.identity import InstanceId, TextHash

INSTANCE = InstanceId("0123456789abcdef")
HASH = TextHash(bytes(range(32)))

ERROR = ErrorDetails(
    code=ErrorCode.MODEL_MISSING,
    message="no model in {where}",
    hint="run {command}",
    retryable=True,
    params={"where": "/models", "command": "kx doctor"},
)

SAMPLES: tuple[m.Message, ...] = (
    m.PathsTouched(instance=INSTANCE, paths=("docs/a.md", "node_modules/"), urgency="live", reason="event"),
    m.TouchAccepted(queued=2),
    m.EmbedTexts(model_id="minilm", items=(m.TextItem(text_hash=HASH, text="olá"),)),
    m.TextsEmbedded(model_id="minilm", items=(m.VectorItem(text_hash=HASH, vector=b"\0\0\x80\x3f"),), failed=(HASH,)),
    m.RebuildIndex(instance=INSTANCE),
    m.RebuildStarted(epoch=2),
    m.FinishRebuild(instance=INSTANCE, epoch=2),
    m.PrioritiseTexts(instance=INSTANCE, text_hashes=(HASH,)),
    m.RetryFailed(instance=INSTANCE),
    m.Accepted(),
    m.ProgressRequest(instance=INSTANCE, until="vectors", wait_ms=1_000),
    m.IndexProgress(
        text_pending=1,
        documents=2,
        chunks=3,
        vectors_ready=4,
        vectors_missing=5,
        texts_failed=6,
        text_done=7,
        bytes_done=8,
        embedded=9,
        rebuilding=True,
        priority_missing=10,
        stalled=ERROR,
    ),
    m.ReconcileTree(instance=INSTANCE, subtrees=("docs",), force=True, urgency="live"),
    m.TreeReconciled(walked=3, announced=2, took_ms=1.5),
    m.SurveyTree(instance=INSTANCE),
    m.TreeSurveyed(walked=3, behind=2, root_missing=True),
    m.ManifestRequest(instance=INSTANCE, after="a.md", limit=10),
    m.ManifestPage(entries=(m.ManifestEntry("a.md", 12, 1_700_000_000_000_000_000),), complete=True, epoch=1),
    m.SearchRequest(
        instance=INSTANCE,
        query="how",
        top=5,
        offset=5,
        kinds=("docs", "code"),
        path_glob="docs/**",
        mode="hybrid",
        k=30,
        alpha=0.25,
        group="passage",
        explain=True,
    ),
    m.SearchReply(
        query="how",
        mode="rrf",
        project="demo",
        results=(
            m.Hit(
                path="docs/a.md",
                kind="docs",
                start_line=1,
                end_line=3,
                score=0.5,
                origin="both",
                heading="A",
                text="olá\n",
                keywords=("how",),
                spans=(m.Span(start_line=7, end_line=9, score=0.25),),
                also=(m.Place(path="b.md", start_line=1, end_line=3),),
                parts={"rrf": 0.5},
            ),
        ),
        lanes={"vector": m.LaneReport(state="partial", coverage=0.5, took_ms=2.5, considered=50, reason="indexing")},
        pending=m.Pending(text=1, vectors=2),
        total=1,
        took_ms=3.5,
        notes=("cut",),
        state="indexing",
    ),
    m.CandidatesRequest(instance=INSTANCE, query="how", depth=100, kinds=("code",)),
    m.CandidateTexts(text_hashes=(HASH,)),
    m.StatusRequest(instance=INSTANCE),
    m.StatusReply(
        project="demo",
        root="/demo",
        state="ready",
        documents=1,
        chunks=2,
        by_kind={"docs": 1},
        vectors_ready=2,
        vectors_missing=0,
        skipped={"denied": 1},
        failed=(m.Failure(path="c.md", reason="unreadable"),),
        model_id="minilm",
        index_bytes=4_096,
        epoch=1,
        seq=2,
        notes=("note",),
    ),
    m.ListingRequest(instance=INSTANCE, listing="skipped", after="a.md", limit=10),
    m.ListingPage(
        rows=(m.ListingRow(path="a.md", kind="docs", chunks=2, content_hash="00", reason="denied"),), complete=False
    ),
    m.ServiceStatusRequest(),
    m.ServiceStatus(service="query", state="degraded", pid=1, rss_bytes=2, detail="slow"),
    m.IndexCommitted(instance=INSTANCE, seq=2, epoch=1),
    m.IndexerStarted(),
)
