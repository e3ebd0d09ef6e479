"""The first two screens of adding a table: where the table is (a file, a database, a lake), and whether the columns
were found.

Column names and types come from a file's first line or from the database's catalogue, not from rows: both are public.
No cell shapes any screen.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, replace
from html import escape
from itertools import zip_longest
from pathlib import Path
from typing import Any

import streamlit as st

import dpengine as dp
from dpengine.declared.dialect import EITHER, ENCODINGS, MOST_NAME_ROWS, MOST_TITLES, Dialect, suggest
from dpengine.declared.source import spark_of, without_password
from dpengine.declared.spelling import normal
from dpengine.intake import foreign
from dpengine.intake.file_kinds import PACKED
from dpengine.intake.inspect import files_of, is_parquet, is_sheet, is_statistics, names_of, survey
from dpengine.intake.postgres import Described, SourceColumn
from dpengine.messages import plain, say
from dpengine.messages.language import current
from ui.data import presets
from ui.data.draft import MOST_SHOWN, NUMBERS, Draft, numbers_like, numbers_of
from ui.data.wizard import begin, complain, forward, heading, kept, onwards, problem, start_over
from ui.parts.fields import details
from ui.shell import incoming, person
from ui.shell.frame import hint, paragraph
from ui.shell.incoming import here
from ui.shell.state import may, workspace
from ui.words.markup import unmarked

_ADDRESS, _TABLE, _PASSWORD = "declare-source-address", "declare-source-table", "declare-source-password"
_IN_PLACE = "declare-source-in-place"
_SPARK, _WHAT, _STATE = "declare-lake-spark", "declare-lake-what", "declare-lake-state"
_ASKED_LAKE = "declare-lake-asked"  # was the last click in the form of lakes?


def choose_source(draft: Draft) -> None:
    if not may("describe_source"):
        return
    refused = isinstance(draft.complaint, dp.AllowanceError) and draft.complaint.code.startswith("source.")
    of_lake = bool(st.session_state.get(_ASKED_LAKE))
    if workspace().reads_databases:
        _form(draft, "source", {"address": _ADDRESS, "table": _TABLE}, _look, refused and not of_lake)
    if workspace().reads_lakes:
        keys = {"what": _WHAT, "spark": _SPARK, "state": _STATE}
        _form(draft, "lake", keys, _look_at_lake, refused and of_lake)
    _describe_asked(draft, "connect")


def _describe_asked(draft: Draft, task: str, *second: bool) -> None:
    """Start a task that asks the database or Spark about the table named in a form."""
    if draft.asked is not None:
        source, space = draft.asked, workspace()
        draft.asked = None
        begin(draft, task, lambda tell: (source, space.describe_source(source), *second))


def _form(draft: Draft, kind: str, keys: dict[str, str], go: Callable[[Draft], None], refused: bool) -> None:
    """Draw the form that says where the table is. A "source" is a database; a "lake" is Parquet files that Spark reads,
    or a table of Spark's catalogue. Nothing is sent before the button, and the click clears the password."""
    asked = refused or bool(st.session_state.get(next(iter(keys.values()))))
    with details(say(f"data.{kind}.title"), f"declare-{kind}-open", asked) as opened:
        if not opened:
            return
        paragraph(say(f"data.{kind}.how"))
        with st.form(f"declare-{kind}", border=False):
            for name, key in keys.items():
                st.text_input(say(f"data.{kind}.{name}"), key=key, placeholder=say(f"data.{kind}.{name}_like"))
            if kind == "source":
                st.text_input(say("data.source.password"), key=_PASSWORD, type="password", autocomplete="off")
                st.checkbox(say("data.source.in_place"), key=_IN_PLACE, help=say("data.source.in_place_help"))
            st.form_submit_button(say("data.source.go_on"), key=f"declare-{kind}-go", on_click=go, args=(draft,))
        if refused:
            complain(draft)


def _look_at_lake(draft: Draft) -> None:
    state = st.session_state
    draft.complaint = draft.asked = None
    state[_ASKED_LAKE] = True
    what, spark = str(state[_WHAT]).strip(), str(state[_SPARK]).strip() or "spark"
    try:
        if not spark_of(spark):
            raise dp.AllowanceError("source.spark")
        path, table = (what, "") if "/" in what else ("", what)
        draft.asked = dp.Source(spark, table, path=path, snapshot=str(state[_STATE]))
    except dp.AllowanceError as complaint:
        draft.complaint = complaint


