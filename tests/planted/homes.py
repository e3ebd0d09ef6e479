"""Wrong twins of sessions and workspaces: steps drawn early, another question's answer, copies with a new budget."""

from __future__ import annotations

import hashlib
import hmac
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow.parquet as pq
from battery import CASES, build

import dpengine as dp
from dpengine.asking.sessions import Session, step_claim
from dpengine.core.strict_json import canonical
from dpengine.intake.load import Loaded
from dpengine.ledger import exports
from dpengine.ledger.ledger import Act
from dpengine.ledger.rows import SessionStep
from dpengine.mechanisms.query import Query
from dpengine.mechanisms.session.adaptive_session import State
from dpengine.noise.coins import SystemCoins
from dpengine.workspace import Workspace
from tests.planted.ledgers import a_folder
from tests.planted.registry import Planted

# Names of questions


def check_questions_have_names_of_their_own(name: Callable[[Query], str]) -> None:
    """Answers paid for are found by name: two questions that differ in anything but their noise differ in it."""
    usual = [case for case in CASES if "noise" not in case[1]]
    made = [build(*case, "replace", epsilon) for case in usual for epsilon in ("0.1", "0.2")]
    wheres: list[Any] = [[["c", "in", ["a"]]], [["c", "in", ["b"]]], [["x", ">", 1]], [["x", ">=", 1]], [["x", ">", 2]]]
    made += [build("sum", {"column": "z", "where": where}, "replace") for where in wheres]
    asked = {canonical(query.describe()): name(query) for query in made}
    assert len(set(asked.values())) == len(asked), "two questions share a name"


def by_its_digest(query: Query) -> str:
    return query.digest()


def without_its_condition(query: Query) -> str:
    told = query.describe()
    told["parameters"].pop("where", None)
    return hashlib.sha256(canonical(told).encode()).hexdigest()


# Workspaces


def _add(home: Workspace, source: Any, **terms: Any) -> dp.Table:
    schema = dp.Schema({"x": dp.Number(0, 10, step=1), "town": dp.Category(["A", "B"])})
    told: dict[str, Any] = {"unit": dp.Unit.rows(), "budget": dp.Budget("3", "1e-6")}
    return home.add_table(**({"name": "people", "source": source, "schema": schema} | told | terms))


@contextmanager
def _workspace(kind: type[Workspace] = Workspace) -> Iterator[Workspace]:
    with a_folder() as folder, closing(kind(folder / "var")) as home:
        yield home


def check_a_step_is_burned_before_its_draw(kind: type[Session]) -> None:
    """When noise is drawn, another program finds the step's number used up."""
    with _workspace() as home:
        table = _add(home, pd.DataFrame({"x": [1, 2, 3, 4] * 100, "town": ["A", "B"] * 200}))
        opened_one = table.open_session(table.query("adaptive_session", questions=3, epsilon="1.5"), "s")
        seen: list[str] = []

        class Watching(SystemCoins):
            def laplace(self, values: Any, scale: Any) -> Any:
                with exports.opened(home.ledger.path) as rows:
                    seen.append([row["kind"] for row in rows][-1])
                return super().laplace(values, scale)

        session = kind(**(vars(opened_one) | {"coins": Watching()}))
        session.ask({"share": [["town", "in", ["A"]]]}, "a")
        assert seen == ["step"], "a step was drawn before its number was used up"


class DrawsThenBurns(Session):
    def _work_for(self, ask: Any, step: str, checked: bool) -> Callable[[], SessionStep]:
        claim = step_claim(self.query.asking(ask))

        def work() -> SessionStep:
            asked, _, _ = self.ledger.progress(self.request)
            _, part = self.query.step(State(self.query.questions, asked), ask, self.read, self.coins)
            burned = self.ledger.burn(self.request, step, self.entry.charge.actor, claim, self.jobs.worker)
            self.ledger.settle_step(self.request, burned.index, "part", part.released.as_json())
            found = self.ledger.step(self.request, step)
            assert found is not None
            return found

        return work


def check_one_file_has_one_budget(kind: type[Workspace]) -> None:
    """Rows in another order, and the same file read with another sign between its cells, spend what was left."""
    with _workspace(kind) as home:
        file = home.folder / "files" / "people.csv"
        file.write_text("x,town;z\n1,A;q\n2,B;r\n", encoding="utf-8")
        loose: dict[str, Any] = {"schema": dp.Schema({"x": dp.Number(0, 10, step=1)})}
        first = _add(home, file, **loose)
        turned = file.with_name("turned.csv")
        turned.write_text("x,town;z\n2,B;r\n1,A;q\n", encoding="utf-8")
        assert _add(home, turned, name="turned", **loose).budget.id == first.budget.id, "a copy has a budget of its own"
        other = dp.Schema({"z": dp.Category(["q", "r"])})
        again = _add(home, file, name="again", schema=other, dialect=dp.Dialect(separator=";"))
        assert again.budget.id == first.budget.id, "the same file read otherwise has a budget of its own"


class MarksRowsAlone(Workspace):
    """Content is known by its rows as they were read, and not by its file."""

    def _load(self, *given: Any, **more: Any) -> Loaded:
        return replace(super()._load(*given, **more), files=())


