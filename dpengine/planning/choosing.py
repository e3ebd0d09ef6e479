"""Why choosing one of T is cheaper than asking for all T: how far the chosen one may lie behind the best, both ways.

All T counts, under one allowance of (ε, δ), each with Laplace noise of its share of it, and the largest answer taken:
if every noise stays within t, the one taken is at most 2t behind, and t is what T noises of scale 1/ε′ stay within but
for β. ε′ is ε/T where costs add up, of the order ε/√T under strong composition (lecture 6, Corollary 5) and under the
allowance's own rule: so the gap grows like T·ln T or √T·ln T.

Choosing (lecture 6, section on NoisyArgmax; drawn here by permute-and-flip) releases the name only. The whole ε is paid
once, whatever T, and the gap grows like ln T. What is given up is every count.
"""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

from dpengine.accountant.filter import Rule
from dpengine.core.amounts import BETA, MOST_EPSILON
from dpengine.declared.facts import Facts
from dpengine.declared.schema import Category, Schema
from dpengine.mechanisms.choices.noisy_argmax import FLIP, NoisyArgmax
from dpengine.mechanisms.counts.count import Count
from dpengine.noise.tails import laplace_reach
from dpengine.planning.whatif import most_each

OPTIONS = (2, 3, 5, 10, 20, 50, 100, 200, 500, 1000)
ALL = ("basic", "lecture", "filter")  # ways to add up the costs of all T
CHOSEN = "choose"
SCHEMA = Schema({"c": Category(["a", "b"], unknown="b", missing="b")})


def gaps(rule: Rule, facts: Facts) -> dict[str, list[tuple[int, int]]]:
    """(T, how many people the chosen one may lie behind the best, but for β), by the way it is found."""
    about = replace(facts, schema=SCHEMA)
    one, other = [["c", "in", ["a"]]], [["c", "in", ["b"]]]
    count = Count.build(about, {"where": one, "epsilon": "1"})
    spend = min(rule.epsilon, MOST_EPSILON)
    choice = NoisyArgmax.build(about, {"options": [one, other], "epsilon": spend, "noise": FLIP})
    found = {CHOSEN: [(options, choice.gap(options)) for options in OPTIONS]}
    for accounting in ALL:
        shares = [(options, most_each(rule, count, options, accounting)) for options in OPTIONS]
        found[accounting] = [
            (options, _gap(count.at(epsilon).scale, options)) for options, epsilon in shares if epsilon is not None
        ]
    return found


def _gap(scale: Fraction, options: int) -> int:
    return 2 * laplace_reach(scale, BETA / options)
