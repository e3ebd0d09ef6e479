"""Further down the What-if page, one at a time: what ε means, ways of counting, many questions, choosing one of
several, two medians."""

from __future__ import annotations

from html import escape

import streamlit as st

import dpengine as dp
from dpengine.accountant import how_many_fit
from dpengine.core.amounts import BETA
from dpengine.core.exact import text_of
from dpengine.core.printed import chance
from dpengine.mechanisms.choices.median import Median
from dpengine.messages import plain, say
from dpengine.messages.numbers import to_figures
from dpengine.planning import alternatives, whatif
from dpengine.planning.whatif import made_up, read_number_field
from ui.parts import odds
from ui.pictures import charts
from ui.whatif.whatif_state import SECTIONS, SHAPES, widget
from ui.words import gloss

SIMULATED = 30
_DRAWN = {"basic": ("spent", "dash"), "lecture": ("take", "dot"), "filter": ("left", "solid")}


Points = list[tuple[float, float]]


def show(given: dict[str, str], found: whatif.Solved) -> tuple[dict[str, str], dict[str, Points]]:
    """What was chosen, and what was drawn."""
    section = st.segmented_control(
        say("whatif.see"),
        SECTIONS,
        default=given["see"],
        required=True,
        key=widget("see"),
        format_func=lambda one: say(f"whatif.see.{one}"),
        label_visibility="collapsed",
    )
    given = given | {"see": str(section or given["see"])}
    with st.container(key="card-closer"):
        st.html(
            f"<h2>{escape(say('whatif.title.' + given['see']))}</h2>"
            f'<p class="lead">{gloss.text(say("whatif.lead." + given["see"]))}</p>'
        )
        if given["see"] == "odds":
            return given | {"prior": _odds(given, found.budget, found.query.facts.relation)}, {}
        if given["see"] == "median":
            shape, answers = _medians(given, found)
            return given | {"shape": shape}, answers
        if given["see"] == "many":
            return given, _many(found)
        if given["see"] == "choose":
            return given, _choosing(found)
        _ways(found)
    return given, {}


def meaning(given: dict[str, str], relation: str) -> dict[str, str]:
    """Where no fourth number was found: what the typed ε means all the same, if it can be read."""
    try:
        typed = dp.Budget(
            read_number_field(given["e"], say("whatif.field.epsilon")), read_number_field(given["d"], "δ")
        )
    except dp.AllowanceError:
        return given
    if given["find"] == "epsilon":
        return given
    with st.container(key="card-closer"):
        st.html(f"<h2>{escape(say('whatif.title.odds'))}</h2><p class='lead'>{gloss.text(say('whatif.lead.odds'))}</p>")
        return given | {"prior": _odds(given, typed, relation)}


def _odds(given: dict[str, str], budget: dp.Budget, relation: str) -> str:
    now = given["prior"] if given["prior"] in odds.PRIORS else "10"
    prior = st.segmented_control(
        say("odds.prior"),
        odds.PRIORS,
        default=now,
        required=True,
        key=widget("prior"),
        format_func=lambda one: f"{one} %",
    )
    odds.show(budget.epsilon, budget.delta, relation, int(prior or now))
    return str(prior or now)


def _ways(found: whatif.Solved) -> None:
    """The same allowance under four accountings."""
    counts = how_many_fit.how_many(found.budget.rule(), found.query.loss())
    rows = "".join(
        f"<tr><td><b>{escape(say(f'whatif.way.{name}'))}</b><br><span class='muted'>"
        f"{gloss.text(say(f'whatif.way_means.{name}'))}</span></td><td class='number'>{plain(count)}</td></tr>"
        for name, count in counts.items()
    )
    head = f"<tr><th>{escape(say('whatif.way'))}</th><th class='number'>{escape(say('whatif.way_fit'))}</th></tr>"
    each = text_of(found.query.epsilon)
    st.html(
        f"<p>{escape(say('whatif.ways_each', each=each))}</p>"
        f"<div class='scroll' tabindex='0'><table class='plain'>{head}{rows}</table></div>"
        f'<p class="muted">{escape(say("whatif.ways_command"))}</p>'
    )
    terms = f"--epsilon {text_of(found.budget.epsilon)} --delta {text_of(found.budget.delta)} --each {each}"
    st.code(f"python -m dpengine fits {terms}", language=None)


