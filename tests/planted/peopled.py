"""Wrong twins of what holds where people share a workspace: rights kept too long, grants counted or checked wrongly."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterable, Sequence
from contextlib import closing, suppress
from fractions import Fraction
from typing import Any

import pytest
from sqlite_utils import Database

from dpengine.accountant.costs import Cost
from dpengine.accountant.filter import Rule, Totals, used
from dpengine.accountant.loss import Approximate, Gaussian, Loss
from dpengine.core.errors import AllowanceError
from dpengine.ledger import chain
from dpengine.ledger import people_rules as rules
from dpengine.ledger.chain import Verdict, hash_of, verify
from dpengine.ledger.ledger import Ledger
from dpengine.ledger.payers import Payer
from dpengine.ledger.people_book import PeopleBook
from dpengine.ledger.people_rules import Grant, HolderPart
from dpengine.ledger.rows import BudgetRecord, Sums
from dpengine.people import face as face_module
from dpengine.people.home import Standpoint
from tests.helpers_ledger import PATIENCE, ask
from tests.helpers_people import HALF, MINE, OTHER, Office, office
from tests.planted.ledgers import a_folder
from tests.planted.registry import Planted

Verify = Callable[[Iterable[Any]], Verdict]


def _ask(here: Office, name: str, request: str, epsilon: str) -> dict[str, Any]:
    record = here.workspace.record(MINE)
    return ask(request, epsilon, budget=record.budget, table=MINE, actor=here.person(name))


# The face


def check_what_is_taken_back_counts_at_once(kind: type[Standpoint]) -> None:
    with a_folder() as folder, pytest.MonkeyPatch.context() as patch, office(folder) as here:
        patch.setattr(face_module, "Standpoint", kind)
        face = here.face("analyst")
        table = face.table(MINE)
        assert face.may("ask", MINE) and table.meter().charges == 0
        here.give(MINE, "analyst", Fraction(0))
        assert not face.may("ask", MINE), "a right that was taken back is still shown"
        with suppress(AllowanceError):
            table.meter()
            raise AssertionError("a right that was taken back still holds")


class Remembering(Standpoint):
    """What a person may do is looked up once, when they come."""

    def relations(self, name: str | None = None, budget: str | None = None) -> frozenset[str]:
        kept = self.__dict__.setdefault("kept", {})
        if name not in kept:
            kept[name] = super().relations(name, budget)
        return kept[name]


# Grants


def check_two_at_once_spend_one_grant(kind: type[Ledger]) -> None:
    """Two threads of one person, each of which alone fits into the grant: one is refused."""
    with a_folder() as folder, office(folder) as here:
        here.give(MINE, "analyst", Fraction(3, 10))
        went: list[str] = []

        def spend(name: str) -> None:
            with closing(kind(here.workspace.ledger.path)) as mine, suppress(AllowanceError):
                mine.reserve(**_ask(here, "analyst", name, "0.25"))
                went.append(name)

        threads = [threading.Thread(target=spend, args=(name,)) for name in ("one", "two")]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert len(went) == 1, "two at once overspent a grant"


class LooksAtTheGrantFirst(Ledger):
    """The grant is checked before the write lock is taken."""

    meet = threading.Barrier(2)

    def reserve(self, **told: Any) -> Any:
        record = self.budget(told["budget"])
        with self.people() as book:
            self._seen = book.held(record, told["actor"])
        self.meet.wait(PATIENCE)
        return super().reserve(**told)

    def _admitted(self, db: Database, *given: Any) -> Payer | None:
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(PeopleBook, "held", lambda book, record, holder: self._seen)
            return super()._admitted(db, *given)

    def _sums(self, db: Database, *given: Any) -> Sums | None:
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(PeopleBook, "held", lambda book, record, holder: self._seen)
            return super()._sums(db, *given)


def check_colleagues_do_not_move_a_grant(held: Callable[..., HolderPart]) -> None:
    with a_folder() as folder, office(folder) as here, pytest.MonkeyPatch.context() as patch:
        patch.setattr(PeopleBook, "held", held)
        ledger = here.workspace.ledger
        here.give(MINE, "analyst", Fraction(2, 10))
        ledger.reserve(**_ask(here, "owner", "colleague", "0.25"))
        try:
            ledger.reserve(**_ask(here, "analyst", "mine", "0.1"))
        except AllowanceError:
            raise AssertionError("a colleague used up somebody's grant") from None
        meter = here.face("analyst").meter(MINE)[0]
        assert meter.used * Fraction(2, 10) < Fraction(11, 100), "a colleague moved somebody's meter"


def over_everybody(book: PeopleBook, record: BudgetRecord, holder: str) -> HolderPart:
    whole = book.meter(record.id, MINE)
    return HolderPart(used(record.rule, whole), whole.delta)


def check_a_grant_bounds_the_tables_meter(fits: Callable[..., bool]) -> None:
    """A Gaussian question after somebody else's Laplace questions, and a question that takes the whole δ reserve."""
    with a_folder() as folder, office(folder) as here, pytest.MonkeyPatch.context() as patch:
        patch.setattr(rules, "fits", fits)
        share, ledger, budget = Fraction(1, 100), here.workspace.ledger, here.workspace.record(MINE).budget
        rule = ledger.budget(budget).rule
        here.give(MINE, "analyst", share)
        ledger.reserve(**_ask(here, "owner", "laplace", "0.5"))
        losses: list[Loss] = [Gaussian(Fraction(1, 5000)), Approximate(Fraction(1, 1000), rule.delta_reserve)]
        for loss in losses:
            before = ledger.standing(budget).totals
            with suppress(AllowanceError):
                ledger.reserve(**(_ask(here, "analyst", f"{loss}", "1") | {"loss": loss}))
            after = ledger.standing(budget).totals
            assert used(rule, after) - used(rule, before) <= share, "a grant of 1 % moved the table's meter by more"
            assert after.delta - before.delta <= share * rule.delta_reserve, "a grant of 1 % took more of the δ reserve"


