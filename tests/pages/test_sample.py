"""A random sample on the pages: said while adding or later, both ranges in words and pictures, in both languages."""

from __future__ import annotations

import csv
import io
import json
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import docx
import numpy as np
import pandas as pd
import pytest
from helpers_declare import Page
from helpers_page import open_page

import dpengine as dp
from dpengine.accountant.history import Past
from dpengine.asking import beyond
from dpengine.asking.exports import Account
from dpengine.mechanisms import catalogue
from dpengine.messages import plain, say
from dpengine.messages.language import speaking
from dpengine.noise.coins import SystemCoins
from dpengine.planning import both_ranges
from dpengine.released.compare import beyond_difference, compare
from ui.answers import picked, word
from ui.api import serialize
from ui.ask import answer as answers
from ui.ask import preview
from ui.board import board_figures
from ui.ledger import report
from ui.parts import exports
from ui.pictures import png
from ui.several import session
from ui.shell.state import workspace
from ui.words.wording import as_one, beyond_printed, beyond_words, range_words

pytestmark = pytest.mark.usefixtures("shared")
ROWS = "smokes,age\n" + "yes,30\nno,50\n" * 40
NAMES = iter(f"survey-{number}" for number in range(100))


def survey(tmp_path: Path, **given: Any) -> dp.Table:
    random = np.random.default_rng()
    rows = {"smokes": random.permutation(["yes", "no"] * 400), "age": random.integers(18, 90, 800)}
    rows["town"] = random.choice(["north", "south"], 800)
    pd.DataFrame(rows).to_csv(tmp_path / "survey.csv", index=False)
    age, town = dp.Number(18, 100, measure="years"), dp.Category(["north", "south"])
    schema = dp.Schema({"smokes": dp.Category(["yes", "no"]), "age": age, "town": town})
    terms: dict[str, Any] = {"schema": schema, "unit": dp.Unit.rows(), "budget": dp.Budget("3", "1e-6")}
    return workspace().add_table(next(NAMES), tmp_path / "survey.csv", **terms | {"sample": True} | given)


def share(table: dp.Table) -> dp.Answer:
    return table.ask(table.query("proportion", of=[["smokes", "in", ["yes"]]], epsilon="0.5"))


def test_the_form_asks_and_guesses_nothing() -> None:
    page = Page().upload(ROWS, "poll.csv").to("unit").set("declare-unit", "one").set("declare-relation", "replace")
    page = page.press("Go on").to("care")
    assert page.draft.sample is None and say("sample.ask.title") in page.text
    page.set("declare-sample", "sample").press("Add the table")
    assert page.draft.step == "done", page.refusals
    assert workspace().table(page.draft.added.name).facts.sample


def test_both_ranges_stand_side_by_side(tmp_path: Path) -> None:
    answer = share(survey(tmp_path))
    words = range_words(answer)
    assert words.startswith("In this table: ") and "among all such people: " in words and "% %" not in words
    with speaking("sl"):
        assert range_words(answer).startswith("V tej tabeli: ")
    rows = list(csv.DictReader(io.StringIO(exports.answer_csv(answer).removeprefix(exports.MARK))))
    ends = [float(rows[0][name]) for name in ("population_low", "low", "high", "population_high")]
    assert ends == sorted(ends)
    assert serialize.answer(answer)["population"] == list(answer.population)
    assert json.loads(json.dumps(answer.receipt))["answer"]["population"] == list(answer.population)
    page = open_page("ask", table=answer.receipt["table"], answer=answer.request_id)
    told = "".join(part.proto.body for part in page.get("html"))
    assert "among all such people" in told and say("sample.legend") in told


@pytest.mark.long
def test_bars_have_a_column_and_a_sum_an_average(tmp_path: Path) -> None:
    table = survey(tmp_path)
    bars = table.ask(table.query("histogram", column="smokes", epsilon="0.5"))
    page = open_page("ask", table=table.name, answer=bars.request_id)
    told = "".join(part.proto.body for part in page.get("html"))
    assert say("sample.column.all_percent") in told and say("sample.legend_bars", people=800) in told
    assert say("sample.several", chance="95") in range_words(bars)


