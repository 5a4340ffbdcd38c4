"""The identifiers of kx and how they are made (pure)."""

from __future__ import annotations

import hashlib
import re
from typing import NewType

InstanceId = NewType("InstanceId", str)  # 16 lower-case hex digits, random, one tree on this machine
DocumentId = NewType("DocumentId", int)
ChunkId = NewType("ChunkId", int)
TextHash = NewType("TextHash", bytes)  # TEXT_HASH_BYTES of the sha256 of the embedded text

INSTANCE_ID_BYTES = 8
TEXT_HASH_BYTES = 16  # 128 bits: no collision in practice, half the disk of the whole digest in three indexes
_INSTANCE_ID = re.compile(r"[0-9a-f]{16}")


def instance_id_from(random_bytes: bytes) -> InstanceId:
    """Make an instance id from `INSTANCE_ID_BYTES` random bytes (the caller brings the randomness)."""
    return InstanceId(random_bytes[:INSTANCE_ID_BYTES].hex())


def is_instance_id(value: str) -> bool:
    """Tell whether `value` has the form of an instance id; it also becomes a bus token and a file name."""
    return _INSTANCE_ID.fullmatch(value) is not None


def text_hash(embedded_text: str) -> TextHash:
    """Address a text by its content: the same text is embedded once, wherever it stands."""
    return TextHash(hashlib.sha256(embedded_text.encode("utf-8", "surrogatepass")).digest()[:TEXT_HASH_BYTES])
