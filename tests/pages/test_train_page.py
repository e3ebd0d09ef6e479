"""The Train page without a browser: what is refused, what is promised, what is told of a model, and its files."""

from __future__ import annotations

import json
import math
import re
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import replace
from io import BytesIO
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from helpers_page import html_of, open_page, pictures, plain
from helpers_shapes import TARGET, asked, looked, people
from openpyxl import load_workbook
from streamlit.testing.v1 import AppTest

import dpengine as dp
from dpengine.core.printed import percent_left
from dpengine.mechanisms.models.of_gradients import OfGradients
from dpengine.messages import say
from dpengine.released import model_scripts
from tests.helpers_ledger import PATIENCE
from ui.ask.answer import card_sentence
from ui.ledger import report
from ui.parts import exports, history
from ui.train import train as train_result
from ui.words import figures

pytestmark = pytest.mark.usefixtures("shared")

PEOPLE = 300
ODD = 'a "quoted"\\ {name}'


@pytest.fixture(scope="module")
def tables(shared: dp.Workspace) -> Iterator[dict[str, dp.Table]]:
    frame = pd.DataFrame(
        {
            "pay": [str(place % 101) for place in range(PEOPLE)],
            ODD: [str(place % 7 / 2) for place in range(PEOPLE)],
            "town": [
                ("a'b", "e")[place % 2] if place % 30 else "c\nd" for place in range(PEOPLE)
            ],  # few are not listed
            "born": [f"2000-01-{place % 28 + 1:02}" for place in range(PEOPLE)],
            "car": ["yes" if place % 2 else "no" for place in range(PEOPLE)],
            "held": ["x|y"] * PEOPLE,
        }
    )
    schema = dp.Schema(
        {
            "pay": dp.Number(0, 100),
            ODD: dp.Number(0, 3, step="0.5", missing=0),
            "town": dp.Category(["a'b", "e"]),
            "born": dp.Date("2000-01-01", "2000-01-31"),
            "car": dp.Category(["yes", "no"], "no", "no", {"1": "yes"}),
            "held": dp.ItemSet(["x", "y"], "|", 2),
        }
    )
    terms: dict[str, dict[str, Any]] = {
        "rows": {},
        "secret": {"relation": "add_remove", "about_rows": PEOPLE},
        "pure": {"budget": dp.Budget("20", "0")},
        "sets": {"schema": dp.Schema({"held": schema["held"], "pay": schema["pay"]})},
    }
    made = {}
    for place, (name, given) in enumerate(terms.items()):
        usual = {"schema": schema, "budget": dp.Budget("20", "1e-6"), "unit": dp.Unit.rows()}
        made[name] = shared.add_table(name, frame.iloc[: PEOPLE - place], **(usual | given))
    yield made


def opened(page: str = "train", **address: str) -> AppTest:
    return open_page(page, **address)


def said(app: AppTest) -> str:
    return plain(html_of(app))


def buttons(app: AppTest) -> list[Any]:
    return [one for one in app.button if "Train — takes" in one.label]


GIVEN = {"table": "rows", "target": "pay", "features": '["car"]', "share": "20"}


@pytest.mark.every(9)
@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        ({"table": "sets"}, "A model needs a column to predict"),
        ({"features": "[]"}, "Choose at least one column"),
        ({"features": '["nobody", 7, ["car"]]'}, "Choose at least one column"),
        ({"steps": "0"}, "whole number from 1 to"),
        ({"steps": "many"}, "steps"),
        ({"rate": "-1"}, "step size"),
        ({"epsilon": "NaN"}, "ε"),
        ({"epsilon": "30"}, "costs more than"),
        ({"table": "pure", "calibration": "gaussian"}, "needs an allowance with δ above 0"),
    ],
)
def test_bad_input_gets_one_sentence_and_spends_nothing(
    tables: dict[str, dp.Table], given: dict[str, str], sentence: str
) -> None:
    app = opened(**(GIVEN | given))
    assert sentence in said(app) and "Traceback" not in said(app)
    assert all(one.disabled for one in buttons(app)) and not any(table.history() for table in tables.values())


