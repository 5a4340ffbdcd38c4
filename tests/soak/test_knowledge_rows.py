"""Rows A12 (second half) and A13: histories against a model, and ids that are guessed or swapped."""

from __future__ import annotations

import random
import secrets
from collections.abc import Callable
from pathlib import Path

import pytest

from services.knowledge import bases, items, links, reading
from services.knowledge.desk import Desk
from shared import knowledge_messages as kb
from shared.errors import ErrorCode, KxError
from shared.knowledge_messages import Caller
from tests.soak.conftest import Report
from tests.support.configs import make_settings
from tests.support.knowledge_bench import Clock
from tests.support.knowledge_history import READERS, History

pytestmark = pytest.mark.anyio

Amount = Callable[[int], int]
STEPS = 24
A_DATABASE = 40  # histories; a principal has at most 50 spaces


async def content_of(desk: Desk, caller: Caller, item: str, revision: str | None) -> bytes | None:
    try:
        part = await desk.read(
            lambda rows: reading.read(rows, kb.ReadItem(caller=caller, item=item, revision=revision))
        )
    except KxError as error:
        if error.code is not ErrorCode.KNOWLEDGE_UNKNOWN:
            raise
        return None
    return part.content


async def test_no_history_shows_a_draft_or_an_old_revision(tmp_path: Path, amount: Amount, report: Report):
    """Row A12: after any history a search shows exactly the published current revisions, a pin gives the same bytes."""
    histories, problems = amount(1_000), []
    looked = pinned = shown = 0
    desk = Desk(make_settings(tmp_path), Clock())
    for number in range(histories):
        if number % A_DATABASE == 0:
            await desk.close()
            settings = make_settings(tmp_path / f"h{number}")
            settings.home.mkdir(parents=True)
            desk = Desk(settings, Clock())
            desk._store._current().writer.execute("PRAGMA synchronous=OFF")  # no crash here: it is about what is seen
        history = History(desk, seed=number)
        await history.begin()
        for _ in range(STEPS):
            await history.step()
        every, expected, citable = history.ever(), history.found(), history.citable()
        mirrored = {(one.item_id, one.revision_id) for one in await desk.published(history.space)}
        if mirrored != set(expected):
            problems.append(f"history {number}: the mirror would hold {mirrored ^ set(expected)}")
        for name in READERS:
            caller = Caller(principal=name, scopes=("knowledge:read",))
            seen = await desk.visible(caller, every)
            shown += len(seen)
            if {pair: one.content.encode() for pair, one in seen.items()} != expected:
                problems.append(f"history {number}: {name} sees {set(seen) ^ set(expected)}")
        for pair in every:
            looked += 1
            got = await content_of(desk, Caller(principal="viewer"), *pair)
            pinned += got is not None
            if got != citable.get(pair):
                problems.append(f"history {number}: {pair} reads {got!r}")
        if await desk.visible(Caller(principal="stranger"), every):
            problems.append(f"history {number}: a stranger sees")
    await desk.close()
    report("A12 histories", problems, histories=histories, revisions=looked, pinned_equal=pinned, hits=shown)


async def test_pinned_reads_give_the_same_bytes_for_ever(tmp_path: Path, amount: Amount, report: Report):
    """Row A12: 1,000 citations, each read again after every later edit, archive and restore of its item."""
    reads, problems = amount(1_000), []
    settings = make_settings(tmp_path)
    settings.home.mkdir(parents=True, exist_ok=True)
    desk, chance, me = Desk(settings, Clock()), random.Random(7), Caller()

    await desk.writing(bases.create)(kb.CreateBase(caller=me, name="B"))
    cited: dict[tuple[str, str], bytes] = {}
    item = ""
    while len(cited) < reads:
        text = chance.randbytes(40).hex().encode() + "\r\n\tação 𝄞\n".encode() * chance.randrange(200)
        if not item or chance.random() < 0.1:
            asked = kb.CreateItem(caller=me, base="B", title="T", publish=True)
            row = (await desk.write(me, lambda t, m, a=asked, x=text: items.create(t, a, x, m))).item
        else:
            again = kb.EditItem(caller=me, item=item)
            row = (await desk.write(me, lambda t, m, a=again, x=text: items.edit(t, a, x, m))).item
        item = row.id
        cited[row.id, row.current_revision_id or ""] = text
        for move in ("archive", "restore"):
            await desk.writing(items.move)(kb.MoveItem(caller=me, item=item, move=move))
    for (item, revision), text in cited.items():
        if await content_of(desk, me, item, revision) != text:
            problems.append(revision)
    await desk.close()
    report("A12 pinned", problems, reads=len(cited), identical=len(cited) - len(problems))


