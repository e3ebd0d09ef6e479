"""What an answer does not count as the file has it; parts of one sentence."""

SENTENCES: dict[str, str] = {
    "cut.all": "Counted as declared: {parts}.",
    "cut.rows": "at most {most} {most|row|rows} of each {column} {most|counts|count}, and none without one",
    "cut.range": "{column} above {upper} counts as {upper}, below {lower} as {lower}",
    "cut.range.upper": "{column} above {upper} counts as {upper}",
    "cut.range.lower": "{column} below {lower} counts as {lower}",
    "cut.days": "{column} after {upper} counts as {upper}, before {lower} as {lower}",
    "cut.days.upper": "{column} after {upper} counts as {upper}",
    "cut.days.lower": "{column} before {lower} counts as {lower}",
    "cut.filled": "a row without {column} counts as {value}",
    "cut.list": "what is not on the list of {columns} counts as “{label}”",
    "cut.list.empty": "an empty cell of {columns} counts as “{label}”",
    "cut.list.both": "an empty cell of {columns}, and what is not on its list, counts as “{label}”",
    "cut.items": "what is not on the list of {column} is left out",
    "cut.set": "at most {most} {most|item|items} of each person’s {column} {most|counts|count}",
    "cut.errors": "errors of more than {value} in {column} count as {value}",
}
