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
    return chosen | from_table(open_table(picked))  # its public terms take the place of what was typed


def _source(table: str) -> str:
    return say("whatif.source.table", table=table) if table else say("whatif.source.typed")


def _middle(key: str, column: str) -> str:
    """The words between the question and the people."""
    needed = asked.typed(key)
    if not needed:
        return "whatif.with_trait"
    return (
        "whatif.of_number"
        if "range" in needed and "columns" not in needed and not column and not asked.sized(key)
        else "whatif.among"
    )


def noun(key: str) -> str:
    """What the question is called in the sentence; a model and a session have a name of their own there."""
    own = f"whatif.noun.{key}"
    return say(own) if known(own) else dp.catalogue[key].card.noun


def described(table: dp.Table, given: dict[str, str]) -> dict[str, str]:
    """What else the question needs to know, all of it public."""
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
    """What an address says of it stays as it is written there, 1,000, while it says the same number. Of an error in
    people, a “%” stays too: it is a share of all of them."""
    key = widget(key or name)
    found = fields.number_field(label, given[name], key, unit="%", live=True, max_chars=40, **options)
    shown = str(st.session_state.get(fields.number_key(key), ""))
    if name == "x" and shown.strip().endswith("%") and _usual(given["q"])[0].whole and found:
        found = f"{found.rstrip(' %')} %"
    try:
        same = asked.read_number_field(given[name], "") == asked.read_number_field(found, "") and (
            "%" in given[name]
        ) == ("%" in found)
        return given[name] if same else found
    except dp.AllowanceError:
        return found


def four(table: dp.Table, given: dict[str, str]) -> tuple[dict[str, str], Any]:
    """Three fields and the place of the fourth."""
    find = st.segmented_control(
        say("whatif.find"),
        list(FIELDS),
        default=given["find"],
        required=True,
        key=widget("find"),
        format_func=lambda one: say(f"whatif.find.{one}"),
    )
    given = given | {"find": str(find or given["find"])}
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
    """`people`: is the error a number of them?"""
    if name == "promise" and people:
        return say("whatif.wish.of_all")
    return say("gloss.epsilon.means") if name == "epsilon" else None


def _presets() -> None:
    with st.container(key="whatif-presets", horizontal=True, gap="small"):
        for care, epsilon in CARE.items():
            st.button(
                say(f"whatif.care.{care}"),
                key=f"whatif-care-{care}",
                type="tertiary",
                on_click=change,
                kwargs={"e": epsilon},
            )


def result(slot: Any, label: str, value: str, note: str = "") -> None:
    small = f"<span>{escape(note)}</span>" if note else ""
    slot.html(f'<div class="solved"><em>{escape(label)}</em><b>{escape(value)}</b>{small}</div>')


def more(given: dict[str, str]) -> dict[str, str]:
    """δ, β and who is protected."""
    with st.expander(say("whatif.more")):
        left, right = st.columns(2)
        with left:
            given = given | {"d": field(say("whatif.field.delta"), "d", given, help=say("whatif.delta_help"))}
        with right:
            given = given | {"beta": field(say("whatif.field.beta"), "beta", given, help=say("whatif.beta_help"))}
        if given["from"] == "typed":
            relations = ["replace", "add_remove"]
            relation = st.radio(
                say("whatif.relation"),
                relations,
                index=relations.index(given["relation"]),
                format_func=lambda one: say(f"whatif.relation.{one}"),
                key=widget("relation"),
            )
            given = given | {"relation": str(relation)}
            if "range" in asked.typed(given["q"]) and not asked.sized(given["q"]):
                full = st.toggle(
                    say("whatif.full"), given["full"] == "yes", key=widget("full"), help=say("whatif.full_help")
                )
                given = given | {"full": "yes" if full else "no"}
    return given


# --- words ------------------------------------------------------------------------------------------------------------


@cache
def _usual(key: str) -> tuple[Promise, str]:
    """Which kind of promise a question makes, whatever is typed, and in which unit its error is typed."""
    query = whatif.read(USUAL | {"q": key}).query
    return query.promise(), query.promise().typed_in(query)


def wish_label(table: dp.Table, given: dict[str, str]) -> str:
    code = _usual(given["q"])[1]
    if code == "column" and not given["column"]:
        code = "plain"
    return say(f"whatif.wish.{code}", column=given["column"])


def wish_text(query: dp.Query) -> str:
    """The size of a promise as an address holds it: to three figures, rounded up, so that it can be kept."""
    promise = query.promise()
    exact = decimal_of(promise.figure_for(query))
    if promise.whole or not exact:
        return f"{exact:,f}"
    three = exact.quantize(Decimal(1).scaleb(exact.adjusted() - 2), rounding=ROUND_CEILING)
    return f"{three:,f}".rstrip("0").rstrip(".") if "." in f"{three:f}" else f"{three:,f}"


def told(found: whatif.Solved, name: str) -> str:
    """One of the four numbers, as an address holds it."""
    if name == "epsilon":
        exact = found.budget.epsilon
        return text_of(exact) if exact.denominator <= 1000 else f"{_up(decimal_of(exact), 3):f}"
    if name == "promise":
        return wish_text(found.query)
    return f"{found.people if name == 'people' else found.questions:,}"


def said(found: whatif.Solved, name: str) -> str:
    """The same in a sentence."""
    return local(told(found, name))


def _up(value: Decimal, figures: int) -> Decimal:
    return value.quantize(Decimal(1).scaleb(min(value.adjusted() + 1 - figures, 0)), rounding=ROUND_CEILING)


def big(found: whatif.Solved) -> tuple[str, str]:
    """The result as it is shown in its place, and a word below it."""
    name = found.find
    if name == "people" and found.any_size:
        return say("whatif.any"), say("whatif.any_note", people=found.people)
    if name != "promise":
        many = name == "questions" and found.questions >= 10**6
        return (say("whatif.lots") if many else said(found, name)), ""
    beside = f"whatif.beside.{found.promise.kind}"
    return found.promise.unnamed(asked.UNNAMED).size_for(found.query), say(beside) if known(beside) else ""
