"""A synthetic table: what one person moves, what choosing loses, what is promised, and that nothing but what was
released reaches its rows.

False alarms: ranges are allowed to fail so often that a right one does with probability at most 1e-6.
"""

from __future__ import annotations

import math
import threading
import time
import tracemalloc
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from fractions import Fraction
from itertools import combinations, product
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from battery import allowed_failures

import dpengine as dp
from dpengine.accountant.costs import cost
from dpengine.core.types import Integers
from dpengine.declared.facts import Facts
from dpengine.mechanisms.marginals.residuals import residual
from dpengine.mechanisms.synthetic.chosen_pairs import _given
from dpengine.mechanisms.synthetic.soft_fit import Points
from dpengine.mechanisms.synthetic.synthetic_table import CHOSEN, MIXED, PAIRS, TRIPLES, SyntheticTable
from dpengine.noise.coins import SystemCoins
from dpengine.noise.laws import renyi, weighted
from dpengine.released.look import Look
from dpengine.released.synthetic import FittedTable
from dpengine.released.synthetic_fit import PublicMix, mended, whole_rows
from tests.helpers_ledger import PATIENCE

RELATIONS = ("replace", "add_remove")
BETA = "0.2"
DRAWS = 25
ORDER = Fraction(3)


def question(
    sizes: tuple[int, ...], people: int, relation: str = "replace", several: int = 0, **given: Any
) -> SyntheticTable:
    lists = {f"c{at}": dp.Category([f"v{one}" for one in range(size)], "v0", "v0") for at, size in enumerate(sizes)}
    unit = dp.Unit.column("who", several) if several else dp.Unit.rows()
    facts = Facts("t", dp.Schema(lists), unit, relation, people)  # type: ignore[arg-type]
    query = dp.catalogue["synthetic_table"].build(facts, {"columns": list(lists), "epsilon": "1"} | given)
    assert isinstance(query, SyntheticTable)
    return query


def rows_of(people: int, sizes: tuple[int, ...], seed: int = 3) -> list[Integers]:
    """Made-up people whose next column often follows the one before."""
    rng = np.random.default_rng(seed)
    codes = [rng.integers(0, sizes[0], people)]
    for size in sizes[1:]:
        codes.append(np.where(rng.random(people) < 0.6, codes[-1] % size, rng.integers(0, size, people)))
    return codes


def counted(query: SyntheticTable, codes: list[Integers]) -> list[list[int]]:
    found = []
    for part in query.largest:
        cells = np.zeros([query.axes[place].size for place in part], dtype=np.int64)
        np.add.at(cells, tuple(codes[place] for place in part), 1)
        found.append(cells.ravel().tolist())
    return found


def turns_taken(query: SyntheticTable, raw: tuple[int, ...]) -> int:
    """Of all that was chosen."""
    start = sum(query.layout.cells(part) for part in query.layout.bases)
    return sum(many for _, many in query.choosing.read(raw, start, query._always).values())


# What one person moves


@pytest.mark.parametrize("sizes", [(2, 2), (2, 3), (4, 3), (2, 2, 2), (3, 2, 4)])
@pytest.mark.parametrize("relation", RELATIONS)
def test_a_row_moves_a_chosen_residual_by_no_more_than_is_charged(sizes: tuple[int, ...], relation: str) -> None:
    choosing = question(sizes, 100, relation, plan=CHOSEN).choosing
    cells, whole = list(product(*map(range, sizes))), tuple(range(len(sizes)))

    def moved(cell: tuple[int, ...]) -> Integers:
        own = np.zeros(sizes, dtype=np.int64)
        own[cell] = 1
        return residual(own)

    changes = [moved(one) for one in cells]
    if relation == "replace":
        changes += [moved(one) - moved(other) for one, other in product(cells, cells)]
    most = max(Fraction(int((one**2).sum()), math.prod(sizes) ** 2) for one in changes)
    assert most == choosing.apart(whole)
    assert choosing.noise[whole] * 2 * choosing.for_measuring >= most


