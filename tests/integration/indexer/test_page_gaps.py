"""Why erasure writes the file anew: pages that were split keep copies that no deletion clears."""

import random
from pathlib import Path

import apsw
import pytest

from services.indexer.adapters.upkeep import Upkeep
from shared.identity import InstanceId
from shared.index_format import Meta, epoch_ddl
from shared.index_open import open_writer
from tests.support.residue import found_in

INSTANCE = InstanceId("0123456789abcdef")


def remove(connection: apsw.Connection, rows: list[int]) -> None:
    connection.executemany("DELETE FROM chunk_fts_e1 WHERE rowid = ?", [(row,) for row in rows])
    connection.executemany("DELETE FROM chunk_e1 WHERE id = ?", [(row,) for row in rows])


def live_through(connection: apsw.Connection, seed: int) -> list[str]:
    """Write and delete in a random order, in the end every text with a token; give the tokens."""
    chosen = random.Random(seed)
    words = [f"{chosen.randrange(16**6):06x}" for _ in range(2_000)]
    kept: list[list[int]] = []
    doomed: dict[str, list[int]] = {}
    number = 0
    for _ in range(40):
        connection.execute("BEGIN")
        for _ in range(30):
            token = f"{chosen.randrange(16**32):032x}" if chosen.random() < 0.05 else ""
            rows = []
            for _ in range(chosen.randint(1, 8)):
                number += 1
                text = " ".join(chosen.choices(words, k=chosen.randint(5, 200))) + " " + token
                values = (number, number, token, "", text, chosen.randbytes(16))
                connection.execute("INSERT INTO chunk_e1 VALUES(?, ?, 0, 1, 2, ?, ?, ?, ?, 5)", values)
                postings = (number, text, token, "")
                connection.execute("INSERT INTO chunk_fts_e1(rowid, body, names, path) VALUES(?, ?, ?, ?)", postings)
                rows.append(number)
            if token:
                doomed[token] = rows
            else:
                kept.append(rows)
        chosen.shuffle(kept)
        for rows in [kept.pop() for _ in range(min(15, len(kept) // 3))]:
            remove(connection, rows)
        connection.execute("COMMIT")
    with connection:
        for rows in doomed.values():
            remove(connection, rows)
    return list(doomed)


@pytest.mark.parametrize("seed", [0, 4])
def test_nothing_is_left_in_the_gaps_of_pages(tmp_path: Path, seed: int):
    """R-IDX-13: these histories leave a token where deletion, merge and incremental vacuum do not reach."""
    path = tmp_path / "index.sqlite"
    connection = open_writer(path, INSTANCE, project="demo", root=str(tmp_path))
    connection.execute(epoch_ddl(1)).fetchall()
    connection.execute("INSERT INTO epoch VALUES(1, 1, 1, 1)").fetchall()
    connection.execute("UPDATE meta SET value = 1 WHERE key = ?", (str(Meta.EPOCH),)).fetchall()
    tokens = live_through(connection, seed)
    assert found_in(path, *tokens) == tokens
    upkeep = Upkeep(connection, path)
    upkeep.want_erasure()
    assert all(upkeep.erase())
    assert found_in(path, *tokens) == []
    connection.close()