@pytest.mark.long
def test_the_preview_tells_the_worth_of_three_kinds_of_noise(tables: dict[str, dp.Table]) -> None:
    app = opened(**GIVEN | {"share": "80"})
    text = said(app)
    assert "are typically off by at most" in text and "in pay more than the best such model" in text
    assert all(name in text for name in ("Gaussian", "Laplace, as one length", "Laplace, weight by weight"))
    assert len(pictures(app)) == 2 and not buttons(app)[0].disabled
    amber = said(opened(**GIVEN | {"epsilon": "0.01"}))
    assert "nothing better than one guess for everybody" in amber
    pure = said(opened(**GIVEN | {"table": "pure", "target": "car", "features": '["pay"]', "share": "100"}))
    assert "at most" in pure and "% worse than the best such model" in pure and "needs an allowance with δ" in pure
    assert "Steps of this size may overshoot" in said(opened(**GIVEN | {"rate": "9"}))


@pytest.mark.long
def test_the_lecture_s_number_of_steps_stands_beside_the_usual_one(tables: dict[str, dp.Table]) -> None:
    text = said(opened(**GIVEN | {"share": "80"}))
    assert "T = ε²n²/(d²·ln(1/δ))" in text and "n ≥ d√(T·ln(1/δ))/ε" in text and "the lecture’s" in text
    assert "Times are estimated" in text and re.search(r"\b\d+ seconds?\b", text)
    small = said(opened(**GIVEN | {"epsilon": "0.001"}))
    assert "not even one step would be worth" in small
    pure = said(opened(**GIVEN | {"table": "pure", "share": "80"}))
    assert "needs a δ above 0, and this allowance has none" in pure


@pytest.mark.long
def test_yes_or_no_can_be_learned_in_three_ways_each_in_words_of_its_own(tables: dict[str, dp.Table]) -> None:
    """A number in one way only, which is not asked about."""
    given = GIVEN | {"target": "car", "features": '["pay"]', "share": "80"}
    app = opened(**given)
    [choice] = app.button_group
    assert choice.options == ["Value by value", "Predict yes or no", "Separate yes from no"]
    assert "what each value of each column adds" in said(app) and "support vector machine" not in said(app)
    steps = opened(**given | {"kind": "train_logistic"})
    assert "how the chance of a yes depends" in said(steps) and not buttons(steps)[0].disabled
    other = opened(**given | {"kind": "train_hinge"})
    assert "support vector machine" in said(other) and "It gives a score, not a chance" in said(other)
    assert "% worse than the best such model" in said(other) and not buttons(other)[0].disabled
    assert "as usual: the average of all steps" in [one.options[0] for one in other.selectbox]
    assert not opened(**GIVEN).button_group
    assert "are typically off by" in said(opened(**GIVEN | {"share": "80", "kind": "train_hinge"}))


@pytest.fixture(scope="module")
def answer(tables: dict[str, dp.Table]) -> dp.Answer:
    query = tables["rows"].query("train_linear", target="pay", features=[ODD, "town", "born"], epsilon="0.5", steps=3)
    return tables["rows"].ask(query, "trained=&one")


def model_of(answer: dp.Answer) -> Any:
    assert isinstance(answer.query, OfGradients) and answer.path is not None
    return answer.query.model(answer.path.weights)


@pytest.mark.long
def test_a_model_is_shown_tried_out_and_listed(tables: dict[str, dp.Table], answer: dp.Answer) -> None:
    spent = tables["rows"].meter().spent_epsilon
    values = {ODD: 1.5, "town": "e", "born": "2000-01-05"}
    app = opened(table="rows", trained=answer.request_id, **{"with": json.dumps(values)})
    text = said(app)
    assert train_result.headline(answer)[0] in text and "not what causes what" in text
    assert f"pay: about {figures.bare(model_of(answer).predict(values))}" in text
    assert "for every 0.2" in text or "for every 0.5" in text
    assert "Full figure: A model of pay from 3 columns" in text
    assert "No ranges: steps that start at the noisy average" in text and len(pictures(app)) == 1
    opened(table="rows", trained=answer.request_id, **{"with": '{"town": 7, "born": "soon", "x": [1]}'})
    assert "Trained before" in said(opened(table="rows")) and "not a trained model" not in text
    assert tables["rows"].meter().spent_epsilon == spent, "a prediction costs"
    assert "not a trained model" in said(opened(table="secret", trained=answer.request_id))


