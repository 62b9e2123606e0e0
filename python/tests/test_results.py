"""What comes back from kqd.distance and kqd.methods, and what the package says about itself."""

import ast
import dataclasses
import json
import pathlib
import pickle
import re

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
    assert (result.n_directions, result.n_reference) == (64, 2)
    assert result.kernel == f"gaussian@{result.bandwidth!r}"
    assert result.per_direction.shape == (64,)
    assert result.statistic_power == pytest.approx(result.statistic**2, rel=1e-15)
    assert result.mmd_squared is None and result.warnings == () and result.elapsed_s > 0


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
    assert list(plain) == [field.name for field in dataclasses.fields(kqd.DistanceResult)]
    assert plain["per_direction"] == list(result.per_direction)


def test_a_result_can_be_pickled(result):
    assert pickle.loads(pickle.dumps(result)).to_dict() == result.to_dict()


def test_a_result_prints_as_a_block():
    found = kqd.distance([1, 2, 3], [2], directions="axis", power=np.inf, rng=3)
    assert repr(found) == str(found) == """\
DistanceResult
  statistic   1
  method      ekqd
  samples     3 and 1 row, 1 column
  kernel      linear
  directions  1 axis
  power       inf
  weighting   uniform
  seed        3
  warning     Y has one row: its quantiles are all the same value"""


def test_warnings_of_the_library_are_in_the_result():
    found = kqd.distance([[1, 7], [2, 7]], [[3, 7], [5, 7]], rng=0)
    assert found.warnings == ("1 of 2 columns is constant: 2",)


def test_methods_are_listed_and_can_be_used():
    ids = [method.id for method in kqd.methods()]
    assert {"ekqd", "supkqd", "ekqd-centered", "supkqd-centered"} <= set(ids) and len(set(ids)) == len(ids)
    for method in (method for method in kqd.methods() if method.has_distance):
        assert kqd.distance(X, Y, method=method.id, rng=0).method == method.id
        for field in ("family", "summary", "reports", "cost", "permutation", "calibrations", "details", "reference"):
            assert getattr(method, field)


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
