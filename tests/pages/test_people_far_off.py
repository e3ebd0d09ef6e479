"""A wrong number of people is said beside the answer that shows it and the next promise, and mended under Tables."""

from __future__ import annotations

import pandas as pd
import pytest
from helpers_page import html_of, open_page, plain

import dpengine as dp
from dpengine.messages.language import speaking

TABLE = "our patients"


@pytest.fixture
def patients(home: dp.Workspace) -> dp.Table:
    frame = pd.DataFrame({"age": [str(place % 90) for place in range(5_200)]})
    return home.add_table(
        TABLE,
        frame,
        schema=dp.Schema({"age": dp.Number(0, 100)}),
        unit=dp.Unit.rows(),
        relation="add_remove",
        about_rows=2_000,
        budget=dp.Budget("9", "1e-6"),
    )


@pytest.mark.long
@pytest.mark.parametrize("lang", ["en", "sl"])
def test_it_is_said_and_mended(patients: dp.Table, lang: str) -> None:
    answer = patients.ask(patients.query("fit_checks", epsilon="1"))
    with speaking(lang):
        beside = plain(html_of(open_page("data", table=TABLE, answer=answer.request_id, lang=lang)))
        assert ("You declared about 2,000 people; this answer says" in beside) == (lang == "en")
        assert ("Navedli ste približno 2.000 oseb; ta odgovor pravi" in beside) == (lang == "sl")
        planned = "Planned for 2,000 people" if lang == "en" else "Načrtovano za 2.000 oseb"
        asked = {"table": TABLE, "q": "mean", "column": "age", "epsilon": "0.1", "lang": lang}
        assert planned in plain(html_of(open_page("ask", **asked)))
        app = open_page("data", table=TABLE, lang=lang)
        assert planned in plain(html_of(app)) and 5_000 <= int(app.number_input[0].value) <= 5_500
        next(button for button in app.button if button.key == "people-correct").click().run()
        assert not app.exception and planned not in plain(html_of(app))
        assert 5_000 <= patients._workspace.table(TABLE).facts.about <= 5_500  # type: ignore[attr-defined]
        assert planned not in plain(html_of(open_page("ask", **asked)))
