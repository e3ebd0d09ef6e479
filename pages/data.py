"""Data: bring a table, say what is public about it, and go on to Ask; or see and change what is declared of one."""

from __future__ import annotations

import streamlit as st

from ui.data import change, columns, offers, people, source, table_page, wizard
from ui.workshop import workshop

workshop.refuse_data()
if st.query_params.get("change") and st.query_params.get("table") and not st.query_params.get("answer"):
    change.show(offers.unknown_columns)
elif st.query_params.get("table"):
    table_page.show()
else:
    screens = {"file": source.choose_file, "names": source.file_names, "unit": people.rows}
    screens |= {"cards": columns.describe, "care": people.budget, "done": table_page.done}
    wizard.show(screens, source.take_described)
