"""`python -m bench.kept` runs bench.curves, bench.density and bench.synthetic, and keeps what they print.

In bench/results-curves.md: growth with the grid, the values and the rows, and errors beside their promises."""

from __future__ import annotations

import os
import subprocess
import sys

from bench.measure import must
from bench.tasks import ROOT

RESULTS = ROOT / "bench" / "results-curves.md"
PARTS = {
    "curves": "Rising curves and synthetic columns",
    "density": "Smooth curves and maps",
    "synthetic": "Synthetic tables",
}


def told(part: str) -> str:
    command = [sys.executable, "-m", f"bench.{part}"]
    found = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    must(found.stdout.strip(), f"bench.{part} printed nothing.")
    return f"## {PARTS[part]}\n\n`python -m bench.{part}`\n\n```\n{found.stdout.strip()}\n```\n"


def main() -> None:
    parts = [told(part) for part in PARTS]
    load = f"{os.cpu_count()} cores; load average {os.getloadavg()[2]:.1f} over the last 15 minutes"
    head = f"# Curves and synthetic tables, measured\n\nWritten by `python -m bench.kept`: {load}.\n"
    RESULTS.write_text("\n".join([head, *parts]), encoding="utf-8")


if __name__ == "__main__":
    main()
