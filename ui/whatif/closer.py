"""Further down on the What-if page, one section at a time: what ε means, curves, accountings, many questions, choosing
one of several, two medians."""

from __future__ import annotations

from dataclasses import replace
from html import escape

import streamlit as st

import dpengine as dp
from dpengine.accountant import how_many_fit
from dpengine.core.amounts import BETA
from dpengine.core.exact import ceiling, text_of
from dpengine.core.printed import chance, power_of_ten
from dpengine.mechanisms.choices.median import Median
from dpengine.mechanisms.models.excess import TrainingSetting
from dpengine.messages import plain, say
from dpengine.messages.numbers import to_figures
from dpengine.planning import alternatives, lecture_curves, whatif
from dpengine.planning import both_ranges as both
from dpengine.planning.whatif import made_up
from ui.ask import preview
from ui.parts import exports, fields
from ui.pictures import charts
from ui.shell.frame import paragraph
from ui.whatif.settings import LECTURES, SECTIONS, SHAPES, widget
from ui.words import gloss

SIMULATED = 30
MOST_ASKED = 10**5  # questions on a picture
_DRAWN = {"basic": ("spent", "dash"), "lecture": ("take", "dot"), "filter": ("left", "solid")}


Points = list[tuple[float, float]]
Sides = dict[str, whatif.Solved]  # "A" and "B", where they can be solved


def show(given: dict[str, str], sides: Sides, unit: str) -> dict[str, str]:
    """One section, of setting A where it is about one. `unit` is the title of an axis of errors."""
    hidden = {"label_visibility": "collapsed"}
    given = given | {"see": fields.choose("whatif.see", SECTIONS, given["see"], widget("see"), **hidden)}
    drawn: dict[str, Points] = {}
    first = next(iter(sides.values()))
    with st.container(key="card-closer"):
        st.html(
            f"<h2>{escape(say('whatif.title.' + given['see']))}</h2>"
            f'<p class="lead">{gloss.text(say("whatif.lead." + given["see"]))}</p>'
        )
        if given["see"] == "odds":
            given = given | {"prior": _odds(given, sides)}
        elif given["see"] == "median":
            shape, drawn = _medians(given, first)
            given = given | {"shape": shape}
        elif given["see"] == "many":
            drawn = _many(first)
        elif given["see"] == "choose":
            drawn = _choosing(first)
        elif given["see"] == "curves":
            drawn = _curves(sides, unit)
        elif given["see"] == "lectures":
            given = given | {"pic": fields.choose("whatif.pic", LECTURES, given["pic"], widget("pic"))}
            drawn = _lecture(given["pic"], first)
        elif given["see"] == "sample":
            drawn = _sampled(first)
        else:
            _ways(first)
        if drawn:
            header = [say("whatif.csv.curve"), say("whatif.csv.at"), say("whatif.csv.error")]
            rows = [[name, *point] for name, points in drawn.items() for point in points]
            exports.offer(say("whatif.csv"), exports.as_csv(header, rows), "what-if.csv", "whatif-csv")
    return given


def _odds(given: dict[str, str], sides: Sides) -> str:
    now = given["prior"] if given["prior"] in fields.PRIORS else "10"
    prior = fields.choose("odds.prior", fields.PRIORS, now, widget("prior"), format_func="{} %".format)
    before = int(prior)
    pictures = fields.dots(before, say("odds.before", share=before))
    lines = []
    for name, solved in sides.items():
        budget = solved.budget
        most = fields.odds_after(before, budget.epsilon)
        pictures += fields.dots(ceiling(most), f"{name}: {say('odds.after', share=most)}")
        slip = say("odds.delta", delta=power_of_ten(budget.delta)) if budget.delta else say("odds.no_delta")
        lines.append(f"{name}: {slip}")
    first = next(iter(sides.values()))
    relation = first.query.facts.relation
    about = say(f"odds.about.{relation}", twice=fields.odds_after(before, 2 * first.budget.epsilon))
    words = "".join(f'<p class="muted">{gloss.text(line)}</p>' for line in (about, *lines))
    st.html(f'{fields.ODDS_STYLE}<div class="odds">{pictures}</div>{words}')
    return prior


def _ways(solved: whatif.Solved) -> None:
    """The same allowance under four accountings."""
    counts = how_many_fit.how_many(solved.budget.rule(), solved.query.loss())
    rows = "".join(
        f"<tr><td><b>{escape(say(f'whatif.way.{name}'))}</b><br><span class='muted'>"
        f"{gloss.text(say(f'whatif.way_means.{name}'))}</span></td><td class='number'>{plain(count)}</td></tr>"
        for name, count in counts.items()
    )
    head = f"<tr><th>{escape(say('whatif.way'))}</th><th class='number'>{escape(say('whatif.way_fit'))}</th></tr>"
    each = text_of(solved.query.epsilon)
    st.html(
        f"<p>{escape(say('whatif.ways_each', each=each))}</p>"
        f"<div class='scroll' tabindex='0'><table class='plain'>{head}{rows}</table></div>"
        f'<p class="muted">{escape(say("whatif.ways_command"))}</p>'
    )
    terms = f"--epsilon {text_of(solved.budget.epsilon)} --delta {text_of(solved.budget.delta)} --each {each}"
    st.code(f"python -m dpengine fits {terms}", language=None)


