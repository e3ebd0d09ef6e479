"""Change the declarations of a table, on the same cards. The allowance stays as it is."""

from __future__ import annotations

import secrets
from collections import OrderedDict
from collections.abc import Callable, Sequence
from dataclasses import replace

import streamlit as st

import dpengine as dp
from dpengine.core.exact import text_of
from dpengine.mechanisms.choices.find_declarations import Drafted
from dpengine.mechanisms.counts.fit_checks import UNSURE
from dpengine.messages import say
from ui.ask import box, form_state, preview
from ui.data import columns as cards
from ui.data import draft as drafts
from ui.data import presets
from ui.data.draft import OUT, Card, Draft
from ui.data.presets import Candidate
from ui.data.wizard import add_style, begin, heading, reconsider, waiting
from ui.parts import answer_notes
from ui.shell import frame, nav, scroll
from ui.shell.frame import paragraph
from ui.shell.language import address, in_address
from ui.shell.state import NOBODY, current_table, open_table, visitor, workspace
from ui.words.markup import unmarked

_KEY = "changes"  # drafts by table
_CHANGED = "declared-anew"
_ASKING = "asking-below"  # the table below whose new declaration a question may stand
_TO_CARD = "declare-on-card"  # the table and the column whose card is opened next
# By visitor and table: a reload starts a new session and must not lose the changes.
_left: OrderedDict[tuple[str, str], tuple[int, Draft]] = OrderedDict()
_MOST_LEFT = 200


def draft_of(table: dp.Table) -> Draft:
    """The current declarations of a table as a draft with cards. The draft is kept during editing, and built anew after
    a change elsewhere."""
    record = next(record for record in workspace().tables() if record.name == table.name)
    held: dict[str, tuple[int, Draft]] = st.session_state.setdefault(_KEY, {})
    version, draft = held.get(table.name) or _left.get((visitor(), table.name)) or (None, None)
    if draft is None or (version != record.version and draft.task is None):  # saving changes the version, too
        dialect = dp.Dialect.from_json(record.dialect)
        unit = table.facts.unit
        draft = Draft(
            mark=_fresh(),
            step="change",
            names=list(table.facts.header),
            dialect=dialect,
            relation=table.facts.relation,
            about=table.facts.about,
            chosen=list(table.schema.columns),
            cards={name: _card_for(table, name, dialect) for name in table.facts.header},
            many="one" if unit.id_column is None else "more",
            each_own=True,  # confirmed when the table was added
            who=unit.id_column,
            each=unit.at_most,
            epsilon=text_of(table.meter().epsilon),  # prices use the table's own allowance
            delta=text_of(table.meter().delta),
        )
        version = record.version
    held[table.name] = (version or 0, draft)
    if visitor() != NOBODY:  # without a cookie all would share one
        _left[visitor(), table.name] = held[table.name]
        while len(_left) > _MOST_LEFT:
            _left.popitem(last=False)
    return draft


def _card_for(table: dp.Table, name: str, dialect: dp.Dialect) -> Card:
    """The card of a declared column. A column that was left out gets a card with a guess from its name."""
    if name in table.schema.columns:
        return Card.of(table.schema[name], dialect, name)
    return replace(Card.for_name(name, table.facts.header), kind=OUT, guess=None)


def open_for(name: str) -> None:
    address({"table": name, "change": "1"})


def _leave(name: str) -> None:
    _forget(name)
    address({"table": name})


def _forget(name: str) -> None:
    st.session_state[_KEY].pop(name, None)
    _left.pop((visitor(), name), None)


def again(table: dp.Table, column: str) -> None:
    """Open the cards of a table, with this column's card unfolded."""
    draft_of(table).opened = column
    open_for(table.name)


def kinds(table: dp.Table, name: str, then: box.Then) -> None:
    """Draw the likely contents of a column that nobody has declared: a tap declares it, or opens its card where
    something must be typed. From its name alone. `then` gets the table as declared now, None if that comes later."""
    if st.session_state.get(_TO_CARD) == (table.name, name):
        del st.session_state[_TO_CARD]
        st.switch_page(nav.page("data"), query_params=_card_of(table, name))
    header = table.facts.header
    place, readings = header.index(name), presets.candidates(name, header) or presets.likely(name)
    with st.container(key=f"kinds-{place}", horizontal=True, vertical_alignment="center", gap="small"):
        paragraph(name, "", width="content")
        for at, (words, reading) in enumerate({cards.in_short(one): one for one in readings}.items()):
            st.button(words, key=f"kinds-{place}-{at}", on_click=_declare, args=(table, name, reading, then))
        label = say("box.declare_else") if readings else unmarked(say("box.declare", columns=name))
        st.page_link(nav.page("data"), label=label, query_params=_card_of(table, name))


