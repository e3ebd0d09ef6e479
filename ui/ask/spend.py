"""How much to spend on a question: a slider, a wished error or ε; and what helps where noise would win."""

from __future__ import annotations

import json
from collections.abc import Callable
from contextlib import suppress
from fractions import Fraction
from html import escape
from math import ceil
from operator import itemgetter
from typing import Any

import streamlit as st

import dpengine as dp
from dpengine.accountant.loss import Gaussian
from dpengine.core.amounts import LEAST_EPSILON, cut_decimals, read_epsilon
from dpengine.core.exact import as_typed, read_number, read_typed, text_of
from dpengine.core.printed import percent_left, percents
from dpengine.core.remembered import Lately
from dpengine.messages import plain, say
from dpengine.messages.numbers import local, to_figures
from dpengine.planning.opening import CLEAR, PART, STEPS, Opening
from dpengine.planning.suggestions import Lever, without_codes
from ui.ask import fit_warnings, preview
from ui.parts import answer_notes, fields
from ui.shell import nav, scroll
from ui.shell.frame import hint, paragraph
from ui.shell.state import as_read, held, may
from ui.words import gloss, prices
from ui.words.markup import p, unmarked


def show_levers(table: dp.Table, query: dp.Query) -> None:
    """Draw links that would make a noisy answer useful, the strongest first: each is one change of the question."""
    levers = table.levers(query)
    if not levers:
        return
    st.html(f'<p class="muted">{say("lever.lead")}</p>')
    for lever in levers:
        asked = lever.query if lever.ends else _asked(table, lever.query)
        then = lever.query if lever.ends else table.cheapest(asked)
        if (text := _words(table, query, lever, asked, then)) is None:
            continue
        words = unmarked(text)
        if lever.ends is None:
            st.page_link(nav.page("ask"), label=words, query_params=preview.preview_link(table, asked))
        elif not table.practice:
            where = {"table": table.name, "change": "1", "open": query.answer_column} | preview.back(table, query)
            st.page_link(nav.page("data"), label=words, query_params=where)
        else:
            paragraph(text)


def after_codes(table: dp.Table, query: dp.Query) -> None:
    """Draw a link below an answer if a code for “unknown” lies near the upper end of the range: the range may be that
    wide for the code alone. Nothing where a check doubts the column."""
    then, column = without_codes(query), table.schema.columns.get(query.answer_column)
    if then is None or not isinstance(column, dp.Number) or column != query.facts.schema[query.answer_column]:
        return
    fit = answer_notes.fits_of_table(table.name).of(query.answer_column, column)
    if table.practice or table.closed or fit.doubted or fit.in_part or not may("revise", table.name):
        return
    codes = [text_of(code) for code in column.codes if code <= column.upper]
    facts = {"codes": codes, "many": len(codes), "column": query.answer_column, "upper": plain(column.upper)}
    text = say("lever.codes", now=_size(query), then=_size(then), **facts)
    where = {"table": table.name, "change": "1", "open": query.answer_column} | preview.back(table, query)
    st.page_link(nav.page("data"), label=unmarked(text), query_params=where)


def _size(query: dp.Query) -> str:
    """The error of the answer as text, as at the end of its error bar."""
    ends = query.promise().ends(query)
    return query.promise().size_for(query) if ends is None else f"±{ends[1].removeprefix('+')}"


def _asked(table: dp.Table, query: dp.Query) -> dp.Query:
    """The question of a lever at the same price, with the noise that the form would choose."""
    (share,) = table.prices([query])
    found = None if share is None else table.at_share(query.with_noise(""), share)
    return query if found is None else found


def _words(table: dp.Table, query: dp.Query, lever: Lever, asked: dp.Query, then: dp.Query) -> str | None:
    """A lever as a sentence. None if the lever would not change the printed error, or costs more than is left."""
    errors = {"now": query.promise().short(query), "then": then.promise().short(then)}
    if errors["now"] == errors["then"] and lever.kind == "spend":
        return None
    if lever.ends is not None:
        before, after = (f"{plain(column.lower)}–{plain(column.upper)}" for column in lever.ends)
        return say("lever.range", column=query.answer_column, before=before, after=after, **errors)
    if lever.kind == "groups":
        return say("lever.groups", question=lever.query.sentence(), **errors)
    if lever.kind in ("bars", "top"):
        many = query.parameters().get("how_many") or 1
        return say(f"lever.{lever.kind}", question=lever.query.sentence(), many=many, **errors)
    (share,) = table.prices([asked], checked=True)
    return None if share is None else say("lever.spend", share=prices.takes(table, share), **errors)


