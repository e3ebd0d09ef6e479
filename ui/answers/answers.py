"""All answers of a table, newest first: a list and cards, a page at a time; or the ledger, the same list as an account.
Everything is read from the ledger, and costs nothing."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from fractions import Fraction
from functools import partial
from html import escape

import streamlit as st

import dpengine as dp
from dpengine.asking.exports import ANSWER_COLUMNS, sentence_of
from dpengine.core.amounts import BETA
from dpengine.core.printed import chance, power_of_ten
from dpengine.declared.spelling import normal
from dpengine.ledger.rows import questions_of
from dpengine.messages import say
from dpengine.released.compare import AcrossTables
from dpengine.released.files import as_sheet, notebook_text
from ui.answers import picked, word
from ui.ask import answer
from ui.ledger import ledger_view, report
from ui.ledger.ledger_view import now
from ui.parts import answer_notes, exports, fields, history, tables
from ui.pictures import png, svg
from ui.shell import frame, nav, scroll
from ui.shell.frame import hint, paragraph
from ui.shell.state import open_table, workspace
from ui.shell.style import sheet
from ui.words import gloss, model_words, prices
from ui.words.markup import Html, html_table, link

# --- the whole account to print or download. Files are written when clicked.

File = tuple[str, str, Callable[[], str | bytes]]  # its title, name and writer


def files(table: dp.Table) -> list[File]:
    name = exports.file_name(table.name)
    return [
        ("report", f"report-{name}.html", lambda: report.html(table, *now())),
        ("csv", f"answers-{name}.csv", lambda: exports.as_csv(ANSWER_COLUMNS, table.answer_rows())),
        ("sheet", f"answers-{name}.xlsx", lambda: as_sheet(ANSWER_COLUMNS, table.answer_rows())),
        ("notebook", f"answers-{name}.ipynb", lambda: notebook_text(table.account_lines())),
    ]


# --- one answer as a card: the answer, its picture, its price; to pick, copy or download


def show_cards(table: dp.Table, entry: dp.Entry) -> None:
    key = f"answer-{entry.charge.seq}"
    with st.container(key=f"card-{key}"):
        aside = say("answers.took", share=prices.took(table, entry), at=history.when(entry.charge.at))
        session = questions_of(entry.charge.claim) is not None  # it has its own page
        if session or (released := workspace().answer_of(entry)) is None:
            _without(entry, aside)
            return
        st.html(answer.card_words(released, aside=aside))
        if good := model_words.measured(released, table.checks()) if released.path is not None else "":
            paragraph(good, "")
        if released.query.answer_kind in history.READ_ON:
            answer.read_on(released)
        else:
            answer.picture(released, key)
        picked.pick(table, entry, released)
        with st.container(horizontal=True, vertical_alignment="center"):
            with fields.popped(say("answers.copy"), f"copy-{key}") as opened:
                if opened:
                    st.code(f"{answer.card_sentence(released)} {good}".strip(), language=None, wrap_lines=True)
            st.html(history.receipt_link(history.answer_link(entry.charge), entry.charge.hash), width="content")
        answer.receipt(released, key, partial(_offer_picture, released, key))


def _offer_picture(released: dp.Answer, key: str) -> None:
    """Draw buttons that download the picture of an answer, with the answer's source in a caption."""
    short = released.receipt["charge"]["hash"][:8]
    question = say("answer.of", sentence=released.sentence, table=released.receipt["table"])
    source = say("answers.picture", question=question, receipt=short)
    for drawn in png.standalone(report.picture(released))[:1]:
        captioned = svg.captioned(drawn, source)
        exports.offer(say("answers.picture_file"), partial(png.drawn, captioned), f"answer-{short}.png", f"png-{key}")
        exports.offer(say("answers.picture_svg"), partial(png.svg_file, captioned), f"answer-{short}.svg", f"svg-{key}")


def _without(entry: dp.Entry, aside: str) -> None:
    """Draw an entry that has no answer to show: a session, or a charge not answered (yet)."""
    charge = entry.charge
    question = say("answer.of", sentence=sentence_of(charge), table=charge.table)
    st.html(
        f"<p class='question'>{escape(question)} <span class='took'>{escape(aside)}</span></p>"
        f'<p class="headline">{escape(history.outcome(entry))}</p>'
        f"<p>{history.receipt_link(history.answer_link(charge), charge.hash)}</p>"
    )


# --- answers as a list: a line each, with the value, its interval and its price

FEWEST = 3  # fewer are visible anyway
MOST = 30
MOST_SEARCHED = 500


