"""A project's configuration through the whole product: what it lets in, hides and erases, without a restart."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from shared.errors import ErrorCode, KxError
from tests.support.product import Product, product
from tests.support.trees import make_repository, write_tree

pytestmark = pytest.mark.anyio


def configure(root: Path, **keys: Any) -> None:
    """Write `.kx.json`."""
    (root / ".kx.json").write_text(json.dumps(keys), "utf-8")


def bytes_of_index(served: Product) -> bytes:
    """Read the database and its log."""
    folder = served.project.index_path.parent
    return b"".join(path.read_bytes() for path in folder.glob(f"{served.project.index_path.name}*"))


async def test_new_deny_hides_at_once_and_erases_with_the_next_walk(tmp_path: Path) -> None:
    """MISSION 1.7, row A4 "denied after being indexed": the same services, no restart."""
    root = write_tree(tmp_path / "tree", {"plan/secret.md": "canaryplan of the merger\n", "open.md": "open words\n"})
    configure(root, project="p")
    async with product(root, tmp_path) as served:
        await served.index()
        assert await served.found("canaryplan") == ["plan/secret.md"]
        configure(root, project="p", indexing={"deny": ["plan/**"]})
        assert await served.found("canaryplan") == []
        assert served.passages() != []
        assert any("canaryplan" in text for *_, text in served.passages())
        await served.index()
        assert not any("canaryplan" in text for *_, text in served.passages())
        assert (await served.reasons())["plan/"] == "denied"
        configure(root, project="p")
        await served.index()
        assert await served.found("canaryplan") == ["plan/secret.md"]


async def test_broken_configuration_answers_nothing(tmp_path: Path) -> None:
    """Nobody knows what is denied: an error that names the file, not the older rules and not none."""
    root = write_tree(tmp_path / "tree", {"a.md": "some words\n"})
    configure(root, project="p")
    async with product(root, tmp_path) as served:
        await served.index()
        (root / ".kx.json").write_text('{"indexing": {"deny": ["a.md"', "utf-8")
        with pytest.raises(KxError) as caught:
            await served.search("words")
        assert caught.value.code == ErrorCode.CONFIG_INVALID
        assert caught.value.params["file"] == str(root / ".kx.json")


async def test_what_the_user_allows_is_indexed_and_shown(tmp_path: Path) -> None:
    """`allowDenied` in the user's own file: let in by the indexer and by the query; the rest stays denied."""
    root = write_tree(tmp_path / "tree", {".env.example": "sampleport of the service\n", ".env": "canaryenv\n"})
    write_tree(
        tmp_path / ".kx", {"config.json": json.dumps({"projects": {str(root): {"allowDenied": [".env.example"]}}})}
    )
    async with product(root, tmp_path) as served:
        await served.index()
        assert await served.found("sampleport") == [".env.example"]
        assert await served.reasons() == {".env": "denied"}
        assert b"canaryenv" not in bytes_of_index(served)


async def test_sources_give_kind_filter_and_weight(tmp_path: Path) -> None:
    """MISSION 1.1: the deepest source wins; a named one is read though git ignores it; a weight moves its files."""
    text = "The pelican lands on the pier.\n"
    tree = {".gitignore": "drafts/\n", "drafts/a.md": text, "drafts/old/b.md": text, "notes/c.md": text + "Pier.\n"}
    root = write_tree(make_repository(tmp_path / "tree"), tree | {"other/d.md": text})
    drafts = {"path": "drafts", "type": "config", "weight": 5}
    configure(root, project="p", sources=[drafts, {"path": "drafts/old", "glob": "*.txt"}, {"path": "notes"}])
    async with product(root, tmp_path) as served:
        await served.index()
        hits = await served.hits("pelican pier")
        assert [(hit.path, hit.kind) for hit in hits] == [("drafts/a.md", "config"), ("notes/c.md", "docs")]
        configure(root, project="p", sources=[drafts | {"weight": 0.1}, {"path": "notes"}])
        assert [hit.path for hit in await served.hits("pelican pier")] == ["notes/c.md", "drafts/a.md"]


async def test_settings_of_xindex_are_honoured(tmp_path: Path) -> None:
    """MISSION 1.3: `ignoreFiles` and `ignoreKeywords` of an existing `.xindex.json`."""
    root = write_tree(
        tmp_path / "tree",
        {"a.gen.md": "generatedword\n", "keep.gen.md": "keptword\n", "a.md": "the kumquat kumquat and the lemon\n"},
    )
    lists = {"ignoreFiles": ["*.gen.md", "!keep.gen.md"], "ignoreKeywords": ["KUMQUAT"]}
    (root / ".xindex.json").write_text(json.dumps(lists), "utf-8")
    async with product(root, tmp_path) as served:
        await served.index()
        assert await served.found("generatedword") == []
        assert await served.found("keptword") == ["keep.gen.md"]
        assert (await served.hits("kumquat"))[0].keywords == ("lemon",)
        (root / ".xindex.json").write_text("", "utf-8")
        assert "kumquat" in (await served.hits("kumquat"))[0].keywords
