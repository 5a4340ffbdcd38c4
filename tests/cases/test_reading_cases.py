"""Cases from the field that concern reading, tried on the whole product: what is indexed, found, skipped, and why."""

from __future__ import annotations

import os
import shutil
import subprocess
import unicodedata
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from shared.relpath import decode_path
from tests.support.product import Product, product
from tests.support.trees import make_repository, write_tree

pytestmark = pytest.mark.anyio

NFC, NFD = "notas/ação.md", unicodedata.normalize("NFD", "notas/ação.md")
FUNCTIONS = "\n".join(f"def token_line{n}():" if n in (1, 2, 30, 59) else f"    value_{n} = {n}" for n in range(1, 61))
FENCES = {
    "fences/plain.md": "# Real\n\n```python\n# not a heading\ncode = 1\n```\n\nTail of plainfence.\n",
    "fences/tilde.md": "# Real\n\n~~~python\n# not a heading\ncode = 1\n~~~\n\nTail of tildefence.\n",
    "fences/four.md": "# Real\n\n````md\n```\n# not a heading\n```\n````\n\nTail of fourfence.\n",
    "fences/open.md": "# Real\n\n```python\n# not a heading\ncode = 1\n\nTail of openfence.\n",
}
TREE: dict[str, str | bytes] = {
    # 5 and 6: languages
    "ja.md": "認証の仕組みを説明する\n",
    "zh.md": "合約轉換的說明\n",
    "ko.md": "끝말잇기 놀이\n",
    "pt_nfc.md": "A autenticação do usuário é feita no portal.\n",
    "pt_nfd.md": unicodedata.normalize("NFD", "A autenticação do usuário é feita no balcão.\n"),
    "pt_plain.md": "A autenticacao do usuario sem acento.\n",
    "short.md": "O id de go fica no registro.\n",
    # 8: encodings
    "servers.log": "\ufeff".encode("utf-16-le") + "servidor alfawide ligado\r\nsegunda linha\r\n".encode("utf-16-le"),
    "nobom.log": "servidor betawide ligado\r\nsegunda linha\r\n".encode("utf-16-le"),
    "l1.txt": "a ação latinaum foi feita\n".encode("latin-1"),
    "n.txt": b"some text\0with a NUL in the middle\n",
    "bad.txt": b"plain words around \xff one odd byte oddbyte\n",
    "fm.md": "\ufeff---\ntitle: Carta de navegação\n---\n\nTexto da carta marcadofm.\n",
    # 10: giants (the large ones are made by their own test)
    "one.css": "".join(f".a{n}{{color:#{n:06x};margin:{n}px}}" for n in range(12_000)) + ".needlecss{color:red}",
    # 12: pathological sources
    "deep.c": "int deeptoken;\n" + "{" * 16_384 + "\n",
    "p.rs": "// parentoken\n" + "(" * 100_000 + "\n",
    "j.js": "// jstoken\n{ try { } catch { (, e\n",
    **{f"normal/n{n}.py": f"def normal_{n}():\n    return 'normaltoken{n}'\n" for n in range(20)},
    # 13: exact lines
    "lines/lf.py": FUNCTIONS + "\n",
    "lines/crlf.py": FUNCTIONS.replace("\n", "\r\n"),
    "lines/cr.py": FUNCTIONS.replace("\n", "\r") + "\r",
    "lines/odd.txt": "first\fstill first\u2028still\nsecond oddlines\n",
    **FENCES,
    # 16: what is excluded stays excluded
    "ig16/.gitignore": "build\n!keep.log\n",
    "ig16/build/keep.log": "canarynegation\n",
    # 17: allow-list style
    "ig17/.gitignore": "*\n!*/\n!*.go\n!go.mod\n",
    "ig17/main.go": "package main // takenbylist\n",
    "ig17/pkg/a/a.go": "package a // takenbylist\n",
    "ig17/pkg/b.txt": "refusedbylist\n",
    # 18: other tools' ignore files, files without extension, nothing to index
    ".dockerignore": "*\n",
    "Makefile": "all:\n\techo bymakefile\n",
    "LICENSE": "bylicence text of a licence\n",
    "script": "#!/bin/sh\necho byscript\n",
    "empty.md": "",
    # 33: copies
    "copy/a/TERMS": "the same licenceterms twice\n",
    "copy/b/TERMS": "the same licenceterms twice\n",
    # 9: names
    "bad\\xff.txt": "oddnamebyte here\n",
    "new\\x0aline.md": "oddnamenewline here\n",
    "-dash.md": "oddnamedash here\n",
    "trail .md ": "oddnametrail here\n",
    "😀.md": "oddnameemoji here\n",
    "l" * 252 + ".md": "oddnamelong here\n",
    "a\"b'c;--.md": "oddnamequotes here\n",
}  # fmt: skip


