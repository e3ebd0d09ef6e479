"""Large tables beside plain DuckDB over the person's own file: `python -m bench.large [rows]` (10⁷) prints JSON;
`--write` keeps it, with what was to be reached, in bench/results-large.md, together with 10⁸ rows of two columns.

Questions   every kind about everyone; under a condition on a column whose counts are kept with the asked one; and under
            one on a column of 100,000 values, whose pairs are not kept, so that the rows are read. Ours is `table.ask`
            end to end, with its charge. Both take turns in one process, so that other work meets both; medians. The
            first time of ours is told apart: there a pair of columns is counted.
Fixed       milliseconds of the processor that a question takes, without the two writes into the ledger; and apart,
            those of the draw, which grow with the numbers that are drawn.
Neighbours  two tables that differ in one person; does the time of an answer tell which one is asked?
Intake      `add_table`, every column declared, beside DuckDB's own copy of the same columns as text, and beside its
            reading of the same rows as CSV; seconds of the processor, because other work on the machine adds to the
            others. Threads of either count.
"""

from __future__ import annotations

import json
import os
import shutil
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import duckdb
import numpy as np

import dpengine as dp
from bench import bigfile, data
from bench.contenders.ours import _list
from bench.measure import must, once
from bench.tasks import BINS, BUILD, GRID, ITEMS, ROOT, STATES
from dpengine.ledger.ledger import Ledger
from dpengine.mechanisms.query import Query
from dpengine.statistics.engines.duck import SETTINGS

RESULTS = ROOT / "bench" / "results-large.md"
TURNS, NEIGHBOURS = 9, 200
WIDTH = GRID // BINS
# What is asked, and plain SQL for the counts that it needs; {rows} are the rows.
KINDS: dict[str, tuple[str, dict[str, Any], str]] = {
    "median": ("median", {"column": "amount"}, "SELECT amount, count(*) FROM {rows} GROUP BY amount ORDER BY amount"),
    "90th percentile": (
        "quantile",
        {"column": "amount", "share": "0.9"},
        "SELECT amount, count(*) FROM {rows} GROUP BY amount ORDER BY amount",
    ),
    "distance of quartiles": (
        "iqr",
        {"column": "amount"},
        "SELECT amount, count(*) FROM {rows} GROUP BY amount ORDER BY amount",
    ),
    "curve": ("cdf", {"column": "amount"}, "SELECT amount, count(*) FROM {rows} GROUP BY amount ORDER BY amount"),
    "top item of 51": (
        "top_item",
        {"column": "state"},
        "SELECT state, count(*) AS n FROM {rows} GROUP BY state ORDER BY n DESC LIMIT 1",
    ),
    "bars, 51 values": ("histogram", {"column": "state"}, "SELECT state, count(*) FROM {rows} GROUP BY state"),
    "bars, 100 bins": (
        "histogram",
        {"column": "amount", "bins": BINS},
        f"SELECT amount // {WIDTH} AS bin, count(*) FROM {{rows}} GROUP BY bin",
    ),
    "count": ("count", {}, "SELECT count(*) FROM {rows} WHERE amount BETWEEN 250 AND 750"),
    "share": (
        "proportion",
        {"of": [["amount", "between", [250, 750]]]},
        "SELECT count(*), count(*) FILTER (amount BETWEEN 250 AND 750) FROM {rows}",
    ),
    "mean": ("mean", {"column": "amount"}, "SELECT avg(amount) FROM {rows}"),
    "sum": ("sum", {"column": "amount"}, "SELECT sum(amount) FROM {rows}"),
    "spread": ("variance", {"column": "amount"}, "SELECT var_pop(amount) FROM {rows}"),
    "mean by 51 groups": (
        "mean",
        {"column": "amount", "by": "state"},
        "SELECT state, avg(amount) FROM {rows} GROUP BY state",
    ),
    "check of a column": (
        "fit_check",
        {"column": "amount"},
        f"SELECT count(*) FILTER (amount < 0), count(*) FILTER (amount > {GRID - 1}), count(amount) FROM {{rows}}",
    ),
    "first look, one way": (
        "overview",
        {"columns": ["amount", "state"]},
        "SELECT amount // 100 AS bin, NULL AS state, count(*) FROM {rows} GROUP BY bin"
        " UNION ALL SELECT NULL, state, count(*) FROM {rows} GROUP BY state",
    ),
}
WITHOUT_CONDITION = ("check of a column", "first look, one way")
FEW = ["state", "in", [str(place) for place in range(5)]]
SOME = ["item", "between", [0, 9_999]]
CONDITIONS = {"a condition, counts kept": (FEW, "state < 5"), "a condition, rows read": (SOME, "item < 10000")}
SCHEMA = {"amount": dp.Number(0, GRID - 1, missing=0), "state": _list(STATES), "item": dp.Number(0, ITEMS - 1)}
GIVEN: dict[str, Any] = {"unit": dp.Unit.rows(), "relation": "replace", "budget": dp.Budget("100", "1e-6")}
TIED = {"count": [["amount", "between", [250, 750]]]}  # what a question about everyone has as its condition
# Left to itself, the curve has more values on a larger table: two sizes are compared at one number of them.
SAME = {"curve": {"points": 134}}


