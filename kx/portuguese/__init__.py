"""Brazilian Portuguese of every template, by its English form; read only where the language is Portuguese."""

from __future__ import annotations

from kx.portuguese.access import ACCESS
from kx.portuguese.answers import ANSWERS
from kx.portuguese.click_words import CLICK
from kx.portuguese.doctor import DOCTOR
from kx.portuguese.documents import DOCUMENTS
from kx.portuguese.errors import ERRORS
from kx.portuguese.examination import EXAMINATION, EXAMINATION_SAID
from kx.portuguese.help import HELP
from kx.portuguese.hints import HINTS
from kx.portuguese.knowledge import KNOWLEDGE
from kx.portuguese.knowledge_help import KNOWLEDGE_HELP
from kx.portuguese.knowledge_rules import KNOWLEDGE_RULES
from kx.portuguese.knowledge_said import KNOWLEDGE_SAID
from kx.portuguese.memory import MEMORY
from kx.portuguese.notes import NOTES, NOTES_HELP
from kx.portuguese.phrases import PHRASES
from kx.portuguese.setup import SETUP, SETUP_HELP

PORTUGUESE: dict[str, str] = {
    **ACCESS,
    **ANSWERS,
    **CLICK,
    **DOCTOR,
    **DOCUMENTS,
    **ERRORS,
    **EXAMINATION,
    **EXAMINATION_SAID,
    **HELP,
    **HINTS,
    **KNOWLEDGE,
    **KNOWLEDGE_HELP,
    **KNOWLEDGE_RULES,
    **KNOWLEDGE_SAID,
    **MEMORY,
    **NOTES,
    **NOTES_HELP,
    **PHRASES,
    **SETUP,
    **SETUP_HELP,
}

# What is met already filled, in an answer or inside another sentence. The words of ANSWERS and HELP are not among
# them: the name of a folder or of a project may be such a word.
RECOGNISED: dict[str, str] = {
    **ACCESS,
    **CLICK,
    **DOCUMENTS,
    **ERRORS,
    **EXAMINATION,
    **HINTS,
    **KNOWLEDGE,
    **KNOWLEDGE_RULES,
    **KNOWLEDGE_SAID,
    **MEMORY,
    **NOTES,
    **PHRASES,
}
