"""The report for Word: chosen answers with pictures and ranges, the method, receipts; in both languages."""

from __future__ import annotations

import io
from collections.abc import Iterator
from fractions import Fraction
from html import escape
from html.parser import HTMLParser
from typing import Any

import docx
import pandas as pd
import pytest
from docx.oxml.ns import qn
from helpers_page import html_of, open_page
from PIL import Image

import dpengine as dp
from dpengine.accountant import filter
from dpengine.accountant.costs import cost
from dpengine.accountant.loss import Pure
from dpengine.core.exact import up
from dpengine.messages import say
from dpengine.messages.language import speaking
from ui.answers import word
from ui.ledger import report
from ui.parts import exports
from ui.pictures import png

AT = "2026-11-18"
SECRET = "4711"  # a cell that no answer shows


@pytest.fixture(name="table")
def asked_table(home: dp.Workspace) -> Iterator[dp.Table]:
    cells = {"town": ["Žiri", "Šempas"] * 300, "pay": ["1500", SECRET, "2500"] * 200, "car": ["yes", "no"] * 300}
    schema = dp.Schema(
        {"town": dp.Category(["Žiri", "Šempas"]), "pay": dp.Number(0, 9_000, step=10), "car": dp.yes_no()}
    )
    terms = {"schema": schema, "unit": dp.Unit.rows(), "budget": dp.Budget("50", "1e-6")}
    table = home.add_table("people", pd.DataFrame(cells), **terms)
    for key, given in (
        ("mean", {"column": "pay", "by": "town"}),
        ("count", {"where": [["car", "in", ["yes"]]]}),
        ("crosstab", {"columns": ["town", "car"]}),
        ("cdf_tree", {"column": "pay"}),
        ("top_item", {"column": "town"}),
    ):
        table.ask(table.query(key, **given, epsilon="2"))
    yield table


def findings(table: dp.Table) -> list[word.Finding]:
    return [word.Finding(f"Heading {one.query.card.key}", one) for one in table.answers(10)]


def opened(written: bytes) -> Any:
    return docx.Document(io.BytesIO(written))


TONGUES = {"en": "en-GB", "sl": "sl-SI"}


def text_of(paper: Any) -> str:
    cells = [cell.text for table in paper.tables for row in table.rows for cell in row.cells]
    return "\n".join([*(part.text for part in paper.paragraphs), *cells])


@pytest.mark.parametrize("lang", [pytest.param("en", marks=pytest.mark.long), "sl"])
def test_a_report_has_findings_pictures_ranges_method_and_receipts(table: dp.Table, lang: str) -> None:
    with speaking(lang):
        chosen = findings(table)
        paper = opened(word.document(table, "Our title", chosen, (7, "f" * 64), AT))
        text = text_of(paper)
        for part in ("word.findings", "word.counted", "word.method", "word.method_ranges", "word.appendix"):
            assert say(part) in text
        findings_alone = text.partition(say("word.method"))[0]
        assert all(one.renamed and one.answer.sentence in findings_alone for one in chosen)
    headings = [part.text for part in paper.paragraphs if part.style.name == "Heading 2"]
    assert headings[: len(chosen)] == [f"{number}. {one.heading}" for number, one in enumerate(chosen, 1)]
    assert all(one.answer.receipt["charge"]["hash"] in text for one in chosen) and "f" * 64 in text
    drawn = [one for one in chosen if png.standalone(report.picture(one.answer))]
    assert len(paper.inline_shapes) == len(drawn) >= 4
    assert all(shape._inline.docPr.get("descr") for shape in paper.inline_shapes)  # each says what it shows
    assert any("Žiri" in cell.text for grid in paper.tables for row in grid.rows for cell in row.cells)
    assert SECRET not in text
    assert {tongue.get(qn("w:val")) for tongue in paper.styles.element.iter(qn("w:lang"))} == {TONGUES[lang]}
    assert paper.core_properties.created.year >= 2026
    fields = paper.sections[0].footer._element.iter(qn("w:fldSimple"))
    assert [field.get(qn("w:instr")) for field in fields] == ["PAGE", "NUMPAGES"]
    followed = zip(paper.paragraphs, paper.paragraphs[1:], strict=False)
    last = [one.paragraph_format.keep_with_next for one, after in followed if after.style.name.startswith("Heading")]
    assert last and not any(last)  # what ends a finding may end a page
    assert not [part for part in paper.paragraphs if part.paragraph_format.page_break_before]  # no page stays empty


