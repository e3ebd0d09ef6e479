"""A paid synthetic table: download it, and compare its rows with what was measured."""

from __future__ import annotations

from dataclasses import replace
from html import escape
from itertools import chain, combinations, product

import streamlit as st

import dpengine as dp
from dpengine.core.printed import chance
from dpengine.mechanisms.synthetic.plans import CHOSEN
from dpengine.messages import plain, say
from dpengine.messages.numbers import to_figures
from dpengine.released import synthetic
from dpengine.released.look import Figure
from dpengine.released.look_fit import MOST_FITTED
from dpengine.released.synthetic import FittedTable, KeptTogether
from ui.ask import answer as answers
from ui.parts import answer_notes, exports, history
from ui.pictures import charts, many
from ui.publish.publish_result import MOST_SHOWN, picked
from ui.shell import nav
from ui.synthetic.synthetic_preview import counted_together, good_words, plainly, promised
from ui.synthetic.take_rows import take_away
from ui.words.figures import bare, rounded_range
from ui.words.markup import html_table
from ui.words.phrases import threes
from ui.words.wording import headline

# --- what a paid synthetic table does not keep: beside its files, and in a sentence under Answers. From the release and
# public facts alone.

FEW = 12  # pairs named in the line itself
NAMED = 6  # values


def show_not_kept(fitted: FittedTable, kept: KeptTogether) -> None:
    """One point each; many pairs are folded."""
    lines = [_pairs(kept), threes(kept), _averages(fitted, kept), _rare(fitted, kept), _none(fitted)]
    lines.append(say("synthetic_page.bad_rest"))
    points = "".join(f"<li>{escape(line)}</li>" for line in lines if line)
    st.html(f"{_NOT_KEPT_STYLE}<h2>{escape(say('synthetic_page.not_kept'))}</h2><ul class='kept'>{points}</ul>")
    if len(kept.apart) > FEW:
        with st.expander(say("synthetic_page.apart_which", many=len(kept.apart))):
            st.html(_apart(kept))


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
        names += [f"{column}: {name}" for name in synthetic.perhaps_none(fitted.look, place, fitted.counts(column))]
    if not names:
        return sentence
    more = max(len(names) - NAMED, 0)
    code = "synthetic_page.rare_more" if more else "synthetic_page.rare_named"
    return f"{sentence} {say(code, values='; '.join(names[:NAMED]), more=more)}"


def _none(fitted: FittedTable) -> str:
    """The cells that a declaration implies and that got no rows."""
    names = []
    for place, (column, out) in enumerate(zip(fitted.look.cells, fitted.left_out, strict=True)):
        cells = zip(fitted.query.cell_names(place), out, fitted.counts(column), strict=True)
        names += [f"{column}: {name}" for name, no, rows in cells if no and not rows]
    if not names:
        return ""
    if len(names) > NAMED:
        return say("synthetic_page.none_many", many=len(names))
    return say("synthetic_page.none_named", values="; ".join(names))


def _apart(kept: KeptTogether) -> str:
    """For each column, those it was not measured with."""
    heads = say("synthetic_page.apart_column"), say("synthetic_page.apart_with")
    rows = [(name, ", ".join(others)) for name, others in kept.apart_by_column().items()]
    return html_table(heads, rows, words=2, scroll="scroll tall")


_NOT_KEPT_STYLE = """<style>
[data-testid="stHtml"] ul.kept { margin: 0 0 0.6rem 0; padding-inline-start: 1.2rem; }
[data-testid="stHtml"] ul.kept li { margin: 0 0 0.4rem 0; overflow-wrap: anywhere; }
</style>"""


def show(table: dp.Table, answer: dp.Answer) -> None:
    fitted = table.synthetic(answer)
    assert isinstance(fitted, FittedTable)
    of, kept = say("answer.of", sentence=answer.sentence, table=table.name), KeptTogether(fitted.look)
    st.html(
        f'<p class="question">{escape(of)}</p><p class="headline">{escape(headline(answer))}</p>'
        f'<p class="lead">{escape(plainly(fitted.query, kept))}</p>'
        f"{answer_notes.fit_notes(answer)}{answer_notes.cut_note(answer.query)}"
    )
    if fitted.ready:
        with st.container(key="card-synthetic-rows"):
            take_away(answer, fitted.table, fitted.rows)
            if fitted.refined:
                st.html(_inside(table, fitted))
            show_not_kept(fitted, kept)
            st.html(good_words(fitted.query, fitted.refined))
        with st.container(key="card-synthetic-free"):
            _beside(fitted)
            _measured(answer, fitted, kept)
    elif fitted.progress() is not None:
        _fitting(fitted)
    else:
        st.html(f'<p class="warn" role="status">{escape(say("synthetic_page.making"))}</p>')
        st.button(say("synthetic_page.make"), key="synthetic-fit", on_click=table.make_rows, args=(answer,))
    where = {"table": table.name, "look": answer.request_id}
    st.page_link(nav.page("board"), label=say("synthetic_page.board"), query_params=where)
    answers.receipt(answer, "synthetic")
    st.button(say("synthetic_page.another"), key="synthetic-another", on_click=nav.forget, args=("made", "of"))


