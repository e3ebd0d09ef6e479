"""Numbers that stand for no value: a cell that equals one counts in every way as an empty cell, and no other does."""

from __future__ import annotations

import json
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from helpers_shapes import PEOPLE

import dpengine as dp
from dpengine.core.errors import AllowanceError
from dpengine.declared.conditions import read_predicate
from dpengine.declared.dialect import Dialect
from dpengine.declared.facts import Facts
from dpengine.declared.schema import MISSING, MOST_CODES
from dpengine.intake.coding_expressions import refuse_uncodable
from dpengine.intake.encode import coder_of
from dpengine.mechanisms import cuts
from dpengine.mechanisms.models.of_gradients import OfGradients
from dpengine.messages.language import speaking
from dpengine.planning.suggestions import levers
from dpengine.released import model_scripts
from dpengine.released.scoring import score
from dpengine.statistics.raw_cells import kind_of
from dpengine.workspace import Workspace

POINT, COMMA = Dialect(), Dialect(separator=";", decimal=",", thousands=".")
SPELLED = ["999", " 999 ", "999.0", "999.00", "+999", "9.99e2", "0999", "999.", "99900e-2"]
NEAR = ["998", "1000", "998.999", "999.0000000000000000000001", "-999", "999 €", "99", "9999", "inf"]


def misfit(column: dp.Number, dialect: Dialect) -> Any:
    return lambda cell: kind_of("bp", column, dialect)(cell) < 0


def coded(cells: list[str | None], column: dp.Number, dialect: Dialect = POINT) -> list[int]:
    found: list[int] = coder_of(column, dialect)(pa.chunked_array([pa.array(cells, pa.string())])).to_pylist()
    return found


@pytest.mark.parametrize("missing", [None, 40])
@pytest.mark.parametrize("upper", [260, 5_000])
@pytest.mark.parametrize("step", [1, "0.000000000000001"])
def test_every_spelling_of_a_code_counts_as_an_empty_cell(upper: int, missing: int | None, step: Any) -> None:
    """Outside the range or inside it; where floats decide, and where they could err."""
    if step != 1:
        upper, missing = 999, None  # where a range of so fine a grid ends
    lower = 0 if step == 1 else Fraction(998_999_999_999_999, 10**12) + Fraction(999, 10**15)
    column = dp.Number(lower, upper, step=step, missing=missing, codes=[999, "-9.5"])
    bare = dp.Number(lower, upper, step=step, missing=missing)
    empty = MISSING if missing is None else missing
    assert coded(["", None, *SPELLED, "-9.5", "−9.50"], column) == [empty] * (len(SPELLED) + 4)
    assert coded(NEAR, column) == coded(NEAR, bare)
    check, bare_check = misfit(column, POINT), misfit(bare, POINT)
    assert not any(check(cell) for cell in ["", *SPELLED, "-9.5"])
    assert [check(cell) for cell in NEAR] == [bare_check(cell) for cell in NEAR]


def test_codes_are_read_as_the_file_writes_numbers() -> None:
    column = dp.Number(0, 260, codes=["1999.5", 999])
    assert coded(["999,0", "999,00", "1.999,5", "1999,5", "999.0"], column, COMMA) == [MISSING] * 5  # no number at all
    assert misfit(column, COMMA)("999.0") and not misfit(column, COMMA)("1.999,50")


def test_old_declarations_are_written_as_they_were_and_codes_come_back() -> None:
    old = dp.Number(0, 260, "0.5", 3, "mmHg")
    written = '{"kind": "number", "lower": "0", "upper": "260", "step": "0.5", "missing": "3", "measure": "mmHg"}'
    assert json.dumps(old.as_json()) == written and "codes" not in dp.Number(0, 1).as_json()
    column = dp.Number(0, 260, codes=[999, "-1", "999.0", Fraction(1, 8)])
    assert column.codes == (Fraction(-1), Fraction(1, 8), Fraction(999))
    assert column.as_json()["codes"] == ["-1", "0.125", "999"]
    again = dp.Schema.from_json(json.loads(json.dumps(dp.Schema({"x": column}).as_json())))["x"]
    assert again == column != dp.Number(0, 260) and hash(again) == hash(column)


@pytest.mark.parametrize(
    ("codes", "code"),
    [
        (range(MOST_CODES + 1), "schema.unreadable"),
        ([*range(MOST_CODES + 1)], "number.codes"),
        (["many"], "number.unreadable"),
        (["inf"], "number.unreadable"),
        ([Fraction(1, 3)], "number.unreadable"),
        ([10**60], "number.unreadable"),
        ([True], "number.unreadable"),
        ("999", "schema.unreadable"),
        (999, "schema.unreadable"),
    ],
)
def test_what_cannot_be_a_code_is_refused_in_a_sentence(codes: Any, code: str) -> None:
    with pytest.raises(AllowanceError) as refused:
        dp.Number(0, 1, codes=codes)
    assert refused.value.code == code


def test_where_rows_stay_in_a_database_codes_too_fine_for_it_are_refused() -> None:
    for code in ("0.0000000001", 10**30):
        schema = dp.Schema({"x": dp.Number(0, 1, codes=[code])})
        refuse_uncodable(schema)
        with pytest.raises(AllowanceError) as refused:
            refuse_uncodable(schema, "pyspark")
        assert refused.value.code == "source.in_place_fine"


SOME = dp.Schema({"bp": dp.Number(0, 260, codes=[999, 998]), "f": dp.Number(0, 10, missing=5, codes=[-1, 7])})


