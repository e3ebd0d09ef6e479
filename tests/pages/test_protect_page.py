"""“One row each” turned out wrong: where it is met, what will be left is said before, and one button mends it."""

from __future__ import annotations

from fractions import Fraction

import pytest
from helpers_declare import CANARY, ROOT, Page

import dpengine as dp
from dpengine.core.printed import percent_left
from dpengine.messages import say
from dpengine.messages.language import speaking
from dpengine.workspace import Workspace

pytestmark = pytest.mark.usefixtures("shared")

EACH = 7


def marks(pupils: int) -> str:
    rows = [f"{CANARY}-{p},{20 + (p + m) % 50}" for p in range(pupils) for m in range(EACH)]
    return "\n".join(["Pupil no.,age", *rows]) + "\n"


def told(left: Fraction, now: Fraction) -> str:
    return say("data.protect.left", then=percent_left(left), now=percent_left(now))


class Own(Page):
    """The page of one table."""

    def __init__(self, table: str, lang: str = "", protect: str = "") -> None:
        from streamlit.testing.v1 import AppTest

        self.app = AppTest.from_file(str(ROOT / "ui" / "main.py"), default_timeout=60)
        self.app.switch_page("../pages/data.py")
        self.app.query_params["table"] = table
        if protect:
            self.app.query_params["protect"] = protect
        if lang:
            self.app.query_params["lang"] = lang
        self.run()

    def run(self) -> Own:
        super().run()
        for _ in range(100):
            held = self.app.session_state["protections"] if "protections" in self.app.session_state else {}  # noqa: SIM401
            works = [work for work in held.values() if not work.over]
            if not works:
                break
            works[0].wait(60)
            super().run()
        return self

    @property
    def asked(self) -> bool:
        return any((button.key or "").startswith("protect-do-") for button in self.app.button)


def _brought(shared: Workspace, name: str, pupils: int, epsilon: str = "0.01") -> dp.Table:
    """As somebody adds it, and one question."""
    table = Page().upload(marks(pupils), "marks.csv").to("care").finish(name)
    table.ask(table.query("mean", column=next(iter(table.schema.columns)), epsilon=epsilon))
    return table


def test_the_tables_own_page_says_what_will_be_left_and_does_it(shared: Workspace) -> None:
    table = _brought(shared, "own page", 60)
    page = Own(table.name)
    titles = [one.label for one in page.app.get("expander")]
    assert say("data.protect.title", each=1) in titles and not page.asked
    unit = dp.Unit.column("Pupil no.", EACH)
    shown = table.protection_preview(unit)
    page.set(f"protect-who-{table.name}", "Pupil no.").set(f"protect-each-{table.name}", EACH)
    assert told(shown.left_then, shown.left_now) in page.text and say("data.protect.what", each=EACH) in page.text
    assert shared.table(table.name).facts.unit == dp.Unit.rows()  # looking changes nothing
    page.click(f"protect-do-{table.name}")
    after = shared.table(table.name)
    assert after.facts.unit == unit and after.facts.about == 60 and after.meter().unused == shown.left_then
    assert say("data.protect.done", each=EACH, left=percent_left(after.meter().unused)) in page.text
    # From then on only more can be said.
    assert say("data.protect.title_more", each=EACH) in [one.label for one in Own(table.name).app.get("expander")]


@pytest.mark.long
def test_the_same_file_with_several_rows_each_is_not_a_dead_end(shared: Workspace) -> None:
    table = _brought(shared, "added before", 61)
    unit = dp.Unit.column("Pupil no.", EACH)
    shown = table.protection_preview(unit)
    again = Own.__new__(Own)
    Page.__init__(again)
    again.upload(marks(61), "again.csv").to("unit").set("declare-unit", "more").set("declare-who", "Pupil no.")
    again.set("declare-each", EACH).set("declare-relation", "replace").press("Go on")
    again.to("care").set("declare-care", "usual").set("declare-name", "second").press("Add the table")
    assert again.draft.step == "unit" and not again.refusals
    assert say("data.protect.offer", table=table.name, rows=say("data.so_far.one")) in again.text
    assert told(shown.left_then, shown.left_now) in again.text
    again.click(f"protect-do-{table.name}")
    assert shared.table(table.name).facts.unit == unit and "second" not in dict(shared.names())
    assert say("data.protect.done", each=EACH, left=percent_left(shown.left_then)) in again.text
    assert again.app.query_params["table"] in (table.name, [table.name])


@pytest.mark.long
def test_what_does_not_fit_says_what_it_would_take_and_has_no_button(shared: Workspace) -> None:
    table = _brought(shared, "too much asked", 62, "0.5")
    page = Own(table.name).set(f"protect-who-{table.name}", "Pupil no.").set(f"protect-each-{table.name}", EACH)
    assert isinstance(page, Own) and not page.asked
    assert any("ε = 3.5" in refusal for refusal in page.refusals)


@pytest.mark.long
def test_who_was_refused_for_repeated_ids_finds_the_form_open_at_the_column(shared: Workspace) -> None:
    table = _brought(shared, "sent here", 65)
    page = Own(table.name, protect="Pupil no.")
    assert page.app.selectbox(f"protect-who-{table.name}").value == "Pupil no."
    opened = [one.proto.expanded for one in page.app.get("expander") if one.label == say("data.protect.title", each=1)]
    assert opened == [True] and 'class="read arrived"' in page.text
    unknown = Own(table.name, protect="not a column")
    assert "read arrived" not in unknown.text


@pytest.mark.long
def test_it_is_said_in_slovene(shared: Workspace) -> None:
    table = _brought(shared, "v slovenščini", 63)
    page = Own(table.name, lang="sl").set(f"protect-who-{table.name}", "Pupil no.")
    page.set(f"protect-each-{table.name}", EACH)
    with speaking("sl"):
        assert say("data.protect.title", each=1) in [one.label for one in page.app.get("expander")]
        assert "proračuna" in page.text and say("data.protect.what", each=EACH) in page.text


@pytest.mark.long
def test_nobody_corrects_a_sample_or_a_closed_table(shared: Workspace) -> None:
    assert not any("protect" in (one.key or "") for one in Own("town").app.number_input)
    table = _brought(shared, "closed", 64)
    shared.seal(table.name)
    assert not any("protect" in (one.key or "") for one in Own(table.name).app.number_input)
