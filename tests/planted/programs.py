"""Wrong twins of the door for programs: one that looks at a token's tables when the question was charged, one that
counts requests by address, and figures about the server that tell when a release ended."""

from __future__ import annotations

import threading
from typing import Any
from unittest.mock import patch

from dpengine.people.limiter import RATES, Limiter
from dpengine.storage.samples import SAMPLES
from dpengine.table import Table
from tests.helpers_door import COUNT, PLENTY, AtDoor, at_door
from tests.planted.ledgers import a_folder
from tests.planted.registry import Planted
from ui.api.app import ApiApp
from ui.api.http import Receive, Scope, Send
from ui.api.metrics import Counters
from ui.api.verbs import Visit


def check_a_token_of_another_table_spends_nothing(kind: type[ApiApp]) -> None:
    with a_folder() as folder, at_door(folder, kind=kind) as door:
        sample = next(iter(SAMPLES))
        assert door.ask("ask", door.token(), COUNT | {"request": "own"}).status == 200, "a good token is refused"
        said = door.ask("ask", door.token(tables=(sample,)), COUNT | {"request": "another"})
        assert said.status == 404, "a question about another table is answered"
        assert door.charges() == 1, "a table that the token does not name was charged"


class LateVisit(Visit):
    """Looks at the tables of the token when the answer is fetched."""

    def table(self, name: object) -> Table:
        return self.face.table(str(name))


class ChecksAfterTheCharge(ApiApp):
    visits = LateVisit


def check_each_person_has_a_rate_of_their_own(kind: type[ApiApp]) -> None:
    limits = Limiter(dict.fromkeys(RATES, (0.001, 3)), clock=lambda: 0.0)
    with a_folder() as folder, at_door(folder, limits, kind) as door:
        ana, bor = door.token("analyst"), door.token("owner")
        for _ in range(3):
            assert door.ask("tables", ana).status == 200, "refused too early"
        assert door.ask("tables", bor).status == 200, "a colleague at the same address is slowed down"
        moved = door.ask("tables", ana, client=("10.0.0.10", 1))
        assert moved.status == 429, "another address is another rate"


class CountsAddresses(ApiApp):
    def _limit(self, visit: Visit, scope: Scope, kind: str = "request") -> None:
        self._limits.take(scope["client"][0], kind)


def check_figures_do_not_say_when_a_release_ended(kind: type[ApiApp]) -> None:
    with a_folder() as folder, at_door(folder) as office:
        counted, go_on, reading = Counters(), threading.Event(), threading.Event()
        space = office.here.workspace
        door = AtDoor(office.here, kind(lambda: space, PLENTY, counted))
        token, read = door.token(), space.read

        def held(*given: Any) -> Any:
            reading.set()
            go_on.wait(60)
            return read(*given)

        with patch.object(space, "read", held):
            asked = threading.Thread(target=door.ask, args=("ask", token, COUNT | {"request": "one", "wait": 30}))
            asked.start()
            assert reading.wait(60), "nothing was asked"
            during = list(counted.lines(space.jobs.counted()))
            go_on.set()
            asked.join()
        assert list(counted.lines(space.jobs.counted())) == during, "the figures tell when a release ended"


class CountsWhatIsAnswered(ApiApp):
    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        counted, self._counted = self._counted, Counters()
        await super().__call__(scope, receive, send)
        self._counted = counted
        counted.request()


PLANTED = [
    Planted(
        "a token's tables looked at too late",
        "The door checks which tables a token names after the charge.",
        check_a_token_of_another_table_spends_nothing,
        "was charged",
        ApiApp,
        ChecksAfterTheCharge,
    ),
    Planted(
        "a rate by address",
        "The door counts requests by address, not by person.",
        check_each_person_has_a_rate_of_their_own,
        "same address",
        ApiApp,
        CountsAddresses,
    ),
    Planted(
        "figures that time a release",
        "Requests are counted when they are answered, which waits for the release.",
        check_figures_do_not_say_when_a_release_ended,
        "when a release ended",
        ApiApp,
        CountsWhatIsAnswered,
    ),
]
