"""Notes beside an answer: the headline, whether checks doubt its columns, and how the declaration changes the cells.

They use released answers and public facts alone.
"""

from __future__ import annotations

import json
from collections.abc import Collection
from fractions import Fraction
from functools import lru_cache
from html import escape
from pathlib import Path
from typing import Any

import streamlit as st

import dpengine as dp
from dpengine.asking.answers import query_of
from dpengine.asking.column_fit import (
    MADE,
    WELL_MADE,
    ColumnFit,
    Fits,
    ImpliedPeople,
    declared_ends,
    declared_since,
    implied_by,
    rough_words,
    unchecked_words,
)
from dpengine.declared.grouped import base
from dpengine.mechanisms import cuts
from dpengine.mechanisms.answer_state import FEW
from dpengine.mechanisms.counts.fit_checks import UNSURE
from dpengine.mechanisms.edges import near_end, near_end_words
from dpengine.messages import say
from dpengine.storage.samples import SAMPLES
from ui.shell import nav
from ui.shell.state import attempt, workspace
from ui.words import prices
from ui.words.markup import link, p, paragraphs
from ui.words.phrases import edges
from ui.words.wording import cut_rows, headline

_KEPT = 10_000
MOST_BETWEEN = 3  # columns named below a headline
HARDLY = Fraction(1, 50)  # of everybody
LONG = 60  # characters: a longer headline is set smaller, so that its range stays in view on a phone
_queries: dict[str, dp.Query | None] = {}  # by the hash of a charge, so that a click does not read them all again


# What checks say about a table's columns ------------------------------------------------------------------------------


def fits_of_answer(answer: dp.Answer) -> Fits:
    """What checks say about the columns of an answer's table. This works without a page too, while a file is
    written."""
    return fits_of_answers(str(answer.receipt["table"]))


def repeated(name: str) -> bool:
    """Did a paid check find repeated ids in this table, although one row for each id was declared?"""
    return bool(fits_of_answers(name).repeated)


def fits_of_answers(name: str) -> Fits:
    """What checks say about the columns of a table; nothing against them if the table is gone or a sample."""
    if name in SAMPLES:
        return WELL_MADE
    try:
        return fits_of_table(name)
    except dp.AllowanceError:  # the table is gone
        return WELL_MADE


def fits_of_table(name: str) -> Fits:
    return _known(name, workspace().folder, workspace().ledger.head()[1])


@lru_cache(maxsize=64)
def _known(name: str, folder: Path, head: str) -> Fits:
    """What paid checks say about a table's columns. Cached until the ledger grows, because a page with many cards needs
    it often. The cache holds released answers alone."""
    return workspace().table(name).fits()


# Short notes ----------------------------------------------------------------------------------------------------------


def fit_lines(answer: dp.Answer, part: str = "") -> list[str]:
    """Notes on the columns of an answer or of one of its parts. Empty where all cells fit, or the table is a sample or
    gone."""
    people = None if part else implied_by(answer)
    return [
        *fits_of_answer(answer).notes(answer.query, part),
        *([people.note("far")] if people is not None and people.far else []),
    ]


def fit_in_short_html(entry: dp.Entry, drawn: dp.Table | None = None) -> str:
    """HTML with a short note beside a link to an answer: what was declared anew since, and what paid checks doubt; else
    empty."""
    if entry.outcome is None or entry.outcome.kind != "answer":
        return ""
    since = _since_then(entry.charge.claim, entry.charge.table, drawn)
    key = entry.charge.hash
    if key not in _queries:
        if len(_queries) >= _KEPT:
            _queries.clear()
        _queries[key] = query_of(entry.charge)
    query = _queries[key]
    doubts = "" if query is None else fits_of_answers(entry.charge.table).in_short(query)
    note = f"{since} {doubts}".strip()
    return f'<em class="doubt">{escape(note)}</em>' if note else ""


def _since_then(claim: dict[str, Any], table: str, drawn: dp.Table | None = None) -> str:
    """A sentence on what was declared anew after the answer (columns, or the privacy unit): the answer means the old
    declaration. Empty if nothing was, or the table is gone."""
    if table in SAMPLES:
        return ""
    try:
        facts = (drawn if drawn is not None and drawn.name == table else workspace().table(table)).facts
    except dp.AllowanceError:  # the table is gone
        return ""
    changes = declared_since(claim, facts)
    return say("since.answer", parts="; ".join(changes)) if changes else ""


