"""The What-if page: a statement, its four numbers, two curves, two settings, and what ε means."""

from __future__ import annotations

import json
from collections.abc import Callable
from contextlib import suppress
from decimal import ROUND_CEILING, Decimal
from functools import cache
from html import escape
from typing import Any

import streamlit as st

import dpengine as dp
from dpengine.accountant import how_many_fit
from dpengine.core.amounts import BETA
from dpengine.core.exact import decimal_of, text_of
from dpengine.core.printed import chance, percent, power_of_ten, three_figures
from dpengine.core.strict_json import read_strict
from dpengine.mechanisms.choices.median import Median
from dpengine.mechanisms.promises import Promise
from dpengine.messages import known, language, plain, say
from dpengine.messages.numbers import local, to_figures
from dpengine.planning import alternatives, whatif
from dpengine.planning import whatif as asked
from dpengine.planning.whatif import FIND, made_up, offered, read_number_field, theorems
from ui.ask import form, preview
from ui.data.draft import CARE
from ui.parts import exports, fields, job
from ui.pictures import charts
from ui.shell import nav
from ui.shell.language import address
from ui.shell.state import choose_table, open_table, table_names
from ui.words import gloss

# --- the entries on the What-if page. The address keeps them, so that a link restores them

STATE = "whatif"
FIELDS = {"epsilon": "e", "people": "n", "questions": "k", "promise": "x"}  # the four numbers, in order
LONGEST = 60
SECTIONS = ("odds", "ways", "many", "choose", "median")
SHAPES = ("even", "bell", "skewed")
USUAL = {"q": "count", "find": "promise", "n": "1,000", "e": "1", "d": "0.000001", "x": "30", "k": "1", "from": "typed"}
USUAL |= {"column": "", "relation": "replace", "low": "1", "high": "6,000", "step": "1", "values": "10", "share": "90"}
USUAL |= {"columns": "3", "lists": "2", "options": "5", "features": "3", "asks": "20", "full": "no", "beta": "0.05"}
USUAL |= {"see": "odds", "prior": "10", "shape": "bell"}
_CHOICES = {"q": offered(), "find": FIND, "from": ("typed", "table"), "relation": ("replace", "add_remove")}
_CHOICES |= {"full": ("no", "yes"), "see": SECTIONS, "shape": SHAPES}
_COMPARED = tuple(name for name in USUAL if name not in ("find", "x", "see", "prior", "shape"))


def state(table: dp.Table) -> dict[str, str]:
    """The settings: from the URL on arrival, else as last left, else the defaults."""
    arriving = {name: st.query_params[name] for name in (*USUAL, "a") if name in st.query_params}
    kept = st.session_state.get(STATE)
    if kept is None or (arriving and arriving != kept["url"]):
        turn = kept["turn"] + 1 if kept else 0
        kept = {"url": arriving, "given": _clean(arriving, table), "a": _pinned(arriving.get("a"), table), "turn": turn}
        kept["table"] = table.name
        st.session_state[STATE] = kept
    elif kept["given"]["from"] == "table" and kept["table"] != table.name:  # another table was opened meanwhile
        change(**from_table(table))
    return dict(st.session_state[STATE]["given"])


def _usual(table: dp.Table, source: str) -> dict[str, str]:
    """What an address omits: for an open table, its own terms."""
    return USUAL | from_table(table) if source == "table" else USUAL


def _clean(arriving: dict[str, str], table: dp.Table) -> dict[str, str]:
    """Replace impossible values by defaults and cut long ones; nothing in a URL is trusted."""
    given = {}
    for name, usual in _usual(table, arriving.get("from", "")).items():
        text = str(arriving.get(name, usual))[:LONGEST]
        given[name] = text if text in _CHOICES.get(name, (text,)) else usual
    return given


def _pinned(text: str | None, table: dp.Table) -> dict[str, str] | None:
    """Setting A, as JSON in the address."""
    try:
        value = read_strict(text or "null")
    except ValueError:
        return None
    if not isinstance(value, dict):
        return None
    return _clean({name: str(value[name]) for name in _COMPARED if name in value}, table)


def pinned() -> dict[str, str] | None:
    setting: dict[str, str] | None = st.session_state[STATE]["a"]
    return setting


def pin(given: dict[str, str] | None) -> None:
    st.session_state[STATE]["a"] = given


