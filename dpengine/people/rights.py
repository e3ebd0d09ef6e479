"""Who may do what: the one table. docs/serving.md prints it, and a test calls every verb as every role.

Everybody who signed in may do what is open to *anyone*. All other rights come from rows of the ledger, per table:

    owner          added the table or received it
    analyst        has a live grant on it; for a sample everybody, on a practice budget of their own
    auditor        reads every account
    administrator  names people, hands tables over; this role asks no questions

For a verb about no table, an owner is whoever owns any table or was named an owner before the first, and an analyst
whoever has any grant.
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


# The workspace. Lists of tables, people or answers hold those that the person may see. Whoever may not decide about
# requests for more or read the account sees only their own.
WORKSPACE = MappingProxyType(
    _all(
        (ANYONE,),
        "person may tables names here closed job pending served samples_only reads_databases reads_lakes ledger jobs"
        " folder",
    )
    | _all((ANYONE,), "tokens new_token revoke_token wishes myself")
    | _all(_ACCOUNT, "table answer_of meter grants limit")
    | _all(_PLAN, "published_file wish")
    | _all(
        (OWNER,),
        "add_table describe_source has_source bring_newer one_row_a_person seal forget raise_cap grant set_limit",
    )
    | _all(_MEMBERS, "verify_ledger check_receipts")
    | _all((OWNER, ADMINISTRATOR), "decide")
    | _all((OWNER, ADMINISTRATOR, AUDITOR), "people roles groups")
    | _all((ADMINISTRATOR,), "name_role name_group hand_over forget_person matches keep_apart agreements")
    | _all((AUDITOR,), "accounts acts_of export")
)

# A table
TABLE = MappingProxyType(
    _all(_FACTS, "name practice facts schema budget closed actor joined sharing declaration")
    | _all(
        _ACCOUNT,
        "acts took left_before checks_before checks_of meter history burn_down more_like_last answers answer_of"
        " figures asked_figures beside person_in_both",
    )
    | _all(_ACCOUNT, "ledger_rows answer_rows answer_lines account_lines released fits fit_of")
    | _all(_ACCOUNT, "people_far_off")
    | _all(_ACCOUNT, "first_looks newest_look publications trainings checks drafted syntheses")
    | _all(_PLAN, "query preview prices suggestions suggested opening least_epsilon cheapest ways least_priced")
    | _all(_PLAN, "read readings completions draft keep_draft plan_draft keep_plan")
    | _all(_PLAN, "checks_for check_part finer_check doubts can_read")
    | _all(_PLAN, "levers at_share rehearse_rows training_for planner session_for session_over recall looks last_asked")
    | _all(_PLAN, "already_known both_ranges published synthetic")
    | _all(_ASK, "ask submit submit_plan open_session open_session_over session session_of_run run cancel make_rows")
    | _all((OWNER,), "revise correct_people declare_sample protect protection_preview")
)

# A paid session, for whoever paid for it
SESSION = MappingProxyType(
    _all(_ASK, "request entry query look past reserve others_from withdrawn against ask submit job end answer")
)

# The ledger and running jobs as pages read them: rows of tables that the person may see, jobs of their own
LEDGER = MappingProxyType(_all((ANYONE,), "head row_of find budget steps progress") | _all((AUDITOR,), "export_rows"))
JOBS = MappingProxyType(_all((ANYONE,), "state wait cancel"))

PARTS = MappingProxyType({"workspace": WORKSPACE, "table": TABLE, "session": SESSION, "ledger": LEDGER, "jobs": JOBS})


def printed() -> str:
    """The table as docs/serving.md prints it: verbs with the same rights share a row."""
    lines = [f"| verbs | {' | '.join(COLUMNS)} |", f"|---|{'---|' * len(COLUMNS)}"]
    for part, verbs in PARTS.items():
        rows: dict[frozenset[str], list[str]] = {}
        for verb, who in verbs.items():
            rows.setdefault(who, []).append(f"`{verb}`")
        for who, named in rows.items():
            everybody = ANYONE in who
            marks = ["yes" if everybody or column in who else "" for column in COLUMNS]
            lines.append(f"| {part}: {', '.join(named)} | {' | '.join(marks)} |")
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    print(printed(), end="")
