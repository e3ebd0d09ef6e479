"""The people of a ledger, read from its rows through its indexes: inside a transaction by writers, at any moment by
readers. Nothing is kept in memory, so what was taken back counts at once."""

from __future__ import annotations

import json
from fractions import Fraction

from dpengine.accountant.filter import Totals
from dpengine.core.types import JsonObject
from dpengine.ledger import owner_rows, people_rules
from dpengine.ledger.people_rules import NO, OWNER, Decision, Grant, HolderPart, Role, ShareRequest, is_group
from dpengine.ledger.rows import NO_ROW, BudgetRecord, Charge, Standing, Sums, standing_from, sums_of
from dpengine.ledger.sqlite_file import sound_rows
from dpengine.ledger.store import Database

_UNDER = "kind = 'charge' AND json_extract(body, '$.under') IS NOT NULL"  # exactly as in the indexes, or they go unused
_PERSON, _ROLE, _TABLE = (f"json_extract(body, '$.{name}')" for name in ("person", "role", "table"))
_TO, _GROUP = "json_extract(body, '$.to')", "json_extract(body, '$.group')"
_TERMS = "kind IN ('limit', 'agreement', 'wish')"
_LAST = "ORDER BY seq DESC LIMIT 1"

_ANY_ROLE = "SELECT seq FROM entries WHERE kind = 'role' LIMIT 1"
_ONE_ROLE = f"SELECT * FROM entries WHERE kind = 'role' AND {_PERSON} = ? AND {_ROLE} = ? AND {_TABLE} = ? {_LAST}"
_ROLES_OF = f"SELECT * FROM entries WHERE kind = 'role' AND {_PERSON} = ? ORDER BY seq"
_ALL_ROLES = "SELECT * FROM entries WHERE kind = 'role' ORDER BY seq"
_OWNERS_ON = (  # reads only the roles: SQLite would walk all rows
    f"SELECT * FROM entries INDEXED BY owners_of WHERE kind = 'role' AND {_ROLE} = 'owner' AND budget = ? ORDER BY seq"
)
_OWNED = f"SELECT * FROM entries WHERE kind = 'role' AND {_ROLE} = 'owner' AND {_TABLE} = ? ORDER BY seq LIMIT 1"
_GROUP_NAMED = f"SELECT * FROM entries WHERE kind = 'group' AND {_GROUP} = ? {_LAST}"
_ALL_GROUPS = (
    "SELECT * FROM entries WHERE kind = 'group' AND seq IN"
    f" (SELECT max(seq) FROM entries WHERE kind = 'group' GROUP BY {_GROUP}) ORDER BY {_GROUP}"
)
_GRANT = f"SELECT * FROM entries WHERE kind = 'grant' AND budget = ? AND {_TABLE} = ? AND {_TO} = ? {_LAST}"
_GRANTS_ON = f"SELECT * FROM entries WHERE kind = 'grant' AND budget = ? AND {_TABLE} = ? ORDER BY seq"
_GRANTS_TO = f"SELECT * FROM entries WHERE kind = 'grant' AND {_TO} = ? ORDER BY seq"
_OWN = f"SELECT * FROM entries WHERE {_UNDER} AND budget = ? AND json_extract(body, '$.under') = ? {_LAST}"
_OF_TABLE = f"SELECT * FROM entries WHERE {_UNDER} AND budget = ? AND {_TABLE} = ? AND seq < ? {_LAST}"
_LIMIT = f"SELECT * FROM entries WHERE {_TERMS} AND kind = 'limit' AND budget = ? AND {_TABLE} = ? {_LAST}"
_AGREEMENT = f"SELECT * FROM entries WHERE {_TERMS} AND kind = 'agreement' AND budget = ? {_LAST}"
_WISHES = f"SELECT * FROM entries WHERE {_TERMS} AND kind = 'wish' AND budget = ? AND {_TABLE} = ? ORDER BY seq"
_ALL_WISHES = f"SELECT * FROM entries WHERE {_TERMS} AND kind = 'wish' ORDER BY seq"
_WISH = "SELECT * FROM entries WHERE kind = 'wish' AND request = ?"
_DECIDED = "SELECT * FROM entries WHERE kind = 'decided' AND request = ?"
_WAITING = (
    f"SELECT count(*) AS n FROM entries AS wish WHERE wish.{_TERMS} AND wish.kind = 'wish' AND wish.budget = ?"
    " AND json_extract(wish.body, '$.table') = ? AND wish.actor = ?"
    " AND NOT EXISTS (SELECT 1 FROM entries WHERE kind = 'decided' AND request = wish.request)"
)
_GROUP_GRANTS = f"SELECT * FROM entries WHERE kind = 'grant' AND budget = ? AND {_TO} GLOB 'g-*' ORDER BY seq"
_USED = (
    "SELECT seq FROM entries WHERE kind = 'charge' AND json_extract(body, '$.wish') IS NOT NULL"
    " AND json_extract(body, '$.wish') = ?"
)


