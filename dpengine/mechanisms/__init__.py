"""The catalogue: every question, by its key. Adding a line here puts it under the whole battery of tests."""

from __future__ import annotations

from types import MappingProxyType

from dpengine.contract import Query
from dpengine.mechanisms.count import Count
from dpengine.mechanisms.histogram import Histogram
from dpengine.mechanisms.quantile import Median, Quantile
from dpengine.mechanisms.top_item import TopItem

catalogue: MappingProxyType[str, type[Query]] = MappingProxyType(
    {query.card.key: query for query in (Count, Median, Quantile, Histogram, TopItem)}
)
