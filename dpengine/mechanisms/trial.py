"""How a question is tested, stated beside the question: cases for the audit and the tests, an example and its broken
variants for the page “Check it yourself”, and the test that compares its ranges with the true answer.

Cases are about the small world (`WORLD`): all its tables and neighbours can be listed (`dpengine.audit.world`). The
example is about a made-up club (`CLUB`) in which one person, Ana, makes a difference (`demos.neighbours`).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from dpengine.core.types import Json, JsonObject
from dpengine.declared.date_column import Date
from dpengine.declared.schema import Category, ItemSet, Number, Schema

Given = Mapping[str, Json]  # a form's JSON, without ε

WORLD = Schema(
    {
        "x": Number(0, 3),
        "c": Category(["a", "b"], unknown="b", missing="b"),
        "z": Number(-4, 2, step=2, missing=0),  # every row has a value, by declaration
        "p": Number(4, 7, missing=5),  # above 0, also three steps lower
        "d": Category(["e", "f"], unknown="f", missing="f"),
        "t": Category(["u", "v", "w"], unknown="w", missing="w"),
        "s": ItemSet(["p", "q", "r", "o"], at_most=2),
        "b": Date("1990-01-01", "1990-01-04"),
    }
)
IN_A: list[Json] = [["c", "in", ["a"]]]
SOME: list[Json] = ["x", ">", 0]
RAW = ("raw number", "raw text")  # undeclared columns of the small world

CLUB = Schema(
    {
        "town": Category(["North", "South", "West"], unknown="North", missing="North"),
        "member": Category(["yes", "no"], unknown="no", missing="no"),
        "visits": Number(0, 6, missing=0),
        "fee": Number(1, 5, missing=1),
        "sports": ItemSet(["chess", "judo", "yoga"]),
    }
)
WEST: list[Json] = [["town", "in", ["West"]]]  # Ana is the only one from there
NORTH: list[Json] = [["town", "in", ["North"]]]


@dataclass(frozen=True)
class Example:
    """A question about the club for which Ana makes a difference. `others` describes the other members (“usual”,
    “alike”, “even”); `instead` is who replaces her in the other table (“far” from her, or “near”)."""

    given: Given
    others: str = "usual"
    instead: str = "far"


@dataclass(frozen=True)
class Trial:
    """`broken_variants` names deliberately broken versions of the question (`demos.twins`): “half” the noise of a
    number, a “quarter” of the noise of a choice, and others. `covered` names the test that compares its ranges or its
    promise with the true answer. If it is empty, the common test does so with the question's own `truth`."""

    cases: Mapping[str, Given]
    example: Example
    broken_variants: tuple[str, ...] = ("half",)
    covered: str = ""
    with_noise: Mapping[str, Example] = field(default_factory=dict)  # further examples with other noise, by name
    data_support: str = ""  # the test of its laws, if δ pays for a support that depends on the data
    large: Given = field(default_factory=dict)  # parameters for a large table, if no case suits one


def model(
    schema: Schema, target: str, feature: str, yes: tuple[int, ...], no: tuple[int, ...], *weights: int
) -> JsonObject:
    """A released model as JSON, as questions receive it: of yes and no if `yes` is given, else of a number."""
    columns = {name: [name, schema[name].as_json()] for name in (target, feature)}
    sides = {"kind": "logistic", "yes": list(yes), "no": list(no)} if yes else {"kind": "linear"}
    return {"features": [columns[feature]], "target": columns[target], "bits": 24, "weights": list(weights)} | sides


def shapes(
    schema: Schema, target: str, feature: Json, yes: tuple[int, ...], no: tuple[int, ...], *weights: int
) -> JsonObject:
    """The JSON of a model that was computed from a first look."""
    name = feature["column"] if isinstance(feature, dict) else feature
    return model(schema, target, str(name), yes, no, *weights) | {"kind": "shapes", "cells": [feature]}


HALF = 11_863_283  # a weight that adds ½ to the prediction of a model with one list
ONE_STEP = {"steps": 1, "clip": "0.5", "lattice": 3}  # of a training; a coarse lattice, so that its law can be listed
YES_OR_NO = Example(  # of a training that tells yes from no
    {"target": "member", "features": ["visits"], "calibration": "coordinate", **ONE_STEP, "lattice": 4}, instead="near"
)
