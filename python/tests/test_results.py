"""Results of kqd.distance and kqd.methods, and the metadata of the package."""

import ast
import copy
import dataclasses
import json
import pathlib
import pickle
import re
import sys

import kqd
import numpy as np
import pytest
from kqd import _core

X, Y = [[0.0, 1.0], [2.0, 1.5], [3.0, -1.0]], [[5.0, 0.0], [4.0, 2.0]]


@pytest.fixture
def result():
    return kqd.distance(X, Y, power=2, weighting="triangle", rng=5)


def test_a_result_says_what_was_computed_and_how(result):
    assert (result.method, result.directions, result.reference) == ("ekqd", "gaussian", "gaussian")
    assert (result.power, result.weighting, result.seed) == (2.0, "triangle:0", 5)
    assert (result.n_x, result.n_y, result.dim) == (3, 2, 2)
    assert (result.n_directions, result.n_reference) == (64, 64)
    assert result.kernel == f"gaussian@{result.bandwidth!r}"
    assert result.per_direction.shape == (64,)
    assert result.statistic_power == pytest.approx(result.statistic**2, rel=1e-15)
    assert result.details == {} and result.warnings == () and result.elapsed_s > 0


def test_a_result_is_a_number_too(result):
    assert float(result) == result.statistic


def test_a_result_cannot_be_changed(result):
    with pytest.raises(dataclasses.FrozenInstanceError):
        result.statistic = 1.0
    with pytest.raises(ValueError, match="read-only"):
        result.per_direction[0] = 1.0


def test_a_result_becomes_a_plain_dictionary(result):
    plain = json.loads(json.dumps(result.to_dict()))
    assert plain == result.to_dict()
    assert list(plain) == [field.name for field in dataclasses.fields(kqd.DistanceResult) if field.name[0] != "_"]
    assert plain["per_direction"] == list(result.per_direction)


@pytest.mark.parametrize("again", [lambda r: pickle.loads(pickle.dumps(r)), copy.copy, copy.deepcopy])
@pytest.mark.parametrize("options", [
    dict(), dict(profiles=2), dict(reference=np.add(X, 0.1), coefficients=np.eye(3)), dict(kernel=lambda a, b: a @ b.T),
], ids=["plain", "profiles", "points", "kernel function"])
def test_a_result_can_be_pickled_and_copied(options, again):
    for result in (kqd.distance(X, Y, rng=5, **options), kqd.test(X, Y, rng=5, null_distribution=True, **options)):
        same = again(result)
        assert type(same) is type(result)
        assert same.to_dict() == result.to_dict() and repr(same) == repr(result)


@pytest.mark.parametrize("options", [
    dict(), dict(power=2, weighting="triangle", n_directions=7), dict(method="sinkhorn", epsilon=0.3),
    dict(method="mmd"), dict(reference=np.add(X[:2], 0.1), coefficients=[[1.0, 2.0], [0.5, -1.0]]),
    dict(kernel="rq:2", bandwidth=1.5), dict(compat=["jitter"]),
])
def test_the_settings_of_a_result_repeat_it(options):
    first = kqd.test(X, Y, **options)
    assert first.settings["rng"] == first.seed and first.settings["method"] == first.method
    again = kqd.test(X, Y, **first.settings)
    assert {**again.to_dict(), "elapsed_s": 0} == {**first.to_dict(), "elapsed_s": 0}
    if first.method != "adaptive":
        apart = kqd.distance(X, Y, **options)
        assert kqd.distance(X, Y, **apart.settings).statistic == apart.statistic


@pytest.mark.parametrize("design", [
    dict(x_weights=np.array([1, 2, 1]), y_weights=[0.5, 3.0]), dict(blocks=([1, 2, 1], [2, 1])),
    dict(clusters=([1, 2, 3], [4, 5])),
], ids=["weights", "blocks", "clusters"])
def test_settings_hold_what_was_said_of_the_rows(design):
    first = kqd.test(X, Y, method="ekqd", rng=1, **design)
    again = kqd.test(X, Y, **first.settings)
    assert {**again.to_dict(), "elapsed_s": 0} == {**first.to_dict(), "elapsed_s": 0}
    assert copy.deepcopy(first).to_dict() == first.to_dict()


