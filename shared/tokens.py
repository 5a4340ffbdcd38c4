"""Count the tokens of a text exactly as the model's own tokenizer does, an order of magnitude faster.

A text's count is a sum over its whitespace-separated pieces, and a piece's over its words and punctuation, so both are
remembered: source code repeats itself. Responsible for counting only: where to cut is the chunkers' decision, and what
reaches the model is tokenized again by `shared.encoder`.
"""

import re
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Final, Self

from shared.token_budget import SPECIAL_TOKENS

if TYPE_CHECKING:
    from tokenizers import Tokenizer

# Bounds of the memo: 65,536 pieces are about 7 MB, 131,072 words 12 MB; the standard library (31 MB) has 110,000 words.
# A full memo is emptied, which needs no bookkeeping on the hot path.
MAX_PIECES: Final = 65_536
MAX_WORDS: Final = 131_072
MAX_KEY_CHARS: Final = 64

# `str.split` also cuts at these control characters; the tokenizer deletes them, so "a\fb" is the one word "ab". NUL is
# deleted like them but not cut at, so putting it in their place leaves the count as it is.
_CUT_BY_PYTHON_ONLY: Final = re.compile("[\x0b\x0c\x1c-\x1f\x85]")

# The special tokens are recognised in raw text before anything else. Neighbours of ASCII punctuation never change each
# other: it is always a token of its own, and no accent or case rule reaches over it.
_SPECIAL: Final = re.compile(r"(\[(?:PAD|UNK|CLS|SEP|MASK)\])")
_PUNCTUATION: Final = r"!-/:-@\[-`{-~"
_WORD: Final = re.compile(rf"[^{_PUNCTUATION}]+")
_NOT_PUNCTUATION: Final = re.compile(rf"[^{_PUNCTUATION}]")

# Plain ASCII needs no whitespace split and no memo of pieces: its tokens are the word pieces of each run of letters and
# digits, and one for every other visible character. Control characters and special tokens take the general way.
# Measured on source lines: 12 MB/s; one expression for words and punctuation 6, the memo of pieces 5 to 8.
_ASCII_WORD: Final = re.compile(r"[a-z0-9]+")
_NO_MARKS: Final = bytes(code for code in range(128) if chr(code).isalnum() or chr(code) in " \t\n\r")
_CONTROL: Final = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]")


def load_tokenizer(path: Path, *, max_tokens: int | None = None) -> "Tokenizer":
    """Read a tokenizer with its padding off and its truncation set to `max_tokens`, or off.

    The file shipped with MiniLM pads and cuts every text to 128 tokens unless told otherwise.
    """
    # Here, not above: pure modules import this one for its constants.
    from tokenizers import Tokenizer

    tokenizer = Tokenizer.from_file(str(path))
    tokenizer.no_padding()
    if max_tokens is None:
        tokenizer.no_truncation()
    else:
        tokenizer.enable_truncation(max_tokens)
    return tokenizer


def tokenizable(text: str) -> str:
    """Replace lone surrogates, which no tokenizer takes, by U+FFFD, which the model's normalizer deletes."""
    return text.encode("utf-8", "surrogatepass").decode("utf-8", "replace")


class TokenCounter:
    """Exact token counts by memo; safe to share between threads.

    `count` equals `len(tokenizer.encode(text).ids)` with truncation off. Memory stays under some 12 MB.
    """

    def __init__(self, tokenizer: "Tokenizer") -> None:
        """Count with `tokenizer`, a BERT word-piece tokenizer without padding and truncation."""
        self._words = _WordCounts(tokenizer)
        self._pieces = _PieceCounts(self._words)

    @classmethod
    def load(cls, path: Path) -> Self:
        """Read the tokenizer at `path` (`ModelFiles.tokenizer`, verified); about 40 ms."""
        return cls(load_tokenizer(path))

    def count(self, text: str) -> int:
        """Count the tokens of `text` as the model sees it, its two special tokens included."""
        return self.count_content(text) + SPECIAL_TOKENS

    def count_content(self, text: str) -> int:
        r"""Count the tokens of `text` without the two special tokens.

        Additive at whitespace: content(a + s + b) = content(a) + content(b) for every s that is not empty and consists
        of space, tab, LF, CR or a Unicode space or line separator. Hence also for "a b" cut beside the space, and for
        lines joined by LF or CRLF. Not at other places: cutting inside a word may change the sum either way, and
        \v, \f, U+001C-1F and U+0085 are no whitespace here (the tokenizer deletes them).
        """
        if _is_plain(text):
            marks = len(text.encode("ascii").translate(None, _NO_MARKS))
            return marks + sum(map(self._words.__getitem__, _ASCII_WORD.findall(text.lower())))
        if _CUT_BY_PYTHON_ONLY.search(text):
            text = _CUT_BY_PYTHON_ONLY.sub("\0", text)
        return sum(map(self._pieces.__getitem__, text.split()))

    __call__ = count


