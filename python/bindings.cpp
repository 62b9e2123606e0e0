// The part of the Python package that is written in C++. The interface is in kqd/*.py; here keywords become settings,
// results become dictionaries of their fields, and errors become exceptions of Python.
#include <pybind11/numpy.h>
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "arrays.hpp"
#include "arrow.hpp"
#include "embedding.hpp"
#include "engines.hpp"
#include "explain.hpp"
#include "frames.hpp"
#include "kernels.hpp"
#include "kqd/kqd.hpp"
#include "monitor.hpp"
#include "profile.hpp"
#include "watch.hpp"

namespace py = pybind11;

namespace kqd {
namespace {

// ---- Options ----

Command command_of(const std::string& call) {
  return call == "test"       ? kTestCommand
         : call == "distance" ? kDistanceCommand
         : call == "explain"  ? kExplainCommand
         : call == "matrix"   ? kMatrixCommand
                              : kEmbedCommand;
}

// Settings from keywords, whose values are texts, matrices of points or a kernel.
Settings make_settings(const std::string& call, const py::dict& given) {
  Settings settings = default_settings(command_of(call));
  for (const auto& [name, value] : given) {
    const OptionInfo& option = *find_option(py::cast<std::string>(name));
    if (py::isinstance<py::str>(value)) {
      set_option(settings, option, py::cast<std::string>(value));
    } else if (py::isinstance<KernelSpec>(value)) {
      settings.test.statistic.kernel = py::cast<KernelSpec>(value);
    } else {
      option.set_points(settings, matrix(py::cast<Array>(value)));
    }
  }
  require_no_files(settings);
  return settings;
}

// Completes the settings; returns the id and the text of a warning for options that were changed without effect.
std::vector<std::pair<std::string, std::string>> complete_settings(Settings& settings) {
  const auto changed = changed_options(settings);
  complete(settings);
  std::vector<std::pair<std::string, std::string>> warnings;
  for (const Warning& warning : no_effect_warnings(settings, changed, python_names)) {
    warnings.emplace_back(warning_name(warning.id), render(warning, python_names));
  }
  return warnings;
}

// A method's own parameters from keywords: numbers as they are, words by what they stand for.
void set_parameters(Settings& settings, const py::dict& given) {
  const MethodInfo& info = find_method(settings.test.method);
  Parameters& parameters = settings.test.statistic.parameters;
  for (const auto& [name, value] : given) {
    const auto key = py::cast<std::string>(name);
    if (py::isinstance<py::str>(value)) {
      set_parameter(parameters, info.id, info.parameters, key + "=" + py::cast<std::string>(value));
    } else {
      parameters[key] = py::cast<double>(value);
    }
  }
  validate_parameters(info, parameters);
}

void set_design(Settings& settings, const std::string& kind, std::vector<std::int64_t> groups,
                std::vector<std::string> names) {
  Design& design = settings.test.test.design;
  for (const DesignKind known :
       {DesignKind::independent, DesignKind::paired, DesignKind::blocks, DesignKind::clusters}) {
    if (to_string(known) == kind) design = {known, std::move(groups), std::move(names)};
  }
  settings.explain.design = design;
}

// The options of a function by keyword: (type, default).
py::dict options_of(const std::string& call) {
  constexpr std::array<const char*, 8> kTypes = {"flag", "count", "real", "word", "text", "list", "size", "points"};
  const Command command = command_of(call);
  const Settings defaults = default_settings(command);
  py::dict found;
  for (const OptionInfo& option : options()) {
    if ((option.calls & command) == 0) continue;
    found[py::str(keyword_name(option))] =
        py::make_tuple(kTypes.at(static_cast<std::size_t>(option.type)), option.get(defaults));
  }
  return found;
}

// ---- Results ----

py::object parameter_value(const ParameterInfo& parameter, double value) {
  if (parameter.choices.empty()) return py::float_(value);
  return py::str(parameter_text(parameter, value));
}

// Directions as Python holds them: functions that can be evaluated.
struct Functions {
  std::shared_ptr<const Directions> directions;

