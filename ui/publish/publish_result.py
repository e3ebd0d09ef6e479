"""A published table: download it, and ask it anything, free."""

from __future__ import annotations

import math
from dataclasses import astuple
from fractions import Fraction
from html import escape
from typing import Any

import streamlit as st

import dpengine as dp
from dpengine.core.printed import chance
from dpengine.declared.date_column import Date
from dpengine.declared.schema import Category, ItemSet
from dpengine.mechanisms.answer_state import fills
from dpengine.mechanisms.publish.of_rows import OfRows
from dpengine.messages import called, plain, say
from dpengine.messages.numbers import day
from dpengine.noise.row_noise import Blur
from dpengine.released.published import Estimate, Published, reach_of
from ui.ask import answer as answers
from ui.parts import answer_notes, exports
from ui.pictures import charts, many
from ui.publish.publish_preview import cell_words, link
from ui.shell import nav
from ui.words.figures import rounded, rounded_range
from ui.words.markup import html_table
from ui.words.wording import headline, range_words

KINDS = ("mean", "bars", "percentile")
FIRST_ROWS = 6
TOGETHER = " "  # all columns at once, in an address: no column has a blank name
MOST_SHOWN = 60  # bars drawn; the rest are in the list
COARSER = (20, 10, 8, 6, 5, 4, 3, 2)


def show(table: dp.Table, answer: dp.Answer) -> None:
    query = answer.query
    assert isinstance(query, OfRows)
    published = table.published(answer)
    of = say("answer.of", sentence=answer.sentence, table=table.name)
    st.html(
        f'<p class="question">{escape(of)}</p><p class="headline">{escape(headline(answer))}</p>'
        f'<p class="lead">{escape(range_words(answer))}</p>'
        f"{answer_notes.fit_notes(answer)}{answer_notes.cut_note(query)}"
    )
    if not published.whole:
        st.html(f'<p class="warn" role="status">{escape(str(dp.AllowanceError("publish.changed")))}</p>')
    else:
        with st.container(key="card-publish-file"):
            _take(answer, published)
        with st.container(key="card-publish-free"):
            _ask(table, answer, published)
    answers.receipt(answer, "published")
    back = ("published", "of", "what", "bins", "share")
    st.button(say("publish_page.another"), key="publish-another", on_click=nav.forget, args=back)


# --- take it away -----------------------------------------------------------------------------------------------------


def _take(answer: dp.Answer, published: Published) -> None:
    query, short = published.query, answer.receipt["charge"]["hash"][:8]
    first = begins(say("publish_page.begins"), *_begins(answer.value["sha256"], published))
    st.html(f"<h2>{escape(say('publish_page.take'))}</h2>{first}")
    cut = False
    if any(isinstance(query.row(name), Blur) for name in query.columns):
        cut = st.toggle(say("publish_page.cut"), key="publish-cut", help=say("publish_page.cut_help"))
        if cut:
            st.html(f'<p class="warn">{escape(say("publish_page.cut_biases"))}</p>')
    name = f"published-{short}{'-cut' if cut else ''}"
    with st.container(horizontal=True):
        # Built when the button is clicked: a large table is not written on every run of the page.
        label, key = say("publish_page.csv"), f"publish-csv-{cut}"
        exports.offer(label, lambda: exports.table_csv(published.table(cut)), f"{name}.csv", key, type="primary")
        label, key = say("publish_page.parquet"), f"publish-parquet-{cut}"
        exports.offer(label, lambda: _parquet(published, cut), f"{name}.parquet", key)
    st.html(
        f'<p class="muted">{escape(say("publish_page.may"))}</p>'
        f'<p class="receipt">{escape(say("publish_page.sha"))} <code>{escape(answer.value["sha256"])}</code></p>'
    )


def _parquet(published: Published, cut: bool) -> bytes:
    """As published, byte for byte, unless it is cut off."""
    return exports.table_parquet(published.table(cut)) if cut else published.path.read_bytes()


def begins(lead: str, names: list[str], rows: list[list[str]]) -> str:
    """The first rows of a publishable table."""
    return f'<p class="muted">{escape(lead)}</p>{html_table(names, rows, words=len(names))}'


# The caches below hold results of a published table, keyed by its SHA-256: anybody may have it.


@st.cache_data(max_entries=50, show_spinner=False)
def _begins(sha: str, _published: Published) -> tuple[list[str], list[list[str]]]:
    first = _published.table().slice(0, FIRST_ROWS)
    columns = [[cell_words(cell) for cell in column.to_pylist()] for column in first.columns]
    return list(first.column_names), [list(row) for row in zip(*columns, strict=True)]


