"""An answer on a page: its sentence, its picture, its figures, its receipt, and the card that others can copy."""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import partial
from html import escape
from typing import Any

import streamlit as st

import dpengine as dp
from dpengine.accountant import filter
from dpengine.accountant.costs import cost
from dpengine.core.remembered import Lately
from dpengine.mechanisms.card import WHOLE, AnswerKind
from dpengine.messages import called, plain, say, written_day
from dpengine.messages.numbers import day, local
from dpengine.released.compare import shares
from dpengine.released.curves import rising
from dpengine.released.synthetic import FittedTable
from ui.ask import density
from ui.parts import answer_notes, exports, fields, history
from ui.pictures import charts, many, svg, zoom
from ui.shell import nav, scroll
from ui.shell.frame import paragraph
from ui.shell.language import IN_ADDRESS, in_address
from ui.shell.state import workspace
from ui.shell.style import sheet
from ui.words import gloss
from ui.words.figures import cut, figure, limits, pictured, printed_range, rounded
from ui.words.markup import paragraphs, unmarked
from ui.words.phrases import edges, not_kept
from ui.words.wording import (
    axis,
    beyond_printed,
    cut_rows,
    from_zero,
    headline,
    range_words,
    released_words,
    wider_words,
    with_measure,
)

_STYLE = sheet("ask/answer")


# A grid: figures by two columns, shaded by size.

MOST_DOWN, MOST_ACROSS = 60, 24
_STRONGEST = 35  # percent of colour, under which figures stay readable


@dataclass(frozen=True)
class Cell:
    figure: str
    range: str
    size: float  # from 0 to 1
    faint: bool = False  # it may be zero
    wider: str = ""  # the range for all such people


def grid_table(
    down: Sequence[str], across: Sequence[str], corner: str, cells: Mapping[tuple[str, str], Cell], caption: str
) -> str:
    """An HTML table with a row for each of `down` and a column for each of `across`. A cell shows its range to whoever
    points at it."""
    head = "".join(f'<th scope="col" class="number">{escape(name)}</th>' for name in across)
    rows = "".join(
        f'<tr><th scope="row">{escape(name)}</th>{"".join(_cell(cells[name, other]) for other in across)}</tr>'
        for name in down
    )
    return (
        f'<div class="scroll" tabindex="0" role="region" aria-label="{escape(caption)}">'
        f'<table class="plain grid"><caption class="sr">{escape(caption)}</caption>'
        f"<tr><th>{escape(corner)}</th>{head}</tr>{rows}</table></div>{_STYLE}"
    )


def _cell(cell: Cell) -> str:
    strong = round(_STRONGEST * min(max(cell.size, 0.0), 1.0))
    shade = f"background:color-mix(in srgb, var(--left) {strong}%, var(--card))"
    small = "".join(f"<small>{escape(ends)}</small>" for ends in (cell.range, cell.wider) if ends)
    kind = "number faint" if cell.faint else "number"
    return f'<td class="{kind}" style="{shade}" title="{escape(cell.range)}"><b>{escape(cell.figure)}</b>{small}</td>'


# A curve: its picture, a version that never falls, and a free download.

_ALT_POINTS = 5  # of a curve, named in its alternative text


def curve_standing(answer: dp.Answer) -> str:
    """The curve of an answer as a standalone SVG."""
    query = answer.query
    xs, heights, lows, highs = traced_curve(query, answer.value, answer.interval)
    titles = called(query.answer_column), upright(query)
    return svg.curve(xs, heights, lows, highs, titles, curve_alt(query, xs, heights, lows, highs))


Traced = tuple[list[Any], list[float], list[float], list[float]]


def traced_curve(query: dp.Query, value: dict[str, Any], interval: Any) -> Traced:
    """The x values, the heights, and the lower and upper ends of the band. The heights of a synthetic column run from 0
    to 100 %. If the number of rows is not public, the band of such a column is the one for the declared size."""
    column = query.facts.schema.ordered(query.answer_column)
    heights = [float(height) for height in value.values()]
    xs: list[Any] = [name if isinstance(column, dp.Date) else float(Fraction(name)) for name in value]
    if query.answer_kind != "column":
        points = [cut(query, height, interval[name], name) for name, height in value.items()]
        ends = [end for _, end in points]
        return xs, [float(y) for y, _ in points], [float(low) for low, _ in ends], [float(high) for _, high in ends]
    off, first, last = float(query.promise().amount), column.value(0), column.value(column.size - 1)
    if xs[0] != first:
        xs, heights = [first, *xs], [0.0, *heights]
    if xs[-1] != last:
        xs, heights = [*xs, last], [*heights, 100.0]
    return xs, heights, [max(y - off, 0.0) for y in heights], [min(y + off, 100.0) for y in heights]


