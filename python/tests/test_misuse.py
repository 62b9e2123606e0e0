"""Calls that mean something else than they seem to: refused, or warned of."""

import numpy as np
import pandas as pd
import pytest

import kqd

RNG = np.random.default_rng(1)
X, Y = RNG.normal(size=(30, 2)), RNG.normal(size=(25, 2))


def warnings_of(x, y, word, **options):
    return [text for text in kqd.test(x, y, rng=0, n_resamples=19, **options).warnings if word in text]


def test_a_result_has_no_truth_value():
    with pytest.raises(TypeError, match="neither true nor false; use result.reject, or compare result.pvalue"):
        bool(kqd.test(X, X, rng=0, n_resamples=19))


@pytest.mark.parametrize("name", ["set_aside", "randomised_ties", "effect_interval", "null_distribution", "whiten",
                                  "allow_quadratic"])
def test_texts_are_no_booleans(name):
    for value in ("no", "yes", "", 2, 0.5):
        with pytest.raises(TypeError, match=f"{name} is .*, expected True or False"):
            kqd.test(X, Y, **{name: value})
    for value in (True, np.True_, 1):
        assert kqd.test(X, Y, rng=0, n_resamples=9, method="ekqd", **{name: value}).method == "ekqd"


def test_none_means_the_default_for_every_keyword():
    plain = kqd.test(X, Y, rng=0, n_resamples=99)
    assert plain.method == "adaptive"
    for name, default in kqd.test.__kwdefaults__.items():
        if name not in ("rng", "n_resamples"):
            assert kqd.test(X, Y, **{"rng": 0, "n_resamples": 99, name: None}) == plain, name
    distance = kqd.distance(X, Y, rng=0)
    nothing = {name: None for name in kqd.distance.__kwdefaults__ if name != "rng"}
    assert kqd.distance(X, Y, rng=0, **nothing) == distance
    embedding = kqd.Embedding(X, rng=0, directions=None, whiten=None, nan_policy=None, n_directions=None)
    assert (embedding.quantiles([0.5]) == kqd.Embedding(X, rng=0).quantiles([0.5])).all()
    assert kqd.explain(X, Y, rng=0, alpha=None, design=None, kernel=None) == kqd.explain(X, Y, rng=0)


def test_series_of_different_names_are_warned_of():
    a, b = pd.Series(X[:, 0], name="height"), pd.Series(Y[:, 0], name="weight")
    assert warnings_of(a, b, "named") == ['x is named "height" and y is named "weight"; they are compared as the same quantity']
    assert warnings_of(a, b.rename("height"), "named") == warnings_of(a, b.to_numpy(), "named") == []


def test_rows_that_are_copies_are_warned_of():
    assert warnings_of(np.repeat(X, 2, axis=0), Y, "copies")[0].startswith(
        "rows of X are copies: 30 of its 30 distinct rows occur 2 times each,")
    mostly = np.concatenate([Y, Y[:24]])
    assert warnings_of(X, mostly, "copies")[0].startswith("rows of Y are copies: 24 of its 25 distinct rows")
    assert warnings_of(X, Y, "copies") == []
    groups = np.repeat(np.arange(30), 2), np.arange(100, 125)
    assert warnings_of(np.repeat(X, 2, axis=0), Y, "copies", clusters=groups) == []


def test_discrete_data_are_not_taken_for_copies():
    # Ten or more values, nine in ten of them equally often: below 1e-4 per sample for Poisson numbers of any mean.
    for seed in range(300):
        rng = np.random.default_rng(seed)
        levels = int(rng.integers(10, 80))
        x, y = rng.integers(levels, size=(rng.integers(20, 120), 1)), rng.integers(levels, size=(60, 1))
        assert warnings_of(x, y, "copies", method="energy") == []


def test_what_is_no_array_is_named():
    class Sparse:
        def toarray(self):
            return X

    with pytest.raises(TypeError, match=r"x is of type Sparse, expected rows of real numbers; .toarray\(\) makes an array"):
        kqd.test(Sparse(), Y)
    with pytest.raises(TypeError, match="^x is the name of a file and y is of type list, expected two files or two tables$"):
        kqd.test("a.csv", [1, 2])
    with pytest.raises(TypeError, match="y is of type generator, expected rows of real numbers$"):
        kqd.test(X, (row for row in Y))


def test_frames_with_a_nan_as_a_name_are_matched():
    x, y = pd.DataFrame(X, columns=["a", np.nan]), pd.DataFrame(Y, columns=["a", float("nan")])
    assert kqd.test(x, y, rng=0, n_resamples=19).pvalue == kqd.test(X, Y, rng=0, n_resamples=19).pvalue


@pytest.mark.parametrize("call", [
    lambda text: kqd.test(X, Y, method=text),
    lambda text: kqd.test(X, Y, design=text),
    lambda text: kqd.test(X, Y, nan_policy=text),
    lambda text: kqd.test(X, Y, bandwidth=text),
    lambda text: kqd.test(X, Y, kernel=text),
    lambda text: kqd.test(X, Y, **{text: 1}),
    lambda text: kqd.explain(X, Y, **{text: 1}),
    lambda text: kqd.test(pd.DataFrame(X, columns=["a", text]), pd.DataFrame(Y, columns=["a", "b"])),
    lambda text: kqd.test(X, Y, clusters=([text] * 30, [text] * 25)),
    lambda text: kqd.test(pd.DataFrame({text: [1.0, np.nan]}), pd.DataFrame({text: [1.0, 2.0]}), nan_policy="raise"),
])
def test_messages_hold_no_raw_control_characters(call):
    with pytest.raises((ValueError, TypeError)) as raised:
        call("a\x1b[31m\u202eb\n")
    assert "\\x1b[31m" in str(raised.value) and str(raised.value).isprintable()
