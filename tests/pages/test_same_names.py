"""A table of one's own that is called what a practice table is called in the reader's language stays one's own."""

from __future__ import annotations

import pandas as pd
import pytest
from helpers_page import open_page

import dpengine as dp
from dpengine.messages.language import speaking


@pytest.mark.every(3)
@pytest.mark.parametrize("name", ["obiski", "klinika"])
def test_an_own_table_is_not_taken_for_a_practice_table_of_that_name(home: dp.Workspace, name: str) -> None:
    terms = {"schema": dp.Schema({"x": dp.Number(0, 9)}), "unit": dp.Unit.rows(), "budget": dp.Budget("5", "1e-6")}
    home.add_table(name, pd.DataFrame({"x": ["5"] * 50}), **terms)
    app = open_page("ask", table=name, lang="sl")
    [picker] = [one for one in app.selectbox if str(one.key).startswith("ask-table")]
    assert len({*picker.options}) == len(picker.options) and f"{name} (vadbena tabela)" in picker.options
    with speaking("sl"):
        app.text_input(key="box-field").set_value("povprečje x").run()
    value = app.query_params["table"]
    assert (value if isinstance(value, str) else value[0]) == name and not app.exception


def test_no_new_table_gets_such_a_name(home: dp.Workspace) -> None:
    from ui.data.draft import table_name
    from ui.shell.state import names_in_view

    with speaking("sl"):
        assert table_name("obiski.csv", names_in_view()) == "obiski 2"
