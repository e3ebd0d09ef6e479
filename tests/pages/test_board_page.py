"""The First look page without a browser: what it costs and is worth before, the board, its groups, what is estimated,
and that nothing on it reads the table."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import numpy as np
import pandas as pd
import pytest
from helpers_page import html_of, open_page, plain
from streamlit.testing.v1 import AppTest

import dpengine as dp

pytestmark = pytest.mark.usefixtures("shared")

PEOPLE = 2_000


@pytest.fixture(scope="module")
def table(shared: dp.Workspace) -> Iterator[dp.Table]:
    draw = np.random.default_rng(3)  # made-up people
    sex = draw.choice(["f", "m"], PEOPLE)
    rich = np.where(draw.random(PEOPLE) < np.where(sex == "m", 0.8, 0.1), "yes", "no")
    frame = pd.DataFrame(
        {
            "sex": sex,
            "rich": rich,
            "age": np.where(draw.random(PEOPLE) < 0.2, "?", draw.integers(0, 100, PEOPLE).astype(str)),
            "=town": draw.choice([f"t{place}" for place in range(20)], PEOPLE),
            "since": pd.Timestamp("2020-01-01") + pd.to_timedelta(draw.integers(0, 700, PEOPLE), unit="D"),
        }
    )
    frame["since"] = frame["since"].dt.strftime("%Y-%m-%d")
    schema = dp.Schema(
        {
            "sex": dp.Category(["f", "m"]),
            "rich": dp.Category(["yes", "no"]),
            "age": dp.Number(0, 100),
            "=town": dp.Category([f"t{place}" for place in range(20)]),
            "since": dp.Date("2020-01-01", "2021-12-31"),
        }
    )
    yield shared.add_table("people", frame, schema=schema, unit=dp.Unit.rows(), budget=dp.Budget("8", "1e-6"))


def said(app: AppTest) -> str:
    return plain(html_of(app))


@pytest.fixture(scope="module")
def answer(table: dp.Table) -> dp.Answer:
    return table.ask(table.query("overview", epsilon="1", against=["rich"]), "look=&one")


def test_before_it_is_bought_the_page_says_what_it_is_worth(table: dp.Table) -> None:
    before = len(table.history())
    app = open_page("board", table="people")
    text = said(app)
    assert "every bar of 5 columns within ±" in text and "all at once, 95 times in 100" in text
    [go] = [one for one in app.button if "Take the first look — takes" in one.label]
    assert not go.disabled and "20 %" in go.label and len(table.history()) == before
    gains = [one.proto.label for one in app.get("page_link") if "instead of ±" in one.proto.label]
    assert any("Fewer groups for" in one and "age" in one for one in gains), gains
    assert any("Without" in one for one in gains), gains


def test_the_board_shows_every_column_and_what_goes_together(table: dp.Table, answer: dp.Answer) -> None:
    app = open_page("board", table="people", look=answer.request_id)
    text = said(app)
    assert "Everything on this page is free from now on" in text and len(app.get("plotly_chart")) == 5
    assert "median" in text and "does not fit" in json.dumps([one.proto.spec for one in app.get("plotly_chart")])
    assert "clear" in text and ("yes: m " in text or "no: f " in text)
    by_town = said(open_page("board", table="people", look=answer.request_id, by="=town", group="t3"))
    assert "Only where =town is “t3”" in by_town and "Estimated, no promise" in by_town
    [buy] = [
        one.proto
        for one in open_page("board", table="people", look=answer.request_id, by="sex").get("page_link")
        if "Buy all pairs with sex" in one.proto.label
    ]
    assert "against=" in buy.query_string and "such estimates put" in by_town
    by_rich = said(open_page("board", table="people", look=answer.request_id, by="rich", group="yes"))
    assert "Only where rich is “yes”" in by_rich and "Estimated" not in by_rich


@pytest.mark.parametrize("wrong", [{"by": "nobody"}, {"by": "sex", "group": "?"}, {"as": "[]"}, {"page": "99"}])
def test_a_wrong_address_still_shows_the_board(answer: dp.Answer, wrong: dict[str, Any]) -> None:
    assert "Everything on this page is free" in said(
        open_page("board", table="people", look=answer.request_id, **wrong)
    )
