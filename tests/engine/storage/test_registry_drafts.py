"""A person's draft: kept at every change of a form, without making others read the registry again."""

from __future__ import annotations

import sqlite3
import threading
from contextlib import closing
from pathlib import Path

import pytest

from dpengine.core.errors import AllowanceError
from dpengine.storage.registry import LONGEST_DRAFT, Record, Registry


def record(name: str) -> Record:
    return Record(name, "folder", "budget", False, "replace", 10, {}, {}, {}, "mark", 1, "ana", "2026-01-01")


def added(registry: Registry, name: str) -> None:
    with registry.transaction() as rows:
        registry.add(rows, record(name))


def test_a_draft_is_there_for_another_program_too(tmp_path: Path) -> None:
    here, there = Registry(tmp_path / "registry.sqlite"), Registry(tmp_path / "registry.sqlite")
    assert here.draft_of("town", "ana") is None
    here.keep_draft("town", "ana", {"key": "median"})
    assert here.draft_of("town", "ana") == there.draft_of("town", "ana") == {"key": "median"}
    there.keep_draft("town", "ana", {"key": "mean"})
    assert here.draft_of("town", "ana") == {"key": "mean"} and here.draft_of("town", "bor") is None
    here.keep_draft("town", "ana", {"key": "x" * LONGEST_DRAFT})
    assert here.draft_of("town", "ana") is there.draft_of("town", "ana") is None
    here.keep_draft("town", "ana", {"key": "sum"})
    here.forget_drafts("person", "ana")
    assert here.draft_of("town", "ana") is there.draft_of("town", "ana") is None
    here.close()
    there.close()


def test_what_is_cached_stays_so_and_never_gets_stale(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    here, there = Registry(tmp_path / "registry.sqlite"), Registry(tmp_path / "registry.sqlite")
    added(here, "one")
    assert [one.name for one in here.all()] == ["one"]
    read = list[str]()
    monkeypatch.setattr(
        "dpengine.storage.registry._record", lambda row: read.append(row["name"]) or record(row["name"])
    )
    here.keep_draft("one", "ana", {"key": "median"})
    assert [one.name for one in here.all()] == ["one"] and not read  # a draft changes no table
    added(there, "two")
    here.keep_draft("one", "ana", {"key": "mean"})
    assert [one.name for one in here.all()] == ["one", "two"] and read
    added(here, "three")
    here.keep_draft("one", "ana", None)
    assert {one.name for one in here.all()} == {"one", "two", "three"}
    here.close()
    there.close()


def test_nobody_who_reads_waits_for_a_draft_that_waits_for_its_turn(tmp_path: Path) -> None:
    here = Registry(tmp_path / "registry.sqlite")
    added(here, "one")
    with closing(sqlite3.connect(tmp_path / "registry.sqlite", isolation_level=None)) as another:
        another.execute("BEGIN IMMEDIATE")
        draft = threading.Thread(target=here.keep_draft, args=("one", "ana", {"key": "mean"}))
        draft.start()
        draft.join(0.2)
        assert here.get("one") is not None and draft.is_alive(), "it was read while the draft still waits"
        another.execute("ROLLBACK")
        draft.join()
    assert here.draft_of("one", "ana") == {"key": "mean"}
    here.close()


def test_a_draft_that_cannot_be_stored_ends_in_a_sentence(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("dpengine.storage.registry._WAIT", 0.05)
    here = Registry(tmp_path / "registry.sqlite")
    here.keep_draft("town", "ana", {"key": "median"})
    other = sqlite3.connect(tmp_path / "registry.sqlite", isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    with pytest.raises(AllowanceError):
        here.keep_draft("town", "ana", {"key": "mean"})
    other.execute("ROLLBACK")
    other.close()
    assert here.draft_of("town", "ana") == {"key": "median"}
    here.keep_draft("town", "ana", {"key": "mean"})
    assert here.draft_of("town", "ana") == {"key": "mean"}
    here.close()
