"""Text of documents through a child process: what comes out, and the walls around what goes in."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import anyio
import pytest

from shared import document_kinds, extraction
from shared.errors import ErrorCode, KxError
from shared.extraction import Limits, extract, extract_blocking, walls
from shared.extractor import pdf
from shared.extractor.reading import Note, read_document
from tests.support.document_samples import REAL, hostile_documents, make_docx, make_pdf, make_pptx, make_xlsx
from tests.support.repository import ROOT

HANDBOOK = """\
# Operations handbook

This handbook tells how the payments platform is run, who is on call and what to do when it fails. It is read by \
engineers and by the support team.

### On-call rota

The rota changes every Monday at 09:00 UTC. Whoever hands over writes a short note.

- Primary: answers within five minutes.
  - Escalates after fifteen.
- Secondary: answers within half an hour.

### Restart procedure

1. Drain the queue with payctl drain.
1. Stop the settlement worker.
1. Start the worker again and watch the backlog.

#### When the queue does not drain

Look for a poisoned message: it stays at the head of the queue, with more than ten delivery attempts. Move it to the \
dead letter queue.

### Contacts

| Role | Name | Phone |
| --- | --- | --- |
| Database | Inês Carvalho | +351 210 000 001 |
| Network | Tomás \\| Silva | +351 210 000 002 |
"""
COSTS = """\
# Costs of the platform

## Sheet Costs

| Service | Monthly cost (EUR) | Owner | Renewal |
| --- | --- | --- | --- |
| Object storage | 1250.5 | Platform | 2027-01-31 |
| Message bus | 840 | Platform | 2027-03-15 |
| Total | 2090.5 |  |  |

## Sheet Suppliers

| Supplier | Contact |
| --- | --- |
| Armazéns do Norte | compras@armazens.example |
"""
ROADMAP = """\
# Search roadmap

## Slide 1

### Search roadmap

Quarterly review, spring

## Slide 2

### What we learned

- Exact words beat meaning for error codes
- Meaning wins for questions
  - Portuguese questions need folding of accents

Notes: Mention the outage of March and thank the on-call team.

## Slide 3

### Targets

| Metric | Today | Goal |
| --- | --- | --- |
| Latency p95 | 48 ms | 35 ms |
| Recall at 10 | 0.71 | 0.80 |
"""
RESTORING = """\
## Page 2

#### Restoring

To restore, stop every writer first. Then run the restore command with the date of the backup, and wait until the \
verification of checksums has come to its end. An unverified restore must never be opened to customers, because a torn \
page shows itself only under load.
"""

# Behind the walls: everything a hostile document could want, each tried.
_BREAKOUT = """
import os, socket, sys
sys.path.append(sys.argv[1])
from shared.extractor.walls import raise_walls
standing = raise_walls(memory_bytes=512 << 20, cpu_s=10)
def tried(name, act):
    try:
        act()
    except (OSError, MemoryError, ValueError):
        return
    print(name)
tried("reads a file", lambda: open(sys.argv[1] + "/pyproject.toml"))
tried("lists a folder", lambda: os.listdir("/"))
tried("writes a file", lambda: open("made", "w"))
tried("opens a socket", lambda: socket.socket())
tried("starts a process", lambda: os.fork() or os._exit(0))
tried("takes memory", lambda: bytearray(600 << 20))
tried("duplicates a descriptor", lambda: os.dup(1))
tried("raises its limits", lambda: __import__("resource").setrlimit(7, (99, 99)))
print("standing", *standing)
"""


_WAITING = """
import sys
from shared import extraction
start = extraction._start
def told(*given):
    process = start(*given)
    print(process.pid, flush=True)
    return process
extraction._start = told
with open(sys.argv[1], "rb") as file:
    extraction.extract_blocking(file.read(), suffix=".xlsx", limits=extraction.Limits(wall_s=60.0, cpu_s=60))