def _look(draft: Draft) -> None:
    """Read the form and clear the password field before the page runs again."""
    state = st.session_state
    draft.complaint = draft.asked = None
    state[_ASKED_LAKE] = False
    try:
        secret, stays = state[_PASSWORD], state[_IN_PLACE]
        draft.asked = dp.Source(state[_ADDRESS], state[_TABLE], password=secret, in_place=stays)
        state[_ADDRESS] = draft.asked.shown  # drops a password typed into the address
    except dp.AllowanceError as complaint:
        draft.complaint = complaint
        state[_ADDRESS] = without_password(state[_ADDRESS])
    state[_PASSWORD] = ""


def take_described(draft: Draft, source: dp.Source, described: Described, second: bool = False) -> None:
    """Store the columns that the database declares, and go to the next screen; with `second`, store those of a second
    table."""
    if second:
        names = tuple(column.name for column in described.columns)
        who, seen = _likely_id(draft, names), source.described(described.seen)
        draft.second = Second(None, source.table[:MOST_SHOWN], draft.dialect, names, who, True, seen, described.columns)
        return
    let_go_second(draft)
    here.forget(draft.path)
    draft.path, draft.source = None, source.described(described.seen)
    draft.file = source.table[:MOST_SHOWN]
    draft.types = {column.name: column for column in described.columns}
    draft.names, draft.own, draft.earlier = list(draft.types), list(draft.types), list(described.earlier)
    draft.dialect, draft.bad_records, draft.name, draft.cards = Dialect(), "refuse", "", {}
    draft.go("names")


def source_names(draft: Draft) -> None:
    heading("data.names", file=draft.file)
    with st.container(key="card-names"):
        kinds = [f"{escape(name)} <small>{escape(column.kind)}</small>" for name, column in draft.types.items()]
        items = "".join(f"<li>{kind}</li>" for kind in kinds)
        st.html(f'<p class="muted">{escape(say("data.source.names"))}</p><ul class="names">{items}</ul>')
        stays = draft.source is not None and draft.source.in_place
        paragraph(say("data.source.stays" if stays else "data.source.read_over"), "")
        if draft.earlier:
            paragraph(say("data.source.earlier", tables=plain(draft.earlier)), "")
            key = kept("declare-new-people", draft.new_people)
            help_text = say("data.source.new_people_help")
            draft.new_people = st.checkbox(say("data.source.new_people"), key=key, help=help_text)
        complain(draft)
    if onwards(draft, lambda: None, "data.names.next"):
        forward(draft)


# --- which file?

_SEPARATORS = {",": "comma", ";": "semicolon", "\t": "tab", "|": "bar"}
_QUOTES = {'"': "double", "'": "single", "": "none"}
# Faults of single lines, which can be read as empty; and faults that line breaks inside cells would explain.
_MENDABLE = ("load.ragged", "load.quoting", "load.encoding", "load.line_end", "load.long_line")
_BROKEN = ("load.quoting", "load.header_quoting")
_LEGACY = ("windows-1252", "windows-1250", "iso-8859-1")
SURELY = 3  # columns: a wrong separator does not find that many
LISTED = 6  # names of columns shown where there are many
MOST_SPELLED = 3  # names shown in each spelling, so that a person sees which is right
_REGIONAL = {"sl": "windows-1250"}  # what old programs wrote where a language is spoken; elsewhere Windows-1252
_LETTERS = {"sl": "čšžćđ"}  # of the language and its neighbours: a wrong encoding hardly ever yields only these


def choose_file(draft: Draft) -> None:
    heading("data.file")
    with st.container(key="card-upload"):
        given = here.picker(say("data.file.label"), key=f"declare-file-{draft.uploads}")
        paragraph(say("data.file.kept"))
        if given is not None:
            _take(draft, given)
        _on_server(draft)
        choose_source(draft)
        if not (draft.complaint and draft.complaint.code.startswith("source.")):  # shown beside its form
            complain(draft)
        if draft.begun:
            paragraph(say("data.file.ready", file=draft.file), "")
            with st.container(horizontal=True):
                if st.button(say("data.file.go_on"), key="declare-go-on", type="primary"):
                    draft.go("names")
                    st.rerun()
                st.button(say("data.start_over"), key="declare-start-over", type="tertiary", on_click=start_over)


