"""Start here: `streamlit run app.py`. The frame is ui/main.py, so no page can be opened around it."""

from starlette.middleware import Middleware
from streamlit.starlette import App

from ui import quiet
from ui.state import home
from ui.web import FrontDoor

quiet.keep(home() / "tmp")
app = App("ui/main.py", middleware=[Middleware(FrontDoor)])
