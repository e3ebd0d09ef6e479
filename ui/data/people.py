"""The people behind the rows: how many rows a person has, whether membership is secret, which tables share people, and
how large the allowance is. Also the correction of a table that was added with too few rows per person.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import replace
from fractions import Fraction
from html import escape
from typing import Any

import streamlit as st

import dpengine as dp
from dpengine.accountant.filter import usual_delta
from dpengine.core.exact import text_of
from dpengine.core.printed import percent_left, power_of_ten
from dpengine.declared.id_names import numbering_people
from dpengine.declared.unit import MOST_ROWS_EACH, read_relation
from dpengine.messages import plain, say
from dpengine.messages.numbers import local
from ui.ask import preview
from ui.data import draft as drafts
from ui.data import presets, price, reuse
from ui.data import source as sources
from ui.data.draft import CARE, Draft
from ui.data.price import MOST_GOOD
from ui.data.wizard import (
    PATIENCE,
    Task,
    begin,
    complain,
    heading,
    kept,
    onwards,
    problem,
    reconsider,
    start_over,
    waiting,
)
from ui.parts import fields, tables
from ui.shell import frame, nav, scroll
from ui.shell.frame import hint, paragraph
from ui.shell.incoming import here
from ui.shell.language import address
from ui.shell.state import choose_table, may, names_in_view, open_table, workspace
from ui.words import gloss
from ui.words.markup import paragraphs, unmarked

# --- correct the rows per person of an added table
#
# The page shows what will be left of the allowance, from the ledger alone. Protection never decreases.

WHO = "protect"  # in the address: the column that identifies people
OTHERWISE = "budget.other_terms"  # refusal of a file that is here already under other terms
OFFERED = "protect.offered"  # refusal of a file that is here already; this correction solves it
_KEY, _DONE = "protections", "protect-done"
MOST_PEOPLE = 10**10


def show_protection(table: dp.Table) -> None:
    """Draw on a table's page how to protect a person instead of a row, or more rows of a person. Nothing for people who
    may not do that."""
    unit, name = table.facts.unit, table.name
    if table.practice or table.closed or unit.person or not may("protect", name) or _under_way(name):
        return
    refused = _tasks().get(name)
    title = say("data.protect.title" if unit.id_column is None else "data.protect.title_more", each=unit.at_most)
    came = st.query_params.get(WHO, "")  # for this column, which has repeated ids
    if came not in (table.facts.header if unit.id_column is None else (unit.id_column,)):
        came = ""
    with fields.details(title, f"protect-{name}", refused is not None or bool(came)) as drawn:
        if not drawn:
            return
        lead = "data.protect.lead" if unit.id_column is None else "data.protect.lead_more"
        mark = ' arrived" tabindex="-1' if came else ""
        st.html(f'<p class="read{mark}">{gloss.text(say(lead, each=unit.at_most, column=unit.id_column or ""))}</p>')
        if came:
            scroll.bring(f"protect-{name}-{came}")
        column = unit.id_column
        if column is None:
            header = list(table.facts.header)
            likely = came or presets.sure_id_column(header)
            place = header.index(likely) if likely in header else None
            words: Any = {"placeholder": say("data.unit.who_none"), "help": say("data.unit.who_help")}
            column = st.selectbox(say("data.unit.who"), header, place, key=f"protect-who-{name}", width=420, **words)
        words = {"placeholder": say("data.unit.each_none"), "help": say("data.protect.each_help")}
        label, key = say("data.protect.each"), f"protect-each-{name}"
        each = fields.whole_number(label, MOST_ROWS_EACH, key, unit.at_most + 1, width=420, **words)
        people = None
        if table.facts.people is None and unit.id_column is None:  # nobody counts them
            label, key = say("data.relation.about"), f"protect-people-{name}"
            people = fields.whole_number(label, MOST_PEOPLE, key, help=say("data.relation.about_help"), width=420)
        if column is not None and each is not None:
            _price(table, dp.Unit.column(column, each), people, name)
        elif refused is not None and refused.error is not None:
            problem(str(refused.error))


def protection_offered(draft: Draft) -> str:
    """The name of the table that already holds a refused file, with less protection. Empty if the file was refused for
    another reason, or if the person went back to one row each, as that table is declared."""
    complaint = draft.complaint
    if not isinstance(complaint, dp.AllowanceError) or complaint.code != OFFERED:
        return ""
    if draft.many == "one":
        draft.complaint = None
        return ""
    return str(complaint.facts["table"])


def offer_protection(draft: Draft, name: str) -> None:
    """Draw the offer to protect more in the table that already holds a refused file."""
    try:
        table, unit = open_table(name), drafts.unit(draft)
    except dp.AllowanceError as refusal:
        problem(str(refusal))
        return
    if _under_way(name):
        return
    with st.container(key="card-protect"):
        title = say("data.protect.offer", table=name, rows=_rows_words(table.facts.unit))
        st.html(f'<h2 class="ask-second" tabindex="-1">{escape(title)}</h2>')
        paragraph(say("data.protect.offer_lead", table=name), "read")
        _price(table, unit, draft.about, name)


def _rows_words(unit: dp.Unit) -> str:
    return say("data.so_far.one") if unit.id_column is None else say("data.so_far.more", each=unit.at_most)


def _price(table: dp.Table, unit: dp.Unit, people: int | None, name: str) -> None:
    """Draw what will be left of the allowance after the correction, what the person vouches for, and the button; or why
    the correction is refused."""
    try:
        seen = table.protection_preview(unit)
    except dp.AllowanceError as refusal:
        problem(str(refusal))
        return
    if not seen.fits:
        cap = table.meter().epsilon
        problem(say("protect.never") if seen.needs is None else say("protect.exceeded", needs=seen.needs, cap=cap))
        return
    now, then = percent_left(seen.left_now), percent_left(seen.left_then)
    st.html(f'<p role="status"><b>{escape(say("data.protect.left", now=now, then=then))}</b></p>')
    st.html(f'<p class="muted">{gloss.text(say("data.protect.what", each=unit.at_most))}</p>')
    task = _tasks().get(name)
    if task is not None and task.error is not None:
        problem(str(task.error))
    label, given = say("data.protect.do", each=unit.at_most), (name, unit, people)
    st.button(label, key=f"protect-do-{name}", type="primary", on_click=_begin, args=given)


def _tasks() -> dict[str, Task]:
    held: dict[str, Task] = st.session_state.setdefault(_KEY, {})
    return held


def _begin(name: str, unit: dp.Unit, people: int | None) -> None:
    table = open_table(name)
    task = Task("protect", lambda tell: table.protect(unit, people), stoppable=False)
    _tasks()[name] = task
    task.wait(PATIENCE)


def _under_way(name: str) -> bool:
    """Is a correction of this table running? Once a correction has succeeded, this opens the table's page."""
    task = _tasks().get(name)
    if task is None:
        return False
    if not task.over:
        waiting(task)
        return True
    if task.error is not None:
        return False
    del _tasks()[name]
    st.session_state[_DONE] = name
    if st.query_params.get("table") != name:  # the same file was being added again
        start_over()
    preview.come_back(name)
    choose_table(name)
    address({"table": name})
    st.rerun()


