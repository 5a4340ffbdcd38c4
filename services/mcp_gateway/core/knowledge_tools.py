"""The rows of the tools about knowledge bases and memory (pure)."""

from __future__ import annotations

from services.mcp_gateway.core.knowledge_answers import ForgetAnswer, KnowledgeAnswer, RecallAnswer, RememberAnswer
from services.mcp_gateway.core.knowledge_inputs import ForgetInput, RecallInput, RememberInput, SearchKnowledgeInput
from services.mcp_gateway.core.tool import Hints, Tool

KNOWLEDGE_TOOLS = (
    Tool(
        name="search_knowledge",
        title="Search the knowledge bases",
        description="Find passages of reference documents that were written down and published for all projects: runbooks, "
        "guidelines, specifications. Each result has a reference, knowledge:<item>@<revision>: cite it, it names exactly "
        "this text for good. With `reference` it reads a cited revision whole.",
        takes=SearchKnowledgeInput,
        gives=KnowledgeAnswer,
        hints=Hints(read_only=True),
        scope="knowledge:read",
    ),
    Tool(
        name="recall_context",
        title="Recall what is known",
        description="Recall what was remembered about this project and bears on what you are about to do, and passages of "
        "knowledge bases that are linked to it or team-wide, where you may read them. Ask before you begin a piece of work.",
        takes=RecallInput,
        gives=RecallAnswer,
        hints=Hints(read_only=True),
        scope="memory:read",
    ),
    Tool(
        name="remember",
        title="Remember for later",
        description="Keep one fact, decision or preference of this project, so that `recall_context` gives it to whoever works "
        "here later. Never a secret. Remembering the same again changes nothing.",
        takes=RememberInput,
        gives=RememberAnswer,
        hints=Hints(),
        scope="memory:write",
    ),
    Tool(
        name="forget",
        title="Forget records",
        description="Destroy records of this project's memory for good, by the ids that `recall_context` and `remember` gave. "
        "Knowledge bases are not touched.",
        takes=ForgetInput,
        gives=ForgetAnswer,
        hints=Hints(destructive=True),
        scope="memory:write",
    ),
)
