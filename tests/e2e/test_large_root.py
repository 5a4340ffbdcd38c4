"""A tree of very many files is not indexed by accident (MISSION 8)."""

from pathlib import Path

from kx.roots import MANY_FILES
from tests.support.command import Kx


def test_a_first_index_of_very_many_files_asks_and_shows_where_they_are(tmp_path: Path):
    """The largest folders and the line that drops them are shown; with the line the rest is indexed."""
    kx, root = Kx(tmp_path / "home" / ".kx"), tmp_path / "tree"
    (root / "src").mkdir(parents=True)
    (root / "src/main.py").write_text("def main():\n    return 1\n")
    big = root / "data" / "raw"
    big.mkdir(parents=True)
    for number in range(MANY_FILES):
        (big / f"{number}.txt").touch()
    watched = kx("watch", "--no-start", root)  # a stack would begin as soon as the tree is registered
    assert ("KX_ROOT_TOO_LARGE" in watched.err, "data/raw/" in watched.err) == (True, True)
    assert kx("project", "list", "--json").json()["projects"] == []
    refused = kx("index", root, "--wait", "text")
    assert refused.code == 1
    assert "KX_ROOT_TOO_LARGE" in refused.err
    assert "data/raw/" in refused.err
    line = next(line for line in refused.err.splitlines() if "ignoreFiles" in line)
    (root / ".kx.json").write_text('{"project": "tree", ' + line[line.index('"ignoreFiles"') :] + "}")
    ran = kx("index", root, "--wait", "text")
    assert ran.code == 0, ran.err
    assert "tree: 2 documents" in ran.err
