"""The stage for browser journeys: one app, one browser, and a loud word when there is no browser to be had.

Everything under tests/browser/ is marked `browser` and kept on one worker (workers.py), so a run starts one
server. Fixtures: `page` (1280 x 900) and `phone` (390 x 844) are fresh visitors, `open_page` makes more of them;
`server` is the app, `server_log` the file with what it said. A page under AppTest opens the workspace `home` (one for
each test) or `shared` (one for a file).
"""

from __future__ import annotations

import atexit
import fcntl
import gc
import json
import os
import re
import shutil
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass
from functools import cache, lru_cache
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import amount
import pytest
from _pytest.mark.expression import Expression
from browser.steps import LIMIT, TEST_LIMIT, not_ours
from sections import add_rows
from workers import Workers, turn

if TYPE_CHECKING:
    from dpengine.workspace import Workspace

ROOT = Path(__file__).resolve().parent.parent
TESTS = ROOT / "tests"
BUILD = ROOT / "build"
NO_CHROMIUM = "there is no chromium in PATH. On Debian: apt-get install chromium"
CHROMIUM_FLAGS = [
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    # Each window would load two pages for what pops up below an address bar that nobody sees.
    "--disable-features=WebUIOmniboxPopup,WebUIOmniboxAimPopup,WebUIOmniboxFullPopup",
]
PHONE = {"viewport": {"width": 390, "height": 844}, "has_touch": True}

_left_out = pytest.StashKey[int]()
_outcome = pytest.StashKey[pytest.TestReport]()


# --- which tests run --------------------------------------------------------------------------------------------------


def _is_journey(item: pytest.Item) -> bool:
    return item.nodeid.startswith("tests/browser/")


# A file whose tests run over all questions, through the catalogue or the cases of the battery.
_OVER_QUESTIONS = re.compile(r"\bcatalogue\b(?!\[)|\boffered\(\)|\b(?:CASES|PUBLIC_SUPPORT|DATA_SUPPORT|EXAMPLES)\b")
_OVER_MODELS = re.compile(r"\bevery_kind\b")
# What names no test: the first words of a file, what it imports, and the body of a function.
_ASIDE = re.compile(r'\A"""(?:.|\n)*?"""|^(?:from [\w.]+ )?import (?:\((?:.|\n)*?\)|.*)$', re.MULTILINE)
_FUNCTION = re.compile(r"^(?:def|class) (\w+).*\n(?:(?:[ \t].*)?\n)*(?:\).*\n(?:(?:[ \t].*)?\n)*)?", re.MULTILINE)
_CONSTANT = re.compile(r"^(\w+)(?:: [^\n=]+)? = .*\n(?:(?:[ \t].*|[)\]}].*)?\n)*", re.MULTILINE)
_WORD = re.compile(r"\w+")
_TEST = re.compile(r"^ *(?:async )?def (test_\w+)", re.MULTILINE)


@cache
def _text(file: Path) -> str:
    return file.read_text(encoding="utf-8")


@cache
def _questions() -> frozenset[str]:
    files = (ROOT / "dpengine" / "mechanisms").rglob("*.py")
    return frozenset(key for file in files for key in re.findall(r"\bkey=\"(\w+)\"", _text(file)))


@cache
def _naming(file: Path) -> str:
    """The part of a file that names its tests and their cases: without the bodies of tests, of fixtures and of
    functions that only those call, and without constants that only those use."""
    bodies: dict[str, str] = {}

    def without(found: re.Match[str]) -> str:
        bodies[found[1]] = found[0]
        return f"{found[1]}\n" if found[1].startswith("test_") else ""

    text = _CONSTANT.sub(without, _FUNCTION.sub(without, _ASIDE.sub("", _text(file))))
    called = {name for name in bodies if not name.startswith("test_")}
    more = text
    while used := called & set(_WORD.findall(more)):
        called -= used
        more = "\n".join(bodies[name] for name in used)
        text += more
    if file.name == "test_planted.py":  # a case for each error that is planted
        planted = "".join(_text(twins) for twins in (TESTS / "planted").glob("*.py"))
        text += "\n".join(re.findall(r'"[^"\n]* [^"\n]*"', planted))
    return text


@cache
def _only_in_names(word: str) -> bool:
    """Is it a part of some test's name, and of nothing that a test's parameters could be made of?"""
    files = [file for room in ("tests", "dpengine", "ui", "demos", "pages") for file in (ROOT / room).rglob("*.py")]
    found = [file for file in files if word in _text(file)]
    named = any(word in name for file in found for name in _TEST.findall(_text(file)))
    return len(word) > 7 and named and all(file.name.startswith("test_") for file in found)


