"""Commands: `python -m dpengine <command>`. Each is a module with `main(arguments) -> exit code`."""

from __future__ import annotations

import sys
from importlib import import_module

from dpengine.core.errors import AllowanceError
from dpengine.messages import say

COMMANDS: dict[str, str] = {
    "audit": "dpengine.audit.report",
    "backup": "dpengine.commands.backup",
    "fits": "dpengine.accountant.how_many_fit",
    "head": "dpengine.commands.head",
    "ledger": "dpengine.commands.ledger",
    "people": "dpengine.commands.people",
    "recover": "dpengine.commands.recover",
    "verify": "dpengine.commands.verify",
}


def main(arguments: list[str]) -> int:
    if not arguments or arguments[0] not in COMMANDS:
        print(say("command.unknown", commands=sorted(COMMANDS)), file=sys.stderr)
        return 2
    try:
        return int(import_module(COMMANDS[arguments[0]]).main(arguments[1:]))
    except AllowanceError as complaint:
        print(complaint, file=sys.stderr)
        return 2


if __name__ == "__main__":
    for stream in (sys.stdout, sys.stderr):  # a file's name may hold what a terminal cannot show
        getattr(stream, "reconfigure")(errors="replace")  # noqa: B009
    sys.exit(main(sys.argv[1:]))
