"""What a face hands out, and whose: nothing but faces, jobs of one's own, files of one's own folder."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from dataclasses import fields, is_dataclass
from fractions import Fraction
from pathlib import Path

import dpengine as dp
from dpengine.asking.jobs import Jobs
from dpengine.asking.sessions import Session
from dpengine.core.errors import AllowanceError
from dpengine.ledger.ledger import Ledger
from dpengine.people.face import Face, Guarded
from dpengine.people.home import PersonHome, Standpoint
from dpengine.statistics.engines.duck import DuckEngine
from dpengine.storage.registry import Registry
from dpengine.table import Table
from dpengine.workspace import Workspace
from tests.engine.people.test_rights import TABLE, WORKSPACE, Stage, code
from tests.helpers_ledger import PATIENCE, raises
from tests.helpers_people import MINE, OTHER, TERMS, Office, count, office, rows

HIDDEN = (Workspace, Table, Session, Ledger, Jobs, Registry, Standpoint, PersonHome, DuckEngine)
PLAIN = (str, bytes, int, float, bool, type(None), Fraction, Path)


def reached(found: object, path: str, seen: dict[int, object]) -> Iterator[str]:
    """Where something that only the engine may hold can be reached by public names."""
    if isinstance(found, PLAIN) or id(found) in seen or len(seen) > 20_000:
        return
    seen[id(found)] = found
    if isinstance(found, HIDDEN):
        yield path
        return
    if isinstance(found, Guarded | Face):
        names = [name for name in dir(found) if not name.startswith("_")]
        with suppress(AllowanceError):
            for name in names:
                if not callable(part := getattr(found, name)):
                    yield from reached(part, f"{path}.{name}", seen)
    elif isinstance(found, dict):
        for name, part in found.items():
            yield from reached(part, f"{path}[{name!r}]", seen)
    elif isinstance(found, list | tuple | set | frozenset):
        for place, part in enumerate(found):
            yield from reached(part, f"{path}[{place}]", seen)
    elif is_dataclass(found):
        for field in fields(found):
            yield from reached(getattr(found, field.name), f"{path}.{field.name}", seen)
    else:
        for name, part in getattr(found, "__dict__", {}).items():
            if not name.startswith("_"):
                yield from reached(part, f"{path}.{name}", seen)


def test_a_face_hands_out_nothing_but_faces(tmp_path: Path) -> None:
    """By any public name, of itself and of whatever its verbs return."""
    closing = ("seal", "forget", "raise_cap", "add_table", "keep_apart")
    with office(tmp_path, epsilon="40") as here:
        stage = Stage(here)
        for name in ("owner", "analyst", "auditor", "administrator"):
            calls = [call for verb, (_, call) in WORKSPACE.items() if verb not in closing]
            calls += [lambda s, n: s.here.face(n)]  # type: ignore[misc]
            if name == "analyst":
                calls += [*TABLE.values(), lambda s, n: s.here.face(n).table(MINE).session("session")]
            for call in calls:
                with suppress(AllowanceError):
                    assert not list(reached(call(stage, name), name, {}))
    assert list(reached({"here": [here.workspace]}, "planted", {})) == ["planted['here'][0]"]


def test_another_persons_job_is_unknown(tmp_path: Path) -> None:
    """Queued, done or refused; by whatever name it is asked for; and its session, plan and progress too."""
    with office(tmp_path, epsilon="40") as here:
        stage = Stage(here)
        mine, owner = here.face("analyst"), here.face("owner")
        mine.table(MINE).submit(count(mine.table(MINE), "50"), "too much")
        mine.jobs.wait("too much", PATIENCE)
        mine.table(MINE).submit_plan([stage.query], "plan")
        mine.jobs.wait("plan", PATIENCE)
        assert [mine.job(one).state for one in ("asked", "too much")] == ["done", "refused"]
        assert mine.table(MINE).run("plan").done == 1
        for name in ("owner", "administrator", "auditor", "nobody"):
            face = here.face(name)
            for one in ("asked", "too much", "plan", "plan.1", "session"):
                assert face.job(one).state == "unknown" and face.jobs.state(one).state == "unknown", (name, one)
                assert not face.jobs.cancel(one)
        assert owner.table(MINE).run("plan").rows == ()
        assert code(lambda: owner.table(MINE).session("session")) == "session.unknown"
        assert code(lambda: here.face("nobody").published_file("asked")) in ("people.no_right", "request.unknown")


def test_a_file_of_somebody_else_cannot_be_brought(tmp_path: Path) -> None:
    """Of the files on the machine a person brings those of their own folder: not another's upload, nor stored rows."""
    with office(tmp_path) as here:
        mine, other = (
            here.face("owner").folder / "tmp" / "mine.csv",
            here.face("owner of another").folder / "tmp/it.csv",
        )
        for start, path in ((900, mine), (960, other)):
            rows(start).to_csv(path, index=False)
        record = here.workspace.record(OTHER)
        link = here.face("owner").folder / "tmp" / "link.csv"
        link.symlink_to(other)
        stolen = (
            other,
            link,
            str(here.workspace.folder / "tables" / record.folder / "raw.parquet"),
            mine.parent / "../../x",
        )
        for path in stolen:
            with raises("load.absent"):
                here.face("owner").add_table("stolen", path, **TERMS, budget=dp.Budget("1", "1e-6"))
        assert here.face("owner").add_table("brought", mine, **TERMS, budget=dp.Budget("1", "1e-6")).name == "brought"
        again = here.face("owner").add_table("again", mine, **TERMS, budget=dp.Budget("1", "1e-6"))
        assert again.joined and not here.face("owner").table("again").joined  # one's own content one is told of


def test_what_paid_answers_say_of_a_column_is_told_only_to_those_who_see_them(tmp_path: Path) -> None:
    for first, second in (("owner", "analyst"), ("analyst", "owner")):
        with office(tmp_path / first) as here:
            beside = here.bring("owner", "beside", start=600, budget=here.workspace.record(MINE).budget)
            beside.ask(beside.query("mean", column="x", epsilon="0.5"))

            def known(name: str, here: Office = here) -> object:
                inner = vars(Guarded)["_Guarded__inner"].__get__(here.face(name).table(MINE))
                return inner._answered_between("x")

            found = {first: known(first), second: known(second)}
            assert found["analyst"] is None and found["owner"] is not None, "the analyst has no right to “beside”"
