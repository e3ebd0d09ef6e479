"""One rule for ids and names, in Python and in SQL."""

from __future__ import annotations

import sys

import duckdb
from hypothesis import given, settings
from hypothesis import strategies as st

from dpengine.declared.spelling import SPACES, trimmed, trimmed_sql


def test_all_white_space_there_is() -> None:
    assert {chr(code) for code in range(sys.maxunicode + 1) if chr(code).isspace()} <= set(SPACES)


@settings(max_examples=60, deadline=None)
@given(
    st.lists(
        st.text(
            st.one_of(
                st.sampled_from([*SPACES, "e", "\u0301", "\0", "A"]),
                st.characters(exclude_categories=["Cs", "Cn"], max_codepoint=0x2FFF),
            ),
            max_size=8,
        ),
        min_size=1,
        max_size=50,
    )
)
def test_both_ways_agree(texts: list[str]) -> None:
    query = f"SELECT {trimmed_sql('one')} FROM (SELECT unnest(?) AS one)"
    assert [one for (one,) in duckdb.execute(query, [texts]).fetchall()] == [trimmed(text) for text in texts]
    assert all(trimmed(trimmed(text)) == trimmed(text) for text in texts)
