"""Megabrain on a bus: notes, map, store and page as a client makes them."""

from __future__ import annotations

import json
import random
from pathlib import Path

import anyio
import pytest

from shared.errors import ErrorCode, KxError
from shared.megabrain_messages import (
    ActivitiesRequest,
    ActivityRequest,
    AddArtifact,
    ArtifactsRequest,
    LinkArtifact,
    UpdateKind,
)
from shared.subjects import ACTIVITIES, ACTIVITY, ARTIFACT_ADD, ARTIFACT_LINK, ARTIFACTS
from tests.support.configs import write_json
from tests.support.megabrain_bench import Asker, Bench
from tests.support.notes import ORIGINAL
from tests.support.rows import passed

pytestmark = pytest.mark.anyio

URL = "https://example.org/panel"


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    return Bench(tmp_path)


async def refused(awaitable) -> KxError:
    with pytest.raises(KxError) as caught:
        await awaitable
    return caught.value


def files_of(vault: Path) -> dict[str, bytes]:
    found = {str(path.relative_to(vault)): path.read_bytes() for path in vault.rglob("*") if path.is_file()}
    return {name: data for name, data in found.items() if not name.endswith(".lock")}


async def test_life_of_an_activity(bench: Bench, blocking_is_an_error: object):
    """Mission 6: added, got on with, blocked, done; in the note, in the map and in the answers."""
    async with bench.serving() as ask:
        made = await ask.add("Migração do índice", squad="pdv CORE", module="edge", session="s-1", tags=("índice",))
        assert (made.id, made.slug, made.squad) == (1, "migracao-do-indice", "PDV Core")
        for kind, ref in (
            ("progress", "#1"),
            ("block", "1"),
            ("progress", "migracao-do-indice"),
            ("done", "Migração do índice"),
        ):
            row = await ask.update(ref, f"texto de {kind}", kind, "s-2")  # type: ignore[arg-type]
        assert (row.state, row.stopped) == ("concluida", "Concluída: texto de done")
        found = await ask.ask(ACTIVITIES, ActivitiesRequest)
    assert found.counts == {"em-andamento": 0, "pendente": 0, "bloqueado": 0, "concluida": 1}
    text = bench.note("migracao-do-indice").read_text()
    assert 'sessoes_claude: ["s-1", "s-2"]' in text
    assert "- [[migracao-do-indice]] — #1 Migração" in (bench.vault / "_index/MOC-Atividades.md").read_text()


async def test_what_is_written_is_told_to_the_indexer(bench: Bench):
    """Mission 6: searchable at once; what was not written is not told."""
    async with bench.serving() as ask:
        await ask.add("Um")
        await ask.update("1", "andou")
        await ask.update("1", "andou")
        await ask.ask(ARTIFACT_ADD, AddArtifact, url=URL, activity="1")
    assert [one.urgency for one in bench.touched] == ["live"] * 3
    assert bench.touched[0].paths == (".vault/megabrain/um.md", ".vault/_index/MOC-Atividades.md")
    assert bench.touched[1].paths == (".vault/megabrain/um.md",)
    assert bench.touched[2].paths == (
        ".vault/megabrain/artifacts.json",
        ".vault/megabrain/um.md",
        ".vault/ARTEFATOS.md",
    )


async def test_without_an_indexer_everything_works(bench: Bench):
    """The watcher finds the files later; nobody waits for who is not there."""
    async with bench.serving(has_indexer=False) as ask:
        assert (await ask.add("Um")).id == 1


async def test_duplicate_slug_is_refused(bench: Bench):
    """Mission 6; a name that differs in case alone is the same on some file systems."""
    async with bench.serving() as ask:
        await ask.add("Ação Única")
        before = files_of(bench.vault)
        assert (await refused(ask.add("acao unica!"))).code is ErrorCode.ACTIVITY_EXISTS
        (bench.vault / "megabrain/Outra.MD").write_text("nota")
        assert (await refused(ask.add("outra"))).code is ErrorCode.ACTIVITY_EXISTS
    (bench.vault / "megabrain/Outra.MD").unlink()
    assert files_of(bench.vault) == before


