"""What the audit page says of a check: bounds from below are rounded down, claims are rounded up."""

from __future__ import annotations

import math
import re
from fractions import Fraction
from html import escape, unescape

from demos.neighbours import Example
from demos.views import View
from dpengine.core.printed import percent, power_of_ten
from dpengine.messages import plain, say
from dpengine.messages.numbers import local
from ui.check.audit_state import Drawn, Prepared, evidence

TABLES = ("A", "B")


def two(value: float | Fraction, up: bool | None = None) -> str:
    """Two decimals, to the nearest or to one side; a float's own last digits are not a reason to go one further."""
    scaled = float(value) * 100
    whole = (
        round(scaled)
        if up is None or abs(scaled - round(scaled)) < 1e-6
        else (math.ceil(scaled) if up else math.floor(scaled))
    )
    return local(f"{whole / 100:,.2f}")


def times(ratio: float, up: bool | None = None) -> str:
    """How many times as likely, in three figures at most."""
    if ratio >= 1e6:
        return say("check.million")
    if ratio < 10:
        return two(ratio, up)
    grain = 10 ** max(0, math.floor(math.log10(ratio)) - 1)
    whole = ratio / grain
    return plain((round(whole) if up is None else math.ceil(whole) if up else math.floor(whole)) * grain)


def labels(view: View) -> list[str]:
    """The names of the cells along the axis."""
    if view.kind == "digits":
        return [say(f"check.digits.{cell.label}") for cell in view.cells]
    return [_level(cell.evidence) if view.kind == "evidence" else cell.label for cell in view.cells]


def _level(weight: float) -> str:
    table = TABLES[0] if weight > 0 else TABLES[1]
    if math.isinf(weight):
        return say("check.level.sure", table=table)
    if abs(weight) < 0.005:
        return say("check.level.neither")
    odds = math.exp(abs(weight))
    told = f"{odds:.2f}" if odds < 2 else f"{odds:.1f}" if odds < 20 else f"{odds:,.0f}"
    return say("check.level.odds", table=table, odds=local(told))


def found(ready: Prepared, kept: Drawn) -> str:
    """Where the privacy is spent, as one sentence (HTML)."""
    view, claim = ready.view, ready.claim
    first, cells = view.worst(claim)
    likely, unlikely = (0, 1) if first else (1, 0)
    facts = {
        "event": escape(_event(view, cells, TABLES[likely])),
        "likely": TABLES[likely],
        "unlikely": TABLES[unlikely],
        "most": times(claim.times, up=True),
        "but": escape(say("check.but", delta=percent(claim.delta))) if claim.delta else "",
    }
    if not view.known:
        often, seldom = kept.share(likely, cells), kept.share(unlikely, cells)
        rare = percent(seldom) if seldom else say("check.never")
        return say("check.found_drawn", often=percent(often), seldom=rare, **facts)
    pairs = [(view.cells[at].one or 0.0, view.cells[at].other or 0.0) for at in cells]
    often, seldom = (math.fsum(pair[side] for pair in pairs) for side in (likely, unlikely))
    if not seldom:
        return say("check.found_sure", often=percent(often), **facts)
    return say("check.found", often=percent(often), seldom=percent(seldom), times=times(often / seldom), **facts)


def _event(view: View, cells: tuple[int, ...], table: str) -> str:
    chosen = [view.cells[at] for at in cells]
    if view.kind == "digits":
        return say("check.event.digits", table=table)
    if view.kind == "names":
        return say(
            "check.event.names",
            names=say("check.event.or").join(say("words.quoted", text=cell.label) for cell in chosen),
        )
    if view.kind == "evidence":
        sure = all(math.isinf(cell.evidence) for cell in chosen)
        return say("check.event.sure" if sure else "check.event.evidence", table=table)
    low, high = chosen[0].first, chosen[-1].last
    facts = {"what": say(f"check.what.{view.kind}", bar=view.bar), "low": _signed(low or 0), "high": _signed(high or 0)}
    return say(f"check.event.{'from' if high is None else 'to' if low is None else 'between'}", **facts)


def axis(view: View) -> str:
    return say(f"check.axis.{view.kind}", bar=view.bar)


def _signed(number: int) -> str:
    return plain(number).replace("-", "−")


def bare(html: str) -> str:
    return unescape(re.sub(r"<[^>]+>", "", html))


def gauge(ready: Prepared, kept: Drawn) -> list[tuple[str, str]]:
    """The three figures of the gauge, each with its kind (HTML)."""
    claim, proof = ready.claim, float(evidence(ready, kept).epsilon)
    delta = say("check.gauge.delta", delta=power_of_ten(claim.delta)) if claim.delta else ""
    facts = {"times": times(claim.times, up=True), "epsilon": two(claim.epsilon, up=True), "delta": delta}
    lines = [("promised", say("check.gauge.promised", **facts))]
    if ready.loss is not None and math.isinf(ready.loss):
        lines.append(("exact", say("check.gauge.exact_none")))
    elif ready.loss is not None:
        lines.append(("exact", say("check.gauge.exact", times=times(math.exp(ready.loss)), epsilon=two(ready.loss))))
    told = {"times": times(math.exp(proof), up=False), "epsilon": two(proof, up=False), "draws": 2 * kept.many}
    line = say("check.gauge.proven" if proof >= 0.01 else "check.gauge.nothing", **told)
    lines.append(("over" if proof > claim.epsilon else "fine", line))
    return lines


def verdict(ready: Prepared, kept: Drawn, twin: str) -> str:
    """What the draws show; they never prove that a promise is kept."""
    over = evidence(ready, kept).epsilon > ready.claim.epsilon
    if not twin:
        return say("check.verdict.alarm" if over else "check.verdict.built")
    code = "caught" if over else "exact" if ready.loss is not None else "open"
    return f"{say(f'check.verdict.{code}')} {say(f'check.gave.{twin}')}"


def details(example: Example, ready: Prepared, twin: str) -> list[str]:
    query, claim = ready.subject.query, ready.claim
    relation = say(f"check.details.relation.{example.relation}")
    lines = [
        say("check.details.asked", sentence=query.sentence()),
        say("check.details.theorem", theorem=query.theorem),
        say("check.details.claim", relation=relation),
    ]
    if twin:
        lines.append(say("check.details.twin"))
    if ready.view.kind == "evidence":
        lines.append(say("check.details.evidence"))
    if query.noise == "gaussian":
        lines.append(say("check.details.gaussian", delta=power_of_ten(claim.delta)))
    return [*lines, say("check.details.draws")]
