"""The ledger on Answers: what is left after each charge, every question in words, the chain, downloads.

Everything comes from the ledger: public facts, running sums and released answers.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import UTC, datetime
from html import escape

import streamlit as st

import dpengine as dp
from dpengine.asking.exports import ANSWER_COLUMNS, MOST_COUNTED, ROW_COLUMNS, Fit, sentence_of
from dpengine.asking.receipts import MOST_BYTES, Finding
from dpengine.core.errors import LedgerDamaged
from dpengine.core.exact import up
from dpengine.core.printed import percent, power_of_ten
from dpengine.ledger.chain import Verdict
from dpengine.ledger.exports import export_lines
from dpengine.messages import plain, say
from dpengine.messages.language import current
from ui.ledger import report
from ui.parts import exports, fields, history, owner
from ui.parts.history import outcome
from ui.shell import nav, workshop_state
from ui.shell.frame import paragraph, section_head, show_error, show_success
from ui.shell.incoming import here
from ui.shell.state import may, workspace
from ui.shell.style import sheet
from ui.words import gloss
from ui.words.markup import bullets, html_table, p, paragraphs

# --- “Check a receipt”: an uploaded file, compared with this workspace's ledger. Nothing of it is kept.

MOST_LISTED = 20
_FOUND = "receipt-findings"


def show_receipt_check() -> None:
    if workshop_state.on():  # a workshop takes no uploads
        return
    with st.container(key="card-receipt"):
        st.html(f'<h2>{escape(say("receipt.check"))}</h2><p class="muted">{gloss.text(say("receipt.check_lead"))}</p>')
        file = here.picker(say("receipt.file"), key="receipt-file", max_upload_size=MOST_BYTES // 2**20)
        if file is None:
            return
        try:
            findings = _findings(file)
        except dp.AllowanceError as error:
            show_error(say("receipt.unread"), str(error))
            return
        show_findings(findings)


def _findings(file: st.runtime.uploaded_file_manager.UploadedFile) -> list[Finding]:
    """The comparison of each receipt in a file with the ledger, made once for each state of the ledger and not at every
    click."""
    mark = (file.file_id, workspace().ledger.head(), current())
    known = st.session_state.get(_FOUND)
    if known is None or known[0] != mark:
        with st.spinner(say("receipt.checking")):
            known = (mark, workspace().check_receipts(here.content(file, MOST_BYTES), file.name))
        st.session_state[_FOUND] = known
    findings: list[Finding] = known[1]
    return findings


def show_findings(findings: list[Finding]) -> None:
    """Draw one receipt in full; for several, how many are genuine and which are not."""
    bad = [finding for finding in findings if not finding.ok]
    if len(findings) > 1 and bad:
        show_error(say("receipt.some_bad", bad=len(bad), count=len(findings)), "")
    elif len(findings) > 1:
        show_success(say("receipt.all_good", count=len(findings)))
        st.html(bullets(map(_answered, findings[:MOST_LISTED]), "muted"))
        return
    for finding in (bad or findings)[:MOST_LISTED]:
        if finding.ok:
            show_success(say("receipt.genuine", answer=_answered(finding)))
            st.html(f'<p class="muted">{escape(say("receipt.good", name=finding.name))} {escape(finding.sentence)}</p>')
            continue
        show_error(say("receipt.bad", name=finding.name), finding.sentence)
        if len(finding.differences) > 1:
            st.html(bullets(finding.differences[:MOST_LISTED], "muted"))
    if len(bad) > MOST_LISTED:
        paragraph(say("receipt.more", more=len(bad) - MOST_LISTED))


def _answered(finding: Finding) -> str:
    """A sentence with the question of a valid receipt and its answer, both from the ledger."""
    entry = workspace().ledger.find(finding.request)
    assert entry is not None  # it is valid, so the charge is in the ledger
    question = say("answer.of", sentence=sentence_of(entry.charge), table=entry.charge.table)
    return say("receipt.answered", question=question, answer=outcome(entry))


PER_PAGE = 50
LEAST_OF_HASH = 8
File = tuple[str, str, Callable[[], str]]  # its title, name and writer
_VERDICT = "ledger-verdict"
_SHOWN = 10**4  # values are rounded up to a ten-thousandth


def show(table: dp.Table) -> None:
    st.html(_STYLE)
    asked = False
    try:
        asked = account(table)
    except dp.AllowanceError as error:  # locked for too long, or edited by hand: the check below says where
        show_error(say("ledger.unreadable"), str(error))
        st.session_state.pop(_VERDICT, None)
        check(at_once=isinstance(error, LedgerDamaged))
        return
    check()
    show_receipt_check()
    nav.check_link()
    if asked:
        downloads(table)
    if not table.practice:
        st.page_link(nav.page("data"), label=say("tables.owner"), query_params={"table": table.name})


def account(table: dp.Table) -> bool:
    """Draw what was left after each charge, the rows, and what they come to together. False before the first
    question."""
    sharing = table.sharing()
    if len(sharing) > 1:
        paragraph(say("ledger.shared", tables=sharing))
    meter = table.meter()
    if not meter.charges:
        paragraph(say("ledger.empty", table=table.name), "")
        acts = [] if table.practice else table.acts()
        if acts:
            st.html(history.rows_html(table, [], acts=acts))
        if not table.closed:
            st.page_link(nav.page("ask"), label=say("ledger.first"), query_params={"table": table.name})
        return False
    with st.container(key="card-burn"):
        burn_down(table, meter)
    with st.container(key="card-rows"):
        charges(table, meter, len(sharing) > 1)
    with st.container(key="card-stop"):
        stopping(table, meter)
    return True


def burn_down(table: dp.Table, meter: dp.Meter) -> None:
    steps = table.burn_down()
    left = [float(step.left) for step in steps]
    times = [say("ledger.raised" if step.raised else "ledger.step", at=history.when(step.at)) for step in steps]
    alt = say("ledger.burn_alt", charges=meter.charges, left=percent(steps[-1].left))
    words = (say("ledger.start"), say("ledger.now"))
    st.html(_burning(left, times, words, alt))
    if any(step.raised for step in steps):
        paragraph(say("ledger.burn_raised"))
    shown = sum(not step.raised for step in steps) - 1
    if shown < meter.charges:
        paragraph(say("ledger.burn_every", charges=meter.charges, shown=shown))


def _burning(left: list[float], times: list[str], words: tuple[str, str], alt: str) -> str:
    """HTML: what was left after each charge, as steps. It needs no script, which would take longer to load than the
    page."""
    steps = "".join(
        f'<i style="height:{100 * share:.3f}%" title="{escape(f"{time}: {percent(share)}")}"></i>'
        for share, time in zip(left, times, strict=True)
    )
    scale = "".join(f"<span>{percent(quarter)}</span>" for quarter in (1.0, 0.75, 0.5, 0.25, 0.0))
    return (
        f'<div class="burn" role="img" aria-label="{escape(alt)}"><div class="scale">{scale}</div>'
        f'<div class="steps">{steps}</div>'
        f'<div class="ends"><span>{escape(words[0])}</span><span>{escape(words[1])}</span></div></div>'
    )


def charges(table: dp.Table, meter: dp.Meter, several: bool) -> None:
    """Draw one page of charges, newest first; the page number is in the URL."""
    pages = -(-meter.charges // PER_PAGE)
    slot = st.container()
    page = st.pagination(pages, key="page", bind="query-params") if pages > 1 else 1
    entries = table.history(PER_PAGE, (page - 1) * PER_PAGE)
    acts = [] if table.practice else table.acts()
    if acts and page > 1:  # actions after this page's newest charge are on the page before
        newest = entries[0].charge.seq if entries else 0
        acts = [act for act in acts if act.seq < newest]
    if acts and page < pages:
        following = table.history(1, page * PER_PAGE)
        acts = [act for act in acts if not following or act.seq > following[0].charge.seq]
    with slot:
        st.html(history.rows_html(table, entries, several, acts))
        if pages > 1:
            first = (page - 1) * PER_PAGE + 1
            paragraph(say("ledger.rows", first=first, last=first + len(entries) - 1, charges=meter.charges))


def stopping(table: dp.Table, meter: dp.Meter) -> None:
    """Draw what is guaranteed if nothing more is asked and, folded, the same charges under other accountants."""
    delta = power_of_ten(meter.delta_now)
    words = say("ledger.stop_reading", epsilon=up(meter.spent_epsilon, _SHOWN), delta=delta, share=percent(meter.used))
    if table.closed:
        fits = owner.closed_words(table.closed)
    else:
        fits = fit_words(table.more_like_last()) if meter.unused else say("ledger.more.nothing")
    rows = []
    for name, epsilon in meter.rules.items():
        reading, share = say("ledger.rule.nothing"), ""
        if epsilon is not None:
            reading, share = plain(up(epsilon, _SHOWN)), percent(epsilon / meter.epsilon)
        rows.append((gloss.text(say(f"ledger.rule.{name}")), reading, share))
    heads = say("ledger.rule"), say("ledger.rule.epsilon"), say("ledger.rule.share")
    lines = paragraphs(map(gloss.text, (words, fits)), "read")
    st.html(f"<h2>{escape(say('ledger.stop'))}</h2>{lines}")
    with fields.details(say("ledger.specialists"), "ledger-others") as drawn:
        if drawn:
            note = p(say("ledger.others_note", delta=delta), "muted note")
            st.html(p(say("ledger.others")) + html_table(heads, rows, kind="plain others") + note)


def fit_words(fit: Fit | None) -> str:
    if fit is None or not fit.more:
        return say("ledger.more.none")
    if fit.more >= MOST_COUNTED:
        return say("ledger.more.lots")
    sentence = say("ledger.more.one") if fit.more == 1 else say("ledger.more.many", more=fit.more)
    return f"{sentence} {say('ledger.more.cheaper')}" if fit.cheaper else sentence


def check(at_once: bool = False) -> None:
    """Draw the card about the hash chain: a button that checks every row, the head to note elsewhere, and a field that
    looks for a head noted earlier. `at_once` checks without a click."""
    row, head = workspace().ledger.head()
    if not row:
        return
    with st.container(key="card-check"):
        st.html(f'<h2>{escape(say("ledger.check"))}</h2><p class="muted">{gloss.text(say("ledger.check_lead"))}</p>')
        asked = st.button(say("ledger.verify"), key="ledger-verify")
        verdict_slot = st.container()
        kept = ""
        with fields.details(say("ledger.specialists"), "ledger-chain") as drawn:
            if drawn:
                kept = _head(row, head)
        with verdict_slot:
            if asked or ((kept or at_once) and _VERDICT not in st.session_state):
                with st.spinner(say("ledger.verifying")):
                    st.session_state[_VERDICT] = workspace().verify_ledger()
            verdict: Verdict | None = st.session_state.get(_VERDICT)
            if verdict is not None:
                show_verdict(verdict)
        if kept and verdict is not None and verdict.ok:
            show_kept(kept)


def _head(row: int, head: str) -> str:
    """Draw the chain's head, to be noted elsewhere, and a field for a head that somebody noted earlier. Returns the
    typed text."""
    words = f"{escape(say('ledger.chain'))} {escape(say('ledger.head', row=row))}:"
    st.html(f'<p>{words}</p><p><code class="copied">{head}</code></p>')
    paragraph(say("ledger.head_why"))
    return re.sub(r"[^0-9a-z]", "", st.text_input(say("ledger.kept"), key="ledger-kept").lower())[:64]


def show_verdict(verdict: Verdict) -> None:
    row, head = verdict.head
    if verdict.ok:
        show_success(say("ledger.verified", rows=verdict.rows, head=head[:8]))
        return
    last = say("ledger.holds_to", row=row, hash=head[:16]) if row else say("ledger.nothing_holds")
    show_error(say("ledger.broken"), f"{verdict.sentence} {last}")


def show_kept(kept: str) -> None:
    """Draw whether the row of a hash that somebody noted is still in the ledger."""
    if len(kept) < LEAST_OF_HASH or not re.fullmatch("[0-9a-f]+", kept):
        paragraph(say("ledger.kept_short", least=LEAST_OF_HASH))
        return
    row = workspace().ledger.row_of(kept)
    if row is None:
        show_error(say("ledger.kept_gone_title"), say("ledger.kept_gone"))
    else:
        show_success(say("ledger.kept_found", row=row))


def downloads(table: dp.Table) -> None:
    """Draw buttons for the files, which are written when clicked: a long ledger must not slow down the page."""
    section_head(say("ledger.downloads"))
    name = exports.file_name(table.name)
    files: list[File] = [
        ("report", f"report-{name}.html", lambda: report.html(table, *now())),
        ("rows", f"ledger-{name}.csv", lambda: exports.as_csv(ROW_COLUMNS, table.ledger_rows())),
        ("answers_csv", f"answers-{name}.csv", lambda: exports.as_csv(ANSWER_COLUMNS, table.answer_rows())),
        ("answers_json", f"answers-{name}.jsonl", lambda: "".join(table.answer_lines())),
    ]
    if may("export"):
        files.append(("whole", "ledger.jsonl", lambda: "".join(export_lines(workspace().ledger))))
    for_programs = [file for file in files if file[1].endswith(".jsonl")]
    with st.container(horizontal=True):
        _buttons([file for file in files if file not in for_programs])
    with fields.details(say("ledger.specialists"), "ledger-programs") as drawn, st.container(horizontal=True):
        if drawn:
            _buttons(for_programs)


def _buttons(files: list[File]) -> None:
    for what, name, write in files:
        help_text = say(f"ledger.download.{what}_help") if what == "whole" else None
        exports.offer(say(f"ledger.download.{what}"), write, name, f"ledger-{what}", help=help_text)


def now() -> tuple[tuple[int, str], str]:
    """The chain's head, and the present time."""
    return workspace().ledger.head(), datetime.now(UTC).isoformat(timespec="seconds")


_STYLE = sheet("ledger/ledger_view")
