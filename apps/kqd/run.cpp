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
#include "profile.hpp"
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

void print_warnings(const Warnings& warnings, const OutputOptions& output) {
  if (output.quiet) return;
  for (const Warning& warning : warnings) note(sentence(warning));
}

SamplePair read(const Request& request) {
  const Settings& settings = request.settings;
  const std::string& x = request.files.front();
  SamplePair data = settings.group_column.empty() ? read_pair(x, request.files.back(), settings.read)
                                                  : read_grouped(x, settings.group_column, settings.read);
  print_warnings(data.notes, settings.output);
  return data;
}

// Points of a file are in the units of the data, which is no longer so where something was subtracted.
void require_same_units(const Preparation& preparation) {
  if (preparation.offsets.empty()) return;
  const OffsetColumn& column = preparation.offsets.front();
  throw Error(ErrorCode::invalid_option,
              fmt::format("the reference points are in other units than the data: {} was subtracted from column {}, "
                          "whose whole numbers are beyond 2^53; --drop excludes the column",
                          column.offset, printable(column.name)));
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
void add_reference_points(const std::string& file, const Sample& data, const Preparation& preparation,
                          DirectionOptions& options) {
  if (file.empty()) return;
  Sample points = read_sample(file);
  require_same_units(preparation);
  const bool by_name = !data.column_names.empty() && !points.column_names.empty();
  options.reference_points = by_name ? in_order_of(data.column_names, points, file) : std::move(points.points);
}

// Warnings of reading come first in the warnings of a result.
void put_first(const Warnings& of_reading, Warnings& warnings) {
  warnings.insert(warnings.begin(), of_reading.begin(), of_reading.end());
}

// A result in every form.
struct Forms {
  std::function<std::string()> json;
  std::function<std::string()> csv;
  std::function<std::string()> markdown;
  std::function<std::string()> number;  // --quiet
  std::function<std::string(const TextStyle& style)> text;
};

bool goes_to_file(const OutputOptions& output) {
  return !output.file.empty() && output.file != "-";
}

void show(const OutputOptions& output, const Forms& forms) {
  const TextStyle style = goes_to_file(output) ? TextStyle{} : screen_style();
  const std::string result = output.json       ? forms.json()
                             : output.csv      ? forms.csv()
                             : output.markdown ? forms.markdown()
                             : output.quiet    ? forms.number()
                                               : forms.text(style);
  if (!goes_to_file(output)) return print(result);
  const StopRequest until_it_is_whole;
  write_text(output.file, result);
}

void require_output(const std::string& option, const std::string& output, const std::vector<std::string>& inputs) {
  if (output.empty()) return;
  for (const std::string& input : inputs) {
    const auto key = input.find(".npz:");  // of an array in an archive
    const std::string file = key == std::string::npos ? input : input.substr(0, key + 4);
    std::error_code not_there;
    if (!std::filesystem::equivalent(output, file, not_there)) continue;
    throw Error(ErrorCode::invalid_option,
                {.subject = option,
                 .value = output,
                 .expected = fmt::format("another file than the input {}", printable(input))});
  }
  require_writable(output);
}

bool names_a_page(const std::string& path) {
  const std::string ending = std::filesystem::path(path).extension().string();
  return ending == ".html" || ending == ".htm";
}

// Checked before the work, which may take long. No input is overwritten.
void require_outputs(const Request& request) {
  const OutputOptions& output = request.settings.output;
  std::vector<std::string> inputs = request.files;
  inputs.insert(inputs.end(), {request.settings.reference_file, output.config});
  {
    const StopRequest until_test_files_are_removed;
    if (goes_to_file(output)) require_output("output", output.file, inputs);
    require_output("report", output.report, inputs);
  }
  if (StopRequest::flag()) throw Error(ErrorCode::interrupted, "stopped on request");
  if (output.report.empty()) return;
  // A page over data that were meant to be read is a mistake in the order of the arguments.
  if (!names_a_page(output.report)) {
    throw Error(ErrorCode::invalid_option,
                {.subject = "report", .value = output.report, .expected = "a file name ending in .html"});
  }
  if (is_one_file(output.report, output.file)) {
    throw Error(ErrorCode::invalid_option,
                {.subject = "report", .value = output.report, .expected = "another file than that of --output"});
  }
}

// The page is complete before the result is shown, so that it can be opened at once.
void write_page(const OutputOptions& output, const std::function<std::string()>& page) {
  if (output.report.empty()) return;
  const std::string text = page();
  const StopRequest until_it_is_whole;
  write_text(output.report, text);
}

RunInfo run_info(const std::string& method, const Request& request, const SamplePair& data, const Stopwatch& watch) {
  return {.method = method,
          .x_name = request.files.front(),
          .y_name = request.files.back(),
          .n_x = data.x.points.rows(),
          .n_y = data.y.points.rows(),
          .dim = data.x.points.cols(),
          .preparation = data.preparation,
          .elapsed_s = watch.seconds(),
          .option_names = program_names,
          .settings = request.given};
}

// Row numbers and the shape of images come from the data.
void add_rows(ExplainOptions& options, const SamplePair& data) {
  options.rows_x = data.rows_x;
  options.rows_y = data.rows_y;
  if (!options.image) options.image = image_shape(data.preparation.row_shape);
}

// Blocks and clusters are a column of the data.
Design design_of(const Settings& settings, const SamplePair& data) {
  return {settings.test.test.design.kind, data.units, data.unit_names};
}

// A page explains a result with as many permutations as that needs, whatever number the test takes.
ExplainOptions page_options(const Settings& settings, const SamplePair& data) {
  ExplainOptions options = settings.explain;
  options.num_permutations = 0;
  options.design = design_of(settings, data);
  add_rows(options, data);
  if (!settings.output.report.empty()) validate(options, data.x.points.cols());
  return options;
}

// A result is kept although its explanation would take too much memory or time.
PageInfo page_info(const Request& request, const SamplePair& data, const ExplainOptions& options) {
  PageInfo info{.command = request.command_line};
  const ProgressLine progress(!request.settings.output.quiet);
  try {
    info.explanation = explain(data.x, data.y, options, &progress.control());
  } catch (const Error& error) {
    if (error.code() != ErrorCode::resource_limit && error.code() != ErrorCode::invalid_weights) throw;
    info.explanation_note = render(error.parts(), program_names);
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

// Different names for all data sets, also when one is given twice.
std::vector<std::string> different_names(const std::vector<std::string>& files) {
  std::vector<std::string> names;
  for (const std::string& file : files) {
    std::string name = file;
    for (int copy = 2; std::ranges::find(names, name) != names.end(); ++copy) name = fmt::format("{} ({})", file, copy);
    names.push_back(std::move(name));
  }
  return names;
}

// Profiles instead of rows, for both samples or for none.
bool compares_profiles(const Request& request) {
  const auto count = std::ranges::count_if(request.files, names_a_profile);
  if (count == 0) return false;
  if (static_cast<std::size_t>(count) == request.files.size()) return true;
  throw Error(ErrorCode::invalid_option,
              "a profile can be compared with a profile only: kqd profile --like makes one of the other file");
}

int show_test(const Request& request, const TwoSampleResult& result, const TwoSampleOptions& options,
              const RunInfo& run) {
  const OutputOptions& output = request.settings.output;
  show(output, {.json = [&] { return test_json(result, options, run); },
                .csv = [&] { return test_csv(result, options, run); },
                .markdown = [&] { return test_markdown(result, options, run); },
                .number = [&] { return fmt::format("{}\n", result.test.pvalue); },
                .text = [&](const TextStyle& style) { return test_text(result, options, run, style); }});
  return output.exit_code && result.test.reject ? 1 : 0;
}

int run_test_of_profiles(const Request& request, const Stopwatch& watch) {
  const Settings& settings = request.settings;
  if (!settings.output.report.empty()) {
    throw Error(ErrorCode::invalid_option, {.subject = "report",
                                            .value = settings.output.report,
                                            .expected = "data files, because a page shows rows, which profiles lack"});
  }
  const Profile x = Profile::load(request.files.front());
  const Profile y = Profile::load(request.files.back());
  TwoSampleResult result;
  {
    const ProgressLine progress(!settings.output.quiet);
    result = two_sample_test(x, y, settings.test, &progress.control());
  }
  const RunInfo run{.method = result.method,
                    .x_name = request.files.front(),
                    .y_name = request.files.back(),
                    .n_x = x.num_rows(),
                    .n_y = y.num_rows(),
                    .dim = x.num_columns(),
                    .preparation = {},
                    .elapsed_s = watch.seconds(),
                    .option_names = program_names,
                    .settings = request.given};
  return show_test(request, result, settings.test, run);
}

// Profiles are for tests so far.
void refuse_profiles(const Request& request, std::string_view command) {
  if (!std::ranges::any_of(request.files, names_a_profile)) return;
  throw Error(ErrorCode::invalid_option,
              fmt::format("kqd {} needs rows, and a profile has none; use kqd test", command));
}

}  // namespace

int run_test(const Request& request) {
  const Stopwatch watch;
  const Settings& settings = request.settings;
  require_outputs(request);
  if (compares_profiles(request)) return run_test_of_profiles(request, watch);
  const SamplePair data = read(request);
  TwoSampleOptions options = settings.test;
  add_reference_points(settings.reference_file, data.x, data.preparation, options.statistic.directions);
  options.test.design = design_of(settings, data);
  const ExplainOptions where = page_options(settings, data);
  // Pixels have one unit, and so have the cells of any array of more than two dimensions.
  const bool one_unit = where.image || !data.preparation.row_shape.empty();
  if (one_unit && settings.read.standardize == Standardize::automatic) options.own_scales = false;
  if (!settings.output.report.empty()) options.test.keep_null_distribution = true;
  TwoSampleResult result;
  {
    const ProgressLine progress(!settings.output.quiet);
    result = two_sample_test(data.x, data.y, options, &progress.control());
  }
  put_first(data.warnings, result.warnings);
  const RunInfo run = run_info(options.method, request, data, watch);
  write_page(settings.output, [&] { return test_page(result, options, run, page_info(request, data, where)); });
  // The null distribution of the page is not in the JSON, unless it was asked for.
  options.test.keep_null_distribution = settings.test.test.keep_null_distribution;
  return show_test(request, result, options, run);
}

int run_explain(const Request& request) {
  const Stopwatch watch;
  const OutputOptions& output = request.settings.output;
  refuse_profiles(request, "explain");
  require_outputs(request);
  const SamplePair data = read(request);
  ExplainOptions options = request.settings.explain;
  options.design = design_of(request.settings, data);
  add_rows(options, data);
  if (output.csv) print_warnings(data.warnings, output);  // CSV has no place for them
  Explanation explanation;
  {
    const ProgressLine progress(!output.quiet);
    explanation = explain(data.x, data.y, options, &progress.control());
  }
  put_first(data.warnings, explanation.warnings);
  const RunInfo run = run_info("", request, data, watch);
  show(output, {.json = [&] { return explanation_json(explanation, run); },
                .csv = [&] { return explanation_csv(explanation); },
                .markdown = [&] { return explanation_markdown(explanation, run); },
                .number = [&] { return different_columns(explanation); },
                .text = [&](const TextStyle& style) { return explanation_text(explanation, run, style); }});
  return 0;
}

int run_distance(const Request& request) {
  const Stopwatch watch;
  const Settings& settings = request.settings;
  refuse_profiles(request, "distance");
  require_outputs(request);
  const SamplePair data = read(request);
  MethodOptions options = settings.test.statistic;
  add_reference_points(settings.reference_file, data.x, data.preparation, options.directions);
  const ExplainOptions where = page_options(settings, data);
  DistanceResult result;
  {
    const ProgressLine progress(!settings.output.quiet);
    result = distance(settings.test.method, data.x, data.y, options, &progress.control());
  }
  put_first(data.warnings, result.warnings);
  const RunInfo run = run_info(settings.test.method, request, data, watch);
  write_page(settings.output, [&] { return distance_page(result, options, run, page_info(request, data, where)); });
  show(settings.output, {.json = [&] { return distance_json(result, options, run); },
                         .csv = [&] { return distance_csv(result, options, run); },
                         .markdown = [&] { return distance_markdown(result, options, run); },
                         .number = [&] { return fmt::format("{}\n", result.statistic); },
                         .text = [&](const TextStyle& style) { return distance_text(result, options, run, style); }});
  return 0;
}

int run_matrix(const Request& request) {
  const Stopwatch watch;
  const Settings& settings = request.settings;
  refuse_profiles(request, "matrix");
  if (request.files.size() < 2) {
    throw Error(ErrorCode::invalid_option, fmt::format("kqd matrix got {} only, expected two data sets or more",
                                                       printable(request.files.front())));
  }
  require_outputs(request);
  const SampleList data = read_samples(request.files, settings.read);
  print_warnings(data.notes, settings.output);
  if (settings.output.csv) print_warnings(data.warnings, settings.output);  // CSV has no place for them
  TwoSampleOptions options = settings.test;
  add_reference_points(settings.reference_file, data.samples.front(), data.preparation, options.statistic.directions);
  // A test without a distance of its own has parameters of its own, too.
  DistanceMatrixOptions distances{options.method, options.statistic};
  if (const auto other = find_method(options.method).effect_method; settings.test_pairs && !other.empty()) {
    distances.method = other;
    distances.statistic.parameters.clear();
  }
  const std::vector<SampleView> samples(data.samples.begin(), data.samples.end());
  DistanceMatrix matrix;
  std::optional<PairwiseTests> tests;
  {
    const ProgressLine progress(!settings.output.quiet);
    matrix = distance_matrix(samples, different_names(request.files), distances, &progress.control());
    if (settings.test_pairs) tests = pairwise_tests(samples, matrix, options, &progress.control());
  }
  put_first(data.warnings, matrix.warnings);
  const MatrixReport report{matrix,
                            tests ? &*tests : nullptr,
                            options.statistic,
                            watch.seconds(),
                            data.preparation,
                            data.rows,
                            program_names,
                            request.given};
  write_page(settings.output, [&] { return matrix_page(report, {.command = request.command_line}); });
  show(settings.output, {.json = [&] { return matrix_json(report); },
                         .csv = [&] { return matrix_csv(report); },
                         .markdown = [&] { return matrix_markdown(report); },
                         .number = [&] { return matrix_numbers(report); },
                         .text = [&](const TextStyle& style) { return matrix_text(report, style); }});
  return 0;
}

}  // namespace kqd::app
