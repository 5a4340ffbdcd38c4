"""A process that writes knowledge until it is killed or the disk is full; says on stdout what was acknowledged."""

from __future__ import annotations

import random
import resource
import signal
import sys
from pathlib import Path

from services.knowledge import bases, items
from services.knowledge.adapters.store import Store, Tables
from services.knowledge.changes import Moment
from shared import knowledge_messages as kb
from shared.errors import KxError
from shared.knowledge_messages import Caller, ItemRow

ME = Caller()


def tell(*words: object) -> None:
    """Say a line at once."""
    sys.stdout.write(" ".join(map(str, words)) + "\n")
    sys.stdout.flush()


class Writer:
    """Edits, publishes, archives and destroys in random order."""

    def __init__(self, path: Path, seed: int) -> None:
        self._store = Store(path)
        self._random = random.Random(seed)
        self._count = 0
        self._live: list[str] = []
        self._base = f"base{seed}"

    def run(self) -> None:
        """Write for ever."""
        asked = kb.CreateBase(caller=ME, name=self._base)
        self._store.write(lambda tables: bases.create(tables, asked, self._moment()))
        while True:
            chance = self._random.random()
            if not self._live or chance < 0.2:
                self._create()
            elif chance < 0.75:
                self._edit()
            elif chance < 0.97:
                self._move()
            else:
                self._destroy()

    def _create(self) -> None:
        asked = kb.CreateItem(caller=ME, base=self._base, title="T", publish=self._random.random() < 0.5)
        row = self._write(lambda tables: items.create(tables, asked, self._text(), self._moment()).reply.item)
        self._live.append(row.id)

    def _edit(self) -> None:
        asked = kb.EditItem(caller=ME, item=self._random.choice(self._live))
        self._write(lambda tables: items.edit(tables, asked, self._text(), self._moment()).reply.item)

    def _move(self) -> None:
        move: kb.ItemMove = self._random.choice(("publish", "archive", "restore", "restore", "publish"))
        asked = kb.MoveItem(caller=ME, item=self._random.choice(self._live), move=move)
        try:
            self._write(lambda tables: items.move(tables, asked, self._moment()).reply.item)
        except KxError as error:
            if error.code.value != "KX_BAD_REQUEST":  # what is archived is not published
                raise

    def _destroy(self) -> None:
        item = self._random.choice(self._live)
        asked = kb.DeleteItem(caller=ME, item=item, confirm=item)

        def work(tables: Tables) -> None:
            items.delete(tables, asked, self._moment())
            self._store.want_erasure()

        self._live.remove(item)
        tell("destroying", item)
        self._store.write(work)
        tell("destroyed", item)
        self._store.erase()

    def _write(self, work) -> ItemRow:  # type: ignore[no-untyped-def]  # a lambda of tables
        row: ItemRow = self._store.write(work)
        tell("written", row.id, row.current_revision_id, row.number, row.status)
        return row

    def _text(self) -> bytes:
        return self._random.randbytes(self._random.choice((20, 500, 5_000, 60_000))).hex().encode()

    def _moment(self) -> Moment:
        self._count += 1
        return Moment(ME, f"2026-11-30T10:00:00.{self._count:06}Z")


def main() -> None:
    """Write into the database; arguments: path, seed, most bytes of a file (0: no bound)."""
    path, seed, most = Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3])
    if most:
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (most, resource.RLIM_INFINITY))
    try:
        Writer(path, seed).run()
    except KxError as error:
        tell("refused", error.code.value)


if __name__ == "__main__":
    main()
