"""What a page says, without the marks of words that explain themselves."""

from __future__ import annotations

import re


def unmarked(html: str) -> str:
    return re.sub(r"</?dfn[^>]*>", "", html)
