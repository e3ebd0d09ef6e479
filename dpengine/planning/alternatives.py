"""Other ways to the same answer, compared from public facts before anything is spent: the other question for a curve,
an asked average instead of a published one, several averages at once, choosing instead of asking for everything."""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction

from dpengine.accountant import filter
from dpengine.accountant.costs import cost
from dpengine.accountant.filter import Rule, Totals
from dpengine.accountant.loss import Pure
from dpengine.core.amounts import BETA, LEAST_EPSILON, MOST_EPSILON
from dpengine.core.remembered import largest, remembered
from dpengine.declared.facts import Facts
from dpengine.declared.schema import Category, Number, Schema
from dpengine.mechanisms import catalogue
from dpengine.mechanisms.choices.noisy_argmax import NoisyArgmax
from dpengine.mechanisms.counts.count import Count
from dpengine.mechanisms.curves.cdf import Cdf
from dpengine.mechanisms.curves.cdf_tree import CdfTree
from dpengine.mechanisms.noise import PermuteAndFlip
from dpengine.mechanisms.publish.of_rows import OfRows
from dpengine.mechanisms.query import AnyQuery
from dpengine.mechanisms.sums.vector_mean import ByNorm, GaussianByNorm, VectorMean
from dpengine.noise.tails import laplace_reach
from dpengine.planning.whatif import most_each


@dataclass(frozen=True)
class Rival:
    """Another question with the same answer. `own` and `its` are the errors of the asked and of the other question: in
    people, at all points at once, at 95 %."""

    query: Cdf | CdfTree
    own: Fraction
    its: Fraction

    @property
    def loses_values(self) -> bool:
        """Does the asked question give a synthetic column, and the other one none?"""
        return isinstance(self.query, CdfTree)


def curve_alternative(query: AnyQuery) -> Rival | None:
    """The other question about the same distribution at the same ε, both with their default noise; None unless `query`
    is one of the two."""
    if not isinstance(query, Cdf | CdfTree):
        return None
    query = query.with_noise("")
    given = {name: value for name, value in query.parameters().items() if name != "points"}
    kind: type[Cdf] | type[CdfTree] = CdfTree if isinstance(query, Cdf) else Cdf
    other = kind.build(query.facts, given)
    everybody = Fraction(query.facts.about)  # no error is larger
    return Rival(other, *(min(option.people_off, everybody) for option in (query, other)))


@dataclass(frozen=True)
class Instead:
    """The question to ask instead of publishing a column, and both errors (`published`, `asked`), relative to the
    column's range."""

    query: AnyQuery
    published: Fraction
    asked: Fraction

    @property
    def times(self) -> Fraction:
        """How many times larger the error of the published column is."""
        return self.published / self.asked


def asked_instead(query: OfRows, name: str) -> Instead | None:
    """The mean of a number or the counts of a list, asked instead of published at the same ε (thesis, Remark 7.1); None
    for other columns.

    In a published table every row hides its person by itself: its noise covers the whole diameter, and the mean of n
    rows has noise of the order diam/(ε√n). Asked, only the sum must hide one person: diam/(εn). So an asked mean is
    closer by about √n; a published table can instead be asked anything, any number of times. Of k columns published
    together each is compared with a question at ε/k, so that both sides spend ε in all."""
    column, facts = query.facts.schema[name], query.facts
    about, spend = {"column": name, "epsilon": "1"}, query.epsilon / len(query.columns)
    if isinstance(column, Number):
        mean = catalogue["mean"].build(facts, about).at(spend)
        return Instead(mean, query.reach(name), mean.promise().amount / column.diameter)
    if isinstance(column, Category):
        counts = catalogue["histogram"].build(facts, about).at(spend)
        return Instead(counts, query.reach(name), counts.promise().amount / facts.about)
    return None


ORDINARY, STRONG = "ordinary", "strong"
NORM, GAUSSIAN = ByNorm.name, GaussianByNorm.name
WIDTHS = (1, 2, 5, 10, 20)
_GRAIN = 10**4  # ε to a ten-thousandth, which is enough for a picture


