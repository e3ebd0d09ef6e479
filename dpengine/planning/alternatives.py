"""Two questions answer with the same curve: which one is expected to be more accurate, by their promises in people."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction

from dpengine.accountant import filter
from dpengine.accountant.costs import cost
from dpengine.accountant.filter import Rule, Totals
from dpengine.accountant.loss import Loss, Pure
from dpengine.core.amounts import BETA, LEAST_EPSILON, MOST_EPSILON
from dpengine.core.remembered import largest, remembered
from dpengine.declared.facts import Facts
from dpengine.declared.schema import Category, Number, Schema
from dpengine.mechanisms import catalogue
from dpengine.mechanisms.choices.noisy_argmax import FLIP, NoisyArgmax
from dpengine.mechanisms.counts.count import Count
from dpengine.mechanisms.curves.cdf import Cdf
from dpengine.mechanisms.curves.cdf_tree import CdfTree
from dpengine.mechanisms.publish.of_rows import OfRows
from dpengine.mechanisms.query import AnyQuery
from dpengine.mechanisms.sums.row_norms import COORDINATE, GAUSSIAN, NORM
from dpengine.mechanisms.sums.vector_mean import VectorMean
from dpengine.noise.tails import laplace_reach
from dpengine.planning.whatif import most_each


@dataclass(frozen=True)
class Rival:
    """The other question, and the error of each in people, at all points at once, 95 times in 100."""

    query: Cdf | CdfTree
    own: Fraction
    its: Fraction

    @property
    def loses_values(self) -> bool:
        """Does the question give a synthetic column, which the other does not?"""
        return isinstance(self.query, CdfTree)


def curve_alternative(query: AnyQuery) -> Rival | None:
    """The other question for the same column, people, condition and ε, each with its default noise; from public
    facts."""
    if not isinstance(query, Cdf | CdfTree):
        return None
    query = query.with_noise("")
    given = {name: value for name, value in query.parameters().items() if name != "points"}
    kind: type[Cdf] | type[CdfTree] = CdfTree if isinstance(query, Cdf) else Cdf
    other = kind.build(query.facts, given)
    everybody = Fraction(query.facts.about)  # no error is larger
    return Rival(other, *(min(option.people_off, everybody) for option in (query, other)))


# A published average beside an asked one at the same ε (thesis, Remark 7.1), from public facts, before anything is
# spent.
#
# Published, every row hides its person by itself: its noise is made for the whole diameter, and the mean of n rows has
# noise of the order diam/(ε√n). Asked, only the sum must hide one person: the same diameter over n, diam/(εn). So an
# asked mean is nearer by about √n; what a published table has instead is that anything may be asked of it, any number
# of times. Of k columns published together each is compared with a question at ε/k, so that both sides spend ε in all.


@dataclass(frozen=True)
class Instead:
    """The question that could be asked instead, and how near both come, relative to the column's range."""

    query: AnyQuery
    published: Fraction
    asked: Fraction

    @property
    def times(self) -> Fraction:
        """How many times wider the published one is."""
        return self.published / self.asked


def asked_instead(query: OfRows, name: str) -> Instead | None:
    """Of a number its mean, of a list how many rows hold each value; nothing of other columns."""
    column, facts = query.facts.schema[name], query.facts
    about, spend = {"column": name, "epsilon": "1"}, query.epsilon / len(query.columns)
    if isinstance(column, Number):
        mean = catalogue["mean"].build(facts, about).at(spend)
        return Instead(mean, query.reach(name), mean.promise().amount / column.diameter)
    if isinstance(column, Category):
        counts = catalogue["histogram"].build(facts, about).at(spend)
        return Instead(counts, query.reach(name), counts.promise().amount / facts.about)
    return None


# Several averages at once: what each way of adding noise is worth for the price that the question has now, against the
# number of columns (lecture 10, its section on the ℓ2 norm).
#
#     ordinary     column by column, and the d losses of ε/d are added up to ε: Pure(ε). One draw calibrated by the ℓ1
#                  norm is the same noise at the same price.
#     strong       the same noise, charged as d uses of ε/d: what the question's usual noise really costs.
#     l2_laplace   one draw by the length of a row.
#     gaussian     the same with Gaussian noise.
#
# Each at the largest ε whose price now is no higher than that of the question: public facts and the ledger's sums
# alone.