def _card_of(table: dp.Table, name: str) -> dict[str, str]:
    return {"table": table.name, "change": "1", "open": name} | in_address()


def _declare(table: dp.Table, name: str, reading: Candidate, then: box.Then) -> None:
    card = Card.for_name(name, table.facts.header)
    card.take(reading)
    try:
        column = drafts.column_of(card, table.dialect)
    except dp.AllowanceError:  # its values, range or order are still to be said
        cards.take(draft_of(table), name, reading)
        st.session_state[_TO_CARD] = (table.name, name)
        then(None)
        return
    try:
        now = open_table(table.name)
        if now.schema != table.schema:  # another tab, or another owner, declared it anew since it was drawn
            raise dp.AllowanceError("table.revised")
        then(now.revise(dp.Schema(dict(now.schema.columns) | {name: column})))
    except dp.AllowanceError as refusal:
        st.session_state["refusal"] = str(refusal)


def use(table: dp.Table, found: Sequence[Drafted]) -> None:
    """Put the ranges and lists that were found onto the columns' cards and open the cards."""
    draft = draft_of(table)
    for drafted in found:
        card = draft.card(drafted.column)
        draft.remember(drafted.column)
        card.agree()
        card.take_found(drafted, say("data.change.bought"))
    draft.choose()
    draft.mark = _fresh()
    open_for(table.name)


def _fresh() -> str:
    return f"change-{secrets.token_hex(3)}"


def show(below: Callable[[dp.Table], None]) -> None:
    """Draw the page: a card for each column; `below` draws the offer to buy unknown ranges and lists."""
    add_style()
    table = current_table()
    if table.practice:
        raise dp.AllowanceError("table.practice")
    if table.closed:
        raise dp.AllowanceError("table.closed", table=table.name)
    draft = draft_of(table)
    fits = answer_notes.fits_of_table(table.name).all_of(table.schema.columns.items())
    draft.checked = {fit.column: fit.declared for fit in fits if fit.checked and fit.state != UNSURE}
    if (wanted := st.query_params.get("open")) in draft.cards and scroll.came_for(f"open-{table.name}-{wanted}"):
        cards.come_to(draft, str(wanted))
    if draft.task is not None:
        _settle(draft, table.name)
    heading("data.change", table=table.name)
    if (query := form_state.of_link(table, preview.came_from())) is not None:
        paragraph(say("data.change.then", question=query.sentence()), "", role="status")
    if draft.task is not None:
        waiting(draft.task)
        return
    reconsider(draft, lambda: _changed(draft, table), "data.change.same")
    cards.cards(draft)
    with st.container(horizontal=True, key="declare-buttons"):
        st.button(say("data.change.leave"), key="declare-leave", on_click=_leave, args=(table.name,))
        pressed = st.button(say("data.change.save"), key="declare-save", type="primary")
    if pressed:
        _save(draft, table)
    below(table)


def _changed(draft: Draft, table: dp.Table) -> dp.Schema:
    schema = drafts.schema(draft)
    if schema == table.schema:
        raise dp.AllowanceError("data.change.same")
    return schema


def _save(draft: Draft, table: dp.Table) -> None:
    draft.pressed = True
    try:
        cards.settled(draft)
        schema = _changed(draft, table)
    except dp.AllowanceError as complaint:
        draft.complaint = complaint
        st.rerun()
    draft.complaint = None
    begin(draft, "revise", lambda tell: table.revise(schema), stoppable=False)


def _settle(draft: Draft, name: str) -> None:
    task = draft.task
    if not task.over:
        return
    draft.task = None
    if task.error is not None:
        draft.complaint, draft.pressed = task.error, True
        return
    st.session_state[_CHANGED] = name
    _forget(name)
    preview.come_back(name)
    address({"table": name})
    st.rerun()


def show_saved(table: dp.Table) -> bool:
    """Confirm a change once, right after it was saved. True if a change was just saved, and as long as a question that
    was typed below it stands there."""
    if st.session_state.get(_CHANGED) != table.name:
        return st.session_state.get(_ASKING) == table.name and box.typed(table)
    del st.session_state[_CHANGED]
    st.session_state[_ASKING] = table.name
    frame.show_success(say("data.change.done"), bring=True)
    return True
