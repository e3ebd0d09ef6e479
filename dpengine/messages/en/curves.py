"""Whole distributions: curves, synthetic columns and tables."""

SENTENCES: dict[str, str] = {
    "card.cdf.title": "A synthetic column",
    "card.cdf.plain": "A made-up column whose values are spread nearly as the real ones are: the share of people below every point is about right.",
    "card.cdf.theorem": "Small database for threshold queries (Blum, Ligett, Roth 2008, Theorem 3.1) by the exponential mechanism, drawn exactly",
    "card.cdf.caveat.rival": "For the curve alone, the noisy tree is nearly always nearer; this one gives a column that can be used like data.",
    "card.cdf_tree.title": "How many at or below each point",
    "card.cdf_tree.plain": "A rising curve: for every point, how many people are at or below it, give or take a known amount.",
    "card.cdf_tree.theorem": "A tree of noisy counts (Hay, Rastogi, Miklau, Suciu 2010; Dwork, Naor, Pitassi, Rothblum 2010)",
    "card.cdf_tree.caveat.falls": "The curve may fall a little here and there: that is the noise. Smoothing it afterwards costs nothing.",
    "sentence.cdf_tree": "The number of people at or below each value of {column}, for {who}",
    "sentence.cdf": "A synthetic column of {column} for {who}",
    "param.points.label": "Values of the synthetic column",
    "param.points.help": "More values follow the curve in finer steps, but are harder to choose. Leave empty for the usual number.",
    "curve.by": "Leave groups out here: a curve is of everyone who meets the condition.",
    "curve.points": "Choose a whole number of values from 1 to {most}.",
}
