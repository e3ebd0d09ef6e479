"""Two tables with the same public facts show the same, byte for byte, until an answer is paid for; then only the answer
and what is hashed from it differ.

The two differ in more than one person: in every plain row, in every odd cell, and where membership is secret in a row
more. What is the same for those is the same for neighbours. Randomness that is no draw (names of files, request ids)
and the clock are replaced by counters, previews by seeded coins; else no two runs would be the same.
"""

from __future__ import annotations

import hashlib
import itertools
import json
import random
from collections.abc import Callable, Sequence
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from leaks import exits, refusals, stage, tally, walk
from leaks.refusal_bench import Bench
from recorded.play import own_names

import dpengine as dp
from dpengine.asking.exports import ROW_COLUMNS
from dpengine.core.errors import AllowanceError
from dpengine.noise.coins import Coins

SIDES = ("one", "two")  # of one length: the workspace's path is on the Data page
# Pages that draw on made-up tables of their own, anew each time.
OWN_TABLES = ("lessons", "audit", "thesis")


class SameCoins(Coins):
    """The same draws for both, whatever they are: nothing here is about their law."""

    def __init__(self, seed: int) -> None:
        self._random = random.Random(seed)

    def bits(self, count: int) -> int:
        return self._random.getrandbits(count)

    def laplace(self, values: Sequence[int], scale: Fraction) -> list[int]:
        return [int(value) + self._random.randrange(-9, 10) for value in values]

    def gaussian(self, values: Sequence[int], sigma_squared: Fraction) -> list[int]:
        return self.laplace(values, sigma_squared)


@pytest.fixture(name="still")
def made_still(monkeypatch: pytest.MonkeyPatch) -> Callable[[], None]:
    """Begin the counters anew, for each of the two."""
    monkeypatch.setattr("ui.shell.state.visitor", lambda: "local")
    for place in (
        "dpengine.planning.suggestions.SystemCoins",
        "dpengine.planning.whatif.SystemCoins",
        "demos.lessons.trust.SystemCoins",
        "demos.lessons.channel.SystemCoins",
    ):
        monkeypatch.setattr(place, lambda: SameCoins(1))
    for place in ("dpengine.ledger.ledger._now", "dpengine.workspace._now"):
        monkeypatch.setattr(place, lambda: "2026-01-02T03:04:05+00:00")

    def again() -> None:
        import streamlit as st

        st.cache_data.clear()
        names = itertools.count(1)
        monkeypatch.setattr("secrets.token_hex", own_names(lambda size: f"{next(names):0{2 * size}x}"))

    return again


def built(home: Path, source: Path, name: str, side: str) -> stage.Stage:
    """One of the two: other canaries, other plain people, and a row more where that is secret."""
    for place in (home, source):
        place.mkdir(parents=True)
    terms, found = stage.TERMS[name], stage.canaries()
    more = int(side == "two" and terms["relation"] == "add_remove")
    path = stage.written(source / "people.csv", stage.rows(found, stage.PEOPLE + more, seed=SIDES.index(side)))
    workspace = dp.open_workspace(home)
    table = workspace.add_table(name, path, schema=stage.schema(), budget=dp.Budget("50", "1e-5"), **terms)
    return stage.Stage(workspace, [table], found, source)


def shown(table: dp.Table, pages: int | None, **told: str) -> dict[str, list[bytes]]:
    """All that a browser is sent, page by page, and what the engine says for free."""
    seen: dict[str, list[bytes]] = {}
    for place, (name, app) in enumerate(walk.pages(table, pages, **told)):
        if name in OWN_TABLES:
            continue
        home = str(table._workspace.folder).encode()
        for proto in exits.protos(app):
            if type(proto).__name__ == "DownloadButton":
                proto.ClearField("deferred_file_id")  # a name that Streamlit draws anew each time
        sent = [proto.SerializeToString(deterministic=True).replace(home, b"") for proto in exits.protos(app)]
        seen[f"{place} {name}"] = [*sent, repr(dict(app.query_params)).encode()]
    free = [table.facts, table.meter(), table.suggestions(), table.more_like_last(), table.sharing()]
    free += [table.preview(query) for query in table.suggestions()]
    free += [table.looks(query) for query in table.suggestions()]
    seen["free"] = [repr(one).encode() for one in free]
    return seen


