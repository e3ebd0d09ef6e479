"""The Publish page before anything is spent: which columns, how exact, what one row and all rows reveal, the price."""

from __future__ import annotations

import json
import math
from dataclasses import astuple
from decimal import ROUND_FLOOR
from fractions import Fraction
from functools import partial
from html import escape
from math import prod
from typing import Any

import streamlit as st

import dpengine as dp
from dpengine.core.exact import down, text_of
from dpengine.core.printed import chance, percent, percent_up, points, power_of_ten, two_figures
from dpengine.core.strict_json import canonical
from dpengine.mechanisms.answer_state import fills
from dpengine.mechanisms.publish.of_rows import MOST_COLUMNS, Chosen, OfRows, best_way
from dpengine.messages import called, plain, say
from dpengine.messages.numbers import day, local, to_figures
from dpengine.noise.row_noise import (
    MOST_AT_ONCE,
    MOST_ITEMS,
    AsOne,
    Blur,
    ItemByItem,
    Marginal,
    OfItems,
    expected_error,
    farthest,
    nearest,
    thesis_scale,
)
from dpengine.planning.alternatives import asked_instead
from dpengine.planning.opening import PART, Opening
from dpengine.released.published import Estimate, Published, reach_of
from ui.ask import answer as answers
from ui.ask import fit_warnings, spend
from ui.parts import exports, fields, history, job
from ui.pictures import charts, many
from ui.shell import frame, nav
from ui.shell.frame import hint, page_head, paragraph, section_head
from ui.shell.state import workspace
from ui.shell.style import sheet
from ui.words import prices
from ui.words.figures import rounded, rounded_range
from ui.words.markup import html_table, p, paragraphs, shortened
from ui.words.wording import range_words

# --- a published table's expected value, from public facts: one row, all rows, the lower bound, and made-up rows

MOST_ROWS = 8
LONGEST_CELL = 40  # characters of a made-up cell; a declared value may be a whole sentence
_TENTHS = 1000  # of a percent


def show_preview(table: dp.Table, chosen: Chosen) -> None:
    query = chosen.query
    each = "".join(_column(query, name) for name in query.columns)
    html = paragraphs(_together(chosen))
    st.html(f"<ul class='facts'>{each}</ul>{html}{_STYLE}")
    before, after = _rehearsed(
        canonical([query.describe(), query.facts.schema.as_json(), query.facts.about]), table, query
    )
    st.html(
        f"<h2>{escape(say('publish_page.example'))}</h2><p class='muted'>{escape(say('publish_page.example_lead'))}</p>"
        + _rows_html(query, before, after)
    )
    with fields.details(say("publish_page.figures"), "publish-figures") as drawn:
        if drawn:
            st.html(_figures_html(query))


@st.cache_data(max_entries=200, show_spinner=False)
def _rehearsed(facts: str, _table: dp.Table, _query: OfRows) -> tuple[list[list[Any]], list[list[Any]]]:
    """Made-up rows, and the same rows as published. All visitors share this cache, so that the example stays; its key
    holds public facts only."""
    return _table.rehearse_rows(_query)


def link(table: str, query: OfRows, **changed: Any) -> dict[str, str]:
    """The URL parameters of Publish for this question, with changes."""
    query_params = {"columns": json.dumps(list(query.columns), ensure_ascii=False), "epsilon": text_of(query.epsilon)}
    query_params |= {"grid": str(query.grid)} if query.grid else {}
    query_params |= {"delta": text_of(query.delta)} if query.delta else {}
    return {"table": table} | query_params | {name: str(value) for name, value in changed.items()}


def _column(query: OfRows, name: str) -> str:
    """HTML with a column in a few sentences: what one row and all rows reveal, the lower bound, and what asking would
    give."""
    column = query.facts.schema[name]
    if isinstance(column, dp.ItemSet):
        row_words, whole, best = _of_set(query, name, column)
    elif isinstance(column, dp.Category):
        row_words, whole, best = _of_list(query, name, column)
    else:
        row_words, whole, best = _of_line(query, name, column)
    whole = say("publish_page.nothing") if 2 * query.reach(name) >= 1 else whole
    muted = "".join(f"<br><span class='muted'>{escape(line)}</span>" for line in (best, _asked(query, name)) if line)
    return f"<li><b>{escape(called(name))}</b><br>{escape(row_words)} <b>{escape(whole)}</b>{muted}</li>"


