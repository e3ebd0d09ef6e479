"""The auditor, audited: its exact figures against plain sums, its bounds against known laws, and its own mistakes."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from decimal import Decimal
from fractions import Fraction
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import sections
from battery import allowed_failures

from dpengine.accountant.filter import Rule
from dpengine.audit import exact, games, report
from dpengine.audit.empirical import Evidence, lower_bound, lower_chance, measure, search, upper_chance
from dpengine.audit.events import plain
from dpengine.audit.exact import Span, epsilon_at, hockey_stick, laws_of, pairs, worst
from dpengine.audit.games import CAP, NAMES, STRATEGIES, exact_game, play, two_tables
from dpengine.audit.report import audited, spots
from dpengine.audit.world import SEVERAL, build, key_of, named
from dpengine.core.errors import AllowanceError
from dpengine.declared.unit import RELATIONS
from dpengine.mechanisms import catalogue
from dpengine.mechanisms.query import Query
from dpengine.messages import CATALOGUES
from dpengine.noise.coins import SystemCoins
from dpengine.noise.laws import Finite, Independent, Laplace, Law, Normal, chance

# The exact auditor ----------------------------------------------------------------------------------------------------


def plain_sum(one: Law, other: Law, epsilon: Fraction, outcomes: Sequence[Sequence[Any]]) -> float:
    """Σ (P − e^ε·Q)₊ as it is written, over every combination of the outcomes of each coordinate."""
    chances = []
    for law in (one, other):
        parts = law.parts if isinstance(law, Independent) else (law,)
        each = [[float(chance(part, at)) for at in some] for part, some in zip(parts, outcomes, strict=True)]
        chances.append([math.prod(places) for places in product(*each)])
    factor = math.exp(epsilon)
    return math.fsum(max(0.0, p - factor * q) for p, q in zip(*chances, strict=True))


WIDE = range(-60, 61)
COINS = Finite({"a": Decimal("0.5"), "b": Decimal("0.3"), "c": Decimal("0.2")})
LOADED = Finite({"a": Decimal("0.4"), "b": Decimal("0.6")})
LAWS: list[tuple[str, Law, Law, Sequence[Sequence[Any]]]] = [
    ("laplace", Laplace(0, Fraction(3, 2)), Laplace(3, Fraction(3, 2)), [WIDE]),
    ("normal", Normal(0, Fraction(5, 2)), Normal(2, Fraction(5, 2)), [WIDE]),
    ("finite", COINS, LOADED, ["abc"]),
    ("back", LOADED, COINS, ["abc"]),
    (
        "product",
        Independent((Laplace(0, Fraction(1)), Normal(1, Fraction(2)), COINS, Laplace(7, Fraction(1, 2)))),
        Independent((Laplace(2, Fraction(1)), Normal(0, Fraction(2)), LOADED, Laplace(7, Fraction(1, 2)))),
        [range(-25, 28), range(-12, 14), "abc", range(-4, 19)],
    ),
]


@pytest.mark.parametrize(("one", "other", "outcomes"), [case[1:] for case in LAWS], ids=[case[0] for case in LAWS])
def test_the_span_holds_the_plain_sum(one: Law, other: Law, outcomes: Sequence[Sequence[Any]]) -> None:
    for epsilon in (Fraction(0), Fraction(3, 2)):
        found = hockey_stick(one, other, epsilon)
        assert float(found.high - found.low) <= 1e-18
        assert float(found.high) == pytest.approx(plain_sum(one, other, epsilon, outcomes), abs=1e-9), epsilon


def test_a_coarse_convolution_gives_an_interval_that_holds_the_truth(monkeypatch: pytest.MonkeyPatch) -> None:
    laws = [Independent(tuple(Laplace(at, Fraction(7, 3)) for at in centers)) for centers in ((0, 0, 0), (3, 5, 4))]
    fine = hockey_stick(laws[0], laws[1], Fraction(1, 2))
    monkeypatch.setattr(exact, "MOST_ATOMS", 3)
    coarse = hockey_stick(laws[0], laws[1], Fraction(1, 2))
    assert coarse.low < fine.low <= fine.high < coarse.high and float(coarse.high - coarse.low) < 1e-5


@pytest.mark.long
def test_very_many_losses_are_summed_on_one_grid(monkeypatch: pytest.MonkeyPatch) -> None:
    """Bells of 900 places each, three of them: 729 million sums in whole decimals would take a day."""
    wide = [Independent(tuple(Normal(at, Fraction(9)) for at in centers)) for centers in ((0, 0, 0), (3, 5, 4))]
    fine = hockey_stick(wide[0], wide[1], Fraction(1, 2))
    monkeypatch.setattr(exact, "MOST_PRODUCTS", 100)
    coarse = hockey_stick(wide[0], wide[1], Fraction(1, 2))
    assert coarse.low < fine.low <= fine.high < coarse.high and float(coarse.high - coarse.low) < 0.005
    monkeypatch.undo()
    bells = [tuple(exact.found_bell(at, 900, Fraction(1500), 1000, 1001) for _ in range(3)) for at in (1000, 1001)]
    many = hockey_stick(Independent(bells[0]), Independent(bells[1]), Fraction(1, 20))
    assert 0 < many.low < many.high < 1 and float(many.high - many.low) < 0.001


def test_bells_of_several_widths_are_summed_as_floats() -> None:
    """The span holds what is exact, and is narrow."""
    wide = [
        Independent((Normal(a, Fraction(3)), Normal(b, Fraction(3)), Normal(c, Fraction(7, 2))))
        for a, b, c in ((0, 0, 0), (1, -1, 2))
    ]
    told = hockey_stick(wide[0], wide[1], Fraction(1, 2))
    one = Independent(wide[0].parts[:2]), Independent(wide[1].parts[:2])
    last = exact.losses(Independent(wide[0].parts[2:]), Independent(wide[1].parts[2:]))
    fine = exact.losses(*one).plus(last).delta(Fraction(1, 2))
    assert told.low < fine.low <= fine.high < told.high and float(told.high - told.low) < 0.01


def test_an_outcome_that_the_other_table_lacks_is_counted_whole() -> None:
    assert float(hockey_stick(COINS, LOADED, Fraction(40)).low) == pytest.approx(0.2, abs=1e-12)
    assert float(hockey_stick(LOADED, COINS, Fraction(40)).high) < 1e-12, "the direction matters"
    assert epsilon_at(COINS, LOADED, Fraction(1, 10)) == Span(Decimal("Infinity"), Decimal("Infinity"))


def test_laws_of_different_noise_are_not_compared() -> None:
    for one, other in ((Laplace(0, Fraction(1)), Laplace(0, Fraction(2))), (COINS, Normal(0, Fraction(1)))):
        with pytest.raises(ValueError, match="compared"):
            hockey_stick(one, other, Fraction(1))


def test_epsilon_at_is_the_inverse() -> None:
    one, other = Normal(0, Fraction(4)), Normal(1, Fraction(4))
    found = epsilon_at(one, other, Fraction(1, 1000))
    grain = Fraction(1, 10**6)
    assert hockey_stick(one, other, Fraction(found.high)).high <= Decimal("0.001")
    assert hockey_stick(one, other, Fraction(found.high) - 2 * grain).low > Decimal("0.001")


A_COUNT, BARS, TOP = (named(name) for name in ("count: of some", "histogram: of a list", "top_item: of a list"))
HANDFUL = [A_COUNT, named("noisy_argmax: of two groups"), BARS, named("median: of some"), TOP]
FOUND = named("find_declarations: of a list, Laplace")


@pytest.mark.parametrize("relation", RELATIONS)
def test_every_pair_is_tried_both_ways(relation: str) -> None:
    """Divergences are not symmetric, so an auditor of one direction would miss half of the errors."""
    for key, given in [*HANDFUL, FOUND]:
        found = {(key_of(one), key_of(other)) for one, other in pairs(build(key, given, relation, unit=SEVERAL))}
        assert found and {(other, one) for one, other in found} == found, key


@pytest.mark.parametrize("relation", RELATIONS)
def test_exact_losses_of_a_handful(relation: str) -> None:
    """The exact ε is where δ(ε) becomes 0, and is the one claimed for noise on counts."""
    for key, given in HANDFUL:
        query = build(key, given, relation)
        found = worst(query)
        first, second = laws_of(query, *found.pair)
        assert found.epsilon <= 1 and (found.epsilon == 1 or key not in ("count", "histogram"))
        at = Fraction(found.epsilon)
        assert hockey_stick(first, second, at).high < Decimal("1e-18")
        assert hockey_stick(first, second, at - Fraction(1, 10**6)).low > 0
    found = worst(build(*FOUND, relation))
    assert found.epsilon == Decimal("Infinity") and found.delta is not None and found.delta.high <= Decimal("1e-6")


# The empirical auditor ------------------------------------------------------------------------------------------------


def binomial_tail(hits: int, draws: int, p: float) -> float:
    """Pr[Bin ≥ hits]."""
    return math.fsum(math.comb(draws, k) * p**k * (1 - p) ** (draws - k) for k in range(hits, draws + 1))


def test_clopper_and_pearson_by_the_binomial_sum() -> None:
    for draws, hits, failure in ((40, 0, 1e-3), (40, 1, 0.1), (40, 17, 1e-6), (40, 39, 0.01), (40, 40, 1e-6)):
        low = float(lower_chance(np.array([hits]), draws, failure)[0])
        high = float(upper_chance(np.array([hits]), draws, failure)[0])
        assert binomial_tail(hits, draws, low) == pytest.approx(failure, rel=1e-5) if hits else low == 0
        below = 1 - binomial_tail(hits + 1, draws, high)
        assert below == pytest.approx(failure, rel=1e-5) if hits < draws else high == 1


def noise(rng: np.random.Generator, draws: int) -> list[tuple[int, ...]]:
    return [tuple(row) for row in rng.geometric(0.1, (draws, 2)).tolist()]


def same_draws(one: Sequence[Any], other: Sequence[Any], delta: Fraction, failure: float) -> Evidence:
    """Planted: the draws on which events were ranked are those on which the best is tested."""
    middle = len(one) // 2
    return measure(*search(one, other, delta, failure), one[middle:], other[middle:], delta, failure)


def alarms(bound: Callable[..., Evidence], failure: float, times: int) -> int:
    """How often a release that loses nothing at all is accused."""
    rng = np.random.default_rng()
    found = (bound(noise(rng, 160), noise(rng, 160), Fraction(0), failure) for _ in range(times))
    return sum(evidence.epsilon > 0 for evidence in found)


@pytest.mark.long
def test_searching_and_testing_the_same_draws_accuses_the_innocent() -> None:
    """failure = 0.3: in 60 runs the bound keeps it, but for 1e-6; the planted auditor accuses nine times in ten, and
    escapes with a chance below 1e-6."""
    most = allowed_failures(60, 0.3)
    assert alarms(lower_bound, 0.3, 60) <= most < 40
    assert alarms(same_draws, 0.3, 60) > most


def test_both_directions_are_searched() -> None:
    """Always 0 on one table, 0 or 1 on the other: ln 2 one way, anything the other."""
    rng = np.random.default_rng()
    one, other = [0] * 400, rng.integers(0, 2, 400).tolist()
    for first, second, swapped in ((one, other, True), (other, one, False)):
        found = lower_bound(first, second)
        assert found.swapped is swapped and found.epsilon > 1.2 and found.hits[2] == 0
    event, swapped = search(plain(one[:200]), plain(other[:200]), Fraction(0), 1e-6)
    wrong = measure(event, not swapped, one[200:], other[200:], Fraction(0), 1e-6)
    assert wrong.epsilon == 0, "the event of one direction shows nothing in the other"


def test_delta_is_taken_off_and_the_families_find_their_events() -> None:
    rng = np.random.default_rng()
    some = [(("ann", 9),) if one else () for one in rng.random(600) < 0.5]
    nobody: list[Any] = [()] * 600
    assert lower_bound(some, nobody).epsilon > 1.5
    assert lower_bound(some, nobody, Fraction(7, 10)).epsilon == 0, "δ explains it"
    mapped = lower_bound([dict(one) for one in some], [dict(one) for one in nobody])
    assert mapped.epsilon > 1.5 and mapped.family in ("label", "outcome", "likelihood")
    inside = rng.integers(40, 60, 600).tolist()
    apart = [int(x) for x in np.where(rng.random(600) < 0.5, rng.integers(0, 40, 600), rng.integers(60, 99, 600))]
    assert lower_bound(inside, apart).epsilon > 1.5, "neither table's values lie on one side"
    shifted = [tuple(row) for row in (rng.geometric(0.3, (600, 4)) + 1).tolist()]
    assert lower_bound([*noise(rng, 300), "other shape"] * 2, [*shifted, ()]).epsilon >= 0
    for one, other, delta, failure in (([], [1, 2], 0, 0.1), ([1, 2], [1, 2], 1, 0.1), ([1, 2], [1, 2], 0, 0.0)):
        with pytest.raises(ValueError, match="needed"):
            lower_bound(one, other, Fraction(delta), failure)


def drawn(query: Query, pair: tuple[Any, Any], draws: int) -> list[list[Any]]:
    coins = SystemCoins()
    return [[query.draw(value, coins) for _ in range(draws)] for value in pair]


def test_a_claim_of_half_the_true_loss_is_refuted() -> None:
    """1,500 draws of each table at ε = 2, half of them tested: by the binomial sum the bound on the right event stays
    below 1 with chance 1.5e-13."""
    query = build("count", {"where": [["c", "in", ["a"]]]}, "replace", "2")
    found = lower_bound(*drawn(query, worst(query).pair, 1_500))
    assert 1 < found.epsilon <= 2


@pytest.mark.parametrize("relation", RELATIONS)
def test_no_honest_claim_is_refuted(relation: str) -> None:
    """At an ε so small that any bound from 100 draws would be above it; each is with chance at most 1e-6."""
    for key, given in (A_COUNT, BARS, TOP):
        query = build(key, given, relation, "0.01")
        assert lower_bound(*drawn(query, worst(query).pair, 100)).epsilon <= 0.01


# The ledger as one mechanism ------------------------------------------------------------------------------------------


def test_no_transcript_says_more_than_the_cap() -> None:
    """Under the pure clause every transcript's log-likelihood ratio is at most the cap, whoever asked."""
    asked = {}
    with two_tables() as workspace:
        for place, name in enumerate(sorted(STRATEGIES)):
            ratio, asked[name] = play(workspace, NAMES[place % 2], STRATEGIES[name], 0)
            assert abs(ratio) <= CAP + Fraction(1, 10**9), name
        assert workspace.verify_ledger().ok
    assert asked["whole"] == 1 and asked["steady"] == 3


