#include "explain.hpp"

#include <pybind11/functional.h>
#include <pybind11/numpy.h>
#include <pybind11/stl.h>

#include <chrono>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "arrays.hpp"
#include "frames.hpp"
#include "kqd/kqd.hpp"
#include "watch.hpp"

namespace py = pybind11;

namespace kqd {
namespace {

// Names of the columns and numbers of the rows; empty where they are not known.
struct Labels {
  std::vector<std::string> columns;
  std::vector<std::size_t> rows_x;
  std::vector<std::size_t> rows_y;
};

ExplainOptions options_of(const Settings& settings, const Labels& labels) {
  ExplainOptions options = settings.explain;
  options.column_names = labels.columns;
  options.rows_x = labels.rows_x;
  options.rows_y = labels.rows_y;
  return options;
}

// The result as JSON and as text, and the scores of all rows.
py::tuple explain_of(const ArraySample& x, const ArraySample& y, const Settings& settings, const Labels& labels,
                     const std::optional<py::function>& progress) {
  ExplainOptions options = options_of(settings, labels);
  options.sources = x.preparation().sources;
  options.units = x.preparation().units;
  Explanation result;
  const auto start = std::chrono::steady_clock::now();
  while_watching([&](const RunControl* control) { result = explain(x.view(), y.view(), options, control); }, progress);
  RunInfo run{.method = "",
              .x_name = "x",
              .y_name = "y",
              .n_x = result.n_x,
              .n_y = result.n_y,
              .dim = result.dim,
              .elapsed_s = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count(),
              .option_names = python_names};
  add_names(x, y, settings, run);
  RunInfo in_json = run;  // arrays have neither files nor a preparation
  in_json.x_name = x.file();
  in_json.y_name = y.file();
  const auto scores = [](const std::vector<double>& values) {
    return py::array_t<double>(static_cast<py::ssize_t>(values.size()), values.data());
  };
  return py::make_tuple(explanation_json(result, in_json), explanation_text(result, run),
                        py::make_tuple(scores(result.scores_x), scores(result.scores_y)));
}

}  // namespace

void bind_explain(py::module_& m) {
  py::class_<Labels>(m, "Labels")
      .def(py::init<std::vector<std::string>, std::vector<std::size_t>, std::vector<std::size_t>>(), py::kw_only(),
           py::arg("columns"), py::arg("rows_x"), py::arg("rows_y"));
  m.def("explain", &explain_of, py::arg("x"), py::arg("y"), py::arg("settings"), py::arg("labels"),
        py::arg("progress"));
}

}  // namespace kqd
