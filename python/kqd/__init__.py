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
from ._explain import ExplainedColumn, ExplainedDirection, Explanation, ExtremeRow, TwoValueShares, explain
from ._methods import methods
from ._results import ComponentStatistic, DistanceResult, Maximiser, Profile, TestResult
from ._test import test

__all__ = [
    "ComponentStatistic",
    "DistanceResult",
    "Embedding",
    "ExplainedColumn",
    "ExplainedDirection",
    "Explanation",
    "ExtremeRow",
    "Maximiser",
    "MethodInfo",
    "Profile",
    "ResourceLimitError",
    "TestResult",
    "TwoValueShares",
    "__version__",
    "distance",
    "explain",
    "methods",
    "test",
]
