"""Lesson 12: descent with a blindfold."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from html import escape
from itertools import pairwise
from math import atan2, degrees, hypot, sqrt

from demos.lessons import descent as demo
from demos.lessons.descent import Figures, Path, Place, Settings
from dpengine.core.exact import text_of
from dpengine.core.printed import percent, power_of_ten
from dpengine.messages.numbers import to_figures
from ui.learn.lesson import AGAIN, Given, Lesson, Setting, View, words
from ui.pictures import picture
from ui.shell.language import written

NUMBER = 12
EDGE = 1.15  # the map's half-width in weights
DOTS = 50  # the most steps marked with dots
LEVELS = (1.6, 1.0, 0.6, 0.3, 0.12, 0.03)  # shares of the start's height
PATHS = ("exact", "little", "much")
text = words(NUMBER)


def view(given: Given) -> View:
    settings = Settings(Fraction(given["epsilon"]), int(given["steps"]), int(given["length"]), given["within"])
    result = demo.figures(settings)
    less = settings.epsilon / demo.STRICTER
    own = {"little": text("path", epsilon=settings.epsilon), "much": text("path", epsilon=less)}
    names = {"exact": text("path.exact")} | own
    facts: dict[str, object] = {"steps": settings.steps, "epsilon": settings.epsilon, "less": less}
    facts |= {"out": result.much.put_back, "flats": demo.FLATS, "times": _three(sqrt(settings.steps))}
    for name in PATHS:
        facts[name], facts[f"last_{name}"] = map(percent, getattr(result, name).down)
    out = "two.out" if result.much.put_back else "two"
    drawn = f'<div class="beside walks"><div>{_map(settings, result, facts)}</div>{_ways(result, names)}</div>'
    one, two, relation = (text(code, **facts) for code in ("one", out, "relation"))
    return View(drawn, one, two, _theorem(settings, result, facts), text("source"), relation)


def _three(value: float) -> str:
    return to_figures(value, 3)


def _theorem(settings: Settings, result: Figures, facts: dict[str, object]) -> str:
    way, slope = demo.reach(settings.within)
    rho = float(demo.budget(settings.epsilon)) / settings.steps
    sizes = {"way": way, "slope": slope, "eta": demo.step_size(settings), "rho": rho, "blur": result.little.blur}
    sizes |= {"bound": result.bound, "without": result.bound_exact, "start": demo.above(demo.START)}
    shown = {name: _three(size) for name, size in sizes.items()}
    return text("theorem", delta=power_of_ten(demo.DELTA), **facts, **shown)


# --- the map ----------------------------------------------------------------------------------------------------------


def _at(place: Place) -> tuple[float, float]:
    """A place on the map in percent from the map's upper left corner: across and down."""
    return 50 * (1 + place[0] / EDGE), 50 * (1 - place[1] / EDGE)


def _mark(kind: str, place: Place) -> str:
    x, y = _at(place)
    return f'<i class="{kind}" style="left:{x:.2f}%;top:{y:.2f}%"></i>'


def _map(settings: Settings, result: Figures, facts: dict[str, object]) -> str:
    x, y = _at(demo.START)
    names = (
        f'<b style="left:{x:.2f}%;bottom:{101 - y:.2f}%" class="start">{escape(text("start"))}</b>'
        f'<b class="first">{escape(text("axis.first"))} →</b><b class="second">↑ {escape(text("axis.second"))}</b>'
    )
    ways = "".join(_path(name, getattr(result, name)) for name in reversed(PATHS))
    lowest = _mark("lowest", demo.contours(())[0])
    shown = f'<div class="ground">{_valley(settings.within)}{ways}{lowest}{names}</div>'
    legend = "".join(f'<span><i class="{name}"></i>{escape(text(f"sign.{name}"))}</span>' for name in _SIGNS)
    return picture.figure(f'{shown}<div class="signs"{written()}>{legend}</div>', text("alt.map", **facts), "map")


_SIGNS = ("lowest", "average", "last")


def _valley(within: str) -> str:
    """HTML: contour lines, and the edge of the set."""
    middle, turn, axes = demo.contours(LEVELS)
    x, y = _at(middle)
    rings = "".join(
        f'<u style="left:{x:.2f}%;top:{y:.2f}%;width:{100 * long / EDGE:.2f}%;height:{100 * short / EDGE:.2f}%;'
        f'transform:translate(-50%,-50%) rotate({-turn:.1f}deg)"></u>'
        for long, short in axes
    )
    return f'{rings}<em class="{within}"></em>'


def _path(name: str, path: Path) -> str:
    drawn = _line(name, path.places)
    if len(path.places) <= DOTS + 1:
        drawn += "".join(_mark(f"dot of-{name}", place) for place in path.places)
    return drawn + _mark(f"last of-{name}", path.places[-1]) + _mark(f"average of-{name}", path.average)


def _line(name: str, places: Sequence[Place]) -> str:
    """HTML: a thin box from each place to the next, rotated about its start."""
    drawn = ""
    for (x, y), (a, b) in pairwise(map(_at, places)):
        turn = degrees(atan2(b - y, a - x))
        drawn += (
            f'<s class="of-{name}" style="left:{x:.2f}%;top:{y:.2f}%;width:{hypot(a - x, b - y):.2f}%;'
            f'transform:rotate({turn:.1f}deg)"></s>'
        )
    return drawn


# --- how far down -----------------------------------------------------------------------------------------------------


def _ways(result: Figures, names: dict[str, str]) -> str:
    """HTML: for each path, how far down its average and its last place are."""
    head = f'<p class="head" dir="auto"><b>{escape(text("ways"))}</b></p>'
    rows = "".join(_row(name, names[name], getattr(result, name)) for name in PATHS)
    down = {name: map(percent, getattr(result, name).down) for name in PATHS}
    alt = "; ".join(text("alt.way", name=names[way], average=mean, last=last) for way, (mean, last) in down.items())
    return f"<div>{head}{picture.figure(rows, alt, 'ways')}</div>"


def _row(name: str, title: str, path: Path) -> str:
    bars = "".join(
        f'<div class="one"><span>{escape(text(f"bar.{which}"))}</span>'
        f'<div><i class="bar-{name}" style="width:{100 * share:.1f}%"></i></div>'
        f'<em dir="ltr">{escape(percent(share))}</em></div>'
        for which, share in zip(("average", "last"), path.down, strict=True)
    )
    blur = escape(text("blur", blur=to_figures(path.blur, 2)) if path.blur else text("blur.none"))
    key = f'<i class="bar-{name}"></i>'
    return f'<div class="ended"{written()}><p>{key}<b>{escape(title)}</b> <small>{blur}</small></p>{bars}</div>'


def _small() -> str:
    """The card's picture as HTML: contours and a fixed walk."""
    places = (demo.START, (-0.5, 0.2), (-0.1, 0.35), (0.0, -0.1), (0.4, -0.05), (0.3, -0.5), (0.6, -0.35))
    return f'<div class="picture map"><div class="ground">{_valley("ball")}{_line("much", places)}</div></div>'


LESSON = Lesson(
    NUMBER,
    (
        Setting("epsilon", tuple(map(text_of, demo.EPSILONS)), "1"),
        Setting("steps", tuple(map(str, demo.STEPS)), "20"),
        Setting("length", tuple(map(str, demo.LENGTHS)), "3", "choice"),
        Setting("within", demo.SETS, "ball", "choice", more=True),
        AGAIN,
    ),
    view,
    _small(),
    random=True,
)
