"""Planted errors: wrong twins of this program's own parts, each held against a check that the right part passes.

`python -m tests.planted` runs them all, prints which check caught which, and fails when one escapes.
"""
