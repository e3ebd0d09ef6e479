"""The audit page: two made-up tables, a question run on both, and the same question broken on purpose."""

from __future__ import annotations

import json
import math
import re
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from fractions import Fraction
from functools import lru_cache
from html import escape, unescape
from typing import Any

import streamlit as st

import dpengine as dp
from demos.neighbours import ANA, EXAMPLES, SCHEMA, UNITS, Example, Table, settings
from demos.twins import twins, watched
from demos.views import Claim, View
from demos.watching import BulkCoins, Watched, claimed
from dpengine.audit.columns import ColumnAudit, audited_column
from dpengine.audit.empirical import Evidence, lower_bound
from dpengine.core.printed import percent, power_of_ten
from dpengine.declared.facts import named_columns
from dpengine.declared.unit import RELATIONS
from dpengine.mechanisms.publish.of_rows import OfRows, way_key
from dpengine.messages import called, of_practice, plain, say
from dpengine.messages.numbers import local
from ui.parts import exports, fields
from ui.pictures import charts
from ui.pictures.sketch import Sketch
from ui.shell import frame, nav
from ui.shell.frame import hint, paragraph, section_head
from ui.shell.language import address
from ui.shell.style import palette, sheet
from ui.words import gloss

# --- the choices on the audit page, kept in the address, and the draws, kept in the session
#
# Everything is about two made-up tables: all of it may be shown, kept, drawn again and shared by all visitors.

STATE, DRAWN = "audit", "audit-drawn"
CARE = ("0.1", "0.2", "0.5", "1", "1.5", "2", "3")
CHOICES: dict[str, tuple[str, ...]] = {"q": tuple(EXAMPLES), "relation": RELATIONS, "unit": tuple(UNITS), "e": CARE}
USUAL = {"q": "count", "relation": "replace", "unit": "one", "e": "1", "twin": ""}
FIRST, MORE, MOST = 10_000, 20_000, 200_000  # draws of each table
SECONDS = 0.7  # of drawing when a question opens, and again for its twin
LONGER = 2.0  # when more draws are wanted
FAILURE = 1e-6
_BATCH = 250
_MOST_KEPT, _MOST_SHARED = 24, 400  # questions
_first: dict[tuple[Example, str], tuple[list[int], list[int]]] = {}  # the first draws of a question, for all visitors
CLUB = "club"  # the made-up tables are shown in the reader's language, as practice tables are


@dataclass(frozen=True)
class Prepared:
    """A question or its broken twin before any draw: its values on both tables, how its answers look to an observer,
    the stated loss, and the exact loss (None without a law)."""

    subject: Watched
    values: tuple[Any, Any]
    view: View
    claim: Claim
    loss: float | None  # exact, on these two tables


@lru_cache(maxsize=256)
def prepared(example: Example, twin: str) -> Prepared:
    subject, claim = watched(example, twin), claimed(example.query)
    one, other = (subject.value(rows) for rows in example.tables)
    view = subject.view(one, other)
    return Prepared(subject, (one, other), view, claim, view.loss(claim.delta))


@dataclass
class Drawn:
    """The draws so far: for each table, the cell of each draw."""

    wanted: int = 0
    seconds: float = SECONDS  # for the next draws
    cells: tuple[list[int], list[int]] = field(default_factory=lambda: ([], []))
    found: tuple[int, Evidence] | None = None  # the number of draws, and their evidence

    @property
    def many(self) -> int:
        return len(self.cells[1])

    def share(self, side: int, cells: tuple[int, ...]) -> float:
        return sum(cell in cells for cell in self.cells[side]) / max(self.many, 1)

    def shares(self, side: int, cells: int) -> list[float]:
        counts = [0] * cells
        for cell in self.cells[side]:
            counts[cell] += 1
        return [count / max(self.many, 1) for count in counts]


def drawn(example: Example, twin: str) -> Drawn:
    kept: dict[tuple[Example, str], Drawn] = st.session_state.setdefault(DRAWN, {})
    key = (example, twin)
    if key not in kept:
        while len(kept) >= _MOST_KEPT:
            kept.pop(next(iter(kept)))
        kept[key] = Drawn(FIRST, SECONDS)
        if key in _first:  # somebody waited for them already
            one, other = _first[key]
            kept[key] = Drawn(len(other), SECONDS, (list(one), list(other)))
    return kept[key]


