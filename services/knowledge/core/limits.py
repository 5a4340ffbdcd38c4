"""How large what may be, and which files are taken (pure)."""

from __future__ import annotations

from shared.knowledge_upkeep_messages import KnowledgeLimits

MAX_TEXT_BYTES = 10_000_000  # of UTF-8: what the index takes of one file
MAX_DOCUMENT_BYTES = 32 * 1024 * 1024  # of a file before it is extracted: what the extraction takes
MAX_TITLE_CHARS = 300
MAX_NAME_CHARS = 200  # of a space or a base
MAX_DESCRIPTION_CHARS = 2_000
MAX_LOCATOR_CHARS = 1_000
MAX_KEY_CHARS = 200  # of a request to create
MAX_CLIENT_CHARS = 100
MAX_PRINCIPAL_CHARS = 64
MAX_MEMBERS = 50  # of a space: all of them fit a message
MAX_SPACES = 50  # of a principal
MAX_BASES = 500  # of a space
MAX_PAGE_ROWS = 500
PAGE_ROWS_BYTES = 180_000  # of rows in one reply, well below a message

DOCUMENT_SUFFIXES = (".pdf", ".docx", ".pptx", ".xlsx")
# The formats of the product, and the usual programming languages.
_TEXT = (
    ".md .markdown .txt .rst .adoc .org .log .csv .tsv .json .yaml .yml .toml .xml .ini .cfg .conf .properties .html .htm .css .scss "
    ".py .pyi .js .mjs .cjs .jsx .ts .mts .tsx .java .kt .kts .scala .go .rs .c .h .cc .cpp .cxx .hpp .hh .cs .fs .vb .swift .m "
    ".rb .php .pl .pm .lua .r .jl .dart .ex .exs .erl .hs .ml .clj .groovy .sh .bash .zsh .ps1 .bat .sql .graphql .proto .tf .vue "
    ".svelte .tex .ipynb .diff .patch"
)
TEXT_SUFFIXES = tuple(_TEXT.split())


def limits(*, documents_available: bool) -> KnowledgeLimits:
    """Give the limits as they are told to a client."""
    return KnowledgeLimits(
        max_text_bytes=MAX_TEXT_BYTES,
        max_document_bytes=MAX_DOCUMENT_BYTES,
        max_title_chars=MAX_TITLE_CHARS,
        text_suffixes=TEXT_SUFFIXES,
        document_suffixes=DOCUMENT_SUFFIXES,
        documents_available=documents_available,
    )