@cache
def _wanted(keyword: str) -> frozenset[str]:
    """The questions and names that `-k` asks for, if it leaves out everything that has none of them."""
    words = frozenset(re.findall(r"[^\s()]+", keyword.lower())) - {"and", "or", "not"}
    named = frozenset(word for word in words if word in _questions() or _only_in_names(word))
    others = sorted(words - named)
    if not named or len(others) > 8:
        return frozenset()
    truths = product((False, True), repeat=len(others))
    without = (dict.fromkeys(named, False) | dict(zip(others, truth, strict=True)) for truth in truths)
    try:
        chosen = Expression.compile(keyword.lower())
        return frozenset() if any(chosen.evaluate(held.__getitem__) for held in without) else named
    except (SyntaxError, KeyError):  # pytest says what is wrong with it
        return frozenset()


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """A file that neither names what is wanted nor runs over all questions is not even imported."""
    wanted = _wanted(config.option.keyword) if collection_path.suffix == ".py" else frozenset()
    if not wanted:
        return None
    place, text = os.path.relpath(collection_path, ROOT), _naming(collection_path)
    over_all = wanted & _questions() and _OVER_QUESTIONS.search(text)
    over_all = over_all or (any("train" in word for word in wanted) and _OVER_MODELS.search(text))
    return None if over_all or any(word in f"{place}\n{text}".lower() for word in wanted) else True


@pytest.hookimpl(wrapper=True)
def pytest_generate_tests(metafunc: pytest.Metafunc) -> Iterator[None]:
    """Nor are cases of other questions built, nor long ones that nobody wants: pytest takes long to make an item."""
    yield
    calls, wanted = metafunc._calls, _wanted(metafunc.config.option.keyword)
    if wanted and not any(word in metafunc.definition.nodeid.lower() for word in wanted):
        calls = [call for call in calls if any(word in call.id.lower() for word in wanted)]
    if thinned := metafunc.definition.get_closest_marker("every"):
        for place, call in enumerate(calls):
            if place % thinned.args[0]:
                call.marks.append(pytest.mark.long.mark)
    if metafunc.config.option.markexpr == "not long":
        short = [call for call in calls if all(mark.name != "long" for mark in call.marks)]
        calls = short or calls[:1]  # without any, the test would run with no parameters; it is long, and left out
    metafunc._calls = calls


def _on_ci() -> bool:
    return os.environ.get("CI", "").lower() in {"1", "true"}


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--workers", type=int, default=1, help="run the tests in as many processes (workers.py)")


def pytest_configure(config: pytest.Config) -> None:
    if config.option.workers > 1:
        config.pluginmanager.register(Workers(config.option.workers, _browser.close))


@cache
def _examples_for_any_machine(config: pytest.Config) -> None:
    """How long an example takes says how busy the machine is, and nothing about the program."""
    from hypothesis import HealthCheck, settings
    from hypothesis.internal.conjecture import providers

    usual = {"max_examples": 40, "deadline": None, "suppress_health_check": [HealthCheck.too_slow]}
    settings.register_profile("any machine", **usual)
    settings.load_profile("any machine")
    if "long" not in config.option.markexpr.split() or "not" in config.option.markexpr.split():
        # Hypothesis would parse all our files for constants to try, each worker anew; `make audit` lets it.
        providers._get_local_constants = lambda: providers._local_constants


def pytest_pycollect_makemodule(module_path: Path, parent: pytest.Collector) -> None:
    """Before a file is imported, and only for one that needs it: Hypothesis takes a third of a second to import."""
    if "hypothesis" in _text(module_path):
        _examples_for_any_machine(parent.config)


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    items.sort(key=turn)
    if amount.HOUR and config.option.markexpr == "long":
        _leave_to_other_days(config, items)
    journeys = [item for item in items if _is_journey(item)]
    for item in journeys:
        item.add_marker(pytest.mark.browser)
        item.add_marker(pytest.mark.timeout(TEST_LIMIT))
    if journeys and shutil.which("chromium") is None and not _on_ci():  # on CI the `browser` fixture fails instead
        gone = set(journeys)
        config.hook.pytest_deselected(items=journeys)
        items[:] = [item for item in items if item not in gone]
        config.stash[_left_out] = len(journeys)


