"""How wide an error bar will be, before anything is asked: grey, without names, figures or an axis, so that nobody
takes it for a result. It is given a width alone."""

from __future__ import annotations

from html import escape

MOST_BARS = 5
_WIDTH, _BAR, _TALL, _GAP, _LEFT = 480.0, 240.0, 22, 12, 6.0


def bars(many: int, share: float, alt: str) -> str:
    """So many bars of one length, each with an error bar that reaches `share` of that length to either side."""
    many = min(many, MOST_BARS)
    lines = [_bar(6 + place * (_TALL + _GAP), share) for place in range(many)]
    return _picture("".join(lines), 6 + many * (_TALL + _GAP), alt)


def line(share: float, alt: str) -> str:
    """A straight line in a band that reaches `share` of half the picture's height to either side."""
    tall = 150.0
    reach = min(share, 1.0) * tall / 2
    left, right, low, high = _LEFT, _WIDTH - _LEFT, tall - 20, 20.0
    band = f"{left},{low - reach:.1f} {right},{high - reach:.1f} {right},{high + reach:.1f} {left},{low + reach:.1f}"
    drawn = (
        f'<polygon points="{band}" fill="var(--line)"/>'
        f'<line x1="{left}" y1="{low}" x2="{right}" y2="{high}" stroke="var(--muted)" stroke-dasharray="5 5"/>'
    )
    return _picture(drawn, tall, alt)


def _bar(top: float, share: float) -> str:
    end, middle = _LEFT + _BAR, top + _TALL / 2
    low, high = end - share * _BAR, end + share * _BAR
    ends = [max(low, 0.0), min(high, _WIDTH)]
    whisker = f'<line x1="{ends[0]:.1f}" x2="{ends[1]:.1f}" y1="{middle}" y2="{middle}"/>'
    for at, inside in ((low, low >= 0), (high, high <= _WIDTH)):
        if inside:  # one that runs out of the picture has no end there
            whisker += f'<line x1="{at:.1f}" x2="{at:.1f}" y1="{middle - 7}" y2="{middle + 7}"/>'
    return (
        f'<rect x="{_LEFT}" y="{top}" width="{_BAR}" height="{_TALL}" fill="var(--line)" fill-opacity="0.6" '
        f'stroke="var(--muted)" stroke-opacity="0.5" stroke-dasharray="4 4"/>'
        f'<g stroke="var(--muted)" stroke-width="2.5">{whisker}</g>'
    )


def _picture(drawn: str, tall: float, alt: str) -> str:
    return (
        f'<svg class="error-bar" role="img" aria-label="{escape(alt)}" viewBox="0 0 {_WIDTH:.0f} {tall:.0f}" '
        f'style="width:100%;max-width:30rem;height:auto;display:block">{drawn}</svg>'
    )
