"""What the ledger's file itself refuses in a served workspace, whatever program writes to it."""

from __future__ import annotations

_SERVED = "EXISTS (SELECT 1 FROM entries WHERE kind = 'role')"
_PRIVATE = (
    "(SELECT json_extract(body, '$.kind') FROM entries WHERE kind = 'budget' AND budget = NEW.budget) = 'private'"
)
_BASE = (  # the budget of a person who keeps apart is that of the table, a colon and the person
    "CASE WHEN NEW.budget LIKE '%:p-________________________________'"
    " THEN substr(NEW.budget, 1, length(NEW.budget) - 35) ELSE NEW.budget END"
)


def _granted(under: str) -> str:
    """Has the holder a live grant for the row's table, and is the actor the holder or of that group?"""
    return f"""EXISTS (SELECT 1 FROM entries AS given WHERE given.seq = (SELECT max(seq) FROM entries
                    WHERE kind = 'grant' AND budget = {_BASE}
                    AND json_extract(body, '$.table') = json_extract(NEW.body, '$.table')
                    AND json_extract(body, '$.to') = {under})
                AND json_extract(given.body, '$.share') <> '0'
                AND (json_extract(given.body, '$.until') = ''
                    OR json_extract(given.body, '$.until') >= substr(NEW.at, 1, 10))
                AND (json_extract(given.body, '$.to') = NEW.actor OR EXISTS (SELECT 1 FROM entries AS named,
                    json_each(json_extract(named.body, '$.people')) AS one WHERE one.value = NEW.actor
                    AND named.seq = (SELECT max(seq) FROM entries WHERE kind = 'group'
                        AND json_extract(body, '$.group') = json_extract(given.body, '$.to')))))"""


_CHARGED_UNDER = "(SELECT json_extract(body, '$.under') FROM entries WHERE kind = 'charge' AND request = NEW.request)"
_BARRED = (
    "coalesce((SELECT json_extract(body, '$.on') FROM entries WHERE kind = 'role'"
    " AND json_extract(body, '$.person') = NEW.actor AND json_extract(body, '$.role') = 'barred'"
    " ORDER BY seq DESC LIMIT 1), 0)"
)

_OWNS = (
    "coalesce((SELECT json_extract(body, '$.on') FROM entries WHERE kind = 'role'"
    " AND json_extract(body, '$.person') = NEW.actor AND json_extract(body, '$.role') = 'owner'"
    " AND json_extract(body, '$.table') = json_extract(NEW.body, '$.table') AND budget = NEW.budget"
    " ORDER BY seq DESC LIMIT 1), 0)"
)

_ADMINISTERS = (
    "coalesce((SELECT json_extract(body, '$.on') FROM entries WHERE kind = 'role'"
    " AND json_extract(body, '$.person') = NEW.actor AND json_extract(body, '$.role') = 'administrator'"
    " ORDER BY seq DESC LIMIT 1), 0)"
)

