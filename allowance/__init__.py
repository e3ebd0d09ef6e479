"""Allowance as an installed program. Its version stands here and nowhere else."""

__version__ = "0.1.0"
