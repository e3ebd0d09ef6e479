"""A question that a check doubts, on a plan and in a session: said before anything is paid, with the ways out."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import pandas as pd
from helpers_page import html_of, open_page, plain

import dpengine as dp
from dpengine.core.exact import text_of
from dpengine.messages import say

PEOPLE = 8_000


def school(home: dp.Workspace, name: str) -> dp.Table:
    """Half of the marks are 9, and 99 is a fifth of the ages: the noise hides that with a chance below 1e-9."""
    ages = np.random.default_rng().integers(18, 90, PEOPLE)
    ages[: PEOPLE // 5] = 99
    frame = pd.DataFrame({"age": ages, "mark": [3, 9] * (PEOPLE // 2), "wait": [3, 5] * (PEOPLE // 2)})
    schema = dp.Schema({"age": dp.Number(0, 120), "mark": dp.Number(0, 5), "wait": dp.Number(0, 50)})
    return home.add_table(name, frame, schema=schema, unit=dp.Unit.rows(), budget=dp.Budget("20", "1e-6"))


def met(app: Any, done: Callable[[], bool]) -> None:
    for _ in range(300):
        if done():
            return
        time.sleep(0.2)
        app.run()
    raise AssertionError("not in a minute")


def rows(*columns: str) -> str:
    return json.dumps([["mean", {"column": one, "epsilon": "0.5"}, "3", False] for one in columns])


def test_a_plan_says_what_is_doubted_before_it_is_run_and_counts_it_afterwards(home: dp.Workspace) -> None:
    table = school(home, "planned school")
    table.ask(table.query("fit_checks", columns=["age", "mark", "wait"], epsilon="1"))
    spent = table.meter().used
    app = open_page("several", table=table.name, plan=rows("age", "mark", "wait"))
    shown = plain(html_of(app))
    assert shown.count("So it will not be asked.") == 2 and say("fit.others.link") in shown
    (go,) = [one for one in app.button if str(one.key).startswith("plan-run-")]
    go.click().run()
    met(app, lambda: "The plan was run" in plain(html_of(app)))
    shown = plain(html_of(app))
    assert say("plan.done", done=1, total=3) in shown and say("plan.not_asked", count=2) in shown
    assert "most lie above 5" in shown and table.meter().charges == 2
    mended = [one for one in app.button if one.label == say("fit.way.code", column="age", code="99")]
    fitting = [one for one in app.button if one.label == say("fit.way.fitting")]
    assert len(mended) == 1 and len(fitting) == 2, "each has its ways out"
    assert spent < table.meter().used
    fitting[-1].click().run()
    met(app, lambda: table.meter().charges == 3 and "of cells that fit" in plain(html_of(app)))


def test_a_plan_of_doubted_questions_alone_is_not_run(home: dp.Workspace) -> None:
    table = school(home, "doubted school")
    table.ask(table.query("fit_checks", columns=["age", "mark", "wait"], epsilon="1"))
    app = open_page("several", table=table.name, plan=rows("mark"))
    assert "So it will not be asked." in plain(html_of(app))
    assert not [one for one in app.button if str(one.key).startswith("plan-run-")]


def test_a_session_shows_the_ways_out_in_place_of_its_button(home: dp.Workspace) -> None:
    table = school(home, "asked in a row")
    table.ask(table.query("fit_checks", columns=["age", "mark", "wait"], epsilon="1"))
    session = table.open_session(table.session_for(3, Fraction(1, 20)))
    app = open_page("several", table=table.name, session=session.request)
    (kind,) = [one for one in app.selectbox if str(one.key).startswith("session-kind")]
    kind.select("average").run()
    shown = plain(html_of(app))
    (named,) = [one for one in app.button if one.label == say("fit.way.code", column="age", code="99")]
    assert "are exactly 99" in shown
    assert not [one for one in app.button if str(one.key).startswith("session-ask-")]
    named.click().run()  # one click names the code; the average is then refused, because many have no value
    assert [text_of(code) for code in home.table(table.name).schema.number("age").codes] == ["99"]
    assert "hold no value" in plain(html_of(app))
    assert session.look()[0].asked == 0
