"""What is measured: the questions, the sizes, the guarantee, and who answers."""

from __future__ import annotations

from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
BUILD = ROOT / "build" / "bench"

SIZES = (10**5, 10**6, 10**7)
SEED = 20_260_901  # public: anyone can make the same file
EPSILON = 0.1

GRID = 1_000  # amounts 0, 1, …, 999
STATES = 51
ITEMS = 100_000
BINS = 100
LOW, HIGH = 250, 750  # the filter of the count, both ends included
LONGEST = 10.0  # seconds: a question that would take longer is not run, and the table says so
LONGEST_LOAD = 60.0  # the same of reading the rows, for all questions of a contender

TASKS = {
    "median": "median, 1,000-point grid",
    "top51": "top item of 51",
    "top100k": "top item of 100,000",
    "hist51": "histogram, 51 categories",
    "hist100": "histogram, 100 bins",
    "count": "filtered count",
    "mean": "clipped mean",
    "mean51": "mean by 51 groups",
    "sum": "sum",
    "variance": "variance",
}

# key: (name in the tables, in the peers' environment?)
CONTENDERS = {
    "ours": ("Allowance", False),
    "bare_duckdb": ("bare DuckDB, coded file", False),
    "own_duckdb": ("bare DuckDB, own file", False),
    "opendp_direct": ("OpenDP direct", False),
    "opendp_context": ("OpenDP Context", False),
    "diffprivlib_peer": ("diffprivlib", True),
    "smartnoise_peer": ("smartnoise-sql", True),
}
