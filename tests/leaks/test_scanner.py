"""The scan can find what it looks for: in every encoding, and at every exit a leak that was planted there."""

from __future__ import annotations

import base64
import gzip
import hashlib
import logging
import os
import struct
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from leaks import exits, stage, walk
from leaks.canaries import Canary, Scan, day, number, text

import dpengine as dp
from dpengine.statistics.counts import RowCount
from dpengine.statistics.engines import statements
from ui.parts import exports

WORD, DIGITS, DAY = Canary("word", text()), Canary("digits", str(number())), Canary("day", day())
FORMS: dict[str, Callable[[], tuple[Canary, bytes]]] = {
    "utf-8": lambda: (WORD, WORD.core.encode()),
    "capitals": lambda: (WORD, WORD.core.upper().encode()),
    "utf-16": lambda: (WORD, WORD.core.encode("utf-16")),
    "utf-16-be": lambda: (WORD, b"x" + WORD.core.encode("utf-16-be")),
    "hex": lambda: (WORD, WORD.core.encode().hex().encode()),
    "base64": lambda: (WORD, base64.b64encode(WORD.core.encode())),
    "base64, one later": lambda: (WORD, base64.b64encode(b"a" + WORD.core.encode() + b"zz")),
    "base64, two later": lambda: (WORD, base64.b64encode(b"ab" + WORD.core.encode() + b"z")),
    "a plain hash": lambda: (WORD, hashlib.sha256(WORD.core.encode()).hexdigest().encode()),
    "a short plain hash": lambda: (WORD, hashlib.md5(WORD.core.encode(), usedforsecurity=False).digest()),
    "digits": lambda: (DIGITS, f"x{DIGITS.core}x".encode()),
    "digits with commas": lambda: (DIGITS, f"{int(DIGITS.core):,}".encode()),
    "a float as text": lambda: (DIGITS, repr(float(DIGITS.core)).encode()),
    "an integer in memory": lambda: (DIGITS, b"\1\2\3" + struct.pack("<q", int(DIGITS.core))),
    "a float in memory": lambda: (DIGITS, b"\1" + struct.pack("<d", float(DIGITS.core)) + b"\2"),
    "a float in a file of another order": lambda: (DIGITS, struct.pack(">d", float(DIGITS.core))),
    "a day": lambda: (DAY, f"born {DAY.core}!".encode()),
    "a day as others write it": lambda: (DAY, ".".join(reversed(DAY.core.split("-"))).encode()),
}


@pytest.mark.parametrize("form", sorted(FORMS))
def test_a_canary_is_found_in_every_form(form: str) -> None:
    canary, data = FORMS[form]()
    scan = Scan([WORD, DIGITS, DAY])
    assert scan.look("planted", b"before " + data + b" after")
    assert {name.split(" at ")[0] for name in scan.exits["planted"].found} == {canary.name}


def test_nothing_is_found_where_nothing_is() -> None:
    """No false alarm in a million bytes of each kind: noise, other canaries, the words of this program."""
    scan = Scan(stage.canaries())
    scan.look("noise", os.urandom(10**6))
    scan.look("others", repr([one.needles for _ in range(20) for one in stage.canaries()]))
    for path in sorted(walk.ROOT.glob("dpengine/**/*.py")):
        scan.look("source", path.read_bytes())
    assert not scan.findings


def test_every_kind_of_cell_reaches_the_table(tmp_path: Path) -> None:
    """Else the search would be for something that never was there."""
    held = stage.build(tmp_path / "home", tmp_path)
    scan = Scan(held.canaries)
    scan.look("the file", (tmp_path / "0.csv").read_bytes())
    assert len(scan.exits["the file"].found) == len(held.canaries)


Plant = Callable[[Canary, Path, Any], None]


def _page(canary: Canary, home: Path, scan: Scan) -> None:
    from streamlit.testing.v1 import AppTest

    script = f"import streamlit as st\nst.expander('more').caption('{canary.core}')"
    exits.page(scan, AppTest.from_string(script).run(), "")


