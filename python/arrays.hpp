#pragma once
#include <pybind11/numpy.h>
#include <pybind11/pybind11.h>

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "kqd/kqd.hpp"

namespace kqd {

using Array = pybind11::array_t<double, 0>;  // any layout: is_viewable() decides

/// True for a matrix that a MatrixView shows as it lies in memory: doubles in adjacent columns, rows one after another.
[[nodiscard]] bool is_viewable(const pybind11::array& array);

/// The array as it lies in memory; a TypeError unless is_viewable().
[[nodiscard]] MatrixView<const double> matrix_view(const Array& array);

/// A copy of the array; an empty matrix for none.
[[nodiscard]] Matrix<double> matrix(const std::optional<Array>& array);

/// Copies that NumPy owns. The first is read-only: it becomes part of a frozen result.
[[nodiscard]] Array to_array(const std::vector<double>& values);
[[nodiscard]] Array to_array(MatrixView<const double> values);

/// A sample that looks at NumPy's memory and keeps it alive. Weights are a matrix of one column.
class ArraySample {
 public:
  ArraySample(Array points, std::optional<Array> weights, const std::vector<std::string>& column_names = {});
  /// A sample that was prepared, with what was done and the file it comes from, if any; its points move to an array.
  ArraySample(Sample sample, std::shared_ptr<const Preparation> preparation, std::string file = "");

  [[nodiscard]] const SampleView& view() const { return view_; }
  [[nodiscard]] const Array& points() const { return points_; }
  [[nodiscard]] const std::optional<Array>& weights() const { return weights_; }
  [[nodiscard]] const std::string& file() const { return file_; }
  [[nodiscard]] Preparation preparation() const { return preparation_ ? *preparation_ : Preparation{}; }
  /// The same points with the roles of their columns, and other weights.
  [[nodiscard]] ArraySample with_weights(Array weights) const;

 private:
  Array points_;
  std::optional<Array> weights_;
  std::shared_ptr<const std::vector<ColumnRole>> roles_;
  std::shared_ptr<const std::vector<std::string>> column_names_;
  std::shared_ptr<const Preparation> preparation_;
  std::string file_;
  SampleView view_;
};

}  // namespace kqd
