"""Stopping a server as systemd and containers do (SIGTERM): a question that is under way is answered and stored."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest

from dpengine.workspace import Workspace

ROOT = Path(__file__).resolve().parents[2]
SERVER = """
import sys, threading, time
from contextlib import asynccontextmanager
import uvicorn
from starlette.applications import Starlette
from ui.auth import setup
from ui.shell import person
from dpengine.workspace import open_workspace
space = open_workspace(sys.argv[1])
table = space.table("town")
read, begun = space.read, threading.Event()

def slowly(*given):
    begun.set()
    time.sleep(3)
    return read(*given)

space.read = slowly
table.submit(table.query("mean", column="age", epsilon="0.1"), request_id="a" * 32)
begun.wait()

person.serve()

@asynccontextmanager
async def inner(app):
    print("under way", flush=True)
    yield

app = Starlette(lifespan=setup.finishing(inner))
uvicorn.run(app, port=0, log_level="critical")
"""


@pytest.mark.long
def test_a_question_under_way_is_answered_before_the_server_ends(tmp_path: Path) -> None:
    command = [sys.executable, "-c", SERVER, str(tmp_path / "var")]
    env = {**os.environ, "PYTHONPATH": str(ROOT)}
    with subprocess.Popen(command, env=env, stdout=subprocess.PIPE, text=True) as server:
        assert server.stdout is not None and server.stdout.readline() == "under way\n"
        server.send_signal(signal.SIGTERM)
        server.wait(timeout=200)
    with closing(Workspace(tmp_path / "var")) as space:
        assert space.job("a" * 32).state == "done"
