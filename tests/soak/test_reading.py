"""The rows of RELIABILITY.md that reading must hold: A1-A4, A16, B2-B5, B8. Each prints its line."""

from __future__ import annotations

import os
import random
import shutil
import sys
import threading
import time
import unicodedata
from collections.abc import Callable
from pathlib import Path

import pytest

from services.indexer.adapters.files import ReadDocument, read_document
from services.indexer.adapters.reading import Prepared, Reader
from services.indexer.core.chunking import MAX_TOKENS, chunk, embed_text
from shared.config_file import MAX_CONFIG_BYTES
from shared.deny import DEFAULT_PATTERNS
from shared.errors import KxError
from shared.messages import PathsTouched
from shared.pathgate import PathGate
from shared.project_config import load_project_config
from shared.relpath import RelPath, decode_path, encode_path
from shared.subjects import TOUCHED
from shared.tokens import TokenCounter
from shared.treerules import RulesConfig, SkipReason
from tests.soak.conftest import IS_SOAK, Report
from tests.support import git_oracle
from tests.support.chunks import TOKENIZER, assert_sound
from tests.support.config_fuzz import check_loaded, check_refusal, mutated
from tests.support.configs import make_root, make_settings, write_json
from tests.support.markdown_documents import FENCE_TOKENS, fences_of, random_document
from tests.support.odd_files import is_usable, odd_file, odd_name
from tests.support.product import Product, product
from tests.support.trees import make_rules, write_tree

pytestmark = pytest.mark.timeout(3_600 if IS_SOAK else 120)

Amount = Callable[[int], int]

CANARY = "canary-9f31"
SECONDS_A_FILE = 5.0
SLACK = 5  # of a deadline, on a machine that does other things
COUNT = TokenCounter.load(TOKENIZER).count


# --- B: bad input -----------------------------------------------------------------------------------------------------


@pytest.mark.anyio
async def test_b2_any_file_is_read_right_or_skipped_with_a_reason(
    tmp_path: Path, amount: Amount, report: Report
) -> None:
    """Row B2: text of each passage equals the file's lines; walked = indexed + skipped; no worker dies."""
    rng = random.Random(2)
    files = [odd_file(rng, number) for number in range(amount(3_000))]
    root = write_tree(tmp_path / "tree", {file.name: file.data for file in files})
    problems: list[str] = []
    async with product(root, tmp_path) as served:
        walked = (await served.index()).walked
        status = await served.status()
        reasons = await served.reasons()
        passages: dict[str, list[tuple[int, int, str]]] = {}
        for path, start, end, _, text in served.passages():
            passages.setdefault(path, []).append((start, end, text))
    for file in files:
        lines = (file.text or "").split("\n")
        if file.name in reasons:
            problems += [] if file.text is None or file.may_be_skipped else [f"{file.name} is {reasons[file.name]}"]
        elif file.text is None:
            problems.append(f"{file.name} was indexed: {file.data[:40]!r}")
        else:
            wrong = [(s, e) for s, e, text in passages.get(file.name, []) if text != "\n".join(lines[s - 1 : e])]
            problems += [f"{file.name} lines {wrong}"] if wrong or not passages.get(file.name) else []
    skipped = sum(status.skipped.values())
    problems += [] if walked == status.documents + skipped == len(files) else ["it does not add up"]
    problems += [f"failed: {failure.path}" for failure in status.failed]
    report("B2", problems, files=walked, indexed=status.documents, skipped=skipped, deaths=len(status.failed))


GIANTS: dict[str, Callable[[random.Random], str]] = {
    "bundle.js": lambda rng: "".join(f"function {_name(rng)}(a){{return {_name(rng)}+a}};" for _ in range(140_000)),
    "data.json": lambda rng: "[" + ",".join(f'{{"{_name(rng)}":{rng.random()}}}' for _ in range(180_000)) + "]",
    "word.txt": lambda _rng: "x" * 5_000_000,
    "blanks.md": lambda _rng: " " * 5_000_000 + "end",
    "brackets.c": lambda _rng: "{" * 5_000_000,
    "lines.md": lambda _rng: "- a\n" * 1_000_000,
    "huge.json": lambda _rng: '{"a":1}' * 3_000_000,
}


