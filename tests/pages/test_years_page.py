"""Answers: two tables compared, in both languages."""

from __future__ import annotations

from typing import Any

import pandas as pd
import pytest
from helpers_declare import ROOT
from streamlit.testing.v1 import AppTest

import dpengine as dp
from dpengine.messages import say
from dpengine.messages.language import speaking


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
        start = say("years.both.replace", epsilon=18, delta="").split("18")[0]
    assert start in text