def protection_result(table: dp.Table) -> None:
    """Confirm once that a correction was made."""
    if st.session_state.get(_DONE) == table.name:
        del st.session_state[_DONE]
        left = percent_left(table.meter().unused)
        frame.show_success(say("data.protect.done", each=table.facts.unit.at_most, left=left), bring=True)


# --- can a person have several rows, and is membership secret?

FEW_NAMES = 4  # that fit beside one another
USUAL_EACH = [3, 5, 10, 1]  # rows of one person, each one click away


def rows(draft: Draft) -> None:
    heading("data.unit")
    _as_before(draft)
    reuse.offer(draft, above=True)
    with st.container(key="card-unit"):
        draft.many = _choose("unit", ["one", "more"], draft.many, ["", say("data.unit.more_means")])
        if draft.many == "one" and (numbers := numbering_people(draft.names)):
            asked = unmarked(say("data.unit.one_each", column=numbers[0]))
            draft.each_own = st.checkbox(asked, key=kept("declare-each-own", draft.each_own))
        elif draft.many == "one" and (whose := _whose(draft)):  # whoever names it says so
            paragraph(say("data.unit.one_named", column=whose[0]), "price")
        elif draft.many == "one" and (likely := presets.id_columns(draft.names) or presets.event_columns(draft.names)):
            code = "data.unit.one_sure" if presets.id_columns(draft.names) else "data.unit.one_coming"
            hint(say(code, column=likely[0]))
        if draft.many == "more":
            _likely(draft)
            label = say("data.unit.who_other" if _offers(draft) else "data.unit.who")
            words: Any = {
                "placeholder": say("data.unit.who_none"),
                "help": f"{say('data.unit.who_help')} {say('data.unit.who_same')}",
            }
            if _offers(draft):  # the field stands below the likely ones and asks the same
                words |= {"label_visibility": "collapsed", "placeholder": label}
            follow = _follow("declare-who-likely", "declare-who", presets.id_columns(draft.names))
            key = kept("declare-who", draft.who)
            draft.who = st.selectbox(label, draft.names, index=None, key=key, width=420, **words, **follow)
            sources.offer_second(draft)
            _usual_each(draft)
            label, key, none = say("data.unit.each_typed"), kept("declare-each", draft.each), say("data.unit.each_none")
            follow = _follow("declare-each-usual", "declare-each", USUAL_EACH)
            draft.each = fields.whole_number(label, MOST_ROWS_EACH, key, placeholder=none, width=420, **follow)
            if draft.each is not None:
                hint(say("data.unit.each_cut", each=draft.each))
    secret(draft)
    reuse.offer(draft, above=False)
    reconsider(draft, lambda: _check_people(draft), "unit.", "data.relation.", "facts.")
    offered = protection_offered(draft)
    if offered:
        offer_protection(draft, offered)
    elif not sources.second_refused(draft) and not _known_otherwise(draft):
        complain(draft, "\n".join(map(str, drafts.all_unanswered(draft))))
    if onwards(draft, lambda: _check_people(draft), first=not offered):
        draft.forth()
        st.rerun()


