"""Sentences of the question box: a question typed in a person's own words."""

SENTENCES = {
    "box.label": "Ask in your own words",
    "box.label_of": "Ask {table} in your own words",
    "box.example": "for example: {text}",
    "box.example_of": "{kind} {column}",
    "box.example_by": "{text} by {column}",
    "box.read": "Understood as: {sentence}. Change any part below; nothing is asked yet.",
    "box.unread": "Not understood, so left out: {words}.",
    "box.undeclared": "Nobody has declared what {columns} holds, so it cannot be asked about yet.",
    "box.declare": "Declare {columns}",
    "box.rather": "Rather: {sentence}",
    "draft.left": "You left a question unfinished: {sentence}.",
    "draft.take": "Continue with it",
    "draft.drop": "Delete it",
    "box.undo": "Undo",
    "read.nothing": "This names no question that the table can answer. Name what you want and a column: “average of …”.",
    "read.unread": "Not understood: {words}. Write it differently, or take {readings}.",
    "read.several": "This can mean several questions. Choose one: {readings}.",
    "read.quoted": "“{text}”",
    "read.or": " or ",
}
