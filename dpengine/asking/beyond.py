"""Does an answer speak of more people than the table holds? Decided from public facts and the ledger, when it is drawn.

Where the owner said that the table's people, one row each, are a random sample of a larger group, an answer is stored
with a second range, for that group (`Query.population`, proofs in `mechanisms/sampling.py`), and with a word for what
it rests on:

    first   nothing had been released about these people when the question was chosen. A check bought with the same
            click, and the other questions of a plan, do not count: nobody had seen them yet. A question that a check
            changed was chosen after it.
    after   something had. The range is wider by what that could do (`population/validity.shift`, S7.1), read from
            every charge to the budget.

or, with no range, for why there is none:

    seen    after what was released before nothing useful can be said, or no such range is known here;
    wide    the range would hold nearly everything;
    kind    for this kind of question, or a secret number of people, no such range is known here.

Both ranges are right with probability 1−β, each for itself.
"""

from __future__ import annotations

import logging
from collections.abc import Sequence
from fractions import Fraction

from dpengine.accountant.history import Past
from dpengine.core.types import Json, JsonObject
from dpengine.declared.facts import Facts
from dpengine.ledger.ledger import BudgetRecord, Ledger
from dpengine.mechanisms.query import AnyQuery, Released
from dpengine.population.session_validity import USELESS
from dpengine.population.validity import SHIFT_SHARE, shift

_log = logging.getLogger(__name__)
NOTHING_SEEN, AFTER_OTHERS = "first", "after"
_PURE_SHARE = Fraction(1, 10**9)  # of β, for the shift after pure charges, which is nearly certain
_WHOLE = 0.98  # a range as wide as this part of all that is possible says nothing


def population_part(
    ledger: Ledger, budget: BudgetRecord, query: AnyQuery, body: JsonObject, requests: Sequence[str]
) -> JsonObject:
    """What the answer to a question about a random sample stores besides its own range: the range for the larger group,
    or why there is none. `requests`: the requests of this click's charges, the first one first."""
    if not query.facts.sample or query.answer_kind == "session":
        return {}
    charged = next((entry for name in requests if name and (entry := ledger.find(name)) is not None), None)
    past = ledger.released(budget.id, None if charged is None else charged.charge.seq)
    answer, raw = Released(body["value"], body["interval"]), tuple(body.get("raw", ()))
    try:
        population, word = claimed(query, answer, raw, past, budget.rule.delta_reserve)
    except Exception as error:  # a fault here must not lose an answer that is paid for
        _log.error("No range for the population: %s", type(error).__name__)
        population, word = None, "kind"
    return {"population": population, "beyond": word}


def claimed(query: AnyQuery, answer: Released, raw: Sequence[int], past: Past, reserve: Fraction) -> tuple[Json, str]:
    """Two values: the range for the larger group and the word for what that range rests on; or None and the word for
    why there is none."""
    beta, moved = query.beta, Fraction(0)
    if not query.speaks_of_all:
        return None, "kind"
    if past != Past.NOTHING:
        share = SHIFT_SHARE if past.bell or past.delta else _PURE_SHARE
        moved = shift(past, beta * share, reserve, query.facts.relation)
        beta *= 1 - share
        if moved >= USELESS:
            return None, "seen"
    found = query.population(answer, tuple(raw), beta, moved)
    if found is None:
        return None, "seen" if moved else "kind"
    if _says_nothing(query, found):
        return None, "seen" if moved else "wide"
    return found, AFTER_OTHERS if moved else NOTHING_SEEN


def _says_nothing(query: AnyQuery, found: Json) -> bool:
    """Does every range in `found` contain nearly everything, so that the ranges say nothing?"""
    ranges = found.values() if isinstance(found, dict) else [found]
    limits = _limits(query)
    if limits is None:
        return False
    return all(high - low >= _WHOLE * (limits[1] - limits[0]) for low, high in ranges)


def _limits(query: AnyQuery) -> tuple[float, float] | None:
    match query.answer_kind:
        case "count" | "share" | "board":
            return 0.0, 100.0
        case "label":
            return 0.0, 50.0
        case "place" | "amount":
            return _numbers(query.facts, query.answer_column)
        case "distance":
            low, high = query.limits() or (None, None)
            return None if low is None or high is None else (float(low), float(high))
    return None


def _numbers(facts: Facts, column: str) -> tuple[float, float] | None:
    low, high = facts.schema.ordered(column).ends
    return None if isinstance(low, str) else (float(low), float(high))
