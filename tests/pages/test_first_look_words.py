"""What a first look says of its price, and of what is most."""

from __future__ import annotations

import pytest

from dpengine.messages import say
from dpengine.messages.language import speaking
from ui.board.board_figures import Bar, aside_of_list

WORTH = {"share": "1 %", "columns": 3, "reach": "90", "people": 30_000, "each": 3, "chance": 95, "few": 13_000}


@pytest.mark.parametrize(("language", "told"), [("en", "with fewer than about 13,000 people"), ("sl", "pri manj kot")])
@pytest.mark.parametrize("counted", ["people", "rows"])
def test_what_would_be_noise_is_a_table_not_a_group(language: str, told: str, counted: str) -> None:
    with speaking(language):
        assert told in say(f"board_page.worth.{counted}", **WORTH)


def bars(*highs: float) -> list[Bar]:
    """Each from none to so many: none is surely ahead."""
    names = ["Sales", "Craft", "Clerk", "Tech", "Farm", "Guard", "House"]
    return [Bar(one, one, high, 0, high, "", False, False) for one, high in zip(names, highs, strict=False)]


def test_those_that_may_be_most_are_named() -> None:
    assert aside_of_list(bars(9, 9, 9, 9, 9)) == "any of these 5 may be most: Sales, Craft, Clerk, Tech, Farm"
    assert aside_of_list(bars(9, 9, 9, 9, 9, 9, 9)) == "any of 7 values may be most"
    assert aside_of_list(bars(9, 9)) == "most: Sales or Craft"
    with speaking("sl"):
        assert aside_of_list(bars(9, 9, 9, 9)) == "največ je lahko katerakoli od teh 4: Sales, Craft, Clerk, Tech"