ORDINARY, STRONG = "ordinary", "strong"
WIDTHS = (1, 2, 5, 10, 20)
_GRAIN = 10**4  # ε is found to a ten-thousandth: for a picture


@dataclass(frozen=True)
class WayAtOnce:
    """One way of adding noise: the promised error, a share of each range, by the number of columns; none where it does
    not fit."""

    name: str
    noise: str
    errors: dict[int, Fraction]


@dataclass(frozen=True)
class WaysAtOnce:
    here: int  # columns of the question
    cornered: bool  # may a row be in a corner of the ranges? Its length is then √d, and adds nothing to what is known
    each: tuple[WayAtOnce, ...]


@remembered(256)
def means_together(query: AnyQuery, rule: Rule, totals: Totals) -> WaysAtOnce | None:
    """None for a question that is about one column."""
    if not isinstance(query, VectorMean):
        return None
    price = filter.share(rule, totals, cost(query.with_noise("").loss(), rule.alpha))
    widths = sorted({*WIDTHS, len(query.columns)})
    found = []
    for name, noise in ((ORDINARY, COORDINATE), (STRONG, COORDINATE), (NORM, NORM), (GAUSSIAN, GAUSSIAN)):
        errors: dict[int, Fraction] = {}
        for many in widths:
            asked = query.of_width(many).with_noise(noise)
            charged: Callable[[VectorMean], Loss] = _pure if name == ORDINARY else VectorMean.loss
            best = _largest(asked, charged, price, rule, totals)
            if best is not None:
                errors[many] = best.promise().share
        found.append(WayAtOnce(name, noise, errors))
    return WaysAtOnce(len(query.columns), query.norm == 1, tuple(found))


def _pure(query: VectorMean) -> Loss:
    return Pure(query.epsilon)


def _largest(
    query: VectorMean, charged: Callable[[VectorMean], Loss], price: Fraction, rule: Rule, totals: Totals
) -> VectorMean | None:
    """The question at the largest ε that fits and takes no more than this price."""

    def allowed(place: int) -> bool:
        paid = cost(charged(query.at(Fraction(place, _GRAIN))), rule.alpha)
        if rule.c is None and (paid.epsilon is None or totals.epsilon is None):
            return False
        return filter.share(rule, totals, paid) <= price and filter.fits(rule, totals, paid) > 0

    low, high = max(int(LEAST_EPSILON * _GRAIN), 1), int(MOST_EPSILON * _GRAIN)
    if not allowed(low):
        return None
    name = "way", query.at(Fraction(1)), charged, rule
    return query.at(Fraction(largest(allowed, low, high, name, query.epsilon), _GRAIN))


# Why choosing one of T is cheaper than asking for all T: how far the chosen one may lie behind the best, both ways.
#
# All T counts, under one allowance of (ε, δ), each with Laplace noise of its share of it, and the largest answer taken:
# if every noise stays within t, the one taken is at most 2t behind, and t is what T noises of scale 1/ε′ stay within
# but for β. ε′ is ε/T where costs add up, of the order ε/√T under strong composition (lecture 6, Corollary 5) and under
# the allowance's own rule: so the gap grows like T·ln T or √T·ln T.
#
# Choosing (lecture 6, section on NoisyArgmax; drawn here by permute-and-flip) releases the name only. The whole ε is
# paid once, whatever T, and the gap grows like ln T. What is given up is every count.

OPTIONS = (2, 3, 5, 10, 20, 50, 100, 200, 500, 1000)
ALL = ("basic", "lecture", "filter")  # ways to add up the costs of all T
CHOSEN = "choose"
SCHEMA = Schema({"c": Category(["a", "b"], unknown="b", missing="b")})


def choice_gaps(rule: Rule, facts: Facts) -> dict[str, list[tuple[int, int]]]:
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
