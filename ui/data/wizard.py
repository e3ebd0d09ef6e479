"""Adding a table: one question to the person per screen, with what was said so far in sight.

What was said lives in a `Draft` in the session, so going back, or to another page and back, keeps it. A widget takes
its value from the draft when it appears and hands it back on every run. Work that takes seconds runs in a `Task`.
"""

from __future__ import annotations

import logging
import math
import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Mapping
from html import escape
from typing import Any

import streamlit as st

import dpengine as dp
from dpengine.core.printed import percent
from dpengine.messages import say
from dpengine.messages.language import carried
from dpengine.messages.numbers import local
from ui.data import draft as drafts
from ui.data.draft import STEPS, Draft
from ui.parts import fields, job
from ui.shell import frame, incoming, nav, scroll
from ui.shell.frame import paragraph
from ui.shell.incoming import here
from ui.shell.language import address
from ui.shell.state import NOBODY, choose_table, may, read_names_of, visitor, workspace
from ui.shell.style import sheet
from ui.words import gloss

Work = Callable[[Callable[[float], None]], Any]


class Task:
    """Work on a thread of its own. `share` goes from 0 to 1, then `result` or `error` is set. `size` is that of the
    file, in bytes."""

    def __init__(self, purpose: str, work: Work, stoppable: bool = True, size: int = 0) -> None:
        self.purpose = purpose
        self.stoppable = stoppable
        self.size = size
        self.share = 0.0
        self._began = time.monotonic()
        self._stopped = False
        self.result: Any = None
        self.error: dp.AllowanceError | None = None
        self._over = threading.Event()
        threading.Thread(target=self._run, args=(carried(work),), name=f"data-{purpose}", daemon=True).start()

    def _run(self, work: Work) -> None:
        try:
            self.result = work(self._tell)
        except dp.AllowanceError as refusal:
            self.error = refusal.with_traceback(None)  # its frames may hold cells
        except Exception as fault:  # its text may hold a cell: only its kind goes to the log
            logging.getLogger("allowance").error("%s a table failed: %s", self.purpose, type(fault).__name__)
            self.error = dp.AllowanceError("data.failed")
        finally:
            self._over.set()

    def _tell(self, share: float) -> None:
        if self._stopped:
            raise dp.AllowanceError("load.cancelled")  # the loader removes what it wrote
        self.share = min(max(share, self.share), 1.0)

    def stop(self) -> None:
        """Ask the work to end at its next step."""
        self._stopped = True

    def words(self) -> str:
        """A sentence: what is being done and, after a while, how much of it is done, how long the rest takes, and how
        fast it goes."""
        work, taken = say(f"data.task.{self.purpose}"), time.monotonic() - self._began
        if self.share < LEAST_SHARE or taken < PATIENCE:
            return work
        seconds = math.ceil(taken * (1 - self.share) / self.share)
        many, unit = (seconds, "seconds") if seconds < 100 else (math.ceil(seconds / 60), "minutes")
        rate = math.floor(self.size * self.share / taken / 10**6)
        left = say(f"data.task.{unit}", work=work, share=percent(self.share), many=many)
        return say("data.task.rate", left=left, rate=rate) if rate else left

    @property
    def over(self) -> bool:
        return self._over.is_set()

    def wait(self, seconds: float) -> bool:
        return self._over.wait(seconds)


_DRAFT, _COMPLAINED = "draft", "declare-complained"
PATIENCE = 0.5  # seconds a page waits for work before it shows a bar
LEAST_SHARE = 0.02  # from which on it tells how long the rest takes

# The screen that shows a complaint, by the start of its code. Others stay where they arose.
_SHOWN_ON = {
    "names": ("load.", "content.", "source.", "dialect."),
    "unit": ("unit.", "budget.other_terms", "facts.", "protect.", "relation."),
    "cards": ("schema.", "column.", "number.", "category.", "items.", "date."),
    "care": ("budget.", "table.", "joined."),
}


_left: OrderedDict[str, Draft] = OrderedDict()  # by visitor: a reload must not lose the answers
_MOST_LEFT = 200
DOT = "\u00a0· "  # between facts on a line: it never begins one


def current() -> Draft:
    if _DRAFT not in st.session_state:
        incoming.sweep(workspace().folder / "tmp")
        left = _left.get(visitor())
        _keep(left if left is not None and left.step != "done" else Draft())  # an added table has its own page
    draft: Draft = st.session_state[_DRAFT]
    if draft.path is not None and draft.task is None and incoming.is_deleted_upload(draft.path):
        draft.path, draft.complaint = None, dp.AllowanceError("upload.gone")
        draft.go("file")
    return draft


