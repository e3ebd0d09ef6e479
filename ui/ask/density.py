"""A smooth curve or a map: its pickers, its picture with bands, and free samples drawn from the curve."""

from __future__ import annotations

from typing import Any

import numpy as np
import streamlit as st

import dpengine as dp
from dpengine.core.printed import two_figures
from dpengine.core.types import Floats
from dpengine.mechanisms.curves.density import MOST_POINTS, USUAL_POINTS, USUAL_WIDTH, Density
from dpengine.messages import called, plain, say
from dpengine.messages.numbers import to_figures
from dpengine.released import curves
from ui.parts import exports, fields
from ui.pictures import charts
from ui.pictures.sketch import Sketch
from ui.shell.frame import paragraph
from ui.shell.style import palette
from ui.words.markup import unmarked
from ui.words.phrases import density_reach, density_top, density_unit

USUAL_SAMPLE = 1_000


# The form -------------------------------------------------------------------------------------------------------------


def pickers(table: dp.Table, given: dict[str, Any], turn: str) -> dict[str, Any]:
    """Draw a picker of one or two number columns and, under *more*, fields for bandwidth and resolution. Returns the
    chosen parameters; the engine refuses what it cannot read."""
    offered = table.schema.of_kind(dp.Number)
    wanted = given.get("columns")
    now = [name for name in wanted if name in offered][:2] if isinstance(wanted, list) else offered[:1]
    columns = st.multiselect(
        say("form.density.columns"), offered, now, called, max_selections=2, key=f"ask-density{turn}"
    )
    chosen: dict[str, Any] = {"columns": columns}
    asked = given.get("bandwidth")
    known = dict(zip(now, asked if isinstance(asked, list) else [asked] * len(now), strict=False))
    with st.expander(say("form.density.more"), expanded=asked is not None):
        paragraph(say("param.bandwidth.help"))
        typed = []
        for name in columns:
            usual = plain(float(table.schema.number(name).diameter / USUAL_WIDTH))
            label = unmarked(say("form.density.bandwidth", column=name))
            before = "" if known.get(name) is None else str(known[name])
            key = f"ask-bandwidth-{name}{turn}"
            typed.append(fields.number_field(label, before, key, placeholder=usual, width=260))
        most = MOST_POINTS.get(len(columns), USUAL_POINTS)
        fine = fields.whole_inside(given.get("resolution"), 2, most, min(USUAL_POINTS, most))
        help_ = say("param.resolution.help")
        key = f"ask-resolution-{len(columns)}{turn}"
        points = st.number_input(say("param.resolution.label"), 2, most, fine, help=help_, key=key, width=260)
    if any(typed):
        each = [
            width or str(float(table.schema.number(name).diameter / USUAL_WIDTH))
            for name, width in zip(columns, typed, strict=True)
        ]
        chosen["bandwidth"] = each if len(each) > 1 else each[0]
    return chosen | ({} if points == USUAL_POINTS else {"resolution": int(points)})


# The picture ----------------------------------------------------------------------------------------------------------


def picture(answer: dp.Answer, key: str) -> None:
    """Draw the released curve with its bands, a switch that cuts the curve off at zero, and synthetic values to
    download."""
    query, value = answer.query, answer.value
    assert isinstance(query, Density)
    clip = st.toggle(say("density.clip"), help=say("density.clip_help"), key=f"clip-{key}")
    kept = curves.cut_off(query, value) if clip else None
    if kept is not None:
        draw(query, kept, None, f"chart-{key}-clipped", shares=True)
        paragraph(say("density.clipped"))
    else:
        draw(query, curves.heights(query, value), answer.interval, f"chart-{key}")
    with st.expander(say("density.sample")):
        paragraph(say("density.sample_lead"))
        if curves.cut_off(query, answer.value) is None:
            paragraph(say("density.sample_none"))
            return
        label, most = say("density.sample_count"), curves.MOST_VALUES
        count = st.number_input(label, 1, most, USUAL_SAMPLE, key=f"sample-{key}", width=220)

        def write() -> str:
            return exports.as_csv(query.columns, curves.sample(query, answer.value, int(count)))

        exports.offer(say("density.sample_get"), write, "made-up.csv", f"sample-get-{key}")


def draw(query: Density, heights: Floats, interval: Any, key: str, shares: bool = False) -> None:
    """Draw a curve or a map. With `shares` the heights add up to 1, even if the released curve counts rows."""
    factor, unit = curves.scale_of(query)[0], density_unit(query, shares)
    factor *= 100 if shares and query.people is None else 1
    grids = [[float(x) for x in grid] for grid in query.grids()]
    shown = heights * factor
    facts = {"columns": " × ".join(query.columns), "at": density_top(query, heights), "unit": unit}
    facts |= {"height": to_figures(float(shown.max()), 3), "alpha": two_figures(density_reach(query)[0])}
    if len(query.columns) == 2:
        alt = say("density.map_alt", **facts)
        paragraph(unit)  # a colour bar's own title is cut off on a phone
        _map(grids, shown, tuple(map(called, query.columns)), alt, key)
        return
    outer, inner = _bands(query, interval, shown, factor)
    ends = {"low": to_figures(float(shown[0]), 3), "high": to_figures(float(shown[-1]), 3)}
    alt = say("density.curve_alt", **facts, **ends)
    charts.band(grids[0], shown.tolist(), outer, (called(query.columns[0]), unit), alt, key, inner=inner)


def _bands(query: Density, interval: Any, shown: Floats, factor: float) -> tuple[Any, Any]:
    """The stored band, and inside it the band that holds at a single point; the latter is None unless the curve was
    drawn once. Both are None without an interval."""
    if not interval:
        return None, None
    ends = np.array([interval[label] for label in query.labels()]) * factor
    promise = query.promise()
    inner = float(promise.pointwise) * factor
    once = np.allclose(ends[:, 1] - ends[:, 0], 2 * float(promise.alpha) * factor, rtol=0.02)
    narrow = ((shown - inner).tolist(), (shown + inner).tolist()) if once else None
    return (ends[:, 0].tolist(), ends[:, 1].tolist()), narrow


def _map(grids: list[list[float]], heights: Floats, columns: tuple[str, ...], alt: str, key: str) -> None:
    colours = palette()
    figure = Sketch(460)
    scale = [[0.0, colours.card], [0.5, colours.left_soft], [1.0, colours.left]]
    top = float(max(heights.max(), 1e-12))
    look = {"type": "heatmap", "colorscale": scale, "zmax": top}
    figure.add_trace(look | {"x": grids[0], "y": grids[1], "z": heights.T.tolist()})
    for place, update in ((0, figure.update_xaxes), (1, figure.update_yaxes)):
        form = charts._figures((grids[place][0], grids[place][-1]))
        update(title={"text": charts.text(columns[place])}, tickformat=form, showline=True, nticks=7)
    charts.show(figure, alt, key)
