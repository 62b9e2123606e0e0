"""The examples of docs/guide/python.md run and print what the page shows."""

import doctest
import pathlib

GUIDE = pathlib.Path(__file__).parents[2] / "docs" / "guide" / "python.md"


def test_the_examples_of_the_guide_run():
    found = doctest.testfile(str(GUIDE), module_relative=False,
                             optionflags=doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE)
    assert found.attempted > 20 and found.failed == 0
