"""The Synthetic page before anything is spent: columns, what to keep, impossible combinations, how exact, the price."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Collection
from dataclasses import replace
from fractions import Fraction
from html import escape
from itertools import chain, combinations, product
from typing import Any

import streamlit as st

import dpengine as dp
from dpengine.core.printed import chance
from dpengine.core.types import Arrow
from dpengine.declared.conditions import conditions as in_words
from dpengine.declared.conditions import read_predicate
from dpengine.declared.public_rules import rules_on
from dpengine.mechanisms import asked_on
from dpengine.mechanisms.answer_state import fills
from dpengine.mechanisms.marginals.wanted import MOST_COLUMNS
from dpengine.mechanisms.synthetic.of_class import MOST_COLUMNS as MOST_LISTS
from dpengine.mechanisms.synthetic.plans import CHOSEN, MIXED
from dpengine.mechanisms.synthetic.rules import evened
from dpengine.mechanisms.synthetic.small_database import can_be_listed
from dpengine.mechanisms.synthetic.synthetic_table import SyntheticTable, can_be_part
from dpengine.messages import called, plain, say
from dpengine.messages.numbers import to_figures
from dpengine.planning.opening import PART
from dpengine.released import synthetic
from dpengine.released.look import Figure
from dpengine.released.look_fit import MOST_FITTED
from dpengine.released.synthetic import ClassShare, FittedTable, KeptTogether, Synthetic
from ui.ask import answer as answers
from ui.ask import fit_warnings, spend
from ui.board import board_state
from ui.parts import conditions, exports, fields, history, job
from ui.pictures import charts, many
from ui.publish.publish import FIRST_ROWS, MOST_SHOWN, begins, picked
from ui.shell import frame, nav
from ui.shell.frame import hint, page_head, paragraph, section_head
from ui.shell.style import sheet
from ui.words import prices
from ui.words.figures import bare, rounded, rounded_range
from ui.words.markup import bullets, html_table, link, p, paragraphs
from ui.words.phrases import threes
from ui.words.wording import range_words

# --- a synthetic table's expected quality, from public facts: what is measured, how exactly, and what is fitted

MUCH = 0.15  # share of the rows in other cells, above which the page says so


def show_preview(query: SyntheticTable) -> None:
    off = query.off_by_noise()
    sentence = say("synthetic_page.off_much" if off > MUCH else "synthetic_page.off", off=to_figures(100 * off, 2))
    sentence += f" {say('synthetic_page.off_rows')}" if query.counts_rows else ""
    warn = p(sentence, "warn") if off > MUCH else ""
    st.html(
        f"<h2>{escape(say('publish_page.worth'))}</h2><p><b>{escape(plainly(query))}</b></p>{warn}"
        f'<p class="muted">{escape(rows_words(query))}</p>'
    )
    with fields.details(say("synthetic_page.details"), "synthetic-details") as drawn:
        if drawn:
            st.html(paragraphs([promised(query), *([] if warn else [sentence]), say("synthetic_page.fitted")]))
    # Before buying: what it is good for, and what not.
    even = [name for name, several in evened(query.axes, query.facts).items() if several]
    bad = [say("synthetic_page.bad")]
    if even:
        bad += [say("synthetic_page.bad_averages", columns=even), say("synthetic_page.bad_averages_but")]
    st.html(f"{good_words(query)}<p>{escape(' '.join(bad))}</p>")


def plainly(query: SyntheticTable, kept: KeptTogether | None = None) -> str:
    """Sentences: what is counted, and an example of a count's error in people. `kept` says what was counted, once that
    is known."""
    kind = _kind(query)
    widest = math.ceil(max(query.reach(part) for part in query.sets)) if kept is None else kept.widest
    people = max(int(float(f"{query.facts.about / 10:.1g}")), 1)
    if kept is not None and query.plan == CHOSEN:
        sentence = say(f"synthetic_page.had.{kind}", keep=query.keep, sets=counted_together(kept))
    else:
        turns = query.turns if kept is None else kept.threes
        sentence = say(f"synthetic_page.plain.{kind}", keep=query.keep, turns=turns)
    ends = {"low": max(people - widest, 0), "high": people + widest, "of": say(f"synthetic_page.of_{query.counted}")}
    return f"{sentence} {say('synthetic_page.plain_example', said=people, chance=chance(query.beta), **ends)}"


def _kind(query: SyntheticTable) -> str:
    all_chosen = query.plan == MIXED and query.turns == query.choices
    return query.plan + ("_keep" if query.keep and query.plan == CHOSEN else "_all" if all_chosen else "")


def counted_together(kept: KeptTogether) -> str:
    """A sentence part: how many of all pairs and triples of columns were counted."""
    facts = {"pairs": kept.pairs, "all": kept.all_pairs, "threes": kept.threes}
    return say("synthetic_page.had_both" if kept.threes else "synthetic_page.had_pairs", **facts)


def promised(query: SyntheticTable, kept: KeptTogether | None = None) -> str:
    """What is measured and within which intervals, in words: the widest of all, and the widest of a single column.
    `kept` says what was measured, once that is known."""
    if kept is not None and query.plan == CHOSEN:
        unit = say(f"compare.unit.{query.counted}", value=kept.widest)
        facts = {"sets": counted_together(kept), "widest": kept.widest, "of": unit}
        return say("synthetic_page.promised.had", chance=chance(query.beta), **facts)
    reach = {part: query.reach(part) for part in query.sets}
    facts = {"keep": query.keep, "sets": len(query.sets)}
    facts |= {"cells": query.cell_count, "turns": query.turns, "parts": query.choices, "chance": chance(query.beta)}
    facts["widest"] = math.ceil(max(reach.values()))
    facts["of"] = say(f"compare.unit.{query.counted}", value=facts["widest"])
    facts["single"] = math.ceil(max(query.reach((place,)) for place in range(len(query.axes))))
    facts["pair"] = math.ceil(max(reach[part] for part in query.sets if len(part) == 2))
    return say(f"synthetic_page.promised.{_kind(query)}", **facts)


def rows_words(query: SyntheticTable) -> str:
    if query.layout.known:
        rows = query.rows_made([])
        return say("synthetic_page.rows_known" if rows == query.facts.people else "synthetic_page.rows_most", rows=rows)
    return say("synthetic_page.rows_noisy")


def good_words(query: SyntheticTable, follows: Collection[str] = ()) -> str:
    """HTML on what the synthetic table is good for. `follows` are the columns whose values follow another answer."""
    several = evened(query.axes, query.facts)
    every = [name for name, some in several.items() if not some and name not in follows]
    curved = [name for name in several if name in follows]
    noisy = query.off_by_noise() > MUCH
    good = [say("synthetic_page.good_noisy" if noisy else "synthetic_page.good")]
    good += [say("synthetic_page.good_averages", columns=every)] if every and not noisy else []
    good += [say("synthetic_page.good_averages_curve", columns=curved)] if curved else []
    mark = ' class="warn"' if noisy else ""
    return f"<h2>{escape(say('synthetic_page.good_title'))}</h2><p{mark}>{escape(' '.join(good))}</p>"


# --- rows for anybody: the first of them, and the files to download

MOST_IN_SHEET = 200_000  # rows of a spreadsheet


def take_away(answer: dp.Answer, table: Callable[..., Arrow], in_sheet: int | None = None) -> None:
    """Draw the first rows and the downloads. `table(many)` builds the first rows, `table()` all; `in_sheet` is the
    number of rows if a spreadsheet is offered too."""
    name = f"synthetic-{answer.receipt['charge']['hash'][:8]}"
    first = table(FIRST_ROWS)
    rows = [["" if cell is None else str(cell) for cell in row.values()] for row in first.to_pylist()]
    # Built when the button is clicked: a large table is not written on every run of the page.
    files = {
        "csv": ("publish_page.csv", lambda: exports.table_csv(table())),
        "parquet": ("publish_page.parquet", lambda: exports.table_parquet(table())),
    }
    if in_sheet is not None and in_sheet <= MOST_IN_SHEET:
        files["xlsx"] = ("synthetic_page.excel", lambda: exports.table_sheet(table()))
    section_head(say("publish_page.take"))
    st.html(begins(say("synthetic_page.begins"), list(first.column_names), rows))
    exports.offer_all(name, "synthetic", files)
    paragraph(say("synthetic_page.may"))


# --- a synthetic table: download it, and ask it anything, free


def show_made(table: dp.Table, answer: dp.Answer) -> None:
    rows = table.synthetic(answer)
    assert isinstance(rows, Synthetic)
    answers.show_heading(table, answer, range_words(answer))
    with st.container(key="card-synthetic-rows"):
        take_away(answer, rows.table)
    with st.container(key="card-synthetic-free"):
        _ask(rows)
    answers.receipt(answer, "synthetic")
    st.button(say("synthetic_page.another"), key="synthetic-another", on_click=nav.forget, args=("made", "of", "if"))


def _ask(fitted: Synthetic) -> None:
    title, why = say("publish_page.free"), say("synthetic_page.free_why")
    section_head(title, why)
    columns = fitted.query.columns
    groups: dict[str, tuple[str, ...]] = {name: (name,) for name in columns}
    pairs = {f"{first} × {other}": (first, other) for first, other in combinations(columns, 2)}
    groups |= {name: pair for name, pair in pairs.items() if name not in groups}
    condition = "?" * (1 + max((len(name) for name in groups if set(name) == {"?"}), default=0))  # not a column's name
    words = {name: called(name) for name in groups} | {condition: say("synthetic_page.of_condition")}
    of = picked("of", [*words], words.__getitem__, say("synthetic_page.of"), "synthetic")
    if of == condition:
        _condition(fitted)
    else:
        _shares(fitted, fitted.marginal(groups[of]), of)


def _condition(fitted: Synthetic) -> None:
    """Draw conditions and the share of the rows that meet them; the address keeps the conditions."""
    schema = dp.Schema({name: fitted.query.facts.schema[name] for name in fitted.query.columns})
    known = job.read_address(st.query_params.get("if"))
    lists = conditions.Lists(fitted.query.facts.table, schema)
    rows = conditions.conditions(lists, known if isinstance(known, list) else [], "made")
    if not rows:
        return
    try:
        share = fitted.share(rows)
    except dp.AllowanceError as refusal:
        hint(str(refusal))
        return
    st.query_params["if"] = json.dumps(rows, ensure_ascii=False)
    sentence = say("answer.about_percent", value=_points(share))
    st.html(f'<p class="together">{escape(sentence)}</p><p class="lead">{escape(_promise(fitted, share))}</p>')


def _promise(fitted: Synthetic, share: ClassShare) -> str:
    if share.interval is None:
        return say("synthetic_page.no_promise")
    if fills(*share.interval, 0, 100):
        return say("synthetic_page.nothing")
    low, high = rounded_range(*share.interval)
    return say("answer.between", low=low, high=high, chance=chance(fitted.query.beta)) + _guess(fitted)


def _guess(fitted: Synthetic) -> str:
    nominal = fitted.query.promise().nominal
    return " " + say("synthetic_page.nominal", people=fitted.query.facts.about) if nominal else ""


def _points(share: ClassShare) -> str:
    return bare(share.value) if share.interval is None else rounded(share.value, *share.interval)


def _shares(fitted: Synthetic, shares: dict[str, ClassShare], name: str) -> None:
    """Draw the shares as bars, with the promised error if there is one, and the numbers."""
    promise = fitted.query.promise()
    promised = all(share.width is not None for share in shares.values())
    sentence = say("synthetic_page.no_promise")
    if promised:
        sentence = say("synthetic_page.shares", alpha=promise.alpha_words(), chance=chance(promise.beta))
        sentence += _guess(fitted)
    paragraph(sentence, "lead")
    values = {label: share.value for label, share in shares.items()}
    ranges = {label: share.interval for label, share in shares.items() if share.interval is not None}
    printed = {label: f"{_points(share)} %" for label, share in shares.items()}
    titles = ("publish_page.column.share", "answer.column.range")
    _drawn(values, ranges, printed, promised, say("chart.percent"), name, titles)


def _drawn(
    values: dict[str, float],
    ranges: dict[str, tuple[float, float]],
    printed: dict[str, str],
    measured: bool,
    axis: str,
    name: str,
    titles: tuple[str, str],
) -> None:
    """Draw the first values as ranges, or as bars if not all were `measured`; and all values in a table."""
    first = list(values)[:MOST_SHOWN]
    if len(values) > MOST_SHOWN:
        paragraph(say("synthetic_page.first", shown=MOST_SHOWN, many=len(values)))
    words = axis, "; ".join(f"{label}: {printed[label]}" for label in first), f"synthetic-{name}"
    if measured:
        charts.ranges({label: values[label] for label in first}, {label: ranges[label] for label in first}, *words)
    else:
        charts.bars({label: values[label] for label in first}, None, *words)
    with st.expander(say("answer.figures")):
        page = many.page(values, f"synthetic-page-{name}")
        ends = {label: " – ".join(rounded_range(*ranges[label])) if label in ranges else "–" for label in page}
        heads = [say(code) for code in ("answer.column.label", *titles)]
        st.html(html_table(heads, [(label, printed[label], ends[label]) for label in page]))


# --- what a paid synthetic table does not keep: beside its files, and in a sentence under Answers. From the release and
# public facts alone.

FEW = 12  # pairs named in the line itself
NAMED = 6  # values


def show_not_kept(fitted: FittedTable, kept: KeptTogether) -> None:
    """Draw what the rows do not keep, in one point each; many pairs are folded."""
    lines = [_pairs(kept), threes(kept), _averages(fitted, kept), _rare(fitted, kept), _none(fitted)]
    lines.append(say("synthetic_page.bad_rest"))
    points = bullets(filter(None, lines), "kept")
    st.html(f"{_STYLE}<h2>{escape(say('synthetic_page.not_kept'))}</h2>{points}")
    if len(kept.apart) > FEW:
        with st.expander(say("synthetic_page.apart_which", many=len(kept.apart))):  # for each column, the others
            heads = say("synthetic_page.apart_column"), say("synthetic_page.apart_with")
            rows = [(called(name), ", ".join(map(called, others))) for name, others in kept.apart_by_column().items()]
            st.html(html_table(heads, rows, words=2, scroll="scroll tall"))


def _pairs(kept: KeptTogether) -> str:
    if not kept.apart:
        return ""
    facts = {"many": len(kept.apart), "all": kept.all_pairs}
    if len(kept.apart) > FEW:
        return say("synthetic_page.apart", **facts)
    named = [f"{first} × {other}" for first, other in kept.apart]
    return say("synthetic_page.apart_named", pairs=named, **facts)


def _averages(fitted: FittedTable, kept: KeptTogether) -> str:
    even = [name for name in kept.uneven if name not in fitted.refined]
    if not even:
        return ""
    sentence = say("synthetic_page.bad_averages", columns=even)
    if off := fitted.off_by_spreading():
        by = [f"{name} ±{bare(float(f'{size:.2g}'))}" for name, size in off.items()]
        sentence += " " + say("synthetic_page.bad_averages_by", off=by)
    return sentence


def _rare(fitted: FittedTable, kept: KeptTogether) -> str:
    of = say(f"synthetic_page.of_{fitted.query.counted}")
    sentence = say("synthetic_page.rare", single=kept.reach(1), pair=kept.reach(2), of=of)
    names = []
    for place, column in enumerate(kept.names):
        perhaps = synthetic.perhaps_none(fitted.look, place, fitted.counts(column))
        names += [f"{called(column)}: {name}" for name in perhaps]
    if not names:
        return sentence
    more = max(len(names) - NAMED, 0)
    code = "synthetic_page.rare_more" if more else "synthetic_page.rare_named"
    return f"{sentence} {say(code, values='; '.join(names[:NAMED]), more=more)}"


def _none(fitted: FittedTable) -> str:
    """A sentence on cells outside a list, or without a value, that got no rows because they may be zero; empty if there
    are none."""
    names = []
    for place, (column, out) in enumerate(zip(fitted.look.cells, fitted.left_out, strict=True)):
        cells = zip(fitted.query.cell_names(place), out, fitted.counts(column), strict=True)
        names += [f"{called(column)}: {name}" for name, no, rows in cells if no and not rows]
    if not names:
        return ""
    if len(names) > NAMED:
        return say("synthetic_page.none_many", many=len(names))
    return say("synthetic_page.none_named", values="; ".join(names))


def show_fitted(table: dp.Table, answer: dp.Answer) -> None:
    fitted = table.synthetic(answer)
    assert isinstance(fitted, FittedTable)
    kept = KeptTogether(fitted.look)
    answers.show_heading(table, answer, plainly(fitted.query, kept))
    if fitted.ready:
        with st.container(key="card-synthetic-rows"):
            take_away(answer, fitted.table, fitted.rows)
            if refined := fitted.refined:  # the columns with values inside the measured groups from another answer
                links = [link(history.address_of(table.name, request), name) for name, request in refined.items()]
                st.html(f'<p class="muted">{escape(say("synthetic_page.values_curve"))} {", ".join(links)}.</p>')
            show_not_kept(fitted, kept)
            st.html(good_words(fitted.query, fitted.refined))
        with st.container(key="card-synthetic-free"):
            _beside(fitted)
            _measured(answer, fitted, kept)
    elif fitted.progress() is not None:
        _fitting(fitted)
    else:
        hint(say("synthetic_page.making"))
        st.button(say("synthetic_page.make"), key="synthetic-fit", on_click=table.make_rows, args=(answer,))
    where = {"table": table.name, "look": answer.request_id}
    st.page_link(nav.page("board"), label=say("synthetic_page.board"), query_params=where)
    answers.receipt(answer, "synthetic")
    st.button(say("synthetic_page.another"), key="synthetic-another", on_click=nav.forget, args=("made", "of"))


@st.fragment(run_every=0.5)
def _fitting(fitted: FittedTable) -> None:
    """Draw the progress of the fit. When it ends, the page runs again."""
    now = fitted.progress()
    if now is None or fitted.ready:
        st.rerun()
    paragraph(say("synthetic_page.fitting"), role="status")
    st.progress(min(now[0] / max(now[1], 1), 1.0))


def _measured(answer: dp.Answer, fitted: FittedTable, kept: KeptTogether) -> None:
    """Draw, folded and as a file, what was counted together and how exactly; also the fit's error if that can be
    checked."""
    of = say(f"synthetic_page.of_{fitted.query.counted}")
    names = say("synthetic_page.column.together"), say("synthetic_page.column.within", of=of)
    rows = [(" × ".join(map(called, columns)), reach) for columns, reach in fitted.together()]
    with fields.details(say("synthetic_page.together", sets=counted_together(kept)), "synthetic-together") as drawn:
        if not drawn:
            return
        for line in (promised(fitted.query, kept), say("synthetic_page.together_lead"), _tried(fitted)):
            paragraph(line)
        st.html(html_table(names, [(label, plain(to)) for label, to in rows], scroll="scroll tall"))
        name = f"measured-{answer.receipt['charge']['hash'][:8]}.csv"
        exports.offer(say("synthetic_page.together_csv"), exports.as_csv(names, rows), name, "synthetic-measured")


def _beside(fitted: FittedTable) -> None:
    """Draw the measured intervals of one or two columns beside the counts of the rows."""
    section_head(say("synthetic_page.beside"))
    names = fitted.look.cells
    groups: dict[str, tuple[str, ...]] = {name: (name,) for name in names}
    pairs = {f"{left} × {other}": (left, other) for left, other in combinations(names, 2)}
    groups |= {name: pair for name, pair in pairs.items() if name not in groups and _shown(fitted, *pair)}
    of = picked("of", list(groups), called, say("synthetic_page.beside_of"), "synthetic")
    figures, counts = _figures(fitted, groups[of])
    measured = all(left.low is not None for left in figures)
    code = "synthetic_page.beside_why" if measured else "synthetic_page.not_measured"
    paragraph(say(code, chance=chance(fitted.query.beta)))
    labels = [left.label for left in figures]
    values = dict(zip(labels, counts, strict=True))
    bands = {left.label: (left.low, left.high) for left in figures if left.low is not None and left.high is not None}
    if measured:
        inside = sum(low <= values[label] <= high for label, (low, high) in bands.items())
        paragraph(say("synthetic_page.inside", inside=inside, cells=len(bands)), "")
    printed = {label: plain(round(value)) for label, value in values.items()}
    axis = say("chart.rows" if fitted.query.counts_rows else "chart.people")
    titles = ("synthetic_page.column.rows", "synthetic_page.column.measured")
    _drawn(values, bands, printed, measured, axis, of, titles)


def _figures(fitted: FittedTable, names: tuple[str, ...]) -> tuple[list[Figure], list[float]]:
    """The measurements of these columns (without any, estimates), and the counts of the rows in the same cells, with
    readable labels."""
    query, counts = fitted.query, fitted.counts(*names)
    cells = [query.cell_names(fitted.look.place(name)) for name in names]
    figures = fitted.look.bars(names[0]) if len(names) == 1 else list(chain(*fitted.look.cross(*names)))
    labels = map(", ".join, product(*cells))
    named = [replace(figure, label=label) for figure, label in zip(figures, labels, strict=True)]
    return named, counts.ravel().tolist()


def _shown(fitted: FittedTable, first: str, other: str) -> bool:
    """Can two columns be drawn together? Only if they were measured, or have few enough cells for an estimate."""
    part = tuple(sorted((fitted.look.place(first), fitted.look.place(other))))
    few = fitted.sizes[part[0]] * fitted.sizes[part[1]] <= MOST_FITTED
    return part in fitted.look.marginals or (few and fitted.look.fits(part))


def _tried(fitted: FittedTable) -> str:
    tried = fitted.tried
    if tried is None:
        return say("synthetic_page.tried_not")
    off, noise, alone = (to_figures(100 * error, 2) for error in (tried.off, tried.noise, tried.alone))
    sentence = say("synthetic_page.tried", pairs=tried.pairs, off=off, noise=noise, alone=alone)
    return f"{sentence} {say('synthetic_page.tried_chosen')}" if fitted.query.plan == CHOSEN else sentence


_STYLE = sheet("synthetic/synthetic")


PLACE = "synthetic"
NAMES = ("way", "columns", "keep", "never", "epsilon")
KEY = SyntheticTable.card.key
MOST_DRAWN = 6  # rules in the form; more come by a link
_DRAWN = ("in", "not in", "between", ">=", "<=")  # conditions that the form can show
_USUAL = 15  # columns chosen at first


def show(table: dp.Table) -> None:
    request = st.query_params.get("made")
    if not fit_warnings.became(table, request, "made", lambda query: query.makes_rows, "synthetic.unknown", _result):
        page_head(say("synthetic_page.title"), say("synthetic_page.lead"))
        job.show_form(table, PLACE, say("synthetic_page.no_columns") if len(_offered(table)) < 2 else "", _form)
    history.earlier(say("synthetic_page.earlier"), table.syntheses(), "synthetic", "made", request)


def _result(table: dp.Table, answer: dp.Answer) -> None:
    (show_fitted if answer.query.makes_rows == "fitted" else show_made)(table, answer)


def _offered(table: dp.Table) -> list[str]:
    return [name for name, column in table.schema.columns.items() if can_be_part(column)]


def _form(table: dp.Table) -> None:
    given, arrived = job.address_given(table, PLACE, NAMES, lambda arriving: _filled(table, arriving))
    if arrived:
        fields.forget_pickers()
    ways = [way for way in asked_on(PLACE) if not _draws(way) or _lists(table)]
    way = str(given.get("way")) if given.get("way") in ways else ways[0]
    if len(ways) > 1:
        way = fields.choose("synthetic_page.way", ways, way, job.addressed_widget(PLACE, "way"))
    if _draws(way):
        _drawn_form(table, way, given, arrived)
        return
    left, right = st.columns([5, 6], gap="medium")
    query: SyntheticTable | None = None
    with left, st.container(key="card-synthetic-what"):
        label, key = say("synthetic_page.columns"), job.addressed_widget(PLACE, "columns")
        limits: Any = {"max_selections": MOST_COLUMNS, "placeholder": say("publish_page.columns_none")}
        columns = st.multiselect(label, _offered(table), given["columns"], called, key=key, **limits)
        keep = _keep(columns, str(given.get("keep") or ""))
        now: dict[str, Any] = {"columns": columns, "keep": keep, "never": _rules(table, columns, given)}
    with right, st.container(key="card-synthetic"):
        refusal = ""
        try:
            plain = _built(table, now | {"epsilon": "1"})
        except dp.AllowanceError as error:
            plain, refusal = None, str(error)
        usual = given.get("epsilon") or spend.opens_at(None if plain is None else table.opening(plain, _worth))
        spend.start_from(table, usual, PLACE)
        if plain is not None:
            now["epsilon"] = spend.choose(table, lambda step: _built(table, now | {"epsilon": step}), PLACE)
            query = _built(table, now)
        else:
            now["epsilon"] = st.session_state[f"{PLACE}-epsilon"]
        job.remember_address(table, PLACE, now, arrived)
        if query is None:
            hint(refusal)
        else:
            price = table.preview(query, checked=True)
            frame.show_price(table, price, "_synthetic")
            show_preview(query)
            dear = price.share - price.check_share > PART * table.meter().unused
            if dear and (least := spend.least_html(table, table.opening(query, _worth))):
                st.html(least)
            _offer(table, query, price)
        job.show_refusal()


def _draws(way: str) -> bool:
    """Does this way draw rows as they are, instead of fitting them to counts?"""
    return dp.catalogue[way].makes_rows == "drawn"


def _lists(table: dp.Table) -> list[str]:
    """The columns with lists so short that all small databases over one of them can be listed, the shortest first."""
    sizes = {name: table.schema.category(name).size for name in table.schema.of_kind(dp.Category)}
    return sorted((name for name, size in sizes.items() if can_be_listed([size])), key=sizes.__getitem__)


def _drawn_form(table: dp.Table, key: str, given: dict[str, Any], arrived: bool) -> None:
    """Draw the form for rows that are drawn as they are, all at once: the lecture's way, for a few short lists."""
    offered = _lists(table)
    wanted = [name for name in given["columns"] if name in offered] if given.get("way") == key else []
    left, right = st.columns([5, 6], gap="medium")
    with left, st.container(key="card-synthetic-what"):
        note, label = say("synthetic_page.lecture"), say("synthetic_page.columns")
        paragraph(note)
        limits: Any = {"max_selections": MOST_LISTS, "placeholder": say("publish_page.columns_none")}
        widget = job.addressed_widget(PLACE, f"columns-{key}")
        columns = st.multiselect(label, offered, wanted or offered[:1], called, key=widget, **limits)
    now: dict[str, Any] = {"way": key, "columns": columns, "epsilon": given.get("epsilon")}

    def made(step: str) -> dp.Query:
        return table.query(key, columns=columns, epsilon=step, noise="")

    with right, st.container(key="card-synthetic"):
        try:
            plain_query = made("1")
        except dp.AllowanceError as error:
            job.remember_address(table, PLACE, now, arrived)
            hint(str(error))
            return
        spend.start_from(table, given.get("epsilon") or spend.opens_at(table.opening(plain_query)), PLACE)
        now["epsilon"] = spend.choose(table, made, PLACE)
        query = made(now["epsilon"])
        job.remember_address(table, PLACE, now, arrived)
        price = table.preview(query, checked=True)
        frame.show_price(table, price, "_synthetic")
        words = [query.promise().words(query), say("synthetic_page.lecture_rows", rows=getattr(query, "rows", 0))]
        st.html(paragraphs(words, ""))
        if query.promise().amount > query.coarse():
            hint(say("synthetic_page.lecture_noise"))
        if _offer(table, query, price):
            job.show_refusal()


