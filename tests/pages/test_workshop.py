"""A workshop: sample tables alone, a wall that everyone asks once, an instructor's code, and no truth elsewhere."""

from __future__ import annotations

import asyncio
import csv
import hmac
import re
import socket
import statistics
from collections.abc import Callable, Iterator
from html import unescape
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from helpers_page import html_of, open_page
from streamlit.testing.v1 import AppTest

import dpengine as dp
from demos import truth
from dpengine.declared.facts import Facts
from dpengine.workspace import Workspace
from ui.shell import web, workshop_state
from ui.shell.gate import ORIGIN
from ui.shell.workshop_state import GONE, WAITING, Dot, Room, Snapshot
from ui.workshop import invite, wall

ROOT = Path(__file__).resolve().parents[2]
TEACHER, ANA, BO = "teacher", "ana", "bo"
MINE = 'content:"yours"'


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("class") / "workspace"


@pytest.fixture
def here(home: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """A workshop of its own, with `here.who` at the browser."""
    code = workshop_state.new_code()
    found = SimpleNamespace(who=ANA, code=code, home=home)
    monkeypatch.setenv("ALLOWANCE_HOME", str(home))
    monkeypatch.setenv(workshop_state.CODE, code)
    monkeypatch.setenv(workshop_state.ADDRESS, "http://10.0.0.7:8501")
    monkeypatch.setattr("ui.shell.state.browser", lambda: found.who)
    monkeypatch.setattr("ui.shell.workshop_state.FRESH", 0.0)
    found.room = workshop_state.here()
    found.workspace = dp.open_workspace(home, samples_only=True)
    yield found


def opened(page: str = "wall", **address: str) -> AppTest:
    return open_page(page, **address)


def html(app: AppTest) -> str:
    return unescape(html_of(app))


def keys(app: AppTest) -> set[str]:
    return {str(one.key) for one in app.button}


def pose(here: Any, question: str = "smokers", epsilon: str = "0.1") -> None:
    here.room.unlock(TEACHER, here.code)
    here.room.pose(TEACHER, question, epsilon)


def ask(here: Any, who: str) -> AppTest:
    here.who = who
    app = opened()
    app.button(key=f"wall-ask-{here.room.posed.turn}").click().run()
    assert not app.exception
    return app


# --- sample tables alone ----------------------------------------------------------------------------------------------


def people(tmp_path: Path) -> dict[str, Any]:
    path = tmp_path / "people.csv"
    path.write_text("age\n30\n40\n")
    schema = dp.Schema({"age": dp.Number(0, 120)})
    budget = dp.Budget("1", "1e-6")
    return {"name": "people", "source": path, "schema": schema, "unit": dp.Unit.rows(), "budget": budget}


def test_the_workspace_itself_refuses_a_table(here: Any, tmp_path: Path) -> None:
    with pytest.raises(dp.AllowanceError) as refusal:
        here.workspace.add_table(**people(tmp_path))
    assert refusal.value.code == "workshop.no_tables" and here.workspace.tables() == []
    assert dp.open_workspace(here.home).samples_only  # also for whoever opens the folder otherwise


def test_a_workshop_never_opens_a_workspace_that_is_there(tmp_path: Path) -> None:
    owner = dp.open_workspace(tmp_path / "var")
    owner.add_table(**people(tmp_path))
    with pytest.raises(dp.AllowanceError) as refusal:
        dp.open_workspace(tmp_path / "var", samples_only=True)
    assert refusal.value.code == "workshop.folder" and not owner.samples_only
    owner.close()
    (tmp_path / "var" / "samples-only").touch()  # by hand: the tables in it still speak against it
    with pytest.raises(dp.AllowanceError) as refusal:
        Workspace(tmp_path / "var")
    assert refusal.value.code == "workshop.folder"


@pytest.mark.parametrize("page", ["data", "answers"])
def test_no_page_of_a_workshop_takes_a_file(here: Any, page: str) -> None:
    app = opened(page, view="ledger")
    assert not app.get("file_uploader") and "Not private: workshop." in html(app)
    if page == "data":
        assert "nobody can add another" in html(app) and not app.text_input


def test_the_server_takes_none_either(here: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    assert _status("/_stcore/upload_file/session/file") == 403
    monkeypatch.delenv(workshop_state.CODE)
    assert _status("/_stcore/upload_file/session/file") == 200


def _status(path: str) -> int:
    told: list[Any] = []

    async def app(scope: Any, receive: Any, send: Any) -> None:
        await send({"type": "http.response.start", "status": 200, "headers": []})

    async def send(message: Any) -> None:
        told.append(message)

    here = {"server": ("127.0.0.1", 8501), "headers": [(b"host", b"localhost:8501")]}
    scope = {"type": "http", "path": path, "query_string": b"", **here}
    asyncio.run(web.FrontDoor(app)(scope, None, send))  # type: ignore[arg-type]
    return int(told[0]["status"])


# --- the truth --------------------------------------------------------------------------------------------------------


def column(table: str, name: str) -> list[str]:
    with (ROOT / "data" / f"{table}.csv").open(encoding="utf-8", newline="") as file:
        return [row[name] for row in csv.DictReader(file)]


EXPECTED: dict[str, Callable[[], float]] = {
    "car": lambda: column("town", "has_car").count("yes"),
    "income": lambda: statistics.median_low(map(float, column("town", "monthly_income"))),
    "mean_income": lambda: statistics.fmean(min(float(one), 12_000) for one in column("town", "monthly_income")),
    "smokers": lambda: column("clinic", "smoker").count("yes"),
    "pressure": lambda: statistics.fmean(map(float, column("clinic", "blood_pressure"))),
    "typical_pressure": lambda: statistics.median_low(map(float, column("clinic", "blood_pressure"))),
}


@pytest.mark.long
@pytest.mark.parametrize("question", sorted(wall.QUESTIONS))
def test_what_is_called_true_is_true_of_the_file(here: Any, question: str) -> None:
    query = wall.query_of(question, "1")[1]
    assert truth.of(query) == pytest.approx(EXPECTED[question](), abs=1e-9)
    share = here.workspace.table("clinic").query("proportion", of=[["smoker", "in", ["yes"]]], epsilon="1")
    assert truth.of(share) == pytest.approx(100 * EXPECTED["smokers"]() / 1200)


def test_nothing_is_told_of_any_other_table(here: Any) -> None:
    schema = dp.Schema({"smoker": dp.Category(["yes", "no"])})
    facts = Facts("people", schema, dp.Unit.rows(), "replace", 10)
    query = dp.catalogue["count"].build(facts, {"where": [["smoker", "in", ["yes"]]], "epsilon": "1"})
    assert not truth.tellable(query)
    for told in (truth.of, truth.statistic, lambda one: truth.simulated(one, 1)):
        with pytest.raises(KeyError):
            told(query)
    bars = here.workspace.table("clinic").query("histogram", column="smoker", epsilon="1")
    assert not truth.tellable(bars)


@pytest.mark.long
def test_only_the_workshop_knows_the_way_to_it() -> None:
    """Who may import it is a list, and what it reads is a file of data/: it opens nothing else."""
    users = [path for folder in ("ui", "pages", "dpengine", "demos") for path in (ROOT / folder).rglob("*.py")]
    known = re.compile(r"\btruth import|import truth\b")
    named = {str(path.relative_to(ROOT)) for path in users if known.search(path.read_text())}
    assert named == {"ui/workshop/workshop.py", "ui/workshop/wall.py"}
    assert {path.parent for path in truth.FILES.values()} == {ROOT / "data"}
    assert (ROOT / "demos" / "truth.py").read_text().count("open(") == 1


def test_without_a_workshop_no_page_comes_near_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def bomb(*given: Any) -> Any:
        raise AssertionError("the truth was asked for")

    monkeypatch.delenv(workshop_state.CODE, raising=False)
    monkeypatch.setenv("ALLOWANCE_HOME", str(tmp_path / "var"))
    monkeypatch.setattr("ui.shell.state.visitor", lambda: "local")
    for name in ("of", "statistic", "simulated", "_rows"):
        monkeypatch.setattr(truth, name, bomb)
    table = dp.open_workspace(tmp_path / "var").table("clinic", visitor="local")
    answer = table.ask(table.query("count", where=[["smoker", "in", ["yes"]]], epsilon="0.1"))
    for page, address in (("ask", {"table": "clinic", "answer": answer.request_id}), ("wall", {"q": "smokers"})):
        app = opened(page, **address)
        assert "Not private" not in html(app) and "true answer" not in html(app)
    assert "There is no workshop here" in html(app) and not app.text_input and not app.button
    for act in (wall.true_value.__wrapped__, lambda one: wall.thousand.__wrapped__(one, "1")):
        with pytest.raises(dp.AllowanceError):
            act("smokers")


def test_in_a_workshop_it_stands_beside_the_private_answer(here: Any) -> None:
    table = here.workspace.table("clinic", visitor=here.room.name(ANA))
    answer = table.ask(table.query("count", where=[["smoker", "in", ["yes"]]], epsilon="0.1"))
    app = opened("ask", table="clinic", answer=answer.request_id)
    assert f"The true answer is {column('clinic', 'smoker').count('yes')}." in html(app)


# --- the wall ---------------------------------------------------------------------------------------------------------


def test_a_class_asks_once_each(here: Any) -> None:
    assert "The wall is empty" in html(opened())
    pose(here)
    first = ask(here, ANA)
    before = here.workspace.ledger.head()
    assert "Your answer" in html(first) and "1 answer;" in html(first) and "wall-ask-1" not in keys(first)
    assert "wall-ask-1" not in keys(opened()) and here.workspace.ledger.head() == before  # a reload finds it
    # a second click, from a window that was open before, is the same request: no row more, the same answer
    wall._ask(*wall.query_of("smokers", "0.1"), here.room.name(ANA), 1)
    assert here.workspace.ledger.head() == before
    second = ask(here, BO)
    assert "2 answers;" in html(second) and html(second).count(MINE) == 1  # one of them is theirs
    assert "truth is" not in html(second) and "truth 298" not in html(second)
    here.room.reveal(TEACHER, True, False)
    shown = html(opened())
    assert "the truth is 298." in shown and re.search(r"[012] of 2 ranges hold the truth", shown)
    here.who = "watching"
    assert MINE not in html(opened())


def test_the_instructor_has_a_code_and_nobody_else_an_act(here: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    compared: list[bool] = []
    honest = hmac.compare_digest
    monkeypatch.setattr(hmac, "compare_digest", lambda one, other: compared.append(honest(one, other)) or compared[-1])
    here.who = TEACHER
    app = opened(q="smokers", epsilon="0.05")
    assert not keys(app) & {"wall-pose", "wall-reset"} and here.code not in html(app)
    for typed in ("", "wrong", here.code[:-1], "x" * 10_000):
        app.text_input[0].set_value(typed)
        app.button[0].click().run()
        assert "That is not the code" in html(app) and not here.room.instructs(TEACHER)
    app.text_input[0].set_value(f" {here.code.lower().replace('-', ' ')} ")
    app.button[0].click().run()
    assert compared[-1] and not any(compared[:-1]) and here.code not in str(dict(app.query_params))
    assert app.selectbox(key="wall-question").value == "smokers" and app.select_slider[0].value == "0.05"
    app.button(key="wall-pose").click().run()
    assert here.room.posed == workshop_state.WallQuestion(1, "smokers", "0.05") and "0 participants" in html(app)
    app.toggle[0].set_value(True).run()
    app.toggle[1].set_value(True).run()
    assert here.room.posed.truth and here.room.posed.simulated
    ask(here, ANA)
    assert "Simulated: what 1,000 of you would give" in html(opened())
    assert not keys(opened()) & {"wall-pose", "wall-reset"}  # Ana's page has none of it, and the room refuses her
    for act, given in ((here.room.reset, ()), (here.room.pose, ("car", "1")), (here.room.reveal, (True, True))):
        with pytest.raises(dp.AllowanceError) as refusal:
            act(ANA, *given)
        assert refusal.value.code == "workshop.instructor_only"
    assert not Room("1").unlock(ANA, "1")  # a code that somebody set by hand, too short, opens nothing


def test_a_new_round_gives_new_budgets_and_nothing_back(here: Any) -> None:
    pose(here, epsilon="1")
    app = ask(here, ANA)
    old = here.workspace.table("clinic", visitor=here.room.name(ANA))
    assert old.meter().unused == 0 and "0 %" in html(app)
    pose(here, "pressure", "1")
    refused = opened()
    assert "takes more than is left" in html(refused) and "wall-ask-2" not in keys(refused)
    head = here.workspace.ledger.head()
    here.who = TEACHER
    opened().button(key="wall-reset").click().run()
    assert here.room.posed is None and here.workspace.ledger.head() == head and here.workspace.verify_ledger().ok
    here.who = ANA
    assert "The wall is empty" in html(opened())
    assert here.workspace.table("clinic", visitor=here.room.name(ANA)).meter().used == 0
    assert old.meter().unused == 0 and len(old.history()) == 1
    pose(here, "pressure", "1")
    assert "Your answer" in html(ask(here, ANA))


def test_a_click_on_a_question_that_is_gone_spends_nothing(here: Any) -> None:
    pose(here)
    app = opened()
    pose(here, "pressure")
    head = here.workspace.ledger.head()
    app.button(key="wall-ask-1").click().run()
    assert "moved on" in html(app) and "wall-ask-2" in keys(app) and here.workspace.ledger.head() == head


def test_whatever_an_address_says_the_choice_stands() -> None:
    for told in ((None, None), ("<script>", "1"), ("car", "9"), ("x" * 999, "0.1")):
        question, epsilon = wall.clean(*told)
        assert question in wall.QUESTIONS and epsilon in wall.EPSILONS


@pytest.mark.long
@pytest.mark.every(9)
@pytest.mark.parametrize("question", ["mean_income", "smokers", "typical_pressure"])
def test_every_question_at_its_ends_has_a_picture_and_words(here: Any, question: str) -> None:
    for epsilon in (wall.EPSILONS[0], wall.EPSILONS[-1]):
        query = wall.query_of(question, epsilon)[1]
        found = truth.simulated(query, 120)
        dots = tuple(Dot(float(one.value), *map(float, one.interval)) for one in found)
        for count in (1, 2, 30, 120):
            for shown in (False, True):
                names = tuple(map(str, range(count)))
                seen = Snapshot(
                    1, 1, workshop_state.WallQuestion(1, question, epsilon, shown), dots[:count], names, count, 3
                )
                told = wall.everybody(seen, "0")
                assert told.count('<i class="d') == count and ("truth" in told) == shown
                assert not re.search(r"\bnan\b|\binf\b|None|[{}]", re.sub(r"<style>.*?</style>", "", told))
                assert all(0 <= float(at) <= 100 for at in re.findall(r"left:([-\d.]+)%", told))
    alike = (Dot(5.0, 5.0, 5.0),) * 3
    assert wall.wall(alike, 5.0, "people", "en").count('<i class="d') == 3


def test_a_dot_stands_over_its_own_range() -> None:
    """Answers far apart with narrow ranges: a dot that is moved to the next of 80 places stands over none."""
    dots = tuple(Dot(value, value - 0.02, value + 0.02) for value in (0.0, 3.333, 7.777, 7.812, 50.05, 100.0))
    told = wall.wall(dots, None, "people", "en")
    above = re.findall(r'<i class="d\d+" style="left:([\d.]+)%', told)
    below = re.findall(r'<u style="left:([\d.]+)%;width:([\d.]+)%"></u><s style="left:([\d.]+)%"', told)
    assert len(above) == len(below) == len(dots)
    for at, (left, width, middle) in zip(above, below, strict=True):
        assert at == middle and float(left) - 0.01 <= float(at) <= float(left) + float(width) + 0.01


# --- one look for everybody -------------------------------------------------------------------------------------------


def test_thirty_viewers_cost_one_look() -> None:
    made, looks = Room("CODE-CODE"), []
    made.unlock(TEACHER, "code code")
    made.pose(TEACHER, "car", "1")
    names = [made.name(str(number)) for number in range(30)]
    requests = [made.asks(name, 1) for name in names]
    assert len(set(requests)) == 30 and requests == [made.asks(name, 1) for name in names]

    def read(request: str) -> Dot | str:
        looks.append(request)
        place = requests.index(request)
        return GONE if place == 0 else WAITING if place == 1 else Dot(place, place, place)

    seen = [made.snapshot(read) for _ in range(30)]
    assert len(looks) == 30 and len({id(one) for one in seen}) == 1
    assert (len(seen[0].dots), seen[0].waiting, seen[0].people) == (28, 1, 30)
    made._until = 0.0
    assert made.snapshot(read) is not seen[0] and looks[30:] == [requests[1]]  # what has come is not read again
    made.reset(TEACHER)
    assert made.snapshot(read).dots == () and not set(names) & {made.name(str(number)) for number in range(30)}


# --- the invitation ---------------------------------------------------------------------------------------------------


def test_the_invitation_says_where_and_keeps_the_code_out_of_the_address() -> None:
    code = workshop_state.new_code()
    told = invite.invitation("http://10.0.0.7:8501", code)
    assert "http://10.0.0.7:8501/wall" in told and code in told and "NOT PRIVATE" in told and "█" in told
    plain = invite.invitation("http://10.0.0.7:8501", workshop_state.new_code())
    assert [line for line in told.splitlines() if "█" in line] == [line for line in plain.splitlines() if "█" in line]
    assert code not in " ".join(invite.command("10.0.0.7", 8501)) and workshop_state.new_code() != code
    assert invite.free(invite.own_address(), 0)


def test_an_address_that_is_not_ours_or_a_port_in_use_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    assert invite.main(["--address", "203.0.113.9"]) == 2
    assert "not an address of this machine" in capsys.readouterr().err
    with socket.socket() as taken:
        taken.bind(("0.0.0.0", 0))
        taken.listen()
        port = taken.getsockname()[1]
        assert invite.main(["--address", "127.0.0.1", "--port", str(port)]) == 2
    assert "is in use" in capsys.readouterr().err


@pytest.mark.parametrize("option", ["--server.port={}", "--server.port {}", "--port {}"])
def test_the_port_of_run_args_is_the_one_in_the_invitation(
    option: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    with socket.socket() as probe:
        probe.bind(("0.0.0.0", 0))
        port = probe.getsockname()[1]
    started: list[list[str]] = []

    class Server:
        def __init__(self, command: list[str], env: dict[str, str], **_: Any) -> None:
            assert env[ORIGIN] == f"http://127.0.0.1:{port}"
            started.append(command)

        def wait(self) -> int:
            return 0

    monkeypatch.setattr(invite.subprocess, "Popen", Server)
    monkeypatch.setattr(invite.signal, "signal", lambda *_: None)
    asked = f"--address 127.0.0.1 {option.format(port)} --server.runOnSave=false".split()
    assert invite.main(asked) == 0
    assert f"http://127.0.0.1:{port}/wall" in capsys.readouterr().out
    assert f"--server.port={port}" in started[0] and started[0][-1] == "--server.runOnSave=false"


def test_make_hands_its_options_on() -> None:
    told = (ROOT / "Makefile").read_text()
    recipe = told[told.index("\nworkshop:") :].splitlines()[2]
    assert "$(WORKSHOP_ARGS)" in recipe and "$(RUN_ARGS)" in recipe
