"""Below the question on the Trust page: error by people, the messages step by step, and who learns what."""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction
from html import escape
from typing import Any

import streamlit as st

import dpengine as dp
from demos.lessons import trust as demo
from demos.lessons.trust import HOLDS, NAMES, Stages
from dpengine.core.amounts import BETA
from dpengine.core.printed import chance, power_of_ten
from dpengine.mechanisms.local.shuffle_count import read_shuffle_delta
from dpengine.messages import say
from dpengine.messages.numbers import local, to_figures
from dpengine.planning import trust_models
from dpengine.planning.trust_models import Kept, Shuffled, Way
from ui.pictures import charts
from ui.pictures.trust_pictures import pile
from ui.shell import nav
from ui.trust import trust_state
from ui.trust.trust_state import STEPS

_LOOKS = {
    "central": ("muted", "dash"),
    "lecture": ("refuse", "dot"),
    "tight": ("left", "solid"),
    "local": ("take", "solid"),
}
_PLAYED = "trust-played"


@st.cache_data(max_entries=200, show_spinner=True)
def _along(kind: str, values: int, epsilon: str, delta: str) -> dict[str, Any]:
    """Cached for all visitors, so the key holds public facts only."""
    return trust_models.along_people(kind, values, Fraction(epsilon), Fraction(delta))


def curve(table: dp.Table, given: dict[str, Any], ways: tuple[Way, ...]) -> None:
    st.html(f'<h2>{escape(say("trust.curve"))}</h2><p class="muted">{escape(say("trust.curve_lead"))}</p>')
    values = table.schema.category(given["column"]).size if given["kind"] == "bars" else 2
    try:
        delta = str(read_shuffle_delta(given["d"]))
    except dp.AllowanceError:  # its sentence is above, and the other models need no δ
        delta = "1/100000000"
    drawn = _along(given["kind"], values, given["e"], delta)
    lines = []
    for way in ways:
        points = [(float(people), error) for people, error in drawn[way.model]]
        here = None if way.error is None else (float(table.facts.about), float(way.error))
        colour, dash = _LOOKS[way.model]
        if points:
            lines.append(charts.Line(say(f"trust.model.{way.model}"), points, here, colour, dash))
    if lines:
        title = say("trust.axis.error"), say("trust.curve_alt")
        charts.curves(lines, say("trust.axis.people"), *title, "trust-curve", height=360)


def coin_words(p: Fraction) -> str:
    """To four digits; a small value as a power of ten. Never shown as 1 unless it is 1."""
    if p < Fraction(1, 1000):
        return power_of_ten(p)
    return local(f"{float(p):.6f}".rstrip("0")) if Fraction(99, 100) < p < 1 else to_figures(float(p), 4)


def scrolled(rows: str, name: str) -> str:
    """A table that may be wider than a phone, with keyboard scrolling."""
    region = f'role="region" tabindex="0" aria-label="{escape(name)}"'
    return f'<div class="scroll" {region}><table class="plain">{rows}</table></div>'


def number_heads(titles: Iterable[str]) -> str:
    return "".join(f"<th scope='col' class='number'>{escape(title)}</th>" for title in titles)


def figures(given: dict[str, Any], ways: tuple[Way, ...]) -> str:
    """Every calibration with its coin and its noise."""
    body = ""
    for way in ways:
        if way.query is None:
            continue
        noise, delta = way.noise, getattr(way.query.loss(), "delta", Fraction(0))
        coin = (coin_words(noise.chance), to_figures(noise.deviation, 3)) if noise else ("—", "—")
        cells = (*coin, local(given["e"]), power_of_ten(delta))
        html = "".join(f"<td class='number'>{escape(cell)}</td>" for cell in cells)
        name, theorem = say(f"trust.model.{way.model}"), way.query.theorem
        body += f"<tr><th scope='row'>{escape(name)}</th>{html}<td>{escape(theorem)}</td></tr>"
    head = number_heads([say("trust.column.coin"), say("trust.column.deviation"), "ε", "δ"])
    theorem = f"<th scope='col'>{escape(say('trust.column.theorem'))}</th>"
    table = scrolled(f"<tr><td></td>{head}{theorem}</tr>{body}", say("trust.figures"))
    return f'{table}<p class="muted">{escape(say("trust.honest"))}</p>'


