"""The pictures of ui/pictures/svg.py as PNG at print size, drawn with Pillow: no browser, nothing fetched.

This file draws the few shapes that those pictures use (rectangles, lines, paths of straight lines, text), in the light
colours of the page. Released numbers and public labels only, like the SVG that it reads.
"""

from __future__ import annotations

import io
import re
from functools import cache, lru_cache
from pathlib import Path
from xml.etree import ElementTree

import streamlit as st
from PIL import Image, ImageColor, ImageDraw, ImageFont

from ui.shell.style import LIGHT

SCALE = 3  # 640 units are 1,920 pixels: 16 cm at 300 dots an inch
_FINER = 2  # drawn larger, then made smaller: smooth edges
_FONT = 14
_FILLED = {"band": (LIGHT.left_soft, 1.0), "bar": (LIGHT.left, 0.85), "cell": (LIGHT.left, 1.0)}
_DRAWN = {
    "axis": (LIGHT.muted, 1.0),
    "value": (LIGHT.left, 3.0),
    "curve": (LIGHT.left, 2.0),
    "smooth": (LIGHT.left, 2.5),
    "whisker": (LIGHT.ink, 1.5),
}
_PART = re.compile(r"([MLHVhvZ])|(-?\d+(?:\.\d+)?)")
Point = tuple[float, float]


def standalone(html: str) -> list[str]:
    """The pictures inside some HTML, each as the text of an SVG file; empty if there are none."""
    return re.findall(r"<svg\b.*?</svg>", html, flags=re.S)


def svg_file(picture: str) -> str:
    """The picture as the text of an SVG file, with the light theme's styles inside, to use outside the page."""
    # Where all of a colour is meant no opacity is stated: a rule would undo that of a lighter shape.
    faded = {name: f";opacity:{part}" if part < 1 else "" for name, (_, part) in _FILLED.items()}
    rules = [f".{name}{{fill:{colour}{faded[name]}}}" for name, (colour, _) in _FILLED.items()]
    rules += [f".{name}{{stroke:{colour};stroke-width:{width};fill:none}}" for name, (colour, width) in _DRAWN.items()]
    rules += [f"text{{fill:{LIGHT.muted};font:{_FONT}px sans-serif}}", f"text.name{{fill:{LIGHT.ink}}}"]
    rules.append(f".faint .bar{{fill:{LIGHT.muted};opacity:0.4}}")
    wide, tall = size(picture)
    head = f'<svg xmlns="http://www.w3.org/2000/svg" width="{wide / 4:.0f}mm" height="{tall / 4:.0f}mm"'
    return picture.replace("<svg", head, 1).replace(">", f"><style>{''.join(rules)}</style>", 1)


def size(picture: str) -> tuple[float, float]:
    found = re.search(r'viewBox="0 0 (\S+) (\S+)"', picture)
    assert found is not None
    return float(found[1]), float(found[2])


@lru_cache(64)  # the report's page draws the same ones with every click
def drawn(picture: str) -> bytes:
    wide, tall = size(picture)
    large = SCALE * _FINER
    canvas = Image.new("RGB", (round(wide * large), round(tall * large)), LIGHT.card)
    # Our own picture, with every text escaped: no entity and no document type.
    _draw(ImageDraw.Draw(canvas), ElementTree.fromstring(picture), large, faint=False)
    canvas = canvas.resize((round(wide * SCALE), round(tall * SCALE)), Image.Resampling.LANCZOS)
    out = io.BytesIO()
    canvas.save(out, "PNG", dpi=(300, 300), optimize=True)
    return out.getvalue()


def _draw(pen: ImageDraw.ImageDraw, group: ElementTree.Element, scale: int, faint: bool) -> None:
    for shape in group:
        kind, name = shape.tag, shape.get("class", "")
        at = {side: float(value) * scale for side, value in shape.items() if side in _LENGTHS}
        if kind == "g":
            _draw(pen, shape, scale, faint or name == "faint")
        elif kind == "rect":
            colour = _mixed(name, float(shape.get("opacity", "1")), faint)
            right, bottom = at["x"] + max(at["width"], 1), at["y"] + at["height"]
            pen.rectangle((at["x"], at["y"], right, bottom), fill=colour)
        elif kind == "line":
            _line(pen, name, [(at["x1"], at["y1"]), (at["x2"], at["y2"])], scale)
        elif kind == "path":
            for run, closed in _runs(shape.get("d", ""), scale):
                if closed:
                    pen.polygon(run, fill=_mixed(name, 1.0, faint))
                else:
                    _line(pen, name, run, scale)
        elif kind == "text":
            anchor = {"end": "rs", "middle": "ms"}.get(shape.get("text-anchor", ""), "ls")
            ink = LIGHT.ink if name == "name" else LIGHT.muted
            pen.text((at["x"], at["y"]), shape.text or "", fill=ink, font=_font(_FONT * scale), anchor=anchor)


_LENGTHS = frozenset(("x", "y", "x1", "x2", "y1", "y2", "width", "height"))


def _line(pen: ImageDraw.ImageDraw, name: str, points: list[Point], scale: int) -> None:
    colour, width = _DRAWN[name]
    pen.line(points, fill=colour, width=round(width * scale), joint="curve")


def _mixed(name: str, opacity: float, faint: bool) -> tuple[int, int, int]:
    """A colour by its name, over the white of the page, as red, green and blue."""
    colour, part = (LIGHT.muted, 0.4) if faint and name == "bar" else _FILLED[name]
    red, green, blue = (round(255 + (each - 255) * part * opacity) for each in ImageColor.getrgb(colour)[:3])
    return red, green, blue


def _runs(path: str, scale: int) -> list[tuple[list[Point], bool]]:
    """The points of each run of a path, and whether it is closed."""
    parts = [found.groups() for found in _PART.finditer(path)]
    runs: list[tuple[list[Point], bool]] = []
    here: list[Point] = []
    order, x, y, place = "", 0.0, 0.0, 0
    while place < len(parts):
        letter, _ = parts[place]
        if letter:
            order, place = letter, place + 1
            if order == "M" and here:
                runs.append((here, False))
                here = []
            if order == "Z":
                runs.append((here, True))
                here = []
            continue
        first = float(parts[place][1])
        if order in "ML":
            x, y, place = first, float(parts[place + 1][1]), place + 2
        else:
            x = first if order == "H" else x + first if order == "h" else x
            y = first if order == "V" else y + first if order == "v" else y
            place += 1
        here.append((x * scale, y * scale))
    return [*runs, (here, False)] if here else runs


@cache
def _font(size: int) -> ImageFont.FreeTypeFont | ImageFont.ImageFont:
    """The font of the pages, which Streamlit brings; without it Pillow's own."""
    folder = Path(st.__file__).parent / "static" / "static" / "media"
    for path in sorted(folder.glob("SourceSansVF-Upright*")):
        font = ImageFont.truetype(str(path), size)
        font.set_variation_by_name("Regular")
        return font
    return ImageFont.load_default(size)
