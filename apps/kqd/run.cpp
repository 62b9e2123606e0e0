#include "run.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <algorithm>
#include <functional>
#include <optional>
#include <string>
#include <tuple>
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

// The page is complete before the result is shown, so that it can be opened at once.
void write_page(const OutputOptions& output, const std::function<std::string()>& page) {
  if (output.report.empty()) return;
  const std::string text = page();
  const StopRequest until_it_is_whole;
  write_text(output.report, text);
}

// Adds the names of the samples in texts.
RunInfo with_labels(RunInfo run, const Settings& settings) {
  if (const auto names = given_names(settings, 2); !names.empty()) {
    run.x_label = names[0];
    run.y_label = names[1];
  } else {
    std::tie(run.x_label, run.y_label) = sample_labels(run.x_name, run.y_name, run.preparation);
  }
  return run;
}

RunInfo run_info(const std::string& method, const Request& request, const SamplePair& data, const Stopwatch& watch) {
  RunInfo run{.method = method,
              .x_name = request.files.front(),
              .y_name = request.files.back(),
              .n_x = data.x.points.rows(),
              .n_y = data.y.points.rows(),
              .dim = request.settings.object_kernel.empty() ? data.x.points.cols() : 0,
              .preparation = data.preparation,
              .elapsed_s = watch.seconds(),
              .option_names = program_names,
              .settings = request.given,
              .explain_call = "kqd explain"};
  return with_labels(std::move(run), request.settings);
}

// Row numbers, the columns of the table and the shape of images come from the data.
void add_rows(ExplainOptions& options, const SamplePair& data) {
  options.sources = data.preparation.sources;
  options.units = data.preparation.units;
  if (!data.preparation.row_shape.empty()) options.own_scales = false;
  options.rows_x = data.rows_x;
  options.rows_y = data.rows_y;
  if (!options.image) options.image = image_shape(data.preparation.row_shape);
}

// Blocks and clusters are a column of the data.
Design design_of(const Settings& settings, const SamplePair& data) {
  if (!settings.test.groups.column.empty()) return Design::independent();
  return {settings.test.test.design.kind, data.units, data.unit_names};
}

// Keys of the rows of X, then of Y, or their ranks within each.
std::vector<std::uint64_t> group_keys_of(const GroupRule& rule, const SamplePair& data) {
  const auto units = std::span(data.units);
  std::vector<std::uint64_t> keys = group_keys(rule, units.first(data.x.points.rows()), data.unit_names);
  const auto of_y = group_keys(rule, units.subspan(data.x.points.rows()), data.unit_names);
  keys.insert(keys.end(), of_y.begin(), of_y.end());
  return keys;
}

// The effects of reference batches against X, each read like Y.
std::vector<double> effects_of_batches(const Request& request) {
  const Settings& settings = request.settings;
  if (!settings.group_column.empty()) {
    throw Error(ErrorCode::invalid_option, {.subject = "against",
                                            .value = settings.against.front(),
                                            .expected = "two files, but --group splits one file",
                                            .remedy = "Write the rows of both samples to files of their own"});
  }
  const GroupRule& rule = settings.test.groups;
  std::vector<double> effects;
  for (const std::string& file : expand_files(settings.against)) {
    const SamplePair pair = read_pair(request.files.front(), file, settings.read);
    const auto keys = rule.column.empty() ? std::vector<std::uint64_t>{} : group_keys_of(rule, pair);
    effects.push_back(difference_size(pair.x, pair.y,
                                      {.separation = false,
                                       .seed = settings.test.statistic.seed,
                                       .threads = settings.test.statistic.threads,
                                       .assignment = rule.assignment,
                                       .group_keys = keys})
                          .effect);
  }
  return effects;
}

// A page explains a result with as many permutations as that needs, whatever number the test takes.
ExplainOptions page_options(const Settings& settings, const SamplePair& data, const KernelSpec& kernel) {
  ExplainOptions options = settings.explain;
  if (!settings.object_kernel.empty()) options.kernel = kernel;
  options.num_permutations = 0;
  options.design = design_of(settings, data);
  add_rows(options, data);
  if (!settings.output.report.empty()) validate(options, is_of_objects(options.kernel) ? 0 : data.x.points.cols());
  return options;
}

