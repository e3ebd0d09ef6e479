"""The Train page before anything is spent: what to predict from what, how exact, its expected value, the price; and the
wait while a model is trained."""

from __future__ import annotations

from collections.abc import Callable
from html import escape
from typing import Any

import streamlit as st

import dpengine as dp
from dpengine.core.printed import percent, percent_left
from dpengine.declared.schema import Category
from dpengine.mechanisms.marginals.overview import Overview
from dpengine.mechanisms.models.excess import CALIBRATIONS, COORDINATE, ITERATES
from dpengine.mechanisms.models.of_gradients import OfGradients
from dpengine.messages import called, say
from dpengine.planning.opening import AT_MOST, SHARES, opening_share
from dpengine.statistics.features import MOST_WIDE
from ui.ask import fit_warnings
from ui.ask.spend import enough, least_share_html
from ui.parts import answer_notes, fields, history, job, owner
from ui.shell import frame
from ui.shell.state import workspace
from ui.train import shapes_form, shapes_result, train_preview, train_result, train_state
from ui.train.shapes_form import SHAPES
from ui.train.train_state import PLACE
from ui.words import gloss, model_words, prices


def show(table: dp.Table) -> None:
    bought = st.query_params.get(SHAPES)
    if bought and job.became(
        table, bought, Overview, "shapes_page.unknown", job.wait, shapes_result.show, fit_warnings.at(SHAPES)
    ):
        _earlier(table, bought)
        return
    request = st.query_params.get("trained")
    if request and job.became(
        table, request, OfGradients, "train_page.unknown", _wait, train_result.show, fit_warnings.at("trained")
    ):
        _earlier(table, request)
        return
    st.html(f"<h1>{escape(say('train_page.title'))}</h1><p class='lead'>{gloss.text(say('train_page.lead'))}</p>")
    frame.pick_table(table, PLACE)
    if table.closed:
        owner.closed(table)
    elif not train_state.possible(table):
        job.hint(say("train_page.no_columns"))
    else:
        _form(table)
    _earlier(table)


@st.fragment(run_every=0.3)
def _wait(request: str) -> None:
    asked = workspace().job(request)
    charged = f"train-charged-{request}"
    if asked.over or (asked.total > 1 and not st.session_state.get(charged)):
        st.session_state[charged] = True
        st.rerun()  # the meter was drawn before the charge
    stopping = f"train-stopping-{request}"
    with st.container(key="card-train-wait"):
        st.html(f"<h1>{escape(say('train_page.waiting'))}</h1>")
        words = say("train_page.working", done=asked.done, total=asked.total) if asked.total > 1 else say("job.waiting")
        st.progress(min(asked.done / max(asked.total, 1), 1.0), words)
        if st.session_state.get(stopping):
            st.html(f'<p role="status">{escape(say("train_page.stopping"))}</p>')
        else:
            st.button(say("train_page.cancel"), key="train-cancel", on_click=_stop, args=(request, stopping))
        st.html(f'<p class="muted">{escape(say("train_page.cancel_means"))}</p>')


def _stop(request: str, stopping: str) -> None:
    workspace().jobs.cancel(request)
    st.session_state[stopping] = True


# --- the form ---------------------------------------------------------------------------------------------------------

Offers = dict[str, OfGradients | dp.AllowanceError]  # by kind of noise: the training, or why it is not possible


def _form(table: dp.Table) -> None:
    if not table.meter().unused:
        job.refused(say("ask.nothing_left"))
        return
    given = train_state.given(table)
    given |= _sentence(table, given)
    shapes_form.free(table, given)
    given["kind"] = _kind(table, given)
    if not given["kind"] and shapes_form.possible(table, given["target"]):
        _counted(table, given)
        return
    left, right = st.columns([5, 6], gap="medium")
    query, offers = None, Offers()
    with left, st.container(key="card-train"):
        given["share"] = _share(table, given, _usual)
        worth = st.container()
        given |= _more(given, given["kind"] or train_state.kinds(table, given["target"])[0])
        job.remember_address(table, PLACE, given)
        if given["features"]:
            offers = offered(table, given)
            query = best(offers, given["calibration"])
        if isinstance(query, OfGradients):
            least = least_share_html(given["share"], lambda: _usual(table, given))
            _buy(table, query, worth, least)
        else:
            worth.html(f'<p class="warn" role="status">{escape(str(query or say("train_page.choose")))}</p>')
        _refused_before()
    with right, st.container(key="card-train-preview"):
        st.html(f"<h2>{escape(say('train_page.worth'))}</h2>")
        if isinstance(query, OfGradients):
            train_preview.show(query, offers, table.budget.rule.delta)
        else:
            st.html(f'<p class="muted">{escape(say("train_page.worth_none"))}</p>')


