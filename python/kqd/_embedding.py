"""kqd.Embedding: one sample, seen by its quantiles along directions of a kernel's feature space."""

from __future__ import annotations

import json
import os
import time
import zipfile
from typing import TYPE_CHECKING, Any, Dict, List, Optional, Sequence, Tuple, Union

import numpy as np
from numpy.typing import ArrayLike, NDArray

from . import _arrays, _core, _objects
from ._kernels import KernelLike
from ._options import Rng, WeightingLike, boolean, core_settings, count, hinting, settings
from ._results import DistanceResult, Maximiser
from ._tables import Table

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_SCHEMA = "kqd.embedding/1"
_ARRAYS = ("reference", "coefficients", "sample", "weights")


class Embedding:
    """The kernel quantile embedding of a sample: rho(x) = q u(x), q a quantile of the sample along a direction u.

    A direction is a function u = sum_j c_j k(z_j, .) of norm 1 in the feature space of the kernel, with the points z of
    `reference` and a column c of `coefficients`. The sample has a quantile q along u for every level between 0 and 1;
    the function q u is the embedding of that level and direction, and (q - <u, mu>) u + mu its centered form, with mu
    the kernel mean embedding.

    Embeddings that share their directions are compared without looking at the rows again, one with many others if need
    be: `embed` makes the second from the first. Directions are drawn from the sample that comes first, so it pays to
    begin with a typical one: a reference month, or the pooled data. The sign of a drawn direction is random: the upper
    quantiles along u are the lower ones along -u with the sign changed.

    Parameters
    ----------
    sample : array_like
        Rows are points: an array, lists, or a table whose columns are numbers. Names of files and columns of texts are
        for `kqd.distance` and `kqd.test`. With a kernel of objects a list of objects, or a square Gram matrix.
    weights : array_like, optional
        A weight per row, >= 0.
    nan_policy : "raise" or "omit"
        Rows that have a NaN are refused, which is the default, or excluded.
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
    0.083
    >>> base.distance(base).statistic
    0.0

    The embedding at the level 0.9, of every direction, as a function at two points:

    >>> base.evaluate(january[:2], 0.9).shape
    (16, 2)

    Kernel, reference points and coefficients are all that another program needs for the same numbers:

    >>> u = base.kernel_matrix(january, base.reference) @ base.coefficients
    >>> np.allclose(np.quantile(u, 0.5, axis=0, method="inverted_cdf"), base.quantiles(0.5))
    True

    With a kernel of objects (``"precomputed"``, ``"spectrum:3"``, a function of lists) the sample is a square Gram matrix or
    a list of objects. `embed`, `evaluate` and `reference` then take numbers of these objects, from 0, or a mask, True for the
    objects that are meant: objects that are to be compared must all be in the list.

    An embedding can be pickled and saved, with its directions and a copy of its sample or of its objects; not so one by a
    kernel function.
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
        n_directions: Optional[int] = None,
        whiten: bool = False,
        n_reference: Optional[int] = None,
        reference: Union[str, ArrayLike] = "gaussian",
        coefficients: Optional[ArrayLike] = None,
        compat: Union[str, Sequence[str]] = (),
        rng: Rng = None,
        workers: Optional[int] = None,
    ) -> None:
        asked = {name: value for name, value in locals().items() if name != "self"}
        if _objects.are_numbered(kernel, sample):
            self._embed_objects(asked, kernel)
            return
        options = core_settings("embedding", asked)
        options.complete()
        sample = _arrays.as_frame(sample)
        rows, kept = _arrays.sample(sample, weights, "sample", nan_policy=nan_policy)
        with _arrays.cells_named(_arrays.column_names(sample), {"sample": kept}):
            self._core = _core.Embedding(rows, options)
        self._columns = _column_names(sample)
        # Of the sample, the core has what it needs.
        self._asked = {**asked, "sample": self._columns, "rng": options.seed}

    def _embed_objects(self, asked: Dict[str, Any], kernel: KernelLike) -> None:
        """The embedding of all objects; further samples, and points of functions, are numbers of these objects."""
        if asked["weights"] is not None or asked["nan_policy"] != "raise":
            raise ValueError("weights and nan_policy are for rows of numbers; a kernel of objects takes all of them alike")
        if asked["directions"] in ("linear", "axis") or asked["bandwidth"] != "median":
            raise ValueError("linear and axis directions and a bandwidth need columns, which objects do not have")
        (rows,), core = _objects.pooled(kernel, asked["sample"], names=["sample"])
        self._n_objects = len(rows.points)
        options = _objects.settings("embedding", {**asked, "sample": None}, core, self._n_objects)
        options.complete()
        self._core = _core.Embedding(rows, options)
        self._columns = None
        self._asked = {**asked, "sample": None, "rng": options.seed}

    @hinting
    def embed(
        self, sample: ArrayLike, *, weights: Optional[ArrayLike] = None, nan_policy: str = "raise"
    ) -> "Embedding":
        """The embedding of another sample along the same directions."""
        if self._core.object_kernel is not None:
            sample = self._rows_of(sample, "sample")
        matched = _arrays.matching(sample, self._columns, "sample", "the first sample")
        other = object.__new__(Embedding)
        other.__dict__.update(self.__dict__)
        rows, kept = _arrays.sample(matched, weights, "sample", nan_policy=nan_policy)
        with _arrays.cells_named(_arrays.column_names(matched), {"sample": kept}):
            other._core = self._core.embed(rows)
        return other

    def _require_numbers(self, values: Any, name: str) -> None:
        """Refuses objects where their numbers are expected."""
        cells = np.asarray(values, dtype=object)
        if len({isinstance(one, (bool, np.bool_)) for one in cells.flat}) > 1:
            raise TypeError(f"{name} has both numbers and True or False, expected numbers of objects or a mask")
        for one in cells.flat:
            if isinstance(one, (str, bytes, dict, set, frozenset)) or not hasattr(one, "__float__"):
                raise TypeError(
                    f"{name} has {_arrays.quoted(one)}, expected numbers of objects, from 0: kernel {self.kernel} is known only "
                    "between the objects that the first embedding was made of. To compare with others, make it from the list "
                    "of all of them, and embed the numbers of each sample"
                )

    def _rows_of(self, points: ArrayLike, name: str) -> NDArray[np.float64]:
        if self._core.object_kernel is None:
            return _arrays.matrix(points, name)
        self._require_numbers(points, name)
        return _objects.numbers(points, self._n_objects, name)

    def quantiles(self, levels: ArrayLike) -> NDArray[np.float64]:
        """Quantiles along every direction: one per direction for a single level in [0, 1], else a column per level.

        The quantile of level a is the smallest value with at least the share a of the sample at or below it.
        """
        wanted, single = _levels(levels)
        values = self._core.quantiles(wanted)
        return values[:, 0] if single else values

    def means(self) -> NDArray[np.float64]:
        """The mean along every direction: the inner product with the kernel mean embedding."""
        return self._core.means()

    def direction_values(self, points: ArrayLike) -> NDArray[np.float64]:
        """The directions u as functions: a row per direction, a column per point."""
        return self._core.direction_values(self._rows_of(points, "points"))

    def evaluate(
        self, points: ArrayLike, levels: ArrayLike = 0.5, *, centered: bool = False
    ) -> NDArray[np.float64]:
        """The embedding rho, or its centered form, as functions at the points.

        Returns
        -------
        array of shape (directions, levels, points), without the second axis for a single level
        """
        wanted, single = _levels(levels)
        rows = self._rows_of(points, "points")
        values = self._core.evaluate(wanted, rows, boolean(centered, "centered"))
        values = values.reshape(self.n_directions, len(wanted), len(rows))
        return values[:, 0] if single else values

    def mean_embedding(self, points: ArrayLike) -> NDArray[np.float64]:
        """The kernel mean embedding mu(x) = sum_i a_i k(x_i, x) at every point."""
        return self._core.mean_embedding(self._rows_of(points, "points"))

    def inner_product(
        self,
        other: Optional["Embedding"] = None,
        levels: ArrayLike = 0.5,
        other_levels: Optional[ArrayLike] = None,
        *,
        centered: bool = False,
    ) -> NDArray[np.float64]:
        """Inner products of the embeddings of all directions and levels with those of another sample, or its own.

        The directions of `other` may be different ones, of the same kernel. `other_levels` are `levels` by default.

        Returns
        -------
        array of shape (directions, levels, directions of other, other_levels), without the axis of a single level
        """
        second = self if other is None else other
        if not isinstance(second, Embedding):
            raise TypeError(f"other is of type {type(second).__name__}, expected an Embedding; embed() makes one")
        wanted, single = _levels(levels)
        others, others_single = (wanted, single) if other_levels is None else _levels(other_levels, "other_levels")
        values = self._core.inner_products(wanted, second._core, others, boolean(centered, "centered"))
        values = values.reshape(self.n_directions, len(wanted), second.n_directions, len(others))
        values = values[..., 0] if others_single else values
        return values[:, 0] if single else values

    def norm(self, levels: ArrayLike = 0.5, *, centered: bool = False) -> NDArray[np.float64]:
        """Norms of the embeddings in the feature space, in the shape of `quantiles`."""
        wanted, single = _levels(levels)
        values = self._core.norms(wanted, boolean(centered, "centered"))
        return values[:, 0] if single else values

    def kernel_matrix(self, a: ArrayLike, b: Optional[ArrayLike] = None) -> NDArray[np.float64]:
        """Values k(a_i, b_j) of the kernel with the bandwidths that were used; b is a by default."""
        rows = self._rows_of(a, "a")
        return self._core.kernel_matrix(rows, rows if b is None else self._rows_of(b, "b"))

    @hinting
    def distance(
        self,
        other: Union["Embedding", ArrayLike],
        *,
        method: str = "ekqd",
        power: float = 1.0,
        weighting: WeightingLike = "uniform",
        workers: Optional[int] = None,
    ) -> DistanceResult:
        """The discrepancy to another embedding, or sample, along the same directions.

        `method` is ``"ekqd"`` (mean over directions), ``"supkqd"`` (largest), ``"ekqd-centered"`` or
        ``"supkqd-centered"``.
        """
        started = time.perf_counter()
        second = other if isinstance(other, Embedding) else self.embed(other)
        if not self._core.shares_directions(second._core):
            raise ValueError("the embeddings have directions of their own; make the second one by first.embed(sample)")
        asked: Dict[str, Any] = {
            **self._asked, "method": method, "power": power, "weighting": weighting, "workers": workers
        }
        options = core_settings("distance", asked, self._core.object_kernel)
        options.complete()
        found = self._core.distance(second._core, options)
        del found["functions"], found["gaps"]
        found["maximiser"] = None if found["maximiser"] is None else Maximiser(*found["maximiser"])
        found["elapsed_s"] = time.perf_counter() - started
        return DistanceResult(**found, profiles=(), settings=settings(asked, method, self.seed))

    def plot(
        self,
        *others: Union["Embedding", ArrayLike],
        kind: str = "quantiles",
        directions: Union[int, Sequence[int]] = 3,
        labels: Optional[Sequence[str]] = None,
        ax: Any = None,
    ) -> "Figure":
        """Plot the embedding with matplotlib: quantile functions, or the paper's figures for data of one or two columns.

        Parameters
        ----------
        kind : "quantiles", "functions" or "plane"
            Quantile functions along some directions, of this sample and of others. Of one column: directions u as
            functions, the values of the sample along them, and the quantiles that make the embedding (figure 2 of the
            paper). Of two columns: the sample, its values along the direction in which it spreads most, and its
            quantiles along all directions of the plane (figure 1).
        *others : Embedding or array_like
            Further embeddings along the same directions, or samples to be embedded along them.
        directions : int or sequence of int
            Indices of directions, or how many: those along which the samples differ most, or the first ones of a
            single sample.
        labels : sequence of str, optional
            One for each sample.
        ax : matplotlib Axes or a sequence of them, optional
            One for each direction, or three for a plane, instead of a new figure.
        """
        from . import _plots

        if kind not in ("quantiles", "functions", "plane"):
            raise ValueError(f'kind {_arrays.quoted(kind)} is unknown, expected "quantiles", "functions" or "plane"')
        if kind != "quantiles":
            wanted = 1 if kind == "functions" else 2
            if others or labels is not None:
                raise ValueError(f'kind "{kind}" shows one sample; other samples and labels are for "quantiles"')
            if self.dim != wanted or self._core.object_kernel is not None:
                raise ValueError(f'kind "{kind}" needs a sample of {wanted} column{"s"[: wanted - 1]}, this one has {self.dim}')
            if kind == "functions":
                return _plots.functions(self, self._chosen(directions, ()), ax)
            return _plots.plane(self, self._around_the_plane(), ax)
        embeddings = [self, *(other if isinstance(other, Embedding) else self.embed(other) for other in others)]
        return _plots.quantile_functions(embeddings, self._chosen(directions, embeddings[1:]), labels, ax)

    def _around_the_plane(self) -> "Embedding":
        """The embedding of the sample along all directions of the plane, 2 degrees apart."""
        angles = np.radians(np.arange(0, 360, 2))
        return Embedding(
            self.sample, weights=self.weights, kernel="linear", reference=np.eye(2),
            coefficients=np.array([np.cos(angles), np.sin(angles)]), rng=0,
        )

    def _chosen(self, directions: Union[int, Sequence[int]], others: Sequence["Embedding"]) -> Sequence[int]:
        """Indices of directions to plot."""
        if isinstance(directions, Sequence) or isinstance(directions, np.ndarray):
            chosen = [count(index, "directions") for index in directions]
            if not chosen or max(chosen) >= self.n_directions:
                raise ValueError(f"directions={list(chosen)}: expected indices in 0..{self.n_directions - 1}")
            return chosen
        wanted = min(count(directions, "directions"), self.n_directions)
        if wanted == 0:
            raise ValueError("directions=0: expected a whole number >= 1, or a list of indices")
        if not others:
            return range(wanted)
        gaps: NDArray[np.float64] = np.array([self.distance(other).per_direction for other in others]).max(axis=0)
        return sorted(np.argsort(-gaps, kind="stable")[:wanted].tolist())

    def save(self, path: Union[str, "os.PathLike[str]"]) -> None:
        """Write the embedding to a file of arrays (NPZ) that `Embedding.load` reads, and NumPy without kqd."""
        state = self._core.state()
        arrays = {name: state.pop(name) for name in _ARRAYS}
        if isinstance(state["objects"], np.ndarray):
            arrays["gram"] = state.pop("objects")
        asked = {key: value for key, value in self._asked.items() if key not in ("sample", "workers")}
        for name in ("reference", "coefficients", "weights"):
            if asked.get(name) is not None and not isinstance(asked[name], str):
                arrays["asked_" + name] = np.asarray(asked.pop(name), dtype=float)
        columns = None if self._columns is None else [str(name) for name in self._columns.columns]
        about = {"schema": _SCHEMA, "version": _core.__version__, **state, "asked": asked, "columns": columns}
        kept = {name: values for name, values in arrays.items() if values is not None}
        target = os.fspath(path)
        partial = f"{target}.{os.getpid()}.part"
        try:
            with open(partial, "wb") as file:
                np.savez(file, about=np.array(json.dumps(about, default=_json_value)), **kept)
            os.replace(partial, target)
        finally:
            if os.path.exists(partial):
                os.remove(partial)

    @classmethod
    def load(cls, path: Union[str, "os.PathLike[str]"]) -> "Embedding":
        """The embedding that `save` wrote, bit for bit."""
        try:
            with np.load(path, allow_pickle=False) as file:
                arrays = {name: file[name] for name in file.files}
            about = json.loads(str(arrays.pop("about")))
            if about["schema"] != _SCHEMA:
                raise KeyError("schema")
            state = {name: arrays.get(name) for name in _ARRAYS}
            for name in ("kernel", "origins", "n_reference", "warnings"):
                state[name] = about[name]
            state["objects"] = arrays.get("gram", about.get("objects"))
            embedding = object.__new__(cls)
            embedding._core = _core.Embedding.from_state(state)
            if state["objects"] is not None:
                embedding._n_objects = len(state["objects"])
            asked = about["asked"]
        except OSError as error:
            if error.errno is not None:  # the file cannot be opened
                raise
            raise _not_saved(path) from None
        except (KeyError, ValueError, TypeError, EOFError, zipfile.BadZipFile, RuntimeError):
            raise _not_saved(path) from None
        for name in ("reference", "coefficients", "weights"):
            if "asked_" + name in arrays:
                asked[name] = arrays["asked_" + name]
        embedding._columns = _empty_frame(about["columns"])
        embedding._asked = {**asked, "sample": embedding._columns, "workers": None}
        return embedding

    @property
    def reference(self) -> Optional[NDArray[np.float64]]:
        """Points z that span the directions, a row each; None for linear and axis directions."""
        return self._core.terms()[0]

    @property
    def coefficients(self) -> NDArray[np.float64]:
        """Column i has direction i: u_i = sum_j c_ji k(z_j, .). Linear and axis directions: a weight per column."""
        return self._core.terms()[1]

    @property
    def sample(self) -> NDArray[np.float64]:
        """A copy of the rows, without those of weight 0."""
        return self._core.sample()[0]

    @property
    def weights(self) -> Optional[NDArray[np.float64]]:
        """A weight per row of `sample`; None for equal ones."""
        return self._core.sample()[1]

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
        shape = f"{self.n_points} rows, {self.dim} column{'' if self.dim == 1 else 's'}"
        if self._core.object_kernel is not None:
            shape = f"{self.n_points} objects"
        return f"Embedding({shape}, {self.n_directions} {family} directions, kernel {self.kernel})"


def _column_names(sample: Any) -> Any:
    """A table without its rows: enough to match others by name."""
    if isinstance(sample, Table):
        return sample.head()
    return sample.iloc[:0] if hasattr(sample, "iloc") and hasattr(sample, "columns") else None


def _empty_frame(names: Optional[Sequence[str]]) -> Any:
    """A frame without rows that has these columns, as _column_names keeps it; None without pandas."""
    if names is None:
        return None
    try:
        import pandas
    except ImportError:
        return None
    return pandas.DataFrame(columns=list(names), dtype=float)


def _levels(levels: ArrayLike, name: str = "levels") -> Tuple[List[float], bool]:
    """Levels as a list, and whether only one was given as a number."""
    wanted = np.asarray(levels, dtype=float)
    if wanted.ndim > 1:
        raise ValueError(f"{name} has {wanted.ndim} dimensions, expected a number or one dimension")
    return np.atleast_1d(wanted).tolist(), wanted.ndim == 0


def _json_value(value: Any) -> Any:
    """A value that JSON does not know: a number of NumPy, or a set."""
    return value.item() if isinstance(value, np.generic) else list(value)


def _not_saved(path: Any) -> ValueError:
    return ValueError(f"{os.fspath(path)!r} is not an embedding; Embedding.save writes one")
