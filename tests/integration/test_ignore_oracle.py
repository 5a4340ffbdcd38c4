"""The verdict of our ignore rules against git's own, on random trees (row B4)."""

from __future__ import annotations

import os
import random
import shutil
from pathlib import Path

import pytest

from tests.support.git_oracle import ask_git, ask_ours, differences, make_home, make_repository, make_tree, texts

TREES = int(os.environ.get("KX_ORACLE_TREES", "20"))
BATCH = 10  # trees a test: one bad tree does not hide the others
FIRST_SEED = int(os.environ.get("KX_ORACLE_SEED", "0"))

pytestmark = pytest.mark.skipif(shutil.which("git") is None, reason="git is the oracle")


@pytest.mark.parametrize("first", range(FIRST_SEED, FIRST_SEED + TREES, BATCH))
def test_every_verdict_is_git_s(first: int, tmp_path: Path) -> None:
    """Row B4, cases 16 and 17: nested, negated, anchored and escaped rules, info/exclude, the user's excludes."""
    for seed in range(first, first + BATCH):
        rng = random.Random(seed)
        top, home = tmp_path / str(seed) / "top", tmp_path / str(seed) / "home"
        top.mkdir(parents=True)
        paths = make_tree(rng, top)
        make_repository(top, rng, paths or [b"a"])
        make_home(home, rng, paths or [b"a"])
        wrong = differences(ask_git(top, home, paths), ask_ours(top, home, paths)) if paths else []
        assert not wrong, f"seed {seed}\n" + "\n".join(wrong) + "\n" + texts(top)
        shutil.rmtree(tmp_path / str(seed))


@pytest.mark.parametrize("first", range(FIRST_SEED, FIRST_SEED + TREES // 2, BATCH))
def test_root_below_the_top_of_a_repository_is_judged_from_the_top(first: int, tmp_path: Path) -> None:
    """Row B4: ignore files between the top and a root below it count, unless git ignores the root itself."""
    for seed in range(first, first + BATCH):
        rng = random.Random(-1 - seed)
        top, home = tmp_path / str(seed) / "top", tmp_path / str(seed) / "home"
        top.mkdir(parents=True)
        paths = make_tree(rng, top)
        make_repository(top, rng, paths or [b"a"])
        make_home(home, rng, paths or [b"a"])
        git = ask_git(top, home, paths) if paths else {}
        for root in paths:
            place = top / os.fsdecode(root)
            if git[root] or place.is_symlink() or not place.is_dir():
                continue
            below = [path[len(root) + 1 :] for path in paths if path.startswith(root + b"/")]
            ours = ask_ours(place, home, below)
            wrong = [path for path in below if bool(git[root + b"/" + path]) != bool(ours[path])]
            assert not wrong, f"seed {seed} root {root!r}: {wrong} {git}\n" + texts(top)
        shutil.rmtree(tmp_path / str(seed))


def test_oracle_trees_are_worth_asking(tmp_path: Path) -> None:
    """The random trees contain ignored and kept paths, and negations that decide: agreement on nothing proves nothing."""
    ignored = kept = 0
    for seed in range(20):
        rng = random.Random(seed)
        top, home = tmp_path / str(seed), tmp_path / f"home{seed}"
        top.mkdir()
        paths = make_tree(rng, top)
        make_repository(top, rng, paths or [b"a"])
        make_home(home, rng, paths or [b"a"])
        verdicts = ask_git(top, home, paths).values() if paths else ()
        ignored += sum(map(bool, verdicts))
        kept += sum(not verdict for verdict in verdicts)
    assert ignored > 20
    assert kept > 20
