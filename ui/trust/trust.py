"""The Trust page: one question in the central, the shuffle and the local model, before and after paying for it."""

from __future__ import annotations

import json
from collections.abc import Iterable
from fractions import Fraction
from html import escape
from typing import Any

import streamlit as st

import dpengine as dp
from demos.lessons import channel
from demos.lessons import trust as demo
from demos.lessons.channel import Seen
from demos.lessons.trust import HOLDS, NAMES, Stages
from dpengine.core.amounts import BETA
from dpengine.core.exact import text_of
from dpengine.core.printed import chance, power_of_ten
from dpengine.core.strict_json import read_strict
from dpengine.declared.schema import Category
from dpengine.mechanisms.local.shuffle_count import read_shuffle_delta
from dpengine.mechanisms.local.shuffle_histogram import SOLUTIONS
from dpengine.messages import plain, say
from dpengine.messages.numbers import local, to_figures
from dpengine.planning import trust_models
from dpengine.planning.opening import PART
from dpengine.planning.opening import STEPS as SPENDS
from dpengine.planning.trust_models import Kept, Shuffled, Way
from ui.learn import lessons
from ui.parts import conditions, fields, job, owner
from ui.parts.history import address_of
from ui.pictures import charts, many
from ui.pictures.picture import bars, pile
from ui.several import plan
from ui.shell import frame, nav
from ui.shell.language import address
from ui.words import prices
from ui.words.figures import figure, printed_range
from ui.words.wording import in_short

# --- the choices on the Trust page. The address keeps them, so that a link restores them

STATE = "trust"
FIELDS = ("kind", "where", "column", "e", "d", "solution", "step", "honest", "channel")
STEPS = ("1", "2", "3", "4")
LONGEST = 1_500
HONEST = tuple(str(share) for share in trust_models.SHARES)
_CHOICES = {"kind": trust_models.KINDS, "solution": SOLUTIONS, "step": STEPS, "honest": HONEST}
_CHOICES |= {"channel": channel.CHANNELS}


def state(table: dp.Table) -> dict[str, Any]:
    """The settings: from the URL on arrival, else as last left, else the defaults."""
    arriving = {name: st.query_params[name] for name in FIELDS if name in st.query_params}
    kept = st.session_state.get(STATE)
    if kept is None or kept["table"] != table.name or (arriving and arriving != kept["url"]):
        turn = kept["turn"] + 1 if kept else 0  # new widgets, because a browser keeps old widget values
        kept = {"table": table.name, "url": arriving, "given": _clean(table, arriving), "turn": turn}
        st.session_state[STATE] = kept
    return dict(kept["given"])


def usual(table: dp.Table) -> dict[str, Any]:
    """From public facts: the first listed value, and an ε and δ that fit the table and its reserve."""
    lists = table.schema.of_kind(Category)
    several = [name for name in lists if table.schema.category(name).size > 1] or lists
    first = [[several[0], "in", [table.schema.category(several[0]).labels[0]]]] if several else []
    rule = table.budget.rule
    given = {"kind": "count", "where": first, "column": several[0] if several else "", "solution": "first"}
    given |= {"step": "1", "honest": HONEST[-1], "channel": channel.CHANNELS[0]}
    epsilon = min(trust_models.usual_epsilon(table.facts, rule), _opens(table, first), key=Fraction)
    return given | {"e": epsilon, "d": _small(trust_models.usual_delta(rule))}


def _small(delta: Fraction) -> str:
    """10⁻⁸ as typed: 1e-8."""
    return f"1e-{len(str(delta.denominator)) - 1}" if delta.numerator == 1 else text_of(delta)


def _opens(table: dp.Table, where: list[Any]) -> str:
    """The largest step at which one trust model takes no more than a form's default; else the smallest. Asking in all
    models has its own button and price."""
    steps, most = spend_steps(table), PART * table.meter().unused
    try:
        asked = table.query("count", where=where, epsilon=steps[0])
    except dp.AllowanceError:  # no list to set a condition on
        return steps[0]
    shares = table.prices([asked.at(Fraction(step)) for step in steps])
    fits = [step for step, share in zip(steps, shares, strict=True) if share is not None and share <= most]
    return fits[-1] if fits else steps[0]


