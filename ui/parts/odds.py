"""What ε means, in odds a person can weigh: how far a suspicion can grow after everything was answered."""

from __future__ import annotations

from decimal import ROUND_CEILING, Decimal
from fractions import Fraction
from html import escape

import streamlit as st

from dpengine.core.exact import ceiling, decimal_of, up
from dpengine.core.printed import power_of_ten
from dpengine.messages import say
from dpengine.planning.whatif import suspicion
from ui.words import gloss

PRIORS = ("1", "5", "10", "25", "50")
_PRIOR = 10  # in percent: of receipts


def show(epsilon: Fraction, delta: Fraction, relation: str, prior: int) -> None:
    """A hundred dots before and a hundred after; `prior` in percent."""
    most, twice = after(prior, epsilon), after(prior, 2 * epsilon)
    lead = say(f"odds.lead.{relation}", prior=prior, most=most, epsilon=up(epsilon, 1000))
    about = say(f"odds.about.{relation}", twice=twice)  # one row for another is two steps of add/remove
    slip = say("odds.delta", delta=power_of_ten(delta)) if delta else say("odds.no_delta")
    dots = _dots(prior, say("odds.before", share=prior)) + _dots(ceiling(most), say("odds.after", share=most))
    st.html(
        f'{_STYLE}<p class="odds-lead">{gloss.text(lead)}</p><div class="odds">{dots}</div>'
        f'<p class="muted">{escape(about)}</p><p class="muted">{gloss.text(slip)}</p>'
    )


def after(prior: int, epsilon: Fraction) -> Fraction:
    """The suspicion once everything was answered, at most; in percent, to three digits and rounded up, near 100 to two
    digits of what is left."""
    exact = suspicion(Fraction(prior, 100), epsilon) * 100
    last = decimal_of(exact).adjusted() - 2
    if 100 - 10 < exact < 100:
        last = min(last, decimal_of(100 - exact).adjusted() - 1)
    return min(Fraction(decimal_of(exact).quantize(Decimal(1).scaleb(last), rounding=ROUND_CEILING)), Fraction(100))


def of_answer(epsilon: Fraction, delta: Fraction, relation: str) -> str:
    """What one answer by itself can do to a suspicion: ε, δ and the odds, for its receipt."""
    told = {"prior": _PRIOR, "most": after(_PRIOR, epsilon), "epsilon": up(epsilon, 1000)}
    slip = say("odds.alone_delta", delta=power_of_ten(delta)) if delta else say("odds.no_delta")
    return say(f"odds.alone.{relation}", **told) + " " + slip


def _dots(on: int, caption: str) -> str:
    told = escape(caption)
    spans = "".join(f'<i class="{"on" if place < on else ""}"></i>' for place in range(100))
    picture = f'<div class="dots" role="img" aria-label="{told}">{spans}</div>'
    return f"<figure>{picture}<figcaption>{told}</figcaption></figure>"


_STYLE = """<style>
.odds { display: flex; flex-wrap: wrap; gap: 1rem 3rem; margin: 0.6rem 0 0.8rem 0; }
.odds figure { margin: 0; }
.odds .dots { display: grid; grid-template-columns: repeat(10, 15px); gap: 4px; }
.odds .dots i { width: 13px; height: 13px; border-radius: 50%; background: var(--line); }
.odds .dots i.on { background: var(--take); }
.odds figcaption { color: var(--muted); margin-top: 0.4rem; }
.odds-lead { max-width: 44rem; font-size: 1.12rem; }
</style>"""
