"""Wrong twins of sessions and workspaces: steps drawn early, another question's answer, copies with a new budget."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pandas as pd
from battery import CASES, build

import dpengine as dp
from dpengine import copies
from dpengine.answers import released_as_json
from dpengine.coins import SystemCoins
from dpengine.contract import Query, canonical
from dpengine.entries import Burned
from dpengine.loading import Loaded
from dpengine.mechanisms.adaptive_session import State
from dpengine.sessions import Session, step_claim
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
                with copies.opened(home.ledger.path) as rows:
                    seen.append([row["kind"] for row in rows][-1])
                return super().laplace(values, scale)

        session = kind(**(vars(opened_one) | {"coins": Watching()}))
        session.ask({"share": [["town", "in", ["A"]]]}, "a")
        assert seen == ["step"], "a step was drawn before its number was used up"


class DrawsThenBurns(Session):
    def _carry(self, ask: Any, step: str) -> Callable[[], Burned]:
        claim = step_claim(self.query.asking(ask))

        def carry() -> Burned:
            asked, _, _ = self.ledger.progress(self.request)
            _, part = self.query.step(State(self.query.questions, asked), ask, self.read, self.coins)
            burned = self.ledger.burn(self.request, step, self.entry.charge.actor, claim, self.jobs.worker)
            self.ledger.tell(self.request, burned.index, "part", released_as_json(part.released))
            found = self.ledger.step(self.request, step)
            assert found is not None
            return found

        return carry


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

    def _bring(self, *given: Any, **more: Any) -> tuple[Path, Loaded, int]:
        folder, loaded, people = super()._bring(*given, **more)
        return folder, replace(loaded, file_mark=""), people


class MarksTheFileAlone(Workspace):
    """Content is known by the bytes of its file, so its rows in another order are another table."""

    def _bring(self, source: Any, *given: Any, **more: Any) -> tuple[Path, Loaded, int]:
        folder, loaded, people = super()._bring(source, *given, **more)
        return folder, replace(loaded, fingerprint=loaded.file_mark), people


PLANTED = [
    Planted("cached answer reused for another where", "Answers are found by a name that leaves the condition out.",
            check_questions_have_names_of_their_own, "share a name", by_its_digest, without_its_condition),
    Planted("session step drawn before it is burned", "A step's noise is drawn before its number is used up.",
            check_a_step_is_burned_before_its_draw, "before its number", Session, DrawsThenBurns),
    Planted("budget of an edited dialect copy", "The same file with another separator gets a new allowance.",
            check_one_file_has_one_budget, "read otherwise", Workspace, MarksRowsAlone),
    Planted("budget of a copy in another order", "The same rows in another order get a new allowance.",
            check_one_file_has_one_budget, "a copy has", Workspace, MarksTheFileAlone),
]  # fmt: skip
