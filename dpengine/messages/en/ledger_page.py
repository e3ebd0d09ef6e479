"""What the Ledger page says."""

SENTENCES: dict[str, str] = {
    "ledger.lead": (
        "Every question was charged before it was answered. Nothing is refunded; seeing an answer again is free."
    ),
    "ledger.shared": "One allowance for {tables}: the questions about all of them are below.",
    "answers.elsewhere": "Answers about “{table}”",
    "ledger.empty": "Nothing has been asked of “{table}” yet; its whole allowance is left.",
    "ledger.first": "Ask a first question",
    "ledger.start": "start",
    "ledger.now": "now",
    "ledger.step": "{at} UTC",
    "ledger.burn_alt": (
        "What was left of the allowance after each of {charges} charges: from 100 % down to {left} now."
    ),
    "ledger.burn_every": "{charges} charges; the picture shows {shown}, about evenly spaced.",
    "ledger.rows": "Charges {first} to {last} of {charges}, newest first",
    "ledger.stop": "If you stop now",
    "ledger.stop_reading": (
        "All answers so far add up to ε = {epsilon} at δ = {delta}, {share} of the allowance. That holds even if the answers made you stop."
    ),
    "ledger.more.nothing": "Nothing is left to ask with; every answer above stays free to see.",
    "ledger.more.none": "Another question like the last does not fit; a less exact one may.",
    "ledger.more.one": "About one more question like the last fits.",
    "ledger.more.many": "About {more} more questions like the last fit.",
    "ledger.more.lots": "More than a million questions like the last fit.",
    "ledger.more.cheaper": "The more small questions, the less each adds.",
    "ledger.others": "What the same questions would take by other ways of counting, had all been fixed in advance. For comparison only: above 100 % does not mean that too much was spent.",
    "ledger.others_note": (
        "At δ = {delta}. Questions here are chosen as you go, so the meter alone decides what is left."
    ),
    "ledger.rule": "accounting",
    "ledger.rule.epsilon": "ε",
    "ledger.rule.share": "of the allowance",
    "ledger.rule.basic": "simple addition",
    "ledger.rule.lecture": "the lecture’s bound (strong composition)",
    "ledger.rule.zcdp": "concentrated (zCDP)",
    "ledger.rule.nothing": "no reading",
    "ledger.unreadable": "The rows cannot be shown.",
    "ledger.check": "Is the ledger intact?",
    "ledger.check_lead": "One ledger holds all allowances of this workspace. Every row is tied to the one before, so a changed, removed or added row shows.",
    "ledger.specialists": "For specialists",
    "ledger.chain": "Each row holds the hash of the one before it: a chain.",
    "ledger.head": "Head of the chain, row {row}",
    "ledger.head_why": (
        "Note it elsewhere: the chain cannot show that its last rows were cut off, but a noted head can."
    ),
    "ledger.kept": "A head or receipt you noted earlier (optional)",
    "ledger.verify": "Check every row",
    "ledger.verifying": "Checking every row…",
    "ledger.verified": "The ledger is intact: {rows} rows checked, the last is {head}…",
    "ledger.kept_found": "Your note is row {row}: every row up to it is unchanged.",
    "ledger.kept_short": "Type at least {least} of the characters 0–9 and a–f you noted, from the left.",
    "ledger.kept_gone_title": "Not in this ledger.",
    "ledger.kept_gone": (
        "No row has the hash you noted. If you copied it correctly, rows were cut off or the ledger was rewritten; restore a sound copy."
    ),
    "ledger.broken": "The chain is broken.",
    "ledger.holds_to": "The last row that holds is row {row}, hash {hash}…; trust no answer after it.",
    "ledger.nothing_holds": "No row before it holds. Trust no answer in it.",
    "ledger.downloads": "Download",
    "ledger.download.rows": "Ledger rows (CSV)",
    "ledger.download.answers_csv": "All answers (CSV)",
    "ledger.download.answers_json": "All answers (JSON lines)",
    "ledger.download.report": "Report to read (HTML)",
    "ledger.download.whole": "Whole ledger (JSON lines)",
    "ledger.download.whole_help": "Every row of this workspace’s ledger as stored, to check receipts elsewhere.",
    "ledger.burn_raised": "A step up is where the owner raised the allowance. Before it, the picture counts in parts of the smaller allowance; the table below in parts of the present one.",
    "ledger.raised": "{at} UTC, allowance raised",
    "receipt.check": "Check a receipt",
    "receipt.check_lead": (
        "Did somebody give you a figure with a receipt? Drop its file here: it is compared with this ledger, field by field. Nothing is spent and the file is not kept."
    ),
    "receipt.file": "Receipt (JSON), or a file with several of them",
    "receipt.checking": "Comparing with the ledger…",
    "receipt.unread": "Not a receipt.",
    "receipt.genuine": "Genuine. {answer}",
    "receipt.answered": "{question}: {answer}",
    "receipt.good": "Receipt {name} is verified:",
    "receipt.bad": "Receipt {name} is not verified:",
    "receipt.all_good": "All {count} receipts in this file are verified.",
    "receipt.some_bad": "{bad} of {count} receipts in this file are not verified.",
    "receipt.more": "and {more} more",
}