def _whose(draft: Draft) -> list[str]:
    """Draw the question which of the columns with unclear names tells people apart, and return that column in a list: a
    check will count its different values. Empty without such a column."""
    if not (names := presets.unclear(draft.names)):
        return []
    label, key = say("data.unit.whose"), kept("declare-whose", draft.whose)
    none = say("data.unit.whose_none")
    if len(names) <= FEW_NAMES:  # whose labels are read as Markdown
        words: Any = {"format_func": lambda name: unmarked(name) or none, "horizontal": True}
        draft.whose = st.radio(label, ["", *names], None, key=key, **words)
    else:  # most are one tap away; the field below asks the same of the others
        likely = [name for name in names if presets.numbers_a_record(name) or name == draft.names[0]]
        pill = kept("declare-whose-likely", draft.whose if draft.whose in [*likely, ""] else None)
        take: dict[str, Any] = {"on_change": _takes, "args": (pill, "declare-whose")}
        tapped = st.pills(label, [*likely, ""], key=pill, format_func=lambda name: unmarked(name) or none, **take)
        if tapped is not None:
            draft.whose = tapped
            return [tapped] if tapped else []
        more: dict[str, Any] = {"label_visibility": "collapsed", "placeholder": say("data.unit.who_other")}
        more |= _follow("declare-whose-likely", "declare-whose", [*likely, ""]) | {"key": key, "width": 420}
        draft.whose = st.selectbox(label, ["", *names], None, lambda name: name or none, **more)
    return [draft.whose] if draft.whose else []


def _as_before(draft: Draft) -> None:
    """Draw how a table with the same column names was declared: the same rows keep its terms, and other terms are
    refused at the very end. The page never says earlier whether the rows are the same: an uploaded file would be a
    guess at the rows, and the page would confirm it."""
    if (earlier := next(iter(tables.with_header(draft.names)), None)) is not None:
        paragraph(say("data.unit.before", table=earlier.name, rows=_rows_words(dp.Unit.from_json(earlier.unit))))


