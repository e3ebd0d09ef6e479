"""Programs that are killed in the middle of what they do, at a place that can be named.

A clean process (the *stage*) has imported everything and started no thread; for each run it forks a child that plays
one scene on a workspace folder and kills itself, with SIGKILL, at the n-th point of a kind:

    effect   just before each statement of SQLite but SELECT, each call that opens, makes, renames, removes or locks a
             file, and each draw of noise. Between two of them nothing outside the process changes, so these are all
             the states that a kill can leave, but for those inside one statement or one write of a library;
    inside   within SQLite's statements, every few steps of its machine;
    line     before each line of the engine's own code;
    moment   after so many seconds, by the stage, wherever it is.

`Stage.play` says what the child told before it died; `Stage.check` opens the folder again in another child.
"""

from __future__ import annotations

import json
import os
import signal
import sqlite3
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent.parent
EFFECTS = frozenset(
    "open os.mkdir os.rename os.remove os.rmdir os.link os.chmod os.truncate os.replace os.unlink fcntl.flock"
    " sqlite3.connect shutil.rmtree shutil.copyfile".split()
)
KINDS = ("effect", "inside", "line")


class Stage:
    """The parent's end."""

    def __init__(self) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-W", "ignore", "-m", "tests.faults.stage"],
            cwd=ROOT,
            text=True,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env={**os.environ, "PYTHONPATH": f"{ROOT}:{ROOT / 'tests'}"},
        )

    def close(self) -> None:
        assert self._process.stdin is not None and self._process.stdout is not None
        self._process.stdin.close()
        self._process.wait()
        self._process.stdout.close()

    def play(
        self, scene: str, folder: Path, kind: str = "effect", at: float | None = None, plant: str = ""
    ) -> tuple[list[list[Any]], bool, int]:
        """What was told, whether it was killed, and how many points it passed."""
        told = self._ask({"scene": scene, "folder": str(folder), "kind": kind, "at": at, "plant": plant})
        lines = [line for line in told["told"] if line[0] != "passed"]
        assert not any(line[0] == "broken" for line in lines), lines
        passed = [line[1] for line in told["told"] if line[0] == "passed"]
        return lines, told["signal"] == signal.SIGKILL, passed[0] if passed else 0

    def check(self, scene: str, folder: Path, plant: str = "") -> dict[str, Any]:
        lines, killed, _ = self.play(f"check:{scene}", folder, plant=plant)
        assert not killed and lines and lines[-1][0] == "checked", lines
        return lines[-1][1] | {"again": [line for line in lines if line[0] in ("asking", "draw")]}

    def _ask(self, order: dict[str, Any]) -> dict[str, Any]:
        assert self._process.stdin is not None and self._process.stdout is not None
        self._process.stdin.write(json.dumps(order) + "\n")
        self._process.stdin.flush()
        answer: dict[str, Any] = json.loads(self._process.stdout.readline())
        return answer


# --- the stage's own end ----------------------------------------------------------------------------------------------


def _serve() -> None:
    # What a question would import late: it costs the children time, and reading a module is no step of a release.
    import asyncio  # noqa: F401

    import ibis.backends.duckdb  # noqa: F401
    import opendp.domains
    import opendp.measurements
    import opendp.mod  # noqa: F401
    import pandas  # noqa: F401
    import pyarrow.pandas_compat  # noqa: F401

    from tests.faults import scenes

    for line in sys.stdin:
        order = json.loads(line)
        receive, send = os.pipe()
        pid = os.fork()
        if not pid:
            os.close(receive)
            _play(order, send, scenes)
        os.close(send)
        if order["kind"] == "moment" and order["at"] is not None:
            time.sleep(order["at"])
            os.kill(pid, signal.SIGKILL)
        with os.fdopen(receive) as pipe:
            told = [json.loads(one) for one in pipe.read().splitlines(keepends=True) if one.endswith("\n")]
        _, status = os.waitpid(pid, 0)
        print(json.dumps({"told": told, "signal": os.WTERMSIG(status) if os.WIFSIGNALED(status) else 0}), flush=True)


def _play(order: dict[str, Any], send: int, scenes: Any) -> None:
    def tell(*words: Any) -> None:
        os.write(send, (json.dumps(words) + "\n").encode())

    passed = 0
    lock = threading.Lock()
    main = os.getpid()

    def point(*_: Any) -> None:
        nonlocal passed
        with lock:
            passed += 1
            if order["at"] is not None and order["kind"] != "moment" and passed == order["at"]:
                os.kill(main, signal.SIGKILL)

    def draw() -> None:
        if order["kind"] == "effect":
            point()
        tell("draw")  # told before the noise is drawn

    try:
        scenes.PLANTS[order["plant"]]()
        _install(order["kind"], point, order["folder"])
        scenes.play(order["scene"], Path(order["folder"]), tell, draw)
        sys.settrace(None)
        threading.settrace(None)  # type: ignore[arg-type]
        tell("passed", passed)
    except BaseException as error:
        import traceback

        tell("broken", type(error).__name__, traceback.format_exc()[-1500:])
    finally:
        os._exit(0)


def _install(kind: str, point: Callable[..., None], folder: str) -> None:
    if kind == "line":

        def local(frame: Any, event: str, _: Any) -> Any:
            if event == "line":
                point()
            return local

        def trace(frame: Any, event: str, _: Any) -> Any:
            return local if "/dpengine/" in frame.f_code.co_filename else None

        threading.settrace(trace)
        sys.settrace(trace)
        return
    connect, before = sqlite3.connect, [""]

    def statement(sql: str) -> None:
        if not sql.lstrip().upper().startswith("SELECT") and sql != before[0]:  # told again for each trigger it starts
            point()
        before[0] = sql

    def connecting(*args: Any, **named: Any) -> sqlite3.Connection:
        made: sqlite3.Connection = connect(*args, **named)
        if kind == "effect":
            made.set_trace_callback(statement)
        elif kind == "inside":
            made.set_progress_handler(point, 10)
        return made

    sqlite3.connect = connecting  # type: ignore[assignment]
    if kind == "effect":
        near = str(Path(folder).parent)  # files elsewhere are not what a kill may spoil

        def heard(event: str, told: tuple[Any, ...]) -> None:
            if event in EFFECTS and (event != "open" or str(told[0]).startswith(near)):
                point()

        sys.addaudithook(heard)


if __name__ == "__main__":
    _serve()
