"""`python -m dpengine verify`: is the workspace's ledger whole? And `verify RECEIPT... LEDGER`: one plain line per
receipt. The exit code is 1 if something is not valid.

RECEIPT is a receipt as JSON, or a file with one on each line. LEDGER is a workspace's ledger.sqlite, a copy of it, or
the export as JSON lines; or the word ALLOWANCE_LEDGER, for the ledger in the database of that setting. (An address on
the command line would show its password to everybody on the machine.) It is only read.

`verify --kept` also compares the kept counts of large tables (statistics/kept.py) with a scan of their rows. It says
whose differ, and nothing about them.
"""

from __future__ import annotations

from contextlib import closing
from pathlib import Path

from dpengine.asking.receipts import Receipt, check, read_receipts
from dpengine.commands.backup import home_of, place_of
from dpengine.commands.ledger_places import LEDGER
from dpengine.core.errors import AllowanceError, Misused
from dpengine.ledger.chain import verify
from dpengine.ledger.exports import opened, opened_anywhere
from dpengine.ledger.store import SETTING
from dpengine.messages import say
from dpengine.workspace import Workspace


def main(arguments: list[str]) -> int:
    home, rest = place_of(arguments)
    if not rest or rest == ["--kept"]:
        folder = home_of(["--home", home])[0]
        return max(whole(folder), kept(folder) if rest else 0)
    if len(arguments) < 2 or any(argument.startswith("-") for argument in arguments):
        raise Misused
    *files, ledger = (Path(argument) for argument in arguments)
    held: list[tuple[str, Receipt]] = []
    fine = True
    for path in files:
        try:
            held += [(path.name, receipt) for receipt in read_receipts(_bytes(path), path.name)]
        except AllowanceError as complaint:
            fine = False
            print(say("verify.line.bad", file=path.name, sentence=str(complaint)))
    try:
        with opened_anywhere(ledger) if str(ledger) == SETTING else opened(ledger) as rows:
            findings = check([receipt for _, receipt in held], rows)
    except AllowanceError as complaint:
        print(complaint)
        return 1
    for (name, _), finding in zip(held, findings, strict=True):
        code = "verify.line.good" if finding.ok else "verify.line.bad"
        print(say(code, file=f"{name} {finding.name}", sentence=finding.sentence))
        fine = fine and finding.ok
    return 0 if fine else 1


def whole(home: Path) -> int:
    """Compute every row, link, sum, right and grant of the workspace's ledger again; returns the exit code."""
    with opened_anywhere(home / LEDGER) as rows:
        verdict = verify(rows)
    print(verdict.sentence)
    return 0 if verdict.ok else 1


def kept(home: Path) -> int:
    """Compare every table's kept counts with its rows; returns the exit code."""
    with closing(Workspace(home)) as workspace:
        differing = workspace.differing_counts()
    print(say("verify.kept_differ", tables=differing) if differing else say("verify.kept_agree"))
    return 1 if differing else 0


def _bytes(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except FileNotFoundError:
        raise AllowanceError("verify.missing") from None
    except OSError:
        raise AllowanceError("verify.unreadable") from None
