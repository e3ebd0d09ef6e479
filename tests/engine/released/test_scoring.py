"""A model on a brought file says what `predict` says of each row, reads names and cells as a table's own file is read,
and refuses in one sentence that holds no cell."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from helpers_shapes import COLUMNS, PEOPLE, TARGET, asked, looked, people
from openpyxl import Workbook

import dpengine as dp
from dpengine.declared.facts import Facts
from dpengine.mechanisms.models.of_gradients import OfGradients
from dpengine.released.scoring import MOST_ROWS, score
from dpengine.statistics.features import Model

ROWS = (("12", " F ", "b"), ("59", "m", "nowhere"), ("-4", "f", ""), ("200", "M", "a"), ("", "f", "c"))


@pytest.fixture(scope="module")
def shapes() -> Any:
    return looked(asked(epsilon="4"), people()).model(TARGET, ["yes"])


def trained(key: str, **given: Any) -> Model:
    facts = asked().facts
    query: Any = dp.catalogue[key].build(facts, given | {"epsilon": "1", "steps": 2})
    assert isinstance(query, OfGradients)
    draw = np.random.default_rng(3)
    return query.model(tuple(int(one) for one in draw.integers(-(2**22), 2**22, query.layout.width)))


def written(path: Path, rows: Any, names: Any = ("age", "sex", "town"), mark: str = ",") -> Path:
    path.write_text("\n".join(mark.join(row) for row in (names, *rows)) + "\n", encoding="utf-8")
    return path


def values(row: tuple[str, ...]) -> dict[str, Any]:
    age, sex, town = row
    return {"age": age or 0, "sex": sex.strip(), "town": town or "c"}


def test_every_row_gets_what_the_model_predicts(tmp_path: Path, shapes: Any) -> None:
    models = [
        shapes,
        trained("train_logistic", target="car", features=list(COLUMNS)),
        trained("train_hinge", target="car", features=list(COLUMNS)),
        trained("train_linear", target="pay", features=list(COLUMNS)),
    ]
    for model in models:
        done = score(written(tmp_path / "a.csv", ROWS), model, dp.Dialect())
        assert done.said.tolist() == pytest.approx([model.predict(values(row)) for row in ROWS])
        assert done.names == ["age", "sex", "town"] and done.without == 0
        assert [part.to_pylist() for part in done.cells] == [list(cells) for cells in zip(*ROWS, strict=True)]


def test_days_are_read_and_rows_without_one_have_no_guess(tmp_path: Path) -> None:
    schema = dp.Schema({"day": dp.Date("2020-01-01", "2023-12-31"), "pay": dp.Number(0, 10)})
    facts = Facts("days", schema, dp.Unit.rows(), "replace", PEOPLE)
    query: Any = dp.catalogue["train_linear"].build(
        facts, {"target": "pay", "features": ["day"], "epsilon": "1", "steps": 2}
    )
    model = query.model((2**20, 2**21))
    done = score(written(tmp_path / "d.csv", [("2021-05-06",), ("",), ("no day",)], ("day",)), model, dp.Dialect())
    assert done.said[0] == pytest.approx(model.predict({"day": "2021-05-06"})) and done.without == 2
    assert all(math.isnan(one) for one in done.said[1:])


def test_another_separator_other_columns_and_a_spreadsheet_are_read(tmp_path: Path, shapes: Any) -> None:
    plain = score(written(tmp_path / "a.csv", ROWS), shapes, dp.Dialect()).said
    more = [("x", *row, "y") for row in ROWS]
    names = ("id", "age", " sex ", "town", "note")
    semicolons = score(written(tmp_path / "b.csv", more, names, ";"), shapes, dp.Dialect())
    assert np.allclose(semicolons.said, plain) and semicolons.names == ["id", "age", "sex", "town", "note"]
    book = Workbook()
    sheet = book.active
    assert sheet is not None
    sheet.append(["age", "sex", "town"])
    for age, sex, town in ROWS:
        sheet.append([int(age) if age else None, sex, town])
    book.save(tmp_path / "c.xlsx")
    assert np.allclose(score(tmp_path / "c.xlsx", shapes, dp.Dialect()).said, plain)


@pytest.mark.parametrize(
    ("rows", "names", "code"),
    [
        (ROWS, ("age", "sex", "tawn"), "scoring.absent"),
        ([("1", "f", "a", "SECRET")], ("age", "sex", "town"), "load.ragged"),
        ([], ("age", "sex", "town"), "load.no_rows"),
        (ROWS, ("age", "sex", "age"), "load.name_twice"),
    ],
)
def test_what_does_not_fit_is_refused_in_one_sentence(
    tmp_path: Path, shapes: Any, rows: Any, names: Any, code: str
) -> None:
    with pytest.raises(dp.AllowanceError) as refused:
        score(written(tmp_path / "a.csv", rows, names), shapes, dp.Dialect())
    assert refused.value.code == code and "SECRET" not in str(refused.value)


def test_a_file_with_too_many_rows_is_refused(tmp_path: Path, shapes: Any) -> None:
    path = tmp_path / "long.csv"
    path.write_text("age,sex,town\n" + "1,f,a\n" * (MOST_ROWS + 1))
    with pytest.raises(dp.AllowanceError) as refused:
        score(path, shapes, dp.Dialect())
    assert refused.value.code == "scoring.rows"
