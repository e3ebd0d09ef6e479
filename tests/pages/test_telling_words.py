"""Answers that say nothing, and the finding of those that tell: in words, in pictures, in the report."""

from __future__ import annotations

import csv
import io
import re
from html import unescape
from typing import Any

import pandas as pd
import pytest

import dpengine as dp
from dpengine.asking.release import new_request
from dpengine.declared.facts import Facts
from dpengine.messages import say
from dpengine.messages.language import speaking
from ui.ledger import report
from ui.parts.exports import answer_csv
from ui.pictures import charts, svg
from ui.words.figures import cut, pictured, printed, printed_range
from ui.words.wording import headline, in_short, range_words

JOBS = [f"job {place}" for place in range(14)]
SCHEMA = dp.Schema(
    {
        "pay": dp.Number(0, 20_000, step=10),
        "job": dp.Category([*JOBS, "no answer"], unknown="no answer"),
        "sex": dp.Category(["women", "men"], unknown="men", missing="men"),
    }
)


def answered(key: str, value: Any, interval: Any = None, epsilon: str = "1", **given: Any) -> dp.Answer:
    facts = Facts("people", SCHEMA, dp.Unit.rows(), "replace", 32_561, ("pay", "job", "sex", "town"))
    query = dp.catalogue[key].build(facts, {"epsilon": epsilon} | given)
    return dp.Answer(value, interval, query.promise(), {}, query, "request", "now")


def test_a_median_that_may_be_anything_is_no_figure() -> None:
    for ends in ((0, 20_000), (400, 19_600)):
        nothing = answered("median", 10_000, ends, column="pay")
        assert headline(nothing) == in_short(nothing) == "Too few to tell"
        assert "10,000" not in range_words(nothing)
    hopeless = answered("median", 10_000, (9_000, 10_500), "0.0005", column="pay")  # so many people cannot tell it
    assert headline(hopeless) == "Too few to tell" and "from 0 to 20,000" in range_words(hopeless)
    bare = answered("median", 10_000, None, "0.0005", column="pay", with_range=False)
    assert headline(bare) == "Too few to tell" and range_words(bare).startswith("Any value is possible")
    with speaking("sl"):
        assert headline(bare) == "Premalo podatkov za odgovor"


def test_a_top_item_that_others_may_equal_is_called_the_most_likely() -> None:
    unsure = answered("top_item", "job 3", None, "0.0205", column="job")
    gap = unsure.query.promise().gap  # type: ignore[union-attr]
    assert gap > 500 and headline(unsure) == in_short(unsure) == "Most likely job 3"
    assert range_words(unsure) == f"The true winner leads it by at most {gap} people, 95 times in 100."
    sure = answered("top_item", "job 3", None, "2", column="job")
    assert headline(sure) == "job 3" and range_words(sure).startswith("The true winner leads it by at most ")
    several = answered("top_item", {"job 3": 1, "job 1": 2}, None, "0.02", column="job", how_many=2)
    assert headline(several) == "Most likely job 3, job 1"


@pytest.mark.parametrize(
    ("key", "value", "reach", "given", "told"),
    [
        (
            "proportion",
            {"women": 50, "men": 50},
            3,
            {"by": "sex", "of": [["job", "in", ["job 1"]]]},
            "women: about 50 % (47 – 53); men: about 50 % (47 – 53): cannot be told apart",
        ),
        (
            "proportion",
            {"women": 60, "men": 50},
            3,
            {"by": "sex", "of": [["job", "in", ["job 1"]]]},
            "women: about 60 % (57 – 63); men: about 50 % (47 – 53)",
        ),
        (
            "histogram",
            dict.fromkeys(JOBS, 100) | {"job 5": 400},
            50,
            {"column": "job"},
            "Most: job 5, about 400 people",
        ),
        (
            "histogram",
            dict.fromkeys(JOBS, 100) | {"job 5": 400, "job 6": 390},
            50,
            {"column": "job"},
            "Most: job 5: about 400 people (350 – 450) or job 6: about 390 people (340 – 440)",
        ),
        (
            "histogram",
            dict.fromkeys(JOBS, 100) | {"job 5": 390, "job 6": 400},
            50,
            {"column": "job"},
            "Most: job 6: about 400 people (350 – 450) or job 5: about 390 people (340 – 440)",
        ),
        (
            "histogram",
            dict.fromkeys(JOBS, 100),
            50,
            {"column": "job"},
            "Each of 14 is between 50 and 150 people; the largest is unclear",
        ),
        (
            "histogram",
            {job: 100 + 30 * place for place, job in enumerate(JOBS)},
            150,
            {"column": "job"},
            "job 13: about 490 people (340 – 640); 10 other groups may be as high: job 12, job 11, job 10 and 7 more",
        ),
        (
            "mean",
            {job: 1_000 + 500 * place for place, job in enumerate(JOBS)},
            50,
            {"column": "pay", "by": "job"},
            "Highest: job 13, about 7,500",
        ),
        (
            "quantile",
            {"25 %": 1_000, "50 %": 1_100},
            200,
            {"column": "pay", "share": ["0.25", "0.5"]},
            "25 %: about 1,000 (800 – 1,200); 50 %: about 1,100 (900 – 1,300)",
        ),
    ],
)
def test_a_headline_says_the_finding(key: str, value: Any, reach: int, given: Any, told: str) -> None:
    ranges = {part: (one - reach, one + reach) for part, one in value.items()}
    assert headline(answered(key, value, ranges, **given)) == told