def schema(columns: Sequence[str]) -> dp.Schema:
    return dp.Schema({name: SCHEMA[name] for name in columns})


def measure(rows: int, columns: Sequence[str] = data.COLUMNS, smaller: int = 0) -> dict[str, Any]:
    """With `smaller`, every question about everyone takes turns with the same one of a table of that many rows too."""
    BUILD.mkdir(parents=True, exist_ok=True)
    folder = Path(tempfile.mkdtemp(dir=BUILD))
    try:
        own = folder / "rows.parquet"
        data.write(rows, own, columns)
        found: dict[str, Any] = {"rows": rows, "columns": len(columns), "intake": intake(folder, own, columns)}
        workspace = dp.open_workspace(folder / "var")
        table = workspace.table("large")
        everyone = f"read_parquet('{own}')"
        other = None
        if smaller:
            few = folder / "few.parquet"
            data.write(smaller, few, columns)
            other = workspace.add_table("smaller", few, schema=schema(columns), **GIVEN)
        found["everyone"] = {kind: beside(table, kind, everyone, TIED.get(kind, []), other) for kind in KINDS}
        found["milliseconds of the processor"] = fixed(table)
        if "item" in columns:
            for name, (condition, sql) in CONDITIONS.items():
                some = f"(SELECT * FROM {everyone} WHERE {sql})"
                asked = [kind for kind in KINDS if kind not in WITHOUT_CONDITION]
                found[name] = {kind: beside(table, kind, some, [*TIED.get(kind, []), condition]) for kind in asked}
        workspace.close()
        return found
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def query_of(table: Any, kind: str, where: list[Any], **more: Any) -> Any:
    key, given, _ = KINDS[kind]
    return table.query(key, epsilon="0.05", **given, **more, **({"where": where} if where else {}))


def beside(table: Any, kind: str, rows: str, where: list[Any], other: Any = None) -> dict[str, float]:
    connection = duckdb.connect(config=SETTINGS)
    query, sql = query_of(table, kind, where), KINDS[kind][2].replace("{rows}", rows)
    plain = lambda: must(connection.execute(sql).fetchall(), f"plain DuckDB found nothing for {kind}.")  # noqa: E731
    first = once(lambda: must(table.ask(query).value is not None, f"{kind} was not answered."))
    plain()
    rounds = [(once(lambda: table.ask(query)), once(plain)) for _ in range(TURNS)]
    ours, theirs = (statistics.median(times) for times in zip(*rounds, strict=True))
    found = {"ours": ours, "plain": theirs, "ratio": ours / theirs, "first": first}
    if other is not None:
        here, there = (query_of(one, kind, where, **SAME.get(kind, {})) for one in (table, other))
        table.ask(here)
        other.ask(there)
        pairs = [(once(lambda: table.ask(here)), once(lambda: other.ask(there))) for _ in range(3 * TURNS)]
        larger, smaller = (statistics.median(times) for times in zip(*pairs, strict=True))
        found |= {"larger": larger, "smaller": smaller}
    return found


