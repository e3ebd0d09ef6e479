"""Plans: several questions priced and asked together."""

SENTENCES: dict[str, str] = {
    "plan.exceeded": "The plan takes more than is left for it now, so nothing was charged. Loosen a promise, take a question out, or keep less untouched.",
    "plan.empty": "The plan is empty. Add a question on the Ask page first.",
    "plan.long": "A plan holds at most {most} questions; run this one first, or take some out.",
    "plan.out_of_reach": "No spend can promise that much for “{sentence}”; accept a larger error.",
    "plan.keep_range": "The part of the allowance to keep must lie between 0 and 99 %.",
}