async def test_number_is_never_used_again(bench: Bench):
    """Issue 8: also when the last note was deleted, and in a vault of the original, which keeps no counter."""
    (bench.vault / "megabrain").mkdir(parents=True)
    bench.note("antiga").write_text(ORIGINAL)
    async with bench.serving() as ask:
        assert (await ask.add("Oito")).id == 8
        bench.note("oito").unlink()
        assert (await ask.add("Nove")).id == 9
        (bench.vault / "megabrain/.last-id").write_text("x")
        before = files_of(bench.vault)
        assert (await refused(ask.add("Dez"))).code is ErrorCode.VAULT_DAMAGED
    assert files_of(bench.vault) == before


async def test_unknown_squad_is_transversal(bench: Bench):
    """Mission 6."""
    async with bench.serving() as ask:
        assert [(await ask.add(f"a {squad}", squad=squad)).squad for squad in ("x", "", "PDV-core")] == [
            "transversal", "transversal", "PDV Core",
        ]  # fmt: skip


@pytest.mark.parametrize("ref", ["#9", "9", "nada", "", "../../etc/passwd", ".last-id", "a/b", "#0", "\ud800"])
async def test_unknown_activity_is_told(bench: Bench, ref: str):
    """A13: what is no activity of this vault is one answer."""
    async with bench.serving() as ask:
        await ask.add("Um")
        if ref == "\ud800":
            ref = "\ufffd"
        assert (await refused(ask.update(ref, "x"))).code is ErrorCode.ACTIVITY_UNKNOWN


async def test_status_is_newest_first_and_paged(bench: Bench):
    """Mission 6: newest first, counts by state, where each stopped."""
    async with bench.serving() as ask:
        for name in "abcd":
            await ask.add(f"nota {name}", state="pendente" if name == "d" else "em-andamento")
        await ask.update("1", "x" * 1_000)
        found = await ask.ask(ACTIVITIES, ActivitiesRequest, limit=2)
        assert [one.slug for one in found.activities] == ["nota-a", "nota-d"]
        assert (found.total, len(found.activities[0].stopped)) == (4, 300)
        rest = await ask.ask(ACTIVITIES, ActivitiesRequest, limit=2, offset=2)
        assert [one.slug for one in rest.activities] == ["nota-c", "nota-b"]
        pending = await ask.ask(ACTIVITIES, ActivitiesRequest, state="pendente")
        assert [one.slug for one in pending.activities] == ["nota-d"]
        assert (await refused(ask.ask(ACTIVITIES, ActivitiesRequest, limit=0))).code is ErrorCode.BAD_REQUEST


async def test_note_that_cannot_be_read_is_told_and_left_alone(bench: Bench):
    """B11: a broken front matter costs its own note, not the list."""
    async with bench.serving() as ask:
        await ask.add("Boa")
        bench.note("ruim").write_text("---\ntype: atividade\nid: 5\n\n# sem fim\n")
        (bench.vault / "megabrain/README.md").write_text("# leia\n")
        (bench.vault / "megabrain/pasta.md").mkdir()
        found = await ask.ask(ACTIVITIES, ActivitiesRequest)
        assert [one.slug for one in found.activities] == ["boa"]
        assert len(found.notes) == 1
        assert ".vault/megabrain/ruim.md" in found.notes[0]
        assert (await refused(ask.update("ruim", "x"))).code is ErrorCode.VAULT_DAMAGED
    assert bench.note("ruim").read_text() == "---\ntype: atividade\nid: 5\n\n# sem fim\n"


async def test_long_note_is_read_in_parts(bench: Bench):
    """Case 39: a note of 300 kB; each part within the bound, and a way to the rest."""
    async with bench.serving() as ask:
        await ask.add("Longa", description="\n".join(f"linha {at} çã😀" for at in range(5_000)))
        with bench.note("longa").open("a") as file:
            file.write("y" * 200_000)
        whole = bench.note("longa").read_text()
        parts, offset = [], 0
        while offset is not None:
            part = await ask.ask(ACTIVITY, ActivityRequest, ref="1", offset=offset, limit=50_000)
            parts.append(part.text)
            assert len(part.text) <= 50_000
            offset = part.next_offset
        assert "".join(parts) == whole
        beyond = await ask.ask(ACTIVITY, ActivityRequest, ref="1", offset=10**9)
        assert (beyond.text, beyond.next_offset) == ("", None)


async def test_branch_without_a_repository_stands_in_its_own_column(bench: Bench):
    """A person types `feat/x`; the note must not call that a repository."""
    async with bench.serving() as ask:
        await ask.add("Ramos", branches=("feat/x", "loja:feat/y"))
    assert "|---|---|\n|  | feat/x |\n| loja | feat/y |\n" in bench.note("ramos").read_text()


