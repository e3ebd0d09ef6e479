"""The What-if page: two settings side by side, the same made-up people under both, and what the difference means.

Everything is computed from public facts. Nothing is spent, and no row is read.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from fractions import Fraction
from functools import cache, lru_cache, partial
from html import escape
from typing import Any
from urllib.parse import urlencode

import streamlit as st

import dpengine as dp
from dpengine.accountant import how_many_fit
from dpengine.core.amounts import BETA
from dpengine.core.exact import as_typed, ceiling, one_two_five, text_of
from dpengine.core.printed import chance, power_of_ten, three_figures, two_figures
from dpengine.mechanisms.choices.median import Median
from dpengine.mechanisms.models.excess import TrainingSetting
from dpengine.mechanisms.promises import Promise
from dpengine.messages import called, known, plain, say
from dpengine.messages.language import language
from dpengine.messages.numbers import local, to_figures
from dpengine.planning import alternatives, lecture_curves, whatif
from dpengine.planning import both_ranges as both
from dpengine.planning.whatif_pictures import Picture, picture
from ui.ask import form_state, preview
from ui.parts import exports, fields
from ui.pictures import charts
from ui.pictures.sketch import Sketch
from ui.shell import frame, nav
from ui.shell.frame import hint, paragraph
from ui.shell.state import choose_table, open_table, table_labels, table_names
from ui.shell.style import palette, sheet
from ui.whatif import settings as kept
from ui.whatif.settings import LADDERS, LECTURES, PRESETS, SECTIONS, SHAPES, SLIDERS, STATE, USUAL, widget
from ui.words import gloss
from ui.words.markup import Html, html_table, link, p, paragraphs

SIDES = {"A": "", "B": "2"}  # each setting, and how the names of its fields end
DELTAS = (Fraction(1, 10**6), Fraction(1, 10**9), Fraction(0))
NAMES = {"e": "epsilon", "d": "delta", "n": "people", "k": "questions"}
_ROUND = {Fraction(1, 10**power): name for power, name in ((6, "million"), (9, "billion"), (12, "trillion"))}


def show(table: dp.Table) -> None:
    frame.hide_meter()  # nothing is spent here
    with st.container(key="whatif-head", horizontal=True, vertical_alignment="bottom"):
        title, lead = escape(say("whatif.title")), gloss.text(say("whatif.lead"))
        st.html(f'{_STYLE}<h1>{title}</h1><p class="lead">{lead}</p>')
        _presets()
        with fields.popped(say("whatif.link"), "whatif-link-open") as opened:
            if opened:
                paragraph(say("whatif.link_keeps"), "")
                address = f"{st.context.url or ''}?{urlencode(st.query_params.to_dict())}"
                st.code(address, language=None, wrap_lines=True)
    before = kept.state(table)
    given = _question(table, before)
    if given["from"] != before["from"] or st.session_state["table"] != table.name:
        kept.change(**given)
        st.rerun()
    settings = {"A": given, "B": _second(table, given)}
    sides, refused = {}, {}
    for name, setting in settings.items():
        try:
            facts = table.facts if setting["from"] == "table" else None
            sides[name] = whatif.solve(whatif.read(setting, facts))
        except dp.AllowanceError as error:
            refused[name] = str(error)
    drawn = {name: picture(solved.query) for name, solved in sides.items()}
    same = len(drawn) == 2 and whatif.comparable(sides["A"], sides["B"]) and drawn["A"].kind == drawn["B"].kind
    for column, name in zip(st.columns(2), SIDES, strict=True):
        with column, st.container(key=f"card-side-{name}"):
            _sliders(table, name, given)
            if name in refused:
                hint(refused[name])
                continue
            both = [*drawn.values()] if same else [drawn[name]]
            _show_picture(name, drawn[name], _span(both), _axis(sides[name], drawn[name].kind))
            words = p(picture_words(drawn[name]), "muted made-up") + _cautions(sides[name])
            adopted = nav.address("data", epsilon=settings[name]["e"], delta=settings[name]["d"])
            adopt = link(adopted, say("whatif.adopt"), "button", say("whatif.adopt_help"))
            st.html(f'{words}<p class="onward">{adopt}</p>')
    if sides:
        given = _compared(given, sides)
        _delta(sides)
        if "A" in sides:
            _theorem_lines(sides["A"], _wish(given, sides["A"]))
    given = _more(table, given)
    if sides:
        given = show_closer(given, sides, _unit(given))
        _act(table, given, sides)
    _others()
    kept.remember(table, given)


@cache
def _unit_of(key: str) -> str:
    query = whatif.read(USUAL | {"q": key}).query
    return query.promise().typed_in(query)


def _unit(given: dict[str, str]) -> str:
    code = _unit_of(given["q"])
    return say(f"whatif.wish.{'plain' if code == 'column' and not given['column'] else code}", column=given["column"])


# --- the question -----------------------------------------------------------------------------------------------------


def _question(table: dp.Table, given: dict[str, str]) -> dict[str, str]:
    """Draw “The [median] of [age] among [the people of town]”, or of a number that is described here; return the
    settings."""
    own = given["from"] == "table"
    keys = _offered(table, own)
    now = given["q"] if given["q"] in keys else keys[0]
    with st.container(key="sentence", horizontal=True, vertical_alignment="center", gap="small"):
        fields.word(say("form.the"))
        key = fields.pick("form.kind", keys, now, noun, widget("q"))
        column = ""
        if columns := _columns(table, key, own):
            fields.word(say("whatif.like" if "columns" in whatif.typed(key) else "form.of"))
            first = given["column"] if given["column"] in columns else columns[0]
            column = fields.pick("form.column", columns, first, called, widget(f"column-{key}"))
        fields.word(say(_middle(key, column)))
        here = table.name if own else ""
        picked = fields.pick("whatif.source", ["", *table_names()], here, _source, widget("from"))
    chosen = given | {"q": key, "column": column, "from": "table" if picked else "typed"}
    if key != given["q"]:
        chosen["x"] = ""  # the unit of the error is another
    if picked in ("", here):
        return chosen
    if picked != table.name:
        choose_table(picked)
    return chosen | kept.from_table(open_table(picked))  # its public terms replace the typed ones


def _offered(table: dp.Table, own: bool) -> list[str]:
    return [key for key in whatif.offered() if not own or whatif.sized(key) or form_state.choices(table, key)]


def _columns(table: dp.Table, key: str, own: bool) -> list[str]:
    """The columns of the open table that the question may be about."""
    return form_state.choices(table, key) if own and not whatif.sized(key) and whatif.typed(key) - {"share"} else []


def _second(table: dp.Table, given: dict[str, str]) -> dict[str, str]:
    """Setting B, with its own question; the question takes the column of A if it can."""
    second, own = kept.other(given), given["from"] == "table"
    if second["q"] not in _offered(table, own):
        second["q"] = given["q"]
    columns = _columns(table, second["q"], own)
    return second | {"column": given["column"] if given["column"] in columns else next(iter(columns), "")}


def _source(table: str) -> str:
    labels = table_labels()  # each practice table in the reader's language
    return say("whatif.source.table", table=labels[table]) if table else say("whatif.source.typed")


def _middle(key: str, column: str) -> str:
    """The key of the words between the question and the people."""
    needed = whatif.typed(key)
    if not needed:
        return "whatif.with_trait"
    number = "range" in needed and "columns" not in needed and not column and not whatif.sized(key)
    return "whatif.of_number" if number else "whatif.among"


def noun(key: str) -> str:
    """The question's noun in the sentence; a model and a session have their own nouns there."""
    own = f"whatif.noun.{key}"
    return say(own) if known(own) else dp.catalogue[key].card.noun


