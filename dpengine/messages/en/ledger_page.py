"""What the Ledger page says."""

SENTENCES: dict[str, str] = {
    "ledger.lead": (
        "Every question was charged before it was answered. Nothing is refunded, and repeats of an answer are free."
    ),
    "ledger.shared": "One allowance for {tables}: the questions to all of them are below.",
    "answers.elsewhere": "Answers about “{table}”",
    "ledger.empty": "Nothing has been asked of “{table}” yet, so its whole allowance is left.",
    "ledger.first": "Ask a first question",
    "ledger.start": "start",
    "ledger.now": "now",
    "ledger.step": "{at} UTC",
    "ledger.burn_alt": (
        "What was left of the allowance after each of {charges} charges: from 100 % down in steps to {left} now."
    ),
    "ledger.burn_every": "{charges} charges, of which the picture shows {shown}, about evenly apart.",
    "ledger.rows": "Charges {first} to {last} of {charges}, newest first",
    "ledger.stop": "If you stop now",
    "ledger.stop_reading": (
        "Everything answered so far adds up to ε = {epsilon} at δ = {delta}, which is {share} of the allowance. That "
        "stays true even if it was the answers that made you stop here."
    ),
    "ledger.more.nothing": "Nothing is left to ask with; every answer above stays free to look at.",
    "ledger.more.none": "Another question like the last one does not fit any more; a less exact one may.",
    "ledger.more.one": "About one more question like the last one fits.",
    "ledger.more.many": "About {more} more questions like the last one fit.",
    "ledger.more.lots": "More than a million questions like the last one fit.",
    "ledger.more.cheaper": "The more small questions there are, the less each one adds.",
    "ledger.others": "The same history by other accountings, if all had been fixed in advance. They are for comparison: a figure above 100 % does not mean that too much was spent.",
    "ledger.others_note": (
        "At δ = {delta}. Here questions are chosen as one goes, so these do not decide what is left; the meter does."
    ),
    "ledger.rule": "accounting",
    "ledger.rule.epsilon": "ε",
    "ledger.rule.share": "of the allowance",
    "ledger.rule.basic": "simple addition",
    "ledger.rule.lecture": "the lecture’s bound (strong composition)",
    "ledger.rule.zcdp": "concentrated (zCDP)",
    "ledger.rule.nothing": "no reading",
    "ledger.unreadable": "The rows cannot be shown.",
    "ledger.check": "Is the ledger whole?",
    "ledger.check_lead": (
        "All budgets of this workspace are in one ledger. Every row is tied to the one before it, so a changed, removed "
        "or added row shows."
    ),
    "ledger.specialists": "For specialists",
    "ledger.chain": "Each row holds the hash of the one before it: a chain.",
    "ledger.head": "Head of the chain, row {row}",
    "ledger.head_why": (
        "Note it somewhere else: the chain itself cannot show that its last rows were cut off, but a head you noted can."
    ),
    "ledger.kept": "A head or receipt you wrote down earlier (optional)",
    "ledger.verify": "Check every row",
    "ledger.verifying": "Checking every row…",
    "ledger.verified": "The ledger is whole: {rows} rows checked, the last is {head}…",
    "ledger.kept_found": "What you wrote down is row {row}: every row up to it is still as it was then.",
    "ledger.kept_short": "Type at least {least} of the figures 0–9 and a–f you wrote down, from the left.",
    "ledger.kept_gone_title": "Not in this ledger.",
    "ledger.kept_gone": (
        "No row has the hash you wrote down. If it was copied right, rows were cut off or the ledger was written anew; "
        "put back a sound copy."
    ),
    "ledger.broken": "The chain is broken.",
    "ledger.holds_to": "The last row that holds is row {row}, hash {hash}…; trust no answer after it.",
    "ledger.nothing_holds": "No row before it holds. Trust no answer in it.",
    "ledger.downloads": "Take it with you",
    "ledger.download.rows": "Ledger rows (CSV)",
    "ledger.download.answers_csv": "All answers (CSV)",
    "ledger.download.answers_json": "All answers (JSON lines)",
    "ledger.download.report": "Report to read (HTML)",
    "ledger.download.whole": "Whole ledger (JSON lines)",
    "ledger.download.whole_help": "Every row of this workspace’s ledger as it is stored, to check receipts elsewhere.",
    "ledger.burn_raised": "A step up is where the owner raised the allowance. Before it the picture counts in parts of the smaller one; the table below counts in parts of the one now.",
    "ledger.raised": "{at} UTC, allowance raised",
    "receipt.check": "Check a receipt",
    "receipt.check_lead": (
        "Somebody gave you a figure with its receipt? Drop the receipt’s file here: it is compared with this ledger, "
        "field by field. Nothing is spent and the file is not kept."
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
