"""The command `allowance`: opens the app, or does what a verb says.

The app's own packages (ui, pages, demos) lie inside this one, so that nothing else in an environment can have their
names; a checkout has them beside it. A running app writes its address into its folder and holds a lock there, which the
kernel releases when the app ends: a second start on the same folder opens a browser on the running app.
"""

from __future__ import annotations

import os
import socket
import sys
import time
import urllib.request
import webbrowser
from collections.abc import Sequence
from pathlib import Path

from allowance import __version__

_HERE = Path(__file__).resolve().parent
BASE = _HERE if (_HERE / "app.py").is_file() else _HERE.parent
PORT = 8501
_PORTS = 20  # how many are tried
_PATIENCE = 60.0  # seconds for a started app to answer


def main(given: Sequence[str] | None = None) -> int:
    words = list(sys.argv[1:] if given is None else given)
    if words[:1] in (["--version"], ["-V"]):
        print(f"allowance {__version__}")
        return 0
    for stream in (sys.stdout, sys.stderr):  # a name may hold what a terminal cannot show
        getattr(stream, "reconfigure", lambda **_: None)(errors="replace")
    if (place := _taken(words, "--home")) is not None:
        os.environ["ALLOWANCE_HOME"] = str(Path(place).resolve())
    if str(BASE) not in sys.path:
        sys.path.insert(0, str(BASE))
    from dpengine.__main__ import COMMANDS
    from dpengine.__main__ import main as command
    from dpengine.messages import say

    if words[:1] in (["--help"], ["-h"], ["help"]):
        print(say("cli.help", commands=", ".join(sorted(COMMANDS))))
        return 0
    if words[:1] == ["workshop"]:
        from ui.workshop import invite

        return invite.main(words[1:])
    if words[:1] == ["serve"]:
        return serve(words[1:])
    if not words or words[0].startswith("--"):
        return opened(words)
    if words[0] not in COMMANDS:
        print(say("command.unknown", commands=sorted([*COMMANDS, "workshop", "serve"])), file=sys.stderr)
        return 2
    return command(words)


def opened(more: Sequence[str]) -> int:
    """Open the app in a browser, on this machine alone; start the app first if none runs on this folder. Returns the
    exit status."""
    from dpengine.core import files, places
    from dpengine.messages import say

    home = places.home().resolve()
    note = home / "tmp" / "app.address"
    try:
        note.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        with files.locked(note.with_suffix(".lock"), wait=False) as alone:
            if not alone:
                return _shown(note)
            port = _taken(more := list(more), "--server.port") or str(free_port())
            note.write_text(f"http://localhost:{port}", encoding="utf-8")
            print(say("cli.starting", place=str(home), address=f"http://localhost:{port}"), flush=True)
            return run([f"--server.port={port}", *more])
    except OSError:
        print(say("cli.home", place=str(home)), file=sys.stderr)
        return 2


def serve(words: list[str]) -> int:
    """Serve people who sign in, behind a proxy, as a configuration says (docs/serving.md). Returns the exit status."""
    from dpengine.messages import say

    if words and not words[0].startswith("-"):
        os.environ["ALLOWANCE_SERVE"] = str(Path(words.pop(0)).resolve())
    if not os.environ.get("ALLOWANCE_SERVE"):
        print(say("cli.serve"), file=sys.stderr)
        return 2
    os.environ["FORWARDED_ALLOW_IPS"] = ""
    return run(["--server.headless=true", f"--server.port={PORT}", *words])


def run(options: Sequence[str]) -> int:
    """Run Streamlit in this process, with the settings in the app's own folder. Returns the exit status."""
    import gc

    gc.disable()  # until everything is imported (app.py)
    from streamlit.web.cli import main as streamlit

    os.chdir(BASE)
    try:
        streamlit(["run", str(BASE / "app.py"), *options], standalone_mode=False)
    except SystemExit as ended:
        if isinstance(ended.code, str):
            print(ended.code, file=sys.stderr)
        return ended.code if isinstance(ended.code, int) else int(ended.code is not None)
    return 0


def free_port() -> int:
    """A port that is free on this machine: the usual one, else one near the usual one, else any."""
    for port in (*range(PORT, PORT + _PORTS), 0):
        with socket.socket() as probe:
            if os.name != "nt":  # there it would share a port that is taken
                probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                probe.bind(("127.0.0.1", port))
            except OSError:
                continue
            return int(probe.getsockname()[1])
    raise AssertionError


def _shown(note: Path) -> int:
    from dpengine.messages import say

    deadline = time.monotonic() + _PATIENCE
    while time.monotonic() < deadline:
        try:
            address = note.read_text(encoding="utf-8")
            with urllib.request.urlopen(f"{address}/_stcore/health", timeout=5) as answer:
                if answer.status == 200:
                    print(say("cli.running", address=address), flush=True)
                    webbrowser.open(address)
                    return 0
        except (OSError, ValueError):
            pass
        time.sleep(0.2)
    print(say("cli.silent"), file=sys.stderr)
    return 1


def _taken(words: list[str], option: str) -> str | None:
    """Take an option out of the words, written as `--home X` or `--home=X`; returns its value, or None."""
    for place, word in enumerate(words):
        if word == option and place + 1 < len(words):
            del words[place]
            return words.pop(place)
        if word.startswith(f"{option}="):
            return words.pop(place).partition("=")[2]
    return None
