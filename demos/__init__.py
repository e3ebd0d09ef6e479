"""Demonstrations on made-up tables. They touch no private table: ordinary random numbers and public seeds are fine."""