def _of_list(query: OfRows, name: str, column: dp.Category) -> tuple[str, str, str]:
    row, reach, error = query.row(name), query.reach(name), query.error(name)
    sentence = say("publish_page.truth", truth=_share(row.truth), blind=_share(Fraction(1, column.size)))
    best = say("publish_page.truth_best", error=_share(error))
    if len(query.columns) > 1:
        best = say("publish_page.truth_beside", error=_share(error), alone=_share(query.alone(name).error))
    return sentence, say("publish_page.shares", points=points(reach), chance=chance(query.beta)), best


def _of_set(query: OfRows, name: str, column: dp.ItemSet) -> tuple[str, str, str]:
    row, reach, error = query.row(name), query.reach(name), query.error(name)
    sentence = say("publish_page.wrong_items", error=_three(error), items=column.size)
    if isinstance(row, AsOne | ItemByItem):
        ways = AsOne(column.size, row.epsilon, row.delta), ItemByItem(column.size, row.epsilon, row.delta)
        if isinstance(row, AsOne):
            sentence += " " + say("publish_page.set_as_one", sets=row.swap.size, other=_three(ways[1].error))
        elif column.points <= MOST_AT_ONCE:
            sentence += " " + say("publish_page.set_apart", sets=column.points, other=_three(ways[0].error))
        else:
            sentence += " " + say("publish_page.set_large")
    best = say("publish_page.items_best", **_beside(error, query.floor(name)))
    return sentence, say("publish_page.item_shares", points=points(reach), chance=chance(query.beta)), best


def _of_line(query: OfRows, name: str, column: dp.Number | dp.Date) -> tuple[str, str, str]:
    reach, error, width = query.reach(name), query.error(name), column.diameter
    unit = "days" if isinstance(column, dp.Date) else "off"
    code = f"publish_page.{unit}_end" if isinstance(query.row(name), Marginal) else f"publish_page.{unit}"
    sentence = say(code, error=two_figures(error), width=plain(width))
    if query.steps(name) < column.points - 1:
        step = query.grain(name)
        sentence += " " + say("publish_page.off_rounded", grain=two_figures(step), half=two_figures(step / 2))
    best = say("publish_page.off_best", **_beside(error, query.floor(name)))
    code = "publish_page.mean_day" if isinstance(column, dp.Date) else "publish_page.mean"
    return sentence, say(code, reach=two_figures(reach * width), chance=chance(query.beta)), best


def _beside(error: Fraction, floor: Fraction) -> dict[str, str]:
    """Two facts for a sentence, as text: the lower bound, and the error as a multiple of this bound."""
    times = to_figures(float(error / floor), 2) if floor else "∞"
    return {"floor": two_figures(floor, ROUND_FLOOR), "times": times}


def _asked(query: OfRows, name: str) -> str:
    """A sentence: how accurate an answer at the same ε would be if the question were asked instead of the column
    published (thesis, Remark 7.1). Empty if there is no such question."""
    instead = asked_instead(query, name)
    if instead is None:
        return ""
    times = to_figures(float(instead.times), 2)
    column = query.facts.schema[name]
    if isinstance(column, dp.Number):
        return say("publish_page.asked_mean", reach=two_figures(instead.asked * column.diameter), times=times)
    return say("publish_page.asked_shares", points=points(instead.asked), times=times)


def _three(size: Fraction) -> str:
    """The size of an error to three digits, because two ways may differ only in the third."""
    return to_figures(float(size), 3)


def _share(share: Fraction) -> str:
    """A chance in percent as text, to the nearest tenth. The chance is a parameter of the method, not a bound."""
    return local(f"{float(share) * 100:.1f}".removesuffix(".0")) + " %"


