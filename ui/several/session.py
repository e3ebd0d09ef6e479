"""A session on the page Several: what it will be worth and what it costs, then its questions and their answers."""

from __future__ import annotations

import json
from contextlib import suppress
from fractions import Fraction
from html import escape
from math import ceil
from typing import Any

import streamlit as st

import dpengine as dp
from dpengine.accountant.history import Past
from dpengine.accountant.loss import Gaussian
from dpengine.asking.answers import round_up_two
from dpengine.asking.column_fit import unchecked_words
from dpengine.asking.sessions import BEST, Session, Taken, most_questions
from dpengine.core.printed import chance, percent, points
from dpengine.core.strict_json import canonical
from dpengine.declared.schema import ItemSet, Number
from dpengine.ledger.rows import questions_of
from dpengine.mechanisms.marginals.wanted import has_cells
from dpengine.mechanisms.session.adaptive_session import CALIBRATIONS, MOST_QUESTIONS, AdaptiveSession, State
from dpengine.mechanisms.session.asks import Average, Share
from dpengine.messages import say
from dpengine.messages.numbers import local, to_figures
from dpengine.planning.opening import CLEAR, SHARES, opening_share, room
from dpengine.population import people_needed
from dpengine.population.session_validity import ROUNDED, USELESS, claimable, claimed, outward
from dpengine.population.validity import Width
from dpengine.released.look_answers import KnownAlready
from ui.ask import fit_warnings
from ui.ask.spend import least_share_html
from ui.parts import answer_notes, conditions, exports, fields, job, owner
from ui.several import plan
from ui.shell import frame, nav
from ui.shell.frame import hint, paragraph
from ui.shell.language import address
from ui.shell.state import attempt, workspace
from ui.shell.style import sheet
from ui.words import gloss, prices
from ui.words.figures import anything, printed, printed_range, rounded_range
from ui.words.markup import html_table, p, paragraphs
from ui.words.wording import headline, range_words

# --- what a session's answers imply about the population that the people were drawn from, with the bounds used

WISHED = Fraction(1, 10)


def outward_words(query: AdaptiveSession, past: Past, reserve: Fraction, others: bool = False) -> str:
    """How far answers may be from the population's values, in words. `past` is what was released about these people
    before the session; `others` is true if something else was released since. If the people were not declared a random
    sample, the words say on what such a statement rests."""
    if not claimable(query):
        return say("session.outward.unfit")
    words, claims = _outward_words(query, past, reserve, others)
    return f"{words} {say('session.outward.undeclared')}" if claims and not query.facts.sample else words


def _outward_words(query: AdaptiveSession, past: Past, reserve: Fraction, others: bool) -> tuple[str, bool]:
    """The words of `outward_words`, and whether they state any accuracy."""
    # Claimed if nothing else is released in between; None if it is useless.
    bound, first = (claimed(query, past, reserve, questions) for questions in (query.questions, 1))
    if bound is None:
        if first is not None:
            return say("session.outward.early", width=points(first.width), chance=chance(query.beta)), True
        if past != Past.NOTHING:
            return say("session.outward.too_much"), False
        none = say("session.outward.none", questions=query.questions, people=query.people)
        return f"{none} {_enough(query)}".strip(), False
    words = say("session.outward.within", width=points(bound.width), chance=chance(query.beta))
    if past != Past.NOTHING:
        words = f"{words} {say('session.outward.counted_in')}"
    if others:
        words = f"{words} {say('session.outward.spoiled')}"
    elif bound.theorem in ROUNDED and first is not None:
        words = f"{words} {say('session.outward.rounded', values=query.rounded, first=points(first.width))}"
    return words, True


def splitting(query: AdaptiveSession, past: Past) -> str:
    """A sentence on how splitting the people compares: with few questions that has narrower bounds. Empty after other
    releases: a question about a part may depend on what was released about this part."""
    if past != Past.NOTHING or not claimable(query):
        return ""
    first, *_, parts = outward(query)
    if parts.width >= first.width:
        return say("session.outward.split_loses", width=points(parts.width))
    if query.rounded is not None:
        return say("session.outward.split_narrower", width=points(parts.width))
    crossing = people_needed.crossing(query.people, query.beta)
    return say("session.outward.split_wins", width=points(parts.width), crossing=crossing)


