-- ledger.sqlite: PRAGMA user_version = 5; a row's hash begins with 'allowance-ledger-1'
CREATE TABLE entries (
        seq INTEGER PRIMARY KEY, at TEXT NOT NULL, kind TEXT NOT NULL, budget TEXT NOT NULL,
        request TEXT NOT NULL, actor TEXT NOT NULL, body TEXT NOT NULL, totals TEXT NOT NULL,
        prev TEXT NOT NULL, hash TEXT NOT NULL
    ) STRICT;
CREATE UNIQUE INDEX one_creation ON entries (budget) WHERE kind = 'budget';
CREATE UNIQUE INDEX one_charge ON entries (request) WHERE kind = 'charge';
CREATE UNIQUE INDEX one_outcome ON entries (request) WHERE kind IN ('answer', 'failed');
CREATE INDEX charges_of ON entries (budget, seq) WHERE kind = 'charge';
CREATE INDEX claims_of ON entries
        (budget, json_extract(body, '$.table'), json_extract(body, '$.claim.digest'), seq)
        WHERE kind = 'charge';
CREATE TRIGGER no_update BEFORE UPDATE ON entries
        BEGIN SELECT RAISE(ABORT, 'entries are append-only'); END;
CREATE TRIGGER no_delete BEFORE DELETE ON entries
        BEGIN SELECT RAISE(ABORT, 'entries are append-only'); END;
CREATE TRIGGER only_next BEFORE INSERT ON entries
        WHEN NEW.seq IS NOT (SELECT coalesce(max(seq), 0) + 1 FROM entries) OR NEW.prev IS NOT coalesce(
            (SELECT hash FROM entries WHERE seq = (SELECT max(seq) FROM entries)), '0000000000000000000000000000000000000000000000000000000000000000')
        BEGIN SELECT RAISE(ABORT, 'a row continues the chain'); END;
CREATE INDEX acts_of ON entries (budget, seq) WHERE kind IN ('seal', 'forget', 'raise');
CREATE UNIQUE INDEX one_act ON entries (budget, json_extract(body, '$.table'), kind)
        WHERE kind IN ('seal', 'forget');
CREATE TRIGGER no_charge_once_closed BEFORE INSERT ON entries
        WHEN NEW.kind = 'charge' AND EXISTS (SELECT 1 FROM entries WHERE kind IN ('seal', 'forget')
            AND budget = NEW.budget AND json_extract(body, '$.table') = json_extract(NEW.body, '$.table'))
        BEGIN SELECT RAISE(ABORT, 'the table is sealed or forgotten'); END;
CREATE UNIQUE INDEX one_step ON entries (request, json_extract(body, '$.index')) WHERE kind = 'step';
CREATE UNIQUE INDEX one_step_id ON entries (request, json_extract(body, '$.step')) WHERE kind = 'step';
CREATE UNIQUE INDEX one_told ON entries (request, json_extract(body, '$.index'))
        WHERE kind IN ('part', 'lost');
CREATE UNIQUE INDEX one_end ON entries (request) WHERE kind = 'ended';
CREATE TRIGGER only_next_step BEFORE INSERT ON entries
        WHEN NEW.kind = 'step' AND (
            json_extract(NEW.body, '$.index') IS NOT (SELECT coalesce(max(json_extract(body, '$.index')), 0) + 1
                FROM entries WHERE kind = 'step' AND request = NEW.request)
            OR NOT EXISTS (SELECT 1 FROM entries WHERE kind = 'charge' AND request = NEW.request
                AND budget = NEW.budget AND json_extract(body, '$.table') = json_extract(NEW.body, '$.table')
                AND json_extract(body, '$.claim.key') = 'adaptive_session'
                AND json_extract(NEW.body, '$.index') <= json_extract(body, '$.claim.parameters.questions')))
        BEGIN SELECT RAISE(ABORT, 'a step is the next one of a session that was paid for'); END;
