#include "frames.hpp"

#include <pybind11/numpy.h>
#include <pybind11/stl.h>

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "arrays.hpp"
#include "duckdb_package.hpp"
#include "watch.hpp"

namespace py = pybind11;

namespace kqd {
namespace {

std::optional<ColumnType> type_of(const py::object& word) {
  if (word.is_none()) return std::nullopt;
  for (const ColumnType type : {ColumnType::category, ColumnType::ordered, ColumnType::boolean, ColumnType::date}) {
    if (to_string(type) == py::cast<std::string>(word)) return type;
  }
  return std::nullopt;
}

template <class Value>
std::vector<Value> values_of(const py::handle& array) {
  const auto values = py::array_t<Value, py::array::c_style | py::array::forcecast>::ensure(array);
  if (!values) throw py::error_already_set();
  return {values.data(), values.data() + values.size()};
}

FrameColumn column_of(const py::tuple& given) {
  FrameColumn column{
      .name = py::cast<std::string>(given[0]), .cells = std::vector<double>{}, .type = type_of(given[2])};
  const py::object values = given[1];
  if (py::isinstance<py::tuple>(values)) {
    const auto parts = py::cast<py::tuple>(values);
    column.cells = CodedTexts{.codes = values_of<std::int32_t>(parts[0]),
                              .levels = py::cast<std::vector<std::string>>(parts[1]),
                              .as_in_files = py::cast<bool>(parts[2])};
  } else if (py::cast<py::array>(values).dtype().kind() == 'i') {
    column.cells = values_of<std::int64_t>(values);
  } else {
    column.cells = values_of<double>(values);
  }
  return column;
}

Frame frame_of(const py::list& columns, std::string name) {
  Frame frame{.name = std::move(name), .columns = {}};
  for (const py::handle& column : columns) frame.columns.push_back(column_of(py::cast<py::tuple>(column)));
  return frame;
}

SamplePair pair_of(const py::object& x, const py::object& y, const Settings& settings) {
  const std::string& group = settings.group_column;
  if (py::isinstance<py::str>(x)) {
    offer_duckdb_package();
    const auto path = py::cast<std::string>(x);
    if (!group.empty()) return read_grouped(path, group, settings.read);
    return read_pair(path, py::cast<std::string>(y), settings.read);
  }
  const Frame frame = frame_of(py::cast<py::list>(x), "x");
  if (!group.empty()) return prepare_grouped(frame, group, settings.read);
  return prepare_pair(frame, frame_of(py::cast<py::list>(y), "y"), settings.read);
}

py::list texts_of(const Warnings& warnings) {
  py::list texts;
  for (const Warning& warning : warnings) {
    texts.append(py::make_tuple(warning_name(warning.id), render(warning, python_names)));
  }
  return texts;
}

py::tuple prepare(const py::object& x, const py::object& y, const Settings& settings, bool paired) {
  Settings own = settings;
  own.read.paired = paired;
  own.read.seed = settings.test.statistic.seed;
  SamplePair pair = pair_of(x, y, own);
  const auto preparation = std::make_shared<const Preparation>(std::move(pair.preparation));
  pair.warnings.insert(pair.warnings.begin(), pair.notes.begin(), pair.notes.end());
  const std::vector<std::string> names = pair.x.column_names;
  const std::string of_x = py::isinstance<py::str>(x) ? py::cast<std::string>(x) : "";
  const std::string of_y = py::isinstance<py::str>(y) ? py::cast<std::string>(y) : of_x;
  return py::make_tuple(ArraySample(std::move(pair.x), preparation, of_x),
                        ArraySample(std::move(pair.y), preparation, of_y), names, texts_of(pair.warnings), pair.rows_x,
                        pair.rows_y, preparation->x.read, preparation->y.read);
}

// The result as JSON and as text.
py::tuple matrix_of(const py::list& given, const std::vector<std::string>& names, const Settings& settings,
                    const std::optional<py::function>& progress) {
  const auto start = std::chrono::steady_clock::now();
  const bool files = py::isinstance<py::str>(given[0]);
  std::vector<std::string> paths;
  std::vector<Frame> frames;
  for (std::size_t i = 0; i < given.size(); ++i) {
    if (py::isinstance<py::str>(given[i]) != files) {
      throw py::type_error("samples are files and tables, expected all of one kind");
    }
    if (files) paths.push_back(py::cast<std::string>(given[i]));
    if (!files) frames.push_back(frame_of(py::cast<py::list>(given[i]), names[i]));
  }
  if (files) offer_duckdb_package();
  ReadOptions read = settings.read;
  read.seed = settings.test.statistic.seed;
  SampleList data = files ? read_samples(paths, read) : prepare_samples(frames, read);
  const std::vector<SampleView> views(data.samples.begin(), data.samples.end());
  const TwoSampleOptions& options = settings.test;
  DistanceMatrix matrix;
  std::optional<PairwiseTests> tests;
  while_watching(
      [&](const RunControl* control) {
        const DistanceMatrixOptions plain{options.method, options.statistic};
        matrix = distance_matrix(views, names, settings.test_pairs ? distances_for(options) : plain, control);
        if (settings.test_pairs) tests = pairwise_tests(views, matrix, options, control);
      },
      progress);
  for (const Warnings* more : {&data.warnings, &data.notes}) {
    matrix.warnings.insert(matrix.warnings.begin(), more->begin(), more->end());
  }
  const double elapsed_s = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  const MatrixReport report{.matrix = matrix,
                            .tests = tests ? &*tests : nullptr,
                            .options = options.statistic,
                            .elapsed_s = elapsed_s,
                            .preparation = data.preparation,
                            .rows = data.rows,
                            .option_names = python_names};
  return py::make_tuple(matrix_json(report), matrix_text(report));
}

}  // namespace

void add_names(const ArraySample& x, const ArraySample& y, const Settings& settings, RunInfo& run) {
  run.preparation = x.preparation();
  run.x_name = x.file().empty() ? "x" : x.file();
  run.y_name = y.file().empty() ? "y" : y.file();
  add_labels(settings, run);
}

void add_labels(const Settings& settings, RunInfo& run) {
  if (const auto comma = settings.names.find(','); comma != std::string::npos) {
    run.x_label = settings.names.substr(0, comma);
    run.y_label = settings.names.substr(comma + 1);
  } else if (!run.preparation.group_column.empty() || run.x_name != "x") {
    std::tie(run.x_label, run.y_label) = sample_labels(run.x_name, run.y_name, run.preparation);
  }
}

void bind_frames(py::module_& m) {
  m.def("prepare", &prepare, py::arg("x"), py::arg("y"), py::arg("settings"), py::arg("paired"));
  m.def("matrix", &matrix_of, py::arg("samples"), py::arg("names"), py::arg("settings"), py::arg("progress"));
}

}  // namespace kqd