def _known_otherwise(draft: Draft) -> bool:
    """Draw why a file that is here already was refused: what was declared of the table with the same columns, and a
    link to it. False if the complaint is another, or no table has these columns."""
    alike = tables.with_header(draft.names)
    if not isinstance(draft.complaint, dp.AllowanceError) or draft.complaint.code != OTHERWISE or not alike:
        return False
    given: Any = None  # the answers were changed and are not complete now
    with suppress(dp.AllowanceError):
        given = drafts.unit(draft).as_json(), draft.relation
    earlier = next((one for one in alike if (one.unit, one.relation) != given), None)
    if earlier is None:  # answered as then, meanwhile
        draft.complaint = None
        return True
    unit = dp.Unit.from_json(earlier.unit)
    terms = [_rows_words(unit), say(f"data.unit.known_{earlier.relation}")]
    if unit.id_column is not None:
        terms.insert(1, say("data.unit.known_column", column=unit.id_column))
    complain(draft, say("data.unit.known", table=earlier.name, terms=", ".join(terms)))
    label = unmarked(say("data.unit.known_open", table=earlier.name))
    st.page_link(nav.page("data"), label=label, query_params={"table": earlier.name})
    return True


def _likely(draft: Draft) -> None:
    """Draw the columns that may identify people by their names. If one name says so clearly, it is filled in as a guess
    instead."""
    found = presets.id_columns(draft.names)
    if draft.who is None and "declare-who" not in st.session_state:
        draft.who = presets.sure_id_column(draft.names)
    if found and _offers(draft):
        key = kept("declare-who-likely", draft.who if draft.who in found else None)
        take: dict[str, Any] = {"on_change": _takes, "args": (key, "declare-who")}
        st.pills(say("data.unit.who"), found, key=key, format_func=unmarked, help=say("data.unit.who_help"), **take)


def _offers(draft: Draft) -> bool:
    """Are there columns that may identify people, and none whose name says so clearly? A clear one is in the field
    already."""
    return bool(presets.id_columns(draft.names)) and presets.sure_id_column(draft.names) is None


def _usual_each(draft: Draft) -> None:
    """Draw usual numbers of rows per person; none is chosen at first."""
    key = kept("declare-each-usual", draft.each if draft.each in USUAL_EACH else None)
    captions = [say("data.unit.each_drops_one") if each == 1 else "" for each in USUAL_EACH]  # more are told below
    note = f"{say('data.unit.each_help')} {say('data.unit.per_person')}"
    more: dict[str, Any] = {"on_change": _takes, "args": (key, "declare-each"), "help": note}
    st.radio(say("data.unit.each"), USUAL_EACH, None, plain, key=key, captions=captions, **more)


def _takes(clicked: str, field: str) -> None:
    st.session_state[field] = st.session_state[clicked]


def _follow(usual: str, field: str, options: Sequence[Any]) -> dict[str, Any]:
    """Options for the widget `field`: when its value changes, the widget `usual` marks that value if it is one of
    `options`."""

    def mark() -> None:
        now = st.session_state[field]
        st.session_state[usual] = now if now in options else None

    return {"on_change": mark}


def _choose(about: str, options: list[str], now: str | None, captions: Sequence[str], code: str = "") -> str | None:
    """Draw radio buttons with explanations, none chosen at first; return the choice. `code` begins their message
    keys."""
    code = code or f"data.{about}"
    words = {option: say(f"{code}.{option}_label") for option in options}
    more: dict[str, Any] = {"key": kept(f"declare-{about}", now), "label_visibility": "collapsed"}
    return st.radio(say(f"{code}.title"), options, None, words.__getitem__, captions=captions, **more)


def _check_people(draft: Draft) -> None:
    drafts.unit(draft)
    if draft.second is not None and draft.many == "more":
        sources.joined(draft)
    drafts.relation(draft)


def secret(draft: Draft) -> None:
    st.html(f'<h2 class="ask-second">{escape(say("data.relation.title"))}</h2>')
    options = ["replace", "add_remove"]
    with st.container(key="card-relation"):
        captions = [say(f"data.relation.{option}_means") for option in options]
        draft.relation = _choose("relation", options, draft.relation, captions)
        if draft.relation == "add_remove":
            about(draft)


def about(draft: Draft) -> None:
    """Draw the field for the number of people that the owner states. If membership is no secret, the number is optional
    and only prices use it."""
    free = draft.relation == "replace"
    code, key = "data.relation.about_replace" if free else "data.relation.about", kept("declare-about", draft.about)
    words: Any = {"help": say(f"{code}_help"), "placeholder": say("data.relation.about_none") if free else None}
    draft.about = fields.whole_number(say(code), MOST_PEOPLE, key, width=320, **words)


# --- are the same people in another table? Then both share one allowance.