CREATE TRIGGER no_step_once_closed BEFORE INSERT ON entries
        WHEN NEW.kind = 'step' AND (
            EXISTS (SELECT 1 FROM entries WHERE kind = 'ended' AND request = NEW.request)
            OR EXISTS (SELECT 1 FROM entries WHERE kind IN ('seal', 'forget') AND budget = NEW.budget
                AND json_extract(body, '$.table') = json_extract(NEW.body, '$.table')))
        BEGIN SELECT RAISE(ABORT, 'the session or its table is closed'); END;
CREATE UNIQUE INDEX one_close ON entries (budget) WHERE kind = 'close';
CREATE TRIGGER nothing_once_budget_closed BEFORE INSERT ON entries
        WHEN NEW.kind IN ('budget', 'charge', 'step', 'raise')
            AND EXISTS (SELECT 1 FROM entries WHERE kind = 'close' AND budget = NEW.budget)
        BEGIN SELECT RAISE(ABORT, 'the budget is closed'); END;
CREATE TABLE looks (
                seq INTEGER PRIMARY KEY, charge INTEGER NOT NULL, question TEXT NOT NULL, law TEXT NOT NULL,
                number INTEGER NOT NULL, place INTEGER NOT NULL
            ) STRICT;
CREATE UNIQUE INDEX look_of ON looks (question, number);
CREATE UNIQUE INDEX look_of_law ON looks (question, law, place);
CREATE UNIQUE INDEX first_looks ON looks (question, number) WHERE place <= 12;
CREATE TRIGGER no_look_update BEFORE UPDATE ON looks
                BEGIN SELECT RAISE(ABORT, 'looks are append-only'); END;
CREATE TRIGGER no_look_delete BEFORE DELETE ON looks
                BEGIN SELECT RAISE(ABORT, 'looks are append-only'); END;
CREATE TRIGGER only_next_look BEFORE INSERT ON looks
                WHEN NEW.seq <= (SELECT coalesce(max(seq), 0) FROM looks)
                BEGIN SELECT RAISE(ABORT, 'looks are append-only'); END;
CREATE INDEX kinds_of ON entries
                (budget, json_extract(body, '$.table'), json_extract(body, '$.claim.key'), seq)
                WHERE kind = 'charge';
CREATE INDEX roles_of ON entries (json_extract(body, '$.person'), json_extract(body, '$.role'),
        json_extract(body, '$.table'), seq) WHERE kind = 'role';
CREATE INDEX owners_of ON entries (json_extract(body, '$.table'), seq) WHERE kind = 'role';
CREATE INDEX groups_named ON entries (json_extract(body, '$.group'), seq) WHERE kind = 'group';
CREATE INDEX grants_of ON entries (budget, json_extract(body, '$.table'), json_extract(body, '$.to'), seq)
        WHERE kind = 'grant';
CREATE INDEX grants_to ON entries (json_extract(body, '$.to'), seq) WHERE kind = 'grant';
CREATE INDEX charges_under ON entries (budget, json_extract(body, '$.under'), seq)
        WHERE kind = 'charge' AND json_extract(body, '$.under') IS NOT NULL;
CREATE INDEX charges_on ON entries (budget, json_extract(body, '$.table'), seq)
        WHERE kind = 'charge' AND json_extract(body, '$.under') IS NOT NULL;
CREATE INDEX rows_by ON entries (actor, seq);
CREATE UNIQUE INDEX one_wish ON entries (request) WHERE kind = 'wish';
CREATE UNIQUE INDEX one_decision ON entries (request) WHERE kind = 'decided';
CREATE UNIQUE INDEX one_use ON entries (json_extract(body, '$.wish'))
        WHERE kind = 'charge' AND json_extract(body, '$.wish') IS NOT NULL;
CREATE INDEX terms_of ON entries (kind, budget, json_extract(body, '$.table'), seq)
        WHERE kind IN ('limit', 'agreement', 'wish');