def draw_more(ready: Prepared, kept: Drawn, report: Callable[[float], object]) -> None:
    """Draw until the wanted number or the time limit is reached. Draws from before an interruption stay."""
    coins, start, before = BulkCoins(), time.monotonic(), kept.many
    while kept.many < kept.wanted and time.monotonic() - start < kept.seconds:
        batch = min(_BATCH, kept.wanted - kept.many)
        both = [[ready.view.place(ready.subject.draw(value, coins)) for _ in range(batch)] for value in ready.values]
        for cells, more in zip(kept.cells, both, strict=True):
            cells += more
        report((kept.many - before) / (kept.wanted - before))
    kept.wanted = kept.many


def wish(kept: Drawn) -> None:
    """Note that more draws are wanted; the next run of the page makes them."""
    kept.wanted, kept.seconds = min(kept.many + MORE, MOST), LONGER


def evidence(ready: Prepared, kept: Drawn) -> Evidence:
    """What the draws prove. Answers are ordered by their evidence, so that no event family misses the best one."""
    if kept.found is None or kept.found[0] != kept.many:
        ranks = ready.view.ranks()
        one, other = ([ranks[cell] for cell in cells] for cells in kept.cells)
        kept.found = (kept.many, lower_bound(one, other, ready.claim.delta, FAILURE))
    return kept.found[1]


def state() -> dict[str, str]:
    """The settings: from the URL on arrival, else as last left, else the defaults."""
    arriving = {name: st.query_params[name] for name in USUAL if name in st.query_params}
    kept = st.session_state.get(STATE)
    if kept is None or (arriving and arriving != kept["url"]):
        turn = kept["turn"] + 1 if kept else 0  # new widgets, because a browser keeps old widget values
        kept = {"url": arriving, "given": clean(arriving), "turn": turn}
        st.session_state[STATE] = kept
    return dict(kept["given"])


def clean(arriving: dict[str, str]) -> dict[str, str]:
    """The settings in an address, with defaults in place of impossible values; nothing in a URL is trusted."""
    given = fitted(USUAL | {name: text for name, text in arriving.items() if text in CHOICES.get(name, ())})
    return given | {"twin": twin_of(given, arriving.get("twin", ""))}


def fitted(given: dict[str, str]) -> dict[str, str]:
    """The settings, with the default tables if the question does not allow the chosen ones."""
    fits = (given["relation"], given["unit"]) in settings(given["q"])
    return given if fits else given | {name: USUAL[name] for name in ("relation", "unit")}


def twin_of(given: dict[str, str], wished: str) -> str:
    """The chosen twin if this question has that twin, else the question's first twin."""
    offered = twins(example_of(given))
    return wished if wished in offered else next(iter(offered))


def example_of(given: dict[str, str]) -> Example:
    return Example(given["q"], given["relation"], given["unit"], given["e"])  # type: ignore[arg-type]


def widget(name: str) -> str:
    return f"audit-{name}-{st.session_state[STATE]['turn']}"


def remember(given: dict[str, str]) -> None:
    """Write the settings to the address, without defaults."""
    usual = USUAL | {"twin": twin_of(given, "")}
    kept = st.session_state[STATE]
    kept["given"], kept["url"] = given, {name: text for name, text in given.items() if text != usual[name]}
    others = {name: st.query_params[name] for name in st.query_params if name not in USUAL}
    address(others | kept["url"])


# --- two pictures of a check: each answer's chance on two tables, and the promised, exact and proven loss

FEW = 12  # up to this many cells are bars; more are lines


@dataclass(frozen=True)
class Side:
    """One table: its name, the exact chances (None without a law), and the shares of the draws."""

    name: str
    exact: list[float] | None
    drawn: list[float]


