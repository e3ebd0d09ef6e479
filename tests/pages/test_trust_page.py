"""The Trust page: what is shown before anything is spent, what is asked, and what is refused in one sentence."""

from __future__ import annotations

import re
import time
from pathlib import Path
from typing import Any

import pytest
from helpers_page import html_of, open_page, plain
from streamlit.testing.v1 import AppTest

import dpengine as dp
from demos.lessons import channel
from demos.lessons import trust as demo
from dpengine.core.printed import power_of_ten
from dpengine.planning import trust_models
from ui.trust import trust

ROOT = Path(__file__).resolve().parents[2]
ROWS = 2_500


@pytest.fixture(scope="module")
def space(shared: dp.Workspace) -> dp.Workspace:
    schema = dp.Schema({"c": dp.Category(["a", "b"], unknown="b", missing="b")})
    tables: dict[str, dict[str, Any]] = {
        "club": {},
        "secret": {"relation": "add_remove", "about_rows": ROWS},
        "several": {"unit": dp.Unit.column("who", at_most=2)},
        "teaching": {"budget": dp.Budget("3", "0.5")},
        "pure": {"budget": dp.Budget("3", "0")},
    }
    for name, terms in tables.items():
        file = shared.folder / f"{name}.csv"  # each with people of its own: one content has one allowance
        file.write_text("who,c\n" + "".join(f"{name}{at},{'ab'[at % 2]}\n" for at in range(ROWS)), encoding="utf-8")
        usual = {"schema": schema, "unit": dp.Unit.rows(), "budget": dp.Budget("3", "1e-6")}
        shared.add_table(name, file, **usual | terms)
    return shared


