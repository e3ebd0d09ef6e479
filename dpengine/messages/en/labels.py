"""The labels that a declaration makes by itself."""

SENTENCES: dict[str, str] = {
    "value.other": "other",
    "value.not_listed": "not in the list",
    "value.no_answer": "no answer",
    "value.yes": "yes",
    "value.no": "no",
}
