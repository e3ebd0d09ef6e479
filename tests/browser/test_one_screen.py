"""Ask fits its screen, and neither it nor the first answer uses a word of the mathematics."""

from __future__ import annotations

from typing import Any

import pytest
from browser.journeys import first_answer
from browser.steps import go

from dpengine.messages import CATALOGUES

LONG = pytest.mark.long
# How far down the last thing of the page reaches, from its beginning.
_END = """() => {
    const main = document.querySelector('[data-testid="stMain"]');
    const top = main.getBoundingClientRect().top - main.scrollTop;
    const drawn = [...main.querySelectorAll('.st-key-suggest, [data-testid="stExpander"], .st-key-card-spend, .ideas')];
    return Math.max(...drawn.map(one => one.getBoundingClientRect().bottom)) - top;
}"""


@pytest.mark.long
@pytest.mark.parametrize(
    ("lang", "window", "screens"),
    [
        ("en", {"width": 1280, "height": 800}, 1),
        pytest.param("sl", {"width": 1280, "height": 800}, 1, marks=LONG),
        pytest.param("en", {"width": 390, "height": 844}, 2, marks=LONG),
        pytest.param("sl", {"width": 390, "height": 844}, 2, marks=LONG),
    ],
)
def test_ask_stands_on_one_screen_and_on_two_of_a_phone(
    open_page: Any, lang: str, window: dict[str, int], screens: int
) -> None:
    page = open_page(viewport=window, has_touch=screens == 2)
    go(page, f"/ask?table=town&lang={lang}")
    page.locator(".st-key-suggest").wait_for()
    assert 0 < page.evaluate(_END) <= screens * window["height"]


@pytest.mark.long
@pytest.mark.parametrize("lang", ["en", "sl"])
def test_the_first_answer_needs_no_word_of_the_mathematics(page: Any, lang: str) -> None:
    """What can be unfolded may have them: closed, its text is not drawn."""
    words = {"en": ("gauss", "laplace", "receipt"), "sl": ("gauss", "laplace", "potrdil")}
    assert all(word in " ".join(CATALOGUES[lang].values()).lower() for word in words[lang])
    go(page, f"/?lang={lang}")
    first_answer(page)
    seen = page.locator('[data-testid="stMain"]').inner_text().lower()
    assert not [sign for sign in ("ε", "δ", *words[lang]) if sign in seen]