def upright(query: dp.Query) -> str:
    if query.answer_kind == "column":
        return say("chart.share_below")
    return say(f"chart.{query.counted}_below")


def curve_alt(query: dp.Query, xs: list[Any], heights: list[float], lows: list[float], highs: list[float]) -> str:
    places = sorted({(len(xs) - 1) * step // (_ALT_POINTS - 1) for step in range(_ALT_POINTS)})
    names = [day(xs[p]) if isinstance(xs[p], str) else plain(xs[p]) for p in places]
    pairs = zip(names, [rounded(heights[p], lows[p], highs[p]) for p in places], strict=True)
    listed = "; ".join(say("curve.alt_at", value=name, figure=height) for name, height in pairs)
    return say("curve.alt", column=query.answer_column, figures=listed, range=say("curve.alt_band"))


# Several groups: bars, ranges or a grid, sorted and filtered as the reader likes. Only the view changes: the figures
# below and the CSV keep everything that was released.

_NAMED = 6  # hidden groups that are named


def show_groups(answer: dp.Answer, alt: str, key: str) -> None:
    query = answer.query
    if not _crossed(answer):
        alike = query.compared or bool(query.crossed())  # else the largest of them means nothing
        labels, none = _shown_labels(answer, key, alike and len(answer.value) > 2), many.split_maybe_zero(answer)[1]
        if none and (query.none_hoped or not st.toggle(say("many.none_shown"), key=f"none-{key}")):
            together = set(none)
            labels = [label for label in labels if label not in together]
        values = {label: answer.value[label] for label in labels}
        shown = (*pictured(query, values, answer.interval), axis(query), alt, f"chart-{key}")
        names, wider = query.shown(), beyond_drawn(answer)
        behind = {names.get(label, label): wider[label] for label in labels if label in wider}
        if values and from_zero(query):
            charts.bars(*shown, faint_names(answer), behind)
        elif values:
            charts.ranges(*shown, behind)
        if legend := beyond_legend(answer):
            paragraph(legend)
        if words := many.none_words(answer, none):
            paragraph(words, "muted none")
        return
    _grid(answer, key)


def beyond_drawn(answer: dp.Answer) -> dict[str, tuple[Any, Any]]:
    """By part, the range for the larger group on the axis of the answer: percentages of everybody become numbers of
    people, averages become sums. Empty where such ranges cannot be drawn on that axis."""
    found, kind, people = answer.population, answer.query.answer_kind, answer.query.facts.people
    if found is None or kind == "label" or found == answer.interval:
        return {}
    factor = 1.0
    if kind in ("count", "amount"):
        if people is None:
            return {}
        factor = people / 100 if kind == "count" else float(people)
    ranges = found if isinstance(found, dict) else {"": found}
    return {
        part: ends if isinstance(ends[0], str) else (ends[0] * factor, ends[1] * factor)
        for part, ends in ranges.items()
    }


def beyond_legend(answer: dp.Answer) -> str:
    """A sentence: what the two ranges in a picture stand for; empty if the picture has only one range."""
    if not beyond_drawn(answer) or answer.query.answer_kind == "board":  # the board's pictures bring theirs
        return ""
    bars = isinstance(answer.value, dict) and from_zero(answer.query)
    return say("sample.legend_bars", people=answer.query.facts.about) if bars else say("sample.legend")


def faint_names(answer: dp.Answer) -> set[str]:
    """The names of the groups that may be zero, in the reader's language."""
    ranges, names = answer.interval or {}, answer.query.shown()
    return {names.get(label, label) for label in answer.value if answer.query.maybe_none(ranges.get(label), label)}


def _crossed(answer: dp.Answer) -> bool:
    """Is the answer grouped by several columns, and small enough for a table?"""
    sizes = sorted((len(values) for _, values in answer.query.crossed()[:2]), reverse=True)
    return len(sizes) == 2 and bool(answer.interval) and sizes[0] <= MOST_DOWN and sizes[1] <= MOST_ACROSS


def _shown_labels(answer: dp.Answer, key: str, sortable: bool) -> list[str]:
    """The parts to draw, in order. Also draws a switch that sorts them, one that hides leftover parts, and a note on
    hidden parts."""
    query, labels = answer.query, list(answer.value)
    leftovers = set(query.leftovers())
    with st.container(horizontal=True):
        sort = sortable and st.toggle(say("group.largest"), key=f"largest-{key}")
        hide = bool(leftovers) and st.toggle(say("group.hide"), key=f"hide-{key}")
    if sort:  # groups that say nothing come last
        mute = {label: query.mute(answer.interval[label] if answer.interval else None, label) for label in labels}
        labels.sort(key=lambda label: (mute[label], -float(_number(answer.value[label]))))
    if not hide:
        return labels
    gone, names = [label for label in labels if label in leftovers], query.shown()
    note = say("group.hidden", names="; ".join(names.get(label, label) for label in gone))
    note = note if len(gone) <= _NAMED else say("group.hidden_many", many=len(gone))
    paragraph(note)
    return [label for label in labels if label not in leftovers]


def _number(value: Any) -> Any:
    """The number by which a value is sorted. A day becomes the number YYYYMMDD."""
    return value if not isinstance(value, str) else int(value.replace("-", ""))


def _grid(answer: dp.Answer, key: str) -> None:
    query, wanted = answer.query, set(_shown_labels(answer, key, sortable=False))
    columns = query.crossed()
    by_cell = dict(zip(query.cells()[1], query.labels(), strict=True))
    titles, names = [name for name, _ in columns], [values for _, values in columns]
    rest: tuple[str, ...] = ()
    if len(columns) > 2:
        seen = dict.fromkeys(cell[2] for cell, label in by_cell.items() if label in wanted)
        title = say("grid.third", column=titles[2])
        rest = (str(st.selectbox(title, list(seen), 0, names[2].__getitem__, f"third-{key}")),)
    values = [list(column) for column in names[:2]]
    long = 0 if len(values[0]) >= len(values[1]) else 1  # the longer list runs down

    def label(down: str, across: str) -> str:
        pair = (down, across) if long == 0 else (across, down)
        return by_cell[pair + rest]

    down, across = values[long], values[1 - long]
    words = {"counts": say("grid.counts")}
    for kind, title in (("down", titles[long]), ("across", titles[1 - long])):
        words[kind] = unmarked(say("grid.share", column=title))
    wanted_figures, at = say("grid.figures"), f"figures-{key}"
    choice = st.segmented_control(wanted_figures, list(words), default="counts", format_func=words.__getitem__, key=at)
    drawn: dict[tuple[str, str], Cell] = {}
    if choice in ("down", "across"):
        lines = [[(a, b) for b in across] for a in down]
        for line in lines if choice == "down" else map(list, zip(*lines, strict=True)):
            drawn |= dict(zip(line, _shares(answer, [label(*pair) for pair in line]), strict=True))
        most = max([cell.size for cell in drawn.values()] + [0.01])
        drawn = {pair: replace(cell, size=cell.size / most) for pair, cell in drawn.items()}
        lead = say("grid.share_lead", column=titles[long if choice == "down" else 1 - long])
    else:
        most = max([float(value) for value in answer.value.values()] + [1.0])
        drawn = {(a, b): _count(answer, label(a, b), most) for a in down for b in across}
        lead = say("grid.lead", sure=plain(100 * (1 - query.beta)))
        lead += " " + say("sample.grid") if answer.population is not None else ""
        lead += " " + say("answer.not_adding")
        lead += " " + say("many.grey") if any(cell.faint for cell in drawn.values()) else ""
    kept_down = [a for a in down if any(label(a, b) in wanted for b in across)]
    kept_across = [b for b in across if any(label(a, b) in wanted for a in down)]
    names_of = (names[long], names[1 - long])
    shown = {(names_of[0][a], names_of[1][b]): drawn[a, b] for a in kept_down for b in kept_across}
    corner = say("grid.corner", down=titles[long], across=titles[1 - long])
    sides = [names_of[0][a] for a in kept_down], [names_of[1][b] for b in kept_across]
    st.html(grid_table(*sides, corner, shown, answer.sentence) + f'<p class="muted">{escape(lead)}</p>')


def _count(answer: dp.Answer, label: str, most: float) -> Cell:
    query, interval = answer.query, answer.interval[label]
    wider = "" if answer.population is None else " – ".join(beyond_printed(answer.population[label])) + " %"
    if query.mute(interval, label):
        return Cell(figure(answer, label), "", 0, wider=wider)
    low, high = printed_range(query, interval[0], interval[1], label)
    value, _ = cut(query, answer.value[label], interval, label)
    faint = query.maybe_none(interval, label)
    return Cell(figure(answer, label), f"{low} – {high}", 0 if faint else float(value) / most, faint, wider)


def _shares(answer: dp.Answer, labels: list[str]) -> list[Cell]:
    parts = shares([answer.value[label] for label in labels], [answer.interval[label] for label in labels])
    if parts is None:
        return [Cell(say("answer.nothing"), "", 0)] * len(labels)
    cells = []
    for share in parts:
        ends = local(f"{int(share.low)} – {-int(-share.high // 1)} %")
        cells.append(Cell(local(f"{float(share.value):.0f} %"), ends, float(share.value) / 100))
    return cells


# An answer as a sentence, a picture and a receipt.


_stated = Lately(256)


def show(
    answer: dp.Answer, key: str = "answer", ways: Callable[[], None] | None = None, read: Hashable | None = None
) -> None:
    """Draw the question, the headline, the picture and the receipt. An answer with a page of its own has a
    link to that page instead of the picture; a session has only the link. `ways` draws the buttons that help,
    between the headline and the picture. `read`, if the answer is about the open table, is its `state.as_read`: as long
    as that stays, so do the words of the answer."""
    table = answer.receipt["table"]
    if answer.query.card.answer == "session":
        of = say("answer.of", sentence=answer.sentence, table=table)
        st.html(f'<p class="question">{escape(of)}</p>{answer_notes.cut_note(answer.query)}')
        where = {"table": table, "session": answer.request_id}
        st.page_link(nav.page("several"), label=say("session.open"), query_params=where)
        return
    stated = (read, in_address().get(IN_ADDRESS), answer.request_id)
    st.html(_statement(answer) if read is None else _stated(stated, lambda: _statement(answer)))
    scroll.arrived(answer.request_id)
    if ways is not None:
        ways()
    if answer.query.answer_kind in history.READ_ON:
        read_on(answer)
    else:
        with st.container(key=f"card-{key}"):
            picture(answer, key)
    receipt(answer, key)


def _statement(answer: dp.Answer) -> str:
    """HTML: the question, the headline, and what is said of both."""
    of = say("answer.of", sentence=answer.sentence, table=answer.receipt["table"])
    notes = answer_notes.fit_notes(answer, linked=True)
    lead = f'<p class="lead">{escape(range_words(answer))} {escape(protects("answer.meaning", answer.query))}</p>'
    found = answer_notes.finding(answer, lead, notes, linked=True)
    wider = f'<p class="muted">{escape(words)}</p>' if (words := wider_words(answer)) else ""
    return f'<p class="question arrived" tabindex="-1">{escape(of)}</p>{found}{wider}'


def show_heading(table: dp.Table, answer: dp.Answer, lead: str) -> None:
    """Draw the question, the headline and a lead, for an answer on a page of its own."""
    of = say("answer.of", sentence=answer.sentence, table=table.name)
    st.html(
        f'<p class="question">{escape(of)}</p><p class="headline">{escape(headline(answer))}</p>'
        f'<p class="lead">{escape(lead)}</p>{answer_notes.headline_notes(answer, linked=True)}'
        f"{answer_notes.fit_notes(answer)}{answer_notes.cut_note(answer.query)}"
    )


def protects(code: str, query: dp.Query) -> str:
    """A sentence: what the noise protects, one row or all rows of a person. `code` begins the key of the message."""
    most = query.facts.unit.at_most
    return say(f"{code}.{query.facts.relation}{'_each' if most > 1 else ''}", most=most)


def read_on(answer: dp.Answer) -> None:
    """Draw links to the page that shows this answer. A first look bought for a model links to the model first."""
    page, name = history.READ_ON[answer.query.answer_kind]
    where = {"table": answer.receipt["table"]}
    if target := answer.query.predicts:
        model = where | {"shapes": answer.request_id, "target": target}
        st.page_link(nav.page("train"), label=say("train_page.open"), query_params=model)
    st.page_link(nav.page(page), label=say(f"{page}_page.open"), query_params=where | {name: answer.request_id})


def picture(answer: dp.Answer, key: str) -> None:
    if answer.value == {} or answer_notes.says_nothing(answer):
        paragraph(answer.query.card.plain, "lead")
    else:
        with zoom.pictures(bool(st.session_state.get(_zoom(key)))):
            _PICTURES.get(answer.query.answer_kind, _charted)(answer, key)


def _zoom(key: str) -> str:
    """The key of the switch, among an answer's details, that lets a reader zoom into the answer's picture."""
    return f"zoom-{key}"


def _zooms(answer: dp.Answer) -> bool:
    """Does the answer have a picture with more than one figure, which a reader may want to see closely?"""
    if answer.value == {} or answer_notes.says_nothing(answer):
        return False
    bars = isinstance(answer.value, dict) and not answer.query.own_scales
    return _PICTURES.get(answer.query.answer_kind, _charted) in (density.picture, _curve, *([_charted] if bars else []))


def _named(answer: dp.Answer, key: str) -> None:
    paragraph(released_words(answer), "lead")


def _curve(answer: dp.Answer, key: str) -> None:
    # The picture, a switch for a curve that may fall, and the synthetic column as a file.
    query: Any = answer.query
    made_up = query.answer_kind == "column"
    smooth = not made_up and st.toggle(say("curve.smooth"), help=say("curve.smooth_help"), key=f"smooth-{key}")
    xs, heights, lows, highs = traced_curve(query, answer.value, answer.interval)
    if smooth:
        heights, lows, highs = rising(heights, lows, highs)
    column = called(query.answer_column)
    ends = (0.0, 102.0) if made_up else None
    alt, titles = curve_alt(query, xs, heights, lows, highs), (column, upright(query))
    charts.band(xs, heights, (lows, highs), titles, alt, f"chart-{key}", stairs=True, limits=ends)
    if made_up:
        short = answer.receipt["charge"]["hash"][:8]
        synthetic = exports.column_csv(query, answer.value)
        exports.offer(say("curve.csv"), synthetic, f"synthetic-{short}.csv", f"column-{key}")
        paragraph(say("curve.free"))
    figures(answer, key)


def _charted(answer: dp.Answer, key: str) -> None:
    title = axis(answer.query)
    if answer.query.own_scales:
        st.html(strips_html(answer))
    elif isinstance(answer.value, dict):
        show_groups(answer, bars_alt(answer), key)
        figures(answer, key)
    elif isinstance(answer.value, str):  # a day
        paragraph(range_words(answer), "lead")
    else:
        alt = f"{headline(answer)}. {range_words(answer)}"
        value, interval = cut(answer.query, answer.value, answer.interval)
        ends = None if answer.interval is None else printed_range(answer.query, *answer.interval)
        behind = beyond_drawn(answer).get("")
        charts.point(value, interval, title, alt, f"chart-{key}", limits(answer.query), ends, behind)
        if legend := beyond_legend(answer):
            paragraph(legend)


def strips_html(answer: dp.Answer) -> str:
    """HTML with a figure for each of several columns: a mark with its range, on the declared range of the column. The
    strips are plain boxes, because Streamlit removes drawings from its HTML."""
    query, names, rows = answer.query, answer.query.shown(), ""
    for part, value in answer.value.items():
        low, high = answer.interval[part]
        at, (first, last) = cut(query, value, (low, high), part)
        ends = query.limits(part) or (first, last)
        lower, upper = (printed_range(query, end, end, part)[0] for end in ends)
        wide = float(ends[1] - ends[0]) or 1.0
        shares = ((float(end) - float(ends[0])) / wide for end in (first, at, last))
        left, middle, right = (min(max(100 * share, 0.0), 100.0) for share in shares)
        line = f"<i class='reach' style='left:{min(left, 99):.2f}%;width:{max(right - left, 0.6):.2f}%'></i>"
        if not query.mute((low, high), part):  # else the range says nothing, and neither does the figure
            line += f"<i class='mark' style='left:{middle:.2f}%'></i>"
        name = with_measure(called(names.get(part, part)), query.measure_of(part))
        shown, (least, most) = figure(answer, part), printed_range(query, low, high, part)
        alt = say("strips.alt", column=name, figure=shown, low=least, high=most, lower=lower, upper=upper)
        notes = " ".join(answer_notes.fit_lines(answer, part))
        rows += (
            f'<tr><th scope="row">{escape(name)}</th><td class="number"><b>{escape(shown)}</b></td>'
            f'<td class="number">{escape(least)} – {escape(most)}</td></tr><tr><td class="strip" colspan="3">'
            f'<div role="img" aria-label="{escape(alt)}"><div class=\'line\'>{line}</div></div>'
            f"<small><span>{escape(lower)}</span><span>{escape(upper)}</span></small>"
            f"{paragraphs([notes] if notes else [], 'warn fit')}</td></tr>"
        )
    heads = ("strips.head.column", ""), ("answer.column.value", "number"), ("answer.column.range", "number")
    head = "".join(f'<th scope="col" class="{kind}">{escape(say(code))}</th>' for code, kind in heads)
    return f'<div class="scroll"><table class="plain strips"><tr>{head}</tr>{rows}</table></div>{_STYLE}'


def _found(answer: dp.Answer, key: str) -> None:
    st.html(found_html(answer))
    figures(answer, key)


def found_html(answer: dp.Answer) -> str:
    """HTML with what was found about each of several columns."""
    query: Any = answer.query
    items = "".join(f"<li>{escape(draft.words())}</li>" for draft in query.drafts(answer.value, answer.interval))
    return f'<ul class="found">{items}</ul>'


_PICTURES: dict[AnswerKind, Callable[[dp.Answer, str], None]] = {
    "label": _named,
    "declarations": _found,
    "density": density.picture,
    "curve": _curve,
    "column": _curve,
}


def bars_alt(answer: dp.Answer) -> str:
    names, (drawn, none) = answer.query.shown(), many.split_maybe_zero(answer)
    said = [f"{names.get(label, label)}: {figure(answer, label)}" for label in drawn[:60]]
    return "; ".join([*said, many.none_words(answer, none)] if none else said)


def figures(answer: dp.Answer, key: str) -> None:
    """Draw the table of all figures, folded and a page at a time."""
    with fields.details(say("answer.figures"), f"all-figures-{key}") as drawn:
        if drawn:
            st.html(bars_table(answer, many.page(answer.value, f"page-{key}")))


def bars_table(answer: dp.Answer, labels: Iterable[str] | None = None) -> str:
    """An HTML table with the figures of these labels, or of all labels, and their ranges."""
    rows, names = [], answer.query.shown()
    for label in answer.value if labels is None else labels:
        ends = answer.interval[label] if answer.interval else None
        low, high = printed_range(answer.query, ends[0], ends[1], label) if ends else ("", "")
        value = figure(answer, label)
        kind = "number" if any(sign.isdigit() for sign in value) else "number words"
        beyond = _beyond_cell(answer, label)
        rows.append(
            f'<tr><td>{escape(names.get(label, label))}</td><td class="{kind}">{escape(value)}</td>'
            f'<td class="number">{low} – {high}</td>{beyond}</tr>'
        )
    wider = ""
    if answer.population is not None:
        wider = f'<th class="number">{escape(beyond_column(answer))}</th>'
    head = (
        f'<tr><th>{escape(say("answer.column.label"))}</th><th class="number">{escape(say("answer.column.value"))}</th>'
        f'<th class="number">{gloss.word("range", say("answer.column.range"))}</th>{wider}</tr>'
    )
    note = not_adding() if answer.query.answer_kind == "count" and len(answer.value) > 1 else ""
    grid = f'<table class="plain figures"><thead>{head}</thead><tbody>{"".join(rows)}</tbody></table>'
    return f'<div class="scroll" tabindex="0">{grid}</div>{note}'


def beyond_column(answer: dp.Answer) -> str:
    """The heading of the table column with the ranges for the larger group."""
    return say(f"sample.column.{'all_percent' if answer.query.answer_kind in ('count', 'board') else 'all'}")


def _beyond_cell(answer: dp.Answer, label: str) -> str:
    if answer.population is None:
        return ""
    low, high = beyond_printed(answer.population[label])
    return f'<td class="number">{low} – {high}</td>'


def not_adding() -> str:
    """A note that noisy figures need not add up."""
    return f'<p class="muted">{escape(say("answer.not_adding"))}</p>'


def receipt(answer: dp.Answer, key: str, more: Callable[[], None] = lambda: None) -> None:
    """Draw a folded section: what the answer protects, its receipt, and its files. `more` draws further files."""
    with fields.details(say("receipt.open"), f"details-{key}") as drawn:
        if drawn:
            _receipt(answer, key, more)


def _receipt(answer: dp.Answer, key: str, more: Callable[[], None]) -> None:
    short = answer.receipt["charge"]["hash"]
    relation = protects("relation.short", answer.query)
    line = say("receipt.line", hash=short[:8], title=answer.query.card.title, relation=relation)
    st.html(
        f'<p class="receipt">{gloss.text(line)}</p>'
        f'<p class="muted">{escape(say("receipt.plain"))}</p>'
        f'<p class="muted">{escape(say("receipt.value", value=_full(answer)))}</p>'
        f'<p class="muted">{gloss.text(odds_words(answer))}</p>'
        + paragraphs(answer.query.card.caveat_texts)
        + f'<p class="muted">{escape(say("receipt.theorem", theorem=answer.query.theorem))}</p>'
    )
    nav.check_link(q=answer.query.card.key, relation=answer.query.facts.relation)
    with st.container(horizontal=True):
        write = partial(json.dumps, answer.receipt, ensure_ascii=False, indent=1)
        exports.offer(say("receipt.json"), write, f"receipt-{short[:8]}.json", f"receipt-{key}")
        name = f"answer-{short[:8]}"
        exports.offer(say("receipt.csv"), lambda: exports.answer_csv(answer), f"{name}.csv", f"csv-{key}")
        exports.offer(say("receipt.sheet"), lambda: exports.answer_sheet(answer), f"{name}.xlsx", f"sheet-{key}")
        more()
    if _zooms(answer):
        st.toggle(say("answer.zoom"), help=say("answer.zoom_help"), key=_zoom(key))


def odds_words(answer: dp.Answer, rule: filter.Rule | None = None) -> str:
    """A sentence: ε and δ of this answer alone, under the rule of its budget, and how far the answer may change a
    suspicion."""
    rule = rule or workspace().ledger.budget(answer.receipt["budget"]).rule
    epsilon, delta = filter.alone(rule, cost(answer.query.loss(), rule.alpha))
    return fields.odds_of_answer(epsilon, delta, answer.query.facts.relation)


def _full(answer: dp.Answer) -> str:
    if answer.query.answer_kind == "file":
        return say("answer.file_full", sha=answer.value["sha256"])
    if isinstance(answer.value, dict):
        whole = answer.query.answer_kind in WHOLE
        return headline(answer) if whole else say("answer.bars", bars=len(answer.value))
    if answer.interval is None:
        return plain(answer.value)
    return f"{plain(answer.value)} ({plain(answer.interval[0])} – {plain(answer.interval[1])})"


# An answer as a card: the Answers page, the report and the copied text use the same words.


def card_words(answer: dp.Answer, before: str = "", aside: str = "") -> str:
    """HTML: the question, the headline, how far the truth may be, and what was cut."""
    question = say("answer.of", sentence=answer.sentence, table=answer.receipt["table"])
    beside = f' <span class="took">{escape(aside)}</span>' if aside else ""
    lost = f"<p>{escape(lacks)}</p>" if (lacks := not_kept(answer, _follows(answer))) else ""
    lead, below = f"<p>{escape(range_words(answer))}</p>{lost}", answer_notes.fit_notes(answer)
    return f"<p class='question'>{escape(before + question)}{beside}</p>{answer_notes.finding(answer, lead, below)}"


def card_notes(answer: dp.Answer) -> list[str]:
    """Sentences that a reader of the answer needs besides its range: what was lost, cut or doubted."""
    notes = [not_kept(answer, _follows(answer)), edges(answer), *answer_notes.fit_lines(answer)]
    return [note for note in (*notes, answer_notes.cut_words(answer.query), cut_rows(answer)) if note]


def card_sentence(answer: dp.Answer) -> str:
    """The answer as text for a letter, with its range and what was cut."""
    question = say("answer.of", sentence=answer.sentence, table=answer.receipt["table"])
    parts = (
        say("answers.copied", question=question, finding=headline(answer), range=range_words(answer)),
        *card_notes(answer),
        say("answers.source", day=written_day(answer.at[:10]), receipt=answer.receipt["charge"]["hash"][:8]),
    )
    return " ".join(part for part in parts if part)


def _follows(answer: dp.Answer) -> Collection[str]:
    """The columns of a synthetic table whose values follow another answer; none until the table's rows are computed."""
    if answer.query.makes_rows != "fitted":
        return ()
    try:
        rows = workspace().table(answer.receipt["table"]).synthetic(answer)
    except dp.AllowanceError:  # the table is gone
        return ()
    return rows.refined if isinstance(rows, FittedTable) and rows.ready else ()