def spend_steps(table: dp.Table) -> list[str]:
    """The same steps as on Ask, up to the allowance."""
    most = table.budget.rule.epsilon
    return [step for step in SPENDS if Fraction(step) <= most] or [text_of(most)]


def _clean(table: dp.Table, arriving: dict[str, str]) -> dict[str, Any]:
    """Replace impossible values by defaults and drop long ones; nothing in a URL is trusted."""
    given = usual(table)
    for name, text in arriving.items():
        if len(text) > LONGEST:
            continue
        if name == "where":
            given["where"] = _rows(text, given["where"])
        elif name == "column":
            given["column"] = text if text in table.schema.of_kind(Category) else given["column"]
        elif name == "e":
            given["e"] = text if text in spend_steps(table) else given["e"]
        else:
            given[name] = text[:30] if text in _CHOICES.get(name, (text,)) else given[name]
    return given


def _rows(text: str, instead: list[Any]) -> list[Any]:
    try:
        rows = read_strict(text)
    except ValueError:
        return instead
    return rows if isinstance(rows, list) else instead


def change(**values: Any) -> None:
    kept = st.session_state[STATE]
    kept["given"] = kept["given"] | values


def widget(name: str) -> str:
    return f"trust-{name}-{st.session_state[STATE]['turn']}"


def remember(table: dp.Table, given: dict[str, Any]) -> None:
    """Write the settings to the URL, without defaults."""
    kept, before = st.session_state[STATE], usual(table)
    query = {name: _text(given[name]) for name in FIELDS if given[name] != before[name]}
    query = {name: text for name, text in query.items() if len(text) <= LONGEST}
    kept["given"], kept["url"] = given, query
    beside = {name: st.query_params[name] for name in ("answer", "run") if name in st.query_params}
    address({"table": table.name} | query | beside)


def _text(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, separators=(",", ":"))


# --- below the question on the Trust page: error by people, the messages step by step, and who learns what

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
    change(step=STEPS[min(max(STEPS.index(step) + by, 0), len(STEPS) - 1)])


def _anew() -> None:
    st.session_state[_PLAYED] = demo.play()
    change(step=STEPS[1])


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
    left = {share: trust_models.honest_people(people, int(share)) for share in HONEST}
    words: Any = {"format_func": lambda share: say("honest.of", honest=left[share], people=people)}
    label, now = say("honest.slider", people=people), given["honest"]
    share = str(st.select_slider(label, HONEST, now, key=widget("honest"), **words))
    given, honest = given | {"honest": share}, left[share]
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


# --- on the Trust page: one shuffler for several protocols, and what an observer of each kind of pile learns

_CHANNEL_PLAYED = "trust-channel-played"


def show_channel(given: dict[str, Any]) -> dict[str, Any]:
    played: Seen = st.session_state.setdefault(_CHANNEL_PLAYED, channel.play())
    st.html(
        f'<h2>{escape(say("channel.title"))}</h2><p class="muted">{escape(say("channel.lead", p=channel.CHANCE))}</p>'
    )
    key = widget("channel")
    given = given | {"channel": fields.choose("channel.choose", channel.CHANNELS, given["channel"], key, "channel")}
    panel = {"apart": _apart, "tagged": _tagged, "bundles": _bundles}[given["channel"]]
    st.html(panel(played))
    st.button(say("trust.anew"), key="trust-channel-anew", on_click=_play_channel)
    return given


def _play_channel() -> None:
    st.session_state[_CHANNEL_PLAYED] = channel.play()


def _way(way: int) -> str:
    return say(f"channel.way.{channel.WAYS[way]}")


def _tile(way: int, bit: int) -> str:
    return f'<i class="b{bit} t{way}">{escape(_way(way)[:1])}{bit}</i>'


def _piled(tiles: str, alt: str) -> str:
    return f'<div role="img" aria-label="{escape(alt)}"><div class="pile tags">{tiles}</div></div>'


