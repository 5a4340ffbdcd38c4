"""Choose the reader of a document by kind and language, and put its parts together.

Pure: text in, chunks and definitions out. Stands between decoding and the index; whatever the text, no
exception of a reader leaves here but a fault of ours.
"""

from services.indexer.core.chunking.code import Syntax, is_minified, outline_code
from services.indexer.core.chunking.config import outline_config
from services.indexer.core.chunking.document import outline_document, taken_from
from services.indexer.core.chunking.markdown import outline_markdown
from services.indexer.core.chunking.model import Chunk, Counter, Definition, Parsed
from services.indexer.core.chunking.outline import Outline, plain_outline
from services.indexer.core.chunking.packing import pack
from services.indexer.core.chunking.prose import outline_prose
from shared.kinds import DOCUMENTS

# Languages that say how they want to be read, whatever kind the project gives their files.
_MARKUP = frozenset({"html", "xml"})
_CODE_LIKE = frozenset({"css", "sql", "bash"})


def chunk(text: str, *, kind: str, language: str, count: Counter, syntax: Syntax | None = None) -> list[Chunk]:
    """Return the chunks of a document in order of their lines.

    `text` has line endings already normalised to line feeds, and only a line feed ends a line. Every non-blank
    line is in a chunk, no chunk exceeds MAX_TOKENS by `count` (tokens of a text, the two special ones
    included), and an edit changes the chunk it falls in and rarely more than a neighbour. Source is parsed by
    `syntax`, in this process without one.
    """
    lines = text.split("\n")
    return list(pack(lines, _outline(text, lines, kind, language, syntax), count))


def parse_document(text: str, *, kind: str, language: str, count: Counter) -> Parsed:
    """Return chunks and definitions from one reading of a document."""
    lines = text.split("\n")
    outline = _outline(text, lines, kind, language)
    return Parsed(pack(lines, outline, count), outline.definitions())


def definitions(text: str, language: str) -> tuple[Definition, ...]:
    """Return the names that source code defines, in order of their lines, outer before inner."""
    return outline_code(text, text.split("\n"), language).definitions()


def _outline(text: str, lines: list[str], kind: str, language: str, syntax: Syntax | None = None) -> Outline:
    if language in DOCUMENTS:
        return outline_document(lines, language)
    if kind == "vault" or language == "markdown":
        source = taken_from(lines)
        return outline_document(lines, source) if source else outline_markdown(lines)
    if is_minified(lines):
        return plain_outline(lines)
    if language in _MARKUP or (kind == "config" and language not in _CODE_LIKE):
        # Many a .conf is XML.
        return outline_config(lines, "xml" if language != "html" and text.lstrip()[:1] == "<" else language)
    if kind in ("code", "config"):
        return outline_code(text, lines, language, syntax)
    return outline_prose(lines, language)
