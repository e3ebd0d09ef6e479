"""An answer as a card: the same words on the Answers page, in the report and in what is copied."""

from __future__ import annotations

from collections.abc import Collection
from html import escape

import dpengine as dp
from dpengine.messages import say, written_day
from dpengine.released.synthetic import MadeTable
from ui.parts import counted, fitting
from ui.shell.state import workspace
from ui.words.edge_words import edges
from ui.words.kept_words import not_kept
from ui.words.wording import cut_rows, headline, range_words


def words(answer: dp.Answer, before: str = "", aside: str = "") -> str:
    """The question with what stands around it, the finding, how far the truth may be, and what was cut."""
    told = say("answer.of", sentence=answer.sentence, table=answer.receipt["table"])
    beside = f' <span class="took">{escape(aside)}</span>' if aside else ""
    lost = f"<p>{escape(told_lost)}</p>" if (told_lost := not_kept(answer, _follows(answer))) else ""
    lead = f"<p>{escape(range_words(answer))}</p>{lost}{fitting.html(answer)}"
    return f"<p class='question'>{escape(before + told)}{beside}</p>{counted.finding(answer, lead)}"


def sentence(answer: dp.Answer) -> str:
    """The answer in one breath, with its range and what was cut, to be put into a letter."""
    question = say("answer.of", sentence=answer.sentence, table=answer.receipt["table"])
    told = say("answers.copied", question=question, finding=headline(answer), range=range_words(answer))
    parts = (
        told,
        not_kept(answer, _follows(answer)),
        edges(answer),
        *fitting.notes(answer),
        counted.words(answer.query),
        cut_rows(answer),
        _source(answer),
    )
    return " ".join(one for one in parts if one)


def _follows(answer: dp.Answer) -> Collection[str]:
    """The columns of a synthetic table whose values follow another answer; none where its rows are not there."""
    if answer.query.makes_rows != "fitted":
        return ()
    try:
        made = workspace().table(answer.receipt["table"]).synthetic(answer)
    except dp.AllowanceError:  # its table was forgotten
        return ()
    return made.refined if isinstance(made, MadeTable) and made.ready else ()


def _source(answer: dp.Answer) -> str:
    return say("answers.source", day=written_day(answer.at[:10]), receipt=answer.receipt["charge"]["hash"][:8])
