"""kqd.methods: what can be asked for by name."""

from __future__ import annotations

from typing import List

from . import _core


def methods() -> List[_core.MethodInfo]:
    """Every method of comparing two samples, each with its id, cost and what it reports.

    Examples
    --------
    >>> import kqd
    >>> [method.id for method in kqd.methods()][:2]
    ['ekqd', 'ekqd-centered']
    >>> kqd.methods()[0].cost
    'l N m + l N log N'
    """
    return _core.methods()
