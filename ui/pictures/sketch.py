"""A picture as plain HTML, drawn by the server: no script has to come first, so a page shows its pictures at once.

Areas and lines are one SVG image, stretched to whatever width there is; its strokes keep their own. Texts and dots
stand over that image, in their own size. Whoever points at a bar, a dot or a curve reads its figures. Callers describe
a figure as lists of traces, shapes and axes; it holds released or simulated numbers and public labels only.
"""

from __future__ import annotations

import io
import math
from base64 import b64encode
from collections.abc import Iterable, Iterator, Sequence
from datetime import date
from html import escape
from itertools import pairwise
from typing import Any

from dpengine.messages.numbers import day, to_figures, ungrouped
from ui.shell.style import palette

ACROSS = 1000.0  # units of the image's width
_FEW, _MOST_NAMED, _LETTERS = 5, 16, 44  # ticks of an axis; names below one, and the letters that fit beside each other
_UNDER, _KEYS = 62, 28  # pixels for the labels and the title of the axis below, and for a legend
_POINTED = 48  # places of a curve whose figures can be read
_DASHES = {"dash": "7 5", "dot": "2 4", "longdash": "12 5", "dashdot": "8 4 2 4"}


class Sketch:
    """A figure as lists of traces, shapes and two axes, from which a reader gets HTML."""

    def __init__(self, height: int, **axes: Any) -> None:
        self.data: list[dict[str, Any]] = []
        self.layout: dict[str, Any] = {"height": height, "xaxis": {}, "yaxis": {}}
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

    def html(self, alt: str, name: str) -> str:
        return _Drawing(self).html(alt, name)


Ends = tuple[float, float, float, float]  # left, top, right, foot


class _Axis:
    """The way from values to parts of an axis, from 0 at its lower or left end to 1, and the ticks on the axis."""

    def __init__(self, look: dict[str, Any], values: list[Any], zero: bool, room: float) -> None:
        self.look, self.names = look, list[str]()
        words = [value for value in values if isinstance(value, str)]
        self.kind = look.get("type") or ("linear" if not words else "date" if _is_day(words[0]) else "category")
        if self.kind == "category":
            self.names = list(dict.fromkeys(map(str, values)))
            low, high = -0.5, max(len(self.names), 1) - 0.5
        else:
            numbers = [self.number(value) for value in values if value is not None]
            numbers = [number for number in numbers if math.isfinite(number)] + ([0.0] if zero else [])
            low, high = min(numbers, default=0.0), max(numbers, default=1.0)
            pad = (high - low) * room or (abs(high) * 0.05 or 0.5 if high == low else 0.0)
            low, high = low - (0.0 if zero and low == 0 else pad), high + (0.0 if zero and high == 0 else pad)
        if look.get("range"):
            low, high = (self.number(end) for end in look["range"])
        self.low, self.high = (high, low) if look.get("autorange") == "reversed" else (low, high)

    def number(self, value: Any) -> float:
        if self.kind == "category":
            return float(self.names.index(value)) if isinstance(value, str) and value in self.names else float(value)
        if isinstance(value, str):
            return float(date.fromisoformat(value[:10]).toordinal())
        if self.kind == "log":
            return math.log10(value) if value > 0 else -math.inf
        return float(value)

    def place(self, value: Any) -> float:
        return (self.number(value) - self.low) / ((self.high - self.low) or 1.0)

    def ticks(self) -> list[tuple[float, str]]:
        """The place and the words of each tick on this axis."""
        found = [(self.place(value), words) for value, words in self._values()]
        return [(place, words) for place, words in found if -1e-9 <= place <= 1 + 1e-9]

    def _values(self) -> Iterable[tuple[Any, str]]:
        if self.look.get("tickvals") is not None:
            words = self.look.get("ticktext") or [self.words(value) for value in self.look["tickvals"]]
            return list(zip(self.look["tickvals"], words, strict=True))
        if self.kind == "category":
            return list(enumerate(self.names))
        low, high = sorted((self.low, self.high))
        if self.kind == "log":
            return [(10.0**power, self.words(10.0**power)) for power in range(math.ceil(low), math.floor(high) + 1)]
        most = int(self.look.get("nticks") or _FEW)
        step = float(self.look.get("dtick") or _step(low, high, most))
        if self.kind == "date":
            step = max(round(step), 1)
        places = [number * step for number in range(math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9) + 1)]
        if self.kind == "date":
            days = [date.fromordinal(round(place)).isoformat() for place in places]
            return [(iso, day(iso)) for iso in days]
        return [(place, self.words(place)) for place in places]

    def words(self, value: float) -> str:
        written = to_figures(float(f"{value:.10g}"), 12).replace("-", "−")
        return ungrouped(written) if self.look.get("tickformat") == "" else written