def explain(query: AdaptiveSession, past: Past, reserve: Fraction) -> None:
    """Draw the bounds side by side, and how many people would be enough. After earlier releases, only bounds that still
    hold."""
    if not claimable(query):
        return
    with fields.details(say("session.outward.more"), "session-outward") as drawn:
        if not drawn:
            return
        notes = []
        if past == Past.NOTHING:
            notes += [people_needed.comparison(query.people, query.questions, query.beta)] if not query.rounded else []
            notes.append(_enough(query))
        notes += [say("session.outward.assumed"), say("session.outward.choice")]
        heads = [say(f"session.outward.column.{name}") for name in ("bound", "width")]
        shown = [bound for bound in outward(query, past, reserve) if past == Past.NOTHING or bound.claimed]
        below = paragraphs(note for note in notes if note)
        st.html(html_table(heads, map(_row, shown), words=2) + below)


def _enough(query: AdaptiveSession) -> str:
    """A sentence with the number of people that would be enough, if there are too few; else empty."""
    least = people_needed.least_people(query.questions, WISHED, query.beta)
    if least is None or least <= query.people:
        return ""
    many = round_up_two(Fraction(least))
    return say("session.outward.people", people=many, width=points(WISHED), questions=query.questions)


def _row(bound: Width) -> tuple[str, str]:
    name = say(f"session.outward.{bound.theorem}") + ("" if bound.claimed else " " + say("session.outward.unclaimed"))
    return name, say("session.outward.empty") if bound.width >= USELESS else f"±{points(bound.width)}"


def outward_range(taken: Taken) -> str:
    """A sentence with an answer's range for the population, in the answer's unit; empty if there is no such range."""
    if taken.population is None:
        return ""
    low, high = (with_unit(taken.query, end) for end in rounded_range(*taken.population))
    return say("session.outward.between", low=low, high=high)


def with_unit(query: AdaptiveSession, figure: str) -> str:
    return f"{figure} %" if isinstance(query.ask, Share) else figure


# --- one answer in words, on the page and in the report


def value_words(query: AdaptiveSession, released: Any, interval: Any) -> str:
    return headline(_answer(query, released, interval))


def ranges_words(query: AdaptiveSession, released: Any, interval: Any) -> str:
    """A sentence with an answer's range in this table, with its unit. The page says once that all ranges hold
    together."""
    if interval is None:
        return range_words(_answer(query, released, interval))
    silent = query.mute(interval)
    ends = anything(query, interval) if silent else printed_range(query, *interval)
    low, high = (with_unit(query, end) for end in ends)
    if silent:
        return say("answer.nothing_means", low=low, high=high)
    code = "session.between_nominal" if query.nominal else "session.between"
    return say(code, low=low, high=high, people=query.people)


def known_words(query: AdaptiveSession, found: KnownAlready) -> str:
    """A sentence: what an earlier first look says about the next question, and whether asking would be more exact."""
    promised = float(query.promise().amount)
    if found.low is None or found.high is None:
        value = printed(query, found.value, (found.value - promised, found.value + promised))
        return say("session.known_estimated", value=with_unit(query, value))
    low, high = (with_unit(query, end) for end in printed_range(query, found.low, found.high))
    if found.enough(query.promise().amount):
        return say("session.known", low=low, high=high)
    if not found.estimated:
        return say("session.known_wider", low=low, high=high)
    value = with_unit(query, printed(query, found.value, (found.low, found.high)))
    return say("session.known_about", value=value, low=low, high=high)


def _answer(query: AdaptiveSession, released: Any, interval: Any) -> dp.Answer:
    return dp.Answer(released, interval, query.promise(), {}, query, "", "")


# --- a session that is open or over: the next question, the answers, the questions left

NEWEST = 50  # answers shown


