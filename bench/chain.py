"""How long the check of the whole chain takes at a start, and a charge after it: `python -m bench.chain`.

Measured on two cores under other work (load 8): 100,000 rows of 1.2 KB, 4.2 s of the processor, in the background at a
start; the first charge after it 22 ms, the next 4 ms.
"""

from __future__ import annotations

import sys
import tempfile
import time
from contextlib import closing
from fractions import Fraction
from pathlib import Path

from dpengine.accountant.filter import Rule
from dpengine.accountant.loss import Pure
from dpengine.core.errors import AllowanceError
from dpengine.ledger.chain import hash_of
from dpengine.ledger.ledger import _INSERT, Ledger
from dpengine.ledger.sqlite_file import head_of

ROWS = 100_000


def charged(ledger: Ledger, request: str) -> float:
    began = time.perf_counter()
    ledger.reserve(
        budget="b",
        table="T",
        actor="bench",
        request=request,
        claim={"digest": "d", "sentence": "x" * 800},
        loss=Pure(Fraction(1, 1000)),
        worker="bench",
    )
    return time.perf_counter() - began


def fill(ledger: Ledger, rows: int) -> None:
    """Copies of one charge, well chained: what they say does not matter here."""
    with ledger._store.writing() as db:
        real = next(iter(db.query("SELECT * FROM entries WHERE seq = 2")))
        seq, prev = head_of(db)
        for number in range(seq + 1, rows + 1):
            row = {**real, "seq": number, "request": f"fill {number}", "prev": prev}
            row["hash"] = prev = hash_of(row)
            db.conn.execute(_INSERT, row)


def main(rows: int = ROWS) -> int:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "ledger.sqlite"
        with closing(Ledger(path)) as ledger:
            ledger.create_budget("b", Rule.make(Fraction(1), Fraction(1, 10**6)), "private", "bench", "b")
            charged(ledger, "first")
            fill(ledger, rows)
        with closing(Ledger(path)) as ledger:
            began, worked = time.perf_counter(), time.process_time()
            ledger._watch._check()
            took, work = time.perf_counter() - began, time.process_time() - worked
            print(f"whole chain of {ledger.head()[0]:,} rows: {took:.2f} s ({work:.2f} s of the processor)")
            first, second = charged(ledger, "a"), charged(ledger, "b")
            print(f"a charge after it: {first * 1000:.1f} ms, the next {second * 1000:.1f} ms")
            with ledger._store.writing() as db:
                db.conn.execute("DROP TRIGGER no_update")
                db.conn.execute("UPDATE entries SET actor = 'eve' WHERE seq = 3")
            try:
                ledger._watch._check()
            except AllowanceError:
                return 0
            print("An edited row was not noticed: this measured nothing.")
            return 1


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1]) if len(sys.argv) > 1 else ROWS))