"""


@pytest.mark.parametrize(
    ("name", "text"), [("handbook.docx", HANDBOOK), ("costs.xlsx", COSTS), ("roadmap.pptx", ROADMAP)]
)
def test_text_of_real_documents_is_what_a_person_reads(name: str, text: str):
    """Headings, lists, tables, notes and sheets of programs people use, word for word."""
    assert extract_blocking((REAL / name).read_bytes(), suffix=Path(name).suffix).markdown == text


def test_lines_of_a_page_become_paragraphs_under_its_number():
    """A PDF knows places only: paragraphs, lists and headings are put together again."""
    found = extract_blocking((REAL / "runbook.pdf").read_bytes(), suffix=".pdf", name="runbook.pdf")
    assert RESTORING in found.markdown
    assert "\n- Backups are kept for thirty-five days.\n" in found.markdown
    assert (found.parts, found.title, found.kind, found.notes) == (3, "runbook", "pdf", ())
    assert "### Restart procedure\n" in extract_blocking((REAL / "handbook.pdf").read_bytes(), suffix=".pdf").markdown


@pytest.mark.parametrize(
    "texts", [("", "Text"), ("Text", ""), ("", "", "Text", "", "Text two"), ("Text", "", "", "")], ids=str
)
def test_page_without_text_hides_no_other(texts: tuple[str, ...]):
    """A scanned or a blank page is common, the first one most of all."""
    answer = read_document(pdf.read, make_pdf(*texts), output_bytes=10_000, parts=100)
    told = str(answer["markdown"]).splitlines()
    assert [line for line in told if line.startswith("##")] == [
        f"## Page {number}" for number, text in enumerate(texts, start=1) if text
    ]
    assert [line for line in told if line.startswith("Text")] == [text for text in texts if text]


@pytest.mark.parametrize(
    ("above", "below", "told"),
    [
        ("the infor-", "mation is here", "the information is here"),
        ("dig TXT _acme-", "challenge.shop now", "dig TXT _acme-challenge.shop now"),
        ("see log-2/disk-", "full.md first", "see log-2/disk-full.md first"),
    ],
    ids=["word", "name", "path"],
)
def test_only_a_word_loses_the_hyphen_at_the_end_of_its_line(above: str, below: str, told: str):
    """A name or a path of a runbook is copied as it stands there, and has to work."""
    page = f"{above}) Tj 0 -14 Td ({below}"
    assert told in str(read_document(pdf.read, make_pdf(page), output_bytes=10_000, parts=100)["markdown"])


@pytest.mark.parametrize("kind", ["docx", "xlsx", "pdf", "pptx"])
def test_words_of_a_document_make_no_address(kind: str):
    """What a document says stands where it says it: a page of its own making would be a lie."""
    claim = "## Page 99"
    make = {"docx": make_docx, "pdf": make_pdf, "pptx": make_pptx, "xlsx": lambda text: make_xlsx(((text, "b"),))}
    lines = extract_blocking(make[kind](claim), suffix=kind).markdown.split("\n")
    assert any("Page 99" in line for line in lines)
    assert claim not in lines


def test_long_text_is_cut_and_says_so():
    """What is kept of a document has a limit, and a reader learns that its end is missing."""
    found = extract_blocking(make_docx("word " * 200), suffix=".docx", limits=Limits(output_bytes=900))
    assert found.notes == (str(Note.CUT),)
    assert len(found.markdown.encode()) <= 900
    many = extract_blocking(make_pdf(*["a"] * 9), suffix=".pdf", limits=Limits(parts=4))
    assert (many.parts, many.notes) == (4, (str(Note.PARTS),))


def test_document_beyond_its_limits_is_refused_with_the_reason():
    """Too large, too slow: a sentence each, and never a hanging caller."""
    with pytest.raises(KxError) as large:
        extract_blocking(make_docx(), suffix=".docx", limits=Limits(input_bytes=100))
    with pytest.raises(KxError) as slow:
        extract_blocking(make_docx(), suffix=".docx", limits=Limits(wall_s=0.01))
    assert {large.value.code, slow.value.code} == {ErrorCode.EXTRACTION_REFUSED}
    assert "longer than is allowed" in str(slow.value)


def test_missing_extra_is_named_with_the_command(monkeypatch: pytest.MonkeyPatch):
    """Who has not installed the parsers is told how."""
    monkeypatch.setattr(document_kinds, "_is_there", lambda _: False)
    with pytest.raises(KxError) as missing:
        extract_blocking(make_pdf("a"), suffix=".pdf", name="plan.pdf")
    assert missing.value.code is ErrorCode.EXTRACTION_MISSING
    assert missing.value.params == {"name": "plan.pdf", "extra": "kx[documents]"}


@pytest.mark.skipif(sys.platform != "linux", reason="the kernel's walls")
def test_nothing_gets_out_from_behind_the_walls():
    """A parser that a document has taken over reads, writes, sends and starts nothing."""
    command = (sys.executable, "-I", "-c", _BREAKOUT, str(ROOT))
    told = subprocess.run(command, capture_output=True, text=True, check=True, start_new_session=True, env={}).stdout
    *escaped, standing = told.splitlines()
    assert set(standing.split()[1:]) >= {"group", "memory", "files", "processes", "descriptors"}
    assert escaped == []


def test_walls_that_stand_are_told():
    """For kx doctor: every wall is either standing or missing."""
    told = walls()
    assert {*told.standing, *told.missing} == set(extraction.WALLS)
    assert {"cpu", "memory", "descriptors"} <= set(told.standing)


def test_child_leaves_nothing_behind(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """No folder, no descriptor, whatever came of the document."""
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    before = set(Path("/proc/self/fd").iterdir())
    extract_blocking(make_docx(), suffix=".docx")
    with pytest.raises(KxError):
        extract_blocking(make_docx(), suffix=".docx", limits=Limits(wall_s=0.01))
    assert list(tmp_path.iterdir()) == []
    assert set(Path("/proc/self/fd").iterdir()) == before


@pytest.mark.skipif(sys.platform != "linux", reason="looks into /proc")
def test_child_ends_with_the_process_that_waits_for_it(tmp_path: Path):
    """A killed indexer leaves no parser at work."""
    slow = next(one for one in (make() for make in hostile_documents()) if (one.name, one.kind) == ("crowded", "xlsx"))
    (tmp_path / "slow.xlsx").write_bytes(slow.data)
    waiting = (sys.executable, "-c", _WAITING, str(tmp_path / "slow.xlsx"))
    with subprocess.Popen(waiting, stdout=subprocess.PIPE, text=True, cwd=ROOT) as parent:
        assert parent.stdout is not None
        child = Path("/proc") / parent.stdout.readline().strip()
        anyio.run(_until, lambda: "NoNewPrivs:\t1" in (child / "status").read_text())  # the walls stand
        parent.kill()
    anyio.run(_until, lambda: not child.exists() or ") Z " in (child / "stat").read_text())


async def _until(is_so: Callable[[], bool]) -> None:
    with anyio.fail_after(20):
        while not is_so():  # noqa: ASYNC110  # no event tells of another's child
            await anyio.sleep(0.02)


@pytest.mark.anyio
async def test_cancelled_caller_ends_its_child(monkeypatch: pytest.MonkeyPatch):
    """Who stops waiting leaves no process at work."""
    started: list[subprocess.Popen[bytes]] = []
    really = extraction._start

    def start(kind: str, arguments: tuple[str, ...]) -> subprocess.Popen[bytes]:
        started.append(really(kind, arguments))
        return started[-1]

    monkeypatch.setattr(extraction, "_start", start)
    slow = next(one for one in (make() for make in hostile_documents()) if (one.name, one.kind) == ("crowded", "xlsx"))
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(lambda: extract(slow.data, suffix=".xlsx", limits=Limits(wall_s=60.0, cpu_s=60)))
        with anyio.fail_after(30):
            while not started:  # noqa: ASYNC110  # a thread starts it
                await anyio.sleep(0.01)
        tasks.cancel_scope.cancel()
    with anyio.fail_after(10):
        await anyio.to_thread.run_sync(started[0].wait)
    assert started[0].returncode == -9