def show_session(table: dp.Table, session: Session) -> None:
    frame.show_price(table, None)  # drawn again: the charge may have come after the frame
    step = st.query_params.get("step")
    waits = step and not session.job(step).over  # before the steps are read: a step that has ended is among them
    state, ended, steps = session.look(NEWEST)
    over = ended or not state.left
    title = "session.finished" if not state.left else "session.stopped" if ended else "session.now"
    st.html(f"<h1>{escape(say(title, next=state.asked + 1, asked=state.asked, questions=state.questions))}</h1>")
    withdrawn = session.withdrawn
    _meters(session, state, ended, withdrawn)
    if step and waits:
        _waiting(session, step)
        return
    if step:
        job.renew(step)
        if (error := session.job(step).error) is not None:
            job.refused(str(error))
    job.show_refusal()
    earlier = steps
    if over:
        lead = "session.protected" if withdrawn else "session.stopped_lead" if ended else "session.finished_lead"
        paragraph(say(lead), "lead")
    elif table.closed:
        owner.closed(table)
    else:
        newest = next((taken for taken in steps if taken.step == step), None)
        if newest is not None:
            st.html(_taken_html(table, newest))  # in view, above the next question
        _builder(table, session)
        earlier = [taken for taken in steps if taken is not newest]
    _answers(table, earlier, state, over)
    _ways_on(table, session, state, over, steps)


def _meters(session: Session, state: State, ended: bool, withdrawn: bool) -> None:
    used = Fraction(state.asked, state.questions)
    label = say("session.used", asked=state.asked, questions=state.questions)
    left = say("session.unused" if ended else "session.left", left=state.left)
    bound = outward_words(session.query, session.past, session.reserve, session.others_from is not None)
    outward = say("session.outward.withdrawn") if withdrawn else bound
    bar = f'<span style="width:{float(used) * 100:.3f}%"></span>'
    st.html(
        f'{_STYLE}<div class="gauge"><div class="words"><span>{escape(label)}</span>'
        f'<span class="aside">{escape(left)}</span></div>'
        f'<div class="bar" role="img" aria-label="{escape(label)}">{bar}</div></div>'
        f'<p class="muted">{escape(say("session.sample", promise=session.query.promise().words()))}<br>'
        f"{escape(outward)}</p>"
    )


@st.fragment(run_every=0.3)
def _waiting(session: Session, step: str) -> None:
    if session.job(step).over:
        st.rerun()
    paragraph(say("job.waiting"), role="status")


# The next question


def _builder(table: dp.Table, session: Session) -> None:
    with st.container(key="card-session-ask"):
        ask = _sentence(table)
        query = None
        try:
            query = session.query.asking(ask)
        except dp.AllowanceError as complaint:
            hint(str(complaint))
        if query is not None:
            promised = query.promise().words()
            words = f"{query.sentence()}. {promised[:1].upper()}{promised[1:]}."
            st.html(f'<p class="muted">{escape(words)}</p>{answer_notes.cut_note(query)}')
            # What a bought first look says about it, before a question is spent.
            known = table.already_known(query)
            if known is not None:
                paragraph(known_words(query, known), "", role="status")
                where = {"table": table.name, "look": known.request}
                st.page_link(nav.page("board"), label=say("session.known_open"), query_params=where)
            if isinstance(against := session.against(query), dp.ColumnDoubted):
                fit_warnings.show(table, against, query)
                return
            if against is not None:
                hint(str(against))
                st.page_link(nav.page("ask"), label=say("plan.ask"), query_params={"table": table.name})
                return
            notes = [query.ask.middle_note() if isinstance(query.ask, Average) else "", table.fits().in_short(query)]
            if any(notes):
                paragraph(" ".join(notes).strip(), "warn", role="status")
        step = job.next_request(session.request, canonical(ask))
        with st.container(key="session-ask", width="content"):
            more: Any = {"type": "primary", "disabled": query is None}
            st.button(say("session.ask"), key=f"session-ask-{step}", on_click=_ask, args=(session, ask, step), **more)


