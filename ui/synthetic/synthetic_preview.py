"""A synthetic table's expected quality, from public facts: what is measured, how exactly, and what is fitted."""

from __future__ import annotations

import math
from collections.abc import Collection
from html import escape

import streamlit as st

from dpengine.core.printed import chance
from dpengine.mechanisms.synthetic.plans import CHOSEN, MIXED
from dpengine.mechanisms.synthetic.rules import evened
from dpengine.mechanisms.synthetic.synthetic_table import SyntheticTable
from dpengine.messages import say
from dpengine.messages.numbers import to_figures
from dpengine.released.synthetic import KeptTogether

MUCH = 0.15  # share of the rows in other cells, above which the page says so


def show(query: SyntheticTable) -> None:
    off = query.off_by_noise()
    sentence = say("synthetic_page.off_much" if off > MUCH else "synthetic_page.off", off=to_figures(100 * off, 2))
    sentence += f" {say('synthetic_page.off_rows')}" if query.counts_rows else ""
    warn = f'<p class="warn">{escape(sentence)}</p>' if off > MUCH else ""
    st.html(
        f"<h2>{escape(say('publish_page.worth'))}</h2><p><b>{escape(plainly(query))}</b></p>{warn}"
        f'<p class="muted">{escape(rows_words(query))}</p>'
    )
    with st.expander(say("synthetic_page.details")):
        lines = [promised(query), *([] if warn else [sentence]), say("synthetic_page.fitted")]
        st.html("".join(f'<p class="muted">{escape(line)}</p>' for line in lines))
    good_for(query)


def plainly(query: SyntheticTable, kept: KeptTogether | None = None) -> str:
    """What is counted, and an example in people of a count's error; with `kept`, what was counted."""
    kind = _kind(query)
    widest = math.ceil(max(query.reach(part) for part in query.sets)) if kept is None else kept.widest
    people = max(int(float(f"{query.facts.about / 10:.1g}")), 1)
    if kept is not None and query.plan == CHOSEN:
        sentence = say(f"synthetic_page.had.{kind}", keep=query.keep, told=counted_together(kept))
    else:
        turns = query.turns if kept is None else kept.threes
        sentence = say(f"synthetic_page.plain.{kind}", keep=query.keep, turns=turns)
    ends = {"low": max(people - widest, 0), "high": people + widest, "of": say(f"synthetic_page.of_{query.counted}")}
    return f"{sentence} {say('synthetic_page.plain_example', said=people, chance=chance(query.beta), **ends)}"


def _kind(query: SyntheticTable) -> str:
    all_chosen = query.plan == MIXED and query.turns == query.choices
    return query.plan + ("_keep" if query.keep and query.plan == CHOSEN else "_all" if all_chosen else "")


def counted_together(kept: KeptTogether) -> str:
    """How many pairs and triples of columns were counted, of all of them."""
    facts = {"pairs": kept.pairs, "all": kept.all_pairs, "threes": kept.threes}
    return say("synthetic_page.had_both" if kept.threes else "synthetic_page.had_pairs", **facts)


def promised(query: SyntheticTable, kept: KeptTogether | None = None) -> str:
    """What is measured, and within which intervals: the widest, and the widest of a single column. With `kept`, what
    was measured."""
    if kept is not None and query.plan == CHOSEN:
        facts = {"told": counted_together(kept), "widest": kept.widest, "of": say(f"synthetic_page.of_{query.counted}")}
        return say("synthetic_page.promised.had", chance=chance(query.beta), **facts)
    reach = {part: query.reach(part) for part in query.sets}
    facts = {"of": say(f"synthetic_page.of_{query.counted}"), "keep": query.keep, "sets": len(query.sets)}
    facts |= {"cells": query.cell_count, "turns": query.turns, "parts": query.choices, "chance": chance(query.beta)}
    facts["widest"] = math.ceil(max(reach.values()))
    facts["single"] = math.ceil(max(query.reach((place,)) for place in range(len(query.axes))))
    facts["pair"] = math.ceil(max(reach[part] for part in query.sets if len(part) == 2))
    return say(f"synthetic_page.promised.{_kind(query)}", **facts)


def rows_words(query: SyntheticTable) -> str:
    if query.layout.known:
        rows = query.rows_made([])
        return say("synthetic_page.rows_known" if rows == query.facts.people else "synthetic_page.rows_most", rows=rows)
    return say("synthetic_page.rows_noisy")


def good_for(query: SyntheticTable) -> None:
    """Before buying: what it is good for, and what not."""
    even = [name for name, several in evened(query.axes, query.facts).items() if several]
    bad = [say("synthetic_page.bad")]
    if even:
        bad += [say("synthetic_page.bad_averages", columns=even), say("synthetic_page.bad_averages_but")]
    st.html(f"{good_words(query)}<p>{escape(' '.join(bad))}</p>")


def good_words(query: SyntheticTable, follows: Collection[str] = ()) -> str:
    """What it is good for. `follows`: the columns that take their values from another answer."""
    several = evened(query.axes, query.facts)
    every = [name for name, some in several.items() if not some and name not in follows]
    curved = [name for name in several if name in follows]
    noisy = query.off_by_noise() > MUCH
    good = [say("synthetic_page.good_noisy" if noisy else "synthetic_page.good")]
    good += [say("synthetic_page.good_averages", columns=every)] if every and not noisy else []
    good += [say("synthetic_page.good_averages_curve", columns=curved)] if curved else []
    mark = ' class="warn"' if noisy else ""
    return f"<h2>{escape(say('synthetic_page.good_title'))}</h2><p{mark}>{escape(' '.join(good))}</p>"
