"""What a synthetic table keeps of its columns together, and what not: from its question and from what was released.

Which marginals were measured is part of what was drawn, so it is released; that the others were not follows from it.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations

from dpengine.mechanisms.marginals.residuals import Columns
from dpengine.mechanisms.synthetic.rules import evened
from dpengine.released.look import Look

Pair = tuple[str, str]


@dataclass(frozen=True)
class KeptTogether:
    """Of a synthetic table, by what was released for it."""

    look: Look

    @cached_property
    def measured(self) -> list[Columns]:
        """Columns by themselves, pairs, threes."""
        return sorted(self.look.marginals, key=lambda part: (len(part), part))

    @property
    def names(self) -> list[str]:
        return self.look.cells

    @cached_property
    def _together(self) -> set[Columns]:
        """Pairs that were measured, by themselves or inside a three."""
        return {pair for part in self.measured for pair in combinations(part, 2)}

    @property
    def pairs(self) -> int:
        return len(self._together)

    @property
    def all_pairs(self) -> int:
        return math.comb(len(self.names), 2)

    @property
    def threes(self) -> int:
        return sum(len(part) == 3 for part in self.measured)

    @property
    def all_threes(self) -> int:
        return math.comb(len(self.names), 3)

    @cached_property
    def apart(self) -> list[Pair]:
        """The pairs of columns that were not measured together, in their order."""
        found = (pair for pair in combinations(range(len(self.names)), 2) if pair not in self._together)
        return [(self.names[one], self.names[other]) for one, other in found]

    def apart_by_column(self) -> dict[str, list[str]]:
        """For each column the others that it was not measured with; none of those that all were."""
        found: dict[str, list[str]] = {name: [] for name in self.names}
        for one, other in self.apart:
            found[one].append(other)
            found[other].append(one)
        return {name: others for name, others in found.items() if others}

    @property
    def uneven(self) -> list[str]:
        """Numbers and days of which neither averages and sums nor single values follow from what was measured, unless
        another answer tells them."""
        return [name for name, several in evened(self.look.query.axes, self.look.query.facts).items() if several]

    def reach(self, columns: int) -> int:
        """Within how many people or rows every count of so many columns is; fewer may be noise alone."""
        return math.ceil(max(self.look.reach(part) for part in self.measured if len(part) == columns))

    @property
    def widest(self) -> int:
        return max(self.reach(columns) for columns in {len(part) for part in self.measured})