# The headline and what stands below it --------------------------------------------------------------------------------


def finding(answer: dp.Answer, lead: str = "", below: str = "", linked: bool = False, kind: str = "") -> str:
    """HTML: the headline, or a paragraph of another `kind`, with its notes.

    `lead` is HTML on how far the truth may be. It follows at once, so that nothing pushes it out of view on a phone.
    Then come the notes of the headline, those in `below`, and warnings: a bar at an end of the declared range, a figure
    near zero, rows left out. Last and small: how the declaration changes what counts."""
    warnings = [_near_end(answer), _hardly(answer), edges(answer), cut_rows(answer)]
    warned = paragraphs((warning for warning in warnings if warning), "warn")
    title = _of_rows(answer, _of_fitting(answer, _one_sided(answer, headline(answer))))
    kind = kind or ("headline long" if len(title) > LONG else "headline")
    notes = headline_notes(answer, linked)
    return f'<p class="{kind}">{escape(title)}</p>{lead}{notes}{below}{warned}{cut_note(answer.query)}'


def headline_notes(answer: dp.Answer, linked: bool = False, below: Collection[str] = ()) -> str:
    """HTML: bold notes right after the range, and links to what helps.

    The notes say that rows count and not people, what a check doubts, how many cells have no value, and that nobody has
    checked. They also say what a check could have missed, if that is a tenth of the cells or more; if it is less, this
    follows in the usual size. An answer that says nothing gets only the first two notes. A column in `below` has its
    figures further down."""
    whole = fits_of_answer(answer)
    fits = [] if answer.query.own_scales else whole.between(answer.query)
    doubted = [fit for fit in fits if fit.doubted or fit.in_part]
    notes = whole.row_notes(answer.query)
    if there := [fit.column for fit in doubted if fit.column in below and not fit.codes]:
        notes.append(say("fit.note.below", columns=there))
    here = [fit for fit in doubted if fit.column not in there][:MOST_BETWEEN]
    notes += [fit.note(answer.query) + _without(answer, fit) for fit in here]
    rough = ""
    if telling := not says_nothing(answer):
        notes += [] if answer.query.own_scales else whole.unknown_notes(answer.query)
        notes += filter(None, [unchecked_words(fits)])
        rough = rough_words(fits)
        if any(fit.may_hide for fit in fits):
            notes, rough = [*notes, rough], ""
    lines = [p(" ".join(notes), "headline-note")] if notes else []
    lines += [p(rough)] if rough else []
    if linked:
        lines += [f"<p>{_column_way(answer, fit.column)}</p>" for fit in doubted]
        unsure = [fit.column for fit in fits if fit.rough or not fit.checked]
        finer = _finer(answer, unsure) if telling else ""
        lines += [f"<p>{finer}</p>"] if finer else []
    return "".join(lines)


def _without(answer: dp.Answer, fit: ColumnFit) -> str:
    """A sentence if averaged cells hold a code for “unknown”: whether the average without these cells is lower or
    higher. Empty if that is not certain."""
    query, ends = answer.query, answer.interval
    if not query.rises or query.answer_kind != "place" or not isinstance(ends, tuple) or fit.named_code is None:
        return ""
    asked = {name for condition in query.conditions() for name in condition.columns()}
    if fit.column != query.answer_column or fit.column in asked:
        return ""
    if all(code > ends[1] for code in fit.codes):
        return " " + say("fit.without.lower")
    return " " + say("fit.without.higher") if all(code < ends[0] for code in fit.codes) else ""


def says_nothing(answer: dp.Answer) -> bool:
    """Is the answer all noise? Then nothing is drawn. Groups that cannot be ranked still say something."""
    return answer.query.state(answer.value, answer.interval) == FEW


def _column_way(answer: dp.Answer, column: str) -> str:
    """HTML with the link to a column's card, where the column can be declared anew."""
    where = {"change": "1", "open": column} | _back(answer.query)
    return link(nav.address("data", str(answer.receipt["table"]), **where), say("data.fit.again", column=column), "way")


def _back(query: dp.Query) -> dict[str, str]:
    """The address parameter by which a column's card leads back to this question; empty if Ask does not ask it."""
    if "ask" not in query.card.asked_on or query.card.behind:
        return {}
    given = {"q": query.card.key} | {name: value for name, value in query.parameters().items() if name != "noise"}
    question = {name: value if isinstance(value, str) else json.dumps(value) for name, value in given.items()}
    return {"then": json.dumps(question, ensure_ascii=False)}


