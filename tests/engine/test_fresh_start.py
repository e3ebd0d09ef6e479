"""What a fresh interpreter loads: nothing of the pages, of other engines, or of what only a release or a file needs."""

from __future__ import annotations

import subprocess
import sys

NEVER = {"psycopg", "pyspark", "py4j", "opendp", "ibis", "dpengine.ledger.postgres_store"}
PAGES = {"streamlit", "plotly", "ui", "pages"}
# What is slow to import is imported where it is used: pandas (which sqlite_utils brings), scipy, openpyxl.
SLOW = {"pandas", "scipy", "openpyxl", "sqlite_utils", "pyarrow.compute", "dpengine.messages.sl.pages"}
QUESTIONS = {"dpengine.mechanisms.counts.histogram", "dpengine.mechanisms.models.train_hinge"}
STEPS = (  # one after the other, each with what is not loaded after it
    ("import dpengine, dpengine.__main__, dpengine.messages", {"numpy", "dpengine.workspace"}),
    ("import dpengine.workspace", SLOW | QUESTIONS),
    ("from dpengine import *", SLOW),
    (
        "import dpengine.commands, dpengine.noise.coins, dpengine.asking.jobs\n"
        "import dpengine.intake.encode, dpengine.statistics.engines.duck",
        NEVER | PAGES,
    ),
    ("import app", NEVER),
)


def test_the_engine_loads_no_page_and_neither_loads_what_it_may_never_need() -> None:
    code = "\n".join(f"{step}\nprint(sorted({left_out} & sys.modules.keys()))" for step, left_out in STEPS)
    loaded = subprocess.run([sys.executable, "-c", f"import sys\n{code}"], capture_output=True, text=True, check=True)
    assert loaded.stdout.split("\n")[: len(STEPS)] == ["[]"] * len(STEPS)