def _presets() -> None:
    """Draw published allowances, each with its source. A click makes one of them setting B."""
    with fields.popped(say("whatif.presets"), "whatif-presets") as opened:
        if not opened:
            return
        paragraph(say("whatif.presets_lead"))
        for preset in PRESETS:
            values = {"e2": preset.epsilon, "d2": preset.delta}
            values |= {"n2": preset.people} if preset.people else {}
            terms = say("meter.terms", epsilon=Fraction(preset.epsilon), delta=power_of_ten(Fraction(preset.delta)))
            label = f"{say(f'whatif.preset.{preset.key}')} ({preset.year}): {terms}"
            st.button(label, key=f"whatif-preset-{preset.key}", type="tertiary", on_click=kept.put, kwargs=values)
            note = say(f"whatif.preset.{preset.key}.protects")
            st.html(f'<p class="muted source">{escape(note)} {escape(preset.source)}.</p>')


# --- the sliders ------------------------------------------------------------------------------------------------------


def _sliders(table: dp.Table, side: str, given: dict[str, str]) -> None:
    end = SIDES[side]
    look: Any = {"vertical_alignment": "center", "horizontal_alignment": "distribute"}
    with st.container(key=f"side-head-{side}", horizontal=True, **look):
        st.html(f'<span class="side {side}">{side}</span>', width="content")
        if end:
            keys = ["", *_offered(table, given["from"] == "table")]
            now = given["q2"] if given["q2"] in keys else ""
            st.session_state[widget("q2")] = now
            look = {"label_visibility": "collapsed", "width": 240}
            same = say("whatif.same")
            change: Any = {"on_change": _moved, "args": ("q2",), "format_func": lambda key: noun(key) if key else same}
            st.selectbox(same, keys, key=widget("q2"), **look, **change)
    for short in ("e", "n"):
        _slider(short, end, given)
    rest = ("d", "k")  # moved less often: a browser takes long over every slider
    labels = {short: say(f"whatif.slider.{NAMES[short]}") for short in rest}
    stand = (f"{labels[one]}: {_stands_at(language.get(), one, given[one + end] or given[one])}" for one in rest)
    paragraph(" · ".join(stand), "muted made-up")
    with fields.details(" · ".join(labels.values()), f"whatif-rest-{side}") as drawn:
        if drawn:
            for short in rest:
                _slider(short, end, given)


