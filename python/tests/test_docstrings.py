"""The examples in the docstrings run and print what they say."""

import doctest
import importlib
import pkgutil

import kqd
import pytest

MODULES = ["kqd"] + [f"kqd.{module.name}" for module in pkgutil.iter_modules(kqd.__path__) if module.name != "_core"]


@pytest.mark.parametrize("module", MODULES)
def test_examples_run(module):
    assert doctest.testmod(importlib.import_module(module)).failed == 0


def test_every_public_function_has_an_example():
    for name in kqd.__all__:
        function = getattr(kqd, name)
        if callable(function) and not isinstance(function, type):
            assert ">>>" in function.__doc__, name
