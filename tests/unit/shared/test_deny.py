"""The denylist: what is never read."""

from __future__ import annotations

import pytest

from shared.deny import DenyList
from shared.errors import ErrorCode, KxError

SENSITIVE = [
    ".env",
    ".env.local",
    "SUB/.ENV",
    "config/prod.env",
    "x.KEY",
    "certs/server.pem",
    "id_rsa",
    "id_ed25519.bak",
    ".ssh/config",
    ".aws/credentials",
    "a/b/.netrc",
    ".npmrc",
    "deploy/.docker/config.json",
    "infra/terraform.tfstate",
    "credentials.json",
    ".vault/private/diary.md",
    ".VAULT/Private/deep/diary.md",
    ".env/inside.txt",
]


@pytest.mark.parametrize("path", SENSITIVE)
def test_sensitive_name_is_denied_by_default(path: str) -> None:
    """Row A4, cases 40 and FACTS M24: whatever the case and the depth."""
    assert DenyList().denies(path) is not None


@pytest.mark.parametrize(
    "path", ["env.py", "environment.md", "src/keys.py", "key.txt", ".vault/notes.md", "docs/env/a.md", "private/a.md"]
)
def test_ordinary_name_is_not_denied(path: str) -> None:
    """A denylist that takes too much makes people turn it off."""
    assert DenyList().denies(path) is None


def test_decomposed_name_is_denied_by_a_composed_pattern() -> None:
    """Row A4: NFC and NFD are one name to the denylist, in the pattern too."""
    assert DenyList(["segredo/ação.md"]).denies("segredo/ac\u0327a\u0303o.md")
    assert DenyList(["AC\u0327A\u0303O.md"]).denies("x/ação.md")


def test_verdict_names_pattern_and_source() -> None:
    """A person can find the rule."""
    assert DenyList(["*.sekret"]).denies("a.Sekret") == "*.sekret (indexing.deny)"
    assert DenyList().denies("a/.env") in {".env* (built in)", "*.env (built in)"}


@pytest.mark.parametrize(
    ("pattern", "path", "denied"),
    [
        ("secrets/**", "secrets/a/b", True),
        ("secrets/**", "secrets", True),
        ("secrets/**", "x/secrets/a", False),
        ("secrets/", "x/secrets/a", True),
        ("**/secrets/**", "x/y/secrets/a", True),
        ("**/.env*", "x/.envrc", True),
        ("./docs/internal", "docs/internal/a.md", True),
        ("docs//internal/*.md", "docs/internal/a.md", True),
        ("[A-Z]x", "bx", True),
        ("[[:upper:]]x", "Bx", True),
        ("*", "anything/at/all", True),
    ],
)
def test_configured_pattern_reads_like_an_ignore_file(pattern: str, path: str, denied: bool) -> None:
    """Relative to the project; without a slash at any depth; a folder denies what is below."""
    assert (DenyList([pattern]).denies(path) is not None) is denied


@pytest.mark.parametrize(
    "pattern",
    [
        "",
        "  ",
        ".",
        "./",
        "/",
        "/etc/passwd",
        "~/x",
        "../x",
        "a/../b",
        "!.env",
        "[abc",
        "a\\",
        "C:/x",
        "a\0b",
        "[[:no:]]",
    ],
)
def test_pattern_that_would_deny_nothing_is_an_error(pattern: str) -> None:
    """Row B8: never a silently empty denylist."""
    with pytest.raises(KxError) as caught:
        DenyList([pattern])
    assert caught.value.code is ErrorCode.CONFIG_INVALID
    assert caught.value.params["pattern"] == repr(pattern)


def test_list_only_grows() -> None:
    """MISSION 1.4: a project's patterns add to the default ones."""
    assert DenyList(["x"]).denies(".env") is not None


def test_entry_alone_does_not_look_above() -> None:
    """A walk has asked about the folders already."""
    assert DenyList().denies_entry(".env/a.txt") is None
    assert DenyList().denies_entry("a/.env") is not None


@pytest.mark.parametrize(
    ("allowed", "path", "denied"),
    [
        (".env.example", "sub/.env.example", False),
        (".env.example", ".env", True),
        ("docs/.env", "docs/.ENV", False),
        ("docs/.env", "other/.env", True),
        (".vault/private/", ".vault/private/deep/a.md", False),
        (".aws/config", ".aws/config", True),
        (".aws/", "x/.aws/credentials.json", False),
        ("*.sekret", "a.sekret", True),
    ],
    ids=[
        "one name",
        "another name",
        "a place",
        "another place",
        "a folder",
        "below a denied folder",
        "what lies in it",
        "own",
    ],
)
def test_what_the_user_allows_leaves_the_default_list_only(allowed: str, path: str, denied: bool) -> None:
    """MISSION 1.4: `allowDenied` re-admits what a default pattern denies, never what the project itself denies."""
    assert (DenyList(["*.sekret"], [allowed]).denies(path) is not None) is denied


def test_a_walk_and_a_whole_path_agree_on_what_is_allowed() -> None:
    """The walk asks about the last component alone, after the folders above."""
    deny = DenyList([], [".aws/"])
    assert deny.denies_entry(".aws") is None
    assert deny.denies_entry(".aws/credentials.json") is None
    assert deny.denies_entry("credentials.json") is not None
