"""What the server says of an error that nobody caught: its kind and its place, never its words."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from leaks.canaries import Canary, Scan, text

ROOT = Path(__file__).resolve().parents[2]
SAYS = """
import logging, resource, sys, tempfile, threading
from pathlib import Path
sys.path.insert(0, ".")
if {quiet}:
    from ui.shell import log_privacy
    log_privacy.keep(Path({folder!r}))
    assert resource.getrlimit(resource.RLIMIT_CORE) == (0, 0)
    with tempfile.SpooledTemporaryFile(max_size=10) as file:
        file.write(b"x" * 100)
        assert tempfile.gettempdir() == {folder!r}
def fails():
    try:
        float({word!r})
    except ValueError as fault:
        raise RuntimeError("told " + {word!r}) from fault
try:
    fails()
except RuntimeError as fault:
    from streamlit.error_util import _log_uncaught_app_exception
    _log_uncaught_app_exception(fault)
    logging.getLogger("uvicorn.error").error("Exception in ASGI application", exc_info=fault)
    logging.getLogger("streamlit").warning(fault)
    logging.getLogger("streamlit").warning("because of %s", fault)
    logging.getLogger("asyncio").exception("never retrieved")
thread = threading.Thread(target=fails)
thread.start()
thread.join()
class Gone:
    def __del__(self):
        fails()
Gone()
fails()
"""


@pytest.mark.parametrize("quiet", [True, pytest.param(False, marks=pytest.mark.long)])
def test_an_uncaught_error_is_told_by_its_kind(quiet: bool, tmp_path: Path) -> None:
    canary = Canary("cell", text())
    script = SAYS.format(quiet=quiet, folder=str(tmp_path), word=canary.core)
    done = subprocess.run([sys.executable, "-c", script], cwd=ROOT, capture_output=True, check=False, timeout=500)
    said = done.stdout + done.stderr
    scan = Scan([canary])
    assert done.returncode == 1 and said.count(b"RuntimeError") >= 5
    assert bool(scan.look("log", said)) != quiet  # and without it the words are there: power


@pytest.mark.long
def test_a_run_does_not_change_where_other_threads_find_modules(tmp_path: Path) -> None:
    script = """
import sys
from streamlit import config
config._main_script_path = sys.argv[1]
from streamlit.runtime.scriptrunner.exec_code import modified_sys_path
import app
before = list(sys.path)
with modified_sys_path(str(app.app._resolve_script_path())):
    assert sys.path == before, sys.path
"""
    subprocess.run(
        [sys.executable, "-c", script, str(ROOT / "app.py")],
        cwd=ROOT,
        env=os.environ | {"ALLOWANCE_HOME": str(tmp_path)},
        check=True,
        timeout=500,
    )