@pytest.mark.parametrize("relation", RELATIONS)
@pytest.mark.parametrize("several", [0, pytest.param(2, marks=pytest.mark.long)])
@pytest.mark.parametrize("held", [{}, {(0, 1): 1, (0, 2): 2}])
def test_a_person_moves_no_score_by_more_than_is_charged(relation: str, several: int, held: Any) -> None:
    """`held`: two pairs may be measured again, the triple lacks one and has a part of its score."""
    query = question((2, 3, 2), 6, relation, several, plan=CHOSEN)
    rows = list(product(range(2), range(3), range(2)))
    rng, before = np.random.default_rng(1), [rows[place] for place in (0, 3, 3, 7, 11)]
    expected = {pair: rng.integers(0, 3, [query.axes[place].size for place in pair]) for pair in query._parts}
    offers, most = query.choosing.offers(held, 99, query._always, query.noise_of), 0
    offers += [replace(one, worth=0) for one in offers]  # also where what is gained is above 0
    assert {len(one.part) for one in offers} == ({2, 3} if held else {2}) and len({one.turns for one in offers}) > 2

    def scores(table: list[tuple[int, ...]]) -> Integers:
        codes = [np.array([row[place] for row in table]) for place in range(3)]
        cells = query._cells_of(counted(query, codes))
        return np.stack([query.choosing.scores(cells, expected, [one])[0] for one in offers])

    own = several or 1
    persons = [list(one) for many in range(1, own + 1) for one in product(rows, repeat=many)]
    for mine in persons:
        others = [[]] if relation == "add_remove" else [list(one) for one in product(rows, repeat=len(mine))]
        for theirs in others:
            most = max(most, int(np.abs(scores(before + mine) - scores(before + theirs)).max()))
    assert most == query.choosing.moved


@pytest.mark.parametrize("relation", RELATIONS)
def test_a_choice_loses_no_more_than_is_charged(relation: str) -> None:
    """The law of the next choice given all that was released, on every neighbour of a small table."""
    query = question((2, 3, 2), 5, relation, plan=CHOSEN)
    rows = list(product(range(2), range(3), range(2)))
    rng, table = np.random.default_rng(2), [rows[place] for place in (0, 3, 3, 7, 11)]
    expected = {pair: rng.integers(0, 3, [query.axes[place].size for place in pair]) for pair in query._parts}
    offers = query.choosing.offers({(0, 1): 1, (0, 2): 2}, 99, query._always, query.noise_of)

    def law(told: list[tuple[int, ...]]) -> Any:
        codes = [np.array([row[place] for row in told]) for place in range(3)]
        scores, able = query.choosing.scores(query._cells_of(counted(query, codes)), expected, offers)
        gaps = {place: int(scores.max() - scores[place]) for place in np.flatnonzero(able).tolist()}
        assert gaps.keys() == {one.place for one in offers}
        return weighted(gaps, query.choosing.rate)

    near = [[one, *table] for one in rows] if relation == "add_remove" else [[one, *table[1:]] for one in rows]
    most = max(renyi(*ways, float(ORDER)) for one in near for ways in ((law(table), law(one)), (law(one), law(table))))
    claimed = float(ORDER) * float(query.choosing.epsilon) ** 2 / 8
    assert 0 < most <= claimed
    bare = replace(query.choosing, rho=query.rho * 400)  # the same choice with a twentieth of the noise
    assert float(bare.epsilon) > 19 * float(query.choosing.epsilon)


@pytest.mark.parametrize("plan", [PAIRS, TRIPLES, MIXED, CHOSEN])
@pytest.mark.parametrize("relation", RELATIONS)
def test_the_whole_loses_at_most_what_its_spend_stands_for(plan: str, relation: str) -> None:
    query = question((3, 4, 2, 5), 1000, relation, plan=plan, epsilon="0.7")
    told = cost(query.loss(), ORDER)
    assert told.epsilon is None and told.renyi <= ORDER * query.rho * (1 + Fraction(1, 10**9))
    assert told.renyi >= ORDER * query.rho * Fraction(99, 100), "a part of what is paid for is not used"


