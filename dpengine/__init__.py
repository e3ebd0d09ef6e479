"""Everything that deals with privacy. The names below are the public interface; the rest may move.

Each name is imported when it is first used: the first screen and the commands need few of them.
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from dpengine.accountant.filter import Budget
    from dpengine.asking.answers import Answer, Job, Meter, Preview
    from dpengine.asking.checking import ColumnDoubted
    from dpengine.core.errors import AllowanceError, BudgetExceeded
    from dpengine.declared.date_column import Date
    from dpengine.declared.declaration import Declaration
    from dpengine.declared.dialect import Dialect
    from dpengine.declared.schema import Category, ItemSet, Number, Schema, yes_no
    from dpengine.declared.source import Joined, Source
    from dpengine.declared.summary import Summary
    from dpengine.declared.unit import Unit
    from dpengine.ledger.rows import Entry
    from dpengine.mechanisms import catalogue
    from dpengine.mechanisms.query import AnyQuery as Query
    from dpengine.reading.reader import NotUnderstood
    from dpengine.table import Table
    from dpengine.workspace import Workspace, open_workspace

_MODULES = {
    "accountant.filter": ["Budget"],
    "asking.answers": ["Answer", "Job", "Meter", "Preview"],
    "asking.checking": ["ColumnDoubted"],
    "core.errors": ["AllowanceError", "BudgetExceeded"],
    "declared.date_column": ["Date"],
    "declared.declaration": ["Declaration"],
    "declared.dialect": ["Dialect"],
    "declared.schema": ["Category", "ItemSet", "Number", "Schema", "yes_no"],
    "declared.source": ["Joined", "Source"],
    "declared.summary": ["Summary"],
    "declared.unit": ["Unit"],
    "ledger.rows": ["Entry"],
    "mechanisms": ["catalogue"],
    "mechanisms.query": ["Query"],
    "reading.reader": ["NotUnderstood"],
    "table": ["Table"],
    "workspace": ["Workspace", "open_workspace"],
}
_HOMES = {name: module for module, names in _MODULES.items() for name in names}

__all__ = [
    "AllowanceError",
    "Answer",
    "Budget",
    "BudgetExceeded",
    "Category",
    "ColumnDoubted",
    "Date",
    "Declaration",
    "Dialect",
    "Entry",
    "ItemSet",
    "Job",
    "Joined",
    "Meter",
    "NotUnderstood",
    "Number",
    "Preview",
    "Query",
    "Schema",
    "Source",
    "Summary",
    "Table",
    "Unit",
    "Workspace",
    "catalogue",
    "open_workspace",
    "yes_no",
]


def __getattr__(name: str) -> object:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    found = getattr(import_module(f"dpengine.{_HOMES[name]}"), "AnyQuery" if name == "Query" else name)
    globals()[name] = found
    return found


def __dir__() -> list[str]:
    return sorted([*globals(), *__all__])
