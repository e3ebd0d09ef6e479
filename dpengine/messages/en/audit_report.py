"""The auditor's report, and the events it watches for."""

SENTENCES = {
    "audit.event.number": "the number",
    "audit.event.nth": "number {place}",
    "audit.event.ratio": "the estimated log-likelihood ratio",
    "audit.event.equal": "{name} is {value}",
    "audit.event.at_most": "{name} is at most {high}",
    "audit.event.at_least": "{name} is at least {low}",
    "audit.event.between": "{name} is from {low} to {high}",
    "audit.event.same": "the answer is {outcome}",
    "audit.event.other": "the answer is not {outcome}",
    "audit.event.found": "‘{name}’ was found, with at least {low}",
    "audit.event.seldom": "‘{name}’ was not found with more than {high}",
    "audit.event.absent": "‘{name}’ was not found",
}