@pytest.fixture(autouse=True)
def two_sizes(space: dp.Workspace, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(trust_models, "SIZES", (300, 3_000))
    trust_models.along_people.cache_clear()


def opened(**address: str) -> AppTest:
    return open_page("trust", **address)


def said(page: AppTest) -> str:
    html = html_of(page)
    assert "could not be shown" not in html
    return plain(html)


def labels(page: AppTest) -> list[str]:
    return [button.label for button in page.button]


def charges(space: dp.Workspace) -> int:
    return int(space.ledger.head()[0])


def test_all_four_stand_side_by_side_and_nothing_is_spent(space: dp.Workspace) -> None:
    before, page = charges(space), opened(table="club", e="0.5")
    text = said(page)
    for way in trust_models.ways(space.table("club").facts, "count", trust_asked(page)):
        if way.error is not None:
            assert f"± {-(-way.error // 1):,} people" in text
    assert "A curator" in text and "Nobody" in text and "after all of them" in text
    assert "Honest participants are assumed" in text and len(page.get("plotly_chart")) == 2
    assert charges(space) == before


def trust_asked(page: AppTest) -> dict[str, Any]:
    given = page.session_state["trust"]["given"]
    return {"epsilon": given["e"], "delta": given["d"], "where": given["where"], "column": given["column"]}


def test_asked_together_and_shown_beside_each_other(space: dp.Workspace) -> None:
    page = opened(table="club", kind="bars", column="c", e="0.5", solution="second")
    assert "may hold up to" in said(page) and "This is what Publish does" in said(page)
    ask = next(button for button in page.button if button.label.startswith("Ask all 2 together"))
    before = charges(space)
    ask.click().run()
    for _ in range(100):
        if "may hold up to" in said(page):
            break
        time.sleep(0.1)
        page.run()
    assert charges(space) > before and said(page).count("Answer:") == 2
    entries = space.table("club").history(2)
    assert {entry.charge.claim["key"] for entry in entries} == {"histogram", "shuffle_histogram"}
    assert "Ask again" in " ".join(labels(page)) or any("again" in one.lower() for one in labels(page))


def test_asked_alone_takes_its_delta_from_the_reserve(space: dp.Workspace) -> None:
    page = opened(table="club", e="0.3", d="1e-8")
    table = space.table("club")
    before = table.meter().spent_delta
    next(button for button in page.button if button.key.startswith("trust-ask-tight")).click().run()
    for _ in range(100):
        if "Answer:" in said(page):
            break
        time.sleep(0.1)
        page.run()
    assert said(page).count("Answer:") == 1
    assert float(table.meter().spent_delta - before) == 1e-8


REFUSED: list[tuple[dict[str, str], str]] = [
    ({"table": "secret"}, "cannot be asked of a table whose membership is secret"),
    ({"table": "several"}, "is for tables with one row per person"),
    ({"table": "club", "d": "1"}, "must be at least 0 and below 1"),
    ({"table": "club", "e": "0.005", "d": "1e-999999999"}, "A curator"),
    ({"table": "club", "e": "0.3", "d": "1e-8"}, "no coin does"),
    ({"table": "club", "d": "0.01", "e": "1"}, "δ reserve of this allowance has"),
    ({"table": "teaching", "d": "0.01", "e": "1"}, "For teaching only"),
    ({"table": "pure", "e": "1"}, "it has none"),
]


def test_refusals_that_need_no_page(space: dp.Workspace) -> None:
    facts = space.table("club").facts
    some = {"epsilon": "1", "delta": "1e-8", "where": [["c", "in", ["a"]]], "column": "c"}
    few = (({"epsilon": "0.05"}, "At least 31,751 are needed"), ({"epsilon": "0.0001"}, "No table of up to"))
    wrong = (({"delta": "x"}, "δ"), ({"delta": "0"}, "of at least 1e-30"), ({"delta": "1"}, "below 1"))
    for change, words in few + wrong:
        tight = trust_models.ways(facts, "count", some | change)[2]
        assert tight.query is None and words in str(tight.refused), str(tight.refused)
    assert all(way.query is None for way in trust_models.ways(facts, "count", some | {"where": []}))


@pytest.mark.every(9)
@pytest.mark.parametrize(("address", "words"), REFUSED, ids=lambda one: str(one)[:50])
def test_what_cannot_be_done_is_a_sentence(address: dict[str, str], words: str, space: dp.Workspace) -> None:
    before, page = charges(space), opened(**address)
    assert words in said(page), said(page)
    assert charges(space) == before


def test_the_lecture_s_coin_is_refused_with_its_p_and_its_true_delta(space: dp.Workspace) -> None:
    """n = 2,500 at ε = 1: p is below 1 where δ is a little above 2·e^(−n/48); its δ is far from that."""
    page = opened(table="teaching", e="1", d="1e-22")
    assert "the lecture's coin comes up with chance 0." in said(page) and "keeps only δ = " in said(page)


def test_the_ends_of_every_slider(space: dp.Workspace) -> None:
    page = opened(table="club")
    for place in (0, -1):
        steps = trust.spend_steps(space.table("club"))
        page.select_slider[0].set_value(steps[place]).run()
        assert not page.exception and "A curator" in said(page)
    for step in ("2", "3", "4"):
        page.button(key="trust-step-next").click().run()
        assert f"Step {step} of 4" in said(page)
    assert page.button(key="trust-step-next").disabled
    page.button(key="trust-step-anew").click().run()
    assert "Step 2 of 4" in said(page)


def test_the_analyser_sees_the_permuted_messages_and_no_person() -> None:
    page = opened(table="club", step="4")
    panel = next(element.proto.body for element in page.get("html") if "Step 4 of 4" in element.proto.body)
    assert panel.count('class="b') == 24 and not any(f">{name}<" in panel for name in demo.NAMES)
    page = opened(table="club", step="2")
    people = next(element.proto.body for element in page.get("html") if "Step 2 of 4" in element.proto.body)
    assert all(f">{name}<" in people for name in demo.NAMES) and people.count('class="b') == 24


def test_the_stages_of_the_demonstration() -> None:
    stages = demo.play()
    assert tuple(bit for bit, _ in stages.sent) == demo.HOLDS
    assert sorted(stages.pile) == sorted(one for pair in stages.sent for one in pair)
    ones, estimate = demo.analysed(stages.pile)
    assert ones == sum(stages.pile) and estimate == ones - 3


@pytest.mark.parametrize(
    "address",
    [
        {
            "kind": "<script>",
            "where": "[[",
            "column": "nobody",
            "e": "NaN",
            "d": "9" * 99,
            "solution": "x",
            "step": "0",
            "honest": "101",
            "channel": "none",
        },
        {"where": '[["nobody", "in", [7]]]', "d": "½"},
        {"run": "no-such-run"},
        {"answer": "no-such-answer", "where": "x" * 9_000},
    ],
)
def test_whatever_stands_in_the_address_the_page_stands(address: dict[str, str], space: dp.Workspace) -> None:
    before, page = charges(space), opened(table="club", **address)
    assert "Who could learn what" in said(page) and "<script>" not in said(page)
    assert charges(space) == before


def test_if_only_some_are_honest_the_exact_delta_is_told_and_what_mends_it(space: dp.Workspace) -> None:
    before, page = charges(space), opened(table="club", e="0.5", d="1e-6", honest="50")
    text = said(page)
    query = trust_models.shuffled_of(trust_models.ways(space.table("club").facts, "count", trust_asked(page)))
    assert query is not None
    left, coin = trust_models.delta_of(query, ROWS // 2), trust_models.needed(query, ROWS // 2)
    assert left > query.delta and coin is not None
    assert f"With 1,250 honest people the shuffled pile keeps δ = {power_of_ten(left)}, not 10⁻⁶" in text
    assert f"come up with chance {trust.coin_words(coin)} instead of {trust.coin_words(query.chance)}" in text
    assert "This is an assumption that you choose and nobody can check" in text
    page.select_slider[1].set_value("100").run()
    assert "With 2,500 honest people the shuffled pile keeps its promise" in said(page)
    page.select_slider[1].set_value("1").run()
    assert "No coin keeps the promise with 25 honest people" in said(page)
    assert charges(space) == before


def test_one_pile_shows_what_separate_piles_show_and_envelopes_show_rows() -> None:
    shown = {}
    page = opened(table="club", channel="apart")
    for way in channel.CHANNELS:
        page.segmented_control(key=trust_widget(page, "channel")).set_value(way).run()
        panel = next(one.proto.body for one in page.get("html") if 'class="pile tags"' in one.proto.body)
        shown[way] = panel
        assert panel.count('<i class="b') == 72 and not any(name in panel for name in demo.NAMES)
    figures = [re.findall(r"<td class='number'>([^<]*)</td>", shown[way]) for way in ("apart", "tagged")]
    assert figures[0] == figures[1] and len(figures[0]) == 6
    assert (
        "for each is somebody" not in shown["tagged"]
        and "of 12 people the way to work is now certain" in shown["bundles"]
    )
    assert "A curator can always play the shuffler" in said(page)


def trust_widget(page: AppTest, name: str) -> str:
    return f"trust-{name}-{page.session_state['trust']['turn']}"