def _on_server(draft: Draft) -> None:
    """Draw a picker of files in the workspace's files/ folder: they are too large to upload."""
    place = workspace().folder / "files"
    paths = incoming.waiting(place)
    most = int(st.get_option("server.maxUploadSize"))
    with details(say("data.file.large_title", most=most), "declare-large-open") as opened:
        if not opened:
            return
        if person.served():  # only the operator may know the full path
            paragraph(say("data.file.large_served", folder="/".join(place.parts[-3:])))
        else:
            paragraph(say("data.file.large_how", folder=str(place)))
        if not paths:
            return
        names = [path.name for path in paths]
        picked = st.selectbox(say("data.file.large_pick"), names, index=None, key=f"declare-large-{draft.uploads}")
        if picked is not None:
            path = paths[names.index(picked)]
            if path.suffix.lower().lstrip(".") in PACKED:  # unpacked once, beside uploads
                try:
                    path = incoming.opened(path, workspace().folder / "tmp")
                except dp.AllowanceError as complaint:
                    draft.complaint, draft.uploads = complaint, draft.uploads + 1
                    st.rerun()
            _open(draft, path, picked)


def _take(draft: Draft, given: Any) -> None:
    """Keep the upload on the server and read its first line. What was said about an earlier file stays."""
    draft.uploads += 1  # a fresh uploader, so that the server lets go of its copy
    folder = workspace().folder / "tmp"
    try:
        path = here.take(given, folder, int(st.get_option("server.maxUploadSize")) * 2**20)
    except dp.AllowanceError as complaint:
        draft.complaint = complaint
        st.rerun()
    _open(draft, path, str(given.name))


def _open(draft: Draft, path: Path, name: str) -> None:
    try:
        dialect = Dialect(thousands=",") if is_typed(path) else guess(files_of(path)[0])
        if is_sheet(path):
            foreign.sheet_list(files_of(path)[0])
        book = foreign.describe(files_of(path)[0], dialect).book if is_statistics(path) else {}
        dialect = replace(dialect, labels=any(column.label for column in book.values()))
    except dp.AllowanceError as complaint:
        here.forget(path)
        draft.complaint, draft.uploads = complaint, draft.uploads + 1
        st.rerun()
    here.forget(draft.path)
    draft.let_go_source()
    draft.uploads += 1
    draft.like, draft.differs = "", None
    let_go_second(draft)
    shown = "".join(sign for sign in name if sign.isprintable()).strip()
    draft.path, draft.file = path, shown[-MOST_SHOWN:] or say("data.file.unnamed")
    draft.dialect, draft.bad_records, draft.name = dialect, "refuse", ""
    if draft.book or book:
        draft.cards = {}
    draft.book = {}
    draft.spelled = dialect.encoding == _REGIONAL.get(current())
    draft.go("names")
    if _plain(draft):
        _survey(draft)
    st.rerun()


def _plain(draft: Draft) -> bool:
    """Is it clear how to read the file? Then the screen of names is skipped, and stays one step back."""
    assert draft.path is not None
    try:
        names = names_of(draft.path, draft.dialect)
        one_sheet = not is_sheet(draft.path) or len(foreign.sheet_list(files_of(draft.path)[0])) == 1
    except dp.AllowanceError:
        return False
    if len(names) < SURELY or not (one_sheet if is_typed(draft.path) else _spelled_surely(draft, names)):
        return False
    _take_names(draft, names)
    return not draft.dialect.labels  # whether labels are the names is agreed on that screen


def _take_names(draft: Draft, names: list[str]) -> None:
    """Store the column names, and what a statistics file says about its columns."""
    assert draft.path is not None
    if is_statistics(draft.path):
        book = foreign.describe(files_of(draft.path)[0], draft.dialect).book
        if book != draft.book:
            draft.cards, draft.book = {}, book
    draft.names, draft.own = names, list(names)