def _finer(answer: dp.Answer, columns: list[str]) -> str:
    """HTML with the link to a finer check of these columns, with its price; empty if there is none."""
    try:
        table = workspace().table(str(answer.receipt["table"]))
    except dp.AllowanceError:  # the table is gone
        return ""
    check = table.finer_check(columns) if columns and not table.closed else None
    if check is None:
        return ""
    share = prices.takes(table, table.preview(check).share)
    where = nav.address("data", table.name, check=json.dumps(columns, ensure_ascii=False))
    return link(where, say("fit.finer", share=share), "way")


def _of_fitting(answer: dp.Answer, title: str) -> str:
    """The headline; if only cells that fit count, with the share of such cells."""
    fitting = answer.query.where.fitting()
    fits = [fit for fit in fits_of_answer(answer).about(answer.query) if fit.column in fitting and fit.found]
    if not fits:
        return title
    least = min(fits, key=lambda fit: fit.fitting)
    ends = declared_ends(least.declared)
    code = "fit.of_fitting_range" if ends["upper"] else "fit.of_fitting"
    return say(code, share=least.fitting_share(), finding=title[:1].lower() + title[1:], **ends)


def _one_sided(answer: dp.Answer, title: str) -> str:
    """The headline; if cells beyond one end of the range count as that end, it also says on which side the truth
    lies."""
    if not isinstance(answer.value, int | float | Fraction) or says_nothing(answer):
        return title
    sides = {fit.moves(answer.query) for fit in fits_of_answer(answer).between(answer.query)} - {""}
    return say(f"fit.{sides.pop()}", finding=title[:1].lower() + title[1:]) if sides else title


def _of_rows(answer: dp.Answer, title: str) -> str:
    """The headline; if many people may have more rows than count, it also says how many rows count."""
    most = fits_of_answer(answer).cut_rows(answer.query)
    return title if most is None else say("fit.of_rows", most=most, finding=title[:1].lower() + title[1:])


def _near_end(answer: dp.Answer) -> str:
    """A warning that the answer lies near an end of the declared range; else empty. Empty if the answer says nothing.
    Once a check was sure, only where the check found cells beyond that end, and no code that would pull the answer
    there."""
    query, code = answer.query, near_end(answer.query, answer.value, answer.interval)
    if not code or query.state(answer.value, answer.interval):
        return ""
    fit = fits_of_answer(answer).of(query.answer_column, query.facts.schema[query.answer_column])
    if fit.state == MADE or (fit.found is not None and fit.state != UNSURE):
        beyond = None if fit.found is None else fit.found.parts.get({"upper": "above", "lower": "below"}[code])
        if beyond is None or beyond.low <= 0 or fit.codes:
            return ""
    return near_end_words(query, code)


def _hardly(answer: dp.Answer) -> str:
    """A note on a share or count near zero whose list nobody has checked: the file may spell the list otherwise. Else
    empty."""
    query, limits = answer.query, answer.query.limits()
    if query.answer_kind not in ("share", "count") or limits is None or not isinstance(answer.value, int | float):
        return ""
    if answer.value > limits[1] * HARDLY:
        return ""
    columns, fits = query.facts.schema.columns, fits_of_answer(answer)
    asked = {base(column) for condition in query.conditions() for column in condition.columns()}
    lists = [name for name in columns if name in asked and isinstance(columns[name], dp.Category)]
    unchecked = [name for name in lists if not fits.of(name, columns[name]).checked]
    return say("edge.hardly", columns=unchecked) if unchecked else ""


# Smaller notes below the headline -------------------------------------------------------------------------------------


