"""A note beside an answer on whether the cells behind it are as declared, as far as paid checks say."""

from __future__ import annotations

from collections.abc import Collection
from fractions import Fraction
from functools import lru_cache
from html import escape
from pathlib import Path
from typing import Any

import streamlit as st

import dpengine as dp
from dpengine.asking.answers import query_of
from dpengine.asking.column_fit import MADE, WELL_MADE, Fits, declared_since, rough_words, unchecked_words
from dpengine.asking.implied_people import PeopleTold, told_by
from dpengine.core.errors import AllowanceError
from dpengine.declared.grouped import base
from dpengine.mechanisms import cuts
from dpengine.mechanisms.counts.fit_checks import UNSURE
from dpengine.mechanisms.edges import near_end, near_end_words
from dpengine.messages import say
from dpengine.storage.samples import SAMPLES
from ui.shell import nav
from ui.shell.state import workspace
from ui.words import prices
from ui.words.phrases import edges
from ui.words.wording import cut_rows, headline

_KEPT = 10_000
MOST_BETWEEN = 3  # columns below a headline
_asked: dict[str, dp.Query | None] = {}  # by the row of a charge: every one would be read again at every click


def fits_of_answer(answer: dp.Answer) -> Fits:
    """What is known of the columns of an answer's table. Also called while a file is written, where there is no page
    and no visitor."""
    return fits_of_answers(str(answer.receipt["table"]))


def fits_of_answers(name: str) -> Fits:
    """The same of all answers of a table."""
    if name in SAMPLES:
        return WELL_MADE
    try:
        return fits_of_table(name)
    except AllowanceError:  # it is gone
        return WELL_MADE


def fits_of_table(name: str) -> Fits:
    return _known(name, workspace().folder, workspace().ledger.head()[1])


@lru_cache(maxsize=64)
def _known(name: str, folder: Path, head: str) -> Fits:
    """Of a table as its ledger stands: a page with many cards asks once. It holds released answers alone."""
    return workspace().table(name).fits()


def fit_lines(answer: dp.Answer, part: str = "") -> list[str]:
    """On the columns of an answer, or of a part of it; nothing where all cells fit, where we made the table, or where
    it is gone."""
    people = None if part else told_by(answer)
    return [
        *fits_of_answer(answer).notes(answer.query, part),
        *([people.words()] if people is not None and people.far else []),
    ]


def fit_in_short(entry: dp.Entry) -> str:
    """On a line that leads to an answer: what was declared anew since, or what paid checks say against it."""
    if entry.outcome is None or entry.outcome.kind != "answer":
        return ""
    if since := since_then(entry.charge.claim, entry.charge.table):
        return since
    key = entry.charge.hash
    if key not in _asked:
        if len(_asked) >= _KEPT:
            _asked.clear()
        _asked[key] = query_of(entry.charge)
    query = _asked[key]
    return "" if query is None else fits_of_answers(entry.charge.table).in_short(query)


def since_then(claim: dict[str, Any], table: str) -> str:
    """What was declared anew of an answer's columns, or of whose the rows are, after it was given: it means what was
    declared then."""
    if table in SAMPLES:
        return ""
    try:
        facts = workspace().table(table).facts
    except AllowanceError:  # it is gone
        return ""
    told = declared_since(claim, facts)
    return say("since.answer", parts="; ".join(told)) if told else ""


def fit_in_short_html(entry: dp.Entry) -> str:
    return f'<em class="doubt">{escape(told)}</em>' if (told := fit_in_short(entry)) else ""


def headline_notes(answer: dp.Answer, linked: bool = False, below: Collection[str] = ()) -> str:
    """Below a headline, in its size: that rows are counted and not people; what a check found too little of to refuse
    the question, or would not have seen; that nobody has checked; and what a finer check takes. The share of misfits of
    a column in `below` stands there."""
    whole = fits_of_answer(answer)
    known = [] if answer.query.own_scales else whole.between(answer.query)
    found = [fit for fit in known if fit.doubted or fit.in_part]
    large = whole.row_notes(answer.query)
    if there := [fit.column for fit in found if fit.column in below and not fit.codes]:
        large.append(say("fit.note.below", columns=there))
    large += [fit.note() for fit in found if fit.column not in there][:MOST_BETWEEN]
    large += [words for words in (rough_words(known), unchecked_words(known)) if words]
    lines = [f'<p class="headline-note">{escape(" ".join(large))}</p>'] if large else []
    if linked:
        lines += [_mend(answer, fit.column) for fit in found]
        finer = _finer(answer, [fit.column for fit in known if fit.rough or not fit.checked])
        lines += [f"<p>{finer}</p>"] if finer else []
    return "".join(lines)


