"""How long the server works when a slider on What-if moves: `python -m bench.whatif` prints milliseconds.

Each move is one run of the whole script without a browser, the frame with it; told are the milliseconds of the
processor, of several moves to settings never seen before the fewest, since other work on the machine only adds. A move
that does not change what the page shows fails, and so does one that takes longer than LIMIT.
"""

from __future__ import annotations

import os
import sys
import tempfile
import time
from typing import Any

from bench.measure import drawn, must
from bench.tasks import ROOT

LIMIT = 0.150  # seconds
QUESTIONS = ("median", "mean", "histogram", "top_item", "cdf", "cdf_tree", "count")
MOVES = {"e": ("0.7", "0.5", "0.3", "0.2"), "e2": ("0.1", "0.2", "0.3", "2"), "d2": ("0", "0.00001", "0.0001", "0.001")}


def main() -> int:
    with tempfile.TemporaryDirectory() as folder:
        os.environ["ALLOWANCE_HOME"] = folder
        sys.path.insert(0, str(ROOT))
        found = measure()
    for name, best in found.items():
        print(f"{name:16} {best * 1000:6.0f} ms{'   too long' if best > LIMIT else ''}")
    return int(any(best > LIMIT for best in found.values()))


def measure(questions: tuple[str, ...] = QUESTIONS) -> dict[str, float]:
    """By question and slider: the shortest of several moves, in seconds of the processor."""
    from streamlit.testing.v1 import AppTest

    from ui.shell import speed

    found = {}
    for question in questions:
        app = AppTest.from_file(str(ROOT / "ui" / "main.py"), default_timeout=300)
        for name, text in {"from": "typed", "q": question, "n": "20000"}.items():
            app.query_params[name] = text
        app.switch_page(str(ROOT / "pages" / "whatif.py")).run()
        speed.settle(again=True)
        for slider, values in MOVES.items():
            found[f"{question} {slider}"] = min(moved(app, slider, value) for value in values)
    return found


def moved(app: Any, slider: str, value: str) -> float:
    before = compared(app)
    (handle,) = [one for one in app.select_slider if str(one.key).startswith(f"whatif-{slider}-")]
    handle.set_value(value)
    began = time.process_time()
    app.run()
    took = time.process_time() - began
    must(compared(app) != before, f"{slider} = {value}: the page shows what it showed before, so nothing was timed.")
    return took


def compared(app: Any) -> str:
    """The comparison of the two settings."""
    text = drawn(app, "whatif")
    must("table class='plain sides'" in text, "What-if compares nothing, so nothing was timed.")
    return text[text.index("table class='plain sides'") :]


if __name__ == "__main__":
    sys.exit(main())
