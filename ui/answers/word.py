"""A report for Word: chosen answers with pictures and ranges, what was counted, the method, receipts in an appendix.

The report comes from the ledger and the declaration alone, and spends nothing. Pictures are PNG of what was released
(ui/pictures/png.py). Which answers, their order and their headings are chosen on the page before.
"""

from __future__ import annotations

import io
import re
from base64 import b64encode
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from fractions import Fraction
from functools import partial
from html import escape, unescape
from itertools import islice
from typing import Any

import streamlit as st

import dpengine as dp
from dpengine.accountant.costs import cost
from dpengine.accountant.filter import alone, together
from dpengine.core.exact import up
from dpengine.core.printed import percent, power_of_ten
from dpengine.mechanisms.card import WHOLE
from dpengine.messages import of_practice, say, written_day
from dpengine.messages.language import current
from dpengine.messages.numbers import day
from ui.ask import answer as answers
from ui.ledger import report
from ui.ledger.ledger_view import now
from ui.parts import exports
from ui.pictures import png
from ui.shell import scroll
from ui.shell.state import workspace
from ui.shell.style import sheet
from ui.words import prices
from ui.words.figures import figure, printed_range
from ui.words.markup import p
from ui.words.wording import beyond_printed, headline, range_words

MOST_OFFERED = 40  # answers to choose from
USUAL = 3  # chosen at first: the newest, as they were asked
MOST_ROWS = 40  # of a table of figures
_TOGETHER = 8  # rows of a table that stay on one page; a longer one may go on overleaf
_WIDE, _NARROW, _TALL = 11.5, 9.5, 7.0  # centimetres of a picture: a tall one is drawn narrower
_FONT = "Arial"  # on every system, or one of the same width
_AT_LEAST = 3  # of its rows at the foot of a page
_LEFT_OUT = (*WHOLE, "session", "declarations")  # have pages of their own


@dataclass(frozen=True)
class Finding:
    heading: str
    answer: dp.Answer

    @property
    def renamed(self) -> bool:
        return self.heading.strip() != self.answer.sentence


def show(table: dp.Table) -> None:
    """Draw the report on the page, where a person names, orders and picks its findings; then the downloads."""
    offered = {one.request_id: one for one in fit_for_report(table)}
    if not offered:
        st.html(f"<p>{say('word.none')}</p>")
        return
    title = st.text_input(say("word.name"), say("word.title", table=table.name), key="word-title", max_chars=120)
    st.html(f'{_STYLE}<p class="muted">{say("word.lead")}</p>')
    chosen = st.session_state.setdefault(f"word-chosen-{table.name}", list(offered)[-USUAL:])
    chosen[:] = [request for request in chosen if request in offered]
    today = _today()
    take = st.container(key="word-take", horizontal=True)
    findings = []
    for number, request in enumerate(chosen, 1):
        with st.container(key=f"word-finding-{number}", gap="small"):
            finding = Finding(_heading(table, offered[request], number, chosen), offered[request])
            findings.append(finding)
            head = _head(table, str(title), today) if number == 1 else ""
            st.html(f'<div class="word">{head}{_section(number, finding)}</div>')
    _add(offered, chosen)
    if not findings:
        st.html(f'<p class="warn" role="status">{say("word.choose")}</p>')
        return
    name = exports.file_name(say("word.file", table=table.name, day=today))
    with take:
        wanted = st.button(say("word.download"), key="word-write", type="primary")
        if st.button(say("word.print"), key="word-print"):
            scroll.print_page()
    if wanted:  # written in this run, so that a heading typed just before the click is in it
        with of_practice(table.name if table.practice else ""):
            written = document(table, str(title), findings, now()[0], today)
        with take, st.container(key="press"):
            exports.offer(say("word.again"), written, f"{name}.docx", "word-download")
        scroll.press()
    st.html(f'<div class="word">{_last_sections(table, findings)}</div>')
    with st.expander(say("word.pictures")), st.container(horizontal=True):
        for number, finding in enumerate(findings, 1):
            for picture in _pictures(finding.answer):
                exports.offer(
                    f"{number} · PNG", partial(png.drawn, picture), f"{name}-{number}.png", f"word-png-{number}"
                )
                drawn = partial(png.svg_file, picture)
                exports.offer(f"{number} · SVG", drawn, f"{name}-{number}.svg", f"word-svg-{number}")


