"""Start here: `streamlit run app.py`. The frame is ui/main.py, so no page can be opened around it."""

from starlette.middleware import Middleware
from streamlit.starlette import App

from ui.web import FrontDoor

app = App("ui/main.py", middleware=[Middleware(FrontDoor)])
