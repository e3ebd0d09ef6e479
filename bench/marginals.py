"""A first look beside plain noisy marginals, beside other tools, beside bare DuckDB, and its board:

    python -m bench.marginals [errors] [peers] [scan] [board] [--rows 1000000] [--write]

All parts, or the named ones; with `--write` they are put into bench/results.md and what was there of the others stays.

errors  all one- and two-way marginals of 8 lists and 32,000 made-up people whose columns hang together, at ρ = ½.
        Plain: each of the 36 marginals gets discrete Gaussian noise of its own, of the same variance in every cell:
        36/(2ρ) for a row added, twice that for one replaced. Standard deviations are exact, by the formula; the largest
        error is the mean of draws. *Plain, made to agree*: the same noisy marginals after least squares, which is free,
        and what a fit of them comes to where no cell is nearly empty; by the formula too.
peers   the same by OpenDP and smartnoise-sql: `bench.marginals_peers`
scan    counting 10⁷ rows beside bare DuckDB: `bench.scan`
board   reactions of the board of 60 columns: `bench.board`
"""

from __future__ import annotations

import argparse
import json
import math
import os
import statistics
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from bench import scan
from bench.accuracy import ADD_REMOVE, REPLACE
from bench.marginals_peers import PARTS, PEOPLE, RHO, SIZES, cells_of, people, truths
from bench.measure import must
from bench.tasks import BUILD, ROOT

DRAWS = 400
ERRORS, SCANNED, REACTED = 0.75, 1.3, 0.3
RESULTS, MARK, END = ROOT / "bench" / "results.md", "<!-- a first look -->", "<!-- end of a first look -->"
KEPT = BUILD / "marginals.json"
PEERS = ROOT / "build" / "bench-venv" / "bin" / "python"


# --- errors -----------------------------------------------------------------------------------------------------------


def errors() -> list[dict[str, Any]]:
    return [_errors(relation) for relation in (ADD_REMOVE, REPLACE)]


def question(relation: str) -> Any:
    """The first look that buys all pairs, as a person would be sold it."""
    import dpengine as dp
    from dpengine.declared.facts import Facts

    lists = {f"c{at}": dp.Category([f"v{cell}" for cell in range(size)], "v0", "v0") for at, size in enumerate(SIZES)}
    facts = Facts("t", dp.Schema(lists), dp.Unit.rows(), "add_remove" if relation == ADD_REMOVE else "replace", PEOPLE)
    kind = dp.catalogue["overview"]
    given = {"columns": list(lists), "against": "all", "epsilon": str(math.isqrt(round(2 * RHO)))}
    return kind.build(facts, kind.asked_now(given, facts))


def _errors(relation: str) -> dict[str, Any]:
    from dpengine.noise.coins import SystemCoins

    query, coins, columns = question(relation), SystemCoins(), people()
    assert float(query.rho) == RHO and set(query.sets) == set(PARTS)
    truth = dict(zip(PARTS, truths(columns), strict=True))
    value = [
        np.bincount(cells_of(columns, part), minlength=math.prod(SIZES[at] for at in part)).tolist()
        for part in query.largest
    ]
    variance = len(PARTS) * (1 if relation == ADD_REMOVE else 2) / (2 * RHO)
    found: dict[str, Any] = {"relation": relation, "draws": DRAWS}
    found["plain"] = _spread(dict.fromkeys(PARTS, variance))
    found["agreeing"] = _spread(_agreeing(variance, relation == REPLACE))
    found["ours"] = _spread({part: float(query.variance(part)) for part in PARTS})

    def ours() -> float:
        told = query.marginals(query.draw(value, coins))
        return max(float(np.abs(told[part].ravel() - truth[part]).max()) for part in PARTS)

    def plain() -> float:
        from fractions import Fraction

        cells = [int(count) for part in PARTS for count in truth[part]]
        return float(np.abs(np.array(coins.gaussian(cells, Fraction(variance))) - np.array(cells)).max())

    for who, draw in (("ours", ours), ("plain", plain)):
        drawn = [draw() for _ in range(DRAWS)]
        error = statistics.stdev(drawn) / math.sqrt(DRAWS)
        found[who] |= {"largest": statistics.mean(drawn), "largest_error": error}
    return found


def _spread(variances: dict[tuple[int, ...], float]) -> dict[str, float]:
    """Standard deviations: over all cells, over all marginals, and where it is largest."""
    cells = [math.prod(SIZES[at] for at in part) for part in variances]
    deviations = [math.sqrt(variance) for variance in variances.values()]
    over = sum(one * many for one, many in zip(deviations, cells, strict=True)) / sum(cells)
    return {"cells": over, "marginals": statistics.mean(deviations), "widest": max(deviations)}


