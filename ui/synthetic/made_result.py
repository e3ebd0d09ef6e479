"""A synthetic table that was paid for: take it away, and see what was measured beside what its rows say."""

from __future__ import annotations

from html import escape
from itertools import combinations

import streamlit as st

import dpengine as dp
from dpengine.core.printed import chance
from dpengine.mechanisms.synthetic.plans import CHOSEN
from dpengine.messages import plain, say
from dpengine.messages.numbers import to_figures
from dpengine.released import synthetic
from dpengine.released.look import Figure
from dpengine.released.look_fit import MOST_FITTED
from dpengine.released.synthetic import KeptTogether, MadeTable
from ui.ask import answer as answers
from ui.parts import answer_notes, exports, history
from ui.pictures import charts, many
from ui.publish.publish_result import MOST_SHOWN, picked
from ui.shell import nav
from ui.synthetic.synthetic_preview import counted_together, good_words, plainly, promised
from ui.synthetic.take_rows import take_away
from ui.words.figures import bare, rounded_range
from ui.words.phrases import threes
from ui.words.wording import headline

# What a synthetic table that was paid for does not keep: beside its files, and in a sentence under Answers. From what
# was released and public facts alone.

FEW = 12  # pairs that are named in the line itself
NAMED = 6  # values


def show_not_kept(made: MadeTable, kept: KeptTogether) -> None:
    """A point for each; which pairs, folded where they are many."""
    told = [_pairs(kept), threes(kept), _averages(made, kept), _rare(made, kept), _none(made)]
    told.append(say("synthetic_page.bad_rest"))
    points = "".join(f"<li>{escape(line)}</li>" for line in told if line)
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
    named = [f"{one} × {other}" for one, other in kept.apart]
    return say("synthetic_page.apart_named", pairs=named, **facts)


def _averages(made: MadeTable, kept: KeptTogether) -> str:
    even = [name for name in kept.uneven if name not in made.refined]
    if not even:
        return ""
    told = say("synthetic_page.bad_averages", columns=even)
    if off := made.off_by_spreading():
        by = [f"{name} ±{bare(float(f'{size:.2g}'))}" for name, size in off.items()]
        told += " " + say("synthetic_page.bad_averages_by", off=by)
    return told


def _rare(made: MadeTable, kept: KeptTogether) -> str:
    of = say(f"synthetic_page.of_{made.query.counted}")
    told = say("synthetic_page.rare", single=kept.reach(1), pair=kept.reach(2), of=of)
    found = []
    for place, column in enumerate(kept.names):
        found += [f"{column}: {name}" for name in synthetic.perhaps_none(made.look, place, made.counts(column))]
    if not found:
        return told
    more = max(len(found) - NAMED, 0)
    code = "synthetic_page.rare_more" if more else "synthetic_page.rare_named"
    return f"{told} {say(code, values='; '.join(found[:NAMED]), more=more)}"


def _none(made: MadeTable) -> str:
    """Which cells that a declaration makes by itself got no rows."""
    found = []
    for place, (column, out) in enumerate(zip(made.look.cells, made.left_out, strict=True)):
        cells = zip(made.query.cell_names(place), out, made.counts(column), strict=True)
        found += [f"{column}: {name}" for name, no, rows in cells if no and not rows]
    if not found:
        return ""
    if len(found) > NAMED:
        return say("synthetic_page.none_many", many=len(found))
    return say("synthetic_page.none_named", values="; ".join(found))


def _apart(kept: KeptTogether) -> str:
    """For each column those that it was not measured with."""
    heads = say("synthetic_page.apart_column"), say("synthetic_page.apart_with")
    head = "".join(f"<th>{escape(one)}</th>" for one in heads)
    body = ""
    for name, others in kept.apart_by_column().items():
        body += f"<tr><td>{escape(name)}</td><td>{escape(', '.join(others))}</td></tr>"
    return f'<div class="scroll tall" tabindex="0"><table class="plain"><tr>{head}</tr>{body}</table></div>'


_NOT_KEPT_STYLE = """<style>
[data-testid="stHtml"] ul.kept { margin: 0 0 0.6rem 0; padding-inline-start: 1.2rem; }
[data-testid="stHtml"] ul.kept li { margin: 0 0 0.4rem 0; overflow-wrap: anywhere; }
</style>"""


