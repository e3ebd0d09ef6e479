"""The catalogue: every question, by its key. Adding a line here puts it under the whole battery of tests."""

from __future__ import annotations

from types import MappingProxyType

from dpengine.mechanisms.choices.find_range import FindRange
from dpengine.mechanisms.choices.find_values import FindValues
from dpengine.mechanisms.choices.noisy_argmax import NoisyArgmax
from dpengine.mechanisms.choices.quantile import Median, Quantile
from dpengine.mechanisms.choices.top_item import TopItem
from dpengine.mechanisms.counts.count import Count
from dpengine.mechanisms.counts.crosstab import Crosstab
from dpengine.mechanisms.counts.fit_check import FitCheck
from dpengine.mechanisms.counts.histogram import Histogram
from dpengine.mechanisms.counts.proportion import Proportion
from dpengine.mechanisms.curves.cdf import Cdf
from dpengine.mechanisms.curves.cdf_tree import CdfTree
from dpengine.mechanisms.curves.density import Density
from dpengine.mechanisms.local.local_count import LocalCount
from dpengine.mechanisms.local.shuffle_count import ShuffleCount
from dpengine.mechanisms.local.shuffle_histogram import ShuffleHistogram
from dpengine.mechanisms.models.check_model import CheckModel
from dpengine.mechanisms.models.train_linear import TrainLinear
from dpengine.mechanisms.models.train_logistic import TrainLogistic
from dpengine.mechanisms.publish.publish_category import PublishCategory
from dpengine.mechanisms.publish.publish_number import PublishNumber
from dpengine.mechanisms.publish.publish_table import PublishTable
from dpengine.mechanisms.query import Query
from dpengine.mechanisms.session.adaptive_session import AdaptiveSession
from dpengine.mechanisms.sums.mean import Mean
from dpengine.mechanisms.sums.sum import Sum
from dpengine.mechanisms.sums.variance import Variance
from dpengine.mechanisms.synthetic.mwem import Mwem
from dpengine.mechanisms.synthetic.small_database import SmallDatabase

catalogue: MappingProxyType[str, type[Query]] = MappingProxyType(
    {
        query.card.key: query
        for query in (
            Count,
            Proportion,
            Median,
            Mean,
            Sum,
            Variance,
            Quantile,
            Histogram,
            Crosstab,
            TopItem,
            NoisyArgmax,
            FitCheck,
            FindRange,
            FindValues,
            AdaptiveSession,
            PublishNumber,
            PublishCategory,
            PublishTable,
            LocalCount,
            ShuffleCount,
            ShuffleHistogram,
            Cdf,
            CdfTree,
            SmallDatabase,
            Mwem,
            Density,
            TrainLinear,
            TrainLogistic,
            CheckModel,
        )
    }
)
