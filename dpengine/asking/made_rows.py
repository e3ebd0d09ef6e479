"""The rows of a synthetic table: fitted in the background once what was drawn is stored, and again where they are gone.

Fitting takes up to minutes, costs nothing and sees released numbers alone. The answer is stored first, so a process
that ends meanwhile loses nothing that was paid for.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from dpengine.asking.answers import Answer, make_answer
from dpengine.asking.release import Asker
from dpengine.ledger.ledger import Entry
from dpengine.mechanisms.query import AnyQuery
from dpengine.mechanisms.synthetic.synthetic_table import SyntheticTable
from dpengine.released.made_table import MadeTable
from dpengine.released.synthetic import Synthetic


def made(asker: Asker, answer: Answer) -> Synthetic | MadeTable:
    if isinstance(answer.query, SyntheticTable):
        return MadeTable(answer.query, answer.value, asker.home.published_file(answer.request_id))
    return Synthetic(answer.query, answer.value)


def with_rows(asker: Asker, query: AnyQuery, request: str, carry: Callable[[], Entry]) -> Callable[[], object]:
    """The work for a question; of a synthetic table with the fit of its rows at the end."""
    if not isinstance(query, SyntheticTable):
        return carry

    def carry_and_fit() -> None:
        _fit(asker, make_answer(query, carry()))

    return carry_and_fit


def submit(asker: Asker, answer: Answer) -> None:
    if isinstance(made(asker, answer), MadeTable):
        work = partial(_fit, asker, answer)
        asker.home.jobs.submit(answer.request_id, work, turn=asker.actor, long=True)


def _fit(asker: Asker, answer: Answer) -> None:
    table = made(asker, answer)
    assert isinstance(table, MadeTable)
    table.make(partial(asker.home.jobs.note, answer.request_id))