def _heading(table: dp.Table, answer: dp.Answer, number: int, chosen: list[str]) -> str:
    """Draw the field for a finding's heading, with buttons that move the finding or leave it out. Returns the
    heading."""
    kept = st.session_state.setdefault(f"word-headings-{table.name}", {})  # a page change drops a field's own value
    key = f"word-heading-{current()}-{answer.receipt['charge']['hash'][:16]}"
    st.session_state.setdefault(key, kept.get(answer.request_id, answer.sentence))
    with st.container(horizontal=True, vertical_alignment="bottom"):
        typed = str(st.text_input(say("word.heading", number=number), key=key, max_chars=200, width="stretch")).strip()
        place = number - 1
        for way, to in (("up", place - 1), ("down", place + 1)):
            label, out = say(f"word.{way}", number=number), not 0 <= to < len(chosen)
            st.button(label, key=f"word-{way}-{number}", on_click=_swap, args=(chosen, place, to), disabled=out)
        leave = say("word.leave", number=number)
        st.button(leave, key=f"word-leave-{number}", on_click=_leave, args=(chosen, answer.request_id))
    if typed in ("", answer.sentence):
        kept.pop(answer.request_id, None)
        return answer.sentence
    kept[answer.request_id] = typed
    return typed


def _swap(chosen: list[str], one: int, other: int) -> None:
    if max(one, other) < len(chosen):
        chosen[one], chosen[other] = chosen[other], chosen[one]


def _leave(chosen: list[str], request: str) -> None:
    if request in chosen:
        chosen.remove(request)


def _add(offered: dict[str, dp.Answer], chosen: list[str]) -> None:
    """Draw a picker of the answers that are not yet in the report, newest first. A picked answer joins the report."""
    rest = [request for request in reversed(offered) if request not in chosen]
    if not rest:
        return
    key = f"word-add-{len(chosen)}"  # empty again after each choice

    def add() -> None:
        if (request := st.session_state.get(key)) and request not in chosen:
            chosen.append(request)

    def words(request: str) -> str:
        return f"{offered[request].sentence}: {headline(offered[request])}"

    st.selectbox(
        say("word.add"), rest, None, words, key=key, on_change=add, placeholder=say("word.add_which"), width=640
    )


def fit_for_report(table: dp.Table) -> list[dp.Answer]:
    """The newest answers that are findings, as they were asked: neither checks nor answers with a page of their own."""
    kinds = [(one, {one.query.answer_kind, one.query.card.answer}) for one in table.answers(MOST_OFFERED)]
    return [one for one, named in kinds if not named & set(_LEFT_OUT) and one.query.gated]


def _today() -> str:
    """The reader's day as 2026-11-19: in the evening UTC may be a day ahead."""
    behind = st.context.timezone_offset or 0
    return (datetime.now(UTC) - timedelta(minutes=behind)).date().isoformat()


def _written(at: str) -> str:
    """A day such as 2026-11-19 as the reader writes it: 19. 11. 2026, in English 19 November 2026."""
    figures = day(at[:10])
    return written_day(figures) if figures == at[:10] else figures


def _pictures(answer: dp.Answer) -> list[str]:
    """The picture of an answer as SVG in a list; an empty list for a name, or an answer that says nothing."""
    return png.standalone(report.picture(answer))[:1]


def _head(table: dp.Table, title: str, today: str) -> str:
    """The title and the source of the figures, as printed. On the page the title is a field."""
    made = say("word.made", table=table.name, day=_written(today))
    return f'<h1 class="typed">{escape(title)}</h1><p class="typed">{escape(made)}</p>'


