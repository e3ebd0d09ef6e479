"""After all journeys: the server has told nobody anything but where it listens."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from browser.steps import go

SAID = re.compile(
    r"\s*|  You can now view your Streamlit app in your browser\.|  URL: http://(localhost|127\.0\.0\.1):\d+\s*"
    # Streamlit, when a waiting page is left while its clock ticks:
    r"|[\d:. -]+ The fragment with id [0-9a-f]+ does not exist anymore - it might have been removed during .*"
)


def test_the_log_holds_no_traceback_and_no_data(page: Any, server: Any, server_log: Path) -> None:
    go(page)  # alone, this test would look at the log of a server that was never used
    said = server_log.read_text(encoding="utf-8", errors="replace")
    assert "Traceback" not in said, said[-4000:]
    other = [line for line in said.splitlines() if not SAID.fullmatch(line)]
    assert not other, other