def _sentence(table: dp.Table) -> dict[str, Any]:
    """Draw “The [share of people] where …”, “The [average] of [income]” or “The [largest group] of …”; return the
    question's parameters."""
    numbers = table.schema.of_kind(dp.Number)
    kinds = ["share", *(["average"] if numbers else []), "largest"]
    with st.container(key="sentence", horizontal=True, vertical_alignment="center", gap="small"):
        fields.word(say("form.the"))
        kind = fields.pick("session.kind", kinds, "share", lambda kind: say(f"session.kind.{kind}"), "session-kind")
        if kind == "average":
            fields.word(say("session.of"))
            return {"average": fields.pick("form.column", numbers, numbers[0], str, "session-column")}
        fields.word(say(f"session.where.{kind}"))
    if kind == "largest":
        return {"largest": conditions.compare(table, [])}
    return {"share": conditions.conditions(table, [], "session")}


def _ask(session: Session, ask: dict[str, Any], step: str) -> None:
    if attempt(session.submit, ask, step, checked=True):  # first: at any st.* call the next click may abort this script
        st.query_params["step"] = step


# What was answered


def _answers(table: dp.Table, steps: list[Taken], state: State, over: bool) -> None:
    if not steps:
        return
    html = "".join(_taken_html(table, step) for step in reversed(steps))
    title = say("session.answers_all" if over else "session.answers")
    st.html(f"<h2>{escape(title)}</h2>{html}")
    if state.asked > len(steps):
        paragraph(say("session.newest", newest=len(steps)))


def _taken_html(table: dp.Table, taken: Taken) -> str:
    head = f'<p class="question">{taken.index}. {escape(taken.sentence)}</p>'
    if taken.state != "done":
        words = say("history.on_its_way" if taken.state == "running" else "session.step_lost")
        return f'<div class="taken">{head}<p class="muted">{escape(words)}</p></div>'
    value = value_words(taken.query, taken.value, taken.interval)
    ranges = ranges_words(taken.query, taken.value, taken.interval)
    if taken.interval is not None:
        ranges = f"{ranges} {outward_range(taken)}"
    body = f'<p><b class="said">{escape(value)}</b></p><p class="muted">{escape(ranges.strip())}</p>'
    fits = table.fits()  # of now: what a later check found is said of earlier answers too
    notes = [*fits.row_notes(taken.query), *fits.unknown_notes(taken.query)]
    notes += [fit.note(taken.query) for fit in fits.between(taken.query)]
    if isinstance(taken.query.ask, Average):
        notes.insert(0, taken.query.ask.middle_note())
    if any(notes):
        body += p(" ".join(filter(None, notes)), "headline-note")
    return f'<div class="taken">{head}{body}{answer_notes.cut_note(taken.query)}</div>'


def _ways_on(table: dp.Table, session: Session, state: State, over: bool, steps: list[Taken]) -> None:
    if steps:
        outward = any(step.population is not None for step in steps)
        code = "session.all_at_once" if outward else "session.all_at_once_table"
        paragraph(say(code, questions=state.questions, chance=chance(session.query.beta)))
        name = f"session-{session.entry.charge.hash[:8]}.jsonl"
        exports.offer(say("session.download"), lambda: _lines(session), name, "session-download")
    if not over and not table.closed:
        with fields.details(say("session.end_title"), "session-end-open") as drawn:
            if not drawn:
                return
            paragraph(say("session.end_lead", left=state.left, share=prices.took(table, session.entry)))
            st.button(say("session.end"), key="session-end", on_click=session.end)
    if over:
        with st.container(horizontal=True):
            st.page_link(nav.page("answers"), label=say("session.to_ledger"), query_params=nav.to_ledger(table.name))
            where = {"table": table.name, nav.VIEW: "after"}
            st.page_link(nav.page("several"), label=say("session.another"), query_params=where)


def _lines(session: Session) -> str:
    """A session's receipts as text, one line of JSON each; written on the click."""
    receipts = (step.receipt for step in session.look()[2] if step.state == "done")
    return "".join(json.dumps(receipt, ensure_ascii=False) + "\n" for receipt in receipts)


_STYLE = sheet("several/session")