def _name(rng: random.Random) -> str:
    return "".join(rng.choices("abcdefghijklmnopqrstuvwxyz_$", k=rng.randint(1, 8)))


QUICK = {"bundle.js", "word.txt", "huge.json"}  # the others take longer, and prove the same of other readers


@pytest.mark.parametrize(
    "name", [name if name in QUICK else pytest.param(name, marks=pytest.mark.soak) for name in GIANTS]
)
def test_b2_no_file_takes_long(name: str, tmp_path: Path, report: Report) -> None:
    """Row B2, case 10: 5 MB in one line, 20 MB of JSON; the last word is found where the file is read."""
    text = GIANTS[name](random.Random(5)) + " needleXYZ\n"
    root = write_tree(tmp_path, {name: text})
    reader = Reader(root, COUNT)
    gate, rules = reader.begin([name], RulesConfig())
    began = time.process_time()
    outcome = reader.read(gate, rules, name, None)
    spent = time.process_time() - began
    chunks = outcome.document.chunks if isinstance(outcome, Prepared) else ()
    is_skipped = getattr(outcome, "reason", None) is SkipReason.TOO_LARGE
    problems = [] if is_skipped or "needleXYZ" in chunks[-1].text else ["the last word is lost"]
    problems += [f"{spent:.1f} s"] if spent > SECONDS_A_FILE * SLACK else []
    problems += [] if max((c.tokens for c in chunks), default=0) <= MAX_TOKENS else ["too many tokens"]
    report("B2", problems, file=name, bytes=len(text), chunks=len(chunks), skipped=is_skipped, cpu_s=f"{spent:.2f}")


@pytest.mark.anyio
async def test_b3_any_name_is_found_and_can_be_opened_again(tmp_path: Path, amount: Amount, report: Report) -> None:
    """Row B3: or it is listed as skipped."""
    rng = random.Random(3)
    names: set[bytes] = set()
    while len(names) < amount(500):
        name = odd_name(rng)[:255]
        names |= {name} if is_usable(name) else set()
    tokens = dict(zip(sorted(names), (f"name{_letters(n)}token" for n in range(len(names))), strict=True))
    root = write_tree(tmp_path / "tree", {encode_path(name): f"this is {tokens[name]} here\n" for name in names})
    problems: list[str] = []
    found = skipped = 0
    async with product(root, tmp_path) as served:
        await served.index()
        reasons = await served.reasons()
        for name, token in tokens.items():
            if encode_path(name) in reasons:
                skipped += 1
                continue
            paths = [hit.path for hit in await served.hits(token) if token in hit.text]
            found += len(paths)
            if [decode_path(path) for path in paths] != [name] or token not in _reopened(root, paths[0]):
                problems.append(f"{name!r} gave {paths}")
    report("B3", problems, names=len(names), found=found, skipped=skipped)


def _letters(number: int) -> str:
    return "".join(chr(97 + int(digit)) for digit in str(number))


def _reopened(root: Path, path: str) -> str:
    return (root / os.fsdecode(decode_path(path))).read_text("utf-8")


@pytest.mark.skipif(shutil.which("git") is None, reason="git is the oracle")
def test_b4_ignore_rules_agree_with_git(tmp_path: Path, amount: Amount, report: Report) -> None:
    """Row B4: random trees, also as the work tree of a linked worktree and of a submodule."""
    problems: list[str] = []
    paths_asked = trees = 0
    for seed in range(amount(2_000)):
        rng = random.Random(10_000 + seed)
        base = tmp_path / str(seed)
        kind = ("plain", "worktree", "submodule")[seed % 3]
        outer = base / "outer"
        top = outer / "lib" if kind == "submodule" else base / "top"
        top.mkdir(parents=True)
        paths = git_oracle.make_tree(rng, top)
        if not paths:
            continue
        git_oracle.make_repository(top, rng, paths)
        git_oracle.make_home(base / "home", rng, paths)
        if kind != "plain":
            _move_git_folder(top, outer if kind == "submodule" else base / "main", is_worktree=kind == "worktree")
        if kind == "submodule" and git_oracle.ask_git(outer, base / "home", [b"lib"])[b"lib"]:
            continue  # the user ignores the submodule itself
        git = git_oracle.ask_git(top, base / "home", paths)
        root, prefix = (outer, b"lib/") if kind == "submodule" else (top, b"")
        ours = git_oracle.ask_ours(root, base / "home", [prefix + path for path in paths])
        problems += [f"seed {seed} {kind}: {path!r}" for path in paths if bool(git[path]) != bool(ours[prefix + path])]
        paths_asked, trees = paths_asked + len(paths), trees + 1
        shutil.rmtree(base)
    report("B4", problems, trees=trees, paths=paths_asked, differences=len(problems))