def _many(solved: whatif.Solved) -> dict[str, Points]:
    """The error of each of k answers, by accounting."""
    rule, lines = solved.budget.rule(), []
    for name, (colour, dash) in _DRAWN.items():
        points = [(float(k), float(error)) for k, error in whatif.along_questions(rule, solved.query, name, MOST_ASKED)]
        mark = (solved.questions, float(solved.promise.figure_for(solved.query))) if name == "filter" else None
        if points:
            lines.append(charts.Line(say(f"whatif.way.{name}"), points, mark, colour, dash))
    axes = say("whatif.axis.questions"), say("whatif.axis.error")
    charts.curves(lines, *axes, say("whatif.alt.many"), "whatif-many", 380)
    return {line.name: line.points for line in lines}


def _choosing(solved: whatif.Solved) -> dict[str, Points]:
    """How far the choice may be behind the best: chosen privately, and picked from all T answers."""
    drawn = alternatives.choice_gaps(solved.budget.rule(), solved.query.facts)
    styles = {alternatives.CHOSEN: ("left", "solid"), "basic": ("spent", "dash"), "lecture": ("take", "dot")}
    lines = []
    for name, points in drawn.items():
        colour, dash = styles.get(name, ("muted", "solid"))
        label = say("whatif.choose.one") if name == alternatives.CHOSEN else say(f"whatif.choose.all.{name}")
        if points:
            lines.append(charts.Line(label, [(float(t), float(gap)) for t, gap in points], None, colour, dash))
    axes = say("whatif.choose.axis"), say("whatif.beside.near_best")
    charts.curves(lines, *axes, say("whatif.choose.alt"), "whatif-choose", 380)
    options, best = drawn[alternatives.CHOSEN][-1]
    rest = dict(drawn["filter"]).get(options)
    if rest is not None:
        facts = {"options": options, "one": best, "all": rest, "chance": chance(BETA)}
        paragraph(say("whatif.choose.told", **facts), "", role="status")
    return {line.name: line.points for line in lines}


@st.cache_data(max_entries=200, show_spinner=False)
def _simulated(facts: str, _query: Median, shape: str) -> tuple[float, list[float], list[float]]:
    """Cached for all visitors, so that the picture stays the same; the key holds public facts only."""
    return whatif.two_medians(_query, shape, SIMULATED)


def _medians(given: dict[str, str], solved: whatif.Solved) -> tuple[str, dict[str, Points]]:
    shape = fields.choose("whatif.shape", SHAPES, given["shape"], widget("shape"))
    try:
        query = _median(given, solved)
    except dp.AllowanceError as error:
        paragraph(str(error), "warn")
        return shape, {}
    column = query.facts.schema.number(query.column)
    people = min(query.facts.about, whatif.MOST_IMAGINED)
    key = f"{query.digest()} {column.as_json()} {query.facts.relation} {people}"
    truth, noisy, chosen = _simulated(key, query, shape)
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
        words = say("whatif.median_axis"), say(f"whatif.median_alt.{name}")
        charts.dots(values, *words, f"whatif-median-{name}", span=(ends[0] - pad, ends[1] + pad))
        key = say("whatif.median_csv", way=say(f"whatif.median.{name}"))
        drawn[key] = [(float(place), value) for place, value in enumerate(values, start=1)]
    return shape, drawn


def _median(given: dict[str, str], solved: whatif.Solved) -> Median:
    """A median at the same ε, of the question's own number column or of the typed range."""
    column = str(getattr(solved.query, "column", ""))
    facts, epsilon = solved.query.facts, solved.query.epsilon
    if not isinstance(facts.schema.columns.get(column), dp.Number) or given["from"] == "typed":
        facts, column = made_up(given | {"q": "median"}, solved.people), "range"
    return Median.build(facts, {"column": column, "epsilon": epsilon})


