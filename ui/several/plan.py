"""Plan: the questions a person means to ask, priced together, made to fit, and run in one go."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from fractions import Fraction
from html import escape
from typing import Any

import streamlit as st

import dpengine as dp
from dpengine.accountant.loss import loss_as_json
from dpengine.asking.column_fit import unchecked_words
from dpengine.asking.plan import (
    MOST_ROWS,
    PlanLine,
    Planner,
    PlanRun,
    Priced,
    Wish,
    round_up_amount,
    wish_as_json,
)
from dpengine.core.exact import read_number
from dpengine.core.printed import percent, percent_left, power_of_ten, three_figures
from dpengine.core.remembered import Lately
from dpengine.core.strict_json import canonical, read_strict
from dpengine.messages import say
from dpengine.planning.partition import merged_offer
from ui.ask import fit_warnings, preview, spend
from ui.parts import answer_notes, fields, history, job, owner, tables
from ui.shell import frame, nav
from ui.shell.frame import hint, paragraph
from ui.shell.language import IN_ADDRESS, address, in_address
from ui.shell.state import as_read, attempt
from ui.words import gloss, prices
from ui.words.markup import bullets, few_names, link, p, unmarked

# --- run a plan: a click hands it to a background thread, and the page finds it by the id in the URL

_ASKED = "plan-asked"  # by run: the questions submitted; some may not have been asked


def _submit(table: dp.Table, queries: list[dp.Query], run: str, keep: Fraction, known: int | None) -> None:
    if not attempt(table.submit_plan, queries, run, keep, known, checked=True):
        return
    st.session_state.setdefault(_ASKED, {})[run] = queries
    _keep(table, None)  # a new session must not find it again and pay twice
    address({"table": table.name, "run": run})


def show_run(table: dp.Table, run: str) -> bool:
    """Draw the run in the URL. False if the run charged nothing: then the page shows the plan again."""
    found = table.run(run)
    if not found.over:
        progress(table, run)
        return True
    if job.renew(run) and found.rows:
        clear_plan(table)  # it has run: nobody should pay twice by accident
    if not found.rows:
        job.refused(str(found.error) if found.error else say("plan.unknown"))
        return False
    _results(table, found)
    return True


@st.fragment(run_every=0.3)
def progress(table: dp.Table, run: str) -> None:
    found = table.run(run)
    if found.over:
        st.rerun()
    total = len(found.rows)
    words = say("plan.running", done=found.done, total=total) if total else say("plan.waiting")
    st.progress(found.done / total if total else 0.0, text=words)


def _results(table: dp.Table, found: PlanRun) -> None:
    frame.show_price(table, None)
    answered = sum(state == "done" for _, state in found.rows)
    asked = [(query, table.doubts(query)) for query in st.session_state.get(_ASKED, {}).get(found.id, [])]
    refused = [(query, against) for query, against in asked if against is not None]  # it took nothing
    total = len(found.rows) + len(refused)
    st.html(f"<h1>{escape(say('plan.done', done=answered, total=total))}</h1>")
    if refused:
        paragraph(say("plan.not_asked", count=len(refused)), "lead", role="status")
    if answered < len(found.rows):
        hint(say("plan.lost"))
    left_out = _unchecked(table, [table.answer_of(entry).query for entry, state in found.rows if state == "done"])
    if left_out:
        paragraph(left_out, "lead warn", role="status")
    with st.container(key="card-plan-results"):
        rows = [*table.checks_of(found.id), *(entry for entry, _ in found.rows)]
        st.html(history.rows_html(table, rows, newest_first=False))
    for number, (query, against) in enumerate(refused):
        fit_warnings.show(table, against, query, url_name="asked", key=f"-{number}-")
    st.button(say("plan.another"), key="plan-another", on_click=forget_plan, args=(table,))


def _unchecked(table: dp.Table, queries: list[dp.Query], checks: Sequence[dp.Query] = ()) -> str:
    """A sentence on columns of these questions that nobody has checked and these `checks` will not check; empty if
    there are none."""
    covered = {name for check in checks for name in check.parameters()["columns"]}
    names = set[str]().union(*(query.to_check() for query in queries)) - covered
    columns = [(name, column) for name, column in table.schema.columns.items() if name in names]
    return unchecked_words(table.fits().all_of(columns))


def show_addressed(table: dp.Table) -> bool:
    """Draw the run that the address names, or the question that a check refused. False if the address names neither."""
    if (asked := st.query_params.get("asked")) and not fit_warnings.read_on_ask(table, asked):
        return True
    run = st.query_params.get("run")
    return bool(run and show_run(table, run))


def show(table: dp.Table) -> None:
    if table.closed:
        owner.closed(table)
        return
    plan = current_plan(table)
    if plan.unread:
        hint(say("plan.unreadable"))
    if plan.rows:
        _editor(table, plan)
    else:
        # How to add a question; mentions the suggestions below if there are any.
        sentences = [say("plan.none", table=table.name, add=say("plan.add"))]
        sentences += [say("plan.none_below")] if table.suggestions() else []
        paragraph(" ".join(sentences), "")
        _undo_button(plan)
    job.show_refusal()
    if "run" not in st.query_params:
        remember_plan(table, plan)
    label = say("plan.more" if plan.rows else "plan.ask")
    st.page_link(nav.page("ask"), label=label, query_params={"table": table.name})
    show_suggestions(table)


def add_button(table: dp.Table, query: dp.Query) -> None:
    label = say("plan.add_again" if current_plan(table).holds(query) else "plan.add")
    st.button(label, key="ask-plan", on_click=add_to_plan, args=(table, query))


def in_plan(table: dp.Table) -> None:
    """Draw a link to the plan, with the number of its questions; nothing if the plan is empty."""
    rows = len(current_plan(table).rows)
    if rows:
        label = say("plan.added", count=rows) + " " + say("plan.open")
        st.page_link(nav.page("several"), label=label, query_params={"table": table.name})


# The plan as it is being put together


def _editor(table: dp.Table, plan: Plan) -> None:
    planner = table.planner(plan.share)
    priced = planner.price(plan.wishes)
    for place, line in enumerate(priced.lines):
        _row(table, plan, place, line)
    _as_one(plan, planner)
    st.session_state["plan-keep"] = plan.keep
    change: Any = {"on_change": _kept, "args": (plan,)}
    st.select_slider(say("plan.keep"), KEEPS, key="plan-keep", format_func="{} %".format, **change)
    asked = [query for query in priced.queries if table.doubts(query) is None]  # the others cost nothing
    checks = table.checks_for(asked) if priced.fits else []
    whole = planner.price_of([*checks, *asked]) if checks or len(asked) < len(priced.queries) else priced
    frame.show_price(table, whole, "_plan")
    with st.container(key="card-plan-total"):
        _total(table, plan, planner, priced, whole, checks)


def _as_one(plan: Plan, planner: Planner) -> None:
    """Draw the offer to ask rows about different people as one question, if that costs less."""
    offer = merged_offer(planner, plan.wishes)
    if offer is None:
        return
    with st.container(key="card-plan-as-one"):
        rows = ", ".join(str(place + 1) for place in offer.places)
        words = {"rows": rows, "before": percent(offer.before), "after": percent(offer.after)}
        paragraph(say("plan.as_one", sentence=offer.wish.query.sentence(), **words), "")
        label, note, changed = say("plan.as_one_do"), say("plan.as_one_help"), offer.applied(plan.wishes)
        st.button(label, key="plan-as-one", help=note, on_click=plan.replace_wishes, args=(changed,))


def _kept(plan: Plan) -> None:
    plan.keep = int(st.session_state["plan-keep"])


def _row(table: dp.Table, plan: Plan, place: int, line: PlanLine) -> None:
    number, wish = plan.rows[place].number, line.wish
    takes = say("plan.takes", share=prices.takes(table, line.share))
    lines, doubt = [f"<b>{escape(say('plan.row', number=place + 1, sentence=wish.query.sentence()))}</b>"], ""
    if (against := table.doubts(wish.query)) is not None:
        place_on_ask = nav.address("ask", **preview.unpriced(table, wish.query))
        way = f'<a class="way" href="{place_on_ask}" target="_self">{escape(say("fit.others.link"))}</a>'
        doubt = f'<p class="warn">{escape(say("plan.doubted", reasons=" ".join(against.reasons)))} {way}</p>'
    elif careful := table.fits().in_short(wish.query):
        doubt = f'<p class="warn">{escape(careful)}</p>'
    if against is None and line.query is None:
        lines.append(f'<span class="warn">{escape(say("plan.unreachable"))}</span>')
    elif against is None:
        lines.append(f'{escape(line.promise.words(line.query))} · <span class="take-words">{escape(takes)}</span>')
        if not line.useful:
            words = say("plan.noise_groups" if line.promise.grouped else "plan.noise")
            lines.append(f'<span class="noise">{escape(words)}</span>')
    with st.container(key=f"card-plan-row-{number}"):
        st.html(f"<p>{'<br>'.join(lines)}</p>{doubt}{answer_notes.cut_note(wish.query)}")
        with st.container(horizontal=True, vertical_alignment="bottom", gap="small"):
            key, label = fields.number_key(f"plan-wish-{number}"), spend.wish_field(wish.query)[0]
            now = wish.query.promise().written(wish.amount, wish.query)
            st.text_input(label, now, key=key, width=220, on_change=_wished, args=(plan, place, key))
            for sign, name, step, end in (("↑", "up", -1, 0), ("↓", "down", 1, len(plan.rows) - 1)):
                key, note, last = f"plan-{name}-{number}", say(f"plan.{name}"), place == end
                st.button(sign, key=key, help=note, disabled=last, on_click=plan.move, args=(place, step))
            st.button(say("plan.remove"), key=f"plan-out-{number}", on_click=plan.remove, args=(place,))
            change: Any = {"on_change": _locked, "args": (plan, place, key := f"plan-lock-{number}")}
            note = say("plan.lock_help")
            st.checkbox(say("plan.lock"), wish.locked, key=key, help=note, width="content", **change)


def _wished(plan: Plan, place: int, key: str) -> None:
    try:
        plan.change(place, amount=spend.read_wish(plan.rows[place].wish.query, str(st.session_state[key])))
    except dp.AllowanceError as refusal:
        st.session_state["refusal"] = str(refusal)


def _locked(plan: Plan, place: int, key: str) -> None:
    plan.change(place, locked=bool(st.session_state[key]))


def _total(
    table: dp.Table, plan: Plan, planner: Planner, priced: Priced, whole: Priced, checks: list[dp.Query]
) -> None:
    """Draw the plan's total and its button, or what would make the plan fit. `whole` is the price with the checks
    before the plan."""
    left = max(1 - whole.share - whole.used, Fraction(0))
    shares = {"share": prices.takes(table, whole.share), "left": percent_left(left)}
    if checks:
        given = [check.parameters() for check in checks]
        names = [name for part in given for name in (*part["columns"], *part.get("ids", []))]
        takes = prices.takes(table, sum((line.share for line in whole.lines[: len(checks)]), Fraction(0)))
        paragraph(say("fit.before", columns=few_names(names), many=len(names), share=takes))
    if left_out := _unchecked(table, list(priced.queries), checks):
        hint(left_out)
    if not whole.fits and priced.fits:
        hint(say("fit.both"))
    elif priced.fits:
        words = say("plan.fits_kept" if plan.keep else "plan.fits", keep=percent(plan.share), **shares)
        st.html(f'<p class="lead">{gloss.text(words)}</p>')
    elif priced.reachable:
        over = percent(priced.over)
        words = say("plan.over", over=over, **shares) if priced.over else say("plan.over_delta")
        st.html(f'<p class="warn" role="status">{escape(words)}</p>{_reliefs(priced, planner, plan)}')
    if whole.fits and whole.lines:
        # The run's id is chosen before the click and belongs to the plan: many clicks are one charge.
        run = job.next_request(table.name, (plan.text(), plan.keep))
        label, act = say("plan.run", share=prices.takes(table, whole.share)), (table, priced.queries, run, plan.share)
        with st.container(key="plan-run", width="content"):
            st.button(label, key=f"plan-run-{run}", type="primary", on_click=_submit, args=(*act, job.seen()))
        st.html(f'<p class="muted">{gloss.text(say("plan.run_note"))}</p>')
    with st.container(horizontal=True, vertical_alignment="center"):
        label, note = say("plan.fit_more" if priced.fits else "plan.fit"), say("plan.fit_help")
        st.button(label, key="plan-fit", help=note, on_click=_fit, args=(table, plan))
        _undo_button(plan)
    if priced.reachable and st.toggle(say("plan.fixed"), key="plan-fixed"):
        st.html(f'<p class="muted">{gloss.text(_fixed(table, planner, plan, priced))}</p>')


def _undo_button(plan: Plan) -> None:
    if plan.past:
        st.button(say("plan.undo"), key="plan-undo", type="tertiary", on_click=plan.undo)


MOST_TRIES = 8


def _fit(table: dp.Table, plan: Plan) -> None:
    keep = plan.share
    for _ in range(MOST_TRIES):  # until there is room for the checks that are bought first
        planner = table.planner(keep)
        found = planner.redistributed(plan.wishes)
        queries = [] if found is None else planner.price(found).queries
        whole = table.planner(plan.share).price_of([*table.checks_for(queries), *queries])
        if found is None or whole.fits:
            break
        keep = min(keep + max(whole.over, Fraction(1, 100)), Fraction(1))
    if found is None:
        st.session_state["refusal"] = say("plan.fit_not")
    else:
        wishes = []
        for line in planner.price(found).lines:  # whole steps promise more than the wish: the fields show the promise
            amount = line.wish.amount if line.wish.locked else round_up_amount(line.promise.amount)
            wishes.append(replace(line.wish, amount=amount))
        plan.replace_wishes(wishes)


def _reliefs(priced: Priced, planner: Planner, plan: Plan) -> str:
    ways = [say("plan.relief.all")] if planner.redistributed(plan.wishes) is not None else []
    for relief in planner.reliefs(plan.wishes):
        wish, query = priced.lines[relief.place].wish, priced.lines[relief.place].wish.query
        if relief.amount is not None:
            now, then = (query.promise().at(amount).short(query) for amount in (wish.amount, relief.amount))
            ways.append(say("plan.relief.loosen", sentence=query.sentence(), now=now, then=then))
        if relief.without:
            ways.append(say("plan.relief.drop", sentence=query.sentence()))
    if not ways:
        return p(say("plan.relief.none"), "muted")
    return p(say("plan.relief")) + bullets(ways)


@st.cache_data(max_entries=200, show_spinner=True)
def _numerical(losses: str, delta: str, _planner: Planner, _plan: Plan) -> Fraction | None:
    """The ε of the plan if it is fixed in advance, by numerical accounting; None if that cannot be computed. All
    visitors share this cache, so its key holds public facts only."""
    return _planner.fixed_price(_plan.wishes)


def _fixed(table: dp.Table, planner: Planner, plan: Plan, priced: Priced) -> str:
    losses = canonical([loss_as_json(query.loss()) for query in priced.queries])
    found = _numerical(losses, str(table.budget.rule.delta), planner, plan)
    if found is None:
        return say("plan.fixed_none")
    delta = power_of_ten(table.budget.rule.delta)
    if found >= priced.cost:
        return say("plan.fixed_same", delta=delta)
    return say("plan.fixed_price", epsilon=three_figures(found), delta=delta, charged=three_figures(priced.cost))


# --- a visitor's plan for a table, kept in the session, for the next one and, while short enough, in the URL

_PLANS = "plans"
_NUMBER = "plan-number"
LONGEST_URL = 1500
MOST_IDEAS = 3  # beside a question that stands in the form
MOST_UNDONE = 20
KEEPS = (0, 10, 20, 30, 40, 50)  # percent


@dataclass
class Row:
    """One question of the plan, and the row's own number, by which its widgets are named."""

    wish: Wish
    number: int


