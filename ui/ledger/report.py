"""All answers of a budget as one HTML file to read and send: pictures, prices, receipts.

The file stands alone: its pictures are inline SVG, it holds no script, fetches nothing, and tells the browser so. The
file comes from the ledger and the declaration alone, so anybody who may see the answers may see it.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from html import escape
from itertools import islice
from typing import Any

import numpy as np

import dpengine as dp
from dpengine.asking.exports import act_words
from dpengine.core.exact import up
from dpengine.core.printed import chance, percent, percent_left, power_of_ten
from dpengine.core.types import Floats
from dpengine.mechanisms.card import AnswerKind
from dpengine.mechanisms.curves.density import Density
from dpengine.mechanisms.session.adaptive_session import AdaptiveSession
from dpengine.messages import say
from dpengine.messages.language import current
from dpengine.released import curves
from ui.ask import answer as answers
from ui.board import board_figures
from ui.parts import answer_notes
from ui.parts.history import when
from ui.pictures import many, svg
from ui.pictures.svg import _SIDE, WIDTH, Axis, _picture
from ui.several import session
from ui.shell import style
from ui.shell.state import workspace
from ui.words import prices
from ui.words.figures import cut, limits, pictured
from ui.words.markup import p, shortened
from ui.words.phrases import density_headline, density_unit
from ui.words.wording import axis, from_zero, headline, range_words, released_words

# --- a smooth curve in its band, or a map, as a picture that stands alone

_TALL, _TOP, _LEFT = 220, 24, 70
_CELLS = 25  # of a map, along each side


def density_svg(answer: dp.Answer) -> str:
    query = answer.query
    assert isinstance(query, Density)
    alt = f"{density_headline(query, answer.value)}. {range_words(answer)}"
    heights = curves.heights(query, answer.value) * curves.scale_of(query)[0]
    return _map(query, heights, alt) if len(query.columns) > 1 else _curve(query, heights, answer, alt)


def _curve(query: Density, heights: Floats, answer: dp.Answer, alt: str) -> str:
    [grid], factor = query.grids(), curves.scale_of(query)[0]
    ends = np.array([answer.interval[label] for label in query.labels()]) * factor
    across = Axis(float(grid[0]), float(grid[-1]), _SIDE + _LEFT, WIDTH - _SIDE, False)
    down = Axis(min(0.0, float(ends.min())), float(ends.max()), _TALL + _TOP, _TOP, False)

    def path(ys: Floats) -> list[str]:
        return [f"{across.place(float(x)):.1f} {down.place(float(y)):.1f}" for x, y in zip(grid, ys, strict=True)]

    band = f'<path class="band" d="M{"L".join(path(ends[:, 1]))}L{"L".join(reversed(path(ends[:, 0])))}Z"/>'
    line = f'<path class="smooth" d="M{"L".join(path(heights))}"/>'
    return _with_axes(band + line, shortened(density_unit(query), 90), query.columns[0], across, down, alt)


def _map(query: Density, heights: Floats, alt: str) -> str:
    """A map as SVG: a grid of cells, darker where the map is higher."""
    first, second = query.grids()
    places = np.unique(np.linspace(0, query.points - 1, min(_CELLS, query.points)).astype(int))
    across = Axis(float(first[0]), float(first[-1]), _SIDE + _LEFT, WIDTH - _SIDE, False)
    down = Axis(float(second[0]), float(second[-1]), _TALL + _TOP, _TOP, False)
    wide, tall = (across.right - across.left) / len(places), _TALL / len(places)
    most = max(float(heights.max()), 1e-12)
    cells = [
        f'<rect class="cell" x="{across.left + column * wide:.1f}" y="{_TOP + _TALL - (row + 1) * tall:.1f}" '
        f'width="{wide:.1f}" height="{tall:.1f}" opacity="{max(float(heights[x, y]) / most, 0):.2f}"/>'
        for column, x in enumerate(places)
        for row, y in enumerate(places)
    ]
    return _with_axes("".join(cells), shortened(query.columns[1], 40), query.columns[0], across, down, alt)


def _with_axes(inner: str, title: str, below: str, across: Axis, down: Axis, alt: str) -> str:
    """An SVG picture with both axes, its title above, and `below` as the name of the axis across."""
    drawn = f'{inner}<text x="0" y="14">{escape(title)}</text>{down.labels(_SIDE + _LEFT - 8)}'
    return _picture(drawn + across.drawn(_TALL + _TOP + 4, below), _TALL + _TOP + 50, alt)


MOST_ANSWERS = 500
_SHOWN = 10**4


_SYMBOL, NO_BREAK = re.compile(r"([εδρ]) = "), "\\1\u00a0=\u00a0"  # a symbol and its value stay on one line


def html(table: dp.Table, head: tuple[int, str], at: str) -> str:
    """The account of a table as one page to print. `head`: the chain's last row at the time `at`."""
    meter = table.meter()
    released, find = table.answers(MOST_ANSWERS), workspace().ledger.find
    title = say("report.title", table=table.name)
    sections = []
    for number, answer in enumerate(released, 1):
        share, odds = prices.took(table, find(answer.request_id)), answers.odds_words(answer, table.budget.rule)
        sections.append(_section(number, answer, share, odds))
    body = [
        f"<header><h1>{escape(title)}</h1>",
        p(say("report.lead", at=when(at), answers=len(released)), "muted"),
        f"</header>{_terms(table, meter, len(released))}",
        *sections,
        _acts(table),
        _checking(head),
    ]
    policy = "default-src 'none'; style-src 'unsafe-inline'"
    return (
        f'<!doctype html><html lang="{current()}"><head><meta charset="utf-8"><title>{escape(title)}</title>'
        f'<meta http-equiv="Content-Security-Policy" content="{policy}">'
        f'<meta name="viewport" content="width=device-width, initial-scale=1"><style>{_style()}</style></head>'
        f"<body><main>{_SYMBOL.sub(NO_BREAK, ''.join(body))}</main></body></html>"
    )