  // Values of direction `index` at every row.
  [[nodiscard]] Array evaluate(const Array& points, std::size_t index) const {
    const auto rows = matrix_view(points);
    std::vector<double> values(rows.rows());
    {
      const py::gil_scoped_release other_threads_may_run;
      directions->evaluate(rows, index, {values.data(), 1, values.size()}, ThreadCount{});
    }
    return to_array(values);
  }
};

// A tuple of one text for each warning: its sentence, or its id.
template <class Text>
py::tuple texts_of(const Warnings& warnings, const Text& text) {
  py::tuple texts(warnings.size());
  for (std::size_t i = 0; i < warnings.size(); ++i) texts[i] = std::string(text(warnings[i]));
  return texts;
}

std::string sentence(const Warning& warning) {
  return render(warning, python_names);
}

std::string_view id_of(const Warning& warning) {
  return warning_name(warning.id);
}

py::object to_python(const Value& value);

struct PythonVisitor {
  py::object operator()(std::monostate) const { return py::none(); }
  py::object operator()(bool value) const { return py::bool_(value); }
  py::object operator()(const std::vector<Value>& list) const {
    py::tuple values(list.size());
    for (std::size_t i = 0; i < list.size(); ++i) values[i] = to_python(list[i]);
    return values;
  }
  py::object operator()(const std::vector<NamedValue>& entries) const {
    py::dict values;
    for (const NamedValue& entry : entries) values[py::str(entry.name)] = to_python(entry.value);
    return values;
  }
  template <class T>
  py::object operator()(const T& value) const {
    return py::cast(value);
  }
};

py::object to_python(const Value& value) {
  return std::visit(PythonVisitor{}, value.content);
}

// A field of warnings, each with an id and a text, as a field of the texts and one of the ids.
void take_apart(py::dict& fields, const char* name, const char* ids_name) {
  py::list texts;
  py::list ids;
  for (const py::handle& warning : py::cast<py::tuple>(fields[name])) {
    texts.append(warning["text"]);
    ids.append(warning["id"]);
  }
  fields[name] = py::tuple(texts);
  fields[ids_name] = py::tuple(ids);
}

// The fields of a result and what a Python result keeps next to them.
template <class Result>
py::dict dictionary(const ResultValues& values, const Result& result) {
  py::dict fields;
  for (const NamedValue& field : values.fields) fields[py::str(field.name)] = to_python(field.value);
  fields["per_direction"] = to_array(result.num_directions > 0 ? result.per_direction : std::vector<double>{});
  if (!fields["maximiser"].is_none()) {
    const auto best = std::ranges::max_element(result.per_direction) - result.per_direction.begin();
    const DirectionTerms terms = result.directions->terms();
    std::vector<double> coefficients;
    for (std::size_t j = 0; j < terms.coefficients.rows(); ++j) {
      coefficients.push_back(terms.coefficients(j, static_cast<std::size_t>(best)));
    }
    fields["maximiser"] = py::make_tuple(best, result.per_direction[static_cast<std::size_t>(best)],
                                         terms_of(*result.directions)[0], to_array(coefficients));
  }
  take_apart(fields, "warnings", "warning_ids");
  fields["_lines"] = py::tuple(py::cast(values.lines));
  fields["gaps"] = to_array(result.per_direction);  // of `functions`, which may not be what was tested
  fields["functions"] = result.directions ? py::cast(Functions{result.directions}) : py::none();
  return fields;
}

RunInfo run_info(const std::string& method, std::size_t n_x, std::size_t n_y, std::size_t dim) {
  return {.method = method,
          .x_name = "x",
          .y_name = "y",
          .n_x = n_x,
          .n_y = n_y,
          .dim = dim,
          .option_names = python_names,
          .explain_call = "kqd.explain"};
}

// The points of a Gram matrix are row numbers; it has a column for every pooled row.
RunInfo run_info(const Settings& settings, const ArraySample& x, const ArraySample& y) {
  const std::size_t n_x = x.view().size();
  const std::size_t n_y = y.view().size();
  const std::size_t dim = is_of_objects(settings.test.statistic.kernel) ? 0 : x.view().dim();
  RunInfo run = run_info(settings.test.method, n_x, n_y, dim);
  add_names(x, y, settings, run);
  return run;
}

py::dict distance_fields(const DistanceResult& result, const MethodOptions& options, const RunInfo& run) {
  return dictionary(distance_values(result, options, run), result);
}

py::dict test_fields(const TwoSampleResult& result, const TwoSampleOptions& options, const RunInfo& run) {
  py::dict fields = dictionary(test_values(result, options, run), result);
  if (options.test.keep_null_distribution) fields["null_distribution"] = to_array(result.test.null_distribution);
  take_apart(fields, "notes", "note_ids");
  fields["null_shown"] = to_array(thinned_by_rank(result.test.null_distribution));
  return fields;
}

// The table of fields: (name, Python name, label, part of the report that shows it).
py::list field_table(ResultKind kind) {
  py::list table;
  for (const FieldInfo& field : result_fields(kind)) {
    table.append(py::make_tuple(field.name, field.python, field.label, field.block == Block::setting));
  }
  return table;
}

// True for work that takes some milliseconds at most, whatever the data: it needs no interruption, and a hand-over to
// another thread takes as long as the work. Counted with the most expensive of the methods that follow given
// directions.
bool is_short(const std::string& method, const MethodOptions& options, const ArraySample& x, const ArraySample& y,
              std::int64_t permutation_count) {
  constexpr double kOperations = 3e7;
  if (!find_method(method).uses.directions || calls_python(options.kernel)) return false;
  const auto n = static_cast<double>(x.view().size() + y.view().size());
  const auto d = static_cast<double>(x.view().dim());
  const auto l = static_cast<double>(
      std::max(options.directions.num_directions.value_or(default_num_directions(x.view().size() + y.view().size())),
               options.directions.coefficients.cols()));
  const auto m = static_cast<double>(
      std::max({std::size_t{128}, options.directions.num_reference.value_or(0),
                options.directions.reference_points.rows(), options.directions.coefficients.rows()}));
  const double preparation = n * m * (d + l + std::min(m, n)) + n * n * (d + 16.0);
  return preparation + static_cast<double>(permutation_count) * n * std::max(l, n) < kOperations;
}

py::dict distance_of(const ArraySample& x, const ArraySample& y, const Settings& settings) {
  const std::string& method = settings.test.method;
  const MethodOptions& options = settings.test.statistic;
  DistanceResult result;
  const auto work = [&](const RunControl* control) { result = distance(method, x.view(), y.view(), options, control); };
  if (is_short(method, options, x, y, 0)) {
    without_gil(work);
  } else {
    while_watching(work);
  }
  return distance_fields(result, options, run_info(settings, x, y));
}

py::dict test_of(const ArraySample& x, const ArraySample& y, const Settings& settings,
                 const std::optional<py::function>& progress) {
  const TwoSampleOptions& options = settings.test;
  TwoSampleOptions kept = options;
  // A page shows the null distribution, unless there are so many values that memory counts.
  constexpr std::int64_t kMostShown = 100'000;
  if (options.test.num_permutations <= kMostShown) kept.test.keep_null_distribution = true;
  TwoSampleResult result;
  const auto work = [&](const RunControl* control) { result = two_sample_test(x.view(), y.view(), kept, control); };
  if (!progress && is_short(options.method, options.statistic, x, y, options.test.num_permutations)) {
    without_gil(work);
  } else {
    while_watching(work, progress);
  }
  return test_fields(result, options, run_info(settings, x, y));
}

// The effect of a reference batch, as a margin is learnt from it.
double batch_effect_of(const ArraySample& x, const ArraySample& y, const Settings& settings) {
  DifferenceSize size;
  while_watching([&](const RunControl* control) {
    size = difference_size(
        x.view(), y.view(),
        {.separation = false, .seed = settings.test.statistic.seed, .threads = settings.test.statistic.threads},
        control);
  });
  return size.effect;
}

// ---- Embeddings ----

py::dict embedding_distance(const ArrayEmbedding& p, const ArrayEmbedding& q, const Settings& settings) {
  const MethodOptions& options = settings.test.statistic;
  const std::string& method = settings.test.method;
  const DistanceResult result = p.distance(method, q, options);
  return distance_fields(result, options, run_info(method, p.num_points(), q.num_points(), p.directions().dim()));
}

// ---- Profiles ----

py::dict profile_test(const ArrayProfile& x, const ArrayProfile& y, const Settings& settings,
                      const std::optional<py::function>& progress) {
  const TwoSampleOptions& options = settings.test;
  const auto of_x = x.get();
  const auto of_y = y.get();
  TwoSampleResult result;
  while_watching([&](const RunControl* control) { result = two_sample_test(*of_x, *of_y, options, control); },
                 progress);
  RunInfo run = run_info(result.method, of_x->num_rows(), of_y->num_rows(), of_x->num_columns());
  add_labels(settings, run);
  return test_fields(result, options, run);
}

double profile_effect(const ArrayProfile& x, const ArrayProfile& y, const Settings& settings) {
  const py::gil_scoped_release other_threads_may_run;
  const DifferenceSizeOptions options{.seed = settings.test.statistic.seed, .threads = settings.test.statistic.threads};
  return difference_size(*x.get(), *y.get(), options).effect;
}

// ---- The module ----

// Raises the exception with the parts of the message as attributes.
void raise(PyObject* type, const Error& error) {
  const ErrorParts& parts = error.parts();
  const std::string message = printable(render(parts, python_names));
  const py::object raised = py::reinterpret_borrow<py::object>(type)(message);
  raised.attr("option") = parts.subject.empty() ? py::object(py::none()) : py::str(python_names(parts.subject, ""));
  raised.attr("place") = parts.place;
  raised.attr("row") = parts.row;
  raised.attr("column") = parts.column;
  raised.attr("value") = parts.value;
  raised.attr("expected") = parts.expected;
  PyErr_SetObject(type, raised.ptr());
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
          return raise(resource_limit.ptr(), error);
        case ErrorCode::interrupted:
          return PyErr_SetString(PyExc_KeyboardInterrupt, error.what());
        case ErrorCode::unwritable_output:
          return raise(PyExc_OSError, error);
        case ErrorCode::internal:
          return raise(PyExc_RuntimeError, error);
        case ErrorCode::invalid_option:
        case ErrorCode::shape_mismatch:
        case ErrorCode::empty_sample:
        case ErrorCode::non_finite_value:
        case ErrorCode::invalid_weights:
        case ErrorCode::degenerate_directions:
        case ErrorCode::unreadable_input:
          return raise(PyExc_ValueError, error);
      }
    }
  });
}

