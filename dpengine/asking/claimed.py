"""A question as it was charged, built again from what its row claims: public facts and nothing else."""

from __future__ import annotations

from dpengine.core.errors import AllowanceError
from dpengine.declared.facts import Facts, named_columns
from dpengine.declared.schema import Number, Schema
from dpengine.declared.unit import Unit, read_relation
from dpengine.ledger.rows import Charge
from dpengine.mechanisms import catalogue
from dpengine.mechanisms.query import AnyQuery


def query_of(charge: Charge) -> AnyQuery | None:
    """A charged question, built again from its claim; None if this program cannot build it."""
    claim = charge.claim
    if claim.get("key") not in catalogue:
        return None
    try:
        bounds = claim["bounds"]  # a schema has at least one column; a session or a bought range names none
        schema = Schema.from_json({"columns": list(bounds.items())}) if bounds else Schema({"-": Number(0, 1)})
        unit, relation = Unit.from_json(claim["unit"]), read_relation(claim["relation"])
        header = (*schema.columns, *named_columns(claim["parameters"]))
        facts = Facts(charge.table, schema, unit, relation, claim["about"], header)
        return catalogue[claim["key"]].build(facts, claim["parameters"])
    except (AllowanceError, KeyError, TypeError, ValueError):
        return None
