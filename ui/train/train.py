"""The Train page before anything is spent: what to predict from what, how exact, its expected value, the price; and the
wait while a model is trained."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from functools import partial
from html import escape
from math import sqrt
from typing import Any

import streamlit as st

import dpengine as dp
from dpengine.asking.answers import round_up_two
from dpengine.core.printed import chance, percent, percent_left, power_of_ten, three_figures, two_figures
from dpengine.declared.date_column import Date
from dpengine.declared.schema import Category, Number
from dpengine.mechanisms.marginals.overview import Overview
from dpengine.mechanisms.marginals.residuals import MOST_TOGETHER
from dpengine.mechanisms.models import excess
from dpengine.mechanisms.models.excess import CALIBRATIONS, COORDINATE, ITERATES, L2_LAPLACE, TrainingSetting
from dpengine.mechanisms.models.of_gradients import MOST_STEPS, OfGradients
from dpengine.messages import called, plain, say
from dpengine.messages.numbers import to_figures
from dpengine.planning import training
from dpengine.planning.opening import AT_MOST, SHARES, opening_share
from dpengine.planning.training import StepsOption, lecture_steps, trainings
from dpengine.released.shapes import predictable, sources
from dpengine.statistics.features import MOST_WIDE
from ui.ask import fit_warnings
from ui.ask.spend import enough, least_share_html
from ui.board import board_figures, board_state
from ui.parts import answer_notes, fields, history, job
from ui.pictures import charts
from ui.shell import frame, nav
from ui.shell.frame import paragraph, section_head
from ui.shell.state import workspace
from ui.shell.style import sheet
from ui.train import train_result
from ui.words import gloss, model_words, prices
from ui.words.markup import html_table, p, paragraphs, unmarked

# --- the choices on the Train page. The address keeps them, so that a link restores them

PLACE = "train"
LONGEST = 60
MORE = ("calibration", "region", "iterate", "steps", "rate", "epsilon")
NAMES = ("target", "positive", "kind", "features", "share", *MORE)


def targets(table: dp.Table) -> list[str]:
    """Possible targets: a number, or a value of a list."""
    schema = table.schema
    return [name for name in schema.of_kind(Number, Category) if _short(schema[name])]


def columns_for(table: dp.Table, target: str) -> list[str]:
    """The columns to predict from."""
    schema = table.schema
    return [name for name in schema.of_kind(Number, Date, Category) if name != target and _short(schema[name])]


def kinds(table: dp.Table, target: str) -> list[str]:
    """The trainings that can predict the column, by their cards."""
    wanted = "column.target.category" if isinstance(table.schema[target], Category) else "column.target.number"
    return [key for key in trainings() if wanted in {parameter.kind for parameter in dp.catalogue[key].card.parameters}]


def _short(column: Any) -> bool:
    """A list of one value is useless, and one longer than a model is wide does not fit."""
    return not isinstance(column, Category) or (len(column.values) > 1 and column.size < MOST_WIDE)


def possible(table: dp.Table) -> bool:
    return any(columns_for(table, target) for target in targets(table))


def widget(name: str) -> str:
    return job.addressed_widget(PLACE, name)


def _clean(table: dp.Table, arriving: dict[str, str]) -> dict[str, Any]:
    offered = [name for name in targets(table) if columns_for(table, name)]
    target = arriving.get("target", "")
    if target not in offered:  # a yes or no, for which models are best; of several the last, mostly the outcome
        two = [name for name in offered if isinstance(goal := table.schema[name], Category) and len(goal.values) == 2]
        target = two[-1] if two and table.budget.rule.c is not None else offered[0]
    typed = {name: arriving.get(name, "")[:LONGEST] for name in MORE}
    typed["share"] = share if (share := arriving.get("share", "")) in SHARES else ""
    kind = arriving.get("kind", "")
    typed["kind"] = kind if kind in kinds(table, target) else ""
    if not typed["kind"] and any(typed[name] for name in MORE):  # settings of a training in steps
        typed["kind"] = kinds(table, target)[0]
    goal, positive = table.schema[target], arriving.get("positive", "")
    typed["positive"] = positive if isinstance(goal, Category) and positive in goal.values else ""
    wanted, usable = job.read_address(arriving.get("features")), columns_for(table, target)
    if isinstance(wanted, list):
        features = list(dict.fromkeys(name for name in wanted if isinstance(name, str) and name in usable))
    else:
        features = first(table, target)
    return typed | {"target": target, "features": features}


def first(table: dp.Table, target: str) -> list[str]:
    """First columns: for yes and no, all with an exact loss; else one number and one list of two values."""
    offered = columns_for(table, target)
    if isinstance(table.schema[target], Category) and table.budget.rule.c is not None:
        return offered[: MOST_TOGETHER - 1]
    numbers = [name for name in offered if isinstance(table.schema[name], Number)]
    pairs = [name for name in offered if isinstance(column := table.schema[name], Category) and column.size == 2]
    return numbers[:1] + pairs[:1] or offered[:1]


def model_address(table: str, look: str, target: str, positive: str, features: Sequence[str]) -> Any:
    """URL parameters for a model read off a first look."""
    query = {"target": target, "positive": positive, "features": json.dumps([*features]) if features else ""}
    return {"table": table, "shapes": look} | {name: value for name, value in query.items() if value}


# --- a model's expected value, from public facts: three kinds of noise side by side, by steps and spend

# --- the number of steps: this training's and the lecture's, with their price and promise

_LENGTHS = (("second", 1), ("minute", 60), ("hour", 3600), ("day", 86_400), ("year", 31_557_600))


def steps_html(query: OfGradients, delta: Fraction) -> str:
    lecture = lecture_steps(query, delta)
    if lecture is None:
        return p(say("train_page.lecture_no_delta"), "muted")
    head = _head("which", "steps", "time", "worse")
    body = "".join(_row(query, option) for option in lecture.options)
    facts = {"epsilon": three_figures(lecture.epsilon), "delta": power_of_ten(delta), "width": query.width}
    lines = [say("train_page.lecture_price", people=lecture.people, steps=query.steps, about=query.people, **facts)]
    if not lecture.steps:
        lines.append(say("train_page.lecture_none", people=lecture.for_one))
    elif lecture.steps > MOST_STEPS:
        lines.append(say("train_page.lecture_capped", most=MOST_STEPS))
    lines.append(say("train_page.lecture_estimate"))
    below = "".join(f'<p class="muted">{gloss.text(line)}</p>' for line in lines)
    lead = p(say("train_page.lecture_lead"), "muted")
    return f"{lead}<div class='scroll'><table class='plain noises'><tr>{head}</tr>{body}</table></div>{below}"


def _head(first: str, *numbers: str) -> str:
    titles = "".join(f'<th class="number">{escape(say(f"train_page.column.{name}"))}</th>' for name in numbers)
    return f"<th>{escape(say(f'train_page.column.{first}'))}</th>{titles}"


def _row(query: OfGradients, option: StepsOption) -> str:
    worse = query.promise().at(option.risk).said("train_page.short", query)
    cells = [plain(option.steps), _length(option.seconds), worse]
    numbers = "".join(f'<td class="number">{escape(cell)}</td>' for cell in cells)
    title = escape(say(f"train_page.steps_of.{option.kind}"))
    return f"<tr><td>{f'<b>{title}</b>' if option.kind == 'this' else title}</td>{numbers}</tr>"


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
    html = [f"<p><b>{escape(promise.said('train_page.promise', query))}</b></p>"]
    supposed = "train_page.nominal_where" if query.conditional else "train_page.nominal"
    nominal = f"{say(supposed)} " if promise.nominal else ""
    html.append(p(nominal + say("train_page.worst_case"), "muted"))
    st.html("".join(html))
    setting, now = query.setting, float(query.epsilon)
    with st.expander(say("train_page.figures")):
        st.html(_noises_html(query, offers))
        section_head(say("train_page.against_steps"))
        _draw(query, excess.along_steps(setting, sorted({*STEPS, query.steps})), float(query.steps), "steps")
        st.html(steps_html(query, delta))
        section_head(say("train_page.against_epsilon"))
        _draw(query, excess.along_epsilon(setting, [now * times for times in SPENDS]), now, "epsilon")
        st.html(_figures_html(query))


def _draw(query: OfGradients, curves: dict[str, list[tuple[float, float]]], now: float, axis: str) -> None:
    """Each kind of noise at its best step size; the dot is the chosen kind at the current setting."""
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
    """The number of people who, all pulling one way, move a step as far as its noise does."""
    return sqrt(setting.noise / setting.stretch / setting.width) * setting.people / setting.clip


def _times(setting: TrainingSetting) -> float:
    """The noise weight by weight, divided by the noise of one length, at the same ε and steps."""
    by_weight, by_length = (people_of(replace(setting, calibration=name)) for name in (COORDINATE, L2_LAPLACE))
    return by_weight / by_length


def _noises_html(query: OfGradients, offers: dict[str, OfGradients | dp.AllowanceError]) -> str:
    """What the same spend buys with each kind of noise."""
    head = _head("noise", "scale", "worse")
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
    """The parameters, for experts."""
    promise, names = query.promise(), ("steps", "radius", "clip", "width", "people", "epsilon")
    parameters = {name: getattr(query, name) for name in names}
    bounds = {name: two_figures(getattr(promise, name)) for name in ("risk", "plain", "limit")}
    lines = [
        *(say(f"train_page.means.{name}", times=to_figures(_times(query.setting), 2)) for name in CALIBRATIONS),
        say("train_page.parameters", rate=two_figures(query.rate), **parameters),
        say("train_page.bounds", **bounds),
        say("receipt.theorem", theorem=query.theorem),
        *query.card.caveat_texts,
    ]
    return "".join(f'<p class="muted">{gloss.text(line)}</p>' for line in lines)


_STYLE = sheet("train/train")


# --- a yes-or-no model before anything is spent: the counts to buy, their promise, and the price

SHAPES = "shapes"
NOISE = 0.25  # in the chance of a yes; with more, the effect of a value that a tenth of the people have says nothing
CLEAR = 0.05
_MOST_LOOKS = 5


def counts_offered(table: dp.Table, given: dict[str, Any], share: Fraction) -> Overview | dp.AllowanceError:
    """The counts that this share of the allowance buys, or why they cannot be bought."""
    try:
        wanted = training.look_for_model(table.schema, given["target"], given["features"])
        query = table.query("overview", **wanted, epsilon="1")
        answerable = table.at_share(query, share)
    except dp.AllowanceError as refusal:
        return refusal
    return answerable if isinstance(answerable, Overview) else dp.AllowanceError("train.no_room")


def counts_possible(table: dp.Table, target: str) -> bool:
    """Gaussian noise has no finite ε, so it needs an allowance with a δ."""
    return isinstance(table.schema[target], dp.Category) and table.budget.rule.c is not None


def usual_counts(table: dp.Table, given: dict[str, Any]) -> str:
    """The least share of the rest at which noise hardly moves the effect of a value that a tenth of people have."""

    def offer(share: str) -> Overview:
        query = counts_offered(table, given, table.meter().unused * int(share) / 100)
        if isinstance(query, dp.AllowanceError):
            raise query
        return query

    def clear(query: dp.Query) -> bool:
        return (
            isinstance(query, Overview) and training.reach_of_effect(query, given["target"], query.most // 10) <= CLEAR
        )

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
    label = say("shapes_page.button", share=prices.takes(table, price.share))
    fit_warnings.before(table, query, price)
    if fit_warnings.instead_at(SHAPES, table, query):
        return
    job.ask_button(label, table, query, "train-go", disabled=not price.admissible, place=SHAPES)
    if not price.admissible:
        job.refused(say("train_page.too_much", left=percent_left(table.meter().unused)))


def preview_counts(query: Overview, target: str) -> None:
    """The promise, and how clear a value's effect will be by how many people share the value."""
    reach = training.reach_of_cells(query, target)
    promise = say(f"shapes_page.promise.{query.counted}", reach=two_figures(Fraction(reach)), chance=chance(query.beta))
    st.html(
        f"<p><b>{escape(promise)}</b></p><p class='muted'>{escape(say('shapes_page.no_promise'))}</p>"
        f"<h2>{escape(say('shapes_page.bands'))}</h2><p class='muted'>{escape(say('shapes_page.bands_lead'))}</p>"
    )
    rows = []
    for part in (2, 5, 20, 100):
        people = query.most // part
        moved = min(training.reach_of_effect(query, target, people), 1.0)
        rows.append((plain(people), say("shapes_page.points", points=_points(moved)) if people else "–"))
    heads = say(f"shapes_page.column.rows.{query.counted}"), say("shapes_page.column.band")
    st.html(html_table(heads, rows, kind="plain noises"))
    with st.expander(say("train_page.figures")):
        lines = [say("receipt.theorem", theorem=query.theorem), *query.card.caveat_texts]
        st.html(paragraphs(lines))


