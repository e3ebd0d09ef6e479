"""Which first look to buy for a model of yes or no: public facts only.

Of every two of its columns the cells are counted, and what is counted against the target gets most of the exactness:
a noisy table of two columns is cut to what stands out of its noise (`released.shapes_fit`), one against the target is
all that is known about it. A weight of 30 was best or within the error of the best for 3,000 and 30,000 people at ε
0.3, 1 and 3 (`python -m bench.models weights`).

Only of yes and no: a number to predict would be counted in groups, whose noise adds up; steps toward the best line
(`train_linear`) come nearer to it (`python -m bench.models numbers`).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction

from dpengine.core.errors import AllowanceError
from dpengine.core.exact import text_of
from dpengine.core.json_types import Json, JsonObject
from dpengine.declared.grouped import Grouped, Ref, ref_json
from dpengine.declared.read_group import read_group
from dpengine.declared.schema import Number, Schema
from dpengine.mechanisms.marginals.bins import readable
from dpengine.mechanisms.marginals.overview import Overview
from dpengine.mechanisms.marginals.wanted import EVEN, EVERY_PAIR, FOR_MODEL, MOST_COLUMNS

CODES = 100  # values in the first group of a number, from which on it is told in finer ones
_FINER = (1, 2, 5, 10, 20, 50)  # thousandths … of the first group


def asked(schema: Schema, target: str, features: Sequence[str]) -> JsonObject:
    """The parameters of the first look, without ε."""
    if not features:
        raise AllowanceError("train.features")
    if len(features) >= MOST_COLUMNS:
        raise AllowanceError("overview.columns", most=MOST_COLUMNS)
    columns = [*(ref_json(bins(name, schema)) for name in features), target]
    return {"columns": columns, "against": EVERY_PAIR, "weights": {target: FOR_MODEL}, "spread": EVEN}


def bins(name: str, schema: Schema) -> Ref:
    """As a first look tells it; of amounts from 0 up, of which most tend to be small, the first group is split: 0 by
    itself, then by 1, 2 and 5 times powers of ten over three of these."""
    usual, column = readable(name, schema), schema[name]
    if not isinstance(column, Number) or not isinstance(usual, Grouped) or len(usual.starts) < 2:
        return usual
    if column.lower != 0 or usual.starts[1] < CODES:
        return usual
    first = Fraction(column.value(usual.starts[1]))
    finer = {Fraction(column.step)}
    for power in (1, 10):
        finer |= {first * times * power / 1000 for times in _FINER if times * power < 1000}
    edges = [edge for edge in sorted(finer) if 0 < edge < first and (edge / column.step).denominator == 1]
    given: list[Json] = [text_of(edge) for edge in edges]
    given += [column.text(start) for start in usual.starts[1:]]
    return read_group({"column": name, "edges": given}, schema)


def reach_of_cells(query: Overview, target: str) -> float:
    """Within how many rows every count against the target will be, all at once: promised."""
    goal = query.names.index(target)
    return max(query.reach((min(at, goal), max(at, goal))) for at in range(len(query.axes)) if at != goal)


def reach_of_effect(query: Overview, target: str, rows: int) -> float:
    """About how far noise moves what a value of so many rows adds to the chance of a yes, all of them at once: what
    `released.shapes_fit` will say of it where columns have nothing to do with each other."""
    goal = query.names.index(target)
    listed = query.axes[goal].size
    noise = max(float(query.noise_of[(min(at, goal), max(at, goal))]) for at in range(len(query.axes)) if at != goal)
    cells = sum(axis.size for at, axis in enumerate(query.axes) if at != goal)
    return math.sqrt(2 * noise * (1 - 1 / listed) * math.log(2 * cells / float(query.beta))) / max(rows, 1)