def _agreeing(variance: float, known: bool) -> dict[tuple[int, ...], float]:
    """Plain marginals after least squares: what each says of a residual, put together by their precision. Where the
    number of rows is public, that of no column is known."""

    def parts(part: tuple[int, ...]) -> list[tuple[int, ...]]:
        return [(), *((at,) for at in part), part] if len(part) > 1 else [(), part]

    precision: dict[tuple[int, ...], float] = {}
    for part in PARTS:
        for base in parts(part):
            rest = math.prod(SIZES[at] for at in part if at not in base)
            precision[base] = precision.get(base, 0.0) + 1 / (variance * rest)
    found = {}
    for part in PARTS:
        total = 0.0
        for base in parts(part):
            if base or not known:
                share = math.prod(1 - 1 / SIZES[at] for at in base)
                share *= math.prod(1 / SIZES[at] ** 2 for at in part if at not in base)
                total += share / precision[base]
        found[part] = total
    return found


# --- the other parts --------------------------------------------------------------------------------------------------


def peers() -> dict[str, Any]:
    found: dict[str, Any] = {}
    for who, python in (("opendp", Path(sys.executable)), ("smartnoise", PEERS)):
        if not python.exists():
            found[who] = {"failed": "did not install (build/bench-peers.log)"}
            continue
        try:
            found[who] = _json(python, "bench.marginals_peers", who)
        except (subprocess.SubprocessError, ValueError) as error:
            found[who] = {"failed": f"failed ({type(error).__name__})"}
    return found


def board() -> dict[str, Any]:
    """In a process of its own: a new server."""
    found: dict[str, Any] = _json(Path(sys.executable), "bench.board")
    return found


def _json(python: Path, *command: str) -> Any:
    done = subprocess.run([str(python), "-m", *command], cwd=ROOT, check=True, stdout=subprocess.PIPE, text=True)
    return json.loads(done.stdout.splitlines()[-1])


# --- told -------------------------------------------------------------------------------------------------------------


def verdicts(found: dict[str, Any]) -> Iterator[tuple[str, str, bool]]:
    """What was set, what was found, and whether that is met; of the parts that were measured."""
    if told := found.get("errors"):
        ratios = [one["ours"][name] / one["plain"][name] for one in told for name in ("cells", "marginals")]
        largest = [one["ours"]["largest"] / one["plain"]["largest"] for one in told]
        target = f"8 lists, {PEOPLE:,} people, all one- and two-way marginals: error ≤ {ERRORS} × plain noise’s"
        words = f"mean at most {max(ratios):.2f} ×, largest at most {max(largest):.2f} ×"
        yield target, words, max(*ratios, *largest) <= ERRORS
    if told := found.get("scan"):
        for who, name in (("coded", "the coded file"), ("own", "the person’s own file")):
            ratio = told["ours"]["times"]["ours"] / min(told[who]["times"].values())
            target = f"first look at {told['columns']} columns, two of interest, {told['rows']:,} rows"
            yield f"{target}: ≤ {SCANNED} × bare DuckDB over {name}", f"{ratio:.2f} ×", ratio <= SCANNED
    if told := found.get("board"):
        slowest = max(told["times"], key=told["times"].__getitem__)
        words = f"at most {told['times'][slowest] * 1e3:.0f} ms ({slowest})"
        target = f"board of {told['columns']} columns: every reaction < {REACTED} s of the server’s time"
        yield target, words, told["times"][slowest] < REACTED


def told(found: dict[str, Any]) -> Iterator[str]:
    """The section of bench/results.md."""
    yield "## A first look"
    yield ""
    yield "Written by `python -m bench.marginals --write`; its docstring says what is compared. Load average when each"
    yield f"part ended: {', '.join(f'{name} {load:.1f}' for name, load in found['load'].items())}."
    yield ""
    yield from written(
        ["target", "found", "met"], ([a, b, "yes" if met else "**no**"] for a, b, met in verdicts(found))
    )
    for name, part in (("errors", _told_errors), ("peers", _told_peers), ("scan", _told_scan), ("board", _told_board)):
        if name in found:
            yield from part(found[name])


def _told_errors(told: list[dict[str, Any]]) -> Iterator[str]:
    names = {"cells": "mean over all cells", "marginals": "mean over all marginals", "widest": "of the widest cell"}
    rows = []
    for one in told:
        for name, words in names.items():
            plain, agreeing, ours = (one[who][name] for who in ("plain", "agreeing", "ours"))
            cells = (f"{plain:.2f}", f"{agreeing:.2f}", f"{ours:.2f}", f"{ours / plain:.3f}", f"{ours / agreeing:.3f}")
            rows.append([one["relation"], f"standard deviation, {words}", *cells])
        plain, ours = (f"{one[who]['largest']:.2f} ± {one[who]['largest_error']:.2f}" for who in ("plain", "ours"))
        ratio = f"{one['ours']['largest'] / one['plain']['largest']:.3f}"
        rows.append([one["relation"], f"largest error, {one['draws']} draws", plain, "–", ours, ratio, "–"])
    yield f"**All one- and two-way marginals, {len(SIZES)} lists, {PEOPLE:,} people, ρ = {RHO}**"
    yield ""
    yield from written(["relation", "", "plain", "plain, made to agree", "first look", "÷ plain", "÷ agreeing"], rows)