void bind_inputs(py::module_& m) {
  m.def("is_viewable", &is_viewable, py::arg("array"));
  py::class_<ArraySample>(m, "Sample")
      .def(py::init<Array, std::optional<Array>, std::vector<std::string>>(), py::arg("points").noconvert(),
           py::arg("weights").noconvert() = py::none(), py::arg("names") = std::vector<std::string>())
      .def_property_readonly("points", &ArraySample::points)
      .def_property_readonly("weights", &ArraySample::weights)
      .def("with_weights", &ArraySample::with_weights, py::arg("weights").noconvert());
  static_cast<void>(py::class_<KernelSpec>(m, "Kernel"));
  m.def("parse_kernel", &parse_kernel, py::arg("text"));
  m.def("function_kernel", &function_kernel, py::arg("name"), py::arg("function"), py::arg("of_objects") = false);
  m.def("is_object_kernel", &is_object_kernel, py::arg("text"));
  m.def(
      "object_kernel",
      [](const std::string& text, const std::vector<std::string>& lines) {
        try {
          return object_kernel(text, lines);
        } catch (const Error& error) {
          ErrorParts parts = error.parts();
          if (parts.row == 0) throw;
          parts.place = "object " + std::to_string(parts.row - 1);  // Python counts from 0
          throw Error(error.code(), parts);
        }
      },
      py::arg("text"), py::arg("lines"));
  m.def("gram_kernel", &array_gram_kernel, py::arg("x").noconvert(), py::arg("y").noconvert());
  py::class_<Settings>(m, "Settings")
      .def(py::init(&make_settings), py::arg("call"), py::arg("given"))
      .def("complete", &complete_settings)
      .def("set_parameters", &set_parameters, py::arg("given"))
      .def("set_design", &set_design, py::arg("kind"), py::arg("groups"), py::arg("names"))
      .def("require_for_profiles", [](const Settings& s) { require_for_profiles(s); })
      .def("set_batch_effects",
           [](Settings& s, std::vector<double> effects) { s.test.margin.batch_effects = std::move(effects); })
      .def("keep_effect_directions", [](Settings& s) { s.test.effect_directions = true; })
      .def_property_readonly("method", [](const Settings& s) { return s.test.method; })
      .def_property_readonly("seed", [](const Settings& s) { return s.test.statistic.seed.value; });
  m.def("options", &options_of, py::arg("call"));
  m.def(
      "keyword",
      [](const std::string& name) -> std::optional<std::string> {
        const OptionInfo* const option = find_option(name);
        return option == nullptr ? std::nullopt : std::optional(keyword_name(*option));
      },
      py::arg("name"));
}

