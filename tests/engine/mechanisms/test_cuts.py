"""Every question says what its declaration cuts of the file: all of it, and of conditions nothing else."""

from __future__ import annotations

from typing import Any

import pytest
from battery import case_name
from helpers_cuts import ROWS, check_cuts_are_told, check_rows_without_a_value, cut_of, told, with_unit

from dpengine.audit.world import CASES, SCHEMA, build
from dpengine.declared.conditions import read_predicate
from dpengine.declared.date_column import Date
from dpengine.declared.facts import Facts
from dpengine.declared.schema import MISSING, Category, ItemSet, Number, Schema
from dpengine.declared.unit import Unit
from dpengine.mechanisms import catalogue, cuts
from dpengine.messages.language import speaking

ON_CONDITIONS = [case for case in CASES if case[0] in ("count", "proportion", "noisy_argmax", "local_count")]


def test_every_question_is_here() -> None:
    assert {key for key, _ in CASES} == set(catalogue)


@pytest.mark.every(9)
@pytest.mark.parametrize("several", [True, False], ids=["several", "rows"])
@pytest.mark.parametrize("case", CASES, ids=case_name)
def test_what_is_cut_is_told(case: tuple[str, dict[str, Any]], several: bool) -> None:
    query = build(*case, "replace", about=100, unit=with_unit(catalogue[case[0]], several))
    if case[0] != "find_declarations":  # their statistic reads the file's own cells
        check_cuts_are_told(query)
    capped = query.facts.unit.id_column is not None and not getattr(query.need(), "every_row", False)
    assert (("", ROWS) in told(query)) == capped


@pytest.mark.every(3)
@pytest.mark.parametrize("case", CASES, ids=case_name)
def test_rows_without_a_value_are_said_to_be_left_out_where_they_are(case: tuple[str, dict[str, Any]]) -> None:
    query = build(*case, "replace", about=100)
    check_rows_without_a_value(query)
    several = {name for one in query.cuts() if one.code == "cut.complete" for name in dict(one.facts)["columns"]}
    ordered = {name for name in query.valued() if isinstance(SCHEMA[name], Number | Date)}
    needed = {name for name in ordered if not SCHEMA[name].complete}
    assert query.keeps_empty or needed <= {*query.left_out(), *several}


@pytest.mark.parametrize("case", ON_CONDITIONS, ids=case_name)
def test_of_conditions_nothing_else_is_told(case: tuple[str, dict[str, Any]]) -> None:
    query = build(*case, "replace", about=100)
    if query.by is None:
        assert told(query) == cut_of(query)


OPERANDS = [-2, -1, -0.5, 0, 0.5, 1, 2.5, 3, 3.5, 4, 5]


@pytest.mark.parametrize("op", ["=", "<", "<=", ">", ">=", "between"])
@pytest.mark.parametrize("missing", [None, 0, 3])
def test_conditions_on_numbers_against_every_value(op: str, missing: int | None) -> None:
    """A range of 0 to 3 and whole values from −9 to 12: told is exactly what can change whether a condition holds."""
    schema = Schema({"n": Number(0, 3, missing=missing)})
    facts = Facts("t", schema, Unit.rows(), "replace", 10)
    pairs = [(low, high) for low in OPERANDS for high in OPERANDS] if op == "between" else OPERANDS
    for operand in pairs:
        condition = read_predicate([["n", op, operand]], schema)

        def coded(value: int | None) -> bool:
            code = missing if value is None else min(max(value, 0), 3)
            return condition.holds({"n": MISSING if code is None else code})  # noqa: B023

        def true(value: int) -> bool:
            low, high = operand if isinstance(operand, tuple) else (operand, operand)  # noqa: B023
            return {
                "=": value == low,
                "<": value < high,
                "<=": value <= high,
                ">": value > low,
                ">=": value >= low,
                "between": low <= value <= high,
            }[op]

        found = {kind for one in cuts.of_columns(facts, (), (condition,)) for kind in dict(one.facts)} - {"column"}
        wanted = {"lower"} if any(true(value) != coded(value) for value in range(-9, 0)) else set()
        wanted |= {"upper"} if any(true(value) != coded(value) for value in range(4, 13)) else set()
        wanted |= {"value"} if coded(None) else set()
        fractional = any(one != int(one) for one in (operand if isinstance(operand, tuple) else (operand,)))
        assert found == wanted or (fractional and found > wanted), (op, operand)


