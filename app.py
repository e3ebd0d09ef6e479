"""Start here: `streamlit run app.py`. The frame is ui/main.py, so no page can be opened around it."""

import sys
from pathlib import Path

from starlette.middleware import Middleware
from streamlit.starlette import App

from ui.auth import setup
from ui.shell import incoming, log_privacy
from ui.shell.state import home
from ui.shell.web import FrontDoor
from ui.shell.widget_words import Words
from ui.workshop import workshop

# Otherwise Streamlit adds the folder of ui/main.py for the time of each run. What another thread imports while it is
# taken out again may not be found: the search goes by position in this list.
sys.path.append(str(Path(__file__).resolve().parent / "ui"))
log_privacy.keep(home() / "tmp")
workshop.warm()
middleware = [*setup.auth_middleware(), Middleware(FrontDoor), Middleware(Words)]
app = App("ui/main.py", middleware=middleware, lifespan=setup.finishing(incoming.here.serving(home() / "tmp")))
