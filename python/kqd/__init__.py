"""Compare two samples by kernel quantile embeddings.

>>> import kqd
>>> kqd.distance([0, 1], [0.5, 2, 3], kernel="linear", power=2, rng=0).statistic
1.5
"""

from ._core import MethodInfo, ResourceLimitError, __version__
from ._distance import distance
from ._methods import methods
from ._results import DistanceResult

__all__ = ["DistanceResult", "MethodInfo", "ResourceLimitError", "__version__", "distance", "methods"]