def show_glance(table: dp.Table, entries: list[dp.Entry]) -> None:
    """Draw a list of these answers, a line for each, above their cards; nothing if there are few."""
    if len(entries) < FEWEST:
        return
    lines = "".join(_line(table, entry) for entry in entries)
    title = escape(say("answers.glance", many=len(entries)))
    st.html(f'{sheet("answers/glance")}<h2>{title}</h2><ul class="glance">{lines}</ul>')


def _line(table: dp.Table, entry: dp.Entry) -> str:
    charge = entry.charge
    took = say("answers.glance_took", share=prices.took(table, entry))
    sentence = sentence_of(charge) if charge.table == table.name else f"{sentence_of(charge)} ({charge.table})"
    return (
        f'<li><a href="{history.answer_link(charge)}" target="_self">{escape(sentence)}</a>'
        f"<b>{escape(history.outcome(entry))}{answer_notes.fit_in_short_html(entry)}</b><span>{escape(took)}</span></li>"
    )


PER_PAGE = 8
COLUMNS = 2
MOST_TABLES = 10  # tables offered if this one has no answers


LIST, LEDGER, WORD = "list", "ledger", "report"


def show(table: dp.Table) -> None:
    wanted = st.query_params.get(nav.VIEW)
    if wanted == WORD:  # the report has a title of its own
        st.button(say("word.back"), key="word-back", on_click=nav.view, args=(table.name, ""))
        word.show(table)
        return
    view = LEDGER if wanted == LEDGER else LIST
    _title(table, view)
    if view == LEDGER:
        ledger_view.show(table)
        return
    asked = table.meter().charges
    if not asked:
        paragraph(say("ledger.empty", table=table.name), "")
        if not table.closed:
            tables.first_look_link(table)
            st.page_link(nav.page("ask"), label=say("ledger.first"), query_params={"table": table.name})
        _elsewhere(table)
        return
    found = _search(table, asked)
    many = asked if found is None else len(found)
    pages = -(-many // PER_PAGE)
    slot = st.container()
    page = st.pagination(pages, key="page", bind="query-params") if pages > 1 else 1
    first = (page - 1) * PER_PAGE
    entries = table.history(PER_PAGE, first) if found is None else found[first : first + PER_PAGE]
    with slot:
        picked.show(table, entries)
        show_years(table)
        if page == 1:
            show_glance(table, table.history(MOST) if found is None else found[:MOST])
        for place, entry in zip(frame.in_rows(len(entries), COLUMNS), entries, strict=True):
            with place:
                show_cards(table, entry)
        if pages > 1:
            paragraph(say("answers.rows", first=first + 1, last=first + len(entries), charges=many))


def _search(table: dp.Table, asked: int) -> list[dp.Entry] | None:
    """The newest answers whose question, name or outcome holds every typed word; None where nothing is typed."""
    if asked < FEWEST:
        return None
    label = say("answers.search")
    typed = st.text_input(label, key="answers-search", placeholder=label, label_visibility="collapsed", width=420)
    words = typed.casefold().split()
    if not words:
        return None
    found = [entry for entry in table.history(MOST_SEARCHED) if all(word in _text(entry) for word in words)]
    sentence = say("answers.found", count=len(found)) if found else say("answers.found_none", typed=typed)
    paragraph(sentence, role="status")
    return found


def _text(entry: dp.Entry) -> str:
    """The text in which a search looks for words. It has the question's name too, so that “histogram” finds bars."""
    question = dp.catalogue.get(str(entry.charge.claim.get("key")))
    name = "" if question is None else f"{question.card.noun} {question.card.title}"
    return f"{sentence_of(entry.charge)} {name} {history.outcome(entry)}".casefold()


def _elsewhere(table: dp.Table) -> None:
    """Draw links to the answers about the person's other tables, newest table first: a person may not know which table
    they asked."""
    names = [name for name, _ in workspace().names() if name != table.name]
    for name in names[::-1][:MOST_TABLES]:
        # No page link: one to the current page would not change the address.
        paragraph(link(nav.address("answers", name), say("answers.elsewhere", table=name)), "")


def _title(table: dp.Table, view: str) -> None:
    title, lead = say("answers.title", table=table.name), say("answers.lead" if view == LIST else "ledger.lead")
    st.html(f'{_STYLE}<h1>{escape(title)}</h1><p class="lead">{gloss.text(lead)}</p>')
    frame.pick_table(table, "answers")
    with st.container(horizontal=True, vertical_alignment="bottom"):
        both, other = (LIST, LEDGER), (table.name, LEDGER if view == LIST else "")
        fields.choose("answers.view", both, view, f"answers-view-{view}", on_change=nav.view, args=other)
        if view == LIST and table.meter().charges:
            st.button(say("answers.take.word"), key="answers-word", on_click=nav.view, args=(table.name, WORD))
            with st.container(key="take-away", width="content"):
                _take_away(table)


def _take_away(table: dp.Table) -> None:
    with fields.popped(say("answers.take_away"), "answers-take-away") as opened:
        if not opened:
            return
        if st.button(say("answers.print"), key="answers-print"):
            scroll.print_page()
        for what, name, write in files(table):
            exports.offer(say(f"answers.take.{what}"), write, name, f"answers-{what}")


_STYLE = sheet("answers/answers")


# --- this year and last year: the same figures of two tables side by side, and what a person in both is promised. Free.


def show_years(table: dp.Table) -> None:
    """Draw a picker for another table with some of the same columns, and the comparison of both tables' answers."""
    others = _years_others(table)
    if not others:
        return
    with st.expander(say("years.title"), expanded=bool(st.session_state.get("years-with"))):
        paragraph(say("years.lead"))
        none = say("years.none")
        picked = st.selectbox(say("years.with"), ["", *others], 0, lambda name: name or none, key="years-with")
        if picked:
            with suppress(dp.AllowanceError):  # removed meanwhile
                _years_compared(table, open_table(picked))


def _years_others(table: dp.Table) -> list[str]:
    found = []
    for name, _ in workspace().names():
        with suppress(dp.AllowanceError):
            columns = ({*map(normal, one.schema.columns)} for one in (open_table(name), table))
            if name != table.name and set.intersection(*columns):
                found.append(name)
    return found


def _years_compared(table: dp.Table, other: dp.Table) -> None:
    pairs = table.beside(other)
    if not pairs:
        hint(say("years.nothing", table=table.name, other=other.name))
    else:
        asked = dict.fromkeys(part.request for pair in pairs for part in (pair.first, pair.second))
        answers = {request: found for request in asked if (found := workspace().job(request).answer) is not None}
        for doubt in _years_doubts(answers.values()):
            hint(doubt)
        heads = [say("years.question"), other.name, table.name, say("years.difference"), ""]
        rows = [_years_row(pair, answers.get(pair.first.request), heads) for pair in pairs]
        st.html(sheet("answers/years") + html_table(heads, rows, words=5, kind="plain compared years"))
        paragraph(say("years.claim", chance=chance(BETA)))
    both = table.person_in_both(other)
    code = "years.shared" if both.shared else f"years.both.{both.relation}"
    paragraph(say(code, epsilon=both.epsilon, delta=power_of_ten(both.delta)), "read")


def _years_doubts(answers: Iterable[dp.Answer]) -> list[str]:
    """A sentence for each of these answers that a paid check doubts: the difference is no more certain than its
    answers."""
    found = []
    for given in answers:
        if note := answer_notes.fits_of_answer(given).in_short(given.query):
            found.append(say("years.doubt", table=given.receipt["table"], note=note))
    return list(dict.fromkeys(found))


def _years_row(pair: AcrossTables, given: dp.Answer | None, heads: Sequence[str]) -> tuple[str, ...]:
    """The cells of one comparison. Each begins with the head of its column, which a narrow screen shows in place of the
    heads."""
    part = pair.part if given is None else given.query.shown().get(pair.part, pair.part)
    asked = f"{pair.question}: {part}" if part else pair.question
    question = Html(escape(asked) + _years_picture(pair))
    figures = map(picked.stated_words, (pair.first.stated, pair.second.stated, pair.difference))
    named = zip(heads[1:], figures, strict=False)
    cells = [Html(f"<small>{escape(head)}</small>{escape(words)}") for head, words in named]
    note = "" if pair.beta is None else f" {say('years.alone', chance=chance(pair.beta))}"
    word = say("years.differs" if pair.different else "years.maybe_same") + note
    word = f"{word} {picked.beyond_words(pair.second, pair.first)}".strip()
    return question, *cells, word


def _years_picture(pair: AcrossTables) -> str:
    """HTML with two ranges on one line, the other table's above this table's: only what was released."""
    first, second = pair.first.stated, pair.second.stated
    low, high = min(first.low, second.low), max(first.high, second.high)
    wide = (high - low) or Fraction(1)

    def at(value: Fraction) -> float:
        return round(float((value - low) / wide) * 100, 1)

    lines = ""
    for stated, name in ((first, "other"), (second, "this")):
        bar = f'<i style="left:{at(stated.low)}%;width:{max(at(stated.high) - at(stated.low), 0.5)}%"></i>'
        lines += f'<span class="{name}">{bar}<b style="left:{at(stated.value)}%"></b></span>'
    return f'<div class="year-ranges" aria-hidden="true">{lines}</div>'
