#include "run.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "interrupt.hpp"
#include "output.hpp"
#include "progress.hpp"
#include "terminal.hpp"

namespace kqd::app {
namespace {

class Stopwatch {
 public:
  [[nodiscard]] double seconds() const {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
  }

 private:
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

void print_warnings(const Warnings& warnings, const Flags& flags) {
  if (flags.quiet) return;
  for (const Warning& warning : warnings) note(sentence(warning));
}

SamplePair read(const Flags& flags) {
  const ReadOptions options = to_read_options(flags);
  SamplePair data =
      flags.group.empty() ? read_pair(flags.x, flags.y, options) : read_grouped(flags.x, flags.group, options);
  print_warnings(data.notes, flags);
  return data;
}

// Points of a file are in the units of the data, which is no longer so where something was subtracted.
void require_same_units(const Preparation& preparation) {
  if (preparation.offsets.empty()) return;
  const OffsetColumn& column = preparation.offsets.front();
  throw Error(ErrorCode::invalid_option,
              fmt::format("--reference FILE has points in other units than the data: {} was subtracted from column {}, "
                          "whose whole numbers are beyond 2^53; --drop excludes the column",
                          column.offset, column.name));
}

// The points with their columns in the order of `names`, which are those of the data.
Matrix<double> in_order_of(const std::vector<std::string>& names, const Sample& points, const std::string& file) {
  const auto missing_from = [](const std::vector<std::string>& there, const std::vector<std::string>& wanted) {
    std::vector<std::string> missing;
    for (const std::string& name : wanted) {
      if (std::ranges::find(there, name) == there.end()) missing.push_back(fmt::format("\"{}\"", printable(name)));
    }
    return missing;
  };
  const auto only_data = missing_from(points.column_names, names);
  const auto only_points = missing_from(names, points.column_names);
  if (!only_data.empty() || !only_points.empty()) {
    const auto has = [](std::string_view owner, const std::vector<std::string>& only) {
      return only.empty() ? "" : fmt::format("; only {} has {}", owner, fmt::join(only, ", "));
    };
    throw Error(ErrorCode::shape_mismatch,
                fmt::format("--reference {} and the data have different columns{}{}; make the names agree",
                            printable(file), has("the data", only_data), has("the file", only_points)));
  }
  Matrix<double> ordered(points.points.rows(), names.size());
  for (std::size_t j = 0; j < names.size(); ++j) {
    const auto from =
        static_cast<std::size_t>(std::ranges::find(points.column_names, names[j]) - points.column_names.begin());
    for (std::size_t i = 0; i < ordered.rows(); ++i) ordered(i, j) = points.points(i, from);
  }
  return ordered;
}

// Reads the points of --reference FILE. Columns are matched by name where the file and the data have names.
void add_reference_points(const Flags& flags, const Sample& data, const Preparation& preparation,
                          DirectionOptions& options) {
  if (options.reference != ReferenceMeasure::points) return;
  Sample points = read_sample(flags.reference);
  require_same_units(preparation);
  const bool by_name = !data.column_names.empty() && !points.column_names.empty();
  options.reference_points =
      by_name ? in_order_of(data.column_names, points, flags.reference) : std::move(points.points);
}

// Warnings about reading precede those of the result.
void put_first(const Warnings& of_reading, Warnings& warnings) {
  warnings.insert(warnings.begin(), of_reading.begin(), of_reading.end());
}

// How a result looks in every form.
struct Forms {
  std::function<std::string()> json;
  std::function<std::string()> csv;
  std::function<std::string()> markdown;
  std::function<std::string()> number;  // --quiet
  std::function<std::string(const TextStyle& style)> text;
};

// Not to standard output, which - stands for too.
bool goes_to_file(const Flags& flags) {
  return !flags.output.empty() && flags.output != "-";
}

// The form that was asked for, to where it was asked for.
void show(const Flags& flags, const Forms& forms) {
  const TextStyle style = goes_to_file(flags) ? TextStyle{} : screen_style();
  const std::string result = flags.json       ? forms.json()
                             : flags.csv      ? forms.csv()
                             : flags.markdown ? forms.markdown()
                             : flags.quiet    ? forms.number()
                                              : forms.text(style);
  if (!goes_to_file(flags)) return print(result);
  const StopRequest until_it_is_whole;
  write_text(flags.output, result);
}

void require_output(const std::string& flag, const std::string& output, const std::vector<std::string>& inputs) {
  if (output.empty()) return;
  for (const std::string& input : inputs) {
    const auto key = input.find(".npz:");  // of an array in an archive
    const std::string file = key == std::string::npos ? input : input.substr(0, key + 4);
    std::error_code not_there;
    if (!std::filesystem::equivalent(output, file, not_there)) continue;
    throw Error(ErrorCode::invalid_option,
                fmt::format("{} {} is the input {}, expected another file", flag, output, input));
  }
  require_writable(output);
}

// Also by other names, and where nothing is there yet.
bool is_one_file(const std::string& one, const std::string& other) {
  if (one.empty() || other.empty()) return false;
  std::error_code error;
  const auto first = std::filesystem::weakly_canonical(std::filesystem::absolute(one, error), error);
  return first == std::filesystem::weakly_canonical(std::filesystem::absolute(other, error), error);
}

bool names_a_page(const std::string& path) {
  const std::string ending = std::filesystem::path(path).extension().string();
  return ending == ".html" || ending == ".htm";
}

// Asked before the work, which may be long. No input is written over.
void require_outputs(const Flags& flags, const std::vector<std::string>& inputs) {
  {
    const StopRequest until_no_trace_is_left;
    if (goes_to_file(flags)) require_output("--output", flags.output, inputs);
    require_output("--report", flags.report, inputs);
  }
  if (StopRequest::flag()) throw Error(ErrorCode::interrupted, "stopped on request");
  if (flags.report.empty()) return;
  // A page over data that were meant to be read is a mistake in the order of the arguments.
  if (!names_a_page(flags.report)) {
    throw Error(ErrorCode::invalid_option,
                fmt::format("--report {} is not a page, expected a name that ends in .html", flags.report));
  }
  if (is_one_file(flags.report, flags.output)) {
    throw Error(ErrorCode::invalid_option,
                fmt::format("--report and --output are both {}, expected two files", flags.report));
  }
}

// The page is whole before the result is shown: who sees the result can open it.
void write_page(const Flags& flags, const std::function<std::string()>& page) {
  if (flags.report.empty()) return;
  const std::string text = page();
  const StopRequest until_it_is_whole;
  write_text(flags.report, text);
}

RunInfo run_info(std::string_view method, const Flags& flags, const SamplePair& data, const Stopwatch& watch) {
  return {.method = std::string(method),
          .x_name = flags.x,
          .y_name = flags.group.empty() ? flags.y : flags.x,
          .n_x = data.x.points.rows(),
          .n_y = data.y.points.rows(),
          .dim = data.x.points.cols(),
          .preparation = data.preparation,
          .elapsed_s = watch.seconds(),
          .option_names = option_name};
}

// What the data tell of their rows.
void add_rows(ExplainOptions& options, const SamplePair& data) {
  options.rows_x = data.rows_x;
  options.rows_y = data.rows_y;
  if (!options.image) options.image = image_shape(data.preparation.row_shape);
}

// How a page explains a result: with as many permutations as that needs, whatever the test takes.
ExplainOptions page_options(const Flags& flags) {
  ExplainOptions options = to_explain_options(flags);
  options.num_permutations = 0;
  return options;
}

// Where the samples differ. A result that is there is not lost because its explanation would take too much.
PageInfo page_info(const Flags& flags, const SamplePair& data, const ExplainOptions& options) {
  PageInfo info{.command = flags.command};
  const ProgressLine progress(!flags.quiet);
  try {
    info.explanation = explain(data.x, data.y, options, &progress.control());
  } catch (const Error& error) {
    if (error.code() != ErrorCode::resource_limit && error.code() != ErrorCode::invalid_weights) throw;
    info.explanation_note = error.what();
  }
  return info;
}

// The names of the columns that differ, a line each.
std::string different_columns(const Explanation& explanation) {
  std::string names;
  for (const ColumnExplanation& column : explanation.columns) {
    if (column.reject) names += column.name + "\n";
  }
  return names;
}

void list_parameters(std::span<const ParameterInfo> parameters, std::string_view indent) {
  for (const ParameterInfo& parameter : parameters) {
    print(fmt::format("{}{:<14} {} (default {}; {})\n", indent, parameter.name, parameter.meaning,
                      parameter_text(parameter, parameter.default_value), parameter_range(parameter)));
  }
}

void list_problems() {
  for (const ProblemInfo& problem : problems()) {
    print(fmt::format("{:<18} {}\n", problem.id, problem.summary));
    list_parameters(problem.parameters, "    ");
  }
}

void explain_method(const MethodInfo& m) {
  print(fmt::format("\n{}: {}\n\n{}\n\n", m.id, m.summary, m.details));
  print(
      fmt::format("  family        {}\n  reports       {}\n  cost          {}\n  per permutation {}\n"
                  "  calibration   {}\n  reference     {}\n\n",
                  m.family, m.reports, m.cost, m.permutation, m.calibrations, m.reference));
  if (m.parameters.empty()) return;
  print("Parameters, as --set NAME=VALUE:\n");
  list_parameters(m.parameters, "  ");
  print("\n");
}

// Names that tell the data sets apart, also when one is given twice.
std::vector<std::string> different_names(const std::vector<std::string>& files) {
  std::vector<std::string> names;
  for (const std::string& file : files) {
    std::string name = file;
    for (int copy = 2; std::ranges::find(names, name) != names.end(); ++copy) name = fmt::format("{} ({})", file, copy);
    names.push_back(std::move(name));
  }
  return names;
}

}  // namespace

int run_test(const Flags& flags) {
  const Stopwatch watch;
  const MethodInfo& method = find_method(flags.method);
  TwoSampleOptions options = to_test_options(flags);
  ExplainOptions where = page_options(flags);
  require_outputs(flags, {flags.x, flags.y, flags.reference, flags.config});
  const SamplePair data = read(flags);
  add_reference_points(flags, data.x, data.preparation, options.statistic.directions);
  options.test.design = design_of(flags, data);
  where.design = options.test.design;
  add_rows(where, data);
  if (!flags.report.empty()) validate(where, data.x.points.cols());
  options.test.keep_null_distribution = flags.null_distribution || !flags.report.empty();
  TwoSampleResult result;
  {
    const ProgressLine progress(!flags.quiet);
    result = two_sample_test(data.x, data.y, options, &progress.control());
  }
  put_first(data.warnings, result.warnings);
  const RunInfo run = run_info(method.id, flags, data, watch);
  write_page(flags, [&] { return test_page(result, options, run, page_info(flags, data, where)); });
  options.test.keep_null_distribution = flags.null_distribution;  // the page's wish is not a wish for more JSON
  show(flags, {.json = [&] { return test_json(result, options, run); },
               .csv = [&] { return test_csv(result, options, run); },
               .markdown = [&] { return test_markdown(result, options, run); },
               .number = [&] { return fmt::format("{}\n", result.test.pvalue); },
               .text = [&](const TextStyle& style) { return test_text(result, options, run, style); }});
  return flags.exit_code && result.test.reject ? 1 : 0;
}

int run_explain(const Flags& flags) {
  const Stopwatch watch;
  ExplainOptions options = to_explain_options(flags);
  require_outputs(flags, {flags.x, flags.y, flags.config});
  const SamplePair data = read(flags);
  options.design = design_of(flags, data);
  add_rows(options, data);
  if (flags.csv) print_warnings(data.warnings, flags);  // which has no place for them
  Explanation explanation;
  {
    const ProgressLine progress(!flags.quiet);
    explanation = explain(data.x, data.y, options, &progress.control());
  }
  put_first(data.warnings, explanation.warnings);
  const RunInfo run = run_info("", flags, data, watch);
  show(flags, {.json = [&] { return explanation_json(explanation, run); },
               .csv = [&] { return explanation_csv(explanation); },
               .markdown = [&] { return explanation_markdown(explanation, run); },
               .number = [&] { return different_columns(explanation); },
               .text = [&](const TextStyle& style) { return explanation_text(explanation, run, style); }});
  return 0;
}

int run_distance(const Flags& flags) {
  const Stopwatch watch;
  const MethodInfo& method = find_method(flags.method);
  MethodOptions options = to_options(flags);
  ExplainOptions where = page_options(flags);
  require_outputs(flags, {flags.x, flags.y, flags.reference, flags.config});
  const SamplePair data = read(flags);
  add_reference_points(flags, data.x, data.preparation, options.directions);
  add_rows(where, data);
  if (!flags.report.empty()) validate(where, data.x.points.cols());
  DistanceResult result;
  {
    const ProgressLine progress(!flags.quiet);
    result = distance(method.id, data.x, data.y, options, &progress.control());
  }
  put_first(data.warnings, result.warnings);
  const RunInfo run = run_info(method.id, flags, data, watch);
  write_page(flags, [&] { return distance_page(result, options, run, page_info(flags, data, where)); });
  show(flags, {.json = [&] { return distance_json(result, options, run); },
               .csv = [&] { return distance_csv(result, options, run); },
               .markdown = [&] { return distance_markdown(result, options, run); },
               .number = [&] { return fmt::format("{}\n", result.statistic); },
               .text = [&](const TextStyle& style) { return distance_text(result, options, run, style); }});
  return 0;
}

int run_matrix(const MatrixFlags& matrix_flags) {
  const Stopwatch watch;
  const Flags& flags = matrix_flags.shared;
  TwoSampleOptions options = to_test_options(flags);
  if (matrix_flags.files.size() < 2) {
    throw Error(ErrorCode::invalid_option,
                fmt::format("kqd matrix got {} only, expected two data sets or more", matrix_flags.files.front()));
  }
  std::vector<std::string> inputs = matrix_flags.files;
  inputs.insert(inputs.end(), {flags.reference, flags.config});
  require_outputs(flags, inputs);
  const SampleList data = read_samples(matrix_flags.files, to_read_options(flags));
  print_warnings(data.notes, flags);
  if (flags.csv) print_warnings(data.warnings, flags);  // which has no place for them
  add_reference_points(flags, data.samples.front(), data.preparation, options.statistic.directions);
  // A test without a distance of its own has parameters of its own, too.
  DistanceMatrixOptions distances{options.method, options.statistic};
  if (const auto other = find_method(options.method).effect_method; matrix_flags.with_tests && !other.empty()) {
    distances.method = other;
    distances.statistic.parameters.clear();
  }
  const std::vector<SampleView> samples(data.samples.begin(), data.samples.end());
  DistanceMatrix matrix;
  std::optional<PairwiseTests> tests;
  {
    const ProgressLine progress(!flags.quiet);
    matrix = distance_matrix(samples, different_names(matrix_flags.files), distances, &progress.control());
    if (matrix_flags.with_tests) tests = pairwise_tests(samples, matrix, options, &progress.control());
  }
  put_first(data.warnings, matrix.warnings);
  const MatrixReport report{
      matrix, tests ? &*tests : nullptr, options.statistic, watch.seconds(), data.preparation, data.rows, option_name};
  write_page(flags, [&] { return matrix_page(report, {.command = flags.command}); });
  show(flags, {.json = [&] { return matrix_json(report); },
               .csv = [&] { return matrix_csv(report); },
               .markdown = [&] { return matrix_markdown(report); },
               .number = [&] { return matrix_numbers(report); },
               .text = [&](const TextStyle& style) { return matrix_text(report, style); }});
  return 0;
}

int run_methods(const MethodsFlags& flags) {
  if (flags.json) {
    print(methods_json(flags.id));
  } else if (flags.csv) {
    print(methods_csv(flags.id));
  } else if (flags.markdown) {
    print(methods_markdown(flags.id));
  } else if (flags.id.empty()) {
    print(fmt::format("{:<16} {:<18} {}\n", "id", "family", "what it is"));
    for (const MethodInfo& m : methods()) print(fmt::format("{:<16} {:<18} {}\n", m.id, m.family, m.summary));
  } else {
    explain_method(find_method(flags.id));
  }
  return 0;
}

int run_sample(const SampleFlags& flags) {
  if (flags.name == "list") {
    list_problems();
    return 0;
  }
  const ProblemRequest request = to_request(flags);
  static_cast<void>(find_problem(request.name));
  if (flags.outputs.size() != 2) {
    throw Error(ErrorCode::invalid_option, "two files to write are needed: -o X.csv Y.csv");
  }
  if (is_one_file(flags.outputs[0], flags.outputs[1])) {
    throw Error(ErrorCode::invalid_option,
                fmt::format("--output names {} twice, Y would replace X; expected two files", flags.outputs[0]));
  }
  const SyntheticPair pair = make_problem(request);
  {
    const ProgressLine progress(true);
    write_sample(flags.outputs[0], pair.x, &progress.control());
    write_sample(flags.outputs[1], pair.y, &progress.control());
  }
  note(fmt::format("wrote {} ({} x {}) and {} ({} x {})", flags.outputs[0], pair.x.points.rows(), pair.x.points.cols(),
                   flags.outputs[1], pair.y.points.rows(), pair.y.points.cols()));
  return 0;
}

}  // namespace kqd::app
