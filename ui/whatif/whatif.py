"""The What-if page: a statement, its four numbers, two curves, two settings, and what ε means."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from html import escape

import streamlit as st

import dpengine as dp
from dpengine.accountant import how_many_fit
from dpengine.core.amounts import BETA
from dpengine.core.exact import text_of
from dpengine.core.printed import chance, percent, power_of_ten, three_figures
from dpengine.mechanisms.choices.median import Median
from dpengine.messages import language, plain, say
from dpengine.messages.numbers import to_figures
from dpengine.planning import alternatives, whatif
from dpengine.planning import whatif as asked
from dpengine.planning.whatif import made_up, read_number_field, theorems
from ui.ask import preview
from ui.parts import exports, fields, job
from ui.pictures import charts
from ui.shell import nav
from ui.whatif import whatif_form, whatif_state
from ui.whatif.whatif_state import SECTIONS, SHAPES, widget
from ui.words import gloss

# --- further down, one at a time: what ε means, accountings, many questions, choosing one of several, two medians

SIMULATED = 30
_DRAWN = {"basic": ("spent", "dash"), "lecture": ("take", "dot"), "filter": ("left", "solid")}


Points = list[tuple[float, float]]


def show_more(given: dict[str, str], solved: whatif.Solved) -> tuple[dict[str, str], dict[str, Points]]:
    """The choice, and the curves drawn."""
    hidden = {"label_visibility": "collapsed"}
    given = given | {"see": fields.choose("whatif.see", SECTIONS, given["see"], widget("see"), **hidden)}
    with st.container(key="card-closer"):
        st.html(
            f"<h2>{escape(say('whatif.title.' + given['see']))}</h2>"
            f'<p class="lead">{gloss.text(say("whatif.lead." + given["see"]))}</p>'
        )
        if given["see"] == "odds":
            return given | {"prior": _odds(given, solved.budget, solved.query.facts.relation)}, {}
        if given["see"] == "median":
            shape, answers = _medians(given, solved)
            return given | {"shape": shape}, answers
        if given["see"] == "many":
            return given, _many(solved)
        if given["see"] == "choose":
            return given, _choosing(solved)
        _ways(solved)
    return given, {}


def meaning(given: dict[str, str], relation: str) -> dict[str, str]:
    """When no fourth number was found: what the typed ε means, if it can be read."""
    try:
        epsilon = read_number_field(given["e"], say("whatif.field.epsilon"))
        typed = dp.Budget(epsilon, read_number_field(given["d"], "δ"))
    except dp.AllowanceError:
        return given
    if given["find"] == "epsilon":
        return given
    with st.container(key="card-closer"):
        st.html(f"<h2>{escape(say('whatif.title.odds'))}</h2><p class='lead'>{gloss.text(say('whatif.lead.odds'))}</p>")
        return given | {"prior": _odds(given, typed, relation)}


def _odds(given: dict[str, str], budget: dp.Budget, relation: str) -> str:
    now = given["prior"] if given["prior"] in fields.PRIORS else "10"
    prior = fields.choose("odds.prior", fields.PRIORS, now, widget("prior"), format_func="{} %".format)
    fields.show_odds(budget.epsilon, budget.delta, relation, int(prior))
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
        points = [(float(k), float(error)) for k, error in whatif.along_questions(rule, solved.query, name)]
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
        st.html(f'<p role="status">{escape(say("whatif.choose.told", **facts))}</p>')
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
        st.html(f'<p class="warn">{escape(str(error))}</p>')
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


def show(table: dp.Table) -> None:
    st.html(f'{_STYLE}<h1>{escape(say("whatif.title"))}</h1><p class="lead">{gloss.text(say("whatif.lead"))}</p>')
    kept = whatif_state.state(table)
    given = whatif_form.question(table, kept)
    if given["from"] != kept["from"] or st.session_state["table"] != table.name:
        whatif_state.change(**given)
        st.rerun()
    own = given["from"] == "table"
    if any(given[name] != kept[name] for name in ("q", "column")):  # its unit is another: start from these numbers
        with suppress(dp.AllowanceError):
            given = given | {"x": whatif_form.wish_text(_solved(table, given | {"find": "promise"}).query)}
    card, below = st.container(key="card-whatif"), st.container()
    with card:
        given = whatif_form.described(table, given)
        given, slot = whatif_form.four(table, given)
        statement_place = st.container()
        given = whatif_form.more(given)
        try:
            solved = _solved(table, given)
        except dp.AllowanceError as error:
            whatif_form.result(slot, say(f"whatif.result.{given['find']}"), "—")
            with statement_place:
                job.hint(str(error))
            with below:
                given = meaning(given, table.facts.relation if own else given["relation"])
            whatif_state.remember(table, given)
            return
        name = given["find"]
        if not solved.any_size:  # otherwise keep the typed one: any number would do
            given = given | {whatif_state.FIELDS[name]: whatif_form.address_text(solved, name)}
        whatif_form.result(slot, say(f"whatif.result.{name}"), *whatif_form.big(solved))
        with statement_place:
            statement(solved)
            if own:
                note = say("whatif.full_allowance", table=table.name)
                st.html(f'<p class="muted">{gloss.text(note)}</p>')
        actions = st.container(key="whatif-actions", horizontal=True, vertical_alignment="center")
    first = _first(table)
    with st.container(key="card-curves"):
        drawn = draw(solved, first, whatif_form.wish_label(table, given))
    if first is not None:
        compare(solved, first)
    given, further = show_more(given, solved)
    st.page_link(nav.page("lessons"), label=say("overfitting.link"), query_params={"lesson": "overfitting"})
    nav.trust_link()
    nav.check_link(q=given["q"], relation=solved.query.facts.relation)
    _others()
    with actions:
        act(table, given, solved, drawn | further)
    whatif_state.remember(table, given)


def _solved(table: dp.Table, given: dict[str, str]) -> whatif.Solved:
    return whatif.solve(whatif.read(given, table.facts if given["from"] == "table" else None))


def _others() -> None:
    """Every other question, with one sentence why it is not here."""
    reasons: dict[str, list[str]] = {}
    for key, question in dp.catalogue.items():
        if why := asked.why_not(key):
            reasons.setdefault(why, []).append(question.card.title)
    with st.expander(say("whatif.others")):
        rows = [f"<p><b>{escape(' · '.join(titles))}</b><br>{escape(why)}</p>" for why, titles in reasons.items()]
        st.html("".join(rows))


def _first(table: dp.Table) -> whatif.Solved | None:
    """Setting A, if one is kept and still valid."""
    given = whatif_state.pinned()
    try:
        return None if given is None else _solved(table, given | {"find": "promise"})
    except dp.AllowanceError:
        return None


# --- the statement ----------------------------------------------------------------------------------------------------


def statement(solved: whatif.Solved) -> None:
    promise = solved.promise.unnamed(asked.UNNAMED)
    each = "its" if solved.questions == 1 else "each"
    several = say("whatif.one") if solved.questions == 1 else say("whatif.several", questions=solved.questions)
    numbers = {"people": plain(solved.people), "epsilon": whatif_form.sentence_text(solved, "epsilon")}
    bold = {name: f"<b>{text}</b>" for name, text in (numbers | {"several": escape(several)}).items()}
    words = say(f"whatif.{each}.{promise.code}", promise=f"<b>{escape(promise.words(solved.query))}</b>")
    main = say("whatif.statement_any" if solved.any_size else "whatif.statement", promise=words, **bold)
    together = "whatif.takes" if solved.questions == 1 else "whatif.each_takes"
    shares = {"share": percent(solved.used(1)), "all": percent(solved.used(solved.questions))}
    aside = [say(together, each=three_figures(solved.query.epsilon), **shares)]
    aside.append(say(f"whatif.protects.{solved.query.facts.relation}"))
    floor = promise.floor_words(solved.people)
    if floor and not solved.any_size:
        aside.append(floor)
    warnings = "".join(f'<p class="warn">{gloss.text(line)}</p>' for line in cautions(solved))
    query = solved.query
    sizes = [(name, column.size) for name, column in query.facts.schema.columns.items()]
    facts = f"{query.digest()} {query.facts.relation} {solved.people} {solved.promise} {solved.budget.delta} {sizes}"
    theorems = _theorems(facts, language.get(), solved)
    below = "".join(f'<p class="muted">{gloss.text(line)}</p>' for line in (" ".join(aside), *theorems))
    st.html(f'<p class="statement" role="status">{gloss.html(main)}</p>{below}{warnings}')


@st.cache_data(max_entries=500, show_spinner=False)
def _theorems(facts: str, spoken: str, _solved_facts: whatif.Solved) -> list[str]:
    """Cached for all visitors: the key holds public facts only, and the result is a function of them."""
    return theorems(_solved_facts)


def cautions(solved: whatif.Solved) -> list[str]:
    """What a careful adviser would add."""
    notes = []
    if not solved.useful:
        notes.append(say("whatif.noise"))
    delta, people = solved.budget.delta, solved.people
    if delta == 0:
        notes.append(say("whatif.delta_zero"))
    elif delta * people > 1 and not solved.any_size:
        notes.append(say("whatif.delta_large", delta=power_of_ten(delta), people=people))
    return notes


def act(table: dp.Table, given: dict[str, str], solved: whatif.Solved, drawn: dict[str, Points]) -> None:
    on_ask = "ask" in solved.query.card.asked_on and not asked.sized(given["q"])
    if given["from"] == "table" and on_ask and solved.query.beta == BETA:
        st.page_link(nav.page("ask"), label=say("whatif.use"), query_params=preview.preview_link(table, solved.query))
    if whatif_state.pinned() is None:
        st.button(say("whatif.pin"), key="whatif-pin", on_click=whatif_state.pin, args=(given,))
    else:
        st.button(say("whatif.unpin"), key="whatif-unpin", on_click=whatif_state.pin, args=(None,))
    header = [say("whatif.csv.curve"), say("whatif.csv.at"), say("whatif.csv.error")]
    rows = [[name, *point] for name, points in drawn.items() for point in points]
    exports.offer(say("whatif.csv"), exports.as_csv(header, rows), "what-if.csv", "whatif-csv")


# --- curves and comparison --------------------------------------------------------------------------------------------


def draw(solved: whatif.Solved, first: whatif.Solved | None, unit: str) -> dict[str, Points]:
    """Error against ε and against people, by formula. A promise of another kind has another axis."""
    settings = [("B" if first else "", solved, "left", "solid")]
    if first is not None and _same_unit(first, solved):
        settings.insert(0, ("A", first, "take", "dash"))
    drawn: dict[str, Points] = {}
    axes = {"epsilon": whatif.along_epsilon, "people": whatif.along_people}
    for column, (axis, along) in zip(st.columns(2), axes.items(), strict=True):
        lines = []
        for name, setting, colour, dash in settings:
            points = [(float(x), float(y)) for x, y in along(setting.query)]
            here = float(setting.people), float(whatif.at_people(setting.query))
            if axis == "epsilon":
                here = float(setting.query.epsilon), float(setting.promise.figure_for(setting.query))
            lines.append(charts.Line(name, points, here, colour, dash))
            drawn[say(f"whatif.curve.{axis}") + (f" ({name})" if name else "")] = points
        beside = axis == "people" and not whatif.depends_on_people(solved.query)
        with column:
            st.html(f'<p class="muted curve">{escape(say(f"whatif.curve.{axis}"))}</p>')
            title = say("whatif.axis.beside") if beside else unit
            charts.curves(lines, say(f"whatif.axis.{axis}"), title, say(f"whatif.alt.{axis}"), f"whatif-{axis}")
            if beside:
                st.html(f'<p class="muted">{escape(say("whatif.flat"))}</p>')
    return drawn


def _same_unit(first: whatif.Solved, other: whatif.Solved) -> bool:
    units = [(solved.promise.kind, solved.promise.unit) for solved in (first, other)]
    return units[0] == units[1] and whatif.depends_on_people(first.query) == whatif.depends_on_people(other.query)


def compare(solved: whatif.Solved, first: whatif.Solved) -> None:
    """A and B, line by line."""
    rows: dict[str, Callable[[whatif.Solved], str]] = {
        "whatif.row.question": lambda side: whatif_form.noun(side.query.card.key),
        "whatif.field.people": lambda side: plain(side.people),
        "whatif.field.epsilon": lambda side: whatif_form.sentence_text(side, "epsilon"),
        "whatif.field.questions": lambda side: plain(side.questions),
        "whatif.row.each": lambda side: three_figures(side.query.epsilon),
        "whatif.row.promise": lambda side: side.promise.unnamed(asked.UNNAMED).short(side.query),
    }
    body = ""
    for code, shown in rows.items():
        html = "".join(f"<td>{escape(shown(side))}</td>" for side in (first, solved))
        body += f"<tr><th scope='row'>{escape(say(code))}</th>{html}</tr>"
    head = "<tr><td></td><th scope='col'>A</th><th scope='col'>B</th></tr>"
    with st.container(key="card-compare"):
        st.html(
            f"<h2>{escape(say('whatif.compare'))}</h2><p>{escape(_difference(solved, first))}</p>"
            f"<div class='scroll' tabindex='0'><table class='plain'>{head}{body}</table></div>"
        )


def _difference(solved: whatif.Solved, first: whatif.Solved) -> str:
    """How the two errors compare, if they have the same kind and relation."""
    promise, other = first.promise, solved.promise
    if first.query.facts.relation != solved.query.facts.relation:
        return say("whatif.compare_relations")
    if not _same_unit(first, solved) or not promise.amount or not other.amount:
        return say("whatif.compare_kinds")
    ratio = float(other.amount / promise.amount)
    if abs(ratio - 1) < 0.005:
        return say("whatif.compare_same")
    return say("whatif.compare_ratio", times=to_figures(max(ratio, 1 / ratio), 3), which="A" if ratio > 1 else "B")


_STYLE = """<style>
.statement { font-family: var(--serif); font-size: 1.6rem; line-height: 1.4; max-width: 52rem; color: var(--ink);
  margin: 0.5rem 0 0.4rem 0 !important; }
.statement b { font-weight: 600; color: var(--left); }
.solved { display: flex; flex-direction: column; }
.solved em { font-style: normal; font-size: 0.875rem; color: var(--ink); margin-bottom: 0.25rem; }
.solved b { font-family: var(--serif); font-weight: 600; font-size: 1.5rem; line-height: 2.5rem; color: var(--left);
  background: var(--left-soft); border-radius: 8px; padding: 0 0.75rem; overflow-wrap: anywhere; }
.solved span { color: var(--muted); font-size: 0.9rem; margin-top: 0.25rem; }
.curve { font-weight: 600; }
.st-key-whatif-presets button { padding: 0 0.35rem 0 0; min-height: 1.6rem; }
.st-key-whatif-presets button p { font-size: 0.9rem; color: var(--left); text-decoration: underline; }
@media (max-width: 640px) { .statement { font-size: 1.3rem; } }
</style>"""
