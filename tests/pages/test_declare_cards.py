"""Cards of every kind: what each means to the engine, and back; lists from files; what is refused, in one sentence."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import date
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

import dpengine as dp
from dpengine.core.errors import AllowanceError
from dpengine.declared.dialect import Dialect
from dpengine.declared.facts import Facts
from dpengine.declared.schema import MOST_LISTED, Category, Column
from dpengine.messages import known
from dpengine.workspace import Workspace
from ui.data import presets
from ui.data.columns import read_list, same_range
from ui.data.draft import KEPT, MOST_TYPED, Card, column_of

POINT, COMMA = Dialect(), Dialect(separator=";", decimal=",", thousands=".")
NUMBER = {"kind": "number", "lower": "0", "upper": "10", "step": "1"}
SPRING = {"kind": "date", "first": "2024-03-01", "last": "2024-05-31", "order": "dmy"}


def test_a_card_of_each_kind() -> None:
    assert column_of(Card(**SPRING), POINT) == dp.Date("2024-03-01", "2024-05-31", "dmy")
    items = Card("items", listed="tea, coffee, milk", separator="|", at_most=2)
    assert column_of(items, POINT) == dp.ItemSet(["tea", "coffee", "milk"], "|", 2)
    assert column_of(Card(**NUMBER, filled=True, stand_in="2,0"), POINT) == dp.Number(0, 10, missing=2)
    assert column_of(Card("list", brought=("a", "b"), public=True), POINT) == Category(["a", "b"])


@pytest.mark.parametrize(
    ("card", "code"),
    [
        (Card(**SPRING | {"first": "2024-06-01"}), "date.reversed"),
        (Card(**SPRING | {"first": "2024-05-31"}), "date.reversed"),
        (Card(**SPRING | {"first": ""}), "data.card.days_missing"),
        (Card(**SPRING | {"order": None}), "data.card.order_missing"),
        (Card(**NUMBER, filled=True), "number.unreadable"),
        (Card(**NUMBER, filled=True, stand_in="11"), "number.missing_outside"),
        (Card("items", listed="tea"), "items.many"),
        (Card("items", listed="tea\nTea"), "category.twice"),
        (Card("items", listed="tea;milk\ncoffee"), "items.inside"),
        (Card("items", listed="tea\nmilk", at_most=3), "items.at_most"),
        (Card("items", listed="tea = t\nmilk"), "data.card.items_spelled"),
        (Card("list", brought=("a", "b")), "data.list.not_public"),
        (Card("list", listed="\n".join(map(str, range(MOST_TYPED + 1)))), "data.list.long"),
    ],
)
def test_a_card_that_cannot_be_used(card: Card, code: str) -> None:
    with pytest.raises(AllowanceError) as refusal:
        column_of(card, POINT)
    assert refusal.value.code == code and known(code)


@pytest.mark.parametrize("dialect", [POINT, COMMA], ids=["point", "comma"])
@pytest.mark.parametrize(
    ("column", "kind"),
    [
        (dp.Number(0, 120), "number"),
        (dp.Number("-0.5", "12.5", "0.5", missing="0"), "number"),
        (dp.Date("1900-01-01", "2030-12-31", "mdy"), "date"),
        (dp.ItemSet(["a b", "c"], " / ", 2), "items"),
        (dp.ItemSet(["a", "b"], None), "items"),
        (column_of(Card("yes_no"), POINT), "yes_no"),
        (column_of(Card("yes_no", closed=True, goes_to="no"), POINT), "yes_no"),
        (Category(["x", "y, z"]), "list"),
        (Category(["a", "b"], unknown="b", missing="b"), "list"),
        (Category(["a", "b"], aliases={"1": "a", "2": "b", "eins": "a"}), "list"),
        (dp.yes_no(), "list"),
        (Category(["ženska", "moški"], spellings="sex-1"), "list"),
        (Category(["a", "b"], unknown="b", missing="b", spellings="missing-1"), "list"),
        (dp.Number(0, 250, measure="kg"), "number"),
        (Category([str(one) for one in range(MOST_TYPED + 1)]), "list"),
        (Category(["a = b", "c,"]), "list"),
        # What a card cannot say stays as it is.
        (Category(["a", "b"], unknown="elsewhere"), KEPT),
        (Category(["a", "b"], unknown="a"), KEPT),
        (dp.Number("0.001", "1.234", "0.001"), "either"),
    ],
)
def test_a_declared_column_comes_back_as_it_is(column: Column, kind: str, dialect: Dialect) -> None:
    card = Card.of(column, dialect)
    again = column_of(card, dialect)
    assert kind in (card.kind, "either")
    if isinstance(column, Category) and isinstance(again, Category):
        assert (again.labels, again.unknown, again.missing) == (column.labels, column.unknown, column.missing)
        assert dict(again.aliases) == dict(column.aliases) and again.spellings == column.spellings
    else:
        assert again == column


@pytest.mark.parametrize(
    ("lower", "upper"), [(0, 4096), (-64, 64), (0, 0.0009765625), (256, 4096), (-(2**40), 2**40), (0.5, 1)]
)
@pytest.mark.parametrize("dialect", [POINT, COMMA], ids=["point", "comma"])
def test_a_bought_range_makes_a_card(lower: float, upper: float, dialect: Dialect) -> None:
    card = Card()
    card.take_bounds(lower, upper)
    column = column_of(card, dialect)
    assert isinstance(column, dp.Number) and (float(column.lower), float(column.upper)) == (lower, upper)


def test_bought_values_make_a_list_whatever_they_hold() -> None:
    for values in (["mill", "hill"], ["a = b", "c"], ["x,", "y"], ["one, two; three", "b"], ["a b"] * 1 + ["c;"]):
        card = Card("list")
        card.take_values(values, "bought")
        column = column_of(card, POINT)
        assert isinstance(column, Category) and list(column.values) == values


@pytest.mark.parametrize("today", [date(2024, 2, 29), date(2025, 1, 31), date(2026, 12, 1)])
def test_usual_days_are_whole_years_and_months(today: date) -> None:
    for preset in presets.DAYS:
        first, last = presets.days(preset, today)
        assert (
            first < last
            and first.day == 1
            and (last.toordinal() + 1 == date(last.year + last.month // 12, last.month % 12 + 1, 1).toordinal())
        )
        assert known(f"data.days.{preset}")
    assert presets.days("month_now", date(2024, 2, 29)) == (date(2024, 2, 1), date(2024, 2, 29))
    assert presets.days("month_before", date(2025, 1, 31)) == (date(2024, 12, 1), date(2024, 12, 31))


# --- a list from a file


def test_a_list_is_read_line_by_line() -> None:
    assert read_list('\ufeffMill\r\n"Hill, upper"\r\n\r\nmill\nQuay,\n"say ""no"""\n'.encode()) == (
        "Mill",
        "Hill, upper",
        "Quay",
        'say "no"',
    )
    assert read_list("ž\nš\n".encode("utf-16")) == ("ž", "š")


