"""Every verb of the engine as everybody: allowed exactly by the one table of rights; nothing else is handed out."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import fields
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

import dpengine as dp
from dpengine.asking.jobs import Jobs
from dpengine.asking.sessions import Session
from dpengine.core.errors import AllowanceError
from dpengine.ledger.ledger import Ledger
from dpengine.people import rights
from dpengine.people.face import Face, Guarded, PersonTable, faced
from dpengine.people.home import PersonHome
from dpengine.table import Table
from dpengine.workspace import Workspace
from tests.helpers_people import EVERYBODY, HALF, MINE, SCHEMA, TERMS, Office, count, office, rows

ROOT = Path(__file__).resolve().parents[3]
REFUSED = ("people.no_right", "table.unknown")

# Who everybody is, to the table MINE and where no table is named: stated here once more, not looked up.
TO_MINE: dict[str, set[str]] = {
    "nobody": {"anyone"},
    "withdrawn": set(),
    "administrator": {"anyone", "administrator"},
    "owner": {"anyone", "owner", "analyst"},
    "owner of another": {"anyone"},
    "analyst": {"anyone", "analyst"},
    "analyst of another": {"anyone"},
    "auditor": {"anyone", "auditor"},
}
AT_ALL = TO_MINE | {"owner of another": {"anyone", "owner", "analyst"}, "analyst of another": {"anyone", "analyst"}}


class Stage:
    """A served workspace in which something of everything was done by the analyst of MINE."""

    def __init__(self, here: Office) -> None:
        self.here = here
        mine = here.face("analyst").table(MINE)
        self.query = count(mine, "0.01")
        self.answer = mine.ask(self.query, request_id="asked")
        self.opened = mine.query("adaptive_session", questions=2, epsilon="4")
        mine.open_session(self.opened, "session")
        entry = here.workspace.ledger.find("asked")
        assert entry is not None
        self.entry = entry
        here.face("analyst").wish(MINE, "more, please", share="0.6", wish_id="wish")
        self.made = 0

    def name(self) -> str:
        self.made += 1
        return f"made-{self.made}"

    def table(self, name: str) -> Table:
        """A table's face in the hands of somebody who may not even see the table: a page that forgot to ask."""
        at = self.here.face(name)._at
        record = self.here.workspace.record(MINE)
        found = PersonTable(PersonHome(at), record, self.here.workspace.ledger.budget(record.budget), at.person)
        return faced(at, found)  # type: ignore[return-value]

    def session(self, name: str) -> Session:
        inner = self.here.workspace.table(MINE).session("session")
        return Guarded(self.here.face(name)._at, inner, rights.SESSION, MINE)  # type: ignore[return-value]


Call = Callable[[Stage, str], Any]


def told_no() -> None:
    raise AllowanceError("people.no_right")


ELSEWHERE = dp.Source("postgresql://ana@db.example.org/care", "visits")


def unless_right(code: str, call: Callable[[], Any]) -> None:
    """Whoever has the right gets as far as this refusal."""
    try:
        call()
    except AllowanceError as refusal:
        if refusal.code != code:
            raise


def of_face(call: Callable[[Stage, Face], Any]) -> Call:
    return lambda stage, name: call(stage, stage.here.face(name))


def of_table(call: Callable[[Stage, Any], Any]) -> Call:
    return lambda stage, name: call(stage, stage.table(name))