def test_settings_do_not_change_with_the_arrays_they_came_from():
    points = np.array(X)
    found = kqd.distance(X, Y, reference=points, rng=0)
    points[0] = 99
    assert (found.settings["reference"] == X).all()
    with pytest.raises(ValueError, match="read-only"):
        found.settings["reference"][0] = 1


def test_a_result_shows_as_a_table_in_a_notebook():
    found = kqd.test([[0, 7], [2, 7]], [[3, 7], [5, 7]], rng=0)
    page = found._repr_html_()
    assert page.startswith("<table><caption>TestResult: No difference found") and page.endswith("</table>")
    assert page.count("<tr>") == page.count("</tr>") == len(repr(found).splitlines()) - 1
    assert "constant columns, which carry no information (1 of 2): 2" in page
    escaped = dataclasses.replace(found, warnings=("a < b & c",))._repr_html_()
    assert "a &lt; b &amp; c" in escaped


def test_a_result_becomes_a_table_of_pandas(result, monkeypatch):
    pytest.importorskip("pandas")
    frame = result.to_frame()
    assert frame.shape[0] == 1 and frame["statistic"].tolist() == [result.statistic]
    explained = kqd.explain(X, Y, rng=0)
    assert explained.to_frame()["name"].tolist() == [column.name for column in explained.columns]
    monkeypatch.setitem(sys.modules, "pandas", None)  # as where it is not installed
    for found in (result, explained):
        with pytest.raises(ImportError, match=r"^to_frame\(\) needs pandas, which is not installed; to_dict\(\) has plain types$"):
            found.to_frame()


def test_profiles_are_the_quantiles_along_the_strongest_directions():
    rng = np.random.default_rng(6)
    x, y = rng.normal(size=(199, 2)), rng.normal(size=(151, 2)) + 1  # no level of a profile is a step of theirs
    reference, coefficients = rng.normal(size=(5, 2)), rng.normal(size=(5, 4))
    options = dict(reference=reference, coefficients=coefficients, kernel="gaussian@1.5", rng=0, profiles=2)
    for found in (kqd.distance(x, y, **options), kqd.test(x, y, **options, n_resamples=9)):
        assert [p.direction for p in found.profiles] == list(np.argsort(-found.per_direction)[:2])
        for profile in found.profiles:
            k = lambda a, b: np.exp(-((a[:, None] - b[None]) ** 2).sum(axis=2) / (2 * 1.5**2))
            c = coefficients[:, profile.direction]
            c = c / np.sqrt(c @ k(reference, reference) @ c)
            for points, quantiles in ((x, profile.x_quantiles), (y, profile.y_quantiles)):
                expected = np.quantile(k(points, reference) @ c, profile.levels, method="inverted_cdf")
                assert quantiles == pytest.approx(expected, abs=1e-12)
            assert profile.gap == found.per_direction[profile.direction]


def test_profiles_count_row_weights():
    x, weights = np.array([1.0, 2.0, 5.0]), [1, 2, 7]
    options = dict(directions="axis", rng=0, profiles=1)
    profile, = kqd.distance(x, [0.0, 4.0], x_weights=weights, **options).profiles
    repeated, = kqd.distance(np.repeat(x, weights), [0.0, 4.0], **options).profiles
    assert (profile.x_quantiles == repeated.x_quantiles).all()


def test_methods_without_directions_have_no_profiles():
    assert kqd.distance(X, Y, method="mmd", profiles=3, rng=0).profiles == ()


def test_a_result_prints_as_a_block():
    found = kqd.distance([1, 2, 3], [2], directions="axis", power=np.inf, rng=3)
    assert repr(found) == str(found) == """\
DistanceResult
  distance     1
  X            x, 3 rows x 1 column
  Y            y, 1 row x 1 column
  kernel       linear
  directions   1 axis
  levels       uniform weighting, power p = inf
  seed         3
  warning      Y has only one row, so all of its quantiles are equal"""


