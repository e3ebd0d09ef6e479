"""The planted errors of questions: each wrong twin, the right one beside it, and the check that tells them apart."""

from __future__ import annotations

from dataclasses import fields, replace
from typing import Any

from battery import SEVERAL, check_law_against_loss, check_sensitivity, facts

from dpengine.mechanisms.choices.find_declarations import FindDeclarations
from dpengine.mechanisms.choices.median import Median
from dpengine.mechanisms.choices.noisy_argmax import NoisyArgmax
from dpengine.mechanisms.choices.quantile import Quantile
from dpengine.mechanisms.choices.top_item import TopItem
from dpengine.mechanisms.counts.count import Count
from dpengine.mechanisms.counts.histogram import Histogram
from dpengine.mechanisms.session.adaptive_session import AdaptiveSession
from dpengine.mechanisms.session.asks import Average
from dpengine.mechanisms.sums.mean import Mean
from dpengine.mechanisms.sums.sum import Sum
from tests.helpers_found import check_found_lists, check_found_values
from tests.planted.checks import (
    check_all_that_is_told_comes_from_the_draw,
    check_draws_keep_the_claim,
    check_noise_is_fresh,
    check_noise_is_independent,
    check_samples_follow_the_law,
    check_supports_are_one_public_grid,
    check_the_shape_is_public,
)
from tests.planted.registry import Planted
from tests.planted.wrong_questions import (
    SOME,
    BareDenominator,
    DataBins,
    DoubleRate,
    EachGroupWhole,
    FloatNoise,
    ForOneSide,
    FreeRange,
    GaussianAsPure,
    HalfNoise,
    HalfNoiseDrawn,
    HalfRange,
    HalfVariance,
    JointOfOneRow,
    JointTwiceAsDeep,
    LowListThreshold,
    LowThreshold,
    MonotoneRate,
    NoDelta,
    OneBinBare,
    OneItemEach,
    OneLess,
    OneNoiseForAll,
    OneRowEach,
    OneStepEach,
    OnlyFullBars,
    OtherRelation,
    PresentCandidates,
    RangeAroundTheTruth,
    SeededFromTheQuestion,
    SetSizedScore,
    TwiceAsMany,
    TwiceTheDepth,
    UncappedScore,
    Uncut,
    UntilPositive,
    made,
)


def _session() -> tuple[AdaptiveSession, AdaptiveSession, AdaptiveSession]:
    right = AdaptiveSession.build(facts("replace"), {"questions": 2, "epsilon": "1", "ask": {"average": "x"}})
    assert isinstance(right.ask, Average)
    few = TwiceAsMany(**{one.name: getattr(right, one.name) for one in fields(right)})
    return right, replace(right, ask=HalfRange(**vars(right.ask))), few


COUNT, BARS = made(Count, SOME), made(Histogram, {"column": "c"})
ITEMS, ITEM_BARS = made(TopItem, {"column": "s"}), made(Histogram, {"column": "s"})
AVERAGES = made(NoisyArgmax, {"options": [{"mean": "x"}, {"mean": "z"}]})
TOP, MEDIAN = made(TopItem, {"column": "t"}), made(Median, {"column": "x", "with_range": False})
JOINTLY: dict[str, Any] = {"column": "x", "share": ["0.25", "0.75"], "with_range": False, "noise": "joint"}
TWO_AT_ONCE = made(Quantile, JOINTLY)
RANGED, BY = made(Median, {"column": "x"}), made(Mean, {"column": "x", "by": "c"})
TOTAL, MEAN = made(Sum, {"column": "x"}), made(Mean, {"column": "z"} | SOME)
GAUSSIAN = made(Histogram, {"column": "c", "noise": "gaussian"})
SMALL = made(Count, SOME | {"epsilon": "0.2"})  # a third of its draws are below zero
SEVERAL_COUNT = made(Count, SOME, unit=SEVERAL)
BY_LAPLACE = {"lists": ["raw text"], "delta": "0.01", "noise": "laplace"}
FOUND = made(FindDeclarations, BY_LAPLACE, "add_remove")
LISTED = made(FindDeclarations, {"lists": ["raw text"], "delta": "0.01"})
SESSION, HALF_RANGE, TWICE_AS_MANY = _session()