class MarksTheFileAlone(Workspace):
    """Content is known by the bytes of its file, so its rows in another order are another table."""

    def _load(self, *given: Any, **more: Any) -> Loaded:
        return replace(super()._load(*given, **more), fingerprint="", marks=())


class MarksTheFirstFile(Workspace):
    """Of a folder the first file alone is marked."""

    def _load(self, *given: Any, **more: Any) -> Loaded:
        loaded = super()._load(*given, **more)
        return replace(loaded, files=loaded.files[:1], marks=loaded.marks[:1])


class MarksWithTheDialect(Workspace):
    """The mark of rows is of cells as their dialect writes them, with the names of the columns."""

    def _load(self, folder: Path, *given: Any, **more: Any) -> Loaded:
        loaded = super()._load(folder, *given, **more)
        rows = sorted(map(repr, pq.read_table(folder / "raw.parquet").to_pylist()))
        return replace(loaded, fingerprint=hmac.new(self._secret, repr(rows).encode(), "sha256").hexdigest(), marks=())


def check_content_is_known_however_it_comes(kind: type[Workspace]) -> None:
    """As a frame with another decimal sign, with its columns renamed and swapped, and as one file of a folder."""
    with _workspace(kind) as home:
        schema = dp.Schema({"x": dp.Number(0, 10, step="0.5")})
        frame = pd.DataFrame({"x": [1.5, 2.0, 7.5], "town": ["A", "B", "C"]})
        first = _add(home, frame, schema=schema)
        other = _add(home, frame, name="comma", schema=schema, dialect=dp.Dialect(separator=";", decimal=","))
        assert other.budget.id == first.budget.id, "another decimal sign has a budget of its own"
        turned = frame[["town", "x"]].rename(columns={"town": "place"})
        assert _add(home, turned, name="turned", schema=schema).budget.id == first.budget.id, "swapped columns are new"
        folder = home.folder / "files" / "months"
        folder.mkdir()
        for name in "ab":
            (folder / f"{name}.csv").write_text(f"x,town\n3,{name}\n4.5,{name}\n", encoding="utf-8")
        months = _add(home, folder, name="months", schema=schema)
        one = _add(home, folder / "b.csv", name="one", schema=schema)
        assert one.budget.id == months.budget.id, "one file of a folder has a budget of its own"


def check_a_seal_reaches_all_it_shares_content_with(kind: type[Workspace]) -> None:
    """A and B are one file read in two ways, B and C the same rows in two files; A and C share none."""
    with _workspace(kind) as home:
        file = home.folder / "files" / "a.csv"
        file.write_text("x,town;z\n1,A;q\n2,B;r\n", encoding="utf-8")
        other = dp.Schema({"z": dp.Category(["q", "r"])})
        _add(home, file, name="a", schema=dp.Schema({"x": dp.Number(0, 10, step=1)}))
        _add(home, file, name="b", schema=other, dialect=dp.Dialect(separator=";"))
        file.with_name("c.csv").write_text("z;x,town\nr;2,B\nq;1,A\n", encoding="utf-8")
        _add(home, file.with_name("c.csv"), name="c", schema=other, dialect=dp.Dialect(separator=";"))
        home.seal("a")
        assert set(home.closed()) == {"a", "b", "c"}, "a table on the sealed content is left open"


class SealsNextOfKin(Workspace):
    """A seal closes the tables that share a mark with the one that is sealed, and goes no further."""

    def seal(self, name: str, actor: str = "owner") -> Act:
        own = self._declared(name)
        with self._registry.transaction() as rows:
            for one in self._registry.of_content(rows, self._registry.marks_of(rows, [name])):
                self.ledger.close_table("seal", own.budget, one.name, actor)
        return self.ledger.close_table("seal", own.budget, name, actor)


PLANTED = [
    Planted(
        "cached answer reused for another where",
        "Answers are found by a name that leaves the condition out.",
        check_questions_have_names_of_their_own,
        "share a name",
        by_its_digest,
        without_its_condition,
    ),
    Planted(
        "session step drawn before it is burned",
        "A step's noise is drawn before its number is used up.",
        check_a_step_is_burned_before_its_draw,
        "before its number",
        Session,
        DrawsThenBurns,
    ),
    Planted(
        "budget of an edited dialect copy",
        "The same file with another separator gets a new allowance.",
        check_one_file_has_one_budget,
        "read otherwise",
        Workspace,
        MarksRowsAlone,
    ),
    Planted(
        "budget of a copy in another order",
        "The same rows in another order get a new allowance.",
        check_one_file_has_one_budget,
        "a copy has",
        Workspace,
        MarksTheFileAlone,
    ),
    Planted(
        "a fingerprint that depends on the dialect",
        "The same frame with another decimal sign is new content.",
        check_content_is_known_however_it_comes,
        "another decimal sign",
        Workspace,
        MarksWithTheDialect,
    ),
    Planted(
        "a folder known by its first file",
        "Another file of it gets a new allowance.",
        check_content_is_known_however_it_comes,
        "one file of a folder",
        Workspace,
        MarksTheFirstFile,
    ),
    Planted(
        "a seal that is not transitive",
        "What shares content only with a table between stays open.",
        check_a_seal_reaches_all_it_shares_content_with,
        "left open",
        Workspace,
        SealsNextOfKin,
    ),
]
