"""Where the sample tables are, and the folder with the tables and the ledger.

In a checkout both lie beside the code: `data/` and `var/`. An installed package has the samples inside, and the folder
is the user's own for data of programs: %LOCALAPPDATA%, ~/Library/Application Support or ~/.local/share.
"""

from __future__ import annotations

import os
from functools import cache
from pathlib import Path

SETTING = "ALLOWANCE_HOME"  # names another folder
LEDGER = "ALLOWANCE_LEDGER"  # names a database for the ledger
_ENGINE = Path(__file__).resolve().parents[1]
_CHECKOUT = _ENGINE.parent if (_ENGINE.parent / "data" / "make_samples.py").is_file() else None
SAMPLES = _ENGINE / "samples" if _CHECKOUT is None else _CHECKOUT / "data"


def home() -> Path:
    if named := os.environ.get(SETTING):
        return _path(named)
    return _usual()


@cache
def _usual() -> Path:
    if _CHECKOUT is not None:
        return _CHECKOUT / "var"
    from platformdirs import user_data_path

    return user_data_path("Allowance", appauthor=False)


@cache
def _path(named: str) -> Path:
    """The same path each time: pages ask for it some thirty times a click, and a new one is hashed anew."""
    return Path(named)


def empty() -> bool:
    """Has the app's folder never held a workspace? A mere start leaves no more than `tmp` in it. False if the
    environment names a database for the ledger."""
    try:
        return not os.environ.get(LEDGER) and all(path.name == "tmp" for path in home().iterdir())
    except FileNotFoundError:
        return True
    except OSError:
        return False
