"""`make bench`: how fast and how exact the answers are, beside other tools. Timings belong only here."""
