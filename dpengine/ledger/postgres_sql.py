"""The ledger's SQL as Postgres understands it, made from SQLite's (store.py says why).

What differs, and what becomes of it:

    ?, :name                        %s, %(name)s
    json_extract(body, '$.x')       a function of ours of that name; json_number where the value is a number, because
                                    a text is not compared with a number here; json_true for a truth
    json_each(list)                 each_of(list), a function of ours
    GLOB 'p-*', a IS NOT (…)        LIKE 'p-%', IS DISTINCT FROM (…)
    INDEXED BY name, STRICT         nothing: Postgres chooses its indexes, and is always strict
    LIMIT -1                        no limit
    INTEGER, TEXT                   bigint, text COLLATE "C": sorted and compared by bytes
    CREATE TRIGGER … WHEN …         a function in plpgsql and a trigger that calls it. One against DELETE is against
                                    TRUNCATE too, which has no rows to fire for; none is switched off by a session's
                                    replication role

Postgres alone has `within_the_rule`: it adds and compares the Fractions of a charge exactly, which SQLite's integers
cannot. A charge must begin where the last one of its budget ended, lower none of the sums, and end within the budget's
rule. So a writer that skips the engine exceeds no cap by what its rows say; that a row says too little of a loss is
found by `verify`, which computes every cost anew.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache

_NUMBERS = ("$.index", "$.claim.parameters.questions")
_EXTRACTED = re.compile(r"json_extract\((\w+(?:\.\w+)?), '([^']+)'\)")
_TRUTH = re.compile(r"coalesce\(\(SELECT json_extract\(body, '\$\.on'\)(.*?)LIMIT 1\), 0\)", re.DOTALL)
_GLOB = re.compile(r"GLOB '([^'*]*)\*'")
_IS_NOT = re.compile(r"IS NOT (?=\(|coalesce\()")
_INDEXED = re.compile(r" INDEXED BY \w+")
_NAMED = re.compile(r"(?<![:\w]):([a-z]+)")
_TRIGGER = re.compile(
    r"CREATE TRIGGER (\w+) BEFORE (INSERT|UPDATE|DELETE) ON (\w+)\s+(?:WHEN (.*?)\s+)?"
    r"BEGIN SELECT RAISE\(ABORT, '([^']*)'\); END",
    re.DOTALL,
)
_UNKNOWN = re.compile(r"\b(PRAGMA|rowid|OR REPLACE|OR IGNORE|json_set|GLOB|RAISE\(|strftime)\b")


@dataclass(frozen=True)
class Function:
    """A function of ours in the schema. Postgres keeps its source word for word, so it can be compared."""

    name: str
    takes: str
    gives: str
    language: str
    volatility: str  # i: the same for the same, so an index may be built on it; v: reads tables
    source: str

    def create(self, schema: str) -> str:
        kind = "IMMUTABLE PARALLEL SAFE" if self.volatility == "i" else "VOLATILE"
        where = f" SET search_path = {schema}, pg_temp" if self.language == "plpgsql" else ""
        head = f"CREATE OR REPLACE FUNCTION {self.name}({self.takes}) RETURNS {self.gives} LANGUAGE {self.language}"
        return f"{head} {kind}{where} AS $source${self.source}$source$"


Part = str | Function

_AT = "body::json #>> string_to_array(substr(path, 3), '.')"
_DENOMINATOR = "SELECT coalesce(nullif(split_part($1, '/', 2), ''), '1')::numeric"
FUNCTIONS = (
    Function("json_extract", "body text, path text", "text", "sql", "i", f"SELECT {_AT}"),
    Function("json_number", "body text, path text", "bigint", "sql", "i", f"SELECT ({_AT})::bigint"),
    Function("json_true", "body text, path text", "boolean", "sql", "i", f"SELECT ({_AT}) = 'true'"),
    Function("each_of", "list text", "TABLE (value text)", "sql", "i", "SELECT json_array_elements_text(list::json)"),
    Function("numerator", "text", "numeric", "sql", "i", "SELECT split_part($1, '/', 1)::numeric"),
    Function("denominator", "text", "numeric", "sql", "i", _DENOMINATOR),
    Function(  # a ≤ b for two Fractions, exactly
        "at_most", "a text, b text", "boolean", "plpgsql", "i",
        " BEGIN RETURN numerator(a) * denominator(b) <= numerator(b) * denominator(a); END ",
    ),
    Function(
        "plus", "a text, b text", "text", "plpgsql", "i",
        " BEGIN RETURN concat(numerator(a) * denominator(b) + numerator(b) * denominator(a),"
        " '/', denominator(a) * denominator(b)); END ",
    ),
)  # fmt: skip

_WITHIN = """
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
END """


def _guard(name: str, source: str) -> Function:
    return Function(name, "", "trigger", "plpgsql", "v", source)


RULE = (
    _guard("within_the_rule", _WITHIN),
    "CREATE TRIGGER within_the_rule BEFORE INSERT ON entries FOR EACH ROW"
    " WHEN (NEW.kind IN ('charge', 'protect')) EXECUTE FUNCTION within_the_rule()",
    "ALTER TABLE entries ENABLE ALWAYS TRIGGER within_the_rule",
)


@lru_cache(maxsize=500)
def asked(sql: str, with_values: bool) -> str:
    """A query, and with values its places for them."""
    told = _INDEXED.sub("", _expressions(sql)).replace("LIMIT ?", "LIMIT nullif(?, -1)")
    _refuse_unknown(told)
    if not with_values:
        return told
    return _NAMED.sub(r"%(\1)s", told.replace("%", "%%").replace("?", "%s"))


def made(statement: str) -> list[Part]:
    """A statement of the schema: itself, or for a trigger its function and the trigger that calls it."""
    found = _TRIGGER.fullmatch(statement.strip())
    if found is None:
        told = re.sub(r"\bINTEGER\b", "bigint", re.sub(r"\bTEXT\b", 'text COLLATE "C"', _expressions(statement)))
        told = re.sub(r"\)\s*STRICT$", ")", told)
        _refuse_unknown(told)
        return [told]
    name, act, table, when, says = found.groups()
    refusal = f"RAISE EXCEPTION '{says}';"
    if when is None:
        source, each = f" BEGIN {refusal} END ", "STATEMENT"
        act = "DELETE OR TRUNCATE" if act == "DELETE" else act
    else:
        source, each = f" BEGIN IF ({_expressions(when)}) THEN {refusal} END IF; RETURN NEW; END ", "ROW"
    _refuse_unknown(source)
    call = f"CREATE TRIGGER {name} BEFORE {act} ON {table} FOR EACH {each} EXECUTE FUNCTION {name}()"
    return [_guard(name, source), call, f"ALTER TABLE {table} ENABLE ALWAYS TRIGGER {name}"]


def parts_of(schema: Iterable[str]) -> list[Part]:
    """All that the database gets: functions of ours, tables, indexes and triggers."""
    return [*FUNCTIONS, *(part for statement in schema for part in made(statement)), *RULE]


def _expressions(sql: str) -> str:
    told = _TRUTH.sub(r"coalesce((SELECT json_true(body, '$.on')\1LIMIT 1), false)", sql)
    told = _EXTRACTED.sub(lambda found: _extract(*found.groups()), told)
    told = _GLOB.sub(r"LIKE '\1%'", told).replace("json_each(", "each_of(")
    return _IS_NOT.sub("IS DISTINCT FROM ", told)


def _extract(body: str, path: str) -> str:
    return f"{'json_number' if path in _NUMBERS else 'json_extract'}({body}, '{path}')"


def _refuse_unknown(sql: str) -> None:
    if found := _UNKNOWN.search(sql):
        raise ValueError(f"this SQL has no form for Postgres yet: {found.group()}")