def _many(found: whatif.Solved) -> dict[str, Points]:
    """The error of each of k answers, by accounting."""
    rule, lines = found.budget.rule(), []
    for name, (colour, dash) in _DRAWN.items():
        points = [(float(k), float(error)) for k, error in whatif.along_questions(rule, found.query, name)]
        mark = (found.questions, float(found.promise.figure_for(found.query))) if name == "filter" else None
        if points:
            lines.append(charts.Line(say(f"whatif.way.{name}"), points, mark, colour, dash))
    charts.curves(
        lines, say("whatif.axis.questions"), say("whatif.axis.error"), say("whatif.alt.many"), "whatif-many", 380
    )
    return {line.name: line.points for line in lines}


def _choosing(found: whatif.Solved) -> dict[str, Points]:
    """How far the chosen one may lie behind the best: chosen privately, and picked from all T answers."""
    drawn = alternatives.choice_gaps(found.budget.rule(), found.query.facts)
    looks = {alternatives.CHOSEN: ("left", "solid"), "basic": ("spent", "dash"), "lecture": ("take", "dot")}
    lines = []
    for name, points in drawn.items():
        colour, dash = looks.get(name, ("muted", "solid"))
        label = say("whatif.choose.one") if name == alternatives.CHOSEN else say(f"whatif.choose.all.{name}")
        if points:
            lines.append(charts.Line(label, [(float(t), float(gap)) for t, gap in points], None, colour, dash))
    axes = say("whatif.choose.axis"), say("whatif.beside.near_best")
    charts.curves(lines, *axes, say("whatif.choose.alt"), "whatif-choose", 380)
    options, best = drawn[alternatives.CHOSEN][-1]
    rest = dict(drawn["filter"]).get(options)
    if rest is not None:
        facts = {"options": options, "one": best, "all": rest, "chance": chance(BETA)}
        st.html(f'<p role="status">{escape(say("whatif.choose.told", **facts))}</p>')
    return {line.name: line.points for line in lines}


@st.cache_data(max_entries=200, show_spinner=False)
def _simulated(facts: str, _query: Median, shape: str, times: int) -> tuple[float, list[float], list[float]]:
    """Cached for all visitors, so that the picture does not change on every run; the key holds public facts only."""
    return whatif.two_medians(_query, shape, times)


def _medians(given: dict[str, str], found: whatif.Solved) -> tuple[str, dict[str, Points]]:
    shape = st.segmented_control(
        say("whatif.shape"),
        SHAPES,
        default=given["shape"],
        required=True,
        key=widget("shape"),
        format_func=lambda one: say(f"whatif.shape.{one}"),
    )
    shape = str(shape or given["shape"])
    try:
        query = _median(given, found)
    except dp.AllowanceError as complaint:
        st.html(f'<p class="warn">{escape(str(complaint))}</p>')
        return shape, {}
    column = query.facts.schema.number(query.column)
    people = min(query.facts.about, whatif.MOST_IMAGINED)
    told = f"{query.digest()} {column.as_json()} {query.facts.relation} {people}"
    truth, noisy, chosen = _simulated(told, query, shape, SIMULATED)
    ends = (float(column.lower), float(column.upper))
    pad = (ends[1] - ends[0]) * 0.03
    facts = {"people": people, "epsilon": to_figures(float(query.epsilon), 3), "times": SIMULATED, "truth": truth}
    st.html(f'<p class="muted">{gloss.text(say("whatif.median_note", **facts))}</p>')
    drawn: dict[str, Points] = {}
    for name, values in (("laplace", noisy), ("exponential", chosen)):
        near = sum(abs(value - truth) <= (ends[1] - ends[0]) / 20 for value in values)
        st.html(
            f"<p><b>{escape(say(f'whatif.median.{name}'))}</b> "
            f"{escape(say('whatif.median_near', near=near, times=SIMULATED))}</p>"
        )
        charts.dots(
            values,
            say("whatif.median_axis"),
            say(f"whatif.median_alt.{name}"),
            f"whatif-median-{name}",
            span=(ends[0] - pad, ends[1] + pad),
        )
        told = say("whatif.median_csv", way=say(f"whatif.median.{name}"))
        drawn[told] = [(float(place), value) for place, value in enumerate(values, start=1)]
    return shape, drawn


def _median(given: dict[str, str], found: whatif.Solved) -> Median:
    """A median at the same ε, of the question's own number column or of the range that is typed."""
    column = str(getattr(found.query, "column", ""))
    facts, epsilon = found.query.facts, found.query.epsilon
    if not isinstance(facts.schema.columns.get(column), dp.Number) or given["from"] == "typed":
        facts, column = made_up(given | {"q": "median"}, found.people), "range"
    return Median.build(facts, {"column": column, "epsilon": epsilon})