void bind_page(py::module_& m) {
  m.def("test_fields", [] { return field_table(ResultKind::test); });
  m.def("distance_fields", [] { return field_table(ResultKind::distance); });
  m.def(
      "report_page", [](const std::string& json) { return report_page(json); }, py::arg("json"));
  m.def(
      "write_text", [](const std::string& path, const std::string& text) { write_text(path, text); }, py::arg("path"),
      py::arg("text"));
}

void bind_comparisons(py::module_& m) {
  py::class_<Functions>(m, "Functions")
      .def("evaluate", &Functions::evaluate, py::arg("points").noconvert(), py::arg("index"));
  m.def("distance", &distance_of, py::arg("x"), py::arg("y"), py::arg("settings"));
  m.def("batch_effect", &batch_effect_of, py::arg("x"), py::arg("y"), py::arg("settings"));
  m.def("test", &test_of, py::arg("x"), py::arg("y"), py::arg("settings"), py::arg("progress"));
  bind_monitor(m);
  bind_profile(m)
      .def("test", &profile_test, py::arg("other"), py::arg("settings"), py::arg("progress"))
      .def("batch_effect", &profile_effect, py::arg("other"), py::arg("settings"));
  bind_embedding(m)
      .def("distance", &embedding_distance, py::arg("other"), py::arg("settings"))
      .def_property_readonly("warnings", [](const ArrayEmbedding& e) { return texts_of(e.warnings(), sentence); })
      .def_property_readonly("warning_ids", [](const ArrayEmbedding& e) { return texts_of(e.warnings(), id_of); });
}

