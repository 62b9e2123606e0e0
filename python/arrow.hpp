#pragma once
#include <pybind11/pybind11.h>

namespace kqd {

/// Adds read_arrow, which reads tables of other libraries through Arrow's C stream interface (`__arrow_c_stream__`).
void bind_arrow(pybind11::module_& m);

}  // namespace kqd
