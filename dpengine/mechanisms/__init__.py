"""The catalogue: every question, by its key. Adding a line here puts it under the whole battery of tests."""

from __future__ import annotations

from types import MappingProxyType

from dpengine.contract import Query
from dpengine.mechanisms.adaptive_session import AdaptiveSession
from dpengine.mechanisms.cdf import Cdf
from dpengine.mechanisms.cdf_tree import CdfTree
from dpengine.mechanisms.check_model import CheckModel
from dpengine.mechanisms.count import Count
from dpengine.mechanisms.crosstab import Crosstab
from dpengine.mechanisms.density import Density
from dpengine.mechanisms.find_range import FindRange
from dpengine.mechanisms.find_values import FindValues
from dpengine.mechanisms.fit_check import FitCheck
from dpengine.mechanisms.histogram import Histogram
from dpengine.mechanisms.local_count import LocalCount
from dpengine.mechanisms.mean import Mean
from dpengine.mechanisms.mwem import Mwem
from dpengine.mechanisms.noisy_argmax import NoisyArgmax
from dpengine.mechanisms.proportion import Proportion
from dpengine.mechanisms.publish_category import PublishCategory
from dpengine.mechanisms.publish_number import PublishNumber
from dpengine.mechanisms.publish_table import PublishTable
from dpengine.mechanisms.quantile import Median, Quantile
from dpengine.mechanisms.shuffle_count import ShuffleCount
from dpengine.mechanisms.shuffle_histogram import ShuffleHistogram
from dpengine.mechanisms.small_database import SmallDatabase
from dpengine.mechanisms.sum import Sum
from dpengine.mechanisms.top_item import TopItem
from dpengine.mechanisms.train_linear import TrainLinear
from dpengine.mechanisms.train_logistic import TrainLogistic
from dpengine.mechanisms.variance import Variance

catalogue: MappingProxyType[str, type[Query]] = MappingProxyType(
    {
        query.card.key: query
        for query in (
            Count, Proportion, Median, Mean, Sum, Variance, Quantile, Histogram, Crosstab, TopItem, NoisyArgmax,
            FitCheck, FindRange, FindValues, AdaptiveSession, PublishNumber, PublishCategory, PublishTable,
            LocalCount, ShuffleCount, ShuffleHistogram, Cdf, CdfTree, SmallDatabase, Mwem, Density, TrainLinear,
            TrainLogistic, CheckModel,
        )
    }
)
