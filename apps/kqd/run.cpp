#include "run.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "interrupt.hpp"
#include "objects.hpp"
#include "output.hpp"
#include "profile.hpp"
#include "progress.hpp"
#include "run_parts.hpp"

namespace kqd::app {
namespace {

SamplePair read(const Request& request, KernelSpec& kernel) {
  const Settings& settings = request.settings;
  if (!settings.object_kernel.empty()) {
    ObjectPair objects = read_objects(request.files, settings);
    kernel = std::move(objects.kernel);
    print_warnings(objects.data.notes, settings.output);
    return std::move(objects.data);
  }
  const std::string& x = request.files.front();
  SamplePair data = settings.group_column.empty() ? read_pair(x, request.files.back(), settings.read)
                                                  : read_grouped(x, settings.group_column, settings.read);
  print_warnings(data.notes, settings.output);
  return data;
}

// A page explains which columns differ, and objects have none.
void refuse_page_of_objects(const Settings& settings) {
  if (settings.output.report.empty() || settings.object_kernel.empty()) return;
  throw Error(ErrorCode::invalid_option,
              {.subject = "report",
               .value = settings.output.report,
               .expected = "no page, because a page explains columns and objects have none"});
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
  refuse_page_of_objects(settings);
  require_outputs(request);
  if (compares_profiles(request)) return run_test_of_profiles(request, watch);
  TwoSampleOptions options = settings.test;
  const SamplePair data = read(request, options.statistic.kernel);
  add_directions(settings, data.x, data.x.points.rows() + data.y.points.rows(), data.preparation, options.statistic);
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
  refuse_objects(request.settings, "explain");
  KernelSpec kernel;
  const SamplePair data = read(request, kernel);
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
  refuse_page_of_objects(settings);
  require_outputs(request);
  MethodOptions options = settings.test.statistic;
  const SamplePair data = read(request, options.kernel);
  add_directions(settings, data.x, data.x.points.rows() + data.y.points.rows(), data.preparation, options);
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
  refuse_objects(settings, "matrix");
  require_outputs(request);
  const SampleList data = read_samples(request.files, settings.read);
  print_warnings(data.notes, settings.output);
  if (settings.output.csv) print_warnings(data.warnings, settings.output);  // CSV has no place for them
  TwoSampleOptions options = settings.test;
  add_directions(settings, data.samples.front(), 0, data.preparation, options.statistic);
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