@pytest.fixture(scope="module")
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture(scope="module")
async def shared(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Product]:
    """One tree with the input of every case that changes nothing, indexed once."""
    base = tmp_path_factory.mktemp("cases")
    root = write_tree(make_repository(base / "tree"), TREE)
    (root / "loop").symlink_to(".")
    (root / "x").symlink_to("y")
    (root / "y").symlink_to("x")
    (root / "gone").symlink_to("nowhere")
    (root / "again.md").symlink_to("ja.md")
    async with product(root, base) as served:
        await served.index()
        yield served


def lines_of(root: Path, path: str) -> list[str]:
    """Read a file as every editor counts its lines."""
    raw = (root / os.fsdecode(decode_path(path))).read_bytes()
    return raw.decode("utf-8").replace("\r\n", "\n").replace("\r", "\n").split("\n")


@pytest.mark.parametrize(
    ("query", "path"),
    [
        ("認証", "ja.md"),
        ("仕組み", "ja.md"),
        ("認証の仕組み", "ja.md"),
        ("合約轉換", "zh.md"),
        ("끝말잇기", "ko.md"),
        ("轉換", "zh.md"),
    ],
)
async def test_substrings_of_scripts_without_blanks_are_found(shared: Product, query: str, path: str) -> None:
    """Case 5."""
    assert path in await shared.found(query)


@pytest.mark.parametrize("query", ["autenticação", "AUTENTICAÇÃO", "autenticacao", "Autenticac\u0327a\u0303o"])
async def test_accents_and_case_find_all_three_spellings(shared: Product, query: str) -> None:
    """Case 6."""
    assert {"pt_nfc.md", "pt_nfd.md", "pt_plain.md"} <= set(await shared.found(query))


@pytest.mark.parametrize("query", ["go", "id"])
async def test_words_of_two_letters_are_found(shared: Product, query: str) -> None:
    """Case 6."""
    assert "short.md" in await shared.found(query)


@pytest.mark.parametrize(
    ("query", "path"),
    [("alfawide", "servers.log"), ("betawide", "nobom.log"), ("latinaum ação", "l1.txt"), ("oddbyte", "bad.txt")],
)
async def test_texts_of_every_encoding_are_found_by_their_words(shared: Product, query: str, path: str) -> None:
    """Case 8: the right words, no mark of the encoding left."""
    hit = (await shared.hits(query))[0]
    assert hit.path == path
    assert "\ufeff" not in hit.text
    assert "\0" not in hit.text


async def test_nul_is_binary_and_nothing_is_indexed_as_noise(shared: Product) -> None:
    """Case 8: with its reason."""
    assert (await shared.reasons())["n.txt"] == "binary"
    assert not any("\0" in text or "\ufeff" in text for *_, text in shared.passages())


async def test_title_behind_a_mark_is_read(shared: Product) -> None:
    """Case 8: a UTF-8 mark hides no front matter."""
    assert (await shared.hits("marcadofm"))[0].heading == "Carta de navegação"


async def test_every_name_is_found_and_can_be_opened_again(shared: Product) -> None:
    """Case 9: bytes that are no UTF-8, line feeds, leading dashes, 255 bytes."""
    for token in ("byte", "newline", "dash", "trail", "emoji", "long", "quotes"):
        (path,) = await shared.found(f"oddname{token}")
        assert f"oddname{token}" in "".join(lines_of(Path(shared.project.root), path))
        assert "\n" not in path