def fit_notes(answer: dp.Answer, linked: bool = False) -> str:
    """HTML: notes that the headline does not carry. `linked` adds the way to the checks, for a page; a file has none.
    Where each figure has its own column, notes on columns stand beside the figures instead."""
    fits, people = fits_of_answer(answer), implied_by(answer)
    between, table = fits.between(answer.query), str(answer.receipt["table"])
    if says_nothing(answer):  # the headline's notes hold only doubts
        above = {fit.note(answer.query) for fit in between if fit.doubted or fit.in_part}
    else:
        above = {rough_words(between), unchecked_words(between), *(fit.note(answer.query) for fit in between)}
        above.update(fits.unknown_notes(answer.query))
    above.update(fits.row_notes(answer.query))
    notes = [note for note in fits.notes(answer.query) if answer.query.own_scales or note not in above]
    if since := _since_then(answer.receipt["claim"], table):
        notes.insert(0, since)
    lines = [] if answer.query.own_scales else [p(note, "warn fit") for note in notes]
    if people is not None and people.far:
        way = people_way(table) if linked else ""
        several = say("people.far_one_row") if answer.query.facts.unit.id_column is None else ""
        lines.append(f'<p class="warn fit">{escape(people.note("far"))} {escape(several)} {way}</p>')
    if linked and (notes or not all(fit.checked for fit in between)):
        lines.append(p(link(nav.address("data", table, check="1"), say("fit.note.link"))))
    return "".join(lines)


def other_columns(table: dp.Table, answer: dp.Answer) -> None:
    """Draw below an answer: other columns that a paid check doubts, with the way to what helps."""
    if table.practice or table.closed:
        return
    fits, own = fits_of_table(table.name).all_of(table.schema.columns.items()), answer.query.used()
    if doubted := [fit.column for fit in fits if fit.column not in own and (fit.doubted or fit.in_part)]:
        way = link(nav.address("data", table.name, check="1"), say("fit.others.link"), "way")
        st.html(f'<p class="warn" role="status">{escape(say("fit.others", columns=doubted))} {way}</p>')


def cut_words(query: dp.Query) -> str:
    """Sentences from public facts: what the declaration cuts, which rows with an empty cell are left out, and which
    count anyway."""
    needed = query.left_out()
    without = say("cut.without" if len(needed) == 1 else "cut.without_any", columns=needed) if needed else ""
    empty = query.counted_empty()
    within = say("cut.within", columns=empty) if empty else ""
    return " ".join(filter(None, [cuts.sentence(query.cuts()), without, within]))


def cut_note(query: dp.Query) -> str:
    words = cut_words(query)
    return p(words, "muted counted") if words else ""


def several_rows(query: dp.Query) -> str:
    """Where rows count, a sentence: how many rows of each person count at most, and whether the error was planned for
    several rows each."""
    words = say("ask.each_row", most=query.facts.unit.at_most)
    falls = query.of_size(2 * query.facts.about).promise().amount < query.promise().amount
    each = query.planned_size // query.facts.about
    return f"{words} {say('ask.each_row_planned', each=each)}" if falls and query.facts.unit.at_most > 1 else words


# The declared number of people ----------------------------------------------------------------------------------------


def _supposes(table: dp.Table, query: dp.Query) -> bool:
    """Is the promise planned with a number of people that somebody only guessed?"""
    return not table.practice and table.facts.people is None and query.promise().supposes(query)


def far_off(table: dp.Table) -> ImpliedPeople | None:
    """The number of people that a paid answer implies, if the declared number is far off; else None."""
    return _far_off(table.name, workspace().folder, workspace().ledger.head()[1], table.facts.about)


@lru_cache(maxsize=64)
def _far_off(name: str, folder: Path, head: str, declared: int) -> ImpliedPeople | None:
    """The value of `far_off`, cached for each state of the ledger; None if nothing is far off. It depends on released
    answers alone."""
    return workspace().table(name).people_far_off()


def supposed(table: dp.Table, query: dp.Query) -> str:
    """HTML with a note that the number of people is a guess, and the link to the field for it; empty if it is none.
    Where an answer shows that the guess is far off, `offer_people` draws more."""
    if not _supposes(table, query):
        return ""
    note = escape(say("people.supposed", people=table.facts.about))
    return f'<p class="muted">{note} {people_way(table.name)}</p>'


def offer_people(table: dp.Table, query: dp.Query) -> bool:
    """If a paid answer shows that the promise is planned with a wrong number of people, draw a note and a button that
    plans with the implied number. True if this was drawn."""
    if not _supposes(table, query) or (implied := far_off(table)) is None:
        return False
    st.html(f'<p class="warn" role="status">{escape(implied.note("planned"))} {people_way(table.name)}</p>')
    label = say("people.use", people=implied.about)
    st.button(label, key="people-use", on_click=attempt, args=(table.correct_people, implied.about))
    return True


def people_way(table: str) -> str:
    """HTML with the link to the field for the declared number of people."""
    return link(nav.address("data", table, people="1"), say("people.link"), "way")