def fixed(table: Any) -> dict[str, dict[str, float]]:
    """Milliseconds of the processor of a question without those of the ledger's two writes and of the draw; and those
    of the draw."""
    spent_in: dict[str, float] = {}
    parts = [(Ledger, "reserve_all"), (Ledger, "answer"), (Query, "drawn")]
    kept = [(home, name, getattr(home, name)) for home, name in parts]

    def timed(name: str, work: Callable[..., Any]) -> Callable[..., Any]:
        def run(*given: Any, **more: Any) -> Any:
            began = time.process_time()
            try:
                return work(*given, **more)
            finally:
                spent_in[name] = spent_in.get(name, 0.0) + time.process_time() - began

        return run

    found = {}
    try:
        for home, name, work in kept:
            setattr(home, name, timed(name, work))
        for kind in KINDS:
            query, times, draws = query_of(table, kind, TIED.get(kind, [])), [], []
            for _ in range(2 * TURNS):
                spent_in.clear()
                began = time.process_time()
                table.ask(query)
                whole = time.process_time() - began
                must(spent_in["reserve_all"] > 0 and spent_in["answer"] > 0, "The ledger wrote nothing.")
                must(spent_in["drawn"] > 0, "Nothing was drawn.")
                times.append(whole - sum(spent_in.values()))
                draws.append(spent_in["drawn"])
            found[kind] = {"fixed": statistics.median(times) * 1e3, "draw": statistics.median(draws) * 1e3}
    finally:
        for home, name, work in kept:
            setattr(home, name, work)
    return found


def neighbours(rows: int = 10**6, times: int = NEIGHBOURS) -> dict[str, dict[str, float]]:
    """The times of the same question on two tables that differ in one person, who is far from the others in one and
    like them in the other, by turns. `chance`: of a difference of ranks as large as found, if the times do not differ
    (two-sided, normal approximation)."""
    BUILD.mkdir(parents=True, exist_ok=True)
    folder = Path(tempfile.mkdtemp(dir=BUILD))
    try:
        workspace, tables = dp.open_workspace(folder / "var"), []
        own = folder / "rows.parquet"
        data.write(rows, own)
        for name, last in (("like the others", 500), ("far from them", GRID - 1)):
            file = folder / f"{last}.parquet"
            changed = f"SELECT CASE WHEN place = 0 THEN {last} ELSE amount END AS amount, state, item FROM numbered"
            numbered = f"SELECT *, row_number() OVER () - 1 AS place FROM read_parquet('{own}')"
            duckdb.execute(f"COPY (WITH numbered AS ({numbered}) {changed}) TO '{file}' (FORMAT parquet)")
            tables.append(workspace.add_table(name, file, schema=schema(data.COLUMNS), **GIVEN))
        found = {}
        for kind in ("median", "curve", "mean", "bars, 100 bins", "mean by 51 groups"):
            for told, where in (("everyone", []), ("rows read", [SOME])):
                queries = [query_of(table, kind, where) for table in tables]
                for table, query in zip(tables, queries, strict=True):
                    table.ask(query)
                taken = np.zeros((times, 2))
                for turn in range(times):
                    for at in (0, 1) if turn % 2 else (1, 0):
                        taken[turn, at] = once(lambda at=at, asked=queries: tables[at].ask(asked[at]))
                found[f"{kind}, {told}"] = compared(taken[:, 0], taken[:, 1])
        workspace.close()
        return found
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def compared(one: Any, other: Any) -> dict[str, float]:
    ranks = np.argsort(np.argsort(np.concatenate([one, other]))) + 1.0
    many = len(one)
    above = ranks[many:].sum() - many * (many + 1) / 2
    z = (above - many * many / 2) / (many * many * (2 * many + 1) / 12) ** 0.5
    medians = float(np.median(one)), float(np.median(other))
    return {"one": medians[0], "other": medians[1], "chance": 2 * statistics.NormalDist().cdf(-abs(z))}