async def test_end_of_a_long_line_is_found(shared: Product) -> None:
    """Case 10: one line of 400 kB."""
    (hit,) = await shared.hits("needlecss")
    assert (hit.path, hit.start_line, hit.end_line) == ("one.css", 1, 1)


async def test_pathological_sources_cost_nobody_else_anything(shared: Product) -> None:
    """Case 12: they are indexed without structure, the twenty others with it."""
    assert (await shared.status()).failed == ()
    for token, path in (("deeptoken", "deep.c"), ("parentoken", "p.rs"), ("jstoken", "j.js")):
        assert path in await shared.found(token)
    for n in range(20):
        assert (await shared.hits(f"normaltoken{n}"))[0].heading == f"normal_{n}"


@pytest.mark.parametrize("path", ["lines/lf.py", "lines/crlf.py", "lines/cr.py", "lines/odd.txt", *FENCES])
async def test_lines_of_a_passage_are_the_lines_of_the_file(shared: Product, path: str) -> None:
    """Case 13: 1-based, inclusive, whatever ends them; a form feed and U+2028 end none."""
    lines = lines_of(Path(shared.project.root), path)
    own = [(start, end, text) for found, start, end, _, text in shared.passages() if found == path]
    assert own
    for start, end, text in own:
        assert text == "\n".join(lines[start - 1 : end])


@pytest.mark.parametrize("line", [1, 2, 30, 59])
async def test_a_function_is_found_at_its_line(shared: Product, line: int) -> None:
    """Case 13: no line too low, no drift with CRLF."""
    hits = {hit.path: hit for hit in await shared.hits(f"token_line{line}")}
    for path in ("lines/lf.py", "lines/crlf.py", "lines/cr.py"):
        hit = hits.get(path) or hits[next(p for p in hits if p.startswith("lines/"))]
        assert hit.start_line <= line <= hit.end_line
        assert f"token_line{line}" in hit.text.split("\n")[line - hit.start_line]


@pytest.mark.parametrize("path", FENCES)
async def test_comment_in_a_fence_is_no_heading(shared: Product, path: str) -> None:
    """Case 14: one section, the fence whole, an open fence swallows nothing."""
    own = [(heading, text) for found, _, _, heading, text in shared.passages() if found == path]
    assert [heading for heading, _ in own] == ["Real"]
    assert "not a heading" in own[0][1]
    assert "Tail of" in own[0][1]


async def test_negation_below_an_excluded_folder_lets_nothing_in(shared: Product) -> None:
    """Case 16: git's verdict."""
    assert await shared.found("canarynegation") == []
    assert (await shared.reasons())["ig16/build/"] == "gitignored"


async def test_allow_lists_keep_their_folders(shared: Product) -> None:
    """Case 17."""
    assert set(await shared.found("takenbylist")) == {"ig17/main.go", "ig17/pkg/a/a.go"}
    assert await shared.found("refusedbylist") == []


@pytest.mark.parametrize(
    ("query", "path"), [("bymakefile", "Makefile"), ("bylicence", "LICENSE"), ("byscript", "script")]
)
async def test_other_tools_ignore_files_do_not_count(shared: Product, query: str, path: str) -> None:
    """Case 18 (b) and (c): `.dockerignore` says `*`, and names have no extension."""
    assert path in await shared.found(query)


async def test_rings_of_links_end_and_each_file_comes_once(shared: Product) -> None:
    """Case 21."""
    assert await shared.found("認証") == ["ja.md"]
    reasons = await shared.reasons()
    assert {name: reasons[name] for name in ("loop", "x", "y", "gone", "again.md")} == {
        "loop": "symlink", "x": "broken_link", "y": "broken_link", "gone": "broken_link", "again.md": "symlink",
    }  # fmt: skip