def _slider(short: str, end: str, given: dict[str, str]) -> None:
    text = given[short + end] or given[short]
    stands = kept.number(short, text)
    steps = {Fraction(step): step for step in LADDERS[short]} | ({} if stands is None else {stands: text})
    key = widget(short + end)
    st.session_state[key] = text
    options = [step for _, step in sorted(steps.items())]
    words = partial(_stands_at, language.get(), short)
    label = say(f"whatif.slider.{NAMES[short]}")
    st.select_slider(label, options, key=key, format_func=words, on_change=_moved, args=(short + end,))


def _moved(name: str) -> None:
    if (now := st.session_state.get(widget(name))) is not None:
        kept.put(**{name: str(now)})


@lru_cache(maxsize=4096)
def _stands_at(spoken: str, short: str, text: str) -> str:
    value = kept.number(short, text)
    if value is None:
        return text
    if short == "d":
        return _tenth_power(value)
    return local(f"{int(value):,}") if short in ("n", "k") else three_figures(value)


def _tenth_power(delta: Fraction) -> str:
    """A δ as text: 1 in 10⁶, or 0; any other δ as 7 · 10⁻⁹."""
    if delta and delta.numerator == 1 and text_of(Fraction(delta.denominator)).strip("0") == "1":
        many = power_of_ten(delta).replace("⁻", "") if delta < Fraction(1, 1000) else plain(delta.denominator)
        return say("whatif.one_in", many=many)
    return power_of_ten(delta)


def one_in(delta: Fraction) -> str:
    """A δ in words, such as “one in a million”."""
    if not delta:
        return say("whatif.delta_never")
    if (name := _ROUND.get(delta)) is not None:
        return say(f"whatif.delta_in.{name}")
    return say("whatif.one_in", many=plain(int(1 / delta)))


def _axis(solved: whatif.Setting, kind: str) -> str:
    column = solved.query.answer_column
    if kind in ("bars", "chance"):
        return ""
    if solved.promise.unit in ("people", "percent") and kind == "range":
        return say(f"whatif.axis.{solved.promise.unit}")
    return "" if column in ("", whatif.UNNAMED) else column


def _cautions(solved: whatif.Setting) -> str:
    """HTML with what a careful adviser would add; empty if there is nothing to add."""
    notes = [say("whatif.noise")] if not solved.useful else []
    delta, people = solved.budget.delta, solved.people
    if delta * people >= 1:
        notes.append(say("whatif.delta_large", delta=power_of_ten(delta), people=people))
    return paragraphs(map(gloss.text, notes), "warn")


# --- the same made-up people under both settings: bars with error bars, a range, a curve in its band, or how often each
# name is given. Both pictures have the same axes.

HEIGHT = 200
COLOURS = {"A": "left", "B": "take"}
Span = tuple[float, float]


def _span(pictures: list[Picture]) -> Span:
    """The ends of a common axis of pictures: for ranges twice as wide as all of them together, else from 0 to the
    highest."""
    low, high = min(min(picture.low) for picture in pictures), max(max(picture.high) for picture in pictures)
    if pictures[0].kind != "range":
        return min(low, 0.0), high * 1.06 or 1.0
    pad = (high - low) / 2 or abs(high) * 0.05 or 1.0
    least, most = pictures[0].limits or (low - pad, high + pad)
    return max(low - pad, min(least, low)), min(high + pad, max(most, high))


def _show_picture(side: str, picture: Picture, axis: Span, title: str) -> None:
    colours = palette()
    colour, soft = (getattr(colours, COLOURS[side] + end) for end in ("", "_soft"))
    figure = Sketch(HEIGHT, **(charts.FLAT if picture.kind == "range" else {}))
    draw = {"bars": _bars_of, "chance": _bars_of, "range": _range_of, "curve": _curve_of}[picture.kind]
    draw(figure, picture, colour, soft)
    grid = {"showgrid": True, "gridcolor": colours.line, "nticks": 4}
    words = {"title": {"text": charts.text(called(title))}}
    if picture.kind == "range":
        figure.update_xaxes(range=list(axis), showline=True, nticks=5, **words)
    else:
        figure.update_yaxes(range=list(axis), **grid)
        labels = picture.kind != "curve"
        figure.update_xaxes(showline=True, type="category" if labels else "linear", nticks=8, **words)
    charts.show(figure, picture_words(picture), f"whatif-picture-{side}")


