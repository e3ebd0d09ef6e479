"""What Train says of its kinds of noise, against the figures that it computes."""

from __future__ import annotations

from contextlib import closing
from fractions import Fraction
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from helpers_page import plain

import dpengine as dp
from dpengine.declared.facts import Facts
from dpengine.mechanisms.models.excess import CALIBRATIONS, COORDINATE, L2_LAPLACE
from dpengine.mechanisms.models.of_gradients import OfGradients
from dpengine.messages.language import speaking
from ui.train.train import _figures_html, people_of

SCHEMA = dp.Schema(
    {f"x{place}": dp.Number(0, 10, missing=5) for place in range(9)} | {"list": dp.Category(list("abcdefgh"))}
)


def training(features: list[str], **given: Any) -> OfGradients:
    facts = Facts("t", SCHEMA, dp.Unit.rows(), "replace", 10_000)
    query = dp.catalogue["train_linear"].build(facts, {"target": "x0", "features": features, "epsilon": "1"} | given)
    assert isinstance(query, OfGradients)
    return query


@pytest.mark.parametrize("kind", CALIBRATIONS)
def test_no_noise_grows_with_columns_of_numbers(kind: str) -> None:
    """At the same ε and steps; rows are scaled by 1/√(p+1), and p columns of numbers make p+1 weights."""
    each = [[f"x{place}" for place in range(1, many)] for many in range(2, 10)]
    told = [people_of(training(features, steps=50, calibration=kind).setting) for features in each]
    assert told == pytest.approx([told[0]] * len(told), rel=1e-3), "it grows with the number of columns"


@pytest.mark.parametrize("kind", CALIBRATIONS)
def test_against_what_a_column_adds_every_noise_grows_with_the_root_of_the_columns(kind: str) -> None:
    """Seven columns of numbers beside one: a row of length 1 is shared by eight coordinates instead of two."""
    few, many = (
        training([f"x{place}" for place in range(1, last)], steps=50, calibration=kind).setting for last in (2, 8)
    )
    assert people_of(many) / many.share / (people_of(few) / few.share) == pytest.approx(2, rel=1e-3)
    figures = plain(_figures_html(training(["x1"])))
    assert "one column can add, all three kinds grow with the root of the number of columns" in figures
    with speaking("sl"):
        figures = plain(_figures_html(training(["x1"])))
        assert "vse tri vrste šuma rastejo s korenom števila stolpcev" in figures


@pytest.mark.parametrize(("features", "times"), [(["x1"], 1), (["x1", "x2", "x3"], 1), (["x1", "list"], 2)])
def test_the_sentence_says_what_the_figures_say(features: list[str], times: int) -> None:
    """One number and a list of ten labels: 12 weights, √(12/3) times."""
    one, length = (training(features, calibration=name, steps=50).setting for name in (COORDINATE, L2_LAPLACE))
    assert people_of(one) / people_of(length) == pytest.approx(times, rel=1e-3)
    figures = plain(_figures_html(training(features)))
    assert f"about {times} times that of “as one length” at the same ε" in figures
    assert "more of them do not add noise" in figures and "one weight per value, and adds noise" in figures
    assert "it grows with the number of columns" not in figures
    with speaking("sl"):
        figures = plain(_figures_html(training(features)))
        assert f"približno {times}‑krat tolikšen" in figures and "raste s številom stolpcev. Edini" not in figures


def test_paid_for_without_delta_more_weights_buy_a_smaller_epsilon(tmp_path: Path) -> None:
    """As the sentence says: so many pure uses, added up."""
    frame = pd.DataFrame({name: ["1"] * 1000 for name in SCHEMA.columns})
    with closing(dp.Workspace(tmp_path)) as workspace:
        table = workspace.add_table("t", frame, schema=SCHEMA, unit=dp.Unit.rows(), budget=dp.Budget("1", "0"))
        few, many = (
            table.training_for(
                "train_linear", Fraction(1, 2), target="x0", features=features, calibration=COORDINATE, steps=5
            )
            for features in (["x1"], ["x1", "x2", "x3"])
        )
    assert few.epsilon > many.epsilon