def show_shared(draft: Draft) -> None:
    names = shared_offered(draft)
    if not names:
        draft.shares = ""
        return
    with st.expander(say("data.shared.title"), expanded=bool(draft.shares)):
        paragraph(say("data.shared.lead"))
        key, none = kept("declare-shares", draft.shares if draft.shares in names else ""), say("data.shared.none")
        picked = st.selectbox(say("data.shared.label"), ["", *names], 0, lambda name: name or none, key=key)
        draft.shares = picked or ""
        if draft.shares:
            left = percent_left(workspace().table(draft.shares).meter().unused)
            paragraph(say("data.shared.chosen", table=draft.shares, left=left), "price", role="status")


def shared_offered(draft: Draft) -> list[str]:
    """The names of open tables with the same relation and the same unit: only then does one ε mean the same for both
    tables."""
    names, unit = [], drafts.unit(draft).as_json()
    for name, _ in workspace().names():
        try:
            table = workspace().table(name)
        except dp.AllowanceError:  # this person may not use it
            continue
        facts = table.facts
        if not table.closed and facts.relation == draft.relation and facts.unit.may_share(unit):
            names.append(name)
    return names


# --- how careful to be; then the table is added

PRIOR = 10  # percent: a suspicion before any answer
USUAL, CAREFUL = "usual", "careful"  # suggested; careful if membership is secret
ENOUGH = 10  # good answers: with fewer, the page warns


def budget(draft: Draft) -> None:
    heading("data.care")
    suggest(draft)
    free = draft.relation == "replace"  # otherwise the screen before requires it
    with st.container(key="card-care"):
        if free and "declare-about" in st.session_state:  # its field is drawn below
            draft.about = st.session_state["declare-about"] or None
        many = {care: _many(dp.Budget(epsilon, draft.usual_delta), draft) for care, epsilon in CARE.items()}
        captions = [say(f"data.care.{care}_means", many=answers) for care, answers in many.items()]
        draft.care = _choose("care", list(CARE), draft.care, captions)
        _trade(draft)
        _scarce(draft)
        with st.expander(say("data.care.odds_title")):
            _explained(draft)
        title = say("data.care.about_title" if free else "data.care.more")
        with st.expander(title, expanded=bool(draft.epsilon or draft.delta)):
            if free:
                about(draft)
                paragraph(say("data.care.about_means"))
            paragraph(say("data.care.more_lead"))
            left, right = st.columns(2)
            label, none = say("data.care.epsilon"), local(CARE.get(draft.care or "", "1"))
            draft.epsilon = fields.kept_number(label, draft.epsilon, "declare-epsilon", left, placeholder=none)
            usual = draft.usual_delta
            words = {
                "placeholder": local(text_of(usual)),
                "help": say("data.care.delta_help", delta=power_of_ten(usual), people=draft.people),
            }
            draft.delta = fields.kept_number(say("data.care.delta"), draft.delta, "declare-delta", right, **words)
        refused = _typed(draft)
        show_shared(draft)
    _sampled(draft)
    with st.container(key="card-name"):
        draft.name = draft.name or drafts.table_name(draft.file, names_in_view())
        key = kept("declare-name", draft.name)
        draft.name = st.text_input(say("data.name.label"), key=key, max_chars=80, help=say("data.name.help"))
        if taken := drafts.taken_name(draft, names_in_view()):
            paragraph(say("data.name.taken", taken=taken, name=draft.name), "price")

        def check() -> None:
            drafts.budget(draft)
            if draft.name.strip() in names_in_view():
                raise dp.AllowanceError("table.exists", name=draft.name.strip())

        reconsider(draft, check, "data.care.", "budget.", "number.", "table.exists")
        if not refused:
            complain(draft)
        if isinstance(draft.complaint, dp.AllowanceError) and draft.complaint.code == "joined.adds_up":
            draft.add_up = st.checkbox(say("data.join.add_up"), key=kept("declare-add-up", draft.add_up))
    if onwards(draft, check, "data.add"):
        add(draft)