def _curves(sides: Sides, unit: str) -> dict[str, Points]:
    """Error against ε and against people, by formula. A promise of another kind has another axis."""
    first = next(iter(sides.values()))
    drawn: dict[str, Points] = {}
    axes = {"epsilon": whatif.along_epsilon, "people": whatif.along_people}
    for column, (axis, along) in zip(st.columns(2), axes.items(), strict=True):
        lines = []
        for name, setting in sides.items():
            if not whatif.comparable(first, setting):
                continue
            points = [(float(x), float(y)) for x, y in along(setting.query)]
            here = float(setting.people), float(whatif.at_people(setting.query))
            if axis == "epsilon":
                here = float(setting.query.epsilon), float(setting.promise.figure_for(setting.query))
            look = ("left", "solid") if setting is first else ("take", "dash")
            lines.append(charts.Line(name, points, here, *look))
            drawn[f"{say(f'whatif.curve.{axis}')} ({name})"] = points
        beside = axis == "people" and not whatif.depends_on_people(first.query)
        with column:
            paragraph(say(f"whatif.curve.{axis}"), "muted curve")
            title = say("whatif.axis.beside") if beside else unit
            charts.curves(lines, say(f"whatif.axis.{axis}"), title, say(f"whatif.alt.{axis}"), f"whatif-{axis}")
            if beside:
                paragraph(say("whatif.flat"))
    return drawn


def _sampled(solved: whatif.Solved) -> dict[str, Points]:
    """Half of both widths, were these people a random sample, against ε and against people; the crossing is a dot."""
    query = both.as_sample(solved.query)
    now = None if query is None else both.both_ranges(query)
    if query is None or now is None:
        paragraph(say("sample.whatif.none"))
        return {}
    paragraph(preview.both_words(query, now), "", role="status")
    unit = say("sample.whatif.points" if query.answer_kind in ("count", "share") else "sample.whatif.unit")
    drawn: dict[str, Points] = {}
    axes = {"epsilon": both.along_epsilon(query), "people": both.along_people(query)}
    for column, (axis, points) in zip(st.columns(2), axes.items(), strict=True):
        xs = [float(point.epsilon) if axis == "epsilon" else float(point.people) for point in points]
        lines = []
        cross = both.crossing(points)
        for name, look in {"here": ("left", "solid"), "everyone": ("take", "solid"), "least": ("take", "dot")}.items():
            heights = [float(getattr(point, name)) for point in points]
            place = None if cross is None or name != "here" else points.index(cross)
            mark = None if place is None else (xs[place], heights[place])
            title = say(f"sample.whatif.{name}")
            lines.append(charts.Line(title, list(zip(xs, heights, strict=True)), mark, *look))
            drawn[f"{say(f'whatif.curve.{axis}')} ({title})"] = lines[-1].points
        with column:
            paragraph(say(f"whatif.curve.{axis}"), "muted curve")
            charts.curves(lines, say(f"whatif.axis.{axis}"), unit, say("sample.whatif.alt"), f"whatif-sample-{axis}")
    paragraph(say("sample.whatif.crossing"))
    return drawn


MOST_CLASS = 10**12
MOST_DRAWN_PEOPLE = 10**6  # so that n² stays on the picture
VALUES_EACH = 10  # of a made-up domain |D|, where the question has none
LOOKS = (("left", "solid"), ("take", "dash"), ("spent", "dot"), ("muted", "dash"))
WEIGHTS = TrainingSetting(1, 1, 1.0, 2.0, 1.0, 2, 1.0, 1.0, 50)  # half the squared error in the unit ball, 50 steps


def _lecture(name: str, solved: whatif.Solved) -> dict[str, Points]:
    """One statement of the lectures as a picture, at the people, ε and δ of the setting."""
    people, budget, beta = solved.people, solved.budget, solved.query.beta
    epsilon, delta = float(budget.epsilon), float(budget.delta)
    facts: dict[str, object] = {"people": people}
    if name == "class":
        domain = getattr(solved.query, "domain", VALUES_EACH**2)
        curves = lecture_curves.along_class(people, domain, epsilon, delta, float(beta), MOST_CLASS)
        facts["domain"] = domain
    elif name == "split":
        few = min(people, MOST_DRAWN_PEOPLE)
        curves = lecture_curves.along_questions(few, beta)
        reach = {code: lecture_curves.last_useful(points, 0.5) for code, points in curves.items()}
        facts = {"people": few, "private": reach["best"], "split": reach["split"], "square": few**2}
    elif name == "values":
        few = min(people, MOST_DRAWN_PEOPLE)
        curves = lecture_curves.along_values(few, budget.epsilon, budget.delta, beta) if delta else {}
        facts["people"] = few
    elif name == "columns":
        curves = lecture_curves.along_columns(people, epsilon, delta)
    else:
        curves = lecture_curves.along_weights(replace(WEIGHTS, people=people, epsilon=epsilon))
    named = {say(f"whatif.pic.{name}.{code}"): points for code, points in curves.items() if points}
    if not named:
        paragraph(say("whatif.pic.none"), "warn")
        return {}
    st.html(f"<p>{gloss.text(say(f'whatif.pic.{name}.told', **facts))}</p>")
    lines = [
        charts.Line(label, points, None, *look) for (label, points), look in zip(named.items(), LOOKS, strict=False)
    ]
    axes = say(f"whatif.pic.{name}.across"), say(f"whatif.pic.{name}.up")
    charts.curves(lines, *axes, say(f"whatif.pic.{name}.told", **facts), f"whatif-pic-{name}", 380)
    return named