@pytest.mark.long
def test_order_and_number_are_those_that_were_chosen(table: dp.Table) -> None:
    chosen = findings(table)[::-1][:2]
    paper = opened(word.document(table, "T", chosen, (7, "f" * 64), AT))
    headings = [part.text for part in paper.paragraphs if part.style.name == "Heading 2"]
    assert headings[:2] == [f"1. {chosen[0].heading}", f"2. {chosen[1].heading}"]


@pytest.mark.long
def test_every_picture_is_drawn_at_print_size_and_stands_alone(table: dp.Table) -> None:
    for one in table.answers(10):
        for picture in png.standalone(report.picture(one)):
            image = Image.open(io.BytesIO(png.drawn(picture)))
            assert image.width == 640 * png.SCALE and len(image.convert("L").getcolors() or []) > 8
            assert png.svg_file(picture).startswith('<svg xmlns="http://www.w3.org/2000/svg" width="160mm"')


def test_a_report_says_why_its_answers_cost_less_together(home: dp.Workspace) -> None:
    """Each Gaussian ε alone holds the toll of its conversion, which counts once for all."""
    schema, terms = dp.Schema({"car": dp.yes_no()}), dp.Budget("2", "1e-6")
    cars = pd.DataFrame({"car": ["yes", "no", ""] * 200})
    table = home.add_table("cars", cars, schema=schema, unit=dp.Unit.rows(), budget=terms)
    words = []
    for value in ("yes", "no", None):
        where = [["car", "in", [value]]] if value else [["car", "not in", ["yes"]]]
        table.ask(table.query("count", where=where, epsilon="0.1", noise="gaussian"))
        words.append(word._together(table, table.answers(10)))
    less = say("word.less_than_sum", sum="|").rpartition("|")[2]
    assert [text.endswith(less) for text in words] == [False, True, True] and not words[0]
    budget = table.budget.rule
    costs = [cost(one.query.loss(), budget.alpha) for one in table.answers(10)]
    epsilon, delta = filter.together(budget, costs)
    assert epsilon == table.meter().spent_epsilon < sum(filter.alone(budget, one)[0] for one in costs)
    assert (
        delta == table.meter().delta_now and say("word.together", epsilon=up(epsilon, 1000), delta="|")[:60] in words[2]
    )
    pure = [cost(Pure(Fraction(1, 10)), budget.alpha)] * 2  # too little for the toll to pay
    assert filter.together(budget, pure)[0] == Fraction(1, 5)


def test_a_bar_is_where_the_svg_has_it() -> None:
    """A picture that draws nothing, or draws elsewhere, is found out."""
    svg = '<svg viewBox="0 0 640 100"><rect class="bar" x="100" y="20" width="200" height="40"/></svg>'
    image = Image.open(io.BytesIO(png.drawn(svg))).convert("RGB")
    inside, outside = (
        image.getpixel((200 * png.SCALE, 40 * png.SCALE)),
        image.getpixel((400 * png.SCALE, 40 * png.SCALE)),
    )
    assert inside != outside == (255, 255, 255)
    assert png._runs("M1 2L3 4H5v-1M0 0h2", 1) == [([(1, 2), (3, 4), (5, 4), (5, 3)], False), ([(0, 0), (2, 0)], False)]
    assert png._runs("M0 0L1 0L1 1Z", 2) == [([(0, 0), (2, 0), (2, 2)], True)]


