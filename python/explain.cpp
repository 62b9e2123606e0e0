#include "explain.hpp"

#include <pybind11/functional.h>
#include <pybind11/stl.h>

#include <chrono>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "arrays.hpp"
#include "kqd/kqd.hpp"
#include "watch.hpp"

namespace py = pybind11;

namespace kqd {
namespace {

// What the data are called: columns, rows and, if they are pictures, their shape; empty where nothing is known.
struct Labels {
  std::vector<std::string> columns;
  std::vector<std::size_t> rows_x;
  std::vector<std::size_t> rows_y;
  std::vector<std::size_t> image;
};

ExplainOptions options_of(const TwoSampleOptions& test, const Labels& labels) {
  ExplainOptions options;
  options.kernel = test.statistic.kernel;
  options.bandwidth_rule = test.statistic.bandwidth_rule;
  options.num_permutations = test.test.num_permutations;
  options.alpha = test.test.alpha;
  options.design = test.test.design;
  options.weights_as = test.weights_as;
  options.seed = test.statistic.seed;
  options.threads = test.statistic.threads;
  options.max_memory = test.statistic.max_memory;
  options.column_names = labels.columns;
  options.rows_x = labels.rows_x;
  options.rows_y = labels.rows_y;
  if (!labels.image.empty()) {
    options.image = image_shape(labels.image);
    if (!options.image) {
      throw py::value_error("image_shape is not a picture, expected (height, width) or (height, width, 1, 3 or 4)");
    }
  }
  return options;
}

// The whole as JSON, and as a person reads it.
py::tuple explain_of(const ArraySample& x, const ArraySample& y, const TwoSampleOptions& test, const Labels& labels,
                     const std::optional<py::function>& progress) {
  const ExplainOptions options = options_of(test, labels);
  Explanation result;
  const auto start = std::chrono::steady_clock::now();
  while_watching([&](const RunControl* control) { result = explain(x.view(), y.view(), options, control); }, progress);
  const RunInfo run{.method = "",
                    .x_name = "x",
                    .y_name = "y",
                    .n_x = result.n_x,
                    .n_y = result.n_y,
                    .dim = result.dim,
                    .preparation = {},
                    .elapsed_s = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count()};
  return py::make_tuple(explanation_json(result), explanation_text(result, run));
}

}  // namespace

void bind_explain(py::module_& m) {
  py::class_<Labels>(m, "Labels")
      .def(py::init<std::vector<std::string>, std::vector<std::size_t>, std::vector<std::size_t>,
                    std::vector<std::size_t>>(),
           py::kw_only(), py::arg("columns"), py::arg("rows_x"), py::arg("rows_y"), py::arg("image"));
  m.def("explain", &explain_of, py::arg("x"), py::arg("y"), py::arg("options"), py::arg("labels"), py::arg("progress"));
}

}  // namespace kqd