# --- the messages, step by step ---------------------------------------------------------------------------------------


def steps(given: dict[str, Any]) -> None:
    """One stage at a time. The analyser's stage shows the permuted messages and public numbers, and nothing else."""
    played: Stages = st.session_state.setdefault(_PLAYED, demo.play())
    step = given["step"]
    st.html(f'<h2>{escape(say("trust.steps"))}</h2><p class="muted">{escape(say("trust.steps_lead"))}</p>')
    place = say("trust.step_of", step=step, all=len(STEPS))
    head = f"<p><b>{escape(place)} {escape(say(f'trust.step.{step}'))}</b></p>"
    st.html(f"{head}<p>{escape(say(f'trust.step.{step}.lead', p=demo.CHANCE))}</p>{_panel(step, played)}")
    with st.container(key="trust-stepping", horizontal=True):
        st.button(say("trust.back"), key="trust-step-back", disabled=step == STEPS[0], on_click=_step, args=(step, -1))
        more: Any = {"type": "primary", "disabled": step == STEPS[-1]}
        st.button(say("trust.next"), key="trust-step-next", on_click=_step, args=(step, 1), **more)
        st.button(say("trust.anew"), key="trust-step-anew", on_click=_anew)


def _step(step: str, by: int) -> None:
    trust_state.change(step=STEPS[min(max(STEPS.index(step) + by, 0), len(STEPS) - 1)])


def _anew() -> None:
    st.session_state[_PLAYED] = demo.play()
    trust_state.change(step=STEPS[1])


def _panel(step: str, played: Stages) -> str:
    if step in ("1", "2"):
        return _people(played if step == "2" else None)
    if step == "3":
        alt = say("trust.alt.pile", messages=len(played.pile), ones=sum(played.pile))
        return f'<div role="img" aria-label="{escape(alt)}">{pile(played.pile)}</div>'
    return _analysed(played.pile)


def _people(played: Stages | None) -> str:
    """Each person with the truth and, once sent, both messages."""
    drawn = ""
    for place, name in enumerate(NAMES):
        truth = say("trust.has" if HOLDS[place] else "trust.has_not")
        sent = pile(played.sent[place]) if played else ""
        drawn += f"<li><b>{escape(name)}</b> <span class='muted'>{escape(truth)}</span>{sent}</li>"
    return f"<ul class='persons'>{drawn}</ul>"


def _analysed(messages: tuple[int, ...]) -> str:
    """Its argument is all that the analyser gets."""
    bits, estimate = demo.analysed(messages)
    people = len(messages) // 2
    facts = {"ones": bits, "people": people, "expected": people * demo.CHANCE, "estimate": estimate}
    alt = say("trust.alt.pile", messages=len(messages), ones=bits)
    sentence = escape(say("trust.analysed", **facts))
    return f'<div role="img" aria-label="{escape(alt)}">{pile(messages)}</div><p role="status"><b>{sentence}</b></p>'


# --- who could learn what ---------------------------------------------------------------------------------------------

WHO = ("server", "shuffler", "reader")


def learns() -> str:
    head = "".join(f"<th scope='col'>{escape(say(f'trust.who.{who}'))}</th>" for who in ("person", *WHO))
    body = ""
    for model in ("central", "shuffle", "local"):
        cells = "".join(f"<td>{escape(say(f'trust.learns.{model}.{who}'))}</td>" for who in ("person", *WHO))
        body += f"<tr><th scope='row'>{escape(say(f'trust.model.{model}'))}</th>{cells}</tr>"
    title = f"<h2>{escape(say('trust.who'))}</h2><p class='muted'>{escape(say('trust.here'))}</p>"
    table = scrolled(f"<tr><td></td>{head}</tr>{body}", say("trust.who"))
    return f"{title}{table}<p>{escape(say('trust.observation'))}</p>"


def links() -> None:
    st.page_link(nav.page("lessons"), label=say("trust.lesson"), query_params={"lesson": "trust"})
    nav.check_link(q="shuffle_count")