def _move_git_folder(top: Path, main: Path, *, is_worktree: bool) -> None:
    """Put the repository of `top` where git keeps that of a worktree or submodule, with a link file in its place."""
    common = main / ".git"
    if is_worktree:
        main.mkdir()
        (top / ".git").rename(common)
        link = common / "worktrees" / "w"
        link.mkdir(parents=True)
        (link / "HEAD").write_text("ref: refs/heads/other\n")
        (link / "commondir").write_text("../..\n")
        (link / "gitdir").write_text(f"{top / '.git'}\n")
    else:
        for folder in ("objects", "refs", "modules"):
            (common / folder).mkdir(parents=True)
        (common / "HEAD").write_text("ref: refs/heads/main\n")
        link = common / "modules" / "lib"
        (top / ".git").rename(link)
    (top / ".git").write_text(f"gitdir: {link}\n")


def test_b5_chunkers_keep_their_promises(amount: Amount, report: Report) -> None:
    """Row B5: every line in a chunk, none over the budget, fences whole, no token dropped."""
    rng = random.Random(5)
    problems: list[str] = []
    chunks = fences = 0
    for number in range(amount(5_000)):
        text, kind, language = random_document(rng)
        pieces = chunk(text, kind=kind, language=language, count=COUNT)
        chunks += len(pieces)
        try:
            assert_sound(text, pieces, COUNT)
        except AssertionError as error:
            problems.append(f"document {number} ({language}): {error}")
        for first, last in fences_of(text) if language == "markdown" else ():
            fence = "\n".join(text.split("\n")[first - 1 : last])
            if COUNT(fence) > FENCE_TOKENS:
                continue
            fences += 1
            if not any(piece.start_line <= first and last <= piece.end_line for piece in pieces):
                problems.append(f"document {number}: the fence of lines {first} to {last} was cut")
        over = [piece for piece in pieces if COUNT(embed_text(piece.heading, piece.text)) > MAX_TOKENS]
        problems += [f"document {number}: {len(over)} chunks over the budget"] if over else []
    report("B5", problems, documents=number + 1, chunks=chunks, fences=fences)


def test_b8_no_configuration_starts_without_its_denylist(tmp_path: Path, amount: Amount, report: Report) -> None:
    """Row B8: a clear error naming file and key, or everything that is denied stays so."""
    rng = random.Random(8)
    root, settings = make_root(tmp_path), make_settings(tmp_path)
    problems: list[str] = []
    loaded = refused = 0
    for _ in range(amount(1_000)):
        raw = mutated(rng)
        write_json(root / ".kx.json", raw)
        try:
            check_loaded(load_project_config(root, settings), raw)
            loaded += 1
        except KxError as error:
            refused += 1
            check_refusal(error, root, raw)
        except AssertionError:
            problems.append(repr(raw[:200]))
    write_json(root / ".kx.json", b"{" + b" " * MAX_CONFIG_BYTES)
    report("B8", problems, configs=loaded + refused, loaded=loaded, refused=refused)
    with pytest.raises(KxError):
        load_project_config(root, settings)


# --- A: attacks -------------------------------------------------------------------------------------------------------


