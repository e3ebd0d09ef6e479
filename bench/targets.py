"""What this project set itself, each with the numbers that decide it and a plain yes or no."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from bench.accuracy import CUT, CUT_TOO, MORE
from bench.tasks import CONTENDERS, TASKS

OURS = "Allowance"


@dataclass(frozen=True)
class Verdict:
    target: str
    found: str
    met: bool | None  # None: could not be measured here


def verdicts(results: dict[str, Any]) -> Iterator[Verdict]:
    rows = max(results["sizes"])
    times = {key: medians(results, key, rows) for key in CONTENDERS}
    ours = times["ours"]
    for key in ("own_duckdb", "bare_duckdb"):
        yield _duckdb(results["beside"]["ours"], results["beside"][key], CONTENDERS[key][0], rows)
    for key in ("opendp_context", "smartnoise_peer"):
        yield _faster(ours, times[key], CONTENDERS[key][0], 20, rows)
    only = {task: time for task, time in times["diffprivlib_peer"].items() if task == "median"}
    yield _faster(ours, only, "diffprivlib's median", 100, rows)
    for key in ("opendp_direct", "diffprivlib_peer"):
        yield _near(ours, times[key], CONTENDERS[key][0], rows)
    chosen = results["selection"]["median"] * 1e3
    yield Verdict("one million candidates selected in < 50 ms", f"{chosen:.1f} ms", chosen < 50)
    yield _page(results["page"])
    yield _published(results["publishing"]["ours"])
    big = results["bigfile"]
    held = big["peak_mb"] - big["before_mb"]
    yield Verdict(f"{big['bytes'] / 1e9:.1f} GB CSV: < 1 GB of memory", f"{held:,.0f} MB", held < 1000)
    yield from _errors(results["accuracy"])


def medians(results: dict[str, Any], key: str, rows: int) -> dict[str, float]:
    told = results["times"].get(key, {}).get(str(rows), {}).get("tasks", {})
    return {task: told[task]["median"] for task in TASKS if "median" in told.get(task, {})}


def _duckdb(ours: dict[str, float], bare: dict[str, float], name: str, rows: int) -> Verdict:
    over = {task: ours[task] - 1.2 * bare[task] - 0.010 for task in ours if task in bare}
    missed = [f"{TASKS[task]}: {more * 1e3:.0f} ms more" for task, more in over.items() if more > 0]
    target = f"{rows:,} rows: ≤ 1.2 × {name} + 10 ms, taking turns"
    return Verdict(target, _told(missed, len(over)), not missed if over else None)


def _faster(ours: dict[str, float], peer: dict[str, float], name: str, least: int, rows: int) -> Verdict:
    ratios = {task: time / ours[task] for task, time in peer.items() if task in ours}
    missed = [f"{TASKS[task]}: {ratio:.1f} ×" for task, ratio in ratios.items() if ratio < least]
    found = f"median: {ratios['median']:.0f} ×" if list(ratios) == ["median"] else _told(missed, len(ratios))
    return Verdict(f"{rows:,} rows: ≥ {least} × faster than {name}", found, not missed if ratios else None)


def _near(ours: dict[str, float], peer: dict[str, float], name: str, rows: int) -> Verdict:
    ratios = {task: ours[task] / peer[task] for task in ("count", "mean", "hist51") if task in peer and task in ours}
    found = "; ".join(f"{TASKS[task]}: {ratio:.1f} ×" for task, ratio in ratios.items())
    met = all(ratio <= 2 for ratio in ratios.values()) if ratios else None
    return Verdict(f"{rows:,} rows: within 2 × of {name} on an array in memory (count, mean, 51 codes)", found, met)


def _page(page: dict[str, Any]) -> Verdict:
    target = "Start page ≤ 1.5 × the empty app"
    if "failed" in page:
        return Verdict(target, page["failed"], None)
    ratio = page["Start page"]["median"] / page["empty app"]["median"]
    return Verdict(target, f"{ratio:.2f} ×", ratio <= 1.5)


def _published(one: dict[str, Any]) -> Verdict:
    rows = f"{one['rows']:,}" if "rows" in one else "1,000,000"
    target = f"{rows} rows, two columns, published: ≤ 60 s, ≤ 500 MB beyond what was held"
    if "failed" in one:
        return Verdict(target, one["failed"], None)
    more = one["peak_mb"] - one["before_mb"]
    return Verdict(target, f"{one['seconds']:.1f} s, {more:,.0f} MB", one["seconds"] <= 60 and more <= 500)


def _errors(lines: list[dict[str, Any]]) -> Iterator[Verdict]:
    """Worse means beyond three standard errors of the difference. One verdict for each measure."""
    for kind in dict.fromkeys(one["case"].split(":")[0] for one in lines):
        worse, compared = [], 0
        for peer in lines:
            mine = beside(lines, peer) if peer["case"].startswith(kind) else None
            if mine is not None:
                compared += 1
                if is_worse(mine, peer):
                    table = mine["case"].split(": ", 1)[1]
                    numbers = f"{mine['mean']:.3g} against {peer['mean']:.3g}"
                    worse.append(f"{peer['who']}, {table}, {mine['relation']}, {mine['guarantee']}: {numbers}")
        met = not worse if compared else None
        yield Verdict(f"error never worse than a peer’s: {kind}", _told(worse, compared), met)


def beside(lines: list[dict[str, Any]], peer: dict[str, Any]) -> dict[str, Any] | None:
    """Our line that a peer's is compared with: one that is cut at 0 with ours that is."""
    if peer["who"].startswith(OURS):
        return None
    who = f"{OURS}, {CUT}" if CUT_TOO in peer["note"] else OURS
    same = (one for one in lines if all(one[name] == peer[name] for name in ("case", "relation", "guarantee")))
    return next((one for one in same if one["who"] == who), None)


def is_worse(mine: dict[str, Any], peer: dict[str, Any]) -> bool:
    sign = -1 if mine["better"] == MORE else 1
    return sign * (mine["mean"] - peer["mean"]) > 3 * (mine["error"] ** 2 + peer["error"] ** 2) ** 0.5


def _told(missed: list[str], of: int) -> str:
    if not of:
        return "nothing to compare"
    return f"all {of}" if not missed else f"{of - len(missed)} of {of}; missed: " + "; ".join(missed)
