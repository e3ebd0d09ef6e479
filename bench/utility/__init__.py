"""How good an answer is for its allowance: ours, ours before, and the best that is published, at equal guarantee."""
