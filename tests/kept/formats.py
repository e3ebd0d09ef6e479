"""The formats that open for ever, written down from the code: `python -m tests.kept.formats` writes docs/formats/.

The shape of what is stored is read from the kept workspaces of the newest version, or from others of the same kinds:
`one_shape` merges records into names and types, so that a field that goes, comes, or changes its type is seen.
"""

from __future__ import annotations

import json
import sqlite3
import sys
from collections import defaultdict
from collections.abc import Iterable
from contextlib import closing
from pathlib import Path
from typing import Any

from dpengine.ledger import postgres_store, sqlite_file
from dpengine.ledger.chain import FORMAT
from dpengine.ledger.exports import export_lines
from dpengine.ledger.ledger import Ledger
from dpengine.storage import registry
from tests.kept.links import links_json
from ui.api import openapi

ROOT = Path(__file__).resolve().parents[2]
FOLDER = ROOT / "docs" / "formats"
# What a question released or was given has the question's own shape, stated by its card and in the API's description.
OPEN = {"value", "interval", "raw", "population", "parameters", "ask", "parts", "then"}
BY_NAME = {"bounds", "columns", "coefficients", "intervals"}  # keys are columns, not fields
BY_PERSON = {"own", "of_table", "moved", "of"}  # in the row of a protection: keys are people or tables


def one_shape(records: Iterable[Any], name: str = "") -> Any:
    """Of JSON values: a type's name, several, a list's one shape, or the fields, those that may be absent with “?”."""
    records = list(records)
    if name in OPEN:
        return "any"
    kinds = sorted({_kind(record) for record in records})
    of_people = name in BY_PERSON and all(isinstance(one, dict) and "totals" not in one for one in records)
    if kinds == ["object"] and (name in BY_NAME or of_people):
        return {"*": one_shape((value for one in records for value in one.values()), "of" if of_people else "")}
    if kinds == ["object"]:
        fields: dict[str, list[Any]] = defaultdict(list)
        for record in records:
            for field, value in record.items():
                fields[field].append(value)
        return {
            field + ("" if len(values) == len(records) else "?"): one_shape(values, field)
            for field, values in sorted(fields.items())
        }
    if kinds == ["array"]:
        return [one_shape(item for record in records for item in record)]
    if "object" in kinds or "array" in kinds:  # beside others
        apart = [[record for record in records if _kind(record) == kind] for kind in kinds]
        return {"|": [one_shape(some, name) for some in apart]}
    return " | ".join(kinds)


def misfit(shape: Any, value: Any, place: str = "") -> str:
    """Where a value does not have a shape; empty if it has."""
    if shape == "any":
        return ""
    if isinstance(shape, dict) and set(shape) == {"|"}:
        fits = any(not misfit(one, value) for one in shape["|"])
        return "" if fits else f"{place} has none of its shapes"
    if isinstance(shape, dict) and isinstance(value, dict):
        if set(shape) == {"*"}:
            return next((why for name, one in value.items() if (why := misfit(shape["*"], one, f"{place}.{name}"))), "")
        known = {name.removesuffix("?") for name in shape}
        strange = [f"{place}.{name} is new" for name in value if name not in known]
        strange += [f"{place}.{name} is missing" for name in shape if not name.endswith("?") and name not in value]
        within = (
            misfit(inner, value[name.removesuffix("?")], f"{place}.{name}")
            for name, inner in shape.items()
            if name.removesuffix("?") in value
        )
        return next((why for why in (*strange, *within) if why), "")
    if isinstance(shape, list) and isinstance(value, list):
        return next((why for one in value if (why := misfit(shape[0], one, f"{place}[]"))), "")
    fits = isinstance(shape, str) and _kind(value) in shape.split(" | ")
    return "" if fits else f"{place} is {_kind(value)}, not {shape}"


def _kind(value: Any) -> str:
    names = {bool: "boolean", int: "integer", float: "number", str: "string", type(None): "null", list: "array"}
    return names.get(type(value), "object")


def ledger_sql() -> str:
    """The tables of the two SQLite files, with everything that guards them."""
    lines = [f"-- ledger.sqlite: PRAGMA user_version = {sqlite_file.VERSION}; a row's hash begins with {FORMAT!r}"]
    lines += [f"{statement.strip()};" for statement in sqlite_file.SCHEMA]
    lines += [f"-- registry.sqlite: PRAGMA user_version = {sqlite_file.VERSION}", registry._CREATE.strip()]
    return "\n".join(lines) + "\n"