def test_a_few_groups_that_may_be_as_high_are_all_named_by_their_figure() -> None:
    hours = {"job 0": 40.0, "job 1": 44.0, "job 2": 47.0, "job 3": 46.0, "job 4": 50.0, "job 5": 5.0}
    reach = {"job 4": 12.0, "job 5": 1.0}  # the largest figure leads, also where its range begins lower
    ranges = {job: (one - reach.get(job, 8.0), one + reach.get(job, 8.0)) for job, one in hours.items()}
    several = answered("mean", hours, ranges, column="pay", by="job")
    assert headline(several).endswith("; job 2, job 3, job 1, job 0 may be as high")
    assert headline(several).startswith("job 4: about 50 ")
    more = {f"job {place}": 50.0 - place for place in range(7)} | {"job 12": 5.0}
    many = answered("mean", more, {job: (one - 9, one + 9) for job, one in more.items()}, column="pay", by="job")
    assert headline(many).endswith("; 6 other groups may be as high: job 1, job 2, job 3 and 3 more")
    with speaking("sl"):
        assert headline(many).endswith("; enako visoko je morda še 6 skupin: job 1, job 2, job 3 in še 3")


def test_a_headline_by_group_says_about_and_between_what_in_slovene_too() -> None:
    ranges = {"women": (2_400.0, 2_600.0), "men": (2_900.0, 3_100.0)}
    pay = answered("mean", {"women": 2_500.0, "men": 3_000.0}, ranges, column="pay", by="sex")
    with speaking("sl"):
        assert (
            headline(pay)
            == in_short(pay)
            == ("women: približno 2.500 (2.400 – 2.600); men: približno 3.000 (2.900 – 3.100)")
        )


def test_a_range_that_reaches_nothing_tells_its_upper_end() -> None:
    few = answered("count", 12, (-40, 64), where=[["sex", "in", ["men"]]])
    assert headline(few) == "At most 64 people" and in_short(few) == "12 (0 – 64)"
    amount = answered("sum", -4_245, (-19_070, 10_580), column="pay", where=[["sex", "in", ["men"]]])
    assert in_short(amount) == "0 (0 – 11,000)" and amount.value == -4_245  # what was drawn stays as it is


def test_bars_are_cut_at_nothing_and_one_empty_group_does_not_stretch_the_axis() -> None:
    bars = answered("histogram", {"women": -7, "men": 300}, {"women": (-27, 13), "men": (280, 320)}, column="sex")
    assert pictured(bars.query, bars.value, bars.interval) == (
        {"women": 0, "men": 300},
        {"women": (0, 13), "men": (280, 320)},
    )
    values = {"a": 2_500.0, "b": 2_600.0, "empty": None}
    ranges = {"a": (2_400.0, 2_600.0), "b": (2_500.0, 2_700.0), "empty": (0.0, 20_000.0)}
    low, high = charts.informative_span(values, ranges) or (0.0, 0.0)
    assert 2_300 < low < 2_400 and 2_700 < high < 2_800
    assert charts.informative_span({"a": 1.0}, {"a": (0.0, 2.0)}) is None  # all of them tell: as it was
    drawn = svg.rows(values, ranges, "pay", "alt", bars=False)
    figures = [float(one.replace(",", "")) for one in re.findall(r'text-anchor="middle">([\d,]+)<', drawn)]
    assert figures and min(figures) >= 2_300 and max(figures) <= 2_800 and "Too few to tell" in drawn


