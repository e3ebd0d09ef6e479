"""The yardstick of the Start page: an app that imports pandas and altair and shows one line."""

import altair  # noqa: F401
import pandas  # noqa: F401
import streamlit as st

st.title("Empty")