def test_a_total_is_exact_only_where_it_is_public() -> None:
    sizes, codes = (3, 2, 4), rows_of(400, (3, 2, 4))
    for plan in (PAIRS, TRIPLES, MIXED, CHOSEN):
        public = question(sizes, 400, "replace", plan=plan)
        told = public.marginals(public.draw(counted(public, codes), SystemCoins()))
        assert all(abs(cells.sum() - 400) < 1e-6 for cells in told.values())
        for secret in (question(sizes, 400, "add_remove", plan=plan), question(sizes, 200, several=2, plan=plan)):
            assert () in secret.layout.bases
            sums = [secret.marginals(secret.draw(counted(secret, codes), SystemCoins()))[(0,)].sum() for _ in range(5)]
            assert len({round(one) for one in sums}) > 1


# What is promised


def misses(query: SyntheticTable, codes: list[Integers], draws: int) -> int:
    """How often some cell of some measured marginal was outside its range."""
    value, coins, wrong = counted(query, codes), SystemCoins(), 0
    for _ in range(draws):
        told, off = query.marginals(query.draw(value, coins)), False
        for part, cells in told.items():
            truth = np.zeros(cells.shape)
            np.add.at(truth, tuple(codes[place] for place in part), 1)
            off |= bool(np.abs(cells - truth).max() > query.reach(part))
        wrong += off
    return wrong


@pytest.mark.every(9)
@pytest.mark.parametrize("plan", [pytest.param(PAIRS, marks=pytest.mark.long), TRIPLES, MIXED, CHOSEN])
@pytest.mark.parametrize("relation", ["replace", pytest.param("add_remove", marks=pytest.mark.long)])
def test_every_measured_range_covers(plan: str, relation: str) -> None:
    query = question((3, 4, 2, 3), 300, relation, plan=plan, beta=BETA)
    codes = rows_of(300, (3, 4, 2, 3))
    assert misses(query, codes, DRAWS) <= allowed_failures(DRAWS, float(BETA))
    assert misses(Narrow(**vars(query)), codes, DRAWS) > allowed_failures(DRAWS, float(BETA)), "no power"


class Narrow(SyntheticTable):
    """Ranges for a quarter of the noise."""

    trial = None  # type: ignore[assignment]

    def __init__(self, **fields: Any) -> None:
        known = {name: fields[name] for name in SyntheticTable.__dataclass_fields__ if name in fields}
        super().__init__(**known)

    def reach(self, part: tuple[int, ...]) -> float:
        return super().reach(part) / 4


def test_the_plan_follows_from_public_sizes() -> None:
    assert question((3, 4), 50_000).plan == PAIRS
    assert question((3, 4, 2), 50_000).plan == TRIPLES
    assert question((15, 16, 14, 12), 50_000, epsilon="0.3").plan == MIXED
    chosen = question((15, 16, 14, 12, 40, 30), 2_000, epsilon="0.1")
    assert chosen.plan == CHOSEN and max(map(len, chosen.sets)) == 3
    assert dp.catalogue["synthetic_table"].build(chosen.facts, chosen.parameters()) == chosen


def test_where_everything_would_be_chosen_all_pairs_are_measured() -> None:
    query = question((30, 30, 30, 12), 600, epsilon="0.1")
    assert query.planned(CHOSEN).turns == query.planned(CHOSEN).choices == 6 and query.plan == PAIRS


def test_columns_of_which_no_two_can_be_measured_together_are_refused() -> None:
    with pytest.raises(dp.AllowanceError) as refused:
        question((200, 200), 50_000)
    assert refused.value.code == "synthetic_table.wide" and "c0" in str(refused.value)


