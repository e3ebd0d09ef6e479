"""The overfitting demonstration as a view that any page can show. Its settings live in the address."""

from __future__ import annotations

import math
from html import escape

import streamlit as st

import dpengine as dp
from demos import overfitting as demo
from demos.overfitting import Outcome, points
from dpengine import bearing
from dpengine.budget import usual_delta
from dpengine.exact import ceiling
from dpengine.messages import say
from dpengine.messages.spoken import current
from ui import charts, exports, job
from ui.language import address
from ui.wording import percent, power_of_ten

STATE = "overfitting"
USUAL = {"people": "5000", "features": "2500", "epsilon": "1", "seed": "1"}
CARE = ("0.5", "1", "3", "10")
_LINES = {"exact": ("take", "solid"), "fresh": ("spent", "dash"), "private": ("left", "solid")}


def show() -> None:
    title, lead = escape(say("overfitting.title")), escape(say("overfitting.lead"))
    st.html(f'{_STYLE}<h1>{title}</h1><p class="lead">{lead}</p>')
    with st.container(key="card-overfitting"):
        given = controls(_state())
        _remember(given)
        try:
            found, compared = _run(**given, words=current())
        except dp.AllowanceError as complaint:
            job.hint(str(complaint))
            return
        told(found)
        draw(found)
        more(found, compared)


def controls(given: dict[str, str]) -> dict[str, str]:
    turn = st.session_state[STATE]["turn"]
    left, middle, right = st.columns([1, 1, 2])
    for column, name, ends, step in (
        (left, "people", (demo.LEAST_PEOPLE, demo.MOST_PEOPLE), 1000),
        (middle, "features", (demo.LEAST_FEATURES, demo.MOST_FEATURES), 500),
    ):
        with column:
            value = st.number_input(
                say(f"overfitting.field.{name}"), *ends, int(given[name]), step, key=f"overfitting-{name}-{turn}"
            )
            given = given | {name: str(int(value))}
    with right:
        care = st.segmented_control(
            say("overfitting.field.care"), CARE, default=given["epsilon"], required=True,
            key=f"overfitting-epsilon-{turn}", format_func=lambda one: say(f"overfitting.care.{one}"),
        )  # fmt: skip
    st.button(say("overfitting.another"), key="overfitting-another", on_click=_toss)
    return given | {"epsilon": str(care or given["epsilon"])}


@st.cache_resource(max_entries=50, show_spinner=False)
def _run(people: str, features: str, epsilon: str, seed: str, words: str) -> tuple[Outcome, str]:
    """Kept by its settings, so that a picture does not flicker: nothing of a table is in it. `words`: a language."""
    given = {"people": people, "features": features, "epsilon": epsilon, "seed": seed}
    found = demo.run(demo.read(given))
    return found, bearing.comparison(found.settings.people, found.settings.questions, yes_no=True)


# --- words and picture ------------------------------------------------------------------------------------------------


def told(found: Outcome) -> None:
    """Two sentences."""
    exact, fresh, private, after = (
        _whole(shares[-1]) for shares in (found.exact, found.fresh, found.private, found.private_fresh)
    )
    alpha = ceiling(100 * found.noise.alpha)
    fooled = abs(found.private[-1] - 0.5) > float(found.noise.alpha)
    first = say("overfitting.exact", exact=f"<b>{exact}</b>", fresh=f"<b>{fresh}</b>")
    second = say(
        "overfitting.fooled" if fooled else "overfitting.private", private=f"<b>{private}</b>", alpha=alpha, fresh=after
    )
    how = escape(say("overfitting.how", questions=found.settings.questions))
    both = f'<p class="found">{first}</p><p class="found">{second}</p>'
    st.html(f'<p class="muted">{how}</p><div role="status">{both}</div>')


