"""A Plotly figure as plain data, handed over once: Plotly checks its own at every change, ten times as slowly."""

from __future__ import annotations

from functools import cache
from typing import Any

from dpengine.messages.numbers import marks
from ui.shell.style import palette


class Sketch:
    """The methods of Plotly's figure, under the same names."""

    def __init__(self, height: int, **axes: Any) -> None:
        colours = palette()
        axis = {
            "showgrid": False,
            "zeroline": False,
            "linecolor": colours.line,
            "tickcolor": colours.line,
            "tickfont": {"color": colours.muted, "size": 14},
            "title": {"font": {"color": colours.muted, "size": 14}},
            "fixedrange": True,
            "automargin": True,
        }
        self.data: list[dict[str, Any]] = []
        self.layout: dict[str, Any] = {
            "height": height,
            "margin": {"l": 8, "r": 16, "t": 8, "b": 8},
            "paper_bgcolor": "rgba(0,0,0,0)",
            "plot_bgcolor": "rgba(0,0,0,0)",
            "font": {"family": "Source Sans, sans-serif", "color": colours.ink, "size": 14},
            "showlegend": False,
            "xaxis": axis,
            "yaxis": axis,
            "bargap": 0.35,
            "separators": marks()[::-1],
            "hoverlabel": {"bgcolor": colours.card},
        }
        self.update_layout(**axes)

    def add_trace(self, trace: dict[str, Any]) -> None:
        self.data.append(_without_none(trace))

    def add_scatter(self, **look: Any) -> None:
        self.add_trace({"type": "scatter"} | look)

    def add_bar(self, **look: Any) -> None:
        self.add_trace({"type": "bar"} | look)

    def add_shape(self, **shape: Any) -> None:
        self.layout["shapes"] = [*self.layout.get("shapes", ()), shape]

    def update_layout(self, **more: Any) -> None:
        self.layout = _merged(self.layout, more)

    def update_xaxes(self, **more: Any) -> None:
        self.update_layout(xaxis=more)

    def update_yaxes(self, **more: Any) -> None:
        self.update_layout(yaxis=more)

    def figure(self) -> Any:
        """Plotly neither checks it nor adds a template: a picture states everything. The tests let Plotly check it."""
        return _unchecked()(data=self.data, layout=_without_none(self.layout))


@cache
def _unchecked() -> Any:
    """A figure for Streamlit, which asks only for its dictionary."""
    from plotly.basedatatypes import BaseFigure

    class Unchecked(BaseFigure):  # type: ignore[misc]
        def __init__(self, **parts: Any) -> None:
            self._parts = parts

        def to_dict(self) -> dict[str, Any]:
            return self._parts

    return Unchecked


def _merged(old: dict[str, Any], new: dict[str, Any]) -> dict[str, Any]:
    """Later values win; nested dictionaries are merged."""
    nested = {name for name, part in new.items() if isinstance(part, dict) and isinstance(old.get(name), dict)}
    return old | new | {name: _merged(old[name], new[name]) for name in nested}


def _without_none(layout: dict[str, Any]) -> dict[str, Any]:
    """Without None values, which leave a setting to Plotly."""
    kept = {name: part for name, part in layout.items() if part is not None}
    return {name: _without_none(part) if isinstance(part, dict) else part for name, part in kept.items()}
