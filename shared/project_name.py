"""What may name a project: it also becomes a file name and is printed everywhere (pure)."""

from __future__ import annotations

import os
import re
import unicodedata
from pathlib import Path

MAX_NAME_BYTES = 200  # an index file name adds up to 25: "-1a2b3c4d.sqlite", ".lock", "-wal"

_NAME = re.compile(r"[^\W_][\w.-]{0,63}|_[\w.-]{0,63}")


def is_project_name(name: str) -> bool:
    """Tell whether `name` may name a project."""
    return _NAME.fullmatch(name) is not None and len(name.encode()) <= MAX_NAME_BYTES


def name_of_folder(root: Path) -> str:
    """Make a project name of a folder's name: what does not fit becomes a hyphen."""
    name = unicodedata.normalize("NFC", os.fsencode(root.name).decode("utf-8", "replace"))
    name = re.sub(r"[^\w.-]+", "-", name).strip("-.")[:64]
    while len(name.encode()) > MAX_NAME_BYTES:
        name = name[:-1]
    return name if is_project_name(name) else "project"
