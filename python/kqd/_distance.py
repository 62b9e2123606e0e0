"""kqd.distance: the discrepancy between two samples."""

from __future__ import annotations

from typing import Mapping, Optional, Sequence, Union

from numpy.typing import ArrayLike

from . import _core
from ._compare import Comparison
from ._kernels import KernelLike
from ._options import Parameter, Rng, WeightingLike, none_is_default
from ._results import DistanceResult


@none_is_default
def distance(
    x: ArrayLike,
    y: Optional[ArrayLike] = None,
    *,
    method: str = "ekqd",
    kernel: KernelLike = "gaussian",
    bandwidth: Union[str, float] = "median",
    directions: str = "gaussian",
    n_directions: Optional[int] = None,
    whiten: bool = False,
    n_reference: Optional[int] = None,
    reference: Union[str, ArrayLike] = "gaussian",
    coefficients: Optional[ArrayLike] = None,
    power: float = 1.0,
    weighting: WeightingLike = "uniform",
    x_weights: Optional[ArrayLike] = None,
    y_weights: Optional[ArrayLike] = None,
    standardize: str = "auto",
    types: Union[str, Mapping[str, str]] = "",
    categorical: str = "auto",
    nan_policy: str = "indicator",
    group: Optional[str] = None,
    names: Union[str, Sequence[str]] = "",
    compat: Union[str, Sequence[str]] = (),
    profiles: int = 0,
    rng: Rng = None,
    workers: Optional[int] = None,
    max_memory: Optional[float] = None,
    allow_quadratic: bool = False,
    **parameters: Parameter,
) -> DistanceResult:
    """How far apart the distributions behind two samples are.

    Both samples are seen along directions of a kernel's feature space; along each direction their quantile functions
    are compared, and the gaps are averaged (``ekqd``) or the largest is taken (``supkqd``).

    Parameters
    ----------
    x, y : array_like
        The samples: rows are points, columns coordinates; one dimension means one column. Row-major float64 arrays
        are read in place; other arrays, lists, pandas objects and what has ``__array__`` or DLPack on the CPU are
        converted. Columns of two DataFrames are matched by name, and may hold texts, categories, booleans and dates.
        Or the names of two files that the program reads. With a kernel of objects, lists of objects, tables with one
        column, or names of text files with an object in each line.
    method : str
        What to compute, one of ``[m.id for m in kqd.methods()]``.
    kernel : str or callable
        ``family[:parameter...][@bandwidth]``, such as ``"gaussian"``, ``"rq:2"``, ``"polynomial:3:1"``, or several
        joined by ``+`` and ``*``: ``"0.3 gaussian@0.5 + 0.7 laplace"``. Or a function of your own, which takes two
        blocks of rows, or two lists of objects if x and y are such, and returns the len(a) x len(b) matrix of their
        values. Or ``"precomputed"``: then x and y are the rows of the Gram matrix of the pooled points,
        ``x = gram[:n_x]`` and ``y = gram[n_x:]``. Reference points of objects and of a Gram matrix are pooled rows.
    bandwidth : "median" or float
        For every part of the kernel that leaves it open: from the median distance between pooled points, or a number.
    directions : str
        ``"gaussian"`` (random functions of the kernel's space), ``"linear"`` (uniform on the sphere of R^d),
        ``"axis"`` (the coordinates); ``"principal"`` (leading eigenfunctions of the pool's covariance operator) or
        ``"mixed"`` (half principal, half Gaussian).
    n_directions : int, optional
        How many directions to draw; by default 64, and more for up to 8,000 rows.
    whiten : bool
        Scale principal directions to unit variance.
    n_reference : int, optional
        How many reference points span the Gaussian directions; by default 64, and up to 512 where rows are few. Of
        pooled rows an eighth, from 2 to 64.
    reference : str or array_like
        Where the reference points come from: ``"gaussian"``, ``"uniform"``, ``"pooled"``, ``"balanced"``, or the points
        themselves (m x d); with objects or a Gram matrix, numbers of pooled rows from 0.
    coefficients : array_like, optional
        Instead of drawn ones: an m x l matrix whose column i makes direction i from the reference points.
    power : float
        The order p >= 1 of the distance between quantile functions; ``numpy.inf`` takes the largest gap.
    weighting : str, array_like or callable
        How quantile levels count: ``"uniform"``, ``"triangle[:ratio]"``, ``"reverse-triangle[:ratio]"``,
        ``"slope-up[:ratio]"``, ``"slope-down[:ratio]"``, ``"interval:low:high"``, ``"beta:a:b"`` or ``"atom:level"``
        (a ratio is that of the lowest density to the highest, 0 if not given); a mixture such as ``"0.7 uniform+0.3 atom:0.5"``; rows of a level and a density (linear in between, levels from 0
        to 1); or a function that returns the density at a level, which is tabulated. The sign of a drawn direction is
        random, so that a weighting of one tail weighs both, on average; `coefficients` fix the signs.
    x_weights, y_weights : array_like, optional
        A weight per row, >= 0; each sample's weights are scaled to sum 1.
    standardize : "auto", "none", "zscore" or "iqr"
        ``"auto"`` and ``"none"``: columns as they are. ``"zscore"`` and ``"iqr"`` scale columns of numbers by the pooled mean and standard deviation, or median and
        quartiles.
    types : dict or str
        Types of columns of tables, by name, where they are not what the table says: ``"number"``, ``"integer"``,
        ``"ordered"`` (ranks of numbers; of texts ``"ordered:S<M<L"``), ``"boolean"``, ``"category"``, ``"text"`` (hashed),
        ``"date"``, ``"date-dmy"``, ``"date-mdy"``, ``"id"`` or ``"constant"`` (both excluded).
    categorical : "auto", "raise", "onehot", "hash" or "drop"
        Columns of texts: ``"auto"`` goes by their types, ``"raise"`` refuses them, ``"onehot"`` and ``"hash"`` make
        columns of 0 and 1 of all, ``"drop"`` excludes them.
    nan_policy : "indicator", "raise", "omit" or "impute-median"
        Missing values: ``"indicator"`` marks them by a column of its own, so that a change of what is missing is a
        difference too; distances and kernels see a missing number at the pooled median, next to its mark. ``"raise"``
        refuses them; ``"omit"`` excludes such rows, and partners of paired rows; ``"impute-median"`` fills in the
        pooled median without a mark.
    group : str, optional
        `x` is one table with both samples, and this column with two values tells them apart; `y` is not given.
    names : sequence of str
        What texts call the samples: ``["March", "April"]``.
    compat : sequence of str
        What the authors' code does differently, for comparison: ``"extra-direction"``, ``"point-levels"``,
        ``"jitter"``, ``"unnormalised"``, ``"median-diagonal"``, ``"zero-centred"``.
    profiles : int
        Keep the quantiles of both samples along this many directions, those with the largest gaps.
    rng : int, numpy.random.Generator or None
        The seed, or what it is drawn from; None takes a fresh one. The seed that was used is in the result.
    workers : int, optional
        How many threads may work; None or -1 for all. Changes the speed, not one bit of the result.
    max_memory : float, optional
        Bytes that may be held next to the samples; directions are then taken a few at a time. Changes the speed, not the
        result.
    allow_quadratic : bool
        Allow methods of quadratic or higher cost to run on samples for which that takes many minutes.
    **parameters
        Parameters of the method, as ``kqd.methods()`` lists them: ``epsilon=0.1`` for ``"sinkhorn"``.

    Returns
    -------
    DistanceResult

    Raises
    ------
    TypeError, ValueError
        For data or options that cannot be used; the sentence names the value and its bound.
    kqd.ResourceLimitError
        For work that would take too long, unless it is allowed.

    Examples
    --------
    >>> import numpy as np, kqd
    >>> rng = np.random.default_rng(1)
    >>> x, y = rng.normal(size=(300, 5)), rng.normal(size=(200, 5)) * [1, 1, 1, 1, 2]
    >>> result = kqd.distance(x, y, rng=0)
    >>> round(result.statistic, 4)
    0.0613
    >>> result.per_direction.shape
    (1024,)

    On the line the linear kernel gives the Wasserstein distance, here of order 2 between samples of unequal size:

    >>> kqd.distance([0, 1], [0.5, 2, 3], kernel="linear", power=2, rng=0).statistic
    1.5

    Every step can be given, which makes any other implementation comparable number by number:

    >>> kqd.distance([4, 5], [6, 7], bandwidth=2, reference=[4, 5, 6, 7], rng=0,
    ...              coefficients=[[1, 0.3], [-1, 0.7], [0.5, -1.2], [2, 0.4]])
    DistanceResult
      distance     0.538225 (Monte Carlo SE over directions 0.19)
      X            x, 2 rows x 1 column
      Y            y, 2 rows x 1 column
      kernel       gaussian, bandwidth 2
      directions   2 gaussian, 4 reference points given
      levels       uniform weighting, power p = 1
      seed         0
    """
    comparison = Comparison("distance", locals())
    samples = comparison.samples
    with samples.cells_named():
        found = _core.distance(samples.x, samples.y, comparison.settings)
    return comparison.remembered(DistanceResult._of(comparison.fields(found)))
