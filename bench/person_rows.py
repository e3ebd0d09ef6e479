"""Mean and count per person on the visits sample: before (rows, at most m = 3 of a person, others cut) and after (one
row a person from all rows). `python -m bench.person_rows` writes bench/results-person_rows.md.

Simulated: both are drawn many times at the same ε by the engine's own questions; the truth is computed from the sample,
which is made up and public. Error is the root mean square against the truth, bias the mean difference.
"""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

import pandas as pd

import dpengine as dp
from dpengine.storage.samples import SAMPLES

EPSILON, DRAWS, MOST = "0.1", 150, 3
RESULTS = Path(__file__).with_name("results-person_rows.md")


def drawn(table: dp.Table, key: str, **given: Any) -> list[float]:
    query = table.query(key, epsilon=EPSILON, **given)
    return [float(table.ask(query).value) for _ in range(DRAWS)]


def line(what: str, how: str, answers: list[float], truth: float) -> str:
    errors = [answer - truth for answer in answers]
    error = (sum(one * one for one in errors) / len(errors)) ** 0.5
    return f"| {what} | {how} | {truth:,.2f} | {error:,.2f} | {sum(errors) / len(errors):+,.2f} |"


def main() -> None:
    sample = SAMPLES["visits"]
    rows = pd.read_csv(sample.path)
    people = rows.groupby("person_id")
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        workspace = dp.open_workspace(folder)
        budget = dp.Budget("100", "1e-6")
        given: dict[str, Any] = {"schema": sample.schema, "unit": dp.Unit.column("person_id", MOST), "budget": budget}
        before = workspace.add_table("trips", sample.path, **given)
        summaries = {
            "visits": dp.Summary("count", lower=0, upper=12),
            "paid": dp.Summary("sum", "cost", lower=0, upper=2_000),
        }
        after = workspace.one_row_a_person("trips", "patients", summaries)
        visits, paid, many = float(len(rows)), float(rows["cost"].clip(0, 500).sum()), people.ngroups
        own = f"rows, at most {MOST} each"
        counts, means = drawn(before, "count"), drawn(after, "mean", column="visits")
        counted = [
            line("visits per person", own, [count / many for count in counts], visits / many),
            line("visits per person", "one row a person", means, visits / many),
            line("visits in all", own, counts, visits),
            line("visits in all", "one row a person", [many * mean for mean in means], visits),
            line("paid in all", own, drawn(before, "sum", column="cost"), paid),
            line("paid in all", "one row a person", drawn(after, "sum", column="paid"), paid),
        ]
    head = "| figure | from | truth | error | bias |\n|---|---|---|---|---|\n"
    text = (
        "# One row a person\n\n"
        f"`python -m bench.person_rows`: the visits sample, {many:,} people, ε = {EPSILON} each, {DRAWS} draws each "
        f"(simulated). Before: rows, at most {MOST} of a person, others left out. After: one row a person "
        "from all rows, visits declared 0 to 12, paid 0 to 2,000.\n\n" + head + "\n".join(counted) + "\n"
    )
    RESULTS.write_text(text, encoding="utf-8")
    print(text)


if __name__ == "__main__":
    main()