def intake(folder: Path, own: Path, columns: Sequence[str]) -> dict[str, float]:
    """Seconds of the processor."""
    copy, csv = folder / "copy.parquet", folder / "rows.csv"
    texts = ", ".join(f"{name}::VARCHAR AS {name}" for name in columns)
    connection = duckdb.connect(config=SETTINGS | {"threads": 2})
    copied = spent(lambda: connection.execute(f"COPY (SELECT {texts} FROM '{own}') TO '{copy}' (FORMAT parquet)"))
    found = {"parquet": added(folder / "var", "large", own, columns), "DuckDB's copy as text": copied}
    found["parquet ratio"] = found["parquet"] / copied
    if "item" in columns:
        connection.execute(f"COPY (SELECT * FROM '{own}') TO '{csv}' (HEADER)")
        read = spent(lambda: connection.execute(f"COPY (SELECT * FROM '{csv}') TO '{copy}' (FORMAT parquet)"))
        found |= {"csv": added(folder / "other", "from csv", csv, columns), "DuckDB's csv to parquet": read}
        found["csv ratio"] = found["csv"] / read
    return found


def added(folder: Path, name: str, source: Path, columns: Sequence[str]) -> float:
    workspace = dp.open_workspace(folder)
    taken = spent(lambda: workspace.add_table(name, source, schema=schema(columns), **GIVEN))
    must(workspace.table(name).schema.columns, "no table was added.")
    workspace.close()
    return taken


def spent(work: Callable[[], Any]) -> float:
    began = time.process_time()
    work()
    return time.process_time() - began


# --- what is kept


def verdicts(one: dict[str, Any], ten: dict[str, Any], big: dict[str, Any], told: dict[str, Any]) -> list[str]:
    """Each target with what was found; missed ones are named."""
    lines = []

    def line(target: str, missed: list[str], of: int) -> None:
        lines.append(f"| {target} | {f'all {of}' if not missed else '; '.join(missed)} | {'no' if missed else 'yes'} |")

    everyone = one["everyone"]
    slow = [f"{kind}: {at['ratio']:.2f} ×" for kind, at in everyone.items() if at["ratio"] > 0.5]
    line("about everyone: at most half a plain scan", slow, len(everyone))
    # Both are a few milliseconds of the same work, by turns: within a fifth and 2 ms they are the same.
    grown = {kind: (at["smaller"], at["larger"]) for kind, at in ten["everyone"].items()}
    slow = [f"{kind}: {b * 1e3:.0f} for {a * 1e3:.0f} ms" for kind, (a, b) in grown.items() if b > 1.2 * a + 0.002]
    line(f"no slower at {ten['rows']:,} rows (by turns; within a fifth and 2 ms)", slow, len(grown))
    for name in CONDITIONS:
        over = {kind: at["ours"] - 1.1 * at["plain"] - 0.005 for kind, at in one[name].items()}
        slow = [f"{kind}: {more * 1e3:.0f} ms more" for kind, more in over.items() if more > 0]
        line(f"{name}: at most 1.1 × plain DuckDB + 5 ms", slow, len(over))
    costs = one["milliseconds of the processor"]
    slow = [f"{kind}: {ms['fixed']:.1f} ms" for kind, ms in costs.items() if ms["fixed"] > 5]
    line(
        "fixed cost of a question, without the ledger's writes and the draw: at most 5 ms of processor",
        slow,
        len(costs),
    )
    for kind, most in (("parquet", 6), ("csv", 3)):
        ratio = one["intake"][f"{kind} ratio"]
        met = "yes" if ratio <= most else "no"
        lines.append(f"| intake of {kind}: at most {most} × DuckDB’s | {ratio:.1f} × | {met} |")
    held = big["peak_mb"] - big["before_mb"]
    size = f"{big['bytes'] / 1e9:.1f} GB CSV"
    met = "yes" if big["load"] <= 60 and held <= 500 else "no"
    lines.append(f"| {size} in at most 60 s and 500 MB | {big['load']:.0f} s, {held:.0f} MB | {met} |")
    seen = [f"{what}: {at['chance']:.1e}" for what, at in told.items() if at["chance"] < 1e-6 / len(told)]
    line("two tables that differ in one person: times alike (chance of a false alarm 10⁻⁶)", seen, len(told))
    return lines