def test_two_long_lists_are_held_against_nothing_large() -> None:
    """Five thousand cells by five thousand would be 200 MB: nothing of that size is worked out on the way."""
    query = question((5_000, 5_000, 2), 50_000, plan=CHOSEN)
    shares = [np.full(axis.size, 1 / axis.size) for axis in query.axes]
    joint = np.full((5_000, 2), 1 / 10_000)
    tracemalloc.start()
    found = _given(shares, {(0, 2): joint, (1, 2): joint}, [(0, 2), (1, 2)])
    assert tracemalloc.get_traced_memory()[1] < 50_000_000
    tracemalloc.stop()
    assert {part: likely.shape for part, likely in found.items()} == {(0, 2): (5_000, 2), (1, 2): (5_000, 2)}
    made = FittedTable(query, Look(query, [0]), Path("nowhere"))
    assert made._mended_by == [(0, 2), (1, 2)]


def test_rows_come_closer_to_the_fit_in_threes_and_stay_close_in_pairs() -> None:
    """Public numbers: weights of all combinations of five columns, and 400 rows."""
    sizes, mix = (3, 4, 3, 4, 3), PublicMix(7)
    grid = np.unravel_index(np.arange(math.prod(sizes)), sizes)
    points = Points(tuple(code.astype(np.int64) for code in grid), mix.shares(math.prod(sizes)) ** 4)
    pairs, threes = (list(combinations(range(5), many)) for many in (2, 3))

    def off(parts: list[tuple[int, ...]], codes: list[Any]) -> float:
        rows, scale = Points(tuple(codes), np.ones(400)), 400 / points.weights.sum()
        gaps = [rows.marginal(part, sizes) - scale * points.marginal(part, sizes) for part in parts]
        return sum(float((gap**2).sum()) for gap in gaps)

    by_pairs, by_threes = (whole_rows(points, sizes, 400, parts, 1) for parts in (pairs, [*pairs, *threes]))
    assert all(len(code) == 400 for code in by_threes)
    assert off(threes, by_threes) < 0.9 * off(threes, by_pairs)
    assert off([*pairs, *threes], by_threes) < off([*pairs, *threes], by_pairs)


def test_every_move_brings_the_rows_nearer_and_impossible_rows_never_come() -> None:
    """Public numbers again: many rows in few cells, so that rows that move together get in each other's way."""
    sizes, rows = (4, 3, 5, 2, 4, 3), 5_000
    grid = np.unravel_index(np.arange(math.prod(sizes)), sizes)
    points = Points(tuple(code.astype(np.int64) for code in grid), PublicMix(8).shares(math.prod(sizes)) ** 3)
    fine = (points.codes[0] != 1) | (points.codes[1] != 2)
    points = Points(points.codes, points.weights * fine)
    parts = [part for many in (2, 3) for part in combinations(range(6), many)]
    wanted = {part: rows / points.weights.sum() * points.marginal(part, sizes) for part in parts}

    def off(codes: list[Any]) -> float:
        told = Points(tuple(codes), np.ones(rows))
        return sum(float(((told.marginal(part, sizes) - cells) ** 2).sum()) for part, cells in wanted.items())

    drawn = PublicMix(9).shares(rows) * points.weights.sum()
    codes: list[Any] = [code[np.searchsorted(np.cumsum(points.weights), drawn)] for code in points.codes]
    before = [code.copy() for code in codes]
    found, last = [off(codes)], codes
    for sweeps in (1, 3, 10, 40):
        last = mended(codes, sizes, wanted, PublicMix(1), sweeps, lambda moved: (moved[0] != 1) | (moved[1] != 2))
        found.append(off(last))
    assert found == sorted(found, reverse=True) and found[-1] < found[0] / 20
    assert not ((last[0] == 1) & (last[1] == 2)).any() and all(len(code) == rows for code in last)
    assert all((one == other).all() for one, other in zip(codes, before, strict=True)), "given rows stay as they are"


