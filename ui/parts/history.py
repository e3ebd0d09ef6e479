"""What was asked before, newest first: free to look at again. Ask shows the last few, Answers all of them."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from urllib.parse import urlencode

import streamlit as st

import dpengine as dp
from dpengine.asking.answers import identity, query_of
from dpengine.asking.exports import act_words, sentence_of
from dpengine.core.remembered import Lately
from dpengine.ledger.ledger import Act
from dpengine.ledger.rows import Charge, questions_of
from dpengine.mechanisms.card import AnswerKind
from dpengine.messages import say
from dpengine.messages.language import current
from dpengine.messages.numbers import day
from ui.parts import answer_notes
from ui.shell.frame import paragraph
from ui.shell.state import visitor, workspace
from ui.shell.style import sheet
from ui.words import prices
from ui.words.figures import printed_range
from ui.words.markup import Html, html_table, link
from ui.words.wording import as_one, in_short

LATEST = 3
_lately = Lately(256)
_KEPT = 10_000
_in_short: dict[tuple[str, str, str, bool], str] = {}  # by the rows of a charge and its answer, and the language


def show(table: dp.Table) -> None:
    """Draw the last few questions asked; Answers has them all, with their receipts."""
    entries = table.history(LATEST + 1)
    if not entries:
        return
    more, every = "", escape(f"answers?{urlencode({'table': table.name})}", quote=True)
    if len(entries) > LATEST:
        more = f"<p>{link(every, say('history.all'), 'see')}</p>"
    rows = _latest(table, entries[:LATEST])
    st.html(f"<h2>{escape(say('history.title'))}</h2>{rows}{more}")


def _latest(table: dp.Table, entries: list[dp.Entry]) -> str:
    """The rows of the last few questions. Kept while the ledger is as it is, since every click on Ask shows them; what
    is kept are released answers, and prices as this visitor reads them."""

    def draw() -> str:
        return rows_html(table, entries, names=("question", "answer", "share"))

    if any(entry.outcome is None for entry in entries):  # it may end at any moment
        return draw()
    ledger, facts = workspace().ledger.head()[1], table.facts
    return _lately((workspace().folder, ledger, visitor(), table.name, facts, facts.whose, current()), draw)


def rows_html(
    table: dp.Table,
    entries: list[dp.Entry],
    several: bool = False,
    acts: Sequence[Act] = (),
    newest_first: bool = True,
    names: Sequence[str] = (),
) -> str:
    """HTML with a row per charge, and between them the acts of an owner. `several` adds the name of each charge's
    table. If `names` omit the receipt, the question itself links to the answer."""
    names = names or ["when", *(["table"] if several else []), "question", "answer", "share", "receipt"]
    head = "".join(f'<th class="{_kind(name)}">{escape(say(f"history.{name}"))}</th>' for name in names)
    rows: list[tuple[int, str]] = [(act.seq, _act_row(act, len(names))) for act in acts]
    together = _together(table, entries)
    for entry in entries:
        charge = entry.charge
        question = escape(sentence_of(charge))
        cells = {
            "when": f'{escape(when(charge.at))}<span class="phone"> {escape(say("history.zone"))}</span>',
            "table": escape(charge.table),
            "question": question if "receipt" in names else link(answer_link(charge), sentence_of(charge)),
            "answer": escape(outcome(entry) + together.get(charge.request, ""))
            + answer_notes.fit_in_short_html(entry, table),
            "share": f'<span class="phone">{escape(say("history.took"))} </span>{escape(prices.took(table, entry))}',
            "receipt": receipt_link(answer_link(charge), charge.hash),
        }
        row = "".join(f'<td class="{_kind(name)}">{cells[name]}</td>' for name in names)
        rows.append((charge.seq, f"<tr>{row}</tr>"))
    body = "".join(row for _, row in sorted(rows, reverse=newest_first))
    return (
        f'{_STYLE}<div class="scroll" tabindex="0"><table class="plain rows"><thead><tr>{head}</tr></thead>'
        f"<tbody>{body}</tbody></table></div>"
    )


def _act_row(act: Act, columns: int) -> str:
    cells = {
        "when": f'{escape(when(act.at))}<span class="phone"> {escape(say("history.zone"))}</span>',
        "question": escape(act_words(act)),
        "receipt": f"<code>{act.hash[:8]}</code>",
    }
    spans = {"question": f' colspan="{columns - 2}"'}
    row = "".join(f'<td class="at-{name}"{spans.get(name, "")}>{cell}</td>' for name, cell in cells.items())
    return f'<tr class="act">{row}</tr>'


def _together(table: dp.Table, entries: list[dp.Entry]) -> dict[str, str]:
    """For questions answered several times, by the request of the newest answer: the combined range in words."""
    seen: dict[str, list[dp.Entry]] = {}
    for entry in entries:
        claim = entry.charge.claim
        if questions_of(claim) is not None:
            continue
        if entry.charge.table == table.name and entry.outcome is not None and entry.outcome.kind == "answer":
            seen.setdefault(identity(claim), []).append(entry)
    notes = {}
    for looks in seen.values():
        if len(looks) > 1 and _in_one_range(looks[0]):
            reading = table.looks(table.answer_of(looks[0]).query)
            # What bought ranges share holds less often than they do, which there is no room to say here.
            if reading.kind == "averaged" and reading.agree and isinstance(reading.interval, tuple):
                combined = as_one(reading)
                low, high = printed_range(combined.query, *combined.interval)
                words = say("looks.span", low=low, high=high)
                notes[looks[0].charge.request] = say("looks.in_short", count=reading.count, together=words)
    return notes


def _in_one_range(entry: dp.Entry) -> bool:
    """Does the answer have exactly one range? A row has no room for several."""
    return entry.outcome is not None and isinstance(entry.outcome.body["interval"], list)


def _kind(name: str) -> str:
    return f"number at-{name}" if name == "share" else f"at-{name}"


def when(at: str) -> str:
    """A time of the ledger as text, in UTC, to the minute."""
    return f"{day(at[:10])} {at[11:16]}"


def answer_link(charge: Charge) -> str:
    if questions_of(charge.claim) is not None:
        return address_of(charge.table, charge.request, "several", "session")
    question = dp.catalogue.get(str(charge.claim.get("key")))  # None: of another version
    kind = None if question is None else question.card.answer
    query = query_of(charge) if kind == "board" else None
    if query is not None and query.predicts:
        return address_of(charge.table, charge.request, "train", "shapes", target=query.predicts)
    return address_of(charge.table, charge.request, *READ_ON.get(kind, ()) if kind else ())


def point_to(charge: Charge) -> None:
    """Draw a note that this answer is not the newest, with a link to the newest."""
    paragraph(link(answer_link(charge), say("ask.newer", sentence=sentence_of(charge))))


def receipt_link(address: str, hashed: str) -> Html:
    """A link from a table's row to the answer's receipt."""
    return Html(f'<a href="{address}" target="_self">{escape(say("history.open"))}&nbsp;<code>{hashed[:8]}</code></a>')


def receipt_of(answer: dp.Answer, page: str = "ask", name: str = "answer") -> Html:
    address = address_of(answer.receipt["table"], answer.request_id, page, name)
    return receipt_link(address, answer.receipt["charge"]["hash"])


# The page and the address parameter of answers that are not figures. Other answers are read on Ask.
READ_ON: dict[AnswerKind, tuple[str, str]] = {
    "file": ("publish", "published"),
    "table": ("synthetic", "made"),
    "model": ("train", "trained"),
    "board": ("board", "look"),
}


def address_of(table: str, request: str, page: str = "ask", name: str = "answer", **more: str) -> str:
    """The address of an answer, fit for an HTML attribute: a table may be called “R&D #1”."""
    return escape(f"{page}?{urlencode({'table': table, name: request} | more)}", quote=True)


