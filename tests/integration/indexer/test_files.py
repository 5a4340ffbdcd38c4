"""Reading one path of a real tree."""

from __future__ import annotations

import hashlib
import os
from pathlib import Path

import pytest

from services.indexer.adapters.files import Gone, ReadDocument, Skipped, Unstable, read_document, read_folder
from services.watcher.adapters.walk import walk
from shared.kinds import Kind
from shared.pathgate import OpenedFile, PathGate
from shared.relpath import RelPath, encode_path
from shared.sources import SourceConfig
from shared.treerules import RulesConfig, SkipReason
from tests.support.trees import make_rules, write_tree

CANARY = "canary-51c0"


def _read(root: Path, rel: str, config: RulesConfig | None = None) -> ReadDocument | Skipped | Gone | Unstable:
    return read_document(PathGate(root), make_rules(root, config), RelPath(rel))


def test_file_is_read_with_all_that_is_known_of_it(tmp_path: Path) -> None:
    """The ordinary case: the hash is of the raw bytes, the text has plain line ends."""
    root = write_tree(tmp_path, {"d/a.py": b"x = 1\r\ny = 2\r\n"})
    found = _read(root, "d/a.py")
    assert isinstance(found, ReadDocument)
    assert found.text == "x = 1\ny = 2\n"
    assert found.content_hash == hashlib.sha256(b"x = 1\r\ny = 2\r\n").digest()
    assert (found.size, found.mtime_ns) == (14, (root / "d/a.py").stat().st_mtime_ns)
    assert (found.file_type.kind, found.file_type.language, found.encoding) == (Kind.CODE, "python", "utf-8")


def test_first_line_tells_the_language_of_a_bare_name(tmp_path: Path) -> None:
    """Case 18 (c): a script without an extension."""
    found = _read(write_tree(tmp_path, {"tool": "#!/usr/bin/env python3\nprint(1)\n"}), "tool")
    assert isinstance(found, ReadDocument)
    assert found.file_type.language == "python"


def test_source_gives_its_files_their_kind(tmp_path: Path) -> None:
    """MISSION 1.1: `sources[].type`."""
    config = RulesConfig(sources=(SourceConfig(type="docs", path="spec"),))
    found = _read(write_tree(tmp_path, {"spec/a.py": "x = 1"}), "spec/a.py", config)
    assert isinstance(found, ReadDocument)
    assert (found.file_type.kind, found.file_type.language) == (Kind.DOCS, "python")


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"", SkipReason.EMPTY),
        (b" \n\t\r\n", SkipReason.EMPTY),
        (b" x \n", SkipReason.TOO_SHORT),
        (b"text\0more", SkipReason.BINARY),
        ("Ошибка".encode("koi8-r"), SkipReason.UNDECODABLE),
        (b"x" * 2000, SkipReason.TOO_LARGE),
    ],
)
def test_content_that_is_no_document_is_skipped_with_its_size_and_time(
    tmp_path: Path, content: bytes, reason: SkipReason
) -> None:
    """Case 8 and MISSION 2.2: where the content decided, size and time are kept and it is not read again."""
    root = write_tree(tmp_path, {"a.txt": content})
    found = _read(root, "a.txt", RulesConfig(max_file_bytes=1000))
    assert isinstance(found, Skipped)
    assert found.reason is reason
    by_content = reason not in {SkipReason.TOO_LARGE, SkipReason.EMPTY} or content.startswith(b" ")
    state = (len(content), (root / "a.txt").stat().st_mtime_ns) if by_content else (0, 0)
    assert (found.size, found.mtime_ns) == state


def test_requirements_of_hashes_are_a_lock_file(tmp_path: Path) -> None:
    """Thousands of hashes are nobody's text; pins without them are."""
    pins = "".join(
        f"package{n}==1.0 \\\n    --hash=sha256:{n:064x} \\\n    --hash=sha256:{n + 1:064x}\n" for n in range(3)
    )
    root = write_tree(tmp_path / "root", {"requirements.txt": pins, "requirements-dev.txt": "pytest==9.2.0\nruff\n"})
    found = _read(root, "requirements.txt")
    assert isinstance(found, Skipped)
    assert (found.reason, found.detail) == (SkipReason.EXCLUDED_FILE, "lock file (hashes)")
    assert isinstance(_read(root, "requirements-dev.txt"), ReadDocument)


def test_what_is_not_there_is_gone(tmp_path: Path) -> None:
    """Also when a folder of the way is gone, or became a file; a folder at the path is told apart (case 19)."""
    root = write_tree(tmp_path, {"a.txt": "text", "f.md/x.md": "text"})
    assert _read(root, "b.txt") == Gone()
    assert _read(root, "x/y/b.txt") == Gone()
    assert _read(root, "a.txt/b") == Gone()
    assert _read(root, "f.md") == Gone(is_folder=True)


