"""Pictures with Plotly's own button for a PNG, made in the browser. The picture names its source."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from html import escape
from textwrap import wrap
from typing import Any

from ui.pictures.sketch import Sketch
from ui.shell.style import palette

_WIDTH, _LINES, _LINE = 56, 3, 16  # of the source text: characters per line, lines, pixels per line
_AXIS, _BUTTON = 72, 24  # pixels for an axis with its title, and for the button
_taken: ContextVar[tuple[str, str] | None] = ContextVar("taken", default=None)


@contextmanager
def takes(file: str, source: str) -> Iterator[None]:
    """Pictures drawn inside get the button and a caption with their `source`."""
    before = _taken.set((file, source))
    try:
        yield
    finally:
        _taken.reset(before)


def settings(figure: Sketch) -> dict[str, Any]:
    """Make room for the caption and configure the button; nothing outside `takes`."""
    taken = _taken.get()
    if taken is None:
        return {}
    file, source = taken
    lines = wrap(source, _WIDTH)[:_LINES]
    below = _AXIS + _LINE * len(lines)
    height = figure.layout["height"] + below + _BUTTON - 16
    text, font = "<br>".join(escape(line, quote=False) for line in lines), {"size": 12, "color": palette().muted}
    place = {"x": 0, "y": (_LINE * len(lines) + 6) / height, "xanchor": "left", "yanchor": "top", "pad": {"l": 4}}
    margin, title = {"t": _BUTTON, "b": below}, place | {"text": text, "font": font}
    figure.update_layout(height=height, margin=margin, paper_bgcolor=palette().card, title=title)
    return {
        "displayModeBar": True,
        "displaylogo": False,
        "modeBarButtons": [["toImage"]],
        "toImageButtonOptions": {"format": "png", "filename": file, "scale": 2},
    }