def _sampled(draft: Draft) -> None:
    """Draw the question whether the people are a random sample. It is asked only where each has one row; without an
    answer nothing is claimed."""
    if draft.many != "one":
        draft.sample = None
        return
    st.html(f'<h2 class="ask-second">{escape(say("sample.ask.title"))}</h2>')
    with st.container(key="card-sample"):
        options = ["everyone", "sample"]
        captions = [say(f"sample.ask.{option}_means") for option in options]
        draft.sample = _choose("sample", options, draft.sample, captions, "sample.ask")


def show_sample(table: dp.Table) -> None:
    """Draw on the table's page, for its owner, the question whether these people are a random sample."""
    if table.practice or table.closed or not table.facts.unit.single or not may("declare_sample", table.name):
        return
    done = st.session_state.pop(f"sample-done-{table.name}", False)
    with fields.details(say("sample.change.title"), f"sample-{table.name}", done) as drawn:
        if not drawn:
            return
        if done:
            frame.show_success(
                say("sample.change.done", what=say("sample.fact.yes" if table.facts.sample else "sample.fact.no"))
            )
        paragraph(say("sample.change.lead"))
        label = say("sample.change.no" if table.facts.sample else "sample.change.yes")
        st.button(label, key="sample-change", on_click=_declare_sample, args=(table.name, not table.facts.sample))


def _declare_sample(name: str, sample: bool) -> None:
    try:
        open_table(name).declare_sample(sample)
        st.session_state[f"sample-done-{name}"] = True
    except dp.AllowanceError:  # closed meanwhile: the page says so
        return


def at_once(draft: Draft) -> str:
    """Fill in a free name and an allowance, and return a sentence with both. Empty if the person must decide first: the
    typed name is taken, or the budget is shared or not valid."""
    suggest(draft)
    name = draft.name = draft.name or drafts.table_name(draft.file, names_in_view())
    try:
        drafts.budget(draft)
    except dp.AllowanceError:
        return ""
    if draft.shares or name in names_in_view():
        return ""
    care = say(f"data.care.{draft.care}") if not (draft.epsilon or draft.delta) else say("data.care.own")
    adds = say("data.cards.adds", name=name, care=care)
    return f"{adds} {say('data.cards.adds_shared')}" if shared_offered(draft) else adds


def suggest(draft: Draft) -> None:
    """Preselect an allowance: “careful” if membership is secret and that allowance holds enough good answers, else the
    usual one."""
    suggested = CAREFUL if draft.relation == "add_remove" and _held(draft, CAREFUL) >= ENOUGH else USUAL
    if draft.care is None or (draft.care == draft.suggested != suggested):
        draft.care = suggested
        if draft.step == "care":  # elsewhere its field is not on the screen
            st.session_state["declare-care"] = suggested
    draft.suggested = suggested


def _good(draft: Draft, allowance: dp.Budget, people: int | None = None) -> int:
    """About how many good answers an allowance holds."""
    known, unit = drafts.likely(draft) or drafts.schema(draft), drafts.unit(draft)
    asked = price.typical(known, read_relation(draft.relation), people or draft.people, unit)
    return price.good_questions(allowance, asked)


def _held(draft: Draft, care: str) -> int:
    return _good(draft, dp.Budget(CARE[care], draft.usual_delta))


def _trade(draft: Draft) -> None:
    """Draw why this allowance is preselected; nothing if the person chose another."""
    if draft.care != draft.suggested or draft.relation != "add_remove":
        return
    why = say("data.care.secret")
    if draft.care == USUAL:
        both = {"care": say("data.care.usual_label"), "tighter": say("data.care.careful_label")}
        why = say("data.care.chosen", **both, few=_held(draft, CAREFUL))
    paragraph(why, "price")


def _many(allowance: dp.Budget, draft: Draft) -> str:
    """A sentence: how many good answers an allowance holds; for several sizes if the number of people is unknown."""
    found = {people: _good(draft, allowance, people) for people in draft.sizes}
    if len(found) > 1:
        sizes = []
        for people, many in found.items():
            code = "data.care.size_most" if many > MOST_GOOD else "data.care.size"
            sizes.append(say(code, many=min(many, MOST_GOOD), people=people))
        return say("data.care.sizes", each=", ".join(sizes))
    ((people, many),) = found.items()
    if many > MOST_GOOD:
        return say("data.care.most", many=MOST_GOOD, people=people)
    code = "data.care.many" if many > 1 else "data.care.one" if many else "data.care.none"
    return say(code, many=many, people=people)


