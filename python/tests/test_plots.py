"""result.plot(): what is drawn where, and what is said when there is nothing to draw."""

import kqd
import numpy as np
import pytest

matplotlib = pytest.importorskip("matplotlib")
matplotlib.use("Agg")
plt = pytest.importorskip("matplotlib.pyplot")

RNG = np.random.default_rng(2)
X, Y = RNG.normal(size=(80, 2)), RNG.normal(size=(60, 2)) * [1, 1.8]


@pytest.fixture(autouse=True)
def close_figures():
    yield
    plt.close("all")


def test_the_null_distribution_shows_every_permutation_and_the_statistic():
    found = kqd.test(X, Y, method="ekqd", rng=0, n_resamples=300, null_distribution=True)
    ax, = found.plot().axes
    assert sum(bar.get_height() for bar in ax.patches) == 300
    line, = ax.lines
    assert list(line.get_xdata()) == [found.statistic] * 2
    assert ax.get_xlim()[0] < found.null_distribution.min() and found.statistic < ax.get_xlim()[1]
    assert any(f"p = {found.pvalue:.3g}" in text.get_text() for text in ax.texts)
    assert (ax.get_xlabel(), ax.get_title(loc="left")) == ("ekqd statistic", "300 random permutations")


def test_profiles_are_drawn_as_differences_of_quantiles():
    found = kqd.distance(X, Y, rng=0, profiles=3)
    ax, = found.plot().axes
    drawn = ax.lines[1:]  # the first is the line at 0
    assert len(drawn) == 3
    for line, profile in zip(drawn, found.profiles):
        assert (line.get_xdata() == profile.levels).all()
        assert (line.get_ydata() == profile.y_quantiles - profile.x_quantiles).all()
        assert f"direction {profile.direction}" in line.get_label()


def test_both_are_drawn_side_by_side_and_each_alone_on_request():
    found = kqd.test(X, Y, rng=0, n_resamples=99, null_distribution=True, profiles=2)
    assert len(found.plot().axes) == 2
    assert len(found.plot(kind="profiles").axes) == 1
    figure, ax = plt.subplots()
    assert found.plot(kind="null", ax=ax) is figure and ax.patches


def test_equal_values_can_be_drawn():
    found = kqd.test(np.zeros(6), np.zeros(6), rng=0, null_distribution=True)
    assert found.plot().axes


@pytest.mark.parametrize("options, arguments, sentence", [
    (dict(), dict(), "the result has nothing to plot; call with null_distribution=True or profiles=3"),
    (dict(profiles=2), dict(kind="null"), "the result has nothing to plot; call with null_distribution=True"),
    (dict(null_distribution=True), dict(kind="profiles"), "the result has nothing to plot; call with profiles=3"),
    (dict(profiles=2), dict(kind="bars"), 'kind "bars" is unknown, expected "null" or "profiles"'),
    (dict(profiles=2, null_distribution=True), dict(ax="some"),
     'ax is one Axes for two plots; choose kind="null" or kind="profiles"'),
])
def test_what_cannot_be_drawn_is_refused(options, arguments, sentence):
    with pytest.raises(ValueError) as raised:
        kqd.test(X, Y, rng=0, n_resamples=9, **options).plot(**arguments)
    assert str(raised.value) == sentence