def _points(share: float) -> str:
    return two_figures(Fraction(100 * share))


# --- bought before ---------------------------------------------------------------------------------------------------


def free(table: dp.Table, given: dict[str, Any]) -> None:
    """First looks that already hold a model of this column, at no further cost."""
    looks = []
    for look_answer in table.first_looks(_MOST_LOOKS):
        look = board_figures.look_of(look_answer)
        if given["target"] in predictable(look):
            looks.append((look_answer, [name for name in given["features"] if name in sources(look, given["target"])]))
    if not looks:
        return
    with st.container(key="card-train-free"):
        lead = say("shapes_page.free_lead", target=given["target"])
        section_head(say("shapes_page.free"), lead)
        for look_answer, features in looks:
            label = say("shapes_page.free_open", sentence=look_answer.sentence, when=history.when(look_answer.at))
            model = given["target"], given["positive"], features
            where = model_address(table.name, look_answer.request_id, *model)
            st.page_link(nav.page("train"), label=unmarked(label), query_params=where)


def show(table: dp.Table) -> None:
    bought = st.query_params.get(SHAPES)
    if bought and job.became(
        table, bought, Overview, "shapes_page.unknown", job.wait, train_result.show_shapes, fit_warnings.at(SHAPES)
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
    job.show_form(table, PLACE, "" if possible(table) else say("train_page.no_columns"), _form)
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
            paragraph(say("train_page.stopping"), "", role="status")
        else:
            st.button(say("train_page.cancel"), key="train-cancel", on_click=_stop, args=(request, stopping))
        paragraph(say("train_page.cancel_means"))


def _stop(request: str, stopping: str) -> None:
    workspace().jobs.cancel(request)
    st.session_state[stopping] = True


# --- the form ---------------------------------------------------------------------------------------------------------

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
            query = counts_offered(table, given, table.meter().unused * int(given["share"]) / 100)
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
    """“Predict [monthly_income] from …”, “Predict [has_car] — is it [yes]? from …”."""
    offered = [name for name in targets(table) if columns_for(table, name)]
    positive = ""
    with st.container(key="sentence", horizontal=True, vertical_alignment="center", gap="small"):
        st.markdown(say("train_page.predict"), width="content")
        target = fields.pick("train_page.target", offered, given["target"], called, widget("target"))
        goal = table.schema[target]
        if isinstance(goal, Category):
            st.markdown(say("train_page.is"), width="content")
            usual = given["positive"] if given["positive"] in goal.values else model_words.usual_yes(goal)
            key = widget(f"positive-{target}")
            positive = fields.pick("train_page.value", list(goal.values), usual, called, key)
        st.markdown(say("train_page.from"), width="content")
    others = columns_for(table, target)
    kept = [name for name in given["features"] if name in others]
    if target != given["target"]:
        kept = kept or first(table, target)
    features = train_result.choose_features(others, kept, widget(f"features-{target}"))
    if left_out := [name for name in table.schema.columns if name != target and name not in others]:
        paragraph(say("train_page.left_out", columns=left_out, most=MOST_WIDE))
    return {"target": target, "positive": positive, "features": features}


def _kind(table: dp.Table, given: dict[str, Any]) -> str:
    """The way of learning, if there are several; "" for the best by measurement, which the address omits."""
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
    """Each kind of noise at this spend, or why it is not possible."""
    listed = isinstance(table.schema[given["target"]], Category)
    key = given.get("kind") or kinds(table, given["target"])[0]
    wanted = {name: given[name] for name in ("target", "features", *MORE) if given.get(name)}
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
    with st.expander(say("train_page.more"), expanded=any(given[name] for name in MORE)):
        paragraph(say("train_page.more_lead"))
        choices = (("calibration", CALIBRATIONS), ("region", question.regions), ("iterate", ITERATES))
        chosen = {name: _choice(name, options, given[name], usual.get(name, "")) for name, options in choices}
        for place, name in zip(st.columns(3), ("steps", "rate", "epsilon"), strict=True):
            label, none = say(f"train_page.{name}"), say("train_page.by_formula")
            chosen[name] = fields.number_field(label, given[name], widget(name), place, placeholder=none)
    return chosen


def _choice(name: str, options: tuple[str, ...], now: str, usual: str = "") -> str:
    """A picked value, or the default, which the address omits."""
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
    label = say("train_page.button", share=prices.takes(table, price.share))
    fit_warnings.before(table, query, price)
    if fit_warnings.instead_at("trained", table, query):
        return
    job.ask_button(label, table, query, "train-go", disabled=not price.admissible, place="trained")
    if not price.admissible:
        job.refused(say("train_page.too_much", left=percent_left(table.meter().unused)))


def _earlier(table: dp.Table, but: str = "") -> None:
    """Earlier trainings, free to open."""
    trainings = [training for training in table.trainings() if training.request_id != but]
    history.kept(say("train_page.earlier"), trainings, "train", "trained")
    first_looks = [look for look in table.first_looks(but=but) if predictable(board_figures.look_of(look))]
    history.kept(say("shapes_page.earlier"), first_looks, "train", "shapes")
