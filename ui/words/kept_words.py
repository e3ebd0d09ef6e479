"""What a synthetic table does not keep, in a sentence: it goes wherever its answer goes."""

from __future__ import annotations

from collections.abc import Collection

import dpengine as dp
from dpengine.messages import say
from dpengine.released.look import Look
from dpengine.released.synthetic import KeptTogether


def not_kept(answer: dp.Answer, follows: Collection[str] = ()) -> str:
    """Nothing of other answers, and of tables of made-up rows that were not fitted to counts. `follows`: the columns
    whose values follow another answer."""
    if answer.query.makes_rows != "fitted" or not isinstance(answer.value, Look):
        return ""
    kept = KeptTogether(answer.value)
    parts = [say("kept.pairs", many=len(kept.apart), all=kept.all_pairs)] if kept.apart else []
    parts += [_threes(kept)] if len(kept.names) > 2 + (kept.threes == kept.all_threes) else []
    uneven = [name for name in kept.uneven if name not in follows]
    parts += [say("kept.averages", columns=uneven)] if uneven else []
    parts.append(say(f"kept.rare.{answer.query.counted}", rows=kept.reach(1)))
    return say("kept.not", parts="; ".join(parts))


def _threes(kept: KeptTogether) -> str:
    if kept.threes == kept.all_threes:
        return say("kept.four")
    return say("kept.threes_some", some=kept.threes) if kept.threes else say("kept.threes")


def threes(kept: KeptTogether) -> str:
    """What was measured of three columns together; nothing where there are only two."""
    if not kept.all_threes:
        return ""
    if kept.threes == kept.all_threes:
        return say("synthetic_page.threes_all") if len(kept.names) > 3 else ""
    return say("synthetic_page.threes_some" if kept.threes else "synthetic_page.threes", some=kept.threes)
