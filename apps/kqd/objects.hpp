#pragma once
#include <string>
#include <vector>

#include "kqd/kqd.hpp"

namespace kqd::app {

/// Samples of objects: their numbers, and the kernel between them.
struct ObjectPair {
  SamplePair data;
  KernelSpec kernel;
};

/// Reads the objects of --kernel precomputed, spectrum, ...: X and Y are the rows of a pooled Gram matrix (two files,
/// or one with a group column), or lines of two files.
[[nodiscard]] ObjectPair read_objects(const std::vector<std::string>& files, const Settings& settings);

/// Row numbers of a file of reference points become numbers of objects, counted from 0.
void number_reference_rows(std::size_t num_objects, Matrix<double>& points);

}  // namespace kqd::app
