"""Headlines for somebody who reads nothing else: what is counted, what was cut, and no doubt without a cause."""

from __future__ import annotations

from typing import Any

import pytest

import dpengine as dp
from dpengine.declared.facts import Facts
from dpengine.messages import written_day
from dpengine.messages.language import speaking
from ui.ask import answer
from ui.parts.answer_notes import finding
from ui.words.wording import headline, in_short, range_words

WARDS = [f"ward {place}" for place in range(8)]
SCHEMA = dp.Schema({"ward": dp.Category(WARDS), "sex": dp.Category(["ženska", "moški"]), "wait": dp.Number(0, 240)})
VISITS = dp.Unit.column("patient", 5)


def answered(key: str, value: Any, interval: Any = None, unit: dp.Unit = VISITS, **given: Any) -> dp.Answer:
    facts = Facts("clinic", SCHEMA, unit, "add_remove", 5_000, ("patient", "ward", "sex", "wait"))
    query = dp.catalogue[key].build(facts, {"epsilon": "0.1"} | given)
    receipt = {"table": "clinic", "charge": {"hash": "abcdef0123"}}
    return dp.Answer(value, interval, query.promise(), receipt, query, "request", "2026-11-16T04:14:00")


BARS = {"ženska": 6_350, "moški": 5_200, "other": 2_000, "no answer": 900}
RANGES = {name: (one - 180, one + 180) for name, one in BARS.items()}


def test_a_number_says_of_what_it_is() -> None:
    bars = answered("histogram", BARS, RANGES, column="sex")
    assert headline(bars) == "Most: “ženska”, about 6,350 rows"
    one = answered("count", 412, (300, 524), where=[["sex", "in", ["moški"]]])
    assert headline(one) == "About 410 rows"
    people = answered("histogram", BARS, RANGES, dp.Unit.rows(), column="sex")
    assert headline(people) == "Most: “ženska”, about 6,350 people"
    with speaking("sl"):
        assert headline(bars) == "Največ: »ženska«, približno 6.350 vrstic"
        assert headline(people) == "Največ: »ženska«, približno 6.350 oseb"


def test_what_was_cut_is_said_once_under_the_range() -> None:
    bars = answered("histogram", BARS, RANGES, column="sex")
    told = finding(bars, "<p>the range</p>")
    assert told.startswith(f'<p class="headline">{headline(bars)}</p><p>the range</p>'), (
        "nothing comes before the range"
    )
    assert "Rows of a person beyond 5 are ignored: in truth there may be many more." in told
    assert told.count("at most 5 rows") == 1 and answer.card_sentence(bars).count("at most 5 rows") == 1
    wait = answered("mean", 39.4, (35.1, 43.5), column="wait")
    assert "Rows of a person beyond 5 are ignored: over all rows it may differ." in finding(wait)
    assert "at most" not in finding(answered("histogram", BARS, RANGES, dp.Unit.rows(), column="sex")).lower()
    with speaking("sl"):
        assert "Presežne vrstice osebe (nad 5) so izpuščene: v resnici jih je lahko precej več." in finding(bars)


def test_both_ends_of_a_share_are_percents() -> None:
    share = answered("proportion", 12.37, (11.47, 13.28), of=[["sex", "in", ["moški"]]])
    assert range_words(share).startswith(
        "The exact answer, counted as declared, is between 11.47 and 13.28 %, 95 times"
    )
    assert in_short(share) == "12.37 % (11.47 – 13.28 %)"
    with speaking("sl"):
        assert range_words(share).startswith("Točen odgovor, šteto po opisu tabele, je med 11,47 in 13,28\u00a0%, ")


@pytest.mark.parametrize(
    ("epsilon", "where", "told", "told_sl"),
    [
        ("2", [], "ward 3", "ward 3"),
        ("0.1", [], "Most likely ward 3", "Najverjetneje ward 3"),
        ("0.01", [], "Perhaps ward 3", "Morda ward 3"),
        ("2", [["sex", "in", ["moški"]]], "Perhaps ward 3", "Morda ward 3"),
    ],
)
def test_a_name_is_told_as_surely_as_it_is_known(epsilon: str, where: Any, told: str, told_sl: str) -> None:
    ward = answered("top_item", "ward 3", column="ward", epsilon=epsilon, where=where)
    assert headline(ward) == in_short(ward) == told and "The true winner leads it by at most" in range_words(ward)
    assert ("If few do" in range_words(ward)) == bool(where)
    with speaking("sl"):
        assert headline(ward) == told_sl and "zžreban" not in range_words(ward)


def test_a_copied_sentence_has_a_day_as_people_write_it_and_what_was_cut() -> None:
    told = answer.card_sentence(answered("histogram", BARS, RANGES, column="sex"))
    assert "(Allowance, 16 November 2026, receipt abcdef01.)" in told and "there may be many more" in told
    with speaking("sl"):
        assert written_day("2026-02-03") == "3. februar 2026" and written_day("now") == "now"
