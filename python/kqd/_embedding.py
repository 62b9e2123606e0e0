"""kqd.Embedding: one sample, seen by its quantiles along directions of a kernel's feature space."""

from __future__ import annotations

import time
from typing import Any, Dict, Optional, Sequence, Tuple, Union

import numpy as np
from numpy.typing import ArrayLike, NDArray

from . import _arrays, _core
from ._kernels import PRECOMPUTED, KernelLike
from ._options import Rng, core_settings, hinting, settings
from ._results import DistanceResult
from ._tables import Table


class Embedding:
    """The kernel quantile embedding of a sample: its quantile function along each of many directions.

    Embeddings that share their directions are compared without looking at the rows again, one with many others if need
    be: `embed` makes the second from the first. Directions are drawn from the sample that comes first, so it pays to
    begin with a typical one: a reference month, or the pooled data.

    Parameters
    ----------
    sample : array_like
        Rows are points, as for `kqd.distance`.
    weights : array_like, optional
        A weight per row, >= 0.
    nan_policy : "raise" or "omit"
        What to do with rows that have a NaN.
    kernel, bandwidth, directions, n_directions, whiten, n_reference, reference, coefficients, compat, rng, workers
        As for `kqd.distance`; the pool is the sample only.

    Examples
    --------
    >>> import numpy as np, kqd
    >>> rng = np.random.default_rng(0)
    >>> january, february = rng.normal(size=(200, 3)), rng.normal(size=(150, 3)) + 0.5
    >>> base = kqd.Embedding(january, bandwidth=1.5, n_directions=16, rng=0)
    >>> base
    Embedding(200 rows, 3 columns, 16 gaussian directions, kernel gaussian@1.5)
    >>> base.quantiles([0.25, 0.5, 0.75]).shape
    (16, 3)
    >>> other = base.embed(february)
    >>> round(base.distance(other).statistic, 3)
    0.071
    >>> base.distance(base).statistic
    0.0

    An embedding can be pickled, with its directions and a copy of its sample; not so one by a kernel function.
    """

    @hinting
    def __init__(
        self,
        sample: ArrayLike,
        *,
        weights: Optional[ArrayLike] = None,
        nan_policy: str = "raise",
        kernel: KernelLike = "gaussian",
        bandwidth: Union[str, float] = "median",
        directions: str = "gaussian",
        n_directions: int = 64,
        whiten: bool = False,
        n_reference: Optional[int] = None,
        reference: Union[str, ArrayLike] = "gaussian",
        coefficients: Optional[ArrayLike] = None,
        compat: Union[str, Sequence[str]] = (),
        rng: Rng = None,
        workers: Optional[int] = None,
    ) -> None:
        asked = {name: value for name, value in locals().items() if name != "self"}
        if isinstance(kernel, str) and kernel == PRECOMPUTED:
            raise ValueError('kernel "precomputed" is defined only on the rows of one comparison; an embedding needs a kernel')
        options = core_settings("embedding", asked)
        options.complete()
        sample = _arrays.as_frame(sample)
        rows, kept = _arrays.sample(sample, weights, "sample", nan_policy=nan_policy)
        with _arrays.cells_named(_arrays.column_names(sample), {"sample": kept}):
            self._core = _core.Embedding(rows, options)
        self._columns = _column_names(sample)
        # Of the sample, the core has what it needs.
        self._asked = {**asked, "sample": self._columns, "rng": options.seed}

    @hinting
    def embed(
        self, sample: ArrayLike, *, weights: Optional[ArrayLike] = None, nan_policy: str = "raise"
    ) -> "Embedding":
        """The embedding of another sample along the same directions."""
        matched = _arrays.matching(sample, self._columns, "sample", "the first sample")
        other = object.__new__(Embedding)
        other.__dict__.update(self.__dict__)
        rows, kept = _arrays.sample(matched, weights, "sample", nan_policy=nan_policy)
        with _arrays.cells_named(_arrays.column_names(matched), {"sample": kept}):
            other._core = self._core.embed(rows)
        return other

    def quantiles(self, levels: ArrayLike) -> NDArray[np.float64]:
        """Quantiles along every direction: one per direction for a single level in [0, 1], else a column per level.

        The quantile of level a is the smallest value with at least the share a of the sample at or below it.
        """
        wanted = np.asarray(levels, dtype=float)
        if wanted.ndim > 1:
            raise ValueError(f"levels has {wanted.ndim} dimensions, expected a number or one dimension")
        values = self._core.quantiles(np.atleast_1d(wanted).tolist())
        return values if wanted.ndim else values[:, 0]

    def means(self) -> NDArray[np.float64]:
        """The mean along every direction: the inner product with the kernel mean embedding."""
        return self._core.means()

    def evaluate(self, points: ArrayLike) -> NDArray[np.float64]:
        """The directions as functions: a row per direction, a column per point."""
        return self._core.evaluate(_arrays.matrix(points, "points"))

    @hinting
    def distance(
        self,
        other: Union["Embedding", ArrayLike],
        *,
        power: float = 1.0,
        weighting: str = "uniform",
        workers: Optional[int] = None,
    ) -> DistanceResult:
        """The expected kernel quantile discrepancy to another embedding, or sample, along the same directions."""
        started = time.perf_counter()
        second = other if isinstance(other, Embedding) else self.embed(other)
        if not self._core.shares_directions(second._core):
            raise ValueError("the embeddings have directions of their own; make the second one by first.embed(sample)")
        asked: Dict[str, Any] = {**self._asked, "power": power, "weighting": weighting, "workers": workers}
        options = core_settings("distance", asked)
        options.complete()
        found = self._core.distance(second._core, options)
        del found["functions"], found["gaps"]
        found["elapsed_s"] = time.perf_counter() - started
        return DistanceResult(**found, profiles=(), settings=settings(asked, "ekqd", self.seed))

    @property
    def kernel(self) -> str:
        """With the bandwidths that were used."""
        return self._core.kernel

    @property
    def n_directions(self) -> int:
        return self._core.n_directions

    @property
    def n_reference(self) -> int:
        """Points that span the directions; 0 for families without."""
        return self._core.n_reference

    @property
    def n_points(self) -> int:
        """Rows of the sample without those of weight 0."""
        return self._core.n_points

    @property
    def dim(self) -> int:
        return self._core.dim

    @property
    def seed(self) -> int:
        """Passed as ``rng=`` it gives the same directions again."""
        return int(self._asked["rng"])

    @property
    def warnings(self) -> Tuple[str, ...]:
        return self._core.warnings

    @property
    def warning_ids(self) -> Tuple[str, ...]:
        """The name of each warning."""
        return self._core.warning_ids

    def __copy__(self) -> "Embedding":
        return self  # it cannot be changed

    def __deepcopy__(self, memo: Dict[int, Any]) -> "Embedding":
        return self

    def __repr__(self) -> str:
        family = self._asked["directions"]
        return (
            f"Embedding({self.n_points} rows, {self.dim} columns, {self.n_directions} {family} directions, "
            f"kernel {self.kernel})"
        )


def _column_names(sample: Any) -> Any:
    """A table without its rows: enough to match others by name."""
    if isinstance(sample, Table):
        return sample.head()
    return sample.iloc[:0] if hasattr(sample, "iloc") and hasattr(sample, "columns") else None
