"""A published table: take it away, and ask of it whatever one likes, free."""

from __future__ import annotations

import math
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
from ui.words.wording import headline, range_words

KINDS = ("mean", "bars", "percentile")
FIRST_ROWS = 6
TOGETHER = " "  # all columns at once, in an address: no column has a blank name
MOST_SHOWN = 60  # bars drawn; more are in the figures
COARSER = (20, 10, 8, 6, 5, 4, 3, 2)


def show(table: dp.Table, found: dp.Answer) -> None:
    query = found.query
    assert isinstance(query, OfRows)
    published = table.published(found)
    of = say("answer.of", sentence=found.sentence, table=table.name)
    st.html(
        f'<p class="question">{escape(of)}</p><p class="headline">{escape(headline(found))}</p>'
        f'<p class="lead">{escape(range_words(found))}</p>{answer_notes.fit_notes(found)}{answer_notes.cut_note(query)}'
    )
    if not published.whole:
        st.html(f'<p class="warn" role="status">{escape(str(dp.AllowanceError("publish.changed")))}</p>')
    else:
        with st.container(key="card-publish-file"):
            _take(found, published)
        with st.container(key="card-publish-free"):
            _ask(table, found, published)
    answers.receipt(found, "published")
    st.button(say("publish_page.another"), key="publish-another", on_click=_leave)


def _leave() -> None:
    for name in ("published", "of", "what", "bins", "share"):
        st.query_params.pop(name, None)


# --- take it away -----------------------------------------------------------------------------------------------------


def _take(found: dp.Answer, published: Published) -> None:
    query, short = published.query, found.receipt["charge"]["hash"][:8]
    st.html(f"<h2>{escape(say('publish_page.take'))}</h2>{_first_rows(found.value['sha256'], published)}")
    cut = False
    if any(isinstance(query.row(name), Blur) for name in query.columns):
        cut = st.toggle(say("publish_page.cut"), key="publish-cut", help=say("publish_page.cut_help"))
        if cut:
            st.html(f'<p class="warn">{escape(say("publish_page.cut_biases"))}</p>')
    name = f"published-{short}{'-cut' if cut else ''}"
    with st.container(horizontal=True):
        # Made when the button is clicked: a large table is not written anew on every run of the page.
        st.download_button(
            say("publish_page.csv"),
            lambda: exports.table_csv(published.table(cut)),
            f"{name}.csv",
            "text/csv",
            key=f"publish-csv-{cut}",
            type="primary",
            on_click="ignore",
        )
        st.download_button(
            say("publish_page.parquet"),
            lambda: _parquet(published, cut),
            f"{name}.parquet",
            "application/vnd.apache.parquet",
            key=f"publish-parquet-{cut}",
            on_click="ignore",
        )
    st.html(
        f'<p class="muted">{escape(say("publish_page.may"))}</p>'
        f'<p class="receipt">{escape(say("publish_page.sha"))} <code>{escape(found.value["sha256"])}</code></p>'
    )


def _parquet(published: Published, cut: bool) -> bytes:
    """As it was published, byte for byte, unless it is cut off."""
    return exports.table_parquet(published.table(cut)) if cut else published.path.read_bytes()


def _first_rows(sha: str, published: Published) -> str:
    return begins(say("publish_page.begins"), *_begins(sha, published))


def begins(lead: str, names: list[str], rows: list[list[str]]) -> str:
    """The first rows of a table that may be given away."""
    head = "".join(f"<th>{escape(name)}</th>" for name in names)
    body = "".join("<tr>" + "".join(f"<td>{escape(cell)}</td>" for cell in row) + "</tr>" for row in rows)
    table = f'<div class="scroll" tabindex="0"><table class="plain"><tr>{head}</tr>{body}</table></div>'
    return f'<p class="muted">{escape(lead)}</p>{table}'


# What is kept below is made from a published table, which is known by its SHA-256: anybody may have it.


@st.cache_data(max_entries=50, show_spinner=False)
def _begins(sha: str, _published: Published) -> tuple[list[str], list[list[str]]]:
    first = _published.table().slice(0, FIRST_ROWS)
    columns = [[cell_words(cell) for cell in column.to_pylist()] for column in first.columns]
    return list(first.column_names), [list(row) for row in zip(*columns, strict=True)]


@st.cache_data(max_entries=200, show_spinner=True)
def _told(sha: str, name: str, what: str, extra: str, _published: Published) -> Any:
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


def _ask(table: dp.Table, found: dp.Answer, published: Published) -> None:
    st.html(f"<h2>{escape(say('publish_page.free'))}</h2><p class='muted'>{escape(say('publish_page.free_why'))}</p>")
    columns, sha = list(published.query.columns), found.value["sha256"]
    offered = [*columns, TOGETHER] if published.crossed else columns
    name = picked("of", offered, _named, say("publish_page.of"))
    if name == TOGETHER:
        each = _told(sha, name, "together", "", published)
        labels = {cells: " · ".join(called(cell_words(cell)) for cell in cells) for cells in each}
        _counts({labels[cells]: one for cells, one in each.items()}, published, "together")
        return
    if isinstance(published.query.facts.schema[name], Category | ItemSet):
        _counts(_told(sha, name, "counts", "", published), published, name)
        return
    what = picked("what", list(KINDS), lambda kind: say(f"publish_page.what.{kind}"), say("publish_page.what"))
    try:
        if what == "mean":
            _mean(_told(sha, name, what, "", published), published, name)
        elif what == "bars":
            bins = _number("bins", 2, min(40, published.query.steps(name) + 1), 5, say("publish_page.bins"))
            _bars(table, _told(sha, name, what, str(bins), published), published, name, bins)
        else:
            share = _number("share", 1, 99, 50, say("publish_page.share"))
            _percentile(table, _told(sha, name, what, f"{share}/100", published), published, name, share)
    except dp.AllowanceError as refusal:
        st.html(f'<p class="warn" role="status">{escape(str(refusal))}</p>')
        _coarser(table, published, name)