# verb → (is it about the table MINE?, the call). What closes something comes last.
WORKSPACE: dict[str, tuple[bool, Call]] = {
    "person": (False, of_face(lambda s, f: f.person)),
    "may": (False, of_face(lambda s, f: f.may("tables") or told_no())),
    "served": (False, of_face(lambda s, f: f.served)),
    "samples_only": (False, of_face(lambda s, f: f.samples_only)),
    "reads_databases": (False, of_face(lambda s, f: f.reads_databases)),
    "reads_lakes": (False, of_face(lambda s, f: f.reads_lakes)),
    "folder": (False, of_face(lambda s, f: f.folder)),
    "ledger": (False, of_face(lambda s, f: f.ledger.head())),
    "jobs": (False, of_face(lambda s, f: f.jobs.state("x"))),
    "tables": (False, of_face(lambda s, f: f.tables())),
    "names": (False, of_face(lambda s, f: f.names())),
    "here": (False, of_face(lambda s, f: f.here(MINE))),
    "closed": (False, of_face(lambda s, f: f.closed())),
    "job": (False, of_face(lambda s, f: f.job("asked"))),
    "pending": (False, of_face(lambda s, f: f.pending())),
    "myself": (False, of_face(lambda s, f: f.myself())),
    "tokens": (False, of_face(lambda s, f: f.tokens())),
    "new_token": (False, of_face(lambda s, f: f.new_token("notebook"))),
    "revoke_token": (False, of_face(lambda s, f: f.revoke_token(f.new_token("lost")[1].id))),
    "table": (True, of_face(lambda s, f: f.table(MINE))),
    "answer_of": (True, of_face(lambda s, f: f.answer_of(s.entry))),
    "meter": (True, of_face(lambda s, f: f.meter(MINE))),
    "grants": (True, of_face(lambda s, f: f.grants(MINE))),
    "limit": (True, of_face(lambda s, f: f.limit(MINE))),
    "published_file": (True, of_face(lambda s, f: f.published_file("asked"))),
    "verify_ledger": (False, of_face(lambda s, f: f.verify_ledger())),
    "check_receipts": (False, of_face(lambda s, f: f.check_receipts(b'{"receipt": 2, "request": "x"}', "r.json"))),
    "people": (False, of_face(lambda s, f: f.people())),
    "roles": (False, of_face(lambda s, f: f.roles())),
    "groups": (False, of_face(lambda s, f: f.groups())),
    "wishes": (False, of_face(lambda s, f: f.wishes())),
    "accounts": (False, of_face(lambda s, f: f.accounts())),
    "acts_of": (False, of_face(lambda s, f: f.acts_of())),
    "export": (False, of_face(lambda s, f: list(f.export()))),
    "agreements": (False, of_face(lambda s, f: f.agreements())),
    "matches": (False, of_face(lambda s, f: f.matches())),
    "name_group": (False, of_face(lambda s, f: f.name_group("g-office", [s.here.person("eva")]))),
    "name_role": (False, of_face(lambda s, f: f.name_role(s.here.person("eva"), "auditor"))),
    "forget_person": (False, of_face(lambda s, f: f.forget_person(s.here.person("eva")))),
    "hand_over": (True, of_face(lambda s, f: f.hand_over(MINE, s.here.person("eva")))),
    "wish": (True, of_face(lambda s, f: f.wish(MINE, "because", share="0.7"))),
    "decide": (False, of_face(lambda s, f: f.decide("wish", "no"))),
    "grant": (True, of_face(lambda s, f: f.grant(MINE, s.here.person("eva"), "0.1"))),
    "set_limit": (True, of_face(lambda s, f: f.set_limit(MINE, None))),
    "keep_apart": (True, of_face(lambda s, f: f.keep_apart(MINE, [s.here.person("eva")]))),
    "raise_cap": (True, of_face(lambda s, f: f.raise_cap(MINE, "50"))),
    "add_table": (
        False,
        of_face(lambda s, f: f.add_table(s.name(), rows(1000 + 50 * s.made), **TERMS, budget=dp.Budget("1", "1e-6"))),
    ),
    "describe_source": (
        False,
        of_face(lambda s, f: unless_right("source.not_allowed", lambda: f.describe_source(ELSEWHERE))),
    ),
    "has_source": (True, of_face(lambda s, f: f.has_source(MINE))),
    "bring_newer": (True, of_face(lambda s, f: unless_right("source.unknown", lambda: f.bring_newer(MINE, s.name())))),
    "one_row_a_person": (
        True,
        of_face(lambda s, f: unless_right("summary.one_row", lambda: f.one_row_a_person(MINE, s.name(), {}))),
    ),
    "seal": (True, of_face(lambda s, f: f.seal(MINE))),
    "forget": (True, of_face(lambda s, f: f.forget(MINE))),
}