# “How good must it be?”: the slider from more private to more exact, the wished error and ε set each other.

DEAR = Fraction(1, 5)  # of the allowance: a question that takes more needs a second click
CHEAP = Fraction(1, 20)  # of the allowance: where that takes more, it is said, with what would help
LITTLE = Fraction(1, 1000)  # of the allowance: less than that buys only noise, and reads as nothing
_REFUSED = "spend-refused"
_STEPPED = "spend-stepped"  # a button has just set the step
_SHAPE = "ask-shape"  # the question in the form, however exact; a link forgets it
ASK = "ask"  # the page that owns the ε; other pages keep their own


def _epsilon(place: str) -> str:
    """The session key under which the chosen ε is kept as text."""
    return f"{place}-epsilon"


def start_from(table: dp.Table, given: Any, place: str = ASK) -> None:
    """Start with the `given` ε of a link, or of the form as it was left; without one, with the ε of the first suggested
    question."""
    if _epsilon(place) not in st.session_state or st.session_state.get(f"{place}-epsilon-table") != table.name:
        epsilon = str(given or usual(table))
        try:
            epsilon = text_of(read_epsilon(epsilon))
        except dp.AllowanceError as refusal:  # it could not be set right where there is no question to set it for
            epsilon = usual(table)
            st.session_state["refusal"] = _stays(refusal, epsilon)
        st.session_state[_epsilon(place)] = epsilon
        st.session_state[f"{place}-epsilon-table"] = table.name


def opened(table: dp.Table, kept: dict[str, Any]) -> dict[str, Any]:
    """The parameters of the question in the form, at the chosen price, on a page without the slider: the opening price
    of a new question."""
    given = kept["given"]
    start_from(table, given.get("epsilon"))
    follow(table, kept["q"], given, not given.get("epsilon"))
    given["epsilon"] = st.session_state[_epsilon(ASK)]
    return dict(given)


def start_anew(table: dp.Table, key: str, given: dict[str, Any]) -> None:
    """Start at the opening price of a question that was just picked."""
    asked = {name: value for name, value in given.items() if name != "epsilon"}
    try:
        query = table.query(key, **asked | {"epsilon": "1", "noise": ""})  # any ε: the opening price has its own
    except dp.AllowanceError:  # it is not put together yet: what was set stays
        return
    found = table.opening(query)
    st.session_state[_epsilon(ASK)] = usual(table) if found is None else text_of(found.query.epsilon)


def opens_at(found: Opening | None) -> str:
    """The ε of an opening price as text; the smallest step if what is left buys nothing useful."""
    return STEPS[0] if found is None else text_of(found.query.epsilon)


def least_html(table: dp.Table, found: Opening | None) -> str:
    """HTML with a warning that every useful answer is dear now; else empty."""
    if found is None or not found.dear:
        return ""
    share = table.preview(found.asked, checked=True).share
    if share <= PART * table.meter().unused:
        return ""
    return p(say("spend.least", share=prices.takes(table, share)), "warn", "status")


def least_share_html(now: str, usual: Callable[[], str], check: Fraction = Fraction(0)) -> str:
    """The same warning where the person chooses a share of what is left: `now` is the chosen share, `usual` gives the
    default share, and `check` is the share that the check adds."""
    if Fraction(now) / 100 + check <= PART:
        return ""
    least = ceil(Fraction(usual()) + 100 * check)
    if least <= 100 * PART:
        return ""
    return p(say("spend.least_part", share=least), "warn", "status")


def useless(price: dp.Preview) -> str:
    """A warning beside the button that the answer would be mostly noise; empty if it would be useful."""
    if price.useful:
        return ""
    return say("ask.useless_groups" if price.promise.grouped else "ask.useless")


