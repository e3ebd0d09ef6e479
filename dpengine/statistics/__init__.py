"""The statistics a question may compute on the data. Each has one definition: its meaning, the aggregate that
computes it on any engine, and how the aggregated columns become the statistic."""
