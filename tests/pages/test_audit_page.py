"""The audit page and what lies behind it: two made-up tables, what a watcher sees of them, and the broken twins.

False alarms: every statistical check here fails a right program with probability at most 1e-6.
"""

from __future__ import annotations

import math
import re
from fractions import Fraction
from itertools import cycle
from pathlib import Path
from typing import Any
from unittest import mock

import pandas as pd
import pytest
from helpers_page import html_of, open_page, pictures, plain
from streamlit.testing.v1 import AppTest

import dpengine as dp
from demos.neighbours import EXAMPLES, QUESTION_OF, Example, settings
from demos.twins import TWINS, FloatNoise, twins, watched
from demos.watching import BulkCoins, claimed
from dpengine.audit.exact import hockey_stick
from dpengine.declared.unit import RELATIONS
from dpengine.mechanisms import catalogue
from dpengine.messages import known
from dpengine.noise.coins import SystemCoins
from dpengine.noise.laws import max_divergence
from ui.check import audit
from ui.check.audit import CARE, Drawn, draw_more, evidence, prepared

ROOT = Path(__file__).resolve().parents[2]
EVERY = [(key, relation, unit) for key in EXAMPLES for relation, unit in settings(key)]
ENDS = (CARE[0], CARE[-1])


def subjects(key: str, relation: Any, unit: str, epsilon: str) -> list[tuple[Example, str]]:
    example = Example(key, relation, unit, epsilon)
    return [(example, twin) for twin in ("", *twins(example))]


# --- the exact part ---------------------------------------------------------------------------------------------------


def test_every_question_of_the_catalogue_has_an_example() -> None:
    assert all(known(f"check.gave.{twin}") and known(f"check.twin.{twin}") for twin in TWINS)
    assert all(known(f"card.{key}.noun") for key in EXAMPLES)
    assert set(QUESTION_OF.values()) == set(catalogue)
    offered = {twin for key, relation, unit in EVERY for _, twin in subjects(key, relation, unit, "1") if twin}
    assert offered == set(TWINS)


at_the_ends = [pytest.param(epsilon, marks=pytest.mark.long) for epsilon in ENDS]


@pytest.mark.every(9)
@pytest.mark.parametrize("epsilon", ["1", *at_the_ends])
@pytest.mark.parametrize("key", EXAMPLES)
def test_as_built_no_more_is_lost_than_claimed_and_a_twin_loses_more(key: str, epsilon: str) -> None:
    for relation, unit in settings(key):
        for example, twin in subjects(key, relation, unit, epsilon):
            ready = prepared(example, twin)
            if not ready.view.known:
                continue
            for side in ("one", "other"):
                assert math.isclose(math.fsum(getattr(cell, side) for cell in ready.view.cells), 1, abs_tol=1e-12)
            assert ready.loss is not None
            assert (ready.loss > float(ready.claim.epsilon) + 1e-9) == bool(twin), (example, twin, ready.loss)


@pytest.mark.every(9)
@pytest.mark.parametrize("key", EXAMPLES)
def test_cells_hide_nothing_of_the_exact_loss(key: str) -> None:
    """Against the engine's own divergences, which know nothing of cells."""
    for relation, unit in settings(key):
        for example, twin in subjects(key, relation, unit, "1"):
            ready, subject = prepared(example, twin), watched(example, twin)
            one, other = (subject.law(value) for value in ready.values) if ready.view.known else (None, None)
            if one is None or other is None or twin == "nonempty":  # noise against a bar that is not there
                continue
            if not ready.claim.delta:
                worst = max(max_divergence(one, other), max_divergence(other, one))
                assert ready.loss == pytest.approx(float(worst), abs=1e-9), (example, twin)
            else:
                spans = [hockey_stick(*pair, ready.claim.epsilon) for pair in ((one, other), (other, one))]
                mine = ready.view.excess(float(ready.claim.epsilon))
                assert mine <= float(max(span.high for span in spans)) + 1e-12
                assert mine >= float(max(span.low for span in spans)) * 0.6  # a tail may share a cell


