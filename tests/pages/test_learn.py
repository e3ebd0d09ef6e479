"""Nothing under Learn ever spends, whatever is pressed; and questions are found by the words people search for."""

from __future__ import annotations

import pytest
from helpers_page import open_page

import dpengine as dp
from dpengine.messages.language import speaking
from ui.learn import lessons
from ui.shell import nav

SEARCHED = {
    "en": ("histogram", "crosstab", "top 5", "average", "median", "percentile"),
    "sl": ("histogram", "križna tabela", "top 5", "povprečje", "mediana", "percentil"),
}


def charges(home: dp.Workspace) -> int:
    return sum(row["kind"] == "charge" for row in home.ledger.export_rows())


@pytest.mark.long
@pytest.mark.parametrize("page", nav.PLACES["learn"])
def test_nothing_under_learn_spends(home: dp.Workspace, page: str) -> None:
    addresses = [{"lesson": name} for name in lessons.NAMES.values()] if page == "lessons" else [{}]
    for address in addresses:
        app = open_page(page, **address)
        for key in [button.key for button in app.button if button.key]:
            app = open_page(page, **address)
            app.button(key=key).click().run()
            assert not app.exception, (address, key)
    assert charges(home) == 0
    town = home.table("town", visitor="local")  # a charge would be seen
    town.ask(town.query("median", column="age", epsilon="0.1"))
    assert charges(home) == 1


@pytest.mark.parametrize("lang", SEARCHED)
def test_a_question_is_called_by_the_word_that_people_search_for(lang: str) -> None:
    with speaking(lang):
        nouns = [question.card.noun for question in dp.catalogue.values()]
    for word in SEARCHED[lang]:
        assert any(word in noun for noun in nouns), word