def both(
    labels: list[str],
    one: Side,
    other: Side,
    times: float,
    delta: float,
    worst: tuple[int, ...],
    title: str,
    alt: str,
    key: str,
) -> None:
    """Draw the chance of each answer on both tables. A band shows where the first table's chances may lie, a shade
    where privacy is spent."""
    colours, few = palette(), len(labels) <= FEW
    figure = Sketch(330)
    places = list(range(len(labels)))
    for at in worst:
        shade = {"x0": at - 0.5, "x1": at + 0.5, "yref": "paper", "y0": 0, "y1": 1, "line": {"width": 0}}
        figure.add_shape(type="rect", fillcolor=colours.take_soft, opacity=0.55, layer="below", **shade)
    if other.exact is not None:
        low = [max(0.0, (q - delta) / times) for q in other.exact]
        high = [min(1.0, times * q + delta) for q in other.exact]
        _band(figure, places, low, high, few)
    for side, colour, away in ((one, colours.left, -0.2), (other, colours.spent, 0.2)):
        look: Any = {"x": [at + (away if few else 0) for at in places]}
        name = escape(side.name)
        if few:  # without a law, the draws are all there is
            marker, heights = {"color": colour, "opacity": 0.85}, side.exact or side.drawn
            figure.add_bar(y=heights, width=0.36, marker=marker, name=name, **look)
        else:
            line = {"color": colour, "width": 2.5, "shape": "hvh"}
            figure.add_scatter(y=side.exact, mode="lines", line=line, name=name, **look)
        if side.exact is None:
            continue
        look |= {"name": escape(say("check.drawn")), "showlegend": side is one}
        dot = {"size": 9 if few else 6, "color": colours.card, "line": {"width": 2, "color": colour}}
        tips = [f"{look['name']}: {percent(height)}" for height in side.drawn]
        figure.add_scatter(y=side.drawn, mode="markers", marker=dot, tips=tips, **look)
    step = max(1, math.ceil(len(labels) / (FEW if few else 8)))
    shown = places[::step] if few else places[1:-1:step]
    ticks = {"tickvals": shown, "ticktext": [_wrapped(labels[at]) for at in shown]}
    figure.update_xaxes(**ticks, range=[-0.6, len(labels) - 0.4], showline=True, title={"text": escape(title)})
    top = max(one.drawn + other.drawn + (one.exact or []) + (other.exact or [])) * 1.12
    grain = next(step for step in (0.01, 0.02, 0.05, 0.1, 0.2) if top <= 6 * step or step == 0.2)
    heights = [grain * tick for tick in range(int(top / grain) + 1) if grain * tick < 1.01]
    ticks = {"tickvals": heights, "ticktext": [percent(height) for height in heights]}
    chance = {"text": escape(say("check.axis.chance"))}
    figure.update_yaxes(**ticks, range=[0, top], title=chance, showgrid=True, gridcolor=colours.line)
    figure.update_layout(showlegend=True, tell=(lambda at: labels[round(at)], percent))
    charts.show(figure, alt, key)


def _band(figure: Sketch, places: list[int], low: list[float], high: list[float], few: bool) -> None:
    """Add the allowed band to a figure: boxes behind bars, a strip behind lines."""
    colours = palette()
    look: Any = {"name": escape(say("check.band"))}
    if few:
        heights = [b - a for a, b in zip(low, high, strict=True)]
        marker = {"color": colours.left_soft, "line": {"width": 1, "color": colours.left}}
        figure.add_bar(x=[at - 0.2 for at in places], y=heights, base=low, width=0.46, marker=marker, **look)
        return
    xs = [edge for at in places for edge in (at - 0.5, at + 0.5)]
    tops, bottoms = ([height for height in side for _ in range(2)] for side in (high, low))
    look |= {"mode": "lines", "line": {"width": 0}, "fill": "toself", "fillcolor": colours.left_soft}
    figure.add_scatter(x=xs + xs[::-1], y=tops + bottoms[::-1], **look)


def _wrapped(label: str) -> str:
    """A long label in two lines."""
    words = label.split(" ")
    if len(label) <= 12 or len(words) < 2:
        return escape(label)
    middle = (len(words) + 1) // 2
    return f"{escape(' '.join(words[:middle]))}<br>{escape(' '.join(words[middle:]))}"


def gauge_html(claim: float, exact: float | None, proven: float, alt: str) -> str:
    """HTML: a line along which the privacy loss grows, with the stated loss as a limit, a tick at the exact loss, and a
    bar up to the proven loss."""
    shown = [claim * 1.35, proven * 1.12, *([] if exact is None or math.isinf(exact) else [exact * 1.08])]
    end = max(shown)

    def at(loss: float) -> str:
        return f"{min(loss / end, 1) * 100:.2f}%"

    kind = "over" if proven > claim else "fine"
    mark = "" if exact is None else f'<i class="exact" style="left:{at(exact)}"></i>'
    return (
        f'<div class="gauge" role="img" aria-label="{escape(alt)}">'
        f'<span class="promised" style="width:{at(claim)}"></span>'
        f'<span class="proven {kind}" style="width:{at(proven)}"></span>{mark}'
        f'<i class="limit" style="left:{at(claim)}"></i></div>'
    )


