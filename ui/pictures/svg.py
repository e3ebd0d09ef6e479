"""Small pictures as inline SVG, for pages that must stand alone: no scripts, nothing fetched, colours by CSS class.

They get released numbers and public labels only. Every text is escaped, and every picture has a text alternative.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Mapping, Sequence
from datetime import date
from html import escape
from textwrap import wrap
from typing import Any

from dpengine.messages import plain, say
from dpengine.messages.numbers import day
from ui.words.markup import shortened

WIDTH = 640
_SIDE = 12  # margin on both sides of the axis, for the ends of its labels
_NAMES = 190  # width for the names of bars
_LINE = 26
_LONGEST_NAME, _CAPTION = 26, 84  # letters

Interval = tuple[Any, Any] | None


def point(
    value: Any,
    interval: Interval,
    title: str,
    alt: str,
    limits: tuple[float, float] | None = None,
    behind: Interval = None,
) -> str:
    """SVG: one answer on its axis, its interval as a soft band, behind that a lower band; the axis ends where values
    do."""
    inner = interval or (value, value)
    low, high = inner if behind is None else (min(inner[0], behind[0]), max(inner[1], behind[1]))
    days = isinstance(value, str)
    wide = (_number(high) - _number(low)) * 0.75
    pad = wide if wide and not days else max(wide, 3 if days else abs(_number(value)) * 0.05, 1e-9)
    least, most = limits or (-math.inf, math.inf)
    start, end = max(_number(low) - pad, min(least, _number(low))), min(_number(high) + pad, max(most, _number(high)))
    axis = Axis(start, end, _SIDE, WIDTH - _SIDE, days)
    left, right, middle = (axis.place(_number(point)) for point in (*inner, value))
    band = ""
    if behind:
        first, last = (axis.place(_number(end)) for end in behind)
        band = f'<rect class="band" opacity="0.5" x="{first:.1f}" y="22" width="{last - first:.1f}" height="20"/>'
    if interval:
        band += f'<rect class="band" x="{left:.1f}" y="12" width="{max(right - left, 0):.1f}" height="40"/>'
    tick = f'<line class="value" x1="{middle:.1f}" x2="{middle:.1f}" y1="6" y2="58"/>'
    return _picture(band + tick + axis.drawn(66, title), 112, alt)


def rows(
    values: Mapping[str, Any],
    intervals: Mapping[str, Interval] | None,
    title: str,
    alt: str,
    bars: bool,
    faint: Collection[str] = (),
    behind: Mapping[str, tuple[Any, Any]] | None = None,
) -> str:
    """SVG: a line for each label, with a bar from zero and whiskers, or a tick on its interval. `faint` bars may be
    zero. `behind` has longer, lighter ranges."""
    telling = [label for label, value in values.items() if value is not None] or list(values)
    reach = [_number(values[label]) for label in telling if values[label] is not None]
    for label in telling:  # an uninformative group does not stretch the axis of the others
        reach += [_number(end) for ranges in (intervals or {}, behind or {}) for end in ranges.get(label) or ()]
    low, high = min([*reach, *([0.0] if bars else [])]), max([*reach, *([0.0] if bars else [])])
    pad = max((high - low) * 0.04, 1e-9)
    days = any(isinstance(value, str) for value in values.values())
    axis = Axis(low - (0 if bars and low == 0 else pad), high + pad, _NAMES, WIDTH - _SIDE, days)
    drawn = []
    for number, (label, value) in enumerate(values.items()):
        top = 6 + number * _LINE
        name = escape(shortened(label, _LONGEST_NAME))
        drawn.append(f'<text class="name" x="{_NAMES - 10}" y="{top + 15}" text-anchor="end">{name}</text>')
        mark = (_bar if bars else _tick)(axis.place, top, value, (intervals or {}).get(label))
        if value is not None and behind and label in behind:
            mark = _behind(axis.place, top, behind[label], bars) + mark
        drawn.append(f'<g class="faint">{mark}</g>' if label in faint else mark)
    height = 6 + len(values) * _LINE
    return _picture("".join(drawn) + axis.drawn(height + 4, title), height + 50, alt)


def curve(
    xs: Sequence[Any],
    heights: Sequence[float],
    lows: Sequence[float],
    highs: Sequence[float],
    titles: tuple[str, str],
    alt: str,
) -> str:
    """SVG: steps in a band; each height holds until the next x."""
    places = [_number(x) for x in xs]
    least, most = min([0.0, *lows]), max(highs)
    across = Axis(places[0], places[-1], _SIDE + 60, WIDTH - _SIDE, isinstance(xs[0], str))
    tall, top = 220, 24
    down = Axis(least, most, tall + top, top, False)

    def stairs(ys: Sequence[float]) -> list[str]:
        corners = list(zip(places, ys, strict=True))
        turned = [corners[0]]
        for x, y in corners[1:]:
            turned += [(x, turned[-1][1]), (x, y)]
        return [f"{across.place(x):.1f} {down.place(y):.1f}" for x, y in turned]

    band = f'<path class="band" d="M{"L".join(stairs(highs))}L{"L".join(reversed(stairs(lows)))}Z"/>'
    line = f'<path class="curve" d="M{"L".join(stairs(heights))}"/>'
    title = f'<text x="0" y="14">{escape(shortened(titles[1], 60))}</text>' + down.labels(_SIDE + 52)
    return _picture(band + line + title + across.drawn(tall + top + 4, titles[0]), tall + top + 50, alt)


def _bar(place: Callable[[float], float], top: float, value: Any, interval: Interval) -> str:
    if value is None:
        return f'<text x="{place(0.0) + 4:.1f}" y="{top + 15}">{escape(say("answer.nothing"))}</text>'
    start, end = sorted((place(0.0), place(_number(value))))
    drawn = f'<rect class="bar" x="{start:.1f}" y="{top + 3}" width="{end - start:.1f}" height="15"/>'
    if interval is None:
        return drawn
    low, high, middle = place(_number(interval[0])), place(_number(interval[1])), top + 10.5
    return drawn + (
        f'<path class="whisker" d="M{low:.1f} {middle}H{high:.1f}M{low:.1f} {middle - 4}v8M{high:.1f} {middle - 4}v8"/>'
    )


def _behind(place: Callable[[float], float], top: float, ends: tuple[Any, Any], bars: bool) -> str:
    """SVG of a light box: around a bar, or lower than the band in front of the box."""
    low, high = (place(_number(end)) for end in ends)
    y, height = (top, 21) if bars else (top + 6, 9)
    return f'<rect class="band" opacity="0.5" x="{low:.1f}" y="{y}" width="{high - low:.1f}" height="{height}"/>'


def _tick(place: Callable[[float], float], top: float, value: Any, interval: Interval) -> str:
    drawn = ""
    if interval is not None:
        low, high = (min(max(place(_number(end)), _NAMES), WIDTH - _SIDE) for end in interval)
        drawn = f'<rect class="band" x="{low:.1f}" y="{top + 2}" width="{max(high - low, 0):.1f}" height="17"/>'
    if value is None and interval is not None:
        words, middle = escape(say("answer.nothing")), (low + high) / 2
        return f'{drawn}<text x="{middle:.1f}" y="{top + 15}" text-anchor="middle">{words}</text>'
    middle = place(_number(value))
    return f'{drawn}<line class="value" x1="{middle:.1f}" x2="{middle:.1f}" y1="{top}" y2="{top + 21}"/>'


class Axis:
    """Maps values to positions on the line, and draws the line with a few round labels."""

    def __init__(self, low: float, high: float, left: float, right: float, days: bool) -> None:
        self.low, self.high = low, max(high, low + 1e-9)
        self.left, self.right, self.days = left, right, days

    def place(self, value: float) -> float:
        return self.left + (value - self.low) / (self.high - self.low) * (self.right - self.left)

    def ticks(self) -> list[float]:
        """Two to about five multiples of 1, 2 or 5 times a power of ten; whole days on an axis of days."""
        few = self._ticks(4)
        return few if len(few) > 1 else self._ticks(8)

    def _ticks(self, parts: int) -> list[float]:
        rough = (self.high - self.low) / parts
        power = 10.0 ** math.floor(math.log10(rough))
        step = next(power * each for each in (1, 2, 5, 10) if power * each >= rough)
        step = max(round(step), 1) if self.days else step
        first = math.ceil(self.low / step)
        return [number * step for number in range(first, math.floor(self.high / step) + 1)]

    def labels(self, x: float) -> str:
        """SVG with the labels of an upright axis, to the left of `x`."""
        figures = [(self.place(tick) + 4, escape(plain(float(f"{tick:.10g}")))) for tick in self.ticks()]
        return "".join(f'<text x="{x}" y="{y:.1f}" text-anchor="end">{figure}</text>' for y, figure in figures)

    def drawn(self, y: float, title: str) -> str:
        parts = [f'<line class="axis" x1="{self.left}" x2="{self.right}" y1="{y}" y2="{y}"/>']
        for tick in self.ticks():
            x = self.place(tick)
            label = day(date.fromordinal(int(tick)).isoformat()) if self.days else plain(float(f"{tick:.10g}"))
            parts.append(
                f'<line class="axis" x1="{x:.1f}" x2="{x:.1f}" y1="{y}" y2="{y + 5}"/>'
                f'<text x="{x:.1f}" y="{y + 19}" text-anchor="middle">{escape(label)}</text>'
            )
        middle = (self.left + self.right) / 2
        parts.append(f'<text x="{middle:.1f}" y="{y + 39}" text-anchor="middle">{escape(shortened(title, 60))}</text>')
        return "".join(parts)


def _picture(drawn: str, height: float, alt: str) -> str:
    return f'<svg viewBox="0 0 {WIDTH} {height:.0f}" role="img" aria-label="{escape(alt)}">{drawn}</svg>'


def captioned(picture: str, source: str) -> str:
    """A picture with its source below, in a few lines."""
    head, body = picture.split(">", 1)
    tall = int(head.split('viewBox="0 0 ')[1].split('"')[0].split()[1])
    lines = wrap(source, _CAPTION)[:3]
    texts = "".join(
        f'<text x="{_SIDE}" y="{tall + 16 + 18 * place}">{escape(line)}</text>' for place, line in enumerate(lines)
    )
    head = head.replace(f'viewBox="0 0 {WIDTH} {tall}"', f'viewBox="0 0 {WIDTH} {tall + 10 + 18 * len(lines)}"')
    return f"{head}>{body.replace('</svg>', texts + '</svg>')}"


def _number(value: Any) -> float:
    """A number as it is, and a day as its ordinal."""
    return float(date.fromisoformat(value).toordinal()) if isinstance(value, str) else float(value)
