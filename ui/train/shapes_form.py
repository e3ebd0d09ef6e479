"""A yes-or-no model before anything is spent: the counts to buy, their promise, and the price."""

from __future__ import annotations

from fractions import Fraction
from html import escape
from typing import Any

import streamlit as st

import dpengine as dp
from dpengine.core.printed import chance, percent_left, two_figures
from dpengine.mechanisms.marginals.overview import Overview
from dpengine.messages import plain, say
from dpengine.planning import training
from dpengine.planning.opening import AT_MOST, opening_share
from dpengine.released.shapes import predictable, sources
from ui.ask import fit_warnings
from ui.board import board_figures, board_state
from ui.parts import history, job
from ui.shell import frame, nav
from ui.train import train_state
from ui.words import prices
from ui.words.markup import unmarked

SHAPES = "shapes"
NOISE = 0.25  # in the chance of a yes; with more, the effect of a value that a tenth of the people have says nothing
CLEAR = 0.05
_MOST_LOOKS = 5


def offered(table: dp.Table, given: dict[str, Any], share: Fraction) -> Overview | dp.AllowanceError:
    """The counts that this share of the allowance buys, or why they cannot be bought."""
    try:
        wanted = training.look_for_model(table.schema, given["target"], given["features"])
        query = table.query("overview", **wanted, epsilon="1")
        answerable = table.at_share(query, share)
    except dp.AllowanceError as refusal:
        return refusal
    return answerable if isinstance(answerable, Overview) else dp.AllowanceError("train.no_room")


def possible(table: dp.Table, target: str) -> bool:
    """Gaussian noise has no finite ε, so it needs an allowance with a δ."""
    return isinstance(table.schema[target], dp.Category) and table.budget.rule.c is not None


def usual(table: dp.Table, given: dict[str, Any]) -> str:
    """The smallest share of what is left at which noise hardly moves the effect of a value that a tenth of the people
    have, within limits."""

    def offer(share: str) -> Overview:
        query = offered(table, given, table.meter().unused * int(share) / 100)
        if isinstance(query, dp.AllowanceError):
            raise query
        return query

    def clear(query: dp.Query) -> bool:
        return isinstance(query, Overview) and _moved(query, given["target"], query.most // 10) <= CLEAR

    return opening_share(offer, clear, table.check_part) if given["features"] else AT_MOST


def _moved(query: Overview, target: str, rows: int) -> float:
    return training.reach_of_effect(query, target, rows)


def buy(table: dp.Table, query: Overview, target: str, worth: Any, least: str = "") -> None:
    price = table.preview(query, checked=True)
    frame.show_price(table, price, "_train")
    takes = say("shapes_page.takes", share=prices.takes(table, price.share), columns=len(query.names))
    with worth:
        board_state.counted_as(query)
        st.html(f'<p class="muted">{escape(takes)}</p>')
        if least:
            st.html(least)
        moved = _moved(query, target, query.most // 10)
        if moved >= NOISE:
            message = say("shapes_page.noise", points=_points(min(moved, 1.0)))
            st.html(f'<p class="warn">{escape(message)}</p>')
    label = say("shapes_page.button", share=prices.takes(table, price.share))
    if fit_warnings.instead_at(SHAPES, table, query):
        return
    job.ask_button(label, table, query, "train-go", disabled=not price.admissible, place=SHAPES)
    if not price.admissible:
        job.refused(say("train_page.too_much", left=percent_left(table.meter().unused)))


def preview(query: Overview, target: str) -> None:
    """The promise, and how clear a value's effect will be by how many people share the value."""
    reach = training.reach_of_cells(query, target)
    promise = say(f"shapes_page.promise.{query.counted}", reach=two_figures(Fraction(reach)), chance=chance(query.beta))
    st.html(
        f"<p><b>{escape(promise)}</b></p><p class='muted'>{escape(say('shapes_page.no_promise'))}</p>"
        f"<h2>{escape(say('shapes_page.bands'))}</h2><p class='muted'>{escape(say('shapes_page.bands_lead'))}</p>"
    )
    rows = ""
    for part in (2, 5, 20, 100):
        people = query.most // part
        moved = min(_moved(query, target, people), 1.0)
        cell = say("shapes_page.points", points=_points(moved)) if people else "–"
        rows += f'<tr><td>{escape(plain(people))}</td><td class="number">{escape(cell)}</td></tr>'
    heads = say(f"shapes_page.column.rows.{query.counted}"), say("shapes_page.column.band")
    head = f'<tr><th>{escape(heads[0])}</th><th class="number">{escape(heads[1])}</th></tr>'
    st.html(f'<div class="scroll" tabindex="0"><table class="plain noises">{head}{rows}</table></div>')
    with st.expander(say("train_page.figures")):
        told_lines = [say("receipt.theorem", theorem=query.theorem), *query.card.caveat_texts]
        st.html("".join(f'<p class="muted">{escape(line)}</p>' for line in told_lines))


def _points(share: float) -> str:
    return two_figures(Fraction(100 * share))


# --- bought before ---------------------------------------------------------------------------------------------------


def free(table: dp.Table, given: dict[str, Any]) -> None:
    """First looks that already hold a model of this column, at no further cost."""
    looks = []
    for look_answer in table.first_looks(_MOST_LOOKS):
        look = board_figures.look_of(look_answer)
        if given["target"] in predictable(look):
            looks.append((look_answer, [name for name in given["features"] if name in sources(look, given["target"])]))
    if not looks:
        return
    with st.container(key="card-train-free"):
        lead = say("shapes_page.free_lead", target=given["target"])
        st.html(f"<h2>{escape(say('shapes_page.free'))}</h2><p class='muted'>{escape(lead)}</p>")
        for look_answer, features in looks:
            label = say("shapes_page.free_open", sentence=look_answer.sentence, when=history.when(look_answer.at))
            where = train_state.model_address(
                table.name, look_answer.request_id, given["target"], given["positive"], features
            )
            st.page_link(nav.page("train"), label=unmarked(label), query_params=where)


def of_use(look: dp.Answer) -> bool:
    """Can a model be read off this first look?"""
    return bool(predictable(board_figures.look_of(look)))
