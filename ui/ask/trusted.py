"""Who adds the noise? A choice under the details of a question to which people could also send noisy answers
themselves: a shuffler mixes their messages, or everybody changes their own answer. All of this is played on this
computer, which the page says."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import streamlit as st

import dpengine as dp
from dpengine.core.exact import text_of
from dpengine.messages import say
from dpengine.planning import trust_models
from ui.parts import fields
from ui.shell.frame import hint, paragraph

USUAL = "central"
_REFUSED = "trusted-refused"
_CHOSEN = "ask-trusted"  # by question: what a link or a person chose; `fields.forget_pickers` deletes it


def asked(table: dp.Table, usual: dp.Query) -> dp.Query | None:
    """The question with noise that the people add themselves, as chosen. None if this program adds the noise, or if the
    choice is refused."""
    st.session_state.pop(_REFUSED, None)
    try:
        return _chosen(table, usual)
    except dp.AllowanceError as refusal:
        st.session_state[_REFUSED] = str(refusal)
        return None


def at_steps(table: dp.Table, key: str, given: dict[str, Any]) -> Callable[[str], dp.Query]:
    """A function from a step of the slider to the question with the chosen noise. The function raises an error where
    that noise is refused."""
    wanted = _wanted(key)

    def at(step: str) -> dp.Query:
        usual = table.query(key, **given | {"epsilon": step, "noise": ""})
        return _asked_by(table, usual, wanted) or usual

    return at


def _chosen(table: dp.Table, usual: dp.Query) -> dp.Query | None:
    return _asked_by(table, usual, _wanted(usual.card.key))


def arrive(key: str, given: Mapping[str, Any]) -> str:
    """The key of the question that a link to `key` puts into the form. If people answer that question themselves, this
    is the usual question, and the choice who adds the noise is made as in the link."""
    card = dp.catalogue[key].card if key in dp.catalogue else None
    if card is None or not card.behind:
        return key
    own = {name: str(given[name]) for name in ("delta", "solution") if name in given}
    st.session_state[_CHOSEN] = {card.behind: {"trust": card.trust} | own}
    return card.behind


def in_link(key: str) -> dict[str, str]:
    """URL parameters for the choice who adds the noise, so that a link to the form opens with this choice; empty for
    the usual one."""
    chosen = _chosen_for(key)
    cards = [question.card for question in dp.catalogue.values()]
    now = next((card for card in cards if card.behind == key and card.trust == chosen.get("trust")), None)
    if now is None:
        return {}
    names = {parameter.name for parameter in now.parameters}
    return {"q": now.key} | {name: text for name, text in chosen.items() if name in names}


def _chosen_for(key: str) -> dict[str, str]:
    return dict(st.session_state.get(_CHOSEN, {}).get(key, {}))


def _choose(key: str, name: str, widget: str) -> None:
    kept = st.session_state.get(_CHOSEN, {})
    st.session_state[_CHOSEN] = kept | {key: _chosen_for(key) | {name: str(st.session_state[widget])}}


def _wanted(key: str) -> str:
    return _chosen_for(key).get("trust", USUAL)


def _asked_by(table: dp.Table, usual: dp.Query, wanted: str) -> dp.Query | None:
    key = None if wanted == USUAL else _offered(table, usual).get(wanted)
    if key is None:
        return None
    given = usual.with_noise("").parameters()
    names, chosen = {parameter.name for parameter in dp.catalogue[key].card.parameters}, _chosen_for(usual.card.key)
    if "delta" in names:
        given["delta"] = chosen.get("delta") or text_of(trust_models.usual_delta(table.budget.rule))
    if "solution" in names:
        given["solution"] = chosen.get("solution", "first")
    return table.query(key, **given, noise="")


def choose(table: dp.Table, usual: dp.Query) -> None:
    """Draw the choice who adds the noise, what each option means, and why the last choice was refused."""
    offered = _offered(table, usual)
    if not offered:
        return
    key, wanted, ways = usual.card.key, _wanted(usual.card.key), (USUAL, *offered)
    now = _pick("trusted.who", ways, wanted if wanted in ways else USUAL, key, "trust")
    if now == USUAL:
        return
    paragraph(say(f"trusted.who.{now}.means"))
    if any(parameter.name == "solution" for parameter in dp.catalogue[offered[now]].card.parameters):
        solutions, solution = ("first", "second"), _chosen_for(key).get("solution", "first")
        _pick("trust.solution", solutions, solution if solution in solutions else "first", key, "solution")
    if refusal := st.session_state.pop(_REFUSED, None):
        hint(say("trusted.refused", why=refusal))


def _offered(table: dp.Table, usual: dp.Query) -> dict[str, str]:
    """By trust model, the key of the question that asks the same under this model; only models that the table and the
    parameters allow."""
    given, facts, found = {*usual.with_noise("").parameters()}, table.facts, {}
    for key, question in dp.catalogue.items():
        card = question.card
        fits = facts.relation in card.relations and (card.several or facts.unit.id_column is None)
        if card.behind == usual.card.key and fits and given <= {parameter.name for parameter in card.parameters}:
            found[card.trust] = key
    return found


def _pick(code: str, options: Sequence[str], now: str, key: str, name: str) -> str:
    widget = f"ask-trusted-{name}-{key}{fields.key_end()}"
    return fields.choose(code, options, now, widget, on_change=_choose, args=(key, name, widget))
