"""The question and the four numbers of the What-if page: three are typed, the fourth is a result."""

from __future__ import annotations

from decimal import ROUND_CEILING, Decimal
from functools import cache
from html import escape
from typing import Any

import streamlit as st

import dpengine as dp
from dpengine.core.exact import decimal_of, text_of
from dpengine.mechanisms.promises import Promise
from dpengine.messages import known, say
from dpengine.messages.numbers import local
from dpengine.planning import whatif
from dpengine.planning import whatif as asked
from ui.ask import form
from ui.data.draft import CARE
from ui.parts import fields
from ui.shell.state import choose_table, open_table, table_names
from ui.whatif.whatif_state import FIELDS, USUAL, change, from_table, widget


def question(table: dp.Table, given: dict[str, str]) -> dict[str, str]:
    """“The [median] among [people I describe here]”, or of a column of the open table."""
    own = given["from"] == "table"
    keys = [key for key in asked.offered() if not own or asked.sized(key) or form.choices(table, key)]
    now = given["q"] if given["q"] in keys else keys[0]
    with st.container(key="sentence", horizontal=True, vertical_alignment="center", gap="small"):
        st.markdown(say("form.the"), width="content")
        key = fields.pick("form.kind", keys, now, noun, widget("q"))
        column = ""
        if own and not asked.sized(key) and asked.typed(key) - {"share"}:
            columns = form.choices(table, key)
            st.markdown(say("whatif.like" if "columns" in asked.typed(key) else "form.of"), width="content")
            first = given["column"] if given["column"] in columns else columns[0]
            column = fields.pick("form.column", columns, first, str, widget(f"column-{key}"))
        st.markdown(say(_middle(key, column)), width="content")
        here = table.name if own else ""
        picked = fields.pick("whatif.source", ["", *table_names()], here, _source, widget("from"))
    chosen = given | {"q": key, "column": column, "from": "table" if picked else "typed"}
    if picked in ("", here):
        return chosen
    if picked != table.name:
        choose_table(picked)
    return chosen | from_table(open_table(picked))  # its public terms replace the typed ones


def _source(table: str) -> str:
    return say("whatif.source.table", table=table) if table else say("whatif.source.typed")


def _middle(key: str, column: str) -> str:
    """The words between the question and the people."""
    needed = asked.typed(key)
    if not needed:
        return "whatif.with_trait"
    number = "range" in needed and "columns" not in needed and not column and not asked.sized(key)
    return "whatif.of_number" if number else "whatif.among"


def noun(key: str) -> str:
    """The question's noun in the sentence; a model and a session have their own names there."""
    own = f"whatif.noun.{key}"
    return say(own) if known(own) else dp.catalogue[key].card.noun


def described(table: dp.Table, given: dict[str, str]) -> dict[str, str]:
    """Other public facts that the question needs."""
    needed, sized = asked.typed(given["q"]), asked.sized(given["q"])
    own = given["from"] == "table" and not sized
    names: list[str] = [name for name in ("asks", "options", "features", "lists") if name in needed]
    names += ["low", "high", "step"] if "range" in needed and not own else []
    if "values" in needed and (not own or isinstance(table.schema[given["column"]], dp.Number)):
        names.append("values")
    names += [name for name in ("share", "columns") if name in needed]
    if not names:
        return given
    with st.container(key="whatif-facts", horizontal=True):
        for name in names:
            counted = dp.catalogue[given["q"]].card.answer == "count"
            code = "bars" if name == "values" and counted else name
            code = "each" if name == "values" and sized else code
            given = given | {name: field(say(f"whatif.field.{code}"), name, given, width=150)}
    return given


def field(label: str, name: str, given: dict[str, str], key: str = "", **options: Any) -> str:
    """A number field. The text in the address stays, 1,000, while it means the same number. For an error in people, a
    “%” stays too: a share of all people."""
    key = widget(key or name)
    text = fields.number_field(label, given[name], key, unit="%", live=True, max_chars=40, **options)
    shown = str(st.session_state.get(fields.number_key(key), ""))
    if name == "x" and shown.strip().endswith("%") and _usual(given["q"])[0].whole and text:
        text = f"{text.rstrip(' %')} %"
    try:
        before, now = ((asked.read_number_field(typed, ""), "%" in typed) for typed in (given[name], text))
        return given[name] if before == now else text
    except dp.AllowanceError:
        return text