@st.fragment(run_every=0.5)
def _fitting(fitted: FittedTable) -> None:
    """The fit's progress; the measurements can be seen meanwhile."""
    now = fitted.progress()
    if now is None or fitted.ready:
        st.rerun()
    st.html(f'<p class="muted" role="status">{escape(say("synthetic_page.fitting"))}</p>')
    st.progress(min(now[0] / max(now[1], 1), 1.0))


def _inside(table: dp.Table, fitted: FittedTable) -> str:
    """The columns with values inside the measured groups from another answer."""
    links = ", ".join(
        f'<a href="{history.address_of(table.name, request)}" target="_self">{escape(name)}</a>'
        for name, request in fitted.refined.items()
    )
    return f'<p class="muted">{escape(say("synthetic_page.values_curve"))} {links}.</p>'


def _measured(answer: dp.Answer, fitted: FittedTable, kept: KeptTogether) -> None:
    """What was counted together and how exactly, folded, and as a file; the fit's error if it can be checked."""
    of = say(f"synthetic_page.of_{fitted.query.counted}")
    names = say("synthetic_page.column.together"), say("synthetic_page.column.within", of=of)
    rows = [(" × ".join(columns), reach) for columns, reach in fitted.together()]
    with st.expander(say("synthetic_page.together", told=counted_together(kept))):
        for line in (promised(fitted.query, kept), say("synthetic_page.together_lead"), _tried(fitted)):
            st.html(f'<p class="muted">{escape(line)}</p>')
        st.html(html_table(names, [(label, plain(to)) for label, to in rows], scroll="scroll tall") + _STYLE)
        name = f"measured-{answer.receipt['charge']['hash'][:8]}.csv"
        exports.offer(say("synthetic_page.together_csv"), exports.as_csv(names, rows), name, "synthetic-measured")


def _beside(fitted: FittedTable) -> None:
    """For one or two columns: the measured intervals, and the rows."""
    st.html(f"<h2>{escape(say('synthetic_page.beside'))}</h2>")
    names = fitted.look.cells
    groups: dict[str, tuple[str, ...]] = {name: (name,) for name in names}
    pairs = {f"{left} × {other}": (left, other) for left, other in combinations(names, 2)}
    groups |= {name: pair for name, pair in pairs.items() if name not in groups and _shown(fitted, *pair)}
    of = picked("of", list(groups), lambda left: left, say("synthetic_page.beside_of"), "synthetic")
    figures, counts = _figures(fitted, groups[of])
    measured = all(left.low is not None for left in figures)
    code = "synthetic_page.beside_why" if measured else "synthetic_page.not_measured"
    st.html(f'<p class="muted">{escape(say(code, chance=chance(fitted.query.beta)))}</p>')
    labels = [left.label for left in figures]
    values = dict(zip(labels, counts, strict=True))
    bands = {left.label: (left.low, left.high) for left in figures if left.low is not None and left.high is not None}
    if measured:
        inside = sum(low <= values[label] <= high for label, (low, high) in bands.items())
        st.html(f"<p>{escape(say('synthetic_page.inside', inside=inside, cells=len(bands)))}</p>")
    first = labels[:MOST_SHOWN]
    if len(labels) > MOST_SHOWN:
        st.html(f'<p class="muted">{escape(say("synthetic_page.first", shown=MOST_SHOWN, many=len(labels)))}</p>')
    alt = "; ".join(f"{label}: {plain(round(values[label]))}" for label in first)
    axis_words = (say("chart.rows" if fitted.query.counts_rows else "chart.people"), alt, f"synthetic-{of}")
    drawn = {label: values[label] for label in first}
    if measured:
        charts.ranges(dict(drawn), {label: bands[label] for label in first}, *axis_words)
    else:
        charts.bars(drawn, None, *axis_words)
    with st.expander(say("answer.figures")):
        shown = many.page(values, f"synthetic-page-{of}")
        st.html(_table({label: (values[label], bands.get(label)) for label in shown}))


def _figures(fitted: FittedTable, names: tuple[str, ...]) -> tuple[list[Figure], list[float]]:
    """The measurements, or estimates without one, and the rows of the same cells, with readable labels."""
    query, counts = fitted.query, fitted.counts(*names)
    cells = [query.cell_names(fitted.look.place(name)) for name in names]
    figures = fitted.look.bars(names[0]) if len(names) == 1 else list(chain(*fitted.look.cross(*names)))
    labels = map(", ".join, product(*cells))
    named = [replace(figure, label=label) for figure, label in zip(figures, labels, strict=True)]
    return named, counts.ravel().tolist()


def _shown(fitted: FittedTable, first: str, other: str) -> bool:
    """Can two columns be shown together? Only if measured, or with few enough cells for an estimate."""
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


def _table(rows: dict[str, tuple[float, tuple[float, float] | None]]) -> str:
    titles = ("answer.column.label", "synthetic_page.column.rows", "synthetic_page.column.measured")
    shown = []
    for label, (value, band) in rows.items():
        ends = "–" if band is None else " – ".join(rounded_range(*band))
        shown.append((label, plain(round(value)), ends))
    return html_table([*map(say, titles)], shown)


_STYLE = """<style>.scroll.tall { max-height: 24rem; overflow-y: auto; margin-bottom: 0.8rem; }</style>"""
