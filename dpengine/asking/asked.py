"""A question from the catalogue as a person asks it, with what is chosen for her."""

from __future__ import annotations

from fractions import Fraction

from dpengine.core.errors import AllowanceError
from dpengine.core.exact import text_of
from dpengine.core.json_types import JsonObject
from dpengine.declared.facts import Facts
from dpengine.mechanisms import catalogue
from dpengine.mechanisms.query import AnyQuery

FINDS = 10  # that name no δ fit into the reserve


def asked(key: str, facts: Facts, given: JsonObject, reserve: Fraction) -> AnyQuery:
    """Refuses in one sentence what it cannot use. Whoever finds declarations and names no δ takes a tenth of the
    reserve of δ."""
    if key not in catalogue:
        raise AllowanceError("query.unknown", key=str(key)[:60], keys=list(catalogue))
    kind = catalogue[key]
    takes = kind.declares and any(parameter.kind == "delta" for parameter in kind.card.parameters)
    if takes and given.get("delta") is None:
        given = {**given, "delta": text_of(reserve / FINDS)}
    return kind.build(facts, kind.asked_now(given))
