"""A note beside an answer on how the declaration changes the file's cells before they count; from public facts."""

from __future__ import annotations

from fractions import Fraction
from html import escape

import dpengine as dp
from dpengine.asking.column_fit import MADE
from dpengine.declared.grouped import base
from dpengine.mechanisms import cuts
from dpengine.mechanisms.counts.fit_checks import UNSURE
from dpengine.mechanisms.edges import near_end, near_end_words
from dpengine.messages import say
from ui.parts import fitting
from ui.words.edge_words import edges
from ui.words.wording import cut_rows, headline

HARDLY = Fraction(1, 50)  # of everybody
LONG = 60  # characters: a longer finding is set smaller, so that its range stays in view on a phone


def words(query: dp.Query) -> str:
    """What is cut, and which rows are left out for want of a value, or count without one; nothing where none can be."""
    needed = query.left_out()
    without = say("cut.without" if len(needed) == 1 else "cut.without_any", columns=needed) if needed else ""
    empty = query.counted_empty()
    within = say("cut.within", columns=empty) if empty else ""
    return " ".join(filter(None, [cuts.sentence(query.cuts()), without, within]))


def several_rows(query: dp.Query) -> str:
    """Where rows count: at most how many of each person; and for how many an error is planned that falls with them."""
    told = say("ask.each_row", most=query.facts.unit.at_most)
    falls = query.of_size(2 * query.facts.about).promise().amount < query.promise().amount
    return f"{told} {say('ask.each_row_planned')}" if falls and query.facts.unit.at_most > 1 else told


def finding(answer: dp.Answer, lead: str = "", linked: bool = False) -> str:
    """The headline; under it `lead`, which says how far the truth may be, because on a phone nothing may push that out
    of view; then what a bar at an end of a declared range also holds; where rows of a person may have been left out,
    which way the truth may lie; and once, smaller, how the declaration changes what counts."""
    warned = [_near_end(answer), _hardly(answer), edges(answer), cut_rows(answer)]
    edge = "".join(f'<p class="warn">{escape(told)}</p>' for told in warned if told)
    counts = words(answer.query)
    small = f'<p class="muted counted">{escape(counts)}</p>' if counts else ""
    said = _of_fitting(answer, headline(answer))
    kind = "headline long" if len(said) > LONG else "headline"
    return f'<p class="{kind}">{escape(said)}</p>{fitting.between(answer, linked)}{lead}{edge}{small}'


def _of_fitting(answer: dp.Answer, said: str) -> str:
    """Where only cells that fit count: of which share of the cells the finding is."""
    known = fitting.fits(answer)
    fits = [fit for fit in known.about(answer.query) if fit.column in answer.query.where.fitting() and fit.found]
    if not fits:
        return said
    least = min(fits, key=lambda fit: 1 - fit.found.misfit.value if fit.found is not None else 1)
    return say("fit.of_fitting", share=least.fitting_share(), finding=said[:1].lower() + said[1:])


def _near_end(answer: dp.Answer) -> str:
    """Nothing where the answer says nothing itself. Once a check could tell, only where it found cells beyond that very
    end, and no code that would pull the answer there."""
    query, code = answer.query, near_end(answer.query, answer.value, answer.interval)
    if not code or query.state(answer.value, answer.interval):
        return ""
    known = fitting.fits(answer).of(query.answer_column, query.facts.schema[query.answer_column])
    if known.state == MADE or (known.found is not None and known.state != UNSURE):
        beyond = None if known.found is None else known.found.parts.get({"upper": "above", "lower": "below"}[code])
        if beyond is None or beyond.low <= 0 or known.codes:
            return ""
    return near_end_words(query, code)


def _hardly(answer: dp.Answer) -> str:
    """A share or number that is next to nothing, of a listed value: the cells may be written otherwise, where nobody
    has checked them."""
    query, limits = answer.query, answer.query.limits()
    if query.answer_kind not in ("share", "count") or limits is None or not isinstance(answer.value, int | float):
        return ""
    if answer.value > limits[1] * HARDLY:
        return ""
    columns, known = query.facts.schema.columns, fitting.fits(answer)
    asked = {base(one) for condition in query.conditions() for one in condition.columns()}
    lists = [name for name in columns if name in asked and isinstance(columns[name], dp.Category)]
    unchecked = [name for name in lists if not known.of(name, columns[name]).checked]
    return say("edge.hardly", columns=unchecked) if unchecked else ""


def html(query: dp.Query) -> str:
    told = words(query)
    return f'<p class="muted counted">{escape(told)}</p>' if told else ""