def payloads() -> list[str]:
    """Paths that lead out of a root, in every spelling; some 300."""
    targets = ["outside.md", "etc/passwd", "tree-evil/x.md", ".ssh/id_rsa"]
    steps = ["../", "..//", "./../", "a/../../", "../a/../", "..\\", "%2e%2e/", "..%2f", "....//", "\\x2e\\x2e/", "..\\x2f",
             "..;/", "．．/", "../\0", "a/b/../../../"]  # fmt: skip
    made = [step * depth + target for step in steps for depth in (1, 2, 5) for target in targets]
    made += [head + target for head in ("/", "//", "/./", "~/", "file:///", "C:\\", "\\\\", "/proc/self/cwd/", "/dev/fd/",
             "link/", "link/../", "linkfile/../", "d/link/", "d/./link/", ".//link/", "d/up/", "d/up/../", "abs/", "abs/../",
             "loop/loop/../../", "d/chain/", "d/chain/../", "./", ".", "..", "\n../", " ../", "../ ", "\u202e../", "up")
             for target in targets]  # fmt: skip
    return [*made, "linkfile", "d/linkfile", "./linkfile"]


@pytest.mark.anyio
async def test_a1_no_path_leads_out_of_the_root(tmp_path: Path, report: Report) -> None:
    """Row A1: the gate with links and without, the judgement, and the indexer over the bus."""
    write_tree(tmp_path, {"outside.md": CANARY, "etc/passwd": CANARY, "tree-evil/x.md": CANARY, ".ssh/id_rsa": CANARY})
    root = write_tree(tmp_path / "tree", {"a.md": "inside\n", "d/b.md": "inside\n"})
    links = {"link": "..", "linkfile": "../outside.md", "d/linkfile": "../../outside.md", "d/link": "../..", "d/up": "../..", "abs": str(tmp_path),
             "loop": ".", "d/chain": "link", "up": ".."}  # fmt: skip
    for name, target in links.items():
        (root / name).symlink_to(target)
    gate, rules = PathGate(root), make_rules(root)
    opened = 0
    for path in payloads():
        for follow in (True, False):
            opened += CANARY in _read(gate, path, follow=follow)
        found = _document(gate, rules, path)
        opened += isinstance(found, ReadDocument) and CANARY in found.text
    async with product(root, tmp_path) as served:
        await served.index()
        for path in payloads():
            await served.bus.request(TOUCHED, PathsTouched(instance=served.project.instance, paths=(path,)))
        await served.index()
        opened += sum(CANARY in text for *_, text in served.passages())
    report("A1", [f"{opened} canaries"] if opened else [], payloads=len(payloads()), ways=4, leaked=opened)


def _read(gate: PathGate, path: str, *, follow: bool) -> str:
    try:
        opened = gate.open_file(path, follow=follow)
    except (KxError, OSError, ValueError):
        return ""
    with os.fdopen(opened.fd, "r", errors="replace") as file:
        return file.read(100)


def _document(gate: PathGate, rules: object, path: str) -> object:
    try:
        return read_document(gate, rules, RelPath(path))  # type: ignore[arg-type]
    except (KxError, OSError, ValueError):
        return None


@pytest.mark.anyio
async def test_a2_links_lead_nowhere(tmp_path: Path, amount: Amount, report: Report) -> None:
    """Row A2: every kind of link, races between check and open, and roots that are links themselves."""
    write_tree(tmp_path, {"outside/x.md": CANARY, "late/y.md": CANARY})
    root = write_tree(tmp_path / "tree", {"d/b.md": "inside token\n"})
    links = {"file.md": "../outside/x.md", "folder": "../outside", "c1": "c2", "c2": "../outside", "d/mid": "../..",
             "late": "../late", "proc": "/proc/self/root", "loop": "loop", "abs.md": str(tmp_path / "outside/x.md")}  # fmt: skip
    for name, target in links.items():
        (root / name).symlink_to(target)
    problems: list[str] = []
    async with product(root, tmp_path) as served:
        await served.index()
        problems += ["a link was followed"] if any(CANARY in text for *_, text in served.passages()) else []
        reasons = await served.reasons()
        problems += [f"{name} is not listed" for name in links if not {name, f"{name}/"} & reasons.keys()]
    leaks = _races(root, amount(1_000))
    roots = _linked_roots(tmp_path)
    problems += [f"{leaks} races lost"] if leaks else []
    problems += [] if roots == 20 else [f"{roots} of 20 roots accepted"]
    report("A2", problems, links=len(links), races=amount(1_000), leaked=leaks, roots=f"{roots}/20")