def four(table: dp.Table, given: dict[str, str]) -> tuple[dict[str, str], Any]:
    """Three fields and the place of the fourth."""
    given = given | {"find": fields.choose("whatif.find", list(FIELDS), given["find"], widget("find"))}
    slot = None
    for column, (name, short) in zip(st.columns(4), FIELDS.items(), strict=True):
        with column:
            if name == given["find"]:
                slot = st.empty()
                continue
            label = wish_label(table, given) if name == "promise" else say(f"whatif.field.{name}")
            unique = f"x-{given['q']}-{given['from']}-{given['column']}" if name == "promise" else short
            help = _help(name, _usual(given["q"])[0].whole)
            given = given | {short: field(label, short, given, key=unique, help=help)}
            if name == "epsilon":
                _presets()
    return given, slot


def _help(name: str, people: bool) -> str | None:
    """`people`: is the error a number of people?"""
    if name == "promise" and people:
        return say("whatif.wish.of_all")
    return say("gloss.epsilon.means") if name == "epsilon" else None


def _presets() -> None:
    with st.container(key="whatif-presets", horizontal=True, gap="small"):
        for care, epsilon in CARE.items():
            label, key = say(f"whatif.care.{care}"), f"whatif-care-{care}"
            st.button(label, key=key, type="tertiary", on_click=change, kwargs={"e": epsilon})


def result(slot: Any, label: str, value: str, note: str = "") -> None:
    small = f"<span>{escape(note)}</span>" if note else ""
    slot.html(f'<div class="solved"><em>{escape(label)}</em><b>{escape(value)}</b>{small}</div>')


def more(given: dict[str, str]) -> dict[str, str]:
    """δ, β and the protected unit."""
    with st.expander(say("whatif.more")):
        left, right = st.columns(2)
        with left:
            given = given | {"d": field(say("whatif.field.delta"), "d", given, help=say("whatif.delta_help"))}
        with right:
            given = given | {"beta": field(say("whatif.field.beta"), "beta", given, help=say("whatif.beta_help"))}
        if given["from"] == "typed":
            words = {name: say(f"whatif.relation.{name}") for name in ("replace", "add_remove")}
            now = list(words).index(given["relation"])
            relation = st.radio(say("whatif.relation"), list(words), now, words.__getitem__, widget("relation"))
            given = given | {"relation": str(relation)}
            if "range" in asked.typed(given["q"]) and not asked.sized(given["q"]):
                label, note = say("whatif.full"), say("whatif.full_help")
                full = st.toggle(label, given["full"] == "yes", key=widget("full"), help=note)
                given = given | {"full": "yes" if full else "no"}
    return given


# --- words ------------------------------------------------------------------------------------------------------------


@cache
def _usual(key: str) -> tuple[Promise, str]:
    """The question's kind of promise, and the unit of its error."""
    query = whatif.read(USUAL | {"q": key}).query
    return query.promise(), query.promise().typed_in(query)


def wish_label(table: dp.Table, given: dict[str, str]) -> str:
    code = _usual(given["q"])[1]
    if code == "column" and not given["column"]:
        code = "plain"
    return say(f"whatif.wish.{code}", column=given["column"])


def wish_text(query: dp.Query) -> str:
    """The size of a promise for an address: three digits, rounded up, so that it can be kept."""
    promise = query.promise()
    exact = decimal_of(promise.figure_for(query))
    if promise.whole or not exact:
        return f"{exact:,f}"
    three = exact.quantize(Decimal(1).scaleb(exact.adjusted() - 2), rounding=ROUND_CEILING)
    return f"{three:,f}".rstrip("0").rstrip(".") if "." in f"{three:f}" else f"{three:,f}"


def address_text(solved: whatif.Solved, name: str) -> str:
    """One of the four numbers for an address."""
    if name == "epsilon":
        exact = solved.budget.epsilon
        return text_of(exact) if exact.denominator <= 1000 else f"{_up(decimal_of(exact), 3):f}"
    if name == "promise":
        return wish_text(solved.query)
    return f"{solved.people if name == 'people' else solved.questions:,}"


def sentence_text(solved: whatif.Solved, name: str) -> str:
    """One of the four numbers for a sentence."""
    return local(address_text(solved, name))


def _up(value: Decimal, figures: int) -> Decimal:
    return value.quantize(Decimal(1).scaleb(min(value.adjusted() + 1 - figures, 0)), rounding=ROUND_CEILING)


def big(solved: whatif.Solved) -> tuple[str, str]:
    """The result as shown in its place, and a word below it."""
    name = solved.find
    if name == "people" and solved.any_size:
        return say("whatif.any"), say("whatif.any_note", people=solved.people)
    if name != "promise":
        many = name == "questions" and solved.questions >= 10**6
        return (say("whatif.lots") if many else sentence_text(solved, name)), ""
    beside = f"whatif.beside.{solved.promise.kind}"
    return solved.promise.unnamed(asked.UNNAMED).size_for(solved.query), say(beside) if known(beside) else ""
