"""Whatever stands in an address, the page stands: a meter, a sentence, never an error, and nothing is spent."""

from __future__ import annotations

from pathlib import Path

import pytest
from helpers_page import html_of, open_page

import dpengine as dp

ROOT = Path(__file__).resolve().parents[2]
ADDRESSES: tuple[tuple[str, dict[str, str]], ...] = (
    ("start", {"table": "no-such-table"}),
    ("start", {"answer": "no-such-answer"}),
    ("start", {"answer": "x" * 5000}),
    ("start", {"answer": "\n\0<script>"}),
    ("answers", {"table": "\0<script>", "page": "minus"}),
    ("answers", {"view": "ledger", "table": "\0<script>", "page": "minus"}),
    ("answers", {"view": "ledger", "table": "x" * 5000, "page": "1e9"}),
    ("whatif", {"q": "DROP TABLE", "find": "truth", "from": "nowhere", "see": "<script>", "relation": "x"}),
    ("whatif", {"q": "mean", "n": "9" * 99, "e": "½", "d": "NaN", "k": "1e400", "low": "<script>", "beta": "[]"}),
    ("whatif", {"q": "median", "from": "table", "column": "nobody", "see": "median", "q2": "[[1, 2"}),
    ("whatif", {"find": "questions", "x": "<script>alert(1)</script>", "k2": '{"q": 7, "n": null}'}),
    ("whatif", {"prior": "1000", "e2": "7", "d2": "-1", "n2": "1.5", "table": "no-such-table", "see": "many"}),
    ("thesis", {"view": "<script>", "tour": "<script>"}),
    ("data", {"answer": "no-such-answer"}),
    ("data", {"table": "\0<script>"}),
    ("data", {"table": "no-such-table", "change": "1"}),
    ("data", {"change": "<script>"}),
    *(("several", {"plan": text}) for text in ("no json", "[" * 5000, "[[]]", '[["count", 7, "x", 1]]', '{"a": 1}')),
    ("several", {"plan": '[["mean",{"column":"age","epsilon":"0.1"},"-1e9",0],["mean",{"column":"<script>"},"1",1]]'}),
    ("several", {"run": "no-such-run", "keep": "<script>"}),
    ("ask", {"answer": "no-such-answer"}),
    ("several", {"session": "no-such-session", "step": "<script>"}),
    ("several", {"session": "\n\0", "k": "-3", "share": "all", "how": "<script>"}),
    ("several", {"table": "no-such-table", "k": "9" * 99, "share": "1e9", "how": "lecture"}),
    ("several", {"k": "10000", "share": "5", "how": "gaussian"}),
    ("ask", {"table": "no-such-table", "q": "count"}),
    ("ask", {"q": "DROP TABLE"}),
    ("ask", {"q": "adaptive_session"}),
    ("ask", {"q": "median", "column": "nobody"}),
    ("ask", {"q": "median", "column": "district"}),
    ("ask", {"q": "quantile", "column": "age", "share": "7"}),
    ("ask", {"q": "quantile", "column": "age", "share": "nan"}),
    ("ask", {"q": "quantile", "column": "age", "with_range": "17"}),
    ("ask", {"q": "quantile", "column": "age", "share": "1e400"}),
    ("ask", {"q": "quantile", "column": "age", "share": "[1]"}),
    *(("ask", {"q": "cdf", "column": "age", "points": text}) for text in ("0", "<script>")),
    *(("ask", {"q": key}) for key in dp.catalogue),
    *(("ask", {"q": key, "column": "<script>", "by": "nobody", "bins": "x"}) for key in dp.catalogue),
    *(
        ("ask", {"q": "histogram", "column": "age", "bins": text})
        for text in ("many", "1000000", "-3", "0", "1", "2.5", "true", "null", '"x"', "[3, 2, 1]", '{"a": 1}', "[[]]")
    ),
    *(("ask", {"q": "count", "epsilon": text}) for text in ("-1", "0", "lots", "1e999", "NaN", "0,1", "9" * 99, "½")),
    *(
        ("ask", {"q": "count", "where": text})
        for text in (
            "[[1, 2",
            "null",
            "7",
            '"age"',
            '{"a": 1}',
            "[7]",
            "[[]]",
            '[["age"]]',
            '[["age", ">="]]',
            '[["nobody", "in", ["x"]]]',
            '[["age", "in", 5]]',
            '[["age", "between", [1]]]',
            '[["age", "between", "x"]]',
            '[["age", "between", [9, 1]]]',
            '[["age", ">=", "old"]]',
            '[["age", ">=", null]]',
            '[["age", "≈", 3]]',
            '[["district", "in", ["Atlantis"]]]',
            '[["district", "in", [7, null, []]]]',
            '[["district", ">=", 3]]',
            '[["any", []]]',
            '[["any", [["age", ">=", 3]]]]',
            '[["any", [["any", []]]]]',
            '[[["age"], "in", [1]]]',
            '[[7, "in", [1]]]',
            '[["age", 7, 1]]',
            '[["age", ">=", 1e400]]',
            '[["age", ">=", [1]]]',
        )
    ),
)