def _terms(table: dp.Table, meter: dp.Meter, answers: int) -> str:
    """HTML: whom the allowance protects, how much of it is gone, and the same in numbers."""
    facts = {"epsilon": up(meter.spent_epsilon, _SHOWN), "delta": power_of_ten(meter.delta_now)}
    sentence = say("ledger.stop_reading", share=percent(meter.used), **facts)
    left = say("meter.label", left=percent_left(1 - meter.used))
    terms = say("meter.terms", epsilon=meter.epsilon, delta=power_of_ten(meter.delta))
    unit = table.facts.unit
    code = "report.unit.rows" if unit.id_column is None else "report.unit.column"
    who = say(code, column=unit.id_column, most=unit.at_most)
    parts = [
        f"<section><h2>{escape(say('report.allowance'))}</h2>",
        f'<div class="meter" role="img" aria-label="{escape(left)}">'
        f'<span style="width:{float(meter.used) * 100:.3f}%"></span></div>',
        p(left + ".", "left"),
        p(say(f"report.relation.{table.facts.relation}") + " " + who),
        p(sentence),
        p(say("report.terms", terms=terms), "muted"),
    ]
    sharing = table.sharing()
    if len(sharing) > 1:
        parts.append(p(say("report.shared", tables=sharing), "muted"))
    if table.practice:
        parts.append(p(say("report.practice"), "muted"))
    if meter.charges > MOST_ANSWERS:
        parts.append(p(say("report.newest", charges=meter.charges, newest=MOST_ANSWERS), "muted"))
    elif meter.charges > answers:
        parts.append(p(say("report.without", charges=meter.charges, without=meter.charges - answers), "muted"))
    return "".join(parts) + "</section>"


def _section(number: int, answer: dp.Answer, share: str, odds: str = "") -> str:
    receipt = answer.receipt
    if answer.query.card.answer == "session":
        return _session(number, answer, share)
    figures = ""
    if answer.query.answer_kind == "file":
        figures = p(say("answer.file_full", sha=answer.value["sha256"]), "muted")
    elif isinstance(answer.value, dict) and answer.query.answer_kind not in ("label", "table", "density"):
        shown = " open" if answer.interval is None else ""
        many_of, rows = len(answer.value), answers.bars_table(answer, islice(answer.value, many.PAGE))
        rows += p(say("report.rest", shown=many.PAGE, of=many_of), "muted") if many_of > many.PAGE else ""
        figures = f"<details{shown}><summary>{escape(say('answer.figures'))}</summary>{rows}</details>"
    caveats = "".join(p(text, "muted") for text in answer.query.card.caveat_texts)
    return (
        f"<section>{answers.card_words(answer, f'{number}. ')}{picture(answer)}{figures}"
        f"{p(say('report.price', share=share, at=when(answer.at)), 'muted')}"
        f"<details><summary>{escape(say('report.details'))}</summary>{caveats}"
        f"{p(say('receipt.theorem', theorem=answer.query.theorem), 'muted')}"
        f"{p(odds, 'muted')}</details>"
        f"<p class='receipt'>{escape(say('report.receipt'))} <code>{escape(receipt['charge']['hash'])}</code></p>"
        "</section>"
    )