@pytest.mark.long
def test_where_there_is_no_range_the_page_says_why(tables: dict[str, dp.Table], answer: dp.Answer) -> None:
    wide = replace(answer, interval=dict.fromkeys(answer.value, (-500.0, 500.0)))
    assert {row[2] for row in train_result.word_rows(wide)} == {"anything"}, "wider than all there can be"
    table = tables["secret"]
    found = table.ask(table.query("train_logistic", target="car", features=["pay"], epsilon="1", steps=2))
    text = said(opened(table="secret", trained=found.request_id))
    assert found.interval is None and "No ranges: the number of rows is not public" in text
    assert "the odds of car being yes" in text and "car is yes:" in text


def test_a_stopped_training_says_that_it_stays_charged(
    tables: dict[str, dp.Table], monkeypatch: pytest.MonkeyPatch
) -> None:
    table = tables["rows"]
    monkeypatch.setattr(type(table._workspace.jobs), "cancelled", lambda jobs, request: True)
    given = {"target": "pay", "features": ["car"], "epsilon": "0.2", "steps": 50, "region": "ball"}
    found = table.ask(table.query("train_linear", **given))
    assert found.path is not None and found.path.stopped
    text = said(opened(table="rows", trained=found.request_id))
    assert "Stopped after 1 of 50 steps. The whole price stays charged" in text and "Promise: " not in text
    assert "It was stopped early" in said(opened("ask", table="rows", answer=found.request_id))


@pytest.mark.long
def test_a_click_trains_on_the_worker_and_the_address_finds_it(tables: dict[str, dp.Table]) -> None:
    app = opened(table="pure", target="pay", features='["car"]', share="10", steps="2")
    buttons(app)[0].click().run()
    held = app.query_params["trained"]
    request = held[0] if isinstance(held, list) else held
    workspace = dp.open_workspace(tables["pure"]._workspace.folder)
    deadline = time.monotonic() + PATIENCE
    while not workspace.job(request).over:
        assert time.monotonic() < deadline
        time.sleep(0.05)
    app.run()
    assert "How it computes" in said(app) and len(tables["pure"].history()) == 2


def test_ask_ledger_plan_report_and_exports_tell_of_it(tables: dict[str, dp.Table], answer: dp.Answer) -> None:
    table, told = tables["rows"], "A model of pay from 3 columns"
    assert told in said(opened("ask", table="rows", answer=answer.request_id))
    assert told in said(opened("answers", view="ledger", table="rows"))
    assert told in report.html(table, (1, "0" * 64), "2026-01-02T03:04:05+00:00")
    plan = json.dumps([["train_linear", {"target": "pay", "features": ["car"], "epsilon": "1"}, "0.4", 0]])
    assert "A model that predicts pay from car" in said(opened("several", table="rows", plan=plan))
    assert "town = e" in exports.answer_csv(answer)
    [found] = dp.open_workspace(table._workspace.folder).check_receipts(json.dumps(answer.receipt).encode(), "r.json")
    assert found.ok
    entry = next(one for one in table.history() if one.charge.request == answer.request_id)
    assert history.answer_link(entry.charge) == "train?table=rows&amp;trained=trained%3D%26one"


