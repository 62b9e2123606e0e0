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

}  // namespace

bool calls_python(const KernelSpec& kernel) {
  const bool itself = kernel.family == KernelFamily::custom && !object_data(kernel);
  return itself || std::ranges::any_of(kernel.parts, calls_python);
}

KernelSpec function_kernel(const std::string& name, py::function function, bool of_objects) {
  KernelFunction called = [function = held(std::move(function))](MatrixView<const double> x, MatrixView<const double> z,
                                                                 MatrixView<double> values) {
    const py::gil_scoped_acquire gil;
    // Copies: the function may keep what it is given, the library's memory does not wait for it.
    const auto returned = py::cast<Array>((*function)(to_array(x), to_array(z)));
    const auto block = matrix_view(returned);
    for (std::size_t i = 0; i < values.rows(); ++i) std::ranges::copy(block.row(i), values.row(i).begin());
  };
  return of_objects ? function_of_objects(name, std::move(called)) : KernelSpec::custom(name, std::move(called));
}

KernelSpec array_gram_kernel(Array x, Array y) {
  const auto top = matrix_view(x);
  const auto bottom = matrix_view(y);
  Matrix<double> whole(top.rows() + bottom.rows(), top.cols());
  for (std::size_t i = 0; i < whole.rows(); ++i) {
    std::ranges::copy(i < top.rows() ? top.row(i) : bottom.row(i - top.rows()), whole.row(i).begin());
  }
  {
    const py::gil_scoped_release other_threads_may_run;
    require_gram(whole);
  }
  return gram_kernel(top, bottom, held(std::pair{std::move(x), std::move(y)}));
}

}  // namespace kqd