def widget(name: str) -> str:
    """The key of a widget; new after each link, because a browser keeps old widget values."""
    return f"whatif-{name}-{st.session_state[STATE]['turn']}"


def change(**values: str) -> None:
    """Set fields from outside their widgets, which are built anew."""
    kept = st.session_state[STATE]
    kept["given"] = kept["given"] | values
    kept["turn"] += 1


def remember(table: dp.Table, given: dict[str, str]) -> None:
    """Write the settings to the URL, without defaults."""
    kept = st.session_state[STATE]
    result = FIELDS[given["find"]]  # a result, not typed
    query = {name: text for name, text in _unusual(table, given).items() if name != result}
    if kept["a"]:
        first = {name: text for name, text in _unusual(table, kept["a"]).items() if name in _COMPARED}
        query["a"] = json.dumps(first, ensure_ascii=False, separators=(",", ":"))
    kept["given"], kept["url"], kept["table"] = given, query, table.name
    wanted = {"table": table.name} | query
    address(wanted)


def _unusual(table: dp.Table, given: dict[str, str]) -> dict[str, str]:
    usual = _usual(table, given["from"])
    return {name: text for name, text in given.items() if text != usual[name]}


def from_table(table: dp.Table) -> dict[str, str]:
    """The public terms of the open table."""
    rule = table.budget.rule
    return {"n": f"{table.facts.about:,}", "e": text_of(rule.epsilon), "d": text_of(rule.delta)}


# --- the question and the four numbers of the What-if page: three are typed, the fourth is a result


def question(table: dp.Table, given: dict[str, str]) -> dict[str, str]:
    """“The [median] among [people I describe here]”, or of a column of the open table."""
    own = given["from"] == "table"
    keys = [key for key in asked.offered() if not own or asked.sized(key) or form.choices(table, key)]
    now = given["q"] if given["q"] in keys else keys[0]
    with st.container(key="sentence", horizontal=True, vertical_alignment="center", gap="small"):
        st.markdown(say("form.the"), width="content")
        key = fields.pick("form.kind", keys, now, noun, widget("q"))
        column = ""
        if own and not asked.sized(key) and asked.typed(key) - {"share"}:
            columns = form.choices(table, key)
            st.markdown(say("whatif.like" if "columns" in asked.typed(key) else "form.of"), width="content")
            first = given["column"] if given["column"] in columns else columns[0]
            column = fields.pick("form.column", columns, first, str, widget(f"column-{key}"))
        st.markdown(say(_middle(key, column)), width="content")
        here = table.name if own else ""
        picked = fields.pick("whatif.source", ["", *table_names()], here, _source, widget("from"))
    chosen = given | {"q": key, "column": column, "from": "table" if picked else "typed"}
    if picked in ("", here):
        return chosen
    if picked != table.name:
        choose_table(picked)
    return chosen | from_table(open_table(picked))  # its public terms replace the typed ones


def _source(table: str) -> str:
    return say("whatif.source.table", table=table) if table else say("whatif.source.typed")


def _middle(key: str, column: str) -> str:
    """The words between the question and the people."""
    needed = asked.typed(key)
    if not needed:
        return "whatif.with_trait"
    number = "range" in needed and "columns" not in needed and not column and not asked.sized(key)
    return "whatif.of_number" if number else "whatif.among"


def noun(key: str) -> str:
    """The question's noun in the sentence; a model and a session have their own names there."""
    own = f"whatif.noun.{key}"
    return say(own) if known(own) else dp.catalogue[key].card.noun


def described(table: dp.Table, given: dict[str, str]) -> dict[str, str]:
    """Other public facts that the question needs."""
    needed, sized = asked.typed(given["q"]), asked.sized(given["q"])
    own = given["from"] == "table" and not sized
    names: list[str] = [name for name in ("asks", "options", "features", "lists") if name in needed]
    names += ["low", "high", "step"] if "range" in needed and not own else []
    if "values" in needed and (not own or isinstance(table.schema[given["column"]], dp.Number)):
        names.append("values")
    names += [name for name in ("share", "columns") if name in needed]
    if not names:
        return given
    with st.container(key="whatif-facts", horizontal=True):
        for name in names:
            counted = dp.catalogue[given["q"]].card.answer == "count"
            code = "bars" if name == "values" and counted else name
            code = "each" if name == "values" and sized else code
            given = given | {name: field(say(f"whatif.field.{code}"), name, given, width=150)}
    return given


