"""A model that is read off a first look: it finds what goes together, its bands hold, it is told a little worse than it
is rather than better, and it needs no table."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from helpers_shapes import COLUMNS, PEOPLE, SCHEMA, TARGET, asked, counted, looked, people

import dpengine as dp
from dpengine.mechanisms.marginals.residuals import residual
from dpengine.mechanisms.models.check_model import CheckChances, CheckErrors
from dpengine.noise.coins import SystemCoins
from dpengine.planning import training
from dpengine.released import model_scripts
from dpengine.released.look import Look
from dpengine.released.shapes import Shapes, denoised, predictable, projected, sources
from dpengine.statistics.model_needs import ONE

DRAWS = 40


def row(age: int, sex: str, town: str) -> dict[str, Any]:
    return {"age": age, "sex": sex, "town": town}


def test_its_score_is_counted_of_what_it_says_itself() -> None:
    """In whole numbers, row by row; a row that does not fit is in a cell of its own, and none is left out."""
    look = looked(asked(), people())
    model, schema = look.model(TARGET, ["yes"]), look.query.facts.schema
    whole = model.checkable()
    assert whole is not None
    for age, sex, town in ((45, "f", "a"), (5, "m", "c"), (0, "f", "b")):
        code = {"age": age, "sex": schema["sex"].code(sex), "town": schema["town"].code(town), "kind age": 0}
        said = whole.layout.margin(code, whole.weights)
        assert said is not None and abs(model.within_range(said / ONE) - model.predict(row(age, sex, town))) < 1e-5
    query = dp.catalogue["check_model"].build(look.query.facts, {"model": whole.as_json(), "epsilon": "1"})
    assert isinstance(query, CheckChances) and query.model == whole and query.known == PEOPLE
    codes = people()
    rows = [
        {name: int(codes[name][at]) for name in codes} | {"kind age": -1 if at % 7 == 0 else 0} for at in range(300)
    ]
    assert sum(query.need().of(rows)) == 300
    number = look.model("age", columns=["sex", "town"]).checkable()
    assert number is not None and not number.layout.listed
    off = dp.catalogue["check_model"].build(look.query.facts, {"model": number.as_json(), "epsilon": "1"})
    assert isinstance(off, CheckErrors)
    said = number.layout.margin({"sex": 0, "town": 1}, number.weights)
    told = look.model("age", columns=["sex", "town"]).predict({"sex": "f", "town": "b"})
    assert said is not None and abs(29.5 + 29.5 * said / ONE - told) < 1e-3


@pytest.mark.parametrize("relation", ["replace", "add_remove"])
def test_it_finds_what_goes_together(relation: str) -> None:
    look = looked(asked(relation, "4"), people())
    model = look.model(TARGET, ["yes"])
    assert model.columns == list(COLUMNS) and model.strongest()[0] == "age"
    old, young = model.predict(row(45, "f", "a")), model.predict(row(5, "f", "a"))
    assert 0.7 < old <= 1 and 0.2 < young < 0.5
    women, men = model.effects("sex")
    assert women.clear and 0.12 < women.value - men.value < 0.28
    assert not any(effect.clear and abs(effect.value) > 0.1 for effect in model.effects("town"))
    always = model.always()
    truth = float((people()["car"] == 0).mean())
    assert always.high is not None and abs(always.value - max(truth, 1 - truth)) < 0.02
    assert always.high < 0.6 < model.right() < 0.8


def truly_right(model: Shapes, codes: dict[str, Any]) -> float:
    said = np.full(PEOPLE, model.average)
    for name in COLUMNS:
        axis = model.look.query.axes[model.look.place(name)]
        effects = np.array([effect.value for effect in model.effects(name)])
        codes_of = (
            codes[name] if isinstance(axis.ref, str) else np.array([axis.ref.of(int(one)) for one in codes[name]])
        )
        said += effects[codes_of]
    return float(((said > 0.5) == (codes["car"] == 0)).mean())


def test_the_estimate_errs_to_the_careful_side() -> None:
    """On average over draws, at little and at much noise; a mean of 40 is far from the edge that is asked for here."""
    codes = people()
    for epsilon, most in (("0.4", 0.01), ("3", 0.01)):
        query = asked(epsilon=epsilon)
        value, coins = counted(query, codes), SystemCoins()
        models = [Shapes(Look(query, query.draw(value, coins)), TARGET, ["yes"]) for _ in range(DRAWS // 4)]
        assert np.mean([model.right() - truly_right(model, codes) for model in models]) < most + 0.02


def truly_ranked(model: Shapes, codes: dict[str, Any]) -> float:
    """How often a yes is given a higher chance than a no, over all pairs of both; ties count half."""
    said = np.full(len(codes["car"]), model.average)
    for name, place in zip(model.columns, model.places, strict=True):
        effects = np.array([effect.value for effect in model.effects(name)])
        ref = model.look.query.axes[place].ref
        said += effects[codes[name] if isinstance(ref, str) else [ref.of(int(one)) for one in codes[name]]]
    yes, no = np.sort(said[codes["car"] == 0]), said[codes["car"] != 0]
    above, below = np.searchsorted(yes, no, "right"), np.searchsorted(yes, no, "left")
    return float((len(yes) - (above + below) / 2).mean() / len(yes))


@pytest.mark.long
def test_how_well_it_ranks_is_told_about_as_it_is() -> None:
    """On average over 40 draws, whose mean is far from the edge that is asked for."""
    codes, query = people(), asked(epsilon="3")
    value, coins = counted(query, codes), SystemCoins()
    models = [Shapes(Look(query, query.draw(value, coins)), TARGET, ["yes"]) for _ in range(40)]
    off = [model.ranked() - truly_ranked(model, codes) for model in models]
    assert abs(np.mean(off)) < 0.05 and all(0.5 <= model.ranked() <= 1 for model in models)


def without_noise(look: Look, value: Any) -> Look:
    """The same release, had what was counted against the target no noise."""
    query, raw, start = look.query, list(look.raw), 0
    seen = dict(zip(query.largest, value, strict=True))
    for part in query.layout.bases:
        size = query.layout.cells(part)
        if len(part) == 2 and len(query.axes) - 1 in part:
            cells = np.array(seen[part]).reshape([query.axes[place].size for place in part])
            raw[start : start + size] = [int(one) for one in residual(cells).ravel()]
        start += size
    return Look(query, raw)


@pytest.mark.every(3)
@pytest.mark.parametrize("relation", ["replace", "add_remove"])
def test_all_bands_hold_at_once(relation: str) -> None:
    """β = 0.05: 17 or more misses in 40 draws have a chance below 1e-10; with a third of the width nearly all miss."""
    query, codes = asked(relation, "1"), people()
    value, coins, missed, narrow = counted(query, codes), SystemCoins(), 0, 0
    for _ in range(DRAWS):
        look = Look(query, query.draw(value, coins))
        told, bare = (Shapes(one, TARGET, ["yes"]) for one in (look, without_noise(look, value)))
        same = told.fit.map @ bare.moments.against  # the same fit, as much shrunk
        away, reach = np.abs(told.fit.effects - same), told.fit.reach(float(query.beta))
        missed += bool((away > reach + 1e-12).any())
        narrow += bool((away > reach / 3).any())
    assert missed < 17 and narrow > 20


def test_what_noise_drowns_says_the_same_of_everybody_and_what_stands_out_is_kept() -> None:
    """At ε = 0.01 two models of three are blank, so that none of 20 is has a chance below 1e-9; at ε = 20 none of 200
    was, and all kept everything."""
    value = counted(asked(), people())
    for epsilon in ("0.01", "20"):
        query = asked(epsilon=epsilon)
        found = [Shapes(Look(query, query.draw(value, SystemCoins())), TARGET, ["yes"]) for _ in range(DRAWS // 2)]
        assert any(one.blank for one in found) == (epsilon == "0.01")
        assert all(one.blank == (not one.fit.effects.any()) and 0 <= one.fit.shrink <= 1 for one in found)
        assert epsilon == "0.01" or min(one.fit.shrink for one in found) > 0.9


def test_without_bought_pairs_columns_are_taken_as_estimated_and_have_no_bands() -> None:
    look = looked(asked(epsilon="4", against=[TARGET]), people())
    model = look.model(TARGET, ["yes"])
    assert not model.measured_pairs and model.effects("sex")[0].low is None
    assert model.predict(row(45, "f", "a")) > model.predict(row(5, "m", "a")) + 0.2
    assert predictable(look) == [*COLUMNS[1:], TARGET] or TARGET in predictable(look)
    alone = looked(asked(epsilon="4", against=[]), people())
    assert not predictable(alone) and not sources(alone, TARGET)


def test_a_number_is_predicted_in_its_own_unit() -> None:
    columns = [{"column": "age", "step": "10"}, "sex", {"column": "pay", "step": "10"}]
    look = looked(asked(epsilon="4", columns=columns, weights={}), people())
    model = look.model("pay")
    off, blank = model.off()
    assert not model.listed and off < 0.7 * blank
    assert model.predict({"age": 55, "sex": "f"}) == pytest.approx(65, abs=8)
    assert model.predict({"age": 2, "sex": "m"}) == pytest.approx(14, abs=8)


@pytest.mark.parametrize(
    ("given", "code"),
    [
        ({"target": "nobody"}, "shapes.target"),
        ({"target": TARGET, "columns": ["pay"]}, "shapes.columns"),
        ({"target": TARGET, "yes": ["maybe"]}, "train.sides"),
        ({"target": TARGET, "yes": ["yes", "no"]}, "train.sides"),
    ],
)
def test_what_was_not_counted_is_refused(given: dict[str, Any], code: str) -> None:
    with pytest.raises(dp.AllowanceError) as refused:
        looked(asked(epsilon="4"), people()).model(**given)
    assert refused.value.code == code


@pytest.mark.parametrize("dialect", [dp.Dialect(), dp.Dialect(separator=";", decimal=",", encoding="utf-16")])
def test_the_python_file_says_what_the_model_says(dialect: dp.Dialect, tmp_path: Path) -> None:
    """Of a file as the app takes it: spaces around names and cells, written as the table's own file is."""
    model = looked(asked(epsilon="4"), people()).model(TARGET, ["yes"])
    file, rows, between = tmp_path / "model.py", tmp_path / "rows.csv", dialect.separator
    file.write_text(model_scripts.script_of(model, "a\nb", "0" * 64, dialect), encoding="utf-8")
    asked_of = [row(age, sex, town) for age in (-3, 0, 29, 30, 99) for sex in ("f", "M ", "") for town in ("a", "x")]
    lines = [[" age", "other", "\u00a0sex ", " town\u200b"]]
    lines += [[f" {one['age']}{dialect.decimal}2 ", "1", f" {one['sex']}", f"{one['town']} "] for one in asked_of]
    text = "\r\n".join(between.join(line) for line in [*lines, ["", " ", "", ""]]) + "\r\n\r\n"
    rows.write_bytes(text.encode(dialect.encoding))
    command = [sys.executable, "-I", "-S", file, rows]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert [float(line) for line in done.stdout.split()] == pytest.approx([model.predict(one) for one in asked_of])
    assert not done.stderr
    rows.write_bytes(text.replace("sex", "gender").encode(dialect.encoding))
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode and not done.stdout and done.stderr.count("\n") == 1 and done.stderr.endswith(": sex\n")


