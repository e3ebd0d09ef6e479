"""The First look page without a browser: what it costs and is worth before, the board, its groups, what is estimated,
and that nothing on it reads the table."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from html import unescape
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl

import numpy as np
import pandas as pd
import pytest
from helpers_page import html_of, open_page, pictures, plain
from streamlit.testing.v1 import AppTest

import dpengine as dp
from dpengine.mechanisms.marginals.overview import Overview
from dpengine.messages import say
from dpengine.released import look_groups
from dpengine.released.look import Figure
from ui.board import board as board_result
from ui.board import board_state
from ui.board.board_figures import Bar, Card, Picked

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


@pytest.mark.long
def test_noise_is_level_or_least_on_average_as_the_form_says(table: dp.Table) -> None:
    form = {"without": [], "against": [], "every": "1", "coarse": [], "merged": {}, "most": [], "epsilon": "1"}
    level, even = (board_state.query_of(table, form | {"even": said}) for said in ("", "1"))
    noise, least = ([query.variance(part) for part in query.sets] for query in (level, even))
    assert sum(least) < sum(noise) and max(least) > max(noise)
    assert board_state.state_of(table, even)["even"] == "1" and not board_state.state_of(table, level)["even"]
    app = open_page("board", table="people", every="1", even="1")
    [toggle] = [one for one in app.toggle if one.label == say("board_page.even")]
    assert toggle.value and not app.exception


@pytest.mark.long
def test_before_it_is_bought_the_page_says_what_it_is_worth(table: dp.Table) -> None:
    before = len(table.history())
    app = open_page("board", table="people")
    text = said(app)
    assert "every bar of 5 columns within ±" in text and "all at once, 95 times in 100" in text
    [go] = [one for one in app.button if "Take the first look — takes" in one.label]
    assert not go.disabled and "5 %" in go.label and len(table.history()) == before
    less = open_page("board", table="people", epsilon="0.05")  # where a gain is more than one person
    gains = [one.proto.label for one in less.get("page_link") if "instead of ±" in one.proto.label]
    assert any("Fewer groups for" in one and "age" in one for one in gains), gains
    assert any("Without" in one for one in gains), gains


def test_the_board_shows_every_column_and_what_goes_together(table: dp.Table, answer: dp.Answer) -> None:
    app = open_page("board", table="people", look=answer.request_id)
    text = said(app)
    assert "everything here is now free" in text and len(pictures(app)) == 5
    assert "Nobody has checked" in text, "which a first look from the page brings along"
    assert "median" in text and "does not fit" in "".join(pictures(app))
    assert "clear" in text and re.search(r"“(yes|no)” holds for [789]\d % \(\d+–\d+\) of “[fm]” and", text)
    by_town = said(open_page("board", table="people", look=answer.request_id, by="=town", group="t3"))
    assert "Only where =town is “t3”" in by_town and "Estimated, no promise" in by_town
    [buy] = [
        one.proto
        for one in open_page("board", table="people", look=answer.request_id, by="sex").get("page_link")
        if "Buy all pairs with sex" in one.proto.label
    ]
    assert "against=" in buy.query_string and "estimated from the rest" in by_town
    by_rich = said(open_page("board", table="people", look=answer.request_id, by="rich", group="yes"))
    assert "Only where rich is “yes”" in by_rich and "Estimated" not in by_rich


@pytest.mark.long
def test_a_bar_leads_to_its_group_and_the_picked_one_to_everyone(answer: dp.Answer) -> None:
    places = {"table": "people", "look": answer.request_id, "by": "rich", "group": "yes"}
    drawn = "".join(pictures(open_page("board", **places)))
    links = [dict(parse_qsl(unescape(link).partition("?")[2])) for link in re.findall(r'<a href="(board\?.*?)"', drawn)]
    assert all(link["table"] == "people" and link["look"] == answer.request_id for link in links)
    assert {"by": "rich", "group": "no"}.items() <= links[[one.get("group") for one in links].index("no")].items()
    assert [link for link in links if "by" not in link], "the picked bar leads back to everyone"
    assert "<a " not in "".join(pictures(open_page("publish"))), "only the board's pictures are links"
    assert 'role="group"' in html_of(open_page("board", **places))


def test_a_click_reads_no_question_anew(table: dp.Table, answer: dp.Answer, monkeypatch: pytest.MonkeyPatch) -> None:
    """Work is counted, not timed: with 60 columns it took longer than everything else on the page."""
    done: list[str] = []

    def counting(name: str, real: Any) -> Any:
        return lambda *given, **named: (done.append(name), real(*given, **named))[1]

    monkeypatch.setattr(Overview, "read", counting("read", Overview.read))
    for given in ({}, {"by": "rich", "group": "no"}, {"as": "people"}):
        open_page("board", table="people", look=answer.request_id, **given)
    open_page("board", table="people")
    assert not done
    open_page("board", table="people", new="1")
    assert "read" in done  # the form asks what it would buy


def test_nothing_on_the_board_reads_the_table(
    shared: dp.Workspace, table: dp.Table, answer: dp.Answer, tmp_path: Path
) -> None:
    places = {"table": "people", "look": answer.request_id}
    before = said(open_page("board", **places))
    kept = tmp_path / "kept"
    files = [path for path in shared.folder.rglob("*.parquet") if path.is_file()]
    assert files
    moved = [(path, kept / str(at)) for at, path in enumerate(files)]
    kept.mkdir()
    for path, to in moved:
        path.rename(to)
    try:
        assert said(open_page("board", **places)) == before
        for given in ({"by": "rich", "group": "yes"}, {"by": "sex", "as": "people"}, {"of": "age"}):
            assert "everything here is now free" in said(open_page("board", **places, **given))
        with pytest.raises(dp.AllowanceError):
            table.ask(table.query("count", epsilon="0.01"))  # it is really gone
    finally:
        for path, to in moved:
            to.rename(path)


def offers(app: AppTest) -> str:
    """The words of all links, of Streamlit and of the page's own HTML."""
    return "\n".join([html_of(app), *(one.proto.label for one in app.get("page_link"))])


