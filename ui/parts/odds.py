"""What ε means, in odds a person can weigh: how far a suspicion can grow after everything was answered."""

from __future__ import annotations

from fractions import Fraction
from html import escape

import streamlit as st

from dpengine.core.exact import ceiling, up
from dpengine.core.printed import power_of_ten
from dpengine.messages import say
from dpengine.planning.whatif_curves import suspicion
from ui.words import gloss

PRIORS = ("1", "5", "10", "25", "50")


def show(epsilon: Fraction, delta: Fraction, relation: str, prior: int) -> None:
    """A hundred dots before and a hundred after; `prior` in percent."""
    most, twice = after(prior, epsilon), after(prior, 2 * epsilon)
    lead = say(f"odds.lead.{relation}", prior=prior, most=most, epsilon=up(epsilon, 1000))
    about = say(f"odds.about.{relation}", twice=twice)  # one row for another is two steps of add/remove
    slip = say("odds.delta", delta=power_of_ten(delta)) if delta else say("odds.no_delta")
    dots = _dots(prior, say("odds.before", share=prior)) + _dots(most, say("odds.after", share=most))
    st.html(
        f'{_STYLE}<p class="odds-lead">{gloss.text(lead)}</p><div class="odds">{dots}</div>'
        f'<p class="muted">{escape(about)}</p><p class="muted">{gloss.text(slip)}</p>'
    )


def after(prior: int, epsilon: Fraction) -> int:
    """The suspicion once everything was answered, at most; in percent, rounded up."""
    return ceiling(suspicion(Fraction(prior, 100), epsilon) * 100)


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