def test_a_form_begins_with_a_value_of_the_largest_group() -> None:
    model = looked(asked(epsilon="4"), people()).model(TARGET, ["yes"])
    for name, place in zip(model.columns, model.places, strict=True):
        rows = [effect.rows for effect in model.effects(name)][: model.look.query.axes[place].listed]
        assert model._cell(place, model.usual_value(name)) == rows.index(max(rows))
    assert model.usual_value("age") % 5, "the middle of a group, not its end"


def test_amounts_from_0_up_have_a_group_of_their_own_for_nothing_and_finer_ones_below_the_first() -> None:
    schema = dp.Schema({"gain": dp.Number(0, 99_999), "age": dp.Number(0, 90), "loss": dp.Number(-10_000, 99_999)})
    labels = training.bins("gain", schema)
    assert not isinstance(labels, str) and labels.labels[0] == "0" and "5000–9999" in labels.labels
    assert [training.bins(name, schema) for name in ("age", "loss")] == [
        training.readable(name, schema) for name in ("age", "loss")
    ]
    with pytest.raises(dp.AllowanceError):
        training.look_for_model(SCHEMA, TARGET, [])


def test_what_is_promised_of_effects_beforehand_is_about_what_comes() -> None:
    query = asked(epsilon="1")
    model = looked(query, people()).model(TARGET, ["yes"])
    told = model.effects("sex")[0]
    assert told.high is not None
    before = training.reach_of_effect(query, TARGET, round(told.rows))
    assert (told.high - told.value) / 3 < before < 4 * (told.high - told.value)
    assert training.reach_of_cells(query, TARGET) < PEOPLE


def test_noise_is_cut_off_and_rows_add_up() -> None:
    rng = np.random.default_rng(3)
    noise = rng.normal(0, 5, (12, 9))
    noise -= noise.mean(0, keepdims=True)
    noise -= noise.mean(1, keepdims=True)
    assert np.abs(denoised(noise, 25.0)).max() < 10
    signal = np.outer(np.linspace(-1, 1, 12), np.linspace(-1, 1, 9)) * 200
    assert np.abs(denoised(signal + noise, 25.0) - signal).mean() < np.abs(noise).mean()
    cells = projected(np.array([50.0, -7.0, 30.0, 20.0]), 90.0)
    assert cells.min() == 0 and cells.sum() == pytest.approx(90)
