#pragma once
#include <string>
#include <vector>

#include "kqd/kqd.hpp"

namespace kqd::app {

/// Samples of objects: their numbers, and the kernel between all of them.
struct ObjectPair {
  SamplePair data;
  KernelSpec kernel;
};
struct ObjectList {
  SampleList data;
  KernelSpec kernel;
};

/// Reads the objects of --kernel precomputed, spectrum, ...: X and Y are the rows of a pooled Gram matrix (two files,
/// or one with a group column), lines of two files, or a column of tables.
[[nodiscard]] ObjectPair read_objects(const std::vector<std::string>& files, const Settings& settings);

/// The same of any number of files, for a matrix or embeddings.
[[nodiscard]] ObjectList read_object_list(const std::vector<std::string>& files, const Settings& settings);

/// Samples of rows or of objects, by the settings; `kernel` becomes that of the objects.
[[nodiscard]] SampleList read_list(const std::vector<std::string>& files, const Settings& settings, KernelSpec& kernel);
[[nodiscard]] std::size_t num_rows(const SampleList& data);

/// Numbers of pooled rows, which the file of an option counts from 1, become numbers of objects, counted from 0.
void number_objects(const std::string& given, std::size_t num_objects, Matrix<double>& points);

}  // namespace kqd::app