def picture_words(picture: Picture) -> str:
    """A sentence with the true value and the range in the picture."""
    place = max(range(len(picture.truth)), key=picture.truth.__getitem__)
    digits, unit = (3, " %") if picture.unit == "percent" else (4, "")
    ends = {"truth": picture.truth, "low": picture.low, "high": picture.high}
    facts = {name: to_figures(values[place], digits) + unit for name, values in ends.items()}
    return say(f"whatif.picture.{picture.kind}", **facts)


def _bars_of(figure: Sketch, picture: Picture, colour: str, soft: str) -> None:
    look: dict[str, Any] = {"type": "bar", "marker": {"color": colour, "opacity": 0.85}}
    look["tips"] = [f"{at}: {to_figures(float(y), 4)}" for at, y in zip(picture.at, picture.truth, strict=True)]
    if picture.kind == "bars":
        above = [high - y for y, high in zip(picture.truth, picture.high, strict=True)]
        below = [y - low for y, low in zip(picture.truth, picture.low, strict=True)]
        whiskers = {"type": "data", "symmetric": False, "array": above, "arrayminus": below}
        look["error_y"] = whiskers | {"color": palette().ink, "thickness": 1.5, "width": 4}
    figure.add_trace(look | {"x": list(picture.at), "y": list(picture.truth)})


def _range_of(figure: Sketch, picture: Picture, colour: str, soft: str) -> None:
    (truth,), (low,), (high,) = picture.truth, picture.low, picture.high
    edge = {"color": colour, "width": 1}
    figure.add_shape(type="rect", x0=low, x1=high, y0=0.2, y1=0.8, fillcolor=soft, line=edge)
    figure.add_shape(type="line", x0=truth, x1=truth, y0=0.08, y1=0.92, line={"color": colour, "width": 3})


def _curve_of(figure: Sketch, picture: Picture, colour: str, soft: str) -> None:
    xs = list(picture.at)
    band = {"type": "scatter", "mode": "lines", "line": {"width": 0}}
    figure.add_trace(band | {"x": xs, "y": list(picture.low)})
    figure.add_trace(band | {"x": xs, "y": list(picture.high), "fill": "tonexty", "fillcolor": soft})
    line = {"type": "scatter", "mode": "lines", "line": {"color": colour, "width": 2.5}}
    figure.add_trace(line | {"x": xs, "y": list(picture.truth)})


# --- the comparison ---------------------------------------------------------------------------------------------------


def _compared(given: dict[str, str], sides: Sides) -> dict[str, str]:
    """Draw A and B, line by line, and below what an accepted error takes. Returns the settings."""
    prior = int(given["prior"]) if given["prior"] in fields.PRIORS else 10
    first = next(iter(sides.values()))

    def sure(side: whatif.Setting) -> str:
        return say("whatif.sure", most=fields.odds_after(prior, side.budget.epsilon))

    own: dict[str, Any] = {
        say("whatif.row.exact", chance=chance(first.query.beta)): _size,
        say("whatif.row.each"): lambda side: three_figures(side.query.epsilon),
        say("whatif.row.odds", prior=prior): sure,
        say("whatif.row.delta"): lambda side: one_in(side.budget.delta),
    }
    if any(side.query.card.key != first.query.card.key for side in sides.values()):
        own = {say("whatif.row.question"): lambda side: noun(side.query.card.key)} | own
    with st.container(key="card-compare"):
        if len(sides) == 2:
            paragraph(_difference(sides["A"], sides["B"]), "finding", role="status")
        st.html(_rows(own, sides))
        given = given | {"x": _accepted(given, first)}
        wish = _wish(given, first)
        takes = {name: whatif.at_error(side, wish) for name, side in sides.items() if whatif.comparable(first, side)}
        answers: dict[str, Any] = {
            say("whatif.row.fit"): lambda found: plain(found.questions) if found else "—",
            say("whatif.row.people"): _people,
            say("whatif.row.epsilon"): lambda found: three_figures(found.epsilon) if found and found.epsilon else "—",
        }
        st.html(_rows(answers, {name: takes.get(name) for name in sides}))
    return given


def _rows(rows: dict[str, Any], sides: dict[str, Any]) -> str:
    head = "".join(f"<th scope='col'><span class='side {name}'>{name}</span></th>" for name in sides)
    body = "".join(_line(gloss.text(label), map(shown, sides.values())) for label, shown in rows.items())
    return f"<table class='plain sides'><tr><td></td>{head}</tr>{body}</table>"


