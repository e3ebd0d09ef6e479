"""Sparks of our own, as processes of this machine: a master with two workers (`spark://`), and a Spark Connect server
(`sc://`). The first by the commands that deploy/compose.spark.yaml gives its containers, with other names and ports.
Stopped and removed afterwards.

`python -m engines.spark_processes cluster` (in tests/) starts one, prints its address, and stops it at Ctrl-C;
`connect` in place of `cluster` is the other.
"""

from __future__ import annotations

import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pyspark
import yaml
from engines.postgres_server import LIMIT, free_port

HOME = Path(pyspark.__file__).parent
RUN = Path(sys.executable).parent / "spark-class"  # as the image finds it in its PATH
COMPOSE = Path(__file__).resolve().parents[2] / "deploy" / "compose.spark.yaml"
CONNECT = "org.apache.spark.sql.connect.service.SparkConnectServer"
CONF = Path(__file__).parent / "spark_conf"  # small: for two workers on a machine that does other things too
QUIET = {"spark.ui.enabled": "false", "spark.log.level": "ERROR"}


def environment() -> dict[str, str]:
    """On this machine alone, with the Python that runs the tests and what it finds."""
    here = {
        "SPARK_CONF_DIR": str(CONF),
        "SPARK_HOME": str(HOME),
        "SPARK_LOCAL_IP": "127.0.0.1",
        "PYSPARK_PYTHON": sys.executable,
    }
    return os.environ | here | {"PYTHONPATH": os.pathsep.join(one for one in sys.path if one)}


@contextmanager
def process(folder: Path, name: str, *words: str) -> Iterator[None]:
    """One that runs in a group of its own, so that what it starts ends with it."""
    with (folder / f"{name}.log").open("wb") as said:
        started = subprocess.Popen(
            words,
            cwd=folder,
            env=environment(),
            stdin=subprocess.DEVNULL,
            stdout=said,
            stderr=said,
            start_new_session=True,
        )
    try:
        yield
    finally:
        os.killpg(started.pid, signal.SIGTERM)
        try:
            started.wait(20)
        except subprocess.TimeoutExpired:
            os.killpg(started.pid, signal.SIGKILL)
            started.wait()


def await_port(port: int, log: Path) -> None:
    deadline = time.monotonic() + LIMIT
    while True:
        try:
            socket.create_connection(("127.0.0.1", port), 5).close()
            return
        except OSError:
            assert time.monotonic() < deadline, log.read_text()[-3000:]
            time.sleep(0.2)


@contextmanager
def temporary() -> Iterator[Path]:
    folder = Path(tempfile.mkdtemp(prefix="allowance-spark-"))
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def command(service: str, port: int, folder: Path) -> list[str]:
    """That of a service of the compose file, on this machine."""
    words = yaml.safe_load(COMPOSE.read_text(encoding="utf-8"))["services"][service]["command"]
    own = {"spark": "127.0.0.1", "7077": str(port), "spark://spark:7077": f"spark://127.0.0.1:{port}"}
    own |= {"spark-class": str(RUN), "/tmp/work": str(folder)}
    assert set(words) & set(own), words
    return [own.get(word, word) for word in words]


@contextmanager
def cluster() -> Iterator[tuple[str, list[Path]]]:
    """The address of a master, and the folders that its two workers work in."""
    port = free_port()
    with temporary() as folder, ExitStack() as started:
        master = [*command("spark", port, folder), "--webui-port", "0"]
        started.enter_context(process(folder, "master", *master))
        await_port(port, folder / "master.log")
        workers = [folder / "spark-worker-1", folder / "spark-worker-2"]
        for worker in workers:
            small = ["--host", "127.0.0.1", "--webui-port", "0", "-c", "1", "-m", "700m"]
            started.enter_context(process(folder, worker.name, *command(worker.name, port, worker), *small))
        yield f"spark://127.0.0.1:{port}", workers


@contextmanager
def connect_server() -> Iterator[str]:
    port = free_port()
    settings = QUIET | {
        "spark.connect.grpc.binding.address": "127.0.0.1",
        "spark.connect.grpc.binding.port": str(port),
        "spark.sql.shuffle.partitions": "2",
        "spark.driver.host": "127.0.0.1",
        "spark.driver.bindAddress": "127.0.0.1",
    }
    more = [word for name, value in settings.items() for word in ("--conf", f"{name}={value}")]
    with temporary() as folder:
        run = [str(HOME / "bin" / "spark-submit"), "--master", "local[2]", *more, "--class", CONNECT, "spark-internal"]
        with process(folder, "connect", *run):
            await_port(port, folder / "connect.log")
            yield f"sc://127.0.0.1:{port}"


if __name__ == "__main__":
    with cluster() if sys.argv[1:] == ["cluster"] else connect_server() as found:
        print(found[0] if isinstance(found, tuple) else found, flush=True)
        signal.sigwait([signal.SIGINT, signal.SIGTERM])