@pytest.mark.every(3)
@pytest.mark.parametrize(
    "key, given, legend",
    [("crosstab", {"columns": ["smokes", "town"]}, True), ("mean", {"column": "age", "by": "smokes"}, False)],
    ids=["table", "by group"],
)
def test_a_report_draws_and_lists_both_ranges(tmp_path: Path, key: str, given: Any, legend: bool) -> None:
    """As on the page: a light box for each part, a sentence for what it is, a column of the table; in Word too."""
    table = survey(tmp_path)
    answer = table.ask(table.query(key, **given, epsilon="2"))
    said = say("sample.legend_bars", people=800) if legend else say("sample.legend")
    column = answers.beyond_column(answer)
    picture = report.picture(answer)
    assert picture.count('opacity="0.5"') >= (4 if legend else 2) and said in picture  # cells that people are in
    assert column in report._section(1, answer, "1 %")
    assert "opacity:1" not in png.svg_file(png.standalone(picture)[0])  # it would undo the lighter box
    finding = word.Finding("Ours", answer)
    printed = word._section(1, finding)
    assert said in printed and column in printed
    written = word.document(table, "Title", [finding], (7, "f" * 64), "2026-11-18")
    paper = docx.Document(io.BytesIO(written))
    heads, first = ([cell.text for cell in paper.tables[0].rows[place].cells] for place in (0, 1))
    label = next(iter(answer.value))
    assert heads[3] == column and first[3] == " – ".join(beyond_printed(answer.population[label]))
    assert said in [part.text for part in paper.paragraphs]


def test_two_groups_of_one_answer_differ_among_all_such_people_too(tmp_path: Path) -> None:
    table = survey(tmp_path)
    bars = table.ask(table.query("histogram", column="smokes", epsilon="0.5"))
    entry = table.history(1)[0]
    one, other = table.figures(entry, ["yes", "no"])
    told, found = picked.beyond_words(one, other), beyond_difference(one, other)
    assert found is not None and found.beta == bars.query.beta and found.low < 0 < found.high  # one half each
    (low, high), (least, most) = bars.population["yes"], bars.population["no"]
    assert (found.low, found.high) == (low - most, high - least)
    assert "percentage points" in told and "there may be none" in told and "95 times" in told
    words = picked.Words(compare([one, other]), [picked.Named("yes", one), picked.Named("no", other)], table.name)
    assert words.sentence().endswith(told)  # what is copied says it too
    page = open_page("answers", table=table.name)
    page.session_state[picked._PICKED] = [(bars.request_id, "yes"), (bars.request_id, "no")]
    assert told in "".join(part.proto.body for part in page.run().get("html"))


@pytest.mark.long
def test_two_answers_differ_but_for_the_sum_of_both_chances(tmp_path: Path) -> None:
    table = survey(tmp_path)
    for town in ("north", "south"):
        given = {"of": [["smokes", "in", ["yes"]]], "where": [["town", "in", [town]]]}
        table.submit_plan([table.query("proportion", **given, epsilon="1")], f"{table.name} {town}")
        assert workspace().jobs.wait(f"{table.name} {town}", 60) is not None
    (second,), (first,) = (table.figures(entry) for entry in table.history(2))
    assert second.beyond is None and picked.beyond_words(first, second) == ""  # asked of some after other answers
    told = picked.beyond_words(first, replace(first, request="another"))
    assert "90 times in 100" in told and told.endswith(say("sample.difference_two"))
    alone = survey(tmp_path, relation="add_remove", about_rows=800)
    alone.ask(alone.query("histogram", column="smokes", epsilon="1"))
    (bar, *_) = alone.figures(alone.history(1)[0])
    other = replace(bar, request="another", beyond=replace(bar.beyond, of="people in other bars"))
    assert beyond_difference(bar, other) is None  # shares of different wholes


@pytest.mark.long
def test_two_years_differ_among_all_such_people(tmp_path: Path) -> None:
    last, this = survey(tmp_path), survey(tmp_path)
    for table in (last, this):
        table.ask(table.query("mean", column="age", epsilon="2"))
    (pair,) = this.beside(last)
    assert pair.beyond is not None and pair.beyond.beta == 2 * pair.first.beyond.beta
    assert pair.beyond.low < 0 < pair.beyond.high
    page = open_page("answers", table=this.name)
    next(one for one in page.selectbox if one.key == "years-with").set_value(last.name).run()
    told = picked.beyond_words(pair.second, pair.first)
    assert "90 times in 100" in told and told in "".join(part.proto.body for part in page.get("html"))


