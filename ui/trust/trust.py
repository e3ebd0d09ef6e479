"""The Trust page: one question in the central, the shuffle and the local model, before and after paying for it."""

from __future__ import annotations

import json
from fractions import Fraction
from html import escape
from typing import Any

import streamlit as st

import dpengine as dp
from dpengine.core.amounts import BETA
from dpengine.core.printed import chance, power_of_ten
from dpengine.declared.schema import Category
from dpengine.mechanisms.local.shuffle_count import read_shuffle_delta
from dpengine.messages import say
from dpengine.messages.numbers import local
from dpengine.planning import trust_models
from dpengine.planning.trust_models import Way
from ui.learn import lessons
from ui.parts import conditions, fields, job, owner
from ui.parts.history import address_of
from ui.pictures import many
from ui.pictures.trust_pictures import bars
from ui.plan import plan_run
from ui.shell import frame, nav
from ui.trust import trust_channel, trust_more, trust_state
from ui.words import prices
from ui.words.figures import figure, printed_range
from ui.words.wording import in_short


def show(table: dp.Table) -> None:
    st.html(f"<style>{lessons.rules()}</style>")
    st.html(f'<h1>{escape(say("trust.title"))}</h1><p class="lead">{escape(say("trust.lead"))}</p>')
    frame.pick_table(table, "trust")
    if _waits(table):
        return
    given = trust_state.state(table)
    with st.container(key="card-trust"):
        given = _question(table, given)
        ways = trust_models.ways(table.facts, given["kind"], _asked(given))
        for line in _cautions(table, given):
            st.html(f'<p class="warn">{escape(line)}</p>')
    barred = trust_models.of_all(ways)
    job.show_refusal()
    if table.closed:
        owner.closed(table)
    if barred is not None:
        job.hint(say("trust.barred", why=str(barred)))
    elif all(way.query is None for way in ways):  # the first refusal is about the question itself
        job.hint(str(ways[0].refused))
    else:
        _errors(ways)
        for first in range(0, len(ways), 2):
            for way, column in zip(ways[first : first + 2], st.columns(2), strict=True):
                with column, st.container(key=f"card-way-{way.model}"):
                    _model(table, given, way)
        _together(table, given, ways)
        _answers(table, ways)
        with st.container(key="card-trust-curve"):
            trust_more.curve(table, given, ways)
        with st.container(key="card-trust-honest"):
            given = trust_more.show_honest(table, given, ways)
        with st.expander(say("trust.figures")):
            st.html(trust_more.figures(given, ways))
    with st.container(key="card-trust-steps"):
        trust_more.steps(given)
    with st.container(key="card-trust-channel"):
        given = trust_channel.show(given)
    with st.container(key="card-trust-who"):
        st.html(trust_more.learns())
    trust_more.links()
    trust_state.remember(table, given)


def _waits(table: dp.Table) -> bool:
    """Is a question of this page running? Then the page waits for it."""
    request, run = st.query_params.get("answer"), st.query_params.get("run")
    if request and not job.look(request).over:
        return True
    if run:
        running = table.run(run)
        if not running.over:
            plan_run.progress(table, run)
            return True
        plan_run.renew(run)
        if not running.rows:
            job.refused(str(running.error) if running.error else say("trust.unknown"))
        elif any(state != "done" for _, state in running.rows):
            job.hint(say("plan.lost"))
    return False


# --- the question -----------------------------------------------------------------------------------------------------


def _question(table: dp.Table, given: dict[str, Any]) -> dict[str, Any]:
    kind = fields.choose("trust.kind", trust_models.KINDS, given["kind"], trust_state.widget("kind"))
    given = given | {"kind": kind}
    if given["kind"] == "count":
        st.html(f'<p class="muted">{escape(say("trust.where"))}</p>')
        given["where"] = conditions.conditions(table, given["where"], trust_state.widget("where"))
    else:
        given = given | _bars(table, given)
    steps = trust_state.spend_steps(table)
    now = given["e"] if given["e"] in steps else steps[-1]

    def words(step: str) -> str:
        return say("trust.step", epsilon=local(step))

    given["e"] = st.select_slider(say("trust.epsilon"), steps, now, key=trust_state.widget("e"), format_func=words)
    with st.expander(say("trust.more")):
        label, help_ = say("trust.delta"), say("trust.delta_help")
        given["d"] = fields.number_field(label, given["d"], trust_state.widget("d"), max_chars=30, help=help_)
    return given


def _bars(table: dp.Table, given: dict[str, Any]) -> dict[str, Any]:
    lists = table.schema.of_kind(Category)
    if not lists:
        return {}
    at = lists.index(given["column"]) if given["column"] in lists else 0
    column = st.selectbox(say("trust.column"), lists, at, key=trust_state.widget("column"), width=320)
    both, key = ("first", "second"), trust_state.widget("solution")
    return {"column": str(column), "solution": fields.choose("trust.solution", both, given["solution"], key)}


def _asked(given: dict[str, Any]) -> dict[str, Any]:
    return {"epsilon": given["e"], "delta": given["d"], **{key: given[key] for key in ("where", "column", "solution")}}


def _cautions(table: dp.Table, given: dict[str, Any]) -> list[str]:
    """Warnings about a δ that is too large to mean much, or larger than the reserve."""
    try:
        delta = read_shuffle_delta(given["d"])
    except dp.AllowanceError:
        return []
    meter, notes = table.meter(), []
    left = meter.delta_reserve - meter.spent_delta
    if delta * table.facts.about > 1:
        notes.append(say("trust.teaching", delta=power_of_ten(delta), people=table.facts.about))
    if delta > left:
        notes.append(say("trust.reserve" if left > 0 else "trust.reserve_none", left=power_of_ten(left)))
    return notes


