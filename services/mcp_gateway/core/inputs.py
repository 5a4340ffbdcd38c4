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
    Meta(
        description="The UUID under mcp.projectId in the .kx.json of the project you work on. Required if it has one."
    ),
]
ProjectRoot = Annotated[
    str | None,
    Meta(description="Absolute path of the root folder of the project you work on. Required with the project id."),
]
Form = Annotated[
    Literal["structured", "text"],
    Meta(
        description="Where the passages go: 'structured' (default) puts them into structuredContent; 'text' puts them "
        "into the text block, for a client that shows only text."
    ),
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
            description="What you look for: a question, an identifier, words. Any text; there is no query language.",
            min_length=1,
            max_length=10_000,
        ),
    ]
    top: Annotated[int, Meta(description="How many results.", ge=1, le=100)] = 10
    offset: Annotated[int, Meta(description="Results to leave out, for paging.", ge=0, le=10_000)] = 0
    type: Annotated[Literal["all", "docs", "code", "config", "vault"], Meta(description="Only this kind of file.")] = (
        "all"
    )
    path: Annotated[
        str,
        Meta(
            description="Only project-relative paths that match this glob, e.g. src/**/*.py (`**` crosses folders).",
            max_length=1_000,
        ),
    ] = ""
    mode: Annotated[
        Mode,
        Meta(
            description="How meaning and words are put together. auto suits nearly every question; lexical is exact words "
            "only, semantic meaning only, rrf fuses ranks with `k`, hybrid mixes scores with `alpha`."
        ),
    ] = "auto"
    k: Annotated[int, Meta(description="Constant of reciprocal rank fusion (mode rrf).", ge=1, le=1000)] = 60
    alpha: Annotated[float, Meta(description="Mode hybrid: 1 is words only, 0 meaning only.", ge=0, le=1)] = 0.5
    group: Annotated[
        Group, Meta(description="file: one result a file, best passage first; passage: a flat list of passages.")
    ] = "file"
    explain: Annotated[bool, Meta(description="Show the named parts of each score.")] = False
    max_snippet_lines: (
        Annotated[
            int,
            Meta(
                description="At most this many lines of each passage, those that answer; 0 gives places only. Without it "
                "whole passages, unless the project's configuration sets maxSnippetLines.",
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
                description="So many of the first results have text, the others a place. Without it all, unless the "
                "project's configuration sets maxSnippetResults.",
                ge=0,
                le=MAX_SNIPPET_RESULTS,
            ),
        ]
        | None
    ) = None
    max_tokens: Annotated[
        int,
        Meta(
            description="How many tokens the answer may have, estimated from above; passages are shortened to the lines "
            "that answer before results are left out.",
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
            description="File or folder of the project, relative to its root (or absolute, inside it).",
            min_length=1,
            max_length=4_096,
        ),
    ]


class ReindexInput(ToolInput, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Arguments of `reindex`."""

    full: Annotated[
        bool,
        Meta(description="Build the whole index anew; the old one answers until it is complete. Rarely needed."),
    ] = False


class StatusInput(ToolInput, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Arguments of `status`."""