law, sensitivity = (check_law_against_loss, "exceeds"), (check_sensitivity, "moves it by")
box: Any = {"long_also": ((check_draws_keep_the_claim, "proves ε"),)}

PLANTED = [
    Planted(
        "half noise", "The noise has half the scale that its price is for.", *law, COUNT, made(HalfNoise, SOME), **box
    ),
    Planted(
        "half noise behind the law",
        "Price and law are right, and half the noise is drawn.",
        check_samples_follow_the_law,
        "law",
        BARS,
        made(HalfNoiseDrawn, {"column": "c"}),
        **box,
    ),
    Planted(
        "Δ one too small",
        "A sum claims one unit less than a person can change.",
        *sensitivity,
        TOTAL,
        made(OneLess, {"column": "x"}),
        also=(law,),
    ),
    Planted(
        "the wrong relation's Δ",
        "Bars claim under replace-one what holds under add/remove.",
        *sensitivity,
        BARS,
        made(OtherRelation, {"column": "c"}),
        also=(law,),
        **box,
    ),
    Planted(
        "one row each",
        "A count of rows forgets that a person may have two.",
        *sensitivity,
        SEVERAL_COUNT,
        made(OneRowEach, SOME, unit=SEVERAL),
        also=(law,),
        **box,
    ),
    Planted(
        "doubled rate",
        "A choice follows the scores twice as closely as it paid for.",
        *law,
        TOP,
        made(DoubleRate, {"column": "t"}),
    ),
    Planted(
        "the monotone rate under replace-one",
        "A choice saves the factor 2 where scores move both ways.",
        *law,
        TOP,
        made(MonotoneRate, {"column": "t"}),
    ),
    Planted(
        "every group at the whole ε",
        "Means by group have noise for one group where a person can change two.",
        *sensitivity,
        BY,
        made(EachGroupWhole, {"column": "x", "by": "c"}),
        also=(law,),
    ),
    Planted(
        "a range that nobody paid for",
        "A median's range is drawn from the data beside the median's price.",
        *law,
        RANGED,
        made(FreeRange, {"column": "x"}),
    ),
    Planted(
        "un-capped median score",
        "The score of a median moves by two ranks and claims one.",
        check_sensitivity,
        "moves it by 2",
        MEDIAN,
        made(UncappedScore, {"column": "x", "with_range": False}),
    ),
    Planted(
        "a joint draw with Δ = 1",
        "Percentiles in one draw count what one person moves in one gap, and not in the gap it came from.",
        *sensitivity,
        TWO_AT_ONCE,
        made(JointOfOneRow, JOINTLY),
        also=(law,),
    ),
    Planted(
        "depth counted twice",
        "A median's score counts each row between the place and the end of a value's rows twice.",
        check_sensitivity,
        "moves it by 2",
        MEDIAN,
        made(TwiceTheDepth, {"column": "x", "with_range": False}),
    ),
    Planted(
        "depth of a joint draw counted twice",
        "Of percentiles in one draw the right ones gain twice their depth.",
        *sensitivity,
        TWO_AT_ONCE,
        made(JointTwiceAsDeep, JOINTLY),
        also=(law,),
    ),
    Planted(
        "half the variance",
        "Gaussian noise has half the variance that its price is for.",
        check_law_against_loss,
        "Rényi",
        GAUSSIAN,
        made(HalfVariance, {"column": "c", "noise": "gaussian"}),
    ),
    Planted(
        "Gaussian noise at a pure price",
        "Gaussian noise is charged as if its loss had an end.",
        *law,
        GAUSSIAN,
        made(GaussianAsPure, {"column": "c", "noise": "gaussian"}),
    ),
    Planted(
        "drawn again until it looks right",
        "A count below zero is drawn again, which tells that it is small.",
        check_samples_follow_the_law,
        "law",
        SMALL,
        made(UntilPositive, SOME | {"epsilon": "0.2"}),
    ),
    Planted(
        "half a person's change in a session",
        "A session's average claims half of what a person changes.",
        *sensitivity,
        SESSION,
        HALF_RANGE,
        also=(law,),
    ),
    Planted(
        "noise for half the questions of a session",
        "A session sells twice the answers its noise is for.",
        *law,
        SESSION,
        TWICE_AS_MANY,
    ),
    Planted(
        "Δ of the set's size for a choice",
        "The most common item claims more than a person can change.",
        check_sensitivity,
        "wasteful",
        ITEMS,
        made(SetSizedScore, {"column": "s"}),
    ),
    Planted(
        "averages priced like groups",
        "A sum of places moves by the whole range, not by one.",
        *sensitivity,
        AVERAGES,
        made(OneStepEach, {"options": [{"mean": "x"}, {"mean": "z"}]}),
    ),
    Planted(
        "one item each",
        "Bars over sets are priced as if a person held one item.",
        *sensitivity,
        ITEM_BARS,
        made(OneItemEach, {"column": "s"}),
        also=(law,),
        **box,
    ),
    Planted(
        "sets not cut",
        "All items of a large set count where two were declared.",
        *sensitivity,
        made(Histogram, {"column": "s"}, "add_remove"),
        made(Uncut, {"column": "s"}, "add_remove"),
        also=(law,),
    ),
    Planted(
        "one bin un-noised",
        "The first bar is the true count.",
        check_samples_follow_the_law,
        "law",
        BARS,
        made(OneBinBare, {"column": "c"}),
        **box,
    ),
    Planted(
        "one noise for all bars",
        "All bars get the same noise, so their differences are bare.",
        check_noise_is_independent,
        "hangs together",
        BARS,
        made(OneNoiseForAll, {"column": "c"}),
        **box,
    ),
    Planted(
        "un-noised group count as denominator",
        "A mean divides by the true number of people and shows it.",
        *law,
        MEAN,
        made(BareDenominator, {"column": "z"} | SOME),
        **box,
    ),
    Planted(
        "an interval from the true value",
        "The answer is noisy and its range lies around the truth.",
        check_all_that_is_told_comes_from_the_draw,
        "beyond the draw",
        COUNT,
        made(RangeAroundTheTruth, SOME),
        **box,
    ),
    Planted(
        "noise seeded from the query",
        "The same question always gets the same noise.",
        check_noise_is_fresh,
        "came again",
        COUNT,
        made(SeededFromTheQuestion, SOME),
        also=((check_samples_follow_the_law, "law"),),
        **box,
    ),
    Planted(
        "float noise",
        "Laplace noise in floats, whose low digits tell what it was added to.",
        check_supports_are_one_public_grid,
        "off the public grid",
        TOTAL,
        made(FloatNoise, {"column": "x"}),
        also=((check_samples_follow_the_law, "law"),),
    ),
    Planted(
        "data-dependent bins",
        "Only bars that are not empty in the table are measured.",
        check_sensitivity,
        "shape",
        BARS,
        made(DataBins, {"column": "c"}),
    ),
    Planted(
        "only non-empty bars shown",
        "Bars that are empty in the table are left out of the answer.",
        check_the_shape_is_public,
        "which bars appear",
        BARS,
        made(OnlyFullBars, {"column": "c"}),
        **box,
    ),
    Planted(
        "only present values compete",
        "A value nobody holds cannot win, so the winner proves a holder.",
        check_supports_are_one_public_grid,
        "differs between neighbours",
        TOP,
        made(PresentCandidates, {"column": "t"}),
        also=(law,),
    ),
    Planted(
        "a threshold without δ",
        "Values that one person holds appear, and no δ pays for it.",
        check_found_values,
        "more often than δ",
        FOUND,
        made(NoDelta, BY_LAPLACE, "add_remove"),
    ),
    Planted(
        "a threshold that forgets a person's own rows",
        "A new value is released too often.",
        check_found_values,
        "more often than δ",
        FOUND,
        made(LowThreshold, BY_LAPLACE, "add_remove"),
    ),
    Planted(
        "a threshold too low for lists bought together",
        "A value that one person brings shows more often than δ allows.",
        check_found_lists,
        "shows with chance",
        LISTED,
        made(LowListThreshold, {"lists": ["raw text"], "delta": "0.01"}),
    ),
    Planted(
        "noise for one side of lists bought together",
        "Under replace-one one person leaves a value and enters another.",
        check_found_lists,
        "Rényi",
        LISTED,
        made(ForOneSide, {"lists": ["raw text"], "delta": "0.01"}),
    ),
]
