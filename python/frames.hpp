#pragma once
#include <pybind11/pybind11.h>

#include "arrays.hpp"
#include "kqd/kqd.hpp"

namespace kqd {

/// Adds the names of the samples in texts: those that were given, or the values of a group column, or of the files.
void add_labels(const Settings& settings, RunInfo& run);

/// The preparation, the files and the names of two samples.
void add_names(const ArraySample& x, const ArraySample& y, const Settings& settings, RunInfo& run);

/// prepare(x, y, group, settings): two samples from tables in memory, whose columns are tuples (name, values, type), or
/// from files; see _frames.py.
void bind_frames(pybind11::module_& m);

}  // namespace kqd
