"""The yardstick of the Start page: an app that imports pandas and plotly and shows one line."""

import pandas  # noqa: F401
import plotly.graph_objects  # noqa: F401
import streamlit as st

st.title("Empty")
