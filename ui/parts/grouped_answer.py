"""An answer in several parts: bars, ranges or a grid, sorted and cut as the reader wishes. Only the view changes: what
was released stays in the figures below and in the CSV."""

from __future__ import annotations

from dataclasses import replace
from html import escape
from typing import Any

import streamlit as st

import dpengine as dp
from dpengine.messages import plain, say
from dpengine.messages.numbers import local
from dpengine.released.compare import shares
from ui.pictures import charts, grid, many
from ui.words.figures import cut, figure, pictured, printed_range
from ui.words.markup import unmarked
from ui.words.wording import axis, from_zero

_NAMED = 6  # hidden groups that are named


def show(answer: dp.Answer, alt: str, key: str) -> None:
    query = answer.query
    if not _crossed(answer):
        alike = query.compared or bool(query.crossed())  # else the largest of them means nothing
        labels, none = _shown_labels(answer, key, alike and len(answer.value) > 2), many.told_from_none(answer)[1]
        if none and (query.none_hoped or not st.toggle(say("many.none_shown"), key=f"none-{key}")):
            together = set(none)
            labels = [label for label in labels if label not in together]
        values = {label: answer.value[label] for label in labels}
        if values and from_zero(query):
            charts.bars(
                *pictured(query, values, answer.interval), axis(query), alt, f"chart-{key}", faint_names(answer)
            )
        elif values:
            charts.ranges(*pictured(query, values, answer.interval), axis(query), alt, f"chart-{key}")
        if told := many.none_words(answer, none):
            st.html(f'<p class="muted none">{escape(told)}</p>')
        return
    _grid(answer, key)


def faint_names(answer: dp.Answer) -> set[str]:
    """The names of those that cannot be told from none."""
    ranges, names = answer.interval or {}, answer.query.shown()
    return {names.get(one, one) for one in answer.value if answer.query.maybe_none(ranges.get(one), one)}


def _crossed(answer: dp.Answer) -> bool:
    """Is it told apart by several columns, and small enough for a table?"""
    sizes = sorted((len(values) for _, values in answer.query.crossed()[:2]), reverse=True)
    return len(sizes) == 2 and bool(answer.interval) and sizes[0] <= grid.MOST_DOWN and sizes[1] <= grid.MOST_ACROSS


def _shown_labels(answer: dp.Answer, key: str, sortable: bool) -> list[str]:
    """The parts that are drawn, in their order; what is not drawn is said."""
    query, labels = answer.query, list(answer.value)
    leftovers = set(query.leftovers())
    with st.container(horizontal=True):
        sort = sortable and st.toggle(say("group.largest"), key=f"largest-{key}")
        hide = bool(leftovers) and st.toggle(say("group.hide"), key=f"hide-{key}")
    if sort:  # those that say nothing last
        mute = {label: query.mute(answer.interval[label] if answer.interval else None, label) for label in labels}
        labels.sort(key=lambda label: (mute[label], -float(_number(answer.value[label]))))
    if not hide:
        return labels
    gone, names = [label for label in labels if label in leftovers], query.shown()
    told = say("group.hidden", names="; ".join(names.get(label, label) for label in gone))
    told = told if len(gone) <= _NAMED else say("group.hidden_many", many=len(gone))
    st.html(f'<p class="muted">{escape(told)}</p>')
    return [label for label in labels if label not in leftovers]


def _number(value: Any) -> Any:
    """A day sorts by itself: later is larger."""
    return value if not isinstance(value, str) else int(value.replace("-", ""))


def _grid(answer: dp.Answer, key: str) -> None:
    query, wanted = answer.query, set(_shown_labels(answer, key, sortable=False))
    columns = query.crossed()
    by_cell = dict(zip(query.cells()[1], query.labels(), strict=True))
    titles, told = [name for name, _ in columns], [values for _, values in columns]
    rest: tuple[str, ...] = ()
    if len(columns) > 2:
        seen = dict.fromkeys(cell[2] for cell, label in by_cell.items() if label in wanted)
        third = st.selectbox(
            say("grid.third", column=titles[2]), list(seen), format_func=told[2].__getitem__, key=f"third-{key}"
        )
        rest = (str(third),)
    values = [list(one) for one in told[:2]]
    long = 0 if len(values[0]) >= len(values[1]) else 1  # the longer list runs down

    def label(down: str, across: str) -> str:
        pair = (down, across) if long == 0 else (across, down)
        return by_cell[pair + rest]

    down, across = values[long], values[1 - long]
    choice = st.segmented_control(
        say("grid.figures"),
        ["counts", "down", "across"],
        default="counts",
        format_func=lambda one: (
            say("grid.counts")
            if one == "counts"
            else unmarked(say("grid.share", column=titles[long if one == "down" else 1 - long]))
        ),
        key=f"figures-{key}",
    )
    drawn: dict[tuple[str, str], grid.Cell] = {}
    if choice in ("down", "across"):
        lines = (
            [[(a, b) for b in across] for a in down] if choice == "down" else [[(a, b) for a in down] for b in across]
        )
        for line in lines:
            drawn |= dict(zip(line, _shares(answer, [label(*pair) for pair in line]), strict=True))
        most = max([cell.size for cell in drawn.values()] + [0.01])
        drawn = {pair: replace(cell, size=cell.size / most) for pair, cell in drawn.items()}
        lead = say("grid.share_lead", column=titles[long if choice == "down" else 1 - long])
    else:
        most = max([float(answer.value[one]) for one in answer.value] + [1.0])
        drawn = {(a, b): _count(answer, label(a, b), most) for a in down for b in across}
        lead = say("grid.lead", sure=plain(100 * (1 - query.beta)))
        lead += " " + say("answer.not_adding")
        lead += " " + say("many.grey") if any(cell.faint for cell in drawn.values()) else ""
    kept_down = [a for a in down if any(label(a, b) in wanted for b in across)]
    kept_across = [b for b in across if any(label(a, b) in wanted for a in down)]
    names_of = (told[long], told[1 - long])
    shown = {(names_of[0][a], names_of[1][b]): drawn[a, b] for a in kept_down for b in kept_across}
    corner = say("grid.corner", down=titles[long], across=titles[1 - long])
    sides = [names_of[0][a] for a in kept_down], [names_of[1][b] for b in kept_across]
    st.html(grid.table(*sides, corner, shown, answer.sentence) + f'<p class="muted">{escape(lead)}</p>')


def _count(answer: dp.Answer, label: str, most: float) -> grid.Cell:
    query, interval = answer.query, answer.interval[label]
    if query.mute(interval, label):
        return grid.Cell(figure(answer, label), "", 0)
    low, high = printed_range(query, interval[0], interval[1], label)
    value, _ = cut(query, answer.value[label], interval, label)
    faint = query.maybe_none(interval, label)
    return grid.Cell(figure(answer, label), f"{low} – {high}", 0 if faint else float(value) / most, faint)


def _shares(answer: dp.Answer, labels: list[str]) -> list[grid.Cell]:
    found = shares([answer.value[one] for one in labels], [answer.interval[one] for one in labels])
    if found is None:
        return [grid.Cell(say("answer.nothing"), "", 0)] * len(labels)
    return [
        grid.Cell(
            local(f"{float(one.value):.0f} %"),
            local(f"{int(one.low)} – {-int(-one.high // 1)} %"),
            float(one.value) / 100,
        )
        for one in found
    ]
