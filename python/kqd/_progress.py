"""Progress callbacks."""

from __future__ import annotations

import contextlib
from typing import Callable, ContextManager, Iterator, Optional, Union

ProgressCallback = Callable[[float, str], object]


def shown(progress: Union[None, bool, ProgressCallback]) -> ContextManager[Optional[ProgressCallback]]:
    """The function to call as callback(fraction, what): the caller's own, or for True a bar of tqdm."""
    if progress is None or progress is False:
        return contextlib.nullcontext()
    if progress is True:
        return _bar()
    if callable(progress):
        return contextlib.nullcontext(progress)
    raise TypeError(f"progress is of type {type(progress).__name__}, expected True or a callable")


@contextlib.contextmanager
def _bar() -> Iterator[ProgressCallback]:
    try:
        from tqdm.auto import tqdm
    except ImportError:
        raise ImportError("progress=True shows a bar of tqdm, which is not installed; pass a callable") from None
    with tqdm(total=1.0, bar_format="{desc}{percentage:3.0f}%|{bar}| {elapsed}<{remaining}") as bar:

        def show(fraction: float, what: str) -> None:
            bar.set_description(what, refresh=False)
            bar.update(fraction - bar.n)

        yield show