def test_the_python_file_stands_alone_and_says_what_the_engine_says(answer: dp.Answer, tmp_path: Path) -> None:
    """Also where names and values are of the kind that breaks a program that is pasted together."""
    model = model_of(answer)
    file, rows = tmp_path / "model.py", tmp_path / "rows.csv"
    file.write_text(model_scripts.script_of(model, "a\nb", "0" * 64), encoding="utf-8")
    asked = [
        {ODD: number, "town": town, "born": born}
        for number in (-1, 0, 0.3, 1.5, 2.75, 99)
        for town in ("a'b", "E ", "elsewhere")
        for born in ("1999-12-31", "2000-01-09", "2000-02-01")
    ]
    pd.DataFrame(asked).to_csv(rows, index=False)
    told = subprocess.run([sys.executable, "-I", "-S", file, rows], capture_output=True, text=True, check=True).stdout
    assert [float(line) for line in told.split()] == pytest.approx([model.predict(row) for row in asked], rel=1e-9)
    kept = json.loads(train_result.model_json(answer, model))
    assert kept["model"] == model.as_json() and kept["coefficients"] == answer.value


def test_cells_are_read_as_the_table_was_read(tables: dict[str, dp.Table]) -> None:
    """Other spellings, empty cells, and a model of yes and no."""
    query = tables["rows"].query("train_logistic", target="car", features=[ODD], epsilon="0.2", steps=1)
    assert isinstance(query, OfGradients)
    scored: dict[str, Any] = {}
    exec(model_scripts.script_of(query.model((2**24, -(2**23))), "", ""), scored)
    model = query.model((2**24, -(2**23)))
    assert scored["predict"]({ODD: ""}) == pytest.approx(model.predict({ODD: 0}))
    query = tables["rows"].query("train_hinge", target="car", features=[ODD], epsilon="0.2", steps=1)
    assert isinstance(query, OfGradients)
    model = query.model((-(2**24), 2**24))
    exec(model_scripts.script_of(model, "", ""), scored)
    told = [scored["predict"]({ODD: value}) for value in (0, 1, 3)]
    assert told == pytest.approx([model.predict({ODD: value}) for value in (0, 1, 3)]) and told[0] < 0
    query = tables["rows"].query("train_linear", target="pay", features=["car", "born"], epsilon="0.2", steps=1)
    assert isinstance(query, OfGradients)
    model = query.model(tuple(range(2**20, 2**20 * 5, 2**20)))
    exec(model_scripts.script_of(model, "", ""), scored)
    told = [scored["predict"]({"car": car, "born": "2000-01-02"}) for car in ("1", " YES", "", None, "maybe")]
    yes, no = (model.predict({"car": car, "born": "2000-01-02"}) for car in ("yes", "no"))
    assert told == pytest.approx([yes, yes, no, no, no]) and yes != no
    with pytest.raises(ValueError, match="born"):
        scored["predict"]({"car": "yes"})


@pytest.mark.long
def test_a_model_is_checked_at_a_price_of_its_own(tables: dict[str, dp.Table], answer: dp.Answer) -> None:
    where = {"table": "rows", "trained": answer.request_id}
    assert "a question with its own price" in said(opened(**where))
    table, model = tables["rows"], model_of(answer).as_json()
    table.ask(table.query("check_model", model=model, epsilon="0.5"), "checked one")
    app = opened(**where, checked="checked one")
    assert "Typically off by about" in said(app) and "What it predicts, and what is true" in said(app)
    assert any("Check it once more" in one.label for one in app.expander)
    other = table.ask(table.query("train_logistic", target="car", features=["pay"], epsilon="0.2", steps=2))
    table.ask(table.query("check_model", model=model_of(other).as_json(), epsilon="0.5"), "checked two")
    text = said(opened(table="rows", trained=other.request_id))
    assert "Right for about" in text and say("check_model.flattery_none") in text
    line = table.ask(table.query("train_hinge", target="car", features=["pay"], epsilon="0.2", steps=2))
    table.ask(table.query("check_model", model=model_of(line).as_json(), epsilon="0.5"), "checked three")
    text = said(opened(table="rows", trained=line.request_id))
    assert "the score for car being yes" in text and "(score " in text and "loss has a corner" in text
    assert "Right for about" in text and "sorted by their score" in text and "dashed" not in text
    alone = re.compile(r"[Rr]ight for about [\d.]+ % (?!\([\d.]+ to [\d.]+ %\); always guessing “[^”]+” is right for)")
    for view in ("list", "ledger"):
        told = said(opened("answers", table="rows", view=view))
        assert "always guessing “" in told and not alone.search(told), "how often it is right stands alone"
    told = said(opened("answers", table="rows"))
    assert "Measured on this table: Right for about" in told
    lost = said(opened(**where, checked="nobody"))
    assert "not in this workspace’s ledger" in lost and "Typically off by about" in lost