def test_the_most_common_value_is_nearly_the_most_common_of_all(tmp_path: Path) -> None:
    table = survey(tmp_path)
    answer = table.ask(table.query("top_item", column="smokes", epsilon="1"))
    assert answer.beyond == "first" and 0 == answer.population[0] < answer.population[1] < 20
    assert "unless another is more common by less than" in range_words(answer)


@pytest.mark.every(3)
@pytest.mark.parametrize("given, words", [({}, "this order"), ({"ordered": False}, "one left out")], ids=str)
def test_several_most_common_values_have_one_gap_among_all(tmp_path: Path, given: Any, words: str) -> None:
    table = survey(tmp_path)
    column = {"column": "age", "step": 20}
    answer = table.ask(table.query("top_item", column=column, how_many=2, epsilon="2", noise="", **given))
    low, high = answer.population
    assert low == 0 < high < 25 and words in range_words(answer)
    with speaking("sl"):
        assert "Tudi med vsemi takimi ljudmi" in range_words(answer)
    rows = list(csv.DictReader(io.StringIO(exports.answer_csv(answer).removeprefix(exports.MARK))))
    assert [float(row["population_high"]) for row in rows] == [high, high]
    assert serialize.answer(answer)["population"] == [low, high] == answer.receipt["answer"]["population"]
    told = "".join(part.proto.body for part in open_page("ask", table=table.name, answer=answer.request_id).get("html"))
    assert words in told
    assert words in report._section(1, answer, "1 %")


@pytest.mark.long
def test_a_spread_has_both_ranges(tmp_path: Path) -> None:
    table = survey(tmp_path)
    answer = table.ask(table.query("variance", column="age", epsilon="2"))
    (low, high), (here, there) = answer.population, answer.interval
    assert low < here < there < high < 41 and answer.beyond == "first"
    assert range_words(answer).startswith("In this table: ") and "among all such people: " in range_words(answer)


def test_a_median_of_a_secret_number_of_people_speaks_of_all(tmp_path: Path) -> None:
    table = survey(tmp_path, relation="add_remove", about_rows=800)
    answer = table.ask(table.query("median", column="age", epsilon="2"))
    assert answer.beyond == "first" and answer.population == answer.interval
    assert "in this table and among all such people" in range_words(answer)


@pytest.mark.long
def test_where_nothing_can_be_claimed_one_sentence_says_so(tmp_path: Path) -> None:
    table = survey(tmp_path)
    table.ask(table.query("mean", column="age", epsilon="2"))
    later = share(table)
    assert later.population is None and beyond_words(later) == say("sample.seen")
    assert range_words(later).startswith("The exact answer, counted as declared, is between ")


@pytest.mark.long
def test_an_owner_says_it_later_on_the_page_of_the_table(tmp_path: Path) -> None:
    table = survey(tmp_path, sample=False)
    page = open_page("data", table=table.name)
    page.button(key="sample-change").click().run()
    assert workspace().table(table.name).facts.sample
    told = "".join(part.proto.body for part in page.get("html"))
    assert say("sample.fact.yes") in told


@pytest.mark.long
def test_the_same_of_people_with_a_row_each_made_of_their_rows(tmp_path: Path) -> None:
    name, visits = next(NAMES), pd.DataFrame({"who": [*range(60)] * 2, "smokes": ["yes", "no"] * 60})
    schema = dp.Schema({"smokes": dp.Category(["yes", "no"])})
    terms: dict[str, Any] = {"schema": schema, "budget": dp.Budget(1, "1e-6")}
    workspace().add_table(name, visits, unit=dp.Unit.column("who", 2), **terms)
    assert not [one for one in open_page("data", table=name).button if one.key == "sample-change"]
    people = workspace().one_row_a_person(name, next(NAMES), {"times": dp.Summary("count", lower=0, upper=5)})
    open_page("data", table=people.name).button(key="sample-change").click().run()
    assert workspace().table(people.name).facts.sample


