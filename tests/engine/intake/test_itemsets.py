"""Columns of sets: how cells are read, what is counted, and which items of a large set count in a histogram."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import dpengine as dp
from dpengine.core.errors import AllowanceError
from dpengine.declared.conditions import EVERYONE, AnyOf, Has, OneOf, Predicate, Row, read_predicate
from dpengine.declared.dialect import Dialect
from dpengine.declared.schema import Category, ItemSet, Number, Schema
from dpengine.declared.unit import Unit
from dpengine.intake.bring_in import cut_sets
from dpengine.intake.encode import encode
from dpengine.intake.load import load
from dpengine.intake.rows_per_person import keep_rows
from dpengine.statistics.counts import HitCounts, ItemCounts, RowCount, cut
from dpengine.statistics.engines import every_row
from dpengine.statistics.engines.duck import DuckEngine
from dpengine.statistics.need import Need
from dpengine.workspace import Workspace

ENGINE = DuckEngine()
FILMS = ItemSet(["Alien", "Heat", "Ran", "M", "Tenet"], at_most=2)
SCHEMA = Schema({"age": Number(0, 9), "films": FILMS, "city": Category(["A", "B"], unknown="B", missing="B")})
WHO = Unit.column("id", at_most=1)

items = st.sampled_from(["alien", "Alien ", "HEAT", "Ran", "M", "Tenet", "", "unknown"])
cells = st.lists(items, max_size=7).map("|".join)
line = st.tuples(st.sampled_from("uvw"), st.integers(0, 9), cells, st.sampled_from("AB"))
lines = st.lists(line, min_size=1, max_size=12)
has = st.builds(Has, st.just("films"), st.lists(st.integers(0, 4), max_size=3).map(tuple), st.booleans())
other = st.builds(OneOf, st.just("city"), st.sampled_from([(0,), (1,), (0, 1)]))
where = st.lists(has | other | st.builds(AnyOf, st.lists(has | other, max_size=2).map(tuple)), max_size=2)
conditions = where.map(lambda parts: Predicate(tuple(parts)))


def write(folder: Path, rows: list[tuple[Any, ...]]) -> Path:
    path = folder / "table.csv"
    path.write_text("id,age,films,city\n" + "".join(",".join(map(str, row)) + "\n" for row in rows), encoding="utf-8")
    return path


def prepare(folder: Path, rows: list[tuple[Any, ...]], unit: Unit, secret: bytes = b"k" * 32) -> Path:
    raw, coded, kept = folder / "raw.parquet", folder / "coded.parquet", folder / "kept.parquet"
    loaded = load(write(folder, rows), Dialect(), raw, secret)
    if unit.id_column is None:
        encode(raw, SCHEMA, Dialect(), coded)
        cut_sets(coded, SCHEMA, secret, several=False)
        return coded
    keep_rows(raw, loaded.columns, unit, secret, kept)
    encode(kept, SCHEMA, Dialect(), coded, loaded.columns)
    keep_rows(raw, loaded.columns, unit, secret, kept, every=True)
    encode(kept, SCHEMA, Dialect(), every_row(coded), loaded.columns)
    cut_sets(every_row(coded), SCHEMA, secret, several=True)
    return coded


def rows_of(coded: Path) -> list[Row]:
    """The coded rows by name, as the needs' own meaning takes them."""
    names = {f"c{place}": name for place, name in enumerate(SCHEMA.columns)} | {"person": "person", "c1k": cut("films")}
    return [
        {names[key]: tuple(value) if isinstance(value, list) else value for key, value in row.items() if key in names}
        for row in pq.read_table(coded).to_pylist()
    ]


@settings(max_examples=12, deadline=None)
@given(lines, conditions)
def test_the_engine_says_what_is_meant_where_a_row_is_a_person(rows: list[Any], where: Predicate) -> None:
    with tempfile.TemporaryDirectory() as folder:
        coded = prepare(Path(folder), rows, Unit.rows())
        read = rows_of(coded)
        assert sorted(row["films"] for row in read) == sorted(tuple(FILMS.codes(row[2])) for row in rows)
        hits = [HitCounts(where, None, 1)] if where.clauses else []
        counts = [ItemCounts("films", 5, where, cut=few) for few in (False, True)]
        asked: list[Need] = [RowCount(where), *counts, *hits]
        for need in asked:
            assert ENGINE.read(need, coded, SCHEMA) == need.of(read)
        for row in read:
            assert set(row[cut("films")]) <= set(row["films"])
            assert len(row[cut("films")]) == min(2, len(row["films"]))


