"""The errors a person can cause. They carry a message code and public facts, never a value from the data."""

from __future__ import annotations

from dpengine.messages import say

DAMAGED = "ledger.damaged"


class AllowanceError(Exception):
    """Something a person can put right. `str()` is one sentence that says what to do next."""

    def __init__(self, code: str, /, **facts: object) -> None:
        super().__init__(code)
        self.code = code
        self.facts = facts

    def __str__(self) -> str:
        return say(self.code, **self.facts)


class refusing:
    """A context that turns the named errors into one refusal with a message code: their own text may quote a cell, a
    statement or an address."""

    def __init__(self, code: str, *errors: type[BaseException], **facts: object) -> None:
        self._code, self._errors, self._facts = code, errors, facts

    def __enter__(self) -> None: ...

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: object) -> None:
        if kind is not None and issubclass(kind, self._errors):
            raise AllowanceError(self._code, **self._facts) from None


class Misused(Exception):
    """A command was called with arguments that it does not know. `str()` of the error says how to call the command."""


class UnknownTable(AllowanceError):
    """There is no table of this name, or the person may not know of it."""

    def __init__(self, name: object) -> None:
        super().__init__("table.unknown", name=str(name)[:80])


class UnknownBudget(AllowanceError):
    """There is no such budget in this ledger."""

    def __init__(self) -> None:
        super().__init__("budget.unknown")


class LedgerDamaged(AllowanceError):
    """The ledger cannot be trusted, so nothing more can be spent from it."""

    def __init__(self) -> None:
        super().__init__(DAMAGED)


class BudgetExceeded(AllowanceError):
    """The question costs more than is left. Nothing was spent."""
