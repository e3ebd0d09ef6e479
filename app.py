"""Start here: `streamlit run app.py`. The frame is ui/main.py, so no page can be opened around it."""

from starlette.middleware import Middleware
from streamlit.starlette import App

from ui.auth import setup
from ui.shell import incoming, log_privacy
from ui.shell.state import home
from ui.shell.web import FrontDoor
from ui.shell.widget_words import Words
from ui.workshop import workshop

log_privacy.keep(home() / "tmp")
workshop.warm()
middleware = [*setup.auth_middleware(), Middleware(FrontDoor), Middleware(Words)]
app = App("ui/main.py", middleware=middleware, lifespan=setup.finishing(incoming.here.serving(home() / "tmp")))
