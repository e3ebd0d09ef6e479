"""Sentences: ledger."""

SENTENCES: dict[str, str] = {
    "budget.epsilon_range": "A privacy allowance must be above 0 and at most {most}; type a number such as 1.",
    "budget.delta_range": "δ must be at least 0 and below 1; a usual choice is 0.000001.",
    "budget.share_range": "The part of δ set aside for slack must lie between 0 and 1; when in doubt, keep 0.9.",
    "budget.rule_unknown": "This allowance follows a rule that this version does not know; update Allowance to use it.",
    "budget.needs_delta": "Gaussian noise needs an allowance with a reserve for rare cases (δ above 0), which this one lacks. Ask another way, such as for a rising curve or the number in each group.",
    "loss.range": "A privacy loss must be an exact number, 0 or more; nothing was spent.",
    "lecture.epsilon_range": "The formula holds only for ε above 0 and at most 2·ln(1/δ); choose a smaller ε or δ.",
    "budget.unknown": "There is no such allowance here; choose the table again, or declare it with a new one.",
    "budget.exceeded": (
        "This question takes {price} % of the allowance; only {left} % is left. Nothing was spent: spend less, or go on with the answers you have."
    ),
    "budget.exceeded_delta": (
        "This question takes {price} of the δ set aside for such questions; only {left} is left. Nothing was spent: ask it another way."
    ),
    "request.id": "A request id has 1 to {most} printable characters; leave it out for a new one.",
    "request.reused": (
        "This request id already belongs to another question, so nothing was spent. Ask again with a new request id."
    ),
    "request.unknown": "Nothing was charged under this request id; ask the question first.",
    "request.meanwhile": "This very question was asked a moment ago, in another tab or by somebody else; nothing was charged again. Its answer is free to see; ask once more if you want another.",
    "request.settled": "This question has ended; look its answer up in the ledger.",
    "release.failed": (
        "The question was charged, but its answer could not be drawn. The charge stays, because a refund could itself reveal something about the data. Ask again to pay for a new draw; if it happens twice, tell the owner of this workspace."
    ),
    "release.interrupted": (
        "The program stopped between charging this question and storing its answer. The charge stays and the answer is not drawn again; ask again to pay for a new draw."
    ),
    "release.waiting": (
        "Another window or program is still answering this question. It is charged once; look again in a moment."
    ),
    "release.not_started": (
        "This question could not be started; nothing was charged. Try again; if it happens twice, tell the owner of this workspace."
    ),
    "release.dropped": "The program stopped while this question waited. Nothing was asked or spent; ask it again.",
    "release.stopped": "This was stopped before its turn; nothing was charged. Ask again to begin anew.",
    "ledger.locked": "The ledger is busy. Nothing more was spent; try again in a few seconds.",
    "ledger.unwritable": (
        "The ledger cannot be written: its disk may be full, or its folder read-only. Make room or allow "
        "writing, then try again."
    ),
    "ledger.damaged": (
        "The ledger cannot be trusted, so nothing more can be spent from it. Check it under Answers, Ledger, and restore a sound copy."
    ),
    "chain.whole": "All {rows} rows hold: each is linked to the one before and the sums are right.",
    "chain.gap": (
        "Row {row} is missing or out of place; every row before it holds. Restore a sound copy of the ledger."
    ),
    "chain.link": (
        "Row {row} is not linked to the row before it; one of the two was changed. Restore a sound copy of the ledger."
    ),
    "chain.hash": (
        "Row {row} was changed after it was written; every row before it holds. Restore a sound copy of the ledger."
    ),
    "chain.form": "Row {row} cannot be read; every row before it holds. Restore a sound copy of the ledger.",
    "chain.twice": (
        "Row {row} repeats something that can happen only once; every row before it holds. Restore a sound copy of the ledger."
    ),
    "chain.totals": (
        "The sums in row {row} do not follow from its charge; every row before it holds. Restore a sound copy of the ledger."
    ),
    "chain.rule": "Row {row} spends more than its allowance permits; every row before it holds. Restore a sound copy of the ledger.",
    "chain.orphan": "Row {row} belongs to no allowance or charge written before it. Restore a sound copy of the ledger.",
    "chain.guards": (
        "All rows hold, but the file’s guards against changes are gone. Restore a sound copy of the ledger."
    ),
}