# --- the sentences of a check: lower bounds are rounded down, claims are rounded up

TABLES = ("A", "B")


def two(value: float | Fraction, up: bool | None = None) -> str:
    """A number as text with two decimals, to the nearest or rounded to one side. A float's rounding error moves no
    digit."""
    scaled = float(value) * 100
    side = None if abs(scaled - round(scaled)) < 1e-6 else up
    return local(f"{_whole(scaled, side) / 100:,.2f}")


def _whole(value: float, up: bool | None) -> int:
    return round(value) if up is None else math.ceil(value) if up else math.floor(value)


def times(ratio: float, up: bool | None = None) -> str:
    """A ratio as text, in at most three digits; from a million on only that it is over a million."""
    if ratio >= 1e6:
        return say("check.million")
    if ratio < 10:
        return two(ratio, up)
    grain = 10 ** max(0, math.floor(math.log10(ratio)) - 1)
    return plain(_whole(ratio / grain, up) * grain)


def labels(view: View) -> list[str]:
    """The names of the cells along the axis."""
    if view.kind == "digits":
        return [say(f"check.digits.{cell.label}") for cell in view.cells]
    return [_level(cell.evidence) if view.kind == "evidence" else called(cell.label) for cell in view.cells]


def _level(weight: float) -> str:
    table = TABLES[0] if weight > 0 else TABLES[1]
    if math.isinf(weight):
        return say("check.level.sure", table=table)
    if abs(weight) < 0.005:
        return say("check.level.neither")
    odds = math.exp(abs(weight))
    text = f"{odds:.2f}" if odds < 2 else f"{odds:.1f}" if odds < 20 else f"{odds:,.0f}"
    return say("check.level.odds", table=table, odds=local(text))


def found_words(ready: Prepared, kept: Drawn) -> str:
    """One sentence (HTML): where the privacy is spent."""
    view, claim = ready.view, ready.claim
    first, cells = view.worst(claim)
    likely, unlikely = (0, 1) if first else (1, 0)
    facts = {
        "event": escape(_event(view, cells, TABLES[likely])),
        "likely": TABLES[likely],
        "unlikely": TABLES[unlikely],
        "most": times(claim.times, up=True),
        "but": escape(say("check.but", delta=percent(claim.delta))) if claim.delta else "",
    }
    if not view.known:
        often, seldom = kept.share(likely, cells), kept.share(unlikely, cells)
        rare = percent(seldom) if seldom else say("check.never")
        return say("check.found_drawn", often=percent(often), seldom=rare, **facts)
    pairs = [(view.cells[at].one or 0.0, view.cells[at].other or 0.0) for at in cells]
    often, seldom = (math.fsum(pair[side] for pair in pairs) for side in (likely, unlikely))
    if not seldom:
        return say("check.found_sure", often=percent(often), **facts)
    return say("check.found", often=percent(often), seldom=percent(seldom), times=times(often / seldom), **facts)


def _event(view: View, cells: tuple[int, ...], table: str) -> str:
    chosen = [view.cells[at] for at in cells]
    if view.kind == "digits":
        return say("check.event.digits", table=table)
    if view.kind == "names":
        names = say("check.event.or").join(say("words.quoted", text=cell.label) for cell in chosen)
        return say("check.event.names", names=names)
    if view.kind == "evidence":
        sure = all(math.isinf(cell.evidence) for cell in chosen)
        return say("check.event.sure" if sure else "check.event.evidence", table=table)
    low, high = chosen[0].first, chosen[-1].last
    facts = {"what": say(f"check.what.{view.kind}", bar=view.bar), "low": _signed(low or 0), "high": _signed(high or 0)}
    return say(f"check.event.{'from' if high is None else 'to' if low is None else 'between'}", **facts)


def axis(view: View) -> str:
    return say(f"check.axis.{view.kind}", bar=view.bar)


def _signed(number: int) -> str:
    return plain(number).replace("-", "−")


def bare(html: str) -> str:
    return unescape(re.sub(r"<[^>]+>", "", html))