@pytest.mark.long
def test_whoever_arrives_is_offered_a_first_look(shared: dp.Workspace, table: dp.Table, answer: dp.Answer) -> None:
    for page in ("ask", "data"):
        assert "Open the first look" in offers(open_page(page, table="people")), page
    small = pd.DataFrame({"c": ["a", "b"] * 40})
    schema = dp.Schema({"c": dp.Category(["a", "b"])})
    shared.add_table("fresh", small, schema=schema, unit=dp.Unit.rows(), budget=dp.Budget("1", "1e-6"))
    for page in ("ask", "data", "answers"):
        assert "First look (takes 5 %)" in offers(open_page(page, table="fresh")), page
    assert html_of(open_page("tables")).count("board?table=") >= 3  # the samples too
    assert "Open the first look" in [one.proto.label for one in open_page("answers", table="people").get("page_link")]


@pytest.mark.long
def test_too_many_combinations_says_which(shared: dp.Workspace) -> None:
    long = [f"v{place}" for place in range(150)]
    frame = pd.DataFrame({"first": long, "second": long, "c": ["a", "b"] * 75})
    schema = dp.Schema({"first": dp.Category(long), "second": dp.Category(long), "c": dp.Category(["a", "b"])})
    made = shared.add_table("long", frame, schema=schema, unit=dp.Unit.rows(), budget=dp.Budget("1", "1e-6"))
    app = open_page("board", table="long", against='["first"]')
    assert "Too many combinations: first, second have 23,104 together" in said(app) and not made.history()
    assert not [one for one in app.button if "Take the first look" in one.label]
    assert "within ±" in said(open_page("board", table="long", against='["first"]', without='["second"]'))


@pytest.mark.long
def test_what_matters_most_and_fewer_groups_change_the_promise(table: dp.Table) -> None:
    def worth(**given: str) -> str:
        app = open_page("board", table="people", epsilon="0.05", without='["=town", "rich"]', **given)
        found = re.search(r"within ±([\d.,]+) people", said(app))
        assert found is not None
        return found[1]

    usual = worth()
    assert int(worth(coarse='["age", "since"]')) < int(usual) and worth(most='["age"]') != usual