def _section(number: int, finding: Finding) -> str:
    """A finding as HTML, for the page and for print. Pasted into a spreadsheet, its table stays a table."""
    answer = finding.answer
    parts = [f'<section><h2 class="typed">{number}. {escape(finding.heading)}</h2>']
    parts += [f"<p><i>{escape(answer.sentence)}</i></p>"] if finding.renamed else []
    parts.append(f"<p><b>{escape(headline(answer))}</b><br>{escape(range_words(answer))}</p>")
    for picture in _pictures(answer):
        data = b64encode(png.drawn(picture)).decode()
        alt = re.search(r'aria-label="([^"]*)"', picture)
        parts.append(f'<img alt="{alt[1] if alt else ""}" src="data:image/png;base64,{data}">')
        parts += [p(legend)] if (legend := answers.beyond_legend(answer)) else []
    parts += [p(note) for note in answers.card_notes(answer)]
    if isinstance(answer.value, dict) and isinstance(answer.interval, dict):
        parts.append(answers.bars_table(answer, islice(answer.value, MOST_ROWS)))
    return "".join([*parts, "</section>"])


def _last_sections(table: dp.Table, findings: Sequence[Finding]) -> str:
    """The last sections as HTML: what was counted, the method, the receipts."""
    parts = []
    for heading, lines in (("word.counted", counted(table, findings)), ("word.method", method(table))):
        parts.append(
            f"<section><h2>{escape(say(heading))}</h2>{''.join(f'<p>{escape(line)}</p>' for line in lines)}</section>"
        )
    hashes = "".join(f"<li><code>{escape(one.answer.receipt['charge']['hash'])}</code></li>" for one in findings)
    together = p(words) if (words := _together(table, [one.answer for one in findings])) else ""
    return "".join(parts) + f"<section><h2>{escape(say('word.appendix'))}</h2><ol>{hashes}</ol>{together}</section>"


def document(table: dp.Table, title: str, findings: Sequence[Finding], head: tuple[int, str], today: str) -> bytes:
    """The report as a Word file. `head` is the chain's last row, `today` the reader's day as 2026-11-19."""
    import docx
    from docx.oxml.ns import qn
    from docx.shared import Cm, Pt, RGBColor

    paper = docx.Document()
    usual: Any = paper.styles["Normal"]
    usual.font.name, usual.font.size = _FONT, Pt(10)
    usual.paragraph_format.space_after, usual.paragraph_format.line_spacing = Pt(4), 1.05
    for name, size in (("Title", 18), ("Heading 1", 13), ("Heading 2", 11.5), ("Heading 3", 10.5)):
        style: Any = paper.styles[name]
        style.font.size, style.font.color.rgb = Pt(size), RGBColor(0x0B, 0x5D, 0x51)
        style.element.rPr.rFonts.attrib.clear()  # else the theme's font wins over the next line
        style.font.name = _FONT
        style.paragraph_format.space_before = Pt(0 if name == "Title" else 8)
        style.paragraph_format.space_after, style.paragraph_format.keep_with_next = Pt(3), True
    line = paper.styles["Title"].element.pPr.find(f"{qn('w:pBdr')}/{qn('w:bottom')}")
    line.set(qn("w:color"), "0B5D51"), line.attrib.pop(qn("w:themeColor"), None)  # of the colour of the headings
    for section in paper.sections:
        section.page_width, section.page_height = Cm(21), Cm(29.7)
        section.left_margin = section.right_margin = Cm(2.2)
        section.top_margin = section.bottom_margin = Cm(1.6)
    paper.core_properties.title, paper.core_properties.author = title, "Allowance"
    paper.core_properties.comments, paper.core_properties.created = "", datetime.now(UTC).replace(tzinfo=None)
    for tongue in paper.styles.element.iter(qn("w:lang")):  # else Word checks the spelling of another language
        tongue.set(qn("w:val"), say("word.tongue"))
    paper.add_heading(title, 0)
    _small(paper.add_paragraph(say("word.made", table=table.name, day=_written(today))))
    _page_numbers(paper)
    paper.add_heading(say("word.findings"), 1)
    for number, finding in enumerate(findings, 1):
        _finding(paper, number, finding)
    for heading, lines in (("word.counted", [" ".join(counted(table, findings))]), ("word.method", method(table))):
        paper.add_heading(say(heading), 1)
        for line in lines:
            paper.add_paragraph(line)
    _receipts(paper, table, findings, head)
    out = io.BytesIO()
    paper.save(out)
    return out.getvalue()


def _small(line: Any) -> None:
    from docx.shared import Pt

    for run in line.runs:
        run.font.size = Pt(9)


