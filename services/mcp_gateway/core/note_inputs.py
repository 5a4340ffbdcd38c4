"""What the tools about activities and artifacts take (pure); the Portuguese names of the original are understood."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, ClassVar, Literal

from msgspec import Meta

from services.mcp_gateway.core.inputs import Form, ToolInput

Kind = Literal["progress", "block", "done", "reopen", "avanco", "bloqueio", "conclusao", "reabertura"]

Session = Annotated[
    str,
    Meta(description="Id of your session."),
]
Ref = Annotated[str, Meta(description="Number (3) or slug of the activity.", min_length=1, max_length=300)]
Url = Annotated[str, Meta(description="Address of the page, http(s).", min_length=1, max_length=2_000)]
Limit = Annotated[int, Meta(description="How many.", ge=1, le=100)]
Offset = Annotated[int, Meta(description="How many to leave out.", ge=0)]


class ActivityAddInput(ToolInput, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Arguments of `megabrain_add`."""

    aliases: ClassVar[Mapping[str, str]] = {
        "titulo": "title", "descricao": "description", "modulo": "module", "data_inicio": "started",
        "data_entrega": "due", "sessao": "session",
    }  # fmt: skip

    title: Annotated[str, Meta(description="Its slug must be new.", min_length=1, max_length=200)]
    description: Annotated[str, Meta(description="What it is about, in Markdown.")] = ""
    squad: Annotated[str, Meta(description="Team, one of the project's squads; else transversal.")] = ""
    module: Annotated[str, Meta(description="Main module or service.")] = ""
    status: Annotated[
        Literal["em-andamento", "pendente"], Meta(description="em-andamento: begun; pendente: planned.")
    ] = "em-andamento"
    tags: Annotated[tuple[str, ...] | str, Meta(description="Words to find it by.")] = ()
    branches: Annotated[tuple[str, ...] | str, Meta(description="Each as repository:branch.")] = ()
    doc: Annotated[str, Meta(description="Where the feature is documented.")] = ""
    started: Annotated[str, Meta(description="YYYY-MM-DD. Default: today.")] = ""
    due: Annotated[str, Meta(description="YYYY-MM-DD.")] = ""
    session: Session = ""


class ActivityUpdateInput(ToolInput, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Arguments of `megabrain_update`."""

    aliases: ClassVar[Mapping[str, str]] = {
        "slug": "ref", "id": "ref", "atividade": "ref", "tipo": "kind", "texto": "text", "sessao": "session",
    }  # fmt: skip

    ref: Ref
    kind: Annotated[
        Kind,
        Meta(
            description="progress (avanco): what was done; block (bloqueio): it is blocked from now on; done (conclusao): it "
            "ended; reopen (reabertura): a concluded one goes on."
        ),
    ]
    text: Annotated[
        str,
        Meta(description="In Markdown; may be empty for done and reopen."),
    ] = ""
    session: Session = ""


class ActivityStatusInput(ToolInput, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Arguments of `megabrain_status`."""

    aliases: ClassVar[Mapping[str, str]] = {"limite": "limit"}

    limit: Limit = 20
    offset: Offset = 0
    status: Annotated[str, Meta(description="em-andamento, pendente, bloqueado or concluida.", max_length=100)] = ""
    format: Form = "structured"


class ActivityGetInput(ToolInput, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Arguments of `megabrain_get`."""

    aliases: ClassVar[Mapping[str, str]] = {"slug": "ref", "id": "ref", "atividade": "ref"}

    ref: Ref
    offset: Annotated[int, Meta(description="Characters to leave out; what `next_offset` says.", ge=0)] = 0
    limit: Annotated[int, Meta(description="How many characters at most.", ge=1, le=16_000)] = 16_000
    format: Form = "structured"


class ArtifactAddInput(ToolInput, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Arguments of `megabrain_artifact_add`."""

    aliases: ClassVar[Mapping[str, str]] = {
        "titulo": "title", "descricao": "description", "atividade": "activity", "arquivo": "file", "agente": "agent",
        "sessao": "session",
    }  # fmt: skip

    url: Url
    title: Annotated[str, Meta(description="What the page is called.")] = ""
    description: Annotated[str, Meta(description="What it is about, on one line.")] = ""
    activity: Annotated[
        str, Meta(description="Number or slug of the activity that made it. Default: the session's.")
    ] = ""
    file: Annotated[str, Meta(description="The file that was published.")] = ""
    agent: Annotated[str, Meta(description="Who published it.")] = ""
    label: Annotated[str, Meta(description="A word for this version.")] = ""
    session: Session = ""


class ArtifactsInput(ToolInput, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Arguments of `megabrain_artifacts`."""

    aliases: ClassVar[Mapping[str, str]] = {"atividade": "activity", "limite": "limit"}

    activity: Annotated[str, Meta(description="Only those of this activity, by number or slug.")] = ""
    limit: Limit = 20
    offset: Offset = 0
    format: Form = "structured"


class ArtifactLinkInput(ToolInput, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Arguments of `megabrain_artifact_link`."""

    aliases: ClassVar[Mapping[str, str]] = {"atividade": "activity", "slug": "activity"}

    url: Url
    activity: Ref
