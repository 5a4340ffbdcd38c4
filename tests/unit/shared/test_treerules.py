"""All rules of one tree together."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from shared.errors import ErrorCode, KxError
from shared.relpath import RelPath
from shared.sources import SourceConfig
from shared.treerules import RulesConfig, SkipReason, TreeRules
from tests.support.trees import make_repository, make_rules, write_tree


def _reason(rules: TreeRules, rel: str) -> SkipReason | None:
    return rules.verdict(RelPath(rel), os.lstat(rules.root / rel)).reason


def test_negation_brings_nothing_back_below_an_ignored_folder(tmp_path: Path) -> None:
    """Case 16: git forbids it, and so do we."""
    root = write_tree(tmp_path, {".gitignore": "build\n!keep.log\n", "build/keep.log": "canary", "keep.log": "x"})
    rules = make_rules(root)
    assert _reason(rules, "build/keep.log") is SkipReason.GITIGNORED
    assert rules.verdict("build/keep.log", os.lstat(root / "build/keep.log")).pruned
    assert _reason(rules, "keep.log") is None


def test_allow_list_keeps_folders(tmp_path: Path) -> None:
    """Case 17: everything out, folders and Go files in."""
    files = {"main.go": "x", "pkg/a/a.go": "x", "pkg/b.txt": "x", "go.mod": "x"}
    root = write_tree(tmp_path, {".gitignore": "*\n!*/\n!*.go\n!go.mod\n", **files})
    rules = make_rules(root)
    assert [_reason(rules, path) for path in files] == [None, None, SkipReason.GITIGNORED, None]


def test_only_gits_own_ignore_files_count(tmp_path: Path) -> None:
    """Case 18 (b): a `.dockerignore` with a star says nothing about the index."""
    root = write_tree(tmp_path, {".dockerignore": "*\n", ".npmignore": "*\n", "a.py": "x"})
    assert _reason(make_rules(root), "a.py") is None


def test_deeper_ignore_file_wins_and_the_verdict_names_it(tmp_path: Path) -> None:
    """A skipped file can be explained with file, line and pattern."""
    root = write_tree(tmp_path, {".gitignore": "*.log\n", "a/.gitignore": "!x.log\n", "a/x.log": "x", "b.log": "x"})
    rules = make_rules(root)
    assert _reason(rules, "a/x.log") is None
    assert rules.verdict("b.log", os.lstat(root / "b.log")).detail == ".gitignore:1: *.log"


def test_ignore_file_that_is_a_link_is_not_followed(tmp_path: Path) -> None:
    """As git since 2.32: a link could lead anywhere."""
    root = write_tree(tmp_path / "root", {"a.log": "x"})
    write_tree(tmp_path, {"outside": "*.log\n"})
    (root / ".gitignore").symlink_to(tmp_path / "outside")
    assert _reason(make_rules(root), "a.log") is None


def test_user_excludes_and_info_exclude_count(tmp_path: Path) -> None:
    """The user's own file, found through core.excludesFile, and the repository's private one."""
    root = make_repository(write_tree(tmp_path / "r", {"a.mine": "x", "b.private": "x", "c.kept": "x"}))
    write_tree(root, {".git/info/exclude": "*.private\n!c.kept\n"})
    home = write_tree(
        tmp_path / "h", {"x y": "*.mine\n*.kept\n", ".gitconfig": '[core]\n excludesfile = "~/x y" # c\n'}
    )
    rules = TreeRules(root, RulesConfig(), home=home)
    assert _reason(rules, "a.mine") is SkipReason.GITIGNORED
    assert _reason(rules, "b.private") is SkipReason.GITIGNORED
    assert _reason(rules, "c.kept") is None


def test_vault_is_read_even_when_ignored(tmp_path: Path) -> None:
    """MISSION 2.2: the vault is personal, teams ignore it; the denylist and exclusions still apply."""
    root = write_tree(
        tmp_path,
        {
            ".gitignore": ".vault\n*.md\n",
            ".vault/n/note.md": "x",
            ".vault/private/p.md": "x",
            ".vault/.obsidian/app.json": "{}",
            ".vault/pic.png": "x",
            "other.md": "x",
        },
    )
    rules = make_rules(root)
    assert _reason(rules, ".vault/n/note.md") is None
    assert _reason(rules, ".vault/private/p.md") is SkipReason.DENIED
    assert _reason(rules, ".vault/.obsidian/app.json") is SkipReason.EXCLUDED_DIR
    assert _reason(rules, ".vault/pic.png") is SkipReason.EXCLUDED_FILE
    assert _reason(rules, "other.md") is SkipReason.GITIGNORED


def test_named_source_is_read_even_when_ignored(tmp_path: Path) -> None:
    """MISSION 2.2: a source below an ignored folder comes in, its neighbours do not."""
    root = write_tree(
        tmp_path,
        {
            ".gitignore": "gen/\n",
            "gen/api/a.md": "x",
            "gen/api/node_modules/x.md": "x",
            "gen/api/.env": "x",
            "gen/other.md": "x",
            "gen/deep/er.md": "x",
            "src/a.md": "x",
            "src/b.txt": "x",
            "left/a.md": "x",
        },
    )
    sources = (SourceConfig(path="gen/api"), SourceConfig(path="src", glob="**/*.{md,rst}"))
    rules = make_rules(root, RulesConfig(sources=sources))
    assert _reason(rules, "gen/api/a.md") is None
    assert _reason(rules, "gen/api/node_modules/x.md") is SkipReason.EXCLUDED_DIR
    assert _reason(rules, "gen/api/.env") is SkipReason.DENIED
    assert _reason(rules, "gen/other.md") is SkipReason.GITIGNORED
    assert _reason(rules, "gen/deep/er.md") is SkipReason.GITIGNORED
    assert _reason(rules, "src/a.md") is None
    assert _reason(rules, "src/b.txt") is SkipReason.NOT_IN_SOURCES
    assert _reason(rules, "left/a.md") is SkipReason.NOT_IN_SOURCES


def test_deepest_source_that_takes_a_file_wins(tmp_path: Path) -> None:
    """MISSION 1.1: depth decides, not order."""
    outer, inner = SourceConfig(path="docs", weight=1.0), SourceConfig(path="docs/api", weight=2.0, exclude=("old/",))
    rules = make_rules(tmp_path, RulesConfig(sources=(outer, inner)))
    assert rules.source_of("docs/api/a.md") == inner
    assert rules.source_of("docs/a.md") == outer
    assert rules.source_of("docs/api/old/a.md") is None


def test_source_outside_the_root_is_refused(tmp_path: Path) -> None:
    """MISSION 1.4: configuration may narrow, never widen."""
    for path in ("/etc", "../x", "a/../../x", "~/x"):
        with pytest.raises(KxError) as caught:
            make_rules(tmp_path, RulesConfig(sources=(SourceConfig(path=path),)))
        assert caught.value.code is ErrorCode.CONFIG_INVALID


def test_configured_ignores_apply_to_the_vault_too(tmp_path: Path) -> None:
    """`ignoreFiles` is the project's own word: gitignore syntax, negation included."""
    root = write_tree(tmp_path, {".vault/a.test.md": "x", "b.test.ts": "x", "keep.test.ts": "x", "rnd/x.md": "x"})
    rules = make_rules(root, RulesConfig(ignore_files=("*.test.*", "!keep.*", "rnd/**")))
    assert _reason(rules, ".vault/a.test.md") is SkipReason.IGNORED
    assert _reason(rules, "b.test.ts") is SkipReason.IGNORED
    assert _reason(rules, "keep.test.ts") is None
    assert _reason(rules, "rnd/x.md") is SkipReason.IGNORED


