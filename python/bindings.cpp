// The part of the Python package that is written in C++. What users see is in kqd/*.py; here arrays become views,
// keywords become options, and exceptions become Python's.
#include <pybind11/numpy.h>
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <future>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "kqd/kqd.hpp"

namespace py = pybind11;

namespace kqd {
namespace {

using Array = py::array_t<double, 0>;  // any layout: is_viewable() decides

// True for a matrix that a MatrixView shows as it lies in memory: doubles in adjacent columns, rows one after another.
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

// A sample that looks at NumPy's memory and keeps it alive. Weights are a matrix of one column.
class ArraySample {
 public:
  ArraySample(Array points, std::optional<Array> weights) : points_(std::move(points)), weights_(std::move(weights)) {
    view_.points = matrix_view(points_);
    if (!weights_) return;
    const auto column = matrix_view(*weights_);
    if (column.cols() != 1 || column.row_stride() != 1) throw py::type_error("expected weights without gaps");
    view_.weights = {column.data(), column.rows()};
  }

  [[nodiscard]] const SampleView& view() const { return view_; }
  [[nodiscard]] const Array& points() const { return points_; }

 private:
  Array points_;
  std::optional<Array> weights_;
  SampleView view_;
};

KqdOptions make_options(const std::string& kernel, std::optional<double> bandwidth, const std::string& directions,
                        std::size_t num_directions, bool whiten, std::optional<std::size_t> num_reference,
                        const std::string& reference, const std::optional<Array>& reference_points,
                        const std::optional<Array>& coefficients, double power, const std::string& weighting,
                        const std::string& compat, std::uint64_t seed, unsigned workers, bool allow_quadratic,
                        Parameters parameters) {
  KqdOptions options;
  options.kernel = parse_kernel(kernel);
  if (bandwidth) options.kernel = with_bandwidth(std::move(options.kernel), *bandwidth);
  options.directions.family = parse_direction_family(directions);
  options.directions.num_directions = num_directions;
  options.directions.whiten = whiten;
  options.directions.num_reference = num_reference;
  options.directions.reference = parse_reference_measure(reference);
  options.directions.reference_points = matrix(reference_points);
  options.directions.coefficients = matrix(coefficients);
  options.power = power;
  options.weighting = parse_level_weights(weighting);
  options.seed = Seed{seed};
  options.threads = ThreadCount{workers};
  options.allow_quadratic = allow_quadratic;
  options.parameters = std::move(parameters);
  if (!compat.empty()) apply_compat(compat, options);
  return options;
}

KqdResult distance_without_gil(const ArraySample& x, const ArraySample& y, const std::string& method,
                               const KqdOptions& options) {
  const py::gil_scoped_release other_threads_may_run;
  return distance(method, x.view(), y.view(), options);
}

Array to_array(const std::vector<double>& values) {
  return Array(static_cast<py::ssize_t>(values.size()), values.data());
}

py::dict to_dict(const std::vector<Detail>& details) {
  py::dict result;
  for (const Detail& detail : details) result[py::str(detail.name)] = detail.value;
  return result;
}

// A method's own parameters from keywords: numbers as they are, words by what they stand for.
Parameters make_parameters(const std::string& method, const py::dict& given) {
  const MethodInfo& info = find_method(method);
  Parameters parameters;
  for (const auto& [name, value] : given) {
    const auto key = py::cast<std::string>(name);
    if (py::isinstance<py::str>(value)) {
      set_parameter(parameters, info.id, info.parameters, key + "=" + py::cast<std::string>(value));
    } else {
      parameters[key] = py::cast<double>(value);
    }
  }
  validate_parameters(info, parameters);
  return parameters;
}

std::optional<std::pair<double, double>> to_pair(const std::optional<Interval>& interval) {
  if (!interval) return std::nullopt;
  return std::pair{interval->lower, interval->upper};
}

Design make_design(const std::string& kind, std::vector<std::int64_t> groups) {
  for (const DesignKind known :
       {DesignKind::independent, DesignKind::paired, DesignKind::blocks, DesignKind::clusters}) {
    if (to_string(known) == kind) return {known, std::move(groups)};
  }
  throw py::value_error("design \"" + kind + "\" is unknown, expected independent or paired");
}

TwoSampleOptions make_test_options(const std::string& method, const KqdOptions& statistic,
                                   std::int64_t num_permutations, double alpha, const std::string& design,
                                   std::vector<std::int64_t> groups, const std::string& calibration,
                                   const std::string& early_stop, bool set_aside, bool randomised_ties,
                                   bool effect_interval, double confidence, bool keep_null_distribution) {
  TwoSampleOptions options;
  options.method = method;
  options.statistic = statistic;
  options.test.num_permutations = num_permutations;
  options.test.alpha = alpha;
  options.test.design = make_design(design, std::move(groups));
  options.calibration = parse_calibration(calibration);
  options.test.early_stop = parse_early_stop(early_stop);
  options.set_aside = set_aside;
  options.test.randomised_ties = randomised_ties;
  options.effect_interval = effect_interval;
  options.test.confidence = confidence;
  options.test.keep_null_distribution = keep_null_distribution;
  return options;
}

// How far the work on another thread has come. What it reports waits here until the thread that asked looks.
class Progress {
 public:
  void put(double fraction, std::string_view what) {
    const std::lock_guard lock(mutex_);
    latest_.emplace(fraction, what);
  }