def _races(root: Path, count: int) -> int:
    """Swap a file for a link, and its folder for one, while the gate opens it; give how often the canary came out."""
    inside = root / "race"
    inside.mkdir()
    stop = threading.Event()

    def swap() -> None:
        while not stop.is_set():
            for target in ("b.md", "../outside/x.md"):
                (inside / "new").unlink(missing_ok=True)
                (inside / "new").symlink_to(f"../{target}" if target.startswith("..") else target)
                (inside / "new").rename(inside / "f.md")
                (inside / "new").write_text("plain")
                (inside / "new").rename(inside / "f.md")

    thread = threading.Thread(target=swap)
    gate = PathGate(root)
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)
    thread.start()
    seen = leaked = 0
    try:
        while seen < count:  # a look at an instant without the file is none
            read = _read(gate, "race/f.md", follow=seen % 2 == 0)
            seen += bool(read) or (inside / "f.md").is_symlink()
            leaked += CANARY in read
    finally:
        stop.set()
        thread.join()
        sys.setswitchinterval(interval)
    return leaked


def _linked_roots(base: Path) -> int:
    works = 0
    for number in range(20):
        target = write_tree(base / f"real{number}", {"a.md": "through a link"})
        link = base / f"root{number}"
        link.symlink_to(target if number % 2 else target.name)
        works += "through" in _read(PathGate(link), "a.md", follow=False)
    return works


@pytest.mark.anyio
async def test_a3_hard_links_to_denied_files_are_refused(tmp_path: Path, report: Report) -> None:
    """Row A3: 20 names of denied files; with `hardLinks: "deny"` every one; ordinary ones are read by default."""
    root = write_tree(tmp_path / "tree", {f"s/{n}.key": f"{CANARY} {n}\n" for n in range(20)})
    write_tree(root, {f"plain/{n}.md": f"ordinary words {n}\n" for n in range(20)})
    for n in range(20):
        (root / f"copy{n}.md").hardlink_to(root / f"s/{n}.key")
        (root / f"twin{n}.md").hardlink_to(root / f"plain/{n}.md")
    problems: list[str] = []
    async with product(root, tmp_path) as served:
        await served.index()
        reasons = await served.reasons()
        refused = sum(reasons.get(f"copy{n}.md") == "hard_link" for n in range(20))
        status = await served.status()
        problems += [] if status.documents == 40 else [f"{status.documents} documents"]
        problems += ["leaked"] if any(CANARY in text for *_, text in served.passages()) else []
        (root / ".kx.json").write_text('{"indexing": {"hardLinks": "deny"}}')
        await served.index()
        all_refused = sum(reason == "hard_link" for reason in (await served.reasons()).values())
    problems += [] if refused == 20 else [f"{refused} of 20"]
    problems += [] if all_refused == 60 else [f"with deny {all_refused} of 60"]
    report("A3", problems, refused=f"{refused}/20", ordinary="40/40", denied=f"{all_refused}/60")


SENSITIVE = (".env", ".env.local", "id_rsa", "id_ed25519", "server.key", "cert.pem", ".netrc", "credentials.json",
             ".npmrc", "kubeconfig", "terraform.tfstate", "vault.kdbx")  # fmt: skip