def _line(title: str, cells: Iterable[str]) -> str:
    return f"<tr><th scope='row'>{title}</th>{''.join(f'<td>{escape(cell)}</td>' for cell in cells)}</tr>"


def _size(side: whatif.Setting, promise: Promise | None = None) -> str:
    """The size of an error as text, with the words that it needs."""
    size = (promise or side.promise).unnamed(whatif.UNNAMED).size_for(side.query)
    code = f"whatif.size.{side.promise.kind}"
    return say(code, size=size) if known(code) else size


def _people(found: whatif.AtError | None) -> str:
    if found is None:
        return "—"
    if found.any_size:
        return say("whatif.any")
    return plain(found.people) if found.people is not None else say("whatif.no_number")


def _accepted(given: dict[str, str], first: whatif.Setting) -> str:
    """Draw a slider for the accepted error, and return the error as text; "" for the error of the first setting."""
    promise, query = first.promise.unnamed(whatif.UNNAMED), first.query
    exact = promise.figure_for(query)
    steps = {figure: text_of(figure) for figure in _around(exact, promise.whole)} | {exact: ""}
    if (now := _read(given["x"])) is not None:
        steps |= {now: given["x"]}
    key = widget("x")
    st.session_state[key] = given["x"] if given["x"] in steps.values() else ""

    def words(text: str) -> str:
        if not text:
            return say("whatif.as_first", error=_size(first))
        return _size(first, first.promise.at(first.promise.amount_of(Fraction(text), query)))

    options = [step for _, step in sorted(steps.items())]
    change: Any = {"on_change": _moved, "args": ("x",)}
    return str(st.select_slider(say("whatif.accept"), options, key=key, format_func=words, **change))


def _around(exact: Fraction, whole: bool) -> list[Fraction]:
    """Round figures from a twentieth of an error to twenty times the error."""
    return [figure for figure in one_two_five(exact / 20, exact * 20) if not whole or figure.denominator == 1]


def _read(text: str) -> Fraction | None:
    try:
        value = whatif.read_number_field(text, "") if text else None
    except dp.AllowanceError:
        return None
    return value if value is None or value > 0 else None


def _wish(given: dict[str, str], first: whatif.Setting) -> Fraction:
    now = _read(given["x"])
    return first.promise.amount if now is None else first.promise.amount_of(now, first.query)


def _difference(first: whatif.Setting, other: whatif.Setting) -> str:
    """A sentence on how the two errors compare, or that they cannot be compared because they have different kinds."""
    if not whatif.comparable(first, other) or not first.promise.amount or not other.promise.amount:
        return say("whatif.compare_kinds")
    ratio = float(other.promise.amount / first.promise.amount)
    if abs(ratio - 1) < 0.005:
        return say("whatif.compare_same")
    return say("whatif.compare_ratio", times=to_figures(max(ratio, 1 / ratio), 2), which="A" if ratio > 1 else "B")


def _delta(sides: Sides) -> None:
    """Draw what δ does: at each δ, how many questions fit at the same ε and the same error, and for how many people δ
    may fail."""
    first = next(iter(sides.values()))
    deltas = {*DELTAS, *(side.budget.delta for side in sides.values())}
    found = whatif.by_delta(first, first.promise.amount, tuple(sorted(deltas, reverse=True)))
    head = "".join(f"<th scope='col'>{escape(_tenth_power(at.delta))}</th>" for at in found)
    rows = {say("whatif.delta_row.usual"): [plain(at.usual) for at in found]}
    if found[0].noise:
        label = say("whatif.delta_row.noise", noise=say(f"whatif.noise_name.{found[0].noise}"))
        rows[label] = [plain(at.with_noise) if at.delta else say("whatif.delta_row.none") for at in found]
    people = first.people
    slips = [at.delta * people for at in found]  # people for whom the promise may fail
    rows[say("whatif.delta_row.slips", people=people)] = [
        "0" if not many else two_figures(many) if many >= Fraction(1, 1000) else power_of_ten(many) for many in slips
    ]
    body = "".join(_line(escape(label), cells) for label, cells in rows.items())
    lead = say("whatif.delta_lead", epsilon=first.budget.epsilon, error=_size(first))
    with st.container(key="card-delta"):
        st.html(
            f"<h2>{escape(say('whatif.delta_title'))}</h2><p class='muted'>{gloss.text(lead)}</p>"
            f"<div class='scroll' tabindex='0'><table class='plain sides'><tr><th scope='row'>δ</th>{head}</tr>{body}"
            "</table></div>"
        )