def test_what_lies_in_a_folder_that_is_out_is_no_entry(tmp_path: Path) -> None:
    """The folder is the entry: documents + skipped must equal what was walked."""
    root = write_tree(tmp_path, {"node_modules/a/b.js": "text", "ok/c.js": "text"})
    found = _read(root, "node_modules/a/b.js")
    assert isinstance(found, Skipped)
    assert found.below_pruned
    gate, rules = PathGate(root), make_rules(root)
    folder = read_folder(gate, rules, RelPath("node_modules/"))
    assert folder == Skipped(reason=SkipReason.EXCLUDED_DIR, detail="node_modules")
    inner = read_folder(gate, rules, RelPath("node_modules/a/"))
    assert isinstance(inner, Skipped)
    assert inner.below_pruned
    assert read_folder(gate, rules, RelPath("ok/")) == Gone(is_folder=True)
    assert read_folder(gate, rules, RelPath("nowhere/")) == Gone()


@pytest.mark.parametrize(
    "rel", [".env", "sub/../.env", "SUB/.ENV", "link", "linkdir/x.md", "hard.md", ".vault/private/p.md"]
)
def test_denied_content_is_never_read(tmp_path: Path, rel: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Rows A2 to A4 and case 40: direct, by links, by hard links, by case."""
    files = {".env": CANARY, "SUB/.ENV": CANARY, "sub/": "", ".vault/private/p.md": CANARY}
    root = write_tree(tmp_path / "root", files)
    write_tree(tmp_path, {"outside/x.md": CANARY})
    (root / "link").symlink_to(".env")
    (root / "linkdir").symlink_to(tmp_path / "outside")
    (root / "hard.md").hardlink_to(root / ".env")
    opened = []
    monkeypatch.setattr(PathGate, "open_file", lambda *_, **__: opened.append(1))
    assert isinstance(_read(root, rel), Skipped)
    assert not opened


@pytest.mark.parametrize("rewritten", ["second version, longer", "short", "FIRST VERSION"])
def test_file_that_changes_while_it_is_read_is_unstable(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, rewritten: str
) -> None:
    """Row F7: no chunk of an intermediate state."""
    root = write_tree(tmp_path, {"a.txt": "first version"})
    open_file = PathGate.open_file

    def open_then_write(gate: PathGate, rel: str, *, follow: bool = True) -> OpenedFile:
        opened = open_file(gate, rel, follow=follow)
        (root / "a.txt").write_text(rewritten)
        os.utime(root / "a.txt", ns=(1, 1))
        return opened

    monkeypatch.setattr(PathGate, "open_file", open_then_write)
    assert _read(root, "a.txt") == Unstable()


def test_file_replaced_between_judgement_and_opening_is_unstable(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Row A2: what is opened is what was judged, by device and inode."""
    root = write_tree(tmp_path, {"a.txt": "harmless", ".env": CANARY})
    open_file = PathGate.open_file

    def swap_then_open(gate: PathGate, rel: str, *, follow: bool = True) -> OpenedFile:
        (root / ".env").replace(root / "a.txt")
        return open_file(gate, rel, follow=follow)

    monkeypatch.setattr(PathGate, "open_file", swap_then_open)
    assert _read(root, "a.txt") == Unstable()


@pytest.mark.parametrize("target", ["../outside", ".env"])
def test_file_swapped_for_a_link_is_skipped(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, target: str) -> None:
    """Row A2: swap between check and open."""
    root = write_tree(tmp_path / "root", {"a.txt": "harmless", ".env": CANARY})
    write_tree(tmp_path, {"outside": CANARY})
    open_file = PathGate.open_file

    def swap_then_open(gate: PathGate, rel: str, *, follow: bool = True) -> OpenedFile:
        (root / "a.txt").unlink()
        (root / "a.txt").symlink_to(target)
        return open_file(gate, rel, follow=follow)

    monkeypatch.setattr(PathGate, "open_file", swap_then_open)
    found = _read(root, "a.txt")
    assert isinstance(found, Skipped)
    assert found.reason is SkipReason.SYMLINK


def test_unreadable_file_is_skipped_with_the_systems_word(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Rule 11 of RELIABILITY: visible, with its reason."""
    root = write_tree(tmp_path, {"a.txt": "text"})

    def forbid(*_: object, **__: object) -> OpenedFile:
        raise PermissionError(13, "forbidden")

    monkeypatch.setattr(PathGate, "open_file", forbid)
    found = _read(root, "a.txt")
    assert isinstance(found, Skipped)
    assert (found.reason, found.detail, found.size) == (SkipReason.UNREADABLE, "EACCES", 0)


@pytest.mark.parametrize("raw", [b"bad\xff.txt", b"a\nb.txt", b"-x.txt", b"end ", b"z" * 255, b"a\"b'c;--.md"])
def test_odd_name_is_read_by_its_text_form(tmp_path: Path, raw: bytes) -> None:
    """Case 9: the odd file is found through an escaped name."""
    (tmp_path / os.fsdecode(raw)).write_text("text")
    assert isinstance(_read(tmp_path, encode_path(raw)), ReadDocument)


def test_composed_and_decomposed_names_are_two_documents(tmp_path: Path) -> None:
    """Case 7: both at once, different bytes, each re-openable."""
    names = ["notas/ação.md", "notas/ac\u0327a\u0303o.md"]
    root = write_tree(tmp_path, {names[0]: "first", names[1]: "second"})
    found = [_read(root, name) for name in names]
    assert [document.text for document in found if isinstance(document, ReadDocument)] == ["first", "second"]


SENSITIVE = [
    ".env",
    ".env.production",
    "prod.env",
    "id_rsa",
    "server.pem",
    "tls.key",
    "store.p12",
    ".netrc",
    ".npmrc",
    ".git-credentials",
    "credentials.json",
    ".aws/credentials",
]


@pytest.mark.parametrize("name", SENSITIVE)
def test_sensitive_file_leaks_through_no_path(tmp_path: Path, name: str) -> None:
    """Row A4, the channels that are paths: direct, moved deeper, other case, link, link to its folder, hard link."""
    root = write_tree(tmp_path, {name: CANARY, f"deep/er/{name}": CANARY, name.upper(): CANARY, "ordinary.md": "text"})
    (root / "link.md").symlink_to(name)
    (root / "folder").symlink_to("deep")
    (root / "hard.md").hardlink_to(root / name)
    (root / "hard-deep.md").hardlink_to(root / "deep" / "er" / name)
    channels = [name, f"deep/er/{name}", name.upper(), "link.md", f"folder/er/{name}", "hard.md", "hard-deep.md"]
    for rel in channels:
        found = _read(root, rel)
        assert isinstance(found, Skipped), rel
        assert CANARY not in found.detail
    assert isinstance(_read(root, "ordinary.md"), ReadDocument)


def test_walk_and_reading_agree_on_every_entry(tmp_path: Path) -> None:
    """Row B2: walked = indexed + skipped by reason, and an unchanged entry has the same size and time on both sides."""
    files: dict[str, str | bytes] = {
        "a.md": "text",
        "b.txt": "",
        "c.bin.txt": b"a\0b",
        "d.txt": b" x ",
        "e.log": "ignored",
        ".gitignore": "*.log\nout/\n",
        "out/x.md": "x",
        "node_modules/x.js": "x",
        "sub/node_modules/y.js": "x",
        "big.txt": "x" * 2000,
        "latin.txt": "ação".encode("latin-1"),
        "utf16.txt": "wide text".encode("utf-16"),
        ".env": "x",
        "logo.png": "x",
        "bad\\xff.md": "odd",
    }
    root = write_tree(tmp_path, files)
    (root / "link").symlink_to("a.md")
    (root / "broken").symlink_to("nowhere")
    os.mkfifo(root / "pipe")
    config = RulesConfig(max_file_bytes=1000)
    gate, rules = PathGate(root), make_rules(root, config)
    reasons: dict[str, str] = {}
    for entry in walk(root, rules):
        read = read_folder if entry.is_dir_pruned else read_document
        found = read(gate, rules, entry.path)
        assert isinstance(found, (ReadDocument, Skipped)), entry
        assert (found.size, found.mtime_ns) == (entry.size, entry.mtime_ns), entry
        if isinstance(found, Skipped):
            assert not found.below_pruned
            assert entry.reason in {None, found.reason}
        reasons[entry.path] = found.reason if isinstance(found, Skipped) else "indexed"
    assert reasons == {
        "a.md": "indexed",
        ".gitignore": "indexed",
        "latin.txt": "indexed",
        "utf16.txt": "indexed",
        "bad\\xff.md": "indexed",
        "b.txt": "empty",
        "c.bin.txt": "binary",
        "d.txt": "too_short",
        "e.log": "gitignored",
        "out/": "gitignored",
        "node_modules/": "excluded_dir",
        "sub/node_modules/": "excluded_dir",
        "big.txt": "too_large",
        ".env": "denied",
        "logo.png": "excluded_file",
        "link": "symlink",
        "broken": "broken_link",
        "pipe": "special_file",
    }
