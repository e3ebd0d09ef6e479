"""Who may do what: the one table. docs/serving.md prints it, and a test calls every verb as everybody.

A person who signed in may do what is open to *anyone*. The other rights come from rows of the ledger, per table:

    owner          brought the table or was handed it
    analyst        has a live grant on it; of a sample everybody, on a practice budget of their own
    auditor        reads every account
    administrator  names people, hands tables over; asks nothing by that role

Where a verb is about no table, an owner is who owns any, or was named one before the first, and an analyst who has any
grant.
"""

from __future__ import annotations

from types import MappingProxyType

ANYONE, ADMINISTRATOR, OWNER, ANALYST, AUDITOR = "anyone", "administrator", "owner", "analyst", "auditor"
COLUMNS = (ANYONE, ADMINISTRATOR, OWNER, ANALYST, AUDITOR)

_FACTS = _ACCOUNT = (OWNER, ANALYST, AUDITOR)
_PLAN = (OWNER, ANALYST)
_ASK = (ANALYST,)
_MEMBERS = (ADMINISTRATOR, OWNER, ANALYST, AUDITOR)


def _all(who: tuple[str, ...], verbs: str) -> dict[str, frozenset[str]]:
    return dict.fromkeys(verbs.split(), frozenset(who))


# Of a workspace. What lists tables, people or answers lists those that the person may see.
WORKSPACE = MappingProxyType(
    _all((ANYONE,), "person may tables names here closed job pending served samples_only ledger jobs folder")
    | _all(_ACCOUNT, "table answer_of meter grants limit")
    | _all(_PLAN, "published_file wish")
    | _all((OWNER,), "add_table seal forget raise_cap grant set_limit keep_apart")
    | _all(_MEMBERS, "verify_ledger check_receipts")
    | _all((OWNER, ADMINISTRATOR), "decide")
    | _all((OWNER, ADMINISTRATOR, AUDITOR), "people roles groups wishes")
    | _all((ADMINISTRATOR,), "name_role name_group hand_over forget_person matches")
    | _all((AUDITOR,), "accounts acts_of export")
)

# Of a table.
TABLE = MappingProxyType(
    _all(_FACTS, "name practice facts schema budget closed actor joined sharing")
    | _all(_ACCOUNT, "acts took left_before took_by meter history burn_down more_like_last answers answer_of figures")
    | _all(_ACCOUNT, "ledger_rows answer_rows answer_lines account_lines released_so_far fits fit_of people_far_off")
    | _all(_ACCOUNT, "first_looks newest_look publications trainings checks drafted syntheses")
    | _all(_PLAN, "query preview prices suggestions suggested affordable least_epsilon cheapest ways least_priced")
    | _all(_PLAN, "levers at_share rehearse rehearse_rows training_for planner session_for recall looks last_asked")
    | _all(_PLAN, "already_known published synthetic")
    | _all(_ASK, "ask submit submit_plan open_session session run cancel")
    | _all((OWNER,), "revise correct_people")
)

# Of a session that was paid for, by whoever paid for it.
SESSION = MappingProxyType(_all(_ASK, "request entry query look others_from chose ask submit job end"))

# Of the ledger and of what runs, as far as pages read them: rows of tables that the person may see, jobs of their own.
LEDGER = MappingProxyType(_all((ANYONE,), "head row_of find budget steps progress"))
JOBS = MappingProxyType(_all((ANYONE,), "state wait cancel"))
