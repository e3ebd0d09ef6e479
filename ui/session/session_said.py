"""One answer of a session in words: the same on its page and in the report."""

from __future__ import annotations

from typing import Any

import dpengine as dp
from dpengine.mechanisms.session.adaptive_session import AdaptiveSession
from dpengine.messages import say
from dpengine.released.look_answers import KnownAlready
from ui.session import session_outward
from ui.words.figures import anything, printed, printed_range
from ui.words.wording import headline, range_words


def value(query: AdaptiveSession, told: Any, interval: Any) -> str:
    return headline(_answer(query, told, interval))


def ranges(query: AdaptiveSession, told: Any, interval: Any) -> str:
    """Its range in this table, with its unit; that it holds for all answers of the session is said once."""
    if interval is None:
        return range_words(_answer(query, told, interval))
    silent = query.mute(interval)
    ends = anything(query, interval) if silent else printed_range(query, *interval)
    low, high = (session_outward.with_unit(query, end) for end in ends)
    if silent:
        return say("answer.nothing_means", low=low, high=high)
    code = "session.between_nominal" if query.nominal else "session.between"
    return say(code, low=low, high=high, people=query.people)


def known(query: AdaptiveSession, found: KnownAlready) -> str:
    """What was bought before says about a question that is not asked yet, and whether asking would tell more."""
    promised = float(query.promise().amount)
    if found.low is None or found.high is None:
        value = printed(query, found.value, (found.value - promised, found.value + promised))
        return say("session.known_estimated", value=session_outward.with_unit(query, value))
    low, high = (session_outward.with_unit(query, end) for end in printed_range(query, found.low, found.high))
    enough = found.high - found.low <= 2 * promised
    return say("session.known" if enough else "session.known_wider", low=low, high=high)


def _answer(query: AdaptiveSession, told: Any, interval: Any) -> dp.Answer:
    return dp.Answer(told, interval, query.promise(), {}, query, "", "")