def _keep(draft: Draft) -> None:
    st.session_state[_DRAFT] = draft
    if visitor() != NOBODY:  # without a cookie all would share one
        _left[visitor()] = draft
        while len(_left) > _MOST_LEFT:
            _left.popitem(last=False)


def under_way() -> Draft | None:
    draft = st.session_state.get(_DRAFT) or _left.get(visitor())
    return draft if draft is not None and draft.begun and draft.step not in ("file", "done") else None


def let_go_if_done() -> None:
    """Drops a finished draft: a visitor who returns from another page adds another table."""
    draft = st.session_state.get(_DRAFT) or _left.get(visitor())
    if draft is not None and draft.step == "done":
        start_over()


def start_over() -> None:
    draft = current()
    here.forget(draft.path)
    if draft.second is not None:
        here.forget(draft.second.path)
    _keep(Draft(uploads=draft.uploads + 1))


def kept(key: str, value: Any) -> str:
    """The key of a widget. If the widget is new on the page, its value is first set from the draft."""
    if key not in st.session_state:
        st.session_state[key] = value
    return key


def show(screens: Mapping[str, Callable[[Draft], None]], take_source: Callable[..., None]) -> None:
    """Draw the screen of the draft's step. `take_source` stores the columns that a database declares."""
    add_style()
    read_names_of("")  # a new table's names are its owner's own
    if not may("add_table"):
        frame.hide_meter()
        paragraph(say("data.not_you"), "lead")
        return
    draft = current()
    _take_terms(draft)
    if draft.task is not None:
        _settle(draft, take_source)
    on_the_way = draft.step not in ("file", "done")
    top = st.container()
    if draft.step != "done":
        frame.hide_meter()  # the bar of an open table has nothing to do with a new one
    if draft.task is not None:
        if on_the_way:
            _so_far(draft)
        waiting(draft.task)
        return
    complained = draft.complaint is not None and _COMPLAINED in st.session_state
    screens[draft.step](draft)
    scroll.step(draft.step, scroll=not complained)
    if on_the_way:
        with top:  # on top, and drawn last: a click on this screen counts at once
            _so_far(draft)


def _take_terms(draft: Draft) -> None:
    """Put an allowance from a link, such as What-if's, into the draft, once. Values that no budget could have are
    dropped."""
    given = {name: st.query_params.get(name, "") for name in ("epsilon", "delta")}
    nav.forget(*given)
    try:
        dp.Budget(given["epsilon"], given["delta"])
    except dp.AllowanceError:
        return
    draft.epsilon, draft.delta = given["epsilon"], given["delta"]
    for name, text in given.items():  # if their fields are on the screen now
        st.session_state[fields.number_key(f"declare-{name}")] = local(text)


# --- what every screen has


def add_style() -> None:
    st.html(sheet("data/wizard"))


def heading(code: str, lead: bool = True, part: str = "lead", **facts: Any) -> None:
    below = f'<p class="lead">{gloss.text(say(f"{code}.{part}", **facts))}</p>' if lead else ""
    st.html(f'<h1 class="ask-heading" tabindex="-1">{escape(say(f"{code}.title", **facts))}</h1>{below}')


def complain(draft: Draft, sentence: str = "") -> None:
    """Draw the complaint, or this `sentence` in its place, right above the button; after a click, scroll to it."""
    if draft.complaint is None:
        return
    arrived = st.session_state.pop(_COMPLAINED, False)
    problem(sentence or str(draft.complaint), arrived)
    if arrived:
        scroll.show()


def reconsider(draft: Draft, check: Callable[[], Any], *codes: str) -> None:
    """Run `check` again if the complaint has one of these codes: the complaint goes, or the new one takes its place."""
    if isinstance(draft.complaint, dp.AllowanceError) and draft.complaint.code.startswith(codes):
        try:
            check()
            draft.complaint = None
        except dp.AllowanceError as complaint:
            draft.complaint = complaint


def problem(sentence: str, arrived: bool = False) -> None:
    frame.show_error("", sentence, arrived)


def onwards(
    draft: Draft,
    check: Callable[[], Any],
    label: str = "data.next",
    first: bool = True,
    before: Callable[[], None] | None = None,
    key: str = "",
    **facts: Any,
) -> bool:
    """Draw Back and Next, always in view. True if Next was pressed and `check` passed. With `first`, Next is the
    primary button; otherwise `before` may draw another one in front."""
    with st.container(horizontal=True, key="declare-buttons"):
        if draft.step != STEPS[0] and st.button(say("data.back"), key=f"declare-back-{draft.step}"):
            draft.back()
            st.rerun()
        if before is not None:
            before()
        kind = job.PRIMARY if first else job.SECONDARY
        pressed = st.button(say(label, **facts), key=key or f"declare-next-{draft.step}", type=kind)
    return pressed and tried(draft, check)