def _mend(answer: dp.Answer, column: str) -> str:
    """The way to the card of a column, where what was found can be said."""
    link = nav.address("data", str(answer.receipt["table"]), change="1", open=column)
    return f'<p><a class="way" href="{link}" target="_self">{escape(say("data.fit.again", column=column))}</a></p>'


def _finer(answer: dp.Answer, columns: list[str]) -> str:
    """The way to a finer check, with its price."""
    try:
        table = workspace().table(str(answer.receipt["table"]))
    except AllowanceError:  # it is gone
        return ""
    check = table.finer_check(columns) if columns and not table.closed else None
    if check is None:
        return ""
    share = prices.takes(table, table.preview(check).share)
    link = nav.address("data", table.name, check="1")
    return f'<a class="way" href="{link}" target="_self">{escape(say("fit.finer", share=share))}</a>'


def other_columns(table: dp.Table, answer: dp.Answer) -> None:
    """Below an answer: columns that it is not about and that a paid check doubts, with the way to what helps."""
    if table.practice or table.closed:
        return
    fits, own = fits_of_table(table.name).all_of(table.schema.columns.items()), answer.query.used()
    if named := [one.column for one in fits if one.column not in own and (one.doubted or one.in_part)]:
        way = f'<a class="way" href="{nav.address("data", table.name, check="1")}" target="_self">'
        told = f"{escape(say('fit.others', columns=named))} {way}{escape(say('fit.others.link'))}</a>"
        st.html(f'<p class="warn" role="status">{told}</p>')


def planned_people_note(table: dp.Table, query: dp.Query) -> str:
    """A note beside a promise that is planned with a number of people which a paid answer shows to be far off."""
    if table.practice or table.facts.people is not None or not query.promise().supposes(query):
        return ""
    told = far_off(table)
    return "" if told is None else told.planned()


def far_off(table: dp.Table) -> PeopleTold | None:
    return _far_off(table.name, workspace().folder, workspace().ledger.head()[1], table.facts.about)


@lru_cache(maxsize=64)
def _far_off(name: str, folder: Path, head: str, declared: int) -> PeopleTold | None:
    """Of a table as its ledger stands. It holds released answers alone."""
    return workspace().table(name).people_far_off()


def supposed(table: dp.Table, query: dp.Query) -> str:
    """Whose word the number of people is that a promise is planned with, and the way to its field; where an answer
    shows that it is far off, `offer` says so instead."""
    if table.practice or table.facts.people is not None or not query.promise().supposes(query):
        return ""
    told = escape(say("people.supposed", people=table.facts.about))
    return f'<p class="muted">{told} {people_way(table.name)}</p>'


def offer_people(table: dp.Table, query: dp.Query) -> bool:
    """A note that a promise is planned with a number of people which a paid answer shows to be far off, with one tap to
    plan with what it says."""
    if not (note := planned_people_note(table, query)) or (told := far_off(table)) is None:
        return False
    st.html(f'<p class="warn" role="status">{escape(note)} {people_way(table.name)}</p>')
    st.button(
        say("people.use", people=told.about), key="people-use", on_click=correct_people, args=(table.name, told.about)
    )
    return True


def correct_people(name: str, people: int) -> None:
    try:
        workspace().table(name).correct_people(people)
    except AllowanceError as refusal:
        st.session_state["refusal"] = str(refusal)


def people_way(table: str) -> str:
    """The link to the very field in which the declared number of people is corrected."""
    place = nav.address("data", table, people="1")
    return f'<a class="way" href="{place}" target="_self">{escape(say("people.link"))}</a>'


def fit_notes(answer: dp.Answer, linked: bool = False) -> str:
    """The notes; on a page `linked` to where columns are checked and declared anew, in a file not. Where each figure is
    of a column of its own they stand beside the figures."""
    known, people = fits_of_answer(answer), told_by(answer)
    between = known.between(answer.query)
    above = {rough_words(between), unchecked_words(between), *(fit.note() for fit in between)}  # below the headline
    found = [note for note in known.notes(answer.query) if answer.query.own_scales or note not in above]
    if since := since_then(answer.receipt["claim"], str(answer.receipt["table"])):
        found.insert(0, since)
    told = [] if answer.query.own_scales else [f'<p class="warn fit">{escape(note)}</p>' for note in found]
    if people is not None and people.far:
        way = people_way(str(answer.receipt["table"])) if linked else ""
        several = say("people.far_one_row") if answer.query.facts.unit.id_column is None else ""
        told.append(f'<p class="warn fit">{escape(people.words())} {escape(several)} {way}</p>')
    if linked and (found or not all(fit.checked for fit in between)):
        place = nav.address("data", str(answer.receipt["table"]), check="1")
        told.append(f'<p><a href="{place}" target="_self">{escape(say("fit.note.link"))}</a></p>')
    return "".join(told)


