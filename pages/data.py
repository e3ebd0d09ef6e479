"""Data: bring a table, say what is public about it, and go on to Ask; or see and change what is declared of one."""

from __future__ import annotations

import streamlit as st

from ui.data import (
    declare,
    declare_buy,
    declare_cards,
    declare_care,
    declare_change,
    declare_file,
    declare_people,
    declare_source,
    declare_table,
)
from ui.workshop import workshop

workshop.refuse_data()
if st.query_params.get("change") and st.query_params.get("table") and not st.query_params.get("answer"):
    declare_change.show(declare_buy.unknown)
elif st.query_params.get("table"):
    declare_table.show()
else:
    declare.show(
        {
            "file": declare_file.choose,
            "names": declare_file.names,
            "unit": declare_people.rows,
            "cards": declare_cards.describe,
            "care": declare_care.budget,
            "done": declare_table.done,
        },
        declare_source.found,
    )
