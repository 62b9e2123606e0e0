#include "kernels.hpp"

#include <algorithm>
#include <cmath>
#include <memory>
#include <utility>

namespace py = pybind11;

namespace kqd {
namespace {

// Holds a Python object in code without the GIL: copies do not touch it, the last one takes the GIL.
template <class Object>
std::shared_ptr<const Object> held(Object object) {
  const auto release = [](const Object* last) {
    const py::gil_scoped_acquire gil;
    delete last;  // NOLINT(cppcoreguidelines-owning-memory)
  };
  return {new Object(std::move(object)), release};
}

// The row of the Gram matrix that a point stands for.
std::size_t row_number(double value, std::size_t num_rows) {
  if (value >= 0.0 && value < static_cast<double>(num_rows) && value == std::floor(value)) {
    return static_cast<std::size_t>(value);
  }
  throw Error(
      ErrorCode::invalid_option,
      "kernel precomputed is defined only on the pooled rows, but is needed elsewhere; take reference points from "
      "the pool (reference=\"pooled\"), or another method");
}

}  // namespace

bool calls_python(const KernelSpec& kernel) {
  return kernel.family == KernelFamily::custom || std::ranges::any_of(kernel.parts, calls_python);
}

bool is_gram(const KernelSpec& kernel) {
  return to_string(kernel) == "precomputed";
}

KernelSpec function_kernel(const std::string& name, py::function function) {
  return KernelSpec::custom(
      name, [function = held(std::move(function))](MatrixView<const double> x, MatrixView<const double> z,
                                                   MatrixView<double> values) {
        const py::gil_scoped_acquire gil;
        // Copies: the function may keep what it is given, the library's memory does not wait for it.
        const auto returned = py::cast<Array>((*function)(to_array(x), to_array(z)));
        const auto block = matrix_view(returned);
        for (std::size_t i = 0; i < values.rows(); ++i) std::ranges::copy(block.row(i), values.row(i).begin());
      });
}

KernelSpec gram_kernel(Array x, Array y) {
  const auto top = matrix_view(x);
  const auto bottom = matrix_view(y);
  const auto memory = held(std::pair{std::move(x), std::move(y)});
  return KernelSpec::custom("precomputed", [top, bottom, memory](MatrixView<const double> a, MatrixView<const double> b,
                                                                 MatrixView<double> values) {
    const std::size_t num_rows = top.rows() + bottom.rows();
    for (std::size_t i = 0; i < values.rows(); ++i) {
      const std::size_t row = row_number(a(i, 0), num_rows);
      const auto gram_row = row < top.rows() ? top.row(row) : bottom.row(row - top.rows());
      for (std::size_t j = 0; j < values.cols(); ++j) values(i, j) = gram_row[row_number(b(j, 0), num_rows)];
    }
  });
}

}  // namespace kqd