def gauge(ready: Prepared, kept: Drawn) -> list[tuple[str, str]]:
    """The lines under the gauge (HTML): the stated, the exact and the proven loss, each with its CSS kind."""
    claim, proof = ready.claim, float(evidence(ready, kept).epsilon)
    delta = say("check.gauge.delta", delta=power_of_ten(claim.delta)) if claim.delta else ""
    facts = {"times": times(claim.times, up=True), "epsilon": two(claim.epsilon, up=True), "delta": delta}
    lines = [("promised", say("check.gauge.promised", **facts))]
    if ready.loss is not None and math.isinf(ready.loss):
        lines.append(("exact", say("check.gauge.exact_none")))
    elif ready.loss is not None:
        lines.append(("exact", say("check.gauge.exact", times=times(math.exp(ready.loss)), epsilon=two(ready.loss))))
    numbers = {"times": times(math.exp(proof), up=False), "epsilon": two(proof, up=False), "draws": 2 * kept.many}
    line = say("check.gauge.proven" if proof >= 0.01 else "check.gauge.nothing", **numbers)
    lines.append(("over" if proof > claim.epsilon else "fine", line))
    return lines


def verdict_words(ready: Prepared, kept: Drawn, twin: str) -> str:
    """A sentence: what the draws show. They never prove that the stated loss is kept."""
    over = evidence(ready, kept).epsilon > ready.claim.epsilon
    if not twin:
        return say("check.verdict.alarm" if over else "check.verdict.built")
    code = "caught" if over else "exact" if ready.loss is not None else "open"
    return f"{say(f'check.verdict.{code}')} {say(f'check.gave.{twin}')}"


def details(example: Example, ready: Prepared, twin: str) -> list[str]:
    query, claim = ready.subject.query, ready.claim
    relation = say(f"check.details.relation.{example.relation}")
    lines = [
        say("check.details.asked", sentence=query.sentence()),
        say("check.details.theorem", theorem=query.theorem),
        say("check.details.claim", relation=relation),
    ]
    if twin:
        lines.append(say("check.details.twin"))
    if ready.view.kind == "evidence":
        lines.append(say("check.details.evidence"))
    if query.noise == "gaussian":
        lines.append(say("check.details.gaussian", delta=power_of_ten(claim.delta)))
    return [*lines, say("check.details.draws")]


# --- a declared column of the person's own table, audited from its declaration: the exact loss of publishing it

DELTAS = ("0", "1e-6", "0.01", "0.1")


def show_own_column(table: dp.Table, epsilon: str) -> None:
    section_head(say("check.own"), say("check.own_lead"))
    frame.pick_table(table, "check", here=True)
    left, right = st.columns([1, 1])
    with left:
        names = list(table.schema.columns)
        name = str(
            st.selectbox(say("check.own_column"), names, format_func=called, key=f"check-own-{table.name}", width=320)
        )
    with right:
        words: Any = {"format_func": lambda delta: power_of_ten(Fraction(delta))}
        delta = fields.choose("check.own_delta", DELTAS, DELTAS[0], "check-own-delta", **words)
    try:
        query = table.query(way_key(table.schema, [name]), columns=[name], epsilon=epsilon, delta=delta, noise="")
    except dp.AllowanceError as refusal:
        hint(str(refusal))
        return
    assert isinstance(query, OfRows)
    audited = audited_column(query, name)
    st.html(_column_html(audited, name, epsilon, delta))
    where = {"table": table.name, "columns": json.dumps([name], ensure_ascii=False), "epsilon": epsilon}
    st.page_link(nav.page("publish"), label=say("check.own_publish"), query_params=where)


def _column_html(audited: ColumnAudit, name: str, epsilon: str, delta: str) -> str:
    """HTML: the exact loss of a declared column over all one-row tables, and why these tables decide."""
    infinite = audited.epsilon.is_infinite()
    figures = {
        "column": name,
        "epsilon": local(epsilon),
        "exact": "∞" if infinite else two(float(audited.epsilon), up=True),
        "times": "∞" if infinite else times(math.exp(float(audited.epsilon)), up=True),
        "delta": power_of_ten(Fraction(delta)),
        "lost": power_of_ten(Fraction(audited.delta)),
    }
    code = "check.own_exact_delta" if audited.claimed_delta else "check.own_exact"
    verdict = say("check.own_kept" if audited.kept else "check.own_broken")
    listed = {"cells": _many(audited.cells), "pairs": _many(audited.pairs), "kinds": audited.kinds}
    return (
        f'<p class="found" role="status">{escape(say(code, **figures))}</p>'
        f'<p class="{"muted" if audited.kept else "warn"}">{escape(verdict)}</p>'
        f'<p class="muted">{escape(say("check.own_why", **listed))}</p>'
    )


