"""A small database: m made-up rows that answer a whole class of counting queries about as the table does.

Guarantee   ε-DP and ε-bounded range, under replace-one and under add/remove.
Theorem     exponential mechanism (McSherry and Talwar 2007, Thm 6) over all databases of m rows (Blum, Ligett and Roth
            2008); utility Thm 7.
Candidates  R = D^m, the sequences of m cells. Those with the same rows are one multiset y with m!/Π y_i! sequences.
Statistic   q(x, y) = −⌈max_h |m·c_h(x) − n·c_h(y)| / m⌉, a whole number of rows (x, n, C: `of_class`).
Sensitivity Δq = 1 for a row, under both relations, whether or not n is public. For y and h let p = c_h(y)/m, in [0, 1].
            A row more changes c_h(x) − n·p by 1−p or by −p; a row less by the opposite. So a row that is added, removed
            or passes the condition moves it by at most 1, and a row that becomes another by 1 as well, as n stays. A
            maximum of absolute values moves no more than its terms, and a ceiling moves by a whole number where its
            argument moves by one. At most k rows of a person: a of them gone and b come move it by at most
            max(a·p + b·(1−p), a·(1−p) + b·p) ≤ k, so Δq = k.
Draw        y with chance ∝ (m!/Π y_i!)·exp(−rate·⌈…⌉), rate = ε/(2Δ), exactly: all multisets are listed, and
            `coins.choose` takes one as a block of that many candidates.
Accuracy    some y is within a(m) of every share at once: min(max_h min(s_h, D−s_h, D/4)/m, √(ln(2|C|)/(2m))). The first
            is rounding (`of_class`); the second the probabilistic method: m rows drawn from x miss h by t with chance
            at most 2e^(−2mt²) (Hoeffding 1963), all |C| together with less than 1 for any t above it. So OPT is at
            least −⌈n·a(m)⌉, and with probability ≥ 1−β every share is off by at most (⌈n·a(m)⌉ + g)/n, with
            g = ⌈ln(D^m/β)/rate⌉ − 1. Without a size, m is the one among those that can be drawn whose bound is least.
Cost        C(m+D−1, m) multisets times D + |C|; bounded below, and refused beyond with what it would cost.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import lru_cache
from itertools import combinations
from math import comb, prod
from typing import ClassVar

import numpy as np
import numpy.typing as npt

from dpengine.accountant.loss import Exponential
from dpengine.core.errors import AllowanceError
from dpengine.core.exact import ceiling, ln_above
from dpengine.core.types import Integers, JsonObject
from dpengine.declared.facts import Facts
from dpengine.mechanisms.answer_state import NOISE
from dpengine.mechanisms.card import WHERE, Card, Parameter
from dpengine.mechanisms.promises import Promise
from dpengine.mechanisms.query import Fields, Progress, Released, Sensitivity
from dpengine.mechanisms.synthetic.of_class import OfClass, root_above, whole
from dpengine.mechanisms.trial import IN_A, SOME, Example, Trial
from dpengine.noise.coins import Coins
from dpengine.noise.laws import Finite, weighted
from dpengine.noise.tails import choice_gap

Counts = npt.NDArray[np.uint8]

MOST_SEQUENCES = 2**62  # D^m: then every weight, and their sum, is an int64
_KEPT = 1 << 20  # bytes of a table small enough to be cached


def multisets_in_all(cells: int, size: int) -> int:
    return comb(size + cells - 1, size)


def all_multisets(cells: int, size: int) -> tuple[Counts, Integers]:
    """Every multiset of m cells out of D as a row of counts, and the number of its sequences. Public: D and m decide.
    D^m < 2^62, so m < 62 and counts fit a byte."""
    if cells < 2 or size < 1 or cells**size >= MOST_SEQUENCES:
        raise ValueError("too many sequences, or nothing to choose from")
    return _small(cells, size) if multisets_in_all(cells, size) * cells <= _KEPT else _enumerated(cells, size)


def _enumerated(cells: int, size: int) -> tuple[Counts, Integers]:
    """Cell by cell: each partial multiset is continued with every possible count of the next cell.

    A multiset y has Π C(left_i, y_i) sequences. Each factor is at least 1, so no partial product exceeds D^m.
    """
    choose = np.array([[comb(n, k) for k in range(size + 1)] for n in range(size + 1)], dtype=np.int64)
    counts = np.zeros((multisets_in_all(cells, size), cells), dtype=np.uint8)
    left, ways = np.array([size]), np.ones(1, dtype=np.int64)
    repeats = np.array([multisets_in_all(cells, size)])  # how many multisets begin with each row so far
    for cell in range(cells - 1):
        row = np.repeat(np.arange(len(left)), left + 1)
        first = np.cumsum(left + 1) - (left + 1)
        part = np.arange(len(row)) - first[row]
        ways = ways[row] * choose[left[row], part]
        left = left[row] - part
        rest = cells - 1 - cell
        repeats = _ahead(rest, size)[left]
        counts[:, cell] = np.repeat(part, repeats)
    counts[:, -1] = np.repeat(left, repeats)
    return counts, ways


def _ahead(cells: int, size: int) -> Integers:
    """The number of multisets of the remaining cells, for every number of remaining rows."""
    return np.array([multisets_in_all(cells, left) for left in range(size + 1)], dtype=np.int64)


_small = lru_cache(maxsize=32)(_enumerated)


MOST_MULTISETS = 1_000_000
MOST_WORK = 50_000_000  # multisets times cells and queries
PER_SECOND = 20_000_000  # of that work, about; bench/synthetic.py measures it
MOST_SIZE = 1_000  # the largest size a form accepts; sizes that can be drawn are far smaller
MOST_LISTED = 5_000  # multisets of a law
_CHUNK = 1 << 21  # numbers held at once


@dataclass(frozen=True, kw_only=True)
class SmallDatabase(OfClass):
    card: ClassVar[Card] = Card(
        key="small_database",
        asked_on=("synthetic", "whatif"),
        order=600,
        answer="table",
        states=(NOISE,),
        caveats=("rows", "class"),
        own=(
            Parameter("columns", "columns", required=True),
            Parameter("queries", "queries"),
            Parameter("size", "number"),
            WHERE,
        ),
    )
    trial: ClassVar[Trial] = Trial(
        cases={
            "of two rows": {"columns": ["c"], "size": 2},
            "of the usual size": {"columns": ["t"]},
            "for a share of some": {"columns": ["c", "d"], "size": 1, "queries": [IN_A], "where": [SOME]},
        },
        example=Example({"columns": ["town"], "size": 2}),
        broken_variants=("quarter",),
        covered="test_the_promise_is_kept",
        large={"columns": ["t"]},
    )

    plans_people = True

    size: int | None = None  # m; None: the best for this ε

    def __post_init__(self) -> None:
        wanted = self.size or 1
        if not fits(self.domain, self.many, wanted):
            work = multisets_in_all(self.domain, wanted) * (self.domain + self.many)
            raise AllowanceError(
                "synthetic.large",
                size=wanted,
                databases=multisets_in_all(self.domain, wanted),
                most=MOST_MULTISETS,
                minutes=-(-work // (60 * PER_SECOND)),
            )

    @classmethod
    def read(cls, facts: Facts, given: JsonObject) -> Fields:
        return super().read(facts, given) | {"size": whole(given, "size", MOST_SIZE)}

    @property
    def rows(self) -> int:
        """m: the number of made-up rows."""
        return self.size or best_size(self.domain, self.many, self.widest, self.facts.about, self.rate, self.beta)

    def promise_of(self, people: int) -> Promise:
        return replace(self, size=self.rows).of_size(people).promise()  # m is that of the declared size

    @property
    def rate(self) -> Fraction:
        return self.epsilon / (2 * self.sensitivity().bound)

    def sensitivity(self) -> Sensitivity:
        return Sensitivity("linf", self.facts.unit.at_most)

    def loss(self) -> Exponential:
        return Exponential(self.epsilon)

    def reach(self) -> Fraction:
        return reach(self.domain, self.many, self.widest, self.facts.about, self.rate, self.beta, self.rows)

    def measured(self, value: tuple[int, ...]) -> tuple[int, ...]:
        return tuple((-self.gaps(value)).tolist())

    def gaps(self, value: tuple[int, ...], progress: Progress = lambda done, total: None) -> Integers:
        """−q of every multiset. It is exact: floats hold numbers up to n·m < 2^53, short floats counts up to m."""
        x = np.asarray(value, dtype=np.int64)
        counts, _ = all_multisets(self.domain, self.rows)
        m, n, wanted = self.rows, int(x.sum()), self.sums(x)
        queries = np.stack([self.cells_of(place) for place in range(self.many)], axis=1).astype(np.float32)
        off, step = np.empty(len(counts), dtype=np.int64), max(_CHUNK // (self.domain + self.many), 1)
        for start in range(0, len(counts), step):
            part = (counts[start : start + step].astype(np.float32) @ queries).astype(np.float64)
            part *= -n
            part += m * wanted
            off[start : start + step] = np.abs(part, out=part).max(axis=1)
            progress(min(start + step, len(counts)), len(counts))
        return -(-off // m)

    def draw(self, value: tuple[int, ...], coins: Coins) -> tuple[int, ...]:
        return self.drawn(value, coins, lambda done, total: None)

    def drawn(self, value: tuple[int, ...], coins: Coins, progress: Progress) -> tuple[int, ...]:
        counts, ways = all_multisets(self.domain, self.rows)
        block, _ = coins.choose(self.gaps(value, progress), ways, self.rate, self.known)
        return tuple(counts[block].tolist())

    def law(self, value: tuple[int, ...]) -> Finite | None:
        """The chance of every multiset; None if there are too many to list."""
        if multisets_in_all(self.domain, self.rows) > MOST_LISTED:
            return None
        counts, ways = all_multisets(self.domain, self.rows)
        multisets = [tuple(multiset) for multiset in counts.tolist()]
        gaps, many = (dict(zip(multisets, of.tolist(), strict=True)) for of in (self.gaps(value), ways))
        return weighted(gaps, self.rate, many)

    def finish(self, raw: tuple[int, ...]) -> Released:
        """The number of rows with each combination."""
        return Released(self.rows_by_label(raw))


def fits(domain: int, many: int, size: int) -> bool:
    """Can all databases of `size` rows be listed? Decided from public facts."""
    if domain**size >= MOST_SEQUENCES:
        return False
    listed = multisets_in_all(domain, size)
    return listed <= MOST_MULTISETS and listed * (domain + many) <= MOST_WORK


def can_be_listed(sizes: Sequence[int]) -> bool:
    """Can a database of one row be drawn for these lists? Public: their lengths decide."""
    domain = prod(sizes)
    many = sum(sizes) + sum(first * other for first, other in combinations(sizes, 2))
    return domain >= 2 and fits(domain, many, 1)


def reach(domain: int, many: int, widest: Fraction, people: int, rate: Fraction, beta: Fraction, size: int) -> Fraction:
    near = min(widest / size, root_above(ln_above(Fraction(2 * many)) / (2 * size)))
    return Fraction(ceiling(people * near) + choice_gap(rate, domain**size, beta), people)


@lru_cache(maxsize=4096)
def best_size(domain: int, many: int, widest: Fraction, people: int, rate: Fraction, beta: Fraction) -> int:
    """The m with the least bound among those that can be drawn; the smallest of several."""
    drawable = [size for size in range(1, 62) if fits(domain, many, size)]
    return min(drawable, key=lambda size: reach(domain, many, widest, people, rate, beta, size))
