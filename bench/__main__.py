"""One run of everything: `python -m bench`. With `--sizes 100000` a short one, which leaves bench/results.md alone.

Each part is written down when it is done, so a run that was stopped goes on with `--resume` and loses one part at most.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import shutil
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from bench import data, first_start, page, publishing, report, startup
from bench.measure import must
from bench.tasks import BUILD, CONTENDERS, LONGEST, LONGEST_LOAD, ROOT, SIZES, TASKS

PEERS = ROOT / "build" / "bench-venv" / "bin" / "python"
PATIENCE = 1_800  # seconds for one contender at one size
PARTS = BUILD / "parts"
_BEGAN = time.perf_counter()
NOT_RUN = "not run"  # because it would take too long
NO_PEERS = "did not install (build/bench-peers.log)"


def main() -> None:
    parser = argparse.ArgumentParser(prog="bench", description="Speed and error, beside other tools.")
    parser.add_argument("--sizes", type=int, nargs="+", default=list(SIZES))
    parser.add_argument("--resume", action="store_true", help="keep what a run that was stopped has measured")
    given = parser.parse_args()
    sizes = sorted(given.sizes)
    if not given.resume:
        shutil.rmtree(PARTS, ignore_errors=True)
    PARTS.mkdir(parents=True, exist_ok=True)
    load = _part("load", lambda: [os.getloadavg()[0]])
    results: dict[str, Any] = {"sizes": sizes, "declared": {}, "times": {key: {} for key in CONTENDERS}}
    results["resumed"] = given.resume
    for rows in sorted({10**5, *sizes}):
        results["declared"][str(rows)] = _part(f"declared-{rows}", lambda rows=rows: _prepare(rows))
    for rows in sizes:
        for key, times in results["times"].items():
            tenth = times.get(str(rows // 10))
            work = lambda key=key, rows=rows, tenth=tenth: _contend(key, rows, tenth)  # noqa: E731
            times[str(rows)] = _part(f"{key}-{rows}", work)
    most = str(sizes[-1])
    _say(f"{sizes[-1]:,} rows: beside plain DuckDB")
    results["beside"] = _part("beside", lambda: _json(Path(sys.executable), "bench.beside", most))
    _say("publishing")
    rows = publishing.ROWS if publishing.ROWS in sizes else sizes[-1]
    results["publishing"] = {
        who: _part(f"publishing-{who}", lambda who=who, peer=peer: _publish(who, peer, rows))
        for who, (_, peer) in publishing.WHO.items()
    }
    _say("errors")
    results["accuracy"] = _part("accuracy-ours", lambda: _json(Path(sys.executable), "bench.accuracy_ours"))
    if PEERS.exists():
        results["accuracy"] += _part("accuracy-peers", lambda: _json(PEERS, "bench.accuracy_peers"))
    _say("selection, start-up, the Start page")
    results["selection"] = _part("selection", startup.selection)
    results["imports"] = _part("imports", lambda: startup.imports(PEERS))
    results["page"] = _part("page", page.measure)
    results["first start"] = _part("first-start", first_start.measure)
    _say("a first look")
    results["look"] = _part("look", lambda: _json(Path(sys.executable), "bench.marginals", "--json", "--rows", most))
    _say("a large CSV")
    results["bigfile"] = _part("bigfile", lambda: _json(Path(sys.executable), "bench.bigfile"))
    results |= {"machine": _machine([*load, os.getloadavg()[0]]), "versions": _versions(results["times"], sizes)}
    (BUILD / "results.json").write_text(json.dumps(results, indent=1, ensure_ascii=False))
    target = (ROOT / "bench" if sizes == list(SIZES) else BUILD) / "results.md"
    target.write_text(report.render(results))
    print(f"written: {target.relative_to(ROOT)}")
    must(not (left := unmeasured(results)), f"Not measured, though it should be: {', '.join(left)}.")


def unmeasured(results: dict[str, Any]) -> list[str]:
    """What of ours failed, or of the tools in this very environment: a table that says so is no measurement."""
    left = []
    for key, (name, peer) in CONTENDERS.items():
        for rows, told in results["times"][key].items():
            reasons = [one["failed"] for one in (told, *told.get("tasks", {}).values()) if "failed" in one]
            failed = any(not reason.startswith(NOT_RUN) for reason in reasons)
            some = key == "ours" and "tasks" in told and set(told["tasks"]) != set(TASKS)
            if not peer and (failed or some):
                left.append(f"{name} at {int(rows):,} rows")
    left += [f"publishing by {who}" for who, one in results["publishing"].items() if who == "ours" and "failed" in one]
    return left + (["the Start page"] if "failed" in results["page"] else [])


def _part(name: str, work: Callable[[], Any]) -> Any:
    """What is written down under this name, or else the work, written down."""
    path = PARTS / f"{name}.json"
    if not path.exists():
        found = json.dumps(work(), ensure_ascii=False)
        path.with_suffix(".new").write_text(found)
        path.with_suffix(".new").rename(path)
    return json.loads(path.read_text())


def _prepare(rows: int) -> float:
    """The file of this size, declared; the seconds that declaring took. In a process of its own, for its memory."""
    _say(f"{rows:,} rows: the file")
    folder = BUILD / str(rows)
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    data.write(rows, folder / "rows.parquet")
    code = (
        "import json, pathlib, sys; from bench.contenders.ours import declare; folder = pathlib.Path(sys.argv[1]);"
        "(folder / 'coded.json').write_text(json.dumps(declare(folder)))"
    )
    began = time.perf_counter()
    subprocess.run([sys.executable, "-c", code, str(folder)], cwd=ROOT, check=True)
    return time.perf_counter() - began


def _contend(key: str, rows: int, tenth: dict[str, Any] | None) -> dict[str, Any]:
    name, peer = CONTENDERS[key]
    if peer and not PEERS.exists():
        return {"failed": NO_PEERS}
    _say(f"{rows:,} rows: {name}")
    load = 10 * (tenth or {}).get("load", 0.0)
    if load > LONGEST_LOAD:
        return {"failed": f"{NOT_RUN} (it would take about {load:.0f} s to read the rows)"}
    before = {task: one.get("median", 0.0) for task, one in (tenth or {}).get("tasks", {}).items()}
    left_out = {task: time for task, time in before.items() if 10 * time > LONGEST}
    try:
        told = _json(PEERS if peer else Path(sys.executable), "bench.child", key, str(rows), *left_out)
    except (subprocess.SubprocessError, ValueError) as error:
        return {"failed": f"failed ({type(error).__name__}, build/bench/{key}.log)"}
    assert isinstance(told, dict)
    for task, time_before in left_out.items():
        told["tasks"][task] = {"failed": f"{NOT_RUN} ({time_before:.0f} s at a tenth of the rows)"}
    return told


def _publish(who: str, peer: bool, rows: int) -> dict[str, Any]:
    if peer and not PEERS.exists():
        return {"failed": NO_PEERS}
    try:
        told = _json(PEERS if peer else Path(sys.executable), "bench.publishing", who, str(rows))
    except (subprocess.SubprocessError, ValueError) as error:
        return {"failed": f"failed ({type(error).__name__}, build/bench/{who}.log)"}
    assert isinstance(told, dict)
    return told


def _json(python: Path, module: str, *arguments: str) -> Any:
    """What a module prints on its last line. What it complains about goes to a log."""
    with (BUILD / f"{(arguments or [module])[0]}.log").open("w") as log:
        done = subprocess.run(
            [str(python), "-m", module, *arguments],
            cwd=ROOT,
            stdout=subprocess.PIPE,
            stderr=log,
            timeout=PATIENCE,
            check=True,
            text=True,
        )
    return json.loads(done.stdout.splitlines()[-1])


def _machine(load: list[float]) -> dict[str, Any]:
    """Without names: what a reader needs to judge the numbers."""
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    return {
        "cores": os.cpu_count(),
        "kind": platform.machine(),
        "memory": round(memory),
        "system": platform.system(),
        "python": platform.python_version(),
        "load": load,
    }


def _versions(times: dict[str, Any], sizes: list[int]) -> dict[str, dict[str, str]]:
    found: dict[str, dict[str, str]] = {"app": {}, "peers": {}}
    for key, (_, peer) in CONTENDERS.items():
        found["peers" if peer else "app"] |= times[key][str(sizes[0])].get("versions", {})
    return found


def _say(what: str) -> None:
    print(f"bench: {time.perf_counter() - _BEGAN:4.0f} s: {what}", flush=True)


if __name__ == "__main__":
    main()
