"""kqd.test: are two samples from the same distribution?"""

from __future__ import annotations

from typing import Any, Dict, List, Mapping, Optional, Sequence, Tuple, Union

from numpy.typing import ArrayLike

from . import _core
from ._arrays import Samples, quoted
from ._compare import Comparison
from ._kernels import KernelLike
from ._options import Parameter, Rng, WeightingLike, none_is_default, text
from ._profile import Profile, ProfileComparison, are_profiles
from ._progress import ProgressCallback, shown
from ._results import ComponentStatistic, EffectAspect, TestResult


@none_is_default
def test(
    x: Union[ArrayLike, Profile],
    y: Union[ArrayLike, Profile, None] = None,
    *,
    method: Optional[str] = None,
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
    weights_as: Optional[str] = None,
    standardize: str = "auto",
    types: Union[str, Mapping[str, str]] = "",
    categorical: str = "auto",
    nan_policy: str = "indicator",
    group: Optional[str] = None,
    names: Union[str, Sequence[str]] = "",
    compat: Union[str, Sequence[str]] = (),
    n_resamples: int = 999,
    alpha: float = 0.05,
    design: str = "independent",
    blocks: Optional[Tuple[ArrayLike, ArrayLike]] = None,
    clusters: Optional[Tuple[ArrayLike, ArrayLike]] = None,
    calibration: str = "permutation",
    permute: str = "auto",
    early_stop: Optional[str] = None,
    set_aside: bool = True,
    randomised_ties: bool = False,
    effect_interval: bool = False,
    tolerance: Union[None, str, float] = None,
    equivalent: Optional[float] = None,
    against: Sequence[ArrayLike] = (),
    confidence_level: float = 0.95,
    null_distribution: bool = False,
    profiles: int = 0,
    progress: Union[None, bool, ProgressCallback] = None,
    rng: Rng = None,
    workers: Optional[int] = None,
    max_memory: Optional[float] = None,
    allow_quadratic: bool = False,
    **parameters: Parameter,
) -> TestResult:
    """Are two samples from the same distribution? A permutation test, exact for any sizes and any method.

    The statistic of `method` is computed for the samples as they are and for the same rows under other labels. The
    p-value is the share of permutations, the observed one included, for which it is at least as large: under equal
    distributions ``pvalue <= alpha`` happens with probability `alpha` at most. When there are few permutations all of
    them are evaluated, else `n_resamples` random ones.

    Parameters
    ----------
    method : str, optional
        Id of a method, see `kqd.methods`. Without it the method is ``"adaptive"``, which looks for many kinds of
        difference at once; but it is ``"ekqd"`` when an option that only a method with one statistic obeys is given
        another value than its default: `directions`, `n_directions`, `whiten`, `n_reference`, `reference`,
        `coefficients`, `power`, `weighting` or `compat`, or with ``kernel="precomputed"``. What is to be returned
        (`effect_interval`, `profiles`, `null_distribution`) never changes the method or the p-value.
    x, y : array_like or Profile
        As for `kqd.distance`; or two profiles or names of ``.kqp`` files, whose groups are permuted. Then `method` is
        ``"adaptive"``, ``"ekqd"`` or ``"supkqd"``, and options of the rows and of what was counted are refused.
    kernel, bandwidth, directions, n_directions, whiten, n_reference, reference, coefficients, power, weighting, \
compat, types, categorical, nan_policy, group, names, profiles, rng, workers, max_memory, allow_quadratic, **parameters
        As for `kqd.distance`. The reference measure ``"balanced"`` depends on the labels and is refused, as are points
        that are rows of one sample and not of the other, nearly so, or seem to be made of them.
    x_weights, y_weights : array_like, optional
        A weight per row, >= 0; the weights of each sample are scaled to sum 1.
    weights_as : "frequency", "precision" or "sampling", optional
        What the weights are. ``"frequency"``: a row and its weight are exchanged together, which is exact when both
        samples were weighted in the same way. ``"precision"``: weights that do not depend on the values; rows are
        exchanged and weights stay, exact, and the statistic is computed from scratch for every permutation.
        ``"sampling"``: survey or importance weights; rows are kept with a probability proportional to their weight and
        the rows that are left are tested. By default ``"frequency"``, unless the weights of x and y look different:
        that is an error.
    standardize : "auto", "none", "zscore" or "iqr"
        ``"auto"``: the adaptive test and `kqd.explain` measure every column from its pooled median in units of its
        pooled scale, so that units do not matter. ``"none"``: columns as they are, for images, embeddings and other rows with one unit.
        ``"zscore"`` and ``"iqr"`` scale columns of numbers by the pooled mean and standard deviation, or median and
        quartiles.
    n_resamples : int
        How many random permutations to draw.
    alpha : float
        Significance level.
    design : str
        ``"independent"``: any rows may change their labels; ``"paired"``: ``x[i]`` and ``y[i]`` may swap.
    blocks, clusters : pair of array_like, optional
        Whole numbers or texts, one per row, for the rows of x and of y. Labels move within blocks, or between whole
        clusters of the same size; where sizes differ too much between x and y, clusters are reduced to common sizes by
        random draws, which `notes` reports.
    calibration : str
        ``"permutation"``; ``"sign-flip"``: swaps of ``x[i]`` and ``y[i]`` only, for samples of equal size; or
        ``"asymptotic"``: the limiting distribution, for methods that have one. ``"me"`` and ``"scf"`` refuse it for samples
        with fewer than 30 rows per feature.
    permute : "auto", "rows" or "groups"
        The units whose labels are permuted. ``"groups"``: groups of equally many rows, assigned at random; exact as well,
        and far faster for large samples, because quantiles are compared on a grid of 256 bins per direction. Needs an
        independent design without weights, and a method that can: ``"adaptive"``, ``"ekqd"``, ``"supkqd"``, ``"sw"``,
        ``"mmd-rff"``, ``"mmd-nystrom"``, ``"me"`` or ``"scf"``. ``"auto"``: groups above 100,000 rows or 10^8 numbers.
    early_stop : str, optional
        Stop drawing when the decision is clear: ``"besag-clifford"`` or ``"betting"``. Not for methods that combine
        several statistics, such as ``"adaptive"``.
    set_aside : bool
        Rows that serve as reference points (``reference="pooled"``) leave the samples; without it power is lost.
    randomised_ties : bool
        Share ties out at random: the p-value is then exactly uniform under equal distributions.
    effect_interval : bool
        Add an interval for the effect size, by half-samples: 199 more evaluations. That of ``"adaptive"`` is for the
        e-KQD, as its effect size is; so are its `profiles`.
    tolerance : float or "auto", optional
        Does the difference matter? The verdict is ``"different"`` where the effect is larger than this margin at level
        `alpha`, ``"equivalent"`` where it is smaller, else ``"undecided"``. A margin of 0.1 is as far apart as a shift by
        0.1 standard deviations in one column, however many columns there are. ``"auto"``: the margin is how far the
        batches `against` are from `x`. The p-value of equal distributions does not change.
    equivalent : float, optional
        The same margin for those who want to show that the samples are alike; one of both can be given.
    against : sequence of array_like
        Reference batches, each like `y`, for ``tolerance="auto"``: 19 or more make an exact test at level 0.05.
    confidence_level : float
        Of the intervals for the p-value and the effect size.
    null_distribution : bool
        Keep the value of every permutation.
    progress : callable or True, optional
        Called a few times a second as ``progress(fraction, what)``, by the thread that called. What it raises ends the
        test; so does Ctrl-C. True shows a bar, when tqdm is installed.

    Returns
    -------
    TestResult
        Unpacks as ``statistic, pvalue = kqd.test(x, y)``.

    Raises
    ------
    TypeError, ValueError
        For data or options that cannot be used; the sentence names the value and its bound.
    kqd.ResourceLimitError
        For work that would take too long, unless it is allowed.

    Examples
    --------
    Five columns with the same means, one of them more spread out:

    >>> import numpy as np, kqd
    >>> rng = np.random.default_rng(1)
    >>> x, y = rng.normal(size=(300, 5)), rng.normal(size=(200, 5)) * [1, 1, 1, 1, 2]
    >>> result = kqd.test(x, y, rng=0)
    >>> result.pvalue, result.reject
    (0.001, True)
    >>> statistic, pvalue = result

    The adaptive test says what kind of difference it found; p-values are adjusted for all it looked at:

    >>> first = min(result.components, key=lambda entry: entry.adjusted_pvalue)
    >>> first.name, first.adjusted_pvalue
    ('single columns, the largest', 0.001)

    Four rows against four have 70 permutations, and two of them are at least as extreme: p = 2/70.

    >>> kqd.test([1, 2, 3, 4], [5, 6, 7, 8], method="ekqd", kernel="linear", rng=0)
    TestResult: The samples differ (p = 0.02857, reject equal distributions at level 0.05).
      statistic    4       (permutation null: mean 1.8, SD 0.75)
      p-value      0.02857 (exact: all 70 permutations, 2 at least as extreme)
      effect size  0.95    (statistic minus its permutation mean, in pooled SDs)
      next         kqd.explain shows which columns, relations and rows differ
      X            x, 4 rows x 1 column
      Y            y, 4 rows x 1 column
      kernel       linear
      directions   64 gaussian, 64 reference points from a Gaussian fitted to the pool
      levels       uniform weighting, power p = 1
      seed         0
    """
    asked = locals()
    if not isinstance(against, (list, tuple)):
        raise TypeError(f"against is of type {type(against).__name__}, expected a list of samples")
    if against and tolerance != "auto":
        raise ValueError('against is given without tolerance="auto", which needs the reference batches')
    if are_profiles(x, y):
        of_profiles = ProfileComparison("test", asked)
        return _result(of_profiles, of_profiles.test(progress, against))
    comparison = Comparison("test", asked)
    samples = comparison.samples
    comparison.settings.set_design(*design_groups(design, blocks, clusters, samples))
    if tolerance == "auto":
        comparison.settings.set_batch_effects([_batch_effect(asked, batch) for batch in against])
    with shown(progress) as callback, samples.cells_named():
        found = _core.test(samples.x, samples.y, comparison.settings, callback)
    return comparison.remembered(_result(comparison, found))