py::dict parameter_table(const MethodInfo& method) {
  py::dict table;
  for (const ParameterInfo& parameter : method.parameters) {
    table[py::str(std::string(parameter.name))] =
        py::make_tuple(parameter_value(parameter, parameter.default_value), std::string(parameter.meaning),
                       parameter_range(parameter));
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
      .def_readonly("permutation", &MethodInfo::permutation, "what one more permutation costs")
      .def_readonly("calibrations", &MethodInfo::calibrations, "valid ways to a p-value")
      .def_property_readonly(
          "details", [](const MethodInfo& method) { return render(method.details, python_names); },
          "a paragraph: the formula and the defaults")
      .def_readonly("reference", &MethodInfo::reference, "where it comes from")
      .def_property_readonly("parameters", &parameter_table, "its own keywords: name -> (default, meaning, range)")
      .def_readonly("directions", &MethodInfo::directions, "the word for its directions, when it has its own")
      .def_property_readonly(
          "has_distance", [](const MethodInfo& method) { return method.has_distance; },
          "False for tests that are made of several statistics")
      .def_property_readonly("uses_directions", [](const MethodInfo& method) { return method.uses.directions; })
      .def_property_readonly("uses_kernel", [](const MethodInfo& method) { return method.uses.kernel; })
      .def_property_readonly("uses_power", [](const MethodInfo& method) { return method.uses.power; })
      .def_property_readonly("uses_weighting", [](const MethodInfo& method) { return method.uses.weighting; })
      .def("__repr__", [](const MethodInfo& method) {
        return "MethodInfo(" + std::string(method.id) + ": " + std::string(method.summary) + ")";
      });
  m.def("method", &find_method, py::arg("id"), py::return_value_policy::reference);
  m.def("printable", &printable, py::arg("text"));
  m.def("warning_text", [](const std::string& id, const py::args& values) {
    return sentence({.id = parse_warning(id), .values = values.cast<std::vector<WarningValue>>()});
  });
  m.def(
      "suggestion",
      [](const std::string& word, const std::vector<std::string>& known) {
        return suggestion(word, std::vector<std::string_view>(known.begin(), known.end()));
      },
      py::arg("word"), py::arg("known"));
  m.def("methods", [] { return std::vector<MethodInfo>(methods().begin(), methods().end()); });
}

}  // namespace
}  // namespace kqd

PYBIND11_MODULE(_core, m) {
  m.attr("__version__") = kqd::kVersion;
  kqd::bind_errors(m);
  kqd::bind_inputs(m);
  kqd::bind_comparisons(m);
  kqd::bind_page(m);
  kqd::bind_methods(m);
  kqd::bind_explain(m);
  kqd::bind_arrow(m);
  kqd::bind_engines(m);
  kqd::bind_frames(m);
}