def field(label: str, name: str, given: dict[str, str], key: str = "", **options: Any) -> str:
    """A number field. The text in the address stays, 1,000, while it means the same number. For an error in people, a
    “%” stays too: a share of all people."""
    key = widget(key or name)
    text = fields.number_field(label, given[name], key, unit="%", live=True, max_chars=40, **options)
    shown = str(st.session_state.get(fields.number_key(key), ""))
    if name == "x" and shown.strip().endswith("%") and _usual_promise(given["q"])[0].whole and text:
        text = f"{text.rstrip(' %')} %"
    try:
        before, now = ((asked.read_number_field(typed, ""), "%" in typed) for typed in (given[name], text))
        return given[name] if before == now else text
    except dp.AllowanceError:
        return text


def four(table: dp.Table, given: dict[str, str]) -> tuple[dict[str, str], Any]:
    """Three fields and the place of the fourth."""
    given = given | {"find": fields.choose("whatif.find", list(FIELDS), given["find"], widget("find"))}
    slot = None
    for column, (name, short) in zip(st.columns(4), FIELDS.items(), strict=True):
        with column:
            if name == given["find"]:
                slot = st.empty()
                continue
            label = wish_label(table, given) if name == "promise" else say(f"whatif.field.{name}")
            unique = f"x-{given['q']}-{given['from']}-{given['column']}" if name == "promise" else short
            help = _help(name, _usual_promise(given["q"])[0].whole)
            given = given | {short: field(label, short, given, key=unique, help=help)}
            if name == "epsilon":
                _presets()
    return given, slot


def _help(name: str, people: bool) -> str | None:
    """`people`: is the error a number of people?"""
    if name == "promise" and people:
        return say("whatif.wish.of_all")
    return say("gloss.epsilon.means") if name == "epsilon" else None


def _presets() -> None:
    with st.container(key="whatif-presets", horizontal=True, gap="small"):
        for care, epsilon in CARE.items():
            label, key = say(f"whatif.care.{care}"), f"whatif-care-{care}"
            st.button(label, key=key, type="tertiary", on_click=change, kwargs={"e": epsilon})


def result(slot: Any, label: str, value: str, note: str = "") -> None:
    small = f"<span>{escape(note)}</span>" if note else ""
    slot.html(f'<div class="solved"><em>{escape(label)}</em><b>{escape(value)}</b>{small}</div>')


def more(given: dict[str, str]) -> dict[str, str]:
    """δ, β and the protected unit."""
    with st.expander(say("whatif.more")):
        left, right = st.columns(2)
        with left:
            given = given | {"d": field(say("whatif.field.delta"), "d", given, help=say("whatif.delta_help"))}
        with right:
            given = given | {"beta": field(say("whatif.field.beta"), "beta", given, help=say("whatif.beta_help"))}
        if given["from"] == "typed":
            words = {name: say(f"whatif.relation.{name}") for name in ("replace", "add_remove")}
            now = list(words).index(given["relation"])
            relation = st.radio(say("whatif.relation"), list(words), now, words.__getitem__, widget("relation"))
            given = given | {"relation": str(relation)}
            if "range" in asked.typed(given["q"]) and not asked.sized(given["q"]):
                label, note = say("whatif.full"), say("whatif.full_help")
                full = st.toggle(label, given["full"] == "yes", key=widget("full"), help=note)
                given = given | {"full": "yes" if full else "no"}
    return given


# --- words ------------------------------------------------------------------------------------------------------------


@cache
def _usual_promise(key: str) -> tuple[Promise, str]:
    """The question's kind of promise, and the unit of its error."""
    query = whatif.read(USUAL | {"q": key}).query
    return query.promise(), query.promise().typed_in(query)


def wish_label(table: dp.Table, given: dict[str, str]) -> str:
    code = _usual_promise(given["q"])[1]
    if code == "column" and not given["column"]:
        code = "plain"
    return say(f"whatif.wish.{code}", column=given["column"])


def wish_text(query: dp.Query) -> str:
    """The size of a promise for an address: three digits, rounded up, so that it can be kept."""
    promise = query.promise()
    exact = decimal_of(promise.figure_for(query))
    if promise.whole or not exact:
        return f"{exact:,f}"
    three = exact.quantize(Decimal(1).scaleb(exact.adjusted() - 2), rounding=ROUND_CEILING)
    return f"{three:,f}".rstrip("0").rstrip(".") if "." in f"{three:f}" else f"{three:,f}"


