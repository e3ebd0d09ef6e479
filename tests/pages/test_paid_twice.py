"""An answer that comes while the page is drawn has been seen: another one can be paid for right after it."""

from __future__ import annotations

import pandas as pd
from helpers_page import html_of, open_page

import dpengine as dp
from dpengine.messages import say


def test_another_answer_can_be_paid_for_right_after_a_fast_one(home: dp.Workspace) -> None:
    schema, budget = dp.Schema({"age": dp.Number(0, 100, step=1)}), dp.Budget("5", "1e-6")
    rows = pd.DataFrame({"age": [20, 40] * 500})
    home.add_table("few", rows, schema=schema, unit=dp.Unit.rows(), budget=budget)
    app = open_page("ask", table="few", q="count", where='[["age", ">=", "30"]]', epsilon="0.05")
    for _ in range(3):
        next(one for one in app.button if str(one.key).startswith("ask-go-")).click()
        for _ in range(20):
            app.run()
            if 'class="headline' in html_of(app):
                break
        assert 'class="headline' in html_of(app)
        assert say("request.meanwhile") not in html_of(app)