CREATE TRIGGER no_charge_without_grant BEFORE INSERT ON entries
        WHEN NEW.kind IN ('charge', 'step') AND EXISTS (SELECT 1 FROM entries WHERE kind = 'role') AND (NEW.actor NOT GLOB 'p-*' OR coalesce((SELECT json_extract(body, '$.on') FROM entries WHERE kind = 'role' AND json_extract(body, '$.person') = NEW.actor AND json_extract(body, '$.role') = 'barred' ORDER BY seq DESC LIMIT 1), 0)
            OR ((SELECT json_extract(body, '$.kind') FROM entries WHERE kind = 'budget' AND budget = NEW.budget) = 'private' AND NEW.kind = 'charge'
                AND NOT EXISTS (SELECT 1 FROM entries AS given WHERE given.seq = (SELECT max(seq) FROM entries
                    WHERE kind = 'grant' AND budget = CASE WHEN NEW.budget LIKE '%:p-________________________________' THEN substr(NEW.budget, 1, length(NEW.budget) - 35) ELSE NEW.budget END
                    AND json_extract(body, '$.table') = json_extract(NEW.body, '$.table')
                    AND json_extract(body, '$.to') = json_extract(NEW.body, '$.under'))
                AND json_extract(given.body, '$.share') <> '0'
                AND (json_extract(given.body, '$.until') = ''
                    OR json_extract(given.body, '$.until') >= substr(NEW.at, 1, 10))
                AND (json_extract(given.body, '$.to') = NEW.actor OR EXISTS (SELECT 1 FROM entries AS named,
                    json_each(json_extract(named.body, '$.people')) AS one WHERE one.value = NEW.actor
                    AND named.seq = (SELECT max(seq) FROM entries WHERE kind = 'group'
                        AND json_extract(body, '$.group') = json_extract(given.body, '$.to'))))))
            OR ((SELECT json_extract(body, '$.kind') FROM entries WHERE kind = 'budget' AND budget = NEW.budget) = 'private' AND NEW.kind = 'step'
                AND NOT EXISTS (SELECT 1 FROM entries AS given WHERE given.seq = (SELECT max(seq) FROM entries
                    WHERE kind = 'grant' AND budget = CASE WHEN NEW.budget LIKE '%:p-________________________________' THEN substr(NEW.budget, 1, length(NEW.budget) - 35) ELSE NEW.budget END
                    AND json_extract(body, '$.table') = json_extract(NEW.body, '$.table')
                    AND json_extract(body, '$.to') = (SELECT json_extract(body, '$.under') FROM entries WHERE kind = 'charge' AND request = NEW.request))
                AND json_extract(given.body, '$.share') <> '0'
                AND (json_extract(given.body, '$.until') = ''
                    OR json_extract(given.body, '$.until') >= substr(NEW.at, 1, 10))
                AND (json_extract(given.body, '$.to') = NEW.actor OR EXISTS (SELECT 1 FROM entries AS named,
                    json_each(json_extract(named.body, '$.people')) AS one WHERE one.value = NEW.actor
                    AND named.seq = (SELECT max(seq) FROM entries WHERE kind = 'group'
                        AND json_extract(body, '$.group') = json_extract(given.body, '$.to')))))))
        BEGIN SELECT RAISE(ABORT, 'nobody without a grant asks'); END;
CREATE TRIGGER no_apart_once_closed BEFORE INSERT ON entries
        WHEN NEW.kind IN ('charge', 'step') AND NEW.budget <> CASE WHEN NEW.budget LIKE '%:p-________________________________' THEN substr(NEW.budget, 1, length(NEW.budget) - 35) ELSE NEW.budget END
            AND EXISTS (SELECT 1 FROM entries WHERE kind IN ('seal', 'forget') AND budget = CASE WHEN NEW.budget LIKE '%:p-________________________________' THEN substr(NEW.budget, 1, length(NEW.budget) - 35) ELSE NEW.budget END
                AND json_extract(body, '$.table') = json_extract(NEW.body, '$.table'))
        BEGIN SELECT RAISE(ABORT, 'the table is sealed or forgotten'); END;
