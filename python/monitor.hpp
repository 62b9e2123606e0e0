#pragma once
#include <pybind11/pybind11.h>

namespace kqd {

/// The class Monitor of the module.
void bind_monitor(pybind11::module_& m);

}  // namespace kqd
