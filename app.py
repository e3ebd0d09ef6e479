"""Start here: `streamlit run app.py`. The frame is ui/main.py, so no page can be opened around it.

This file imports little, so that a browser soon gets an answer. While it loads the page, a thread imports the rest and
opens the workspace; pages wait for that thread (ui/first_screen.py). At the very first start, the page Start is shown
before that thread begins.
"""

import gc
import sys
from pathlib import Path

from starlette.middleware import Middleware
from streamlit.starlette import App

from dpengine.core import places
from ui import first_screen
from ui.auth import setup
from ui.shell import incoming, log_privacy, state
from ui.shell.web import FrontDoor
from ui.shell.widget_words import Words

gc.disable()  # until everything is imported: nothing is garbage before
# Otherwise Streamlit adds the folder of ui/main.py for the time of each run. What another thread imports while it is
# taken out again may not be found: the search goes by position in this list.
sys.path.append(str(Path(__file__).resolve().parent / "ui"))
log_privacy.keep(places.home() / "tmp")
middleware = [*setup.auth_middleware(), Middleware(FrontDoor), Middleware(Words)]
app = App("ui/main.py", middleware=middleware, lifespan=setup.finishing(incoming.here.serving(places.home() / "tmp")))
if not state.is_untouched():
    first_screen.begin()
