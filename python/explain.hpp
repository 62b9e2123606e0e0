#pragma once
#include <pybind11/pybind11.h>

namespace kqd {

/// Adds explain() to the module.
void bind_explain(pybind11::module_& m);

}  // namespace kqd
