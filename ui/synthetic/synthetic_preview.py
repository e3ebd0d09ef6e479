"""What a synthetic table will be worth, from public facts: what is measured, how exactly, and what is fitted."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping
from html import escape

import streamlit as st

from dpengine.core.printed import chance
from dpengine.mechanisms.synthetic.plans import CHOSEN, MIXED
from dpengine.mechanisms.synthetic.rules import evened
from dpengine.mechanisms.synthetic.synthetic_table import SyntheticTable
from dpengine.messages import say
from dpengine.messages.numbers import local
from ui.words.figures import bare

MUCH = 0.15  # of the rows in other cells: then it is said


def show(query: SyntheticTable) -> None:
    off = query.off_by_noise()
    told = say("synthetic_page.off_much" if off > MUCH else "synthetic_page.off", off=local(f"{100 * off:.2g}"))
    told += f" {say('synthetic_page.off_rows')}" if query.counts_rows else ""
    warn = f'<p class="warn">{escape(told)}</p>' if off > MUCH else ""
    st.html(
        f"<h2>{escape(say('publish_page.worth'))}</h2><p><b>{escape(plainly(query))}</b></p>{warn}"
        f'<p class="muted">{escape(rows_words(query))}</p>'
    )
    with st.expander(say("synthetic_page.details")):
        lines = [promised(query), *([] if warn else [told]), say("synthetic_page.fitted")]
        st.html("".join(f'<p class="muted">{escape(line)}</p>' for line in lines))
    good_for(query)


def plainly(query: SyntheticTable) -> str:
    """What is counted, and an example in people of how far off a count may be."""
    kind, widest = _kind(query), math.ceil(max(query.reach(part) for part in query.sets))
    said = max(int(float(f"{query.facts.about / 10:.1g}")), 1)
    told = say(f"synthetic_page.plain.{kind}", keep=query.keep, turns=query.turns)
    ends = {"low": max(said - widest, 0), "high": said + widest, "of": say(f"synthetic_page.of_{query.counted}")}
    return f"{told} {say('synthetic_page.plain_example', said=said, chance=chance(query.beta), **ends)}"


def _kind(query: SyntheticTable) -> str:
    all_chosen = query.plan == MIXED and query.turns == query.choices
    return query.plan + ("_keep" if query.keep and query.plan == CHOSEN else "_all" if all_chosen else "")


def promised(query: SyntheticTable) -> str:
    """What is measured, and within which ranges; the widest, and the widest of a single column."""
    singles = [query.reach((place,)) for place in range(len(query.axes))]
    return say(
        f"synthetic_page.promised.{_kind(query)}",
        of=say(f"synthetic_page.of_{query.counted}"),
        keep=query.keep,
        sets=len(query.sets),
        widest=math.ceil(max(query.reach(part) for part in query.sets)),
        single=math.ceil(max(singles)),
        cells=query.told_cells,
        chance=chance(query.beta),
        pair=math.ceil(max(query.reach(part) for part in query.sets if len(part) == 2)),
        turns=query.turns,
        parts=query.choices,
    )


def rows_words(query: SyntheticTable) -> str:
    if query.layout.known:
        rows = query.rows_made([])
        return say("synthetic_page.rows_known" if rows == query.facts.people else "synthetic_page.rows_most", rows=rows)
    return say("synthetic_page.rows_noisy")


def good_for(query: SyntheticTable, follows: Collection[str] = (), off: Mapping[str, float] | None = None) -> None:
    """What it is good for and what not. `follows`: the columns whose values follow another answer; `off`: how far an
    average can be off because values are spread evenly, where that is known."""
    several = evened(query.axes, query.facts)
    even = [name for name, some in several.items() if some and name not in follows]
    every, curved = ([name for name in several if name not in even and (name in follows) == by] for by in (False, True))
    noisy = query.off_by_noise() > MUCH
    good, bad = [say("synthetic_page.good_noisy" if noisy else "synthetic_page.good")], [say("synthetic_page.bad")]
    good += [say("synthetic_page.good_averages", columns=every)] if every else []
    good += [say("synthetic_page.good_averages_curve", columns=curved)] if curved else []
    bad += [say("synthetic_page.bad_averages", columns=even)] if even else []
    if even and off is None:
        bad.append(say("synthetic_page.bad_averages_but"))
    if off:
        bad.append(say("synthetic_page.bad_averages_by", off=[f"{name} ±{bare(size)}" for name, size in off.items()]))
    mark = ' class="warn"' if noisy else ""
    told = f"<p{mark}>{escape(' '.join(good))}</p><p>{escape(' '.join(bad))}</p>"
    st.html(f"<h2>{escape(say('synthetic_page.good_title'))}</h2>{told}")
