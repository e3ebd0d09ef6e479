"""Every bench of one evening: `python -m bench.evening` (`make bench-all`), with the day and the time of each in
bench/results-evening.md.

Parts that time something run alone. Those that measure errors only run two at once. A part that fails does not end the
evening: the table says so, and the command ends with 1. A run of the same commit that was stopped goes on with
`--resume`, and `--resume pages` measures that part again.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from typing import Any

from bench.measure import must
from bench.tasks import BUILD, ROOT

RESULTS, KEPT, LOGS = ROOT / "bench" / "results-evening.md", BUILD / "evening.json", BUILD / "evening"
ENGINES = ROOT / "build" / "engines-venv" / "bin" / "python"

# The longest first. What a part writes stands behind it.
ERRORS = {
    "utility --write": "utility",
    "models --runs 5 --write": "models",
    "training beside 20 --write": "training",
    "checks": "checks",
    "population --write": "population",
    "training rates --write": "training",
}
TIMES = {
    "synthetic_tables --write": "synthetic",
    "training large --write": "training",
    "__main__": "",
    "engines": "engines",
    "large --write": "large",
    "pages --write": "pages",
    "people --write": "people",
    "people --kills 10 --write": "people",
    "kept": "curves",
    "person_rows": "person_rows",
    "workshop --write": "workshop",
}
_LEAD = """# One evening of benches

Written by `python -m bench.evening`: when each part ran, how long it took, and which file it wrote. Parts that measure
errors ran two at once; those that time something ran alone.
"""


def main() -> int:
    parser = argparse.ArgumentParser(prog="bench.evening", description="Every bench, one after the other.")
    parser.add_argument("again", nargs="*", help="with --resume: parts to measure again, by their first word")
    parser.add_argument("--resume", action="store_true", help="keep what a run of this commit has measured")
    given = parser.parse_args()
    commit = subprocess.run(
        ["git", "rev-parse", "HEAD"], cwd=ROOT, capture_output=True, encoding="utf-8"
    ).stdout.strip()
    done = resumed(commit, given.again) if given.resume else {}
    LOGS.mkdir(parents=True, exist_ok=True)
    with ThreadPoolExecutor(2) as two:
        for part, told in zip(ERRORS, two.map(lambda part: done.get(part) or measured(part), ERRORS), strict=True):
            kept(commit, done, part, told)
    for part in TIMES:
        kept(commit, done, part, done.get(part) or measured(part))
    RESULTS.write_text(table_of(done), encoding="utf-8")
    failed = [part for part, told in done.items() if told["code"]]
    must(not failed, f"Failed: {', '.join(failed)} (their logs: {LOGS.relative_to(ROOT)}).")
    return 0


def resumed(commit: str, again: Sequence[str]) -> dict[str, dict[str, Any]]:
    """What a run of this commit has measured without failing, less what is to be measured again."""
    old = json.loads(KEPT.read_text(encoding="utf-8")) if KEPT.exists() else {}
    parts = old.get("parts", {}) if old.get("commit") == commit else {}
    return {part: told for part, told in parts.items() if not told["code"] and part.split()[0] not in again}


def measured(part: str) -> dict[str, Any]:
    """One part, run: its beginning, its seconds, its exit code. What it prints is in its log."""
    words = part.split()
    python = str(ENGINES) if words[0] == "engines" else sys.executable
    module = "bench" if words[0] == "__main__" else f"bench.{words[0]}"
    began, clock = datetime.now(UTC), time.perf_counter()
    print(f"{began:%H:%M} python -m {module} {' '.join(words[1:])}", flush=True)
    with (LOGS / f"{part.replace(' ', '_')}.log").open("w", encoding="utf-8") as log:
        try:
            code = subprocess.run(
                [python, "-m", module, *words[1:]], cwd=ROOT, stdout=log, stderr=subprocess.STDOUT
            ).returncode
        except OSError as error:  # no such environment
            log.write(str(error))
            code = 1
    seconds = round(time.perf_counter() - clock)
    print(f"{'  failed' if code else '  done'} after {seconds} s: {part}", flush=True)
    return {"began": f"{began:%Y-%m-%d %H:%M}", "seconds": seconds, "code": code, "load": round(os.getloadavg()[0], 1)}


def kept(commit: str, done: dict[str, dict[str, Any]], part: str, told: dict[str, Any]) -> None:
    done[part] = told
    KEPT.write_text(json.dumps({"commit": commit, "parts": done}, indent=1), encoding="utf-8")


def table_of(done: dict[str, dict[str, Any]]) -> str:
    lines = [_LEAD, "| part | ran | began (UTC) | seconds | load at its end | file |", "|---|---|---|--:|--:|---|"]
    for part, file in {**ERRORS, **TIMES}.items():
        told, name = done[part], f"results-{file}.md" if file else "results.md"
        command = f"`python -m bench.{part}`".replace("bench.__main__", "bench")
        took = f"failed after {told['seconds']}" if told["code"] else told["seconds"]
        how = "beside another" if part in ERRORS else "alone"
        lines.append(f"| {command} | {how} | {told['began']} | {took} | {told['load']} | [{name}]({name}) |")
    whole = sum(told["seconds"] for told in done.values())
    return "\n".join([*lines, "", f"Together {whole // 60} minutes of the clock, those at once counted twice.", ""])


if __name__ == "__main__":
    sys.exit(main())