# --- what is left of each promise if only some of the people are honest


def show_honest(table: dp.Table, given: dict[str, Any], ways: tuple[Way, ...]) -> dict[str, Any]:
    people = table.facts.about
    st.html(f'<h2>{escape(say("honest.title"))}</h2><p class="muted">{escape(say("honest.lead"))}</p>')

    def words(share: str) -> str:
        return say("honest.of", honest=trust_models.honest_people(people, int(share)), people=people)

    label, key = say("honest.slider", people=people), trust_state.widget("honest")
    share = st.select_slider(label, trust_state.HONEST, given["honest"], key=key, format_func=words)
    given = given | {"honest": share}
    honest = trust_models.honest_people(people, int(given["honest"]))
    rows = trust_models.kept_by_honest(ways, honest)
    st.html(f'{_table(rows)}<div role="status" class="after">{_sentence(ways, rows, honest)}</div>')
    _curve(ways, honest)
    st.html(f'<p class="muted">{escape(say("honest.assumed"))}</p>')
    return given


def _table(rows: tuple[Kept, ...]) -> str:
    body = ""
    for row in rows:
        mark = "✓" if row.holds else "✗"
        delta = say("honest.pure") if row.chance is None else say("honest.delta", delta=power_of_ten(row.delta))
        cells = (f"{mark} {delta}", _off(row.error), _off(row.worst))
        coin = f'<br><span class="muted">p = {coin_words(row.chance)}</span>' if row.chance is not None else ""
        html = "".join(f"<td class='number'>{escape(cell)}</td>" for cell in cells)
        name = say("honest.needed") if row.model == "needed" else say(f"trust.model.{row.model}")
        body += f"<tr><th scope='row'>{escape(name)}{coin}</th>{html}</tr>"
    names = ("privacy", "error", "worst")
    head = number_heads(say(f"honest.column.{name}", chance=chance(BETA)) for name in names)
    return scrolled(f"<tr><td></td>{head}</tr>{body}", say("honest.title"))


def _off(error: Fraction | None) -> str:
    return "—" if error is None else say("trust.error", error=-(-error.numerator // error.denominator))


def _sentence(ways: tuple[Way, ...], rows: tuple[Kept, ...], honest: int) -> str:
    """What happened to the shuffler's promise, what would repair it, and why the others keep theirs."""
    query, by_model = trust_models.shuffled_of(ways), {row.model: row for row in rows}
    lines = []
    if query is not None:
        row, wanted = by_model["tight"], power_of_ten(query.delta)
        if row.holds:
            lines.append(say("honest.holds", honest=honest, delta=wanted))
        else:
            lines.append(say("honest.breaks", honest=honest, delta=power_of_ten(row.delta), wanted=wanted))
            lines.append(_mended(query, row, by_model.get("needed"), honest))
    lines.append(say("honest.others"))
    return "".join(f"<p>{escape(line)}</p>" for line in lines)


def _mended(query: Shuffled, row: Kept, needed: Kept | None, honest: int) -> str:
    if needed is None:
        return say("honest.few", honest=honest, least=trust_models.fewest(query) or 0)
    assert needed.chance is not None and row.chance is not None
    coins = {"p": coin_words(row.chance), "needed": coin_words(needed.chance)}
    return say("honest.mend", before=_off(row.error), after=_off(needed.error), **coins)


def _curve(ways: tuple[Way, ...], honest: int) -> None:
    """δ against honest people, with the claimed δ."""
    query = trust_models.shuffled_of(ways)
    if query is None:
        return
    points = [(float(people), delta) for people, delta in trust_models.along(query, query.facts.about)]
    here = (float(honest), float(trust_models.delta_of(query, honest)))
    claimed = [(points[0][0], float(query.delta)), (points[-1][0], float(query.delta))]
    lines = [
        charts.Line(say("honest.line.kept"), points, here, "refuse"),
        charts.Line(say("honest.line.claimed"), claimed, None, "left", "dash"),
    ]
    charts.curves(lines, say("honest.axis.honest"), "δ", say("honest.alt"), "trust-honest", height=280)
