"""bench/results.md, from the numbers of one run."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from bench.marginals import section, written
from bench.publishing import WHO
from bench.targets import beside, is_worse, medians, verdicts
from bench.tasks import CONTENDERS, EPSILON, LONGEST, SEED, TASKS

SPEED = f"""
Milliseconds, the median of warm repetitions (3 to 25, fewer where one takes over 5 s); in brackets how many times
Allowance’s time that is. Allowance is `table.ask` end to end: the charge is committed, the coded Parquet file is
read, the answer is drawn and stored. Its median comes with a range (three draws). The list of 100,000 is declared
in a table of its own. Bare DuckDB runs the same aggregate without privacy, over the same coded file and over the
person’s own Parquet file; for the median that is the counts on the grid. OpenDP direct, OpenDP Context and
diffprivlib work on arrays that are in memory before the clock starts, and smartnoise-sql on a frame; none of them
keeps a durable ledger. OpenDP has no filter for arrays and no counts for its noisy max: numpy does those, inside
the clock. A question that would take over {LONGEST:.0f} s, judged by ten times its time at a tenth of the rows, is
not run.
"""
MEMORY = """
Peak of the process that answered all questions of a size, and the seconds until it could answer the first one:
opening the workspace, or reading the file into an array or a frame. Declaring the file in Allowance is done once,
before: it reads every value as text and codes it, here for two tables.
"""
PUBLISHING = """
Once, in a process of its own each. Allowance: two columns from end to end (charge, coded file, exact noise, random
order, Parquet file, SHA-256). OpenDP and diffprivlib: discrete Laplace noise of the same scale on one column of
integers in memory, and nothing else; diffprivlib has no call for a whole vector. Memory is beyond what was held before.
"""
TURNS = """
Milliseconds, the median of 25 turns in one process: whatever else the machine does meets all three alike.
"""
FIRST_START = """
From the command to the first screen, with an empty folder, beside an empty Streamlit app, by turns in new processes and
one chromium; then the first question, on 30,000 rows. Wall time, and the server’s processor time. Aim: at most
1.5 times the empty app; the question at most 0.5 s.
"""
PAGE = """
In chromium, milliseconds from navigation to what a person came for (the question’s button; the title), a new visitor
with an empty cache each time, the servers warm. *Whole*: the chart is drawn too. *Cold*: the first visit after the
server started.
"""
ACCURACY = """
Mean ± standard error. Nothing is compared across relations: each tool’s parameter is converted so that all lines with
one relation and guarantee promise the same. OpenDP’s scales are checked against its own privacy maps (replace-one is
a symmetric distance of 2). diffprivlib states its median and its selection for replace-one and its histogram for
add/remove; the last column says what it was asked with. Its medians are rounded to the public grid, which never adds
to a rank error. OpenDP scores a candidate for the median by how many more rows lie on one side of it than on the
other, Allowance by how many rows it is away from being a median: the first tells neighbours apart better where cells
are equally full, the second where a full cell stands among emptier ones (gains in bench/results-utility.md).
smartnoise-sql is compared under add/remove, its own relation. “Worse” is beyond three standard
errors of the difference.
"""
MET = {True: "yes", False: "**no**", None: "not measured"}


def render(results: dict[str, Any]) -> str:
    parts = (_head, _targets, _speed, _beside, _memory, _publishing, _selection, _start, _accuracy, _look)
    return "\n".join(line for part in parts for line in part(results)) + "\n"


def _head(results: dict[str, Any]) -> Iterator[str]:
    machine = results["machine"]
    yield "# How fast, and how exact"
    yield ""
    yield "Written by `make bench`; nothing here was typed in. Numbers are of one run on one machine and move with it."
    yield ""
    cores, (began, ended) = machine["cores"], machine["load"]
    yield f"- Machine: {cores} cores ({machine['kind']}), {machine['memory']} GB of memory, {machine['system']}."
    yield f"- Load average when the run began and ended: {began:.1f} and {ended:.1f}, on {cores} cores."
    if results.get("resumed"):
        yield "- The run was stopped and went on later: its parts were not measured in one sitting."
    yield f"- Python {machine['python']}; {_versions(results['versions']['app'])}."
    yield f"- The peers’ environment: {_versions(results['versions']['peers']) or 'did not install'}."
    yield f"- Data: one generated Parquet file per size, integers, seed {SEED}. ε = {EPSILON} for every question."
    yield ""


def _prose(text: str) -> str:
    return " ".join(text.split())


def _versions(versions: dict[str, str]) -> str:
    return ", ".join(f"{name} {number}" for name, number in sorted(versions.items()))


def _targets(results: dict[str, Any]) -> Iterator[str]:
    yield "## Targets"
    yield ""
    yield from written(["target", "found", "met"], ([one.target, one.found, MET[one.met]] for one in verdicts(results)))


def _speed(results: dict[str, Any]) -> Iterator[str]:
    yield "## Time per answer"
    yield ""
    yield _prose(SPEED)
    yield ""
    for rows in results["sizes"]:
        yield f"### {rows:,} rows"
        yield ""
        ours = medians(results, "ours", rows)
        lines = (
            [title, *(_cell(results, key, rows, task, ours.get(task)) for key in CONTENDERS)]
            for task, title in TASKS.items()
        )
        yield from written(["question", *(name for name, _ in CONTENDERS.values())], lines)


def _beside(results: dict[str, Any]) -> Iterator[str]:
    yield f"### {max(results['sizes']):,} rows, taking turns with plain DuckDB"
    yield ""
    yield _prose(TURNS)
    yield ""
    sides = results["beside"]
    lines = (
        [title, *(f"{times[task] * 1e3:.1f}" for times in sides.values()), f"{sides['ours'][task] / own:.2f}"]
        for task, title in TASKS.items()
        if (own := sides["own_duckdb"].get(task))
    )
    yield from written(["question", *(CONTENDERS[side][0] for side in sides), "ours : own file"], lines)


def _cell(results: dict[str, Any], key: str, rows: int, task: str, ours: float | None) -> str:
    told = results["times"][key].get(str(rows), {})
    if "failed" in told:
        return told["failed"]
    one = told["tasks"].get(task)
    if one is None:
        return "not offered"
    if "failed" in one:
        return one["failed"].replace("|", "/").replace("\n", " ")
    number = f"{one['median'] * 1e3:,.1f}"
    return number if key == "ours" or not ours else f"{number} ({one['median'] / ours:.2g} ×)"


def _memory(results: dict[str, Any]) -> Iterator[str]:
    yield "## Memory and loading"
    yield ""
    took = ", ".join(f"{results['declared'][str(rows)]:.1f} s for {rows:,} rows" for rows in results["sizes"])
    yield f"{_prose(MEMORY)} It took {took}."
    yield ""
    lines = []
    for key, (name, _) in CONTENDERS.items():
        told = [results["times"][key].get(str(rows), {}) for rows in results["sizes"]]
        cells = (f"{one['peak_mb']:,.0f} MB, {one['load']:.1f} s" if "load" in one else "–" for one in told)
        lines.append([name, *cells])
    yield from written(["", *(f"{rows:,} rows" for rows in results["sizes"])], lines)
    big = results["bigfile"]
    size, rows = f"{big['bytes'] / 1e9:.2f} GB", f"{big['rows']:,} rows"
    yield f"A CSV of {size} ({rows}, 6 columns, 4 of them declared), given by its path:"
    yield f"{big['load']:.0f} s to bring it in, fingerprint included;"
    yield f"{big['peak_mb']:,.0f} MB at most, {big['before_mb']:,.0f} MB of them held before."
    yield f"Its first answer (a mean by 40 groups) took {big['answer']:.1f} s."
    yield ""


def _publishing(results: dict[str, Any]) -> Iterator[str]:
    yield "## Publishing a table row by row"
    yield ""
    yield _prose(PUBLISHING)
    yield ""
    lines = []
    for who, (name, _) in WHO.items():
        one = results["publishing"][who]
        cells = (
            [one["failed"], "–", "–"]
            if "failed" in one
            else [f"{one['rows']:,}", f"{one['seconds']:.2f}", f"{one['peak_mb'] - one['before_mb']:,.0f}"]
        )
        lines.append([name, *cells])
    yield from written(["", "rows", "s", "MB"], lines)


def _selection(results: dict[str, Any]) -> Iterator[str]:
    chosen = results["selection"]
    yield "## Selection alone"
    yield ""
    warm, first = chosen["median"] * 1e3, chosen["first"] * 1e3
    yield "One exact draw of the exponential mechanism among 1,000,000 candidates (`coins.choose`):"
    yield f"{warm:.1f} ms warm ({chosen['times']} repetitions), {first:.1f} ms the first time."
    yield ""


def _start(results: dict[str, Any]) -> Iterator[str]:
    yield "## Starting"
    yield ""
    yield from written(
        ["whole process, wall time", "s"], ([name, f"{time:.2f}"] for name, time in results["imports"].items())
    )
    yield _prose(FIRST_START)
    yield ""
    yield from written(
        ["first start", "s"], ([name, f"{figure:.2f}"] for name, figure in results["first start"].items())
    )
    page = results["page"]
    if "failed" in page:
        yield f"The Start page was not measured: {page['failed']}."
        yield ""
        return
    yield _prose(PAGE)
    yield ""
    yield from written(
        ["", "first meaningful render", "whole", "cold", "visits"],
        (
            [name, f"{one['median']:,.0f}", f"{one['whole']:,.0f}", f"{one['cold']:,.0f}", str(one["times"])]
            for name, one in page.items()
        ),
    )


def _accuracy(results: dict[str, Any]) -> Iterator[str]:
    yield "## Error at equal guarantee and equal relation"
    yield ""
    yield _prose(ACCURACY)
    yield ""
    lines = results["accuracy"]
    for case in dict.fromkeys(one["case"] for one in lines):
        block = [one for one in lines if one["case"] == case]
        yield f"**{case}** ({block[0]['better']})"
        yield ""
        rows = []
        for relation, guarantee in dict.fromkeys((one["relation"], one["guarantee"]) for one in block):
            same = [one for one in block if (one["relation"], one["guarantee"]) == (relation, guarantee)]
            for one in same:
                mine = beside(same, one)
                ahead = mine is not None and is_worse(mine, one)
                notes = [part for part in ("Allowance is worse" if ahead else "", one["note"]) if part]
                number = f"{one['mean']:.4g} ± {one['error']:.2g}"
                rows.append([relation, guarantee, one["who"], number, f"{one['times']:,}", "; ".join(notes)])
        yield from written(["relation", "guarantee", "tool", "error", "draws", ""], rows)


def _look(results: dict[str, Any]) -> Iterator[str]:
    yield section(results["look"])