def test_a_csv_keeps_what_was_drawn_and_says_where_it_says_nothing() -> None:
    wide = {"women": (0.0, 20_000.0), "men": (2_000.5, 3_000.5)}
    some = answered("mean", {"women": 12_345.6, "men": 2_500.25}, wide, column="pay", by="sex")
    some.receipt.update(table="people", charge={"hash": "abc"})
    rows = list(csv.DictReader(io.StringIO(answer_csv(some))))
    assert [(row["value"], row["note"]) for row in rows] == [("12345.6", "too few to tell"), ("2500.25", "")]
    unsure = answered("top_item", "job 3", None, "0.0205", column="job")
    unsure.receipt.update(table="people", charge={"hash": "abc"})
    noted = [row["note"] for row in csv.DictReader(io.StringIO(answer_csv(unsure)))]
    assert noted == ["most likely; the lead is unknown"]


def test_a_range_beyond_what_is_possible_is_shown_from_there_on() -> None:
    query = answered("count", 0, (0, 1), where=[["sex", "in", ["men"]]]).query
    assert cut(query, -30, (-40, -20)) == (0, (0, 10))
    assert cut(query, 32_600, (32_590, 32_610)) == (32_561, (32_551, 32_561))


@pytest.fixture()
def home(tmp_path: Any, monkeypatch: pytest.MonkeyPatch) -> Any:
    found = dp.open_workspace(tmp_path)
    monkeypatch.setattr(report, "workspace", lambda: found)
    return found


@pytest.mark.parametrize("upper", ["12.3454", "3.33333", "0.1234567"])
def test_a_range_cut_at_a_declared_end_still_holds_it(upper: str) -> None:
    """12.3454 was printed as 12.345, and ranges ended before they began."""
    schema = dp.Schema({"x": dp.Number(0, upper, step="0.0000001" if upper[0] == "0" else "0.00001")})
    facts = Facts("people", schema, dp.Unit.rows(), "replace", 1_000)
    query = dp.catalogue["median"].build(facts, {"epsilon": "1", "column": "x"})
    end = float(upper)
    for half in (end / 3, end / 100, end / 10**5):
        low, high = printed_range(query, end - half, end)
        assert float(low) <= end - half < end <= float(high)
        assert float(low) <= float(printed(query, end, (end - half, end))) <= float(high)


def test_the_report_tells_session_answers_with_unit_and_range(home: Any) -> None:
    frame = pd.DataFrame({"pay": [2_000, 3_000] * 1_000, "sex": ["women", "men"] * 1_000})
    schema = dp.Schema({"pay": dp.Number(0, 20_000, step=10), "sex": SCHEMA["sex"]})
    table = home.add_table("people", frame, schema=schema, unit=dp.Unit.rows(), budget=dp.Budget("9", "1e-6"))
    session = table.open_session(table.query("adaptive_session", questions=3, epsilon="3"))
    groups = [[["sex", "in", ["men"]]], [["pay", ">", 9_000]]]
    for ask in ({"share": [["sex", "in", ["women"]]]}, {"average": "pay"}, {"largest": groups}):
        session.ask(ask, new_request())
    written = report.html(table, home.ledger.head(), "2026-01-02T03:04:05+00:00")
    told = unescape(re.sub(r"<style>.*?</style>|<[^>]+>", " ", written, flags=re.S))
    assert re.search(r"About \d[\d.]* %\s*\. In this table between \d[\d.]* % and \d[\d.]* %\.", told)
    assert re.search(r"About 2,\d\d\d\s*\. In this table between 2,\d+ and 2,\d+\.", told)
    assert re.search(r"“sex is men”\s*\. The true winner leads it by at most \d+ people", told)
    assert "These ranges hold for all 3 answers of the session at once, 95 times in 100." in told


def test_a_name_that_ends_in_a_full_stop_ends_a_sentence_with_one() -> None:
    for lang in ("en", "sl"):
        with speaking(lang):
            for name in ("Temp.", "RR, …"):
                text = say("fit.headline.codes", names=name) + " " + say("fit.note.spared_below", lower=name)
                assert ".." not in text and "…." not in text and name in text
            assert "a..b" in say("fit.headline.codes", names="a..b")