def _leave_to_other_days(config: pytest.Config, items: list[pytest.Item]) -> None:
    """As tests/amount.py says; and the audit's report says how many cases ran."""
    checks: dict[str, list[pytest.Item]] = {}
    for item in items:
        if item.get_closest_marker("long") is not None:
            checks.setdefault(item.nodeid.partition("[")[0], []).append(item)
    kept = {
        item for check, cases in checks.items() for item in (amount.in_turn(cases) if amount.by_turns(check) else cases)
    }
    every = {item for cases in checks.values() for item in cases}
    config.hook.pytest_deselected(items=[item for item in items if item in every - kept])
    items[:] = [item for item in items if item not in every - kept]
    where = "on Postgres and Spark" if any("tests/engines/" in check for check in checks) else "on DuckDB"
    add_rows("amount", "Long tests of this run", ["which", "run", "of"], [[where, len(kept), len(every)]])


def pytest_sessionfinish() -> None:
    _browser.close()


@pytest.hookimpl(trylast=True)  # the last word
def pytest_terminal_summary(terminalreporter: Any, config: pytest.Config) -> None:
    if left_out := config.stash.get(_left_out, 0):
        terminalreporter.section("BROWSER TESTS DID NOT RUN", sep="!", red=True, bold=True)
        terminalreporter.line(f"{left_out} browser tests were left out: {NO_CHROMIUM}", red=True, bold=True)


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Iterator[object]:
    """Nothing that is collected becomes garbage, and the collector would walk all of it again and again."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.enable()
        gc.set_threshold(50_000, 20, 50)
        atexit.register(gc.unfreeze)  # libraries that count what is left at the end find it


def pytest_collection_finish(session: pytest.Session) -> None:
    if "streamlit.testing.v1.app_test" in sys.modules:
        _cheaper_page_runs()
    if "dpengine.statistics.engines.duck" in sys.modules:
        _share_a_database()
        if session.config.option.workers > 1:  # once, and not in every worker
            import scipy.stats  # noqa: F401 -- slow to import

            from dpengine.statistics.engines.statements import get_ready

            get_ready()
    if "dpengine.intake.foreign" in sys.modules:
        _read_files_here()


@cache
def _cheaper_page_runs() -> None:
    """Before every run of a page AppTest reads the metadata of all installed packages, to look for components, and
    after it everything is searched for garbage: two thirds of what a run costs. Once is enough for both, and for
    compiling the page and mocking the server."""
    from streamlit import config
    from streamlit.components.v2 import manifest_scanner
    from streamlit.elements import html
    from streamlit.runtime.scriptrunner_utils import script_run_context
    from streamlit.testing.v1 import app_test, local_script_runner

    from ui.shell import speed

    finished = local_script_runner.require_widgets_deltas

    def joined(runner: Any, timeout: float = 3) -> None:
        timeout = max(timeout, TEST_LIMIT)  # how long a run takes says how busy the machine is
        runner._script_thread.join(timeout)  # instead of asking every millisecond
        finished(runner, timeout)

    local_script_runner.require_widgets_deltas = joined
    app_test.ScriptCache = cache(app_test.ScriptCache)
    html.clean_text = lru_cache(256)(html.clean_text)  # of the same stylesheets
    script_run_context.populate_hash_if_needed = lambda message: ""  # no browser keeps what it has seen
    mock = cache(app_test.MagicMock)
    app_test.MagicMock = lambda **given: (mock(**given).reset_mock(), mock(**given))[1]
    manifest_scanner.scan_component_manifests = cache(manifest_scanner.scan_component_manifests)
    config.set_option("runner.postScriptGC", False)
    speed._tidied.acquire(blocking=False)  # nor by its thread, every five seconds
    speed._import_for_questions = lambda prepare: None  # a thread would bring a sample in the middle of some test


# Where it is looked at what a database of its own does: its settings, its files, what it forgets.
_OWN_DATABASE = (
    "tests/engine/statistics/",
    "tests/leaks/test_bombs.py",
    "tests/leaks/test_scan.py",
    "tests/faults/",
    "tests/pages/test_owner.py::test_a_forg",
    "tests/pages/test_owner.py::test_forg",
    "tests/pages/test_owner.py::test_a_process_that",
    "tests/pages/test_owner.py::test_the_engine_spills",
)
_running = ""


def pytest_runtest_logstart(nodeid: str) -> None:
    global _running
    _running = nodeid


def _share_a_database() -> None:
    """To open a database in memory takes DuckDB 30 milliseconds, and every table that a test brings opens one or two.
    Tests of one worker share one, each through a cursor of its own."""
    import importlib

    names = ("statistics.engines.duck", "intake.marks", "intake.rows_per_person", "intake.bring_in")
    modules = [importlib.import_module(f"dpengine.{name}") for name in names]
    connect = modules[0].connect
    whole = cache(connect)

    def shared(folder: Path) -> Any:
        return connect(folder) if _running.startswith(_OWN_DATABASE) else whole(BUILD).cursor()

    for module in modules:
        module.connect = shared  # type: ignore[attr-defined]


# Where it is looked at what a process of its own does with a file: its bounds, its end, what it keeps to itself.
_OWN_PROCESS = (
    "tests/engine/intake/test_sheets.py::test_a_sheet_is_read_as_its_csv",
    "tests/engine/intake/test_sheets.py::test_what_is_no_spreadsheet",
    "tests/engine/intake/test_statistics_files.py::test_a_survey_is_declared",
    "tests/leaks/",
    "tests/faults/",
)


def _read_files_here() -> None:
    """To start a process for a spreadsheet or a statistics file takes half a second, and every file that a test brings
    starts three or four. Elsewhere the same functions read it in this one."""
    from dpengine.core.errors import AllowanceError
    from dpengine.intake import file_process

    run, start = file_process.run, file_process._START

    def here(work: str, given: Any, progress: Any = None) -> Any:
        if _running.startswith(_OWN_PROCESS) or start != file_process._START:
            return run(work, given, progress)
        try:
            done = file_process._WORKS[work](progress or (lambda share: None), **given)
        except AllowanceError:
            raise
        except Exception:
            raise AllowanceError("load.heavy") from None
        return json.loads(json.dumps(done))

    file_process.run = here


def pytest_unconfigure() -> None:
    """AppTest leaves a temporary folder for the interpreter to sweep up, with a warning; sweep it up first."""
    if app_test := sys.modules.get("streamlit.testing.v1.app_test"):
        app_test.TMP_DIR.cleanup()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Iterator[None]:
    report = yield
    if report.skipped and _on_ci() and not hasattr(report, "wasxfail"):
        report.outcome, report.longrepr = "failed", f"left out, which CI does not allow: {report.longrepr}"
    if report.when == "call":
        item.stash[_outcome] = report
    return report


# --- the app ----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Server:
    url: str
    home: Path
    process: subprocess.Popen[bytes]


@pytest.fixture(scope="session")
def server_log() -> Path:
    BUILD.mkdir(exist_ok=True)
    log = BUILD / "browser-server.log"
    log.write_bytes(b"")
    return log


@contextmanager
def serving(home: Path, log: Path, *options: str, port: int = 0, **variables: str) -> Iterator[Server]:
    """The app over a workspace, as a person would start it; what it says goes to `log`."""
    port = port or free_port()
    command = [sys.executable, "-m", "streamlit", "run", "app.py", f"--server.port={port}", "--server.headless=true"]
    env = {**os.environ, "ALLOWANCE_HOME": str(home), "PYTHONUNBUFFERED": "1", "NO_COLOR": "1", **variables}
    with log.open("ab") as said:
        process = subprocess.Popen(
            [*command, *options], cwd=ROOT, env=env, stdin=subprocess.DEVNULL, stdout=said, stderr=said
        )
    try:
        url = f"http://127.0.0.1:{port}"
        _wait_until_healthy(url, process, log)
        yield Server(url, home, process)
    finally:
        process.terminate()
        try:
            process.wait(timeout=LIMIT / 1000)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


@pytest.fixture(scope="session")
def server(server_log: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """One over an empty workspace, shared by all journeys."""
    with serving(tmp_path_factory.mktemp("home"), server_log) as started:
        yield started


@pytest.fixture
def own_server() -> Callable[..., Any]:
    """`with own_server(home, log, "--logger.level=debug", TMPDIR=…) as server`: one more, for a single journey."""
    return serving


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def _wait_until_healthy(url: str, process: subprocess.Popen[bytes], log: Path, seconds: float = LIMIT / 1000) -> None:
    ask = urllib.request.build_opener(urllib.request.ProxyHandler({})).open  # a proxy has no say on this machine
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline and process.poll() is None:
        try:
            with ask(f"{url}/_stcore/health", timeout=seconds) as answer:
                if answer.status == 200:
                    return
        except OSError:
            time.sleep(0.1)
    pytest.fail(f"the app did not start. It said:\n{log.read_text(errors='replace')[-4000:]}", pytrace=False)


# --- a page without a browser: the workspace that it opens -----------------------------------------------------------


@pytest.fixture(scope="session")
def samples(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A workspace with every sample table brought in, closed. Its copies open at once, each with an empty ledger."""
    from dpengine.storage.samples import SAMPLES
    from dpengine.workspace import Workspace

    base = tmp_path_factory.getbasetemp()
    folder = (base.parent if base.name.startswith("worker-") else base) / "samples"
    with open(f"{folder}.lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)  # the first worker makes it for all
        if not folder.exists():
            with closing(Workspace(base / "made" / "var")) as made:
                for name in SAMPLES:
                    made.table(name)
            made.folder.rename(folder)
    return folder


@contextmanager
def _at_home(samples: Path, folder: Path) -> Iterator[Workspace]:
    """Pages that are opened meanwhile open this workspace, for one visitor; AppTest has no cookies."""
    import dpengine as dp

    _cheaper_page_runs()
    shutil.copytree(samples, folder)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("ALLOWANCE_HOME", str(folder))
        patch.setattr("ui.shell.state.visitor", lambda: "local")
        patch.setattr("ui.parts.fields.WHEN_OPENED", False)
        yield dp.open_workspace(folder)


@pytest.fixture
def home(samples: Path, tmp_path: Path) -> Iterator[Workspace]:
    """The workspace of one test."""
    with _at_home(samples, tmp_path / "home" / "var") as opened:
        yield opened


@pytest.fixture(scope="module")
def shared(samples: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Workspace]:
    """The workspace of all tests of a file."""
    with _at_home(samples, tmp_path_factory.mktemp("shared") / "var") as opened:
        yield opened


# --- the visitors -----------------------------------------------------------------------------------------------------


_browser = ExitStack()  # open from the first journey to the first test that is none


@pytest.fixture(scope="session")
def browser() -> Any:
    chromium = shutil.which("chromium")
    if chromium is None:
        pytest.fail(f"a browser test cannot run: {NO_CHROMIUM}", pytrace=False)
    from playwright.sync_api import sync_playwright

    playwright = _browser.enter_context(sync_playwright())
    opened = playwright.chromium.launch(executable_path=chromium, args=CHROMIUM_FLAGS, timeout=LIMIT)
    _browser.callback(opened.close)
    made = opened.new_context

    def patient(**options: Any) -> Any:
        context = made(**options)
        context.set_default_timeout(LIMIT)
        return context

    opened.new_context = patient
    return opened


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    """Playwright keeps an event loop running, which asyncio in later tests would trip over. Journeys come first."""
    if not _is_journey(item):
        _browser.close()


@pytest.fixture
def open_page(browser: Any, server: Server, request: pytest.FixtureRequest) -> Iterator[Callable[..., Any]]:
    """`open_page(color_scheme="dark", ...)` is a page of a new visitor; options are those of Playwright's contexts.

    Afterwards: no page may have asked another host for anything, and a failed test leaves a picture of each.
    """
    from browser.steps import shot

    pages: list[Any] = []
    elsewhere: list[str] = []

    def note(asked: Any) -> None:
        if asked.frame.url.startswith(tuple(not_ours)):
            return
        parts = urlsplit(asked.url)
        if parts.scheme in {"http", "https", "ws", "wss"} and parts.hostname not in {"127.0.0.1", "localhost"}:
            elsewhere.append(asked.url)

    def open_one(**options: Any) -> Any:
        options = {"viewport": {"width": 1280, "height": 900}, "reduced_motion": "reduce", "locale": "en-GB"} | options
        context = browser.new_context(base_url=server.url, **options)
        context.on("request", note)
        page = context.new_page()
        pages.append(page)
        return page

    yield open_one
    outcome = request.node.stash.get(_outcome, None)
    for number, page in enumerate(pages):
        if outcome is not None and outcome.failed and not page.is_closed():
            shot(page, f"FAILED-{request.node.name}-{number}", always=True)
        page.context.close()
    assert not elsewhere, f"the page asked other hosts: {elsewhere}"


@pytest.fixture
def page(open_page: Callable[..., Any]) -> Any:
    """A new visitor at a desk."""
    return open_page()


@pytest.fixture
def phone(open_page: Callable[..., Any]) -> Any:
    """A new visitor with a phone."""
    return open_page(**PHONE)