class PeopleBook:
    def __init__(self, db: Database, before: int = NO_ROW) -> None:
        """`before`: a row number; sums and owners are read as they were before that row."""
        self._db, self._before = db, before

    def served(self) -> bool:
        return bool(list(self._db.query(_ANY_ROLE)))

    def has(self, person: str, role: str, table: str = "") -> bool:
        rows = self._rows(_ONE_ROLE, person, role, table)
        return bool(rows) and Role.from_row(rows[0]).on

    def owner(self, person: str) -> bool:
        return any(role.role == OWNER for role in self.roles_of(person))

    def owned(self, table: str) -> bool:
        return self.budget_of(table) is not None

    def budget_of(self, table: str) -> str | None:
        """The budget that pays for a table; None for a table that nobody ever owned. The row that made somebody its
        first owner names the budget."""
        rows = self._rows(_OWNED, table)
        return str(rows[0]["budget"]) if rows else None

    def members(self, group: str) -> tuple[str, ...]:
        rows = self._rows(_GROUP_NAMED, group) if is_group(group) else []
        return tuple(json.loads(rows[0]["body"])["people"]) if rows else ()

    def groups_of(self, person: str) -> list[str]:
        return [name for name, people in self.groups().items() if person in people]

    def grant(self, budget: str, table: str, to: str) -> Grant | None:
        rows = self._rows(_GRANT, budget, table, to)
        return Grant.from_row(rows[0]) if rows else None

    def granted(self, budget: str, table: str) -> bool:
        return bool(self._rows(_GRANTS_ON, budget, table))

    def own(self, budget: str, holder: str) -> Standing:
        sums = self._sums(_OWN, budget, holder)
        return self._anew(budget, "own", holder, sums and sums[0], sums and sums[1].own)

    def held(self, record: BudgetRecord, holder: str) -> HolderPart:
        rows = self._rows(_OWN, record.id, holder)
        if not rows:
            return HolderPart(Fraction(0), Fraction(0))
        last = Charge.from_row(rows[0])
        assert last.sums is not None
        moved, since = last.sums.moved, last.seq
        row, anew = self.moved_anew(record.id, holder)
        if row > since:
            moved, since = sum(anew.values(), Fraction(0)), row
        return HolderPart(self.lowered(moved, record, last.table, since), self.own(record.id, holder).totals.delta)

    def moved_anew(self, budget: str, holder: str) -> tuple[int, dict[str, Fraction]]:
        """Two values from the last `protect` row of a budget: the row's number, and for each table how far the holder
        had moved the table's meter by then, counted anew. 0 and an empty dict if there is no such row."""
        rows = self._rows(owner_rows.PROTECT_BEFORE, budget, self._before)
        parts = json.loads(rows[0]["body"]).get("moved", {}).get(holder, {}) if rows else {}
        return int(rows[0]["seq"]) if rows else 0, {table: Fraction(part) for table, part in parts.items()}

    def lowered(self, moved: Fraction, record: BudgetRecord, table: str, since: int) -> Fraction:
        """What `moved`, a holder's used share of a table's meter at row `since`, amounts to after every later raise of
        the cap."""
        for row, (before, after) in owner_rows.raises(self._db, record.id, since):
            then = PeopleBook(self._db, row).meter(record.id, table)
            moved = people_rules.lowered(moved, record.rule, before, after, then)
        return moved

    def meter(self, budget: str, table: str) -> Totals:
        """The sums that a table's meter shows to its owners."""
        return people_rules.meter(self, budget, table, owner_rows.standing_before(self._db, budget, self._before))

    def of_table(self, budget: str, table: str) -> Standing:
        sums = self._sums(_OF_TABLE, budget, table, self._before)
        return self._anew(budget, "of_table", table, sums and sums[0], sums and sums[1].table)

    def _anew(self, budget: str, part: str, name: str, seq: int | None, sums: Standing | None) -> Standing:
        """The sums of a holder or a table: `sums`, as row `seq` states them, or those that a later `protect` row states
        for this `name`."""
        rows = self._rows(owner_rows.PROTECT_BEFORE, budget, self._before)
        if rows and (seq is None or rows[0]["seq"] > seq):
            counted = json.loads(rows[0]["body"]).get(part, {}).get(name)
            return Standing.NOTHING if counted is None else standing_from(counted)
        return Standing.NOTHING if sums is None else sums

    def limit(self, budget: str, table: str) -> Fraction | None:
        rows = self._rows(_LIMIT, budget, table)
        share = json.loads(rows[0]["body"])["share"] if rows else None
        return None if share is None else Fraction(share)

    def wanted(self, request: str) -> ShareRequest | None:
        rows = self._rows(_WISH, request)
        return ShareRequest.from_row(rows[0]) if rows else None

    def decision(self, request: str) -> Decision | None:
        rows = self._rows(_DECIDED, request)
        return Decision.from_row(rows[0]) if rows else None

    def approved(self, actor: str, budget: str, table: str) -> list[ShareRequest]:
        """This person's approved wishes about the table that ask for one question each and that no charge has used
        up."""
        asked = (wanted for wanted in self.wishes(budget, table) if wanted.actor == actor and wanted.claim is not None)
        return [wanted for wanted in asked if self.passed(wanted.id) and not list(self._db.query(_USED, [wanted.id]))]

    def passed(self, request: str) -> bool:
        decision = self.decision(request)
        return decision is not None and decision.answer != NO

    def apart(self, budget: str) -> tuple[str, ...] | None:
        rows = self._rows(_AGREEMENT, budget)
        return tuple(json.loads(rows[0]["body"])["people"]) if rows else None

    def agreed_with(self, budget: str, table: str) -> bool:
        """Do people keep apart on this budget because of an agreement on this table, or on another table of its
        owners?"""
        owners = self.owners_on(budget)
        about = [json.loads(row["body"])["table"] for row in self._rows(_AGREEMENT, budget)]
        return any(other == table or owners.get(other, set()) & owners.get(table, set()) for other in about)

    def owners_on(self, budget: str) -> dict[str, set[str]]:
        """The owners of each table that this budget pays for."""
        rows = [row for row in self._rows(_OWNERS_ON, budget) if row["seq"] < self._before]
        newest = {(role.person, role.table): role for role in map(Role.from_row, rows)}
        owners: dict[str, set[str]] = {}
        for role in newest.values():
            owners.setdefault(role.table, set()).update([role.person] if role.on else [])
        return owners

    def group_grants(self, budget: str) -> list[Grant]:
        """The newest grant of each group on each table that this budget pays for."""
        grants = map(Grant.from_row, self._rows(_GROUP_GRANTS, budget))
        return list({(grant.table, grant.to): grant for grant in grants}.values())

    def waiting(self, actor: str, budget: str, table: str) -> int:
        """How many wishes of this person about this table are undecided."""
        return int(next(iter(self._db.query(_WAITING, [budget, table, actor])))["n"])

    # What pages list, beyond what a decision needs

    def roles_of(self, person: str) -> list[Role]:
        newest = {(role.role, role.table): role for role in map(Role.from_row, self._rows(_ROLES_OF, person))}
        return [role for role in newest.values() if role.on]

    def roles(self) -> list[Role]:
        newest = {(role.person, role.role, role.table): role for role in map(Role.from_row, self._rows(_ALL_ROLES))}
        return [role for role in newest.values() if role.on]

    def owners_of(self, table: str) -> list[str]:
        return [role.person for role in self.roles() if role.role == OWNER and role.table == table]

    def groups(self) -> dict[str, tuple[str, ...]]:
        bodies = [json.loads(row["body"]) for row in self._rows(_ALL_GROUPS)]
        return {body["group"]: tuple(body["people"]) for body in bodies}

    def grants_on(self, budget: str, table: str) -> list[Grant]:
        """The newest grant on this table to each person and group."""
        return list({grant.to: grant for grant in map(Grant.from_row, self._rows(_GRANTS_ON, budget, table))}.values())

    def last_given(self, budget: str, table: str, to: str) -> Grant | None:
        """The newest grant to this holder with a share above 0, even if a later row took that share back; None if there
        was none."""
        grants = map(Grant.from_row, self._rows(_GRANTS_ON, budget, table))
        given = [grant for grant in grants if grant.to == to and grant.share]
        return given[-1] if given else None

    def grants_to(self, holder: str) -> list[Grant]:
        """The holder's newest grant on each table."""
        newest = {(grant.budget, grant.table): grant for grant in map(Grant.from_row, self._rows(_GRANTS_TO, holder))}
        return list(newest.values())

    def wishes(self, budget: str, table: str) -> list[ShareRequest]:
        return [ShareRequest.from_row(row) for row in self._rows(_WISHES, budget, table)]

    def all_wishes(self) -> list[ShareRequest]:
        return [ShareRequest.from_row(row) for row in self._rows(_ALL_WISHES)]

    def _rows(self, sql: str, *values: str | int) -> list[JsonObject]:
        return sound_rows(self._db, sql, list(values))

    def _sums(self, sql: str, *values: str | int) -> tuple[int, Sums] | None:
        """The row number and the stored sums of the first charge that `sql` finds; None without such a charge."""
        rows = self._rows(sql, *values)
        sums = sums_of(json.loads(rows[0]["body"])) if rows else None
        return None if sums is None else (int(rows[0]["seq"]), sums)
