"""Answers: two tables compared, in both languages."""

from __future__ import annotations

from html import escape
from typing import Any

import pandas as pd
import pytest
from helpers_declare import ROOT
from streamlit.testing.v1 import AppTest

import dpengine as dp
from dpengine.messages import Automatic, called, say
from dpengine.messages.language import speaking


@pytest.mark.every(3)
@pytest.mark.parametrize("lang", ["en", "sl"])
def test_two_years_stand_side_by_side(lang: str, shared: dp.Workspace) -> None:
    schema = dp.Schema({"age": dp.Number(0, 100)})
    for place, name in enumerate((f"last {lang}", f"this {lang}")):
        frame = pd.DataFrame({"age": [30 + 10 * place + number % 7 for number in range(400)], "of": [name] * 400})
        given: dict[str, Any] = {"schema": schema, "unit": dp.Unit.rows(), "budget": dp.Budget("9", "1e-6")}
        table = shared.add_table(name, frame, **given)
        table.ask(table.query("mean", column="age", epsilon="2"))
    app = AppTest.from_file(str(ROOT / "ui" / "main.py"), default_timeout=60)
    app.query_params["table"], app.query_params["lang"] = f"this {lang}", lang
    app.switch_page("../pages/answers.py").run()
    next(one for one in app.selectbox if one.key == "years-with").set_value(f"last {lang}").run()
    assert not app.exception
    text = "\n".join(part.proto.body for part in app.get("html"))
    with speaking(lang):
        assert say("years.differs") in text and "year-ranges" in text
        assert f"<small>{say('years.difference')}</small>" in text  # in place of the heads, on a phone
        start = say("years.both.replace", epsilon=18, delta="").split("18")[0]
    assert start in text


@pytest.mark.long
@pytest.mark.parametrize("lang", [pytest.param("en", marks=pytest.mark.long), "sl"])
def test_what_a_check_doubts_about_one_year_stands_above_the_comparison(lang: str, shared: dp.Workspace) -> None:
    """This year's list lacks a town that many have: the bars of both years are compared, and the page says so first."""
    schema = dp.Schema({"town": dp.Category(["Kranj", "Ptuj"])})
    for name, third in ((f"before {lang}", "Kranj"), (f"after {lang}", "Koper")):
        frame = pd.DataFrame({"town": ["Kranj", "Ptuj", third] * 200, "of": [f"doubt {name}"] * 600})
        given: dict[str, Any] = {"schema": schema, "unit": dp.Unit.rows(), "budget": dp.Budget("50", "1e-6")}
        table = shared.add_table(name, frame, **given)
        table.ask(table.query("fit_checks", columns=["town"], epsilon="5"))
        table.ask(table.query("histogram", column="town", epsilon="5"))
    app = AppTest.from_file(str(ROOT / "ui" / "main.py"), default_timeout=60)
    app.query_params["table"], app.query_params["lang"] = f"after {lang}", lang
    app.switch_page("../pages/answers.py").run()
    next(one for one in app.selectbox if one.key == "years-with").set_value(f"before {lang}").run()
    assert not app.exception
    with speaking(lang):
        (note,) = table.fits().doubts(table.query("histogram", column="town", epsilon="5"))
        doubt = escape(say("years.doubt", table=f"after {lang}", note=note))
        other = escape(say("years.doubt", table=f"before {lang}", note="").strip())
    text = "\n".join(part.proto.body for part in app.get("html"))
    with speaking(lang):
        assert f"{called(Automatic('no answer'))}<" in text  # a value of nobody's list is in the reader's language
    assert doubt in text and other not in text and text.index(doubt) < text.index("year-ranges")