@pytest.mark.long
def test_rows_of_people_and_a_table_that_was_declared_anew(shared: dp.Workspace) -> None:
    frame = pd.DataFrame(
        {"who": [str(place // 2) for place in range(400)], "a": ["x", "y"] * 200, "b": ["u", "v"] * 200}
    )
    lists = {"a": dp.Category(["x", "y"]), "b": dp.Category(["u", "v"])}
    terms: dict[str, Any] = {"unit": dp.Unit.column("who", 2), "budget": dp.Budget("9", "1e-6")}
    made = shared.add_table("visits2", frame, schema=dp.Schema(lists), relation="add_remove", about_rows=200, **terms)
    assert "with about 200 people of up to 2 rows each" in said(open_page("board", table="visits2"))
    made.ask(made.query("overview", against=["a"], epsilon="1"), "of-rows")
    made.revise(dp.Schema({"a": lists["a"]}))
    for given in ({}, {"by": "b", "group": "u", "as": "people"}, {"by": "a"}):
        assert "everything here is now free" in said(open_page("board", table="visits2", look="of-rows", **given))


@pytest.mark.long
def test_a_column_of_sets_has_a_bar_for_each_item_and_no_groups(shared: dp.Workspace) -> None:
    frame = pd.DataFrame({"likes": ["tea|milk", "tea", "", "milk|tea|rum"] * 200, "sex": ["f", "m"] * 400})
    schema = dp.Schema({"likes": dp.ItemSet(["tea", "milk", "rum"], at_most=3), "sex": dp.Category(["f", "m"])})
    made = shared.add_table("drinks", frame, schema=schema, unit=dp.Unit.rows(), budget=dp.Budget("9", "1e-6"))
    assert "every bar of 2 columns within ±" in said(open_page("board", table="drinks"))
    made.ask(made.query("overview", against=["sex"], epsilon="1"), "with sets")
    app = open_page("board", table="drinks", look="with sets", of="likes")
    text = said(app)
    assert len(pictures(app)) == 3 and "one person may hold several" in text and "most: tea" in text
    assert [one.options for one in app.selectbox if one.label == "Showing"] == [["everyone", "sex"]]
    group = open_page("board", table="drinks", look="with sets", by="sex", group="f")
    assert len(pictures(group)) == 1 and "sets are not counted together with other columns" in said(group)


def test_every_two_columns_are_bought_on_the_page_and_two_groups_are_looked_at(table: dp.Table) -> None:
    form = open_page("board", table="people", every="1", epsilon="0.5", without='["since"]')
    [toggle] = [one for one in form.toggle if one.label == "Every two columns together"]
    gains = [one.proto.label for one in form.get("page_link") if "instead of ±" in one.proto.label]
    assert toggle.value and any("Each column by itself" in one for one in gains) and "within ±" in said(form)
    given = {"against": "all", "columns": ["sex", "rich", "age", "=town"], "epsilon": "0.5"}
    bought = table.ask(table.query("overview", **given), "all pairs")
    app = open_page("board", table="people", look="all pairs")
    text = html_of(app)
    assert "matrix" in text and 'aria-label="sex, rich: clear"' in text and "Estimated" not in said(app)
    two = open_page("board", table="people", look="all pairs", by="sex", group="f", also="rich", second="no")
    text = said(two)
    assert "Only where sex is “f” and rich is “no”" in text and text.count("Estimated, no promise") == 2
    assert "bars were within their measured range" in text and bought.value.checked("sex", "rich", "age") is not None
    people = {"by": "sex", "group": "f", "also": "rich", "second": "no", "as": "people", "of": "age"}
    assert "Estimated" in said(open_page("board", table="people", look="all pairs", **people))


@pytest.mark.long
def test_values_of_a_list_are_put_together_with_the_gain_shown(table: dp.Table) -> None:
    start = {"table": "people", "epsilon": "0.05", "without": '["age", "since"]', "against": '["sex"]'}
    app = open_page("board", **start)
    [column] = [one for one in app.selectbox if one.label == "column"]
    column.select("=town").run()
    [pick] = [one for one in app.multiselect if one.label == "Values to merge"]
    pick.select("t0").select("t1").select("t2").run()
    [link] = [one.proto for one in app.get("page_link") if one.proto.label.startswith("Merge t0")]
    assert "instead of ±" in link.label and "merged=" in link.query_string
    merged = json.dumps({"=town": [["first", [f"t{place}" for place in range(15)]]]})
    then = open_page("board", **start, merged=merged)
    assert any(
        one.proto.label.startswith("Split again") and "first" in one.proto.label for one in then.get("page_link")
    )
    figures = [int(re.findall(r"within ±([\d,]+)", said(one))[0].replace(",", "")) for one in (app, then)]
    assert figures[1] < figures[0]
    town = {"column": "=town", "merged": [["first", [f"t{place}" for place in range(15)]]]}
    table.ask(table.query("overview", columns=[town, "sex"], epsilon="0.3"), "together")
    board = open_page("board", table="people", look="together", of="=town")
    assert "first" in "".join(pictures(board)) and "median" not in said(board)


@pytest.mark.every(3)
@pytest.mark.parametrize("wrong", [{"by": "nobody"}, {"by": "sex", "group": "?"}, {"as": "[]"}, {"page": "99"}])
def test_a_wrong_address_still_shows_the_board(answer: dp.Answer, wrong: dict[str, Any]) -> None:
    assert "everything here is now free" in said(open_page("board", table="people", look=answer.request_id, **wrong))


@pytest.mark.long
def test_nothing_is_shown_of_a_group_where_no_pair_was_bought(table: dp.Table) -> None:
    """An estimate would be everyone's figures under the name of the group."""
    bare = table.ask(table.query("overview", epsilon="0.2"), "no pairs")
    app = open_page("board", table="people", look=bare.request_id, by="sex", group="f")
    text = said(app)
    assert "You picked “f” of sex. This first look holds each column alone" in text and "Estimated" not in text
    assert "Unknown" not in text  # said once, not on every card
    links = [(one.proto.page, one.proto.label) for one in app.get("page_link") if "takes" in one.proto.label]
    asks, pairs = links[:-1], links[-1]
    assert asks and all("where sex is f" in label for _, label in asks) and "Buy all pairs with sex" in pairs[1], links
    assert len(pictures(app)) == 1  # of the column itself
    for by in ("age", "since", "=town"):
        links = open_page("board", table="people", look=bare.request_id, by=by).get("page_link")
        asks = [one.proto for one in links if "ask" in one.proto.page and " where " in one.proto.label]
        assert asks and all("where=" in one.query_string for one in asks), by
    full = open_page("board", table="people", look=bare.request_id, by="sex", group="f", of="age")
    assert len(pictures(full)) == 1 and "no promise" not in said(full)


def bar(label: str, low: float, high: float, extra: bool = False) -> Bar:
    faint = low <= 0
    return Bar(label, label, max(low, 0) + 1, low, high, "", extra, faint, f"{high} %")


def test_a_long_list_shows_what_is_there_and_tells_the_rest_in_one_line() -> None:
    """A picture of the ten largest draws of noise says nothing; how much each of them can be at most does."""
    lands = [bar("A", 80, 90), *(bar(f"n{place}", 0, 1 + place / 100) for place in range(200)), bar("B", 2, 4)]
    card = Card("land", tuple(lands), False, "", False, 1.0)
    assert [one.label for one in card.shown] == ["A", "B"] and len(card.rest) == 200
    assert card.below == say("board_page.rest_none", rest=200, most="2.99 %")
    many = Card("job", tuple(bar(f"j{place}", 5, 6 + place) for place in range(14)), False, "", False, 1.0)
    assert len(many.shown) == 10 and card.below != many.below and "each at most" in many.below
    few = Card("sex", (bar("m", 40, 50), bar("x", 0, 2)), False, "", False, 1.0)
    assert len(few.shown) == 2 and few.below == say("many.grey")
    assert not Card("sex", (bar("m", 40, 50), bar("f", 40, 50)), False, "", False, 1.0).below


def test_no_gain_is_offered_that_cannot_be_read(table: dp.Table) -> None:
    for epsilon in ("0.05", "0.2", "1", "4"):
        app = open_page("board", table="people", epsilon=epsilon)
        for label in (one.proto.label for one in app.get("page_link")):
            if told := re.search(r"±(\S+) instead of ±(\S+)", label):
                assert told[1] != told[2], label


def test_what_shows_little_stands_behind_one_line_unless_all_does() -> None:
    lands, sexes, ages = (Card(name, (), False, "", "", score) for name, score in (("l", 0.01), ("s", 0.4), ("a", 0.3)))
    assert board_result._apart((sexes, ages, lands), Picked()) == ((sexes, ages), (lands,))
    assert board_result._apart((sexes, lands), Picked(by="s", group="f")) == ((sexes, lands), ())  # of a group: unlike
    assert board_result._apart((lands,), Picked()) == ((lands,), ())


def test_how_much_a_picture_shows(monkeypatch: pytest.MonkeyPatch) -> None:
    """Shares and their ranges: half and half, nearly all in one bar, nothing but noise."""
    told = {
        "halves": [(0.5, 0.45, 0.55), (0.5, 0.45, 0.55)],
        "one": [(0.97, 0.95, 0.99), (0.03, 0.01, 0.05)],
        "noise": [(0.4, 0.0, 1.0), (0.6, 0.0, 1.0)],
    }
    figures = {name: [Figure(str(at), *one, "measured") for at, one in enumerate(ends)] for name, ends in told.items()}
    monkeypatch.setattr(look_groups, "of_everyone", lambda _, column: figures[column])
    shown = {name: look_groups.shown_beyond_noise(None, name) for name in told}  # type: ignore[arg-type]
    assert shown == {"halves": pytest.approx(0.45), "one": pytest.approx(0.01), "noise": 0}


def test_a_public_lookup_takes_the_place_of_a_list_s_values(answer: dp.Answer) -> None:
    """Pasted; what it gains is a link, as for values that are put together by hand."""
    app = open_page("board", table="people", new="1")
    next(one for one in app.selectbox if "merge-column" in str(one.key)).set_value("=town").run()
    next(one for one in app.text_area if "lookup" in str(one.key)).set_value("town;region\nt0;a\nt1;a\nt2;b").run()
    links = [one.proto.label for one in app.get("page_link")]
    assert any("by the 2 groups of the list" in label for label in links), links
    next(one for one in app.text_area if "lookup" in str(one.key)).set_value("nobody").run()
    assert "Each line needs a value and its group" in said(app)