def _spelled_surely(draft: Draft, names: list[str]) -> bool:
    """Are the letters of the names clear? They are if the file declares its encoding, if all legacy encodings agree, or
    if the letters in doubt belong to the reader's language."""
    if draft.dialect.encoding in ("utf-8", *EITHER):
        return True
    others = _readings(draft)
    text = "\n".join(names).lower()  # a letter in one encoding may be a space in another, and be cut off
    pairs = [pair for other in others.values() for pair in zip_longest(text, "\n".join(other).lower(), fillvalue="")]
    apart = {sign for sign, read in pairs if sign != read}
    return len(others) < 2 or (draft.spelled and apart <= {*_LETTERS.get(current(), "")})


def _survey(draft: Draft) -> None:
    draft.opened = None
    path, dialect, bad_records = draft.path, draft.dialect, draft.bad_records
    assert path is not None
    begin(draft, "survey", lambda tell: survey(path, dialect, bad_records, tell))


def guess(path: Any) -> Dialect:
    """A guess of the file's dialect from its first line. Refuses an unreadable file; a wrong guess can be corrected on
    the page."""
    found = suggest(path, _regional())
    return replace(found, thousands="." if found.decimal == "," else ",")


def _regional() -> str:
    return _REGIONAL.get(current(), "windows-1252")


# --- are these the columns?


def file_names(draft: Draft) -> None:
    if draft.source is not None:
        source_names(draft)
        return
    assert draft.path is not None
    heading("data.names", file=draft.file)
    fault: dp.AllowanceError | None = None
    try:
        _take_names(draft, names_of(draft.path, draft.dialect))
    except dp.AllowanceError as complaint:
        fault, draft.names = complaint, []
    with st.container(key="card-names"):
        if draft.names:
            _listed(draft)
        if is_sheet(draft.path):
            _sheet(draft)
            _titles(draft, fault)
        if any(column.label for column in draft.book.values()):
            _labels(draft)
        unsaid = not is_typed(draft.path) and _spellings(draft) and not draft.spelled
        if not is_parquet(draft.path) and not is_statistics(draft.path):
            with st.expander(say("data.names.wrong"), expanded=fault is not None or draft.complaint is not None):
                if draft.names:
                    _numbers(draft)
                if not is_typed(draft.path):
                    _dialect(draft)
        if fault is not None:
            problem(str(fault))
        else:
            complain(draft)
        _mend(draft, fault or draft.complaint)

    def check() -> None:
        if fault is not None:
            raise fault
        if unsaid:
            raise dp.AllowanceError("data.names.spelled_first")

    again, draft.again = draft.again and fault is None, False
    if onwards(draft, check, "data.names.next") or again:
        _survey(draft)


def is_typed(path: Path) -> bool:
    """Is the file in a format with cell types, not lines of text?"""
    return is_parquet(path) or is_sheet(path) or is_statistics(path)


_TITLED = (
    "load.no_names",
    "load.name_blank",
    "load.name_twice",
    "load.names_row_empty",
    "load.sheet_ragged",
    "load.empty",
)


def _titles(draft: Draft, fault: dp.AllowanceError | None) -> None:
    """Draw the question which rows of the sheet hold the names. Rows above hold titles; names may take several rows."""
    below = draft.dialect.names_row > 1 or draft.dialect.names_rows > 1
    refused = fault or draft.complaint
    doubted = refused is not None and refused.code in _TITLED
    with st.expander(say("data.names.titles"), expanded=below or doubted):
        paragraph(say("data.names.titles_how"))
        left, right = st.columns(2)
        parts = {"names_row": (left, MOST_TITLES), "names_rows": (right, MOST_NAME_ROWS)}
        for part, (where, most) in parts.items():
            key = kept(f"declare-{part}", getattr(draft.dialect, part))
            more: dict[str, Any] = {"on_change": _picked, "args": (draft, part)}
            where.number_input(say(f"data.names.{part}"), 1, most, step=1, key=key, **more)


def _labels(draft: Draft) -> None:
    """Draw the choice whether columns are called by their labels. Names and labels are both the file's own words."""
    key = kept("declare-labels", draft.dialect.labels)
    st.toggle(say("data.names.labels"), key=key, on_change=_picked, args=(draft, "labels"))
    coded = sum(1 for column in draft.book.values() if column.values or column.missing)
    if coded:
        paragraph(say("data.names.coded", many=coded))
    if any(column.ranges for column in draft.book.values()):
        paragraph(say("data.names.ranges"))


