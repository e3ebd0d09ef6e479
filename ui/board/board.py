"""The First look page: which columns, how exact, what would help and the price; then the board of what was bought."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from html import escape
from itertools import combinations
from operator import itemgetter
from typing import Any
from urllib.parse import urlencode

import streamlit as st

import dpengine as dp
from dpengine.core.printed import chance, two_figures
from dpengine.core.strict_json import canonical
from dpengine.declared.grouped import base
from dpengine.declared.merging import read_lookup
from dpengine.mechanisms.marginals.overview import Overview
from dpengine.mechanisms.marginals.wanted import MOST_AGAINST
from dpengine.messages import called, plain, say
from dpengine.messages.numbers import local
from dpengine.released import look_groups
from dpengine.released.files import as_sheet
from dpengine.released.look import Figure, Look
from dpengine.released.look_fit import HeldBack
from dpengine.released.look_groups import Apart
from dpengine.released.shapes import predictable
from ui.ask import answer as answers
from ui.ask import fit_warnings, preview, spend
from ui.board import board_figures, board_state
from ui.board.board_figures import Bar, Card, Picked
from ui.board.board_state import NAMES, PLACE
from ui.parts import answer_notes, exports, fields, history, job, owner
from ui.pictures import charts, many, named_bars, png, svg
from ui.shell import frame, nav
from ui.shell.frame import hint, page_head, paragraph, section_head
from ui.shell.state import held, workspace
from ui.shell.style import sheet
from ui.words import prices
from ui.words.figures import bare, rounded
from ui.words.markup import first_names, html_table, p, unmarked

# --- what makes a first look more exact at the same price, one click each: fewer columns, fewer groups, merged values
#
# From public facts only: the values are the declared ones, and nobody knows who has them.

_OFFERED = 3


def show_gains(table: dp.Table, now: dict[str, Any], query: Overview) -> None:
    """Draw links that would make bars more exact, the largest gain first: fewer groups, one column less, or fewer
    pairs."""
    sizes = {base(ref): axis.size for ref, axis in zip(query.columns, query.axes, strict=True)}
    sizes |= {held.column: held.size for held in query.held if held.column}
    longest = sorted(sizes, key=lambda name: -sizes[name])
    able = board_state.can_be_coarser(table)
    rough = [name for name in longest if name in able and name not in now["coarse"]]
    options: list[tuple[str, dict[str, Any], dict[str, Any]]] = []
    if rough:
        options.append(("coarse", {"coarse": [*now["coarse"], *rough]}, {"columns": rough[:_OFFERED]}))
    if len(longest) > 1:
        name = longest[0]
        left_out = {"without": [*now["without"], name], "against": [other for other in now["against"] if other != name]}
        options.append(("without", left_out, {"column": name, "values": sizes[name]}))
    if now["against"]:
        options.append(("alone", {"against": [], "three": ""}, {"columns": list(now["against"])}))
    if now.get("every"):
        if now.get("three"):
            options.append(("pairs", {"three": ""}, {}))
        options.append(("not_every", {"every": "", "three": ""}, {}))
    before = query.promise().amount
    found = []
    for code, changed, facts in options:
        after = error_if(table, query, now | changed)
        if after is not None and after < before and two_figures(after) != two_figures(before):
            words = say(f"board_page.gain.{code}", now=plain(before), then=plain(after), **facts)
            found.append((after, words, changed))
    if found:
        section_head(say("board_page.gains"))
        with st.container(gap="small"):
            for _, words, changed in sorted(found, key=itemgetter(0)):
                _link(table, words, now | changed)


def error_if(table: dp.Table, query: Overview, now: dict[str, Any]) -> Any:
    """The error of a bar if the form held these settings, as a number of people or rows; None if they are refused."""
    facts = query.facts
    public = [facts.table, facts.schema.as_json(), facts.about, facts.relation, facts.unit.as_json()]
    return _amount(canonical([query.describe()["parameters"], public, now]), table, now)


@st.cache_data(max_entries=500, show_spinner=False)
def _amount(facts: str, _table: dp.Table, _now: dict[str, Any]) -> Any:
    """The error of a bar, for `error_if`. All visitors share this cache: its key holds public facts only."""
    try:
        return board_state.query_of(_table, _now).promise().amount
    except dp.AllowanceError:
        return None


_PICKED = f"{PLACE}-picked"


def show_merge(table: dp.Table, chosen: list[str], given: dict[str, Any]) -> dict[str, Any]:
    """Draw fields that merge more values of a column, and return the values merged so far. `gain` then shows the
    gain."""
    able = [name for name in board_state.can_be_merged(table) if name in chosen]
    merged = {name: groups for name, groups in (given.get("merged") or {}).items() if name in able}
    st.session_state.pop(_PICKED, None)
    if not able:
        return {"merged": {}}
    with st.expander(say("board_page.merge"), expanded=bool(merged)):
        column = st.selectbox(
            say("board_page.column"), able, format_func=called, key=job.addressed_widget(PLACE, "merge-column")
        )
        groups = merged.get(column, [])
        taken = {value for _, values in groups for value in values}
        free = [label for label in table.schema.category(str(column)).labels if label not in taken]
        label, none = say("board_page.merge_values"), say("board_page.none")
        key = job.addressed_widget(PLACE, f"merge-values-{column}")
        values = st.multiselect(label, free, key=key, format_func=called, placeholder=none)
        name = st.text_input(say("board_page.merge_name"), key=job.addressed_widget(PLACE, f"merge-name-{column}"))
        if len(values) > 1:
            st.session_state[_PICKED] = (str(column), [*groups, [name, values]])
        _looked_up(table, str(column))
    return {"merged": merged}


def _looked_up(table: dp.Table, column: str) -> None:
    """Read the groups of all values from a pasted public list, such as districts and their regions, for `gain` to
    offer."""
    label, key = say("board_page.lookup", column=unmarked(column)), job.addressed_widget(PLACE, f"lookup-{column}")
    pasted = st.text_area(label, key=key, help=say("board_page.lookup_help"), height=120)
    if not (pasted or "").strip():
        return
    try:
        found = read_lookup(str(pasted), table.schema.category(column))
    except dp.AllowanceError as complaint:
        hint(str(complaint))
        return
    note = say("board_page.looked_up", groups=len(found.groups), alone=len(found.alone), strange=found.strange)
    paragraph(note, role="status")
    st.session_state[_PICKED] = (column, found.as_json())


def gain(table: dp.Table, now: dict[str, Any], query: Overview) -> None:
    """Draw a link that merges the chosen values, with the error before and after; and for each merged group a link that
    undoes it."""
    before = query.promise().amount
    if picked := st.session_state.pop(_PICKED, None):
        column, groups = picked
        changed = now | {"merged": now["merged"] | {column: groups}}
        after = error_if(table, query, changed)
        if after is None:
            paragraph(_refusal(table, changed), "warn")
        else:
            words = {"column": column, "now": plain(before), "then": plain(after)}
            more = len(groups) > len(now["merged"].get(column, [])) + 1
            facts = {"groups": len(groups)} if more else {"values": groups[-1][1]}
            _link(table, say(f"board_page.{'lookup' if more else 'merge'}_gain", **words | facts), changed)
    for column, groups in now["merged"].items():
        for at, (name, values) in enumerate(groups):
            rest = groups[:at] + groups[at + 1 :]
            others = {other: kept for other, kept in now["merged"].items() if other != column}
            apart = say("board_page.merge_apart", group=name or ", ".join(values), column=column)
            _link(table, apart, now | {"merged": others | ({column: rest} if rest else {})})


def _link(table: dp.Table, words: str, changed: dict[str, Any]) -> None:
    st.page_link(nav.page("board"), label=unmarked(words), query_params=board_state.link(table, changed) | {"new": "1"})


def _refusal(table: dp.Table, now: dict[str, Any]) -> str:
    try:
        board_state.query_of(table, now)
    except dp.AllowanceError as complaint:
        return str(complaint)
    return ""


def show(table: dp.Table) -> None:
    request = st.query_params.get("look")
    if request is None and not any(name in st.query_params for name in ("new", *NAMES)):
        request = table.newest_look()  # instead of the form
    shown = fit_warnings.became(table, request, "look", Overview, "board_page.unknown", show_board)
    if not shown:
        page_head(say("board_page.title", table=table.name), say("board_page.lead"))
        frame.pick_table(table, PLACE)
    history.earlier(say("board_page.earlier"), table.first_looks(), "board", "look", request)
    if shown:
        return
    if table.closed:
        owner.closed(table)
    elif not board_state.offered(table):
        hint(say("board_page.no_columns"))
    else:
        _form(table)


def _form(table: dp.Table) -> None:
    given, arrived = job.address_given(table, PLACE, NAMES, lambda arriving: board_state.filled(table, arriving))
    offered = board_state.offered(table)
    left, right = st.columns([5, 6], gap="medium")
    query = None
    with left, st.container(key="card-board-what"):
        now = _columns(table, offered, given)
        chosen = [name for name in offered if name not in now["without"]]
        crossed = [name for name in chosen if name not in table.schema.of_kind(dp.ItemSet)]
        now |= _together(crossed, given)
        now |= show_merge(table, chosen, given)
        now |= _details(chosen, bool(now["every"]) or len(now["against"]) == MOST_AGAINST, given)
    with right, st.container(key="card-board"):
        try:
            usual = board_state.query_of(table, now | {"epsilon": "1"})
        except dp.AllowanceError as complaint:
            usual = None
            hint(str(complaint))
        found = None if usual is None else table.opening(usual)
        spend.start_from(table, given.get("epsilon") or spend.opens_at(found), PLACE)
        if usual is not None:
            now["epsilon"] = spend.choose(table, lambda step: usual.at(Fraction(step)), PLACE)
            query = board_state.query_of(table, now)
        else:
            now["epsilon"] = st.session_state[f"{PLACE}-epsilon"]
        job.remember_address(table, PLACE, now, arrived)
        if query is not None:
            _buy(table, query)
        job.show_refusal()
    if query is not None:
        with left:
            gain(table, now, query)
        show_gains(table, now, query)


def _columns(table: dp.Table, offered: list[str], given: dict[str, Any]) -> dict[str, Any]:
    """Draw pickers of columns to leave out and of columns with fewer groups; return what was picked."""
    section_head(say("board_page.what"))
    paragraph(say("board_page.all", columns=len(offered)))
    without = _some("without", offered, given, say("board_page.without"))
    rough = [name for name in board_state.can_be_coarser(table) if name not in without]
    note = say("board_page.coarse_help")
    coarse = _some("coarse", rough, given, say("board_page.coarse"), help=note) if rough else []
    return {"without": without, "coarse": coarse}


def _some(name: str, offered: list[str], given: dict[str, Any], label: str, **options: Any) -> list[str]:
    """Draw a picker of some of the `offered` columns, and return the picked ones. The address keeps them under
    `name`."""
    now = [column for column in given[name] if column in offered]
    key, none = job.addressed_widget(PLACE, name), say("board_page.none")
    return st.multiselect(label, offered, now, called, key=key, placeholder=none, **options)


def _together(crossed: list[str], given: dict[str, Any]) -> dict[str, Any]:
    """Draw the choice of pairs to count: each column with one or two others, or every pair. Returns the chosen
    parameters."""
    label, note, key = say("board_page.every"), say("board_page.every_help"), job.addressed_widget(PLACE, "every")
    every = st.toggle(label, bool(given.get("every")), key=key, help=note, disabled=len(crossed) < 2)
    limits = {"max_selections": MOST_AGAINST, "disabled": every}
    against = _some("against", crossed, given, say("board_page.against"), help=say("param.against.help"), **limits)
    whole = every and len(crossed) > 1
    return {"against": [] if whole else against, "every": "1" if whole else ""}


def _details(chosen: list[str], threes: bool, given: dict[str, Any]) -> dict[str, Any]:
    """Draw the folded settings: the columns that matter most, triples, and how the noise is spread. Returns the chosen
    values."""
    with st.expander(say("board_page.details")):
        most = _some("most", chosen, given, say("param.weights.label"), help=say("param.weights.help"))
        label, note, key = say("param.three.label"), say("param.three.help"), job.addressed_widget(PLACE, "three")
        three = st.toggle(label, bool(given.get("three")), key=key, help=note, disabled=not threes)
        label, note, key = say("board_page.even"), say("board_page.even_help"), job.addressed_widget(PLACE, "even")
        even = st.toggle(label, bool(given.get("even")), key=key, help=note)
    return {"most": most, "three": "1" if three and threes else "", "even": "1" if even else ""}


def _buy(table: dp.Table, query: Overview) -> None:
    price = table.preview(query, checked=True)
    frame.show_price(table, price, "_board")
    st.html(f"<p><b>{escape(worth(table, query, price))}</b></p>")
    board_state.counted_as(query)
    if least := spend.least_html(table, table.opening(query)):
        st.html(least)
    if not price.useful:
        paragraph(spend.noise_words(table, price, spend.enough(table, query, price)), "warn")
    spend.exactly(table, query, PLACE)
    label = say("board_page.button", share=prices.takes(table, price.share))
    paid = bool(table.recall(query))
    if fit_warnings.instead_at("look", table, query):
        return
    with st.container(key="in-view"):
        job.ask_button(label, table, query, "board-go", disabled=not price.admissible, url_name="look", again=paid)
    if not price.admissible:
        job.too_much(table, "board_page.too_much")


def worth(table: dp.Table, query: Overview, price: dp.Preview) -> str:
    """One sentence with the price and the error of a bar."""
    facts = {"share": prices.takes(table, price.share), "columns": len(query.names), "few": price.people_needed}
    facts |= {"reach": plain(price.promise.amount), "chance": chance(query.beta)}
    facts |= {"people": query.facts.about, "each": query.facts.unit.at_most}
    return say(f"board_page.worth.{query.counted}", **facts)


# --- the board of a first look: a card for each column, for everyone or one group; which columns go together; downloads
#
# The board is drawn from a paid answer alone: it never reads the table and is free. The address holds what is picked.


def show_full(found: dp.Answer, look: Look, picked: Picked) -> None:
    """Draw one column in full: a picture to save as PNG, and all figures."""
    now = st.query_params.get("of", "")
    turn = now if now in look.columns else ""
    with fields.details(say("board_page.full"), "board-full-open", bool(turn)) as drawn:
        if drawn:
            _full(found, look, picked, turn)


def _full(found: dp.Answer, look: Look, picked: Picked, turn: str) -> None:
    column = _selectbox("board_page.column", ["", *look.columns], turn, "of", f"board-of-{turn}", width=320)
    if not column:
        return
    if sets := column in look.query.items:
        if picked.by:
            paragraph(say("board_page.sets_everyone"))
        picked = Picked(shares=picked.shares)
    if (note := board_figures.note_of(look, str(column), picked)) in ("unbought", "large"):
        paragraph(say(f"board_page.{note}"), "warn")
        return
    bars = board_figures.bars_of(look, str(column), picked)
    short = found.receipt["charge"]["hash"][:8]
    title = say("chart.percent") if picked.shares else say("chart.people" if sets else f"chart.{look.query.counted}")
    group = "".join(f" · {name}: {label}" for name, label in picked.of(str(column)).items())
    question = f"{found.sentence}, {found.receipt['table']}: {column}{group}"
    source = say("answers.picture", question=question, receipt=short)
    values = {bar.name: bar.value for bar in bars}
    ranges = {bar.name: (bar.low, bar.high) for bar in bars if bar.low is not None and bar.high is not None}
    alt = "; ".join(f"{bar.name}: {bar.text}" for bar in bars[:60])
    boxes = {bar.name: box for bar in bars if (box := bar.wide_drawn(picked.shares, look)) is not None}
    faint = [bar.name for bar in bars if bar.faint]
    charts.bars(values, ranges or None, title, alt, "board-full", faint, boxes)

    def write() -> bytes:
        drawn = svg.rows(values, ranges or None, title, alt, True, faint, boxes)
        return png.drawn(svg.captioned(drawn, source))

    exports.offer(say("answers.picture_file"), write, f"first-look-{short}.png", "board-png")
    if not ranges:
        paragraph(say("board_page.estimated"), "warn")
    with fields.details(say("answer.figures"), "board-figures-open") as drawn:
        if not drawn:
            return
        page = [bars[int(at)] for at in many.page(map(str, range(len(bars))), "board-figures")]
        st.html(_table(page, picked.shares) + answers.not_adding())


def _table(bars: list[Bar], shares: bool) -> str:
    wider = any(bar.wide for bar in bars)
    titles = ["answer.column.label", "answer.column.value", "answer.column.range"]
    titles += ["sample.column.all_percent"] if wider else []
    rows, sign = [], " %" if shares else ""
    for bar in bars:
        value = bare(bar.value) if bar.low is None or bar.high is None else rounded(bar.value, bar.low, bar.high)
        wide = [bar.wide_words.removesuffix(" %")] if wider else []
        rows.append((bar.name, value + sign, bar.range or say("board_page.no_promise"), *wide))
    return html_table([*map(say, titles)], rows)


# --- which columns go together: each column against the columns of interest

_NARROW = 2  # percentage points
_ORDER = (look_groups.CLEAR, look_groups.PERHAPS, look_groups.UNKNOWN, look_groups.ESTIMATED)


def show_pairs(table: dp.Table, found: dp.Answer, look: Look) -> None:
    against = look.query.against
    if not against or len(look.cells) < 2:
        return
    pairs = tuple((name, other) for name in look.cells for other in against if other != name)
    apart = _all_apart(found.receipt["charge"]["hash"], pairs, look)
    by_name: dict[str, dict[str, Apart]] = {}
    for name, other in pairs:
        by_name.setdefault(name, {})[other] = apart[name, other]
    names = sorted(by_name, key=lambda name: min(_ORDER.index(pair.state) for pair in by_name[name].values()))
    shown = [name for name in names if any(pair.most is not None for pair in by_name[name].values())]
    head = "".join(f"<th>{escape(say('board_page.with', column=name))}</th>" for name in against)
    rows = "".join(_row(table, found, look, name, by_name[name]) for name in shown)
    matrix = (
        f'<div class="scroll" tabindex="0"><table class="plain pairs"><tr><th>{escape(say("board_page.column"))}</th>'
        f"{head}</tr>{rows}</table></div>"
    )
    rest = [name for name in names if name not in shown]
    hidden = say("board_page.rest_unknown", columns=rest, against=list(against)) if rest else ""
    st.html(
        f"<h2>{escape(say('board_page.together'))}</h2><p class='muted'>{escape(say('board_page.together_lead'))}</p>"
        + (matrix if shown else "")
        + (f"<p>{_pill(look_groups.UNKNOWN)} {escape(hidden)}</p>" if rest else "")
    )


@st.cache_resource(max_entries=50, show_spinner=False)
def _all_apart(charge: str, pairs: tuple[tuple[str, str], ...], _look: Look) -> dict[tuple[str, str], Apart]:
    """By pair of columns, how far the groups of one differ in the other. All visitors share this cache: a paid answer
    never changes."""
    return {pair: look_groups.together(_look, *pair) for pair in pairs}


def _pill(state: str) -> str:
    return f'<span class="state {state}">{escape(say(f"board_page.state.{state}"))}</span>'


def _row(table: dp.Table, found: dp.Answer, look: Look, name: str, with_each: dict[str, Apart]) -> str:
    cells = ""
    for other in look.query.against:
        if other == name:
            cells += "<td></td>"
            continue
        apart = with_each[other]
        cells += f"<td>{_pill(apart.state)} {shows(table, found, look, name, other, apart)}</td>"
    return f'<tr><th scope="row">{escape(called(name))}</th>{cells}</tr>'


def shows(table: dp.Table, found: dp.Answer, look: Look, name: str, other: str, apart: Apart) -> str:
    """HTML: a sentence on the two groups that differ most, and a link to the board of the first; empty if no difference
    is certain."""
    if apart.most is None or apart.least is None:
        return ""
    groups = dict(zip(look.query.cell_labels[look.place(name)], look.query.cell_names(look.place(name)), strict=True))
    values = dict(zip(look.query.cell_labels[look.place(other)], look.query.cell_names(look.place(other)), strict=True))
    most, least = (
        say("board_page.share_of", share=_figure(figure), group=groups[figure.label])
        for figure in (apart.most, apart.least)
    )
    where = {"look": found.request_id, "by": name, "group": apart.most.label}
    link = f'<a href="{nav.address("board", table.name, **where)}" target="_self">{escape(say("board_page.look"))}</a>'
    return f"{escape(say('board_page.shows', value=values[apart.value], most=most, least=least))} {link}"


def _figure(figure: Figure) -> str:
    """A share and its range as text, in whole percents, or in tenths if the range is narrow. The range is rounded
    outwards."""
    low, high = 100 * (figure.low or 0.0), 100 * (1.0 if figure.high is None else figure.high)
    grain = 1 if high - low >= _NARROW else 10
    ends = math.floor(low * grain) / grain, math.ceil(high * grain) / grain
    first, middle, last = (local(f"{end:.{grain // 10}f}") for end in (ends[0], 100 * figure.value, ends[1]))
    return f"{middle} % ({first}–{last})"


# --- which columns go together, if all pairs or chosen pairs were bought: a matrix, and the clearest pairs in words

_CLEAREST = 8  # pairs described in words
_SIGNS = {look_groups.CLEAR: "●", look_groups.PERHAPS: "◐", look_groups.UNKNOWN: "·"}


def show_matrix(table: dp.Table, found: dp.Answer, look: Look) -> None:
    if look.query.against or not look.paired:
        return
    apart = _all_apart(found.receipt["charge"]["hash"], tuple(combinations(look.cells, 2)), look)
    legend = " ".join(f"{sign} {say(f'board_page.state.{state}')}" for state, sign in _SIGNS.items())
    bought = sum(len(part) == 2 for part in look.marginals)
    some = say("board_page.together_some", pairs=bought, all=len(apart)) if bought < len(apart) else ""
    names = look.cells
    head = "".join(f'<th scope="col">{escape(called(name))}</th>' for name in names[1:])
    rows = ""
    for at, name in enumerate(names[:-1]):
        cells = "".join(_cell(table, found, name, other, apart[name, other]) for other in names[at + 1 :])
        rows += f'<tr><th scope="row">{escape(called(name))}</th>{"<td></td>" * at}{cells}</tr>'
    clear = [pair for pair in apart if apart[pair].state == look_groups.CLEAR]
    clear.sort(key=lambda pair: -_gap(apart[pair]))
    words = ""
    for first, other in clear[:_CLEAREST]:
        shown = shows(table, found, look, first, other, apart[first, other])
        words += f"<li><b>{escape(first)} · {escape(other)}</b> {shown}</li>"
    st.html(
        f"<h2>{escape(say('board_page.together'))}</h2><p class='muted'>{escape(say('board_page.together_lead'))}</p>"
        + (p(some, "muted") if some else "")
        + f'<p class="muted">{escape(legend)}</p>'
        f'<div class="scroll" tabindex="0"><table class="plain matrix"><tr><th></th>{head}</tr>{rows}</table></div>'
        + (f"<ul>{words}</ul>" if words else "")
    )


def _gap(apart: Apart) -> float:
    """The distance that certainly lies between the two groups that differ most; 0 if there are no such groups."""
    return (apart.most.low or 0.0) - (apart.least.high or 0.0) if apart.most and apart.least else 0.0


def _cell(table: dp.Table, found: dp.Answer, name: str, other: str, apart: Apart) -> str:
    if apart.state == look_groups.ESTIMATED:
        return "<td></td>"
    words = f"{name}, {other}: {say(f'board_page.state.{apart.state}')}"
    sign = f'<span class="state {apart.state}" title="{escape(words)}">{_SIGNS.get(apart.state, "")}</span>'
    if apart.most is None:
        return f"<td>{sign}</td>"
    where = {"look": found.request_id, "by": name, "group": apart.most.label}
    link = nav.address("board", table.name, **where)
    return f'<td><a href="{link}" target="_self" aria-label="{escape(words)}">{sign}</a></td>'


# --- pairs of columns that were not bought: estimates, how accurate such estimates were, and the price of the pairs


def held_back(tried: HeldBack) -> str:
    """A sentence: how accurate estimates were on held-back pairs."""
    return say("board_page.held_back", off=local(f"{100 * tried.off:.1f}"), inside=tried.inside, cells=tried.cells)


def alone(table: dp.Table, look: Look, picked: Picked, called: str, others: Sequence[str]) -> None:
    """For a group about which nothing was bought, offer single questions about the `others`, then all pairs."""
    paragraph(say("board_page.nothing_bought", column=picked.by, group=called), "", role="status")
    if table.closed:
        return
    asked = (look_groups.one_question(look, column, picked.by, picked.group) for column in others)
    queries = [query for key, given in asked if (query := table.suggested(key, **given)) is not None]
    priced = [(table.preview(query, checked=True).share, query) for query in queries]
    for share, query in sorted(priced, key=itemgetter(0)):
        label = say("board_page.ask_one", question=query.sentence(), share=prices.takes(table, share))
        st.page_link(nav.page("ask"), label=unmarked(label), query_params=preview.opening(table, query))
    _pairs(table, look, picked.by)


def _pairs(table: dp.Table, look: Look, by: str) -> None:
    """Draw a link that buys all pairs with the column `by`, with the price; nothing if what is left does not cover that
    price."""
    if table.closed or by not in board_state.offered(table):
        return
    now = board_state.state_of(table, look.query) | {"against": [by], "three": ""}
    try:
        (share,) = table.prices([query := board_state.query_of(table, now)])
        if share is None and (less := table.opening(query)) is not None:
            now["epsilon"] = spend.opens_at(less)
            (share,) = table.prices([board_state.query_of(table, now)])
    except dp.AllowanceError:
        return
    if share is not None:
        label = say("board_page.buy_pairs", column=by, share=prices.takes(table, share))
        st.page_link(nav.page("board"), label=unmarked(label), query_params=board_state.link(table, now))


def show_downloads(found: dp.Answer, look: Look) -> None:
    """Draw buttons for the files, which are written on the click."""
    name = f"first-look-{found.receipt['charge']['hash'][:8]}"
    with fields.popped(say("answers.take_away"), "board-take") as opened:
        if not opened:
            return
        exports.offer(say("receipt.csv"), lambda: exports.as_csv(*download_rows(look)), f"{name}.csv", "board-csv")
        exports.offer(say("receipt.sheet"), lambda: as_sheet(*download_rows(look)), f"{name}.xlsx", "board-sheet")


def download_rows(look: Look) -> tuple[list[str], list[list[Any]]]:
    """The header and the rows of the download: one row per measured bar of a column, or of columns counted together."""
    frame = look.to_frame()
    return list(frame.columns), frame.to_numpy().tolist()


PER_PAGE = 12
MOST_NAMED = 8
OFFERED = 3  # single questions about a group without bought pairs
_SEEN = "board-seen"  # the picked groups, how often they came from a click, and whether a field just chose them
_GROUPS = ("by", "group", "also", "second")


def show_board(table: dp.Table, found: dp.Answer) -> None:
    look = board_figures.look_of(found)
    took = prices.took_in_all(table, workspace().ledger.find(found.request_id))
    st.html(
        f"{_STYLE}<h1 class='arrived' tabindex='-1'>{escape(say('board_page.board', table=table.name))}</h1>"
        f"<p class='lead'>{escape(say('board_page.free', share=took, chance=chance(found.query.beta)))}</p>"
    )
    if not table.practice:  # a first look also shows whether columns fit their declarations
        misfits = board_figures.telling_misfits(found.receipt["charge"]["hash"], look)
        notes = answer_notes.headline_notes(found, linked=True, below=misfits)
        notes += answer_notes.fit_notes(found, linked=True)
        if notes:
            st.html(notes)
    picked = _controls(found, look)
    cards = board_figures.cards(found, look, picked)
    _whom(table, found, look, picked, cards)
    if words := board_figures.about_all(found):
        paragraph(words, "muted both")
    cards = tuple(card for card in cards if card.note != "unbought")  # one message covers them all
    cards, scarce = _apart(cards, picked)
    pages = -(-len(cards) // PER_PAGE)
    slot = st.container()
    page = st.pagination(pages, key="page", bind="query-params") if pages > 1 else 1
    with slot:
        _grid(look, cards[(page - 1) * PER_PAGE : page * PER_PAGE], picked)
    if scarce:
        names = first_names([card.column for card in scarce], MOST_NAMED)
        title = say("board_page.scarce", columns=len(scarce), names=unmarked(names))
        with fields.details(title, "board-scarce") as drawn:
            if drawn:
                paragraph(say("board_page.scarce_means"))
                _grid(look, scarce, picked)
    show_pairs(table, found, look)
    show_matrix(table, found, look)
    show_full(found, look, picked)
    if predictable(look):
        where = {"table": table.name, "shapes": found.request_id}
        st.page_link(nav.page("train"), label=say("shapes_page.from_board"), query_params=where)
    board_state.counted_as(found.query)
    answers.receipt(found, "board")
    st.button(say("board_page.another"), key="board-another", on_click=_leave)


def _apart(cards: tuple[Card, ...], picked: Picked) -> tuple[tuple[Card, ...], tuple[Card, ...]]:
    """The cards to show at once, then those that show little. If all show little, all are shown at once."""
    telling = tuple(card for card in cards if picked.by or not card.scarce) or cards
    return telling, tuple(card for card in cards if card not in telling)


def _leave() -> None:
    nav.forget("look", *_GROUPS, "as", "page", "of")
    st.query_params["new"] = "1"


def _controls(found: dp.Answer, look: Look) -> Picked:
    """Draw the pickers of groups, and of shares or numbers. Returns what was picked; the address keeps it."""
    by, group = _group(look, "by", "group", look.cells)
    others = [name for name in look.cells if name != by]
    also, second = _group(look, "also", "second", others) if by and look.paired else ("", "")
    shares = st.query_params.get("as") != "people"
    turn = _turn((by, group, also, second))
    with st.container(horizontal=True, vertical_alignment="bottom", key="board-controls"):
        _selectbox("board_page.by", ["", *look.cells], by, "by", f"board-by-{turn}", "board_page.everyone", 240)
        if by:
            _pick_group(look, "group", by, group, turn)
        if by and others and look.paired:
            _selectbox("board_page.also", ["", *others], also, "also", f"board-also-{turn}-{by}", width=200)
        if also:
            _pick_group(look, "second", also, second, turn)
        words = {"shares": say("board_page.as.shares"), "people": say(f"board_page.as.{look.query.counted}")}
        change: dict[str, Any] = {"key": (key := f"board-as-{turn}"), "on_change": _chosen, "args": ("as", key)}
        now = "shares" if shares else "people"
        st.segmented_control(say("board_page.as"), words, default=now, format_func=words.__getitem__, **change)
        show_downloads(found, look)
    return Picked(by, group, shares, also, second)


def _turn(now: tuple[str, ...]) -> int:
    """A number in the keys of the fields. After a click on a bar it grows: the browser would keep showing the old
    fields. After a choice in a field it stays."""
    seen, clicks, chosen = st.session_state.get(_SEEN, (now, 0, False))
    turn = int(clicks) + int(seen != now and not chosen)
    st.session_state[_SEEN] = (now, turn, False)
    return turn


def _selectbox(
    label: str, options: list[str], now: str, name: str, key: str, none: str = "board_page.none", width: int = 320
) -> str:
    """Draw a picker of one column, or of `none`, and return the picked one or "". The address keeps it under `name`."""
    more: Any = {
        "on_change": _chosen,
        "args": (name, key),
        "format_func": lambda column: called(column) if column else say(none),
    }
    return str(st.selectbox(say(label), options, options.index(now), key=key, width=width, **more) or "")


def _group(look: Look, by: str, group: str, columns: list[str]) -> tuple[str, str]:
    """The column and the group in the address; the first group if the address names no group of this column, "" twice
    without a column."""
    name, label = st.query_params.get(by, ""), st.query_params.get(group, "")
    if name not in columns:
        return "", ""
    labels = look.query.cell_labels[look.place(name)]
    return name, label if label in labels else labels[0]


def _pick_group(look: Look, name: str, column: str, group: str, turn: int) -> None:
    labels, key = look.query.cell_labels[look.place(column)], f"board-{name}-{turn}-{column}"
    names = dict(zip(labels, look.query.cell_names(look.place(column)), strict=True))
    change: dict[str, Any] = {"on_change": _chosen, "args": (name, key)}
    st.selectbox(unmarked(called(column)), labels, labels.index(group), names.__getitem__, key, width=240, **change)


def _chosen(name: str, key: str) -> None:
    if not held(key):
        return
    now = st.session_state[key]
    st.session_state[_SEEN] = (*st.session_state[_SEEN][:2], True)
    if name in ("by", "also"):
        nav.forget(*_GROUPS[1 if name == "by" else 3 :])
    nav.forget(name)
    if now:
        st.query_params[name] = str(now)


def _leads_to(column: str, now: Picked, label: str) -> str:
    """The address that picks this bar's group, or everyone if this group is picked already."""
    kept = {name: value for name, value in st.query_params.items() if name not in _GROUPS}
    group = {} if (column, label) == (now.by, now.group) else {"by": column, "group": label}
    return f"board?{urlencode(kept | group)}"