def _many(count: int) -> str:
    """A number as text: in full below 10¹², else as a power of ten."""
    if count < 10**12:
        return plain(count)
    return "10" + str(len(str(count)) - 1).translate(str.maketrans("0123456789", "⁰¹²³⁴⁵⁶⁷⁸⁹"))


def show(table: dp.Table) -> None:
    frame.replace_meter(say("check.meter"))
    title, lead = escape(say("check.title")), gloss.text(say("check.lead"))
    st.html(f'{_STYLE}<h1>{title}</h1><p class="lead">{lead}</p>')
    given = state()
    with of_practice(CLUB):
        with st.container(key="card-audit"):
            given = controls(given)
            example = example_of(given)
            st.html(tables_html(example))
        with st.container(key="card-audit-built"):
            section_head(say("check.built"))
            checked(example, "")
        with st.container(key="card-audit-broken"):
            section_head(say("check.broken"), say("check.broken_lead"))
            offered = {twin: say(f"check.twin.{twin}") for twin in twins(example)}
            key, now = widget("twin-" + "-".join(offered)), list(offered).index(given["twin"])
            twin = st.selectbox(say("check.field.twin"), list(offered), now, offered.__getitem__, key)
            given = given | {"twin": str(twin)}
            checked(example, given["twin"])
    with st.container(key="card-audit-own"):
        show_own_column(table, given["e"])
    remember(given)


def controls(given: dict[str, str]) -> dict[str, str]:
    """Draw the pickers of the question, of the two tables and of ε; return the settings."""
    left, right = st.columns([1, 1])
    questions = {key: say(f"card.{key}.noun") for key in CHOICES["q"]}
    label, now = say("check.field.question"), CHOICES["q"].index(given["q"])
    question = left.selectbox(label, CHOICES["q"], now, questions.__getitem__, widget("q"))
    cares = {option: say("check.care", times=times(math.exp(float(option))), epsilon=local(option)) for option in CARE}
    label, key = say("check.field.care"), widget("e")
    care = right.select_slider(label, CARE, given["e"], key=key, format_func=cares.__getitem__)
    given = fitted(given | {"q": str(question), "e": str(care)})
    pairs = settings(given["q"])
    for place, (column, name) in enumerate(zip(st.columns([1, 1]), ("relation", "unit"), strict=True)):
        offered = [choice for choice in CHOICES[name] if choice in {pair[place] for pair in pairs}]
        key = widget(name if len(offered) > 1 else f"{name}-only")
        with column:
            given |= {name: fields.choose(f"check.field.{name}", offered, given[name], key, f"check.{name}")}
    return given | {"twin": twin_of(given, given["twin"])}


def tables_html(example: Example) -> str:
    """HTML with both tables in full; they hold no real person."""
    columns = sorted(example.query.used() or set(named_columns(example.query.parameters())))
    one, other = example.tables
    drawn = "".join(
        _table_html(rows, columns, say(f"check.table.{letter}"), example.relation == "add_remove" and letter == "b")
        for letter, rows in (("a", one), ("b", other))
    )
    free = f"<b>{escape(say('check.only'))}</b> {escape(say('check.free'))}"
    asked = f"{escape(say('check.asked'))} <b>{escape(example.query.sentence())}</b>"
    return f'<p>{asked}</p><div class="pair">{drawn}</div><p class="muted">{free}</p>'


def _table_html(rows: Table, columns: list[str], title: str, absent: bool) -> str:
    head = "".join(f"<th scope='col'>{escape(name)}</th>" for name in [say("check.column.name"), *map(called, columns)])
    body = ""
    for row in rows:
        cells = "".join(f"<td>{escape(_cell(row, name))}</td>" for name in columns)
        mark = ' class="ana"' if row["name"] == ANA else ""
        body += f"<tr{mark}><th scope='row'>{escape(row['name'])}</th>{cells}</tr>"
    if absent:
        body += f"<tr class='ana gone'><td colspan='{len(columns) + 1}'>{escape(say('check.absent'))}</td></tr>"
    caption = f"<caption>{escape(title)}</caption>"
    return f"<div class='scroll' tabindex='0'><table class='plain'>{caption}<tr>{head}</tr>{body}</table></div>"