def test_configured_negation_does_not_undo_git(tmp_path: Path) -> None:
    """MISSION 1.4: narrow, never widen."""
    root = write_tree(tmp_path, {".gitignore": "*.log\n", "a.log": "x"})
    assert _reason(make_rules(root, RulesConfig(ignore_files=("!*.log",))), "a.log") is SkipReason.GITIGNORED


@pytest.mark.parametrize("name", ["build", "node_modules", ".venv", "site-packages", "dist"])
def test_rules_look_below_the_root_only(tmp_path: Path, name: str) -> None:
    """MISSION 2.2: a root reached through excluded or ignored names is an ordinary root."""
    make_repository(
        write_tree(tmp_path, {".gitignore": f"{name}/\n/{name}/**\n", f"{name}/a.py": "x", f"{name}/sub/b.py": "x"})
    )
    rules = make_rules(tmp_path / name)
    assert _reason(rules, "a.py") is None
    assert _reason(rules, "sub/b.py") is None


def test_root_below_the_top_obeys_the_ignore_files_above(tmp_path: Path) -> None:
    """A project may be a folder of a larger repository."""
    make_repository(write_tree(tmp_path, {".gitignore": "/pkg/gen/\n*.tmp\n", "pkg/gen/a.py": "x", "pkg/b.tmp": "x"}))
    rules = make_rules(tmp_path / "pkg")
    assert _reason(rules, "gen/a.py") is SkipReason.GITIGNORED
    assert _reason(rules, "b.tmp") is SkipReason.GITIGNORED