def _counted(table: dp.Table, given: dict[str, Any]) -> None:
    """The best way by our measurements: buy counts, and read the model off them."""
    left, right = st.columns([5, 6], gap="medium")
    query: Overview | dp.AllowanceError | None = None
    with left, st.container(key="card-train"):
        given["share"] = _share(table, given, shapes_form.usual)
        worth = st.container()
        job.remember_address(table, PLACE, given | dict.fromkeys(train_state.MORE, ""))
        if given["features"]:
            query = shapes_form.offered(table, given, table.meter().unused * int(given["share"]) / 100)
        if isinstance(query, Overview):
            least = least_share_html(given["share"], lambda: shapes_form.usual(table, given))
            shapes_form.buy(table, query, given["target"], worth, least)
        else:
            worth.html(f'<p class="warn" role="status">{escape(str(query or say("train_page.choose")))}</p>')
        _refused_before()
    with right, st.container(key="card-train-preview"):
        st.html(f"<h2>{escape(say('train_page.worth'))}</h2>")
        if isinstance(query, Overview):
            shapes_form.preview(query, given["target"])
        else:
            st.html(f'<p class="muted">{escape(say("train_page.worth_none"))}</p>')


def _refused_before() -> None:
    refusal = st.session_state.pop("refusal", None)
    if refusal:
        job.refused(refusal)


def _sentence(table: dp.Table, given: dict[str, Any]) -> dict[str, Any]:
    """“Predict [monthly_income] from …”, “Predict [has_car] — is it [yes]? from …”."""
    offered = [name for name in train_state.targets(table) if train_state.others(table, name)]
    positive = ""
    with st.container(key="sentence", horizontal=True, vertical_alignment="center", gap="small"):
        st.markdown(say("train_page.predict"), width="content")
        target = fields.pick("train_page.target", offered, given["target"], str, train_state.widget("target"))
        goal = table.schema[target]
        if isinstance(goal, Category):
            st.markdown(say("train_page.is"), width="content")
            usual = given["positive"] if given["positive"] in goal.values else model_words.usual_yes(goal)
            key = train_state.widget(f"positive-{target}")
            positive = fields.pick("train_page.value", list(goal.values), usual, called, key)
        st.markdown(say("train_page.from"), width="content")
    others = train_state.others(table, target)
    kept = [name for name in given["features"] if name in others]
    if target != given["target"]:
        kept = kept or train_state.first(table, target)
    features = st.multiselect(
        say("train_page.features"),
        others,
        kept,
        key=train_state.widget(f"features-{target}"),
        placeholder=say("train_page.features_none"),
        label_visibility="collapsed",
    )
    if left_out := [name for name in table.schema.columns if name != target and name not in others]:
        note = say("train_page.left_out", columns=left_out, most=MOST_WIDE)
        st.html(f'<p class="muted">{escape(note)}</p>')
    return {"target": target, "positive": positive, "features": features}


def _kind(table: dp.Table, given: dict[str, Any]) -> str:
    """The way of learning, if there are several; "" for the best by measurement, which the address omits."""
    best = [""] if shapes_form.possible(table, given["target"]) else []
    ways = [*best, *train_state.kinds(table, given["target"])]
    if len(ways) == 1:
        return ""
    now = given["kind"] if given["kind"] in ways else ways[0]
    with st.expander(say("shapes_page.ways"), expanded=now != ways[0]):
        if best:
            st.html(f'<p class="muted">{escape(say("shapes_page.ways_lead"))}</p>')
        picked = st.segmented_control(
            say("train_page.kind"),
            ways,
            default=now,
            required=True,
            key=train_state.widget("kind"),
            format_func=lambda key: dp.catalogue[key].card.title if key else say("shapes_page.title"),
        )
        picked = now if picked is None else str(picked)
        about = dp.catalogue[picked].card.plain if picked else say("shapes_page.plain")
        st.html(f'<p class="muted">{gloss.text(about)}</p>')
    return "" if picked == ways[0] else picked


def offered(table: dp.Table, given: dict[str, Any]) -> Offers:
    """Each kind of noise at this spend, or why it is not possible."""
    listed = isinstance(table.schema[given["target"]], Category)
    key = given.get("kind") or train_state.kinds(table, given["target"])[0]
    wanted = {name: given[name] for name in ("target", "features", *train_state.MORE) if given.get(name)}
    if listed and given.get("positive"):
        wanted["positive"] = [given["positive"]]
    spend = table.meter().unused * int(given["share"]) / 100
    offers = Offers()
    for name in CALIBRATIONS:
        try:
            if given.get("epsilon"):
                query = table.query(key, **wanted | {"calibration": name})
            else:
                query = table.training_for(key, spend, **wanted | {"calibration": name})
            assert isinstance(query, OfGradients)
            offers[name] = query
        except dp.AllowanceError as refusal:
            offers[name] = refusal
    return offers