@pytest.mark.long
def test_what_was_released_before_a_check_counts_in_how_much_a_model_may_flatter_itself(
    tables: dict[str, dp.Table], shared: dp.Workspace
) -> None:
    """The training alone; after bars that may have led to the next model; and after so much that nothing is said."""
    sides = dp.Category(["yes", "no"], "no", "no")
    frame = pd.DataFrame({"x": [place % 4 for place in range(400)], "y": ["yes", "no"] * 200})
    schema = dp.Schema({"x": dp.Number(0, 3, step=1, missing=0), "y": sides})
    table = shared.add_table("flat", frame, schema=schema, unit=dp.Unit.rows(), budget=dp.Budget("8", "1e-6"))

    def told() -> tuple[dp.Answer, str]:
        trained = table.ask(table.query("train_logistic", target="y", features=["x"], epsilon="0.02", steps=2))
        found = table.ask(table.query("check_model", model=model_of(trained).as_json(), epsilon="0.01"))
        return found, train_result.flattery_words(table, found)

    first, words = told()
    [points] = re.findall(r"at most ([\d.]+) percentage points", words)
    assert (
        float(points) == pytest.approx(100 * math.sqrt(0.02**2 / 2 / 2), rel=0.15) and "all earlier releases" in words
    )
    table.ask(table.query("histogram", column="x", epsilon="0.2"))
    _, after = told()
    [more] = re.findall(r"at most ([\d.]+) percentage points", after)
    assert float(more) > 4 * float(points)
    assert train_result.flattery_words(table, first) == words, "what came after the check changes nothing"
    table.ask(table.query("histogram", column="x", epsilon="3"))
    assert told()[1] == say("check_model.flattery_none")


def test_a_check_that_ends_while_the_page_is_drawn_is_in_its_meter(
    tables: dict[str, dp.Table], answer: dp.Answer, monkeypatch: pytest.MonkeyPatch
) -> None:
    table, here, before = tables["rows"], train_result.workspace, percent_left(tables["rows"].meter().unused)

    def late() -> Any:
        table.ask(table.query("check_model", model=model_of(answer).as_json(), epsilon="2"), "late")
        return here()

    monkeypatch.setattr(train_result, "workspace", late)
    text = " ".join(said(opened(table="rows", trained=answer.request_id, checked="late")).split())
    after = " ".join(percent_left(table.meter().unused).split())
    assert after != before and f"{after} left" in text and f"{before} left" not in text


def test_a_brought_file_comes_back_with_one_column_more_and_nothing_of_it_is_kept(
    tables: dict[str, dp.Table], answer: dp.Answer
) -> None:
    table, model = tables["rows"], model_of(answer)
    folder, spent = table._workspace.folder, table.meter().used
    app = opened(table="rows", trained=answer.request_id)
    assert "under the same names: " + ", ".join(model.layout.names) in said(app)
    key = f"score-file-{answer.request_id}"
    names, filled = list(model.layout.names), {"pay": "4", "town": "b", "car": "yes", "born": "2000-01-02"}
    cells = ",".join(filled.get(name, "1") for name in names)
    content = f"note,{','.join(names)}\n=SECRET,{cells}\n-5,{cells}\n"
    app.file_uploader(key=key).set_value(("mine.csv", content.encode(), "text/csv")).run()
    assert not app.exception and "2 rows were read" in said(app) and "SECRET" not in said(app)
    done = app.session_state["scored-file"][1]
    first, one, two = train_result.as_text(done).decode("utf-8-sig").splitlines()
    assert first.startswith("note,") and one.startswith("'=SECRET,") and two.startswith("-5,")
    row = dict(zip(names, cells.split(","), strict=True))
    assert float(one.rsplit(",", 1)[1]) == pytest.approx(model.predict(row), rel=1e-4)
    sheet = load_workbook(BytesIO(train_result.in_sheet(done))).active
    assert sheet is not None and sheet.max_row == 3 and sheet.cell(3, 1).value == -5
    left = [path for path in (folder / "tmp").iterdir() if path.is_file()]
    assert not [path for path in left if b"SECRET" in path.read_bytes()], "the file was kept"
    for wrong, sentence in ((b"a\n1\n", "lacks"), (b"PAR1" + bytes(9), "Parquet"), (b"", "empty")):
        app = opened(table="rows", trained=answer.request_id)
        app.file_uploader(key=key).set_value(("mine.csv", wrong, "text/csv")).run()
        assert not app.exception and sentence in said(app) and "were read" not in said(app)
    assert table.meter().used == spent, "predicting for a file costs"