def _together(chosen: Chosen) -> list[str]:
    """Sentences: how several columns are published and why, and how often a whole row is true."""
    query, promise = chosen.query, chosen.query.promise()
    if len(query.columns) == 1:
        return [say("publish_page.one_column")]
    rows = prod(query.steps(name) + 1 for name in query.columns)
    split = {"columns": len(query.columns), "epsilon": query.epsilon / len(query.columns)}
    lines = [] if chosen.as_row else [say("publish_page.split", **split)]
    if chosen.other is None:
        lines.append(say("publish_page.no_product", most=MOST_AT_ONCE))
    else:
        code, beaten = "publish_page.as_row" if chosen.as_row else "publish_page.as_columns", chosen.other.promise()
        if promise.empty:
            lines.append(say(f"{code}_noise", rows=rows))
        elif beaten.empty:
            lines.append(say(f"{code}_nothing", rows=rows, own=percent_up(promise.amount)))
        else:
            lines.append(say(code, rows=rows, own=percent_up(promise.amount), other=percent_up(beaten.amount)))
    best = 1 - down(promise.untrue_floor, _TENTHS)  # rounded up, because it is a bound
    return [*lines, say("publish_page.row_true", truth=_share(1 - promise.untrue), best=_share(best))]


def _rows_html(query: OfRows, before: list[list[Any]], after: list[list[Any]]) -> str:
    published = escape(say("publish_page.published_as"))
    head = "".join(f"<th>{escape(called(name))}</th><th>{published}</th>" for name in query.columns)
    body = ""
    for old, new in list(zip(before, after, strict=True))[:MOST_ROWS]:
        pairs = zip(
            *([escape(shortened(cell_words(cell), LONGEST_CELL)) for cell in row] for row in (old, new)), strict=True
        )
        cells = "".join(f"<td class='muted'>{a}</td><td>{b}</td>" for a, b in pairs)
        body += f"<tr>{cells}</tr>"
    return f'<div class="scroll" tabindex="0"><table class="plain example"><tr>{head}</tr>{body}</table></div>'


def cell_words(value: Any) -> str:
    """A cell as shown; the empty set needs a sign."""
    if value == "":
        return "–"
    return called(value) if isinstance(value, str) else plain(value).replace("-", "−")


def _figures_html(query: OfRows) -> str:
    """HTML for experts: the thesis's scale beside the smallest one, and the probabilities."""
    lines = []
    for name in query.columns:
        row = query.row(name)
        if isinstance(row, Blur):
            grain = query.grain(name)
            thesis = thesis_scale(row.steps, row.epsilon, row.delta)
            facts = {"thesis": thesis, "thesis_off": expected_error(thesis), "least": row.scale, "least_off": row.error}
            figures = {part: two_figures(size * grain) for part, size in facts.items()}
            code = "publish_page.scales" if row.delta else "publish_page.scale"
            lines.append(say(code, column=name, steps=row.steps, **figures))
        elif isinstance(row, OfItems):
            lines.append(say("publish_page.chances_set", column=name, items=row.items, flip=_exact(row.flip)))
        else:
            chances = {"truth": _exact(row.truth), "other": _exact(row.chance)}
            lines.append(say("publish_page.chances", column=name, size=row.size, **chances))
        lines.append(_floors(query, name))
    lines += [say("receipt.theorem", theorem=query.theorem), *query.card.caveat_texts]
    return paragraphs(lines)


def _floors(query: OfRows, name: str) -> str:
    """A sentence with both lower bounds on the error in a column (`least_error`), |D|, the diameter and κ."""
    column, kappa, size = query.facts.schema[name], query.grain(name), query.steps(name) + 1
    far = farthest(column.diameter / kappa, query.epsilon, query.delta) * kappa
    near = nearest(size, query.epsilon, query.delta) * kappa
    facts = {"column": name, "size": size, "diameter": plain(column.diameter), "kappa": plain(kappa)}
    bounds = {"farthest": far, "half": far / 2, "nearest": near, "floor": query.floor(name)}
    shown = {name: two_figures(bound, ROUND_FLOOR) for name, bound in bounds.items()}
    return say("publish_page.floors", **facts, **shown)


def _exact(share: Fraction) -> str:
    return to_figures(float(share), 5)


_STYLE = sheet("publish/publish")