def _sheet(draft: Draft) -> None:
    """Draw a picker of the sheet, if there are several. The names of sheets are as public as column names."""
    assert draft.path is not None
    try:
        names = foreign.sheet_list(files_of(draft.path)[0])
    except dp.AllowanceError:
        return  # shown with the names
    paragraph(say("data.names.formulas"))
    if len(names) > 1:
        now = draft.dialect.sheet if draft.dialect.sheet in names else names[0]
        key = kept("declare-sheet", now)
        st.selectbox(say("data.names.sheet"), names, key=key, on_change=_picked, args=(draft, "sheet"), width=420)


def _listed(draft: Draft) -> None:
    sure, text = len(draft.names) >= SURELY, draft.path is not None and not is_typed(draft.path)
    shown = draft.names[:LISTED] if sure and len(draft.names) > LISTED + 1 else draft.names
    items = "".join(f"<li>{escape(name)}</li>" for name in shown)
    if rest := len(draft.names) - len(shown):  # the screen of columns shows them all
        items += f"<li>{escape(say('data.names.rest', many=rest))}</li>"
    summary = say("data.names.one") if len(draft.names) == 1 else say("data.names.many", columns=len(draft.names))
    if sure and text:  # the details can be changed below
        example = numbers_like(_shown_number(draft))
        summary = say("data.names.sure", columns=len(draft.names), example=example)
    elif text:
        separator = say(f"data.separator.{_SEPARATORS[draft.dialect.separator]}")
        encoding, example = say(f"data.encoding.{draft.dialect.encoding}"), numbers_like(_shown_number(draft))
        summary += " " + say("data.names.how", separator=separator, encoding=encoding, example=example)
    else:
        summary = summary.rstrip(",") + "."
    st.html(f'<p class="muted">{escape(summary)}</p><ul class="names">{items}</ul>')


def _spellings(draft: Draft) -> bool:
    """Draw the names as each legacy encoding spells them, to pick one. False if all spell them alike, or if the file
    declares its encoding."""
    if draft.names and draft.dialect.encoding not in _LEGACY:
        return False
    spelled = _readings(draft)
    if len(spelled) < 2:
        return False
    read = _differing(spelled)
    now = draft.dialect.encoding if draft.spelled and draft.dialect.encoding in read else None
    label, key = say("data.names.spelled"), kept("declare-spelled", now)
    st.radio(label, list(read), None, lambda encoding: unmarked(read[encoding]), key, on_change=_spelled, args=(draft,))
    return True


def _readings(draft: Draft) -> dict[str, list[str]]:
    """By encoding, the names in the file; of encodings that spell the names alike, only the one in use."""
    assert draft.path is not None
    spelled: dict[str, list[str]] = {}
    for encoding in _LEGACY:
        try:
            read = names_of(draft.path, replace(draft.dialect, encoding=encoding))
        except dp.AllowanceError:
            continue
        if not all(name.isprintable() for name in read):
            continue
        if read not in spelled.values() or encoding == draft.dialect.encoding:
            spelled = {other: names for other, names in spelled.items() if names != read} | {encoding: read}
    return spelled


def _differing(spelled: dict[str, list[str]]) -> dict[str, str]:
    """By encoding, a few names that the encodings spell differently, as text."""
    places = [at for at, each in enumerate(zip(*spelled.values(), strict=False)) if len({*each}) > 1]
    for most in range(min(MOST_SPELLED, len(places)), len(places) + 1):
        read = {encoding: plain([names[at] for at in places[:most]]) for encoding, names in spelled.items()}
        if len({*read.values()}) == len(read):
            return read
    return {encoding: plain(names) for encoding, names in spelled.items()}


def _spelled(draft: Draft) -> None:
    st.session_state["declare-encoding"] = st.session_state["declare-spelled"]
    draft.spelled = True
    _changed(draft, encoding=st.session_state["declare-spelled"])


def _numbers(draft: Draft) -> None:
    """Draw one choice of the decimal and the thousands sign."""
    label, key = say("data.names.numbers"), kept("declare-numbers", numbers_of(draft.dialect))
    more: dict[str, Any] = {"horizontal": True, "help": say("data.names.numbers_help")}
    picked = st.radio(label, list(NUMBERS), 0, lambda example: unmarked(numbers_like(example)), key, **more)
    decimal, thousands = NUMBERS[str(picked)]
    draft.dialect = replace(draft.dialect, decimal=decimal, thousands=thousands)


