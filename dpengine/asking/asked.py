"""A question from the catalogue as a person asks it, with what is chosen for her."""

from __future__ import annotations

from fractions import Fraction

from dpengine.asking.answers import claim_of
from dpengine.core.errors import AllowanceError
from dpengine.core.exact import text_of
from dpengine.core.json_types import JsonObject
from dpengine.declared.facts import Facts
from dpengine.ledger import repeats
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
    return kind.build(facts, kind.asked_now(given, facts))


def same_question(one: AnyQuery, other: AnyQuery) -> bool:
    """Are both one question under the same bounds, at whatever ε and with whatever noise?"""
    return identity(claim_of(one.with_noise(""))) == identity(claim_of(other.with_noise("")))


def identity(claim: JsonObject) -> str:
    """What a question's claims at any ε and with any noise have in common: the ledger finds its answers by the same."""
    return repeats.question_of("", "", claim)
