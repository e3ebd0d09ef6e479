"""What the Answers page says, and what is said of figures beside each other."""

SENTENCES: dict[str, str] = {
    "compare.number": "Pick two figures or more, up to {most}.",
    "compare.tables": "These figures are of different tables. Pick figures of one table.",
    "compare.units": "These figures are not of one kind: one counts, another is an average, a share or a total. Pick figures of one kind, about one column.",
    "compare.bought": "A percentile’s range was bought for that answer alone and cannot be widened afterwards, so it is not compared with another answer. Pick two groups of one answer, or ask for averages instead.",
    "compare.few": "One of them says too little to be compared: with everything that could have been picked in mind, nearly any figure is possible. Take another one, or ask it again at a higher spend.",
    "compare.few_part": "“{part}” says too little to be compared: with everything that could have been picked in mind, nearly any figure is possible. Leave it out, or ask again at a higher spend.",
}
