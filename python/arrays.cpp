#include "arrays.hpp"

#include <algorithm>
#include <cstdint>
#include <utility>

namespace py = pybind11;

namespace kqd {

bool is_viewable(const py::array& array) {
  if (!py::isinstance<Array>(array) || array.ndim() != 2) return false;
  constexpr auto kSize = static_cast<py::ssize_t>(sizeof(double));
  const bool aligned = reinterpret_cast<std::uintptr_t>(array.data()) % alignof(double) == 0;
  const bool columns_adjacent = array.shape(1) <= 1 || array.strides(1) == kSize;
  const bool rows_apart =
      array.shape(0) <= 1 || (array.strides(0) % kSize == 0 && array.strides(0) >= array.shape(1) * kSize);
  return aligned && (array.size() == 0 || (columns_adjacent && rows_apart));
}

MatrixView<const double> matrix_view(const Array& array) {
  if (!is_viewable(array)) throw py::type_error("expected a float64 matrix with adjacent columns");
  const auto rows = static_cast<std::size_t>(array.shape(0));
  const auto cols = static_cast<std::size_t>(array.shape(1));
  const std::size_t row_stride = rows <= 1 ? cols : static_cast<std::size_t>(array.strides(0)) / sizeof(double);
  return {array.data(), rows, cols, row_stride};
}

Matrix<double> matrix(const std::optional<Array>& array) {
  return array ? Matrix<double>(matrix_view(*array)) : Matrix<double>{};
}

Array to_array(const std::vector<double>& values) {
  Array array(static_cast<py::ssize_t>(values.size()), values.data());
  // Has the effect of array.setflags(write=False), without the call.
  py::detail::array_proxy(array.ptr())->flags &= ~py::detail::npy_api::NPY_ARRAY_WRITEABLE_;
  return array;
}

Array to_array(MatrixView<const double> values) {
  Array array({static_cast<py::ssize_t>(values.rows()), static_cast<py::ssize_t>(values.cols())});
  for (std::size_t i = 0; i < values.rows() && values.cols() > 0; ++i) {
    std::ranges::copy(values.row(i), array.mutable_data(static_cast<py::ssize_t>(i), 0));
  }
  return array;
}

ArraySample::ArraySample(Array points, std::optional<Array> weights, const std::vector<std::string>& column_names)
    : points_(std::move(points)),
      weights_(std::move(weights)),
      column_names_(std::make_shared<const std::vector<std::string>>(column_names)) {
  view_.points = matrix_view(points_);
  view_.column_names = *column_names_;
  if (!weights_) return;
  const auto column = matrix_view(*weights_);
  if (column.cols() != 1 || column.row_stride() != 1) throw py::type_error("expected weights without gaps");
  view_.weights = {column.data(), column.rows()};
}

ArraySample::ArraySample(Sample sample, std::shared_ptr<const Preparation> preparation, std::string file)
    : roles_(std::make_shared<const std::vector<ColumnRole>>(std::move(sample.roles))),
      column_names_(std::make_shared<const std::vector<std::string>>(std::move(sample.column_names))),
      preparation_(std::move(preparation)),
      file_(std::move(file)) {
  auto* const owned = new Matrix<double>(std::move(sample.points));
  const py::capsule owner(owned, [](void* pointer) { delete static_cast<Matrix<double>*>(pointer); });
  const MatrixView<const double> rows = std::as_const(*owned).view();
  constexpr auto kSize = static_cast<py::ssize_t>(sizeof(double));
  points_ = Array({static_cast<py::ssize_t>(rows.rows()), static_cast<py::ssize_t>(rows.cols())},
                  {static_cast<py::ssize_t>(rows.row_stride()) * kSize, kSize}, rows.data(), owner);
  view_.points = rows;
  view_.roles = *roles_;
  view_.column_names = *column_names_;
}

ArraySample ArraySample::with_weights(Array weights) const {
  ArraySample copy(points_, std::move(weights), *column_names_);
  copy.roles_ = roles_;
  copy.preparation_ = preparation_;
  copy.file_ = file_;
  if (copy.roles_) copy.view_.roles = *copy.roles_;
  return copy;
}

}  // namespace kqd
