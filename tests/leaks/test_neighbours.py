"""Two tables with the same public facts show the same, byte for byte, until an answer is paid for; then only the answer
and what is hashed from it differ.

On pages the two differ in more than one person: in every plain row, in every odd cell, and where membership is secret
in a row more. What is the same for those is the same for neighbours. Where tables come in, one person differs: by cells
that no declaration knows, by ids written oddly, by rows without end. Randomness that is no draw (names of files,
request ids) and the clock are replaced by counters, previews by seeded coins; else no two runs would be the same.
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

import pandas as pd
import pyreadstat
import pytest
from leaks import exits, refusals, stage, tally, walk
from leaks.refusal_bench import Bench
from recorded.play import own_names

import dpengine as dp
from dpengine.asking.exports import ROW_COLUMNS
from dpengine.core.errors import AllowanceError
from dpengine.noise.coins import Coins
from dpengine.storage.arrivals import Arriving

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
    monkeypatch.setattr("ui.shell.speed._import_for_questions", lambda prepare: None)  # it would bring a sample
    for place in (
        "dpengine.planning.whatif.SystemCoins",
        "dpengine.workspace.SystemCoins",  # made-up rows on Publish
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


# --- where tables come in

PERSON = {  # the first one is plain; where rows are people, each has one
    "plain": [["p0", "77", "b", "1995-05-05", "z", "q"]],
    "odd": [["p0", "1e400", "ZZ" * 100, "99999-13-45", "x|" * 3000, "\u202e<b>\U0001f600"]],
    "quotes": [["p0", '"', "'", '""', "|", "a\u00a0b"]],
    "empty": [["p0", "", "", "", "", ""]],
    "many": [["p0", str(row), "a", "1995-05-05", "x", "n"] for row in range(300)],
    "ids": [[" p0 ", "5", "a", "1995-05-05", "x", "n"], ["p0\u00a0", "6", "b", "", "y", "n"]],
    "nobody": [],
}
CELLS = ["who", "pay", "home", "born", "likes", "note"]
OWN = {"pay": dp.Number(0, 10**6), "home": dp.Category(["a", "b"]), "born": dp.Date("1990-01-01", "2000-12-31")}
SUMMARIES = {
    "rows": dp.Summary("count", lower=0, upper=9),
    "mean": dp.Summary("mean", "pay"),
    "first": dp.Summary("first", "home", by="born"),
    "often": dp.Summary("frequent", "home"),
}


def cells_of(person: list[list[str]]) -> Any:
    others = [[f"p{at}", str(at), "ab"[at % 2], f"199{at % 10}-02-03", "x|y", "n"] for at in range(1, 30)]
    return pd.DataFrame(others + person, columns=CELLS)


def source_of(door: str, folder: Path, cells: Any) -> Any:
    """The same cells, as each door takes them."""
    paths = {name: folder / f"cells.{name}" for name in ("csv", "parquet", "xlsx", "sav")}
    if door == "sav":
        pyreadstat.write_sav(cells.map(lambda cell: cell[:200]), str(paths[door]))
    elif door != "frame":
        write = {"parquet": cells.to_parquet, "xlsx": cells.to_excel}.get(door, cells.to_csv)
        write(paths.get(door, paths["csv"]), index=False)
    if not door.startswith("joined"):
        return paths.get(door, cells)
    ages = folder / "ages.csv"
    known = cells["who"].drop_duplicates()
    pd.DataFrame({"id": known, "age": [str(len(who)) for who in known]}).to_csv(ages, index=False)
    return dp.Joined(paths["csv"], ages, ("who", "id"), everybody=door == "joined, all")


def come_in(door: str, relation: str, person: str, place: Path) -> dict[str, list[bytes]]:
    """What is said and kept while a table comes in, is summarised, declared anew, protected more and brought again."""
    folder, home = place / "source", place / "home"
    folder.mkdir(parents=True)
    source, told = source_of(door, folder, cells_of(PERSON[person])), list[str]()
    workspace, tables = dp.open_workspace(home), list[dp.Table]()
    terms: dict[str, Any] = {"relation": relation, "budget": dp.Budget("9", "1e-6"), "unit": dp.Unit.column("who", 3)}
    terms |= {"schema": dp.Schema(OWN | {"likes": dp.ItemSet(["x", "y", "z"], at_most=2)})}
    terms |= {"about_rows": 30} if relation == "add_remove" else {}
    for act in (
        lambda: workspace.add_table("own", source, **terms),
        lambda: workspace.one_row_a_person("own", "made", SUMMARIES),
        lambda: workspace.table("own").revise(dp.Schema({"pay": dp.Number(0, 9), "note": dp.Category(["n", "q"])})),
        lambda: workspace.table("own").protect(dp.Unit.column("who", 5)),
        lambda: workspace.add_table("again", source, **terms | {"unit": dp.Unit.column("who", 5)}),
    ):
        try:
            tables.append(act())
            told.append("done")
        except AllowanceError as refusal:
            told.append(f"{refusal.code}: {refusal}")
    free = [[table.facts, table.meter(), table.suggestions(), table.fits(), table.acts()] for table in tables]
    kept = [row["body"] for row in workspace.ledger.export_rows()]
    workspace.close()
    told = [text.replace(str(place), "") for text in told]
    return {"told": [repr([told, free, kept]).encode()], "files": ["\n".join(names_of(home)).encode()]}


def two_doors(door: str, relation: str, persons: Sequence[str], still: Callable[[], None], folder: Path) -> None:
    seen = {}
    for person in persons:
        still()
        seen[person] = come_in(door, relation, person, folder / person)
    plain = seen["plain"]
    assert plain["told"][0].count(b"done") >= 4, plain["told"]
    for person in persons:
        assert not differing(plain, seen[person]), person


def test_a_table_comes_in_the_same_whatever_one_person_holds(still: Any, tmp_path: Path) -> None:
    two_doors("joined", "add_remove", ["plain", "odd", "ids", "nobody"], still, tmp_path)


@pytest.mark.long
@pytest.mark.parametrize("relation", ["replace", "add_remove"])
@pytest.mark.parametrize("door", ["csv", "frame", "parquet", "xlsx", "sav", "joined", "joined, all"])
def test_through_every_door_it_comes_in_the_same(door: str, relation: str, still: Any, tmp_path: Path) -> None:
    """Under replace-one everybody is there: their number is public."""
    two_doors(door, relation, [one for one in PERSON if PERSON[one] or relation == "add_remove"], still, tmp_path)


def test_a_door_that_counts_is_caught(still: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Power: where membership is secret, the declared number of people becomes the true one."""
    declared = Arriving.record

    def counted(self: Arriving, folder: str, budget: str, about: int, loaded: Any, *more: Any) -> Any:
        return declared(self, folder, budget, loaded.rows, loaded, *more)

    monkeypatch.setattr(Arriving, "record", counted)
    with pytest.raises(AssertionError, match="nobody"):
        two_doors("csv", "add_remove", ["plain", "nobody"], still, tmp_path)


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
