"""Commands: `python -m dpengine <command>`. Each is a module with `main(arguments) -> exit code`,
or names another function of it."""

from __future__ import annotations

import sys
from importlib import import_module

from dpengine.core.errors import AllowanceError, Misused
from dpengine.messages import say

COMMANDS: dict[str, str] = {
    "arrive": "dpengine.commands.move:arriving",
    "audit": "dpengine.audit.report",
    "backup": "dpengine.commands.backup",
    "fits": "dpengine.accountant.how_many_fit",
    "head": "dpengine.commands.head",
    "ledger": "dpengine.commands.ledger",
    "move": "dpengine.commands.move",
    "people": "dpengine.commands.people",
    "recover": "dpengine.commands.recover",
    "verify": "dpengine.commands.verify",
}
OWN_HELP = ("audit", "fits")  # these read their own options


def main(arguments: list[str]) -> int:
    if not arguments or arguments[0] not in COMMANDS:
        print(say("command.unknown", commands=sorted(COMMANDS)), file=sys.stderr)
        return 2
    if arguments[1:] in (["--help"], ["-h"]) and arguments[0] not in OWN_HELP:
        print(_usage(arguments[0]))
        return 0
    try:
        module, _, function = COMMANDS[arguments[0]].partition(":")
        return int(getattr(import_module(module), function or "main")(arguments[1:]))
    except Misused:
        print(_usage(arguments[0]), file=sys.stderr)
        return 2
    except AllowanceError as complaint:
        print(complaint, file=sys.stderr)
        return 2
    except PermissionError as error:
        print(say("command.forbidden", place=str(error.filename)), file=sys.stderr)
        return 2


def _usage(command: str) -> str:
    from dpengine.ledger.store import SETTING  # imports numpy, which a refusal does without

    return say(f"{command}.usage", setting=SETTING)


if __name__ == "__main__":
    for stream in (sys.stdout, sys.stderr):  # a file's name may hold what a terminal cannot show
        getattr(stream, "reconfigure")(errors="replace")  # noqa: B009
    sys.exit(main(sys.argv[1:]))
