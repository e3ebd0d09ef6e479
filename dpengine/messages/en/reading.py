"""Sentences of the question box: a question typed in a person's own words."""

SENTENCES = {
    "read.nothing": "This names no question that the table can answer. Name what you want and a column: “average of …”.",
    "read.unread": "Not understood: {words}. Write it differently, or take {readings}.",
    "read.several": "This can mean several questions. Choose one: {readings}.",
    "read.or": " or ",
}
