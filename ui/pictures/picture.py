"""Pictures in plain HTML. They take their colours from the page, so one picture serves light and dark, and cost a few
kilobytes. All text is escaped here. Each has a text alternative."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from html import escape

from dpengine.messages import plain
from ui.pictures.svg import Axis
from ui.shell.language import written

# --- pictures shared by the Trust page and lesson 11: error bars side by side, and messages in a pile


def bars(rows: Sequence[tuple[str, float, str]]) -> str:
    """HTML: for each name an error as a bar, with its label, on one scale around the same truth."""
    most = max((error for _, error, _ in rows), default=0) or 1
    drawn = ""
    for name, error, label in rows:
        half = 50 * min(error / most, 1)
        bar = f'<div><u style="left:{50 - half:.2f}%;width:{2 * half:.2f}%"></u></div>'
        name, label = (f'dir="auto">{escape(text)}' for text in (name, label))
        drawn += f'<div class="way"><span {name}</span>{bar}<em {label}</em></div>'
    return drawn


def pile(messages: Sequence[int]) -> str:
    """HTML: bits as tiles; a 1 is filled."""
    return '<div class="pile">' + "".join(f'<i class="b{bit}">{bit}</i>' for bit in messages) + "</div>"


def figure(inner: str, alt: str, kind: str = "") -> str:
    """Any HTML as a picture; `alt` describes the picture in words."""
    return f'<div class="picture {kind}" role="img" aria-label="{escape(alt)}">{inner}</div>'


@dataclass(frozen=True)
class Column:
    """One place of `columns`: its label, and a bar for each world, as chances or counts."""

    label: str
    heights: tuple[float, ...]
    marked: bool = False  # part of the shaded event
    labels: tuple[str, ...] = ()  # above each bar


def columns(
    places: Sequence[Column],
    alt: str,
    names: Sequence[str] = (),
    shaded: str = "",
    full: float = 0,
    small: bool = False,
) -> str:
    """HTML: vertical bars, one colour for each world (named by `names`). `shaded` describes the marked places, `full`
    is the value of the full height."""
    full = full or max((height for place in places for height in place.heights), default=0) or 1
    drawn = ""
    for place in places:
        bars = ""
        for world, height in enumerate(place.heights):
            label = f"<em>{escape(place.labels[world])}</em>" if world < len(place.labels) else ""
            bars += f'<i class="w{world}" style="height:{100 * min(height / full, 1):.2f}%">{label}</i>'
        mark = " marked" if place.marked else ""
        drawn += f'<div class="place{mark}"><div class="bars">{bars}</div><span>{escape(place.label)}</span></div>'
    kind = "columns small" if small else "columns"
    return figure(legend(names, shaded) + f'<div class="row">{drawn}</div>', alt, kind)


def legend(names: Sequence[str], shaded: str = "") -> str:
    if not names:
        return ""
    keys = "".join(f'<span><i class="w{world}"></i>{escape(name)}</span>' for world, name in enumerate(names))
    keys += f'<span><i class="shade"></i>{escape(shaded)}</span>' if shaded else ""
    return f'<div class="legend">{keys}</div>'


@dataclass(frozen=True)
class Mark:
    """A vertical line across a strip, with its label on top."""

    at: float
    words: str
    kind: str = "truth"  # or "seen": what an observer learned


def strip(
    values: Sequence[float],
    span: tuple[float, float],
    alt: str,
    marks: Sequence[Mark] = (),
    title: str = "",
    faded_from: int | None = None,
    band: tuple[float, float] | None = None,
    height: int = 170,
    kind: str = "",
) -> str:
    """HTML: each value as a dot on an axis, stacked; a value beyond the axis stands at the axis's end. From index
    `faded_from` on, dots are pale: asked but refused. `height` is in pixels."""
    axis = Axis(*span, 0, 100, days=False)
    cell = (axis.high - axis.low) / 80
    stacked: Counter[int] = Counter()
    dots = ""
    placed = [round((min(max(value, axis.low), axis.high) - axis.low) / cell) for value in values]
    lift = min(11.0, (height - 20) / max(Counter(placed).values(), default=1))
    for place, at in enumerate(placed):
        pale = ' class="pale"' if faded_from is not None and place >= faded_from else ""
        dots += f'<i{pale} style="left:{at / 0.8:.2f}%;bottom:{stacked[at] * lift:.1f}px"></i>'
        stacked[at] += 1
    if band:
        left, right = (axis.place(min(max(end, axis.low), axis.high)) for end in band)
        dots = f'<u style="left:{left:.2f}%;width:{max(right - left, 0.4):.2f}%"></u>' + dots
    for mark in marks:
        where = axis.place(min(max(mark.at, axis.low), axis.high))
        side = " end" if where > (60 if mark.kind == "truth" else 12) else ""  # the two labels do not overlap
        dots += f'<b class="{mark.kind}{side}" style="left:{where:.2f}%"><span>{escape(mark.words)}</span></b>'
    under = ticks(axis) + (f'<div class="title">{escape(title)}</div>' if title else "")
    return figure(f'<div class="dots" style="height:{height}px">{dots}</div>{under}', alt, f"strip {kind}")


def ticks(axis: Axis, margin: float = 0) -> str:
    """HTML: the labels under an axis of percent, except those within a `margin` of its ends."""
    places = [(axis.place(tick), plain(float(f"{tick:.10g}")).replace("-", "−")) for tick in axis.ticks()]
    spans = [f'<span style="left:{at:.2f}%">{words}</span>' for at, words in places if margin <= at <= 100 - margin]
    return f'<div class="ticks">{"".join(spans)}</div>'


def boxes(rows: Iterable[tuple[str, str, str]]) -> str:
    """HTML: figures in boxes, side by side. Each row has a box's kind, label and figure."""
    drawn = "".join(
        f'<div class="{box}">{f"<span dir=auto>{escape(label)}</span>" if label else ""}<b>{out}</b></div>'
        for box, label, out in rows
    )
    return f'<div class="sum">{drawn}</div>'


def meter(share: float, words: str, refused: bool = False) -> str:
    """HTML: the used part of an allowance, drawn like the page's meter; with a red end if a question was `refused`."""
    gone = f'<span class="gone" style="width:{100 * min(share, 1):.2f}%"></span>'
    over = '<span class="over" style="width:4%"></span>' if refused else ""
    label = f'<div class="words"><span>{escape(words)}</span></div>'
    return f'<div class="meter">{label}<div class="bar">{gone}{over}</div></div>'


def verdict(holds: bool, words: str) -> str:
    """HTML: one line that says whether something holds."""
    mark, kind = ("✓", "holds") if holds else ("✗", "breaks")
    return f'<p class="verdict {kind}" role="status"{written()}><b>{mark}</b> {escape(words)}</p>'
