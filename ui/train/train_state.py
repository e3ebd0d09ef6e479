"""The choices on the Train page. The address keeps them, so that a link restores them."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import streamlit as st

import dpengine as dp
from dpengine.declared.date_column import Date
from dpengine.declared.schema import Category, Number
from dpengine.mechanisms.marginals.residuals import MOST_TOGETHER
from dpengine.messages import say
from dpengine.planning.opening import SHARES
from dpengine.planning.training import trainings
from dpengine.statistics.features import MOST_WIDE
from ui.parts import job

PLACE = "train"
LONGEST = 60
MORE = ("calibration", "region", "iterate", "steps", "rate", "epsilon")
NAMES = ("target", "positive", "kind", "features", "share", *MORE)


def targets(table: dp.Table) -> list[str]:
    """Possible targets: a number, or a value of a list."""
    schema = table.schema
    return [name for name in schema.of_kind(Number, Category) if _short(schema[name])]


def others(table: dp.Table, target: str) -> list[str]:
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
    return any(others(table, target) for target in targets(table))


def given(table: dp.Table) -> dict[str, Any]:
    """From the URL on arrival, else as last left, else a first suggestion."""
    return job.address_given(table, PLACE, NAMES, lambda arriving: _clean(table, arriving))[0]


def widget(name: str) -> str:
    return job.addressed_widget(PLACE, name)


def choose_features(offered: list[str], now: list[str], key: str) -> list[str]:
    """The columns to predict from."""
    label, none = say("train_page.features"), say("train_page.features_none")
    return st.multiselect(label, offered, now, key=key, placeholder=none, label_visibility="collapsed")


def _clean(table: dp.Table, arriving: dict[str, str]) -> dict[str, Any]:
    offered = [name for name in targets(table) if others(table, name)]
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
    wanted, usable = job.read_address(arriving.get("features")), others(table, target)
    if isinstance(wanted, list):
        features = list(dict.fromkeys(name for name in wanted if isinstance(name, str) and name in usable))
    else:
        features = first(table, target)
    return typed | {"target": target, "features": features}


def first(table: dp.Table, target: str) -> list[str]:
    """First columns: for yes and no, all with an exactly computed loss; else one number and one list of two values, as
    available."""
    offered = others(table, target)
    if isinstance(table.schema[target], Category) and table.budget.rule.c is not None:
        return offered[: MOST_TOGETHER - 1]
    numbers = [name for name in offered if isinstance(table.schema[name], Number)]
    pairs = [name for name in offered if isinstance(column := table.schema[name], Category) and column.size == 2]
    return numbers[:1] + pairs[:1] or offered[:1]


def model_address(table: str, look: str, target: str, positive: str, features: Sequence[str]) -> Any:
    """URL parameters for a model read off a first look."""
    query = {"target": target, "positive": positive, "features": json.dumps([*features]) if features else ""}
    return {"table": table, "shapes": look} | {name: value for name, value in query.items() if value}
