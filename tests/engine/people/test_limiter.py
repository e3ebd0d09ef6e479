"""How often a person may ask for heavy work, whichever door they come by."""

from __future__ import annotations

from pathlib import Path

import pytest

from dpengine.people import limiter, rights
from dpengine.people.limiter import HEAVY, RATES, Limiter
from tests.helpers_ledger import raises
from tests.helpers_people import MINE, office


def test_a_bucket_fills_at_its_rate() -> None:
    now = [0.0]
    limits = Limiter({"request": (2.0, 3)}, clock=lambda: now[0])
    assert [limits.wait("ana") for _ in range(3)] == [0.0] * 3
    assert limits.wait("ana") == 0.5 and limits.wait("ana") == 0.5  # asking in vain takes nothing
    assert limits.wait("bor") == 0.0
    now[0] += 0.5
    assert limits.wait("ana") == 0.0 and limits.wait("ana") > 0
    now[0] += 1000
    assert [limits.wait("ana") > 0 for _ in range(4)] == [False, False, False, True]
    with raises("door.slow"):
        limits.take("ana")


def test_what_is_forgotten_is_full(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limiter, "_MOST", 2)
    limits = Limiter({"request": (1.0, 1)}, clock=lambda: 0.0)
    assert [limits.wait(name) for name in ("ana", "bor", "eva", "ana")] == [0.0] * 4
    assert len(limits._buckets) == 2


def test_heavy_work_of_one_person_does_not_slow_another(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limiter, "here", Limiter(dict.fromkeys(RATES, (0.001, 2)), clock=lambda: 0.0))
    with office(tmp_path) as here:
        table = here.face("analyst").table(MINE)
        for _ in range(2):
            assert here.face("analyst").verify_ledger().ok and list(table.ledger_rows())
        with raises("door.slow"):
            here.face("analyst").verify_ledger()
        with raises("door.slow"):
            table.answer_lines()
        assert here.face("owner").verify_ledger().ok and table.meter()
        with raises("people.no_right"):  # and nothing is counted for who may not
            here.face("withdrawn").verify_ledger()


def test_every_heavy_verb_is_one() -> None:
    assert set(HEAVY) <= rights.WORKSPACE.keys() | rights.TABLE.keys() and set(HEAVY.values()) <= RATES.keys()