def _is_plain(text: str) -> bool:
    if not text.isascii() or ("[" in text and _SPECIAL.search(text)):
        return False
    return text.isprintable() or _CONTROL.search(text) is None


class _PieceCounts(dict[str, int]):
    """Tokens of a piece between two whitespaces."""

    def __init__(self, words: "_WordCounts") -> None:
        super().__init__()
        self._words = words

    def __missing__(self, piece: str) -> int:
        if "[" in piece:
            # split() with a group: every second part is a special token, which is one token.
            parts = _SPECIAL.split(piece)
            tokens = len(parts) // 2 + sum(map(self._count, parts[::2]))
        else:
            tokens = self._count(piece)
        if len(piece) <= MAX_KEY_CHARS:
            if len(self) >= MAX_PIECES:
                self.clear()
            self[piece] = tokens
        return tokens

    def _count(self, part: str) -> int:
        punctuation = len(_NOT_PUNCTUATION.sub("", part))
        return punctuation + sum(map(self._words.__getitem__, _WORD.findall(part)))


class _WordCounts(dict[str, int]):
    """Tokens of a run without whitespace and ASCII punctuation; the tokenizer itself is asked where it is no plain word."""

    def __init__(self, tokenizer: "Tokenizer") -> None:
        super().__init__()
        self._tokenizer = tokenizer
        self._vocabulary = _Vocabulary(tokenizer)

    def __missing__(self, word: str) -> int:
        if word.isascii() and word.isalnum():
            tokens = self._vocabulary.pieces(word.lower())
        else:
            tokens = len(self._tokenizer.encode(tokenizable(word), add_special_tokens=False).ids)
        if len(word) <= MAX_KEY_CHARS:
            if len(self) >= MAX_WORDS:
                self.clear()
            self[word] = tokens
        return tokens


class _Vocabulary:
    """Word pieces of a plain lower-case ASCII word: the longest known beginning, then the longest known continuation.

    What the tokenizer does with such a word, without the 15 us of asking it: a minified file has a new word each
    ten bytes (5 MB in one line: 9 s of counting, and 1 s so).

    Source: WordPiece as in BERT's reference tokenizer (greedy longest match first).
    """

    def __init__(self, tokenizer: "Tokenizer") -> None:
        model = tokenizer.model
        prefix = model.continuing_subword_prefix
        vocabulary = [word for word in tokenizer.get_vocab(with_added_tokens=False) if word.isascii()]
        self._begins = _Pieces(word for word in vocabulary if not word.startswith(prefix))
        self._goes_on = _Pieces(word.removeprefix(prefix) for word in vocabulary if word.startswith(prefix))
        self._max_chars = model.max_input_chars_per_word

    def pieces(self, word: str) -> int:
        """Count the pieces; a word that has none, or is too long, is one unknown token."""
        end = len(word)
        if end > self._max_chars:
            return 1
        start = tokens = 0
        known = self._begins
        while start < end:
            stop = start + known.longest.get(word[start : start + 2], 1)
            stop = min(stop, end)
            while word[start:stop] not in known.words:
                stop -= 1
                if stop == start:
                    return 1
            start = stop
            tokens += 1
            known = self._goes_on
        return tokens


class _Pieces:
    """A set of pieces, and how long one can be that begins with two given characters: numbers have no long ones."""

    def __init__(self, words: Iterable[str]) -> None:
        self.words = frozenset(words)
        self.longest: dict[str, int] = {}
        for word in self.words:
            self.longest[word[:2]] = max(len(word), self.longest.get(word[:2], 1))