def said(key: str, **given: Any) -> str:
    facts = Facts("visits", SOME, dp.Unit.rows(), "replace", 1000)
    return cuts.sentence(dp.catalogue[key].build(facts, {"epsilon": "1"} | given).cuts())


@pytest.mark.parametrize(
    ("where", "told"),
    [
        ([["bp", "<", 200]], False),
        ([["bp", ">", 200]], True),
        ([["bp", ">=", 999]], True),
        ([["bp", "between", [998, 998]]], True),
        ([["bp", "between", [10, 20]]], False),
        ([["f", "<", 3]], True),  # -1 as it stands meets it, and the 5 it counts as does not
        ([["f", ">", 5]], True),  # so does 7
        ([["f", ">", 8]], False),
        ([["f", "=", 5]], True),
    ],
)
def test_beside_an_answer_it_is_told_where_a_code_can_change_it(where: list[Any], told: bool) -> None:
    assert ("no value" in said("count", where=where)) == told


def test_the_words_beside_an_answer() -> None:
    assert said("mean", column="bp") == (
        "Counted as declared: bp above 260 counts as 260, below 0 as 0; 998, 999 in bp count as no value."
    )
    assert "-1, 7 in f count as no value; a row without f counts as 5" in said("mean", column="f")
    one = dp.Schema({"bp": dp.Number(0, 260, codes=[9999])})
    query = dp.catalogue["mean"].build(
        Facts("v", one, dp.Unit.rows(), "replace", 1000), {"column": "bp", "epsilon": "1"}
    )
    assert "9999 in bp counts as no value" in cuts.sentence(query.cuts())
    with speaking("sl"):
        assert "998, 999 (bp) ne štejeta kot vrednost" in said("mean", column="bp")


def test_a_code_meets_no_condition() -> None:
    schema = dp.Schema({"n": dp.Number(0, 1000, codes=[999])})
    [found] = coded(["999"], schema.number("n"))
    for row in (["n", ">", 5], ["n", "<=", 1000], ["n", "=", 999]):
        assert not read_predicate([row], schema).holds({"n": found})


def test_a_narrower_range_keeps_the_codes() -> None:
    wide = dp.Schema({"bp": dp.Number(0, 2_600, codes=[999, 998])})
    facts = Facts("visits", wide, dp.Unit.rows(), "replace", 40)
    found = [
        one.query.facts.schema["bp"]
        for one in levers(dp.catalogue["mean"].build(facts, {"column": "bp", "epsilon": "0.01"}), lambda query: None)
        if one.kind == "range"
    ]
    assert found and all(isinstance(one, dp.Number) and one.codes == (998, 999) for one in found)


def test_a_table_is_asked_without_its_codes(tmp_path: Path) -> None:
    """At ε = 30 and 2,000 rows each bound below is missed with a chance far below 1e-9, by the noise alone; nine
    cells in ten hold 100, the others 999, which would be 260."""
    home = Workspace(tmp_path / "var")
    frame = pd.DataFrame({"bp": ["100"] * 1_800 + ["999"] * 100 + ["999.00"] * 100})
    schema = dp.Schema({"bp": dp.Number(0, 260, codes=[999])})
    terms: dict[str, Any] = {"unit": dp.Unit.rows(), "relation": "replace", "budget": dp.Budget("100", "1e-6")}
    table = home.add_table("ward", frame, schema=schema, **terms)
    mean = table.ask(table.query("mean", column="bp", epsilon="30"))
    assert abs(mean.value - 100) < 2
    misfits = table.ask(table.query("fit_checks", epsilon="30"))
    assert abs(misfits.value["bp"]) < 5
    assert abs(table.ask(table.query("count", where=[["bp", ">", 150]], epsilon="30")).value) < 5
    assert home.table("ward").schema == schema
    home.close()


def model_of(column: dp.Number) -> Any:
    facts = Facts("t", dp.Schema({"bp": column, "pay": dp.Number(0, 10)}), dp.Unit.rows(), "replace", PEOPLE)
    given = {"target": "pay", "features": ["bp"], "epsilon": "1", "steps": 2}
    query: Any = dp.catalogue["train_linear"].build(facts, given)
    assert isinstance(query, OfGradients)
    return query.model((2**20, 2**21))


def test_a_model_on_a_file_and_its_own_script_take_codes_for_empty_cells(tmp_path: Path) -> None:
    cells = ["", "999", " 999.0 ", "9.99e2", "120", "998"]
    path = tmp_path / "a.csv"
    path.write_text("bp,x\n" + "".join(f"{cell},1\n" for cell in cells), encoding="utf-8")
    for missing, codes in ((None, [999]), (50, [999]), (None, ())):
        model = model_of(dp.Number(0, 260, missing=missing, codes=codes))
        found = score(path, model, POINT).said
        script: dict[str, Any] = {"__name__": "script"}
        exec(model_scripts.script_of(model, "a question", "r1"), script)
        told = [script["_prediction"]({"bp": cell}) for cell in cells]
        assert np.allclose(found, [np.nan if one == "" else one for one in told], equal_nan=True)
        alike = [found[place] == found[0] or bool(np.isnan(found[place]) and np.isnan(found[0])) for place in range(6)]
        assert alike == [True, bool(codes), bool(codes), bool(codes), False, False]
        assert ("codes" in script["MODEL"]["columns"]["bp"]) == bool(codes)
