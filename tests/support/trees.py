"""Trees of files for tests."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

from shared.relpath import decode_path
from shared.treerules import RulesConfig, TreeRules


def write_tree(root: Path, files: Mapping[str, str | bytes]) -> Path:
    """Write files below `root` (wire paths; one that ends with "/" is an empty folder); give the root."""
    root.mkdir(parents=True, exist_ok=True)
    for rel, content in files.items():
        path = root / os.fsdecode(decode_path(rel))
        if rel.endswith("/"):
            path.mkdir(parents=True, exist_ok=True)
            continue
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content.encode() if isinstance(content, str) else content)
    return root


def make_repository(root: Path) -> Path:
    """Give a folder the least that makes it the top of a git work tree."""
    write_tree(root, {".git/HEAD": "ref: refs/heads/main\n", ".git/objects/": "", ".git/refs/": ""})
    return root


def make_rules(root: Path, config: RulesConfig | None = None) -> TreeRules:
    """Make rules that know nothing of the home folder of whoever runs the tests."""
    return TreeRules(root, config or RulesConfig(), home=root / "no-home")
