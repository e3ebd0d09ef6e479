"""What a person reads about a question before asking it."""

SENTENCES: dict[str, str] = {
    "card.count.title": "How many",
    "card.count.plain": "How many people meet a condition, give or take a known amount.",
    "card.count.theorem": "Discrete Laplace mechanism (Dwork, McSherry, Nissim, Smith 2006; Ghosh, Roughgarden, Sundararajan 2009, Theorem 1.1)",
    "card.histogram.title": "How many in each group",
    "card.histogram.plain": "One bar for every declared value or bin, each give or take a known amount, all at once.",
    "card.histogram.theorem": "Discrete Laplace mechanism on a vector of counts (Dwork, McSherry, Nissim, Smith 2006, Proposition 1)",
    "card.histogram.caveat.bins": "Bars may come out below zero: that is the noise, and cutting it off would bias the rest.",
    "card.median.title": "Typical value",
    "card.median.plain": "The value in the middle: half of the people are below it, half above.",
    "card.median.theorem": "Exponential mechanism (McSherry, Talwar 2007, Theorem 6) with a capped rank score of sensitivity one",
    "card.median.caveat.rank": "The promise is about places in the ordering; the range in the column’s own unit comes with the answer.",
    "card.quantile.title": "Percentile",
    "card.quantile.plain": "The value that a chosen share of the people stay below.",
    "card.quantile.theorem": "Exponential mechanism (McSherry, Talwar 2007, Theorem 6) with a capped rank score of sensitivity one",
    "card.quantile.caveat.rank": "The promise is about places in the ordering; the range in the column’s own unit comes with the answer.",
    "card.top_item.title": "Most common",
    "card.top_item.plain": "The value of a list that most people have, or one nearly as common.",
    "card.top_item.theorem": "Exponential mechanism (McSherry, Talwar 2007, Theorems 6 and 7)",
    "card.top_item.caveat.ties": "Only the name is released, not its count, and nothing about the others.",
}