def test_warnings_of_the_library_are_in_the_result():
    found = kqd.distance([[1, 7], [2, 7]], [[3, 7], [5, 7]], rng=0)
    assert found.warnings == ("constant columns, which carry no information (1 of 2): 2",)
    assert found.warning_ids == ("constant-columns",)


def test_methods_are_listed_and_can_be_used():
    ids = [method.id for method in kqd.methods()]
    assert {"ekqd", "supkqd", "ekqd-centered", "supkqd-centered"} <= set(ids) and len(set(ids)) == len(ids)
    for method in (method for method in kqd.methods() if method.has_distance):
        assert kqd.distance(X, Y, method=method.id, rng=0).method == method.id
        for field in ("family", "summary", "reports", "cost", "permutation", "calibrations", "details", "reference"):
            assert getattr(method, field)


def test_one_method_is_found_by_its_id():
    for method in kqd.methods():
        assert kqd.methods(method.id).id == kqd.methods(id=method.id).id == method.id
    with pytest.raises(ValueError, match='^method="mdm": expected one of .*; did you mean mmd'):
        kqd.methods("mdm")
    with pytest.raises(TypeError, match="^id is of type int, expected a string$"):
        kqd.methods(1)


def test_method_information_cannot_be_changed():
    method = kqd.methods()[0]
    assert repr(method).startswith("MethodInfo(ekqd: ")
    with pytest.raises(AttributeError):
        method.id = "other"


def test_the_version_is_a_version():
    assert re.fullmatch(r"\d+\.\d+\.\d+", kqd.__version__)


def test_the_types_in_the_stub_are_those_of_the_module():
    stub = ast.parse(pathlib.Path(kqd.__file__).with_name("_core.pyi").read_text())
    public = lambda names: {name for name in names if not name.startswith("_")}
    members = {node.name: node for node in stub.body if isinstance(node, (ast.ClassDef, ast.FunctionDef))}
    assert set(members) == public(vars(_core))
    for name, node in members.items():
        if isinstance(node, ast.ClassDef) and name != "ResourceLimitError":
            described = {item.name for item in node.body if isinstance(item, ast.FunctionDef)}
            assert public(described) == public(vars(getattr(_core, name))), name


@pytest.mark.parametrize("kind, table", [(kqd.TestResult, _core.test_fields()), (kqd.DistanceResult, _core.distance_fields())])
def test_the_fields_of_a_result_are_those_of_the_table(kind, table):
    own = {"profiles", "settings", "_lines", "warning_ids", "note_ids"}  # Python's own
    assert {field.name for field in dataclasses.fields(kind)} - own == {python for _, python, *_ in table if python}


@pytest.mark.parametrize("call", [kqd.distance, kqd.test])
def test_a_result_has_every_field_of_its_class_and_no_other(call):
    result = call([1, 2, 3], [4, 5, 6], rng=0)
    assert set(vars(result)) - {"_origin"} == {field.name for field in dataclasses.fields(result)}


@pytest.mark.parametrize("call", [kqd.distance, kqd.test])
def test_equal_results_are_equal(call):
    options = dict(rng=0, profiles=1, kernel="laplace")
    result = call(X, Y, **options)
    assert result == call(X, Y, **options) and hash(result) == hash(call(X, Y, **options))
    assert result == pickle.loads(pickle.dumps(result))
    assert result != call(X, Y, **{**options, "rng": 1}) and result != result.statistic


def test_results_name_their_bits():
    x, y = np.random.default_rng(0).normal(size=(2, 20, 2))
    found = {kqd.distance(x, y, rng=0).bits, kqd.test(x, y, rng=0, n_resamples=19).bits, kqd.explain(x, y, rng=0).bits,
             kqd.Embedding(x, rng=0).distance(y).bits}
    assert found in ({"fma"}, {"no-fma"})
    assert kqd.test(x, y, rng=0, n_resamples=19).to_dict()["bits"] in found