def _told_peers(told: dict[str, Any]) -> Iterator[str]:
    yield f"**The same marginals by other tools, ρ-zCDP, ρ = {RHO}** (mean ± standard error)"
    yield ""
    rows = []
    for who, lines in told.items():
        if "failed" in lines:
            rows.append([who, "–", lines["failed"], "–", "–", ""])
            continue
        for one in lines:
            figures = (f"{one[name]:.2f} ± {one[f'{name}_error']:.2f}" for name in ("mean", "largest"))
            rows.append([one["who"], one["relation"], *figures, str(one["draws"]), one["note"]])
    yield from written(["tool", "relation", "mean error", "largest error", "draws", ""], rows)


def _told_scan(told: dict[str, Any]) -> Iterator[str]:
    rows_of = f"{told['rows']:,} rows, {told['columns']} columns, {told['marginals']} marginals"
    yield f"**Counting: {rows_of}** (seconds, medians)"
    yield ""
    titles = {"ours": "Allowance", "coded": "bare DuckDB, the coded file", "own": "bare DuckDB, the person’s own file"}
    rows = []
    for who, title in titles.items():
        for way, seconds in told[who]["times"].items():
            words = {"ours": "charge, one pass, noise, answer stored"}.get(way, way)
            rows.append([title, words, f"{seconds:.2f}", f"{told[who]['peak_mb']:,.0f} MB"])
    yield from written(["", "", "s", "peak of the process"], rows)


def _told_board(told: dict[str, Any]) -> Iterator[str]:
    how = f"milliseconds of the server’s processor, the best of {told['turns']}"
    yield f"**The board of {told['columns']} columns** ({how})"
    yield ""
    yield from written(["", "ms"], ([name, f"{seconds * 1e3:.0f}"] for name, seconds in told["times"].items()))


def written(head: list[str], rows: Any) -> Iterator[str]:
    """A table in Markdown."""
    yield "| " + " | ".join(head) + " |"
    yield "|" + "---|" * len(head)
    for row in rows:
        yield "| " + " | ".join(row) + " |"
    yield ""


def section(found: dict[str, Any]) -> str:
    return "\n".join([MARK, *told(found), END])


def _kept() -> dict[str, Any]:
    found: dict[str, Any] = json.loads(KEPT.read_text()) if KEPT.exists() else {"load": {}}
    return found


def main() -> int:
    parts = {"errors": errors, "peers": peers, "scan": None, "board": board}
    parser = argparse.ArgumentParser(prog="bench.marginals", description="A first look: errors, other tools, speed.")
    parser.add_argument("parts", nargs="*", help=f"some of {', '.join(parts)}; all where none is named")
    parser.add_argument("--rows", type=int, default=scan.ROWS)
    parser.add_argument("--write", action="store_true", help="put them into bench/results.md")
    parser.add_argument("--json", action="store_true", help="print them as one line of JSON")
    given = parser.parse_args()
    if strange := set(given.parts) - set(parts):
        parser.error(f"there is no part {min(strange)}")
    BUILD.mkdir(parents=True, exist_ok=True)
    found = _kept()
    for name in given.parts or parts:
        work = parts[name]
        measured = scan.measure(given.rows) if work is None else work()
        for book in (found, kept := _kept()):  # another run may have written meanwhile
            book[name], book["load"][name] = measured, os.getloadavg()[0]
        if given.rows == scan.ROWS or name != "scan":
            KEPT.write_text(json.dumps(kept, indent=1, ensure_ascii=False))
    print(json.dumps(found, ensure_ascii=False) if given.json else section(found))
    if given.write:
        before, _, rest = RESULTS.read_text(encoding="utf-8").partition(MARK)
        after = rest.partition(END)[2].lstrip("\n")
        RESULTS.write_text(f"{before.rstrip()}\n\n{section(found)}\n{after}", encoding="utf-8")
    absent = [who for who, one in found.get("peers", {}).items() if "failed" in one and who == "opendp"]
    must(not absent, f"{', '.join(absent)}: nothing was measured, see above.")
    return 0 if given.json else int(not all(met for _, _, met in verdicts(found)))


if __name__ == "__main__":
    sys.exit(main())