def _session(number: int, answer: dp.Answer, share: str) -> str:
    steps, session = workspace().ledger.steps(answer.request_id), answer.query
    assert isinstance(session, AdaptiveSession)
    ended = workspace().ledger.progress(answer.request_id)[1]
    done = [(step, step.outcome) for step in steps if step.outcome is not None and step.outcome.kind == "part"]
    html = "".join(_step(session.again(step.claim), **outcome.body) for step, outcome in done)
    asked = say("session.in_short_ended" if ended else "session.in_short", asked=len(steps), questions=answer.value)
    together = say("report.session_ranges", questions=session.questions, chance=chance(session.beta)) if html else ""
    return (
        f"<section><p class='question'>{number}. "
        f"{escape(say('answer.of', sentence=answer.sentence, table=answer.receipt['table']))}</p>{p(asked)}"
        f"{answer_notes.cut_note(session)}<ol>{html}</ol>{p(together)}"
        f"{p(say('report.price', share=share, at=when(answer.at)), 'muted')}"
        f"<p class='receipt'>{escape(say('report.receipt'))} <code>{answer.receipt['charge']['hash']}</code></p>"
        "</section>"
    )


def _step(query: AdaptiveSession, value: Any, interval: Any = None, **_: Any) -> str:
    """HTML: one question of a session and its answer, with unit and range."""
    ends = None if interval is None else tuple(interval)
    number, ranges = session.value_words(query, value, ends), session.ranges_words(query, value, ends)
    return (
        f"<li>{escape(query.sentence())}: <b>{escape(number)}</b>. {escape(ranges)}{answer_notes.cut_note(query)}</li>"
    )


def picture(answer: dp.Answer) -> str:
    """The picture of an answer as HTML, like the one on the answer's page: bars, ranges or a point; empty for a name
    alone."""
    title = axis(answer.query)
    if answer.query.answer_kind in _PICTURES:
        return _PICTURES[answer.query.answer_kind](answer)
    if isinstance(answer.value, dict) and answer.interval is None:
        return ""  # the list shows the two ends
    if answer_notes.says_nothing(answer):
        return ""
    if answer.query.own_scales:
        return answers.strips_html(answer)
    legend = p(words, "muted") if (words := answers.beyond_legend(answer)) else ""
    if isinstance(answer.value, dict):
        apart, none = many.split_maybe_zero(answer)
        note = p(many.none_words(answer, none), "muted") if none else ""
        if not apart:
            return note
        given = {label: answer.value[label] for label in apart}
        values, ranges = pictured(answer.query, given, answer.interval)
        largest = from_zero(answer.query)
        labels = many.drawn(values, largest)
        values_of, ranges_of = ({label: numbers[label] for label in labels} for numbers in (values, ranges))
        names, wider = answer.query.shown(), answers.beyond_drawn(answer)
        behind = {names.get(label, label): wider[label] for label in apart if label in wider}
        faint = answers.faint_names(answer)
        drawn = svg.rows(values_of, ranges_of, title, answers.bars_alt(answer), largest, faint, behind)
        return drawn + legend + p(many.words(len(labels), len(values), largest), "muted") + note
    alt = f"{headline(answer)}. {range_words(answer)}"
    value, interval = cut(answer.query, answer.value, answer.interval)
    return svg.point(value, interval, title, alt, limits(answer.query), answers.beyond_drawn(answer).get("")) + legend


_PICTURES: dict[AnswerKind, Callable[[dp.Answer], str]] = {
    "label": lambda answer: p(released_words(answer), "muted"),
    "declarations": answers.found_html,
    "density": density_svg,
    "board": board_figures.standing,
    "curve": answers.curve_standing,
    "column": answers.curve_standing,
}


def _acts(table: dp.Table) -> str:
    acts = [] if table.practice else list(reversed(table.acts()))
    if not acts:
        return ""
    html = "".join(f"<li>{escape(when(act.at))} {escape(act_words(act))}</li>" for act in acts)
    return f"<section><h2>{escape(say('report.acts'))}</h2><ul>{html}</ul></section>"


def _checking(head: tuple[int, str]) -> str:
    row, hashed = head
    return (
        f"<section><h2>{escape(say('report.check'))}</h2>{p(say('report.check_how'))}"
        f"<pre>{escape(say('report.check_command'))}</pre>"
        f"{p(say('ledger.head', row=row), 'muted')}<pre>{escape(hashed)}</pre>"
        f"{p(say('report.check_why'), 'muted')}</section>"
    )


def _style() -> str:
    dark = f"@media (prefers-color-scheme: dark) {{ :root {{ {style.DARK.variables()} }} }}"
    light = f":root {{ {style.LIGHT.variables()} }}"
    return f"{light} {dark} @media print {{ {light} }} {style.rules('ledger/report')}"