@st.cache_data(max_entries=200, show_spinner=True)
def _result(sha: str, name: str, what: str, extra: str, _published: Published) -> Any:
    if what == "counts":
        return _published.counts(name)
    if what == "together":
        return _published.combinations()
    if what == "mean":
        return _published.mean(name)
    if what == "percentile":
        return _published.quantile(name, Fraction(extra))
    return _published.bins(name, _starts(_published, name, int(extra)))


# --- ask of it --------------------------------------------------------------------------------------------------------


def _ask(table: dp.Table, answer: dp.Answer, published: Published) -> None:
    st.html(f"<h2>{escape(say('publish_page.free'))}</h2><p class='muted'>{escape(say('publish_page.free_why'))}</p>")
    columns, sha = list(published.query.columns), answer.value["sha256"]
    offered = [*columns, TOGETHER] if published.crossed else columns
    name = picked("of", offered, _named, say("publish_page.of"))
    if name == TOGETHER:
        each = _result(sha, name, "together", "", published)
        labels = {cells: " · ".join(called(cell_words(cell)) for cell in cells) for cells in each}
        _counts({labels[cells]: estimate for cells, estimate in each.items()}, published, "together")
        return
    if isinstance(published.query.facts.schema[name], Category | ItemSet):
        _counts(_result(sha, name, "counts", "", published), published, name)
        return
    what = picked("what", list(KINDS), lambda kind: say(f"publish_page.what.{kind}"), say("publish_page.what"))
    try:
        if what == "mean":
            _mean(_result(sha, name, what, "", published), published, name)
        elif what == "bars":
            bins = _number("bins", 2, min(40, published.query.steps(name) + 1), 5, say("publish_page.bins"))
            _bars(table, _result(sha, name, what, str(bins), published), published, name, bins)
        else:
            share = _number("share", 1, 99, 50, say("publish_page.share"))
            _percentile(table, _result(sha, name, what, f"{share}/100", published), published, name, share)
    except dp.AllowanceError as refusal:
        st.html(f'<p class="warn" role="status">{escape(str(refusal))}</p>')
        _coarser(table, published, name)


def _named(name: str) -> str:
    return say("publish_page.together") if name == TOGETHER else name


def picked(parameter: str, options: list[str], words: Any, label: str, place: str = "publish") -> str:
    """A choice that the address keeps."""
    now = st.query_params.get(parameter)
    if len(options) == 1:
        return options[0]
    at = options.index(now) if now in options else 0
    chosen = str(st.selectbox(label, options, at, format_func=words, key=f"{place}-{parameter}", width=340))
    st.query_params[parameter] = chosen
    return chosen


def _number(parameter: str, least: int, most: int, usual: int, label: str) -> int:
    text = st.query_params.get(parameter, "")
    now = int(text) if text.isdecimal() and len(text) < 6 else usual
    picked = st.number_input(label, least, most, min(max(now, least), most), key=f"publish-{parameter}", width=200)
    st.query_params[parameter] = str(int(picked))
    return int(picked)


def _line(sentence: str, wide: str, note: str = "") -> None:
    st.html(
        f'<p class="together">{escape(sentence)}</p><p class="lead">{escape(wide)}</p>'
        + (f'<p class="muted">{escape(note)}</p>' if note else "")
    )


def _between(estimate: Estimate, query: OfRows) -> str:
    low, high = rounded_range(estimate.low, estimate.high)
    return say("answer.between", low=low, high=high, chance=chance(query.beta))


def _mean(mean: Estimate, published: Published, name: str) -> None:
    column, query = published.query.facts.schema.ordered(name), published.query
    lower, upper = query.start(name), query.start(name) + column.diameter
    if fills(mean.low, mean.high, lower, upper):
        low, high = (_shown(published, name, float(end)) for end in (lower, upper))
        _line(say("answer.nothing"), say("publish_page.mean_nothing", low=low, high=high))
        return
    note = say("publish_page.empty_middle")
    if isinstance(column, Date):
        low, high = (_shown(published, name, end) for end in (math.floor(mean.low), math.ceil(mean.high)))
        between = say("answer.between", low=low, high=high, chance=chance(query.beta))
        _line(say("answer.about", value=_shown(published, name, mean.value)), between, note)
        return
    _line(say("answer.about", value=rounded(mean.value, mean.low, mean.high)), _between(mean, query), note)
    limits = float(lower), float(upper)
    charts.point(mean.value, (mean.low, mean.high), name, _between(mean, query), "publish-mean", limits)


