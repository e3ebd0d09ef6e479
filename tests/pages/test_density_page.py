"""Smooth curves on Ask without a browser: bad input, links, words, reports, several answers, allowances without δ."""

from __future__ import annotations

import json
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from helpers_declare import ROOT
from helpers_page import plain

import dpengine as dp
from dpengine.core.printed import percent_taken
from dpengine.messages import say
from ui.ask import spend
from ui.ledger import report
from ui.parts import exports
from ui.shell import state
from ui.words.wording import headline, range_words


def ask(**told: str) -> Any:
    from streamlit.testing.v1 import AppTest

    app = AppTest.from_file(str(ROOT / "ui" / "main.py"), default_timeout=60)
    app.switch_page("../pages/ask.py")
    for name, value in ({"table": "town", "q": "density", "epsilon": "0.1"} | told).items():
        app.query_params[name] = value
    app.run()
    assert not app.exception
    return app


def text(app: Any) -> str:
    return "\n".join(part.proto.body for part in app.get("html"))


@pytest.mark.usefixtures("shared")
def test_bad_input_is_said_at_the_form_and_nothing_is_lost() -> None:
    app = ask(columns=json.dumps(["age"]), bandwidth="0")
    assert "must be above 0" in text(app)
    field = next(one for one in app.text_input if one.key.startswith("ask-bandwidth-age"))
    assert field.value == "0"
    field.set_value("500").run()
    field = next(one for one in app.text_input if one.key.startswith("ask-bandwidth-age"))
    field.set_value("7,5").run()
    assert not app.exception and "within ±" in text(app) and "7.5" in str(app.query_params["bandwidth"])
    next(one for one in app.multiselect if one.key.startswith("ask-density")).set_value([]).run()
    assert not app.exception and say("density.columns") in text(app)


@pytest.mark.usefixtures("shared")
def test_without_delta_the_page_says_what_to_do() -> None:
    state.workspace().add_table(
        "pure",
        pd.DataFrame({"age": range(50)}),
        schema=dp.Schema({"age": dp.Number(0, 120)}),
        unit=dp.Unit.rows(),
        relation="replace",
        budget=dp.Budget("1", "0"),
    )
    app = ask(table="pure", columns=json.dumps(["age"]))
    assert say("budget.needs_delta") in text(app) and not [one for one in app.button if one.key == "ask-go"]


@pytest.mark.long
@pytest.mark.usefixtures("shared")
def test_the_first_curve_takes_what_the_second_takes_and_there_is_no_entry_fee() -> None:
    told = text(ask(columns=json.dumps(["age"])))
    table = state.workspace().table("town", visitor="local")
    question = table.query("density", columns=["age"], epsilon="0.1")
    first = table.preview(question).share
    table.ask(table.query("density", columns=["age"], epsilon="0.2"))
    assert table.preview(question).share == first
    assert "fee" not in told + text(ask(columns=json.dumps(["age"])))


@pytest.mark.long
@pytest.mark.usefixtures("shared")
def test_mostly_noise_tells_the_price_that_helps() -> None:
    for name, rows in (("fewer", 300), ("few", 2_000)):
        table = state.workspace().add_table(
            name,
            pd.DataFrame({"age": range(rows)}),
            schema=dp.Schema({"age": dp.Number(0, 120)}),
            unit=dp.Unit.rows(),
            relation="replace",
            budget=dp.Budget("1", "1e-6"),
        )
    now = table.preview(table.query("density", columns=["age"], epsilon="0.05"))
    assert not now.useful
    enough = table.preview(table.query("density", columns=["age"], epsilon=Fraction("0.05") * now.times_needed))
    told = plain(text(ask(table="few", columns=json.dumps(["age"]), epsilon="0.05")))
    assert enough.times_needed < Fraction("1.01") and enough.share > now.share * now.times_needed
    opens = table.opening(table.query("density", columns=["age"], epsilon="0.05"))
    assert opens is not None
    step = opens.useful  # of the least step of the slider that is enough
    assert step is not None and step > 0
    assert f"which takes about {percent_taken(Fraction(1), step)}" in told and "times the spend" not in told
    assert "cannot buy" in plain(text(ask(table="fewer", columns=json.dumps(["age"]), epsilon="0.05")))


@pytest.fixture
def made(tmp_path: Path) -> dp.Table:
    ws = dp.open_workspace(tmp_path / "var")
    frame = pd.DataFrame({"age": np.arange(600) % 90, "pay": (np.arange(600) * 37) % 5_000})
    return ws.add_table(
        "people",
        frame,
        schema=dp.Schema({"age": dp.Number(0, 120, missing=0), "pay": dp.Number(0, 5_000)}),
        unit=dp.Unit.rows(),
        relation="replace",
        budget=dp.Budget("5", "1e-6"),
    )


def test_an_answer_in_words_as_a_file_and_in_a_report(made: dp.Table) -> None:
    one = made.ask(made.query("density", columns=["age"], epsilon="0.5", resolution=30))
    two = made.ask(made.query("density", columns=["age", "pay"], epsilon="0.5", resolution=10))
    assert headline(one).startswith("Highest near") or headline(one) == say("answer.density_flat")
    assert "% of people per 5 of age" in range_words(one) and "darker band" in range_words(one)
    assert "people per 5 × 200 of age × pay" in range_words(two)
    assert "of the height that an even spread would have" in one.promise.words(one.query)
    assert two.promise.short().startswith("within ±")
    assert len(exports.answer_csv(two).splitlines()) == 101
    assert report.picture(one).count("<path") == 2 and report.picture(two).count("<rect") == 100
    again = made.recall(one.query)[-1]
    assert again.value == one.value and list(again.value) == one.query.labels()
    made.ask(one.query, "second")
    reading = made.looks(one.query)
    assert reading.kind == "shared" and set(reading.value) == set(one.value)


def test_a_wish_finds_its_spend(made: dp.Table) -> None:
    query = made.query("density", columns=["age"], epsilon="0.5")
    label, now = spend.wish_field(query)
    assert label == say("spend.wish.band") and spend.read_wish(query, now) == Fraction(now) / 100
    least = made.least_epsilon(query, spend.read_wish(query, "10 %"))
    assert least is not None and query.at(least).promise().amount <= Fraction(1, 10)


def test_an_allowance_without_delta_refuses_before_it_spends(tmp_path: Path) -> None:
    ws = dp.open_workspace(tmp_path / "var")
    table = ws.add_table(
        "pure",
        pd.DataFrame({"age": range(50)}),
        schema=dp.Schema({"age": dp.Number(0, 120)}),
        unit=dp.Unit.rows(),
        relation="add_remove",
        budget=dp.Budget("1", "0"),
        about_rows=50,
    )
    query = table.query("density", columns=["age"], epsilon="0.1")
    with pytest.raises(dp.BudgetExceeded, match="δ above 0"):
        table.ask(query)
    with pytest.raises(dp.BudgetExceeded, match="δ above 0"):
        table.preview(query)
    assert table.meter().charges == 0
