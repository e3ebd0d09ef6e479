"""The Train page: what to predict from what, how exact, the model's expected value and the price; the wait while a
model is trained; and the model itself, in plain words, for a made-up person, with its path and its files."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import date
from fractions import Fraction
from functools import partial
from html import escape
from math import exp, sqrt
from typing import Any

import streamlit as st

import dpengine as dp
from dpengine.asking.answers import round_up_two
from dpengine.core.exact import one_two_five
from dpengine.core.printed import chance, percent, percent_left, power_of_ten, three_figures, two_figures
from dpengine.mechanisms.marginals.overview import Overview
from dpengine.mechanisms.marginals.residuals import MOST_TOGETHER
from dpengine.mechanisms.models import excess
from dpengine.mechanisms.models.excess import CALIBRATIONS, COORDINATE, ITERATES, L2_LAPLACE, TrainingSetting
from dpengine.mechanisms.models.of_gradients import MOST_STEPS, OfGradients
from dpengine.mechanisms.models.of_models import OfModel
from dpengine.messages import called, of_practice, plain, say
from dpengine.messages.language import current
from dpengine.messages.numbers import local, to_figures
from dpengine.planning import training
from dpengine.planning.opening import AT_MOST, SHARES, opening_share
from dpengine.planning.training import StepsOption, lecture_steps, trainings
from dpengine.population.session_validity import USELESS
from dpengine.population.validity import flattery
from dpengine.released.files import as_sheet
from dpengine.released.look import Look
from dpengine.released.model_scripts import script_of
from dpengine.released.scoring import Scored, score
from dpengine.released.shapes import Effect as ShapeEffect
from dpengine.released.shapes import Shapes, predictable, sources
from dpengine.statistics.features import CONSTANT, MOST_WIDE, WEIGHT_BITS, Model
from ui.ask import answer as answers
from ui.ask import fit_warnings, spend
from ui.ask.spend import enough, least_share_html
from ui.board import board_figures, board_state
from ui.parts import answer_notes, exports, fields, history, job
from ui.pictures import charts, named_bars
from ui.pictures.named_bars import NamedBar
from ui.shell import frame, nav, workshop_state
from ui.shell.frame import hint, paragraph, section_head
from ui.shell.incoming import here
from ui.shell.language import day_format
from ui.shell.state import workspace
from ui.shell.style import sheet
from ui.words import gloss, model_words, prices
from ui.words.figures import bare, printed, printed_range, rounded, rounded_range
from ui.words.markup import Html, html_table, p, paragraphs, unmarked
from ui.words.wording import range_words

# --- the choices on the Train page. The address keeps them, so that a link restores them

PLACE = "train"
LONGEST = 60
MORE = ("calibration", "region", "iterate", "steps", "rate", "epsilon")
NAMES = ("target", "positive", "kind", "features", "share", *MORE)


def targets(table: dp.Table) -> list[str]:
    """The columns that can be predicted: numbers, and lists that are short enough, if there are columns to predict them
    from."""
    names = table.schema.of_kind(dp.Number, dp.Category)
    return [name for name in names if _short(table.schema[name]) and columns_for(table, name)]


def columns_for(table: dp.Table, target: str) -> list[str]:
    schema = table.schema
    return [name for name in schema.of_kind(dp.Number, dp.Date, dp.Category) if name != target and _short(schema[name])]


def kinds(table: dp.Table, target: str) -> list[str]:
    """The keys of the trainings that can predict the column, as their cards say."""
    wanted = "column.target.category" if isinstance(table.schema[target], dp.Category) else "column.target.number"
    return [key for key in trainings() if wanted in {parameter.kind for parameter in dp.catalogue[key].card.parameters}]


def _short(column: Any) -> bool:
    """Does a column suit a model? A list of one value is useless, and one that is longer than a model is wide does not
    fit."""
    return not isinstance(column, dp.Category) or (len(column.values) > 1 and column.size < MOST_WIDE)


widget = partial(job.addressed_widget, PLACE)


def _clean(table: dp.Table, arriving: dict[str, str]) -> dict[str, Any]:
    offered, target = targets(table), arriving.get("target", "")
    if target not in offered:  # a yes or no, for which models are best; of several the last, mostly the outcome
        lists = [name for name in offered if isinstance(table.schema[name], dp.Category)]
        two = [name for name in lists if len(table.schema.category(name).values) == 2]
        target = two[-1] if two and table.budget.rule.c is not None else offered[0]
    typed = {name: arriving.get(name, "")[:LONGEST] for name in MORE}
    typed["share"] = share if (share := arriving.get("share", "")) in SHARES else ""
    kind = arriving.get("kind", "")
    typed["kind"] = kind if kind in kinds(table, target) else ""
    if not typed["kind"] and any(typed[name] for name in MORE):  # settings of a training in steps
        typed["kind"] = kinds(table, target)[0]
    goal, positive = table.schema[target], arriving.get("positive", "")
    typed["positive"] = positive if isinstance(goal, dp.Category) and positive in goal.values else ""
    features = job.read_names(arriving.get("features"), columns_for(table, target))
    return typed | {"target": target, "features": first(table, target) if features is None else features}


def first(table: dp.Table, target: str) -> list[str]:
    """The columns that the form begins with: for yes and no, all columns up to the limit; else one number and one list
    of two values."""
    offered = columns_for(table, target)
    if isinstance(table.schema[target], dp.Category) and table.budget.rule.c is not None:
        return offered[: MOST_TOGETHER - 1]
    numbers = [name for name in offered if isinstance(table.schema[name], dp.Number)]
    pairs = [name for name in offered if isinstance(column := table.schema[name], dp.Category) and column.size == 2]
    return numbers[:1] + pairs[:1] or offered[:1]


def model_address(table: str, look: str, target: str, positive: str, features: Sequence[str]) -> Any:
    """The URL parameters of a model read off a first look."""
    query = {"target": target, "positive": positive, "features": json.dumps([*features]) if features else ""}
    return {"table": table, SHAPES: look} | {name: value for name, value in query.items() if value}


# --- a model's expected value, from public facts: three kinds of noise side by side, by steps and spend; and the number
# of steps: this training's and the lecture's, with their price and promise

_LENGTHS = (("second", 1), ("minute", 60), ("hour", 3600), ("day", 86_400), ("year", 31_557_600))


def steps_html(query: OfGradients, delta: Fraction) -> str:
    lecture = lecture_steps(query, delta)
    if lecture is None:
        return p(say("train_page.lecture_no_delta"), "muted")
    heads = [say(f"train_page.column.{name}") for name in ("which", "steps", "time", "worse")]
    rows = [_row(query, option) for option in lecture.options]
    facts = {"epsilon": three_figures(lecture.epsilon), "delta": power_of_ten(delta), "width": query.width}
    lines = [say("train_page.lecture_price", people=lecture.people, steps=query.steps, about=query.people, **facts)]
    if not lecture.steps:
        lines.append(say("train_page.lecture_none", people=lecture.for_one))
    elif lecture.steps > MOST_STEPS:
        lines.append(say("train_page.lecture_capped", most=MOST_STEPS))
    lines.append(say("train_page.lecture_estimate"))
    below = paragraphs(map(gloss.text, lines))
    lead = p(say("train_page.lecture_lead"), "muted")
    return f"{lead}{html_table(heads, rows, kind='plain noises')}{below}"


def _row(query: OfGradients, option: StepsOption) -> tuple[str, ...]:
    title = say(f"train_page.steps_of.{option.kind}")
    title = Html(f"<b>{escape(title)}</b>") if option.kind == "this" else title
    worse = query.promise().at(option.risk).said("train_page.short", query)
    return title, plain(option.steps), _length(option.seconds), worse


def _length(seconds: float) -> str:
    unit, size = next(pair for pair in reversed(_LENGTHS) if seconds >= pair[1] or pair[1] == 1)
    many = round_up_two(Fraction(seconds) / size) if seconds > size else 1
    return say(f"train_page.time.{unit}", many=max(int(many), 1))


STEPS = (1, 2, 3, 5, 7, 10, 15, 20, 30, 50, 70, 100, 150, 200, 300, 500, 700, MOST_STEPS)
SPENDS = (0.05, 0.1, 0.2, 0.3, 0.5, 0.7, 1, 1.5, 2, 3, 5, 10, 20)  # times the chosen ε
_DRAWN = {"gaussian": ("left", "solid"), "l2_laplace": ("take", "dash"), "coordinate": ("spent", "dot")}
_WITHOUT = ("muted", "longdash")


def show_preview(query: OfGradients, offers: dict[str, OfGradients | dp.AllowanceError], delta: Fraction) -> None:
    promise = query.promise()
    supposed = "train_page.nominal_where" if query.conditional else "train_page.nominal"
    notes = [*([say(supposed)] if promise.nominal else []), say("train_page.worst_case")]
    st.html(f"<p><b>{escape(promise.said('train_page.promise', query))}</b></p>{p(' '.join(notes), 'muted')}")
    setting, now = query.setting, float(query.epsilon)
    with fields.details(say("train_page.figures"), "train-figures") as drawn:
        if not drawn:
            return
        st.html(_noises_html(query, offers))
        section_head(say("train_page.against_steps"))
        _draw(query, excess.along_steps(setting, sorted({*STEPS, query.steps})), float(query.steps), "steps")
        st.html(steps_html(query, delta))
        section_head(say("train_page.against_epsilon"))
        _draw(query, excess.along_epsilon(setting, [now * times for times in SPENDS]), now, "epsilon")
        st.html(_figures_html(query))


def _draw(query: OfGradients, curves: dict[str, list[tuple[float, float]]], now: float, axis: str) -> None:
    """Draw the error with each kind of noise at its best step size; a dot marks the chosen kind at the current
    setting."""
    lines = []
    for name in [noise for noise in CALIBRATIONS if noise in curves]:
        points = [(x, query.goal.error(risk)) for x, risk in curves[name]]
        here = next((point for point in points if point[0] == now), None)
        mark = here if name == query.calibration else None
        lines.append(charts.Line(say(f"train_page.calibration.{name}"), points, mark, *_DRAWN[name]))
    bare = [(x, query.goal.error(risk)) for x, risk in curves["plain"]]
    lines.append(charts.Line(say("train_page.limit"), bare, None, *_WITHOUT))
    alt = say(f"train_page.alt.{axis}")
    charts.curves(lines, say(f"train_page.axis.{axis}"), query.goal.axis(), alt, f"train-{axis}", 320)


def people_of(setting: TrainingSetting) -> float:
    """How many people would move a step as far as its noise does, if all their gradients pulled one way."""
    return sqrt(setting.noise / setting.stretch / setting.width) * setting.people / setting.clip


def _noises_html(query: OfGradients, offers: dict[str, OfGradients | dp.AllowanceError]) -> str:
    """HTML: what the same spend buys with each kind of noise."""
    noise, *numbers = (escape(say(f"train_page.column.{name}")) for name in ("noise", "scale", "worse"))
    head = f"<th>{noise}</th>" + "".join(f'<th class="number">{title}</th>' for title in numbers)
    rows = ""
    for name in CALIBRATIONS:
        title, offer = escape(say(f"train_page.calibration.{name}")), offers[name]
        if name == query.calibration:
            title = f"<b>{title}</b> · {escape(say('train_page.used'))}"
        cells = f"<td>{title}</td>"
        if isinstance(offer, OfGradients):
            people = say("train_page.scale", people=round_up_two(Fraction(people_of(offer.setting))))
            above = offer.promise().said("train_page.short", offer)
            cells += f'<td class="number">{escape(people)}</td><td class="number">{escape(above)}</td>'
        else:
            cells += f'<td colspan="2" class="muted">{escape(str(offer))}</td>'
        rows += f"<tr>{cells}</tr>"
    title = f"<h2>{escape(say('train_page.noises'))}</h2><p class='muted'>{escape(say('train_page.noises_lead'))}</p>"
    table = f"<table class='plain noises'><tr>{head}</tr>{rows}</table>"
    return f"{title}<div class='scroll' tabindex='0'>{table}</div>{_STYLE}"


def _figures_html(query: OfGradients) -> str:
    """HTML with the parameters, for experts."""
    promise, names = query.promise(), ("steps", "radius", "clip", "width", "people", "epsilon")
    by_weight, by_length = (people_of(replace(query.setting, calibration=name)) for name in (COORDINATE, L2_LAPLACE))
    times = to_figures(by_weight / by_length, 2)  # the noises at the same ε and steps
    parameters = {name: getattr(query, name) for name in names}
    bounds = {name: two_figures(getattr(promise, name)) for name in ("risk", "plain", "limit")}
    lines = [
        *(say(f"train_page.means.{name}", times=times) for name in CALIBRATIONS),
        say("train_page.parameters", rate=two_figures(query.rate), **parameters),
        say("train_page.bounds", **bounds),
        say("receipt.theorem", theorem=query.theorem),
        *query.card.caveat_texts,
    ]
    return paragraphs(map(gloss.text, lines))


_STYLE = sheet("train/train")


# --- a yes-or-no model before anything is spent: the counts to buy, their promise, and the price

SHAPES = "shapes"
NOISE = 0.25  # in the chance of a yes; with more, the effect of a value that a tenth of the people have says nothing
CLEAR = 0.05
_MOST_LOOKS = 5


def counts_offered(table: dp.Table, given: dict[str, Any], share: Fraction) -> Overview:
    """The first look that this share of the allowance buys for the model; refuses if the share buys none."""
    wanted = training.look_for_model(table.schema, given["target"], given["features"])
    counts = table.at_share(table.query("overview", **wanted, epsilon="1", noise=""), share)
    if not isinstance(counts, Overview):
        raise dp.AllowanceError("train.no_room")
    return counts


def counts_possible(table: dp.Table, target: str) -> bool:
    """Can a model of this column be read off counts? Only for a list, and if the allowance has a δ: Gaussian noise has
    no finite ε."""
    return isinstance(table.schema[target], dp.Category) and table.budget.rule.c is not None


def usual_counts(table: dp.Table, given: dict[str, Any]) -> str:
    """The least share of the rest, in percent, at which noise hardly moves the effect of a value that a tenth of people
    have."""

    def offer(share: str) -> Overview:
        return counts_offered(table, given, table.meter().unused * int(share) / 100)

    def clear(query: dp.Query) -> bool:
        assert isinstance(query, Overview)
        return training.reach_of_effect(query, given["target"], query.most // 10) <= CLEAR

    return opening_share(offer, clear, table.check_part) if given["features"] else AT_MOST


def buy_counts(table: dp.Table, query: Overview, target: str, worth: Any, least: str = "") -> None:
    price = table.preview(query, checked=True)
    frame.show_price(table, price, "_train")
    takes = say("shapes_page.takes", share=prices.takes(table, price.share), columns=len(query.names))
    with worth:
        board_state.counted_as(query)
        paragraph(takes)
        if least:
            st.html(least)
        if (moved := training.reach_of_effect(query, target, query.most // 10)) >= NOISE:
            paragraph(say("shapes_page.noise", points=_points(min(moved, 1.0))), "warn")
    _offer(table, query, price, "shapes_page.button", SHAPES)


def preview_counts(query: Overview, target: str) -> None:
    """Draw the promised error of a count, and how clear a value's effect will be, by how many people share the
    value."""
    reach = training.reach_of_cells(query, target)
    promise = say(f"shapes_page.promise.{query.counted}", reach=two_figures(Fraction(reach)), chance=chance(query.beta))
    below = p(say("shapes_page.no_promise"), "muted")
    lead = p(say("shapes_page.bands_lead"), "muted")
    st.html(f"<p><b>{escape(promise)}</b></p>{below}<h2>{escape(say('shapes_page.bands'))}</h2>{lead}")
    rows = []
    for part in (2, 5, 20, 100):
        people = query.most // part
        moved = min(training.reach_of_effect(query, target, people), 1.0)
        rows.append((plain(people), say("shapes_page.points", points=_points(moved)) if people else "–"))
    heads = say(f"shapes_page.column.rows.{query.counted}"), say("shapes_page.column.band")
    st.html(html_table(heads, rows, kind="plain noises"))
    with fields.details(say("train_page.figures"), "train-figures") as drawn:
        if drawn:
            st.html(paragraphs([say("receipt.theorem", theorem=query.theorem), *query.card.caveat_texts]))


def _points(share: float) -> str:
    return two_figures(Fraction(100 * share))


def free(table: dp.Table, given: dict[str, Any]) -> None:
    """Draw links to first looks that already hold a model of this column, at no further cost."""
    looks = []
    for look_answer in table.first_looks(_MOST_LOOKS):
        look = board_figures.look_of(look_answer)
        if given["target"] in predictable(look):
            looks.append((look_answer, [name for name in given["features"] if name in sources(look, given["target"])]))
    if not looks:
        return
    with st.container(key="card-train-free"):
        section_head(say("shapes_page.free"), say("shapes_page.free_lead", target=given["target"]))
        for look_answer, features in looks:
            label = say("shapes_page.free_open", sentence=look_answer.sentence, when=history.when(look_answer.at))
            model = given["target"], given["positive"], features
            where = model_address(table.name, look_answer.request_id, *model)
            st.page_link(nav.page("train"), label=unmarked(label), query_params=where)


def show(table: dp.Table) -> None:
    bought, request = st.query_params.get(SHAPES), st.query_params.get("trained")
    shown = fit_warnings.became(table, bought, SHAPES, Overview, "shapes_page.unknown", show_shapes)
    if not shown:
        trained = OfGradients, "train_page.unknown", show_trained, _wait
        shown = fit_warnings.became(table, request, "trained", *trained)
    if not shown:
        st.html(f"<h1>{escape(say('train_page.title'))}</h1><p class='lead'>{gloss.text(say('train_page.lead'))}</p>")
        job.show_form(table, PLACE, "" if targets(table) else say("train_page.no_columns"), _form)
    history.earlier(say("train_page.earlier"), table.trainings(), "train", "trained", request)
    first_looks = [look for look in table.first_looks() if predictable(board_figures.look_of(look))]
    history.earlier(say("shapes_page.earlier"), first_looks, "train", SHAPES, bought)


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
            paragraph(say("train_page.stopping"), "", role="status")
        else:
            st.button(say("train_page.cancel"), key="train-cancel", on_click=_stop, args=(request, stopping))
        paragraph(say("train_page.cancel_means"))


def _stop(request: str, stopping: str) -> None:
    workspace().jobs.cancel(request)
    st.session_state[stopping] = True


Offers = dict[str, OfGradients | dp.AllowanceError]  # by kind of noise: the training, or why it is not possible


def _form(table: dp.Table) -> None:
    if not table.meter().unused:
        job.refused(say("ask.nothing_left"))
        return
    given = job.address_given(table, PLACE, NAMES, lambda arriving: _clean(table, arriving))[0]
    given |= _sentence(table, given)
    free(table, given)
    given["kind"] = _kind(table, given)
    counted = not given["kind"] and counts_possible(table, given["target"])  # the best way by our measurements
    usual = usual_counts if counted else _usual
    left, right = st.columns([5, 6], gap="medium")
    query: Overview | OfGradients | dp.AllowanceError | None = None
    offers = Offers()
    with left, st.container(key="card-train"):
        label, now = say("train_page.share"), given["share"] or usual(table, given)
        words = {share: say("session.share_of", share=share) for share in SHARES}
        share = st.select_slider(label, SHARES, now, key=widget("share"), format_func=words.__getitem__)
        paragraph(say("session.ends"))
        given["share"] = share
        worth = st.container()
        if counted:
            given |= dict.fromkeys(MORE, "")
        else:
            given |= _more(given, given["kind"] or kinds(table, given["target"])[0])
        job.remember_address(table, PLACE, given)
        if given["features"] and counted:
            try:
                query = counts_offered(table, given, table.meter().unused * int(given["share"]) / 100)
            except dp.AllowanceError as refusal:
                query = refusal
        elif given["features"]:
            offers = offered(table, given)
            query = best(offers, given["calibration"])
        least = partial(least_share_html, given["share"], lambda: usual(table, given))
        if isinstance(query, Overview):
            buy_counts(table, query, given["target"], worth, least())
        elif isinstance(query, OfGradients):
            _buy(table, query, worth, least())
        else:
            worth.html(p(str(query or say("train_page.choose")), "warn", "status"))
        job.show_refusal()
    with right, st.container(key="card-train-preview"):
        section_head(say("train_page.worth"))
        if isinstance(query, Overview):
            preview_counts(query, given["target"])
        elif isinstance(query, OfGradients):
            show_preview(query, offers, table.budget.rule.delta)
        else:
            paragraph(say("train_page.worth_none"))


def _sentence(table: dp.Table, given: dict[str, Any]) -> dict[str, Any]:
    """Draw “Predict [monthly_income] from …” or “Predict [has_car] — is it [yes]? from …”. Returns the target, which of
    its values is predicted, and the columns."""
    labels = {name: list(table.schema.category(name).values) for name in table.schema.of_kind(dp.Category)}
    target, positive = pick_goal(table.schema, targets(table), labels, (given["target"], given["positive"]), widget)
    others = columns_for(table, target)
    kept = [name for name in given["features"] if name in others]
    if target != given["target"]:
        kept = kept or first(table, target)
    features = choose_features(others, kept, widget(f"features-{target}"))
    if left_out := [name for name in table.schema.columns if name != target and name not in others]:
        paragraph(say("train_page.left_out", columns=left_out, most=MOST_WIDE))
    return {"target": target, "positive": positive, "features": features}


def pick_goal(
    schema: dp.Schema,
    offered: list[str],
    labels: dict[str, list[str]],
    now: tuple[str, str],
    widget: Callable[[str], str],
) -> tuple[str, str]:
    """Draw the pickers of the target and, for a list, of which of its `labels` is predicted; return both. `now` is
    where the pickers start. The drawn sentence ends in “from”."""
    first, value = now
    with st.container(key="sentence", horizontal=True, vertical_alignment="center", gap="small"):
        fields.word(say("train_page.predict"))
        target, positive = fields.pick("train_page.target", offered, first, called, widget("target")), ""
        if isinstance(goal := schema[target], dp.Category):
            fields.word(say("train_page.is"))
            listed = labels[target]
            usual = next(name for name in (value, model_words.usual_yes(goal), listed[0]) if name in listed)
            positive = fields.pick("train_page.value", listed, usual, called, widget(f"positive-{target}"))
        fields.word(say("train_page.from"))
    return target, positive


def _kind(table: dp.Table, given: dict[str, Any]) -> str:
    """Draw the ways of learning, if there are several, and return the key of the picked one; "" for the first way,
    which the address omits."""
    best = [""] if counts_possible(table, given["target"]) else []
    ways = [*best, *kinds(table, given["target"])]
    if len(ways) == 1:
        return ""
    now = given["kind"] if given["kind"] in ways else ways[0]
    with st.expander(say("shapes_page.ways"), expanded=now != ways[0]):
        if best:
            paragraph(say("shapes_page.ways_lead"))
        titles = {key: dp.catalogue[key].card.title if key else say("shapes_page.title") for key in ways}
        more: Any = {"key": widget("kind"), "format_func": titles.__getitem__, "required": True}
        picked = st.segmented_control(say("train_page.kind"), ways, default=now, **more)
        about = dp.catalogue[picked].card.plain if picked else say("shapes_page.plain")
        st.html(f'<p class="muted">{gloss.text(about)}</p>')
    return "" if picked == ways[0] else picked


def offered(table: dp.Table, given: dict[str, Any]) -> Offers:
    """By kind of noise, the training at this spend, or the refusal of it."""
    listed = isinstance(table.schema[given["target"]], dp.Category)
    key = given.get("kind") or kinds(table, given["target"])[0]
    wanted = {name: given[name] for name in ("target", "features", *MORE) if given.get(name)}
    if listed and given.get("positive"):
        wanted["positive"] = [given["positive"]]
    spend = table.meter().unused * int(given["share"]) / 100
    offers = Offers()
    for name in CALIBRATIONS:
        try:
            if given.get("epsilon"):
                query = table.query(key, **wanted | {"calibration": name, "noise": ""})
            else:
                query = table.training_for(key, spend, **wanted | {"calibration": name})
            assert isinstance(query, OfGradients)
            offers[name] = query
        except dp.AllowanceError as refusal:
            offers[name] = refusal
    return offers


def best(offers: Offers, wanted: str) -> OfGradients | dp.AllowanceError:
    """The training with the chosen kind of noise, else the one with the best promise; a refusal if none is possible.
    A promise is a bound above the best model of a region, and a training that comes nearer than bounds say comes
    first."""
    if wanted:
        return offers[wanted]
    had = [training for training in offers.values() if isinstance(training, OfGradients)]
    return min(had, key=lambda training: (not training.nearer, training.promise().risk)) if had else offers[COORDINATE]


def _usual(table: dp.Table, given: dict[str, Any]) -> str:
    """The smallest share of what is left, in percent, with a useful promise, within limits."""

    def offer(share: str) -> OfGradients:
        found = best(offered(table, given | {"share": share, "epsilon": ""}), "")
        if isinstance(found, dp.AllowanceError):
            raise found
        return found

    def clear(query: dp.Query) -> bool:
        assert isinstance(query, OfGradients)
        return query.clearly * query.promise().risk <= query.coarse()

    return opening_share(offer, clear, table.check_part) if given["features"] else AT_MOST


def _more(given: dict[str, Any], key: str) -> dict[str, str]:
    """Draw the rarely needed settings, and return them."""
    question = dp.catalogue[key]
    assert issubclass(question, OfGradients)
    named = {"iterate": question.usual_iterate, "region": question.usual_region}
    usual = {name: say("train_page.usual", what=say(f"train_page.{name}.{value}")) for name, value in named.items()}
    with fields.details(say("train_page.more"), "train-more", any(given[name] for name in MORE)) as drawn:
        if not drawn:
            return {name: given[name] for name in MORE}
        paragraph(say("train_page.more_lead"))
        choices = (("calibration", CALIBRATIONS), ("region", question.regions), ("iterate", ITERATES))
        chosen = {name: _choice(name, options, given[name], usual.get(name, "")) for name, options in choices}
        for place, name in zip(st.columns(3), ("steps", "rate", "epsilon"), strict=True):
            label, none = say(f"train_page.{name}"), say("train_page.by_formula")
            chosen[name] = fields.number_field(label, given[name], widget(name), place, placeholder=none)
    return chosen


def _choice(name: str, options: tuple[str, ...], now: str, usual: str = "") -> str:
    """Draw a picker, and return the picked value; "" for the default, which the address omits."""
    listed = ["", *options]
    words = {value: say(f"train_page.{name}.{value or 'usual'}") for value in listed if value or not usual}
    at = listed.index(now) if now in listed else 0
    return st.selectbox(say(f"train_page.{name}"), listed, at, lambda v: words.get(v, usual), key=widget(name)) or ""


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
        html += p(say("train_page.diverges"), "warn")
    worth.html(html)
    _offer(table, query, price, "train_page.button", "trained")


def _offer(table: dp.Table, query: dp.Query, price: dp.Preview, label: str, url_name: str) -> None:
    fit_warnings.before(table, query, price)
    if fit_warnings.instead_at(url_name, table, query):
        return
    words = say(label, share=prices.takes(table, price.share))
    job.ask_button(words, table, query, "train-go", disabled=not price.admissible, url_name=url_name)
    if not price.admissible:
        job.refused(say("train_page.too_much", left=percent_left(table.meter().unused)))


# --- fields for a made-up person: a declared value, or one on the declared grid


def typed(text: str | None) -> dict[str, Any]:
    value = job.read_address(text)
    return value if isinstance(value, dict) else {}


MANY = 6  # with more fields than this, use two columns


def model_field(name: str, column: dp.Number | dp.Date | dp.Category, now: Any, key: str) -> Any:
    name = unmarked(called(name))
    if isinstance(column, dp.Category):
        labels = list(column.labels)
        return str(st.selectbox(name, labels, labels.index(now) if now in labels else 0, called, key=key))
    if isinstance(column, dp.Date):
        first, last = column.first, column.last
        try:
            picked = min(max(date.fromisoformat(str(now)), first), last)
        except ValueError:
            picked = date.fromisoformat(column.value(column.size // 2))
        return st.date_input(name, picked, first, last, key=key, format=day_format()).isoformat()
    try:
        code = column.code(now) if now is not None else column.size // 2
    except dp.AllowanceError:
        code = column.size // 2
    kind: type[int] | type[float] = int if column.step.denominator == column.lower.denominator == 1 else float
    ends = kind(column.lower), kind(column.upper)
    return st.number_input(name, *ends, kind(column.value(code)), kind(column.step), key=key)


# --- how well a model fits its table, measured at its own price: accuracy or error, and calibration

CHECK_PLACE = "train-check"


def show_check(table: dp.Table, model: Model) -> None:
    section_head(say("train_page.check"))
    request = st.query_params.get("checked")
    asked = workspace().job(request) if request else None
    if asked is not None and not asked.over:
        job.wait(asked.request_id)
        return
    if asked is not None:
        job.renew(asked.request_id)
        frame.show_price(table, None)  # again: the charge may have come after the meter
        if asked.answer is None:
            job.refused(str(asked.error or say("job.unknown")))
    before = [check for check in table.checks() if isinstance(check.query, OfModel) and check.query.model == model]
    now = next((check for check in before if check.request_id == request), before[0] if before else None)
    if now is None:
        paragraph(say("train_page.check_lead"))
    else:
        _show_check(table, now)
    if table.closed:
        return
    with st.expander(say("train_page.check_again")) if now else st.container():
        _check_form(table, model)
    if before:
        links = " · ".join(map(history.receipt_of, before))
        st.html(f'<p class="muted">{escape(say("train_page.check_before"))} {links}</p>')


def _check_form(table: dp.Table, model: Model) -> None:
    try:

        def at(epsilon: str) -> dp.Query:
            return table.query("check_model", model=model.as_json(), epsilon=epsilon, noise="")

        opening = table.opening(at("1"))
        spend.start_from(table, spend.opens_at(opening), CHECK_PLACE)
        query = at(spend.choose(table, at, CHECK_PLACE))
    except dp.AllowanceError as error:  # the table was declared anew since then
        hint(str(error))
        return
    price = table.preview(query, checked=True)
    html = f"<p>{escape(say('spend.accept'))} <b>{escape(price.promise.words(query))}</b></p>"
    html += answer_notes.cut_note(query) + spend.least_html(table, opening)
    if not price.useful:
        noise = spend.noise_words(table, price, spend.enough(table, query, price))
        html += f'<p class="warn">{gloss.text(noise)}</p>'
    st.html(html)
    label = say("train_page.check_button", share=prices.takes(table, price.share))
    job.ask_button(label, table, query, "train-check-go", not price.admissible, "secondary", "checked")
    if not price.admissible:
        job.too_much(table)


def _show_check(table: dp.Table, answer: dp.Answer) -> None:
    """Draw the model's quality in a sentence, and the calibration curve: predicted against true."""
    query = answer.query
    assert isinstance(query, OfModel)
    first, listed = query.labels()[0], query.model.layout.listed
    low, high = answer.interval[first]
    facts = {"value": printed(query, answer.value[first], (low, high), first), "chance": chance(query.beta)}
    facts |= dict(zip(("low", "high"), printed_range(query, low, high, first), strict=True))
    facts |= {} if listed else {"target": query.model.layout.target}
    sentence = say("train_page.right" if listed else "train_page.off", **facts).replace(" %", "\u00a0%")
    words = flattery_words(table, answer)
    beside = "" if answer.raw is None else f"{query.beside(answer.raw)} {query.finds(answer.raw)}".strip()
    lead = f'<p class="lead"><b>{escape(sentence)}</b></p>' + (p(beside) if beside else "")
    st.html(f'{lead}<p class="muted">{escape(words)}</p>{answer_notes.cut_note(query)}')
    _curve(answer, query)
    with st.expander(say("answer.figures")):
        st.html(answers.bars_table(answer))