async def test_guessed_and_swapped_ids_find_nothing(tmp_path: Path, amount: Amount, report: Report):
    """Row A13: ids that are guessed, bent, or another's give no hit, and one and the same answer."""
    tries, problems = amount(2_000), []
    desk, chance = Desk(make_settings(tmp_path), Clock()), random.Random(13)
    (tmp_path / ".kx").mkdir(parents=True, exist_ok=True)
    worlds = [await _filled(desk, name) for name in ("ana", "rui")]
    answers: set[tuple[str, str]] = set()
    hits = 0
    for number in range(tries):
        mine, other = worlds[number % 2], worlds[1 - number % 2]
        caller = Caller(principal=mine["principal"])
        item, revision = _guess(chance, mine, other)
        for work in _attempts(caller, item, revision):
            try:
                await desk.read(work)
                hits += 1
                problems.append(f"{caller.principal} reached {item}@{revision}")
            except KxError as error:
                answers.add((error.code.value, error.message))
        if await desk.visible(caller, [(item, revision or "")]):
            problems.append(f"{caller.principal} saw {item}@{revision}")
    await desk.close()
    if answers != {("KX_KNOWLEDGE_UNKNOWN", "there is no {id} in the knowledge bases")}:
        problems.append(f"answers differ: {answers}")
    report("A13", problems, tries=tries, hits=hits, answers=len(answers))


async def _filled(desk: Desk, principal: str) -> dict[str, str]:

    me = Caller(principal=principal)
    base = (await desk.writing(bases.create)(kb.CreateBase(caller=me, name="Private"))).base
    found = {"principal": principal, "base": base.id}
    for name, is_published in (("item", True), ("draft", False)):
        asked = kb.CreateItem(caller=me, base=base.id, title=name, publish=is_published)
        row = (await desk.write(me, lambda t, m, a=asked: items.create(t, a, b"secret", m))).item
        found |= {name: row.id, f"{name} revision": row.current_revision_id or ""}
    return found


def _guess(chance: random.Random, mine: dict[str, str], other: dict[str, str]) -> tuple[str, str | None]:
    """Make an address that the caller may not reach."""
    item = other["item"]
    return chance.choice(
        (
            (item, None),
            (item, other["item revision"]),
            (other["draft"], other["draft revision"]),
            (other["base"], None),
            (mine["item"], other["item revision"]),  # another's revision of one's own item
            (mine["item"], mine["draft revision"]),  # one's own revision of another item
            (f"itm_{secrets.token_hex(16)}", None),
            (mine["item"], f"rev_{secrets.token_hex(16)}"),
            (mine["item"].upper(), mine["item revision"]),
            (mine["item"] + " ", mine["item revision"]),
            (mine["item"][:-1], None),
            (f"{item[:20]}%", None),
            ("' OR 1=1 --", "x' OR '1'='1"),
            (f"{mine['item']}\0", mine["item revision"]),
            ("*", "*"),
        )
    )


def _attempts(caller: Caller, item: str, revision: str | None) -> list[Callable[..., object]]:
    """Give the ways to reach it."""
    ways: list[Callable[..., object]] = [
        lambda rows: reading.read(rows, kb.ReadItem(caller=caller, item=item, revision=revision))
    ]
    if revision is None:
        ways += [
            lambda rows: reading.revisions(rows, kb.RevisionsRequest(caller=caller, item=item)),
            lambda rows: items.listed(rows, kb.ItemsRequest(caller=caller, base=item)),
            lambda rows: links._target(rows, caller, item),
        ]
    return ways
