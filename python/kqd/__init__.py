"""Compare two samples by kernel quantile embeddings.

>>> import kqd
>>> kqd.distance([0, 1], [0.5, 2, 3], kernel="linear", power=2, rng=0).statistic
1.5
>>> kqd.test([1, 2, 3], [4, 5, 6], rng=0).pvalue
0.1
"""

from ._core import MethodInfo, ResourceLimitError, __version__
from ._distance import distance
from ._embedding import Embedding
from ._explain import (
    ExplainedColumn, ExplainedDirection, ExplainedRelation, Explanation, ExtremeRow, LevelShares, MissingShares,
    RelationCell, TwoValueShares, explain,
)
from ._matrix import Matrix, matrix
from ._methods import methods
from ._monitor import Monitor, MonitoredColumn, MonitoredRelation, MonitorEntry
from ._profile import Profile
from ._results import ComponentStatistic, DistanceResult, EffectAspect, Maximiser, QuantileProfile, TestResult
from ._test import test

__all__ = [
    "ComponentStatistic",
    "DistanceResult",
    "EffectAspect",
    "Embedding",
    "ExplainedColumn",
    "ExplainedDirection",
    "ExplainedRelation",
    "Explanation",
    "ExtremeRow",
    "LevelShares",
    "Matrix",
    "Maximiser",
    "MethodInfo",
    "MissingShares",
    "Monitor",
    "MonitorEntry",
    "MonitoredColumn",
    "MonitoredRelation",
    "Profile",
    "RelationCell",
    "QuantileProfile",
    "ResourceLimitError",
    "TestResult",
    "TwoValueShares",
    "__version__",
    "distance",
    "explain",
    "matrix",
    "methods",
    "test",
]