BEARS = (Fraction(1, 20), Fraction(1, 10), Fraction(1, 4))  # errors: how many questions are possible at each
_STATE = "session-form"
_USUAL = {"k": "", "share": "", "how": BEST}  # the preselected number and share depend on the table
_NUMBERS = (20, 10, 5, 3)  # of questions: preselected is the first whose answers are more than noise
FIELDS = tuple(_USUAL)  # in the address
_HOW = (BEST, *CALIBRATIONS)
MOST_LISTED = 8  # columns of a look that is bought with a session
_SEARCHED = 50  # charges, for a session with questions left


def show_addressed(table: dp.Table) -> bool:
    """Draw the session that the address names. False if the address names none: then the page shows the form."""
    run = st.query_params.get("run")
    if run and not _opened(table, run):
        return not table.run(run).over
    request = st.query_params.get("session")
    return bool(request and _running(table, request))


def _opened(table: dp.Table, run: str) -> bool:
    """Put the session that this run bought into the address. False if there is none yet: then this draws the run's
    progress or refusal."""
    found = table.run(run)
    if not found.over:
        plan.progress(table, run)
        return False
    job.renew(run)
    try:
        session = table.session_of_run(run)
    except dp.AllowanceError as refusal:
        job.refused(str(found.error or refusal))
        return False
    address({"table": table.name, "session": session.request})
    return True


def show(table: dp.Table) -> None:
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
        questions, share, check = _size(table, given)
        part = meter.unused * int(share) / 100
        columns = _columns(table)
        if columns:
            _over(table, columns, questions, part)
            return
        offers = _offers(table, questions, part)
        how = _calibration(given, offers)
        wanted = st.session_state[_STATE] = {"table": table.name} | {"k": str(questions), "share": share, "how": how}
        if "session" not in st.query_params:
            address(wanted | {nav.VIEW: "after"})
        found = offers[how]
        if isinstance(found, AdaptiveSession):
            _worth(table, found, part, least_share_html(share, lambda: _usual_share(table, questions), check))
        else:
            hint(str(found))
    job.show_refusal()


def _open_one(table: dp.Table) -> None:
    """Draw a button to the newest paid session that still has questions; nothing without one."""
    for entry in table.history(_SEARCHED):
        questions, request = questions_of(entry.charge.claim), entry.charge.request
        if questions is None or entry.charge.table != table.name or entry.outcome is None:
            continue
        asked, ended, _ = workspace().ledger.progress(request)
        if not ended and asked < questions:
            label = say("session.go_on", asked=asked, questions=questions)
            where = {"table": table.name, "session": request}
            # No link: one to the page on which it stands would leave the browser's address as it was.
            st.button(label, key="session-go-on", on_click=address, args=(where,))
            return


def _running(table: dp.Table, request: str) -> bool:
    """Draw the session in the URL. False, after the reason, if there is none."""
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
    show_session(table, session)
    return True


def _given(table: dp.Table) -> dict[str, str]:
    """The form's values from the URL, else as the visitor left them."""
    kept: dict[str, str] = st.session_state.get(_STATE, {})
    if kept.get("table") != table.name:  # another allowance
        kept = {name: value for name, value in kept.items() if name not in ("k", "share")}
    given = _USUAL | kept | {name: st.query_params[name] for name in _USUAL if name in st.query_params}
    if not given["k"].isdecimal() or not 1 <= int(given["k"][:9]) <= MOST_QUESTIONS:
        given["k"] = str(_usual_number(table))
    given["share"] = given["share"] if given["share"] in SHARES else _USUAL["share"]
    given["how"] = given["how"] if given["how"] in _HOW else _USUAL["how"]
    return given


def _usual_number(table: dp.Table) -> int:
    left = table.meter().unused
    for questions in _NUMBERS:
        with suppress(dp.AllowanceError):
            if room(table.session_for(questions, left * int(_usual_share(table, questions)) / 100)) >= 1:
                return questions
    return _NUMBERS[-1]