# --- read off a first look --------------------------------------------------------------------------------------------


@pytest.mark.long
def test_yes_or_no_is_bought_as_a_first_look_and_the_model_is_read_off_it(tables: dict[str, dp.Table]) -> None:
    """The price and what is promised stand before it; after it, guessing stands beside the model."""
    app = opened(table="secret", target="car", features='["pay", "town"]', share="20")
    text = said(app)
    assert "Not offered: held." in text
    assert "all at once, 95 times in 100" in text and "is not promised: that depends on your table" in text
    [button] = [one for one in app.button if one.label.startswith("Train the model — takes")]
    button.click().run()
    held = app.query_params["shapes"]
    request = held[0] if isinstance(held, list) else held
    workspace = dp.open_workspace(tables["secret"]._workspace.folder)
    deadline = time.monotonic() + PATIENCE
    while not workspace.job(request).over:
        assert time.monotonic() < deadline
        time.sleep(0.05)
    spent = tables["secret"].meter().spent_epsilon
    text = said(app.run())
    assert "right for about" in text and "always guessing “" in text
    assert re.search("The estimate is no promise|do not rely on it|no better than guessing|It can rank", text)
    assert "each column was left out in turn" in text and "Already paid for" not in text
    again = opened(table="secret", target="car", features='["pay"]')
    assert "Already paid for" in said(again) and "Models from first looks you bought: free" in said(again)
    other = said(opened(table="secret", shapes=request, target="town", positive="e", features='["pay", 7, "nobody"]'))
    assert "Not for decisions about a single person" in other and "Check this model" in other
    assert "What goes with town" in other and re.search("always guessing “(not )?e”", other), "half are e"
    assert tables["secret"].meter().spent_epsilon == spent, "another model of the same figures costs"
    found = workspace.job(request).answer
    assert found is not None and found.query.predicts == "car"
    told = said(opened("answers", table="secret"))
    assert "A model that predicts car from 2 other columns, with a first look at all of them" in told
    assert "Whether car is yes: right for about" in told and "Pictures of" not in told
    assert re.search(
        r"right for about \d+ of 100 people, by a rough estimate; always guessing “[^”]+” is right for", told
    )
    entry = next(one for one in tables["secret"].history() if one.charge.request == request)
    assert history.answer_link(entry.charge) == f"train?table=secret&amp;shapes={request}&amp;target=car"
    assert "always guessing “" in card_sentence(found) and "always guessing “" in history.outcome(entry)


def test_near_the_ends_of_a_chance_no_figure_is_told() -> None:
    model = looked(asked(epsilon="4"), people()).model(TARGET, ["yes"])
    told = [train_result.would(model, said) for said in (0.0, 0.5, 1.0)]
    assert ["5 of 100 or fewer" in told[0], "50 %" in told[1], "95 of 100 or more" in told[2]] == [True] * 3
    assert not any("100 %" in words or " 0 %" in words for words in told)


def test_the_model_page_needs_no_table(tables: dict[str, dp.Table]) -> None:
    table = tables["sets"]
    found = table.ask(table.query("overview", columns=["pay"], epsilon="1"), "pay alone")
    assert "no model can be made" in said(opened(table="sets", shapes=found.request_id))
    assert "not a first look" in said(opened(table="rows", shapes="nobody"))
