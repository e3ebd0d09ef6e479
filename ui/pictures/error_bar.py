"""How wide an error bar will be, before anything is asked: grey, without names, figures of the table or an axis, so
that nobody takes it for a result. It is given a width alone, or what stands at its ends. Plain boxes: Streamlit takes
drawings out of its HTML."""

from __future__ import annotations

from html import escape

MOST_BARS = 5
_BAR = 50.0  # percent of the picture
_SIDE = 15  # percent of the picture, left free beside a range
_ENDS = (f"left:{_SIDE}%;transform:translateX(-50%)", f"right:{_SIDE}%;transform:translateX(50%)")


def bars(many: int, share: float, alt: str) -> str:
    """So many bars of one length, each with an error bar that reaches `share` of that length to either side."""
    return _picture(_bar(share) * min(many, MOST_BARS), alt)


def ranges(many: int, ends: tuple[str, str], alt: str) -> str:
    """So many figures, each with an error bar over most of the picture, as an answer is drawn on an axis of its own
    size: how wide it is stands at its ends."""
    placed = zip(_ENDS, ends, strict=True)
    told = "".join(f"<span style='position:absolute;{place}'>{escape(end)}</span>" for place, end in placed)
    told = f"<div style='position:relative;height:1.6em;color:var(--muted)'>{told}</div>"
    return _picture(told + _range() * min(many, MOST_BARS), alt)


def line(share: float, alt: str) -> str:
    """A rising line in a band that reaches `share` of half the picture's height to either side."""
    reach = min(share, 1.0) * 50
    band = f"<div style='position:absolute;inset:0;background:var(--line);clip-path:{_slope(reach)}'></div>"
    middle = f"<div style='position:absolute;inset:0;background:var(--muted);clip-path:{_slope(0.8)}'></div>"
    return _picture(f"<div style='position:relative;height:150px'>{band}{middle}</div>", alt)


def _slope(reach: float) -> str:
    """From low on the left to high on the right, so many percent to either side."""
    return f"polygon(0 {80 - reach:.1f}%, 100% {20 - reach:.1f}%, 100% {20 + reach:.1f}%, 0 {80 + reach:.1f}%)"


def _range() -> str:
    place = f"position:absolute;left:{_SIDE}%;right:{_SIDE}%"
    return (
        "<div style='position:relative;height:24px;margin:2px 0 10px'>"
        f"<div style='{place};height:100%;background:var(--line);opacity:.6'></div>"
        f"<div style='{place};top:11px;height:0;border-top:2.5px solid var(--muted)'></div>"
        f"<div style='{place};top:4px;height:16px;border:solid var(--muted);border-width:0 2.5px'></div></div>"
    )


def _bar(share: float) -> str:
    low, high = _BAR - share * _BAR, _BAR + share * _BAR
    ends = ""
    if low >= 0:  # one that runs out of the picture has no end there
        ends += "border-left:2.5px solid var(--muted);"
    if high <= 100:
        ends += "border-right:2.5px solid var(--muted);"
    left, wide = max(low, 0.0), min(high, 100.0) - max(low, 0.0)
    place = f"position:absolute;left:{left:.2f}%;width:{wide:.2f}%"
    return (
        "<div style='position:relative;height:24px;margin:10px 0'>"
        f"<div style='position:absolute;left:0;width:{_BAR}%;height:100%;background:var(--line);opacity:.6;"
        "border:1px dashed var(--muted)'></div>"
        f"<div style='{place};top:11px;height:0;border-top:2.5px solid var(--muted)'></div>"
        f"<div style='{place};top:4px;height:16px;{ends}'></div></div>"
    )


def _picture(drawn: str, alt: str) -> str:
    return f'<div class="error-bar" role="img" aria-label="{escape(alt)}" style="max-width:30rem">{drawn}</div>'