def _scarce(draft: Draft) -> None:
    """Draw a warning with advice if the table will hold few good answers."""
    with suppress(dp.AllowanceError):  # shown below
        advice = scarce(draft, drafts.budget(draft))
        paragraph(say("data.care.usual_people"), "price")
        if advice:
            hint(advice)


def scarce(draft: Draft, given: dp.Budget) -> str:
    """Sentences of advice if the table holds few good answers under the given budget; else empty."""
    if draft.about is None or _good(draft, given) >= ENOUGH:
        return ""
    advice = [say("data.care.scarce")]
    if (each := draft.each if draft.many == "more" else None) is not None:
        advice += _fewer_rows(draft, given, each)
    for care, epsilon in CARE.items():
        if Fraction(epsilon) > given.epsilon:
            many = min(_good(draft, dp.Budget(epsilon, given.delta)), MOST_GOOD)
            advice.append(say("data.care.scarce_looser", care=say(f"data.care.{care}_label"), many=many))
    return " ".join(advice)


def _fewer_rows(draft: Draft, given: dp.Budget, each: int) -> list[str]:
    """A sentence in a list: how many good answers fewer rows per person would give. It takes the most rows that leave
    enough answers, else one row; empty if a person has one row."""
    for fewer in sorted({1, *USUAL_EACH}, reverse=True):
        if fewer < each:
            many = _good(replace(draft, each=fewer), given)
            if many >= ENOUGH or fewer == 1:
                return [say("data.care.scarce_each", each=fewer, now=each, many=min(many, MOST_GOOD))]
    return []


def _explained(draft: Draft) -> None:
    """Draw what each allowance means for a person, and the odds of the chosen one."""
    choices = []
    for care, epsilon in CARE.items():
        most = fields.odds_after(PRIOR, Fraction(epsilon))
        odds = say(f"data.care.odds.{draft.relation}", prior=PRIOR, most=most)
        choices.append(say("data.care.choices", care=say(f"data.care.{care}_label"), epsilon=local(epsilon), odds=odds))
    st.html(paragraphs(choices))
    given = drafts.allowance(draft)
    fields.show_odds(given.epsilon, given.delta, read_relation(draft.relation), PRIOR)


def _typed(draft: Draft) -> bool:
    """Draw what a typed ε and δ mean, or why they are refused. True if they are refused."""
    if not (draft.epsilon.strip() or draft.delta.strip()):
        return False
    try:
        given = drafts.budget(draft)
    except dp.AllowanceError as complaint:
        if not (draft.epsilon.strip() or draft.care):
            return False
        problem(str(complaint))
        return True
    terms = say("meter.terms", epsilon=given.epsilon, delta=power_of_ten(given.delta))
    paragraph(say("data.care.typed", terms=terms, many=_many(given, draft)), "price")
    return False


def add(draft: Draft) -> None:
    """Add the table in the background, from the draft as it is now."""
    path, source, name, new_people = draft.path, draft.source or draft.path, draft.name, draft.new_people
    two = draft.second is not None and draft.many == "more"
    second, of_both = (draft.second.path, sources.joined(draft)) if two else (None, source)
    space, declared, given = workspace(), drafts.schema(draft), drafts.budget(draft)
    unit, kind = drafts.unit(draft), drafts.relation(draft)
    declared_about = draft.about if kind == "add_remove" else None
    usual = declared_about is None and not draft.delta.strip()  # then δ follows from the counted people
    own = (lambda people: dp.Budget(given.epsilon, usual_delta(people))) if usual else given
    allowance = space.table(draft.shares).budget.id if draft.shares else own
    terms: dict[str, Any] = {"schema": declared, "unit": unit, "relation": kind, "budget": allowance}
    terms |= {"about_rows": declared_about, "dialect": draft.dialect, "bad_records": draft.bad_records}
    terms |= {"sample": draft.many == "one" and draft.sample == "sample"}
    terms |= {"add_up": draft.add_up and two}
    terms |= {"whose": draft.whose or "" if draft.many == "one" else ""}

    def work(progress: Callable[[float], None]) -> dp.Table:
        table = space.add_table(name, of_both, **terms, progress=progress, new_people=new_people)
        here.forget(path)
        here.forget(second)
        return table

    begin(draft, "add", here.holding(second, work))
