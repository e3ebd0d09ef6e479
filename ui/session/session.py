"""The Session page before a session: how many questions, how careful, what answers will be worth, and the price."""

from __future__ import annotations

from fractions import Fraction
from html import escape
from typing import Any

import streamlit as st

import dpengine as dp
from dpengine.accountant.loss import Gaussian
from dpengine.asking.sessions import BEST, most_questions
from dpengine.core.printed import percent, points
from dpengine.ledger.rows import questions_of
from dpengine.mechanisms.session.adaptive_session import CALIBRATIONS, MOST_QUESTIONS, AdaptiveSession
from dpengine.messages import say
from dpengine.messages.numbers import local, to_figures
from dpengine.planning.opening import CLEAR, SHARES, opening_share, room
from ui.ask import fit_warnings
from ui.ask.spend import least_share_html
from ui.parts import answer_notes, job, owner
from ui.session import session_run, session_words
from ui.shell import frame, nav
from ui.shell.language import address
from ui.shell.state import workspace
from ui.words import gloss, prices

BEARS = (Fraction(1, 20), Fraction(1, 10), Fraction(1, 4))
_STATE = "session-form"
_USUAL = {"k": "20", "share": "", "how": BEST}  # the preselected share depends on the allowance
_HOW = (BEST, *CALIBRATIONS)
_SEARCHED = 50  # charges, for a session with questions left


def show(table: dp.Table) -> None:
    request = st.query_params.get("session")
    if request and _running(table, request):
        return
    st.html(f"<h1>{escape(say('session.title'))}</h1><p class='lead'>{gloss.text(say('session.lead'))}</p>")
    frame.pick_table(table, "session")
    if table.closed:
        owner.closed(table)
        return
    meter = table.meter()
    if not meter.unused:
        job.refused(say("ask.nothing_left"))
        return
    _open_one(table)
    given = _given(table)
    with st.container(key="card-session-start"):
        questions, share = _size(table, given)
        part = meter.unused * int(share) / 100
        offers = _offers(table, questions, part)
        how = _calibration(given, offers)
        _remember(table, {"k": str(questions), "share": share, "how": how})
        found = offers[how]
        if isinstance(found, AdaptiveSession):
            _worth(table, found, part, least_share_html(share, lambda: _opens(table, questions)))
        else:
            job.hint(str(found))
    refusal = st.session_state.pop("refusal", None)
    if refusal:
        job.refused(refusal)


def _open_one(table: dp.Table) -> None:
    """The way to a paid session that still has questions."""
    for entry in table.history(_SEARCHED):
        questions, request = questions_of(entry.charge.claim), entry.charge.request
        if questions is None or entry.charge.table != table.name or entry.outcome is None:
            continue
        asked, ended, _ = workspace().ledger.progress(request)
        if not ended and asked < questions:
            label = say("session.go_on", asked=asked, questions=questions)
            st.page_link(nav.page("session"), label=label, query_params={"table": table.name, "session": request})
            return


def _running(table: dp.Table, request: str) -> bool:
    """Show the session in the URL; False if there is none, with the reason."""
    opening = workspace().job(request)
    if not opening.over:
        job.wait(request)
        return True
    job.renew(request)
    try:
        session = table.session(request)
    except dp.AllowanceError as refusal:
        if isinstance(opening.error, dp.ColumnDoubted):
            fit_warnings.show(table, opening.error, opening.error.query, request, "session")
        else:
            job.refused(str(opening.error or refusal))
        return False
    session_run.show(table, session)
    return True


def _given(table: dp.Table) -> dict[str, str]:
    """The form from the URL, else as the visitor left it."""
    kept: dict[str, str] = st.session_state.get(_STATE, {})
    if kept.get("table") != table.name:  # another allowance
        kept = {name: value for name, value in kept.items() if name != "share"}
    given = _USUAL | kept | {name: st.query_params[name] for name in _USUAL if name in st.query_params}
    if not given["k"].isdecimal() or not 1 <= int(given["k"][:9]) <= MOST_QUESTIONS:
        given["k"] = _USUAL["k"]
    given["share"] = given["share"] if given["share"] in SHARES else _USUAL["share"]
    given["how"] = given["how"] if given["how"] in _HOW else _USUAL["how"]
    return given


def _remember(table: dp.Table, given: dict[str, str]) -> None:
    wanted = st.session_state[_STATE] = {"table": table.name} | given
    if "session" not in st.query_params:
        address(wanted)


def _size(table: dp.Table, given: dict[str, str]) -> tuple[int, str]:
    questions = st.number_input(
        say("param.questions.label"),
        1,
        MOST_QUESTIONS,
        int(given["k"]),
        key="session-k",
        width=200,
        help=say("param.questions.help"),
    )
    st.html(f'<p class="muted">{escape(say("session.ends"))}</p>')
    check = _check_part(table, int(questions))
    shares = [share for share in SHARES if Fraction(share) / 100 + check <= 1]
    wanted = given["share"] or _opens(table, int(questions))
    share = st.select_slider(
        say("session.share"),
        shares,
        wanted if wanted in shares else shares[-1],
        key="session-share",
        format_func=lambda share: _share_words(share, check),
    )
    return int(questions), str(share)


