"""Train: a model that predicts one column from others, fitted in noisy steps."""

from __future__ import annotations

from ui import train
from ui.state import current_table

train.show(current_table())