def _theorem_lines(solved: whatif.Setting, wish: Fraction) -> None:
    query = solved.query
    sizes = [(name, column.size) for name, column in query.facts.schema.columns.items()]
    facts = f"{query.digest()} {query.facts.relation} {solved.people} {solved.promise} {solved.budget} {sizes}"
    facts += f" {solved.questions} {wish}"
    if lines := _theorems(facts, language.get(), solved, wish):
        st.html(paragraphs(map(gloss.text, lines)))


@st.cache_data(max_entries=500, show_spinner=False)
def _theorems(facts: str, spoken: str, _solved_facts: whatif.Setting, _wish: Fraction) -> list[str]:
    """Sentences with the theorems for a setting. All visitors share this cache: its key holds public facts only."""
    return whatif.theorems(_solved_facts, _wish)


# --- exact numbers and other public facts -----------------------------------------------------------------------------


def _more(table: dp.Table, given: dict[str, str]) -> dict[str, str]:
    """Draw every number by hand, the sizes that the question needs, how sure, and who is protected. Returns the
    settings."""
    with fields.details(say("whatif.more"), "whatif-more") as drawn:
        if not drawn:
            return given
        if refused := st.session_state[STATE].pop("refused", ""):
            hint(refused)
        for side, end in SIDES.items():
            with st.container(horizontal=True, vertical_alignment="bottom"):
                for short in SLIDERS:
                    label = f"{side}: {say(f'whatif.field.{NAMES[short]}')}"
                    _by_hand(label, short + end, given[short + end] or given[short])
        with st.container(key="whatif-facts", horizontal=True):
            for name in _sizes(table, given):
                counted = dp.catalogue[given["q"]].card.answer == "count"
                code = "bars" if name == "values" and counted else name
                code = "each" if name == "values" and whatif.sized(given["q"]) else code
                _by_hand(say(f"whatif.field.{code}"), name, given[name])
            _by_hand(say("whatif.field.beta"), "beta", given["beta"], help=say("whatif.beta_help"))
        if given["from"] == "typed":
            words = {name: say(f"whatif.relation.{name}") for name in ("replace", "add_remove")}
            now = list(words).index(given["relation"])
            relation = st.radio(say("whatif.relation"), list(words), now, words.__getitem__, widget("relation"))
            full = given["full"] == "yes"
            if "range" in whatif.typed(given["q"]) and not whatif.sized(given["q"]):
                full = st.toggle(say("whatif.full"), full, key=widget("full"), help=say("whatif.full_help"))
            now_given = given | {"relation": str(relation), "full": "yes" if full else "no"}
            if now_given != given:
                kept.put(**now_given)
                st.rerun()
        else:
            st.html(f'<p class="muted">{gloss.text(say("whatif.full_allowance", table=table.name))}</p>')
    return given


def _sizes(table: dp.Table, given: dict[str, str]) -> list[str]:
    """The names of the other public facts that the question needs."""
    needed, sized = whatif.typed(given["q"]), whatif.sized(given["q"])
    own = given["from"] == "table" and not sized
    names: list[str] = [name for name in ("asks", "options", "features", "lists") if name in needed]
    names += ["low", "high", "step"] if "range" in needed and not own else []
    if "values" in needed and (not own or isinstance(table.schema[given["column"]], dp.Number)):
        names.append("values")
    return names + [name for name in ("share", "columns") if name in needed]


def _by_hand(label: str, name: str, text: str, **options: Any) -> None:
    """Draw a number field. Its number goes into the setting at once, or a sentence says why not."""
    key = fields.number_key(widget(f"by-hand-{name}"))
    st.session_state[key] = local(text)
    options |= {"max_chars": 40, "width": 150, "on_change": _typed, "args": (name, key, label)}
    st.text_input(label, key=key, **options)


def _typed(name: str, key: str, label: str) -> None:
    text = as_typed(str(st.session_state.get(key) or ""), "%")
    short = name.rstrip("2")
    if short not in SLIDERS or kept.number(short, text) is not None:
        kept.put(**{name: text})
        return
    try:
        whatif.read_number_field(text, label)
        code, most = f"whatif.hand.{short}", {"e": "100", "n": "1,000,000,000,000", "k": "1,000,000"}.get(short, "")
        st.session_state[STATE]["refused"] = say(code, name=label, most=local(most))
    except dp.AllowanceError as error:
        st.session_state[STATE]["refused"] = str(error)