@dataclass
class Plan:
    rows: list[Row] = field(default_factory=list)
    keep: int = 0  # percent of the allowance
    url: str = ""
    unread: bool = False  # some of the link could not be used
    past: list[list[Wish]] = field(default_factory=list)  # how it was before each change, for undo
    kept: str = ""  # as it was last kept for the next session

    @property
    def wishes(self) -> list[Wish]:
        return [row.wish for row in self.rows]

    @property
    def share(self) -> Fraction:
        return Fraction(self.keep, 100)

    def text(self) -> str:
        return canonical([wish_as_json(wish) for wish in self.wishes])

    def add(self, query: dp.Query) -> None:
        self._remember()
        self.rows.append(Row(Wish.of(query), _number()))

    def change(self, place: int, **changes: Any) -> None:
        self._remember()
        self.rows[place].wish = replace(self.rows[place].wish, **changes)

    def move(self, place: int, step: int) -> None:
        if 0 <= (other := place + step) < len(self.rows):
            self._remember()
            self.rows[place], self.rows[other] = self.rows[other], self.rows[place]

    def remove(self, place: int) -> None:
        self._remember()
        del self.rows[place]

    def replace_wishes(self, wishes: list[Wish]) -> None:
        """Replace all wishes. The rows get new numbers and so new fields, because a browser keeps old widget values."""
        self._remember()
        self.rows = [Row(wish, _number()) for wish in wishes]

    def undo(self) -> None:
        """Restore the wishes from before the last change."""
        if self.past:
            self.rows = [Row(wish, _number()) for wish in self.past.pop()]

    def _remember(self) -> None:
        self.past = [*self.past, self.wishes][-MOST_UNDONE:]

    def holds(self, query: dp.Query) -> bool:
        """Does the plan hold this question, whatever accuracy is wished for it?"""
        return any(row.wish.query.digest() == query.digest() for row in self.rows)


