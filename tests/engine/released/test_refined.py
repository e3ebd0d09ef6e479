"""Values inside a measured group follow another answer about the column, as far as noise could not have made it; free,
and by what was released alone."""

from __future__ import annotations

import numpy as np
import pandas as pd

import dpengine as dp
from dpengine.mechanisms.synthetic.rules import evened
from dpengine.released.synthetic import Curve, FittedTable, best, evenly
from dpengine.workspace import Workspace


def curve(counts: tuple[float, ...], off: float = 1.0, starts: tuple[int, ...] = (0, 2, 4, 8)) -> Curve:
    return Curve("age", starts, counts, off, 10, "one")


def test_rows_of_a_group_lie_where_the_curve_has_them() -> None:
    told = curve((10, 30, 60, 100)).spread(0, 8, 100)
    assert told is not None and np.bincount(told).tolist() == [5, 5, 15, 15, 15, 15, 15, 15]
    half = curve((10, 30, 60, 100)).spread(0, 6, 70)  # half of a run has half of its rows
    assert half is not None and np.bincount(half).tolist() == [5, 5, 15, 15, 15, 15]
    assert curve((10, 30, 60, 100)).spread(4, 8, 9) is None, "no run begins inside it"
    assert evenly(4, 8, 6).tolist() == [4, 4, 5, 6, 6, 7]


def test_what_noise_could_have_made_is_put_together() -> None:
    assert curve((3, -2, 5, 0), off=20).spread(0, 10, 50) is None
    found = curve((30, -9, 5, 60), off=20).pieces(0, 10)
    assert found is not None and found[0].tolist() == [0, 2, 8] and found[1].tolist() == [30, 0, 60]


def test_the_most_exact_curve_that_cuts_a_group_is_taken() -> None:
    rough, fine = curve((10, 30, 60, 100), 5.0), curve((11, 29, 61, 99), 2.0)
    whole = curve((40, 160), 1.0, (0, 4))
    assert best([rough, whole, fine], "age", (0, 4)) is fine and best([rough], "pay", (0, 4)) is None


def test_a_histogram_that_was_bought_shapes_the_made_up_rows_for_nothing(tmp_path: object) -> None:
    """Everybody is 3 years old or 30: in groups of ten nobody could tell."""
    workspace = Workspace(tmp_path)  # type: ignore[arg-type]
    frame = pd.DataFrame({"age": ["3", "30"] * 1_000, "town": ["a", "b"] * 1_000})
    schema = dp.Schema({"age": dp.Number(0, 79, missing=0), "town": dp.Category(["a", "b"], "a", "a")})
    table = workspace.add_table("t", frame, schema=schema, unit=dp.Unit.rows(), budget=dp.Budget("40", "1e-6"))
    column = {"column": "age", "step": 20}
    found = table.ask(table.query("synthetic_table", columns=[column, "town"], epsilon="3"))
    made = table.synthetic(found)
    assert isinstance(made, FittedTable) and made.table()["age"].to_pandas().between(2, 4).mean() < 0.2
    assert made.refined == {} and made.off_by_spreading().keys() == {"age"}
    assert evened(made.query.axes, made.query.facts) == {"age": True}
    bought = table.ask(table.query("histogram", column="age", bins=80, epsilon="3"))
    spent = table.meter().used
    made.path.unlink()
    again = table.synthetic(found)
    assert isinstance(again, FittedTable)
    ages = again.table()["age"].to_pandas()
    assert ages.isin([3, 30]).mean() > 0.9 and again.refined == {"age": bought.request_id}
    assert not again.off_by_spreading()
    assert table.meter().used == spent
    workspace.close()
