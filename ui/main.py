"""The frame: look, navigation, and the meter on every page before the page itself runs."""

import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
if str(ROOT) not in sys.path:  # Streamlit puts ui/ on the import path, the packages lie one above
    sys.path.insert(0, str(ROOT))

import streamlit as st  # noqa: E402

from ui import frame, nav, style  # noqa: E402
from ui.state import current_table  # noqa: E402

st.set_page_config(page_title="Allowance", page_icon=str(ROOT / "ui" / "icon.png"), layout="wide")
style.apply()
page = st.navigation(list(nav.pages().values()), position="top")
table = current_table()
frame.complain(st.session_state.pop("complaint", None))
frame.draw(table)
page.run()