def current_plan(table: dp.Table) -> Plan:
    """The plan as the person left it, or from a link. After a revision of the table, the rows of the plan are read
    again."""
    plans = st.session_state.setdefault(_PLANS, {})
    if table.name not in plans:
        plans[table.name] = _left(table)
    plan: Plan = plans[table.name]
    arriving = st.query_params.get("plan")
    if arriving and arriving not in (plan.url, plan.text()):
        own, plan = plan, _read(table, arriving, st.query_params.get("keep", "0"))
        plan.past = [*own.past, own.wishes] if own.rows else []  # a link takes nobody's own plan away
        plans[table.name] = plan
    stale = [row for row in plan.rows if row.wish.query.facts != table.facts]
    if stale:
        plan = plans[table.name] = _read(table, plan.text(), str(plan.keep))
    return plan


def add_to_plan(table: dp.Table, query: dp.Query) -> None:
    plan = current_plan(table)
    if len(plan.rows) >= MOST_ROWS:
        st.session_state["refusal"] = str(dp.AllowanceError("plan.long", most=MOST_ROWS))
        return
    plan.add(query)
    _keep(table, plan)


def _left(table: dp.Table) -> Plan:
    """The plan that the person left in an earlier session, or an empty one."""
    with suppress(dp.AllowanceError):
        if found := table.plan_draft():
            plan = _read(table, str(found["plan"]), str(found["keep"]))
            plan.kept = canonical([plan.text(), plan.keep])
            return plan
    return Plan()