def _apart(seen: Seen) -> str:
    drawn = ""
    for way, bits in enumerate(seen.apart):
        alt = say("trust.alt.pile", messages=len(bits), ones=sum(bits))
        drawn += f"<p><b>{escape(_way(way))}</b></p>" + _piled("".join(_tile(way, bit) for bit in bits), alt)
    return drawn + _learned(channel.counted_apart(seen.apart)) + _line("channel.learns.apart")


def _tagged(seen: Seen) -> str:
    alt = say("trust.alt.pile", messages=len(seen.tagged), ones=sum(bit for _, bit in seen.tagged))
    drawn = _piled("".join(_tile(way, bit) for way, bit in seen.tagged), alt)
    return drawn + _learned(channel.counted_tagged(seen.tagged)) + _line("channel.learns.tagged")


def _bundles(seen: Seen) -> str:
    """Envelopes in random order: without names, and yet each is a person's row."""
    drawn = ""
    for bundle in seen.bundles:
        tiles = "".join(_tile(way, bit) for way, pair in enumerate(bundle) for bit in pair)
        drawn += f'<li><div class="pile tags">{tiles}</div></li>'
    alt = say("channel.alt.bundles", people=len(seen.bundles))
    box = f'<div role="img" aria-label="{escape(alt)}"><ul class="persons bundles">{drawn}</ul></div>'
    certain = channel.read_off(seen.bundles)
    return box + _line("channel.learns.bundles", certain=certain, people=len(seen.bundles))


def _learned(bits: tuple[int, ...]) -> str:
    people = len(channel.HOLDS)
    estimates = channel.estimates(bits, people)
    rows = "".join(
        f"<tr><th scope='row'>{escape(_way(way))}</th><td class='number'>{plain(bits[way])}</td>"
        f"<td class='number'>{plain(estimates[way])}</td></tr>"
        for way in range(len(channel.WAYS))
    )
    heads = number_heads([say("channel.ones"), say("channel.about")])
    return scrolled(f"<tr><td></td>{heads}</tr>{rows}", say("channel.title"))


def _line(code: str, **facts: Any) -> str:
    return f'<p role="status">{escape(say(code, **facts))}</p>'


def show(table: dp.Table) -> None:
    st.html(f"<style>{lessons.rules()}</style>")
    st.html(f'<h1>{escape(say("trust.title"))}</h1><p class="lead">{escape(say("trust.lead"))}</p>')
    frame.pick_table(table, "trust")
    if _waits(table):
        return
    given = state(table)
    with st.container(key="card-trust"):
        given = _question(table, given)
        ways = trust_models.ways(table.facts, given["kind"], _asked(given))
        for line in _cautions(table, given):
            st.html(f'<p class="warn">{escape(line)}</p>')
    barred = trust_models.of_all(ways)
    job.show_refusal()
    if table.closed:
        owner.closed(table)
    if barred is not None:
        job.hint(say("trust.barred", why=str(barred)))
    elif all(way.query is None for way in ways):  # the first refusal is about the question itself
        job.hint(str(ways[0].refused))
    else:
        _errors(ways)
        for first in range(0, len(ways), 2):
            for way, column in zip(ways[first : first + 2], st.columns(2), strict=True):
                with column, st.container(key=f"card-way-{way.model}"):
                    _model(table, given, way)
        _together(table, given, ways)
        _answers(table, ways)
        with st.container(key="card-trust-curve"):
            curve(table, given, ways)
        with st.container(key="card-trust-honest"):
            given = show_honest(table, given, ways)
        with st.expander(say("trust.figures")):
            st.html(figures(given, ways))
    with st.container(key="card-trust-steps"):
        steps(given)
    with st.container(key="card-trust-channel"):
        given = show_channel(given)
    with st.container(key="card-trust-who"):
        st.html(learns())
    links()
    remember(table, given)


