"""What a synthetic table that was paid for does not keep: beside its files, and in a sentence under Answers. From what
was released and public facts alone."""

from __future__ import annotations

from html import escape

import streamlit as st

from dpengine.messages import say
from dpengine.released import synthetic
from dpengine.released.synthetic import KeptTogether, MadeTable
from ui.words.figures import bare
from ui.words.kept_words import threes

FEW = 12  # pairs that are named in the line itself
NAMED = 6  # values


def show(made: MadeTable, kept: KeptTogether) -> None:
    """A point for each; which pairs, folded where they are many."""
    told = [_pairs(kept), threes(kept), _averages(made, kept), _rare(made, kept), _none(made)]
    told.append(say("synthetic_page.bad_rest"))
    points = "".join(f"<li>{escape(line)}</li>" for line in told if line)
    st.html(f"{_STYLE}<h2>{escape(say('synthetic_page.not_kept'))}</h2><ul class='kept'>{points}</ul>")
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


_STYLE = """<style>
[data-testid="stHtml"] ul.kept { margin: 0 0 0.6rem 0; padding-inline-start: 1.2rem; }
[data-testid="stHtml"] ul.kept li { margin: 0 0 0.4rem 0; overflow-wrap: anywhere; }
</style>"""