# --- a published table: download it, and ask it anything, free

KINDS = ("mean", "bars", "percentile")
FIRST_ROWS = 6
TOGETHER = " "  # all columns at once, in an address: no column has a blank name
MOST_SHOWN = 60  # bars drawn; the rest are in the list
COARSER = (20, 10, 8, 6, 5, 4, 3, 2)


def show_result(table: dp.Table, answer: dp.Answer) -> None:
    query = answer.query
    assert isinstance(query, OfRows)
    published = table.published(answer)
    answers.show_heading(table, answer, range_words(answer))
    if not published.whole:
        hint(str(dp.AllowanceError("publish.changed")))
    else:
        with st.container(key="card-publish-file"):
            _take(answer, published)
        with st.container(key="card-publish-free"):
            _ask(table, answer, published)
    answers.receipt(answer, "published")
    back = ("published", "of", "what", "bins", "share")
    st.button(say("publish_page.another"), key="publish-another", on_click=nav.forget, args=back)


def _take(answer: dp.Answer, published: Published) -> None:
    query, short = published.query, answer.receipt["charge"]["hash"][:8]
    first = begins(say("publish_page.begins"), *_begins(answer.value["sha256"], published))
    st.html(f"<h2>{escape(say('publish_page.take'))}</h2>{first}")
    cut = False
    if any(isinstance(query.row(name), Blur) for name in query.columns):
        cut = st.toggle(say("publish_page.cut"), key="publish-cut", help=say("publish_page.cut_help"))
        if cut:
            paragraph(say("publish_page.cut_biases"), "warn")
    name = f"published-{short}{'-cut' if cut else ''}"
    # Built when the button is clicked: a large table is not written on every run of the page.
    whole = (lambda: exports.table_parquet(published.table(cut))) if cut else published.path.read_bytes
    files = {
        "csv": ("publish_page.csv", lambda: exports.table_csv(published.table(cut))),
        "parquet": ("publish_page.parquet", whole),
    }
    exports.offer_all(name, f"publish-{cut}", files)
    st.html(
        f'<p class="muted">{escape(say("publish_page.may"))}</p>'
        f'<p class="receipt">{escape(say("publish_page.sha"))} <code>{escape(answer.value["sha256"])}</code></p>'
    )


def begins(lead: str, names: list[str], rows: list[list[str]]) -> str:
    return f'<p class="muted">{escape(lead)}</p>{html_table([*map(called, names)], rows, words=len(names))}'


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


def _ask(table: dp.Table, answer: dp.Answer, published: Published) -> None:
    section_head(say("publish_page.free"), say("publish_page.free_why"))
    columns, sha = list(published.query.columns), answer.value["sha256"]
    offered = [*columns, TOGETHER] if published.crossed else columns
    together = say("publish_page.together")
    name = picked("of", offered, lambda name: together if name == TOGETHER else called(name), say("publish_page.of"))
    if name == TOGETHER:
        each = _result(sha, name, "together", "", published)
        named = {" · ".join(map(cell_words, cells)): estimate for cells, estimate in each.items()}
        _counts(named, published, "together")
        return
    if isinstance(published.query.facts.schema[name], dp.Category | dp.ItemSet):
        _counts(_result(sha, name, "counts", "", published), published, name)
        return
    what = picked("what", list(KINDS), lambda kind: say(f"publish_page.what.{kind}"), say("publish_page.what"))
    try:
        if what == "mean":
            _mean(_result(sha, name, what, "", published), published, name)
        elif what == "bars":
            bins = _number("bins", 2, min(40, published.query.steps(name) + 1), 5, say("publish_page.bins"))
            labels = _labels(published, name, _starts(published, name, bins))
            bars = _result(sha, name, what, str(bins), published)
            if not _counts(dict(zip(labels, bars, strict=True)), published, name, what):
                _coarser(table, published, name)
        else:
            share = _number("share", 1, 99, 50, say("publish_page.share"))
            _percentile(table, _result(sha, name, what, f"{share}/100", published), published, name, share)
    except dp.AllowanceError as refusal:
        hint(str(refusal))
        _coarser(table, published, name)