@settings(max_examples=5, deadline=None)
@given(lines, conditions)
def test_a_persons_set_is_the_union_over_all_rows(rows: list[Any], where: Predicate) -> None:
    with tempfile.TemporaryDirectory() as folder:
        coded = prepare(Path(folder), rows, WHO)
        every = rows_of(every_row(coded))
        assert len(every) == len(rows) and len(rows_of(coded)) == len({row[0] for row in rows})
        for need in (ItemCounts("films", 5, where, True), ItemCounts("films", 5, where, True, cut=True)):
            assert ENGINE.read(need, coded, SCHEMA) == need.of(every)
        held = [{item for row in rows if row[0] == who for item in FILMS.codes(row[2])} for who in "uvw"]
        everyone = ItemCounts("films", 5, EVERYONE, True)
        assert ENGINE.read(everyone, coded, SCHEMA) == tuple(sum(item in own for own in held) for item in range(5))
        people = {row["person"] for row in every}
        cuts = [{item for row in every if row["person"] == one for item in row[cut("films")]} for one in people]
        wholes = [{item for row in every if row["person"] == one for item in row["films"]} for one in people]
        assert all(few <= own and len(few) == min(2, len(own)) for few, own in zip(cuts, wholes, strict=True))


def test_which_items_count_depends_on_the_persons_own_set_and_the_secret_alone(tmp_path: Path) -> None:
    mine = [("w", 1, "Alien|Heat", "A"), ("w", 2, "Ran|M|Heat", "B")]

    def counted(others: list[Any], unit: Unit, secret: bytes = b"k" * 32) -> list[Any]:
        with tempfile.TemporaryDirectory() as folder:
            coded = prepare(Path(folder), others + mine, unit, secret)
            read = rows_of(every_row(coded) if unit.id_column else coded)
            return sorted((row["age"], row[cut("films")]) for row in read if row["age"] in (1, 2))

    crowd = [(who, 5, films, "A") for who in ("a", "b", "z") for films in ("Tenet|M|Ran", "Alien", "")]
    for unit in (WHO, Unit.rows()):
        assert counted([], unit) == counted(crowd, unit) == counted(crowd[:3], unit)
    assert len({str(counted([], WHO, bytes([key]) * 32)) for key in range(6)}) > 1


@pytest.mark.parametrize(
    ("cell", "held"),
    [("", []), ("Heat", [1]), (" heat | ALIEN|heat", [0, 1]), ("none|of|these", []), ("||Ran|", [2]), ("Heat;Ran", [])],
)
def test_a_cell_is_a_set(cell: str, held: list[int]) -> None:
    assert FILMS.codes(cell) == held


def test_one_item_in_a_cell() -> None:
    whole = ItemSet(["a|b", "c"], separator=None)
    assert whole.codes("A|B") == [0] and whole.codes("a") == []


WRONG = [
    ((["a"],), "items.many"),
    (([],), "items.many"),
    (([str(place) for place in range(100_001)],), "items.many"),
    ((["a", " "],), "items.blank"),
    ((["a", "A "],), "category.twice"),
    ((["a", "b" * 201],), "category.long"),
    ((["a", "b|c"],), "items.inside"),
    ((["a", "b"], ""), "items.separator"),
    ((["a", "b"], 3), "items.separator"),
    ((["a", "b"], "|", 0), "items.at_most"),
    ((["a", "b"], "|", 3), "items.at_most"),
    ((["a", "b"], "|", True), "items.at_most"),
    (("ab",), "schema.unreadable"),
]


@pytest.mark.parametrize(("given", "code"), WRONG, ids=[f"{place}-{one[1]}" for place, one in enumerate(WRONG)])
def test_what_cannot_be_declared_is_said_in_one_sentence(given: Any, code: str) -> None:
    with pytest.raises(AllowanceError) as refused:
        ItemSet(*given)
    assert refused.value.code == code and str(refused.value).endswith(".") and "{" not in str(refused.value)


def test_a_schema_with_sets_reads_back() -> None:
    assert Schema.from_json(SCHEMA.as_json()) == SCHEMA
    plain = Schema({"s": ItemSet(["a", "b"], separator=None)})
    assert Schema.from_json(plain.as_json()) == plain
    assert SCHEMA.of_kind(ItemSet) == ["films"] and SCHEMA.of_kind(Category, ItemSet) == ["films", "city"]
    with pytest.raises(AllowanceError):
        Schema.from_json({"columns": [["s", {"kind": "items", "values": ["a", "b"], "size": 3}]]})


