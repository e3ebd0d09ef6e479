"""The first two screens for a table in a database or a lake: where it is, and whether its columns were found.

Column names and types are what the database declares about the table; they come from its catalogue and not from rows,
and are as public as a file's first line. Nothing that stands in a cell shapes any screen.
"""

from __future__ import annotations

from html import escape

import streamlit as st

import dpengine as dp
from dpengine.core.errors import AllowanceError
from dpengine.declared.dialect import Dialect
from dpengine.declared.source import spark_of, without_password
from dpengine.intake.postgres import Described
from dpengine.messages import plain, say
from ui.data.declare import begin, complain, heading, kept, onwards
from ui.data.declare_draft import MOST_SHOWN, Draft
from ui.shell.incoming import here
from ui.shell.state import may, workspace

_ADDRESS, _TABLE, _PASSWORD = "declare-source-address", "declare-source-table", "declare-source-password"
_IN_PLACE = "declare-source-in-place"
_SPARK, _WHAT, _STATE = "declare-lake-spark", "declare-lake-what", "declare-lake-state"
_ASKED_LAKE = "declare-lake-asked"  # was the last click in the form of lakes?


def choose(draft: Draft) -> None:
    if not may("describe_source"):
        return
    said = isinstance(draft.complaint, AllowanceError) and draft.complaint.code.startswith("source.")
    of_lake = bool(st.session_state.get(_ASKED_LAKE))
    if workspace().reads_databases:
        _database(draft, said and not of_lake)
    if workspace().reads_lakes:
        _lake(draft, said and of_lake)
    if draft.asked is not None:
        source, space = draft.asked, workspace()
        draft.asked = None
        begin(draft, "connect", lambda tell: (source, space.describe_source(source)))


def _database(draft: Draft, said: bool) -> None:
    """A form, so that nothing is sent before the button; the password leaves it with the click."""
    with st.expander(say("data.source.title"), expanded=said or bool(st.session_state.get(_ADDRESS))):
        st.html(f'<p class="muted">{escape(say("data.source.how"))}</p>')
        with st.form("declare-source", border=False):
            st.text_input(say("data.source.address"), key=_ADDRESS, placeholder=say("data.source.address_like"))
            st.text_input(say("data.source.table"), key=_TABLE, placeholder=say("data.source.table_like"))
            st.text_input(say("data.source.password"), key=_PASSWORD, type="password", autocomplete="off")
            st.checkbox(say("data.source.in_place"), key=_IN_PLACE, help=say("data.source.in_place_help"))
            st.form_submit_button(say("data.source.go_on"), key="declare-source-go", on_click=_look, args=(draft,))
        if said:
            complain(draft)


def _lake(draft: Draft, said: bool) -> None:
    """The same for Parquet that Spark reads, or a table of its catalogue."""
    with st.expander(say("data.lake.title"), expanded=said or bool(st.session_state.get(_WHAT))):
        st.html(f'<p class="muted">{escape(say("data.lake.how"))}</p>')
        with st.form("declare-lake", border=False):
            st.text_input(say("data.lake.what"), key=_WHAT, placeholder=say("data.lake.what_like"))
            st.text_input(say("data.lake.spark"), key=_SPARK, placeholder=say("data.lake.spark_like"))
            st.text_input(say("data.lake.state"), key=_STATE, placeholder=say("data.lake.state_like"))
            st.form_submit_button(
                say("data.source.go_on"), key="declare-lake-go", on_click=_look_at_lake, args=(draft,)
            )
        if said:
            complain(draft)


def _look_at_lake(draft: Draft) -> None:
    state = st.session_state
    draft.complaint = draft.asked = None
    state[_ASKED_LAKE] = True
    what, spark = str(state[_WHAT]).strip(), str(state[_SPARK]).strip() or "spark"
    try:
        if not spark_of(spark):
            raise AllowanceError("source.spark")
        path, table = (what, "") if "/" in what else ("", what)
        draft.asked = dp.Source(spark, table, path=path, snapshot=str(state[_STATE]))
    except AllowanceError as complaint:
        draft.complaint = complaint


def _look(draft: Draft) -> None:
    """Before the page runs again: what was typed is read, and the password is in no field any more."""
    state = st.session_state
    draft.complaint = draft.asked = None
    state[_ASKED_LAKE] = False
    try:
        secret, stays = state[_PASSWORD], state[_IN_PLACE]
        draft.asked = dp.Source(state[_ADDRESS], state[_TABLE], password=secret, in_place=stays)
        state[_ADDRESS] = draft.asked.shown  # a password that was typed into the address goes too
    except AllowanceError as complaint:
        draft.complaint = complaint
        state[_ADDRESS] = without_password(state[_ADDRESS])
    state[_PASSWORD] = ""


def found(draft: Draft, source: dp.Source, described: Described) -> None:
    """The database told its columns: on to the next screen."""
    here.forget(draft.path)
    draft.path, draft.source = None, source.described(described.seen)
    draft.file = source.table[:MOST_SHOWN]
    draft.types = {column.name: column for column in described.columns}
    draft.names, draft.earlier = list(draft.types), list(described.earlier)
    draft.dialect, draft.bad_records, draft.name, draft.cards = Dialect(), "refuse", "", {}
    draft.go("names")


def names(draft: Draft) -> None:
    heading("data.names", file=draft.file)
    with st.container(key="card-names"):
        kinds = [f"{escape(name)} <small>{escape(column.kind)}</small>" for name, column in draft.types.items()]
        items = "".join(f"<li>{kind}</li>" for kind in kinds)
        st.html(f'<p class="muted">{escape(say("data.source.names"))}</p><ul class="names">{items}</ul>')
        stays = draft.source is not None and draft.source.in_place
        st.html(f"<p>{escape(say('data.source.stays' if stays else 'data.source.read_over'))}</p>")
        if draft.earlier:
            st.html(f"<p>{escape(say('data.source.earlier', tables=plain(draft.earlier)))}</p>")
            key = kept("declare-new-people", draft.new_people)
            help_text = say("data.source.new_people_help")
            draft.new_people = st.checkbox(say("data.source.new_people"), key=key, help=help_text)
        complain(draft)
    if onwards(draft, lambda: None, "data.names.next"):
        draft.opened = None
        draft.forth()
        st.rerun()
