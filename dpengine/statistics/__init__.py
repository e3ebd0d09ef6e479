"""What a question may ask of the data. Every statistic stands in one place: its meaning, a made-up version of it, the
aggregate that computes it on any engine, and how aggregated columns become it."""
