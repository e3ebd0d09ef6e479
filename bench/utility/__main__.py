"""Ours, ours before and the best published, question by question: `python -m bench.utility [part ...] [--draws 400]`.

Prints the tables; with `--write` every part is written to its own section of bench/results-utility.md as soon as it is
done, and the other sections stay. A part is a module of this folder with `rows`, and with `table_of` if its table is of
another kind. Ends with 1 if ours is behind somewhere and `reasons.py` does not say why.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable
from importlib import import_module
from typing import Any

from opendp.mod import enable_features

from bench.measure import must
from bench.tasks import ROOT
from bench.utility.frame import DRAWS, NEAR, OURS, behind, compared_of, far_behind, table_of
from bench.utility.reasons import why

PARTS = ("small", "percentiles", "curves", "choices", "several", "sessions", "numbers", "models", "lines")
RESULTS = ROOT / "bench" / "results-utility.md"
_LEAD = """# How good an answer is for its allowance

Columns made like those of a census (`bench/utility/columns.py`): a look-alike, not one. Mean ± standard error; less is
better unless the case says a chance or a share. “Ours : best” is ours divided by the best other at equal guarantee and
relation: 1 or less means at least as good, and what three standard errors leave open says so. Written part by part by
`python -m bench.utility [part ...] --write`.
"""


_UNKNOWN = "Behind, and not known why: "


def main() -> int:
    parser = argparse.ArgumentParser(
        prog="bench.utility", description="Error at equal guarantee, question by question."
    )
    parser.add_argument("parts", nargs="*", default=PARTS, help=f"of {', '.join(PARTS)}; all of them if none is named")
    parser.add_argument("--draws", type=int, default=DRAWS)
    parser.add_argument("--write", action="store_true", help="write bench/results-utility.md, part by part")
    parser.add_argument("--reasons", action="store_true", help="only put newly known reasons into that file")
    given = parser.parse_args()
    if given.reasons:
        return reasoned()
    enable_features("contrib")
    unsaid = 0
    for part in given.parts or PARTS:
        began, lines = time.perf_counter(), []
        module = import_module(f"bench.utility.{part}")
        for one in module.rows(given.draws):
            lines.append(one)
            told = (one["case"], one["guarantee"], one["who"], f"{one['mean']:.4g}", one["note"])
            print(*told, file=sys.stderr, flush=True)
        must(any(one["who"] == OURS for one in lines), f"bench.utility {part}: nothing of ours was measured.")
        section, missing = section_of(part, lines, given.draws, getattr(module, "table_of", table_of))
        unsaid += missing
        print(f"{part}: {time.perf_counter() - began:.0f} s", file=sys.stderr, flush=True)
        print(section, flush=True)
        if given.write:
            keep(part, section)
    return int(unsaid > 0)


def section_of(
    part: str, lines: list[dict[str, Any]], draws: int, table_of: Callable[[list[dict[str, Any]]], str] = table_of
) -> tuple[str, int]:
    """A part as it is written, and in how many rows ours is behind without a reason."""
    late = behind(lines)
    known = {case: why(part, case) for case in late}
    said = dict.fromkeys(reason for reason in known.values() if reason)
    told = [f"{draws} draws of each.\n", table_of(lines)]
    compared, far = compared_of(lines), far_behind(lines)
    told += [f"\nMore than {NEAR} × the best other beyond two standard errors: {len(far)} of {compared} comparisons."]
    told += [f"- {one}" for one in far]
    told += [f"\n{reason}" for reason in said]
    told += [f"\n{_UNKNOWN}{case}." for case, reason in known.items() if not reason]
    return f"## {part.capitalize()}\n\n" + "\n".join(told) + "\n", sum(not reason for reason in known.values())


def reasoned() -> int:
    """Reasons in place of rows that have none, where `reasons.py` knows them by now; how many have none is told."""
    part, left = "", 0
    lines: list[str] = []
    for line in RESULTS.read_text(encoding="utf-8").split("\n"):
        part = line[3:].lower() if line.startswith("## ") else part
        reason = why(part, line.removeprefix(_UNKNOWN)) if line.startswith(_UNKNOWN) else ""
        told = reason or line
        if line.startswith(_UNKNOWN) and told in "\n".join(lines):  # said already: neither again nor an empty line
            lines.pop()
            continue
        left += line.startswith(_UNKNOWN) and not reason
        lines.append(told)
    RESULTS.write_text("\n".join(lines), encoding="utf-8")
    return int(left > 0)


def keep(part: str, section: str) -> None:
    """Put a part in its place among the sections that are there."""
    text = RESULTS.read_text(encoding="utf-8") if RESULTS.exists() else ""
    there = {one.partition("\n")[0].lower(): f"## {one.rstrip()}\n" for one in text.split("\n## ")[1:]}
    there[part] = section
    RESULTS.write_text("\n".join([_LEAD, *(there[one] for one in PARTS if one in there)]), encoding="utf-8")


if __name__ == "__main__":
    sys.exit(main())