@pytest.mark.anyio
async def test_a4_sensitive_names_leak_through_no_channel(tmp_path: Path, report: Report) -> None:
    """Row A4, for the channels of reading; the others are in `test_knowledge_leaks.py`.

    Direct, renamed in, denied afterwards, link, hard link, case, decomposed name, announced by name, residue on disk.
    """
    root = write_tree(tmp_path / "tree", {"a.md": "words\n", ".kx.json": "{}"})
    expected: set[str] = set()
    for number, name in enumerate(SENSITIVE):
        tree = {f"direct/{name}": "direct", f"upper/{name.upper()}": "case", f"later/{number}/não.md": "later"}
        write_tree(root, {path: f"{CANARY} {what} {number}\n" for path, what in tree.items()})
        (root / f"link{number}.md").symlink_to(f"direct/{name}")
        (root / f"hard{number}.md").hardlink_to(root / f"direct/{name}")
        write_tree(root, {f"moved{number}.md": f"{CANARY} moved {number}\n"})
        expected |= {f"later/{number}/não.md", f"moved{number}.md"}
    async with product(root, tmp_path) as served:
        await served.index()
        before = {path for path, *_, text in served.passages() if CANARY in text}
        for number, name in enumerate(SENSITIVE):
            (root / "in" / str(number)).mkdir(parents=True)
            (root / f"moved{number}.md").rename(root / f"in/{number}/{name}")
            nfd = root / "later" / str(number) / unicodedata.normalize("NFD", "não.md")
            (root / f"later/{number}/não.md").rename(nfd)
        (root / ".kx.json").write_text('{"indexing": {"deny": ["LATER/*/NÃO.md"]}}')
        hidden = [hit.path for hit in await served.hits(CANARY)]
        touched = tuple(f"{folder}/{name}" for name in SENSITIVE for folder in ("direct", "upper"))
        await served.bus.request(TOUCHED, PathsTouched(instance=served.project.instance, paths=touched))
        await served.index()
        after = [path for path, *_, text in served.passages() if CANARY in text]
        shown = await _shown(served)
    residue = sum(path.read_bytes().count(CANARY.encode()) for path in served.project.index_path.parent.iterdir())
    leaks = [*hidden, *after, *shown] + ["residue"] * bool(residue)
    problems = leaks + ([] if before == expected else [f"before: {sorted(before ^ expected)}"])
    report("A4", problems, names=len(SENSITIVE), channels=9, cases=len(SENSITIVE) * 9, leaked=len(leaks))


async def _shown(served: Product) -> list[str]:
    return [hit.path for hit in await served.hits(CANARY) if CANARY in hit.text]


def test_a16_hostile_patterns_cost_little(tmp_path: Path, report: Report) -> None:
    """Row A16: 50 patterns in ignore files and in the configuration, one second each."""
    atoms = ["*a", "**/", "?*", "[!a]*", "*/*", "a*b*", "(a+)+", "\\*", "[[:alpha:]]*", "{a,b}*"]
    patterns = [atom * length + tail for atom in atoms for length in (30, 300) for tail in ("", "x")] + [
        "*" * 5_000, "/" * 5_000, "[" * 5_000, "\\" * 4_999, "a/" * 2_000 + "**", "**/" * 500 + "x", "*a" * 400 + "[",
        "!" + "*a" * 400, "[a-" * 500, "?" * 5_000,
    ]  # fmt: skip
    paths = ["a" * 250, "/".join(["a" * 20] * 12), "ab" * 120 + ".md", "/".join("a" * 100)]
    slow: list[str] = []
    worst = 0.0
    for number, pattern in enumerate(patterns):
        root = write_tree(tmp_path / str(number), {".gitignore": pattern + "\n", "a.md": "x"})
        began = time.process_time()
        for config in (RulesConfig(), *_configured(pattern)):
            rules = make_rules(root, config)
            for path in paths:
                rules.verdict(path, (root / "a.md").lstat())
                rules.denies(path)
        spent = time.process_time() - began
        worst = max(worst, spent)
        slow += [pattern[:40]] if spent > SLACK else []
    report("A16", slow, patterns=len(patterns), worst_s=f"{worst:.2f}", default_patterns=len(DEFAULT_PATTERNS))


def _configured(pattern: str) -> list[RulesConfig]:
    """The same pattern where a project's file may put it, as far as it is accepted there."""
    configs = [RulesConfig(ignore_files=(pattern,))]
    short = pattern[:1_000]
    try:
        make_rules(Path("/"), RulesConfig(deny=(short,)))
    except KxError:
        return configs
    return [*configs, RulesConfig(deny=(short,))]
