"""Public knowledge about a table, declared with its columns: combinations that cannot be (“a child has no income”).

Each rule is a condition as in questions (`conditions`), which no row should meet. A synthetic table of these columns
has no such row. Nobody compares the rules with the rows, and no row is changed for them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from dpengine.core.errors import AllowanceError
from dpengine.core.types import Json
from dpengine.declared.conditions import Predicate, read_predicate
from dpengine.declared.schema import Schema

MOST_RULES = 20


def read_rules(given: Json, schema: Schema) -> tuple[Predicate, ...]:
    if not isinstance(given, (list, tuple)) or not 1 <= len(given) <= MOST_RULES:
        raise AllowanceError("synthetic_table.never", most=MOST_RULES)
    rules = tuple(read_predicate(condition, schema) for condition in given)
    if any(rule.everyone for rule in rules):
        raise AllowanceError("synthetic_table.never", most=MOST_RULES)
    return rules


def among(schema: Schema, names: Sequence[str], given: Json) -> tuple[Predicate, ...]:
    """The declared rules that a question uses; refused if one is not about the question's own columns."""
    rules = () if given in (None, "", [], ()) else read_rules(given, schema)
    for rule in rules:
        if strange := sorted(rule.columns() - set(names)):
            raise AllowanceError("synthetic.condition", column=strange[0])
    return rules


def check(schema: Schema) -> None:
    """Refuse rules of a new declaration that cannot be read."""
    if schema.never:
        read_rules(schema.never, schema)


def rules_on(schema: Schema, names: Sequence[str]) -> list[Json]:
    rules = read_rules(schema.never, schema) if schema.never else ()
    return [rule.as_json() for rule in rules if rule.columns() <= set(names)]


def carry_over(old: Schema, new: Schema) -> Schema:
    """The new declaration. If it has no rules, it gets those of the old one that still fit."""
    never = new.never or tuple(rule for rule in old.never if _fits(replace(new, never=(rule,))))
    return replace(new, never=never)


def _fits(schema: Schema) -> bool:
    try:
        check(schema)
    except AllowanceError:
        return False
    return True
