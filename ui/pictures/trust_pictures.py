"""Pictures shared by the Trust page and lesson 11: error bars side by side, and messages in a pile."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape


def bars(rows: Sequence[tuple[str, float, str]]) -> str:
    """Rows of a name, an error and its label, on one scale around the same truth."""
    most = max((error for _, error, _ in rows), default=0) or 1
    drawn = ""
    for name, error, label in rows:
        half = 50 * min(error / most, 1)
        bar = f'<div><u style="left:{50 - half:.2f}%;width:{2 * half:.2f}%"></u></div>'
        name, label = (f'dir="auto">{escape(text)}' for text in (name, label))
        drawn += f'<div class="way"><span {name}</span>{bar}<em {label}</em></div>'
    return drawn


def pile(messages: Sequence[int]) -> str:
    """Bits as tiles; a 1 is filled."""
    return '<div class="pile">' + "".join(f'<i class="b{bit}">{bit}</i>' for bit in messages) + "</div>"
