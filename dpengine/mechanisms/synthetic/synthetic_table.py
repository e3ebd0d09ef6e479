"""A synthetic table: made-up rows that keep the marginals of two or three columns, all from one charge.

Guarantee   ρ-zCDP with ρ = ε²/2, for every ε, under replace-one and under add/remove; no finite ε at δ = 0.
Theorem     discrete Gaussian noise on the residuals of marginals (`residuals`: statement and proof), and where pairs
            are chosen, the exponential mechanism (McSherry and Talwar 2007, Thm 6).
Statistic   how many rows are in each combination of cells of two or three columns; cells as in a first look
            (`overview`), rows without a value in one of their own. All are counted in one scan.
Plan        from public facts: the number of cells, about how many people, ε. It fixes everything below.
            pairs    all columns by themselves and all pairs
            triples  all of these and all triples
            mixed    all columns by themselves and all pairs, and T triples, chosen one after the other
            chosen   all columns by themselves, and then in T turns pairs and triples, chosen one after the other
                     (`chosen_pairs`); a column to be kept with all its pairs in any case
Loss        pairs, triples: one row moves all residuals together by what `residuals` says; the noise is scaled so that
            the loss of the whole is ρ.
            mixed, chosen: ρ has three parts. All is charged before anything is drawn.
            1. The marginals measured in any case, in the same way.
            2. T choices. With M_A the counts of a candidate A, E_A integers computed from what was released before and
               c_A public, the score s_A = Σ_cells |M_A − E_A| − c_A has sensitivity Δ = m (a person has up to m rows, a
               row adds 1 to one cell), 2m under replace-one. A public factor ≤ 1 of Σ or of s_A, rounded down, keeps Δ.
               A is chosen with probability ∝ exp(ε′·s_A/(2Δ)) among those allowed in that turn. Its log-ratio has a
               range of ε′, which costs ε′²/8 of ρ. T choices are charged even if fewer are made.
            3. The residuals R_A of what is chosen: T equal parts ρ_A. σ_A² = m²·d_A/(2ρ_A), where d_A is the square of
               the most that one row moves R_A/Πn_i; a marginal that takes k turns has σ_A²/k.
            The parts are chosen adaptively, and so is the number of turns of each: their losses still add up (Feldman,
            Zrnic 2021, Rényi filters).
Total       the number of rows is public under replace-one with one row per person, and no noise is spent on it. Else
            the residual of no column is released with noise like every other, and no exact total is used anywhere.
Accuracy    every cell of every measured marginal is within √(2·V·ln(4N/β)), all N cells at once that may be measured,
            except with probability β/2 (`overview`; the rest of β is for what else is read off them). V is known
            before anything is spent, and so the widest range of every pair that will be measured. Whether a pair is
            measured again may depend on its noise: after K turns in all that is a martingale of variance σ²/K, and N
            counts a cell for every K that its pairs may have (`ways`). Nothing is promised of what is only fitted.
Answer      the released integers. The rows are fitted to them (`released.synthetic_fit`), which is post-processing.
Cost        one scan; as many integers to draw as there are measured cells.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from fractions import Fraction
from functools import cached_property
from typing import ClassVar, Self

import numpy as np

from dpengine.accountant.loss import Exponential, Gaussian, Loss, Repeated, Together
from dpengine.core.errors import AllowanceError
from dpengine.core.remembered import remembered
from dpengine.core.types import Floats, Integers, Json, JsonObject
from dpengine.declared.conditions import Predicate
from dpengine.declared.facts import Facts
from dpengine.declared.grouped import base, ref_json
from dpengine.declared.public_rules import among
from dpengine.declared.schema import ItemSet
from dpengine.mechanisms.answer_state import FEW
from dpengine.mechanisms.card import Card, Parameter
from dpengine.mechanisms.marginals.overview import Overview, Statistic
from dpengine.mechanisms.marginals.residuals import Columns, ResidualLayout, rebuilt, residual
from dpengine.mechanisms.marginals.wanted import (
    EVEN,
    MOST_CELLS,
    MOST_COLUMNS,
    MOST_NUMBERS,
    MOST_SETS,
    has_cells,
    read_wanted,
    refuse_large,
    wanted_sets,
)
from dpengine.mechanisms.promises import Within
from dpengine.mechanisms.query import Fields, Progress
from dpengine.mechanisms.synthetic import plans
from dpengine.mechanisms.synthetic.chosen_pairs import TERMS, Choosing
from dpengine.mechanisms.synthetic.plans import CHOSEN, EVERY, IN_TURNS, MIXED, PAIRS, PLANS, TRIPLES
from dpengine.mechanisms.synthetic.rules import Rules
from dpengine.mechanisms.trial import Example, Trial
from dpengine.messages import say
from dpengine.noise.coins import Coins
from dpengine.noise.laws import Finite, Independent, Law, Normal

_ONE = Decimal(1)
STEPS: Json = {"column": "x", "step": 2}


@dataclass(frozen=True, kw_only=True)
class SyntheticTable(Overview):
    card: ClassVar[Card] = Card(
        key="synthetic_table",
        asked_on=("synthetic",),
        order=595,
        answer="table",
        states=(FEW,),
        caveats=("fitted", "bins", "rare"),
        own=(
            Parameter("columns", "columns"),
            Parameter("keep", "column.any"),
            Parameter("plan", "plan"),
            Parameter("never", "queries"),
        ),
    )
    trial: ClassVar[Trial] = Trial(
        cases={
            "of two lists": {"columns": ["c", "d"], "plan": PAIRS},
            "of a number and two lists": {"columns": [STEPS, "c", "d"], "plan": PAIRS, "keep": "c"},
            "of every three": {"columns": ["c", "d", "t"], "plan": TRIPLES},
            "of a chosen pair": {"columns": ["c", "t"], "plan": CHOSEN},
            "of a chosen triple": {"columns": ["c", "d", "t"], "plan": MIXED},
        },
        example=Example({"columns": ["town", "member"], "plan": PAIRS}),
        broken_variants=("half", "relation", "bare"),
        covered="test_every_measured_range_covers",
    )
    takes_long: ClassVar[bool] = True
    makes_rows: ClassVar[str] = "fitted"

    plan: str = ""
    keep: str = ""  # a column with more exact pairs
    never: tuple[Predicate, ...] = ()  # impossible combinations: no made-up row meets one

    gated = True  # whoever gets the rows sees no check

    # Reading

    @classmethod
    def asked_now(cls, given: JsonObject, facts: Facts) -> JsonObject:
        usual = [name for name, column in facts.schema.columns.items() if can_be_part(column)]
        return plans.with_known(given, facts.schema, usual)

    @classmethod
    def build(cls, facts: Facts, parameters: JsonObject) -> Self:
        query = super().build(facts, parameters)
        query = query if query.plan else query.planned(query.best_plan())
        if query.never:
            query.rules  # noqa: B018 (refuses rules that leave nothing)
        if max(map(len, query.sets)) < 2:
            raise AllowanceError("synthetic_table.wide", columns=[base(ref) for ref in query.columns], most=MOST_CELLS)
        return query

    @classmethod
    def read(cls, facts: Facts, given: JsonObject) -> Fields:
        names = given.get("columns") or [name for name, column in facts.schema.columns.items() if can_be_part(column)]
        fields = read_wanted(facts, {"columns": names})
        plain = [base(ref) for ref in fields["columns"]]
        if fields["items"] or len(plain) < 2:
            raise AllowanceError("synthetic_table.columns", most=MOST_COLUMNS)
        plan, keep = str(given.get("plan") or ""), str(given.get("keep") or "")
        if plan not in ("", *PLANS):
            raise AllowanceError("synthetic_table.plan", plans=list(PLANS))
        if keep and keep not in plain:
            raise AllowanceError("synthetic_table.keep", column=keep[:60])
        fields |= {"plan": plan, "keep": keep, "never": among(facts.schema, plain, given.get("never")), "spread": EVEN}
        fields |= {"every": plan in EVERY, "three": plan == TRIPLES}
        refuse_large(facts, fields | {"against": (keep,) if keep else ()})
        return fields

    @remembered(256)  # a page asks for it at every price, and again at every click
    def planned(self, plan: str) -> Self:
        return replace(self, plan=plan, every=plan in EVERY, three=plan == TRIPLES)

    @remembered(256)
    def best_plan(self) -> str:
        """The plan, by the average error that noise gives the marginals, which is public. If small: all triples; else
        all pairs and some triples; else some of both."""
        threes = 2 < len(self.axes) <= plans.MOST_IN_THREES
        if len(self.axes) > 2 and self._off_in(TRIPLES) <= plans.GOOD_TRIPLES:
            return TRIPLES
        if self._off_in(PAIRS) <= plans.GOOD_PAIRS / len(self.axes):
            mixed = self.planned(MIXED) if threes else None
            if mixed is None or mixed.turns < mixed.choices:
                return MIXED if threes else PAIRS
            return TRIPLES if self._off_in(TRIPLES) <= plans.SOME_TRIPLES else PAIRS  # all would be chosen
        some, wanted = self.planned(CHOSEN), set(self.planned(PAIRS).sets)
        return PAIRS if some.turns == some.choices and wanted <= set(some.sets) else CHOSEN

    def _off_in(self, plan: str) -> float:
        """`off_by_noise` under this plan; infinite if it has too many marginals or cells."""
        query = self.planned(plan)
        cells = [math.prod(self.axes[place].size for place in part) for part in query._always]
        fits = len(cells) <= MOST_SETS and sum(cells) <= MOST_NUMBERS and max(cells) <= MOST_CELLS
        return query.off_by_noise() if fits else math.inf

    @cached_property
    def _mix(self) -> plans.Mix:
        return plans.up_to(plans.MIXES, lambda: self._off_in(TRIPLES))

    def asked_at(self, epsilon: Fraction) -> Self:
        again = replace(self, epsilon=epsilon)
        return again.planned(again.best_plan())

    def own_json(self) -> JsonObject:
        given: JsonObject = {"columns": [ref_json(ref) for ref in self.columns], "plan": self.plan}
        if self.keep:
            given["keep"] = self.keep
        if self.never:
            given["never"] = [rule.as_json() for rule in self.never]
        return given

    def sentence(self) -> str:
        code = "sentence.synthetic_table_keep" if self.keep else "sentence.synthetic_table"
        return say(code, columns=len(self.columns), keep=self.keep)

    @cached_property
    def rules(self) -> Rules:
        return Rules(self.axes, self.facts, self.never)

    # What is measured

    @cached_property
    def sets(self) -> tuple[Columns, ...]:
        """All marginals that may be measured: columns by themselves, then pairs, then triples."""
        return (*self._always, *self._parts)

    @cached_property
    def _always(self) -> tuple[Columns, ...]:
        """The marginals measured in any case."""
        names = [base(ref) for ref in self.columns]
        kept = (self.keep,) if self.keep and self.plan == CHOSEN else ()
        return wanted_sets(names, kept, self.plan == TRIPLES, self.plan != CHOSEN)

    @cached_property
    def _parts(self) -> tuple[Columns, ...]:
        """The marginals that may be chosen; only the smallest if all are too many to count."""
        sizes = [axis.size for axis in self.axes]
        return plans.countable(self.plan, sizes, set(self._always)) if self.plan in IN_TURNS else ()

    @cached_property
    def layout(self) -> ResidualLayout:
        """A marginal weighs as much as it has cells, so that noise moves about the same share of rows in large ones."""
        sizes = tuple(axis.size for axis in self.axes)
        rows, replaced = self.facts.unit.id_column is None, self.facts.relation == "replace"
        weights = tuple((part, self._weight(part, sizes)) for part in self._always)
        return ResidualLayout(sizes, weights, replaced and rows, replaced, self.facts.unit.at_most)

    def _weight(self, part: Columns, sizes: tuple[int, ...]) -> Fraction:
        cells = math.prod(sizes[place] for place in part)
        better = plans.KEPT_BETTER if self.keep and self.keep in {base(self.columns[place]) for place in part} else 1
        return Fraction(better * cells * (self._mix[2] if self.plan == MIXED and len(part) == 1 else 1))

    @property
    def turns(self) -> int:
        """T, by the number of columns: `MIXES` or `TURNS`."""
        if self.plan == MIXED:
            return min(math.ceil(len(self.axes) * self._mix[1]), len(self._parts))
        return min(plans.TURNS * (len(self.axes) - 1), len(self._parts)) if self.plan == CHOSEN else 0

    @property
    def choices(self) -> int:
        """The number of marginals that may be chosen."""
        return len(self._parts)

    @property
    def chooses(self) -> bool:
        return 0 < self.turns < self.choices

    @cached_property
    def choosing(self) -> Choosing:
        first = plans.FOR_KEPT if self.keep else plans.FIRST
        first = self._mix[0] if self.plan == MIXED else first
        terms = TERMS[self.plan == MIXED]
        return Choosing(self.layout, self._parts, self.turns, self.rho, first, *terms)

    # Noise and loss

    @cached_property
    def noise_of(self) -> dict[Columns, Fraction]:
        if not self.turns:
            return self.layout.best(self.rho)
        return self.layout.best(self.choosing.for_first) | self.choosing.noise

    def loss(self) -> Loss:  # type: ignore[override]
        if not self.turns:
            return Gaussian(self.rho)
        measured = self.choosing.for_first + self.turns * self.choosing.for_measuring
        return Together((Gaussian(measured), Repeated(Exponential(self.choosing.epsilon), self.turns)))

    def draw(self, value: Statistic, coins: Coins) -> tuple[int, ...]:
        return self.drawn(value, coins, lambda done, total: None)

    def drawn(self, value: Statistic, coins: Coins, progress: Progress) -> tuple[int, ...]:
        """The residuals measured in any case; then for each choice its place among all, and its residuals."""
        raw = list(super().draw(value, coins))
        if not self.turns:
            return tuple(raw)
        cells, known = self._cells_of(value), dict[Columns, Integers]()
        held, turn = dict[Columns, int](), 0
        while turn < self.turns:
            offers = self.choosing.offers(held, self.turns - turn, self._always, self.noise_of)
            expected = self._expected(raw, known, [option.part for option in offers])
            scores, able = self.choosing.scores(cells, expected, offers)
            place, _ = coins.choose(scores.max() - scores, able, self.choosing.rate)
            [offer] = (option for option in offers if option.place == place)
            raw.append(place)
            for part, many in offer.needed:
                raw += coins.gaussian(residual(cells[part]).ravel().tolist(), self._spread_of(part, many))
                held[part] = held.get(part, 0) + many
            known = self.choosing.settled(expected, held.keys() | set(self._always), offer)
            turn += offer.turns
            progress(turn, self.turns)
        return tuple(raw)

    def law(self, value: Statistic) -> Law | None:  # type: ignore[override]
        """The law of the draw; None if there is a real choice, because it changes what is drawn next."""
        law = super().law(value)
        if not self.turns:
            return law
        if len(self._parts) > 1:
            return None
        [part] = self._parts
        numbers = residual(self._cells_of(value)[part]).ravel().tolist()
        more = (Normal(number, self._spread_of(part)) for number in numbers)
        return Independent((*law.parts, Finite({0: _ONE}), *more))

    def _spread_of(self, part: Columns, turns: int = 1) -> Fraction:
        return self.choosing.noise[part] * self.layout.cells(part) ** 2 / turns

    def _cells_of(self, value: Statistic) -> dict[Columns, Integers]:
        """The counts of all candidates."""
        return {part: plans.summed(value, self.largest, self.layout.sizes, part) for part in self._parts}

    def _expected(
        self, raw: Sequence[int], known: Mapping[Columns, Integers], wanted: Sequence[Columns]
    ) -> dict[Columns, Integers]:
        noise = self.noise_in(raw)
        measured = {
            part: (cells, float(self.layout.variance(part, noise))) for part, cells in self.marginals(raw).items()
        }
        public = self.facts.people if self.layout.known else None
        rows = max(float(public or measured[(0,)][0].sum()), 1.0)
        return self.choosing.expected(rows, measured, known, wanted)

    # Accuracy

    def ways(self, part: Columns) -> int:
        """How many ways there are to measure the marginal: each pair in it in any of the `levels` (see Accuracy)."""
        return len(self.choosing.levels) ** math.comb(len(part), 2) if self.turns else 1

    def off_by_noise(self) -> float:
        """The share of rows that noise moves to other cells, on average over all pairs (or triples) that may be
        measured: half of √(2/π)·sd in every cell. A fit often removes much of it."""
        parts, about = [part for part in self.sets if len(part) == 2 + (self.plan == TRIPLES)], self.facts.about
        wide = (math.sqrt(float(self.variance(part)) / (2 * math.pi)) for part in parts)
        off = [each * self.layout.cells(part) / about for each, part in zip(wide, parts, strict=True)]
        return float(np.mean(np.minimum(off, 1.0))) if off else 0.0

    def promise(self) -> Within:
        return Within(Fraction(math.ceil(max(map(self.reach, self.sets)))), self.cell_count, self.beta, Fraction(0))

    # The answer

    def finding(self, value: Json, interval: Json) -> str:
        """A sentence with the number of made-up rows."""
        bars = [value[label] for label in self.labels()[: self.axes[0].size]] if value else []
        sentence = say("answer.synthetic_table", rows=self.rows_made(bars), columns=len(self.columns))
        return say("answer.noise", what=sentence) if self.state(value, interval) else sentence

    def rows_made(self, bars: Sequence[float]) -> int:
        """The table's number of rows if it is public, else the sum of the first column's bars."""
        rows = self.facts.people if self.layout.known else None
        return min(max(rows or sum(map(round, bars)), 1), plans.MOST_ROWS)

    def marginals(self, raw: Sequence[int | Fraction]) -> dict[Columns, Floats]:
        """Every marginal measured so far."""
        if not self.turns:
            return super().marginals(raw)
        released = dict(self._released(raw))
        measured = [part for part in self.sets if part in released]
        return {part: rebuilt(self.layout, part, released) for part in measured}

    @property
    def speaks_of_all(self) -> bool:
        """No: its rows are made up, and a chosen pair was chosen from these people."""
        return False

    def noise_in(self, raw: Sequence[int | Fraction]) -> dict[Columns, Fraction]:
        """σ² of every measured residual, by its turns."""
        if not self.turns:
            return self.noise_of
        start = sum(self.layout.cells(part) for part in self.layout.bases)
        bought = self.choosing.read(raw, start, self._always)
        return self.noise_of | {part: self.noise_of[part] / many for part, (_, many) in bought.items()}

    def _released(self, raw: Sequence[int | Fraction]) -> Iterator[tuple[Columns, Floats]]:
        if self.layout.known:
            yield (), np.array(self.facts.people, dtype=np.float64)
        start = 0
        for part in self.layout.bases:
            end = start + self.layout.cells(part)
            yield part, np.array(raw[start:end], dtype=np.float64).reshape([self.axes[place].size for place in part])
            start = end
        yield from ((part, cells) for part, (cells, _) in self.choosing.read(raw, start, self._always).items())


def can_be_part(column: object) -> bool:
    """Can a synthetic table have this column? It must have cells."""
    return has_cells(column) and not isinstance(column, ItemSet)