def show(table: dp.Table, found: dp.Answer) -> None:
    made = table.synthetic(found)
    assert isinstance(made, MadeTable)
    of, kept = say("answer.of", sentence=found.sentence, table=table.name), KeptTogether(made.look)
    st.html(
        f'<p class="question">{escape(of)}</p><p class="headline">{escape(headline(found))}</p>'
        f'<p class="lead">{escape(plainly(made.query, kept))}</p>'
        f"{answer_notes.fit_notes(found)}{answer_notes.cut_note(found.query)}"
    )
    if made.ready:
        with st.container(key="card-synthetic-rows"):
            take_away(found, made.table, made.rows)
            if made.refined:
                st.html(_inside(table, made))
            show_not_kept(made, kept)
            st.html(good_words(made.query, made.refined))
        with st.container(key="card-synthetic-free"):
            _beside(made)
            _measured(found, made, kept)
    elif made.progress() is not None:
        _fitting(made)
    else:
        st.html(f'<p class="warn" role="status">{escape(say("synthetic_page.making"))}</p>')
        st.button(say("synthetic_page.make"), key="synthetic-fit", on_click=table.make_rows, args=(found,))
    where = {"table": table.name, "look": found.request_id}
    st.page_link(nav.page("board"), label=say("synthetic_page.board"), query_params=where)
    answers.receipt(found, "synthetic")
    st.button(say("synthetic_page.another"), key="synthetic-another", on_click=_leave)


def _leave() -> None:
    for name in ("made", "of"):
        st.query_params.pop(name, None)


@st.fragment(run_every=0.5)
def _fitting(made: MadeTable) -> None:
    """How far the fit has come; what was measured can be looked at meanwhile."""
    now = made.progress()
    if now is None or made.ready:
        st.rerun()
    st.html(f'<p class="muted" role="status">{escape(say("synthetic_page.fitting"))}</p>')
    st.progress(min(now[0] / max(now[1], 1), 1.0))


def _inside(table: dp.Table, made: MadeTable) -> str:
    """Which columns have values inside the measured groups as another answer says."""
    links = ", ".join(
        f'<a href="{history.answer_address(table.name, request)}" target="_self">{escape(name)}</a>'
        for name, request in made.refined.items()
    )
    return f'<p class="muted">{escape(say("synthetic_page.values_curve"))} {links}.</p>'


def _measured(found: dp.Answer, made: MadeTable, kept: KeptTogether) -> None:
    """What was counted together and how exactly, folded, and as a file; how a fit does where it can be checked."""
    of = say(f"synthetic_page.of_{made.query.counted}")
    names = say("synthetic_page.column.together"), say("synthetic_page.column.within", of=of)
    rows = [(" × ".join(columns), reach) for columns, reach in made.together()]
    with st.expander(say("synthetic_page.together", told=counted_together(kept))):
        for line in (promised(made.query, kept), say("synthetic_page.together_lead"), _tried(made)):
            st.html(f'<p class="muted">{escape(line)}</p>')
        head = f'<tr><th>{escape(names[0])}</th><th class="number">{escape(names[1])}</th></tr>'
        body = "".join(
            f'<tr><td>{escape(one)}</td><td class="number">{escape(plain(to))}</td></tr>' for one, to in rows
        )
        st.html(f'<div class="scroll tall" tabindex="0"><table class="plain">{head}{body}</table></div>{_STYLE}')
        st.download_button(
            say("synthetic_page.together_csv"),
            exports.as_csv(names, rows),
            f"measured-{found.receipt['charge']['hash'][:8]}.csv",
            "text/csv",
            key="synthetic-measured",
            on_click="ignore",
        )