def offer_useful(table: dp.Table, query: dp.Query) -> bool:
    """Draw a button that sets a useful step, where the question's opening price buys mostly noise and that step takes
    at most a quarter of what is left. True if there is one."""
    found = _opening(table, query)
    if found is None or found.better is None or found.better.epsilon <= query.epsilon:
        return False
    then = table.cheapest(found.better)
    facts = {
        "share": prices.takes(table, table.preview(then, checked=True).share),
        "promise": then.promise().short(then),
    }
    st.button(
        unmarked(say("spend.offer", **facts)),
        key="spend-useful",
        type="primary",
        on_click=_set_step,
        args=(text_of(found.better.epsilon),),
    )
    return True


def _set_step(epsilon: str) -> None:
    """The page gets shorter above the button: what the step buys is brought into view, or old answers would be."""
    st.session_state[_epsilon(ASK)], st.session_state[_STEPPED] = epsilon, True


def _opening(table: dp.Table, query: dp.Query) -> Opening | None:
    """The opening price of a question; None if people add the noise themselves, which is not built at every ε."""
    return None if query.card.behind else table.opening(query)


def sure(table: dp.Table, query: dp.Query, price: dp.Preview) -> str:
    """As `dear`, for a question on Ask, which names prices."""
    return dear(price, _opening(table, query))


def dear(price: dp.Preview, found: Opening | None = None) -> str:
    """A warning before a question takes a large part of the allowance; else empty. Calmer if the page itself names this
    price, in `found`, as the one that makes the answer useful or clear."""
    if price.share <= DEAR:
        return ""
    advised = found is not None and price.share in (found.useful, found.clear)
    return " ".join(filter(None, [say("ask.dear_advised" if advised else "ask.dear_sure"), useless(price)]))


def follow(table: dp.Table, key: str, given: dict[str, Any], unpriced: bool) -> None:
    """Start every new question at its own opening price. A question from a link keeps its price, if the link has
    one."""
    asked = {name: value for name, value in given.items() if name != "epsilon"}
    shape = json.dumps([table.name, key, asked], default=str)
    before, st.session_state[_SHAPE] = st.session_state.get(_SHAPE), shape
    if unpriced or before not in (None, shape):
        start_anew(table, key, given)


def usual(table: dp.Table) -> str:
    """The opening ε of the first suggested question, as text; 0.1 if none is suggested."""
    suggested = next(iter(table.suggestions()), None)
    found = None if suggested is None else table.opening(suggested)
    return "0.1" if found is None else text_of(found.query.epsilon)


def choose(table: dp.Table, make: Callable[[str], dp.Query], place: str = ASK) -> str:
    """Draw the slider for the price, and return the chosen ε. Each step shows the share of the allowance that the
    question built by `make` would take. What is left covers every step, except one that was typed or came with a
    link."""
    now = st.session_state[_epsilon(place)]
    whole = table.budget.rule.epsilon
    options = [step for step in STEPS if Fraction(step) <= whole] or [text_of(whole)]
    if now not in options:
        try:
            options = sorted({*options, text_of(read_number(now, "ε"))}, key=Fraction)
            now = text_of(read_number(now, "ε"))
        except (dp.AllowanceError, ValueError):
            now = options[0]
    if table.meter().unused < LITTLE:
        hint(say("spend.almost_nothing"))
        return str(now)
    title, ends = escape(say("spend.title")), escape(say("spend.ends"))
    st.html(f'<div class="exact"><h2>{title}</h2><span class="muted">{ends}</span></div>')
    key, labels = f"{place}-slider", _labels_now(table, make, options)
    options = steps_of(labels, options, now)
    if len(options) < 2:
        return str(now)
    st.session_state[key] = now
    slider(labels, options, key, on_change=_from_slider, args=(place,))
    return str(st.session_state[_epsilon(place)])


def slider(labels: dict[str, str], steps: list[str], key: str, **options: Any) -> str:
    """Draw a slider with these steps, each with the share of the allowance that it takes. Returns the chosen step."""
    options |= {"format_func": lambda step: labels.get(step) or say("spend.step_too_much")}
    options["label_visibility"] = "collapsed"
    return str(st.select_slider(say("spend.slider"), steps, key=key, **options))


def steps_of(labels: dict[str, str], options: list[str], now: str) -> list[str]:
    """The steps that what is left covers, and the step `now`, by rising price as `labels` has them; of steps with the
    same label, the most exact. What is left covers all but the last."""
    kept = {text: step for step, text in labels.items()}
    if len(kept) < 2 and (dear := [step for step in options if step not in labels]):
        kept[""] = dear[0]  # a slider has two ends
    kept[labels.get(now, "")] = now
    return list(kept.values())


