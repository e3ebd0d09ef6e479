"""Every code that the program raises, and why nobody can cause some of them."""

from __future__ import annotations

import ast
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


NUMBERS_ALONE = "is said of numbers that were typed; no table is within its reach"
BY_HAND = "needs a ledger or a registry that was rewritten by hand; tests/engine holds those"
PUT_BACK = "is said of a workspace that was put back, taken apart or is in use, before any row is read"
SHARED = "is said of a ledger in Postgres, its address or its folder, which know of no row; tests/engines holds those"
ELSEWHERE = "is said of a table in Postgres or Spark; tests/engines holds those"
CANNOT: dict[str, str] = {
    "backup.failed": "needs a disk that fails while it copies; tests of the backup hold that",
    "backup.loading": PUT_BACK,
    "budget.closed": PUT_BACK,
    "ledger.rolled_back": PUT_BACK,
    **dict.fromkeys(
        (
            "ledger.address",
            "ledger.both",
            "ledger.folder_apart",
            "ledger.no_driver",
            "ledger.other_folder",
            "ledger.two",
            "ledger.unreachable",
            "ledger.unsure",
            "move.database",
        ),
        SHARED,
    ),
    "move.meanwhile": PUT_BACK,
    "recover.not_copy": PUT_BACK,
    "recover.other_head": PUT_BACK,
    "recover.short_head": PUT_BACK,
    "registry.missing": PUT_BACK,
    "registry.rolled_back": PUT_BACK,
    "workspace.copy": PUT_BACK,
    "workspace.in_use": PUT_BACK,
    "workspace.mending": PUT_BACK,
    "workspace.unwritable": PUT_BACK,
    "engine.absent": ELSEWHERE,
    "fit.both": "takes an allowance that one question nearly fills; tests/engine/asking/test_checking.py has it",
    "engine.away": ELSEWHERE,
    "engine.changed": ELSEWHERE,
    "engine.no_training": ELSEWHERE,
    "engine.other_spark": ELSEWHERE,
    "engine.raw_stays": ELSEWHERE,
    "engine.rows_stay": ELSEWHERE,
    "data.names.spelled_first": "is said while only the line of names was looked at",
    "protect.shared": "is decided from the rows of the ledger about people, before any table is read",
    "groups.there": "is said of the names of groups of people, before any table is read",
    **dict.fromkeys(
        ("owner.confirm", "owner.confirm_name", "owner.confirm_typed"),
        "is said of a name that was typed beside another",
    ),
    "spend.wish.out_of_reach": NUMBERS_ALONE,
    "loss.range": "a programming error: every question states its own loss",
    "loss.unknown": BY_HAND,
    "lecture.epsilon_range": NUMBERS_ALONE,
    "verify.ledger_cut": BY_HAND,
    "verify.ledger_unreadable": BY_HAND,
}
PREFIXES_CANNOT = dict.fromkeys(("whatif.", "validity.", "overfitting.", "audit."), NUMBERS_ALONE)
PREFIXES_CANNOT["people."] = "is decided from the rows of the ledger about people, before any table is read"
PREFIXES_CANNOT["token."] = "is said of a token, which knows of tables no more than their names"
PREFIXES_CANNOT["door."] = "is said of what a program sent, before any table is read"
PREFIXES_CANNOT["porter."] = PREFIXES_CANNOT["serve."] = "is said of who signs in, before any page"
PREFIXES_CANNOT["head."] = "is said of a file of heads, before any table is read"
PREFIXES_CANNOT["ledger.database_"] = PREFIXES_CANNOT["carry."] = SHARED
PREFIXES_CANNOT["gate."] = "is said of the address that was asked for, before any page"
PREFIXES_CANNOT["upload."] = "is said of a file that was not kept, or is gone, and so not read"
PREFIXES_CANNOT["source."] = "needs a database; tests/engines/test_sources.py causes them on rows that hold canaries"
PREFIXES_CANNOT["workshop."] = "a workshop has no table but the bundled samples"


# What raises a refusal, and which of its arguments is the code.
RAISING = {"AllowanceError": 0, "BudgetExceeded": 0, "refusing": 0, "read_whole": 3}


def codes() -> set[str]:
    """Every code that the program raises, by its source; and those that are put together there."""
    found: set[str] = {
        "load.ragged",
        "load.quoting",
        "load.line_end",
        "load.long_line",
        "load.encoding",
        "load.broken",
        "load.unclosed",
        "load.header_quoting",
        "release.interrupted",
        "ledger.locked",
        "ledger.unwritable",
        "ledger.damaged",
        "table.unknown",
        "budget.unknown",
        *(f"{kind}.cells{more}" for kind in ("crosstab", "synthetic") for more in ("", "_open")),
        *(
            f"train.{name}"
            for name in ("calibration", "region", "iterate", "steps", "lattice", "rate", "radius", "clip")
        ),
    }
    for package in ("dpengine", "ui", "pages", "demos"):
        for path in sorted((ROOT / package).rglob("*.py")):
            text = path.read_text(encoding="utf-8")
            if not any(f"{name}(" in text for name in RAISING):
                continue
            for node in ast.walk(ast.parse(text)):
                called = getattr(node.func, "id", getattr(node.func, "attr", "")) if isinstance(node, ast.Call) else ""
                if isinstance(node, ast.Call) and called in RAISING:
                    at = RAISING[called]
                    for part in ast.walk(node.args[at]) if len(node.args) > at else ():
                        if isinstance(part, ast.Constant) and isinstance(part.value, str) and "." in part.value:
                            found.add(part.value)
    return {code for code in found if not code.endswith(".")}


def cannot(code: str) -> str | None:
    """Why nobody can cause it, or it cannot tell of a table."""
    return CANNOT.get(code) or next((why for start, why in PREFIXES_CANNOT.items() if code.startswith(start)), None)