# --- before anything is spent -----------------------------------------------------------------------------------------


def _errors(ways: tuple[Way, ...]) -> None:
    rows = [(say(f"trust.model.{way.model}"), float(way.error), _within(way)) for way in ways if way.error is not None]
    alt = "; ".join(f"{name}: {label}" for name, _, label in rows)
    head = say("trust.errors", chance=chance(BETA))
    with st.container(key="card-trust-errors"):
        st.html(f'<h2>{escape(head)}</h2><div role="img" aria-label="{escape(alt)}">{bars(rows)}</div>')


def _within(way: Way) -> str:
    assert way.error is not None
    return say("trust.error", error=-(-way.error.numerator // way.error.denominator))


def _model(table: dp.Table, given: dict[str, Any], way: Way) -> None:
    name, whom = escape(say(f"trust.model.{way.model}")), escape(say(f"trust.whom.{way.model}"))
    st.html(f'<h2>{name}</h2><p class="muted">{whom}</p>')
    if way.query is None:
        job.hint(_refused(table, given, way))
        return
    promised = way.query.promise().words(way.query)
    sentence = promised if way.asked_here else say("trust.published", error=_within(way))
    lines = [f"<p>{escape(say('spend.accept'))} <b>{escape(sentence)}</b></p>"]
    if getattr(way.query, "solution", "") == "second":
        lines.append(f'<p class="muted">{escape(say("trust.rare", rare=way.query.rare))}</p>')  # type: ignore[attr-defined]
    if not way.asked_here:
        lines.append(f'<p class="muted">{escape(say("trust.publish"))}</p>')
        st.html("".join(lines))
        asked = {"table": table.name, "columns": json.dumps([given["column"]]), "epsilon": given["e"]}
        st.page_link(nav.page("publish"), label=say("page.publish"), query_params=asked)
        return
    st.html("".join(lines))
    _ask(table, way)


def _refused(table: dp.Table, given: dict[str, Any], way: Way) -> str:
    """The refusal; for the lecture's coin with its p and the δ that it really keeps."""
    if way.refused is None or way.refused.code != "shuffle.lecture":
        return str(way.refused)
    coin = trust_models.lecture(table.facts.about, given["kind"], Fraction(given["e"]), read_shuffle_delta(given["d"]))
    facts = {"p": trust_more.coin_words(coin.chance), "people": table.facts.about, "epsilon": coin.epsilon}
    if coin.delta is None:
        return say("trust.lecture.above", **facts)
    if Fraction(coin.delta) > coin.wanted:
        wanted = power_of_ten(coin.wanted)
        return say("trust.lecture.fails", delta=power_of_ten(Fraction(coin.delta)), wanted=wanted, **facts)
    return str(way.refused)


def _ask(table: dp.Table, way: Way) -> None:
    assert way.query is not None
    paid, price = table.recall(way.query), table.preview(way.query, checked=True)
    if paid:
        address = address_of(table.name, paid[-1].request_id)
        html = f"<b>{escape(in_short(paid[-1]))}</b> <a href='{address}' target='_self'>{escape(say('trust.open'))}</a>"
        st.html(f'<p role="status">{escape(say("trust.answer"))} {html}</p>')
    if table.closed:
        return
    share = prices.takes(table, price.share)
    label = say("ask.button_again" if paid else "trust.ask", share=share)
    key, disabled = f"trust-ask-{way.model}", not price.admissible
    job.ask_button(label, table, way.query, key, disabled=disabled, kind="secondary", again=bool(paid))
    if not price.admissible:
        st.html(f'<p class="muted">{escape(say("trust.too_much"))}</p>')


def _together(table: dp.Table, given: dict[str, Any], ways: tuple[Way, ...]) -> None:
    """All of them at once: charged together or not at all."""
    queries = [way.query for way in ways if way.query is not None and way.asked_here]
    if table.closed or len(queries) < 2:
        return
    priced = table.planner().price_of(queries)
    frame.show_price(table, priced, "_trust")
    if not priced.admissible:
        st.html(f'<p class="muted">{escape(say("trust.together_not", count=len(queries)))}</p>')
        return
    label = say("trust.together", count=len(queries), share=prices.takes(table, priced.share))
    plan_run.run_button(label, table, queries, "trust-together", tuple(query.digest() for query in queries))


def _answers(table: dp.Table, ways: tuple[Way, ...]) -> None:
    """Paid bars, side by side."""
    paid = {way.model: table.recall(way.query) for way in ways if way.query is not None and way.asked_here}
    latest = {model: answers[-1] for model, answers in paid.items() if answers and isinstance(answers[-1].value, dict)}
    if not latest:
        return
    head = "".join(f"<th scope='col' class='number'>{escape(say(f'trust.model.{model}'))}</th>" for model in latest)
    body = ""
    for label in many.page(next(iter(latest.values())).query.labels(), "trust-page"):
        cells = ""
        for answer in latest.values():
            low, high = printed_range(answer.query, *answer.interval[label])
            value = escape(figure(answer, label))
            cells += f"<td class='number'>{value}<br><span class='muted'>{low} … {high}</span></td>"
        body += f"<tr><th scope='row'>{escape(label)}</th>{cells}</tr>"
    st.html(trust_more.scrolled(f"<tr><td></td>{head}</tr>{body}", say("trust.kind.bars")))