def test_linked_worktree_is_one_skipped_entry_and_submodule_is_read(tmp_path: Path) -> None:
    """Case 20: no copies; a submodule has an ignore scope of its own."""
    root = make_repository(tmp_path / "r")
    write_tree(
        root,
        {
            ".gitignore": "*.only-outer\n",
            ".git/worktrees/one/commondir": "../..\n",
            ".wt/one/.git": f"gitdir: {root}/.git/worktrees/one\n",
            ".wt/one/a.py": "x",
            ".git/modules/lib/info/exclude": "*.private\n",
            "lib/.git": "gitdir: ../.git/modules/lib\n",
            "lib/b.py": "x",
            "lib/b.private": "x",
            "lib/b.only-outer": "x",
        },
    )
    rules = make_rules(root)
    assert _reason(rules, ".wt/one/a.py") is SkipReason.WORKTREE
    assert _reason(rules, "lib/b.py") is None
    assert _reason(rules, "lib/b.private") is SkipReason.GITIGNORED
    assert _reason(rules, "lib/b.only-outer") is None
    assert _reason(rules, "lib/.git") is SkipReason.EXCLUDED_FILE


def test_worktree_is_an_ordinary_root_and_one_of_a_bare_repository_is_read(tmp_path: Path) -> None:
    """Case 20: only a second copy of a tree that is read is left out."""
    write_tree(
        tmp_path,
        {
            "main/.git/worktrees/w/commondir": "../..\n",
            "main/.git/HEAD": "x",
            "main/.git/info/exclude": "*.private\n",
            "w/.git": f"gitdir: {tmp_path}/main/.git/worktrees/w\n",
            "w/a.py": "x",
            "w/a.private": "x",
            "bare/.bare/worktrees/one/commondir": "../..\n",
            "bare/one/.git": "gitdir: ../.bare/worktrees/one\n",
            "bare/one/a.py": "x",
        },
    )
    rules = make_rules(tmp_path / "w")
    assert _reason(rules, "a.py") is None
    assert _reason(rules, "a.private") is SkipReason.GITIGNORED
    assert _reason(make_rules(tmp_path / "bare"), "one/a.py") is None
    assert _reason(make_rules(tmp_path), "w/a.py") is SkipReason.WORKTREE


@pytest.mark.parametrize(
    ("rel", "reason"),
    [
        ("node_modules/x/index.js", SkipReason.EXCLUDED_DIR),
        ("a/__pycache__/x.py", SkipReason.EXCLUDED_DIR),
        (".git/config", SkipReason.EXCLUDED_DIR),
        ("myenv/lib/x.py", SkipReason.EXCLUDED_DIR),
        ("somecache/x.txt", SkipReason.EXCLUDED_DIR),
        ("pkg/dist/index.js", SkipReason.EXCLUDED_DIR),
        ("published/dist/index.js", None),
        ("build/make.py", None),
        (".pc/fix.patch/src/a.c", SkipReason.EXCLUDED_DIR),
        ("package-lock.json", SkipReason.EXCLUDED_FILE),
        ("logo.png", SkipReason.EXCLUDED_FILE),
        ("x.min.js", SkipReason.EXCLUDED_FILE),
        ("app.js.map", SkipReason.EXCLUDED_FILE),
        ("jquery.min.map", SkipReason.EXCLUDED_FILE),
        ("empty.py", SkipReason.EMPTY),
        ("big.txt", SkipReason.TOO_LARGE),
        (".github/workflows/ci.yml", None),
        (".hidden.md", None),
    ],
)
def test_built_in_exclusions(tmp_path: Path, rel: str, reason: SkipReason | None) -> None:
    """MISSION 2.2: dependency, build and VCS folders, binaries, lock files; ambiguous folders only with evidence."""
    write_tree(
        tmp_path,
        {
            rel: "" if rel == "empty.py" else "xx" * (600 if rel == "big.txt" else 1),
            ".git/HEAD": "x",
            "myenv/pyvenv.cfg": "x",
            "somecache/CACHEDIR.TAG": "x",
            "pkg/package.json": "{}",
            "pkg/src/a.js": "x",
            "published/package.json": "{}",
            ".pc/applied-patches": "fix.patch",
        },
    )
    assert _reason(make_rules(tmp_path, RulesConfig(max_file_bytes=1000)), rel) is reason