async def test_denied_note_is_neither_written_nor_shown(tmp_path: Path):
    """A4: what the project denies stays out of every answer."""
    bench = Bench(tmp_path, {"project": "p", "indexing": {"deny": [".vault/megabrain/segredo*"]}})
    (bench.vault / "megabrain").mkdir(parents=True)
    bench.note("segredo-um").write_text(ORIGINAL)
    async with bench.serving() as ask:
        assert (await ask.ask(ACTIVITIES, ActivitiesRequest)).total == 0
        for call in (
            ask.add("Segredo dois"),
            ask.update("segredo-um", "x"),
            ask.ask(ACTIVITY, ActivityRequest, ref="segredo-um"),
        ):
            assert (await refused(call)).code is ErrorCode.PATH_DENIED
    assert bench.note("segredo-um").read_text() == ORIGINAL


async def test_note_the_user_allows_is_written_and_shown(tmp_path: Path):
    """MISSION 1.4: `allowDenied` of the user's own file counts here too; `secring.*` is denied by default."""
    with_grant = {"projects": {str(tmp_path / "allowed/proj"): {"allowDenied": [".vault/megabrain/secring.md"]}}}
    write_json(tmp_path / "allowed/.kx/config.json", with_grant)
    async with Bench(tmp_path / "allowed").serving() as ask:
        await ask.add("Secring")
        assert (await ask.ask(ACTIVITIES, ActivitiesRequest)).total == 1
    async with Bench(tmp_path / "denied").serving() as ask:
        assert (await refused(ask.add("Secring"))).code is ErrorCode.PATH_DENIED


async def test_mere_folder_gets_no_vault(tmp_path: Path):
    """Mission 1: nothing is written into a tree that nobody made a project."""
    bench = Bench(tmp_path)
    (bench.root / ".kx.json").unlink()
    async with bench.serving() as ask:
        assert (await refused(ask.add("Um"))).code is ErrorCode.PROJECT_UNKNOWN
        assert (await ask.ask(ACTIVITIES, ActivitiesRequest)).total == 0
        assert list(bench.root.iterdir()) == []
        bench.vault.mkdir()
        assert (await ask.add("Um")).id == 1


async def test_map_that_cannot_be_written_loses_nothing(bench: Bench):
    """The note is the truth; the answer says what is missing."""
    (bench.vault / "_index").mkdir(parents=True)
    (bench.vault / "_index/MOC-Atividades.md").write_text("---\nno end\n")
    async with bench.serving() as ask:
        await ask.add("Um")
    assert bench.note("um").exists()
    assert (bench.vault / "_index/MOC-Atividades.md").read_text() == "---\nno end\n"


async def test_case_15_ten_updates_with_hand_edits_between(bench: Bench):
    """Case 15: BOM, CRLF, extra keys; one block, foreign keys in their order, every hand edit kept."""
    data = (
        b"\xef\xbb\xbf"
        + ORIGINAL.replace("azure_items", "title: T\ndescription: D\nazure_items").replace("\n", "\r\n").encode()
    )
    (bench.vault / "megabrain").mkdir(parents=True)
    bench.note("caso").write_bytes(data)
    path = bench.note("caso")
    async with bench.serving() as ask:
        for turn in range(10):
            await ask.update("#7", f"entrada {turn}", "block" if turn % 3 else "progress", f"s-{turn}")
            path.write_bytes(path.read_bytes().replace(b"(a preencher)", b"(a preencher)\r\nlinha %d" % turn, 1))
    after = path.read_bytes()
    assert after.count(b"\r\n") == after.count(b"\n")
    assert after.startswith(b"\xef\xbb\xbf---\r\ntype: atividade\r\n")
    assert after.count(b"\r\n---\r\n") == 1
    keys = [line.split(b":")[0] for line in after.split(b"\r\n---")[0].split(b"\r\n")[1:]]
    assert keys == [line.split(b":")[0] for line in data.split(b"\r\n---")[0].split(b"\r\n")[1:]]
    for turn in range(10):
        assert b"entrada %d" % turn in after
        assert b"linha %d" % turn in after


# --- artifacts ------------------------------------------------------------------------------------------------------------


