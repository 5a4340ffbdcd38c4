"""Keep what is searched of spaces equal to what is published in them: the `Mirror` of the desk."""

from __future__ import annotations

from collections.abc import Mapping

from services.knowledge.adapters.shelf import Wanted
from services.knowledge.core.places import Place, lettered, path_of
from services.knowledge.desk import Desk
from services.knowledge.trees import Trees

SPACE_TREE = "spc_"  # how the ids of spaces, and so their trees, begin


class SpaceTexts:
    """The published current revisions of a space, as the source of its tree."""

    def __init__(self, desk: Desk) -> None:
        self._desk = desk

    async def wanted(self, tree: str) -> Mapping[str, Wanted]:
        """Give the files of a space by path."""
        return {
            path_of(Place(base=one.base_id, item=one.item_id, revision=one.revision_id), one.title, one.format): Wanted(
                size=one.content_bytes, digest=one.content_hash, key=one.revision_id
            )
            for one in await self._desk.published(tree)
        }

    async def content(self, tree: str, key: str) -> bytes | None:  # noqa: ARG002 - a revision is found by its id
        """Give the bytes of a revision."""
        return await self._desk.content(key)


class SpaceMirror:
    """Follows what the desk commits."""

    def __init__(self, trees: Trees) -> None:
        self._trees = trees

    async def changed(self, spaces: frozenset[str]) -> None:
        """Make the trees of these spaces equal to what is published now, and wait a moment until it can be found.

        Raises:
            KxError: DISK_FULL, KNOWLEDGE_DAMAGED.
        """
        for space in sorted(spaces):
            await self._trees.keep(space)

    async def erased(self, space: str, items: tuple[str, ...], markers: tuple[bytes, ...]) -> int:
        """Destroy all traces of items in tree and index; the number of files in which a marker still stands."""
        return await self._trees.erase(space, [lettered(item) for item in items], markers)


async def compare_spaces(trees: Trees, desk: Desk, *, thorough: bool) -> None:
    """Make the tree of every space equal to the database, and remove those of spaces that are none."""
    await trees.start(await desk.spaces(), lambda tree: tree.startswith(SPACE_TREE), thorough=thorough)