def _whom(table: dp.Table, found: dp.Answer, look: Look, picked: Picked, cards: Sequence[Card]) -> None:
    """Say whom the pictures show, and which are estimates or were not bought."""
    notes = {card.note for card in cards}
    known = [card.column for card in cards if card.note == "" and card.column != picked.by]
    if "unbought" in notes and known:
        facts = {"column": picked.by, "group": _called(look, picked.by, picked.group)}
        paragraph(say("board_page.some_bought", **facts, others=known), "", role="status")
        _pairs(table, look, picked.by)
        return
    if "unbought" in notes:
        everyone = board_figures.cards(found, look, Picked())  # the most telling first
        others = [card.column for card in everyone if card.column != picked.by][:OFFERED]
        alone(table, look, picked, _called(look, picked.by, picked.group), others)
        return
    if not picked.by:
        words = say("board_page.showing_all" if look.paired else "board_page.showing_alone", columns=len(cards))
    else:
        words = say("board_page.showing", column=picked.by, group=_called(look, picked.by, picked.group))
        if picked.also:
            groups = {"column": picked.by, "group": _called(look, picked.by, picked.group), "also": picked.also}
            words = say("board_page.showing_two", **groups, second=_called(look, picked.also, picked.second))
    paragraph(words, role="status")
    if picked.also and "estimated" in notes:  # the three columns were not bought together
        tried = board_figures.tried(found, look, picked)
        paragraph(say("board_page.two_estimated") + (f" {held_back(tried)}" if tried is not None else ""), "warn")
    elif "estimated" in notes:
        warning = say("board_page.not_bought", column=picked.by)
        paragraph(warning + (f" {held_back(look.held_back)}" if look.held_back is not None else ""), "warn")
        _pairs(table, look, picked.by)


