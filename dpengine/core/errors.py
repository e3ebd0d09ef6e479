"""The errors a person can cause. They carry a message code and public facts, never a value from the data."""

from __future__ import annotations

from dpengine.messages import say


class AllowanceError(Exception):
    """Something a person can put right. `str()` is one sentence that says what to do next."""

    def __init__(self, code: str, /, **facts: object) -> None:
        super().__init__(code)
        self.code = code
        self.facts = facts

    def __str__(self) -> str:
        return say(self.code, **self.facts)


class BudgetExceeded(AllowanceError):
    """The question costs more than is left. Nothing was spent."""
