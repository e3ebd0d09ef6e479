"""A Postgres of our own: in a temporary folder, on a free port of this machine, stopped and removed afterwards.

`python -m tests.engines.postgres_server` starts one, prints its address, and stops it at Ctrl-C.
"""

from __future__ import annotations

import os
import pwd
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path

import psycopg

USER, PASSWORD = "allowance", "not a secret, only a test"
LIMIT = 120.0  # seconds, on a machine that is busy with something else
SETTINGS = {
    "listen_addresses": "127.0.0.1",
    "fsync": "on",
    "shared_buffers": "128MB",
    "max_connections": "120",
    "log_statement": "all",  # what the database is asked can be read in `log`
    "log_destination": "stderr",
}


def program(name: str) -> str:
    """Debian keeps the server's programs out of PATH."""
    there = [*Path("/usr/lib/postgresql").glob(f"*/bin/{name}")]
    newest = max(there, key=lambda path: int(path.parts[-3].split(".")[0]), default=None)
    found = shutil.which(name) if newest is None else str(newest)
    assert found, f"there is no {name}. On Debian: apt-get install postgresql"
    return found


@dataclass
class PostgresServer:
    folder: Path
    port: int
    settings: dict[str, str]
    process: subprocess.Popen[bytes] | None = None
    _numbers: Iterator[int] = field(default_factory=count)

    @property
    def log(self) -> Path:
        return self.folder / "log"

    def url(self, database: str = "postgres", user: str = USER, password: str = PASSWORD) -> str:
        return f"postgresql://{user}:{password.replace(' ', '%20')}@127.0.0.1:{self.port}/{database}"

    def database(self, more: str = "") -> str:
        """The address of a new, empty database, which Postgres makes with `more` settings."""
        name = f"test_{next(self._numbers)}"
        with psycopg.connect(self.url(), autocommit=True) as connection:
            connection.execute(f"CREATE DATABASE {name} {more}")
        return self.url(name)

    def start(self) -> None:
        options = [word for name, value in self.settings.items() for word in ("-c", f"{name}={value}")]
        with self.log.open("ab") as said:
            self.process = subprocess.Popen(
                [program("postgres"), "-D", str(self.folder / "data"), "-p", str(self.port), "-k", "", *options],
                stdin=subprocess.DEVNULL,
                stdout=said,
                stderr=said,
                **_as_nobody_special(),
            )
        deadline = time.monotonic() + LIMIT
        while True:
            try:
                psycopg.connect(self.url(), connect_timeout=5).close()
                return
            except psycopg.OperationalError:
                assert self.process.poll() is None and time.monotonic() < deadline, self.log.read_text()[-3000:]
                time.sleep(0.1)

    def stop(self, how: signal.Signals = signal.SIGINT) -> None:
        """SIGINT ends connections and shuts down in order; SIGKILL is a fault."""
        if self.process is not None and self.process.poll() is None:
            self.process.send_signal(how)
            self.process.wait(LIMIT)
        self.process = None


def _as_nobody_special() -> dict[str, int | list[int]]:
    """Postgres refuses to run as root: then as the user that its package made."""
    if os.getuid() != 0:
        return {}
    user = pwd.getpwnam("postgres")
    return {"user": user.pw_uid, "group": user.pw_gid, "extra_groups": []}


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@contextmanager
def running(**settings: str) -> Iterator[PostgresServer]:
    folder = Path(tempfile.mkdtemp(prefix="allowance-postgres-"))
    server = PostgresServer(folder, free_port(), SETTINGS | settings)
    try:
        (folder / "password").write_text(PASSWORD)
        if os.getuid() == 0:
            user = pwd.getpwnam("postgres")
            for path in (folder, folder / "password"):
                os.chown(path, user.pw_uid, user.pw_gid)
        kind = ["-A", "scram-sha-256", "-E", "UTF8", "--locale=C.UTF-8", f"--pwfile={folder / 'password'}"]
        subprocess.run(
            [program("initdb"), "-D", str(folder / "data"), "-U", USER, *kind],
            check=True,
            cwd=folder,
            stdout=subprocess.DEVNULL,
            **_as_nobody_special(),
        )
        server.start()
        yield server
    finally:
        server.stop()
        shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    with running() as started:
        print(started.url(), flush=True)
        signal.sigwait([signal.SIGINT, signal.SIGTERM])