def _chart(canary: Canary, home: Path, scan: Scan) -> None:
    from streamlit.testing.v1 import AppTest

    script = f"import streamlit as st\nst.graphviz_chart('digraph {{a -> {canary.core}}}')"
    exits.page(scan, AppTest.from_string(script).run(), "")


def _address(canary: Canary, home: Path, scan: Scan) -> None:
    from streamlit.testing.v1 import AppTest

    script = f"import streamlit as st\nst.query_params['x'] = '{canary.core}'"
    exits.page(scan, AppTest.from_string(script).run(), "")


def _file(name: str) -> Plant:
    def plant(canary: Canary, home: Path, scan: Scan) -> None:
        path = home / name.format(canary.core)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("" if canary.core in path.name else canary.core)
        exits.files(scan, home)

    return plant


def _ledger(canary: Canary, home: Path, scan: Scan) -> None:
    workspace = dp.open_workspace(home)
    table = workspace.table("clinic")
    table.ask(table.suggestions()[0], f"request {canary.core}")
    exits.files(scan, home)


def _temporary(canary: Canary, home: Path, scan: Scan) -> None:
    (home / "spool").write_text(canary.core)
    exits.folder(scan, home, "temporary files")


def _deleted(canary: Canary, home: Path, scan: Scan) -> None:
    with tempfile.TemporaryFile(dir=home) as file:
        file.write(canary.core.encode())
        file.flush()
        for name, data in exits.descriptors(os.getpid()):
            scan.look("files without a name", data, name)


def _cache(canary: Canary, home: Path, scan: Scan) -> None:
    statements.compiled.cache_clear()
    need = RowCount(duck_predicate(canary))
    statements.compiled(need, (("x", False),), "duckdb")
    exits.caches(scan)
    statements.compiled.cache_clear()


def duck_predicate(canary: Canary) -> Any:
    from dpengine.declared.conditions import Predicate, Range

    return Predicate((Range("x", 0, int(canary.core)),))


def _data_cache(canary: Canary, home: Path, scan: Scan) -> None:
    from streamlit.testing.v1 import AppTest

    script = f"import streamlit as st\n@st.cache_data\ndef f(): return '{canary.core}'\nf()"
    AppTest.from_string(script).run()
    exits.caches(scan)


def _error(canary: Canary, home: Path, scan: Scan) -> None:
    try:
        int(canary.core + "x")
    except ValueError as fault:
        exits.error(scan, fault, "planted")


def _download(canary: Canary, home: Path, scan: Scan) -> None:
    scan.look("download", exports.as_csv(["a"], [[f"={canary.core}"]]))


PLANTS: dict[str, tuple[Canary, Plant]] = {
    "page": (WORD, _page),
    "picture": (DIGITS, _chart),
    "address": (WORD, _address),
    "file name": (WORD, _file("tables/0011223344556677/{}.tmp")),
    "file beside the rows": (WORD, _file("tables/0011223344556677/kept.parquet")),
    "file in tmp": (WORD, _file("tmp/upload")),
    "ledger": (WORD, _ledger),
    "temporary file": (WORD, _temporary),
    "temporary file without a name": (WORD, _deleted),
    "cache of the engine": (DIGITS, _cache),
    "cache of the app": (WORD, _data_cache),
    "error": (WORD, _error),
    "download": (WORD, _download),
}


@pytest.mark.every(3)
@pytest.mark.parametrize("exit", sorted(PLANTS))
def test_a_leak_planted_at_an_exit_is_found(exit: str, tmp_path: Path) -> None:
    canary, plant = PLANTS[exit]
    scan = Scan([canary])
    plant(canary, tmp_path, scan)
    assert scan.findings


def test_a_leak_in_the_log_is_found(caplog: Any, capfd: Any) -> None:
    scan = Scan([WORD])
    caplog.set_level(logging.DEBUG)
    logging.getLogger("dpengine.asking.jobs").debug("read %s", WORD.core)
    print(WORD.core)
    assert scan.look("log", caplog.text) and scan.look("printed", capfd.readouterr().out + " ")


def test_what_is_packed_is_not_searched() -> None:
    """The known limit: packed bytes must be unpacked by whoever hands them over. What a browser gets is."""
    assert not Scan([WORD]).look("packed", gzip.compress(WORD.core.encode() * 3))
