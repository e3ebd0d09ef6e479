"""What the first question with Gaussian noise takes beyond what it will take later: said before the click."""

from __future__ import annotations

from html import escape

import dpengine as dp
from dpengine.accountant.costs import cost
from dpengine.messages import say
from ui.words import gloss
from ui.words.wording import percent


def words(table: dp.Table, query: dp.Query, price: dp.Preview, code: str = "spend.first") -> str:
    """A box with the entry fee, why there is one, and what the same takes afterwards; nothing where none is due."""
    rule, meter, told = table.budget.rule, table.meter(), cost(query.loss(), table.budget.rule.alpha)
    later = told.renyi / rule.epsilon
    if told.epsilon is not None or meter.pure_closed or not meter.left or price.fraction <= later:
        return ""
    first = say(code, share=percent(price.fraction))
    why = say("spend.entry", fee=percent(price.fraction - later), later=percent(later))
    return f'<p class="warn" role="note"><b>{escape(first)}</b> {gloss.text(why)}</p>'
