"""Plain text where HTML or Markdown is read: every sign stands for itself."""

from __future__ import annotations

from html import escape


def html_lines(text: str) -> str:
    return escape(text).replace("\n", "<br>")


def unmarked(text: str) -> str:
    """Text for a label, where Streamlit would read Markdown: every sign stands for itself."""
    return "".join(_sign(sign) for sign in text)


def _sign(sign: str) -> str:
    if not sign.isascii() or sign.isalnum() or sign == " ":
        return sign
    joined = "\u2060" if sign in ":-<>=~" else ""  # keeps :smile: and --> as they are
    return f"\\{sign}{joined}" if sign.isprintable() else " "