def as_a_budget_of_its_own(rule: Rule, grant: Grant, held: HolderPart, before: Totals, costs: Sequence[Cost]) -> bool:
    """Reads the holder's rows as if nobody else had asked."""
    return held.moved + rules.moves(rule, Totals.NOTHING, costs) <= grant.share


def check_a_charge_beyond_a_grant_is_found(verified: Verify) -> None:
    """All hashes are right, and the budget's own rule holds: only the grant does not cover the charge."""
    with a_folder() as folder, office(folder) as here:
        here.give(MINE, "analyst", HALF)
        here.workspace.ledger.reserve(**_ask(here, "analyst", "one", "0.25"))
        rows = [dict(row) for row in here.workspace.ledger.export_rows()]
        assert verified(rows).ok, "a sound ledger is refused"
        prev = "0" * 64
        for row in rows:
            body = json.loads(row["body"])
            if row["kind"] == "grant" and body["to"] == here.person("analyst"):
                row["body"] = json.dumps(body | {"share": "1/100"}, sort_keys=True, separators=(",", ":"))
            row["prev"] = prev
            row["hash"] = prev = hash_of(row)
        assert not verified(rows).ok, "a charge beyond its grant passes the check"


def without_grants(rows: Iterable[Any]) -> Verdict:
    """The check of the chain as it was before people."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(chain.PeopleSoFar, "charge_fault", lambda *given: None)
        return chain.verify(rows)


def check_nobody_decides_their_own_wish(decides: Callable[..., bool]) -> None:
    """Nor where they are owner and administrator both; neither the program lets them nor the file itself."""
    with a_folder() as folder, office(folder) as here, pytest.MonkeyPatch.context() as patch:
        here.give(MINE, "owner", Fraction(1, 10))
        here.name("owner", "administrator")
        face = here.face("owner")
        wanted = face.wish(MINE, "the report", share="1")
        patch.setattr(rules, "may_decide", decides)
        assert face.pending() == [], "a wish waits for its own author"
        with suppress(AllowanceError):
            face.decide(wanted.id, "yes")
            raise AssertionError("somebody decided a wish of their own")


def whoever_owns_it(book: Any, wanted: Any, actor: str) -> bool:
    return rules.owns(book, actor, wanted.table)


def check_an_owner_acts_on_their_own_budget_alone(owning: Callable[..., bool]) -> None:
    """The file would refuse the row as well: what is tried is the rule above it."""
    with a_folder() as folder, office(folder) as here, pytest.MonkeyPatch.context() as patch:
        patch.setattr(rules, "owns_on", owning)
        budget, other = here.workspace.record(MINE).budget, here.person("owner of another")
        here.face("owner").set_limit(MINE, "0.5")
        with suppress(AllowanceError):
            here.workspace.ledger.set_limit(budget, OTHER, Fraction(1), here.person("owner"))
            raise AssertionError("an owner acts for a table that is not theirs")
        with pytest.MonkeyPatch.context() as beneath:
            beneath.setattr(Ledger, "_append", lambda *given: {})
            with suppress(AllowanceError):
                here.workspace.ledger.set_limit(budget, OTHER, Fraction(1), other)
                raise AssertionError("the owner of one table acts on the budget of another")


def whatever_the_budget(book: Any, person: str, table: str, budget: str) -> bool:
    return rules.owns(book, person, table)


def check_nobody_multiplies_a_budget_of_two_owners(owning: Callable[..., bool]) -> None:
    with a_folder() as folder, office(folder) as here, pytest.MonkeyPatch.context() as patch:
        patch.setattr(rules, "one_owner", owning)
        here.bring("owner of another", "copy", start=0)
        with suppress(AllowanceError):
            here.face("administrator").keep_apart("copy", [here.person("s1"), here.person("s2")])
            raise AssertionError("an agreement about one owner's table multiplied the budget of another")


def any_of_them(book: Any, budget: str) -> bool:
    return any(book.owners_on(budget).values())


PLANTED = [
    Planted(
        "a face that caches rights",
        "What a person may do is looked up when they come, and kept.",
        check_what_is_taken_back_counts_at_once,
        "taken back",
        Standpoint,
        Remembering,
    ),
    Planted(
        "a grant checked outside the transaction",
        "What is left of a grant is read before the write lock is taken.",
        check_two_at_once_spend_one_grant,
        "overspent a grant",
        Ledger,
        LooksAtTheGrantFirst,
    ),
    Planted(
        "a grant counted over everybody's rows",
        "A colleague's questions use up somebody else's share.",
        check_colleagues_do_not_move_a_grant,
        "a colleague",
        PeopleBook.held,
        over_everybody,
    ),
    Planted(
        "a grant read as a budget of its own",
        "A grant counts its holder's questions as if nobody else had asked, and no δ.",
        check_a_grant_bounds_the_tables_meter,
        "a grant of 1 %",
        rules.fits,
        as_a_budget_of_its_own,
    ),
    Planted(
        "a verify that skips grants",
        "The check of the chain follows the budgets and not who might spend them.",
        check_a_charge_beyond_a_grant_is_found,
        "beyond its grant",
        verify,
        without_grants,
    ),
    Planted(
        "a wish decided by its author",
        "An owner's own wish waits for that owner.",
        check_nobody_decides_their_own_wish,
        "own",
        rules.may_decide,
        whoever_owns_it,
    ),
    Planted(
        "an owner of any table",
        "Who owns a table acts on every budget in its name.",
        check_an_owner_acts_on_their_own_budget_alone,
        "the budget of another",
        rules.owns_on,
        whatever_the_budget,
    ),
    Planted(
        "an agreement over another owner's rows",
        "People keep apart on one of the tables of a budget, and so on all of them, whoever owns the others.",
        check_nobody_multiplies_a_budget_of_two_owners,
        "multiplied",
        rules.one_owner,
        any_of_them,
    ),
]
