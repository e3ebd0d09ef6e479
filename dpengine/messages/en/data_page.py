"""What the Data page says."""

SENTENCES: dict[str, str] = {}