@dataclass(frozen=True)
class WayAtOnce:
    """One way of adding noise to several averages. `errors`: by the number of columns, the error as a share of each
    column's range."""

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
    """Several averages at once: the accuracy of each way of adding noise at the question's present price, by the number
    of columns (lecture 10, its section on the ℓ2 norm). None for a question about one column.

        ordinary     column by column, with the d losses of ε/d added up to ε: Pure(ε). One draw calibrated by the ℓ1
                     norm is the same noise at the same price.
        strong       the same noise, charged as d uses of ε/d: the real cost of the question's usual noise.
        l2_laplace   one draw by the length of a row.
        gaussian     the same with Gaussian noise.

    Each at the largest ε that now costs no more than the question, from public facts and the ledger's sums alone."""
    if not isinstance(query, VectorMean):
        return None
    price = filter.share(rule, totals, cost(query.with_noise("").loss(), rule.alpha))
    widths = sorted({*WIDTHS, len(query.columns)})
    ways = []
    for name, noise in ((ORDINARY, ""), (STRONG, ""), (NORM, NORM), (GAUSSIAN, GAUSSIAN)):
        errors: dict[int, Fraction] = {}
        for width in widths:
            asked = query.of_width(width).with_noise(noise)
            best = _largest(asked, name == ORDINARY, price, rule, totals)
            if best is not None:
                errors[width] = best.promise().share
        ways.append(WayAtOnce(name, noise, errors))
    return WaysAtOnce(len(query.columns), query.norm == 1, tuple(ways))


def _largest(query: VectorMean, pure: bool, price: Fraction, rule: Rule, totals: Totals) -> VectorMean | None:
    """The question at the largest ε that costs no more than this price; None if there is none. `pure`: the question is
    charged as one loss of ε."""

    def allowed(place: int) -> bool:
        epsilon = Fraction(place, _GRAIN)
        paid = cost(Pure(epsilon) if pure else query.at(epsilon).loss(), rule.alpha)
        if rule.c is None and (paid.epsilon is None or totals.epsilon is None):
            return False
        return filter.share(rule, totals, paid) <= price and filter.fits(rule, totals, paid) > 0

    low, high = max(int(LEAST_EPSILON * _GRAIN), 1), int(MOST_EPSILON * _GRAIN)
    if not allowed(low):
        return None
    name = "way", query.at(Fraction(1)), pure, rule
    return query.at(Fraction(largest(allowed, low, high, name, query.epsilon), _GRAIN))


OPTIONS = (2, 3, 5, 10, 20, 50, 100, 200, 500, 1000)
ALL = ("basic", "lecture", "filter")  # ways to add up the costs of all T
CHOSEN = "choose"
SCHEMA = Schema({"c": Category(["a", "b"], unknown="b", missing="b")})


def choice_gaps(rule: Rule, facts: Facts) -> dict[str, list[tuple[int, int]]]:
    """Why choosing one of T is cheaper than asking for all T: (T, how many people the chosen one may be behind the
    best, except with probability β), by method.

    Asking for all T counts under one allowance of (ε, δ), each with Laplace noise of its share, and taking the largest:
    if every noise stays within t, the largest is at most 2t behind, and t bounds T noises of scale 1/ε′ except with
    probability β. ε′ is ε/T where costs add up, of the order ε/√T under strong composition (lecture 6, Corollary 5) and
    under the allowance's own rule: so the gap grows like T·ln T or √T·ln T.

    Choosing (lecture 6, section on NoisyArgmax; drawn here by permute-and-flip) releases the name only. The whole ε is
    paid once, for any T, and the gap grows like ln T. It gives up every count."""
    about = replace(facts, schema=SCHEMA)
    one, other = [["c", "in", ["a"]]], [["c", "in", ["b"]]]
    count = Count.build(about, {"where": one, "epsilon": "1"})
    spend = min(rule.epsilon, MOST_EPSILON)
    choice = NoisyArgmax.build(about, {"options": [one, other], "epsilon": spend, "noise": PermuteAndFlip.name})
    gaps = {CHOSEN: [(options, choice.gap(options)) for options in OPTIONS]}
    for accounting in ALL:
        gaps[accounting] = []
        for options in OPTIONS:
            if (epsilon := most_each(rule, count, options, accounting)) is not None:
                reach = laplace_reach(count.at(epsilon).scale, BETA / options)
                gaps[accounting].append((options, 2 * reach))
    return gaps
