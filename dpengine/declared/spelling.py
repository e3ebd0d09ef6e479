"""When two spellings count as the same: the rule for ids and for column names, in Python and in SQL.

White space of every kind is cut off at both ends (tabs, no-break spaces, byte order marks and zero-width spaces too),
letters are composed (Unicode NFC), NUL signs are dropped. Upper and lower case differ, and so does anything inside.
"""

from __future__ import annotations

import unicodedata

from dpengine.messages import hidden

# All that Python's str.isspace knows, and four signs that show nothing.
SPACES = (
    "\t\n\v\f\r\x1c\x1d\x1e\x1f \x85\xa0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a"
    "\u2028\u2029\u202f\u205f\u3000\u180e\u200b\u2060\ufeff"
)


def trimmed(text: str) -> str:
    return unicodedata.normalize("NFC", text.replace("\0", "")).strip(SPACES)


def trimmed_sql(column: str) -> str:
    """The same, as an expression of DuckDB, whose `nfc_normalize` ends at a NUL."""
    return f"trim(nfc_normalize(replace({column}, chr(0), '')), '{SPACES}')"


def normal(text: str) -> str:
    """The form in which listed values and cells are compared: without regard to capitals and outer spaces."""
    return text.strip().lower()


def visible(text: str) -> bool:
    """Does a name or a listed value hold only signs that can be seen? A name may run over several lines."""
    return text.isprintable() or not any(hidden(sign) for sign in text if sign not in "\t\r\n")