def test_hard_link_to_a_denied_file_is_refused(tmp_path: Path) -> None:
    """Row A3: whatever the other name, also when the denied one lies in a folder that is out, or is made later."""
    root = write_tree(
        tmp_path, {".env": "canary", ".vault/private/p.md": "canary", "node_modules/k.pem": "canary", "a.md": "x"}
    )
    for number, target in enumerate((".env", ".vault/private/p.md", "node_modules/k.pem")):
        (root / f"link{number}.md").hardlink_to(root / target)
    (root / "b.md").hardlink_to(root / "a.md")
    rules = make_rules(root)
    assert [_reason(rules, f"link{number}.md") for number in range(3)] == [SkipReason.HARD_LINK] * 3
    assert _reason(rules, "a.md") is None
    write_tree(root, {"later.env": "canary"})
    assert _reason(rules, "later.env") is SkipReason.DENIED
    (root / "c.md").hardlink_to(root / "later.env")
    assert _reason(rules, "c.md") is SkipReason.HARD_LINK


def test_every_hard_link_is_refused_when_the_project_says_so(tmp_path: Path) -> None:
    """Row A3: `indexing.hardLinks: deny` is for links that lead out of the tree."""
    root = write_tree(tmp_path / "r", {"a.md": "x"})
    write_tree(tmp_path, {"outside": "canary"})
    (root / "b.md").hardlink_to(tmp_path / "outside")
    rules = make_rules(root, RulesConfig(hard_links="deny"))
    assert _reason(rules, "b.md") is SkipReason.HARD_LINK
    assert _reason(rules, "a.md") is None


def test_links_are_told_apart(tmp_path: Path) -> None:
    """Case 21, row A2: a link is never a document; where it leads says why."""
    root = write_tree(tmp_path / "r", {"a.md": "x", "d/b.md": "x"})
    write_tree(tmp_path, {"outside.md": "canary"})
    for name, target in {"in": "a.md", "dir": "d", "loop": ".", "x": "y", "y": "x", "gone": "nowhere"}.items():
        (root / name).symlink_to(target)
    (root / "out").symlink_to(tmp_path / "outside.md")
    rules = make_rules(root)
    reasons = {name: _reason(rules, name) for name in ("in", "dir", "loop", "x", "y", "gone", "out")}
    assert reasons == {
        "in": SkipReason.SYMLINK,
        "dir": SkipReason.SYMLINK,
        "loop": SkipReason.SYMLINK,
        "x": SkipReason.BROKEN_LINK,
        "y": SkipReason.BROKEN_LINK,
        "gone": SkipReason.BROKEN_LINK,
        "out": SkipReason.SYMLINK_OUT,
    }
    assert _reason(rules, "dir/b.md") is SkipReason.SYMLINK


def test_pipe_is_a_special_file(tmp_path: Path) -> None:
    """A pipe has no text and would block a reader."""
    os.mkfifo(tmp_path / "p")
    assert _reason(make_rules(tmp_path), "p") is SkipReason.SPECIAL_FILE


def test_denied_folder_comes_before_everything(tmp_path: Path) -> None:
    """Row A4: an ignored denied folder is reported as denied."""
    root = write_tree(tmp_path, {".gitignore": ".ssh\n", ".ssh/config": "x", "top/Secret/x.md": "x"})
    rules = make_rules(root, RulesConfig(deny=("top/secret",)))
    assert _reason(rules, ".ssh/config") is SkipReason.DENIED
    assert _reason(rules, "top/Secret/x.md") is SkipReason.DENIED
    assert rules.denies("TOP/SECRET/whatever") == "top/secret (indexing.deny)"


def test_files_that_change_the_rules_are_known() -> None:
    """Case 19: the watcher must know when to walk again."""
    assert TreeRules.governs("a/.gitignore")
    assert TreeRules.governs(".kx.json")
    assert not TreeRules.governs("a/.kx.json")
    assert not TreeRules.governs("gitignore.md")
