"""Downloads: a spreadsheet without formulas, a notebook, and a draft entry for OpenDP's registry of deployments."""

from __future__ import annotations

import io
import json
import re
import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from fractions import Fraction
from typing import TYPE_CHECKING

from dpengine.core.exact import float_above
from dpengine.core.types import JsonObject
from dpengine.declared.facts import Facts
from dpengine.mechanisms.card import AnswerKind, Card
from dpengine.messages import hidden, say
from dpengine.messages.language import stored

if TYPE_CHECKING:
    from openpyxl.cell import WriteOnlyCell
    from openpyxl.styles import Font

LONGEST_CELL = 32_767  # signs, by the format
_TITLE = re.compile(r"[\[\]:*?/\\'\x00-\x1f]")
_STILL = datetime(2000, 1, 1, tzinfo=UTC).replace(tzinfo=None)  # no clock in a file: the same rows are the same bytes

Cell = str | int | float | Fraction | None


def as_sheet(headings: Sequence[str], rows: Iterable[Sequence[Cell]], title: str = "answers") -> bytes:
    """One sheet with bold headings. Numbers stay numbers; a text that looks like a formula is shown, not computed."""
    from openpyxl import Workbook  # slow to import
    from openpyxl.styles import Font

    book = Workbook(write_only=True)
    book.properties.created = book.properties.modified = _STILL
    sheet = book.create_sheet(_TITLE.sub(" ", title).strip()[:31] or "answers")
    sheet.append([_cell(sheet, cell, Font(bold=True)) for cell in headings])
    for row in rows:
        sheet.append([_cell(sheet, cell) for cell in row])
    out = io.BytesIO()
    book.save(out)
    return out.getvalue()


def _cell(sheet: object, value: Cell, font: Font | None = None) -> WriteOnlyCell:
    from openpyxl.cell import WriteOnlyCell

    if isinstance(value, Fraction):
        value = int(value) if value.denominator == 1 else float(value)
    if isinstance(value, str):
        value = "".join(" " if hidden(sign) and sign not in "\t\n" else sign for sign in value)[:LONGEST_CELL]
    cell = WriteOnlyCell(sheet, value=value)
    if isinstance(value, str):
        cell.data_type = "s"  # openpyxl would make a formula of what begins with =
    if font is not None:
        cell.font = font
    return cell


# The cells of a notebook, in order. The words between them come from the catalogue.
_READ = (
    "from dpengine.asking.exports import Account\n\naccount = Account.read(RECORDS)\nprint(*account.lines(), sep='\\n')"
)
_CHECK = "print(*account.checked(), sep='\\n')"
_LEDGER = "LEDGER = ''\nprint(*account.against(LEDGER), sep='\\n') if LEDGER else None"
_COMPARE = """from dpengine.released.compare import compare

answers = [account.figures(number) for number in range(len(account.records))]
first = next((figures for figures in answers if sum(figure.tells for figure in figures) > 1), [])
picked = [figure for figure in first if figure.tells][:2]
if picked:
    compared = compare(picked)
    apart = compared.pairs[0].difference
    print(*(figure.part for figure in picked), sep=' − ')
    print(float(apart.value), (float(apart.low), float(apart.high)), 1 - float(compared.beta))"""

_LOOK = """from dpengine.released.look import Look

answers = [account.answer(number) for number in range(len(account.records))]
looks = [answer.value for answer in answers if answer is not None and isinstance(answer.value, Look)]
for look in looks:
    for column in look.columns:
        print(column)
        for bar in look.bars(column):
            print(f'   {bar.label}: {bar.value:.0f} ({bar.low:.0f} – {bar.high:.0f})')
    figures = look.to_frame()"""


def notebook(lines: Iterable[str]) -> JsonObject:
    """An account as a Jupyter notebook, format 4.5, from `Table.account_lines`. It holds receipts, nothing else about a
    table, and runs with `dpengine` alone: it reads no table, spends nothing and draws nothing private. Names and values
    are one escaped literal, never code, so nothing in them runs."""
    records = "RECORDS = [\n" + "".join(f"    {line!a},\n" for line in lines) + "]"
    parts = {"title": records, "read": _READ, "check": _CHECK, "ledger": _LEDGER, "compare": _COMPARE, "look": _LOOK}
    cells = [cell for part, code in parts.items() for cell in (_words(f"notebook.{part}"), _code(code))]
    return {
        "cells": [{"id": f"allowance-{place}"} | cell for place, cell in enumerate(cells, 1)],
        "metadata": {
            "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
            "language_info": {"name": "python"},
        },
        "nbformat": 4,
        "nbformat_minor": 5,
    }


def notebook_text(lines: Iterable[str]) -> str:
    return json.dumps(notebook(lines), indent=1) + "\n"


