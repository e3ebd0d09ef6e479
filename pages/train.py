"""Train: a model that predicts one column from others, fitted in noisy steps."""

from __future__ import annotations

from ui.shell.state import current_table
from ui.train import train

train.show(current_table())
