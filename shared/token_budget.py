"""How many tokens a chunk may have (pure)."""

from __future__ import annotations

from typing import Final

EMBED_SAFE_TOKENS: Final = 440
"""No chunk is above this, special tokens and prefix included; the model's positions end at 512."""

TARGET_TOKENS: Final = 256
"""What a chunk aims at: the length the model was trained with (its own max_seq_length)."""

SPECIAL_TOKENS: Final = 2
"""[CLS] and [SEP], put around every text."""