CREATE TRIGGER no_act_without_right BEFORE INSERT ON entries
        WHEN NEW.kind IN ('seal', 'forget', 'raise', 'limit') AND EXISTS (SELECT 1 FROM entries WHERE kind = 'role') AND (coalesce((SELECT json_extract(body, '$.on') FROM entries WHERE kind = 'role' AND json_extract(body, '$.person') = NEW.actor AND json_extract(body, '$.role') = 'barred' ORDER BY seq DESC LIMIT 1), 0) OR NOT coalesce((SELECT json_extract(body, '$.on') FROM entries WHERE kind = 'role' AND json_extract(body, '$.person') = NEW.actor AND json_extract(body, '$.role') = 'owner' AND json_extract(body, '$.table') = json_extract(NEW.body, '$.table') AND budget = NEW.budget ORDER BY seq DESC LIMIT 1), 0))
        BEGIN SELECT RAISE(ABORT, 'only an owner does this'); END;
CREATE TRIGGER no_agreement_without_right BEFORE INSERT ON entries
        WHEN NEW.kind = 'agreement' AND (coalesce((SELECT json_extract(body, '$.on') FROM entries WHERE kind = 'role' AND json_extract(body, '$.person') = NEW.actor AND json_extract(body, '$.role') = 'barred' ORDER BY seq DESC LIMIT 1), 0) OR NOT coalesce((SELECT json_extract(body, '$.on') FROM entries WHERE kind = 'role' AND json_extract(body, '$.person') = NEW.actor AND json_extract(body, '$.role') = 'administrator' ORDER BY seq DESC LIMIT 1), 0))
        BEGIN SELECT RAISE(ABORT, 'only an administrator does this'); END;
CREATE TRIGGER no_own_decision BEFORE INSERT ON entries
        WHEN NEW.kind = 'decided' AND NOT EXISTS (SELECT 1 FROM entries WHERE kind = 'wish' AND request = NEW.request
            AND actor <> NEW.actor)
        BEGIN SELECT RAISE(ABORT, 'a wish is decided by another'); END;
CREATE INDEX new_people_of ON entries (budget, seq) WHERE kind = 'new_people';
CREATE UNIQUE INDEX one_new_people ON entries
        (budget, json_extract(body, '$.table'), json_extract(body, '$.newer')) WHERE kind = 'new_people';
CREATE TRIGGER no_new_people_without_role BEFORE INSERT ON entries
        WHEN NEW.kind = 'new_people' AND EXISTS (SELECT 1 FROM entries WHERE kind = 'role') AND (coalesce((SELECT json_extract(body, '$.on') FROM entries WHERE kind = 'role' AND json_extract(body, '$.person') = NEW.actor AND json_extract(body, '$.role') = 'barred' ORDER BY seq DESC LIMIT 1), 0) OR NOT coalesce((SELECT json_extract(body, '$.on') FROM entries WHERE kind = 'role' AND json_extract(body, '$.person') = NEW.actor AND json_extract(body, '$.role') = 'owner' AND json_extract(body, '$.table') = json_extract(NEW.body, '$.table') AND budget = NEW.budget ORDER BY seq DESC LIMIT 1), 0))
        BEGIN SELECT RAISE(ABORT, 'only an owner says this'); END;
CREATE INDEX protects_of ON entries (budget, seq) WHERE kind = 'protect';
CREATE TRIGGER no_protect_without_role BEFORE INSERT ON entries
        WHEN NEW.kind = 'protect' AND EXISTS (SELECT 1 FROM entries WHERE kind = 'role') AND (coalesce((SELECT json_extract(body, '$.on') FROM entries WHERE kind = 'role' AND json_extract(body, '$.person') = NEW.actor AND json_extract(body, '$.role') = 'barred' ORDER BY seq DESC LIMIT 1), 0) OR NOT coalesce((SELECT json_extract(body, '$.on') FROM entries WHERE kind = 'role' AND json_extract(body, '$.person') = NEW.actor AND json_extract(body, '$.role') = 'owner' AND json_extract(body, '$.table') = json_extract(NEW.body, '$.table') AND budget = NEW.budget ORDER BY seq DESC LIMIT 1), 0))
        BEGIN SELECT RAISE(ABORT, 'only an owner declares more protection'); END;
