"""Five places, every old address, and what Start and Tables say without a browser."""

from __future__ import annotations

import re
from html import unescape
from pathlib import Path

import pandas as pd
import pytest
from helpers_page import html_of, open_page, plain

import dpengine as dp
from demos.lessons import differencing as demo
from dpengine.core.printed import percent
from dpengine.messages import say
from dpengine.messages.language import speaking
from dpengine.storage.samples import SAMPLES
from dpengine.workspace import Workspace
from ui.shell import nav, workshop_state

LINK = re.compile(r'<a href="([^"]+)" target="_self"( aria-current="page")?>([^<]+)</a>')
# Addresses behind links, and what one reads there.
ADDRESSES: tuple[tuple[str, dict[str, str], str], ...] = (
    ("data", {}, "data.file.title"),
    ("data", {"table": "town"}, "table.practice"),
    ("ask", {"table": "residents", "q": "median", "column": "salary"}, "preview.title"),
    ("several", {"table": "residents"}, "plan.lead"),
    ("several", {"table": "residents", "k": "30"}, "session.lead"),
    ("publish", {"table": "residents"}, "publish_page.title"),
    ("synthetic", {"table": "residents"}, "synthetic_page.title"),
    ("train", {"table": "residents"}, "train_page.title"),
    ("answers", {"table": "residents", "view": "ledger"}, "ledger.lead"),
    ("whatif", {"q": "mean", "n": "500"}, "whatif.title"),
    ("lessons", {"lesson": "trust", "look": "who"}, "trust.who"),
    ("audit", {"q": "count"}, "check.title"),
    ("lessons", {}, "lessons.title"),
    ("lessons", {"lesson": "film"}, "lesson.7.title"),
    ("thesis", {}, "thesis.title"),
)


def links(told: str, row: str) -> list[tuple[str, bool, str]]:
    """Of one row of the navigation: where each leads, whether one is there, and its words."""
    (part,) = re.findall(rf'<nav aria-label="{row}">.*?</nav>', told)
    return [(unescape(link), bool(here), unescape(words)) for link, here, words in LINK.findall(part)]


def add(home: Workspace, name: str = "R&D <b>") -> dp.Table:
    frame = pd.DataFrame({"age": [20, 30, 40, 50] * 100})
    schema, budget = dp.Schema({"age": dp.Number(0, 100, step=1)}), dp.Budget("1", "1e-6")
    return home.add_table(name, frame, schema=schema, unit=dp.Unit.rows(), budget=budget)


@pytest.mark.every(9)
@pytest.mark.parametrize(
    ("page", "address", "words"), ADDRESSES, ids=[f"{page}-{words}" for page, _, words in ADDRESSES]
)
def test_an_address_opens_the_same_thing_cold(
    shared: Workspace, page: str, address: dict[str, str], words: str
) -> None:
    """In its language, of its table, and with its place marked."""
    app = open_page(page, **address, lang="sl")
    told = html_of(app)
    with speaking("sl"):
        assert say(words).split("{")[0] in plain(told, "")
        places = links(told, say("place.label"))
        assert [name for _, here, name in places if here] == [say(f"place.{nav.place_of(page)}")]
    assert all(link.endswith("lang=sl") for link, _, _ in places)
    if "table" in address:
        ((ask, *_),) = [link for link in places if link[0].startswith("ask?")]
        assert f"table={address['table']}&" in ask
    assert shared.ledger.head()[0] == 0


def test_every_page_stands_in_one_place_and_its_row_lists_it(shared: Workspace) -> None:
    assert all(nav.place_of(name) for name in nav.NAMES if name != nav.START)
    for name in ("tables", "publish", "more", "audit"):
        place = nav.place_of(name)
        assert place is not None
        row = links(html_of(open_page(name)), say(f"place.{place}"))
        assert [words for _, _, words in row] == [say(f"room.{one}") for one in nav.rooms(place)]
        assert [words for _, here, words in row if here] == [say(f"room.{nav.WITHIN.get(name, name)}")]
    row = links(html_of(open_page("data", table="town")), "Tables")
    assert [words for _, here, words in row if here] == ["town"]


def test_every_page_of_today_has_an_address() -> None:
    files = {path.stem for path in (nav.ROOT / "pages").glob("*.py")}
    assert {*nav.NAMES} == files


def test_there_are_five_places_and_in_a_workshop_the_wall_is_the_first(monkeypatch: pytest.MonkeyPatch) -> None:
    assert nav.places() == ["tables", "ask", "answers", "whatif", "learn"]
    monkeypatch.setenv(workshop_state.CODE, workshop_state.new_code())
    assert nav.places() == ["wall", "tables", "ask", "answers", "whatif", "learn"] and "data" not in nav.rooms("tables")


# --- Start ------------------------------------------------------------------------------------------------------------


