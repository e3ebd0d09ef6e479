"""A question that a check doubts, on a plan and in a session: said before anything is paid, with the ways out."""

from __future__ import annotations

import json
import re
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
from helpers_page import html_of, open_page, plain, until

import dpengine as dp
from dpengine.core.exact import text_of
from dpengine.messages import say
from dpengine.planning import training

PEOPLE = 8_000


def school(home: dp.Workspace, name: str) -> dp.Table:
    """Half of the marks are 9, and 99 is a fifth of the ages: the noise hides that with a chance below 1e-9."""
    ages = np.random.default_rng().integers(18, 90, PEOPLE)
    ages[: PEOPLE // 5] = 99
    frame = pd.DataFrame({"age": ages, "mark": [3, 9] * (PEOPLE // 2), "wait": [3, 5] * (PEOPLE // 2)})
    schema = dp.Schema({"age": dp.Number(0, 120), "mark": dp.Number(0, 5), "wait": dp.Number(0, 50)})
    return home.add_table(name, frame, schema=schema, unit=dp.Unit.rows(), budget=dp.Budget("20", "1e-6"))


def rows(*columns: str) -> str:
    return json.dumps([["mean", {"column": one, "epsilon": "0.5"}, "3", False] for one in columns])


@pytest.mark.long
def test_a_plan_says_what_is_doubted_before_it_is_run_and_counts_it_afterwards(home: dp.Workspace) -> None:
    table = school(home, "planned school")
    table.ask(table.query("fit_checks", columns=["age", "mark", "wait"], epsilon="1"))
    spent = table.meter().used
    app = open_page("several", table=table.name, plan=rows("age", "mark", "wait"))
    shown = plain(html_of(app))
    assert shown.count("So it will not be asked.") == 2 and say("fit.others.link") in shown
    (go,) = [one for one in app.button if str(one.key).startswith("plan-run-")]
    go.click().run()
    until(app, lambda: "The plan was run" in plain(html_of(app)))
    shown = plain(html_of(app))
    assert say("plan.done", done=1, total=3) in shown and say("plan.not_asked", count=2) in shown
    assert "most lie above 5" in shown and table.meter().charges == 2
    mended = [one for one in app.button if one.label == say("fit.way.code", column="age", code="99")]
    fitting = [one for one in app.button if one.label == say("fit.way.fitting")]
    assert len(mended) == 1 and len(fitting) == 2, "each has its ways out"
    assert spent < table.meter().used
    fitting[-1].click().run()
    until(app, lambda: table.meter().charges == 3 and "of cells that fit" in plain(html_of(app)))


@pytest.mark.long
def test_a_plan_of_doubted_questions_alone_is_not_run(home: dp.Workspace) -> None:
    table = school(home, "doubted school")
    table.ask(table.query("fit_checks", columns=["age", "mark", "wait"], epsilon="1"))
    app = open_page("several", table=table.name, plan=rows("mark"))
    assert "So it will not be asked." in plain(html_of(app))
    assert not [one for one in app.button if str(one.key).startswith("plan-run-")]


@pytest.mark.long
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


FORMS = {
    "synthetic": {"columns": '["age", "wait"]'},
    "publish": {"columns": '["age"]'},
    "train": {"target": "wait", "features": '["age"]'},
}


def bought(table: dp.Table, page: str) -> dp.Answer:
    """What this page buys, of ages and waits, as the page asks for it."""
    asked = {
        "synthetic": ("synthetic_table", {"columns": ["age", "wait"], "plan": "pairs"}),
        "publish": ("publish_number", {"columns": ["age"]}),
        "train": ("train_linear", {"target": "wait", "features": ["age"], "steps": 5}),
    }
    key, given = asked[page]
    return table.ask(table.query(key, epsilon="1", **given), checked=True)


PLACES = {"synthetic": "made", "publish": "published", "train": "trained"}


@pytest.mark.long
@pytest.mark.parametrize("page", FORMS)
def test_what_is_made_of_a_doubted_column_is_refused_with_its_ways_out(home: dp.Workspace, page: str) -> None:
    """Half of the marks and a fifth of the ages were silently in made-up rows, and a published column had no ways."""
    table = school(home, f"{page} school")
    with pytest.raises(dp.ColumnDoubted) as doubted:
        bought(table, page)
    assert "exactly 99" in str(doubted.value) and table.meter().charges == 1, "only the check is paid for"
    app = open_page(page, table=table.name, **FORMS[page])
    shown = plain(html_of(app))
    assert "are exactly 99" in shown and say("fit.not_asked") in shown
    assert any(one.label == say("fit.way.code", column="age", code="99") for one in app.button)
    assert not [one for one in app.button if str(one.key).startswith(f"{page}-go")]


@pytest.mark.long
@pytest.mark.parametrize("page", FORMS)
def test_few_codes_in_what_is_made_of_a_column_are_said_in_the_size_of_the_headline(
    home: dp.Workspace, page: str
) -> None:
    """One in twenty of the ages is 99: too few to refuse, and said. The check cannot miss it: its noise is below 5."""
    ages = np.random.default_rng().integers(18, 90, PEOPLE)
    ages[: PEOPLE // 20] = 99
    frame = pd.DataFrame({"age": ages, "wait": [3, 5] * (PEOPLE // 2)})
    schema = dp.Schema({"age": dp.Number(0, 120), "wait": dp.Number(0, 50)})
    table = home.add_table(f"few {page}", frame, schema=schema, unit=dp.Unit.rows(), budget=dp.Budget("90", "1e-6"))
    table.ask(table.query("fit_checks", columns=["age", "wait"], epsilon="20"))
    answer = bought(table, page)
    shown = html_of(open_page(page, table=table.name, **{PLACES[page]: answer.request_id}))
    notes = [plain(note) for note in re.findall(r'<p class="headline-note">(.*?)</p>', shown)]
    assert any("exactly 99" in note for note in notes), notes


def test_a_model_read_off_counts_is_refused_too_and_a_first_look_is_not(home: dp.Workspace) -> None:
    """A first look has a card, with its own check, for each column; a model has one answer."""
    table = school(home, "counted school")
    table.ask(table.query("fit_checks", columns=["age", "mark", "wait"], epsilon="1"))
    look = table.query("overview", columns=["age", "wait"], epsilon="0.5")
    model = table.query("overview", **training.look_for_model(table.schema, "wait", ["age"]), epsilon="0.5")
    assert not look.predicts and table.doubts(look) is None
    assert model.predicts == "wait" and table.doubts(model) is not None


@pytest.mark.every(7)
@pytest.mark.parametrize(
    ("page", "given", "button"),
    [
        ("synthetic", FORMS["synthetic"], "synthetic-go"),
        ("publish", FORMS["publish"], "publish-go"),
        ("train", FORMS["train"], "train-go"),
        ("train", {"target": "sex", "features": '["age"]'}, "train-go"),
        ("board", {}, "board-go"),
        ("several", {"view": "after"}, "session-go"),
    ],
    ids=["synthetic", "publish", "train", "counts", "look", "session"],
)
def test_a_click_that_is_refused_draws_the_page_with_one_refusal(
    home: dp.Workspace, page: str, given: dict[str, str], button: str
) -> None:
    """The form writes the address anew, without the request: the refusal stood there twice, and no page was drawn."""
    draw = np.random.default_rng()
    ages = draw.integers(18, 90, PEOPLE)
    ages[: PEOPLE // 5] = 99
    frame = pd.DataFrame({"age": ages, "sex": draw.choice(["f", "m"], PEOPLE), "wait": [3, 5] * (PEOPLE // 2)})
    if page in ("board", "several"):  # they are refused for their rows alone
        frame["Pupil no."] = np.arange(PEOPLE) // 7
    columns = {"age": dp.Number(0, 120), "sex": dp.Category(["f", "m"]), "wait": dp.Number(0, 50)}
    table = home.add_table(
        f"{page} {len(given)}", frame, schema=dp.Schema(columns), unit=dp.Unit.rows(), budget=dp.Budget("20", "1e-6")
    )
    app = open_page(page, table=table.name, **given)
    (go,) = [one for one in app.button if str(one.key).startswith(button)]
    go.click().run()
    until(app, lambda: say("fit.not_asked_paid", share="§").split("§")[0] in plain(html_of(app)))
    failed = say("page.failed")
    for _ in range(2):
        told = plain(html_of(app))
        assert not app.exception and failed not in told
        assert sum(told.count(word) for word in ("are exactly 99", "seems to have several rows")) == 1
        app.run()
