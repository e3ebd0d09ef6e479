"""Whom do you trust: a lesson on made-up people, which spends nothing, and a choice of noise under Ask's details."""

from __future__ import annotations

import re
from typing import Any

import pytest
from helpers_page import html_of, open_page, plain, until
from streamlit.testing.v1 import AppTest

import dpengine as dp
from demos.lessons import channel
from demos.lessons import trust as demo
from dpengine.core.exact import text_of
from dpengine.core.printed import power_of_ten
from dpengine.messages import say
from dpengine.planning import trust_models
from ui.learn import lesson_trust

ROWS = 2_500
WHERE = '[["c", "in", ["a"]]]'


@pytest.fixture(scope="module")
def space(shared: dp.Workspace) -> dp.Workspace:
    schema = dp.Schema({"c": dp.Category(["a", "b"], unknown="b", missing="b")})
    tables: dict[str, dict[str, Any]] = {
        "club": {},
        "secret": {"relation": "add_remove", "about_rows": ROWS},
        "calls": {"unit": dp.Unit.column("who", at_most=2)},
        "pure": {"budget": dp.Budget("3", "0")},
    }
    for name, terms in tables.items():
        file = shared.folder / f"{name}.csv"  # each with people of its own: one content has one allowance
        file.write_text("who,c\n" + "".join(f"{name}{at},{'ab'[at % 2]}\n" for at in range(ROWS)), encoding="utf-8")
        usual = {"schema": schema, "unit": dp.Unit.rows(), "budget": dp.Budget("3", "1e-6")}
        shared.add_table(name, file, **usual | terms)
    return shared


def said(page: AppTest) -> str:
    return plain(html_of(page))


# --- on Ask -----------------------------------------------------------------------------------------------------------


def ask(table: str = "club", **given: str) -> AppTest:
    return open_page("ask", **{"table": table, "q": "count", "where": WHERE, "epsilon": "0.5"} | given)


def who(page: AppTest) -> Any:
    return next((one for one in page.segmented_control if str(one.key).startswith("ask-trusted-")), None)


def test_a_link_to_a_question_that_people_answer_themselves_opens_it(space: dp.Workspace) -> None:
    """From the form's address too, with its own parameters; and whoever then picks the usual noise gets that."""
    table, given = space.table("club"), {"column": "c", "delta": "1e-7", "solution": "second"}
    query = table.query("shuffle_histogram", **given, epsilon="0.5")
    page = ask(q="shuffle_histogram", where="", **given)
    assert who(page).value == "shuffle" and query.promise().words(query) in said(page)
    address = dict(page.query_params)
    assert address | {"q": "shuffle_histogram"} | given == address
    who(page).set_value("central").run()
    assert query.promise().words(query) not in said(page) and page.query_params["q"] == "histogram"


def waited(page: AppTest, table: dp.Table, before: int) -> str:
    """The key of the newest question, once it is answered."""

    def answered() -> bool:
        [*newest] = table.history(1)
        keys = [one.charge.claim["key"] for one in newest if one.outcome is not None]
        return table.meter().charges > before and keys != [] and keys != ["fit_checks"]

    until(page, answered)
    return str(table.history(1)[0].charge.claim["key"])


@pytest.mark.long
@pytest.mark.parametrize(("trust", "key"), [("shuffle", "shuffle_count"), ("local", "local_count")])
def test_one_s_own_table_is_asked_that_way_and_its_promise_is_seen_first(
    space: dp.Workspace, trust: str, key: str
) -> None:
    table, page = space.table("club"), ask()
    before, spent = table.meter().charges, table.meter().spent_delta
    assert table.query("count", where=[["c", "in", ["a"]]], epsilon="0.5").promise().words() in said(page)
    who(page).set_value(trust).run()
    given = {"delta": text_of(trust_models.usual_delta(table.budget.rule))} if trust == "shuffle" else {}
    query = table.query(key, where=[["c", "in", ["a"]]], epsilon="0.5", **given)
    assert query.promise().words(query) in said(page) and say(f"trusted.who.{trust}.means") in said(page)
    assert table.meter().charges == before
    next(button for button in page.button if str(button.key).startswith("ask-go-")).click().run()
    assert waited(page, table, before) == key
    assert table.meter().spent_delta - spent == (trust_models.usual_delta(table.budget.rule) if given else 0)


@pytest.mark.long
def test_bars_may_report_a_certain_zero(space: dp.Workspace) -> None:
    page = ask(q="histogram", column="c", where="")
    assert list(who(page).options) == [
        say("trusted.who.central"),
        say("trusted.who.shuffle"),
    ]
    who(page).set_value("shuffle").run()
    assert any("solution" in str(one.key) for one in page.segmented_control)


@pytest.mark.long
@pytest.mark.parametrize("table", ["secret", "calls"])
def test_a_table_that_cannot_be_asked_that_way_is_not_offered_it(space: dp.Workspace, table: str) -> None:
    assert who(ask(table)) is None and who(ask()) is not None


@pytest.mark.long
def test_a_question_with_groups_is_not_offered_it(space: dp.Workspace) -> None:
    assert who(ask(q="proportion", of=WHERE, where="")) is None