def _waits(table: dp.Table) -> bool:
    """Is a question of this page running? Then the page waits for it."""
    request, run = st.query_params.get("answer"), st.query_params.get("run")
    if request and not job.look(request).over:
        return True
    if run:
        running = table.run(run)
        if not running.over:
            plan.progress(table, run)
            return True
        plan.renew(run)
        if not running.rows:
            job.refused(str(running.error) if running.error else say("trust.unknown"))
        elif any(state != "done" for _, state in running.rows):
            job.hint(say("plan.lost"))
    return False


# --- the question -----------------------------------------------------------------------------------------------------


def _question(table: dp.Table, given: dict[str, Any]) -> dict[str, Any]:
    kind = fields.choose("trust.kind", trust_models.KINDS, given["kind"], widget("kind"))
    given = given | {"kind": kind}
    if given["kind"] == "count":
        st.html(f'<p class="muted">{escape(say("trust.where"))}</p>')
        given["where"] = conditions.conditions(table, given["where"], widget("where"))
    else:
        given = given | _bars(table, given)
    steps = spend_steps(table)
    now = given["e"] if given["e"] in steps else steps[-1]
    words: Any = {"format_func": lambda step: say("trust.step", epsilon=local(step))}
    given["e"] = st.select_slider(say("trust.epsilon"), steps, now, key=widget("e"), **words)
    with st.expander(say("trust.more")):
        label, help_ = say("trust.delta"), say("trust.delta_help")
        given["d"] = fields.number_field(label, given["d"], widget("d"), max_chars=30, help=help_)
    return given


def _bars(table: dp.Table, given: dict[str, Any]) -> dict[str, Any]:
    lists = table.schema.of_kind(Category)
    if not lists:
        return {}
    at = lists.index(given["column"]) if given["column"] in lists else 0
    column = st.selectbox(say("trust.column"), lists, at, key=widget("column"), width=320)
    both, key = ("first", "second"), widget("solution")
    return {"column": str(column), "solution": fields.choose("trust.solution", both, given["solution"], key)}


def _asked(given: dict[str, Any]) -> dict[str, Any]:
    return {"epsilon": given["e"], "delta": given["d"], **{key: given[key] for key in ("where", "column", "solution")}}


def _cautions(table: dp.Table, given: dict[str, Any]) -> list[str]:
    """Warnings about a δ that is too large to mean much, or larger than the reserve."""
    try:
        delta = read_shuffle_delta(given["d"])
    except dp.AllowanceError:
        return []
    meter, notes = table.meter(), []
    left = meter.delta_reserve - meter.spent_delta
    if delta * table.facts.about > 1:
        notes.append(say("trust.teaching", delta=power_of_ten(delta), people=table.facts.about))
    if delta > left:
        notes.append(say("trust.reserve" if left > 0 else "trust.reserve_none", left=power_of_ten(left)))
    return notes


# --- before anything is spent -----------------------------------------------------------------------------------------


def _errors(ways: tuple[Way, ...]) -> None:
    rows = [(say(f"trust.model.{way.model}"), float(way.error), _within(way)) for way in ways if way.error is not None]
    alt = "; ".join(f"{name}: {label}" for name, _, label in rows)
    head = say("trust.errors", chance=chance(BETA))
    with st.container(key="card-trust-errors"):
        st.html(f'<h2>{escape(head)}</h2><div role="img" aria-label="{escape(alt)}">{bars(rows)}</div>')