def _shown_number(draft: Draft) -> str:
    """The example of numbers in the field below, which is drawn later."""
    return str(st.session_state.get("declare-numbers") or numbers_of(draft.dialect))


def _dialect(draft: Draft) -> None:
    now = draft.dialect
    parts = {"separator": _SEPARATORS, "encoding": dict(zip(ENCODINGS, ENCODINGS, strict=True)), "quote": _QUOTES}
    for where, (part, names) in zip(st.columns(3), parts.items(), strict=True):
        options = {option: say(f"data.{part}.{name}") for option, name in names.items()}
        label, key = say(f"data.names.{part}"), kept(f"declare-{part}", getattr(now, part))
        where.selectbox(label, options, 0, options.__getitem__, key, on_change=_picked, args=(draft, part))
    label, key = say("data.names.line_breaks"), kept("declare-line_breaks", now.line_breaks)
    note = say("data.names.line_breaks_help")
    st.toggle(label, key=key, help=note, on_change=_picked, args=(draft, "line_breaks"))


def _picked(draft: Draft, part: str) -> None:
    st.session_state.pop("declare-spelled", None)
    draft.spelled = draft.spelled or part == "encoding"
    _changed(draft, **{part: st.session_state[f"declare-{part}"]})


def _changed(draft: Draft, **parts: Any) -> None:
    draft.dialect = replace(draft.dialect, **parts)
    draft.complaint, draft.pressed = None, False


def _mend(draft: Draft, complaint: dp.AllowanceError | None) -> None:
    """Draw repairs of one click. Lines that are read as empty stay rows, so the number of people does not change."""
    if draft.bad_records == "empty":
        paragraph(say("data.names.as_empty"))
    code = "" if complaint is None else complaint.code
    with st.container(horizontal=True):
        if code in _BROKEN and not draft.dialect.line_breaks:
            label, given = say("data.names.has_breaks"), (draft, "line_breaks", True)
            st.button(label, key="declare-breaks", on_click=_mended, args=given)
        if code == "load.encoding" and draft.dialect.encoding == "utf-8":
            label = say("data.names.read_either", encoding=say(f"data.encoding.{_regional()}"))
            either = draft, "encoding", f"utf-8 or {_regional()}"
            st.button(label, key="declare-either", on_click=_mended, args=either)
        elif code in _MENDABLE and draft.bad_records != "empty":
            st.button(say("data.names.read_empty"), key="declare-empty", on_click=_empty, args=(draft,))


def _mended(draft: Draft, part: str, value: str | bool) -> None:
    st.session_state[f"declare-{part}"] = value
    _changed(draft, **{part: value})
    draft.again = True


def _empty(draft: Draft) -> None:
    draft.bad_records, draft.complaint, draft.pressed, draft.again = "empty", None, False, True


# --- a second file about the same people: its columns stand beside the rows of the first, joined by the id. Only the
# names of both files are read and shown; no cell is.


@dataclass(frozen=True)
class Second:
    """The second file, and how it is joined."""

    path: Path | None
    file: str
    dialect: Dialect
    names: tuple[str, ...]
    who: str | None = None
    everybody: bool = True
    source: dp.Source | None = None  # a table of the same database, in place of a file …
    columns: tuple[SourceColumn, ...] = ()  # … as the database declares it


def offer_second(draft: Draft) -> None:
    """Draw, below the column that says who, a picker of a second file, the choice of its id column, and in words what
    is joined."""
    if not draft.begun or draft.who is None:
        return
    title = say("data.join.title" if draft.source is None else "data.join.title_table")
    with st.expander(title, expanded=draft.second is not None or second_refused(draft)):
        paragraph(say("data.join.lead"))
        if draft.second is None and draft.source is not None:
            with st.form("declare-beside", border=False):
                like = say("data.source.table_like")
                st.text_input(say("data.join.table"), key="declare-beside-name", placeholder=like)
                label, given = say("data.source.go_on"), (draft,)
                st.form_submit_button(label, key="declare-beside-go", on_click=_beside, args=given)
            _describe_asked(draft, "beside", True)
            if second_refused(draft):
                complain(draft)
        elif draft.second is None:
            given = here.picker(say("data.join.file"), key=f"declare-second-{draft.uploads}")
            if given is not None:
                _take_second(draft, given)
        else:
            _agree_second(draft, draft.second)
        if (refused := st.session_state.pop("declare-second-refused", "")) != "":
            problem(str(refused))
    names = list(draft.own)
    if draft.second is not None and draft.second.who is not None:
        with suppress(dp.AllowanceError):
            names = joined(draft).names(draft.own, draft.second.names)
            others = [column for column in draft.second.columns if column.name != draft.second.who]
            draft.types |= dict(zip(names[len(draft.own) :], others, strict=False))
    draft.names = names