def names_of(home: Path) -> list[str]:
    return sorted(str(path.relative_to(home)) for path in home.rglob("*") if path.is_file())


def differing(one: dict[str, list[bytes]], other: dict[str, list[bytes]]) -> list[str]:
    assert one.keys() == other.keys()
    found = []
    for place, sent in one.items():
        if len(sent) != len(other[place]):
            found.append(f"{place}: {len(sent)} pieces and {len(other[place])}")
        found += [f"{place}: {a[:200]!r} {b[:200]!r}" for a, b in zip(sent, other[place], strict=False) if a != b]
    return found


def compared(
    name: str, still: Callable[[], None], folder: Path, monkeypatch: pytest.MonkeyPatch, pages: int | None
) -> tuple[int, int]:
    """How many pieces were the same before a spend, and after a question to which both tables say the same."""
    before, after, files, charged, exports = {}, {}, {}, {}, {}
    for side in SIDES:
        still()
        home = folder / side / "home"
        monkeypatch.setenv("ALLOWANCE_HOME", str(home))
        held = built(home, folder / side / "source", name, side)
        (table,) = held.tables
        before[side] = shown(table, pages, answer="-", session="-")
        files[side] = names_of(home)
        held.workspace.coins = SameCoins(2)
        same = table.ask(table.query("count", where=[["far", "<", 0]], epsilon="0.5"), "same")  # nobody, in both
        after[side] = shown(table, pages, answer="same", session="-")
        exports[side] = [text for _, text in walk.downloads(table, held.workspace, [same])]
        table.ask(table.query("mean", column="pay", epsilon="0.5"), "different")
        rows = [dict(zip(ROW_COLUMNS, row, strict=True)) for row in table.ledger_rows()]
        charged[side] = rows, [json.loads(row["body"]) for row in held.workspace.ledger.export_rows()]
        files[side] = [*files[side], *names_of(home)]
        before[side]["after"] = [repr((table.meter(), table.suggestions())).encode()]
    assert not differing(before["one"], before["two"])
    assert not differing(after["one"], after["two"])
    assert exports["one"] == exports["two"]
    assert files["one"] == files["two"]
    one, other = (charged[side][1] for side in SIDES)
    assert [place for place, (a, b) in enumerate(zip(one, other, strict=True)) if a != b] == [len(one) - 1]
    assert one[-1].keys() == other[-1].keys()
    return sum(map(len, before["one"].values())), sum(map(len, after["one"].values()))


@pytest.mark.long
def test_two_tables_show_the_same(still: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    compared("canary secret", still, tmp_path, monkeypatch, 2)


@pytest.mark.long
@pytest.mark.parametrize("name", sorted(stage.TERMS))
def test_two_tables_show_the_same_on_every_page(
    name: str, still: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before, after = compared(name, still, tmp_path, monkeypatch, None)
    tally.add([[f"two tables, {name}: the same before a spend, after it", f"{before}, {after}", "", "", 0]])


@pytest.mark.long
def test_a_page_that_looks_is_caught(still: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Power: a word on the meter that depends on the rows and tells no cell of them."""

    def peeking(table: dp.Table) -> str:
        rows = table._workspace.coded(table._record).with_name("raw.parquet").read_bytes()
        return hashlib.sha256(rows).hexdigest()[:12]

    monkeypatch.setattr("ui.shell.frame.protects", peeking)
    with pytest.raises(AssertionError, match=r"class=.meter"):
        compared("canary secret", still, tmp_path, monkeypatch, 1)


@pytest.mark.long
def test_every_refusal_is_the_same_for_two_tables(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The same fault in two tables of different people, canaries and all: the same sentence."""
    told: dict[str, dict[str, str]] = {}
    for side in SIDES:
        folders = [tmp_path / side / part for part in ("home", "source", "files")]
        for folder in folders:
            folder.mkdir(parents=True)
        bench = Bench(stage.build(folders[0], folders[1]), folders[2])
        for code, cause in refusals.CAUSES.items():
            with pytest.raises(AllowanceError) as caught:
                cause(bench)
            told.setdefault(side, {})[code] = str(caught.value).replace(str(tmp_path / side), "…")
    assert told["one"] == told["two"]
    tally.add([["two tables: refusals with the same sentence", len(told["one"]), "", "", 0]])