def test_where_the_privacy_is_spent_is_what_the_page_says_it_is() -> None:
    ready = prepared(Example("count", "replace", "one", "1"), "")
    first, cells = ready.view.worst(ready.claim)
    assert first and (ready.view.cells[cells[0]].first, ready.view.cells[cells[-1]].last) == (1, None)
    said = audit.bare(audit.found_words(ready, Drawn()))
    assert said == (
        "An answer of 1 or more: from table A 73 % of the time, from table B 27 %: 2.72 times as often. Promised: at "
        "most 2.72 times."
    )
    hidden = prepared(Example("histogram", "replace", "one", "1"), "nonempty")
    assert "100 % of the time from table A and <b>never</b> from table B" in audit.found_words(hidden, Drawn())
    found = prepared(Example("finds_laplace", "add_remove", "one", "1"), "")
    assert "except 1 % of the time" in audit.found_words(found, Drawn())


def test_figures_are_rounded_to_the_safe_side() -> None:
    assert audit.two(0.929, up=False) == "0.92" and audit.two(1.001, up=True) == "1.01"
    assert audit.two(Fraction(1, 2), up=True) == "0.50"
    assert audit.times(math.e, up=True) == "2.72" and audit.times(math.e, up=False) == "2.71"
    assert audit.times(20.08, up=True) == "21" and audit.times(22_026, up=False) == "22,000"
    assert audit.times(1e9) == "over a million"


# --- the draws --------------------------------------------------------------------------------------------------------


def tail(seen: int, draws: int, chance: float) -> float:
    """Chernoff: an upper bound on the chance of a count this far out."""
    share, pairs = seen / draws, ((seen / draws, chance), (1 - seen / draws, 1 - chance))
    if not 0 < chance < 1:
        return float(math.isclose(share, chance))
    return min(1.0, 2 * math.exp(-draws * sum(p * math.log(p / q) for p, q in pairs if p)))


def far_out(example: Example, twin: str, law_of: str, draws: int) -> float:
    """The least chance, over all cells and both tables, of as many draws as were seen there, times how many cells."""
    ready, drawing, coins = prepared(example, law_of), watched(example, twin), BulkCoins(200)
    seen, cells = [], ready.view.cells
    for value, side in zip(ready.values, ("one", "other"), strict=True):
        counts = [0] * len(cells)
        for _ in range(draws):
            counts[ready.view.place(drawing.draw(value, coins))] += 1
        seen += [tail(count, draws, getattr(cell, side)) for count, cell in zip(counts, cells, strict=True)]
    return min(seen) * len(seen)


@pytest.mark.every(27)
@pytest.mark.parametrize("key", EXAMPLES)
def test_draws_follow_the_law_of_the_picture_twins_too(key: str) -> None:
    """120 draws a table; over all keys and twins the chance of a false alarm stays below 1e-6."""
    for example, twin in subjects(key, *settings(key)[-1], "1"):
        if prepared(example, twin).view.known:
            assert far_out(example, twin, twin, 120) > 1e-9, twin


@pytest.mark.long
def test_power_draws_of_a_twin_do_not_follow_the_law_as_built() -> None:
    assert far_out(Example("count", "replace", "one", "1"), "half", "", 2_000) < 1e-9


def test_float_noise_reaches_its_own_numbers_and_few_of_the_others() -> None:
    twin, coins = watched(Example("count", "replace", "one", "1"), "floating"), SystemCoins()
    assert isinstance(twin, FloatNoise)
    other = 0
    for _ in range(300):
        for own, away in ((0, 1), (1, 0)):
            number = twin.draw(own, coins)
            assert twin.reaches(number, own)
            other += not twin.reaches(number, away)
    assert other > 200  # about 380 of 600; fewer than 200 by chance: below 1e-40


@pytest.mark.long
def test_draws_prove_no_more_than_was_claimed_and_catch_a_twin() -> None:
    """The bound is wrong with chance 1e-6. Half the noise: about 1.6 is proven, with a deviation below 0.1."""
    for twin, caught in (("", False), ("half", True), ("floating", True)):
        ready, kept = prepared(Example("count", "replace", "one", "1"), twin), Drawn(3_000, 60)
        draw_more(ready, kept, lambda share: None)
        assert kept.many == len(kept.cells[0]) == 3_000
        assert (evidence(ready, kept).epsilon > ready.claim.epsilon) == caught, twin
        assert ("prove more than was promised" in audit.verdict_words(ready, kept, twin)) == caught