  [[nodiscard]] std::optional<std::pair<double, std::string>> take() {
    const std::lock_guard lock(mutex_);
    return std::exchange(latest_, std::nullopt);
  }

 private:
  std::mutex mutex_;
  std::optional<std::pair<double, std::string>> latest_;
};

// Python runs signal handlers on the main thread alone, and only when it is asked to. So another thread computes, and
// the caller's thread waits: it looks for signals and passes progress on, a few times a second, whatever the library is
// at. An exception out of either stops the work first.
TwoSampleResult test_while_watching(const ArraySample& x, const ArraySample& y, const TwoSampleOptions& options,
                                    const std::optional<py::function>& callback) {
  constexpr auto kLook = std::chrono::milliseconds(50);
  std::atomic<bool> stop{false};
  Progress progress;
  RunControl control{.stop = &stop};
  if (callback) {
    control.progress = [&](const ProgressReport& at) {
      if (at.counted) progress.put(at.fraction(), at.what);
    };
  }
  auto work = std::async(std::launch::async, [&] { return two_sample_test(x.view(), y.view(), options, &control); });
  const auto done = [&] {
    const py::gil_scoped_release other_threads_may_run;
    return work.wait_for(kLook) == std::future_status::ready;
  };
  const auto look = [&] {
    if (PyErr_CheckSignals() != 0) throw py::error_already_set();
    if (const auto report = progress.take()) (*callback)(report->first, report->second);
  };
  try {
    while (!done()) look();
    look();
  } catch (...) {
    stop = true;
    const py::gil_scoped_release other_threads_may_run;
    work.wait();
    throw;
  }
  return work.get();
}

void bind_errors(py::module_& m) {
  static const py::exception<Error> resource_limit(m, "ResourceLimitError", PyExc_RuntimeError);
  resource_limit.attr("__module__") = "kqd";
  resource_limit.attr("__doc__") = "Would take more time or memory than allowed.";
  py::register_exception_translator([](std::exception_ptr raised) {
    try {
      std::rethrow_exception(std::move(raised));
    } catch (const Error& error) {
      switch (error.code()) {
        case ErrorCode::resource_limit:
          return PyErr_SetString(resource_limit.ptr(), error.what());
        case ErrorCode::interrupted:
          return PyErr_SetString(PyExc_KeyboardInterrupt, error.what());
        case ErrorCode::unwritable_output:
          return PyErr_SetString(PyExc_OSError, error.what());
        case ErrorCode::internal:
          return PyErr_SetString(PyExc_RuntimeError, error.what());
        case ErrorCode::invalid_option:
        case ErrorCode::shape_mismatch:
        case ErrorCode::empty_sample:
        case ErrorCode::non_finite_value:
        case ErrorCode::invalid_weights:
        case ErrorCode::degenerate_directions:
        case ErrorCode::unreadable_input:
          return PyErr_SetString(PyExc_ValueError, error.what());
      }
    }
  });
}

void bind_inputs(py::module_& m) {
  m.def("is_viewable", &is_viewable, py::arg("array"));
  py::class_<ArraySample>(m, "Sample")
      .def(py::init<Array, std::optional<Array>>(), py::arg("points").noconvert(),
           py::arg("weights").noconvert() = py::none())
      .def_property_readonly("points", &ArraySample::points);
  m.def("parameters", &make_parameters, py::arg("method"), py::arg("given"));
  py::class_<KqdOptions>(m, "Options")
      .def(py::init(&make_options), py::kw_only(), py::arg("kernel"), py::arg("bandwidth"), py::arg("directions"),
           py::arg("n_directions"), py::arg("whiten"), py::arg("n_reference"), py::arg("reference"),
           py::arg("reference_points").noconvert(), py::arg("coefficients").noconvert(), py::arg("power"),
           py::arg("weighting"), py::arg("compat"), py::arg("seed"), py::arg("workers"), py::arg("allow_quadratic"),
           py::arg("parameters"))
      .def_property_readonly("directions", [](const KqdOptions& o) { return to_string(o.directions.family); })
      .def_property_readonly("reference", [](const KqdOptions& o) { return to_string(o.directions.reference); })
      .def_readonly("power", &KqdOptions::power)
      .def_property_readonly("weighting", [](const KqdOptions& o) { return to_string(o.weighting); })
      .def_property_readonly("seed", [](const KqdOptions& o) { return o.seed.value; });
}

void bind_distance(py::module_& m) {
  py::class_<KqdResult>(m, "DistanceResult")
      .def_readonly("statistic", &KqdResult::statistic)
      .def_readonly("statistic_power", &KqdResult::statistic_power)
      .def_readonly("standard_error", &KqdResult::standard_error)
      .def_property_readonly("per_direction", [](const KqdResult& r) { return to_array(r.per_direction); })
      .def_readonly("mmd_squared", &KqdResult::mmd_squared)
      .def_property_readonly("kernel", [](const KqdResult& r) { return to_string(r.kernel); })
      .def_property_readonly("bandwidth", [](const KqdResult& r) { return first_bandwidth(r.kernel); })
      .def_readonly("n_directions", &KqdResult::num_directions)
      .def_readonly("n_reference", &KqdResult::num_reference)
      .def_property_readonly("details", [](const KqdResult& r) { return to_dict(r.details); })
      .def_readonly("warnings", &KqdResult::warnings);
  m.def("distance", &distance_without_gil, py::arg("x"), py::arg("y"), py::arg("method"), py::arg("options"));
}

py::list configuration_list(const TwoSampleResult& result) {
  py::list list;
  for (const Configuration& c : result.configurations) {
    list.append(py::make_tuple(c.name, c.statistic, c.score, c.pvalue, c.adjusted_pvalue));
  }
  return list;
}

void bind_test(py::module_& m) {
  py::class_<TwoSampleOptions>(m, "TestOptions")
      .def(py::init(&make_test_options), py::kw_only(), py::arg("method"), py::arg("statistic"), py::arg("n_resamples"),
           py::arg("alpha"), py::arg("design"), py::arg("groups"), py::arg("calibration"), py::arg("early_stop"),
           py::arg("set_aside"), py::arg("randomised_ties"), py::arg("effect_interval"), py::arg("confidence_level"),
           py::arg("null_distribution"));
  const auto of_test = [](auto member) { return [member](const TwoSampleResult& r) { return r.test.*member; }; };
  py::class_<TwoSampleResult>(m, "TestResult")
      .def_property_readonly("statistic", of_test(&TestOutcome::statistic))
      .def_property_readonly("pvalue", of_test(&TestOutcome::pvalue))
      .def_property_readonly("pvalue_ci",
                             [](const TwoSampleResult& r) {
                               return std::pair{r.test.pvalue_lower, r.test.pvalue_upper};
                             })
      .def_property_readonly("n_exceed", of_test(&TestOutcome::n_exceed))
      .def_property_readonly("n_resamples", of_test(&TestOutcome::n_resamples))
      .def_property_readonly("reject", of_test(&TestOutcome::reject))
      .def_property_readonly("enumerated", of_test(&TestOutcome::enumerated))
      .def_property_readonly("stopped_early", of_test(&TestOutcome::stopped_early))
      .def_property_readonly("permutation_mean", of_test(&TestOutcome::permutation_mean))
      .def_property_readonly("permutation_sd", of_test(&TestOutcome::permutation_sd))
      .def_property_readonly("null_distribution",
                             [](const TwoSampleResult& r) { return to_array(r.test.null_distribution); })
      .def_readonly("effect_size", &TwoSampleResult::effect_size)
      .def_property_readonly("effect_size_ci", [](const TwoSampleResult& r) { return to_pair(r.effect_interval); })
      .def_property_readonly("per_direction", [](const TwoSampleResult& r) { return to_array(r.per_direction); })
      .def_property_readonly("kernel", [](const TwoSampleResult& r) { return to_string(r.kernel); })
      .def_property_readonly("bandwidth", [](const TwoSampleResult& r) { return first_bandwidth(r.kernel); })
      .def_readonly("n_directions", &TwoSampleResult::num_directions)
      .def_readonly("n_reference", &TwoSampleResult::num_reference)
      .def_readonly("n_set_aside", &TwoSampleResult::num_set_aside)
      .def_readonly("law", &TwoSampleResult::law)
      .def_property_readonly("configurations", &configuration_list)
      .def_property_readonly("details", [](const TwoSampleResult& r) { return to_dict(r.details); })
      .def_readonly("warnings", &TwoSampleResult::warnings);
  m.def("test", &test_while_watching, py::arg("x"), py::arg("y"), py::arg("options"), py::arg("progress"));
}

py::dict parameter_table(const MethodInfo& method) {
  py::dict table;
  for (const ParameterInfo& parameter : method.parameters) {
    const py::object value = parameter.choices.empty()
                                 ? py::object(py::float_(parameter.default_value))
                                 : py::object(py::str(parameter_text(parameter, parameter.default_value)));
    table[py::str(std::string(parameter.name))] =
        py::make_tuple(value, std::string(parameter.meaning), parameter_range(parameter));
  }
  return table;
}

void bind_methods(py::module_& m) {
  py::class_<MethodInfo> info(m, "MethodInfo", "One way of comparing two samples.");
  info.attr("__module__") = "kqd";
  info.def_readonly("id", &MethodInfo::id, "as in method=")
      .def_readonly("family", &MethodInfo::family)
      .def_readonly("summary", &MethodInfo::summary, "one line")
      .def_readonly("reports", &MethodInfo::reports, "what the number is: a root, a power, a signed estimate")
      .def_readonly("cost", &MethodInfo::cost, "cost class of one evaluation")
      .def_readonly("permutation", &MethodInfo::permutation, "what one more labelling costs")
      .def_readonly("calibrations", &MethodInfo::calibrations, "valid ways to a p-value")
      .def_readonly("details", &MethodInfo::details, "a paragraph: the formula and the defaults")
      .def_readonly("reference", &MethodInfo::reference, "where it comes from")
      .def_property_readonly("parameters", &parameter_table, "its own keywords: name -> (default, meaning, range)")
      .def_readonly("directions", &MethodInfo::directions, "the word for its directions, when it has its own")
      .def_property_readonly(
          "has_distance", [](const MethodInfo& method) { return method.distance != nullptr; },
          "False for tests that are made of several statistics")
      .def_property_readonly("uses_kernel", [](const MethodInfo& method) { return method.uses.kernel; })
      .def_property_readonly("uses_power", [](const MethodInfo& method) { return method.uses.power; })
      .def_property_readonly("uses_weighting", [](const MethodInfo& method) { return method.uses.weighting; })
      .def("__repr__", [](const MethodInfo& method) {
        return "MethodInfo(" + std::string(method.id) + ": " + std::string(method.summary) + ")";
      });
  m.def("method", &find_method, py::arg("id"), py::return_value_policy::reference);
  m.def("methods", [] { return std::vector<MethodInfo>(methods().begin(), methods().end()); });
}

}  // namespace
}  // namespace kqd

PYBIND11_MODULE(_core, m) {
  m.attr("__version__") = kqd::kVersion;
  kqd::bind_errors(m);
  kqd::bind_inputs(m);
  kqd::bind_distance(m);
  kqd::bind_test(m);
  kqd::bind_methods(m);
}
