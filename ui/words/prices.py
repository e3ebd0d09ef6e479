"""Prices as a person reads them beside the meter. Each is the change of the meter."""

from __future__ import annotations

from fractions import Fraction

import dpengine as dp
from dpengine.core.printed import percent_taken


def takes(table: dp.Table, share: Fraction) -> str:
    """The part of the allowance that a question takes now, as text."""
    return percent_taken(1 - table.meter().used, share)


def took_in_all(table: dp.Table, entry: dp.Entry | None) -> str:
    """The part of the allowance that a click took, as text: a charge, with the checks that were bought before the
    charge."""
    if entry is None:
        return ""
    entries = [*table.checks_before(entry), entry]
    return percent_taken(table.left_before(entries[0]), sum((table.took(paid) for paid in entries), Fraction(0)))


def took(table: dp.Table, entry: dp.Entry | None) -> str:
    """The part of the allowance that a charge took when it was made, as text."""
    return "" if entry is None else percent_taken(table.left_before(entry), table.took(entry))
