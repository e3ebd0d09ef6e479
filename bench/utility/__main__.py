"""Ours, ours before and the best published, question by question: `python -m bench.utility [part ...] [--draws 400]`.

Prints the table; `--write` also writes it to bench/results-utility.md. A part is a module of this folder with `rows`.
"""

from __future__ import annotations

import argparse
import sys
import time
from importlib import import_module

from opendp.mod import enable_features

from bench.tasks import ROOT
from bench.utility.frame import DRAWS, table_of

PARTS = ("percentiles", "curves", "choices", "several", "sessions", "numbers", "models")
_LEAD = """# How good an answer is for its allowance

Columns made like those of a census (`bench/utility/columns.py`), {draws} draws each, mean ± standard error; less is
better unless the case says a chance. “Ours : best” is ours divided by the best other at equal guarantee and relation: 1
or less means at least as good. Written by `python -m bench.utility --write`.
"""


def main() -> int:
    parser = argparse.ArgumentParser(
        prog="bench.utility", description="Error at equal guarantee, question by question."
    )
    parser.add_argument("parts", nargs="*", default=PARTS, help=f"of {', '.join(PARTS)}; all of them if none is named")
    parser.add_argument("--draws", type=int, default=DRAWS)
    parser.add_argument("--write", action="store_true", help="write bench/results-utility.md")
    given = parser.parse_args()
    enable_features("contrib")
    told = [_LEAD.format(draws=given.draws)]
    for part in given.parts or PARTS:
        began = time.perf_counter()
        lines = []
        for one in import_module(f"bench.utility.{part}").rows(given.draws):
            lines.append(one)
            print(
                one["case"],
                one["guarantee"],
                one["who"],
                f"{one['mean']:.4g}",
                one["note"],
                file=sys.stderr,
                flush=True,
            )
        print(f"{part}: {time.perf_counter() - began:.0f} s", file=sys.stderr)
        told.append(f"## {part.capitalize()}\n\n{table_of(lines)}\n")
    text = "\n".join(told)
    print(text)
    if given.write:
        (ROOT / "bench" / "results-utility.md").write_text(text)
    return 0


if __name__ == "__main__":
    sys.exit(main())