def _words(code: str) -> JsonObject:
    return {"cell_type": "markdown", "metadata": {}, "source": _lines(say(code))}


def _code(source: str) -> JsonObject:
    return {"cell_type": "code", "execution_count": None, "metadata": {}, "outputs": [], "source": _lines(source)}


def _lines(source: str) -> list[str]:
    return source.splitlines(keepends=True)


_PRODUCTS: dict[AnswerKind, str] = {"table": "Synthetic data", "file": "Dataset", "model": "Machine learning model"}
_MODELS = {"central": "Central", "local": "Local", "shuffle": "Shuffle"}


@dataclass(frozen=True)
class ReleasedSoFar:
    """What was released under a budget: the (ε, δ) so far, the cap, the first day, and how many answers of each
    kind."""

    epsilon: Fraction
    delta: Fraction
    cap: Fraction
    cap_delta: Fraction
    first: str  # YYYY-MM-DD
    kinds: Sequence[tuple[Card, int]]


def registry_draft(facts: Facts, so_far: ReleasedSoFar) -> JsonObject:
    """A draft entry, in English, for OpenDP's registry of deployments of differential privacy, from public facts and
    the ledger. It has exactly the fields of the registry's schema; fields that only the curator can fill in say so. It
    guarantees nothing new: everything is in the ledger, the declaration or the docs. JSON is valid YAML."""
    with stored():
        return _draft(facts, so_far)


def registry_text(facts: Facts, so_far: ReleasedSoFar) -> str:
    return json.dumps(registry_draft(facts, so_far), ensure_ascii=True, indent=2) + "\n"


def registry_file_name(table: str) -> str:
    """The name of the draft's file: small letters, figures and underscores, as the registry wants it."""
    return f"{_signs(table, '_') or 'table'}.yaml"


def _signs(name: str, between: str) -> str:
    plain = unicodedata.normalize("NFKD", name).encode("ascii", "ignore").decode().lower()
    return re.sub(r"[^a-z0-9]+", between, plain).strip(between)


def _draft(facts: Facts, so_far: ReleasedSoFar) -> JsonObject:
    cards = [card for card, _ in so_far.kinds]
    products = {_PRODUCTS.get(card.answer, "Summary statistics") for card in cards}
    models = {_MODELS[card.trust] for card in cards}
    answers = sum(times for _, times in so_far.kinds)
    theorems = "; ".join(f"{card.title}: {card.theorem}" for card in cards)
    pure = so_far.delta == 0
    return {
        "url_slug": "-".join((_signs(facts.table, "-") or "table", so_far.first[:4])),
        "status": "Draft",
        "tier": 2,
        "deployment": {
            "basic": {
                "name": facts.table,
                "data_curators": [say("registry.curator")],
                "intended_use": say("registry.use"),
                "data_product_type": products.pop() if len(products) == 1 else "Summary statistics",
                "data_product_region": say("registry.region"),
                "description": say("registry.description", answers=answers, titles=[card.title for card in cards]),
                "publication_date": so_far.first,
            },
            "dp_variant": {
                "variant_name": "Pure DP" if pure else "Approximate DP",
                "data_domain": say("registry.domain", columns=list(facts.schema.columns)),
                "unprotected_quantities": say(f"registry.public.{facts.relation}"),
            },
            "privacy_loss": {
                "privacy_unit": say("registry.unit.rows" if facts.unit.id_column is None else "registry.unit.column"),
                "privacy_unit_details": _unit(facts),
                "privacy_parameters": {"epsilon": float_above(so_far.epsilon)}
                | ({} if pure else {"delta": float_above(so_far.delta)}),
                "privacy_parameters_details": say("registry.cap", epsilon=so_far.cap, delta=float(so_far.cap_delta)),
            },
            "deployment_model": {
                "model_name": models.pop() if len(models) == 1 else "Varies",
                "release_type": "Many releases",
                "data_source_type": "Static",
                "access_type": "Interactive",
                "access_type_details": say("registry.access"),
            },
            "accounting": {"post_processing": say("registry.after"), "composition": say("registry.composition")},
            "implementation": {
                "preprocessing_and_hyperparameter_tuning": say("registry.before"),
                "mechanisms": say("registry.mechanisms", theorems=theorems),
                "justification": say("registry.why"),
            },
            "administrative": {"notes": say("registry.notes"), "registry_authors": [say("registry.author")]},
        },
    }


def _unit(facts: Facts) -> str:
    """A text that says which two tables are neighbours."""
    relation, unit = say(f"registry.relation.{facts.relation}"), facts.unit
    most = "" if unit.id_column is None else " " + say("registry.most", column=unit.id_column, most=unit.at_most)
    return relation + most