def best(offers: Offers, wanted: str) -> OfGradients | dp.AllowanceError:
    """The chosen kind of noise, else the one with the best promise, else why none is possible. A promise is on top of
    the best model of a region, so a region that excludes hardly any model comes first."""
    if wanted:
        return offers[wanted]
    had = [training for training in offers.values() if isinstance(training, OfGradients)]
    return min(had, key=lambda training: (not training.follows, training.promise().risk)) if had else offers[COORDINATE]


def _share(table: dp.Table, given: dict[str, Any], usual: Callable[[dp.Table, dict[str, Any]], str]) -> str:
    share = st.select_slider(
        say("train_page.share"),
        SHARES,
        given["share"] or usual(table, given),
        key=train_state.widget("share"),
        format_func=lambda value: say("session.share_of", share=value),
    )
    st.html(f'<p class="muted">{escape(say("session.ends"))}</p>')
    return str(share)


def _usual(table: dp.Table, given: dict[str, Any]) -> str:
    """The smallest share of what is left with a useful promise, within limits."""

    def offer(share: str) -> OfGradients:
        training = best(offered(table, given | {"share": share, "epsilon": ""}), "")
        if isinstance(training, dp.AllowanceError):
            raise training
        return training

    def clear(query: dp.Query) -> bool:
        return isinstance(query, OfGradients) and query.clearly * query.promise().risk <= query.coarse()

    return opening_share(offer, clear, table.check_part) if given["features"] else AT_MOST


def _more(given: dict[str, Any], key: str) -> dict[str, str]:
    """Rarely needed settings."""
    question = dp.catalogue[key]
    assert issubclass(question, OfGradients)
    named = {"iterate": question.usual_iterate, "region": question.usual_region}
    usual = {name: say("train_page.usual", what=say(f"train_page.{name}.{value}")) for name, value in named.items()}
    with st.expander(say("train_page.more"), expanded=any(given[name] for name in train_state.MORE)):
        st.html(f'<p class="muted">{escape(say("train_page.more_lead"))}</p>')
        choices = (("calibration", CALIBRATIONS), ("region", question.regions), ("iterate", ITERATES))
        chosen = {name: _choice(name, options, given[name], usual.get(name, "")) for name, options in choices}
        for place, name in zip(st.columns(3), ("steps", "rate", "epsilon"), strict=True):
            chosen[name] = fields.number_field(
                say(f"train_page.{name}"),
                given[name],
                train_state.widget(name),
                place,
                placeholder=say("train_page.by_formula"),
            )
    return chosen


def _choice(name: str, options: tuple[str, ...], now: str, usual: str = "") -> str:
    """A picked value, or the default, which the address omits."""
    listed = ["", *options]
    picked = st.selectbox(
        say(f"train_page.{name}"),
        listed,
        listed.index(now) if now in listed else 0,
        key=train_state.widget(name),
        format_func=lambda value: usual if usual and not value else say(f"train_page.{name}.{value or 'usual'}"),
    )
    return str(picked or "")


def _buy(table: dp.Table, query: OfGradients, worth: Any, least: str) -> None:
    price = table.preview(query, checked=True)
    frame.show_price(table, price, "_train")
    takes = say("train_page.takes", share=prices.takes(table, price.share), steps=query.steps)
    html = f'{answer_notes.cut_note(query)}<p class="muted">{escape(takes)}</p>'
    if not price.useful:
        share = enough(table, query, price)
        short = "train_page.mostly_noise_short" if share is None else "train_page.mostly_noise"
        html += f'<p class="warn">{gloss.text(say(short, share=percent(share or 0)))}</p>'
    html += least
    if query.diverges:
        html += f'<p class="warn">{escape(say("train_page.diverges"))}</p>'
    worth.html(html)
    label = say("train_page.button", share=prices.takes(table, price.share))
    if fit_warnings.instead_at("trained", table, query):
        return
    job.ask_button(label, table, query, "train-go", disabled=not price.admissible, place="trained")
    if not price.admissible:
        job.refused(say("train_page.too_much", left=percent_left(table.meter().unused)))


def _earlier(table: dp.Table, but: str = "") -> None:
    """Earlier trainings, free to open."""
    trainings = [training for training in table.trainings() if training.request_id != but]
    history.kept(say("train_page.earlier"), trainings, history.trained_address)
    first_looks = [look for look in table.first_looks(but=but) if shapes_form.of_use(look)]
    history.kept(say("shapes_page.earlier"), first_looks, history.shapes_address)