def _keep(table: dp.Table, plan: Plan | None) -> None:
    """Store the plan for the person's next session. None, or an empty plan, deletes the stored one."""
    now = "" if plan is None or not plan.rows else canonical([plan.text(), plan.keep])
    if plan is not None and plan.kept == now:
        return
    with suppress(dp.AllowanceError):  # a full disk stops no plan
        table.keep_plan(plan.text(), plan.keep) if plan is not None and now else table.keep_plan(None)
    if plan is not None:
        plan.kept = now


def clear_plan(table: dp.Table) -> None:
    st.session_state.setdefault(_PLANS, {})[table.name] = Plan()
    _keep(table, None)


def forget_plan(table: dp.Table) -> None:
    clear_plan(table)
    address({"table": table.name})


def remember_plan(table: dp.Table, plan: Plan) -> None:
    """Write the plan to the URL, if it is short enough, so that it can be shared, and store it for the next session."""
    _keep(table, plan)
    plan.url = plan.text()
    wanted = {"table": table.name}
    if plan.rows and len(plan.url) <= LONGEST_URL:
        wanted |= {"plan": plan.url} | ({"keep": str(plan.keep)} if plan.keep else {})
    address(wanted)


def _number() -> int:
    st.session_state[_NUMBER] = int(st.session_state.get(_NUMBER, 0)) + 1
    return int(st.session_state[_NUMBER])