def flattery_words(table: dp.Table, answer: dp.Answer) -> str:
    """A sentence on how much too good the check may make the model look: every release before the check may have led to
    the model."""
    query = answer.query
    assert isinstance(query, OfModel)
    flattered = Fraction(1)
    if query.model.layout.listed and query.everybody:
        flattered = flattery(table.released(answer.receipt["charge"]["seq"]), query.facts.relation)
    if flattered >= USELESS:
        return say("check_model.flattery_none")
    return say("check_model.flattery", points=two_figures(flattered * 100))


def _curve(answer: dp.Answer, query: OfModel) -> None:
    layout, (low, high) = query.model.layout, map(float, query.said)
    wide = high - low
    labels = query.labels()[-query.parts :]
    drawn, band = [], []
    for place, label in enumerate(labels):
        if query.mute(answer.interval[label], label):
            continue
        middle = low + (place + 0.5) * wide / query.parts
        added = 0.0 if layout.listed else middle  # for a number, the answer is the error
        drawn.append((middle, added + answer.value[label]))
        band.append((added + answer.interval[label][0], added + answer.interval[label][1]))
    if not drawn:
        paragraph(say("train_page.curve_none"))
        return
    alone = drawn[0] if len(drawn) == 1 else None  # a line of one point is drawn as a dot
    lines = [charts.Line(say("train_page.curve_is"), drawn, alone, "left", band=tuple(band))]
    if query.calibrated:
        ideal = charts.Line(say("train_page.curve_right"), [(low, low), (high, high)], None, "muted", "dash")
        lines.insert(0, ideal)
    alt = "; ".join(f"{bare(x)}: {rounded(y, *ends)}" for (x, y), ends in zip(drawn, band, strict=True))
    code = "train_page.curve_lead" if query.calibrated else "train_page.curve_lead_score"
    lead = say(code, chance=chance(query.beta), known=len(drawn), parts=query.parts)
    section_head(say("train_page.curve"), lead, level="h3")
    unit = "%" if layout.listed else layout.target
    axes = say("train_page.axis.said", unit=unit), say("train_page.axis.is", unit=unit)
    if not query.calibrated:
        yes = [layout.goal.labels[code] for code in layout.yes] if isinstance(layout.goal, dp.Category) else []
        axes = say("train_page.axis.score"), say("train_page.axis.share", yes=yes)
    charts.curves(lines, *axes, alt, "train-curve", 340, even=True)


