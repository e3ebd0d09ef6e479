"""The previous answer on Ask, folded to one line while the person composes another question; a note beside averages;
and answers to a repeated question.

All of it comes from public facts and released figures.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Sequence
from fractions import Fraction
from html import escape
from typing import Any

import streamlit as st

import dpengine as dp
from dpengine.asking.answers import same_question
from dpengine.asking.paid_answers import MOST_AVERAGED, Reading, foreseen
from dpengine.core.amounts import MOST_EPSILON
from dpengine.core.printed import chance, two_figures
from dpengine.mechanisms.card import WHOLE
from dpengine.mechanisms.query import Averaged
from dpengine.messages import plain, say
from dpengine.released.look_groups import of_everyone
from ui.ask import answer as answers
from ui.ask import fit_warnings, preview, spend
from ui.parts import answer_notes, job
from ui.parts.history import receipt_of, when
from ui.pictures import many
from ui.shell import nav, scroll
from ui.shell.frame import paragraph
from ui.shell.state import as_read, workspace
from ui.words import prices
from ui.words.markup import html_table, p, unmarked
from ui.words.wording import as_one, headline, in_short, range_words

# --- a question that was asked more than once: its answers combined, each one alone, and a button to ask again

NARROWER = Fraction(19, 20)  # of all widths together: less is no gain that anybody sees
CLEARLY = Fraction(4, 5)  # of a width: what a dearer answer must be below to be worth its price


def show_repeats(table: dp.Table, answer: dp.Answer) -> None:
    if answer.query.answer_kind in WHOLE:  # another draw is another one, from its own page
        return
    if isinstance(answer.value, dict) and len(answer.value) > many.MOST_REHEARSED:
        return  # so many means are not worked out while somebody waits; Ask and the CSV have each answer
    reading = table.looks(answer.query)
    if reading.count > 1:
        with st.container(key="card-looks"):
            _together(reading, answer.query.beta)
            with st.expander(say("looks.each")):
                st.html(_each(table, reading))
    same = [(look.query.epsilon, look.query.noise) for look in reading.answers]
    few = same.count((answer.query.epsilon, answer.query.noise)) < MOST_AVERAGED
    declared = answer.query.facts == table.facts  # a table declared anew since then asks another question
    if few and declared and not table.closed:
        _once_more(table, answer, reading)


def _together(reading: Reading, beta: Fraction) -> None:
    lines = [f"<h2>{escape(say('looks.title', count=reading.count))}</h2>"]
    if reading.kind == "apart":
        st.html(lines[0] + p(say("looks.apart")))
        return
    if not reading.agree:
        odds = {"chance": plain(float(beta * 100))} if reading.kind == "averaged" else {}
        code = "looks.disagree" if odds else "looks.disagree.shared"
        lines.append(p(say(code, **odds), "warn", "status"))
    elif reading.interval is None:
        facts = {"count": reading.count, "chance": chance(beta)}
        st.html(lines[0] + p(say("looks.shared.nothing", **facts), "muted"))
        return
    combined = as_one(reading)
    if reading.agree:
        lines.append(p(say(f"looks.{reading.kind}", count=reading.count), "muted"))
    words = range_words(combined)
    if isinstance(combined.interval, dict):
        code = "answer.ranges_one" if len(combined.interval) == 1 else "answer.ranges"
        words = say(code, of=len(combined.interval), chance=chance(reading.beta))
    lead = f'<p class="lead">{escape(words)}</p>'
    lines.append(answer_notes.finding(combined, lead, answer_notes.fit_notes(combined), kind="together"))
    if reading.agree:
        facts = {"count": reading.count, "chance": chance(beta), "together": chance(reading.beta)}
        lines.append(p(say(f"looks.{reading.kind}.holds", **facts), "muted"))
    st.html("".join(lines))
    if isinstance(combined.value, dict):
        answers.picture(combined, "looks")


def _each(table: dp.Table, reading: Reading) -> str:
    heads = [say(f"looks.column.{name}") for name in ("when", "answer", "share", "receipt")]
    rows = []
    for look in reading.newest:
        took = prices.took(table, workspace().ledger.find(look.request_id))
        rows.append((when(look.at), in_short(look), took, receipt_of(look)))
    return html_table(heads, rows, words=4)


def _once_more(table: dp.Table, answer: dp.Answer, reading: Reading) -> None:
    """Draw a button that asks again if that narrows the range, and a sentence on a more exact answer if there is
    one."""
    notes = []
    price, narrower = table.preview(answer.query, checked=True), _narrower(answer, reading)
    if price.admissible and narrower:
        label = say("looks.again", share=prices.takes(table, price.share))
        job.ask_button(label, table, answer.query, "look-again", kind="secondary", again=True)
        notes += [say("looks.why.averaged"), narrower]
    notes += [_better(table, answer, bool(notes))]
    if words := " ".join(filter(None, notes)):
        paragraph(words)


def _better(table: dp.Table, answer: dp.Answer, beside: bool) -> str:
    """A sentence that offers one answer at twice the ε, whose noise is less than that of two averaged answers. Empty
    unless that answer is clearly narrower and takes at most half of what is left."""
    if 2 * answer.query.epsilon > MOST_EPSILON:
        return ""
    asked = answer.query.at(2 * answer.query.epsilon)
    twice, now = table.preview(asked, checked=True), answer.interval
    half = _half(now)
    if not twice.admissible or twice.share > table.meter().unused / 2:
        return ""
    if half is not None and not twice.promise.narrows(CLEARLY * half):
        return ""
    facts = {"promise": twice.promise.short(asked), "share": prices.takes(table, twice.share)}
    return say("looks.better" if beside else "looks.better_alone", **facts)


def _half(now: Any) -> Fraction | None:
    """Half the width of a range, or of the widest of several ranges; None without a range."""
    ranges = list(now.values()) if isinstance(now, dict) else [now]
    if not ranges or not all(isinstance(ends, tuple) and not isinstance(ends[0], str) for ends in ranges):
        return None
    return max((Fraction(high) - Fraction(low)) / 2 for low, high in ranges)


def _narrower(answer: dp.Answer, reading: Reading) -> str:
    """A sentence: half the range's width now and after one more answer. Empty if one more answer would not narrow the
    range, or if answers of this kind cannot be averaged, such as bought ranges and names."""
    if not isinstance(answer.query, Averaged):
        return ""
    now = reading.interval if reading.count > 1 and reading.agree else answer.interval
    then = foreseen(reading.answers, answer.query, answer.query.beta)
    if isinstance(now, tuple) and isinstance(then, tuple):
        half, other = (two_figures(Fraction(high - low) / 2) for low, high in (now, then))
        return say("looks.then", now=half, then=other) if _width(then) < _width(now) and half != other else ""
    if isinstance(now, dict) and isinstance(then, dict) and now.keys() == then.keys():
        return say("looks.then_all") if _width(then) < NARROWER * _width(now) else ""
    return ""


def _width(interval: Any) -> Fraction:
    ends = interval.values() if isinstance(interval, dict) else [interval]
    return sum((Fraction(high) - Fraction(low) for low, high in ends), Fraction(0))


MOSTLY = 0.5  # of all rows in one bar: an average says little of them
_SAME = ("column", "where", "by")  # of the question, as far as both have it


def typical_note(table: dp.Table, answer: dp.Answer) -> None:
    """Draw a note beside an average: the average is not the typical value, what a first look shows, and a link to a
    better question."""
    kind = answer.query.typical
    if not kind:
        return
    paragraph(" ".join((say("typical.average"), _looked(table, answer.query))).strip(), role="note")
    if table.closed:
        return
    given = answer.query.parameters()
    query = table.suggested(kind, **{name: given[name] for name in _SAME if given.get(name)})
    if query is not None:
        share = table.preview(query, checked=True).share
        label = say("typical.ask", question=query.card.noun, share=prices.takes(table, share))
        st.page_link(nav.page("ask"), label=unmarked(label), query_params=preview.opening(table, query))


def _looked(table: dp.Table, query: dp.Query) -> str:
    """A sentence: where most rows are, according to the newest first look; empty without one."""
    given = query.parameters()
    found = next(iter(table.first_looks(1)), None)
    if found is None or given.get("where") or given.get("by") or given["column"] not in found.value.columns:
        return ""
    look, column = found.value, str(given["column"])
    if column in look.query.items:
        return ""
    shares = of_everyone(look, column)
    place = max(range(len(shares)), key=lambda bar: shares[bar].low or 0)
    least = shares[place].low or 0
    if least < MOSTLY:
        return ""
    name = look.query.cell_names(look.place(column))[place]
    return say("typical.look", share=math.floor(least * 100), bar=name)


# The previous answer, folded so that nobody reads it as the answer to what the form says now.

Beside = Callable[[dp.Answer], None]  # what else stands between the answer and its repeats
_MET = "answered-beside"  # as `_WITH`, with the price in the form
ANY = "1"  # a placeholder ε, to look up answers at any ε
MOST_EPSILON_MORE = 2  # times: another noise may take that much more of ε for the same price
_FOLDED = "answered-folded"  # the request whose answer was folded last
_WITH = "answered-with"  # the request on the page, and what the form said when its answer came


def show(
    slot: Any, table: dp.Table, answer: dp.Answer, beside: Beside, form: Sequence[Any] = (), owned: bool = False
) -> None:
    """Draw the answer on top of Ask: in full while the form still has its question, else folded to one line. If the
    answer was `owned` already, and not asked for on this visit, the page says so."""
    with slot:
        if owned:
            paragraph(say("ask.owned"), role="status")
        if _another(answer, form):
            if st.session_state.get(_FOLDED) != answer.request_id:  # the page got shorter: keep the sentence in view
                st.session_state[_FOLDED] = answer.request_id
                scroll.top()
            label = say("ask.before", sentence=answer.sentence, finding=headline(answer))
            with st.expander(unmarked(label)):
                _whole(table, answer, beside)
        else:
            _whole(table, answer, beside)


def composing(answer: dp.Answer, form: Sequence[Any]) -> bool:
    """Has the form, with its price, changed since this answer came? Only then does the meter show a price."""
    return _changed(_MET, answer, form)


def just_answered(
    answer: dp.Answer | None, query: dp.Query, asked: dp.Query, form: Sequence[Any], owned: bool = False
) -> bool:
    """True if the answer is one to the form's question and at least as exact, by whatever noise, and the form has not
    changed since. An `owned` answer, whatever its price, also counts until the form changes."""
    if answer is None or answer.query == query:
        return answer is not None
    if owned:
        return not composing(answer, form)
    if answer.query.epsilon > MOST_EPSILON_MORE * asked.epsilon or not same_question(answer.query, asked):
        return False
    as_exact = answer.query.epsilon >= asked.epsilon or answer.query.promise().amount <= asked.promise().amount
    return as_exact and not composing(answer, form)


def bar(answered: bool, useful: bool) -> str:
    """The key of the row with the button: the row is always in view, unless it would hide a new answer or a warning."""
    return "just-answered" if answered else "in-view" if useful else "at-its-place"


def asked(table: dp.Table, query: dp.Query, answered: bool) -> None:
    """Draw the question beside its button, with its error, and a warning if a paid check doubts one of its columns."""
    words = escape(say("ask.just", sentence=query.sentence()) if answered else query.sentence())
    if not answered:
        words = f"<b>{escape(query.promise().short(query))}</b> · {words}"
    careful = f' <em class="doubt">{escape(say("fit.careful"))}</em>' if fit_warnings.any_of(table, query) else ""
    calm = "" if careful or answered else " calm"
    st.html(f'<p class="asked{calm}">{words}{careful}</p>')


def kind(table: dp.Table, query: dp.Query, price: dp.Preview) -> job.Kind:
    """The kind of the ask button: secondary if the answer would be mostly noise, or if a check doubts a column."""
    return job.PRIMARY if price.useful and not fit_warnings.any_of(table, query) else job.SECONDARY


def owned(table: dp.Table, key: str, given: dict[str, Any]) -> dp.Answer | None:
    """The latest paid answer to the question in the form, at any price; None if there is none."""
    try:
        paid = table.recall(table.query(key, **given | {"epsilon": ANY, "noise": ""}), exactly=False)
    except dp.AllowanceError:  # there is no question yet
        return None
    return paid[-1] if paid else None


def _another(answer: dp.Answer, form: Sequence[Any]) -> bool:
    """Was another question picked since this answer came?"""
    if not form:
        return False
    key, given = form
    return _changed(_WITH, answer, [key, {name: value for name, value in given.items() if name != "epsilon"}])


def _changed(kept: str, answer: dp.Answer, form: Sequence[Any]) -> bool:
    """Has the form changed since this answer came? The form of that moment is stored in the session under `kept`."""
    asked = json.dumps(form, default=str)
    request, before = st.session_state.get(kept, ("", ""))
    if request != answer.request_id:
        st.session_state[kept] = (answer.request_id, asked)
        return False
    return bool(before != asked)


def _whole(table: dp.Table, answer: dp.Answer, beside: Beside) -> None:
    def ways() -> None:
        fit_warnings.in_part(table, answer)
        spend.after_codes(table, answer.query)

    answers.show(answer, ways=ways, read=as_read(table) if answer.receipt["table"] == table.name else None)
    answer_notes.other_columns(table, answer)
    typical_note(table, answer)
    beside(answer)
    show_repeats(table, answer)