def _beside(made: MadeTable) -> None:
    """Of a column or two: the measured ranges, and what the rows say."""
    st.html(f"<h2>{escape(say('synthetic_page.beside'))}</h2>")
    names = made.look.cells
    groups: dict[str, tuple[str, ...]] = {name: (name,) for name in names}
    pairs = {f"{one} × {other}": (one, other) for one, other in combinations(names, 2) if _shown(made, one, other)}
    groups |= {name: pair for name, pair in pairs.items() if name not in groups}
    of = picked("of", list(groups), lambda one: one, say("synthetic_page.beside_of"), "synthetic")
    figures, counts = _figures(made, groups[of])
    measured = all(one.low is not None for one in figures)
    code = "synthetic_page.beside_why" if measured else "synthetic_page.not_measured"
    st.html(f'<p class="muted">{escape(say(code, chance=chance(made.query.beta)))}</p>')
    labels = [one.label for one in figures]
    values = dict(zip(labels, counts, strict=True))
    bands = {one.label: (one.low, one.high) for one in figures if one.low is not None and one.high is not None}
    if measured:
        inside = sum(low <= values[label] <= high for label, (low, high) in bands.items())
        st.html(f"<p>{escape(say('synthetic_page.inside', inside=inside, cells=len(bands)))}</p>")
    first = labels[:MOST_SHOWN]
    if len(labels) > MOST_SHOWN:
        st.html(f'<p class="muted">{escape(say("synthetic_page.first", shown=MOST_SHOWN, many=len(labels)))}</p>')
    alt = "; ".join(f"{label}: {plain(round(values[label]))}" for label in first)
    told = (say("chart.rows" if made.query.counts_rows else "chart.people"), alt, f"synthetic-{of}")
    drawn = {label: values[label] for label in first}
    if measured:
        charts.ranges(dict(drawn), {label: bands[label] for label in first}, *told)
    else:
        charts.bars(drawn, None, *told)
    with st.expander(say("answer.figures")):
        shown = many.page(values, f"synthetic-page-{of}")
        st.html(_table({label: (values[label], bands.get(label)) for label in shown}))


def _figures(made: MadeTable, names: tuple[str, ...]) -> tuple[list[Figure], list[float]]:
    """What was measured, or estimated where it was not, and the rows of the same cells; in the reader's words."""
    query, counts = made.query, made.counts(*names)
    cells = [query.cell_names(made.look.place(name)) for name in names]
    if len(names) == 1:
        bars = made.look.bars(names[0])
        return [_named(one, label) for one, label in zip(bars, cells[0], strict=True)], counts.ravel().tolist()
    crossed = made.look.cross(*names)
    told = [
        _named(one, f"{first}, {label}")
        for first, row in zip(cells[0], crossed, strict=True)
        for label, one in zip(cells[1], row, strict=True)
    ]
    return told, counts.ravel().tolist()


def _shown(made: MadeTable, one: str, other: str) -> bool:
    """Whether two columns can be told together: measured, or few enough cells for an estimate."""
    part = tuple(sorted((made.look.place(one), made.look.place(other))))
    few = made.sizes[part[0]] * made.sizes[part[1]] <= MOST_FITTED
    return part in made.look.marginals or (few and made.look.fits(part))


def _named(one: Figure, label: str) -> Figure:
    return Figure(label, one.value, one.low, one.high, one.how)


def _tried(made: MadeTable) -> str:
    tried = made.tried
    if tried is None:
        return say("synthetic_page.tried_not")
    off, noise, alone = (to_figures(100 * one, 2) for one in (tried.off, tried.noise, tried.alone))
    told = say("synthetic_page.tried", pairs=tried.pairs, off=off, noise=noise, alone=alone)
    return f"{told} {say('synthetic_page.tried_chosen')}" if made.query.plan == CHOSEN else told


def _table(rows: dict[str, tuple[float, tuple[float, float] | None]]) -> str:
    titles = ("answer.column.label", "synthetic_page.column.rows", "synthetic_page.column.measured")
    head = "".join(f'<th class="{"number" if at else ""}">{escape(say(one))}</th>' for at, one in enumerate(titles))
    body = ""
    for label, (value, band) in rows.items():
        ends = "–" if band is None else " – ".join(rounded_range(*band))
        numbers = "".join(f'<td class="number">{escape(cell)}</td>' for cell in (plain(round(value)), ends))
        body += f"<tr><td>{escape(label)}</td>{numbers}</tr>"
    return f'<div class="scroll" tabindex="0"><table class="plain"><tr>{head}</tr>{body}</table></div>'


_STYLE = """<style>.scroll.tall { max-height: 24rem; overflow-y: auto; margin-bottom: 0.8rem; }</style>"""
