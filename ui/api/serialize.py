"""The API's answers as JSON. Exact numbers are texts: a decimal if one is exact, else p/q ("1/3"). An answer's values,
interval and promise look as in its receipt."""

from __future__ import annotations

import math
from collections.abc import Sequence
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
from dpengine.reading.reader import Meaning, NotUnderstood
from dpengine.released.look import Figure, Look


def plain(value: Any) -> Json:
    if isinstance(value, Fraction):
        return text_of(value)
    if isinstance(value, float) and not math.isfinite(value):
        return None
    if isinstance(value, dict):
        return {str(name): plain(item) for name, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(item) for item in value]
    return value


def question(kind: type[AnyQuery]) -> JsonObject:
    card = kind.card
    shown: JsonObject = {name: getattr(card, name) for name in ("key", "version", "title")}
    shown |= {"about": card.plain, "answer": card.answer, "relations": list(card.relations)}
    shown |= {"several_rows": card.several, "noises": list(kind.noises)}
    names = ("name", "kind", "required", "label")
    parameters = [{name: getattr(parameter, name) for name in names} for parameter in card.parameters]
    return shown | {"parameters": parameters}


def table(facts: Facts, practice: bool, closed: str | None) -> JsonObject:
    columns = {name: facts.schema[name].as_json() for name in facts.schema.columns}
    shown: JsonObject = {"name": facts.table, "practice": practice, "closed": closed, "relation": facts.relation}
    return shown | {
        "unit": facts.unit.as_json(),
        "people": facts.about,
        "sample": facts.sample,
        "columns": plain(columns),
    }


def preview(query: AnyQuery, seen: Preview) -> JsonObject:
    shown = {
        field.name: plain(getattr(seen, field.name)) for field in fields(seen) if field.name not in ("promise", "check")
    }
    shown["check"] = None if seen.check is None else seen.check.describe()
    return {"sentence": query.sentence(), "promise": promise_as_json(seen.promise)} | shown


def asked(query: AnyQuery) -> JsonObject:
    return {"key": query.card.key, "parameters": plain(query.parameters()), "sentence": query.sentence()}


def meter(record: Meter) -> JsonObject:
    shown = {field.name: plain(getattr(record, field.name)) for field in fields(record)}
    return shown | {"unused": text_of(record.unused), "delta_now": text_of(record.delta_now)}


def answer(released: Answer, notes: Sequence[str] = ()) -> JsonObject:
    """An answer as JSON. `notes` are sentences: what paid checks say against its columns, and what was declared anew
    since."""
    return {
        "request": released.request_id,
        "table": released.receipt["table"],
        "key": released.query.card.key,
        "at": released.at,
        "sentence": released.sentence,
        "value": plain(released.value),
        "interval": plain(released.interval),
        "population": plain(released.population),
        "promise": promise_as_json(released.promise),
        "notes": list(notes),
        "receipt": released.receipt,
    }


def job(state: Job, notes: Sequence[str] = ()) -> JsonObject:
    shown: JsonObject = {"request": state.request_id}
    shown |= {name: getattr(state, name) for name in ("state", "done", "total", "ahead")}
    shown["answer"] = None if state.answer is None else answer(state.answer, notes)
    return shown | {"error": error(state.error) if isinstance(state.error, AllowanceError) else None}


def look(released: Look) -> JsonObject:
    """By column, all bars of a first look with their intervals, as JSON."""
    return {column: [_figure(bar) for bar in released.bars(column)] for column in released.columns}


def _figure(figure: Figure) -> JsonObject:
    return {"label": figure.label, "value": plain(figure.value), "low": plain(figure.low), "high": plain(figure.high)}


def error(refusal: AllowanceError) -> JsonObject:
    ways = refusal.ways if isinstance(refusal, ColumnDoubted) else ()
    shown: JsonObject = {"code": refusal.code, "sentence": str(refusal)}
    shown |= {"ways": [_way(way) for way in ways]} if ways else {}
    readings = refusal.readings if isinstance(refusal, NotUnderstood) else ()
    return shown | ({"readings": [_reading(reading) for reading in readings]} if readings else {})


def _reading(reading: Meaning) -> JsonObject:
    shown: JsonObject = {"key": reading.key, "parameters": plain(reading.given)}
    return shown | {"sentence": reading.sentence, "unread": list(reading.unread)}


def _way(way: WayOut) -> JsonObject:
    """A way out of a refusal as JSON, with the question to ask instead or the column's new declaration."""
    shown: JsonObject = {"kind": way.kind, "column": way.column, "words": way.words()}
    shown |= {} if way.query is None else {"question": way.query.describe()}
    return shown | ({} if way.schema is None else {"declared": way.schema[way.column].as_json()})
