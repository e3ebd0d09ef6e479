"""All planted errors, in the order of the table."""

from __future__ import annotations

from tests.planted import accounts, files, forms, ledgers, questions
from tests.planted.registry import Planted

PLANTED: list[Planted] = [
    *questions.PLANTED, *accounts.PLANTED, *ledgers.PLANTED, *files.PLANTED, *forms.PLANTED,
]  # fmt: skip
