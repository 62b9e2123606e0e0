#pragma once
#include <pybind11/pybind11.h>

namespace kqd {

/// Numbers of rows, drafts of profiles and profiles of tasks, for kqd.spark, kqd.dask and kqd.ray.
void bind_engines(pybind11::module_& m);

}  // namespace kqd
