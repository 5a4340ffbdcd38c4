"""A parser that dies takes its file's structure, not the indexer."""

import os
import select
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from services.indexer.adapters.parsers import ParserError, ParsingProcess
from tests.support import fragile_parser
from tests.support.index_facts import facts_of
from tests.support.indexing import Indexing, indexing

SOUND = "function sound() {\n  return 1;\n}\n"
WORDS = ["crashword", "hangword", "hungerword"]


class CountedProcess(ParsingProcess):
    """Counts the texts it is asked for."""

    asked = 0

    def __init__(self) -> None:
        super().__init__(fragile_parser.COMMAND)

    def outline(self, text, lines, language):
        """Count and parse."""
        CountedProcess.asked += 1
        return super().outline(text, lines, language)


@pytest.fixture(autouse=True)
def fragile(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("services.indexer.core.chunking.code._parse", fragile_parser.parse)  # this process, too
    monkeypatch.setattr("services.indexer.service.ParsingProcess", CountedProcess)
    monkeypatch.setattr(CountedProcess, "asked", 0)


def write(root: Path, **texts: str) -> None:
    root.mkdir(exist_ok=True)
    for name, text in texts.items():
        (root / f"{name}.js").write_text(text)


def states_of(work: Indexing) -> dict[str, tuple[str, str]]:
    rows = facts_of(work.project.index_path, work.project.instance).rows
    return {str(row[0]): (str(row[2]), str(row[3])) for row in rows}


@pytest.mark.anyio
@pytest.mark.parametrize("word", WORDS)
async def test_parser_that_dies_costs_one_file_its_structure(tmp_path: Path, word: str) -> None:
    """A live edit: the file is found by its words and marked, the others have their structure, the indexer lives."""
    root = tmp_path / "tree"
    write(root, bad=f"function bad() {{ return '{word}'; }}\n", good=SOUND)
    async with indexing(root, tmp_path / ".kx") as work:
        await work.touch("bad.js", urgency="live")
        await work.touch("good.js")
        await work.until("text")
        assert states_of(work) == {"bad.js": ("indexed", "no_structure"), "good.js": ("indexed", "")}
        assert facts_of(work.project.index_path, work.project.instance).postings == 2


@pytest.mark.anyio
async def test_file_whose_parser_died_is_parsed_again_once_it_changes(tmp_path: Path) -> None:
    """Not before: another touch of the same text costs no process."""
    root = tmp_path / "tree"
    write(root, bad="var a = 'crashword';\n")
    async with indexing(root, tmp_path / ".kx") as work:
        for _ in range(2):
            await work.touch("bad.js", urgency="live")
            await work.until("text")
        assert CountedProcess.asked == 1
        write(root, bad=SOUND)
        await work.touch("bad.js", urgency="live")
        await work.until("text")
        assert states_of(work) == {"bad.js": ("indexed", "")}


@pytest.mark.anyio
async def test_parser_that_ends_its_reading_process_costs_one_file_its_structure(tmp_path: Path, monkeypatch) -> None:
    """A large tree: its processes read one by one what was in hand, the culprit without a parser."""
    monkeypatch.setattr("services.indexer.service.processes_for", lambda _: 2)
    monkeypatch.setattr("services.indexer.text_flow.MANY_PATHS", 5)
    monkeypatch.setattr("services.indexer.adapters.readers._read", fragile_parser.read)
    root = tmp_path / "tree"
    write(root, bad="var a = 'crashword';\n", **{f"good{number}": SOUND for number in range(9)})
    async with indexing(root, tmp_path / ".kx") as work:
        await work.touch(*sorted(path.name for path in root.iterdir()))
        await work.until("text")
        states = states_of(work)
    assert states.pop("bad.js") == ("indexed", "no_structure")
    assert len(states) == 9
    assert set(states.values()) == {("indexed", "")}


def test_process_killed_for_anothers_sake_blames_no_text() -> None:
    """The memory killer may take it: the text is given to another one."""
    parsing = ParsingProcess(fragile_parser.COMMAND)
    assert parsing.outline(SOUND, [], "javascript") is not None
    assert parsing._process is not None
    parsing._process.kill()
    assert parsing.outline(SOUND, [], "javascript") is not None
    with pytest.raises(ParserError, match="died"):
        parsing.outline("crashword()", [], "javascript")
    parsing.close()


def test_process_leaves_when_nothing_comes_and_another_answers_then(monkeypatch: pytest.MonkeyPatch) -> None:
    """An idle stack keeps no parser in memory."""
    monkeypatch.setenv("FRAGILE_IDLE_S", "0.1")
    parsing = ParsingProcess(fragile_parser.COMMAND)
    assert parsing.outline(SOUND, [], "javascript") is not None
    first = parsing._process
    assert first is not None
    assert first.wait(10) == 0
    assert parsing.outline(SOUND, [], "javascript") is not None
    parsing.close()


def test_closing_ends_the_process_at_once() -> None:
    """A command that is done does not wait for a parser to notice."""
    parsing = ParsingProcess(fragile_parser.COMMAND)
    parsing.outline(SOUND, [], "javascript")
    process = parsing._process
    parsing.close()
    assert process is not None
    assert process.returncode == -signal.SIGKILL


def test_text_without_a_grammar_starts_no_process() -> None:
    """Python, prose and configuration are read without a parser."""
    parsing = ParsingProcess(("/nowhere",))
    assert parsing.outline("def f(): ...\n", [], "haskell") is None
    assert parsing.outline("x" * 2_000_000, [], "javascript") is None


def test_process_ends_with_the_one_that_asks() -> None:
    """A killed indexer leaves nothing behind."""
    script = (
        "import signal, sys; from services.indexer.adapters.parsers import ParsingProcess; p = ParsingProcess();"
        " p.outline('f()', [], 'javascript'); print(p._process.pid, flush=True); signal.pause()"
    )
    with subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE, text=True) as parent:
        assert parent.stdout is not None
        child = int(parent.stdout.readline())
        waiting = os.pidfd_open(child)
        parent.send_signal(signal.SIGKILL)
    assert select.select([waiting], [], [], 10)[0], "it is still there"
    os.close(waiting)
