"""A model and its quality in a sentence: what it predicts, from how many columns, how often it is right, and how often
a constant guess would be. A share of right guesses never stands alone."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import dpengine as dp
from dpengine.mechanisms.models.of_gradients import OfGradients
from dpengine.mechanisms.models.of_models import OfModel
from dpengine.messages import called, say
from dpengine.messages.language import current
from dpengine.released.shapes import LookWithModels, Shapes
from ui.words.figures import bare, printed, printed_range

NAMED = 2  # values of a side that are named
BETTER = 0.98  # a better model is off by less than this part of what always saying the average is off by
RANKS, _STEP = 60, 5  # of 100 in the right order, shown in steps of 5: fewer are hardly more than a coin
_KEPT = 1_000
_read: dict[tuple[str, str], tuple[str, str]] = {}  # by the charge and the language: reading a model takes a while


def trained(answer: dp.Answer) -> str:
    query: Any = answer.query
    return say("answer.model", target=query.target, columns=len(query.features))


def board(answer: dp.Answer) -> str:
    """The headline of a first look. If it was bought for a model, the headline says how good the model is."""
    query: Any = answer.query
    words = say("answer.board", columns=len(query.names))
    return _of_look(answer)[0] or words


def verdict(answer: dp.Answer) -> str:
    """For a first look bought for a model, a sentence on whether the model beats guessing; else empty."""
    return _of_look(answer)[1]


def model_of(answer: dp.Answer) -> Shapes | None:
    """The model that a first look was bought for; None if it was bought for none. If the model's target is a list, it
    predicts the usual yes."""
    query, look = answer.query, answer.value
    if not query.predicts or not isinstance(look, LookWithModels):
        return None
    goal = query.facts.schema[query.predicts]
    return look.model(query.predicts, [usual_yes(goal)] if isinstance(goal, dp.Category) else [])


def usual_yes(goal: dp.Category) -> str:
    return "yes" if "yes" in goal.values else goal.values[0]


def _of_look(answer: dp.Answer) -> tuple[str, str]:
    key = answer.receipt["charge"]["hash"], current()
    if key not in _read:
        if len(_read) >= _KEPT:
            _read.clear()
        model = model_of(answer)
        _read[key] = ("", "") if model is None else (short(model), judged(model))
    return _read[key]


def short(model: Shapes) -> str:
    """A model in a sentence: “Whether diabetes is yes, from 14 columns: right for about 97 of 100 people; always
    guessing …”"""
    facts = {"target": model.target, "columns": len(model.columns)}
    if not model.listed:
        off, blank = model.off()
        return say("shapes_page.short_off", off=bare(off), blank=bare(blank), **facts)
    return say("shapes_page.short", yes=list(model.yes), **facts, **_right(model))


def score(model: Shapes) -> str:
    """A sentence: how good a model is, beside guessing the same for everybody."""
    if not model.listed:
        off, blank = model.off()
        return say("shapes_page.off", off=bare(off), blank=bare(blank), target=model.target)
    return say("shapes_page.right", **_right(model))


def _right(model: Shapes) -> dict[str, object]:
    always = model.always()
    assert always.low is not None and always.high is not None
    low, high = math.floor(100 * always.low), math.ceil(100 * always.high)
    what = say(f"shapes_page.what.{model.look.query.counted}")
    return {"right": math.floor(100 * model.right()), "usual": side(model), "low": low, "high": high, "what": what}


def judged(model: Shapes) -> str:
    """A sentence: whether a model is better than guessing."""
    if model.blank:
        return say("shapes_page.blank")
    if model.listed:
        always = model.always()
        better = always.high is not None and model.right() > always.high
    else:
        off, blank = model.off()
        better = off < BETTER * blank
    ranked = _STEP * math.floor(100 * model.ranked() / _STEP) if model.listed else 0
    if not better and ranked >= RANKS:
        return say("shapes_page.ranks", yes=list(model.yes), ranked=ranked)
    return say("shapes_page.beats" if better else "shapes_page.no_better")


def side(model: Shapes) -> str:
    """The more frequent side of a model's target in a word or two."""
    if len(model.usual) > NAMED and model.usual != model.yes:
        return say("shapes_page.not", yes=list(model.yes))
    return ", ".join(called(label) for label in model.usual)


def measured(answer: dp.Answer, checks: Sequence[dp.Answer]) -> str:
    """The quality of a trained model by its newest check, or words that nobody has measured it; empty if the answer is
    no such model."""
    query = answer.query
    if query.goal is None or answer.path is None or not isinstance(query, OfGradients):
        return ""
    model = query.model(answer.path.weights)
    known = (check for check in checks if isinstance(check.query, OfModel) and check.query.model == model)
    newest = next((check for check in known if not check.query.state(check.value, check.interval)), None)
    return say("train_page.not_checked") if newest is None else say("train_page.checked", figures=checked(newest))


def checked(answer: dp.Answer) -> str:
    """The first figure of a model's check in words, with its range: how often the model is right, or how far off it is.
    For a share of right guesses, also what always guessing the same gives."""
    query: Any = answer.query
    first = next(iter(answer.value))
    low, high = printed_range(query, answer.interval[first][0], answer.interval[first][1], first)
    facts = {"value": printed(query, answer.value[first], answer.interval[first], first), "low": low, "high": high}
    if not query.model.layout.listed:
        return say("check_model.about.off", **facts)
    beside = query.guessing(answer.raw) if answer.raw is not None else say("check_model.against_unknown")
    return say("check_model.about.right", beside=beside, **facts)