def _built(table: dp.Table, now: dict[str, Any]) -> SyntheticTable:
    query = table.query(KEY, **{name: value for name, value in now.items() if value}, noise="")
    assert isinstance(query, SyntheticTable)
    if not now["columns"]:
        raise dp.AllowanceError("synthetic_table.columns", most=MOST_COLUMNS)
    return query


def _keep(columns: list[str], now: str) -> str:
    words = {"": say("synthetic_page.keep.all")}
    words |= {column: say("synthetic_page.keep.column", column=column) for column in columns}
    options, label, note = list(words), say("synthetic_page.keep"), say("param.keep.help")
    at, key = options.index(now) if now in options else 0, job.addressed_widget(PLACE, "keep")
    return str(st.selectbox(label, options, at, words.__getitem__, key, help=note))


def _rules(table: dp.Table, columns: list[str], given: dict[str, Any]) -> list[Any]:
    """Draw fields for impossible combinations of the chosen columns, and return the combinations."""
    known = given.get("never")
    known = known if isinstance(known, list) else []
    declared = rules_on(table.schema, columns)
    known = [rule for rule in known if rule not in declared]
    with fields.details(say("synthetic_page.rules"), "synthetic-rules", bool(known or declared)) as drawn:
        if not drawn:
            return known
        if declared:
            st.html(_declared(table, declared))
        paragraph(say("synthetic_page.rules_why"))
        if len(known) > MOST_DRAWN or not all(_drawable(rule, columns) for rule in known):
            paragraph(say("form.where_from_link"))
            return known
        if not columns:
            return []
        lists = conditions.Lists(table.name, dp.Schema({name: table.schema[name] for name in columns}))
        counter = job.addressed_widget(PLACE, "many")
        count = st.session_state.setdefault(counter, len(known))
        built = []
        for place in range(count):
            paragraph(say("synthetic_page.rule"))
            rows = known[place] if place < len(known) else []
            built.append(conditions.conditions(lists, rows, f"synthetic{place}"))
        with st.container(horizontal=True):
            for name, step, offered in (("add", 1, count < MOST_DRAWN), ("less", -1, count > 0)):
                if offered:
                    label, change = say(f"synthetic_page.rule_{name}"), (counter, step)
                    st.button(label, key=f"synthetic-{name}", on_click=conditions.more_lines, args=change)
    return [condition for condition in built if condition]


