"""A model is trained, tried out and taken away; a long training is stopped, in the dark, in Slovene and on a phone."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from browser.journeys import download, kind, meter, no_sideways_scrolling, table_of
from browser.steps import go, settled, shot
from browser.test_axe import violations

from dpengine.messages import called, of_practice
from dpengine.messages.language import speaking


@pytest.mark.long
def test_a_model_is_trained_tried_out_and_taken_away(page: Any, server: Any, tmp_path: Path) -> None:
    go(page, "/train?table=clinic&target=blood_pressure&share=75&steps=10")
    page.get_by_role("heading", name="Predict one column from others").wait_for()
    page.get_by_text("Figures and theorems").click()  # for those who want them
    page.get_by_role("heading", name="Three kinds of noise").wait_for()
    kind(page)
    shot(page, "train")
    page.get_by_role("button", name="Train — takes").click()
    page.get_by_role("heading", name="What would it predict?").wait_for()
    settled(page)
    [answer] = table_of(page, server, "clinic").trainings()
    left, model = meter(page), answer.query.model(answer.path.weights)
    page.get_by_role("spinbutton", name="age").fill("90")
    page.keyboard.press("Enter")
    value = model.predict({"age": 90, "diabetes": "yes"})
    page.get_by_text(f"about {value:.3g}" if value < 100 else f"about {value:,.0f}").wait_for()
    download(page, page.get_by_role("button", name="Download Python")).save_as(tmp_path / "model.py")
    scored: dict[str, Any] = {}
    exec((tmp_path / "model.py").read_text(encoding="utf-8"), scored)
    assert scored["predict"]({"age": 90, "diabetes": "yes"}) == pytest.approx(value)
    assert meter(page) == left and "trained=" in page.url
    kind(page)
    shot(page, "trained")


@pytest.mark.long
def test_a_long_training_is_stopped_and_stays_charged(open_page: Any, phone: Any, server: Any) -> None:
    dark = open_page(color_scheme="dark")
    go(dark, "/train?table=town&target=has_car&share=50&steps=1000&lang=sl")
    dark.get_by_role("button", name="Nauči – porabi").click()
    dark.get_by_text(re.compile(r"Korak \d+ od 1.000")).wait_for()
    assert "50 %" in meter(dark), "the meter does not tell yet that it was charged"
    dark.get_by_text("Ustavitev ne vrne ničesar").wait_for()
    shot(dark, "dark-training")
    dark.get_by_role("button", name="Ustavi tukaj").click()
    dark.get_by_text("Zaračunana ostane vsa cena").wait_for()
    settled(dark)
    [answer] = table_of(dark, server).trainings()
    assert answer.path.stopped and "50 %" in meter(dark)
    kind(dark)
    assert not violations(dark)
    shot(dark, "dark-trained")
    phone.context.add_cookies(dark.context.cookies())
    go(phone, dark.url)
    phone.get_by_role("heading", name="Kaj bi napovedal?").wait_for()
    no_sideways_scrolling(phone)
    assert not violations(phone)
    shot(phone, "trained-phone")
    go(phone, "/train?table=town")
    no_sideways_scrolling(phone)
    shot(phone, "train-phone")


def _brought(page: Any, schema: Any, folder: Path) -> None:
    """Two rows of usual values come back with a column more."""
    names = [name for name in schema.columns if name != "has_car"]
    cells = [str(schema[name].value(0)) if hasattr(schema[name], "value") else "" for name in names]
    (folder / "mine.csv").write_text("\n".join([",".join(names), ",".join(cells), ",".join(cells)]), encoding="utf-8")
    card = page.locator(".st-key-card-train-file")
    card.locator("input[type=file]").set_input_files(folder / "mine.csv")
    card.get_by_text("2 rows were read").wait_for()
    settled(page)
    download(page, card.get_by_role("button", name="Download CSV with the new column")).save_as(folder / "told.csv")
    first, *rest = (folder / "told.csv").read_text(encoding="utf-8-sig").splitlines()
    assert first.endswith("chance that has_car is yes") and len(rest) == 2
    assert 0 <= float(rest[0].rsplit(",", 1)[1]) <= 1


@pytest.mark.long
def test_a_model_is_read_off_figures_and_another_costs_nothing(
    page: Any, phone: Any, server: Any, tmp_path: Path
) -> None:
    go(page, "/train?table=town&target=has_car&share=20")
    page.get_by_text("is not promised: that depends on your table").wait_for()
    shot(page, "shapes-form")
    page.get_by_role("button", name="Train the model — takes").click()
    page.get_by_role("heading", name="What goes with has_car").wait_for()
    page.get_by_text("always guessing “").first.wait_for()
    settled(page)
    left = meter(page)
    kind(page)
    assert not violations(page)
    shot(page, "shapes")
    _brought(page, table_of(page, server).schema, tmp_path)
    assert meter(page) == left, "predicting for a file costs"
    model = page.url
    go(page, "/answers?table=town")
    page.get_by_text("A model that predicts has_car from").first.wait_for()
    page.get_by_text(re.compile("Whether has_car is yes: right for about .* always guessing “")).first.wait_for()
    shot(page, "answers-model")
    page.get_by_role("link", name="Open the model").first.click()
    page.get_by_role("heading", name="What goes with has_car").wait_for()
    go(page, model)
    phone.context.add_cookies(page.context.cookies())
    go(phone, page.url.replace("target=has_car", "target=district") + "&lang=sl")
    with speaking("sl"), of_practice("town"):
        title = f"Kaj je povezano s stolpcem {called('district')}"
    phone.get_by_role("heading", name=title).wait_for()
    no_sideways_scrolling(phone)
    assert not violations(phone)
    assert re.findall(r"[\d.,]+ %", meter(phone))[0] == re.findall(r"[\d.,]+ %", left)[0], "another model costs"
    shot(phone, "shapes-phone")