def earlier(title: str, answers: Sequence[dp.Answer], page: str, name: str, but: str | None) -> None:
    """Draw links to a page's earlier answers, newest first, except to the answer of the request `but`: they are free to
    open."""
    others = [answer for answer in answers if answer.request_id != but]
    heads = [say(f"history.{head}") for head in ("when", "question", "answer", "receipt")]
    rows = [(when(one.at), one.sentence, in_short(one), receipt_of(one, page, name)) for one in others]
    if rows:
        st.html(f"<h2>{escape(title)}</h2>{html_table(heads, rows, words=4)}")


def outcome(entry: dp.Entry) -> str:
    """An answer in short, or a few words on what became of a charge without an answer."""
    if entry.outcome is None:
        on_its_way = not workspace().jobs.state(entry.charge.request).over
        return say("history.on_its_way" if on_its_way else "history.lost")
    if entry.outcome.kind != "answer":
        return say("history.failed")
    questions = questions_of(entry.charge.claim)
    if questions is not None:
        asked, ended, _ = workspace().ledger.progress(entry.charge.request)
        return say("session.in_short_ended" if ended else "session.in_short", asked=asked, questions=questions)
    key = entry.charge.hash, entry.outcome.hash, current(), answer_notes.repeated(entry.charge.table)
    if key not in _in_short:
        answer = workspace().answer_of(entry)
        if answer is None:
            return say("history.elsewhere")
        if len(_in_short) >= _KEPT:
            _in_short.clear()
        _in_short[key] = in_short(answer)
    return _in_short[key]


# On a phone each charge is a small block instead of a row: nothing is cut off and nothing scrolls sideways.
_STYLE = sheet("parts/history")