def _declared(table: dp.Table, rules: list[Any]) -> str:
    sentences = [in_words(read_predicate(rule, table.schema)) for rule in rules]
    return p(say("synthetic_page.known_rules")) + bullets(sentences)


def _drawable(rule: Any, columns: list[str]) -> bool:
    """Can the form show this rule exactly? The form shows no similar condition in its place, which would exclude other
    people."""
    rows = rule if isinstance(rule, list) else [rule]
    return all(isinstance(row, list) and len(row) == 3 and row[0] in columns and row[1] in _DRAWN for row in rows)


def _worth(query: dp.Query) -> Fraction:
    """How useful the answer is: how many times less the noise moves than the share of rows that counts as much."""
    assert isinstance(query, SyntheticTable)
    return Fraction(MUCH / max(query.off_by_noise(), 1e-9))


def _offer(table: dp.Table, query: dp.Query, price: dp.Preview) -> bool:
    """Draw the button with its price. False if a doubted column stands in place of the button."""
    board_state.counted_as(query)
    spend.exactly(table, query, PLACE)
    label = say("synthetic_page.button", share=prices.takes(table, price.share))
    fit_warnings.before(table, query, price)
    if fit_warnings.instead_at("made", table, query):
        return False
    job.ask_button(label, table, query, "synthetic-go", disabled=not price.admissible, url_name="made")
    if not price.admissible and not job.short(table, price):
        job.too_much(table, "synthetic_page.too_much")
    return True


def _filled(table: dp.Table, arriving: dict[str, str]) -> dict[str, Any]:
    """The form's values from an address; by default the first columns."""
    offered, way = _offered(table), arriving["way"] if arriving.get("way") in asked_on(PLACE) else ""
    columns = job.read_names(arriving.get("columns"), offered)
    if columns is None:
        columns = _lists(table)[:1] if way and _draws(way) else offered[:_USUAL]
    never, keep = job.read_address(arriving.get("never")), arriving.get("keep", "")
    return {
        "way": way,
        "columns": columns[:MOST_COLUMNS],
        "keep": keep if keep in columns else "",
        "never": never if isinstance(never, list) else [],
    }