def test_where_no_range_is_known_no_earlier_answer_is_blamed(tmp_path: Path) -> None:
    """A sum of some people has no range for all such people, first or later; a share of some has one if asked first."""
    table = survey(tmp_path)
    north = [["town", "in", ["north"]]]
    table.ask(table.query("count", where=north, epsilon="0.01"))
    kind = table.ask(table.query("sum", column="age", where=north, epsilon="1"))
    assert beyond_words(kind) == say("sample.kind")
    lost = table.ask(table.query("proportion", of=[["smokes", "in", ["yes"]]], where=north, epsilon="1"))
    assert beyond_words(lost) == say("sample.seen")


@pytest.mark.every(3)
@pytest.mark.parametrize("secret", [{}, {"relation": "add_remove", "about_rows": 800}], ids=str)
def test_answers_read_together_say_that_they_speak_of_the_table(tmp_path: Path, secret: dict[str, Any]) -> None:
    table = survey(tmp_path, **secret)
    query = table.query("histogram", column="smokes", epsilon="0.1")
    for _ in range(2):
        table.ask(query)
    assert beyond_words(as_one(table.looks(query))) == say("sample.kind")


def test_a_session_says_that_its_claim_needs_a_random_sample(tmp_path: Path) -> None:
    for sample in (True, False):
        table = survey(tmp_path, sample=sample)
        query = table.session_for(2, table.meter().unused / 2)
        words = session.outward_words(query, Past.NOTHING, Fraction(0))
        assert "within" in words and (say("session.outward.undeclared") in words) != sample


def test_a_preview_shows_both_and_says_when_paying_more_is_pointless(tmp_path: Path) -> None:
    table = survey(tmp_path)
    asked = table.query("proportion", of=[["smokes", "in", ["yes"]]], epsilon="2")
    both = table.both_ranges(asked)
    assert both is not None and both.pointless and both.here < both.least <= both.everyone
    cheap = table.both_ranges(asked.at(asked.epsilon / 100))
    assert cheap is not None and not cheap.pointless and cheap.everyone > both.everyone
    share(table)
    after = table.both_ranges(asked)
    assert after is None or after.after


@pytest.mark.every(3)
@pytest.mark.parametrize("epsilon", ["0.02", "0.3", "5"])
def test_the_crossing_is_marked_where_the_lines_cross(tmp_path: Path, epsilon: str) -> None:
    query = survey(tmp_path).query("proportion", of=[["smokes", "in", ["yes"]]], epsilon=epsilon)
    for points in (both_ranges.along_epsilon(query), both_ranges.along_people(query)):
        cross = both_ranges.crossing(points)
        if epsilon == "5" and points[0].people < points[-1].people:  # it lies before the fewest people
            assert cross is None and points[0].here < 0.9 * points[0].least
        else:
            assert cross is not None and 0.9 * cross.least <= cross.here <= cross.least


def test_a_preview_of_bars_supposes_equal_shares(tmp_path: Path) -> None:
    table = survey(tmp_path)
    for column, words in (({"column": "age", "step": 10}, "equal shares"), ("smokes", "equal shares")):
        query = table.query("histogram", column=column, epsilon="1")
        both = table.both_ranges(query)
        assert both is not None and words in preview.both_words(query, both)
    query = table.query("count", where=[["smokes", "in", ["yes"]]], epsilon="1")
    both = table.both_ranges(query)
    assert both is not None and "a share near one half" in preview.both_words(query, both)


@pytest.mark.long
def test_a_grid_shows_both_ranges_in_every_cell(tmp_path: Path) -> None:
    table = survey(tmp_path)
    cells = table.ask(table.query("crosstab", columns=["smokes", "town"], epsilon="2"))
    page = open_page("ask", table=table.name, answer=cells.request_id)
    told = "".join(part.proto.body for part in page.get("html"))
    for label in ("yes × north", "no × south"):
        assert f"<small>{' – '.join(beyond_printed(cells.population[label]))} %</small>" in told
    assert say("sample.grid") in told