# --- twins stay here --------------------------------------------------------------------------------------------------


def test_no_question_leads_to_a_twin() -> None:
    assert all(query.__module__.startswith("dpengine.mechanisms.") for query in catalogue.values())
    allowed = {"audit.py", "twins.py"}
    for path in sorted(one for folder in ("dpengine", "ui", "pages", "demos") for one in (ROOT / folder).rglob("*.py")):
        text = path.read_text(encoding="utf-8")
        imported = re.search(r"^\s*(from|import) demos(\.twins\b|\b.*\btwins\b)", text, flags=re.M)
        assert not imported or path.name in allowed, path
    assert re.search(
        r"^from demos\.twins import", (ROOT / "ui" / "check" / "audit.py").read_text(encoding="utf-8"), flags=re.M
    )


# --- the page ---------------------------------------------------------------------------------------------------------


@pytest.fixture(autouse=True)
def few_draws_first(shared: dp.Workspace, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(audit, "FIRST", 20)


def opened(**address: str) -> AppTest:
    return open_page("audit", **address)


def said(page: AppTest) -> str:
    return plain(html_of(page), "")


def stands(page: AppTest, shared: dp.Workspace, charged: int = 0) -> list[str]:
    """The page shows two pictures with the exact figures of its settings, and nothing was charged."""
    given = page.session_state["audit"]["given"]
    example = audit.example_of(given)
    text = said(page)
    assert text.count("Promised: at most") >= 4 and len(pictures(page)) == 2
    assert not re.search(r"\bpass(es|ed)?\b", text) and "page.failed" not in text
    for twin in ("", given["twin"]):
        ready = prepared(example, twin)
        if ready.view.known:
            assert audit.bare(audit.found_words(ready, Drawn())) in text
        lines = audit.gauge(ready, Drawn(cells=([0, 0], [0, 0])))
        assert all(audit.bare(line) in text for kind, line in lines if kind in ("promised", "exact"))
    assert shared.ledger.head()[0] == charged
    return list(twins(example))


# One for each kind of picture; the long test below shows every question.
KINDS = ("count", "histogram", "crosstab", "mean", "median", "finds_laplace", "gaussian")
SOME = list(zip(KINDS, cycle(RELATIONS), cycle(("one", "one", "two", "two")), cycle(reversed(ENDS)), strict=False))


@pytest.mark.long
@pytest.mark.parametrize(("key", "relation", "unit", "epsilon"), SOME)
def test_every_kind_of_picture_stands(key: str, relation: str, unit: str, epsilon: str, shared: dp.Workspace) -> None:
    stands(opened(q=key, relation=relation, unit=unit, e=epsilon), shared)


@pytest.mark.long
@pytest.mark.parametrize(("key", "relation", "unit"), EVERY)
def test_every_question_with_every_twin_stands(key: str, relation: str, unit: str, shared: dp.Workspace) -> None:
    for epsilon in ENDS:
        page = opened(q=key, relation=relation, unit=unit, e=epsilon)
        for twin in stands(page, shared)[1:]:
            other = opened(q=key, relation=relation, unit=unit, e=epsilon, twin=twin)
            stands(other, shared)
            assert dict(other.query_params)["twin"] in (twin, [twin])


def test_an_address_brings_back_the_whole_page_and_widgets_change_it(shared: dp.Workspace) -> None:
    page = opened(q="histogram", relation="add_remove", unit="two", e="2", twin="bare")
    assert "A number without noise is the truth" in said(page) and "Ana is not in this table" in said(page)
    kept = dict(page.query_params)
    assert {name: kept[name][0] if isinstance(kept[name], list) else kept[name] for name in kept} == {
        "q": "histogram",
        "relation": "add_remove",
        "unit": "two",
        "e": "2",
        "twin": "bare",
    }
    page.selectbox[0].set_value("sum").run()
    assert not page.exception and "noise made for 6 does not hide 60" in said(page)  # that twin has no such flaw
    page.select_slider[0].set_value("0.1").run()
    stands(page, shared)
    assert page.session_state["audit"]["given"] | {"twin": ""} == {
        "q": "sum",
        "relation": "add_remove",
        "unit": "two",
        "e": "0.1",
        "twin": "",
    }


def test_more_draws_add_up(shared: dp.Workspace, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(audit, "MORE", 30)
    page = opened()
    assert "by 40 draws" in said(page)
    page.button(key="audit-built-more").click().run()
    assert "by 100 draws" in said(page) and "by 40 draws" in said(page)  # the twin has its own
    stands(page, shared)


def test_whatever_stands_in_the_address_the_page_stands(shared: dp.Workspace) -> None:
    page = opened(q="DROP TABLE", relation="<script>", unit="9" * 99, e="NaN", twin="\0<script>")
    assert "<script>" not in html_of(page)
    assert page.session_state["audit"]["given"] == audit.USUAL | {"twin": "half"}
    assert stands(opened(q="median", e="1e400", twin="nonempty"), shared)[0] == "uncapped"


TO_RHO = (
    "gaussian",
    "density",
    "find_declarations",
    "train_linear",
    "train_logistic",
    "train_hinge",
    "overview",
    "synthetic_table",
)  # their ε stands for ρ = ε²/2


def test_claims_are_those_of_the_ledger() -> None:
    """What is claimed here is what a question is charged with."""
    for key, relation, unit in EVERY:
        query = Example(key, relation, unit, "1").query  # type: ignore[arg-type]
        claim = claimed(query)
        assert claim.epsilon == {"adaptive_session": Fraction(1, 2)}.get(key, 1) or key in TO_RHO
        large = {"shuffle_count": Fraction(35, 100), "shuffle_histogram": Fraction(1, 2)}
        large |= {"finds_laplace": Fraction(1, 100), "find_declarations": Fraction(11, 1000)}
        large |= dict.fromkeys(("gaussian", "density", "overview", "synthetic_table"), Fraction(1, 1000))
        assert claim.delta == large.get(key, 0)


# A column of one's own


@pytest.mark.long
@pytest.mark.usefixtures("shared")
def test_a_declared_column_is_audited_without_its_cells(shared: dp.Workspace) -> None:
    """Its exact ε and δ, how many one-row tables that took, and the theorem; the table's files are gone before."""
    frame = pd.DataFrame({"state": ["TX", "CA"] * 30, "pay": [str(place) for place in range(60)]})
    schema = dp.Schema({"state": dp.Category(["TX", "CA", "NY"], "NY", "NY"), "pay": dp.Number(0, 60)})
    budget = dp.Budget("10", "1e-6")
    table = shared.add_table("audited", frame, schema=schema, unit=dp.Unit.rows(), budget=budget)
    secret: dict[str, Any] = {"relation": "add_remove", "about_rows": 60}
    shared.add_table("secret one", frame.iloc[1:], schema=schema, unit=dp.Unit.rows(), budget=budget, **secret)
    with mock.patch.object(dp.Workspace, "read", side_effect=AssertionError("a cell was read")):
        app = open_page("audit", table="audited", e="1")
        text = plain(html_of(app))
        assert "a row of “state” shows is at most 2.72 times as likely" in text and "exactly ε = 1.00" in text
        assert "Theorem 4.7" in text and "one of 3 cells, so there are 3 pairs" in text and "As promised" in text
        app.selectbox(key="check-own-audited").set_value("pay").run()
        app.segmented_control(key="check-own-delta").set_value("0.1").run()
        text = plain(html_of(app))
        assert "goes beyond that with a chance of exactly 0.1; δ = 0.1 was promised" in text
        assert "one of 61 cells, so there are 1,830 pairs" in text and "of 60 kinds" in text
        assert table.meter().charges == 0
        refused = plain(html_of(open_page("audit", table="secret one")))
        assert "cannot be asked of a table whose membership is secret" in refused and "exactly ε" not in refused


def test_the_first_draws_of_a_question_are_waited_for_once_and_each_visitor_goes_on_alone(
    shared: dp.Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(audit, "_first", {})
    before = shared.ledger.head()[0]  # another test of this file may have asked
    first = opened()
    (key, kept) = next(iter(first.session_state[audit.DRAWN].items()))
    assert kept.many and audit._first[key] == kept.cells
    monkeypatch.setattr(audit, "draw_more", lambda *given: pytest.fail("the second visitor waits"))
    second = opened()
    again = second.session_state[audit.DRAWN][key]
    assert again.cells == kept.cells and again.cells[0] is not audit._first[key][0]
    assert stands(second, shared, before)