def _within(way: Way) -> str:
    assert way.error is not None
    return say("trust.error", error=-(-way.error.numerator // way.error.denominator))


def _model(table: dp.Table, given: dict[str, Any], way: Way) -> None:
    name, whom = escape(say(f"trust.model.{way.model}")), escape(say(f"trust.whom.{way.model}"))
    st.html(f'<h2>{name}</h2><p class="muted">{whom}</p>')
    if way.query is None:
        job.hint(_refused(table, given, way))
        return
    promised = way.query.promise().words(way.query)
    sentence = promised if way.asked_here else say("trust.published", error=_within(way))
    lines = [f"<p>{escape(say('spend.accept'))} <b>{escape(sentence)}</b></p>"]
    if getattr(way.query, "solution", "") == "second":
        lines.append(f'<p class="muted">{escape(say("trust.rare", rare=way.query.rare))}</p>')  # type: ignore[attr-defined]
    if not way.asked_here:
        lines.append(f'<p class="muted">{escape(say("trust.publish"))}</p>')
        st.html("".join(lines))
        asked = {"table": table.name, "columns": json.dumps([given["column"]]), "epsilon": given["e"]}
        st.page_link(nav.page("publish"), label=say("page.publish"), query_params=asked)
        return
    st.html("".join(lines))
    _ask(table, way)


def _refused(table: dp.Table, given: dict[str, Any], way: Way) -> str:
    """The refusal; for the lecture's coin with its p and the δ that it really keeps."""
    if way.refused is None or way.refused.code != "shuffle.lecture":
        return str(way.refused)
    coin = trust_models.lecture(table.facts.about, given["kind"], Fraction(given["e"]), read_shuffle_delta(given["d"]))
    facts = {"p": coin_words(coin.chance), "people": table.facts.about, "epsilon": coin.epsilon}
    if coin.delta is None:
        return say("trust.lecture.above", **facts)
    if Fraction(coin.delta) > coin.wanted:
        wanted = power_of_ten(coin.wanted)
        return say("trust.lecture.fails", delta=power_of_ten(Fraction(coin.delta)), wanted=wanted, **facts)
    return str(way.refused)


def _ask(table: dp.Table, way: Way) -> None:
    assert way.query is not None
    paid, price = table.recall(way.query), table.preview(way.query, checked=True)
    if paid:
        address = address_of(table.name, paid[-1].request_id)
        html = f"<b>{escape(in_short(paid[-1]))}</b> <a href='{address}' target='_self'>{escape(say('trust.open'))}</a>"
        st.html(f'<p role="status">{escape(say("trust.answer"))} {html}</p>')
    if table.closed:
        return
    share = prices.takes(table, price.share)
    label = say("ask.button_again" if paid else "trust.ask", share=share)
    key, disabled = f"trust-ask-{way.model}", not price.admissible
    job.ask_button(label, table, way.query, key, disabled=disabled, kind="secondary", again=bool(paid))
    if not price.admissible:
        st.html(f'<p class="muted">{escape(say("trust.too_much"))}</p>')


def _together(table: dp.Table, given: dict[str, Any], ways: tuple[Way, ...]) -> None:
    """All of them at once: charged together or not at all."""
    queries = [way.query for way in ways if way.query is not None and way.asked_here]
    if table.closed or len(queries) < 2:
        return
    priced = table.planner().price_of(queries)
    frame.show_price(table, priced, "_trust")
    if not priced.admissible:
        st.html(f'<p class="muted">{escape(say("trust.together_not", count=len(queries)))}</p>')
        return
    label = say("trust.together", count=len(queries), share=prices.takes(table, priced.share))
    plan.run_button(label, table, queries, "trust-together", tuple(query.digest() for query in queries))


def _answers(table: dp.Table, ways: tuple[Way, ...]) -> None:
    """Paid bars, side by side."""
    paid = {way.model: table.recall(way.query) for way in ways if way.query is not None and way.asked_here}
    latest = {model: answers[-1] for model, answers in paid.items() if answers and isinstance(answers[-1].value, dict)}
    if not latest:
        return
    head = "".join(f"<th scope='col' class='number'>{escape(say(f'trust.model.{model}'))}</th>" for model in latest)
    body = ""
    for label in many.page(next(iter(latest.values())).query.labels(), "trust-page"):
        cells = ""
        for answer in latest.values():
            low, high = printed_range(answer.query, *answer.interval[label])
            value = escape(figure(answer, label))
            cells += f"<td class='number'>{value}<br><span class='muted'>{low} … {high}</span></td>"
        body += f"<tr><th scope='row'>{escape(label)}</th>{cells}</tr>"
    st.html(scrolled(f"<tr><td></td>{head}</tr>{body}", say("trust.kind.bars")))
