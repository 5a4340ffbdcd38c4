"""What the tools take (pure): one Struct a tool, from which its JSON schema is made."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, ClassVar, Literal

from msgspec import Meta, Struct

from shared.excerpts import MAX_SNIPPET_LINES, MAX_SNIPPET_RESULTS
from shared.messages import Group, Mode

MAX_TOKENS = 25_000  # what common agents accept as one tool result; more is refused whole

ProjectId = Annotated[
    str | None,
    Meta(description="mcp.projectId in your project's .kx.json."),
]
ProjectRoot = Annotated[
    str | None,
    Meta(description="Absolute path of your project's folder."),
]
Form = Annotated[
    Literal["structured", "text"],
    Meta(description="text: passages in the text block, for a client that shows only that."),
]


class ToolInput(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What every tool takes."""

    aliases: ClassVar[Mapping[str, str]] = {}  # other names of arguments that are understood

    expected_project_id: ProjectId = None
    expected_project_root: ProjectRoot = None


class SearchInput(ToolInput, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Arguments of `search`."""

    query: Annotated[
        str,
        Meta(
            description="A question, an identifier, words: any text, no query language.",
            min_length=1,
            max_length=10_000,
        ),
    ]
    top: Annotated[int, Meta(description="Results.", ge=1, le=100)] = 10
    offset: Annotated[int, Meta(description="Results to leave out.", ge=0, le=10_000)] = 0
    type: Annotated[Literal["all", "docs", "code", "config", "vault"], Meta(description="Only this kind.")] = "all"
    path: Annotated[
        str,
        Meta(
            description="Only paths that match this glob, e.g. src/**/*.py.",
            max_length=1_000,
        ),
    ] = ""
    mode: Annotated[
        Mode,
        Meta(
            description="auto suits nearly every question; lexical: words only, semantic: meaning only, rrf fuses ranks "
            "with `k`, hybrid mixes scores with `alpha`."
        ),
    ] = "auto"
    k: Annotated[int, Meta(description="Constant of mode rrf.", ge=1, le=1000)] = 60
    alpha: Annotated[float, Meta(description="Mode hybrid: 1 words, 0 meaning.", ge=0, le=1)] = 0.5
    group: Annotated[Group, Meta(description="file: one result a file, best passage first; passage: a flat list.")] = (
        "file"
    )
    explain: Annotated[bool, Meta(description="Show the parts of each score.")] = False
    max_snippet_lines: (
        Annotated[
            int,
            Meta(
                description="Lines of each passage, those that answer; 0: places only. Default: the project's, or all.",
                ge=0,
                le=MAX_SNIPPET_LINES,
            ),
        ]
        | None
    ) = None
    max_snippet_results: (
        Annotated[
            int,
            Meta(
                description="So many of the first results have text. Default: the project's, or all.",
                ge=0,
                le=MAX_SNIPPET_RESULTS,
            ),
        ]
        | None
    ) = None
    max_tokens: Annotated[
        int,
        Meta(
            description="Length of the answer; passages are shortened before results are left out.",
            ge=200,
            le=MAX_TOKENS,
        ),
    ] = MAX_TOKENS
    format: Form = "structured"


class IngestInput(ToolInput, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Arguments of `ingest`."""

    path: Annotated[
        str,
        Meta(
            description="File or folder of the project, relative to its root or absolute.",
            min_length=1,
            max_length=4_096,
        ),
    ]


class ReindexInput(ToolInput, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Arguments of `reindex`."""

    full: Annotated[
        bool,
        Meta(description="Build the whole index anew; rarely needed."),
    ] = False


class StatusInput(ToolInput, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Arguments of `status`."""
