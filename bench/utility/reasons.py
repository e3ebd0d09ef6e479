"""Why ours is behind in a row of bench/results-utility.md, where it is: words for the file, by part and case."""

from __future__ import annotations

# part, how the case begins, why
REASONS: tuple[tuple[str, str, str], ...] = (
    (
        "small",
        "mean: hours, 1,000 people, replace-one",
        """The mean where the number of people is public has the textbook's noise and no other: of some 500
comparisons in this table about one goes beyond three standard errors by chance.""",
    ),
    (
        "percentiles",
        "90th percentile alone: age",
        """One percentile alone: OpenDP's score looks for the place at the share α inside the rows of one value, ours
for the value whose rows hold the place. Where a percentile happens to fall just there, as the 90th of
these 30,000 ages does, the first is right more often; elsewhere it is off by dozens or hundreds of rows.
Over all percentiles from the 5th to the 95th, one by one, ours is nearer: the rows “a percentile alone”
of the choices.""",
    ),
)

_FEW = """A line from few people: nobody knows before paying whether anything can be learned. Where the looks see
little, the line is the average that they found, for nearly all of the allowance. Where they see something and yet
nothing can be learned, noise in the steps adds at most a sixth to the squared error that the average leaves
(`of_averages.py`), mostly far less. AdaSSP is drawn to the middle of the range where noise hides everything: nearer
than any average where the target happens to lie there, as age does at ε = 0.3, and far off elsewhere. The same limit
costs up to a quarter of the accuracy where much can be learned from few people (age: “before” is better); there
`region="ball"` asks for the earlier steps. Rates that rose with the released gradients, also over four times as many
steps, won back a part of it only."""
REASONS += tuple(("lines", name, _FEW) for name in ("pay", "hours", "age", "bill", "days", "visits"))


def why(part: str, case: str) -> str:
    return next((words for of, begins, words in REASONS if of == part and case.startswith(begins)), "")