def test_what_somebody_wants_kept_is_measured_more_exactly() -> None:
    plain, kept = (question((6, 7, 8, 5), 5_000, plan=PAIRS, **more) for more in ({}, {"keep": "c1"}))
    for pair in combinations(range(4), 2):
        assert (kept.reach(pair) < plain.reach(pair)) == (1 in pair)


@pytest.mark.parametrize("relation", RELATIONS)
def test_all_pairs_with_what_is_kept_are_measured_whatever_is_chosen(relation: str) -> None:
    sizes = (3, 4, 2, 5, 3)
    query = question(sizes, 500, relation, plan=CHOSEN, keep="c3")
    raw = query.draw(counted(query, rows_of(500, sizes)), SystemCoins())
    assert {(0, 3), (1, 3), (2, 3), (3, 4)} <= query.marginals(raw).keys() and turns_taken(query, raw) == query.turns
    assert cost(query.loss(), ORDER).renyi <= ORDER * query.rho * (1 + Fraction(1, 10**9))


@pytest.mark.long
def test_what_hangs_together_is_chosen() -> None:
    """Two columns that are one, and a third that says whether two others agree, which no pair tells."""
    rng = np.random.default_rng(1)
    codes = [rng.integers(0, 2, 20_000) for _ in range(6)]
    codes[4] = codes[1]
    pairs = question((2,) * 6, 20_000, plan=CHOSEN, epsilon="0.5")
    raw = pairs.draw(counted(pairs, codes), SystemCoins())
    assert (1, 4) in pairs.marginals(raw) and turns_taken(pairs, raw) == pairs.turns
    codes[5] = codes[0] ^ codes[3]
    triples = question((2,) * 6, 20_000, plan=MIXED, epsilon="0.5")
    assert (0, 3, 5) in triples.marginals(triples.draw(counted(triples, codes), SystemCoins()))


# The rows


@pytest.fixture
def workspace(tmp_path: Path) -> Iterator[dp.Workspace]:
    with closing(dp.open_workspace(tmp_path)) as opened:
        yield opened


def people(workspace: dp.Workspace, relation: str = "replace", many: int = 3_000) -> dp.Table:
    rng = np.random.default_rng(7)
    age = rng.integers(0, 80, many)
    pay = np.where(age < 15, 0, rng.integers(0, 100, many))
    frame = pd.DataFrame(
        {
            "age": [str(one) for one in age],
            "pay": ["" if place % 20 == 0 else str(one) for place, one in enumerate(pay)],
            "town": np.where(age + rng.integers(0, 20, many) > 50, "old", "new"),
            "seen": [f"2024-{1 + one % 12:02d}-05" for one in age],
        }
    )
    schema = dp.Schema(
        {
            "age": dp.Number(0, 79),
            "pay": dp.Number(0, 99),
            "town": dp.Category(["old", "new"], "old", "old"),
            "seen": dp.Date("2024-01-01", "2024-12-31"),
        }
    )
    terms: dict[str, Any] = {"relation": relation} | ({"about_rows": many} if relation == "add_remove" else {})
    return workspace.add_table(
        "people", frame, schema=schema, unit=dp.Unit.rows(), budget=dp.Budget("20", "1e-6"), **terms
    )


def made_of(table: dp.Table, answer: dp.Answer) -> FittedTable:
    made = table.synthetic(answer)
    assert isinstance(made, FittedTable)
    return made


NO_CHILD_EARNS = [["age", "<", 15], ["pay", ">", 0]]