def _percentile(table: dp.Table, estimate: Estimate, published: Published, name: str, share: int) -> None:
    column, query = published.query.facts.schema.ordered(name), published.query
    if fills(estimate.low, estimate.high, query.start(name), query.start(name) + column.diameter):
        _line(say("answer.nothing"), say("publish_page.percentile_nothing"))
        _coarser(table, published, name)
        return
    facts = {"share": share, "chance": chance(query.beta)}
    value, low, high = (_shown(published, name, end) for end in (estimate.value, estimate.low, estimate.high))
    _line(
        say("answer.about", value=value),
        say("publish_page.percentile", low=low, high=high, **facts),
        say("publish_page.on_grid", steps=query.steps(name), grain=query.grain(name)),
    )


def _counts(each: dict[str, Estimate], published: Published, name: str) -> None:
    rows, query = published.rows, published.query
    if all(fills(estimate.low, estimate.high, 0, rows) for estimate in each.values()):
        _line(say("answer.nothing"), say("publish_page.counts_nothing"))
        return
    alt = say("publish_page.counts", values=len(each), chance=chance(query.beta))
    st.html(f'<p class="lead">{escape(alt)}</p>')
    _drawn(each, rows, name)


def _bars(table: dp.Table, each: list[Estimate], published: Published, name: str, bins: int) -> None:
    if all(fills(estimate.low, estimate.high, 0, published.rows) for estimate in each):
        _line(say("answer.nothing"), say("publish_page.bars_nothing"))
        _coarser(table, published, name)
        return
    alt = say("publish_page.counts", values=len(each), chance=chance(published.query.beta))
    st.html(f'<p class="lead">{escape(alt)}</p>')
    labels = _labels(published, name, _starts(published, name, bins))
    _drawn(dict(zip(labels, each, strict=True)), published.rows, name)


def _starts(published: Published, name: str, bins: int) -> list[int]:
    points = published.query.steps(name) + 1
    return sorted({place * points // bins for place in range(bins)})


def _labels(published: Published, name: str, starts: list[int]) -> list[str]:
    lower, grain = published.query.start(name), published.query.grain(name)
    ends = [start - 1 for start in starts[1:]] + [published.query.steps(name)]
    pairs = [
        tuple(_shown(published, name, lower + place * grain) for place in pair)
        for pair in zip(starts, ends, strict=True)
    ]
    return [low if low == high else f"{low} – {high}" for low, high in pairs]


def _shown(published: Published, name: str, value: float | Fraction) -> str:
    """A position on a column for readers: a number or a day."""
    ordered = published.query.facts.schema[name]
    return day(published.day(name, float(value))) if isinstance(ordered, Date) else plain(value)


def _drawn(each: dict[str, Estimate], rows: int, name: str) -> None:
    """Bars with whiskers, and a list with each value's share."""
    each = {called(label): Estimate(*(min(max(end, 0), rows) for end in astuple(bar))) for label, bar in each.items()}
    first = dict(list(each.items())[:MOST_SHOWN])
    ranges = {label: (bar.low, bar.high) for label, bar in first.items()}
    alt = "; ".join(f"{label}: {rounded(bar.value, bar.low, bar.high)}" for label, bar in first.items())
    charts.bars({label: bar.value for label, bar in first.items()}, ranges, say("chart.people"), alt, f"publish-{name}")
    with st.expander(say("answer.figures")):
        st.html(_table({label: each[label] for label in many.page(each, f"publish-page-{name}")}, rows))


def _table(each: dict[str, Estimate], rows: int) -> str:
    titles = ("answer.column.label", "answer.column.value", "answer.column.range", "publish_page.column.share")
    shown = []
    for label, estimate in each.items():
        figures = estimate.value, estimate.low, estimate.high
        share = rounded(*(100 * end / rows for end in figures)) + " %"
        shown.append((label, rounded(*figures), " – ".join(rounded_range(*figures[1:])), share))
    return html_table([*map(say, titles)], shown)


def _coarser(table: dp.Table, published: Published, name: str) -> None:
    """What to publish instead: the finest grid on which a bar is exact to a quarter of all rows."""
    row, rows = published.query.row(name), published.rows
    if not isinstance(row, Blur):
        return
    for steps in COARSER:
        coarse = Blur(steps, row.epsilon, row.delta)
        if steps < row.steps and 4 * reach_of(coarse, None, steps // 2, rows, published.query.beta) <= rows:
            st.html(f'<p class="muted">{escape(say("publish_page.coarser", steps=steps))}</p>')
            where = link(table.name, published.query, grid=steps)
            st.page_link(nav.page("publish"), label=say("publish_page.coarser_link", steps=steps), query_params=where)
            return
    st.html(f'<p class="muted">{escape(say("publish_page.spend_more"))}</p>')
