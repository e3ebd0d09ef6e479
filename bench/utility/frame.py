"""What every part of the comparison uses: how a question is asked of a made-up column, and how its rows are told.

A part is a module with `rows(draws)`, which yields lines of `bench.accuracy.line`: one for `OURS`, one for `BEFORE`
(the way in which the question was answered before, where it still can be), and one for each peer's or paper's
mechanism, all of the same case, relation and guarantee. The table sets ours beside the best of the others.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import dpengine as dp
from bench.accuracy import ADD_REMOVE, LESS, MORE, REPLACE
from bench.utility.columns import Made
from dpengine.accountant.filter import Rule, Totals
from dpengine.declared.facts import Facts
from dpengine.mechanisms.query import AnyQuery
from dpengine.noise.coins import SystemCoins
from dpengine.planning.opening import cheapest

OURS, BEFORE = "Allowance", "Allowance before"
COINS = SystemCoins()
NAMES = {REPLACE: "replace", ADD_REMOVE: "add_remove"}
DRAWS = 400
NEAR = 1.05
_HEAD = "| case | relation | guarantee | ours | before | best other | ours : best | note |\n" + "|---" * 8 + "|"


def ask(relation: str, table: Made, key: str, epsilon: str, **parameters: Any) -> AnyQuery:
    """A question about a made-up column, called x."""
    schema = dp.Schema({"x": table.column})
    facts = Facts("bench", schema, dp.Unit.rows(), NAMES[relation], table.rows)  # type: ignore[arg-type]
    return dp.catalogue[key].build(facts, {"column": "x", "epsilon": epsilon} | parameters)


def best(query: AnyQuery) -> AnyQuery:
    """The way that the app takes for a question where only ε counts: a budget of this ε and no δ."""
    return cheapest(query, Rule.make(query.epsilon, Fraction(0)), Totals.NOTHING)


def pure(epsilon: str) -> str:
    return f"ε = {epsilon}"


def table_of(lines: list[dict[str, Any]]) -> str:
    """All lines as one table, a row for each case, relation and guarantee."""
    return "\n".join([_HEAD, *(_row(place, told) for place, told in _cases(lines).items())])


def _cases(lines: list[dict[str, Any]]) -> dict[tuple[str, str, str], list[dict[str, Any]]]:
    cases: dict[tuple[str, str, str], list[dict[str, Any]]] = {}
    for one in lines:
        cases.setdefault((one["case"], one["relation"], one["guarantee"]), []).append(one)
    return cases


def behind(lines: list[dict[str, Any]]) -> list[str]:
    """The cases, with relation and guarantee, in which ours is worse than the best other beyond the runs' error."""
    late = []
    for place, told in _cases(lines).items():
        ours, best, least = _beside(told)
        if ours and best and not _open(ours, best) and (ours["mean"] > best["mean"]) == least:
            late.append(", ".join(place))
    return late


def compared_of(lines: list[dict[str, Any]]) -> int:
    """The number of cases that have another beside ours."""
    return sum(all(_beside(told)[:2]) for told in _cases(lines).values())


def far_behind(lines: list[dict[str, Any]]) -> list[str]:
    """The cases in which ours is more than NEAR times as far off as the best other, beyond two standard errors."""
    far = []
    for place, told in _cases(lines).items():
        ours, best, least = _beside(told)
        if ours and best:
            worse, better = (ours, best) if least else (best, ours)
            error = (worse["error"] ** 2 + (NEAR * better["error"]) ** 2) ** 0.5
            if worse["mean"] - NEAR * better["mean"] > 2 * error:
                figures = f"{_figure(ours)}, {best['who']} {_figure(best)}"
                far.append(f"{', '.join(place)} ({_ratio(ours, best, least)}; {figures})")
    return far


def _beside(told: list[dict[str, Any]]) -> tuple[dict[str, Any] | None, dict[str, Any] | None, bool]:
    """Ours, the best other, and whether less is better."""
    ours = next((one for one in told if one["who"] == OURS), None)
    others = [one for one in told if one["who"] not in (OURS, BEFORE)]
    least = told[0]["better"] == LESS
    return ours, min(others, key=lambda one: one["mean"] if least else -one["mean"], default=None), least


def beside(told: list[dict[str, Any]]) -> str:
    """One case in a cell: our error, and ours divided by the best other's."""
    ours, best, least = _beside(told)
    if ours is None:
        return ""
    ratio = _ratio(ours, best, least).replace(" (within error)", "~").replace("(within error)", "~")
    return f"{ours['mean']:.3g}" + (f" ({ratio})" if ratio else "")


def _open(ours: dict[str, Any], best: dict[str, Any]) -> bool:
    """Does the runs' error, three standard errors, leave open which is better?"""
    apart = abs(ours["mean"] - best["mean"])
    return bool(apart <= 3 * (ours["error"] ** 2 + best["error"] ** 2) ** 0.5)


def _row(place: tuple[str, str, str], told: list[dict[str, Any]]) -> str:
    before = next((one for one in told if one["who"] == BEFORE), None)
    ours, best, least = _beside(told)
    named = "" if best is None else f"{_figure(best)} {best['who']}"
    notes = "; ".join(dict.fromkeys(one["note"] for one in told if one["note"]))
    cells = [*place, _figure(ours), _figure(before), named, _ratio(ours, best, least), notes]
    return f"| {' | '.join(cells)} |"


def _figure(one: dict[str, Any] | None) -> str:
    return "" if one is None else f"{one['mean']:.{4 if one['better'] == MORE else 3}g} ± {one['error']:.1g}"


def _ratio(ours: dict[str, Any] | None, best: dict[str, Any] | None, least: bool) -> str:
    """By how much ours is better or worse, and a word where the runs leave it open."""
    if ours is None or best is None:
        return ""
    one, other = (ours, best) if least else (best, ours)
    ratio = "" if not other["mean"] else f"{one['mean'] / other['mean']:.2f}"
    return f"{ratio} (within error)".strip() if _open(ours, best) else ratio or "∞"