// A page shows the direction of the largest gap, of methods that report it.
template <class Result>
void explain_maximiser(const MethodInfo& method, const Result& result, ExplainOptions& options) {
  if (!method.supremum || result.directions == nullptr || result.per_direction.empty()) return;
  const auto largest = std::ranges::max_element(result.per_direction);
  options.maximiser = method.id;
  options.maximiser_directions = result.directions;
  options.maximiser_index = static_cast<std::size_t>(largest - result.per_direction.begin());
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

// The names of the columns that differ, or of the directions where there are no columns, a line each.
std::string names_of_different(const Explanation& explanation) {
  std::string names;
  const auto add = [&](const auto& entries) {
    for (const auto& entry : entries) {
      if (entry.reject) names += entry.name + "\n";
    }
  };
  if (explanation.columns.empty()) {
    add(explanation.directions);
  } else {
    add(explanation.columns);
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

// A gate for a tolerance fails where the difference is larger, one for equivalence unless it is smaller.
bool fails_gate(const TwoSampleResult& result) {
  if (!result.margin) return result.test.reject;
  return result.margin->kind == MarginKind::equivalent ? result.margin->verdict != Verdict::equivalent
                                                       : result.margin->verdict == Verdict::different;
}

int show_test(const Request& request, const TwoSampleResult& result, const TwoSampleOptions& options,
              const RunInfo& run) {
  const OutputOptions& output = request.settings.output;
  show(output, {.json = [&] { return test_json(result, options, run); },
                .csv = [&] { return test_csv(result, options, run); },
                .markdown = [&] { return test_markdown(result, options, run); },
                .number =
                    [&] {
                      return result.margin ? to_string(result.margin->verdict) + "\n"
                                           : fmt::format("{}\n", result.test.pvalue);
                    },
                .text = [&](const TextStyle& style) { return test_text(result, options, run, style); }});
  return output.exit_code && fails_gate(result) ? 1 : 0;
}

void show_distance(const OutputOptions& output, const DistanceResult& result, const MethodOptions& options,
                   const RunInfo& run) {
  show(output, {.json = [&] { return distance_json(result, options, run); },
                .csv = [&] { return distance_csv(result, options, run); },
                .markdown = [&] { return distance_markdown(result, options, run); },
                .number = [&] { return fmt::format("{}\n", result.statistic); },
                .text = [&](const TextStyle& style) { return distance_text(result, options, run, style); }});
}

void refuse_page_of_profiles(const OutputOptions& output) {
  if (output.report.empty()) return;
  throw Error(ErrorCode::invalid_option, {.subject = "report",
                                          .value = output.report,
                                          .expected = "data files, because a page shows rows, which profiles lack"});
}

RunInfo run_info(const std::string& method, const Request& request, const Profile& x, const Profile& y,
                 const Stopwatch& watch) {
  RunInfo run{.method = method,
              .x_name = request.files.front(),
              .y_name = request.files.back(),
              .n_x = x.num_rows(),
              .n_y = y.num_rows(),
              .dim = x.num_columns(),
              .preparation = {},
              .elapsed_s = watch.seconds(),
              .option_names = program_names,
              .settings = request.given,
              .explain_call = "kqd explain"};
  return with_labels(std::move(run), request.settings);
}

int run_distance_of_profiles(const Request& request, const Stopwatch& watch) {
  const Settings& settings = request.settings;
  refuse_page_of_profiles(settings.output);
  const Profile x = Profile::load(request.files.front());
  const Profile y = Profile::load(request.files.back());
  MethodOptions options = settings.test.statistic;
  add_weighting(settings.weighting_file, options);
  const ProfileDistance found = distance(settings.test.method, x, y, options);
  RunInfo run = run_info(settings.test.method, request, x, y, watch);
  run.interval = found.interval;
  show_distance(settings.output, found.distance, options, run);
  return 0;
}

void show_explanation(const OutputOptions& output, const Explanation& explanation, const RunInfo& run) {
  show(output, {.json = [&] { return explanation_json(explanation, run); },
                .csv = [&] { return explanation_csv(explanation); },
                .markdown = [&] { return explanation_markdown(explanation, run); },
                .number = [&] { return names_of_different(explanation); },
                .text = [&](const TextStyle& style) { return explanation_text(explanation, run, style); }});
}

int run_explain_of_profiles(const Request& request, const Stopwatch& watch) {
  const Profile x = Profile::load(request.files.front());
  const Profile y = Profile::load(request.files.back());
  Explanation explanation;
  {
    const ProgressLine progress(!request.settings.output.quiet);
    explanation = explain(x, y, request.settings.explain, &progress.control());
  }
  show_explanation(request.settings.output, explanation, run_info("", request, x, y, watch));
  return 0;
}

DistanceMatrixOptions options_of_distances(const Settings& settings, const TwoSampleOptions& options) {
  return settings.test_pairs ? distances_for(options) : DistanceMatrixOptions{options.method, options.statistic};
}

void show_matrix(const OutputOptions& output, const MatrixReport& report) {
  show(output, {.json = [&] { return matrix_json(report); },
                .csv = [&] { return matrix_csv(report); },
                .markdown = [&] { return matrix_markdown(report); },
                .number = [&] { return matrix_numbers(report); },
                .text = [&](const TextStyle& style) { return matrix_text(report, style); }});
}

int run_matrix_of_profiles(const Request& request, const Stopwatch& watch) {
  const Settings& settings = request.settings;
  std::vector<Profile> profiles;
  for (const std::string& file : request.files) profiles.push_back(Profile::load(file));
  TwoSampleOptions options = settings.test;
  add_weighting(settings.weighting_file, options.statistic);
  DistanceMatrix matrix;
  std::optional<PairwiseTests> tests;
  {
    const ProgressLine progress(!settings.output.quiet);
    matrix = distance_matrix(profiles, sample_names(settings, request.files), options_of_distances(settings, options),
                             &progress.control());
    if (settings.test_pairs) tests = pairwise_tests(profiles, options, &progress.control());
  }
  const MatrixReport report{
      matrix, tests ? &*tests : nullptr, options.statistic, watch.seconds(), {}, {}, program_names, request.given};
  write_page(settings.output, [&] { return matrix_page(report, {.command = request.command_line}); });
  show_matrix(settings.output, report);
  return 0;
}

int run_test_of_profiles(const Request& request, const Stopwatch& watch) {
  const Settings& settings = request.settings;
  refuse_page_of_profiles(settings.output);
  const Profile x = Profile::load(request.files.front());
  const Profile y = Profile::load(request.files.back());
  TwoSampleOptions options = settings.test;
  // A profile knows which test it was made for.
  const auto is_method = [](const auto& given) { return given.first == "method"; };
  if (std::ranges::none_of(request.given, is_method)) options.method.clear();
  add_weighting(settings.weighting_file, options.statistic);
  TwoSampleResult result;
  {
    const ProgressLine progress(!settings.output.quiet);
    const DifferenceSizeOptions size{.seed = options.statistic.seed, .threads = options.statistic.threads};
    for (const std::string& batch : expand_files(settings.against)) {
      options.margin.batch_effects.push_back(difference_size(x, Profile::load(batch), size).effect);
    }
    result = two_sample_test(x, y, options, &progress.control());
  }
  return show_test(request, result, options, run_info(result.method, request, x, y, watch));
}

// Whether the test can be done with rows in blocks.
bool can_be_in_blocks(const Settings& settings) {
  const TwoSampleOptions& test = settings.test;
  return (test.method == "adaptive" || test.method == "ekqd" || test.method == "supkqd") &&
         test.test.design.kind == DesignKind::independent && test.calibration == Calibration::permutation &&
         test.permute != Permute::rows && settings.object_kernel.empty() && settings.output.report.empty() &&
         settings.read.weights_column.empty() && settings.reference_file.empty() && settings.coefficients_file.empty();
}

// Patterns of files, and files that are too large; these with a warning.
bool is_in_blocks(const Request& request, Warnings& warnings) {
  if (request.files.size() != 2) return false;
  const bool possible = can_be_in_blocks(request.settings);
  if (std::ranges::any_of(request.files, is_file_pattern)) {
    if (possible) return true;
    throw Error(ErrorCode::invalid_option,
                "several files of a sample are read in blocks, which is for methods adaptive, ekqd and supkqd of "
                "independent rows without weights, reference points and pages");
  }
  if (!possible || !read_in_blocks(request.files)) return false;
  const std::optional<Warning> too_large = files_in_blocks(request.files, request.settings.read);
  if (too_large) warnings.push_back(*too_large);
  return too_large.has_value();
}

int run_test_of_files(const Request& request, const Warnings& warnings, const Stopwatch& watch) {
  const Settings& settings = request.settings;
  TwoSampleOptions options = settings.test;
  add_directions(settings, {}, 0, {}, options.statistic);  // the weighting only
  std::optional<FilesTest> test;
  {
    const ProgressLine progress(!settings.output.quiet);
    test = two_sample_test_of_files(expand_files({request.files.front()}), expand_files({request.files.back()}),
                                    settings.read, options, expand_files(settings.against), &progress.control());
  }
  put_first(warnings, test->result.warnings);
  for (const FilesProfile* sample : {&test->x, &test->y}) print_warnings(sample->notes, settings.output);
  Preparation preparation = test->x.preparation;
  preparation.y = test->y.preparation.x;
  RunInfo run{.method = test->result.method,
              .x_name = request.files.front(),
              .y_name = request.files.back(),
              .n_x = test->x.profile.num_counted(),
              .n_y = test->y.profile.num_counted(),
              .dim = test->x.profile.num_columns(),
              .preparation = preparation,
              .elapsed_s = watch.seconds(),
              .option_names = program_names,
              .settings = request.given};
  run = with_labels(std::move(run), settings);
  return show_test(request, test->result, options, run);
}

}  // namespace

int run_test(const Request& request) {
  const Stopwatch watch;
  const Settings& settings = request.settings;
  require_outputs(request);
  if (compares_profiles(request)) return run_test_of_profiles(request, watch);
  Warnings of_files;
  if (is_in_blocks(request, of_files)) return run_test_of_files(request, of_files, watch);
  TwoSampleOptions options = settings.test;
  const SamplePair data = read(request, options.statistic.kernel);
  add_directions(settings, data.x, data.x.points.rows() + data.y.points.rows(), data.preparation, options.statistic);
  options.test.design = design_of(settings, data);
  if (!options.groups.column.empty()) options.group_keys = group_keys_of(options.groups, data);
  ExplainOptions where = page_options(settings, data, options.statistic.kernel);
  // Pixels have one unit, and so have the cells of any array of more than two dimensions.
  const bool one_unit = where.image || !data.preparation.row_shape.empty();
  if (one_unit && settings.read.standardize == Standardize::automatic) options.own_scales = false;
  if (!settings.output.report.empty()) options.test.keep_null_distribution = true;
  TwoSampleResult result;
  {
    const ProgressLine progress(!settings.output.quiet);
    if (options.margin.from_batches) options.margin.batch_effects = effects_of_batches(request);
    result = two_sample_test(data.x, data.y, options, &progress.control());
  }
  put_first(data.warnings, result.warnings);
  explain_maximiser(find_method(result.method), result, where);
  const RunInfo run = run_info(options.method, request, data, watch);
  write_page(settings.output, [&] { return test_page(result, options, run, page_info(request, data, where)); });
  // The null distribution of the page is not in the JSON, unless it was asked for.
  options.test.keep_null_distribution = settings.test.test.keep_null_distribution;
  return show_test(request, result, options, run);
}

int run_explain(const Request& request) {
  const Stopwatch watch;
  const OutputOptions& output = request.settings.output;
  require_outputs(request);
  if (compares_profiles(request)) return run_explain_of_profiles(request, watch);
  ExplainOptions options = request.settings.explain;
  const SamplePair data = read(request, options.kernel);
  options.design = design_of(request.settings, data);
  add_rows(options, data);
  if (output.csv) print_warnings(data.warnings, output);  // CSV has no place for them
  Explanation explanation;
  {
    const ProgressLine progress(!output.quiet);
    explanation = explain(data.x, data.y, options, &progress.control());
  }
  put_first(data.warnings, explanation.warnings);
  if (!output.rows_csv.empty()) {
    write_text(output.rows_csv, explanation_rows_csv(explanation, data.rows_x, data.rows_y));
  }
  show_explanation(output, explanation, run_info("", request, data, watch));
  return 0;
}

int run_distance(const Request& request) {
  const Stopwatch watch;
  const Settings& settings = request.settings;
  require_outputs(request);
  if (compares_profiles(request)) return run_distance_of_profiles(request, watch);
  MethodOptions options = settings.test.statistic;
  const SamplePair data = read(request, options.kernel);
  add_directions(settings, data.x, data.x.points.rows() + data.y.points.rows(), data.preparation, options);
  ExplainOptions where = page_options(settings, data, options.kernel);
  DistanceResult result;
  {
    const ProgressLine progress(!settings.output.quiet);
    result = distance(settings.test.method, data.x, data.y, options, &progress.control());
  }
  put_first(data.warnings, result.warnings);
  explain_maximiser(find_method(settings.test.method), result, where);
  const RunInfo run = run_info(settings.test.method, request, data, watch);
  write_page(settings.output, [&] { return distance_page(result, options, run, page_info(request, data, where)); });
  show_distance(settings.output, result, options, run);
  return 0;
}

int run_matrix(const Request& request) {
  const Stopwatch watch;
  const Settings& settings = request.settings;
  if (request.files.size() < 2) {
    throw Error(ErrorCode::invalid_option, fmt::format("kqd matrix got {} only, expected two data sets or more",
                                                       printable(request.files.front())));
  }
  require_outputs(request);
  if (compares_profiles(request)) return run_matrix_of_profiles(request, watch);
  TwoSampleOptions options = settings.test;
  const SampleList data = read_list(request.files, settings, options.statistic.kernel);
  print_warnings(data.notes, settings.output);
  if (settings.output.csv) print_warnings(data.warnings, settings.output);  // CSV has no place for them
  add_directions(settings, data.samples.front(), num_rows(data), data.preparation, options.statistic);
  const DistanceMatrixOptions distances = options_of_distances(settings, options);
  const std::vector<SampleView> samples(data.samples.begin(), data.samples.end());
  DistanceMatrix matrix;
  std::optional<PairwiseTests> tests;
  {
    const ProgressLine progress(!settings.output.quiet);
    matrix = distance_matrix(samples, sample_names(settings, request.files), distances, &progress.control());
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
  show_matrix(settings.output, report);
  return 0;
}

}  // namespace kqd::app
