"""`python -m dpengine people`: who may do what in a workspace where people sign in, and who its administrators are.

The first administrator makes a workspace *served*: from then on every act in it needs a right, from pages and the API
alike. Everything named and withdrawn here becomes a row of the ledger, written by the operator.
"""

from __future__ import annotations

import sys
from contextlib import closing
from pathlib import Path

from dpengine.commands.backup import home_of, place_of
from dpengine.core.errors import AllowanceError, Misused
from dpengine.ledger.people_rules import ADMINISTRATOR, AUDITOR, BARRED, OPERATOR, OWNER
from dpengine.messages import say
from dpengine.people.home import today
from dpengine.workspace import Workspace

_NAMED = {f"--{role}": role for role in (ADMINISTRATOR, AUDITOR, OWNER)}


def main(arguments: list[str]) -> int:
    home, rest = place_of(arguments)
    folder, rest = (Path(home).resolve(), rest) if rest[:1] == [f"--{ADMINISTRATOR}"] else home_of(arguments)
    with closing(Workspace(folder)) as workspace:
        if not rest:
            return listed(workspace)
        if rest[0] in _NAMED and len(rest) in (3, 4):
            person = workspace.person(*rest[1:])
            workspace.ledger.name_role(person, _NAMED[rest[0]], OPERATOR)
            print(say("people.named", person=person))
            return 0
        if rest[0] in ("--withdraw", "--readmit") and len(rest) == 2:
            person = _known(workspace, rest[1])
            workspace.ledger.name_role(person, BARRED, OPERATOR, on=rest[0] == "--withdraw")
            workspace.token_book.revoke_all(person)
            print(say("people.withdrawn" if rest[0] == "--withdraw" else "people.readmitted", person=person))
            return 0
        if rest[0] in ("--token", "--metrics-token") and len(rest) >= 3:
            until, tables = _until(rest[3:])
            return token(workspace, _known(workspace, rest[1]), rest[2], tables, rest[0] == "--metrics-token", until)
        if rest[0] == "--revoke" and len(rest) == 2 and workspace.token_book.find(rest[1]) is not None:
            workspace.token_book.revoke(rest[1])
            print(say("people.token_revoked", token=rest[1]))
            return 0
    raise Misused


def _until(rest: list[str]) -> tuple[str, list[str]]:
    """The last day and the tables of a new token, from the arguments; "" for no day."""
    return (rest[1], rest[2:]) if rest[:1] == ["--until"] and len(rest) > 1 else ("", rest)


def token(workspace: Workspace, person: str, name: str, tables: list[str], metrics: bool, until: str) -> int:
    """Create a token with a person's rights and print it, alone, on the standard output."""
    shown, record = workspace.as_person(person).new_token(name, tables, metrics, until)
    print(say("people.token_made", token=record.id, person=person, day=record.until), file=sys.stderr)
    print(shown)
    return 0


def listed(workspace: Workspace) -> int:
    if not workspace.served:
        print(say("people.none"))
        return 0
    with workspace.ledger.people() as book:
        for person in workspace.people():
            words = []
            for role in book.roles_of(person.id):
                code = "people.line.table" if role.table else "people.line.role"
                words.append(say(code, role=role.role, table=role.table))
            grants = [grant for grant in book.grants_to(person.id) if grant.live(today())]
            words += [say("people.line.grant", share=grant.share * 100, table=grant.table) for grant in grants]
            words += [say("people.line.group", group=group[2:]) for group in book.groups_of(person.id)]
            print(say("people.line", person=person.id, name=person.shown, roles=", ".join(words) or "–"))
    return 0


def _known(workspace: Workspace, start: str) -> str:
    matching = [person.id for person in workspace.people() if person.id.startswith(start)]
    if len(matching) != 1:
        raise AllowanceError("people.not_known", person=start)
    return matching[0]
