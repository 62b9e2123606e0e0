#pragma once
#include <cstddef>
#include <vector>

#include "core/feature_map.hpp"
#include "kqd/core/matrix.hpp"
#include "kqd/kernel/kernel.hpp"

namespace kqd {

/// Functions of a row that can be written to a file: some of its columns, or f_j = sum_i c_ij k(z_i, .) for points z_i
/// and coefficients c_ij.
struct FunctionSet {
  std::vector<std::size_t> columns = {};  ///< empty: functions of a kernel
  KernelSpec kernel = {};
  Matrix<double> points = {};
  Matrix<double> coefficients = {};

  [[nodiscard]] std::size_t count() const { return columns.empty() ? coefficients.cols() : columns.size(); }
};

/// The functions of a set.
[[nodiscard]] RowFunctions make_functions(FunctionSet set);

}  // namespace kqd