def second_refused(draft: Draft) -> bool:
    """Was a second table refused? Then the reason stands beside its name."""
    refused = isinstance(draft.complaint, dp.AllowanceError) and draft.complaint.code.startswith("source.")
    return refused and draft.source is not None and draft.second is None and draft.who is not None


def _beside(draft: Draft) -> None:
    draft.complaint = draft.asked = None
    try:
        assert draft.source is not None
        draft.asked = draft.source.beside(str(st.session_state["declare-beside-name"]))
    except dp.AllowanceError as refusal:
        st.session_state["declare-second-refused"] = str(refusal)


def _take_second(draft: Draft, given: Any) -> None:
    draft.uploads += 1
    path = None
    try:
        path = here.take(given, workspace().folder / "tmp", int(st.get_option("server.maxUploadSize")) * 2**20)
        own = Dialect() if is_typed(path) else guess(files_of(path)[0])
        own = replace(own, decimal=draft.dialect.decimal, thousands=draft.dialect.thousands)
        names = tuple(names_of(path, own))
        shown = "".join(sign for sign in str(given.name) if sign.isprintable()).strip()
        draft.second = Second(path, shown[-MOST_SHOWN:], own, names, _likely_id(draft, names))
    except dp.AllowanceError as refusal:
        here.forget(path)
        st.session_state["declare-second-refused"] = str(refusal)
    st.rerun()


def _likely_id(draft: Draft, names: tuple[str, ...]) -> str | None:
    """The id column of a second file: the column of the same name, else the only one that surely identifies people;
    None without either."""
    alike = (name for name in names if normal(name) == normal(draft.who or ""))
    return next(alike, None) or presets.sure_id_column(names)


def _agree_second(draft: Draft, second: Second) -> None:
    key = kept("declare-second-who", second.who)
    more: dict[str, Any] = {"placeholder": say("data.unit.who_none"), "help": say("data.unit.who_help")}
    who = st.selectbox(say("data.join.who", file=second.file), second.names, None, key=key, width=420, **more)
    key = kept("declare-second-everybody", second.everybody)
    everybody = st.checkbox(say("data.join.everybody", events=draft.file), key=key)
    draft.second = replace(second, who=who, everybody=everybody)
    if who is not None and (likely := _likely_id(draft, second.names)) not in (None, who):
        hint(say("data.join.unlikely", id=who, likely=likely))
    if who is not None:
        columns = [name for name in second.names if name != who]
        facts = {"events": draft.file, "people": second.file, "who": draft.who, "id": who}
        paragraph(say("data.join.words", **facts), "read", role="status")
        items = "".join(f"<li>{escape(name)}</li>" for name in columns)
        st.html(f'<ul class="names">{items}</ul>')
    label = say("data.join.remove", people=second.file)
    st.button(label, key="declare-second-remove", on_click=let_go_second, args=(draft,))


def let_go_second(draft: Draft) -> None:
    """Go on without the second file."""
    if draft.second is not None:
        here.forget(draft.second.path)
    draft.second, draft.add_up = None, False
    draft.names = list(draft.own) or draft.names
    for key in ("second-who", "second-everybody", "add-up"):
        st.session_state.pop(f"declare-{key}", None)


def joined(draft: Draft) -> dp.Joined:
    """The two sources as one, to be added; refuses if the id column of either is not agreed on."""
    second = draft.second
    assert second is not None
    if second.who is None or draft.who is None:
        raise dp.AllowanceError("joined.on")
    on = draft.who, second.who
    own = replace(second.dialect, decimal=draft.dialect.decimal, thousands=draft.dialect.thousands)
    first, other = draft.source or draft.path, second.source or second.path
    assert first is not None and other is not None
    return dp.Joined(first, other, on, draft.dialect, own, second.everybody)
