"""The rows of a synthetic table: fitted in the background once what was drawn is stored, and again where they are gone.

Fitting takes up to minutes, costs nothing and sees released numbers alone. It is a job of its own: the question is
over, and its answer can be seen, as soon as it is stored. A process that ends meanwhile loses nothing that was paid
for.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from functools import partial

from dpengine.asking.answers import Answer, make_answer
from dpengine.asking.paid_answers import answers_of_kinds
from dpengine.asking.release import Asker
from dpengine.ledger.ledger import Entry
from dpengine.mechanisms import catalogue
from dpengine.mechanisms.answered import Answered
from dpengine.mechanisms.query import AnyQuery
from dpengine.released.synthetic import Curve, MadeTable, Synthetic

MOST_CURVES = 100  # answers in which a curve is looked for


def made_rows(asker: Asker, answer: Answer) -> Synthetic | MadeTable:
    if answer.query.makes_rows != "fitted":
        return Synthetic(answer.query, answer.value)
    path = asker.home.published_file(answer.request_id)
    return MadeTable(
        answer.query, answer.value, path, partial(_curves, asker, answer), partial(_progress, asker, answer)
    )


def with_rows(asker: Asker, query: AnyQuery, request: str, carry: Callable[[], Entry]) -> Callable[[], object]:
    """The work for a question; the fit of a synthetic table's rows is handed over at its end."""
    if query.makes_rows != "fitted":
        return carry

    def carry_then_fit() -> None:
        submit_rows(asker, make_answer(query, carry()))

    return carry_then_fit


def submit_rows(asker: Asker, answer: Answer) -> None:
    table = made_rows(asker, answer)
    if isinstance(table, MadeTable) and not table.ready:
        fit = _fit_of(answer)
        work = partial(table.make, partial(asker.home.jobs.note, fit))
        asker.home.jobs.submit(fit, work, turn=asker.actor, long=True)


def _fit_of(answer: Answer) -> str:
    """The id of its job."""
    return f"rows-{hashlib.sha256(answer.request_id.encode()).hexdigest()[:32]}"


def _progress(asker: Asker, answer: Answer) -> tuple[int, int] | None:
    """Of a fit that waits or runs in this process."""
    jobs = asker.home.jobs
    return None if jobs.state(_fit_of(answer)).over else jobs.progress(_fit_of(answer))


def _curves(asker: Asker, answer: Answer) -> list[Curve]:
    """What other answers that were paid for tell of the columns, one by one; most of them noise tells nothing."""
    kinds = [key for key, kind in catalogue.items() if kind.spreads is not Answered.spreads]
    found, schema = [], answer.query.facts.schema
    for one in answers_of_kinds(asker, kinds, MOST_CURVES, answer.request_id):
        if one.query.state(one.value, one.interval):
            continue
        for column, starts, counts, off in one.query.spreads(one.value):
            declared = schema.columns.get(column)
            if declared is not None and declared == one.query.facts.schema.columns.get(column):
                found.append(Curve(column, starts, counts, off, declared.size, one.request_id))
    return found