def address_text(solved: whatif.Solved, name: str) -> str:
    """One of the four numbers for an address."""
    if name == "epsilon":
        exact = solved.budget.epsilon
        return text_of(exact) if exact.denominator <= 1000 else f"{_up(decimal_of(exact), 3):f}"
    if name == "promise":
        return wish_text(solved.query)
    return f"{solved.people if name == 'people' else solved.questions:,}"


def sentence_text(solved: whatif.Solved, name: str) -> str:
    """One of the four numbers for a sentence."""
    return local(address_text(solved, name))


def _up(value: Decimal, figures: int) -> Decimal:
    return value.quantize(Decimal(1).scaleb(min(value.adjusted() + 1 - figures, 0)), rounding=ROUND_CEILING)


def big(solved: whatif.Solved) -> tuple[str, str]:
    """The result as shown in its place, and a word below it."""
    name = solved.find
    if name == "people" and solved.any_size:
        return say("whatif.any"), say("whatif.any_note", people=solved.people)
    if name != "promise":
        many = name == "questions" and solved.questions >= 10**6
        return (say("whatif.lots") if many else sentence_text(solved, name)), ""
    beside = f"whatif.beside.{solved.promise.kind}"
    return solved.promise.unnamed(asked.UNNAMED).size_for(solved.query), say(beside) if known(beside) else ""


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
    kept = state(table)
    given = question(table, kept)
    if given["from"] != kept["from"] or st.session_state["table"] != table.name:
        change(**given)
        st.rerun()
    own = given["from"] == "table"
    if any(given[name] != kept[name] for name in ("q", "column")):  # its unit is another: start from these numbers
        with suppress(dp.AllowanceError):
            given = given | {"x": wish_text(_solved(table, given | {"find": "promise"}).query)}
    card, below = st.container(key="card-whatif"), st.container()
    with card:
        given = described(table, given)
        given, slot = four(table, given)
        statement_place = st.container()
        given = more(given)
        try:
            solved = _solved(table, given)
        except dp.AllowanceError as error:
            result(slot, say(f"whatif.result.{given['find']}"), "—")
            with statement_place:
                job.hint(str(error))
            with below:
                given = meaning(given, table.facts.relation if own else given["relation"])
            remember(table, given)
            return
        name = given["find"]
        if not solved.any_size:  # otherwise keep the typed one: any number would do
            given = given | {FIELDS[name]: address_text(solved, name)}
        result(slot, say(f"whatif.result.{name}"), *big(solved))
        with statement_place:
            statement(solved)
            if own:
                note = say("whatif.full_allowance", table=table.name)
                st.html(f'<p class="muted">{gloss.text(note)}</p>')
        actions = st.container(key="whatif-actions", horizontal=True, vertical_alignment="center")
    first = _first(table)
    with st.container(key="card-curves"):
        drawn = draw(solved, first, wish_label(table, given))
    if first is not None:
        compare(solved, first)
    given, further = show_more(given, solved)
    st.page_link(nav.page("lessons"), label=say("overfitting.link"), query_params={"lesson": "overfitting"})
    st.page_link(nav.page("trust"), label=say("trust.link"))
    nav.check_link(q=given["q"], relation=solved.query.facts.relation)
    _others()
    with actions:
        act(table, given, solved, drawn | further)
    remember(table, given)


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
    given = pinned()
    try:
        return None if given is None else _solved(table, given | {"find": "promise"})
    except dp.AllowanceError:
        return None


# --- the statement ----------------------------------------------------------------------------------------------------


def statement(solved: whatif.Solved) -> None:
    promise = solved.promise.unnamed(asked.UNNAMED)
    each = "its" if solved.questions == 1 else "each"
    several = say("whatif.one") if solved.questions == 1 else say("whatif.several", questions=solved.questions)
    numbers = {"people": plain(solved.people), "epsilon": sentence_text(solved, "epsilon")}
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
    if pinned() is None:
        st.button(say("whatif.pin"), key="whatif-pin", on_click=pin, args=(given,))
    else:
        st.button(say("whatif.unpin"), key="whatif-unpin", on_click=pin, args=(None,))
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
        "whatif.row.question": lambda side: noun(side.query.card.key),
        "whatif.field.people": lambda side: plain(side.people),
        "whatif.field.epsilon": lambda side: sentence_text(side, "epsilon"),
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
