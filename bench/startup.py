"""How long until something happens: imports, the first answer of a fresh process, and one selection among a million."""

from __future__ import annotations

import statistics
import subprocess
import sys
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np

from bench.measure import once, timed
from bench.tasks import BUILD, EPSILON, ROOT, SEED
from dpengine.noise.coins import SystemCoins

TIMES = 5
CANDIDATES = 10**6

_FIRST = """
import dpengine as dp
table = dp.open_workspace({folder!r}).table("bench")
table.ask(table.query("median", column="amount", epsilon="{epsilon}"))
"""


def imports(peers: Path) -> dict[str, float]:
    """Wall time of whole processes, the bare interpreter's own included; the median of several."""
    first = _FIRST.format(folder=str(BUILD / str(10**5) / "var"), epsilon=EPSILON)
    here = Path(sys.executable)
    asked = {
        "python, nothing else": (here, "pass"),
        "import dpengine": (here, "from dpengine import *"),
        "import pandas, duckdb": (here, "import pandas, duckdb"),
        "import dpengine, open a workspace, first answer (median, 10^5 rows)": (here, first),
        "import opendp.prelude": (here, "import opendp.prelude"),
        "import diffprivlib": (peers, "import diffprivlib"),
        "import snsql": (peers, "import snsql"),
    }
    return {name: _median(_process(*one)) for name, one in asked.items() if one[0].exists()}


def selection() -> dict[str, Any]:
    """`coins.choose` over a million candidates of different scores, warm; and the first call, which makes tables."""
    gaps = np.random.default_rng(SEED).integers(0, 10_000, CANDIDATES)
    sizes = np.ones(CANDIDATES, dtype=np.int64)
    coins, rate = SystemCoins(), Fraction(str(EPSILON)) / 2
    return timed(lambda: coins.choose(gaps, sizes, rate, CANDIDATES))


def _process(python: Path, code: str) -> Callable[[], Any]:
    command = [str(python), "-c", code]
    return lambda: subprocess.run(command, cwd=ROOT, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def _median(work: Callable[[], Any]) -> float:
    work()  # the files come into the system's cache
    return statistics.median(once(work) for _ in range(TIMES))