def _act(table: dp.Table, given: dict[str, str], sides: Sides) -> None:
    ways = {say("overfitting.link"): nav.address("lessons", lesson="overfitting")}
    ways[say("trust.link")] = nav.address("lessons", lesson="trust")
    relation = next(iter(sides.values())).query.facts.relation
    ways[say("check.link")] = nav.address("audit", q=given["q"], relation=relation)
    first = sides.get("A")
    on_ask = first is not None and "ask" in first.query.card.asked_on and not whatif.sized(given["q"])
    if first is not None and "synthetic" in first.query.card.asked_on:
        way = nav.address("synthetic", table.name, way=first.query.card.key)
        ways = {say("whatif.use_synthetic"): way} | ways
    if first is not None and given["from"] == "table" and on_ask and first.query.beta == BETA:
        ways = {say("whatif.use"): nav.address("ask", **preview.preview_link(table, first.query))} | ways
    st.html(f'<p class="onward">{"".join(link(way, words, "button") for words, way in ways.items())}</p>')


def _others() -> None:
    """Draw every other question, with one sentence on why this page does not offer it."""
    with fields.details(say("whatif.others"), "whatif-others") as drawn:
        if not drawn:
            return
        reasons: dict[str, list[str]] = {}
        for key, question in dp.catalogue.items():
            if why := whatif.why_not(key):
                reasons.setdefault(why, []).append(question.card.title)
        rows = [f"<p><b>{escape(' · '.join(titles))}</b><br>{escape(why)}</p>" for why, titles in reasons.items()]
        st.html("".join(rows))


_STYLE = sheet("whatif/whatif")


# --- further down, one section at a time: what ε means, curves, accountings, many questions, choosing one of several,
# two medians

SIMULATED = 30
MOST_ASKED = 10**5  # questions on a picture
_DRAWN = {"basic": ("spent", "dash"), "lecture": ("take", "dot"), "filter": ("left", "solid")}


Points = list[tuple[float, float]]
Sides = dict[str, whatif.Setting]  # "A" and "B", where they can be solved


def show_closer(given: dict[str, str], sides: Sides, unit: str) -> dict[str, str]:
    """Draw the chosen section, folded, and return the settings. A section about one setting takes the first. `unit` is
    the title of an axis of errors."""
    with fields.details(say("whatif.see"), "whatif-closer", given["see"] != USUAL["see"]) as opened:
        if not opened:
            return given
        see = fields.choose("whatif.see", SECTIONS, given["see"], widget("see"), label_visibility="collapsed")
        given = given | {"see": see}
        drawn: dict[str, Points] = {}
        first = next(iter(sides.values()))
        lead = p(gloss.text(say(f"whatif.lead.{see}")), "lead")
        st.html(f"<h2>{escape(say(f'whatif.title.{see}'))}</h2>{lead}")
        if see == "odds":
            given["prior"] = _odds(given, sides)
        elif see == "median":
            given["shape"], drawn = _medians(given, first)
        elif see == "curves":
            drawn = _curves(sides, unit)
        elif see == "lectures":
            given["pic"] = fields.choose("whatif.pic", LECTURES, given["pic"], widget("pic"))
            drawn = _lecture(given["pic"], first)
        else:
            drawn = {"many": _many, "choose": _choosing, "sample": _sampled, "ways": _ways}[see](first)
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
    words = paragraphs(map(gloss.text, (about, *lines)))
    st.html(f'{fields.ODDS_STYLE}<div class="odds">{pictures}</div>{words}')
    return prior


def _ways(solved: whatif.Setting) -> dict[str, Points]:
    """Draw a table: how many such questions the allowance holds under each accounting. Returns no points, as there is
    no chart."""
    counts = how_many_fit.how_many(solved.budget.rule(), solved.query.loss())
    rows = []
    for name, count in counts.items():
        title, means = escape(say(f"whatif.way.{name}")), gloss.text(say(f"whatif.way_means.{name}"))
        rows.append((Html(f"<b>{title}</b><br><span class='muted'>{means}</span>"), plain(count)))
    each = text_of(solved.query.epsilon)
    ways = html_table([say("whatif.way"), say("whatif.way_fit")], rows)
    terms = f"--epsilon {text_of(solved.budget.epsilon)} --delta {text_of(solved.budget.delta)} --each {each}"
    command = f'<p><code class="copied">python -m dpengine fits {terms}</code></p>'
    st.html(p(say("whatif.ways_each", each=local(each))) + ways + p(say("whatif.ways_command"), "muted") + command)
    return {}


def _many(solved: whatif.Setting) -> dict[str, Points]:
    """Draw the error of each of k answers, by accounting; return the drawn points by name."""
    rule, lines = solved.budget.rule(), []
    for name, (colour, dash) in _DRAWN.items():
        points = [(float(k), float(error)) for k, error in whatif.along_questions(rule, solved.query, name, MOST_ASKED)]
        mark = (solved.questions, float(solved.promise.figure_for(solved.query))) if name == "filter" else None
        if points:
            lines.append(charts.Line(say(f"whatif.way.{name}"), points, mark, colour, dash))
    axes = say("whatif.axis.questions"), say("whatif.axis.error")
    charts.curves(lines, *axes, say("whatif.alt.many"), "whatif-many", 380)
    return {line.name: line.points for line in lines}