STATEMENTS = (
    """CREATE INDEX roles_of ON entries (json_extract(body, '$.person'), json_extract(body, '$.role'),
        json_extract(body, '$.table'), seq) WHERE kind = 'role'""",
    "CREATE INDEX owners_of ON entries (json_extract(body, '$.table'), seq) WHERE kind = 'role'",
    "CREATE INDEX groups_named ON entries (json_extract(body, '$.group'), seq) WHERE kind = 'group'",
    """CREATE INDEX grants_of ON entries (budget, json_extract(body, '$.table'), json_extract(body, '$.to'), seq)
        WHERE kind = 'grant'""",
    "CREATE INDEX grants_to ON entries (json_extract(body, '$.to'), seq) WHERE kind = 'grant'",
    """CREATE INDEX charges_under ON entries (budget, json_extract(body, '$.under'), seq)
        WHERE kind = 'charge' AND json_extract(body, '$.under') IS NOT NULL""",
    """CREATE INDEX charges_on ON entries (budget, json_extract(body, '$.table'), seq)
        WHERE kind = 'charge' AND json_extract(body, '$.under') IS NOT NULL""",
    "CREATE INDEX rows_by ON entries (actor, seq)",
    "CREATE UNIQUE INDEX one_wish ON entries (request) WHERE kind = 'wish'",
    "CREATE UNIQUE INDEX one_decision ON entries (request) WHERE kind = 'decided'",
    """CREATE UNIQUE INDEX one_use ON entries (json_extract(body, '$.wish'))
        WHERE kind = 'charge' AND json_extract(body, '$.wish') IS NOT NULL""",
    """CREATE INDEX terms_of ON entries (kind, budget, json_extract(body, '$.table'), seq)
        WHERE kind IN ('limit', 'agreement', 'wish')""",
    f"""CREATE TRIGGER no_charge_without_grant BEFORE INSERT ON entries
        WHEN NEW.kind IN ('charge', 'step') AND {_SERVED} AND (NEW.actor NOT GLOB 'p-*' OR {_BARRED}
            OR ({_PRIVATE} AND NEW.kind = 'charge'
                AND NOT {_granted("json_extract(NEW.body, '$.under')")})
            OR ({_PRIVATE} AND NEW.kind = 'step'
                AND NOT {_granted(_CHARGED_UNDER)}))
        BEGIN SELECT RAISE(ABORT, 'nobody without a grant asks'); END""",
    f"""CREATE TRIGGER no_apart_once_closed BEFORE INSERT ON entries
        WHEN NEW.kind IN ('charge', 'step') AND NEW.budget <> {_BASE}
            AND EXISTS (SELECT 1 FROM entries WHERE kind IN ('seal', 'forget') AND budget = {_BASE}
                AND json_extract(body, '$.table') = json_extract(NEW.body, '$.table'))
        BEGIN SELECT RAISE(ABORT, 'the table is sealed or forgotten'); END""",
    # An agreement is written by an administrator, who alone knows which tables hold equal content.
    f"""CREATE TRIGGER no_act_without_right BEFORE INSERT ON entries
        WHEN NEW.kind IN ('seal', 'forget', 'raise', 'limit') AND {_SERVED} AND ({_BARRED} OR NOT {_OWNS})
        BEGIN SELECT RAISE(ABORT, 'only an owner does this'); END""",
    f"""CREATE TRIGGER no_agreement_without_right BEFORE INSERT ON entries
        WHEN NEW.kind = 'agreement' AND ({_BARRED} OR NOT {_ADMINISTERS})
        BEGIN SELECT RAISE(ABORT, 'only an administrator does this'); END""",
    """CREATE TRIGGER no_own_decision BEFORE INSERT ON entries
        WHEN NEW.kind = 'decided' AND NOT EXISTS (SELECT 1 FROM entries WHERE kind = 'wish' AND request = NEW.request
            AND actor <> NEW.actor)
        BEGIN SELECT RAISE(ABORT, 'a wish is decided by another'); END""",
    "CREATE INDEX new_people_of ON entries (budget, seq) WHERE kind = 'new_people'",
    """CREATE UNIQUE INDEX one_new_people ON entries
        (budget, json_extract(body, '$.table'), json_extract(body, '$.newer')) WHERE kind = 'new_people'""",
    f"""CREATE TRIGGER no_new_people_without_role BEFORE INSERT ON entries
        WHEN NEW.kind = 'new_people' AND {_SERVED} AND ({_BARRED} OR NOT {_OWNS})
        BEGIN SELECT RAISE(ABORT, 'only an owner says this'); END""",
    # More protection (owner_rows.py): whatever is charged or drawn after it is charged for a person.
    "CREATE INDEX protects_of ON entries (budget, seq) WHERE kind = 'protect'",
    f"""CREATE TRIGGER no_protect_without_role BEFORE INSERT ON entries
        WHEN NEW.kind = 'protect' AND {_SERVED} AND ({_BARRED} OR NOT {_OWNS})
        BEGIN SELECT RAISE(ABORT, 'only an owner declares more protection'); END""",
    """CREATE TRIGGER no_protect_once_closed BEFORE INSERT ON entries
        WHEN NEW.kind = 'protect' AND EXISTS (SELECT 1 FROM entries WHERE kind = 'close' AND budget = NEW.budget)
        BEGIN SELECT RAISE(ABORT, 'the budget is closed'); END""",
    f"""CREATE TRIGGER no_row_once_protected BEFORE INSERT ON entries
        WHEN NEW.kind = 'charge' AND coalesce(json_extract(NEW.body, '$.claim.unit.kind'), '') <> 'column'
            AND EXISTS (SELECT 1 FROM entries WHERE kind = 'protect' AND budget = {_BASE})
        BEGIN SELECT RAISE(ABORT, 'people are protected, not rows'); END""",
    f"""CREATE TRIGGER no_step_once_protected BEFORE INSERT ON entries
        WHEN NEW.kind = 'step' AND EXISTS (SELECT 1 FROM entries AS paid, entries AS said
            WHERE paid.kind = 'charge' AND paid.request = NEW.request
            AND said.kind = 'protect' AND said.budget = {_BASE} AND said.seq > paid.seq)
        BEGIN SELECT RAISE(ABORT, 'the session was paid for before more was protected'); END""",
)