def name(address: tuple[str, dict[str, str]]) -> str:
    return f"{address[0]}?" + "&".join(f"{key}={value[:40]!r}" for key, value in address[1].items())


# Conditions are read by one reader, whatever the page: a few of them, and the others in `make audit`.
MORE = [address for address in ADDRESSES if "where" in address[1] or "by" in address[1]]
LONG = [address for place, address in enumerate(MORE) if place % 4]
LONG += [address for place, address in enumerate(ADDRESSES) if place % 3 and address not in LONG]


@pytest.mark.every(27)
@pytest.mark.parametrize(
    "address",
    [pytest.param(one, marks=[pytest.mark.long] * (one in LONG)) for one in ADDRESSES],
    ids=[name(one) for one in ADDRESSES],
)
def test_any_address_gives_a_page(address: tuple[str, dict[str, str]], shared: dp.Workspace) -> None:
    from ui.shell.scroll import COMPLETE  # Streamlit, which -k on a question need not import for its addresses

    told = html_of(open_page(address[0], **({"table": "town"} | address[1])))
    assert 'class="meter"' in told
    assert "<script" not in told.replace(f"<script>{COMPLETE}</script>", "")  # the box's own
    assert shared.ledger.head()[0] == 0


def test_a_link_to_a_question_that_ask_does_not_ask_leads_to_its_page(shared: dp.Workspace) -> None:
    page = open_page("ask", table="town", q="fit_check", column="age")
    there = 'href="data?table=town&amp;check=1" target="_self">“Does it fit?” is asked on another page; open it.</a>'
    assert there in html_of(page) and there in html_of(page.run())
    kind = next(picker for picker in page.selectbox if str(picker.key).startswith("ask-kind"))
    other = next(key for key in ("count", "median") if key != kind.value)
    assert there not in html_of(kind.set_value(other).run()) and shared.ledger.head()[0] == 0


DEEP = "[" * 100_000
DEEPER = "[" * 500 + "]" * 500
HALF = '["\\ud800"]'
NESTED = (
    ("synthetic", ("columns", "never", "if")),
    ("board", ("columns", "pairs", "merged")),
    ("publish", ("columns",)),
    ("train", ("features", "person")),
    ("ask", ("where", "bins", "options", "by", "share")),
    ("several", ("plan",)),
    ("whatif", ("q2", "e2", "x")),
)


@pytest.mark.every(3)
@pytest.mark.parametrize(("page", "names"), NESTED, ids=[page for page, _ in NESTED])
def test_no_depth_of_an_address_fails_a_page(page: str, names: tuple[str, ...], shared: dp.Workspace) -> None:
    for told in (DEEPER, HALF):
        given = {name: told if name != "by" else f'{{"column": {told}' for name in names}
        assert 'class="meter"' in html_of(open_page(page, **({"table": "town", "q": "histogram"} | given)))
    assert shared.ledger.head()[0] == 0
