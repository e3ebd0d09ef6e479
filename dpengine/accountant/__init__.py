"""Who may spend, and what it cost: one file per rule.

`filter` decides (the only rule that is valid when questions and prices are picked as one goes); `basic`, `lecture` and
`zcdp` read the same history as if it had all been fixed in advance; `pld` prices a plan, numerically.
"""