def _choosing(solved: whatif.Setting) -> dict[str, Points]:
    """Draw how far the choice may be behind the best, if chosen privately and if picked from all T answers; return the
    drawn points by name."""
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
        paragraph(say("whatif.choose.finding", **facts), "", role="status")
    return {line.name: line.points for line in lines}


@st.cache_data(max_entries=200, show_spinner=False)
def _simulated(facts: str, _query: Median, shape: str) -> tuple[float, list[float], list[float]]:
    """The true median, and simulated answers of two ways to release it. All visitors share this cache, so that the
    picture stays; its key holds public facts only."""
    return whatif.two_medians(_query, shape, SIMULATED)


def _medians(given: dict[str, str], solved: whatif.Setting) -> tuple[str, dict[str, Points]]:
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
        title, how_near = say(f"whatif.median.{name}"), say("whatif.median_near", near=near, times=SIMULATED)
        st.html(f"<p><b>{escape(title)}</b> {escape(how_near)}</p>")
        words = say("whatif.median_axis"), say(f"whatif.median_alt.{name}")
        charts.dots(values, *words, f"whatif-median-{name}", span=(ends[0] - pad, ends[1] + pad))
        key = say("whatif.median_csv", way=say(f"whatif.median.{name}"))
        drawn[key] = [(float(place), value) for place, value in enumerate(values, start=1)]
    return shape, drawn


def _median(given: dict[str, str], solved: whatif.Setting) -> Median:
    """A median question at the same ε, about the question's own number column, or about the typed range."""
    column = str(getattr(solved.query, "column", ""))
    facts, epsilon = solved.query.facts, solved.query.epsilon
    if not isinstance(facts.schema.columns.get(column), dp.Number) or given["from"] == "typed":
        facts, column = whatif.made_up(given | {"q": "median"}, solved.people), "range"
    return Median.build(facts, {"column": column, "epsilon": epsilon})


def _curves(sides: Sides, unit: str) -> dict[str, Points]:
    """Draw the error against ε and against people, by formula, and return the drawn points by name. Errors of different
    kinds are not drawn together."""
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


def _sampled(solved: whatif.Setting) -> dict[str, Points]:
    """Draw half of both widths, were these people a random sample, against ε and against people; a dot marks the
    crossing. Returns the drawn points by name."""
    query = both.as_sample(solved.query)
    now = None if query is None else both.both_ranges(query)
    if query is None or now is None:
        paragraph(say("sample.whatif.none"))
        return {}
    paragraph(preview.both_words(query, now), "", role="status")
    unit = say("sample.whatif.points" if query.answer_kind in ("count", "share") else "sample.whatif.unit")
    drawn: dict[str, Points] = {}
    axes = {"epsilon": both.along_epsilon(query), "people": both.along_people(query)}
    crossings = {axis: both.crossing(points) for axis, points in axes.items()}
    for column, (axis, points) in zip(st.columns(2), axes.items(), strict=True):
        xs = [float(point.epsilon) if axis == "epsilon" else float(point.people) for point in points]
        lines = []
        cross = crossings[axis]
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
    if any(crossings.values()):
        paragraph(say("sample.whatif.crossing"))
    return drawn


MOST_CLASS = 10**12
MOST_DRAWN_PEOPLE = 10**6  # so that n² stays on the picture
VALUES_EACH = 10  # of a made-up domain |D|, where the question has none
LOOKS = (("left", "solid"), ("take", "dash"), ("spent", "dot"), ("muted", "dash"))
WEIGHTS = TrainingSetting(1, 1, 1.0, 2.0, 1.0, 2, 1.0, 1.0, 50)  # half the squared error in the unit ball, 50 steps


def _lecture(name: str, solved: whatif.Setting) -> dict[str, Points]:
    """Draw one statement of the lectures as a picture, at the people, ε and δ of the setting; return the drawn points
    by name."""
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
    st.html(f"<p>{gloss.text(say(f'whatif.pic.{name}.summary', **facts))}</p>")
    looks = zip(named.items(), LOOKS, strict=False)
    lines = [charts.Line(label, points, None, *look) for (label, points), look in looks]
    axes = say(f"whatif.pic.{name}.across"), say(f"whatif.pic.{name}.up")
    charts.curves(lines, *axes, say(f"whatif.pic.{name}.summary", **facts), f"whatif-pic-{name}", 380)
    return named
