"""From the keyword `kernel` to a kernel of the library."""

from __future__ import annotations

from typing import Any, Callable, Union

import numpy as np
from numpy.typing import ArrayLike, NDArray

from . import _core

#: Takes two blocks of rows, a x d and b x d, or two lists of objects, and returns their a x b matrix of values.
KernelFunction = Callable[[Any, Any], ArrayLike]
KernelLike = Union[str, KernelFunction]

PRECOMPUTED = "precomputed"


def core_kernel(kernel: KernelLike) -> _core.Kernel:
    """A kernel by its text, or a function of the caller's own."""
    if isinstance(kernel, str):
        return _core.parse_kernel(kernel)
    if not callable(kernel):
        given = type(kernel).__name__
        raise TypeError(f"kernel is of type {given}, expected a string or a function of two blocks of rows")
    return _core.function_kernel(kernel_name(kernel), checked(kernel))


def kernel_name(kernel: KernelLike) -> str:
    """The name of the kernel in results: its text, or the name of the function."""
    if isinstance(kernel, str):
        return kernel
    name = getattr(kernel, "__name__", type(kernel).__name__)
    return "custom" if name == "<lambda>" else name


def checked(kernel: KernelFunction) -> Callable[..., NDArray[np.float64]]:
    """The function with a check of the type and shape that it returns."""
    name = kernel_name(kernel)

    def block(a: NDArray[np.float64], b: NDArray[np.float64]) -> NDArray[np.float64]:
        values = np.asarray(kernel(a, b))
        if values.dtype.kind not in "biuf":
            raise TypeError(f"kernel {name} returned values of dtype {values.dtype}, expected real numbers")
        if values.shape != (len(a), len(b)):
            raise ValueError(
                f"kernel {name} returned shape {values.shape} for blocks of {len(a)} and {len(b)} rows, "
                f"expected ({len(a)}, {len(b)})"
            )
        return np.require(values, np.float64, ["C", "A"])

    return block
