"""Everything that deals with privacy. The names below are the public interface; the rest may move."""

from dpengine.accountant.budget import Budget
from dpengine.asking.answers import Answer, Job, Meter, Preview
from dpengine.asking.checking import ColumnDoubted
from dpengine.core.errors import AllowanceError, BudgetExceeded
from dpengine.declared.date_column import Date
from dpengine.declared.dialect import Dialect
from dpengine.declared.schema import Category, ItemSet, Number, Schema, yes_no
from dpengine.declared.source import Source
from dpengine.declared.unit import Unit
from dpengine.ledger.rows import Entry
from dpengine.mechanisms import catalogue
from dpengine.mechanisms.query import AnyQuery as Query
from dpengine.table import Table
from dpengine.workspace import Workspace, open_workspace

__all__ = [
    "AllowanceError",
    "Answer",
    "Budget",
    "BudgetExceeded",
    "Category",
    "ColumnDoubted",
    "Date",
    "Dialect",
    "Entry",
    "ItemSet",
    "Job",
    "Meter",
    "Number",
    "Preview",
    "Query",
    "Schema",
    "Source",
    "Table",
    "Unit",
    "Workspace",
    "catalogue",
    "open_workspace",
    "yes_no",
]