CREATE TRIGGER no_protect_once_closed BEFORE INSERT ON entries
        WHEN NEW.kind = 'protect' AND EXISTS (SELECT 1 FROM entries WHERE kind = 'close' AND budget = NEW.budget)
        BEGIN SELECT RAISE(ABORT, 'the budget is closed'); END;
CREATE TRIGGER no_row_once_protected BEFORE INSERT ON entries
        WHEN NEW.kind = 'charge' AND coalesce(json_extract(NEW.body, '$.claim.unit.kind'), '') <> 'column'
            AND EXISTS (SELECT 1 FROM entries WHERE kind = 'protect' AND budget = CASE WHEN NEW.budget LIKE '%:p-________________________________' THEN substr(NEW.budget, 1, length(NEW.budget) - 35) ELSE NEW.budget END)
        BEGIN SELECT RAISE(ABORT, 'people are protected, not rows'); END;
CREATE TRIGGER no_step_once_protected BEFORE INSERT ON entries
        WHEN NEW.kind = 'step' AND EXISTS (SELECT 1 FROM entries AS paid, entries AS said
            WHERE paid.kind = 'charge' AND paid.request = NEW.request
            AND said.kind = 'protect' AND said.budget = CASE WHEN NEW.budget LIKE '%:p-________________________________' THEN substr(NEW.budget, 1, length(NEW.budget) - 35) ELSE NEW.budget END AND said.seq > paid.seq)
        BEGIN SELECT RAISE(ABORT, 'the session was paid for before more was protected'); END;
CREATE UNIQUE INDEX one_list ON entries (json_extract(body, '$.digest')) WHERE kind = 'list';
-- registry.sqlite: PRAGMA user_version = 5
CREATE TABLE tables (
    name TEXT PRIMARY KEY, folder TEXT NOT NULL, budget TEXT NOT NULL, practice INTEGER NOT NULL,
    relation TEXT NOT NULL, about INTEGER NOT NULL, unit TEXT NOT NULL, schema TEXT NOT NULL, dialect TEXT NOT NULL,
    fingerprint TEXT NOT NULL, version INTEGER NOT NULL, owner TEXT NOT NULL, at TEXT NOT NULL,
    header TEXT NOT NULL, sample INTEGER NOT NULL, whose TEXT NOT NULL
) STRICT;
CREATE TABLE marks (mark TEXT NOT NULL, name TEXT NOT NULL, PRIMARY KEY (mark, name)) STRICT;
CREATE TABLE people (
    id TEXT PRIMARY KEY, name TEXT NOT NULL, email TEXT NOT NULL, at TEXT NOT NULL
) STRICT;
CREATE TABLE matches (
    name TEXT NOT NULL, person TEXT NOT NULL, others TEXT NOT NULL, refused TEXT NOT NULL, at TEXT NOT NULL
) STRICT;
CREATE TABLE tokens (
    id TEXT PRIMARY KEY, hash TEXT NOT NULL, person TEXT NOT NULL, name TEXT NOT NULL, tables TEXT NOT NULL,
    metrics INTEGER NOT NULL, at TEXT NOT NULL, used TEXT NOT NULL, revoked TEXT NOT NULL,
    until TEXT NOT NULL
) STRICT;
CREATE TABLE drafts (
    name TEXT NOT NULL, person TEXT NOT NULL, draft TEXT NOT NULL, PRIMARY KEY (name, person)
) STRICT;
CREATE INDEX tokens_by_person ON tokens (person);
