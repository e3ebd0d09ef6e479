"""Reads a file of a foreign format in a process of its own, with bounded memory and time.

Spreadsheets and statistics files are read by libraries that we did not write. A damaged or hostile file can make such a
reader take all memory, run without end or crash. Here that ends one small process and becomes one refusal. The process
gets the file's path and the declared dialect, and writes rows as text into a Parquet file; it has no key, no ledger and
no other table. Memory is bounded where the system can bound it (not on Windows).
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from dpengine.core.errors import AllowanceError
from dpengine.core.types import Json, JsonObject

MOST_MEMORY = 4 << 30  # bytes of address space
MOST_SECONDS = 1_800
_ROOT = str(Path(__file__).resolve().parents[2])
_START = "import sys; sys.path.insert(0, sys.argv[1]); from dpengine.intake.file_process import main; main()"
# What a process needs to start; nothing else of the environment is passed on.
_PASSED = ("PATH", "SYSTEMROOT", "TEMP", "TMP", "TMPDIR", "LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH")


def run(work: str, given: JsonObject, progress: Callable[[float], None] | None = None) -> Json:
    """Do `work` (a function of foreign_records.py) in a process, and return what it returns. A refusal there is raised
    here; a process that crashes, or takes too much memory or time, is refused too."""
    environment = {name: os.environ[name] for name in _PASSED if name in os.environ}
    command = [sys.executable, "-I", "-c", _START, _ROOT]
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.DEVNULL}  # errors quote cells
    started = subprocess.Popen(command, env=environment, encoding="utf-8", **pipes)  # type: ignore[call-overload]
    with started as process, _ended(process):
        with suppress(BrokenPipeError):
            process.stdin.write(json.dumps({"work": work, "given": given}))
            process.stdin.close()
        for line in process.stdout:
            told = _read(line)
            if "share" in told and progress is not None:
                progress(float(told["share"]))
            if "done" in told:
                return told["done"]
            if "refused" in told:
                raise AllowanceError(told["refused"], **told["facts"])
    raise AllowanceError("load.heavy")


@contextmanager
def _ended(process: subprocess.Popen[str]) -> Iterator[None]:
    """Whatever happens, the process ends with the work, at the latest after MOST_SECONDS."""
    timer = threading.Timer(MOST_SECONDS, process.kill)
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()
        process.kill()


def _read(line: str) -> JsonObject:
    try:
        told = json.loads(line)
    except ValueError:
        return {}
    return told if isinstance(told, dict) else {}


# --- in the process


def main() -> None:
    """Read one job from standard input, do it, and write the result as a line of JSON."""
    _limit()
    told, sys.stdout = sys.stdout, sys.stderr  # a library may print
    from dpengine.intake import foreign_records

    def tell(what: JsonObject) -> None:
        told.write(json.dumps(what) + "\n")
        told.flush()

    asked = json.loads(sys.stdin.read())
    try:
        work = getattr(foreign_records, asked["work"])
        tell({"done": work(lambda share: tell({"share": share}), **asked["given"])})
    except AllowanceError as refusal:
        facts = {name: list(fact) if isinstance(fact, tuple) else fact for name, fact in refusal.facts.items()}
        tell({"refused": refusal.code, "facts": facts})
    except MemoryError:
        tell({"refused": "load.heavy", "facts": {}})


def _limit() -> None:
    with suppress(ImportError, ValueError, OSError):
        import resource

        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))  # a core dump would hold rows
        resource.setrlimit(resource.RLIMIT_AS, (MOST_MEMORY, MOST_MEMORY))