# A note beside an answer on how the declaration changes the file's cells before they count; from public facts.

HARDLY = Fraction(1, 50)  # of everybody
LONG = 60  # characters: a longer finding is set smaller, so that its range stays in view on a phone


def cut_words(query: dp.Query) -> str:
    """What is cut, and which rows are left out for want of a value, or count without one; nothing where none can be."""
    needed = query.left_out()
    without = say("cut.without" if len(needed) == 1 else "cut.without_any", columns=needed) if needed else ""
    empty = query.counted_empty()
    within = say("cut.within", columns=empty) if empty else ""
    return " ".join(filter(None, [cuts.sentence(query.cuts()), without, within]))


def several_rows(query: dp.Query) -> str:
    """Where rows count: at most how many of each person; and for how many an error is planned that falls with them."""
    told = say("ask.each_row", most=query.facts.unit.at_most)
    falls = query.of_size(2 * query.facts.about).promise().amount < query.promise().amount
    return f"{told} {say('ask.each_row_planned')}" if falls and query.facts.unit.at_most > 1 else told


def finding(answer: dp.Answer, lead: str = "", linked: bool = False, kind: str = "") -> str:
    """The headline, or a paragraph of another `kind`; under it `lead`, which says how far the truth may be, because on
    a phone nothing may push that out of view; then what a bar at an end of a declared range also holds; where rows of a
    person may have been left out, which way the truth may lie; and once, smaller, how the declaration changes what
    counts."""
    warned = [_near_end(answer), _hardly(answer), edges(answer), cut_rows(answer)]
    edge = "".join(f'<p class="warn">{escape(told)}</p>' for told in warned if told)
    counts = cut_words(answer.query)
    small = f'<p class="muted counted">{escape(counts)}</p>' if counts else ""
    said = _of_fitting(answer, headline(answer))
    kind = kind or ("headline long" if len(said) > LONG else "headline")
    return f'<p class="{kind}">{escape(said)}</p>{headline_notes(answer, linked)}{lead}{edge}{small}'


def _of_fitting(answer: dp.Answer, said: str) -> str:
    """Where only cells that fit count: of which share of the cells the finding is."""
    known = fits_of_answer(answer)
    fits = [fit for fit in known.about(answer.query) if fit.column in answer.query.where.fitting() and fit.found]
    if not fits:
        return said
    least = min(fits, key=lambda fit: 1 - fit.found.misfit.value if fit.found is not None else 1)
    return say("fit.of_fitting", share=least.fitting_share(), finding=said[:1].lower() + said[1:])


def _near_end(answer: dp.Answer) -> str:
    """Nothing where the answer says nothing itself. Once a check could tell, only where it found cells beyond that very
    end, and no code that would pull the answer there."""
    query, code = answer.query, near_end(answer.query, answer.value, answer.interval)
    if not code or query.state(answer.value, answer.interval):
        return ""
    known = fits_of_answer(answer).of(query.answer_column, query.facts.schema[query.answer_column])
    if known.state == MADE or (known.found is not None and known.state != UNSURE):
        beyond = None if known.found is None else known.found.parts.get({"upper": "above", "lower": "below"}[code])
        if beyond is None or beyond.low <= 0 or known.codes:
            return ""
    return near_end_words(query, code)


def _hardly(answer: dp.Answer) -> str:
    """A share or number that is next to nothing, of a listed value: the cells may be written otherwise, where nobody
    has checked them."""
    query, limits = answer.query, answer.query.limits()
    if query.answer_kind not in ("share", "count") or limits is None or not isinstance(answer.value, int | float):
        return ""
    if answer.value > limits[1] * HARDLY:
        return ""
    columns, known = query.facts.schema.columns, fits_of_answer(answer)
    asked = {base(one) for condition in query.conditions() for one in condition.columns()}
    lists = [name for name in columns if name in asked and isinstance(columns[name], dp.Category)]
    unchecked = [name for name in lists if not known.of(name, columns[name]).checked]
    return say("edge.hardly", columns=unchecked) if unchecked else ""


def cut_note(query: dp.Query) -> str:
    told = cut_words(query)
    return f'<p class="muted counted">{escape(told)}</p>' if told else ""