async def test_artifact_follows_the_session_and_the_link(bench: Bench):
    """Mission 6: registered, versioned, linked to the activity that made it."""
    async with bench.serving() as ask:
        await ask.add("Um", session="s-1")
        await ask.add("Dois")
        first = await ask.ask(ARTIFACT_ADD, AddArtifact, url=URL, title="Painel", session="s-1")
        assert (first.is_new, first.artifact.version, first.artifact.activity_id) == (True, 1, 1)
        second = await ask.ask(ARTIFACT_ADD, AddArtifact, url=URL, description="canais")
        assert (second.is_new, second.artifact.version, second.artifact.title) == (False, 2, "Painel")
        assert f"- [Painel]({URL}) — v2" in bench.note("um").read_text()
        moved = await ask.ask(ARTIFACT_LINK, LinkArtifact, url=URL, activity="dois")
        assert (moved.artifact.activity_id, moved.artifact.version) == (2, 2)
        assert URL not in bench.note("um").read_text()
        assert URL in bench.note("dois").read_text()
        assert (await ask.ask(ARTIFACTS, ArtifactsRequest, activity="1")).total == 0
        assert (await ask.ask(ARTIFACTS, ArtifactsRequest)).total == 1
    assert URL in (bench.vault / "ARTEFATOS.md").read_text()


async def test_corrupt_store_is_told_and_nothing_is_touched(bench: Bench):
    """Issue 8: fails loudly; store, page and notes stay as they are."""
    async with bench.serving() as ask:
        await ask.add("Um")
        (bench.vault / "megabrain/artifacts.json").write_text('{"artefatos": [')
        before = files_of(bench.vault)
        for call in (
            ask.ask(ARTIFACT_ADD, AddArtifact, url=URL, activity="1"),
            ask.ask(ARTIFACT_LINK, LinkArtifact, url=URL, activity="1"),
            ask.ask(ARTIFACTS, ArtifactsRequest),
        ):
            assert (await refused(call)).code is ErrorCode.VAULT_DAMAGED
    assert files_of(bench.vault) == before


async def test_store_of_the_original_is_used_on(bench: Bench):
    """Mission 6: a vault of the original opens unchanged."""
    store = bench.vault / "artefatos/artefatos.json"
    store.parent.mkdir(parents=True)
    store.write_text(
        json.dumps({"versao_schema": 1, "projeto": "p", "artefatos": [{"url": URL, "titulo": "T", "versao": 4}]})
    )
    async with bench.serving() as ask:
        again = await ask.ask(ARTIFACT_ADD, AddArtifact, url=URL)
    assert again.artifact.version == 5
    assert json.loads(store.read_text())["artefatos"][0]["versao"] == 5
    assert not (bench.vault / "megabrain/artifacts.json").exists()


# --- two writers --------------------------------------------------------------------------------------------------------


async def play(home: Path, seed: int) -> None:
    """Two services of one home, each with its own bus, write random histories of the same notes at once."""
    chance = random.Random(seed)
    bench = Bench(home)
    kinds: tuple[UpdateKind, ...] = ("progress", "block", "reopen")
    said: list[str] = []

    async def write(ask: Asker, writer: int) -> None:
        for turn in range(4):
            text = f"escritor {writer} turno {turn}"
            if chance.random() < 0.3:
                await ask.ask(ARTIFACT_ADD, AddArtifact, url=f"{URL}/{writer}", activity="1")
            await ask.update(chance.choice(["1", "comum"]), text, chance.choice(kinds), f"s-{writer}")
            said.append(text)

    async with bench.serving() as one, bench.serving() as other:
        await one.add("Comum")
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(write, one, 1)
            tasks.start_soon(write, other, 2)
            tasks.start_soon(other.add, "Outra dois")
        await one.add("Outra um")
    text = bench.note("comum").read_text()
    assert [line for line in said if text.count(line) < 1] == []
    assert {'"s-1"', '"s-2"'} <= set(text.split("sessoes_claude: [")[1].split("]")[0].split(", "))
    ids = sorted(path.read_text().split("id: ")[1].split("\n")[0] for path in (bench.vault / "megabrain").glob("*.md"))
    assert ids == ["1", "2", "3"]


async def test_two_writers_lose_nothing(tmp_path: Path):
    """Issue 8: random histories of two writers; no entry, session or number is lost."""
    for seed in range(4):
        await play(tmp_path / str(seed), seed)


@pytest.mark.soak
@pytest.mark.timeout(3_600)
async def test_two_writers_lose_nothing_in_a_thousand_histories(tmp_path: Path):
    """Issue 8 in full."""
    for seed in range(1_000):
        await play(tmp_path / str(seed), seed)
    passed("B11", histories=1_000, writers=2, lost=0)
