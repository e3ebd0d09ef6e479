"""What the door answers, as JSON. Exact numbers are texts: a decimal where that is exact, else p/q ("1/3"). Figures of
an answer, its range and its promise stand as they do in its receipt."""

from __future__ import annotations

import math
from dataclasses import fields
from fractions import Fraction
from typing import Any

from dpengine.asking.answers import Answer, Job, Meter, Preview, promise_as_json
from dpengine.asking.checking import ColumnDoubted, WayOut
from dpengine.core.errors import AllowanceError
from dpengine.core.exact import text_of
from dpengine.core.types import Json, JsonObject
from dpengine.declared.facts import Facts
from dpengine.mechanisms.query import AnyQuery
from dpengine.released.look import Figure, Look


def plain(value: Any) -> Json:
    if isinstance(value, Fraction):
        return text_of(value)
    if isinstance(value, float) and not math.isfinite(value):
        return None
    if isinstance(value, dict):
        return {str(name): plain(one) for name, one in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(one) for one in value]
    return value


def question(kind: type[AnyQuery]) -> JsonObject:
    card = kind.card
    return {
        "key": card.key,
        "version": card.version,
        "title": card.title,
        "about": card.plain,
        "answer": card.answer,
        "relations": list(card.relations),
        "several_rows": card.several,
        "noises": list(kind.noises),
        "parameters": [
            {"name": one.name, "kind": one.kind, "required": one.required, "label": one.label}
            for one in card.parameters
        ],
    }


def table(facts: Facts, practice: bool, closed: str | None) -> JsonObject:
    columns = {name: facts.schema[name].as_json() for name in facts.schema.columns}
    return {
        "name": facts.table,
        "practice": practice,
        "closed": closed,
        "relation": facts.relation,
        "unit": facts.unit.as_json(),
        "people": facts.about,
        "columns": plain(columns),
    }


def preview(query: AnyQuery, seen: Preview) -> JsonObject:
    told = {one.name: plain(getattr(seen, one.name)) for one in fields(seen) if one.name not in ("promise", "check")}
    told["check"] = None if seen.check is None else seen.check.describe()
    return {"sentence": query.sentence(), "promise": promise_as_json(seen.promise)} | told


def meter(found: Meter) -> JsonObject:
    told = {one.name: plain(getattr(found, one.name)) for one in fields(found)}
    return told | {"unused": text_of(found.unused), "delta_now": text_of(found.delta_now)}


def answer(found: Answer) -> JsonObject:
    return {
        "request": found.request_id,
        "table": found.receipt["table"],
        "key": found.query.card.key,
        "at": found.at,
        "sentence": found.sentence,
        "value": plain(found.value),
        "interval": plain(found.interval),
        "promise": promise_as_json(found.promise),
        "receipt": found.receipt,
    }


def job(found: Job) -> JsonObject:
    return {
        "request": found.request_id,
        "state": found.state,
        "done": found.done,
        "total": found.total,
        "ahead": found.ahead,
        "answer": None if found.answer is None else answer(found.answer),
        "error": error(found.error) if isinstance(found.error, AllowanceError) else None,
    }


def look(found: Look) -> JsonObject:
    """The bars of every column of a first look, each with its range."""
    return {column: [_figure(one) for one in found.bars(column)] for column in found.columns}


def _figure(one: Figure) -> JsonObject:
    return {"label": one.label, "value": plain(one.value), "low": plain(one.low), "high": plain(one.high)}


def error(complaint: AllowanceError) -> JsonObject:
    ways = complaint.ways if isinstance(complaint, ColumnDoubted) else ()
    told: JsonObject = {"code": complaint.code, "sentence": str(complaint)}
    return told | ({"ways": [_way(one) for one in ways]} if ways else {})


def _way(one: WayOut) -> JsonObject:
    """A way out of a refusal; with the question that it asks instead, or the column as it would be declared."""
    told: JsonObject = {"kind": one.kind, "column": one.column, "words": one.words()}
    told |= {} if one.query is None else {"question": one.query.describe()}
    return told | ({} if one.schema is None else {"declared": one.schema[one.column].as_json()})