class Pasted(HTMLParser):
    """The cells of each row of a page's tables, as a spreadsheet takes them from a copy."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.rows: list[list[str]] = []
        self.inside = False
        self.feed(page)

    def handle_starttag(self, tag: str, _attrs: object) -> None:
        if tag == "tr":
            self.rows.append([])
        if tag in ("td", "th"):
            self.rows[-1].append("")
            self.inside = True

    def handle_endtag(self, tag: str) -> None:
        self.inside = self.inside and tag not in ("td", "th")

    def handle_data(self, data: str) -> None:
        if self.inside:
            self.rows[-1][-1] += data


@pytest.mark.long
def test_figures_paste_as_a_table_and_are_one_in_word(table: dp.Table) -> None:
    """A cell for each name, figure and range, on the page and in the file, and nothing else in a cell."""
    (mean,) = [one for one in table.answers(10) if one.query.card.key == "mean"]
    pasted = Pasted(word._section(1, word.Finding("H", mean))).rows
    (grid,) = opened(word.document(table, "T", [word.Finding("H", mean)], (7, "f" * 64), AT)).tables
    written = [[cell.text for cell in row.cells] for row in grid.rows]
    assert [row[:2] for row in pasted] == [row[:2] for row in written] and all(len(row) == 3 for row in pasted)
    told = [(one, two) for one, two in zip(pasted, written, strict=True) if two[2]]  # in Word not the ranges of all
    names = [one[0] for one, _ in told]
    assert names[:3] == ["Group", "Žiri", "Šempas"] and all(one == two for one, two in told)
    assert names[3:] in ([], ["no answer"])  # the noise may give the empty group a range


@pytest.mark.usefixtures("shared")
def test_a_table_without_answers_says_what_to_do() -> None:
    app = open_page("answers", table="residents", view="report")
    assert say("word.none") in html_of(app)


def test_findings_are_named_moved_left_out_and_added_where_they_are_read(
    table: dp.Table, monkeypatch: pytest.MonkeyPatch
) -> None:
    page = open_page("answers", table=table.name, view="report")
    asked = [one.sentence for one in word.fit_for_report(table)]

    def headings() -> list[str]:
        return [field.value for field in page.text_input if str(field.key).startswith("word-heading-")]

    assert headings() == asked[-3:]
    assert page.button(key="word-up-1").disabled and page.button(key="word-down-3").disabled
    page.button(key="word-down-1").click().run()
    assert headings() == [asked[-2], asked[-3], asked[-1]]
    first = next(field for field in page.text_input if str(field.key).startswith("word-heading-"))
    first.set_value("Words of my own").run()
    page.button(key="word-down-1").click().run()
    assert headings() == [asked[-3], "Words of my own", asked[-1]]
    assert f"<i>{escape(asked[-2])}</i>" in html_of(page)  # what was measured stays beside it
    page.button(key="word-leave-1").click().run()
    page.selectbox(key="word-add-2").set_value(page.selectbox(key="word-add-2").options[-1]).run()
    assert headings() == ["Words of my own", asked[-1], asked[0]]
    written = list[bytes]()
    monkeypatch.setattr(
        exports, "offer", lambda _, data, name, key, **more: key == "word-download" and written.append(data)
    )
    next(field for field in page.text_input if str(field.key).startswith("word-heading-")).set_value("Typed last")
    page.button(key="word-write").click().run()  # a click beside a field changes the field in the same run
    assert (
        next(part.text for part in opened(written[0]).paragraphs if part.style.name == "Heading 2") == "1. Typed last"
    )
    for _ in range(3):
        page.button(key="word-leave-1").click().run()
    assert not headings() and say("word.choose") in html_of(page)


def test_a_file_is_written_in_the_language_of_the_page(monkeypatch: pytest.MonkeyPatch) -> None:
    """The button's function runs on another thread, which has no language of its own."""
    kept: list[Any] = []
    monkeypatch.setattr("streamlit.download_button", lambda label, content, *rest, **more: kept.append(content))
    with speaking("sl"):
        exports.offer("x", lambda: say("word.method"), "x.docx", "x")
        wanted = say("word.method")
    assert kept[0]() == wanted != say("word.method")