def _page_numbers(paper: Any) -> None:
    """Add “Page 1 of 3” at the foot of each page; the program that opens the file counts the pages."""
    from docx.enum.text import WD_ALIGN_PARAGRAPH
    from docx.oxml.ns import qn
    from docx.shared import Pt

    paper.styles["Footer"].font.size = Pt(9)
    (foot,) = paper.sections[0].footer.paragraphs
    foot.alignment = WD_ALIGN_PARAGRAPH.RIGHT
    for part in say("word.page", page="|PAGE|", pages="|NUMPAGES|").split("|"):
        if part in ("PAGE", "NUMPAGES"):
            field = foot._p.makeelement(qn("w:fldSimple"), {qn("w:instr"): part})
            field.append(foot.add_run("1")._r)
            foot._p.append(field)
        else:
            foot.add_run(part)


def _finding(paper: Any, number: int, finding: Finding) -> None:
    """Add a finding to the Word file. Its sentence and picture stay on one page; its notes and figures may follow
    overleaf, so that pages fill."""
    from docx.shared import Cm

    answer = finding.answer
    paper.add_heading(f"{number}. {finding.heading}", 2)
    said = paper.add_paragraph()
    if finding.renamed:  # what was measured stays beside words of one's own
        said.add_run(answer.sentence).italic = True
        said.add_run().add_break()
    said.add_run(headline(answer)).bold = True
    said.add_run().add_break()
    said.add_run(range_words(answer))
    for picture in _pictures(answer):
        said.paragraph_format.keep_with_next = True
        legend = answers.beyond_legend(answer)
        wide, tall = png.size(picture)
        width = min(_WIDE, max(_NARROW, _TALL * wide / tall))
        paper.add_picture(io.BytesIO(png.drawn(picture)), width=Cm(width))
        paper.paragraphs[-1].paragraph_format.keep_with_next = bool(legend)
        alt = re.search(r'aria-label="([^"]*)"', picture)
        if alt is not None:
            paper.inline_shapes[-1]._inline.docPr.set("descr", unescape(alt[1]))
        if legend:
            paper.add_paragraph(legend)
    for note in answers.card_notes(answer):
        _small(paper.add_paragraph(note))
    if isinstance(answer.value, dict) and isinstance(answer.interval, dict):
        _figures(paper, answer)


def _figures(paper: Any, answer: dp.Answer) -> None:
    """Add the figures of an answer with their ranges, and with ranges for the larger group if there are any, as a
    table."""
    names, query, wider = answer.query.shown(), answer.query, answer.population
    labels = list(islice(answer.value, MOST_ROWS))
    heads = [say(f"answer.column.{column}") for column in ("label", "value", "range")]
    heads += [] if wider is None else [answers.beyond_column(answer)]
    from docx.enum.text import WD_ALIGN_PARAGRAPH
    from docx.oxml.ns import qn
    from docx.shared import Pt

    grid = paper.add_table(rows=1, cols=len(heads), style="Light Shading")
    for cell, words in zip(grid.rows[0].cells, heads, strict=True):
        cell.text = words
    for label in labels:
        ends = answer.interval.get(label)
        mute = ends is None or query.mute(ends, label)
        cells = grid.add_row().cells
        cells[0].text, cells[1].text = names.get(label, label), figure(answer, label)
        cells[2].text = "" if mute else " – ".join(printed_range(query, ends[0], ends[1], label))
        if wider is not None:
            cells[3].text = " – ".join(beyond_printed(wider[label]))
    bands = grid._tbl.tblPr.find(qn("w:tblLook"))
    bands.set(qn("w:val"), "06A0"), bands.set(qn("w:noHBand"), "1")  # ruled, not striped
    head = grid.rows[0]._tr.get_or_add_trPr()
    head.append(head.makeelement(qn("w:tblHeader"), {}))  # again on the next page
    whole = len(grid.rows) <= _TOGETHER
    for number, row in enumerate(grid.rows, 1):
        for place, cell in enumerate(row.cells):
            lines = cell.paragraphs[0]
            lines.paragraph_format.space_after, lines.paragraph_format.line_spacing = Pt(0), 1
            for run in lines.runs:
                run.font.size = Pt(9)
            lines.paragraph_format.keep_with_next = number < (len(grid.rows) if whole else _AT_LEAST)
            if place:  # figures stand under each other
                lines.alignment = WD_ALIGN_PARAGRAPH.RIGHT
    if len(answer.value) > len(labels):
        paper.add_paragraph(say("many.first", shown=len(labels), of=len(answer.value)))
    else:
        last = paper.add_paragraph()  # two tables without a line between them would be one
        last.paragraph_format.space_after, last.paragraph_format.line_spacing = Pt(0), Pt(4)


