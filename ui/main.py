"""The frame of every page: style, navigation and the meter, before the page itself runs."""

import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
if str(ROOT) not in sys.path:  # Streamlit puts ui/ on the import path, the packages are one level up
    sys.path.insert(0, str(ROOT))

from ui import first_screen  # noqa: E402

first_screen.wait_if_begun()

import streamlit as st  # noqa: E402

import dpengine as dp  # noqa: E402
from ui.shell import (  # noqa: E402
    frame,
    incoming,
    language,
    nav,
    person,
    scroll,
    style,
    tour,
    widget_words,
)
from ui.shell.state import FIRST_TABLE, current_table, is_fresh, is_untouched, open_table, opened, steady  # noqa: E402
from ui.shell.web import visitor_of  # noqa: E402
from ui.workshop import workshop  # noqa: E402

began = time.perf_counter()
st.set_page_config(page_title="Allowance", page_icon=str(ROOT / "ui" / "icon.png"), layout="wide")
language.settle()
tour.settle()
first = "pages" not in st.session_state
page = st.navigation(list(nav.pages().values()), position="hidden")  # the head links to them
style.apply(widget_words.rules(lessons=page.url_path == "lessons"))
newcomer = first and page.url_path == "" and is_untouched()  # sees Start before the engine is imported
if not newcomer:
    first_screen.finish()
try:
    if not newcomer:
        from ui.parts import job

        job.look_up()
    # Start always asks about Town. To load it takes as long as all the rest, so the first screen does without.
    own = None if page.url_path == "" and is_fresh() else current_table()
    table = open_table(FIRST_TABLE) if page.url_path == "" and own is not None else own
except dp.AllowanceError as error:  # the workspace itself has changed or is damaged: see docs/operating.md
    frame.show_refusal(str(error))
    st.stop()
frame.show_refusal(st.session_state.pop("complaint", None))
name = page.url_path or nav.START
shown = FIRST_TABLE if table is None else table.name
scroll.at_address(name)
if name != "data" and not newcomer:
    from ui.data import wizard

    wizard.let_go_if_done()
nav.head(name, FIRST_TABLE if own is None else own.name)
with st.container(key="head", horizontal=True, width="content"):
    tour.show_about(name)
    language.pick(at_once=name == nav.START)  # its first visitor would wait for the engine
    if person.served():
        from ui.people import names

        names.show()
nav.inside(name, shown)
workshop.banner()
frame.draw(table, name)
with st.container():  # keeps the elements below in place
    tour.show(name, shown)
    st.html('<span class="sr" id="here" tabindex="-1"></span>')  # where the link that skips to the content leads
try:
    with (
        frame.guarded(page.title),
        incoming.here.run(person.person() or visitor_of(st.context.cookies)),
        steady(),
        language.kept(),
        opened(own),
    ):
        page.run()
finally:
    frame.finish(table, began, first_screen.finish)