@pytest.mark.parametrize(
    ("data", "code"),
    [
        (b"", "data.list.few"),
        (b"\n\n", "data.list.few"),
        (b"one\nOne\n", "data.list.few"),
        (b"\xe8rka\nb\n", "data.list.encoding"),
        (b"PK\x03\x04\0\0a\nb\n", "data.list.encoding"),
        (b"\n".join(b"%d" % one for one in range(MOST_LISTED + 1)), "data.list.many"),
        (b"x" * (30 * 2**20 + 1), "data.list.large"),
    ],
    ids=["empty", "blank", "one", "encoding", "zip", "many", "large"],
)
def test_a_file_that_is_no_list(data: bytes, code: str) -> None:
    with pytest.raises(AllowanceError) as refusal:
        read_list(data)
    assert refusal.value.code == code and "\n" not in str(refusal.value)


@pytest.mark.long
def test_a_hundred_thousand_values_make_a_column() -> None:
    values = read_list("\n".join(f"place {one}" for one in range(MOST_LISTED)).encode())
    for kind in ("list", "items"):
        column = column_of(Card(kind, brought=values, public=True), POINT)
        assert len(column.labels) >= MOST_LISTED  # type: ignore[union-attr]
        assert column_of(Card(kind, brought=values, public=True), POINT) is column  # made once


# --- what a table can be told to do wrong: one sentence, before anything is spent


@pytest.fixture
def workspace(tmp_path: Path) -> Iterator[Workspace]:
    opened = Workspace(tmp_path / "var")
    yield opened
    opened.close()


def bring(workspace: Workspace, frame: pd.DataFrame, schema: dict[str, Column], **more: Any) -> dp.Table:
    given = {"unit": dp.Unit.rows(), "budget": dp.Budget("20", "1e-6")} | more
    return workspace.add_table("people", frame, schema=dp.Schema(schema), **given)


def test_rows_without_an_id_are_left_out_and_m_is_at_least_one(workspace: Workspace) -> None:
    frame = pd.DataFrame({"who": ["a", "", "b", None, "a", " "], "age": [30] * 6})
    for rows in (0, -1, 1_001, True):
        with pytest.raises(AllowanceError) as refusal:
            dp.Unit.column("who", rows)
        assert refusal.value.code == "unit.at_most"
    table = bring(workspace, frame, {"age": dp.Number(0, 120)}, unit=dp.Unit.column("who", 1))
    assert table.facts.people == 2


@pytest.mark.long
@pytest.mark.parametrize("relation", ["replace", "add_remove"])
def test_a_table_without_anybody_is_a_table(workspace: Workspace, relation: str) -> None:
    """One person less is a neighbour: it must not show by a refusal."""
    frame = pd.DataFrame({"who": ["", None], "age": [1, 2], "way": ["bus", "bus"]})
    told = {"unit": dp.Unit.column("who", 1), "relation": relation, "about_rows": 5}
    table = bring(workspace, frame, {"age": dp.Number(0, 120), "way": Category(["bus", "car"])}, **told)
    for key, column in (("count", None), ("median", "age"), ("mean", "age"), ("sum", "age"), ("histogram", "way")):
        table.ask(table.query(key, **({"column": column} if column else {}), epsilon="1"))


