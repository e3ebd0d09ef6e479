"""Lesson 11: whom do you trust?"""

SENTENCES: dict[str, str] = {
    "lesson.11.title": "Whom do you trust?",
    "lesson.11.line": "A curator, a shuffler, or nobody: what each costs.",
    "lesson.11.do": "The same question, “how many?”, at the same ε, trusting a curator, only a shuffler, or nobody. Change how many people take part.",
    "lesson.11.set.people": "People who take part",
    "lesson.11.central": "trusting a curator",
    "lesson.11.tight": "trusting a shuffler",
    "lesson.11.local": "trusting nobody",
    "lesson.11.error": "± {error} people",
    "lesson.11.bars": "How far the answer can be off, 95 times in 100",
    "lesson.11.pile": "What the shuffler hands on for twelve made-up people: their truths and their coins, in one pile",
    "lesson.11.alt.bars": "Error bars: trusting a curator {central} people, trusting a shuffler {tight} people, trusting nobody {local} people.",
    "lesson.11.alt.pile": "Twenty-four messages in random order, {ones} of them ones.",
    "lesson.11.one": "With {people} people the curator's answer is off by up to {central} people and the shuffler's by up to {tight}: neither grows with the number of people.",
    "lesson.11.two": "Trusting nobody, everybody adds noise of their own, and it adds up: {local} people, {times} times as much as the curator's. A hundred times the people, ten times the error.",
    "lesson.11.theorem": "At ε = {epsilon}, and δ = {delta} for the shuffler. Central: discrete Laplace noise once, error of the order 1/ε.\nShuffle: each person sends the bit and a coin of chance p; whoever sees the shuffled pile sees the true number plus binomial noise. Here p = {p}, the least that keeps (ε, δ) exactly; the noise has standard deviation {deviation}. The lecture's p = 48·ln(2/δ)/(ε²n) would be {lecture}.\nLocal: each person turns the bit with chance 1/(1+e^ε); the error is of the order √n/ε, and in the local model nobody can do better.\nHonest participants are assumed: everybody's coin is part of everybody's protection. The pile was drawn for twelve made-up people with p = {small}; twelve people hide nobody in earnest.",
    "lesson.11.source": "Local: Warner 1965; Kasiviswanathan et al. 2011; lower bound Beimel, Nissim, Omri 2008. Shuffle: lecture 8; Cheu, Smith, Ullman, Zeber, Zhilyaev 2019.",
    "lesson.11.relation": "One person's row (replace-one): the number of people is public, and without a curator it cannot be hidden.",
}