def _cell(row: Any, name: str) -> str:
    if name not in SCHEMA.columns:
        return called(str(row[name]))
    column, code = SCHEMA[name], row[name]
    if isinstance(column, dp.Category):
        return called(column.labels[code])
    if isinstance(column, dp.ItemSet):
        return ", ".join(called(column.labels[item]) for item in code) or "–"
    written = row["written"]
    return plain(written) if written == code else say("check.clipped", written=written, counted=code)


def checked(example: Example, twin: str) -> None:
    """Draw the answers from both tables, the exact chances, and what the draws prove."""
    ready, kept = prepared(example, twin), drawn(example, twin)
    top, key = st.container(), f"audit-{'twin' if twin else 'built'}"
    if kept.many < kept.wanted:
        bar = st.progress(0.0, say("check.drawing"))
        draw_more(ready, kept, lambda share: bar.progress(share, say("check.drawing")))
        bar.empty()
        if (example, twin) not in _first and len(_first) < _MOST_SHARED:
            _first[example, twin] = (list(kept.cells[0]), list(kept.cells[1]))
    words = found_words(ready, kept)
    with top:
        st.html(f'<p class="found" role="status">{words}</p>')
        _picture(example, ready, kept, words, key)
        st.html(_gauge(ready, kept, twin))
    with st.container(horizontal=True):
        if kept.many < MOST:
            st.button(say("check.more_draws"), key=f"{key}-more", on_click=wish, args=(kept,))
        else:
            paragraph(say("check.enough"))
    with fields.details(say("check.details"), f"{key}-details") as opened:
        if not opened:
            return
        lines = details(example, ready, twin)
        st.html("".join(f"<p>{gloss.text(line)}</p>" for line in lines))
        exports.offer(say("check.csv"), _csv(ready, kept), f"check-{example.key}.csv", f"{key}-csv")


def _picture(example: Example, ready: Prepared, kept: Drawn, words: str, key: str) -> None:
    view, claim, many = ready.view, ready.claim, len(ready.view.cells)
    first, second = [cell.one or 0.0 for cell in view.cells], [cell.other or 0.0 for cell in view.cells]
    one = Side(say("check.side.a"), first if view.known else None, kept.shares(0, many))
    other = Side(say(f"check.side.{example.relation}"), second if view.known else None, kept.shares(1, many))
    limit, alt = (claim.times, float(claim.delta)), say("check.alt.chart", found=bare(words))
    both(labels(view), one, other, *limit, view.worst(claim)[1], axis(view), alt, f"{key}-chart")
    few = many <= FEW
    read = say("check.read.drawn" if not view.known else "check.read.bars" if few else "check.read.lines")
    beyond = ready.loss is not None and ready.loss > claim.epsilon
    paragraph(read + (" " + say("check.read.beyond") if beyond else ""))


def _gauge(ready: Prepared, kept: Drawn, twin: str) -> str:
    claim, proven = ready.claim, evidence(ready, kept).epsilon
    figures = {"claim": two(claim.epsilon, up=True), "proven": two(proven, up=False)}
    alt = say("check.alt.gauge", **figures)
    lines = "".join(f'<li class="{kind}">{line}</li>' for kind, line in gauge(ready, kept))
    verdict = verdict_words(ready, kept, twin)
    kind = "warn" if twin or proven > claim.epsilon else "muted"
    return (
        f'{gauge_html(float(claim.epsilon), ready.loss, float(proven), alt)}<ul class="gauge-words">{lines}</ul>'
        f'<p class="{kind}">{escape(verdict)}</p>'
    )


def _csv(ready: Prepared, kept: Drawn) -> str:
    cells = ready.view.cells
    columns = [say(f"check.csv.{what}", table=table) for what in ("exact", "drawn") for table in TABLES]
    shares = [kept.shares(side, len(cells)) for side in (0, 1)]
    exact = [[cell.one for cell in cells], [cell.other for cell in cells]]
    return exports.as_csv([say("check.csv.answer"), *columns], zip(labels(ready.view), *exact, *shares, strict=True))


_STYLE = sheet("check/audit")