async def test_status_adds_up(shared: Product) -> None:
    """Every entry walked is a document or skipped with a reason."""
    again = await shared.index()
    status = await shared.status()
    assert again.walked == status.documents + sum(status.skipped.values()) + len(status.failed)
    assert again.announced == 0


# --- cases that change their tree -------------------------------------------------------------------------------------


async def test_both_forms_of_a_name_are_two_documents_and_a_rename_is_one(tmp_path: Path) -> None:
    """Case 7."""
    root = write_tree(tmp_path / "tree", {NFC: "conteudo da acao\n"})
    async with product(root, tmp_path) as served:
        await served.index()
        assert await served.found("conteudo") == [NFC]
        (root / NFC).rename(root / NFD)
        await served.index()
        assert await served.found("conteudo") == [NFD]
        (root / NFC).write_text("outro conteudo\n")
        await served.index()
        found = set(await served.found("conteudo"))
        assert found == {NFC, NFD}
        assert all((root / os.fsdecode(decode_path(path))).is_file() for path in found)


async def test_case_only_rename_is_one_document(tmp_path: Path) -> None:
    """The name shown is the one on disk."""
    root = write_tree(tmp_path / "tree", {"Readme.md": "casetoken\n"})
    async with product(root, tmp_path) as served:
        await served.index()
        (root / "Readme.md").rename(root / "README.md")
        await served.index()
        assert await served.found("casetoken") == ["README.md"]


async def test_tree_without_anything_to_index_is_ready(tmp_path: Path) -> None:
    """Case 18 (a): 0 documents, each entry with its reason."""
    root = write_tree(tmp_path / "tree", {"a.md": "", "b.txt": "\n\n", "c.png": b"\x89PNG", "d/": ""})
    async with product(root, tmp_path) as served:
        await served.index()
        status = await served.status()
        assert (status.state, status.documents, status.skipped) == ("ready", 0, {"empty": 2, "excluded_file": 1})


@pytest.mark.skipif(shutil.which("git") is None, reason="git makes the worktree")
async def test_worktrees_are_no_copies_and_submodules_come_once(tmp_path: Path) -> None:
    """Case 20."""
    root, other = tmp_path / "tree", tmp_path / "other"
    environ = {"HOME": str(tmp_path), "PATH": os.environ["PATH"], "GIT_CONFIG_NOSYSTEM": "1"}

    def git(*arguments: str, cwd: Path = root) -> None:
        identity = ["-c", "user.name=x", "-c", "user.email=x@example.org", "-c", "protocol.file.allow=always"]
        subprocess.run(["git", *identity, *arguments], cwd=cwd, env=environ, check=True, capture_output=True)

    for folder, text in ((root, "worktreetoken here\n"), (other, "submoduletoken here\n")):
        write_tree(folder, {"a.md": text})
        git("init", "-q", cwd=folder)
        git("add", ".", cwd=folder)
        git("commit", "-qm", "first", cwd=folder)
    git("worktree", "add", "-q", ".wt/one")
    git("submodule", "add", "-q", str(other), "lib")
    async with product(root, tmp_path) as served:
        await served.index()
        assert await served.found("worktreetoken") == ["a.md"]
        assert (await served.reasons())[".wt/one/"] == "worktree"
        assert await served.found("submoduletoken") == ["lib/a.md"]


async def test_copies_are_folded_and_live_on_their_own(tmp_path: Path) -> None:
    """Case 33."""
    same = "the same licenceterms twice\n"
    root = write_tree(tmp_path / "tree", {"a/LICENSE": same, "b/LICENSE": same})
    async with product(root, tmp_path) as served:
        await served.index()
        (hit,) = await served.hits("licenceterms")
        assert {hit.path, *(place.path for place in hit.also)} == {"a/LICENSE", "b/LICENSE"}
        (root / "a/LICENSE").unlink()
        await served.index()
        (hit,) = await served.hits("licenceterms")
        assert (hit.path, hit.also) == ("b/LICENSE", ())
        (root / "b/LICENSE").write_text("quite new freshwords\n")
        await served.index()
        assert await served.found("licenceterms") == []
        assert await served.found("freshwords") == ["b/LICENSE"]