_labelled = Lately(1024)


def _labels_now(table: dp.Table, make: Callable[[str], dp.Query], steps: list[str]) -> dict[str, str]:
    """As `labels_of`, worked out once for a question while nothing changes: whoever moves the slider asks again."""
    try:
        first = make(steps[0])
    except dp.AllowanceError:  # it cannot be asked at the least step, or not at all
        return labels_of(table, make, steps)
    return dict(_labelled((as_read(table), first, tuple(steps)), lambda: labels_of(table, make, steps)))


def labels_of(table: dp.Table, make: Callable[[str], dp.Query], steps: list[str]) -> dict[str, str]:
    """By step, its price as a share of the allowance, from the cheapest on; only the steps that what is left covers. A
    larger ε may cost less: where only another noise still fits."""
    made: dict[str, dp.Query] = {}
    for step in steps:
        with suppress(dp.AllowanceError):  # a shuffler needs a larger ε than others
            made[step] = make(step)
    if not made:  # there is no question yet
        return {step: say("spend.step_alone", place=place, of=len(steps)) for place, step in enumerate(steps, 1)}
    prices = zip(made, table.prices(list(made.values()), checked=True), strict=True)
    paid = dict(sorted(((step, share) for step, share in prices if share is not None), key=itemgetter(1)))
    labels = (say("spend.step", share=share) for share in percents(list(paid.values()), 1 - table.meter().used))
    return dict(zip(paid, labels, strict=True))


def _from_slider(place: str) -> None:
    if not held(f"{place}-slider"):
        return
    st.session_state[_epsilon(place)] = st.session_state[f"{place}-slider"]


def describe(
    table: dp.Table,
    query: dp.Query,
    price: dp.Preview,
    steps: bool = False,
    opening: Opening | None = None,
    answered: dp.Answer | None = None,
    brief: bool = False,
) -> None:
    """Draw the error that this price buys, the price, and a warning if the answer would be mostly noise. With `steps`,
    the price that would be enough is one of the slider's steps. If the question was `answered`, that answer itself
    decides whether it is mostly noise. If `brief`, the error as beside a proposed question."""
    found = table.opening(query) if steps else None

    def least(times: int) -> Fraction | None:
        if found is not None:
            return found.useful if times == 1 else found.clear
        return None if steps else enough(table, query, price, times)

    mark = ' class="stepped" tabindex="-1"' if st.session_state.pop(_STEPPED, False) else ""
    if brief:  # the columns were declared just now; what is cut is said again where the answer is read
        lines = [f"<p{mark}><b>{escape(price.promise.short(query))}</b></p>"]
    else:
        counts = steps and query.counts_rows and query.facts.unit.counted
        rows = p(answer_notes.several_rows(query), "muted") if counts else ""
        lines = [
            f"{rows}<p{mark}>{escape(say('spend.accept'))} <b>{escape(price.promise.words(query))}</b></p>",
            answer_notes.cut_note(query),
        ]
    if not steps:  # there the button says it
        lines.append(f'<p class="muted">{gloss.text(say("spend.cost", share=prices.takes(table, price.share)))}</p>')
    st.html("".join(lines))
    if mark:
        scroll.show()
    if (least_note := least_html(table, found or opening)) and table.meter().unused >= LITTLE:  # else `choose` says it
        st.html(least_note)
    fit_warnings.before(table, query, price)
    told = answer_notes.offer_people(table, query) or brief
    if not told and (whose := answer_notes.supposed(table, query)):
        st.html(whose)
    if answered is not None:
        if answered.query.mostly_noise(answered.value, answered.interval):
            paragraph(say("spend.noise_answered"), "warn")
            show_levers(table, query)
    elif brief:  # what else would help, Ask says
        return
    elif not price.useful:
        st.html(f'<p class="warn">{gloss.text(noise_words(table, price, least(1)))}</p>')
        show_levers(table, query)
    elif price.times_needed * CLEAR <= 1 and price.share <= CHEAP:
        return  # it is clear already, and takes little
    elif steps if (clear := least(CLEAR)) is None else clear > CHEAP:
        note = say("spend.dear_most") if clear is None else say("spend.dear", share=prices.takes(table, clear))
        if table.levers(query):
            with st.expander(unmarked(f"{note} {say('spend.helps')}")):
                show_levers(table, query)
        else:
            paragraph(note)