def test_start_shows_the_first_lesson_in_three_numbers_and_then_privately(shared: Workspace) -> None:
    app = open_page("start")
    told = plain(html_of(app))
    first, second = demo.run(demo.Settings()).exact
    assert f"up to 162 {first}" in re.sub(r"\s+", " ", told) and f"up to 163 {second}" in re.sub(r"\s+", " ", told)
    assert second - first == 1 and say("why.has") in told and say("why.nobody") not in told
    app.button(key="why-ask").click().run()
    told = plain(html_of(app))
    assert say("why.nobody") in told and say("why.has") not in told
    drawn = re.findall(r"up to 16[23]\s+(−?[\d,]+)", told)
    app.run()  # what was drawn stays until somebody asks again
    assert re.findall(r"up to 16[23]\s+(−?[\d,]+)", plain(html_of(app))) == drawn and len(drawn) == 2
    app.button(key="why-back").click().run()
    assert say("why.has") in plain(html_of(app)) and shared.ledger.head()[0] == 0


def test_an_answer_that_was_told_on_start_is_told_on_ask(home: Workspace) -> None:
    town = home.table("town")
    town.ask(town.query("median", column="monthly_income", epsilon="0.1"), request_id="first")
    app = open_page("start", answer="first")
    assert "The median of monthly_income for everyone" in plain(html_of(app)) and 'class="headline' in html_of(app)
    assert len(town.history()) == 1


# --- Tables -----------------------------------------------------------------------------------------------------------


def test_a_card_tells_what_is_left_and_what_was_asked_last(home: Workspace) -> None:
    table = add(home)
    for age in (25, 35, 45, 55):
        table.ask(table.query("count", where=[["age", ">=", age]], epsilon="0.1"))
    told = html_of(open_page("tables"))
    (card,) = [one for one in re.findall(r"<article.*?</article>", told) if "R&amp;D" in one]
    words = plain(card)
    assert "<b>" not in words.replace("R&D <b>", "") and "400 people" in words
    assert f"{percent(1 - table.meter().used)} left" in re.sub(r"\s+", " ", words)
    assert "at least 55" in words and "at least 35" in words and "at least 25" not in words  # the latest three
    assert 'href="ask?table=R%26D+%3Cb%3E"' in card and 'href="data?table=R%26D+%3Cb%3E"' in card


@pytest.mark.long
def test_a_card_says_what_needs_attention(home: Workspace) -> None:
    table = add(home, "people")
    assert say("tables.unchecked") in plain(html_of(open_page("tables")))
    table.ask(table.query("fit_checks", columns=["age"], epsilon="0.5"))
    told = plain(html_of(open_page("tables")))
    assert say("tables.unchecked") not in told and "do not fit" not in told
    table.revise(dp.Schema({"age": dp.Number(90, 100, step=1)}))
    home.table("people").ask(home.table("people").query("fit_checks", columns=["age"], epsilon="0.4"))
    assert "of the cells of age do not fit" in plain(html_of(open_page("tables")))


def test_a_card_of_a_closed_table_offers_no_question(home: Workspace) -> None:
    add(home, "over")
    home.seal("over")
    told = html_of(open_page("tables"))
    (card,) = [one for one in re.findall(r"<article.*?</article>", told) if "over (sealed)" in one]
    assert "ask?" not in card and "data?table=over" in card


@pytest.mark.long
def test_whoever_comes_back_finds_the_newest_table_that_is_open(home: Workspace) -> None:
    def asked() -> list[str]:
        return [link for link, _, words in links(html_of(open_page("tables")), "Places") if words == "Ask"]

    for name, most in (("first", 50), ("second", 60)):
        frame = pd.DataFrame({"age": [20, 30, 40, most] * 100})
        schema = dp.Schema({"age": dp.Number(0, 100, step=1)})
        home.add_table(name, frame, schema=schema, unit=dp.Unit.rows(), budget=dp.Budget("1", "1e-6"))
        assert asked() == [f"ask?table={name}"]
    home.seal("second")
    assert asked() == ["ask?table=first"]


def test_a_sample_does_not_come_in_for_its_card(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ALLOWANCE_HOME", str(tmp_path / "var"))
    told = html_of(open_page("tables"))
    fresh = dp.open_workspace(tmp_path / "var")
    assert all(f"<h3>{name}</h3>" in told for name in SAMPLES)
    assert [name for name in SAMPLES if fresh.here(name)] == ["town"]  # the one that Start opens


def test_the_owner_acts_on_the_tables_own_page(home: Workspace) -> None:
    add(home, "mine")
    assert "owner-seal" in {button.key for button in open_page("data", table="mine").button}
    assert "owner-seal" not in {button.key for button in open_page("answers", view="ledger", table="mine").button}
