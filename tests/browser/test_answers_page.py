"""Two questions asked, their answers found again, compared, copied and taken away; wide and on a phone."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import pytest
from browser.journeys import ask, ask_link, download, kind, no_sideways_scrolling, table_of
from browser.steps import go, settled, shot
from browser.test_axe import violations
from conftest import PHONE

from dpengine.messages import called, of_practice, say
from dpengine.messages.language import speaking
from dpengine.released.compare import compare
from ui.answers.picked import Named, Words

BARS = ask_link("town", "histogram", column="district", epsilon="0.1")
MEANS = ask_link("town", "mean", column="monthly_income", by="has_car", epsilon="0.1")
PILLS = "[data-testid='stButtonGroup'] button"


def pick(page: Any, *names: str) -> None:
    for name in names:
        page.locator(PILLS).filter(has_text=re.compile(f"^{name}$")).click()
        settled(page)


def journey(page: Any, server: Any, lang: str) -> None:
    for link in (BARS, MEANS):
        ask(page, f"{link}&lang={lang}")
    table = table_of(page, server)
    before = table.meter().used
    go(page, f"/answers?table=town&lang={lang}")
    kind(page)
    assert page.locator("[class*='st-key-card-answer'] .headline").count() == 2
    with speaking(lang), of_practice("town"):
        pick(page, called("Harbour"), called("Old Town"))
    told = compare([one for one in table.figures(table.history(2)[1]) if one.part in ("Harbour", "Old Town")])
    with speaking(lang), of_practice("town"):
        question = table.answer_of(table.history(2)[1]).sentence
        words = Words(told, [Named(called(one.part), one) for one in told.picks], "town", question)
        headline, sentence, copy = words.headline(), words.sentence(), say("answers.copy")
    assert page.locator(".st-key-card-compare .headline").inner_text() == headline
    no_sideways_scrolling(page)
    shot(page, f"answers-compared-{lang}-{page.viewport_size['width']}")
    page.locator(".st-key-card-compare").get_by_role("button", name=copy).click()
    page.locator("[data-testid='stPopoverBody'] code").filter(has_text=headline).wait_for()
    assert page.locator("[data-testid='stPopoverBody'] code").first.inner_text().strip() == sentence
    page.keyboard.press("Escape")
    card = page.locator("[class*='st-key-card-answer']").last
    card.locator("summary").last.click()
    file = download(page, card.locator("[class*='st-key-csv-'] button"))
    assert "Harbour" in file.path().read_text(encoding="utf-8-sig")  # as it is stored, in every language
    assert download(page, card.locator("[class*='st-key-png-'] button")).path().read_bytes().startswith(b"\x89PNG")
    assert table.meter().used == before  # all of it for nothing


@pytest.mark.long
def test_two_bars_are_compared_copied_and_taken_away(page: Any, server: Any) -> None:
    journey(page, server, "en")
    page.get_by_role("radio", name=say("answers.view.ledger")).click()
    page.get_by_text(say("ledger.check_lead")[:30]).wait_for()
    assert "view=ledger" in page.url


@pytest.mark.long
@pytest.mark.parametrize("lang", ["en", "sl"])
def test_the_same_on_a_phone(lang: str, open_page: Callable[..., Any], server: Any) -> None:
    page = open_page(**PHONE)
    journey(page, server, lang)
    assert not [line for line in violations(page) if "Image download" not in line and "Preparing" not in line]
