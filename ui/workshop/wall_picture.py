"""The picture on the class wall: every answer a dot, its interval a line below, the mean, and the truth once shown.

It is drawn once for everybody and cached; a style rule for each viewer marks their own dot.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from functools import lru_cache
from html import escape
from statistics import fmean, median

from dpengine.messages import plain, say
from ui.pictures.picture import figure
from ui.pictures.svg import Axis
from ui.shell.workshop_state import Dot
from ui.words.figures import rounded

_CELLS = 80  # parts of the axis; dots in one part are stacked
_TALL = 130  # pixels for the dots
_ROWS = 60  # intervals drawn; the sentence below counts all of them
_BARS = 40


def width(dots: Sequence[Dot]) -> float:
    """Half of a typical interval."""
    return median((dot.high - dot.low) / 2 for dot in dots) or 1.0


@lru_cache(maxsize=64)
def wall(dots: tuple[Dot, ...], truth: float | None, title: str, lang: str) -> str:
    """The cache key includes `lang`."""
    half = width(dots)
    middle = fmean(dot.value for dot in dots)
    mean = rounded(middle, middle - half, middle + half)
    shown = [dot.value for dot in dots] + ([] if truth is None else [truth])
    low, high = min(shown) - 1.15 * half, max(shown) + 1.15 * half
    room = 0.05 * (high - low)  # the axis goes no further beyond what is possible
    ends = [*shown, *(dot.low for dot in dots), *(dot.high for dot in dots)]
    axis = Axis(max(low, min(ends) - room), min(high, max(ends) + room), 0, 100, days=False)
    drawn = "".join(
        _mark(axis, at, say(f"workshop.mark.{kind}", **{kind: number}), kind)
        for kind, at, number in (("truth", truth, truth), ("mean", middle, mean))
        if at is not None
    )
    drawn += f'<div class="dots" style="height:{_TALL}px">{_dots(axis, dots, truth)}</div>'
    drawn += f'<div class="rows">{_ranges(axis, dots, truth)}</div>'
    facts = {"n": len(dots), "mean": mean} | ({} if truth is None else {"truth": truth})
    alt = say("workshop.alt" if truth is None else "workshop.alt_truth", **facts)
    under = f'{_ticks(axis)}<div class="title">{escape(title)} – {escape(say("workshop.axis.each"))}</div>'
    return figure(f'<div class="field">{drawn}</div>{under}', alt, "wall")


def _dots(axis: Axis, dots: Sequence[Dot], truth: float | None) -> str:
    cell = (axis.high - axis.low) / _CELLS
    placed = [round((dot.value - axis.low) / cell) for dot in dots]
    lift, stacked = min(12.0, (_TALL - 34) / max(Counter(placed).values())), Counter[int]()
    drawn = ""
    for number, (dot, at) in enumerate(zip(dots, placed, strict=True)):
        missed = " missed" if truth is not None and not dot.holds(truth) else ""
        across = axis.place(min(max(dot.value, axis.low), axis.high))  # exactly above its interval
        where = f"left:{across:.2f}%;bottom:{3 + stacked[at] * lift:.1f}px"
        drawn += f'<i class="d{number}{missed}" style="{where}"></i>'
        stacked[at] += 1
    return drawn


def _ranges(axis: Axis, dots: Sequence[Dot], truth: float | None) -> str:
    drawn = ""
    for number, dot in enumerate(dots[:_ROWS]):
        left, right, at = (axis.place(min(max(end, axis.low), axis.high)) for end in (dot.low, dot.high, dot.value))
        missed = " missed" if truth is not None and not dot.holds(truth) else ""
        line = f'<u style="left:{left:.2f}%;width:{max(right - left, 0.3):.2f}%"></u><s style="left:{at:.2f}%"></s>'
        drawn += f'<div class="d{number}{missed}">{line}</div>'
    return drawn


def _mark(axis: Axis, at: float, words: str, kind: str) -> str:
    where = axis.place(min(max(at, axis.low), axis.high))
    side = " end" if where > 60 else ""
    return f'<b class="{kind}{side}" style="left:{where:.2f}%"><span>{escape(words)}</span></b>'


def _ticks(axis: Axis) -> str:
    ticks = [tick for tick in axis.ticks() if 3 <= axis.place(tick) <= 97]
    labels = ((axis.place(tick), plain(float(f"{tick:.10g}"))) for tick in ticks)
    spans = "".join(f'<span style="left:{at:.2f}%">{escape(words)}</span>' for at, words in labels)
    return f'<div class="ticks">{spans}</div>'


def yours(number: int) -> str:
    """Mark the viewer's own dot."""
    words = say("workshop.yours").replace("\\", "").replace('"', "")
    mine = f".wall .dots i.d{number}"
    return (
        f"<style>{mine}{{background:var(--take);opacity:1;transform:scale(1.5);z-index:3}}"
        f'{mine}::after{{content:"{words}"}}'
        f".wall .rows .d{number} u{{background:var(--take);height:4px;margin-top:-1px}}</style>"
    )


@lru_cache(maxsize=64)
def simulated(values: tuple[float, ...], held: int, truth: float, half: float, title: str, lang: str) -> str:
    """A thousand simulated answers, as bars."""
    ordered = sorted(values)
    low, high = (ordered[int(share * (len(ordered) - 1))] for share in (0.025, 0.975))
    axis = Axis(min(truth, low) - half, max(truth, high) + half, 0, 100, days=False)
    cell = (axis.high - axis.low) / _BARS
    counts = Counter(min(max(int((value - axis.low) / cell), 0), _BARS - 1) for value in values)
    bars = "".join(f'<i style="height:{100 * counts[at] / max(counts.values()):.1f}%"></i>' for at in range(_BARS))
    ends = {name: rounded(end, end - half, end + half) for name, end in (("low", low), ("high", high))}
    drawn = _mark(axis, truth, say("workshop.mark.truth", truth=truth), "truth") + f'<div class="bars">{bars}</div>'
    alt = say("workshop.simulated_alt", truth=truth, **ends)
    under = f'{_ticks(axis)}<div class="title">{escape(title)}</div>'
    body = figure(f'<div class="field">{drawn}</div>{under}', alt, "wall")
    sentence = say("workshop.simulated_means", held=held, **ends)
    return f'<h2>{escape(say("workshop.simulated"))}</h2>{body}<p class="muted">{escape(sentence)}</p>'