def _named(one: str) -> str:
    return say("publish_page.together") if one == TOGETHER else one


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


def _line(told: str, wide: str, note: str = "") -> None:
    st.html(
        f'<p class="together">{escape(told)}</p><p class="lead">{escape(wide)}</p>'
        + (f'<p class="muted">{escape(note)}</p>' if note else "")
    )


def _between(one: Estimate, query: OfRows) -> str:
    low, high = rounded_range(one.low, one.high)
    return say("answer.between", low=low, high=high, chance=chance(query.beta))


def _mean(one: Estimate, published: Published, name: str) -> None:
    column, query = published.query.facts.schema.ordered(name), published.query
    lower, upper = query.start(name), query.start(name) + column.diameter
    if fills(one.low, one.high, lower, upper):
        low, high = (_shown(published, name, float(end)) for end in (lower, upper))
        _line(say("answer.nothing"), say("publish_page.mean_nothing", low=low, high=high))
        return
    note = say("publish_page.empty_middle")
    if isinstance(column, Date):
        low, high = (_shown(published, name, end) for end in (math.floor(one.low), math.ceil(one.high)))
        between = say("answer.between", low=low, high=high, chance=chance(query.beta))
        _line(say("answer.about", value=_shown(published, name, one.value)), between, note)
        return
    _line(say("answer.about", value=rounded(one.value, one.low, one.high)), _between(one, query), note)
    limits = float(lower), float(upper)
    charts.point(one.value, (one.low, one.high), name, _between(one, query), "publish-mean", limits)


def _percentile(table: dp.Table, one: Estimate, published: Published, name: str, share: int) -> None:
    column, query = published.query.facts.schema.ordered(name), published.query
    if fills(one.low, one.high, query.start(name), query.start(name) + column.diameter):
        _line(say("answer.nothing"), say("publish_page.percentile_nothing"))
        _coarser(table, published, name)
        return
    told = {"share": share, "chance": chance(query.beta)}
    value, low, high = (_shown(published, name, end) for end in (one.value, one.low, one.high))
    _line(
        say("answer.about", value=value),
        say("publish_page.percentile", low=low, high=high, **told),
        say("publish_page.on_grid", steps=query.steps(name), grain=query.grain(name)),
    )


def _counts(each: dict[str, Estimate], published: Published, name: str) -> None:
    rows, query = published.rows, published.query
    if all(fills(one.low, one.high, 0, rows) for one in each.values()):
        _line(say("answer.nothing"), say("publish_page.counts_nothing"))
        return
    told = say("publish_page.counts", values=len(each), chance=chance(query.beta))
    st.html(f'<p class="lead">{escape(told)}</p>')
    _drawn(each, rows, name)


def _bars(table: dp.Table, each: list[Estimate], published: Published, name: str, bins: int) -> None:
    if all(fills(one.low, one.high, 0, published.rows) for one in each):
        _line(say("answer.nothing"), say("publish_page.bars_nothing"))
        _coarser(table, published, name)
        return
    told = say("publish_page.counts", values=len(each), chance=chance(published.query.beta))
    st.html(f'<p class="lead">{escape(told)}</p>')
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
    """A place on a column as a person reads it: a number, or a day."""
    ordered = published.query.facts.schema[name]
    return day(published.day(name, float(value))) if isinstance(ordered, Date) else plain(value)


def _drawn(each: dict[str, Estimate], rows: int, name: str) -> None:
    """Bars with whiskers, and the figures with each value's share."""
    each = {called(label): _possible(one, rows) for label, one in each.items()}
    first = dict(list(each.items())[:MOST_SHOWN])
    ranges = {label: (one.low, one.high) for label, one in first.items()}
    alt = "; ".join(f"{label}: {rounded(one.value, one.low, one.high)}" for label, one in first.items())
    charts.bars({label: one.value for label, one in first.items()}, ranges, say("chart.people"), alt, f"publish-{name}")
    with st.expander(say("answer.figures")):
        st.html(_table({label: each[label] for label in many.page(each, f"publish-page-{name}")}, rows))


def _possible(one: Estimate, rows: int) -> Estimate:
    """A number of rows is neither negative nor more than there are."""
    value, low, high = (min(max(end, 0), rows) for end in (one.value, one.low, one.high))
    return Estimate(value, low, high)


def _table(each: dict[str, Estimate], rows: int) -> str:
    titles = ("answer.column.label", "answer.column.value", "answer.column.range", "publish_page.column.share")
    kinds = ("", "number", "number", "number")
    head = "".join(f'<th class="{kind}">{escape(say(one))}</th>' for one, kind in zip(titles, kinds, strict=True))
    body = ""
    for label, one in each.items():
        share = Estimate(*(100 * end / rows for end in (one.value, one.low, one.high)))
        cells = (
            rounded(one.value, one.low, one.high),
            " – ".join(rounded_range(one.low, one.high)),
            rounded(share.value, share.low, share.high) + " %",
        )
        numbers = "".join(f'<td class="number">{escape(cell)}</td>' for cell in cells)
        body += f"<tr><td>{escape(label)}</td>{numbers}</tr>"
    return f'<div class="scroll" tabindex="0"><table class="plain"><tr>{head}</tr>{body}</table></div>'


def _coarser(table: dp.Table, published: Published, name: str) -> None:
    """What to publish instead: the finest grid on which a bar is told to a quarter of all rows."""
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