def draw(found: Outcome) -> None:
    alpha = float(found.noise.alpha)
    lines = []
    for name, (colour, dash) in _LINES.items():
        shares = zip(map(float, found.votes), getattr(found, name), strict=True)
        margin = alpha if name == "private" else 0
        lines.append(charts.Line(say(f"overfitting.line.{name}"), list(shares), None, colour, dash, margin))
    ends = (
        max(0.0, min(0.4, min(found.private) - alpha - 0.02)),
        min(1.0, max(0.75, max(found.private) + alpha + 0.02, max(found.exact) + 0.02)),
    )
    alt = say("overfitting.alt", exact=_whole(found.exact[-1]), private=_whole(found.private[-1]))
    charts.curves(
        lines, say("overfitting.axis.votes"), say("overfitting.axis.right"), alt, "overfitting-chart", 400, shares=ends
    )


def more(found: Outcome, compared: str) -> None:
    settings, noise, width = found.settings, found.noise, found.width
    with st.expander(say("overfitting.more")):
        facts = {
            "alpha": bearing.points_above(noise.alpha),
            "width": bearing.points_above(width.width),
            "theorem": width.theorem,
        }
        terms = say(
            "overfitting.terms", questions=settings.questions, epsilon=settings.epsilon,
            delta=power_of_ten(usual_delta(settings.people)),
            sigma=points(math.sqrt(float(noise.amount)) / settings.people), **facts,
        )  # fmt: skip
        proof = say("overfitting.proof" if width.width < 0.5 else "overfitting.proof_empty", **facts)
        simulated = say("overfitting.simulated", seed=settings.seed)
        st.html("".join(f"<p>{escape(line)}</p>" for line in (terms, proof, compared, simulated)))
        header = [say("overfitting.print.votes"), *(say(f"overfitting.line.{name}") for name in _LINES)]
        rows = zip(found.votes, *(getattr(found, name) for name in _LINES), strict=True)
        st.download_button(
            say("overfitting.csv"), exports.as_csv(header, rows), "many-questions.csv", "text/csv",
            key="overfitting-csv", on_click="ignore",
        )  # fmt: skip


def _whole(share: float) -> str:
    return percent(round(share, 2))


# --- the address ------------------------------------------------------------------------------------------------------


def _state() -> dict[str, str]:
    """As the address says on arrival, else as it was left, else the usual."""
    arriving = {name: st.query_params[name] for name in USUAL if name in st.query_params}
    kept = st.session_state.get(STATE)
    if kept is None or (arriving and arriving != kept["url"]):
        turn = kept["turn"] + 1 if kept else 0  # new widgets: a browser goes on showing what it has
        kept = {"url": arriving, "given": _clean(arriving), "turn": turn}
        st.session_state[STATE] = kept
    return dict(kept["given"])


def _clean(arriving: dict[str, str]) -> dict[str, str]:
    """Nothing of an address is trusted: what cannot be chosen becomes the usual."""
    ends = {
        "people": (demo.LEAST_PEOPLE, demo.MOST_PEOPLE),
        "features": (demo.LEAST_FEATURES, demo.MOST_FEATURES),
        "seed": (0, demo.MOST_SEED),
    }
    given = USUAL | {name: text for name, text in arriving.items() if name != "epsilon" or text in CARE}
    for name, (least, most) in ends.items():
        text = given[name]
        fine = text.isascii() and text.isdigit() and len(text) <= 9 and least <= int(text) <= most
        given[name] = str(int(text)) if fine else USUAL[name]
    return given


def _remember(given: dict[str, str]) -> None:
    """The address says what the view says; what is usual is left out."""
    kept = st.session_state[STATE]
    kept["given"], kept["url"] = given, {name: text for name, text in given.items() if text != USUAL[name]}
    others = {name: st.query_params[name] for name in st.query_params if name not in USUAL}
    address(others | kept["url"])


def _toss() -> None:
    kept = st.session_state[STATE]
    kept["given"] = kept["given"] | {"seed": str((int(kept["given"]["seed"]) + 1) % demo.MOST_SEED)}


_STYLE = """<style>
.found { font-family: var(--serif); font-size: 1.35rem; line-height: 1.4; max-width: 52rem; color: var(--ink);
  margin: 0.3rem 0 0.5rem 0 !important; }
.found b { font-weight: 600; }
@media (max-width: 640px) { .found { font-size: 1.15rem; } }
</style>"""