def forward(draft: Draft) -> None:
    """Go to the next screen, with no card open."""
    draft.opened = None
    draft.forth()
    st.rerun()


def tried(draft: Draft, check: Callable[[], Any]) -> bool:
    """Run `check` after a click. True if it raises no refusal; after one, the page runs again and shows the
    complaint."""
    draft.pressed = True
    try:
        check()
    except dp.AllowanceError as complaint:
        draft.complaint = complaint
        st.session_state[_COMPLAINED] = True
        st.rerun()
    draft.complaint = None
    return True


def _so_far(draft: Draft) -> None:
    """Draw what was said so far on one line, and a button that starts over."""
    # What the screen before has asked is still known.
    facts, apart = [draft.file], STEPS.index(draft.step) > STEPS.index("cards")
    if apart and draft.many == "one":
        facts.append(say("data.so_far.one"))
    elif apart and draft.many == "more" and draft.who is not None and draft.each is not None:
        facts.append(say("data.so_far.more", each=draft.each))
    if draft.relation == "replace" and draft.about and STEPS.index(draft.step) > STEPS.index("unit"):
        facts.append(say("data.so_far.replace", people=draft.about))
    if draft.relation == "add_remove" and draft.about and draft.step != "unit":
        facts.append(say("data.so_far.add_remove", people=draft.about))
    if draft.chosen and apart:
        facts.append(say("data.so_far.columns", columns=len(draft.chosen)))
    if draft.care and STEPS.index(draft.step) >= STEPS.index("care"):
        facts.append(say(f"data.care.{draft.care}"))
    step = STEPS.index(draft.step) - STEPS.index("names")  # most files skip the screen of names
    place = say("data.so_far.step", now=step) if step else ""
    with st.container(horizontal=True, vertical_alignment="center", key="declare-so-far"):
        beside = "".join(f"<span>{escape(DOT + fact)}</span>" for fact in facts[1:])  # a phone has no room for it
        st.html(f'<p class="so-far"><b>{escape(place)}</b> {escape(facts[0])}{beside}</p>')
        if draft.task is None and draft.step != "unit":  # from there it is one step back
            st.button(say("data.start_over"), key="declare-start-over", type="tertiary", on_click=start_over)


# --- work in the background


def adding(place: str) -> tuple[bool, dp.AllowanceError | None]:
    """Follow a task that adds a table (the session holds it under `place`): draw its progress, and open the table once
    it is added. Returns whether the task runs, and its error."""
    task: Task | None = st.session_state.get(place)
    if task is None:
        return False, None
    if not task.over:
        waiting(task)
    elif task.error is None:
        del st.session_state[place]
        choose_table(task.result.name)
        address({"table": task.result.name})
        st.rerun()
    return not task.over, task.error


def begin_adding(place: str, work: Work) -> None:
    """Start a task that adds a table, without a draft; `adding` follows it."""
    task = st.session_state[place] = Task("add", work)
    task.wait(PATIENCE)


def begin(draft: Draft, purpose: str, work: Work, stoppable: bool = True) -> None:
    """Start the work of a draft, once: a second click finds it running."""
    if draft.task is None:
        size = draft.path.stat().st_size if draft.path is not None and draft.path.is_file() else 0
        draft.task = Task(purpose, here.holding(draft.path, work), stoppable, size)
    draft.task.wait(PATIENCE)
    st.rerun()


@st.fragment(run_every=0.4)
def waiting(task: Task) -> None:
    if task.over:
        st.rerun()
    st.progress(task.share, text=task.words())
    if task.stoppable:
        st.button(say("data.task.stop"), key="declare-stop", on_click=task.stop)


def _settle(draft: Draft, take_source: Callable[..., None]) -> None:
    """When the work of a draft is over, go to the next screen, or to the screen that shows the complaint."""
    task: Task = draft.task
    if not task.over:
        return
    draft.task = None
    if task.error is not None:
        where = next((step for step, codes in _SHOWN_ON.items() if task.error.code.startswith(codes)), draft.step)
        draft.go(draft.step if task.purpose in ("connect", "beside") else where)
        draft.complaint, draft.pressed = task.error, True
        st.session_state[_COMPLAINED] = True
    elif task.purpose in ("connect", "beside"):
        take_source(draft, *task.result)
    elif task.purpose == "survey":
        draft.forth()
    else:
        table: dp.Table = task.result
        stays = draft.source is not None and draft.source.in_place
        there = "done" if draft.source is None else "stayed" if stays else "copied"
        draft.added = drafts.Added(table.name, table.joined, there)
        draft.path = None  # the work dropped the file
        draft.let_go_source()
        if draft.relation == "replace":
            draft.about = None  # an estimate for prices; the table has counted people now
        draft.go("done")
        choose_table(table.name)
        st.rerun()