def _check_part(table: dp.Table, questions: int) -> Fraction:
    """The check's share of what is left: a session buys it first."""
    try:
        return table.check_part(table.session_for(questions, table.meter().unused / 2))
    except dp.AllowanceError:  # half of what is left buys none
        return Fraction(0)


def _share_words(share: str, check: Fraction) -> str:
    if not check:
        return say("session.share_of", share=share)
    return say("session.share_checked", share=share, whole=percent(Fraction(share) / 100 + check))


def _opens(table: dp.Table, questions: int) -> str:
    """The least share of what is left that makes every answer clearly more than noise, if it is small."""
    left = table.meter().unused
    return opening_share(
        lambda share: table.session_for(questions, left * int(share) / 100),
        lambda session: room(session) >= CLEAR,
        table.check_part,
    )


def _offers(table: dp.Table, questions: int, spend: Fraction) -> dict[str, AdaptiveSession | dp.AllowanceError]:
    """The session for each calibration at this spend, or its refusal."""
    found: dict[str, AdaptiveSession | dp.AllowanceError] = {}
    for how in _HOW:
        try:
            found[how] = table.session_for(questions, spend, how)
        except dp.AllowanceError as refusal:
            found[how] = refusal
    return found


def _calibration(given: dict[str, str], offers: dict[str, Any]) -> str:
    best = offers[BEST]

    def caption(how: str) -> str:
        offer = offers[how]
        if not isinstance(offer, AdaptiveSession):
            return str(offer)
        words = say(f"session.how.{how}.note", alpha=points(offer.alpha), noise=say(f"session.how.{offer.calibration}"))
        if how == BEST or not isinstance(best, AdaptiveSession):
            return words
        return f"{words} {compared(offer, best)}"

    picked = st.radio(
        say("param.calibration.label"),
        _HOW,
        _HOW.index(given["how"]),
        key="session-how",
        format_func=lambda how: say(f"session.how.{how}"),
        captions=[caption(how) for how in _HOW],
        help=say("param.calibration.help"),
    )
    return str(picked)


def compared(session: AdaptiveSession, best: AdaptiveSession) -> str:
    times = float(session.alpha / best.alpha)
    return say("session.wider", times=local(f"{times:.1f}")) if times > 1.05 else say("session.same")


def _worth(table: dp.Table, query: AdaptiveSession, part: Fraction, least: str) -> None:
    """The accuracy, how many questions these people allow, the price, and the button."""
    price = table.preview(query, checked=True)
    past, reserve = table.released(), table.budget.rule.delta_reserve
    frame.show_price(table, price, "_session")
    st.html(
        f"<h2>{escape(say('session.worth'))}</h2>"
        f"<p><b>{escape(say('session.sample', promise=query.promise().words()))}</b> "
        f"{escape(say('session.adaptive'))}</p>{answer_notes.cut_note(query)}"
        f"<p class='muted'>{gloss.text(_bears_words(table, query, part))}</p>"
        f"{least}{_noise(table, query, price)}"
        f"<h2>{escape(say('session.outward.title'))}</h2>"
        f"<p>{escape(session_words.outward_words(query, past, reserve))}</p>"
        f"<p class='muted'>{escape(session_words.splitting(query, past))}</p>"
    )
    session_words.explain(query, past, reserve)
    with st.expander(say("session.more")):
        notes = [
            _each(query),
            say("session.more.theorem", theorem=query.theorem),
            say(f"session.more.{table.facts.relation}", people=query.people),
        ]
        st.html("".join(f'<p class="muted">{gloss.text(note)}</p>' for note in notes))
    fit_warnings.before(table, query, price)
    label = say("session.reserve", questions=query.questions, share=prices.takes(table, price.share))
    if not fit_warnings.instead_at("session", table, query):
        job.ask_button(label, table, query, "session-go", disabled=not price.admissible, place="session")
    st.html(f'<p class="muted">{gloss.text(say("session.kept"))}</p>')


def _noise(table: dp.Table, query: AdaptiveSession, price: dp.Preview) -> str:
    """A warning that answers would be mostly noise."""
    if price.useful:
        return ""
    return f'<p class="warn" role="status">{escape(say("session.noise", questions=query.questions))}</p>'


def _each(query: AdaptiveSession) -> str:
    """The privacy loss of one answer, in the noise's own parameter."""
    loss = query.loss()
    if isinstance(loss, Gaussian):
        return say("session.more.rho", rho=to_figures(float(loss.rho / query.questions), 3), questions=query.questions)
    return say("session.more.each", each=to_figures(float(query.each), 3), questions=query.questions)


def _bears_words(table: dp.Table, query: AdaptiveSession, part: Fraction) -> str:
    """How many questions these people allow at this spend, for three errors."""

    def make(questions: int) -> AdaptiveSession:
        return table.session_for(questions, part, query.calibration)

    each = [say("session.bears_one", alpha=points(alpha), questions=most_questions(make, alpha)) for alpha in BEARS]
    return say("session.bears", people=query.people, each="; ".join(each))
