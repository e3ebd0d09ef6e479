"""`make workshop`: the app for a room. Prints the address, also as a QR code, and the instructor's code; then serves.

The workspace is a temporary folder that accepts only the bundled samples and is deleted at the end. The code is created
here, passed to the server in its environment, and written nowhere. This machine's own address comes from its routing
table: nothing is sent, and no host is asked.
"""

from __future__ import annotations

import argparse
import os
import signal
import socket
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

import segno

from dpengine.core import places
from dpengine.messages import say
from ui.shell.gate import ORIGIN
from ui.shell.workshop_state import ADDRESS, CODE, new_code

ROOT = Path(__file__).resolve().parents[2]
ALONE = "127.0.0.1"
_PORT = 8501
_ANYWHERE = ("192.0.2.1", 9)  # an address reserved for documentation: a datagram socket only chooses a route to it


def own_address() -> str:
    """This machine's address on the network; its loopback address if there is no network."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        try:
            probe.connect(_ANYWHERE)
            return str(probe.getsockname()[0])
        except OSError:
            return ALONE


def free(host: str, port: int) -> bool:
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((host, port))
        except OSError:
            return False
    return True


def command(host: str, port: int, more: Sequence[str] = ()) -> list[str]:
    """The command that starts Streamlit, with `more` options, on all of this machine's addresses. ui/shell/gate.py
    decides which origins it answers: the one in ORIGIN, and those at which a connection really arrives. No other site
    can point its own name at this machine."""
    run = [sys.executable, "-m", "streamlit", "run", "app.py"]
    where = ["--server.address=0.0.0.0", f"--server.port={port}", f"--browser.serverAddress={host}"]
    quiet = ["--server.headless=true", "--server.maxUploadSize=1", "--logger.hideWelcomeMessage=true"]
    return [*run, *where, *quiet, *more]


def invitation(address: str, code: str) -> str:
    """The text to print. The code is for the instructor only, so it is not in the QR code."""
    picture = segno.make(f"{address}/wall", micro=False)
    lines = [say("workshop.started"), "", _drawn(picture), say("workshop.go", address=f"{address}/wall")]
    lines.append(say("workshop.told_code", code=code))
    if ALONE in address:
        lines.append(say("workshop.alone"))
    return "\n".join([*lines, say("workshop.stop"), ""])


def _drawn(picture: segno.QRCode) -> str:
    """The QR code as text: two of its rows in one line, dark on light in any terminal."""
    rows = [list(row) for row in picture.matrix_iter(border=2)]
    rows += [[0] * len(rows[0])] * (len(rows) % 2)
    blocks = {(0, 0): "█", (0, 1): "▀", (1, 0): "▄", (1, 1): " "}  # light is drawn, dark is left blank
    pairs = zip(rows[::2], rows[1::2], strict=True)
    lines = ("".join(blocks[bool(above), bool(below)] for above, below in zip(*pair, strict=True)) for pair in pairs)
    return "\n".join(f"\x1b[97;40m{line}\x1b[0m" for line in lines)


def main(given: list[str] | None = None) -> int:
    """Print the invitation and start the app; return the exit status. Options for the address are Streamlit's, and all
    others are passed on to Streamlit."""
    parser = argparse.ArgumentParser(prog="allowance workshop", allow_abbrev=False)
    addresses = ("--address", "--server.address", "--browser.serverAddress")
    parser.add_argument(*addresses, dest="address", help="the address others reach this machine at")
    parser.add_argument("--port", "--server.port", dest="port", type=int, default=_PORT)
    asked, more = parser.parse_known_args(given)
    host = own_address() if asked.address in (None, "0.0.0.0") else asked.address
    if not free(host, 0):
        print(say("workshop.bad_address", address=host), file=sys.stderr)
        return 2
    if not free("0.0.0.0", asked.port):
        print(say("workshop.port", port=str(asked.port), other=str(asked.port + 1)), file=sys.stderr)
        return 2
    return serve(host, asked.port, more)


def serve(host: str, port: int, more: Sequence[str] = ()) -> int:
    address, code = f"http://{host}:{port}", new_code()
    with tempfile.TemporaryDirectory(prefix="allowance-workshop-") as home:
        own = {CODE: code, ADDRESS: address, ORIGIN: address, places.SETTING: str(Path(home) / "workspace")}
        print(invitation(address, code), flush=True)
        server = subprocess.Popen(command(host, port, more), cwd=ROOT, env=os.environ | own, stdin=subprocess.DEVNULL)
        signal.signal(signal.SIGTERM, lambda *_: server.terminate())
        try:
            return server.wait()
        except KeyboardInterrupt:  # the server got it too
            server.terminate()
            server.wait()
            return 0


if __name__ == "__main__":
    sys.exit(main())
