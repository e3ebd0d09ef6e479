"""How many steps: this training's, and the lecture's, with what each would take and promise."""

from __future__ import annotations

from fractions import Fraction
from html import escape

from dpengine.asking.answers import round_up_two
from dpengine.core.printed import power_of_ten, three_figures
from dpengine.mechanisms.models.of_gradients import MOST_STEPS, OfGradients
from dpengine.messages import plain, say
from dpengine.planning.training import StepsOption, lecture_steps
from ui.words import gloss

_LENGTHS = (("second", 1), ("minute", 60), ("hour", 3600), ("day", 86_400), ("year", 31_557_600))


def html(query: OfGradients, delta: Fraction) -> str:
    found = lecture_steps(query, delta)
    if found is None:
        return f'<p class="muted">{escape(say("train_page.lecture_no_delta"))}</p>'
    names = (("which", ""), ("steps", "number"), ("time", "number"), ("worse", "number"))
    head = "".join(f'<th class="{kind}">{escape(say(f"train_page.column.{name}"))}</th>' for name, kind in names)
    body = "".join(_row(query, option) for option in found.options)
    facts = {"epsilon": three_figures(found.epsilon), "delta": power_of_ten(delta), "width": query.width}
    told = [say("train_page.lecture_price", people=found.people, steps=query.steps, about=query.people, **facts)]
    if not found.steps:
        told.append(say("train_page.lecture_none", people=found.for_one))
    elif found.steps > MOST_STEPS:
        told.append(say("train_page.lecture_capped", most=MOST_STEPS))
    told.append(say("train_page.lecture_estimate"))
    below = "".join(f'<p class="muted">{gloss.text(line)}</p>' for line in told)
    lead = f'<p class="muted">{escape(say("train_page.lecture_lead"))}</p>'
    return f"{lead}<div class='scroll'><table class='plain noises'><tr>{head}</tr>{body}</table></div>{below}"


def _row(query: OfGradients, option: StepsOption) -> str:
    worse = query.promise().at(option.risk).said("train_page.short", query)
    cells = [plain(option.steps), _length(option.seconds), worse]
    numbers = "".join(f'<td class="number">{escape(cell)}</td>' for cell in cells)
    title = escape(say(f"train_page.steps_of.{option.kind}"))
    return f"<tr><td>{f'<b>{title}</b>' if option.kind == 'this' else title}</td>{numbers}</tr>"


def _length(seconds: float) -> str:
    unit, size = next(pair for pair in reversed(_LENGTHS) if seconds >= pair[1] or pair[1] == 1)
    many = round_up_two(Fraction(seconds) / size) if seconds > size else 1
    return say(f"train_page.time.{unit}", many=max(int(many), 1))