def counted(table: dp.Table, findings: Sequence[Finding]) -> list[str]:
    """Sentences: whose rows the table holds, how many people, and which columns were used. How a column was cut stands
    beside each finding."""
    unit = table.facts.unit
    code = "report.unit.rows" if unit.id_column is None else "report.unit.column"
    lines = [say(code, column=unit.id_column, most=unit.at_most)]
    if table.facts.people is not None:
        lines.append(say("word.people", people=table.facts.people))
    columns = dict.fromkeys(name for one in findings for name in sorted(one.answer.query.used()))
    lines.append(say("word.columns", columns=list(columns)))
    return [*lines, *([say("report.practice")] if table.practice else [])]


def method(table: dp.Table) -> list[str]:
    """The method in sentences, about half a page: what the noise protects, what ranges say, how much of the allowance
    is used."""
    meter = table.meter()
    facts = {"epsilon": up(meter.spent_epsilon, 10**4), "delta": power_of_ten(meter.delta_now)}
    terms = say("meter.terms", epsilon=meter.epsilon, delta=power_of_ten(meter.delta))
    return [
        say(f"report.relation.{table.facts.relation}"),
        say("word.method_noise"),
        say("word.method_ranges"),
        say("ledger.stop_reading", share=percent(meter.used), **facts),
        say("report.terms", terms=terms),
    ]


def _receipts(paper: Any, table: dp.Table, findings: Sequence[Finding], head: tuple[int, str]) -> None:
    from docx.shared import Pt

    paper.add_heading(say("word.appendix"), 1)
    find, rule = workspace().ledger.find, table.budget.rule
    for number, finding in enumerate(findings, 1):
        answer = finding.answer
        paper.add_heading(f"{number}. {answer.sentence}", 3)
        share = prices.took(table, find(answer.request_id))
        lines = [
            say("report.price", share=share, at=f"{_written(answer.at)}, {answer.at[11:16]}"),
            " ".join(unescape(re.sub(r"<[^>]+>", " ", answers.odds_words(answer, rule))).split()),
        ]
        lines += [say("receipt.theorem", theorem=answer.query.theorem), *answer.query.card.caveat_texts]
        for line in filter(None, lines):
            paper.add_paragraph(line).paragraph_format.space_after = Pt(2)
        paper.add_paragraph(f"{say('report.receipt')}: {answer.receipt['charge']['hash']}")
    if words := _together(table, [one.answer for one in findings]):
        paper.add_paragraph(words)
    paper.add_heading(say("report.check"), 2)
    paper.add_paragraph(say("report.check_how"))
    paper.add_paragraph(say("report.check_command"))
    paper.add_paragraph(f"{say('ledger.head', row=head[0])} {head[1]}")
    paper.add_paragraph(say("report.check_why"))


def _together(table: dp.Table, chosen: Sequence[dp.Answer]) -> str:
    """A sentence: what these answers and their checks cost together, and whether that is less than the sum of their
    costs; empty for one cost alone."""
    bought = {check.charge.request: check for one in chosen for check in table.checks_of(one.request_id)}
    checks = [answer for check in bought.values() if (answer := workspace().answer_of(check)) is not None]
    rule = table.budget.rule
    costs = [cost(one.query.loss(), rule.alpha) for one in (*chosen, *checks)]
    if len(costs) < 2:
        return ""
    epsilon, delta = together(rule, costs)
    none, each = Fraction(0), [alone(rule, one)[0] for one in costs]
    whole, added, checking = (up(part, 1000) for part in (epsilon, sum(each, none), sum(each[len(chosen) :], none)))
    facts = {"epsilon": whole, "delta": power_of_ten(delta)} | ({"checks": checking} if checks else {})
    words = say("word.together_checked" if checks else "word.together", **facts)
    return f"{words} {say('word.less_than_sum', sum=added) if whole < added else say('word.sum')}"


_STYLE = sheet("answers/word")
