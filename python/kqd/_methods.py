"""kqd.methods: the registry of methods."""

from __future__ import annotations

from typing import List, Optional, Union, overload

from . import _core
from ._options import text


@overload
def methods() -> List[_core.MethodInfo]: ...


@overload
def methods(id: str) -> _core.MethodInfo: ...


def methods(id: Optional[str] = None) -> Union[_core.MethodInfo, List[_core.MethodInfo]]:
    """Every method of comparing two samples, each with its id, cost and what it reports; or the one of this id.

    Examples
    --------
    >>> import kqd
    >>> [method.id for method in kqd.methods()][:2]
    ['ekqd', 'ekqd-centered']
    >>> kqd.methods("mmd").cost
    'N^2 d'
    """
    return _core.methods() if id is None else _core.method(text(id, "id"))
