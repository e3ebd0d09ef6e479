"""What an owner does to a table or its allowance, and what is said of it."""

SENTENCES: dict[str, str] = {
    "act.seal": "The owner sealed {table}: no more questions.",
    "act.forget": "The owner had {table} forgotten: its rows were deleted, its answers stay.",
    "act.raise": "The owner raised the allowance from ε = {before} to ε = {after}.",
    "act.practice": "A practice table cannot be sealed, forgotten or given a larger allowance; bring a table of your own.",
    "table.sealed": "The owner sealed “{table}”, so nothing more can be asked of it. Nothing was spent; earlier answers are free to see in the Ledger.",
    "table.forgotten": "The rows of “{table}” were deleted, so nothing more can be asked of it. Nothing was spent; earlier answers are free to see in the Ledger.",
    "table.closed": "“{table}” was sealed or forgotten and cannot be declared anew; choose another table.",
    "raise.upwards": "An allowance can only be raised: type an ε above {now} and at most {most}.",
    "forget.left": "The table is closed, but some of its files could not be deleted yet. Close other programs that use this workspace and start Allowance again: it deletes the rest.",
    "chain.closed": "Row {row} asks a table that was sealed or forgotten before; every row before it holds. Put back a sound copy of the ledger.",
    "chain.raise": "Row {row} does not raise the allowance from what it was; every row before it holds. Put back a sound copy of the ledger.",
}