TABLE: dict[str, Call] = {
    **{
        verb: of_table(lambda s, t, verb=verb: getattr(t, verb))
        for verb in "name practice facts schema budget closed actor joined".split()
    },
    **{
        verb: of_table(lambda s, t, verb=verb: getattr(t, verb)())
        for verb in (
            "sharing acts meter history burn_down more_like_last ledger_rows answer_rows answer_lines account_lines"
            " released fits people_far_off first_looks newest_look publications trainings checks"
            " drafted syntheses suggestions planner asked_figures"
        ).split()
    },
    **{verb: of_table(lambda s, t, verb=verb: getattr(t, verb)(t)) for verb in ("beside", "person_in_both")},
    **{
        verb: of_table(lambda s, t, verb=verb: getattr(t, verb)(s.query))
        for verb in "preview cheapest ways levers recall looks last_asked doubts can_read check_part".split()
    },
    **{
        verb: of_table(lambda s, t, verb=verb: getattr(t, verb)(s.entry))
        for verb in "took left_before checks_before answer_of figures".split()
    },
    "answers": of_table(lambda s, t: t.answers(5)),
    "declaration": of_table(lambda s, t: t.declaration()),
    "readings": of_table(lambda s, t: t.readings("average x")),
    "read": of_table(lambda s, t: t.read("average x")),
    "draft": of_table(lambda s, t: t.draft()),
    "keep_draft": of_table(lambda s, t: t.keep_draft("count", {})),
    "plan_draft": of_table(lambda s, t: t.plan_draft()),
    "keep_plan": of_table(lambda s, t: t.keep_plan("[]")),
    "completions": of_table(lambda s, t: t.completions("aver")),
    "fit_of": of_table(lambda s, t: t.fit_of("x")),
    "checks_of": of_table(lambda s, t: t.checks_of("none")),
    "checks_for": of_table(lambda s, t: t.checks_for([s.query])),
    "finer_check": of_table(lambda s, t: t.finer_check(["x"])),
    "query": of_table(lambda s, t: t.query("mean", column="x", epsilon="0.1")),
    "prices": of_table(lambda s, t: t.prices([s.query])),
    "suggested": of_table(lambda s, t: t.suggested("mean", column="x")),
    "opening": of_table(lambda s, t: t.opening(s.query)),
    "least_epsilon": of_table(lambda s, t: t.least_epsilon(s.query, Fraction(10))),
    "least_priced": of_table(lambda s, t: t.least_priced(s.query, Fraction(10))),
    "at_share": of_table(lambda s, t: t.at_share(s.query, HALF)),
    "rehearse_rows": of_table(lambda s, t: t.rehearse_rows(published(s))),
    "training_for": of_table(
        lambda s, t: t.training_for("train_linear", Fraction(1, 4), target="x", features=["town"])
    ),
    "session_for": of_table(lambda s, t: t.session_for(3, HALF)),
    "session_over": of_table(lambda s, t: unless_right("session.columns", lambda: t.session_over("x", 3, HALF))),
    "both_ranges": of_table(lambda s, t: t.both_ranges(s.query)),
    "already_known": of_table(lambda s, t: t.already_known(s.opened)),
    "published": of_table(lambda s, t: t.published(s.answer)),
    "synthetic": of_table(lambda s, t: t.synthetic(s.answer)),
    "make_rows": of_table(lambda s, t: t.make_rows(s.answer)),
    "ask": of_table(lambda s, t: t.ask(s.query, s.name())),
    "submit": of_table(lambda s, t: t.submit(s.query, s.name())),
    "submit_plan": of_table(lambda s, t: t.submit_plan([s.query], s.name())),
    "open_session": of_table(lambda s, t: t.open_session(s.opened, s.name())),
    "open_session_over": of_table(lambda s, t: t.open_session_over(s.query, s.opened, s.name())),
    "session_of_run": of_table(
        lambda s, t: unless_right("session.unknown", lambda: t.session_of_run("nothing of the kind"))
    ),
    "session": of_table(lambda s, t: t.session("session")),
    "run": of_table(lambda s, t: t.run("nothing of the kind")),
    "cancel": of_table(lambda s, t: t.cancel("nothing of the kind")),
    "correct_people": of_table(lambda s, t: t.correct_people(7)),
    "declare_sample": of_table(lambda s, t: t.declare_sample(False)),
    "protection_preview": of_table(
        lambda s, t: unless_right("protect.less", lambda: t.protection_preview(dp.Unit.rows()))
    ),
    "protect": of_table(lambda s, t: unless_right("protect.less", lambda: t.protect(dp.Unit.rows()))),
    "revise": of_table(lambda s, t: t.revise(SCHEMA)),
}

SESSION: dict[str, Callable[[Any], Any]] = {
    **{
        verb: (lambda s, verb=verb: getattr(s, verb))
        for verb in "request entry query past reserve others_from withdrawn".split()
    },
    "look": lambda s: s.look(),
    "against": lambda s: s.against(s.query.asking({"share": [["town", "in", ["a"]]]})),
    "job": lambda s: s.job("nothing of the kind"),
    "ask": lambda s: s.ask({"share": [["town", "in", ["a"]]]}, "one"),
    "submit": lambda s: s.submit({"share": [["town", "in", ["a"]]]}, "two"),
    "answer": lambda s: unless_right("session.over", lambda: s.answer({"share": [["town", "in", ["a"]]]}, "three")),
    "end": lambda s: s.end(),
}

LEDGER: dict[str, Callable[[Any], Any]] = {
    "head": lambda rows: rows.head(),
    "row_of": lambda rows: rows.row_of("0"),
    "find": lambda rows: rows.find("asked"),
    "budget": lambda rows: rows.budget("nothing of the kind"),
    "steps": lambda rows: rows.steps("session"),
    "progress": lambda rows: rows.progress("session"),
    "export_rows": lambda rows: list(rows.export_rows()),
}
JOBS: dict[str, Callable[[Any], Any]] = {
    "state": lambda jobs: jobs.state("asked"),
    "wait": lambda jobs: jobs.wait("asked", 0),
    "cancel": lambda jobs: jobs.cancel("asked"),
}