def _called(look: Look, column: str, group: str) -> str:
    place = look.place(column)
    return look.query.cell_names(place)[look.query.cell_labels[place].index(group)]


def _grid(look: Look, cards: Sequence[Card], picked: Picked) -> None:
    """Draw all cards as one element, because a browser takes long over many elements."""
    st.html(f'<div class="board-cards">{"".join(_drawn(look, card, picked) for card in cards)}</div>')


def _drawn(look: Look, card: Card, picked: Picked) -> str:
    place = look.columns.index(card.column)
    note = say(f"board_page.{card.note}") if card.note else ""
    kind = "estimated" if card.note in ("estimated", "large") else "muted"
    parts = [
        f'<h2 class="board">{escape(called(card.column))}</h2>',
        f'<p class="muted aside">{escape(card.aside if card.drawn else "")}</p>',
        f'<p class="aside {kind}">{escape(note)}</p>' if note else "",
    ]
    if card.drawn and card.shown:
        parts.append(_bars(look, card, picked))
    if card.drawn and card.below:
        parts.append(f'<p class="muted aside">{escape(card.below)}</p>')
    return f'<div class="st-key-card-board-{place}">{"".join(parts)}</div>'


def _bars(look: Look, card: Card, picked: Picked) -> str:
    place, shares = look.columns.index(card.column), picked.shares
    marked = picked.group if picked.by == card.column else ""
    shown = card.shown
    boxes = [bar.wide_drawn(shares, look) for bar in shown]
    ends = [bar.value if bar.high is None else bar.high for bar in shown] + [box[1] for box in boxes if box]
    drawn = []
    for bar, box in zip(shown, boxes, strict=True):
        colour = "spent" if bar.label == marked else "take" if bar.extra else "muted" if bar.faint else "left"
        figures = bar.value, bar.low, bar.high, bar.text, bar.range
        wide = f"{say('sample.column.all')}: {bar.wide_words}" if bar.wide else ""
        link = "" if card.note == "sets" else _leads_to(card.column, picked, bar.label)
        drawn.append(named_bars.NamedBar(bar.name, *figures, colour, bar.faint, box, wide, link))
    estimated = all(bar.low is None for bar in shown)
    return named_bars.sketch(drawn, (0.0, max(ends) or 1.0), estimated).html(alt(card), f"board-{place}")


def alt(card: Card) -> str:
    bars = "; ".join(
        f"{bar.name}: {bar.text}"
        + (f" ({bar.range})" if bar.range else "")
        + (f", {say('sample.column.all')}: {bar.wide_words}" if bar.wide else "")
        for bar in card.shown
    )
    return f"{card.column}: {bars}"


_STYLE = sheet("board/board")