def page(one: dict[str, Any], ten: dict[str, Any], big: dict[str, Any], told: dict[str, Any]) -> str:
    load = f"{os.cpu_count()} cores; load average {os.getloadavg()[2]:.1f} over the last 15 minutes"
    lines = [
        "# Large tables",
        "",
        f"Written by `python -m bench.large --write`; `bench/large.py` says what is measured. {load}.",
        "",
        "| target | found | met |",
        "|---|---|---|",
        *verdicts(one, ten, big, told),
    ]
    for name in ("everyone", *CONDITIONS):
        lines += ["", f"## {name.capitalize()}, {one['rows']:,} rows, milliseconds", ""]
        wide = name == "everyone"
        more = (
            f" {one['rows']:,} and {ten['rows']:,} rows by turns | processor, fixed | processor, the draw |"
            if wide
            else ""
        )
        lines += [
            f"| question | ours | plain DuckDB | ratio | ours, first time |{more}",
            "|---|--:|--:|--:|--:|" + "--:|--:|--:|" * wide,
        ]
        for kind, at in one[name].items():
            cells = [f"{at[part] * 1e3:.1f}" for part in ("ours", "plain")]
            cells += [f"{at['ratio']:.2f}", f"{at['first'] * 1e3:.0f}"]
            if wide:
                both = ten["everyone"][kind]
                cells.append(f"{both['smaller'] * 1e3:.1f}, {both['larger'] * 1e3:.1f}")
                costs = one["milliseconds of the processor"][kind]
                cells += [f"{costs['fixed']:.1f}", f"{costs['draw']:.1f}"]
            lines.append(f"| {kind} | {' | '.join(cells)} |")
        if wide:
            own = f"{ten['everyone']['curve']['ours'] * 1e3:.0f} ms"
            lines += [
                "",
                f"By turns the curve has {SAME['curve']['points']} values, what it takes by itself at {one['rows']:,}"
                f" rows. By itself it is finer at {ten['rows']:,} rows, with up to 400, in {own}.",
            ]
    lines += ["", "## Intake, seconds of the processor", "", "| | rows | columns | ours | DuckDB | ratio |"]
    lines.append("|---|--:|--:|--:|--:|--:|")
    for at in (one, ten):
        for kind, peer in (("parquet", "DuckDB's copy as text"), ("csv", "DuckDB's csv to parquet")):
            if kind in at["intake"]:
                taken, theirs = at["intake"][kind], at["intake"][peer]
                figures = f"{taken:.1f} | {theirs:.1f} | {taken / theirs:.1f}"
                lines.append(f"| {kind} | {at['rows']:,} | {at['columns']} | {figures} |")
    lines += ["", f"## Two tables that differ in one person, {NEIGHBOURS} turns each, milliseconds", ""]
    lines += ["| question | like the others | far from them | chance |", "|---|--:|--:|--:|"]
    lines += [
        f"| {what} | {at['one'] * 1e3:.1f} | {at['other'] * 1e3:.1f} | {at['chance']:.2f} |"
        for what, at in told.items()
    ]
    return "\n".join(lines) + "\n"


PARTS: dict[str, Callable[[], dict[str, Any]]] = {
    "one": lambda: measure(10**7),
    "ten": lambda: measure(10**8, ("amount", "state"), smaller=10**7),
    "big": bigfile.measure,
    "neighbours": neighbours,
}


def main(given: list[str]) -> None:
    """`--write` measures every part, or with a part's name that one, and keeps what the others found before."""
    if "--write" not in given:
        print(json.dumps(measure(int(given[0]) if given else 10**7), indent=1))
        return
    found = BUILD / "large.json"
    wanted = [part for part in given if part in PARTS] or list(PARTS)
    held = json.loads(found.read_text(encoding="utf-8")) if found.exists() and wanted != list(PARTS) else {}
    for part in wanted:
        held[part] = PARTS[part]()
        BUILD.mkdir(parents=True, exist_ok=True)
        found.write_text(json.dumps(held), encoding="utf-8")
    if all(part in held for part in PARTS):
        RESULTS.write_text(page(*(held[part] for part in PARTS)), encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])