ONE_SIZE = (Fraction(1, 10),)


def test_the_exact_game_against_a_real_file_keeps_delta_and_a_ledger_without_its_toll_does_not(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    worth, sets = exact_game(sizes=ONE_SIZE)
    assert worth <= 1e-6 and sets >= 11

    def without_toll(rule: Rule, before: Any, costs: Sequence[Any], keep: Any) -> None:
        admit(replace(rule, epsilon=rule.epsilon + (rule.c or 0)), before, costs, keep)

    from dpengine.ledger import ledger

    admit = ledger._admit
    monkeypatch.setattr(ledger, "_admit", without_toll)
    assert exact_game(sizes=ONE_SIZE)[0] > 1e-5


@pytest.mark.long
def test_a_ledger_that_admits_everything_is_seen_in_plays(monkeypatch: pytest.MonkeyPatch) -> None:
    """Power: eight times the cap is spent at once, and the bound from 200 plays of each table is above the cap. A miss
    needs four of 200 draws at ε = 12 on the wrong side, which has chance below 1e-12."""
    from dpengine.ledger import ledger

    monkeypatch.setattr(ledger, "_admit", lambda *_: None)

    def greedy(seen: games.Transcript) -> Query | None:
        return None if seen.asked == 1 else seen.table.query("count", where=[["c", "in", ["a"]]], epsilon=8 * CAP)

    monkeypatch.setitem(STRATEGIES, "greedy", greedy)
    [(_, found)] = games.audit_plays(200, ["greedy"])
    assert found.epsilon > CAP


# The report -----------------------------------------------------------------------------------------------------------


def test_the_report_has_a_line_for_every_question_relation_and_unit() -> None:
    found = spots()
    asked = {
        (key, relation, unit)
        for key, kind in catalogue.items()
        for relation, unit in product(kind.card.relations, ("rows", "people"))
        if unit == "rows" or kind.card.several
    }
    assert {(spot.key, spot.relation, spot.unit) for spot in found} == asked
    line = audited(next(spot for spot in found if spot.key == "fit_check"), 200)
    assert line.kept and line.used == 1
    assert len(line.row()) == len(CATALOGUES["en"]["audit.questions.columns"].split(";"))
    assert not replace(line, claimed=-1.0).kept and not replace(line, used=1.1).kept
    assert not replace(line, allowed=-1.0).kept


def test_the_figures_in_the_docs_name_every_question() -> None:
    text = report.FIGURES.read_text(encoding="utf-8")
    block = text.split(report.BEGIN)[1].split(report.END)[0]
    rows = {tuple(cell.strip() for cell in line.split("|")[1:5]) for line in block.splitlines() if line[:1] == "|"}
    sentences = CATALOGUES["en"]
    for spot in spots():
        told = (sentences[f"audit.{part}.{getattr(spot, part)}"] for part in ("kind", "relation", "unit"))
        assert (spot.key, *told) in rows, spot
    assert "no exact loss and no bound is above its claim" in block


def test_writing_changes_only_what_is_between_the_marks(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text(f"before\n{report.BEGIN}\nold\n{report.END}\nafter\n", encoding="utf-8")
    told = [(report.section_table("A | title", ["a|b", "c"], [["x\ny", 1]]), "a note")]
    for _ in range(2):
        report.write(page, report.markdown(told, "a verdict"))
    text = page.read_text(encoding="utf-8")
    assert text.startswith(f"before\n{report.BEGIN}\na verdict\n") and text.endswith(f"{report.END}\nafter\n")
    assert "old" not in text and "| a\\|b | c |\n|---|---|\n| x y | 1 |" in text
    page.write_text("no marks", encoding="utf-8")
    with pytest.raises(AllowanceError, match="no place"):
        report.write(page, ["x"])


@pytest.mark.long
def test_the_lines_of_one_question_are_written_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    page, rows = tmp_path / "audit.md", [["cdf", "old", 1], ["count", "old", 1]]
    questions = report.section_table("Every question", ["question", "claim", "claimed ε"], rows)
    told = [
        (questions, "A bound from 200 real draws."),
        (report.section_table("The ledger as one mechanism", ["x"], [["y"]]), ""),
    ]
    page.write_text(f"a\n{report.BEGIN}\n{report.END}\nz\n", encoding="utf-8")
    report.write(page, report.markdown(told, "3 lines: no exact loss and no bound is above its claim."))
    monkeypatch.setattr(report, "FIGURES", page)
    monkeypatch.setattr(report, "spots", lambda: [spot for spot in spots() if spot.unit == "rows"])
    with pytest.raises(AllowanceError, match="300 draws"):
        report.main(["--only", "fit_check", "--draws", "300", "--write"])
    with pytest.raises(AllowanceError, match="nothing"):
        report.main(["--only", "nothing"])
    for _ in range(2):  # the second time in the place of the first
        assert report.main(["--only", "fit_check", "--draws", "200", "--write"]) == 0
    text = page.read_text(encoding="utf-8")
    written = [line for line in text.splitlines() if line.startswith("| ")]
    assert [row.split(" | ")[0] for row in written[1:5]] == ["| cdf", "| fit_check", "| fit_check", "| count"]
    assert written[2] == "| fit_check | pure | 1.000 |" and text.startswith(f"a\n{report.BEGIN}\n5 lines: no exact")
    fresh = report.section_table("Every question", ["question"], [["fit_check"]])
    report.write_only(page, "fit_check", fresh, 200, kept=False)
    assert "4 lines: ABOVE ITS CLAIM: fit_check" in page.read_text(encoding="utf-8")
    report.write_only(page, "fit_check", fresh, 200, kept=True)
    assert "ABOVE ITS CLAIM" in page.read_text(encoding="utf-8"), "an alarm is taken back by the whole audit alone"


def test_too_few_draws_are_one_clear_sentence() -> None:
    for wrong in (["--draws", "3"], ["--plays", "-1"]):
        with pytest.raises(AllowanceError, match="at least"):
            report.main(wrong)


def test_sections_are_noted_once_and_read_back(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for module in (sections, report):
        monkeypatch.setattr(module, "FOLDER", tmp_path)
    columns = ["error", "caught by"]
    for figure in (1, 2):
        sections.add_rows("planted", "Planted errors", columns, [["half noise", f"check {figure}"]])
    sections.add_rows("planted", "Planted errors", columns, [["a bare bin", "samples"]])
    sections.add_rows("leaks", "Leaks", ["what", "found"], [["pages", 0]])
    leaks, planted = report.read_section()
    assert leaks.rows == (("pages", "0"),) and planted.columns == ("error", "caught by")
    assert planted.rows == (("a bare bin", "samples"), ("half noise", "check 2"))
    (tmp_path / "odd.json").write_text('{"title": "x", "columns": ["a"], "rows": [["1", "2"]]}', encoding="utf-8")
    with pytest.raises(ValueError, match="does not fit"):
        report.read_section()


def test_a_lower_bound_is_never_called_a_pass() -> None:
    told = [text for code, text in CATALOGUES["en"].items() if code.startswith("audit.")]
    assert told and not any("pass" in text.lower() for text in told)
