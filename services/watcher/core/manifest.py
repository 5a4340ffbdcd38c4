"""What was known against what is there (pure)."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping

from msgspec import Struct

from shared.messages import ManifestEntry

_LAST = "\U0010ffff"  # sorts after every other character, in UTF-8 as in Python


class PathRange(Struct, frozen=True):
    """A part of the manifest, which is in the order of its paths: after `after`, up to `last`."""

    after: str = ""
    last: str = _LAST


def range_of(subtree: str) -> PathRange:
    """Give a part that holds what is known at and below a subtree; little else is in it.

    >>> known = ["src", "src/a.md", "src.md", "srb", "srd"]
    >>> [path for path in known if range_of("src").after < path <= range_of("src").last]
    ['src', 'src/a.md', 'src.md']
    """
    tree = subtree.rstrip("/")
    if not tree:
        return PathRange()
    before = ord(tree[-1]) - 1
    if 0xD800 <= before <= 0xDFFF:  # halves of a pair are no characters
        before = 0xD7FF
    return PathRange(tree[:-1] + chr(max(before, 0)) + _LAST, f"{tree}/{_LAST}")


def differences(
    known: Mapping[str, ManifestEntry],
    met: Iterable[ManifestEntry],
    subtrees: tuple[str, ...],
    *,
    force: bool = False,
    unreadable: Collection[str] = (),
) -> list[str]:
    """Name every path to announce: new, changed by size or a time, gone; with `force` also the unchanged.

    Only known paths inside one of `subtrees` can be gone; "" is the whole tree. Of what lies at or below one of
    `unreadable` nothing is known, so it is not gone either; such an entry is announced only where nothing was known.
    Newest first, then by path: what people touched last is handled first. Each path once.
    """
    left = {path: entry for path, entry in known.items() if is_inside(path, subtrees)}
    withheld = _withhold(left, {path.rstrip("/") for path in unreadable})
    announced: list[ManifestEntry] = []
    for entry in met:
        before = left.pop(entry.path, None)
        if withheld and entry.path.rstrip("/") in withheld:
            continue
        if force or before != entry:
            announced.append(entry)
    announced.sort(key=lambda entry: (-entry.mtime_ns, entry.path))
    return [*sorted(left), *(entry.path for entry in announced)]


def _withhold(left: dict[str, ManifestEntry], unreadable: set[str]) -> set[str]:
    """Take what lies at or below an unreadable place out of `left`; give the places where there was any."""
    found: set[str] = set()
    for path in list(left) if unreadable else ():
        place = path.rstrip("/")
        while place and place not in unreadable:
            place = place.rpartition("/")[0]
        if place:
            found.add(place)
            del left[path]
    return found


def is_inside(path: str, subtrees: tuple[str, ...]) -> bool:
    """Tell whether a path is one of `subtrees` or below one.

    >>> is_inside("src/a.py", ("src",)), is_inside("srcx/a.py", ("src",)), is_inside("a", ("",))
    (True, False, True)
    """
    return any(
        not tree or path.rstrip("/") == tree.rstrip("/") or path.startswith(tree.rstrip("/") + "/") for tree in subtrees
    )