# --- apply a model to an uploaded file: it comes back with one more column. The server's copy is deleted as soon as
# it is read, nothing of it is stored or logged, and nothing is spent

MOST_BYTES = 20 << 20
DIGITS = 4  # decimals of a chance
_NUMBER = re.compile(r"[+-]?\d{1,15}(?:[.,]\d{1,9})?", re.ASCII)
_KEPT = "scored-file"


@dataclass(frozen=True)
class Done:
    heads: list[str]
    rows: list[list[str | float | None]]
    without: int


def show_file(table: dp.Table, answer: dp.Answer, model: Shapes | Model) -> None:
    if workshop_state.on():  # a workshop takes no uploads
        return
    with st.container(key="card-train-file"):
        column, needed = named(model), list(model.columns if isinstance(model, Shapes) else model.layout.names)
        with of_practice(""):  # a file has the names as they are stored, in every language
            lead = say("score_file.lead", column=column, columns=needed)
        section_head(say("score_file.title"), lead)
        label, key = say("score_file.file"), f"score-file-{answer.request_id}"
        given = here.picker(label, key=key, max_upload_size=MOST_BYTES // 2**20)
        if given is None:
            st.session_state.pop(_KEPT, None)
            return
        mark = (given.file_id, answer.request_id, column, tuple(needed), current())
        kept = st.session_state.get(_KEPT)
        if kept is None or kept[0] != mark:
            with st.spinner(say("score_file.working")), of_practice(""):
                kept = (mark, _scored(table, given, model, column))
            st.session_state[_KEPT] = kept
        _show_files(kept[1], answer)


def named(model: Shapes | Model) -> str:
    """The name of the new column in a predicted file: a chance, a score or the number itself."""
    if isinstance(model, Shapes):
        target, yes, sharp = model.target, list(model.yes) if model.listed else [], False
    else:
        goal, sharp = model.layout.goal, model.layout.sharp
        labels = goal.labels if isinstance(goal, dp.Category) else ()
        target, yes = model.layout.target, [labels[code] for code in model.layout.yes] if labels else []
    if not yes:
        return say("score_file.number", target=target)
    return say("score_file.score" if sharp else "score_file.chance", target=target, yes=yes)


def _scored(table: dp.Table, given: Any, model: Shapes | Model, column: str) -> Done | str:
    """The predicted file of an upload, or a sentence on why there is none."""
    try:
        path = here.take(given, workspace().folder / "tmp", MOST_BYTES)
    except dp.AllowanceError as refusal:
        return str(refusal)
    try:
        done = score(path, model, table.dialect or dp.Dialect())
    except dp.AllowanceError as refusal:
        return str(refusal)
    finally:
        here.forget(path)
    while column in done.names:
        column += " ·"
    listed = model.listed if isinstance(model, Shapes) else model.layout.listed
    return Done([*done.names, column], list(_rows(done, DIGITS if listed else None)), done.without)


def _rows(done: Scored, digits: int | None) -> Iterator[list[str | float | None]]:
    cells = [column.to_pylist() for column in done.cells]
    for place, prediction in enumerate(done.said.tolist()):
        shown = round(prediction, digits) if digits is not None else float(f"{prediction:.6g}")
        yield [*(column[place] for column in cells), None if math.isnan(prediction) else shown]


def as_text(done: Done) -> bytes:
    """The predicted file as CSV. Numbers stay as written; text that could be read as a formula is escaped."""

    def written(cell: Any) -> Any:
        return cell if isinstance(cell, str) and _NUMBER.fullmatch(cell) else exports.safe(cell)

    return exports.as_csv(done.heads, done.rows, written).encode("utf-8", "replace")


def in_sheet(done: Done) -> bytes:
    return as_sheet(done.heads, ([_typed(cell) for cell in row] for row in done.rows), "table")


def _typed(cell: str | float | None) -> str | float | None:
    """The cell as a number if it is one, without a meaningful leading 0 or an ambiguous comma; else the cell as it
    is."""
    if not isinstance(cell, str) or "," in cell or not _NUMBER.fullmatch(cell) or re.match(r"[+-]?0\d|\+", cell):
        return cell
    return float(cell) if "." in cell else int(cell)


def _show_files(done: Done | str, answer: dp.Answer) -> None:
    if isinstance(done, str):
        hint(done)
        return
    message = say("score_file.done", rows=len(done.rows))
    message += " " + say("score_file.without", rows=done.without) if done.without else ""
    paragraph(message, "", role="status")
    name = f"predicted-{answer.receipt['charge']['hash'][:8]}"
    files = {"csv": ("score_file.csv", partial(as_text, done)), "xlsx": ("score_file.sheet", partial(in_sheet, done))}
    exports.offer_all(name, "score", files)
    paragraph(say("score_file.kept"))


def offer_model(table: dp.Table, answer: dp.Answer, model: Shapes | Model, lead: str) -> None:
    """Draw buttons that download the model, as a file and as a program that predicts."""
    hashed = answer.receipt["charge"]["hash"]
    section_head(say("train_page.take"), say(lead))
    with st.container(horizontal=True):
        content, script = model_json(answer, model), script_of(model, answer.sentence, hashed, table.dialect)
        exports.offer(say("train_page.json"), content, f"model-{hashed[:8]}.json", "train-json", type="primary")
        exports.offer(say("train_page.python"), script, f"model_{hashed[:8]}.py", "train-python")
    paragraph(say("train_page.may"))


def model_json(answer: dp.Answer, model: Shapes | Model) -> str:
    """The exact model as JSON; for a trained model also its coefficients in the columns' units."""
    content: dict[str, Any] = {"model": model.as_json()}
    if isinstance(model, Model):
        content |= {"coefficients": answer.value, "intervals": answer.interval}
    content |= {"sentence": answer.sentence, "charge": answer.receipt["charge"]["hash"]}
    return json.dumps(content, ensure_ascii=False, indent=1)


# --- a model read off a first look: its quality beside guessing, the effects with error bands, predictions for a
# made-up person, a check at its own price, and its files. Nothing else here reads the table or spends

ACROSS = 2
ENDS = 0.05  # of the scale of a chance
SAYS = 0.02  # a column whose strongest effect is a smaller share of the largest says little
_LEAVE = ("shapes", "with", "target", "positive", "features", "checked")


def show_shapes(table: dp.Table, answer: dp.Answer) -> None:
    look = board_figures.look_of(answer)
    took = prices.took(table, workspace().ledger.find(answer.request_id))
    paragraph(say("shapes_page.lead", share=took), "lead")
    if notes := answer_notes.headline_notes(answer, linked=True) + answer_notes.fit_notes(answer, linked=True):
        st.html(notes)
    model = _chosen(look)
    if model is None:
        hint(say("shapes_page.none"))
    else:
        _show_quality(model)
        _pictures(answer, model)
        left, right = st.columns([6, 5], gap="medium")
        with left, st.container(key="card-shapes-all"):
            _shape_figures(model)
        with right, st.container(key="card-train-try"):
            _try_shapes(answer, model)
        show_file(table, answer, model)
        if (whole := model.checkable()) is not None:
            with st.container(key="card-train-check"):
                show_check(table, whole)
        with st.container(key="card-train-take"):
            offer_model(table, answer, model, "shapes_page.take_lead")
            codes = ("good_title", "good", "bad")
            title, good, bad = (escape(say(f"shapes_page.{code}", target=model.target)) for code in codes)
            st.html(f"<h2>{title}</h2><p>{good}</p><p>{bad}</p>")
    where = {"table": table.name, "look": answer.request_id}
    st.page_link(nav.page("board"), label=say("shapes_page.board"), query_params=where)
    answers.receipt(answer, "shapes")
    st.button(say("train_page.another"), key="train-another", on_click=nav.forget, args=_LEAVE)


def choose_features(offered: list[str], now: list[str], key: str) -> list[str]:
    label, none = say("train_page.features"), say("train_page.features_none")
    return st.multiselect(label, offered, now, called, key=key, placeholder=none, label_visibility="collapsed")


def _chosen(look: Look) -> Shapes | None:
    """Draw the pickers of the target and of the columns to predict from, and return the model; None if nothing can be
    predicted. The address keeps the choice."""
    offered = predictable(look)
    if not offered:
        return None
    asked = st.query_params
    wanted = asked.get("target", "")
    now = wanted if wanted in offered else offered[-1], asked.get("positive", "")
    labels = {name: look.query.cell_labels[look.place(name)] for name in offered}
    target, positive = pick_goal(look.query.facts.schema, offered, labels, now, "shapes-{}".format)
    others = sources(look, target)
    read = job.read_address(asked.get("features"))
    kept = [name for name in others if isinstance(read, list) and name in read]
    columns = choose_features(others, kept or others, f"shapes-features-{target}")
    chosen = {"target": target, "positive": positive, "features": json.dumps(columns)}
    for name, value in chosen.items():
        if value and asked.get(name) != value:
            asked[name] = value
    return Shapes(look, target, [positive] if positive else [], columns or others)


def _show_quality(model: Shapes) -> None:
    st.html(f"<h1>{escape(say('shapes_page.result', target=model.target))}</h1>")
    first, verdict = model_words.score(model), model_words.judged(model)
    held = model.held_back()
    html = f'<p class="together">{escape(first)}</p><p class="lead">{escape(verdict)} '
    html += f"{escape(say('train_page.no_cause'))}</p>"
    if held is not None:
        off, blank = (amount(model, part) for part in held)
        html += p(say("shapes_page.held", off=off, blank=blank), "muted")
    st.html(html)


def amount(model: Shapes, size: float) -> str:
    return say("shapes_page.points", points=local(f"{100 * size:.1f}")) if model.listed else bare(size)


def _pictures(answer: dp.Answer, model: Shapes) -> None:
    average = bare(100 * model.average) if model.listed else bare(model.average)
    facts = {"average": average, "target": model.target} | ({"yes": list(model.yes)} if model.listed else {})
    lead = say("shapes_page.begin_list" if model.listed else "shapes_page.begin_number", **facts)
    mean = say("shapes_page.bands_mean", target=model.target, chance=chance(answer.query.beta))
    note = mean if model.measured_pairs else say("shapes_page.bands_none")
    st.html(f'<p>{escape(lead)}</p><p class="muted">{escape(note)}</p>')
    shown = {name: bars_of(model, name) for name in model.strongest()}
    sizes = {name: max((abs(bar.value) for bar in bars), default=0.0) for name, bars in shown.items()}
    largest = max(sizes.values(), default=1.0) or 1.0
    ends = [abs(end) for bars in shown.values() for bar in bars for end in (bar.low, bar.high, bar.value) if end]
    widest = min(max(ends, default=1.0), 1.6 * largest)
    clear = [name for name, bars in shown.items() if any(not bar.faint for bar in bars) or not model.measured_pairs]
    telling = clear or list(shown)[:2]
    _grid(model, {name: shown[name] for name in telling if sizes[name] > SAYS * largest}, widest)
    rest = {name: bars for name, bars in shown.items() if name not in telling or sizes[name] <= SAYS * largest}
    if rest:
        with st.expander(say("shapes_page.more", columns=len(rest))):
            _grid(model, rest, widest)


def _grid(model: Shapes, shown: dict[str, list[NamedBar]], widest: float) -> None:
    for place, (name, bars) in zip(frame.in_rows(len(shown), ACROSS, gap="medium"), shown.items(), strict=True):
        with place, st.container(key=f"card-shape-{model.look.place(name)}"):
            section_head(called(name))
            alt = say("shapes_page.alt", column=name, bars="; ".join(f"{bar.name} {bar.label}" for bar in bars))
            st.html(named_bars.sketch(bars, (-widest, widest)).html(alt, f"shape-{model.look.place(name)}"))


def bars_of(model: Shapes, column: str) -> list[NamedBar]:
    """The bars of a column; rare groups are left out."""
    names = model.look.query.cell_names(model.look.place(column))
    bars = [_bar(model, name, effect) for name, effect in zip(names, model.effects(column), strict=True)]
    pairs = zip(bars, model.effects(column), strict=True)
    return [bar for bar, effect in pairs if effect.clear or effect.rows * 1000 >= model.look.rows] or bars


def _bar(model: Shapes, name: str, effect: ShapeEffect) -> NamedBar:
    times = 100.0 if model.listed else 1.0
    low, high = (None if end is None else times * end for end in (effect.low, effect.high))
    band = "" if low is None or high is None else " – ".join(rounded_range(low, high))
    colour, unclear = "left" if effect.value >= 0 else "take", low is not None and not effect.clear
    return NamedBar(name, times * effect.value, low, high, signed(times * effect.value), band, colour, unclear)


def signed(value: float) -> str:
    digits = bare(float(f"{value:.2g}"))
    return f"+{digits}" if value > 0 and digits != "0" else digits


def _shape_figures(model: Shapes) -> None:
    section_head(say("train_page.card.title"))
    names = ("column", "value", "adds", *(["band"] if model.measured_pairs else []))
    heads, bars = [say(f"shapes_page.figure.{name}") for name in names], {c: bars_of(model, c) for c in model.columns}
    rows = [(called(c), bar.name, bar.label, bar.band)[: len(names)] for c, drawn in bars.items() for bar in drawn]
    table = html_table(heads, rows, words=4, scroll="scroll tall", region=say("shapes_page.all"))
    st.html(table + _STYLE)


# --- what it would say, and its files ---------------------------------------------------------------------------------


def _try_shapes(answer: dp.Answer, model: Shapes) -> None:
    section_head(say("train_page.try"), say("train_page.try_lead"))
    kept = typed(st.query_params.get("with"))
    answered = st.container()
    schema, values = model.look.query.facts.schema, {}
    many = len(model.columns)
    for name, place in zip(model.columns, frame.in_rows(many, 2 if many > MANY else 1), strict=True):
        column = schema[name]
        assert isinstance(column, dp.Number | dp.Date | dp.Category)
        now = kept.get(name, model.usual_value(name))
        with place:
            values[name] = model_field(name, column, now, f"shapes-with-{answer.request_id}-{name}")
    prediction = _kept_and_predicted(model, values)
    number = say("train_page.would_number", value=bare(prediction), target=model.target)
    words = would(model, prediction) if model.listed else number
    answered.html(p(words.replace(" %", "\u00a0%"), "together", "status"))


def _kept_and_predicted(model: Shapes | Model, values: dict[str, Any]) -> float:
    """The model's prediction for these values, which the address keeps."""
    text = json.dumps(values, ensure_ascii=False)
    if st.query_params.get("with") != text:
        st.query_params["with"] = text
    return float(model.predict(values))


def would(model: Shapes, prediction: float) -> str:
    """A predicted chance in words. Near 0 and 1 the words say only that it is low or high: a sum of effects may pass
    these ends."""
    facts = {"yes": list(model.yes), "target": model.target}
    if ENDS <= prediction <= 1 - ENDS:
        return say("train_page.would_list", share=percent(prediction), **facts)
    return say("shapes_page.would_low" if prediction < ENDS else "shapes_page.would_high", **facts)


# --- in plain words: each column's effect on the prediction, in its own unit, and how sure it is

Interval = tuple[float, float]
WIDE_ODDS = 10.0  # the ends of such a range of log-odds differ by a factor of more than 20,000


@dataclass(frozen=True)
class Effect:
    """The effect of changing one column, all else equal: on the prediction, the log-odds or the score."""

    column: str
    value: float
    interval: Interval | None
    reach: float  # the largest possible effect
    by: str = ""  # for a number: this much more of it
    label: str = ""  # for a list: this value …
    base: str = ""  # … rather than this one

    @property
    def clear(self) -> bool:
        """Is the effect more than noise? False if its range is unknown."""
        return self.interval is not None and not self.interval[0] <= 0 <= self.interval[1]


def step_of(column: dp.Number | dp.Date) -> Fraction:
    """A round, imaginable change of a column: about a tenth of its range."""
    round_step = one_two_five(column.diameter / 70, column.diameter / 7)[-1]
    return max(round_step, getattr(column, "step", Fraction(1)))


def _by(column: dp.Number | dp.Date, step: Fraction) -> str:
    return say("train_page.days", days=step) if isinstance(column, dp.Date) else plain(step)


def effects(answer: dp.Answer) -> list[Effect]:
    """The effects of all columns: one for each number and date, and one for each list, between the two values that
    differ most."""
    query = answer.query
    assert isinstance(query, OfGradients)
    each = []
    for name in query.features:
        column = query.facts.schema[name]
        if isinstance(column, dp.Category):
            each.append(_widest(answer, name, column))
        else:
            assert isinstance(column, dp.Number | dp.Date)
            step = step_of(column)
            reach = abs(answer.value[name]) * float(column.diameter)
            each.append(Effect(name, *_scaled(answer, name, float(step)), reach, by=_by(column, step)))
    return each


def _scaled(answer: dp.Answer, label: str, factor: float) -> tuple[float, Interval | None]:
    interval = answer.interval and tuple(end * factor for end in answer.interval[label])
    return answer.value[label] * factor, interval or None


def _widest(answer: dp.Answer, name: str, column: dp.Category) -> Effect:
    each = {label: answer.value[f"{name} = {label}"] for label in column.values}
    low, high = min(each, key=each.__getitem__), max(each, key=each.__getitem__)
    value, interval = each[high] - each[low], None
    if answer.interval:
        (least_a, most_a), (least_b, most_b) = (answer.interval[f"{name} = {label}"] for label in (high, low))
        interval = least_a - most_b, most_a - least_b
    return Effect(name, value, interval, abs(value), label=high, base=low)


def headline(answer: dp.Answer) -> tuple[str, Effect]:
    """The strongest effect as a sentence, and the effect itself; effects clear of the noise go first."""
    strongest = max(effects(answer), key=lambda effect: (effect.clear, effect.reach))
    return sentence(answer, strongest), strongest


def sentence(answer: dp.Answer, effect: Effect) -> str:
    """An effect as a sentence: “For every 10 more of age, monthly_income is about 120 higher, all else equal.”"""
    query: Any = answer.query
    kind = "by" if effect.by else "value"
    facts: dict[str, Any] = {"column": effect.column, "by": effect.by, "label": effect.label, "base": effect.base}
    facts = {name: fact for name, fact in facts.items() if fact}
    facts |= {"target": query.target} | ({"yes": list(query.positive)} if query.layout.listed else {})
    if query.layout.listed and not query.layout.sharp:
        return say(f"train_page.says.{kind}.odds", times=_odds(effect.value), **facts)
    away = ("score_" if query.layout.listed else "") + ("higher" if effect.value >= 0 else "lower")
    return say(f"train_page.says.{kind}.{away}", amount=_amount(effect), **facts)


def _amount(effect: Effect) -> str:
    """The size of an effect as text, to the places that its range supports, but never rounded to nothing."""
    if effect.interval is not None:
        half = (effect.interval[1] - effect.interval[0]) / 2
        text = rounded(abs(effect.value), abs(effect.value) - half, abs(effect.value) + half)
        if any(digit in text for digit in "123456789"):
            return text
    return bare(abs(effect.value))


def _odds(value: float) -> str:
    return bare(exp(max(min(value, 40.0), -40.0)))


def word_rows(answer: dp.Answer) -> list[tuple[str, str, str]]:
    """The rows of a score card: the condition, what it adds or by what it multiplies the odds, and the range."""
    query: Any = answer.query
    rows, words = [], query.shown()
    for label in answer.value:
        column = query.facts.schema[label] if label in query.features else None
        factor, when = 1.0, words.get(label, label)
        if label == CONSTANT:
            when = say("train_page.card.begin")
        elif isinstance(column, dp.Number | dp.Date):
            step = step_of(column)
            factor, when = float(step), say("train_page.card.by", by=_by(column, step), column=label)
        value, interval = _scaled(answer, label, factor)
        rows.append((when, *_cells(query, value, interval, label == CONSTANT)))
    return rows


def _cells(query: Any, value: float, interval: Interval | None, first: bool) -> tuple[str, str]:
    """A figure and its range as text. A range wider than everything possible is replaced by words that say so."""
    ends: tuple[str, ...]
    if query.layout.listed and not query.layout.sharp:
        amount = _odds(value) if first else f"× {_odds(value)}"
        ends = tuple(map(_odds, interval or ()))
    else:
        amount = bare(value)  # in full, because the reader calculates with it
        amount = amount if first or value < 0 else f"+{amount}"
        ends = rounded_range(*interval) if interval else ()
    wide = WIDE_ODDS if query.layout.listed else 2 * float(query.facts.schema[query.target].diameter)
    nothing = interval is not None and interval[1] - interval[0] >= wide
    return amount, say("train_page.card.anything") if nothing else " – ".join(ends)


MOST_LINES = 8  # weights drawn; more cannot be distinguished
_COLOURS = ("left", "take", "spent", "muted")
_DASHES = ("solid", "solid", "dash", "dot", "dot", "dot", "longdash", "dashdot")


def show_trained(table: dp.Table, answer: dp.Answer) -> None:
    query = answer.query
    assert isinstance(query, OfGradients) and answer.path is not None
    model = query.model(answer.path.weights)
    of = say("answer.of", sentence=answer.sentence, table=table.name)
    sentence_shown, effect = headline(answer)
    hidden = effect.interval is not None and not effect.clear  # no headline for noise
    first = say("train_page.hidden") if hidden else sentence_shown
    lines = [
        f'<p class="question">{escape(of)}</p><p class="together">{escape(first)}</p>',
        answer_notes.headline_notes(answer, linked=True),
        p(_sure(answer, effect, sentence_shown), "lead"),
        f"{answer_notes.fit_notes(answer)}{answer_notes.cut_note(query)}",
    ]
    if answer.path.stopped:
        stopped = say("train_page.stopped", done=answer.path.steps, total=answer.path.of)
        lines.append(p(stopped, "warn", "status"))
    if query.diverges:
        lines.append(p(say("train_page.diverged"), "warn", "status"))
    st.html("".join(lines))
    left, right = st.columns([6, 5], gap="medium")
    with left, st.container(key="card-train-says"):
        st.html(_card(answer))
    with right, st.container(key="card-train-try"):
        _try(answer, model)
    show_file(table, answer, model)
    with st.container(key="card-train-check"):
        show_check(table, model)
    with st.container(key="card-train-path"):
        _path(answer, query)
    with st.container(key="card-train-take"):
        offer_model(table, answer, model, "train_page.take_lead")
    answers.receipt(answer, "trained")
    back = ("trained", "with", "checked")
    st.button(say("train_page.another"), key="train-another", on_click=nav.forget, args=back)


def _sure(answer: dp.Answer, effect: Effect, strongest: str) -> str:
    """Sentences: how far the noise may have moved the headline, and that the effect shows no cause."""
    query: Any = answer.query
    reason = query.interval_reason()
    if reason is not None or effect.interval is None:
        message = say(reason) if reason is not None else ""
    elif effect.clear:
        message = say("train_page.clear", chance=chance(query.beta))
    else:
        message = say("train_page.unclear", sentence=strongest)
    return f"{message} {say('train_page.no_cause')}".strip()


def _card(answer: dp.Answer) -> str:
    query: Any = answer.query
    title = say("train_page.card.title")
    heads = "number" if not query.layout.listed else "score" if query.layout.sharp else "list"
    goal = {"target": query.target} | ({"yes": list(query.positive)} if hasattr(query, "positive") else {})
    lead = say(f"train_page.card.lead_{heads}", **goal)
    names = ("when", "times" if heads == "list" else "adds", *(["range"] if answer.interval else []))
    rows = [cells[: len(names)] for cells in word_rows(answer)]
    card = html_table([say(f"train_page.card.{name}") for name in names], rows, scroll="scroll tall", region=title)
    notes = [range_words(answer)]
    if answer.interval:
        notes.insert(0, say("train_page.card.ranges", chance=chance(query.beta)))
    elif reason := query.interval_reason():
        notes.insert(0, say(reason))
    return f"<h2>{escape(title)}</h2>{p(lead, 'muted')}{card}{paragraphs(notes)}{_STYLE}"


def _try(answer: dp.Answer, model: Model) -> None:
    """Draw fields for a made-up person, and what the model says of this person."""
    section_head(say("train_page.try"), say("train_page.try_lead"))
    kept = typed(st.query_params.get("with"))
    values = {
        name: model_field(name, column, kept.get(name), f"train-with-{answer.request_id}-{name}")
        for name, column in zip(model.layout.names, model.layout.columns, strict=True)
    }
    prediction = _kept_and_predicted(model, values)
    query: Any = answer.query
    if not model.layout.listed:
        message = say("train_page.would_number", value=bare(prediction), target=query.target)
    elif model.layout.sharp:
        code = "train_page.would_yes" if prediction >= 0 else "train_page.would_no"
        message = say(code, score=bare(prediction), yes=list(query.positive), target=query.target)
    else:
        message = say("train_page.would_list", share=percent(prediction), yes=list(query.positive), target=query.target)
    paragraph(message.replace(" %", "\u00a0%"), "together", role="status")
    goal = model.layout.goal
    if isinstance(goal, dp.Number) and not goal.lower <= prediction <= goal.upper:
        paragraph(say("train_page.outside", low=goal.lower, high=goal.upper))


def _path(answer: dp.Answer, query: OfGradients) -> None:
    """Draw how the weights moved, step by step."""
    assert answer.path is not None
    names = query.shown()
    size = 2.0**WEIGHT_BITS
    moves: dict[str, list[tuple[float, float]]] = {}
    for place, label in enumerate(query.labels()):
        moves[label] = [(float(step), point[place] / size) for step, point in answer.path.points]
    strongest = sorted(moves, key=lambda label: -abs(moves[label][-1][1]))[:MOST_LINES]
    lines = []
    for place, label in enumerate(label for label in moves if label in strongest):
        look = _COLOURS[place % len(_COLOURS)], _DASHES[place]
        lines.append(charts.Line(names.get(label, label), moves[label], None, *look))
    lead = say("train_page.path_lead")
    lead += " " + say("train_page.path_some", shown=len(lines)) if len(moves) > len(lines) else ""
    section_head(say("train_page.path"), lead)
    step, weight, alt = (say(f"train_page.{code}") for code in ("axis.step", "axis.weight", "alt.path"))
    charts.curves(lines, step, weight, alt, "train-path", even=True)