def test_rows_keep_what_was_measured_missing_and_rules(workspace: dp.Workspace) -> None:
    table = people(workspace)
    answer = table.ask(table.query("synthetic_table", epsilon="3", never=[NO_CHILD_EARNS]))
    made = made_of(table, answer)
    rows = made.table().to_pandas()
    assert len(rows) == 3_000 and list(rows) == ["age", "pay", "town", "seen"]
    assert not ((rows["age"] < 15) & (rows["pay"] > 0)).any(), "a rule was broken"
    # One in twenty has no pay, nobody lacks an age. In 30 draws they were 0.054 ± 0.002 and 0.006 ± 0.004 (one standard
    # deviation): a figure eight of them away is a false alarm less than once in a million.
    assert 0.03 < rows["pay"].isna().mean() < 0.08 and rows["age"].isna().mean() < 0.04
    assert rows["age"].dropna().between(0, 79).all() and rows["seen"].dropna().str.match(r"2024-\d\d-\d\d$").all()
    look = answer.value
    assert isinstance(look, Look)
    for names in (("age",), ("town",), ("age", "town"), ("age", "seen")):
        told = look.marginals[tuple(sorted(look.place(name) for name in names))]
        assert np.abs(np.sort(made.counts(*names).ravel()) - np.sort(told.ravel())).sum() / 2 < 0.1 * 3_000
    tried = made.tried
    assert tried is not None and tried.pairs == 2 and 0 < tried.off < 0.7 and 0 < tried.noise < 0.1


def test_rows_are_made_of_what_was_released_alone(workspace: dp.Workspace) -> None:
    """The table is gone, and so is the file of rows: they are made again from the answer, the same."""
    table = people(workspace)
    answer = table.ask(table.query("synthetic_table", columns=["age", "town"], epsilon="1"))
    first = made_of(table, answer).table()
    made_of(table, answer).path.unlink()
    workspace.forget("people", "owner")
    kept = workspace.job(answer.request_id).answer
    assert kept is not None and made_of(table, kept).table().equals(first)


def fitted_at_last(made: FittedTable) -> None:
    deadline = time.monotonic() + PATIENCE
    while made.progress() is not None:
        assert time.monotonic() < deadline
        time.sleep(0.01)


def test_what_was_paid_for_is_seen_before_the_rows_are_fitted(
    workspace: dp.Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    hold = threading.Event()
    monkeypatch.setattr(FittedTable, "make", lambda self, progress: hold.wait(60))
    table = people(workspace, many=200)
    request = table.submit(table.query("synthetic_table", columns=["age", "town"], epsilon="1")).request_id
    try:
        assert workspace.jobs.wait(request, PATIENCE).state == "done"
        answer = workspace.job(request).answer
        assert answer is not None and made_of(table, answer).progress() == (0, 1) and not made_of(table, answer).ready
    finally:
        hold.set()


def test_a_table_of_very_many_is_told_to_have_as_many_rows_as_are_made() -> None:
    query = question((2, 3), 3_000_000, plan=PAIRS)
    assert query.rows_made([]) == 2_000_000 and "2,000,000 made-up rows" in query.finding({}, None)
    secret = question((2, 3), 100, "add_remove", plan=PAIRS)
    assert secret.rows_made([10.4, 10.4]) == 20, "as the bars that are shown add up"


@pytest.mark.parametrize("relation", RELATIONS)
def test_it_is_made_in_the_background_and_again_where_it_is_gone(workspace: dp.Workspace, relation: str) -> None:
    table = people(workspace, relation, 500)
    query = table.query("synthetic_table", columns=["age", "town"], epsilon="1")
    request = table.submit(query).request_id
    assert workspace.jobs.wait(request, 60).state == "done"
    answer = workspace.job(request).answer
    assert answer is not None
    made, spent = made_of(table, answer), table.meter().used
    fitted_at_last(made)
    assert (
        made.ready
        and str(made.rows) in answer.query.finding(answer.value, answer.interval)
        and (made.rows == 500) == (relation == "replace" or made.table().num_rows == 500)
    )
    made.path.unlink()
    table.make_rows(answer)
    fitted_at_last(made)
    assert workspace.jobs.wait(request, 60).state == "done" and made.ready
    assert table.meter().used == spent and len(table.syntheses()) == 1
