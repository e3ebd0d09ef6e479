import streamlit as st
st.write("data")