def picked(parameter: str, options: list[str], words: Any, label: str, place: str = "publish") -> str:
    """Draw a picker of `options`, and return the picked one; the address keeps it under `parameter`. A single option is
    not drawn."""
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
        + (p(note, "muted") if note else "")
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
    if isinstance(column, dp.Date):
        low, high = (_shown(published, name, end) for end in (math.floor(mean.low), math.ceil(mean.high)))
        between = say("answer.between", low=low, high=high, chance=chance(query.beta))
        _line(say("answer.about", value=_shown(published, name, mean.value)), between, note)
        return
    _line(say("answer.about", value=rounded(mean.value, mean.low, mean.high)), _between(mean, query), note)
    limits = float(lower), float(upper)
    charts.point(mean.value, (mean.low, mean.high), called(name), _between(mean, query), "publish-mean", limits)


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


def _counts(each: dict[str, Estimate], published: Published, name: str, kind: str = "counts") -> bool:
    """Draw the counts of a column. If no range excludes anything, say that instead and return False."""
    if all(fills(estimate.low, estimate.high, 0, published.rows) for estimate in each.values()):
        _line(say("answer.nothing"), say(f"publish_page.{kind}_nothing"))
        return False
    paragraph(say("publish_page.counts", values=len(each), chance=chance(published.query.beta)), "lead")
    _drawn(each, published.rows, name)
    return True


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
    """A value in a column as people read it: a number, or a day."""
    ordered = published.query.facts.schema[name]
    return day(published.day(name, float(value))) if isinstance(ordered, dp.Date) else plain(value)