@pytest.mark.every(3)
@pytest.mark.parametrize(
    "key, given",
    [
        ("top_item", {"column": "town"}),
        ("top_item", {"column": "town", "how_many": 2}),
        ("count", {"where": [["smokes", "in", ["yes"]]]}),
        ("sum", {"column": "age"}),
    ],
    ids=str,
)
def test_a_secret_number_of_people_is_named_as_the_reason(tmp_path: Path, key: str, given: Any) -> None:
    secret = survey(tmp_path, relation="add_remove", about_rows=800)
    answer = secret.ask(secret.query(key, **given, epsilon="1"))
    assert answer.population is None and range_words(answer).endswith(say("sample.secret"))
    with speaking("sl"):
        assert range_words(answer).endswith(say("sample.secret"))


def test_a_spread_with_gaussian_noise_speaks_of_all_such_people(tmp_path: Path) -> None:
    """Its noise has millions of places, as ages to a hundredth have."""
    facts = replace(survey(tmp_path).facts, schema=dp.Schema({"age": dp.Number(0, 100, step="0.01", missing=0)}))
    query = catalogue["variance"].build(facts, {"column": "age", "epsilon": "0.5", "noise": "gaussian"})
    size = query.half
    y = np.clip(np.random.default_rng().normal(0, size / 5, 800).astype(np.int64) * 2, -size, size)
    raw = query.draw((800, int(y.sum()), int((y**2).sum())), SystemCoins())
    found, word = beyond.claimed(query, query.finish(raw), raw, Past.NOTHING, Fraction(0))
    assert word == "first" and found[1] - found[0] < 25


@pytest.mark.long
def test_a_first_look_shows_both_ranges(tmp_path: Path) -> None:
    """On the board, in its files, in the report, in what programs read; and no more once the sample is withdrawn."""
    table = survey(tmp_path)
    answer = table.ask(table.query("overview", columns=["smokes", "town"], against=["town"], epsilon="0.4"))
    assert answer.beyond == "first" and list(answer.population) == list(answer.value)
    low, high = answer.population["smokes: yes"]
    assert 30 < low < 50 < high < 70  # one half of 800
    assert serialize.answer(answer)["population"]["smokes: yes"] == [low, high]
    assert answer.receipt["answer"]["population"]["smokes: yes"] == [low, high]
    look = answer.value
    north = look.among_all("smokes", {"town": "north"})
    assert all(least < most for least, most in north) and look.among_all("smokes")[0] == (low, high)
    files = look.to_frame()
    assert (files["population_low"] < files["population_high"]).all() and len(files) == 24
    page = open_page("board", table=table.name, look=answer.request_id, of="smokes")
    told = "".join(part.proto.body for part in page.get("html"))
    assert say("sample.board", chance="95") in told and say("sample.column.all_percent") in told
    with speaking("sl"):
        assert "Svetli okvirji" in board_figures.about_all(answer)
    drawn = report.picture(answer)
    assert drawn.count('opacity="0.5"') >= 4 and say("sample.board", chance="95") in drawn
    rows = list(csv.DictReader(io.StringIO(exports.answer_csv(answer).removeprefix(exports.MARK))))
    assert float(rows[0]["population_high"]) == high
    told = Account.read(table.account_lines()).lines()  # as the notebook prints it
    assert any(line.endswith(f"; Among all such people: {plain(low)} – {plain(high)} %") for line in told)
    later = table.ask(table.query("overview", columns=["smokes"], epsilon="0.05"))
    assert later.population is None and board_figures.about_all(later) == say("sample.seen")
    table = table.declare_sample(False)
    withdrawn = table.first_looks()[-1]
    assert withdrawn.population is None and withdrawn.value.among_all("smokes") is None
    assert "population_low" not in withdrawn.value.to_frame() and board_figures.about_all(withdrawn) == ""


@pytest.mark.long
def test_after_a_little_a_first_look_speaks_of_all_in_longer_boxes(tmp_path: Path) -> None:
    table = survey(tmp_path)
    table.ask(table.query("count", where=[["smokes", "in", ["yes"]]], epsilon="0.02"))
    answer = table.ask(table.query("overview", columns=["smokes", "town"], against=["town"], epsilon="0.4"))
    assert answer.beyond == "after" and say("sample.after_board") in board_figures.about_all(answer)
    assert answer.value.among_all("smokes", {"town": "north"}) is None
    assert answer.value.to_frame()["population_low"].isna().sum() == 16  # of the pairs
    assert open_page("board", table=table.name, look=answer.request_id, by="town", group="north").exception == []
