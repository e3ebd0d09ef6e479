"""What a fresh interpreter loads: nothing of the pages, of other engines, or of what only a release or a file needs."""

from __future__ import annotations

import subprocess
import sys

NEVER = {"psycopg", "pyspark", "py4j", "opendp", "ibis", "dpengine.ledger.postgres_store"}
PAGES = {"streamlit", "plotly", "ui", "pages"}
CODE = f"""
import sys
import dpengine, dpengine.workspace, dpengine.commands, dpengine.noise.coins, dpengine.asking.jobs
import dpengine.intake.encode, dpengine.statistics.engines.duck
print(sorted({NEVER | PAGES} & sys.modules.keys()))
import app
print(sorted({NEVER} & sys.modules.keys()))
"""


def test_the_engine_loads_no_page_and_neither_loads_what_it_may_never_need() -> None:
    loaded = subprocess.run([sys.executable, "-c", CODE], capture_output=True, text=True, check=True).stdout
    assert loaded.split("\n")[:2] == ["[]", "[]"]