def _size(table: dp.Table, given: dict[str, str]) -> tuple[int, str, Fraction]:
    """Draw the choice of the number of questions and of the share of what is left. Returns both, and the part of what
    is left that the check takes as well."""
    label, note = say("param.questions.label"), say("param.questions.help")
    questions = int(st.number_input(label, 1, MOST_QUESTIONS, int(given["k"]), key="session-k", width=200, help=note))
    paragraph(say("session.ends"))
    try:  # the check's share of what is left: a session buys it first
        check = table.check_part(table.session_for(questions, table.meter().unused / 2))
    except dp.AllowanceError:  # half of what is left buys none
        check = Fraction(0)

    def words(share: str) -> str:
        if not check:
            return say("session.share_of", share=share)
        return say("session.share_checked", share=share, whole=percent(Fraction(share) / 100 + check))

    shares = [share for share in SHARES if Fraction(share) / 100 + check <= 1]
    wanted = given["share"] or _usual_share(table, questions)
    now = wanted if wanted in shares else shares[-1]
    chosen = st.select_slider(say("session.share"), shares, now, key="session-share", format_func=words)
    return questions, chosen, check


def _usual_share(table: dp.Table, questions: int) -> str:
    """The preselected share of what is left, in percent: the smallest that makes every answer clearly more than
    noise."""
    left = table.meter().unused
    return opening_share(
        lambda share: table.session_for(questions, left * int(share) / 100),
        lambda session: room(session) >= CLEAR,
        table.check_part,
    )


def _columns(table: dp.Table) -> list[str]:
    """Draw a picker of columns for the session; return the picked ones if there are at least two, else nothing."""
    columns = table.schema.columns.items()
    offered = [name for name, column in columns if has_cells(column) and not isinstance(column, ItemSet)]
    if len(offered) < 2 or not table.budget.rule.delta_slack or table.facts.unit != dp.Unit.rows():
        return []
    words: Any = {"placeholder": say("session.over.any"), "help": say("session.over.help"), "key": "session-columns"}
    picked = st.multiselect(say("session.over.columns"), offered, max_selections=MOST_LISTED, **words)
    if len(picked) == 1:
        hint(say("session.columns"))
    return picked if len(picked) > 1 else []


def _over(table: dp.Table, columns: list[str], questions: int, part: Fraction) -> None:
    """Draw how accurate a first look at these columns and a session after it are, and one button that buys both."""
    try:
        look, query = table.session_over(columns, questions, part)
    except dp.AllowanceError as refusal:
        hint(str(refusal))
        return
    both = [look, query]
    price = table.planner().price_of([*table.checks_for(both), *both])
    frame.show_price(table, price, "_plan")
    past, reserve = table.released().plus(look.loss()), table.budget.rule.delta_reserve
    reach = ceil(max(map(look.reach, look.sets)))
    st.html(
        f"<h2>{escape(say('session.worth'))}</h2>"
        f"<p>{escape(say('session.over.free', columns=columns, reach=reach))}</p>"
        f"<p>{escape(say('session.over.fresh', questions=questions, promise=query.promise().words()))}</p>"
        f"<p class='muted'>{escape(outward_words(query, past, reserve))}</p>"
    )
    if left_out := unchecked_words(table.fits().all_of((name, table.schema[name]) for name in columns)):
        hint(left_out)
    run = job.next_request(table.name, tuple(query.digest() for query in both))
    label = say("session.over.buy", questions=questions, share=prices.takes(table, price.share))
    act, key = (table, both, run, job.seen()), f"session-over-{run}"
    st.button(label, key=key, type="primary", disabled=not price.fits, on_click=_buy, args=act)
    st.html(f'<p class="muted">{gloss.text(say("session.kept"))}</p>')


def _buy(table: dp.Table, both: list[dp.Query], run: str, known: int | None) -> None:
    if attempt(table.submit_plan, both, run, Fraction(0), known, checked=True):
        address({"table": table.name, nav.VIEW: "after", "run": run})