def _drawn(each: dict[str, Estimate], rows: int, name: str) -> None:
    """Draw each value's count with its range, and a folded list with each value's share."""
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
    """Draw what to publish instead: the finest grid on which a bar is exact to a quarter of all rows, or more ε."""
    row, rows = published.query.row(name), published.rows
    if not isinstance(row, Blur):
        return
    for steps in COARSER:
        coarse = Blur(steps, row.epsilon, row.delta)
        if steps < row.steps and 4 * reach_of(coarse, None, steps // 2, rows, published.query.beta) <= rows:
            paragraph(say("publish_page.coarser", steps=steps))
            where = link(table.name, published.query, grid=steps)
            st.page_link(nav.page("publish"), label=say("publish_page.coarser_link", steps=steps), query_params=where)
            return
    paragraph(say("publish_page.spend_more"))


PLACE = "publish"
NAMES = ("columns", "grid", "delta", "epsilon")
_SHORT = 15  # values of a list that is preferred at first
_widget = partial(job.addressed_widget, PLACE)


def show(table: dp.Table) -> None:
    request = st.query_params.get("published")
    shown = fit_warnings.became(table, request, "published", OfRows, "publish.unknown", show_result, _wait)
    if not shown:
        page_head(say("publish_page.title"), say("publish_page.lead"))
        job.show_form(table, PLACE, _never(table), _form)
    history.earlier(say("publish_page.earlier"), table.publications(), "publish", "published", request)
    if not shown:
        st.page_link(nav.page("thesis"), label=say("publish_page.thesis"))


@st.fragment(run_every=0.3)
def _wait(request: str) -> None:
    asked = workspace().job(request)
    if asked.over:
        st.rerun()
    st.progress(asked.done / max(asked.total, 1), say("publish_page.working", share=percent(asked.done / asked.total)))


def _never(table: dp.Table) -> str:
    """A sentence on why nothing of this table can be published; empty if something can."""
    offered = _offered(table)
    if not offered:
        return say("publish_page.no_columns")
    try:
        table.query("publish_table", columns=offered[:1], epsilon="1", noise="")
    except dp.AllowanceError as refusal:
        return say(f"publish_page.{refusal.code}") if refusal.code in ("query.relation", "query.several") else ""
    return ""


def _offered(table: dp.Table) -> list[str]:
    """The columns that can be published: all except sets with very many items."""
    columns = table.schema.columns.items()
    return [name for name, column in columns if not isinstance(column, dp.ItemSet) or column.size <= MOST_ITEMS]


def _form(table: dp.Table) -> None:
    given = job.address_given(table, PLACE, NAMES, lambda given_columns: {"columns": _columns(table, given_columns)})[0]
    given = {"grid": "", "delta": "", **given}
    left, right = st.columns([5, 6], gap="medium")
    chosen = None
    with left, st.container(key="card-publish"):
        label, none = say("publish_page.columns"), say("publish_page.columns_none")
        limits: Any = {"max_selections": MOST_COLUMNS, "placeholder": none}
        columns = st.multiselect(label, _offered(table), given["columns"], called, key=_widget("columns"), **limits)
        usual = given.get("epsilon") or spend.opens_at(_opening(table, {**given, "columns": columns}))
        spend.start_from(table, usual, PLACE)
        more = {"columns": columns, **_more(given)}

        def at(step: str) -> dp.Query:
            return build_question(table, {"epsilon": step, **more}).query

        given = {"epsilon": spend.choose(table, at, PLACE), **more}
        job.remember_address(table, PLACE, given)
        try:
            chosen = build_question(table, given)
        except dp.AllowanceError as error:
            hint(say("publish_page.choose") if not columns else str(error))
        if chosen is not None:
            _buy(table, chosen.query, given)
        job.show_refusal()
    with right, st.container(key="card-publish-preview"):
        section_head(say("publish_page.worth"))
        if chosen is not None:
            show_preview(table, chosen)


def build_question(table: dp.Table, given: dict[str, Any]) -> Chosen:
    """The question that publishes the chosen columns: the best of all ways to publish them."""

    def build(key: str, parameters: dict[str, Any]) -> OfRows:
        query = table.query(key, **parameters, noise="")
        assert isinstance(query, OfRows)
        return query

    return best_way(build, table.schema, {name: value for name, value in given.items() if value != ""})


def _opening(table: dp.Table, given: dict[str, Any]) -> Opening | None:
    """The price at which averages over all rows become useful, within limits; None if what is left buys nothing."""
    return table.opening(lambda epsilon: build_question(table, {**given, "epsilon": text_of(epsilon)}).query)


def _more(given: dict[str, Any]) -> dict[str, str]:
    """Draw the rarely needed settings, a coarser grid and δ, and return them."""
    with fields.details(say("publish_page.more"), "publish-more") as drawn:
        if not drawn:
            return {"grid": given["grid"], "delta": given["delta"]}
        label, note = say("param.grid.label"), say("param.grid.help")
        grid = fields.number_field(label, given["grid"], _widget("grid"), help=note, width=220)
        delta = fields.number_field(say("publish_page.delta"), given["delta"], _widget("delta"), width=220)
        paragraph(say("publish_page.delta_means"))
    return {"grid": grid, "delta": delta}


def _buy(table: dp.Table, query: OfRows, given: dict[str, Any]) -> None:
    price = table.preview(query, checked=True)
    frame.show_price(table, price, "_publish")
    opening = _opening(table, given) if price.share - price.check_share > PART * table.meter().unused else None
    spend.describe(table, query, price, opening=opening)
    spend.exactly(table, query, PLACE)
    if query.delta * query.facts.about >= 1:
        paragraph(say("publish_page.teaching", rows=int(query.delta * query.facts.about)), "warn")
    if fit_warnings.instead_at("published", table, query):
        return
    label = say("publish_page.button", share=prices.takes(table, price.share))
    job.ask_button(label, table, query, "publish-go", disabled=not price.admissible, url_name="published")
    if price.admissible:
        return
    meter = table.meter()
    room = meter.delta_reserve - meter.spent_delta
    if query.delta > room:
        job.refused(say("publish_page.reserve", delta=power_of_ten(query.delta), reserve=power_of_ten(room)))
    else:
        job.too_much(table, "publish_page.too_much")


def _columns(table: dp.Table, arriving: dict[str, str]) -> list[str]:
    offered = _offered(table)
    if (wanted := job.read_names(arriving.get("columns"), offered)) is not None:
        return wanted[:MOST_COLUMNS]
    lists = [name for name in table.schema.of_kind(dp.Category) if table.schema[name].size <= _SHORT]
    return (lists or offered)[:1]
