"""Values of a list put together in a first look: every row is in one group, the JSON comes back, what is wrong is
refused, and every bar gets more exact."""

from __future__ import annotations

from typing import Any

import pytest

import dpengine as dp
from dpengine.declared.facts import Facts
from dpengine.declared.merging import read_merged
from dpengine.mechanisms.marginals.overview import Overview

SCHEMA = dp.Schema({"town": dp.Category(["a", "b", "c", "d"]), "n": dp.Number(0, 9), "sex": dp.Category(["f", "m"])})
WRONG: dict[str, tuple[Any, str]] = {
    "a number": ({"column": "n", "merged": [["x", ["1"]]]}, "merged.column"),
    "nobody's value": ({"column": "town", "merged": [["x", ["a", "z"]]]}, "merged.values"),
    "no value": ({"column": "town", "merged": [["x", []]]}, "merged.values"),
    "twice": ({"column": "town", "merged": [["x", ["a"]], ["y", ["a", "b"]]]}, "merged.twice"),
    "a name that is taken": ({"column": "town", "merged": [["C", ["a", "b"]]]}, "merged.name"),
    "a long name": ({"column": "town", "merged": [["x" * 300, ["a", "b"]]]}, "merged.name"),
    "nothing together": ({"column": "town", "merged": []}, "group.one"),
    "all in one": ({"column": "sex", "merged": [["x", ["f", "m", "other", "no answer"]]]}, "group.one"),
    "anything": ({"column": "town", "merged": "x"}, "group.unreadable"),
    "half of it": ({"column": "town", "merged": [["x"]]}, "group.unreadable"),
}


def asked(**given: Any) -> Overview:
    facts = Facts("t", SCHEMA, dp.Unit.rows(), "replace", 1_000)
    made = dp.catalogue["overview"].build(facts, {"epsilon": "1"} | given)
    assert isinstance(made, Overview)
    return made


def test_every_value_is_in_one_group_and_the_question_comes_back() -> None:
    group = read_merged({"column": "town", "merged": [["coast", ["A", "c"]], ["", ["d", "no answer"]]]}, SCHEMA)
    assert group is not None and list(group.labels) == ["coast", "b", "d, no answer", "other"]
    assert [group.of(code) for code in range(6)] == [0, 1, 0, 2, 3, 2]
    query = asked(columns=[group.as_json(), "sex"], against="all")
    assert query.columns[0] == group and asked(**query.own_json()) == query
    assert query.axes[0].size == 4 and query.cell_names(0)[0] == "coast" and not query.axes[0].absent
    assert "town, some values together: coast" in query.labels()


@pytest.mark.parametrize("name", WRONG)
def test_what_cannot_be_put_together_is_refused(name: str) -> None:
    given, code = WRONG[name]
    with pytest.raises(dp.AllowanceError) as refused:
        asked(columns=[given])
    assert refused.value.code == code


def test_fewer_values_are_more_exact() -> None:
    together = {"column": "town", "merged": [["x", ["a", "b", "c", "d"]]]}
    alone = asked(columns=["town", "sex", "n"], against="all")
    assert asked(columns=[together, "sex", "n"], against="all").promise().amount < alone.promise().amount


def test_every_three_columns_can_be_bought_and_too_many_are_refused_by_name() -> None:
    three = asked(columns=["town", "sex", "n"], against="all", three=True)
    assert three.largest == ((0, 1, 2),) and asked(**three.own_json()) == three
    long = dp.Schema({f"c{at}": dp.Category([str(one) for one in range(98 if at < 3 else 60)]) for at in range(16)})
    facts = Facts("t", long, dp.Unit.rows(), "replace", 1_000)
    with pytest.raises(dp.AllowanceError) as refused:
        dp.catalogue["overview"].build(facts, {"against": "all", "epsilon": "1"})
    assert refused.value.code == "overview.numbers" and "c0, c1, c2" in str(refused.value)
