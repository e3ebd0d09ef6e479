"""A field for a number: it shows and takes what the reader's language writes, and is kept as an address holds it."""

from __future__ import annotations

from typing import Any

import streamlit as st

from dpengine.core.errors import AllowanceError
from dpengine.core.exact import as_typed, read_number
from dpengine.messages.language import STORED, current
from dpengine.messages.numbers import local


def key_of(key: str) -> str:
    """Of a field in this language: in another one the same number is written anew."""
    return key if current() == STORED else f"{key}-{current()}"


def field(label: str, text: str, key: str, where: Any = st, unit: str = "", **options: Any) -> str:
    """What stands in it, as an address holds it; what cannot be read is left for the engine to refuse."""
    typed = where.text_input(label, local(text), key=key_of(key), **options)
    return _kept(text, as_typed(str(typed or ""), unit))


def _kept(text: str, found: str) -> str:
    """An address is left as it is, 1e-8, while it says the same number."""
    try:
        return text if read_number(text, "") == read_number(found, "") else found
    except AllowanceError:
        return found


def kept(label: str, text: str, key: str, where: Any = st, **options: Any) -> str:
    """The same where callbacks set what stands in it: they write `local` texts under `key_of` its key."""
    st.session_state.setdefault(key_of(key), local(text))
    return as_typed(str(where.text_input(label, key=key_of(key), **options) or ""))


def fields(label: str, texts: list[str], key: str, unit: str = "", **options: Any) -> list[str]:
    """Several in one field, with a semicolon between them; a comma and a space will do where there is none."""
    typed = str(st.text_input(label, "; ".join(map(local, texts)), key=key_of(key), **options) or "")
    parts = typed.split(";" if ";" in typed else ", ")
    return [as_typed(part, unit) for part in parts if part.strip()]
