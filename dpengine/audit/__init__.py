"""Does the engine keep its promises? Exact divergences of its laws, lower bounds from its draws, the ledger as a game.

Nothing here is imported by the app's own path to an answer, and nothing here reads a person's table.
"""