def _offers(table: dp.Table, questions: int, spend: Fraction) -> dict[str, AdaptiveSession | dp.AllowanceError]:
    """By calibration, the session at this spend, or the refusal of it."""
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

    label, words = say("param.calibration.label"), {how: say(f"session.how.{how}") for how in _HOW}
    paragraph(f"{label}: {words[st.session_state.get('session-how', given['how'])]}")
    with fields.details(label, "session-how-open") as drawn:
        if not drawn:
            return given["how"]
        more: Any = {"captions": [caption(how) for how in _HOW], "help": say("param.calibration.help")}
        return str(st.radio(label, _HOW, _HOW.index(given["how"]), words.__getitem__, "session-how", **more))


def compared(session: AdaptiveSession, best: AdaptiveSession) -> str:
    times = float(session.alpha / best.alpha)
    return say("session.wider", times=local(f"{times:.1f}")) if times > 1.05 else say("session.same")


def _worth(table: dp.Table, query: AdaptiveSession, part: Fraction, least: str) -> None:
    """Draw the accuracy, how many questions these people allow, the price, and the button."""
    price = table.preview(query, checked=True)
    past, reserve = table.released(), table.budget.rule.delta_reserve
    noise = ""
    if not price.useful:
        noise = p(say("session.noise", questions=query.questions), "warn", "status")
    frame.show_price(table, price, "_session")
    covered = set(price.check.parameters()["columns"]) if price.check is not None else set[str]()
    rest = table.fits().all_of((name, one) for name, one in table.schema.columns.items() if name not in covered)
    if table.facts.unit.at_most > 1:
        hint(say("session.no_averages"))
    elif empty := [fit.column for fit in rest if fit.unknown is not None and isinstance(fit.declared, Number)]:
        hint(say("session.no_average_of", columns=empty))
    nothing = not covered and not any(fit.checked for fit in rest)  # it would answer about no column
    if unchecked := unchecked_words(rest):
        st.html(f'<p class="warn" role="status">{escape(unchecked)} {escape(say("session.not_asked_of"))}</p>')
    st.html(
        f"<h2>{escape(say('session.worth'))}</h2>"
        f"<p><b>{escape(say('session.sample', promise=query.promise().words()))}</b> "
        f"{escape(say('session.adaptive'))}</p>{answer_notes.cut_note(query)}"
        f"<p class='muted'>{gloss.text(_bears_words(table, query, part))}</p>"
        f"{least}{noise}"
        f"<h2>{escape(say('session.outward.title'))}</h2>"
        f"<p>{escape(outward_words(query, past, reserve))}</p>"
        f"<p class='muted'>{escape(splitting(query, past))}</p>"
    )
    explain(query, past, reserve)
    with fields.details(say("session.more"), "session-more") as drawn:
        notes = [_each(query), say("session.more.theorem", theorem=query.theorem)]
        notes.append(say(f"session.more.{table.facts.relation}", people=query.people))
        if drawn:
            st.html(paragraphs(map(gloss.text, notes)))
    fit_warnings.before(table, query, price)
    label = say("session.reserve", questions=query.questions, share=prices.takes(table, price.share))
    if nothing:
        st.page_link(nav.page("data"), label=say("session.check_first"), query_params={"table": table.name})
    elif not fit_warnings.instead_at("session", table, query):
        job.ask_button(label, table, query, "session-go", disabled=not price.admissible, url_name="session")
    st.html(f'<p class="muted">{gloss.text(say("session.kept"))}</p>')


def _each(query: AdaptiveSession) -> str:
    """The privacy loss of one answer, in the noise's own parameter."""
    loss = query.loss()
    if isinstance(loss, Gaussian):
        return say("session.more.rho", rho=to_figures(float(loss.rho / query.questions), 3), questions=query.questions)
    return say("session.more.each", each=to_figures(float(query.each), 3), questions=query.questions)


def _bears_words(table: dp.Table, query: AdaptiveSession, part: Fraction) -> str:
    """A sentence: for each of three errors, how many questions can be answered about these people at this spend."""

    def make(questions: int) -> AdaptiveSession:
        return table.session_for(questions, part, query.calibration)

    each = [say("session.bears_one", alpha=points(alpha), questions=most_questions(make, alpha)) for alpha in BEARS]
    return say("session.bears", people=query.people, each="; ".join(each))
