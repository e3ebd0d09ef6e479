"""Privacy accounting. `filter` admits or refuses a charge: the only rule that is valid when questions and prices are
chosen adaptively. `compositions` reads the same history as if it had been fixed in advance; `pld` prices a plan,
numerically.
"""