def rows_json(ledgers: Iterable[Path]) -> dict[str, Any]:
    """Every kind of row: the shape of its body and of its sums."""
    by_kind: dict[str, list[Any]] = defaultdict(list)
    for path in ledgers:
        for kind, found in rows_of(path):
            by_kind[kind].append(found)
    shapes = {kind: one_shape(records) for kind, records in sorted(by_kind.items())}
    shapes["wish"]["body"]["claim"] = {"|": ["null", shapes["charge"]["body"]["claim"]]}  # of the question that waits
    return shapes


def rows_of(ledger: Path) -> list[tuple[str, Any]]:
    with closing(sqlite3.connect(ledger)) as db:
        rows = db.execute("SELECT kind, body, totals FROM entries ORDER BY seq").fetchall()
    named = [(kind, {"body": body, "totals": totals}) for kind, body, totals in rows]
    return [(kind, {name: json.loads(text) for name, text in found.items() if text}) for kind, found in named]


def export_json(path: Path) -> dict[str, Any]:
    """A ledger's export: the first line, and the line of a row."""
    ledger = Ledger(path)
    try:
        first, *rows = map(json.loads, export_lines(ledger))
    finally:
        ledger.close()
    return {"first": one_shape([first]), "row": one_shape(rows)}


def api_json() -> Any:
    """The description without its sentences."""

    def bare(part: Any, within: str = "") -> Any:
        if isinstance(part, dict):
            kept = {name: value for name, value in part.items() if within == "properties" or name not in _SENTENCES}
            return {name: bare(value, name) for name, value in kept.items()}
        return [bare(one) for one in part] if isinstance(part, list) else part

    return bare(openapi.described("en"))


_SENTENCES = {"description", "summary", "title"}


def postgres_sql() -> str:
    """The same ledger in PostgreSQL; `allowance` stands for the schema's name."""
    parts = (*postgres_store._OWN, *postgres_store.parts_of(sqlite_file.SCHEMA))
    written = (part.create("allowance") if isinstance(part, postgres_store.Function) else part for part in parts)
    return f"-- edition: {sqlite_file.VERSION}\n" + "".join(f"{statement.strip()};\n" for statement in written)


def model_shapes(models: Iterable[Any]) -> dict[str, Any]:
    """A downloaded model, of a training and of a first look."""
    by_origin: dict[str, list[Any]] = {"trained": [], "of a first look": []}
    for model in models:
        by_origin["trained" if "coefficients" in model else "of a first look"].append(model)
    return {origin: one_shape(found) for origin, found in by_origin.items()}


def texts(scratch: Path) -> dict[str, str]:
    """Each file of docs/formats, from unpacked workspaces and what is expected of them."""
    expected = json.loads((scratch / "expected.json").read_text(encoding="utf-8"))
    receipts = [answer["receipt"] for answer in expected["answers"].values()]
    steps = [step["receipt"] for steps in expected["steps"].values() for step in steps]
    ledgers = [scratch / "own" / "ledger.sqlite", scratch / "served" / "var" / "ledger.sqlite"]
    every = [link for links in expected["links"].values() for link in links]
    found: dict[str, Any] = {
        "rows.json": rows_json(ledgers),
        "export.json": export_json(ledgers[0]),
        "receipt.json": {"answer": one_shape(receipts), "step": one_shape(steps)},
        "declaration.json": one_shape(expected["declarations"].values()),
        "model.json": model_shapes(expected["models"].values()),
        "api-v1.json": api_json(),
        "links.json": links_json(every),
    }
    written = {name: json.dumps(shape, ensure_ascii=False, indent=1) + "\n" for name, shape in found.items()}
    return {"ledger.sql": ledger_sql(), "ledger-postgres.sql": postgres_sql()} | written


def main() -> None:
    from tests.kept.test_kept import NEWEST, unpacked

    with unpacked(NEWEST) as scratch:
        FOLDER.mkdir(exist_ok=True)
        for name, text in texts(scratch).items():
            (FOLDER / name).write_text(text, encoding="utf-8")
    print(f"docs/formats: {len(list(FOLDER.iterdir()))} files")


if __name__ == "__main__":
    sys.path.insert(0, str(ROOT / "tests"))
    main()