def noise_words(table: dp.Table, price: dp.Preview, share: Fraction | None) -> str:
    """A warning that an answer would be mostly noise, and the `share` of the allowance that helps, if any."""
    if share is None:
        return say("spend.noise_short", people=price.people_needed)
    return say("spend.noise_share", people=price.people_needed, share=prices.takes(table, share))


def enough(table: dp.Table, query: dp.Query, price: dp.Preview, times: int = 1) -> Fraction | None:
    """About which share of the allowance makes an answer clear of noise, at `times` the ε that this needs. None if what
    is left does not cover that share."""
    try:
        return table.prices([query.at(query.epsilon * price.times_needed * times)], checked=True)[0]
    except dp.AllowanceError:  # beyond the largest ε there is
        return None


def exactly(
    table: dp.Table,
    query: dp.Query,
    place: str = ASK,
    beside: Callable[[], None] | None = None,
    expanded: bool = False,
) -> None:
    """Draw folded fields for the exact ε or the wished error, and more about the price. `beside` draws further
    fields."""
    with fields.details(say("spend.exactly"), f"exactly-{place}", expanded) as drawn:
        if not drawn:
            return
        if place == ASK:
            starts = say("spend.starts", left=percent_left(1 - table.meter().used))
            least = query.promise().floor_words(query)
            st.html(f'<p class="muted">{escape(f"{least} {starts}".strip())}</p>')
        if beside is not None:
            beside()
        left, right = st.columns(2)
        with left:
            now = text_of(query.epsilon)
            key = fields.number_key(f"{place}-typed-{now}{_turn()}")
            label, note = say("spend.epsilon"), say("gloss.epsilon.means")
            st.text_input(label, local(now), key=key, help=note, on_change=_typed, args=(key, now, place))
        with right:
            label, now = wish_field(query)
            key = fields.number_key(f"{place}-wish-{query.digest()[:12]}{_turn()}")
            st.text_input(label, now, key=key, on_change=_wished, args=(key, table, query, place))
        if isinstance(loss := query.loss(), Gaussian):
            st.html(f'<p class="muted">{gloss.text(say("spend.rho", rho=to_figures(float(loss.rho), 3)))}</p>')


def _typed(key: str, now: str, place: str) -> None:
    """Use the typed ε. If the text cannot be used nothing changes, and the field shows the present ε again."""
    if not held(key):
        return
    try:
        wanted = read_epsilon(as_typed(cut_decimals(st.session_state[key])))
    except dp.AllowanceError as refusal:
        _refuse(refusal, now)
        return
    st.session_state[_epsilon(place)] = text_of(wanted)


def _turn() -> str:
    """The end of the fields' keys. After a refusal it changes, because a browser keeps old widget values."""
    return f"-{st.session_state[_REFUSED]}" if st.session_state.get(_REFUSED) else ""


def _refuse(refusal: dp.AllowanceError, epsilon: str) -> None:
    st.session_state["refusal"] = _stays(refusal, epsilon)
    st.session_state[_REFUSED] = int(st.session_state.get(_REFUSED, 0)) + 1


def _stays(refusal: dp.AllowanceError, epsilon: str) -> str:
    return say("spend.stays", why=str(refusal), epsilon=local(epsilon))


def wish_field(query: dp.Query) -> tuple[str, str]:
    """The label of a field for the accepted error, and as text the error that the question has now."""
    label, now = query.promise().wished(query)
    return unmarked(label), now


def read_wish(query: dp.Query, typed: str) -> Fraction:
    """The accepted error in the unit of the promise, from what was typed."""
    return query.promise().amount_of(read_typed(typed, say("spend.wish.name"), "%"), query)


def _wished(key: str, table: dp.Table, query: dp.Query, place: str) -> None:
    """Use the ε for the typed error. If no ε reaches that error nothing changes, and the field shows the present error
    again."""
    if not held(key):
        return
    try:
        least = table.least_epsilon(query, read_wish(query, st.session_state[key]))
        if least is None:
            raise dp.AllowanceError("spend.wish.out_of_reach")
    except dp.AllowanceError as refusal:
        _refuse(refusal, text_of(query.epsilon))
        return
    st.session_state[_epsilon(place)] = text_of(max(least, LEAST_EPSILON))
