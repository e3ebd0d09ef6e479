"""Start here: `streamlit run app.py`. The frame is ui/main.py, so no page can be opened around it."""

from starlette.middleware import Middleware
from streamlit.starlette import App

from ui import incoming, quiet, workshop
from ui.state import home
from ui.web import FrontDoor
from ui.words import Words

quiet.keep(home() / "tmp")
workshop.warm()
middleware = [Middleware(FrontDoor), Middleware(Words)]
app = App("ui/main.py", middleware=middleware, lifespan=incoming.here.serving(home() / "tmp"))
