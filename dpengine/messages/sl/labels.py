"""The labels that a declaration makes by itself."""

SENTENCES: dict[str, str] = {
    "value.other": "drugo",
    "value.not_listed": "ni na seznamu",
    "value.no_answer": "ni odgovora",
    "value.yes": "da",
    "value.no": "ne",
}