def test_conditions_on_sets() -> None:
    read = read_predicate([["films", "has", "heat"], ["films", "has none of", ["M", "ran"]]], SCHEMA)
    assert read.as_json() == [["films", "has", ["Heat"]], ["films", "has none of", ["Ran", "M"]]]
    assert read_predicate(read.as_json(), SCHEMA) == read
    assert [read.holds({"films": held}) for held in ((1,), (0, 1), (1, 2), ())] == [True, True, False, False]
    for wrong, code in (
        (["films", "in", ["Heat"]], "predicate.op"),
        (["films", "has", []], "predicate.empty"),
        (["films", "has", ["Jaws"]], "predicate.value"),
        (["films", "=", 1], "predicate.op"),
    ):
        with pytest.raises(AllowanceError) as refused:
            read_predicate([wrong], SCHEMA)
        assert refused.value.code == code
    long = Schema({"s": ItemSet([f"v{place}" for place in range(40)])})
    with pytest.raises(AllowanceError, match="at most 30"):
        read_predicate([["s", "has", [f"v{place}" for place in range(31)]]], long)


@pytest.fixture
def workspace(tmp_path: Path) -> Iterator[Workspace]:
    one = Workspace(tmp_path / "var")
    yield one
    one.close()


@pytest.mark.parametrize("unit", [Unit.rows(), WHO], ids=["rows", "id"])
def test_questions_about_sets_from_a_file(workspace: Workspace, tmp_path: Path, unit: Unit) -> None:
    people = [(place, place % 10, "Heat|Ran|M" if place % 4 else "Ran", "AB"[place % 2]) for place in range(400)]
    long = [(who, age, film, city) for who, age, films, city in people for film in films.split("|")]
    table = workspace.add_table(
        "liked",
        write(tmp_path, people if unit == Unit.rows() else long),
        schema=SCHEMA,
        unit=unit,
        budget=dp.Budget("100", "1e-6"),
    )
    assert table.facts.people == 400
    assert table.ask(table.query("top_item", column="films", epsilon="5")).value == "Ran"
    three = table.query("top_item", column="films", how_many=3, epsilon="9")
    assert set(table.ask(three).value) == {"Heat", "Ran", "M"}
    odd = table.query("top_item", column="films", epsilon="5", where=[["city", "in", ["A"]]])
    assert table.ask(odd).value == "Ran"
    bars = table.ask(table.query("histogram", column="films", epsilon="40")).value
    assert list(bars) == list(FILMS.values) and abs(sum(bars.values()) - 700) < 20  # 300 × 2 and 100 × 1
    has_heat = table.query("count", people=True, where=[["films", "has", ["Heat"]]], epsilon="20")
    told = table.ask(has_heat)
    assert "films has Heat" in told.sentence
    if unit == Unit.rows():
        assert abs(told.value - 300) < 10


def test_a_histogram_needs_the_declared_size(workspace: Workspace, tmp_path: Path) -> None:
    schema = Schema(SCHEMA.columns | {"films": ItemSet(FILMS.values)})
    table = workspace.add_table(
        "liked", write(tmp_path, [(1, 2, "Heat", "A")]), schema=schema, unit=Unit.rows(), budget=dp.Budget("1", "1e-6")
    )
    for key, parameters, code in (
        ("histogram", {"column": "films"}, "items.size_needed"),
        ("mean", {"column": "films"}, "column.wrong_kind"),
        ("median", {"column": "films"}, "column.wrong_kind"),
        ("sum", {"column": "films"}, "column.wrong_kind"),
        ("crosstab", {"columns": ["films", "city"]}, "column.wrong_kind"),
        ("mean", {"column": "age", "by": "films"}, "column.wrong_kind"),
    ):
        with pytest.raises(AllowanceError) as refused:
            table.query(key, epsilon="1", **parameters)
        assert refused.value.code == code
    assert table.query("top_item", column="films", epsilon="1").sensitivity().bound == 1


@pytest.mark.long
def test_the_longest_list_codes_and_counts(tmp_path: Path) -> None:
    size = 100_000
    column = ItemSet([f"item {place}" for place in range(size)])
    schema = Schema({"age": Number(0, 9), "films": column})
    held = ["|".join(f"item {(n * k) % size}" for k in (1, 7, 31)) for n in range(3_000)]
    path = write(tmp_path, [(n, n % 10, films, "A") for n, films in enumerate(held)])
    load(path, Dialect(), tmp_path / "raw.parquet", b"k" * 32)
    encode(tmp_path / "raw.parquet", schema, Dialect(), tmp_path / "coded.parquet")
    found = ENGINE.read(ItemCounts("films", size), tmp_path / "coded.parquet", schema)
    meant = [0] * size
    for n in range(3_000):
        for item in {(n * k) % size for k in (1, 7, 31)}:
            meant[item] += 1
    assert found == tuple(meant)
