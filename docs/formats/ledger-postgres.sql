-- edition: 5
CREATE TABLE edition (version bigint PRIMARY KEY);
CREATE TABLE home (mark text PRIMARY KEY);
CREATE OR REPLACE FUNCTION json_extract(body text, path text) RETURNS text LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $source$SELECT body::json #>> string_to_array(substr(path, 3), '.')$source$;
CREATE OR REPLACE FUNCTION json_number(body text, path text) RETURNS bigint LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $source$SELECT (body::json #>> string_to_array(substr(path, 3), '.'))::bigint$source$;
CREATE OR REPLACE FUNCTION json_true(body text, path text) RETURNS boolean LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $source$SELECT (body::json #>> string_to_array(substr(path, 3), '.')) = 'true'$source$;
CREATE OR REPLACE FUNCTION each_of(list text) RETURNS TABLE (value text) LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $source$SELECT json_array_elements_text(list::json)$source$;
CREATE OR REPLACE FUNCTION numerator(text) RETURNS numeric LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $source$SELECT split_part($1, '/', 1)::numeric$source$;
CREATE OR REPLACE FUNCTION denominator(text) RETURNS numeric LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $source$SELECT coalesce(nullif(split_part($1, '/', 2), ''), '1')::numeric$source$;
CREATE OR REPLACE FUNCTION at_most(a text, b text) RETURNS boolean LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE SET search_path = allowance, pg_temp AS $source$ BEGIN RETURN numerator(a) * denominator(b) <= numerator(b) * denominator(a); END $source$;
CREATE OR REPLACE FUNCTION plus(a text, b text) RETURNS text LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE SET search_path = allowance, pg_temp AS $source$ BEGIN RETURN concat(numerator(a) * denominator(b) + numerator(b) * denominator(a), '/', denominator(a) * denominator(b)); END $source$;
CREATE TABLE entries (
        seq bigint PRIMARY KEY, at text COLLATE "C" NOT NULL, kind text COLLATE "C" NOT NULL, budget text COLLATE "C" NOT NULL,
        request text COLLATE "C" NOT NULL, actor text COLLATE "C" NOT NULL, body text COLLATE "C" NOT NULL, totals text COLLATE "C" NOT NULL,
        prev text COLLATE "C" NOT NULL, hash text COLLATE "C" NOT NULL
    );
CREATE UNIQUE INDEX one_creation ON entries (budget) WHERE kind = 'budget';
CREATE UNIQUE INDEX one_charge ON entries (request) WHERE kind = 'charge';
CREATE UNIQUE INDEX one_outcome ON entries (request) WHERE kind IN ('answer', 'failed');
CREATE INDEX charges_of ON entries (budget, seq) WHERE kind = 'charge';
CREATE INDEX claims_of ON entries
        (budget, json_extract(body, '$.table'), json_extract(body, '$.claim.digest'), seq)
        WHERE kind = 'charge';
CREATE OR REPLACE FUNCTION no_update() RETURNS trigger LANGUAGE plpgsql VOLATILE SET search_path = allowance, pg_temp AS $source$ BEGIN RAISE EXCEPTION 'entries are append-only'; END $source$;
CREATE TRIGGER no_update BEFORE UPDATE ON entries FOR EACH STATEMENT EXECUTE FUNCTION no_update();
ALTER TABLE entries ENABLE ALWAYS TRIGGER no_update;
CREATE OR REPLACE FUNCTION no_delete() RETURNS trigger LANGUAGE plpgsql VOLATILE SET search_path = allowance, pg_temp AS $source$ BEGIN RAISE EXCEPTION 'entries are append-only'; END $source$;
CREATE TRIGGER no_delete BEFORE DELETE OR TRUNCATE ON entries FOR EACH STATEMENT EXECUTE FUNCTION no_delete();
ALTER TABLE entries ENABLE ALWAYS TRIGGER no_delete;
CREATE OR REPLACE FUNCTION only_next() RETURNS trigger LANGUAGE plpgsql VOLATILE SET search_path = allowance, pg_temp AS $source$ BEGIN IF (NEW.seq IS DISTINCT FROM (SELECT coalesce(max(seq), 0) + 1 FROM entries) OR NEW.prev IS DISTINCT FROM coalesce(
            (SELECT hash FROM entries WHERE seq = (SELECT max(seq) FROM entries)), '0000000000000000000000000000000000000000000000000000000000000000')) THEN RAISE EXCEPTION 'a row continues the chain'; END IF; RETURN NEW; END $source$;
CREATE TRIGGER only_next BEFORE INSERT ON entries FOR EACH ROW EXECUTE FUNCTION only_next();
ALTER TABLE entries ENABLE ALWAYS TRIGGER only_next;
CREATE INDEX acts_of ON entries (budget, seq) WHERE kind IN ('seal', 'forget', 'raise');
CREATE UNIQUE INDEX one_act ON entries (budget, json_extract(body, '$.table'), kind)
        WHERE kind IN ('seal', 'forget');
CREATE OR REPLACE FUNCTION no_charge_once_closed() RETURNS trigger LANGUAGE plpgsql VOLATILE SET search_path = allowance, pg_temp AS $source$ BEGIN IF (NEW.kind = 'charge' AND EXISTS (SELECT 1 FROM entries WHERE kind IN ('seal', 'forget')
            AND budget = NEW.budget AND json_extract(body, '$.table') = json_extract(NEW.body, '$.table'))) THEN RAISE EXCEPTION 'the table is sealed or forgotten'; END IF; RETURN NEW; END $source$;
CREATE TRIGGER no_charge_once_closed BEFORE INSERT ON entries FOR EACH ROW EXECUTE FUNCTION no_charge_once_closed();
ALTER TABLE entries ENABLE ALWAYS TRIGGER no_charge_once_closed;
CREATE UNIQUE INDEX one_step ON entries (request, json_number(body, '$.index')) WHERE kind = 'step';
CREATE UNIQUE INDEX one_step_id ON entries (request, json_extract(body, '$.step')) WHERE kind = 'step';
CREATE UNIQUE INDEX one_told ON entries (request, json_number(body, '$.index'))
        WHERE kind IN ('part', 'lost');
CREATE UNIQUE INDEX one_end ON entries (request) WHERE kind = 'ended';
CREATE OR REPLACE FUNCTION only_next_step() RETURNS trigger LANGUAGE plpgsql VOLATILE SET search_path = allowance, pg_temp AS $source$ BEGIN IF (NEW.kind = 'step' AND (
            json_number(NEW.body, '$.index') IS DISTINCT FROM (SELECT coalesce(max(json_number(body, '$.index')), 0) + 1
                FROM entries WHERE kind = 'step' AND request = NEW.request)
            OR NOT EXISTS (SELECT 1 FROM entries WHERE kind = 'charge' AND request = NEW.request
                AND budget = NEW.budget AND json_extract(body, '$.table') = json_extract(NEW.body, '$.table')
                AND json_extract(body, '$.claim.key') = 'adaptive_session'
                AND json_number(NEW.body, '$.index') <= json_number(body, '$.claim.parameters.questions')))) THEN RAISE EXCEPTION 'a step is the next one of a session that was paid for'; END IF; RETURN NEW; END $source$;
CREATE TRIGGER only_next_step BEFORE INSERT ON entries FOR EACH ROW EXECUTE FUNCTION only_next_step();
ALTER TABLE entries ENABLE ALWAYS TRIGGER only_next_step;
CREATE OR REPLACE FUNCTION no_step_once_closed() RETURNS trigger LANGUAGE plpgsql VOLATILE SET search_path = allowance, pg_temp AS $source$ BEGIN IF (NEW.kind = 'step' AND (
            EXISTS (SELECT 1 FROM entries WHERE kind = 'ended' AND request = NEW.request)
            OR EXISTS (SELECT 1 FROM entries WHERE kind IN ('seal', 'forget') AND budget = NEW.budget
                AND json_extract(body, '$.table') = json_extract(NEW.body, '$.table')))) THEN RAISE EXCEPTION 'the session or its table is closed'; END IF; RETURN NEW; END $source$;
CREATE TRIGGER no_step_once_closed BEFORE INSERT ON entries FOR EACH ROW EXECUTE FUNCTION no_step_once_closed();
ALTER TABLE entries ENABLE ALWAYS TRIGGER no_step_once_closed;
CREATE UNIQUE INDEX one_close ON entries (budget) WHERE kind = 'close';
CREATE OR REPLACE FUNCTION nothing_once_budget_closed() RETURNS trigger LANGUAGE plpgsql VOLATILE SET search_path = allowance, pg_temp AS $source$ BEGIN IF (NEW.kind IN ('budget', 'charge', 'step', 'raise')
            AND EXISTS (SELECT 1 FROM entries WHERE kind = 'close' AND budget = NEW.budget)) THEN RAISE EXCEPTION 'the budget is closed'; END IF; RETURN NEW; END $source$;
CREATE TRIGGER nothing_once_budget_closed BEFORE INSERT ON entries FOR EACH ROW EXECUTE FUNCTION nothing_once_budget_closed();
ALTER TABLE entries ENABLE ALWAYS TRIGGER nothing_once_budget_closed;
CREATE TABLE looks (
                seq bigint PRIMARY KEY, charge bigint NOT NULL, question text COLLATE "C" NOT NULL, law text COLLATE "C" NOT NULL,
                number bigint NOT NULL, place bigint NOT NULL
            );
CREATE UNIQUE INDEX look_of ON looks (question, number);
CREATE UNIQUE INDEX look_of_law ON looks (question, law, place);
CREATE UNIQUE INDEX first_looks ON looks (question, number) WHERE place <= 12;
CREATE OR REPLACE FUNCTION no_look_update() RETURNS trigger LANGUAGE plpgsql VOLATILE SET search_path = allowance, pg_temp AS $source$ BEGIN RAISE EXCEPTION 'looks are append-only'; END $source$;
CREATE TRIGGER no_look_update BEFORE UPDATE ON looks FOR EACH STATEMENT EXECUTE FUNCTION no_look_update();
ALTER TABLE looks ENABLE ALWAYS TRIGGER no_look_update;
CREATE OR REPLACE FUNCTION no_look_delete() RETURNS trigger LANGUAGE plpgsql VOLATILE SET search_path = allowance, pg_temp AS $source$ BEGIN RAISE EXCEPTION 'looks are append-only'; END $source$;
CREATE TRIGGER no_look_delete BEFORE DELETE OR TRUNCATE ON looks FOR EACH STATEMENT EXECUTE FUNCTION no_look_delete();
ALTER TABLE looks ENABLE ALWAYS TRIGGER no_look_delete;
CREATE OR REPLACE FUNCTION only_next_look() RETURNS trigger LANGUAGE plpgsql VOLATILE SET search_path = allowance, pg_temp AS $source$ BEGIN IF (NEW.seq <= (SELECT coalesce(max(seq), 0) FROM looks)) THEN RAISE EXCEPTION 'looks are append-only'; END IF; RETURN NEW; END $source$;
CREATE TRIGGER only_next_look BEFORE INSERT ON looks FOR EACH ROW EXECUTE FUNCTION only_next_look();
ALTER TABLE looks ENABLE ALWAYS TRIGGER only_next_look;
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
CREATE OR REPLACE FUNCTION no_charge_without_grant() RETURNS trigger LANGUAGE plpgsql VOLATILE SET search_path = allowance, pg_temp AS $source$ BEGIN IF (NEW.kind IN ('charge', 'step') AND EXISTS (SELECT 1 FROM entries WHERE kind = 'role') AND (NEW.actor NOT LIKE 'p-%' OR coalesce((SELECT json_true(body, '$.on') FROM entries WHERE kind = 'role' AND json_extract(body, '$.person') = NEW.actor AND json_extract(body, '$.role') = 'barred' ORDER BY seq DESC LIMIT 1), false)
            OR ((SELECT json_extract(body, '$.kind') FROM entries WHERE kind = 'budget' AND budget = NEW.budget) = 'private' AND NEW.kind = 'charge'
                AND NOT EXISTS (SELECT 1 FROM entries AS given WHERE given.seq = (SELECT max(seq) FROM entries
                    WHERE kind = 'grant' AND budget = CASE WHEN NEW.budget LIKE '%:p-________________________________' THEN substr(NEW.budget, 1, length(NEW.budget) - 35) ELSE NEW.budget END
                    AND json_extract(body, '$.table') = json_extract(NEW.body, '$.table')
                    AND json_extract(body, '$.to') = json_extract(NEW.body, '$.under'))
                AND json_extract(given.body, '$.share') <> '0'
                AND (json_extract(given.body, '$.until') = ''
                    OR json_extract(given.body, '$.until') >= substr(NEW.at, 1, 10))
                AND (json_extract(given.body, '$.to') = NEW.actor OR EXISTS (SELECT 1 FROM entries AS named,
                    each_of(json_extract(named.body, '$.people')) AS one WHERE one.value = NEW.actor
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
                    each_of(json_extract(named.body, '$.people')) AS one WHERE one.value = NEW.actor
                    AND named.seq = (SELECT max(seq) FROM entries WHERE kind = 'group'
                        AND json_extract(body, '$.group') = json_extract(given.body, '$.to')))))))) THEN RAISE EXCEPTION 'nobody without a grant asks'; END IF; RETURN NEW; END $source$;
CREATE TRIGGER no_charge_without_grant BEFORE INSERT ON entries FOR EACH ROW EXECUTE FUNCTION no_charge_without_grant();
ALTER TABLE entries ENABLE ALWAYS TRIGGER no_charge_without_grant;
CREATE OR REPLACE FUNCTION no_apart_once_closed() RETURNS trigger LANGUAGE plpgsql VOLATILE SET search_path = allowance, pg_temp AS $source$ BEGIN IF (NEW.kind IN ('charge', 'step') AND NEW.budget <> CASE WHEN NEW.budget LIKE '%:p-________________________________' THEN substr(NEW.budget, 1, length(NEW.budget) - 35) ELSE NEW.budget END
            AND EXISTS (SELECT 1 FROM entries WHERE kind IN ('seal', 'forget') AND budget = CASE WHEN NEW.budget LIKE '%:p-________________________________' THEN substr(NEW.budget, 1, length(NEW.budget) - 35) ELSE NEW.budget END
                AND json_extract(body, '$.table') = json_extract(NEW.body, '$.table'))) THEN RAISE EXCEPTION 'the table is sealed or forgotten'; END IF; RETURN NEW; END $source$;
CREATE TRIGGER no_apart_once_closed BEFORE INSERT ON entries FOR EACH ROW EXECUTE FUNCTION no_apart_once_closed();
ALTER TABLE entries ENABLE ALWAYS TRIGGER no_apart_once_closed;
CREATE OR REPLACE FUNCTION no_act_without_right() RETURNS trigger LANGUAGE plpgsql VOLATILE SET search_path = allowance, pg_temp AS $source$ BEGIN IF (NEW.kind IN ('seal', 'forget', 'raise', 'limit') AND EXISTS (SELECT 1 FROM entries WHERE kind = 'role') AND (coalesce((SELECT json_true(body, '$.on') FROM entries WHERE kind = 'role' AND json_extract(body, '$.person') = NEW.actor AND json_extract(body, '$.role') = 'barred' ORDER BY seq DESC LIMIT 1), false) OR NOT coalesce((SELECT json_true(body, '$.on') FROM entries WHERE kind = 'role' AND json_extract(body, '$.person') = NEW.actor AND json_extract(body, '$.role') = 'owner' AND json_extract(body, '$.table') = json_extract(NEW.body, '$.table') AND budget = NEW.budget ORDER BY seq DESC LIMIT 1), false))) THEN RAISE EXCEPTION 'only an owner does this'; END IF; RETURN NEW; END $source$;
CREATE TRIGGER no_act_without_right BEFORE INSERT ON entries FOR EACH ROW EXECUTE FUNCTION no_act_without_right();
ALTER TABLE entries ENABLE ALWAYS TRIGGER no_act_without_right;
CREATE OR REPLACE FUNCTION no_agreement_without_right() RETURNS trigger LANGUAGE plpgsql VOLATILE SET search_path = allowance, pg_temp AS $source$ BEGIN IF (NEW.kind = 'agreement' AND (coalesce((SELECT json_true(body, '$.on') FROM entries WHERE kind = 'role' AND json_extract(body, '$.person') = NEW.actor AND json_extract(body, '$.role') = 'barred' ORDER BY seq DESC LIMIT 1), false) OR NOT coalesce((SELECT json_true(body, '$.on') FROM entries WHERE kind = 'role' AND json_extract(body, '$.person') = NEW.actor AND json_extract(body, '$.role') = 'administrator' ORDER BY seq DESC LIMIT 1), false))) THEN RAISE EXCEPTION 'only an administrator does this'; END IF; RETURN NEW; END $source$;
CREATE TRIGGER no_agreement_without_right BEFORE INSERT ON entries FOR EACH ROW EXECUTE FUNCTION no_agreement_without_right();
ALTER TABLE entries ENABLE ALWAYS TRIGGER no_agreement_without_right;
CREATE OR REPLACE FUNCTION no_own_decision() RETURNS trigger LANGUAGE plpgsql VOLATILE SET search_path = allowance, pg_temp AS $source$ BEGIN IF (NEW.kind = 'decided' AND NOT EXISTS (SELECT 1 FROM entries WHERE kind = 'wish' AND request = NEW.request
            AND actor <> NEW.actor)) THEN RAISE EXCEPTION 'a wish is decided by another'; END IF; RETURN NEW; END $source$;
CREATE TRIGGER no_own_decision BEFORE INSERT ON entries FOR EACH ROW EXECUTE FUNCTION no_own_decision();
ALTER TABLE entries ENABLE ALWAYS TRIGGER no_own_decision;
CREATE INDEX new_people_of ON entries (budget, seq) WHERE kind = 'new_people';
CREATE UNIQUE INDEX one_new_people ON entries
        (budget, json_extract(body, '$.table'), json_extract(body, '$.newer')) WHERE kind = 'new_people';
CREATE OR REPLACE FUNCTION no_new_people_without_role() RETURNS trigger LANGUAGE plpgsql VOLATILE SET search_path = allowance, pg_temp AS $source$ BEGIN IF (NEW.kind = 'new_people' AND EXISTS (SELECT 1 FROM entries WHERE kind = 'role') AND (coalesce((SELECT json_true(body, '$.on') FROM entries WHERE kind = 'role' AND json_extract(body, '$.person') = NEW.actor AND json_extract(body, '$.role') = 'barred' ORDER BY seq DESC LIMIT 1), false) OR NOT coalesce((SELECT json_true(body, '$.on') FROM entries WHERE kind = 'role' AND json_extract(body, '$.person') = NEW.actor AND json_extract(body, '$.role') = 'owner' AND json_extract(body, '$.table') = json_extract(NEW.body, '$.table') AND budget = NEW.budget ORDER BY seq DESC LIMIT 1), false))) THEN RAISE EXCEPTION 'only an owner says this'; END IF; RETURN NEW; END $source$;
CREATE TRIGGER no_new_people_without_role BEFORE INSERT ON entries FOR EACH ROW EXECUTE FUNCTION no_new_people_without_role();
ALTER TABLE entries ENABLE ALWAYS TRIGGER no_new_people_without_role;
CREATE INDEX protects_of ON entries (budget, seq) WHERE kind = 'protect';
CREATE OR REPLACE FUNCTION no_protect_without_role() RETURNS trigger LANGUAGE plpgsql VOLATILE SET search_path = allowance, pg_temp AS $source$ BEGIN IF (NEW.kind = 'protect' AND EXISTS (SELECT 1 FROM entries WHERE kind = 'role') AND (coalesce((SELECT json_true(body, '$.on') FROM entries WHERE kind = 'role' AND json_extract(body, '$.person') = NEW.actor AND json_extract(body, '$.role') = 'barred' ORDER BY seq DESC LIMIT 1), false) OR NOT coalesce((SELECT json_true(body, '$.on') FROM entries WHERE kind = 'role' AND json_extract(body, '$.person') = NEW.actor AND json_extract(body, '$.role') = 'owner' AND json_extract(body, '$.table') = json_extract(NEW.body, '$.table') AND budget = NEW.budget ORDER BY seq DESC LIMIT 1), false))) THEN RAISE EXCEPTION 'only an owner declares more protection'; END IF; RETURN NEW; END $source$;
CREATE TRIGGER no_protect_without_role BEFORE INSERT ON entries FOR EACH ROW EXECUTE FUNCTION no_protect_without_role();
ALTER TABLE entries ENABLE ALWAYS TRIGGER no_protect_without_role;
CREATE OR REPLACE FUNCTION no_protect_once_closed() RETURNS trigger LANGUAGE plpgsql VOLATILE SET search_path = allowance, pg_temp AS $source$ BEGIN IF (NEW.kind = 'protect' AND EXISTS (SELECT 1 FROM entries WHERE kind = 'close' AND budget = NEW.budget)) THEN RAISE EXCEPTION 'the budget is closed'; END IF; RETURN NEW; END $source$;
CREATE TRIGGER no_protect_once_closed BEFORE INSERT ON entries FOR EACH ROW EXECUTE FUNCTION no_protect_once_closed();
ALTER TABLE entries ENABLE ALWAYS TRIGGER no_protect_once_closed;
CREATE OR REPLACE FUNCTION no_row_once_protected() RETURNS trigger LANGUAGE plpgsql VOLATILE SET search_path = allowance, pg_temp AS $source$ BEGIN IF (NEW.kind = 'charge' AND coalesce(json_extract(NEW.body, '$.claim.unit.kind'), '') <> 'column'
            AND EXISTS (SELECT 1 FROM entries WHERE kind = 'protect' AND budget = CASE WHEN NEW.budget LIKE '%:p-________________________________' THEN substr(NEW.budget, 1, length(NEW.budget) - 35) ELSE NEW.budget END)) THEN RAISE EXCEPTION 'people are protected, not rows'; END IF; RETURN NEW; END $source$;
CREATE TRIGGER no_row_once_protected BEFORE INSERT ON entries FOR EACH ROW EXECUTE FUNCTION no_row_once_protected();
ALTER TABLE entries ENABLE ALWAYS TRIGGER no_row_once_protected;
CREATE OR REPLACE FUNCTION no_step_once_protected() RETURNS trigger LANGUAGE plpgsql VOLATILE SET search_path = allowance, pg_temp AS $source$ BEGIN IF (NEW.kind = 'step' AND EXISTS (SELECT 1 FROM entries AS paid, entries AS said
            WHERE paid.kind = 'charge' AND paid.request = NEW.request
            AND said.kind = 'protect' AND said.budget = CASE WHEN NEW.budget LIKE '%:p-________________________________' THEN substr(NEW.budget, 1, length(NEW.budget) - 35) ELSE NEW.budget END AND said.seq > paid.seq)) THEN RAISE EXCEPTION 'the session was paid for before more was protected'; END IF; RETURN NEW; END $source$;
CREATE TRIGGER no_step_once_protected BEFORE INSERT ON entries FOR EACH ROW EXECUTE FUNCTION no_step_once_protected();
ALTER TABLE entries ENABLE ALWAYS TRIGGER no_step_once_protected;
CREATE UNIQUE INDEX one_list ON entries (json_extract(body, '$.digest')) WHERE kind = 'list';
CREATE OR REPLACE FUNCTION within_the_rule() RETURNS trigger LANGUAGE plpgsql VOLATILE SET search_path = allowance, pg_temp AS $source$
DECLARE
    base text := CASE WHEN NEW.budget ~ ':p-[0-9a-f]{32}$' THEN left(NEW.budget, -35) ELSE NEW.budget END;
    rule json := (SELECT body::json -> 'rule' FROM entries WHERE kind = 'budget' AND budget = NEW.budget);
    cap text := coalesce((SELECT json_extract(body, '$.to') FROM entries WHERE kind IN ('seal', 'forget', 'raise')
        AND budget = base AND kind = 'raise' ORDER BY seq DESC LIMIT 1), rule ->> 'epsilon');
    last json := coalesce((SELECT totals::json -> 'after' FROM entries WHERE seq = greatest(
        (SELECT max(seq) FROM entries WHERE kind = 'charge' AND budget = NEW.budget),
        (SELECT max(seq) FROM entries WHERE kind = 'protect' AND budget = NEW.budget))),
        '{"epsilon":"0","renyi":"0","delta":"0"}');
    was json := NEW.totals::json -> 'before';
    now json := NEW.totals::json -> 'after';
BEGIN
    IF (was ->> 'epsilon' IS DISTINCT FROM last ->> 'epsilon') OR (was ->> 'renyi' IS DISTINCT FROM last ->> 'renyi')
        OR (was ->> 'delta' IS DISTINCT FROM last ->> 'delta')
        OR (was ->> 'epsilon' IS NULL AND now ->> 'epsilon' IS NOT NULL)
        OR NOT coalesce(at_most(was ->> 'epsilon', now ->> 'epsilon'), true)
        OR at_most(was ->> 'renyi', now ->> 'renyi') IS NOT TRUE
        OR at_most(was ->> 'delta', now ->> 'delta') IS NOT TRUE
    THEN RAISE EXCEPTION 'a charge begins where the last one ended, and gives nothing back'; END IF;
    IF NOT (coalesce(at_most(now ->> 'epsilon', cap), false)
            OR coalesce(at_most(plus(now ->> 'renyi', rule ->> 'c'), cap), false))
        OR at_most(now ->> 'delta', rule ->> 'delta_reserve') IS NOT TRUE
    THEN RAISE EXCEPTION 'a charge stays within its budget'; END IF;
    RETURN NEW;
END $source$;
CREATE TRIGGER within_the_rule BEFORE INSERT ON entries FOR EACH ROW WHEN (NEW.kind IN ('charge', 'protect')) EXECUTE FUNCTION within_the_rule();
ALTER TABLE entries ENABLE ALWAYS TRIGGER within_the_rule;