class _Drawing:
    def __init__(self, sketch: Sketch) -> None:
        self.traces, self.layout = sketch.data, sketch.layout
        self.tall: int = self.layout["height"] - (_UNDER if self.layout["xaxis"].get("visible", True) else 0)
        self.tall -= _KEYS if self.layout.get("showlegend") else 0
        self.x, self.y = (self._axis(name) for name in "xy")
        self.back: list[str] = []  # parts of the image
        self.over: list[str] = []  # texts and dots above it
        self.pointed: list[str] = []  # what can be pointed at

    def _axis(self, name: str) -> _Axis:
        values: list[Any] = []
        zero, room = False, 0.0
        for trace in self.traces:
            values += [value for value in _list(trace.get(name)) if value is not None]
            if trace["type"] == "bar" and (name == "y") == (trace.get("orientation") != "h"):
                values += [*_ends(trace, name), *_list(trace.get("base"))]
                zero, room = True, 0.05
            elif trace["type"] == "scatter" and ("markers" in trace["mode"] or name == "y"):
                room = 0.05
        if not any(isinstance(value, str) and not _is_day(value) for value in values):  # names have no numbers between
            shapes = [shape for shape in self.layout.get("shapes", ()) if f"{name}ref" not in shape]
            ends = [shape[f"{name}{end}"] for shape in shapes for end in "01"]
            values += [end for end in ends if end is not None]
        return _Axis(_without_none(self.layout[f"{name}axis"]), values, zero, room)

    # --- places: across in units of the image, down in pixels

    def across(self, value: Any) -> float:
        return self.x.place(value) * ACROSS

    def down(self, value: Any) -> float:
        return (1 - self.y.place(value)) * self.tall

    def html(self, alt: str, name: str) -> str:
        shapes = self.layout.get("shapes", ())
        self._grid()
        for shape in shapes:
            if shape.get("layer") == "below":
                self._shape(shape)
        for place, trace in enumerate(self.traces):
            if trace["type"] == "heatmap":
                self._map(trace)
            elif trace["type"] == "bar":
                self._bars(trace)
            elif trace.get("mode") == "lines":
                self._line(trace, self.traces[place - 1] if place else trace)
            else:
                self._dots(trace)
        for shape in shapes:
            if shape.get("layer") != "below":
                self._shape(shape)
        for note in self.layout.get("annotations", ()):
            self._note(note)
        self._point_at_lines()
        image = (
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {ACROSS:g} {self.tall}" preserveAspectRatio="none">'
            f"<style>*{{vector-effect:non-scaling-stroke}}</style>{''.join(self.back)}</svg>"
        )
        inner = f'<img alt="" src="data:image/svg+xml;base64,{b64encode(image.encode()).decode()}">'
        inner += "".join(self.over) + "".join(self.pointed)
        rows = "drawn rows" if self.y.kind == "category" or self.layout.get("beside") else "drawn"
        role = "group" if any(trace.get("links") for trace in self.traces) else "img"  # a picture has no links in it
        return (
            f'<div class="{rows}" role="{role}" aria-label="{escape(alt)}" data-name="{escape(name)}">{self._legend()}'
            f'<div class="across">{self._upright()}<div class="plot" style="height:{self.tall}px">{inner}</div>'
            f"{self._beside()}{self._under()}</div></div>"
        )

    # --- axes

    def _grid(self) -> None:
        for axis, upright in ((self.x, True), (self.y, False)):
            colour = axis.look.get("gridcolor") or palette().line
            for place, _ in axis.ticks() if axis.look.get("showgrid") else ():
                self._straight(*self._through(place, upright), colour, 1)
            if axis.look.get("zeroline") and 0 <= (zero := axis.place(0)) <= 1:
                self._straight(*self._through(zero, upright), axis.look.get("zerolinecolor") or colour, 1)
        if self.x.look.get("showline"):
            self._straight(0, self.tall - 0.5, ACROSS, self.tall - 0.5, palette().line, 1)

    def _through(self, place: float, upright: bool) -> Ends:
        at = place * ACROSS if upright else (1 - place) * self.tall
        return (at, 0, at, self.tall) if upright else (0, at, ACROSS, at)

    def _upright(self) -> str:
        """HTML: the title of the upright axis, and its labels, as wide as the longest of them."""
        look = self.y.look
        if look.get("visible") is False:
            return "<div></div><div></div>"
        title = (look.get("title") or {}).get("text", "")
        labels = "".join(
            f'<span style="margin-top:{(1 - place) * self.tall:.1f}px">{words}</span>'
            for place, words in _apart(self.y.ticks(), self.tall, 15 if self.y.kind == "category" else 20)
        )
        size = f' style="font-size:{look["tickfont"]["size"]}px"' if look.get("tickfont") else ""
        return f'<div class="upright"><span>{title}</span></div><div class="beside"{size}>{labels}</div>'

    def _beside(self) -> str:
        """HTML: the values at the end of each row."""
        beside = self.layout.get("beside", ())
        labels = "".join(
            f'<span style="margin-top:{self.down(at):.1f}px;color:{colour}">{escape(words)}</span>'
            for at, words, colour in beside
        )
        return f'<div class="beside end">{labels}</div>' if beside else "<div></div>"

    def _under(self) -> str:
        """HTML: the labels of the other axis, and its title."""
        look = self.x.look
        if look.get("visible") is False:
            return ""
        ticks = self.x.ticks()
        longest = max((len(line) for _, words in ticks for line in words.split("<br>")), default=1)
        most = max(2, min(_MOST_NAMED, 2 * _LETTERS // max(longest, 1)))
        ticks = ticks[:: max(1, -(-len(ticks) // most))]
        wide = 96 / max(len(ticks), 1)
        labels = "".join(
            f'<span style="left:{100 * place:.2f}%;--wide:{wide:.1f}%"{_side(place)}>{words}</span>'
            for place, words in ticks
        )
        many = " many" if len(ticks) > _FEW else ""
        two = " two" if any("<br>" in words for _, words in ticks) else ""
        title = (look.get("title") or {}).get("text", "")
        return f'<div class="under{many}{two}">{labels}</div>' + (f'<div class="title">{title}</div>' if title else "")

    def _legend(self) -> str:
        if not self.layout.get("showlegend"):
            return ""
        keys = ""
        for trace in self.traces:
            if not trace.get("name") or trace.get("showlegend") is False:
                continue
            line, marker = trace.get("line", {}), trace.get("marker", {})
            kind = "bar" if trace["type"] == "bar" or trace.get("fill") else trace.get("mode")
            colour = trace.get("fillcolor") or (line if kind == "lines" else marker).get("color")
            look = f"border-color:{colour};" + ("" if kind == "lines" else f"background:{colour};")
            if kind == "lines" and line.get("dash", "solid") != "solid":
                look += f"border-style:{'dotted' if line['dash'] == 'dot' else 'dashed'};"
            if rim := marker.get("line", {}).get("color"):
                look += f"border-color:{rim};"
            keys += f'<span><i class="{kind}" style="{look}"></i>{trace["name"]}</span>'
        return f'<div class="keys">{keys}</div>'

    # --- traces and shapes

    def _straight(self, x0: float, y0: float, x1: float, y1: float, colour: str, width: float, dash: str = "") -> None:
        dashes = f' stroke-dasharray="{_DASHES[dash]}"' if dash in _DASHES else ""
        self.back.append(
            f'<path d="M{x0:.1f} {y0:.1f}L{x1:.1f} {y1:.1f}" stroke="{colour}" stroke-width="{width}"{dashes}/>'
        )

    def _box(self, x0: float, y0: float, x1: float, y1: float, look: str) -> None:
        left, right, top, low = min(x0, x1), max(x0, x1), min(y0, y1), max(y0, y1)
        self.back.append(
            f'<rect x="{left:.1f}" y="{top:.1f}" width="{right - left:.1f}" height="{low - top:.1f}" {look}/>'
        )

    def _shape(self, shape: dict[str, Any]) -> None:
        x0, x1 = self.across(shape["x0"]), self.across(shape["x1"])
        whole = shape.get("yref") == "paper"
        y0, y1 = ((1 - shape[end]) * self.tall if whole else self.down(shape[end]) for end in ("y0", "y1"))
        line = shape.get("line", {})
        if shape["type"] == "line":
            self._straight(x0, y0, x1, y1, line["color"], line["width"], line.get("dash", ""))
            return
        dash = f' stroke-dasharray="{_DASHES[line["dash"]]}"' if line.get("dash") in _DASHES else ""
        edge = f'stroke="{line["color"]}" stroke-width="{line["width"]}"{dash}' if line.get("width") else ""
        self._box(x0, y0, x1, y1, f'fill="{shape["fillcolor"]}" opacity="{shape.get("opacity", 1)}" {edge}')

    def _bars(self, trace: dict[str, Any]) -> None:
        flat = trace.get("orientation") == "h"
        along, values = ("y", "x") if flat else ("x", "y")
        places, numbers = list(_list(trace[along])), list(_list(trace[values]))
        marker, half = trace.get("marker", {}), float(trace.get("width", 0.65)) / 2
        bases = list(_list(trace.get("base"))) or [0.0] * len(numbers)
        rim = marker.get("line", {})
        for at, (where, number, base) in enumerate(zip(places, numbers, bases, strict=True)):
            if number is None:
                continue
            centre = (self.y if flat else self.x).number(where)
            look = f'fill="{_of(marker["color"], at)}" opacity="{_of(marker.get("opacity", 1), at)}"'
            if rim.get("width"):
                look += f' stroke="{rim["color"]}" stroke-width="{rim["width"]}"'
            elif marker.get("estimated"):
                look += f' stroke="{_of(marker["color"], at)}" stroke-width="1.5" stroke-dasharray="4 3"'
            ends = self._span(centre, half, base, base + number, flat)
            self._box(*ends, look)
            self._whisker(trace, at, centre, number, half, flat)
        self._point_at(trace, [self._whole(self._number(where, flat), flat) for where in places], numbers)

    def _number(self, where: Any, flat: bool) -> float:
        return (self.y if flat else self.x).number(where)

    def _span(self, centre: float, half: float, low: float, high: float, flat: bool) -> Ends:
        if flat:
            return self.across(low), self.down(centre - half), self.across(high), self.down(centre + half)
        return self._side(centre - half), self.down(low), self._side(centre + half), self.down(high)

    def _side(self, number: float) -> float:
        """The distance from the left, in the drawing's units, of a number on an axis of names."""
        return (number - self.x.low) / ((self.x.high - self.x.low) or 1.0) * ACROSS

    def _whole(self, centre: float, flat: bool) -> str:
        """CSS for a whole row or column around a bar: who points at this area sees the bar's figures. `flat` is a
        row."""
        if flat:
            top, low = sorted((self.down(centre - 0.5), self.down(centre + 0.5)))
            return f"left:0;width:100%;top:{top:.1f}px;height:{low - top:.1f}px"
        left, right = self._side(centre - 0.5) / ACROSS, self._side(centre + 0.5) / ACROSS
        return f"left:{100 * left:.2f}%;width:{100 * (right - left):.2f}%;top:0;height:100%"

    def _whisker(self, trace: dict[str, Any], at: int, centre: float, number: float, half: float, flat: bool) -> None:
        error = trace.get("error_x" if flat else "error_y")
        if error is None:
            return
        low, high = number - error["arrayminus"][at], number + error["array"][at]
        colour, width, cap = error["color"], error["thickness"], error["width"]
        if flat:
            left, right, middle = self.across(low), self.across(high), self.down(centre)
            parts = f"M{left:.1f} {middle:.1f}H{right:.1f}"
            parts += "".join(f"M{x:.1f} {middle - cap:.1f}V{middle + cap:.1f}" for x in (left, right))
        else:
            top, foot, middle = self.down(high), self.down(low), self._side(centre)
            wide = min(self._side(centre + half / 3) - middle, ACROSS / 100)
            parts = f"M{middle:.1f} {foot:.1f}V{top:.1f}"
            parts += "".join(f"M{middle - wide:.1f} {y:.1f}H{middle + wide:.1f}" for y in (top, foot))
        self.back.append(f'<path d="{parts}" stroke="{colour}" stroke-width="{width}" fill="none"/>')

    def _line(self, trace: dict[str, Any], before: dict[str, Any]) -> None:
        line = trace.get("line", {})
        points = _stepped(self._points(trace), line.get("shape", ""))
        if trace.get("fill"):
            edge = points
            if trace["fill"] == "tonexty":
                edge = _stepped(self._points(before), line.get("shape", "")) + points[::-1]
            look = f'fill="{trace["fillcolor"]}" opacity="{trace.get("opacity", 1)}"'
            self.back.append(f'<path d="{_path(edge)}Z" {look}/>')
        if line.get("width") and points:
            dash = f' stroke-dasharray="{_DASHES[line["dash"]]}"' if line.get("dash") in _DASHES else ""
            stroke = f'stroke="{line["color"]}" stroke-width="{line["width"]}" stroke-linejoin="round"{dash}'
            self.back.append(f'<path d="{_path(points)}" fill="none" {stroke}/>')

    def _points(self, trace: dict[str, Any]) -> list[tuple[float, float]]:
        pairs = zip(_list(trace["x"]), _list(trace["y"]), strict=True)
        return [(self.across(x), self.down(y)) for x, y in pairs if x is not None and y is not None]

    def _dots(self, trace: dict[str, Any]) -> None:
        marker = trace.get("marker", {})
        size, rim, xs = marker.get("size", 6), marker.get("line", {}), list(_list(trace["x"]))
        if marker.get("symbol") == "line-ns":  # a tick on its row
            for x, y in self._points(trace):
                self._straight(x, y - size / 2, x, y + size / 2, rim["color"], rim["width"])
            ys = [self.y.number(where) for where in _list(trace["y"])]
            self._point_at(trace, [self._whole(where, True) for where in ys], xs)
            return
        edge = f";border:{rim['width']}px solid {rim['color']}" if rim.get("width") else ""
        look = f"width:{size}px;height:{size}px;background:{marker.get('color')}{edge}"
        faint = f";opacity:{marker['opacity']}" if "opacity" in marker else ""
        if marker.get("opacity") == 0:
            return
        tips = trace.get("tips") or [""] * len(xs)
        for (x, y), words in zip(self._points(trace), tips, strict=True):
            tip = f' title="{escape(words)}"' if words else ""
            self.over.append(f'<i style="left:{x / ACROSS * 100:.2f}%;top:{y:.1f}px;{look}{faint}"{tip}></i>')

    def _point_at(self, trace: dict[str, Any], places: list[str], values: Sequence[Any]) -> None:
        """Add areas with the words for whoever points there, and links for a click there. Such links are no stops for
        Tab: there are many, and a page offers the same by its fields."""
        links = trace.get("links") or [""] * len(values)
        for place, words, link in zip(places, trace.get("tips", ()), links, strict=True) if "tips" in trace else ():
            look = f'style="{place}" title="{escape(words)}"'
            self.pointed.append(
                f'<a href="{escape(link)}" tabindex="-1" aria-label="{escape(words)}" {look}></a>'
                if link
                else f"<u {look}></u>"
            )

    def _point_at_lines(self) -> None:
        """Add areas along the curves, each with the figures of all curves at that place."""
        lines = [
            trace
            for trace in self.traces
            if trace.get("mode") == "lines" and trace.get("line", {}).get("width") and len(_list(trace["x"])) > 1
        ]
        if not lines or self.layout.get("silent"):
            return
        say_x, say_y = self.layout.get("tell", (None, None))
        longest = max(lines, key=lambda trace: len(_list(trace["x"])))
        xs = list(_list(longest["x"]))
        xs = xs[:: max(1, -(-len(xs) // _POINTED))]
        spots = [self.x.place(x) for x in xs]
        edges = [0.0, *((one + two) / 2 for one, two in pairwise(spots)), 1.0]
        for at, spot in enumerate(spots):
            figures = []
            for trace in lines:
                near, where = _nearest(self.x, trace, spot)
                if near is None:
                    continue
                figure = (say_y or (lambda value: to_figures(float(value), 3)))(near)
                named = f"{trace['name']}: " if trace.get("name") and len(lines) > 1 else ""
                plain = day(where) if isinstance(where, str) else to_figures(float(where), 4)
                beside = say_x(where) if say_x else plain
                figures.append(f"{named}{beside} · {figure}")
            left, right = (min(max(edge, 0.0), 1.0) for edge in edges[at : at + 2])
            place = f"left:{100 * left:.2f}%;width:{100 * (right - left):.2f}%;top:0;height:100%"
            words = escape("\n".join(figures), quote=True)
            self.pointed.append(f'<u style="{place}" title="{words}"></u>')

    def _note(self, note: dict[str, Any]) -> None:
        at = note["x"] if note.get("xref") == "x domain" else self.x.place(note["x"])
        colour = note.get("font", {}).get("color", palette().ink)
        kind = {"left": " from", "right": " to"}.get(note.get("xanchor", ""), "") or (
            " from" if at < 0.08 else " to" if at > 0.92 else ""
        )
        high = " above" if note.get("yanchor") == "bottom" else ""
        place = f"left:{100 * at:.2f}%;top:{self.down(note['y']):.1f}px;color:{colour}"
        self.over.append(f'<b class="note{kind}{high}" style="{place}">{note["text"]}</b>')

    def _map(self, trace: dict[str, Any]) -> None:
        """Add a map of heights: a small picture of one dot for each cell, made as large as there is room."""
        import numpy as np
        from PIL import Image, ImageColor

        top, (stops, colours) = float(trace["zmax"]), zip(*trace["colorscale"], strict=True)
        heights = np.array(list(trace["z"]), dtype=np.float64)[::-1] / top
        channels = zip(*map(ImageColor.getrgb, colours), strict=True)
        cells = np.stack([np.interp(heights, stops, channel) for channel in channels], axis=-1)
        out = io.BytesIO()
        Image.fromarray(cells.round().astype(np.uint8)).save(out, "PNG")
        data = b64encode(out.getvalue()).decode()
        self.over.append(f'<img class="map" alt="" src="data:image/png;base64,{data}">')
        gradient = f"linear-gradient(90deg,{','.join(colours)})"
        ends = f"<span>0</span><span>{escape(to_figures(top, 3))}</span>"
        self.over.append(f'<div class="scale"><i style="background:{gradient}"></i>{ends}</div>')


def _nearest(axis: _Axis, trace: dict[str, Any], place: float) -> tuple[Any, Any]:
    """A curve's height at its point nearest to a place (None if that is not close), and that point."""
    pairs = list(zip(_list(trace["x"]), _list(trace["y"]), strict=True))
    x, y = min(pairs, key=lambda pair: abs(axis.place(pair[0]) - place))
    return (y, x) if abs(axis.place(x) - place) < 0.06 else (None, x)


def _ends(trace: dict[str, Any], name: str) -> Iterator[float]:
    """The ends of the whiskers of a trace, along the axis of this name."""
    error = trace.get(f"error_{name}")
    for at, value in enumerate(_list(trace.get(name)) if error else ()):
        if value is not None and error:
            yield value + error["array"][at]
            yield value - error["arrayminus"][at]


def _stepped(points: list[tuple[float, float]], shape: str) -> list[tuple[float, float]]:
    """The points with the corners of stairs: each height holds until the next point (hv), or halfway to it (hvh)."""
    if shape not in ("hv", "hvh") or len(points) < 2:
        return points
    turned = [points[0]]
    for (before, height), (x, y) in pairwise(points):
        turn = x if shape == "hv" else (before + x) / 2
        turned += [(turn, height), (turn, y)]
    return [*turned, points[-1]]


def _path(points: Sequence[tuple[float, float]]) -> str:
    return "M" + "L".join(f"{x:.1f} {y:.1f}" for x, y in points) if points else ""


def _step(low: float, high: float, most: int) -> float:
    """A step of 1, 2 or 5 times a power of ten that gives at most `most` ticks."""
    rough = max((high - low) / most, 1e-12)
    power = 10.0 ** math.floor(math.log10(rough))
    return next(power * each for each in (1, 2, 5, 10) if power * each >= rough * (1 - 1e-9))


def _apart(ticks: list[tuple[float, str]], tall: int, least: int) -> list[tuple[float, str]]:
    """Every tick, or every second, third … one, so that their labels do not touch."""
    if len(ticks) < 2:
        return ticks
    gap = abs(ticks[-1][0] - ticks[0][0]) * tall / (len(ticks) - 1)
    return ticks[:: max(1, math.ceil(least / max(gap, 0.1)))]


def _side(place: float) -> str:
    return ' class="from"' if place < 0.02 else ' class="to"' if place > 0.98 else ""


def _of(given: Any, at: int) -> Any:
    return given[at] if isinstance(given, list | tuple) else given


def _list(given: Any) -> Sequence[Any]:
    return () if given is None else given


def _is_day(words: str) -> bool:
    return len(words) >= 10 and words[4] == words[7] == "-" and words[:4].isdigit()


def _merged(old: dict[str, Any], new: dict[str, Any]) -> dict[str, Any]:
    """Two settings in one: later values win, and nested dictionaries are merged."""
    nested = {name for name, part in new.items() if isinstance(part, dict) and isinstance(old.get(name), dict)}
    return old | new | {name: _merged(old[name], new[name]) for name in nested}


def _without_none(look: dict[str, Any]) -> dict[str, Any]:
    """The settings without those that are None."""
    kept = {name: part for name, part in look.items() if part is not None}
    return {name: _without_none(part) if isinstance(part, dict) else part for name, part in kept.items()}
