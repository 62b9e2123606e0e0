#pragma once
#include <pybind11/pybind11.h>

#include <string>

#include "arrays.hpp"
#include "kqd/kqd.hpp"

namespace kqd {

/// A Python function of two blocks of rows, or of numbers of objects, as a kernel. It must return a float64 matrix of
/// the right shape; the GIL is taken for each call, and what it raises reaches the caller as it is.
[[nodiscard]] KernelSpec function_kernel(const std::string& name, pybind11::function function, bool of_objects);

/// A Gram matrix as a kernel, checked, of which `x` holds the first rows and `y` the others. Its points are row
/// numbers, and it is known at no others.
[[nodiscard]] KernelSpec array_gram_kernel(Array x, Array y);

/// True for a kernel function of the caller, and for sums and products with one.
[[nodiscard]] bool calls_python(const KernelSpec& kernel);

}  // namespace kqd