@pytest.mark.long
def test_too_few_people_are_a_sentence_and_the_question_stays_the_usual_one(space: dp.Workspace) -> None:
    page = ask(epsilon="0.05")
    who(page).set_value("shuffle").run()
    assert "At least 31,751 are needed" in said(page) or "people" in said(page)
    assert say("trusted.refused", why="").strip() in said(page)
    table = space.table("club")
    usual = table.cheapest(table.query("count", where=[["c", "in", ["a"]]], epsilon="0.05"))
    assert usual.promise().words(usual) in said(page)


def test_the_engine_refuses_what_cannot_be_kept(space: dp.Workspace) -> None:
    facts = space.table("club").facts
    some = {"epsilon": "1", "delta": "1e-8", "where": [["c", "in", ["a"]]], "column": "c"}
    few = (({"epsilon": "0.05"}, "At least 31,751 are needed"), ({"epsilon": "0.0001"}, "No table of up to"))
    wrong = (({"delta": "x"}, "δ"), ({"delta": "0"}, "of at least 1e-30"), ({"delta": "1"}, "below 1"))
    for change, words in few + wrong:
        tight = trust_models.ways(facts, "count", some | change)[2]
        assert tight.query is None and words in str(tight.refused), str(tight.refused)
    assert all(way.query is None for way in trust_models.ways(facts, "count", some | {"where": []}))


# --- the lesson -------------------------------------------------------------------------------------------------------


def lesson(**given: str) -> str:
    """The picture and its sentences."""
    parts = html_of(open_page("lessons", lesson="trust", **given)).split('<p class="lesson-do"')
    return plain_gloss(parts[1])


def plain_gloss(html: str) -> str:
    return re.sub(r"</?dfn[^>]*>|<style>.*?</style>", "", html, flags=re.S)


def test_nothing_of_the_lesson_spends(space: dp.Workspace) -> None:
    before = space.ledger.head()
    for look in lesson_trust.LESSON.settings[0].choices:
        page = open_page("lessons", lesson="trust", look=look)
        assert not any("%" in button.label for button in page.button)
    assert space.ledger.head() == before


def test_the_analyser_sees_the_permuted_messages_and_no_person() -> None:
    panel = lesson(look="messages", step="4")
    assert panel.count('<i class="b') == 24 and not any(f">{name}<" in panel for name in demo.NAMES)
    people = lesson(look="messages", step="2")
    assert all(f">{name}<" in people for name in demo.NAMES) and people.count('<i class="b') == 24


def test_all_steps_show_the_same_messages() -> None:
    seen = [lesson_trust._played("1") for _ in range(2)]
    assert seen[0] is seen[1]
    pile = lesson_trust.view(lesson_trust.LESSON.clean({"look": "messages", "step": "3"})).picture
    assert [int(bit) for bit in re.findall(r'<i class="b(\d)"', pile)] == list(seen[0].pile)


def test_the_stages_of_the_demonstration() -> None:
    stages = demo.play()
    assert tuple(bit for bit, _ in stages.sent) == demo.HOLDS
    assert sorted(stages.pile) == sorted(one for pair in stages.sent for one in pair)
    ones, estimate = demo.analysed(stages.pile)
    assert ones == sum(stages.pile) and estimate == ones - 3


def test_if_only_some_are_honest_the_exact_delta_is_told_and_what_mends_it() -> None:
    text = plain(lesson(look="honest", people="1000", honest="50"))
    query = trust_models.shuffled_of(lesson_trust.ways(1000))
    assert query is not None
    left, coin = trust_models.delta_of(query, 500), trust_models.needed(query, 500)
    assert left > query.delta and coin is not None
    assert f"With 500 honest people the shuffled pile keeps δ = {power_of_ten(left)}, not 10⁻⁶" in text
    words = lesson_trust.coin_words
    assert f"come up 1 with chance {words(coin)} instead of {words(query.chance)}" in text
    assert "You choose this assumption and nobody can check it" in text
    kept = plain(lesson(look="honest", people="1000", honest="100"))
    assert "With 1,000 honest people the shuffled pile keeps its promise" in kept
    assert "No coin keeps the promise with 10 honest people" in plain(lesson(look="honest", people="1000", honest="1"))


def test_one_pile_shows_what_separate_piles_show_and_envelopes_show_rows() -> None:
    shown = {way: lesson(look="channel", channel=way) for way in channel.CHANNELS}
    for panel in shown.values():
        assert panel.count('<i class="b') == 72 and not any(f">{name}<" in panel for name in demo.NAMES)
    figures = [re.findall(r"<td class='number'>([^<]*)</td>", shown[way]) for way in ("apart", "tagged")]
    assert figures[0] == figures[1] and len(figures[0]) == 6
    assert "of 12 people the way to work is now certain" in shown["bundles"]
    assert "A curator can always play the shuffler" in plain(lesson(look="who"))


def test_hebrew_has_the_picture_it_has_words_for() -> None:
    page = open_page("lessons", lesson="trust", look="who", lang="he")
    assert "curator" not in plain(html_of(page)) and not page.segmented_control
