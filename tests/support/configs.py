"""Builders for settings, projects and their configuration files in a temporary home."""

from __future__ import annotations

import json
from pathlib import Path

from shared.settings import Settings, load_settings


def make_settings(user_home: Path, config: object = None, **environ: str) -> Settings:
    """Load settings whose home is `user_home/.kx`, with `config` as the user's own file."""
    if config is not None:
        write_json(user_home / ".kx" / "config.json", config)
    return load_settings(environ={"HOME": str(user_home), **environ})


def write_json(path: Path, value: object) -> Path:
    """Write a configuration file; text and bytes are written as they are."""
    path.parent.mkdir(parents=True, exist_ok=True)
    if isinstance(value, bytes):
        path.write_bytes(value)
    else:
        path.write_text(value if isinstance(value, str) else json.dumps(value), encoding="utf-8")
    return path


def make_root(user_home: Path, name: str = "proj", config: object = None) -> Path:
    """Make a project folder in the home, with a `.kx.json` when `config` is given."""
    root = user_home / name
    root.mkdir(parents=True, exist_ok=True)
    if config is not None:
        write_json(root / ".kx.json", config)
    return root