SOME = Schema(
    {
        "amount": Number(0, 300),
        "year": Number(1950, 2020),
        "day": Date("2020-01-01", "2020-12-31"),
        "town": Category(["A", "B"]),
        "ill": Category(["yes", "no"], unknown="no", missing="no"),
        "kept": Category(["A", "B"], unknown="A"),
        "held": ItemSet(["p", "q"], at_most=1),
        "filled": Number(0, 10, missing=5),
    }
)


def said(key: str, unit: Unit | None = None, **given: Any) -> str:
    facts = Facts("visits", SOME, unit or Unit.rows(), "replace", 1000)
    return cuts.sentence(catalogue[key].build(facts, {"epsilon": "1"} | given).cuts())


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        ([["amount", ">", 200]], ""),
        ([["amount", ">=", 300]], ""),
        ([["amount", "<", 300]], ""),
        ([["amount", ">", 300]], "amount above 300 counts as 300"),
        ([["amount", "<=", 300]], "amount above 300 counts as 300"),
        ([["amount", "=", 0]], "amount below 0 counts as 0"),
        ([["amount", "between", [0, 100]]], "amount below 0 counts as 0"),
        ([["any", [["amount", "=", 300], ["town", "in", ["A"]]]]], "amount above 300 counts as 300"),
        ([["town", "in", ["A"]]], ""),
        ([["town", "not in", ["A"]]], ""),
        ([["town", "in", ["other"]]], "what is not on the list of town counts as “other”"),
        ([["town", "in", ["no answer"]]], ""),
        ([["ill", "in", ["yes"]]], ""),
        ([["ill", "not in", ["no"]]], "an empty cell of ill, and what is not on its list, counts as “no”"),
        ([["held", "has", ["p"]]], ""),
        ([["held", "has none of", ["p"]]], ""),
        ([["filled", ">=", 5]], "a row without filled counts as 5"),
        ([["filled", ">", 5]], ""),
        ([["day", "<=", "2020-12-31"]], "day after 2020-12-31 counts as 2020-12-31"),
        ([["day", "<", "2020-06-01"]], ""),
    ],
)
def test_conditions_in_words(given: list[Any], sentence: str) -> None:
    assert said("count", where=given) == (f"Counted as declared: {sentence}." if sentence else "")


def test_the_words() -> None:
    visits = Unit.column("patient", at_most=3)
    assert said("sum", visits, column="amount") == (
        "Counted as declared: at most 3 rows of each patient count; rows without one do not; "
        "amount above 300 counts as 300, below 0 as 0."
    )
    assert said("histogram", visits, column="held") == (
        "Counted as declared: what is not on the list of held is left out; at most 1 item of each person’s held counts."
    )
    assert "1950" in said("mean", column="year") and "1,950" not in said("mean", column="year")
    assert said("crosstab", columns=["town", "kept"]) == (
        "Counted as declared: what is not on the list of kept counts as “A”; "
        "what is not on the list of town counts as “other”."
    )
    with speaking("sl"):
        assert said("sum", visits, column="amount", where=[["day", "=", "2020-01-01"]]) == (
            "Šteto po opisu tabele: za vsako vrednost »patient« štejejo največ 3 vrstice, "
            "vrstice brez nje ne štejejo; "
            "amount nad 300 šteje kot 300, pod 0 kot 0; day pred 1. 1. 2020 šteje kot 1. 1. 2020."
        )