def _read(table: dp.Table, text: str, keep: str) -> Plan:
    plan = Plan(url=text, keep=int(keep) if keep in map(str, KEEPS) else 0)
    try:
        rows = read_strict(text)
    except ValueError:
        rows = None
    if not isinstance(rows, list) or len(rows) > MOST_ROWS:
        plan.unread = True
        return plan
    for row in rows:
        try:
            key, given, amount, locked = row
            read = read_number(amount, say("spend.wish.name"))
            query = table.query(str(key), **{"noise": ""} | {str(name): value for name, value in given.items()})
            plan.rows.append(Row(Wish(query, max(read, Fraction(0)), bool(locked)), _number()))
        except (dp.AllowanceError, ValueError, TypeError, AttributeError):
            plan.unread = True
    return plan


# “Five questions this table can answer”, priced, for somebody who has just arrived.


_ideas = Lately(1024)


def show_suggestions(table: dp.Table, asked: dp.Query | None = None, for_plan: bool = True) -> None:
    """Draw suggested questions; for a plan, each with a button that adds it. The question `asked` by the form is left
    out."""
    queries = list(table.suggestions())
    if asked is not None:
        queries = [query for query in queries if query.sentence() != asked.sentence()][:MOST_IDEAS]
    if not queries:
        if not for_plan:
            tables.first_look_link(table)
        return
    title = f'<h2 class="ideas">{escape(say("suggest.title"))}</h2>'
    if not for_plan:  # one element: a browser takes long over many
        look = tables.first_look_label(table)
        way = link(nav.address("board", table.name), look) if look else ""
        with st.container(key="suggest"):
            st.html(f'<div class="exact">{title}{way}</div>{"".join(_idea(table, best) for best in queries)}')
        return
    plan = current_plan(table)
    st.html(title)
    with st.container(key="suggest", gap=None):
        for place, best in enumerate(queries):
            price = table.preview(best, checked=True)
            with st.container(key=f"suggest-{place}", horizontal=True, vertical_alignment="center"):
                label, where = unmarked(best.sentence()), preview.opening(table, best)
                st.page_link(nav.page("ask"), label=label, query_params=where, width="content")
                st.html(f'<span class="muted">{escape(price.promise.short(best))}</span>', width="content")
                takes = escape(prices.takes(table, price.share))
                st.html(f'<span class="take-words">{takes}</span>', width="content")
                if plan.holds(best):
                    st.html(f'<p role="status"><b class="whole">✓</b> {escape(say("plan.holds"))}</p>', width="content")
                    continue
                st.button(say("plan.add"), key=f"suggest-add-{place}", on_click=add_to_plan, args=(table, best))


def _idea(table: dp.Table, best: dp.Query) -> str:
    return _ideas((as_read(table), in_address().get(IN_ADDRESS), best), lambda: _idea_html(table, best))


def _idea_html(table: dp.Table, best: dp.Query) -> str:
    price = table.preview(best, checked=True)
    way = link(nav.address("ask", **preview.opening(table, best)), best.sentence())
    worth, takes = escape(price.promise.short(best)), escape(prices.takes(table, price.share))
    return f'<div class="idea">{way}<span class="muted">{worth}</span><span class="take-words">{takes}</span></div>'
