"""Where a person may have several rows and each counts, no sentence and no promise of a question speaks of people."""

from __future__ import annotations

import re
from typing import Any

import dpengine as dp
from dpengine.audit.world import CASES, WORLD
from dpengine.declared.facts import Facts
from dpengine.mechanisms import catalogue
from dpengine.messages.language import speaking

SEVERAL = dp.Unit.column("id", at_most=3)
OF_PEOPLE = {"en": r"\b(people|person|everyone)\b", "sl": r"\b(oseb\w*)\b"}


def several() -> list[Any]:
    """Every kind of question about such a table, each of its variants, for everyone and under a condition."""
    found = []
    for key, given in CASES:
        card = catalogue[key].card
        if not card.several or "ask" not in card.asked_on:
            continue
        facts = Facts("visits", WORLD, SEVERAL, card.relations[-1], 2_000)
        for where in (given.get("where"), [["c", "in", ["a"]]]):
            takes = any(parameter.name == "where" for parameter in card.parameters)
            more = {"where": where} if takes and where else {}
            found.append(catalogue[key].build(facts, {"epsilon": "1"} | given | more))
    return found


def test_rows_are_never_called_people() -> None:
    seen = set()
    for query in several():
        if not query.counts_rows:
            continue
        seen.add(query.card.key)
        for lang, of_people in OF_PEOPLE.items():
            with speaking(lang):
                promise = query.promise()
                told = [query.sentence(), promise.words(query), promise.short(query), promise.wished(query)[0]]
                told.append(promise.drawn(query))
                told = [re.sub(r" \((at most|največ) \d+ (of each person|na osebo)\)", "", one) for one in told]
                assert not [one for one in told if re.search(of_people, one)], (query.card.key, lang, told)
    assert {"mean", "median", "quantile", "proportion", "histogram", "sum", "variance", "iqr", "top_item"} <= seen


def test_people_who_are_counted_are_called_people() -> None:
    facts = Facts("visits", WORLD, SEVERAL, "add_remove", 2_000)
    sets = catalogue["top_item"].build(facts, {"column": "s", "epsilon": "1"})
    assert sets.sentence() == "The most common s for everyone" and not sets.counts_rows
    rows = catalogue["proportion"].build(facts, {"of": [["c", "in", ["a"]]], "epsilon": "1"})
    assert rows.sentence() == "The share of rows where c is a, among rows (at most 3 of each person)"
    with speaking("sl"):
        assert rows.sentence() == "Delež vrstic, za katere velja: c = a – od vrstic (največ 3 na osebo)"
    single = catalogue["proportion"].build(
        Facts("people", WORLD, dp.Unit.rows(), "replace", 2_000), {"of": [["c", "in", ["a"]]], "epsilon": "1"}
    )
    assert single.sentence() == "The share of those where c is a, among everyone"