@pytest.mark.long
def test_a_column_that_is_all_missing_answers_all_the_same(workspace: Workspace) -> None:
    frame = pd.DataFrame({"age": [None] * 300, "way": [""] * 300, "day": ["soon"] * 300, "likes": [None] * 300})
    table = bring(
        workspace,
        frame,
        {
            "age": dp.Number(0, 120),
            "way": Category(["bus", "car"]),
            "day": dp.Date("2020-01-01", "2020-12-31"),
            "likes": dp.ItemSet(["tea", "milk"], ";", 1),
        },
    )
    for key, column in (
        ("median", "age"),
        ("mean", "age"),
        ("sum", "age"),
        ("variance", "age"),
        ("histogram", "age"),
        ("histogram", "way"),
        ("median", "day"),
        ("top_item", "likes"),
        ("histogram", "likes"),
    ):
        assert table.ask(table.query(key, column=column, epsilon="0.5")).value is not None
    assert table.ask(table.query("find_declarations", lists=["way"], epsilon="0.5", delta="1e-8")).value == {
        "way: Else": 300
    }


@pytest.mark.parametrize(
    ("bins", "code"),
    [
        ([0, 50, 50, 120], "bins.rising"),
        ([0, 60, 40], "bins.rising"),
        ([0, 50, 121], "bins.outside"),
        ([-10, 50], "bins.outside"),
        (["", 50], "number.unreadable"),
        ([0, "inf"], "number.unreadable"),
        ([None, 50], "number.unreadable"),
        ([], "bins.rising"),
        (0, "bins.many"),
        (10**6, "bins.many"),
    ],
)
def test_bins_that_overlap_or_have_no_end(bins: Any, code: str) -> None:
    with pytest.raises(AllowanceError) as refusal:
        build("histogram", dp.Number(0, 120), bins=bins)
    assert refusal.value.code == code


@pytest.mark.parametrize(
    ("key", "column", "code"),
    [
        ("sum", dp.Number(10**12, 10**12 + 1000), "sum.overflow"),
        ("sum", dp.Number(-(10**14), 0, 10**8), None),
        ("variance", dp.Number(0, 9_999_999), "variance.overflow"),
        ("mean", dp.Number(0, 9_999_999), None),
    ],
)
def test_a_sum_beyond_64_bits_is_refused_by_the_declaration(key: str, column: dp.Number, code: str | None) -> None:
    """No row is looked at: what is declared decides, before there is anything to spend."""
    try:
        build(key, column)
        assert code is None
    except AllowanceError as refusal:
        assert refusal.code == code


def build(key: str, column: Column, **given: Any) -> dp.Query:
    facts = Facts("people", dp.Schema({"column": column}), dp.Unit.rows(), "replace", 100)
    return dp.catalogue[key].build(facts, {"column": "column", "epsilon": "1"} | given)


@pytest.mark.long
def test_or_is_understood_by_every_question_with_conditions(workspace: Workspace) -> None:
    frame = pd.DataFrame(
        {
            "age": range(120),
            "way": ["bus", "car", "tram"] * 40,
            "likes": ["tea", "milk", ""] * 40,
            "town": "x",
        }
    )
    table = bring(
        workspace,
        frame,
        {
            "age": dp.Number(0, 120),
            "way": Category(["bus", "car", "tram"]),
            "town": Category(["x", "y"]),
            "likes": dp.ItemSet(["tea", "milk"], ";", 1),
        },
        budget=dp.Budget("90", "1e-6"),
    )
    where = [["any", [["way", "in", ["bus"]], ["age", ">=", 100], ["likes", "has", ["milk"]]]], ["age", "<=", 110]]
    own: dict[str, dict[str, Any]] = {
        "top_item": {"column": "likes"},
        "histogram": {"column": "way"},
        "count": {},
        "quantile": {"share": "0.9"},
        "proportion": {"of": [["way", "in", ["car"]]]},
        "crosstab": {"columns": ["way", "town"]},
        "noisy_argmax": {"options": [[["way", "in", ["bus"]]], [["way", "in", ["car"]]]]},
        "density": {"columns": ["age"]},
        "vector_mean": {"columns": ["age"]},
        "small_database": {"columns": ["way"]},
    }
    trained = table.query("train_linear", target="age", features=["way"], epsilon="1")
    own["check_model"] = {"model": trained.model((0,) * trained.width).as_json()}
    asked = 0
    for key, mechanism in dp.catalogue.items():
        names = {parameter.name for parameter in mechanism.card.parameters}
        if "where" not in names or mechanism.card.trust != "central":  # those of other models: on the page on trust
            continue
        given = ({"column": "age"} if "column" in names else {}) | own.get(key, {})
        answer = table.ask(table.query(key, where=where, epsilon="2", **given))
        assert " or likes has milk) and age is at most 110" in answer.sentence
        asked += 1
    assert asked >= 9


@pytest.mark.parametrize("preset", ["age", "count", "minutes", "percent"])
def test_a_suggested_range_is_called_by_its_own_name(preset: str) -> None:
    card = Card()
    card.take_range(preset)
    assert same_range(card) == preset