def _batch_effect(asked: Mapping[str, Any], batch: ArrayLike) -> float:
    """How far a reference batch is from x."""
    of_batch = Comparison("test", {**asked, "y": batch, "y_weights": None, "tolerance": None, "against": ()})
    return _core.batch_effect(of_batch.samples.x, of_batch.samples.y, of_batch.settings)


def _result(comparison: Comparison, found: Dict[str, Any]) -> TestResult:
    found["components"] = tuple(ComponentStatistic(**entry) for entry in found["components"])
    found["aspects"] = tuple(EffectAspect(**entry) for entry in found["aspects"])
    return TestResult._of(comparison.fields(found))


def design_groups(
    design: str,
    blocks: Optional[Tuple[ArrayLike, ArrayLike]],
    clusters: Optional[Tuple[ArrayLike, ArrayLike]],
    samples: Samples,
) -> Tuple[str, List[int], Tuple[str, ...]]:
    """The kind of design, the group of every pooled row, rows of x first, and the names of the groups."""
    if text(design, "design") not in ("independent", "paired"):
        meant = _core.suggestion(design, ["independent", "paired"])
        raise ValueError(f'design={quoted(design)}: expected "independent" or "paired", or use blocks= or clusters={meant}')
    given = [(name, pair) for name, pair in (("blocks", blocks), ("clusters", clusters)) if pair is not None]
    if not given:
        return design, [], ()
    if len(given) == 2:
        raise ValueError("blocks and clusters are both given, expected one of them")
    (name, pair), = given
    if design == "paired":
        raise ValueError(f'{name} are given with design "paired", expected one of them')
    groups = samples.groups(pair, name)
    return name, groups.of_row, groups.names