# What an allowed person may meet all the same, for reasons of their own.
OTHERWISE = {
    "decide": {"people.wish_unknown", "people.wish_decided"},
    "keep_apart": {"people.agreement_late"},
    "session": {"session.unknown"},
    "correct_people": {"facts.people_public"},
    "raise_cap": {"raise.upwards"},
    "published": {"publish.unknown"},
    "budget": {"budget.unknown"},
    "synthetic": {"synthetic.unknown"},
    "make_rows": {"synthetic.unknown"},
}


def published(stage: Stage) -> Any:
    return stage.here.workspace.table(MINE).query("publish_number", columns=["x"], epsilon="1")


@pytest.fixture(scope="module")
def stage(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stage]:
    with office(tmp_path_factory.mktemp("rights"), epsilon="40") as here:
        yield Stage(here)


# What a face lacks: internals of the engine, and what is done from the machine itself
ENGINE_ONLY = frozenset(
    "as_person close coded coins correct_people counts_place current declare_sample differing_counts engine loading"
    " name_administrator open_budget practice_budget protect read read_raw record refuse_damaged refuse_need"
    " refuse_unit revise schema_of keep_draft draft_of".split()
)
SESSION_ONLY = frozenset("coins fits jobs known ledger read ready".split())


def test_every_verb_has_a_row() -> None:
    """A verb that somebody adds to the engine is nobody's until it stands in the table of rights."""
    known = public(Workspace) | {"engine", "coins", "jobs", "ledger", "folder", "samples_only"}
    assert known == (set(rights.WORKSPACE) & known) | ENGINE_ONLY, "a verb without a row in rights.py"
    assert public(Face) == set(rights.WORKSPACE)
    assert public(Table) | {"name", "practice", "facts", "actor", "joined"} == set(rights.TABLE)
    assert public(Session) | {field.name for field in fields(Session)} == set(rights.SESSION) | SESSION_ONLY
    assert (set(WORKSPACE), set(TABLE), set(SESSION)) == (set(rights.WORKSPACE), set(rights.TABLE), set(rights.SESSION))
    assert set(rights.LEDGER) == set(LEDGER) <= public(Ledger) and set(rights.JOBS) == set(JOBS) <= public(Jobs)


def public(kind: type) -> set[str]:
    return {name for name in dir(kind) if not name.startswith("_")}


def code(call: Callable[[], object]) -> str | None:
    try:
        call()
    except AllowanceError as refused:
        return refused.code
    return None


def expected(allowed: frozenset[str], relations: set[str]) -> bool:
    return bool(allowed & relations)


def judged(verb: str, found: str | None, may: bool) -> str | None:
    if may and (found is None or found in OTHERWISE.get(verb, ())):
        return None
    if not may and (found in REFUSED or (verb, found) == ("published_file", "request.unknown")):
        return None
    return f"{verb}: {'allowed' if may else 'refused'} by the table, but {found or 'done'}"


def test_every_verb_as_everybody(stage: Stage) -> None:
    """Table and session first, then the workspace, whose last verbs close the table."""
    wrong = []
    for verb, of_one in TABLE.items():
        for name in EVERYBODY:
            may = expected(rights.TABLE[verb], TO_MINE[name])
            fault = judged(verb, code(lambda: of_one(stage, name)), may)  # noqa: B023
            wrong += [f"{name}: table.{fault}"] if fault else []
    for verb, of_session in SESSION.items():
        for name in EVERYBODY:
            if name != "owner":  # who is an analyst too, but did not pay for this session: another test
                may = expected(rights.SESSION[verb], TO_MINE[name])
                fault = judged(verb, code(lambda: of_session(stage.session(name))), may)  # noqa: B023
                wrong += [f"{name}: session.{fault}"] if fault else []
    for part, calls in (("ledger", LEDGER), ("jobs", JOBS)):
        for verb, of_part in calls.items():
            for name in EVERYBODY:
                may = expected(rights.PARTS[part][verb], AT_ALL[name])
                fault = judged(verb, code(lambda: of_part(getattr(stage.here.face(name), part))), may)  # noqa: B023
                wrong += [f"{name}: {part}.{fault}"] if fault else []
    for verb, (about_mine, call) in WORKSPACE.items():
        for name in EVERYBODY:
            may = expected(rights.WORKSPACE[verb], (TO_MINE if about_mine else AT_ALL)[name])
            if verb in ("person", "served"):
                may = True  # who they are, and that one signs in here, is no secret
            fault = judged(verb, code(lambda: call(stage, name)), may)  # noqa: B023
            wrong += [f"{name}: {fault}"] if fault else []
    assert not wrong, "\n".join(wrong)
    assert stage.here.workspace.verify_ledger().ok


def test_the_table_of_rights_is_the_one_in_the_docs() -> None:
    text = (ROOT / "docs" / "serving.md").read_text(encoding="utf-8")
    assert rights.printed() in text, "run: python -m dpengine.people.rights"
