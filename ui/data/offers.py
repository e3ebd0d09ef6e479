"""What can be bought on a table's page: unknown ranges and lists, a check of the declarations, and first questions.

Every offer uses public facts and the ledger only. A click hands it to the worker, as on Ask.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from html import escape
from typing import Any

import streamlit as st

import dpengine as dp
from dpengine.asking.checking import CHEAP, ROUGH, check_for, usual_check
from dpengine.asking.column_fit import ColumnFit, slip
from dpengine.core.exact import text_of
from dpengine.core.printed import chance, percent
from dpengine.mechanisms.choices.find_declarations import Drafted
from dpengine.mechanisms.counts.fit_checks import MOST_COLUMNS, UNSURE
from dpengine.messages import plain, say
from dpengine.planning.suggestions import first_asked
from ui.ask import answer, box, fit_warnings, preview, spend
from ui.data import change, presets
from ui.data.presets import sure_id_column
from ui.data.wizard import DOT
from ui.parts import answer_notes, job, tables
from ui.parts.fields import details
from ui.shell import nav, scroll
from ui.shell.frame import arrived_head, hint, paragraph
from ui.shell.state import attempt, may
from ui.words import prices
from ui.words.markup import first_names, link, p, unmarked
from ui.words.wording import headline, range_words

# --- ranges and lists of several unknown columns, bought together

SHARES = tuple(Fraction(part, 100) for part in (2, 5, 10, 20, 30, 50))
KINDS = ("number", "date", "list")
PARTS = {"number": "numbers", "date": "dates", "list": "lists"}  # parameters of the question


def offer_found(table: dp.Table, first: Sequence[str]) -> None:
    """Draw the offer to buy the ranges and lists of some columns. Those in `first` are preselected."""
    declared = table.schema.columns
    names = [name for name in table.facts.header if name != table.facts.unit.id_column]
    names.sort(key=lambda name: name in declared)
    mark = ' class="arrived" tabindex="-1"' if first else ""
    unknown = any(name not in declared for name in names)
    title = say("data.found.title" if unknown else "data.found.again")
    st.html(f'<h2{mark}>{escape(title)}</h2><p class="muted">{escape(say("data.found.lead"))}</p>')
    label, none, usual = say("data.found.columns"), say("data.unit.who_none"), [name for name in first if name in names]
    chosen = st.multiselect(label, names, usual, key="found-columns", placeholder=none)
    if not chosen:
        return
    given: dict[str, Any] = {}
    for name in chosen:
        given.setdefault(PARTS[_kind(name)], []).append(name)
    if "lists" in given:
        given["delta"] = text_of(table.meter().delta_reserve / 10)
    _find_again(table, given)
    try:
        _priced(table, given, len(chosen))
    except dp.AllowanceError as complaint:
        hint(say("data.buy.no_delta") if complaint.code == "delta.range" else str(complaint))


def _kind(name: str) -> str:
    """Draw the choice of the kind of contents that the person expects of a column, and return it. A guess from the name
    is preselected."""
    idea = presets.suggest(name).kind
    usual = idea if idea in KINDS else "list"
    left, right = st.columns([2, 3], vertical_alignment="center")
    left.html(f"<p><b>{escape(name)}</b></p>")
    label, key = say("data.found.kind", column=name), f"found-kind-{name}"
    more: Any = {"format_func": lambda kind: say(f"data.found.kind.{kind}"), "label_visibility": "collapsed"}
    return str(right.segmented_control(label, KINDS, default=usual, key=key, required=True, **more) or usual)


def _find_again(table: dp.Table, given: dict[str, Any]) -> None:
    """Draw a button that shows an earlier purchase again, free, if it covers all these columns."""
    wanted = {(part, name) for part in PARTS.values() for name in given.get(part, [])}
    for bought in table.drafted():
        asked = bought.query.parameters()
        if wanted <= {(part, name) for part in PARTS.values() for name in asked.get(part, [])}:
            paragraph(say("ask.paid"))
            st.button(say("ask.again_free"), key="found-again", on_click=job.revisit, args=(table, bought))
            return


def _priced(table: dp.Table, given: dict[str, Any], columns: int) -> None:
    asked = table.query("find_declarations", epsilon="1", **given, noise="")
    left = table.meter().unused
    opens = table.opening(asked)
    if opens is None:
        hint(say("data.found.nothing_fits"))
        return
    asked = asked.with_noise(opens.asked.noise)
    bought = {share: found for share in SHARES if share <= left and (found := table.at_share(asked, share))}
    usual = percent(opens.share)
    options = {percent(share): found for share, found in sorted({**bought, opens.share: opens.asked}.items())}
    options[usual] = opens.asked  # of two with the same label, the usual one
    picked = st.select_slider(say("data.found.spend"), list(options), usual, key=f"found-spend-{columns}")
    query: Any = options[picked]
    paragraph(query.worth(), "")
    price = table.preview(query)
    if not price.useful:
        hint(say("data.found.rough", people=table.facts.about))
    label = say("data.found.button", columns=columns, share=prices.takes(table, price.share))
    job.ask_button(label, table, query, "buy-found", disabled=not price.admissible)


def then_found(table: dp.Table, answer: dp.Answer) -> None:
    """Draw a button that uses what was found as declarations."""
    query: Any = answer.query
    drafts: list[Drafted] = query.drafts(answer.value, answer.interval)
    usable = [draft for draft in drafts if draft.usable]
    if not usable:
        paragraph(say("data.found.nothing"))
        return
    paragraph(say("data.found.use_means"))
    if unused := [draft.column for draft in drafts if not draft.usable]:
        paragraph(say("data.found.unused", columns=unused))
    st.button(say("data.found.use"), key="found-use", type="primary", on_click=change.use, args=(table, usable))


def unknown_columns(table: dp.Table, first: Sequence[str] = ()) -> None:
    """Draw the offer to buy unknown ranges and lists, all together. Those in `first` are preselected, except a column
    that identifies people by its name: its values must not become a list."""
    numbers = sure_id_column(table.facts.header)
    with st.container(key="card-buy"):
        offer_found(table, [name for name in first if name != numbers])
        if first:
            scroll.bring(f"find-{table.name}")


def then_bought(table: dp.Table, answer: dp.Answer) -> None:
    """Draw what an answer bought here means, and a button that uses it."""
    query = answer.query
    if query.declares:
        if answer.receipt["table"] == table.name and not table.practice and not table.closed:
            then_found(table, answer)
    elif verdict := query.verdict(answer.interval):
        paragraph(say(f"data.fit.{verdict}"), "lead")


# --- a check whether the cells fit the declarations, of all columns together, and its result

CHECK_STEPS = (ROUGH, 10, 20, 50)  # a check is right within one person in this many
MOST_NAMED = 12  # columns in a line


def show_check(table: dp.Table, exact: bool) -> None:
    """Draw the result for every checked column, and an offer to check the others; with `exact`, also those checked
    roughly."""
    fits = _fits(table)
    unchecked = [fit.column for fit in fits if not fit.checked]
    with st.container(key="card-fit"):
        lead = p(say("data.fit.all_lead"), "muted") if unchecked else ""
        came = bool(st.query_params.get("check")) and not st.query_params.get("answer")
        arrived_head(say("data.fit.all_title"), lead, f"check-{table.name}" if came else "")
        check_words(table, fits)
        if exact:
            stronger_check(table)
        if unchecked and len(unchecked) < len(fits):
            paragraph(say("data.fit.unchecked", columns=first_names(unchecked, MOST_NAMED)), "")
        if unchecked:
            _offer_check(table, unchecked)


def _fits(table: dp.Table) -> list[ColumnFit]:
    return answer_notes.fits_of_table(table.name).all_of(table.schema.columns.items())


def unfit(table: dp.Table, in_part: bool = False) -> bool:
    """Does a paid check doubt some column, or leave it unsure? With `in_part`, also if a column fits only in part."""
    return any(fit.doubted or fit.state == UNSURE or (in_part and fit.in_part) for fit in _fits(table))


def sure(table: dp.Table) -> bool:
    """Has a paid check found that every column fits, and not only roughly?"""
    return all(fit.checked and fit.fits and not fit.rough for fit in _fits(table))


def check_result(table: dp.Table, checked: dp.Answer) -> None:
    """Draw the result of a check in a sentence or two."""
    notes = list[str]()
    if sure(table):
        most = max(0, *(high for _, high in checked.interval.values()))
        notes.append(p(say("data.fit.passed", most=most, chance=chance(checked.query.beta)), "lead"))
    if (far := answer_notes.far_off(table)) is not None:
        notes.append(f'<p class="warn">{escape(far.note("card"))} {answer_notes.people_way(table.name)}</p>')
    st.html(f'<p class="headline long arrived" tabindex="-1">{escape(headline(checked))}</p>{"".join(notes)}')
    scroll.arrived(checked.request_id)


def whole_check(checked: dp.Answer) -> None:
    """Draw all details of a check, folded."""
    with st.expander(say("data.fit.passed_more")):
        st.html(f"<p>{escape(range_words(checked))}</p>{answer_notes.fit_notes(checked, linked=True)}{_bars(checked)}")
        answer.picture(checked, "answer")
        answer.receipt(checked, "answer")


def _bars(checked: dp.Answer) -> str:
    """HTML with every count of the check, as the noise made it."""
    query: Any = checked.query
    cells = zip(query.number_names(), checked.raw or (), strict=False)
    rows = "".join(
        f'<tr><td>{escape(column)}</td><td>{escape(kind)}</td><td class="number">{plain(count)}</td></tr>'
        for (column, kind), count in cells
    )
    return f'<div class="scroll" tabindex="0"><table class="plain figures">{rows}</table></div>'


def _usual(table: dp.Table, columns: Sequence[str], some: bool = False) -> dp.Query | None:
    """The check of these columns that a question would buy first; None if few people make such a check expensive. If
    these are only `some` of the unchecked columns, the check is as exact as is cheap."""
    if not columns or table.practice:
        return None
    return usual_check(table, columns, CHEAP, ROUGH) if some else check_for(table, columns)


def check_people(table: dp.Table) -> None:
    """Draw a field that corrects a declared number of people, if a paid answer implies a very different number or the
    visitor came for the field. A counted number cannot be corrected."""
    implied, came = answer_notes.far_off(table), bool(st.query_params.get("people"))
    if table.practice or table.closed or table.facts.people is not None or (implied is None and not came):
        return
    with st.container(key="card-people"):
        doubt = (
            f'<p class="warn" role="status"><b>{escape(implied.note("card"))}</b></p>' if implied is not None else ""
        )
        below = doubt + p(say("data.people.means"), "muted")
        arrived_head(say("data.people.title"), below, f"people-{table.name}" if came else "")
        now = table.facts.about if implied is None else implied.about
        key = f"people-{table.name}-{table.facts.about}"
        st.number_input(say("data.people.field"), min_value=1, value=now, key=key, width=220)
        st.button(say("data.people.button"), key="people-correct", on_click=_correct, args=(table, key))


def _correct(table: dp.Table, key: str) -> None:
    attempt(table.correct_people, int(st.session_state[key]))


def check_words(table: dp.Table, fits: Sequence[ColumnFit]) -> None:
    """Draw the columns that do not fit, each with the likely mistake and a button to correct it; then those that
    fit."""
    for fit in fits:
        if fit.doubted or fit.in_part or fit.state == UNSURE:
            guess = "" if fit.state == UNSURE else slip(table.schema[fit.column])
            st.html(f'<p class="warn" role="status"><b>{escape(fit.words())}</b> {escape(guess)}</p>')
            note = say("data.fit.again_help") if isinstance(table.schema[fit.column], dp.Number) else None
            label, key = say("data.fit.again", column=fit.column), f"fit-again-{fit.column}"
            st.button(label, key=key, help=note, on_click=change.again, args=(table, fit.column))
    for code, rough in (("data.fit.good", False), ("data.fit.good_rough", True)):
        if good := [fit.column for fit in fits if fit.checked and fit.fits and fit.rough == rough]:
            paragraph(say(code, columns=first_names(good, MOST_NAMED)), "")


def stronger_check(table: dp.Table) -> bool:
    """Draw the offer of a more exact check of columns with a rough or unsure result, with its price. True if there is
    one."""
    names = _named([fit.column for fit in _fits(table) if fit.rough or fit.state == UNSURE])
    finer = table.finer_check(names[:MOST_COLUMNS]) if names and not table.practice else None
    if finer is None:
        return False
    price = table.preview(finer)
    label = say("data.fit.stronger_button", share=prices.takes(table, price.share))
    with st.container(horizontal=True, vertical_alignment="center", key="fit-stronger"):
        paragraph(say("data.fit.stronger", alpha=finer.promise().amount, columns=first_names(names, MOST_NAMED)), "")
        again = spend.dear(price) or bool(table.recall(finer))
        job.ask_button(label, table, finer, "fit-again-exact", kind=job.SECONDARY, again=again)
    return True


def _named(columns: list[str]) -> list[str]:
    """The columns that the link to a finer check names; all of them, if it names none."""
    try:
        named = json.loads(st.query_params.get("check", ""))
    except ValueError:
        named = None
    return [column for column in columns if isinstance(named, list) and column in named] or columns


def _offer_check(table: dp.Table, unchecked: list[str]) -> None:
    """Draw the offer of the check that a question would buy, at the same price; other checks under *more*."""
    above = st.container()
    with details(say("data.fit.more"), "fit-more") as drawn:
        names = all_of_them = unchecked[:MOST_COLUMNS]
        if drawn:
            key, most = f"fit-which-{len(unchecked)}", MOST_COLUMNS
            names = st.multiselect(say("data.fit.which"), unchecked, all_of_them, key=key, max_selections=most)
            names = names or all_of_them
        usual = _usual(table, names, some={*names} != {*all_of_them})
        asked = table.query("fit_checks", epsilon="1", columns=names, noise="")
        checks = [*(table.least_priced(asked, Fraction(asked.most, step)) for step in CHECK_STEPS), usual]
        options = {_within(check): check for check in checks if check is not None}  # of two alike, the usual one
        options = dict(sorted(options.items(), key=lambda option: option[1].promise().amount, reverse=True))
        query = usual or next(iter(options.values()), None)
        if drawn and query is not None and len(options) > 1:
            label, start = say("data.fit.exact"), _within(query)
            key = f"fit-exact-{start}-{'-'.join(options)}"  # other options need another key, or Streamlit warns
            query = options[st.select_slider(label, list(options), start, key=key)]
    with above:
        if query is None or (usual is None and query == next(iter(options.values()))):
            hint(say("data.fit.few_people", people=table.facts.about, columns=len(names)))
        if query is not None:
            paragraph(say("data.fit.all_worth", alpha=query.promise().amount, chance=chance(query.beta)), "")
            takes = prices.takes(table, table.preview(query).share)
            label = say("data.fit.all_button", columns=len(names), share=takes)
            job.ask_button(label, table, query, "buy-fit", kind="primary" if usual else "secondary")


def _within(query: Any) -> str:
    return say("data.fit.exact_step", share=percent(query.promise().amount / query.most))


# --- first questions about a table just added or checked, one click each
#
# A click first buys the check of the question's columns, as everywhere (`dpengine/asking/checking.py`).

AT_ONCE = 3  # kinds of questions
MOST_ALIKE = 3  # further columns of each
YEAR = "year"  # nobody asks for its average first


@dataclass(frozen=True)
class Offer:
    """A question that one click asks, and its preview with the price of the check before it."""

    query: dp.Query
    seen: dp.Preview


def show_first_questions(table: dp.Table, boxed: bool = False) -> bool:
    """Draw offers after a table was added: a first look at all columns, some questions, the check alone, and links to
    questions about other columns. If `boxed`, first the question box: true if a typed question stands in their
    place."""
    asking = may("ask", table.name)
    look: Any = tables.usual_first_look(table)
    price = None if look is None else table.preview(look, checked=True)
    with st.container(key="card-first"):
        if boxed and asking and box.ask_here(table, change.kinds):
            return True
        check = _usual(table, [fit.column for fit in _fits(table) if not fit.checked]) if asking else None
        asked = _at_once(table) if asking else []
        brings = next((offer.seen for alike in asked for offer in alike if offer.seen.check is not None), None)
        if brings is not None and brings.check is not None:
            paragraph(fit_warnings.check_words(table, brings), "")
        elif check is not None:
            with st.container(horizontal=True, vertical_alignment="center", key="done-check"):
                st.html(f"<p><b>{escape(say('data.fit.first'))}</b></p>")
                _check_button(table, check, job.PRIMARY)
        for place, (usual, *_) in enumerate(asked):
            with st.container(key=f"done-ask-{place}"):
                _question(table, usual, place)
        looks = look is not None and price is not None and price.useful and price.admissible
        if look is not None and price is not None and looks:
            each = table.facts.unit.at_most
            facts = {"columns": len(look.parameters()["columns"]), "reach": plain(price.promise.amount)}
            facts |= {"people": table.facts.about, "each": each, "chance": chance(look.beta)}
            promise = say("data.done.look_means" if each == 1 else "data.done.look_rows", **facts)
            label, again = say("board_page.button", share=prices.takes(table, price.share)), bool(table.recall(look))
            kind = job.SECONDARY if asked or check is not None else job.PRIMARY
            with st.container(horizontal=True, vertical_alignment="center", key="done-all"):
                paragraph(promise, "")
                job.ask_button(label, table, look, "done-look", kind=kind, url_name="look", again=again)
        with st.container(key="done-on" if asked or check is not None else "declare-done-first", horizontal=True):
            if not (looks or boxed):
                st.page_link(nav.page("ask"), label=say("data.done.ask"), query_params={"table": table.name})
            if check is not None and brings is not None:
                _check_button(table, check, job.SECONDARY)
        offered = {offer.query.answer_column for alike in asked for offer in alike}
        ways = [way for name in table.schema.columns if name not in offered and (way := first_way(table, name, name))]
        alike = [(place, others) for place, (_, *others) in enumerate(asked) if others]
        if ways or alike:
            with details(say("data.done.others"), "done-others", expanded=not asked) as opened:
                if not opened:
                    return False
                for place, others in alike:
                    paragraph(asked[place][0].query.card.title, "at-once")
                    _alike(table, others, place)
                if ways:
                    lead = f"<span>{escape(say('data.done.or_ask'))}</span>"
                    st.html(f'<p class="columns-on">{lead} {" ".join(ways)}</p>')
    return False


def _check_button(table: dp.Table, check: dp.Query, kind: Any) -> None:
    """Draw a button that buys the check by itself."""
    takes = prices.takes(table, table.preview(check).share)
    label = say("data.fit.all_button", columns=len(check.parameters()["columns"]), share=takes)
    job.ask_button(label, table, check, "done-fit", kind=kind)


def _at_once(table: dp.Table) -> list[list[Offer]]:
    """Questions at the price with which Ask opens, grouped by kind; none about a column that a check doubts."""
    found: dict[type[dp.Query], list[Offer]] = {}
    for name in sorted(table.schema.columns, key=lambda column: presets.suggest(column).preset == YEAR):
        query = _asked_first(table, name)
        if query is None or (len(found) == AT_ONCE and type(query) not in found) or table.doubts(query) is not None:
            continue
        if len(alike := found.get(type(query), [])) > MOST_ALIKE:
            continue
        opens = table.opening(query)
        if opens is None or opens.dear:
            continue
        seen = table.preview(opens.asked, checked=True)
        if seen.useful and seen.admissible:
            found[type(query)] = [*alike, Offer(opens.asked, seen)]
    return list(found.values())


def _alike(table: dp.Table, others: Sequence[Offer], place: int) -> None:
    """Draw buttons that ask the same question about other columns, each with its error and price."""
    with st.container(horizontal=True, vertical_alignment="center", key=f"done-alike-{place}"):
        paragraph(say("data.done.alike"), width="content")
        for at, offer in enumerate(others):
            asked: Any = offer.query
            takes = prices.takes(table, offer.seen.share)
            ends = offer.seen.promise.ends(asked)
            error = offer.seen.promise.short(asked) if ends is None else f"±{ends[1].removeprefix('+')}"
            label = say("data.done.alike_one", column=asked.column, within=error, share=takes)
            _asks(table, offer, unmarked(label), f"done-alike-{place}-{at}")


def _question(table: dp.Table, offer: Offer, place: int | str) -> None:
    with st.container(horizontal=True, vertical_alignment="center", key=f"done-first-{place}"):
        text = f"{escape(offer.query.sentence())}<span>{DOT}{escape(offer.seen.promise.short(offer.query))}</span>"
        st.html(f'<p class="at-once">{text}</p>')
        label = say("ask.button", share=prices.takes(table, offer.seen.share))
        _asks(table, offer, label, f"done-question-{place}", job.SECONDARY if place else job.PRIMARY)


def _asks(table: dp.Table, offer: Offer, label: str, key: str, kind: Any = job.SECONDARY) -> None:
    again = bool(table.recall(offer.query))
    job.ask_button(label, table, offer.query, key, kind=kind, url_name=box.ASKED, again=again)


def first_way(table: dp.Table, name: str, label: str = "") -> str:
    """HTML with a link to the first question about a column, filled in; empty if there is none."""
    query = _asked_first(table, name)
    if query is None:
        return ""
    label = label or say("data.done.way", question=query.card.noun)
    return f" {link(nav.address('ask', **preview.unpriced(table, query)), label, 'way')}"


def _asked_first(table: dp.Table, name: str) -> dp.Query | None:
    offered = (table.suggested(key, **given) for key, given in first_asked(name, table.schema))
    return next((query for query in offered if query is not None), None)
