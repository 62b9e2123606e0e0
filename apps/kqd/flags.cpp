#include "flags.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <limits>
#include <string_view>
#include <utility>

namespace kqd::app {
namespace {

constexpr std::uint64_t kLargestCount = 1U << 20U;
constexpr std::uint64_t kMostRows = 1'000'000'000;

[[noreturn]] void refuse(const std::string& flag, const std::string& text, const std::string& expected) {
  throw Error(ErrorCode::invalid_option, fmt::format("{} {}: expected {}", flag, text, expected));
}

double number(const std::string& flag, const std::string& text, const std::string& expected) {
  double value = 0.0;
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, value);
  if (error != std::errc{} || stop != end || std::isnan(value)) refuse(flag, text, expected);
  return value;
}

double power(const std::string& text) {
  if (text == "inf" || text == "infinity") return std::numeric_limits<double>::infinity();
  const double value = number("--power", text, "a number >= 1, or inf");
  if (!(value >= 1.0)) refuse("--power", text, "a number >= 1, or inf");
  return value;
}

bool names_a_file(const std::string& text) {
  return text.find_first_of("./") != std::string::npos;
}

void set_reference(DirectionOptions& directions, const Flags& flags) {
  constexpr std::array<std::string_view, 4> kMeasures = {"gaussian", "uniform", "pooled", "balanced"};
  const std::string& text = flags.reference;
  if (names_a_file(text)) {
    if (!flags.num_reference.empty()) {
      refuse("--num-reference", flags.num_reference, fmt::format("no number, the points of {} are all used", text));
    }
    directions.reference = ReferenceMeasure::points;
    directions.reference_points = read_sample(text).points;
    return;
  }
  if (std::ranges::find(kMeasures, text) == kMeasures.end()) {
    refuse("--reference", text,
           fmt::format("{} or a file of points{}", fmt::join(kMeasures, ", "), suggestion(text, kMeasures)));
  }
  directions.reference = parse_reference_measure(text);
}

std::uint64_t whole_number(const std::string& flag, const std::string& text, std::uint64_t low, std::uint64_t high) {
  std::uint64_t value = 0;
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, value);
  if (error != std::errc{} || stop != end || value < low || value > high) {
    refuse(flag, text, fmt::format("a whole number in {}..{}", low, high));
  }
  return value;
}

std::uint64_t seed_of(const std::string& text) {
  return whole_number("--seed", text, 0, std::numeric_limits<std::uint64_t>::max());
}

ThreadCount thread_count(const Flags& flags) {
  return {static_cast<unsigned>(whole_number("--threads", flags.threads, 0, 1024))};
}

char delimiter_of(const std::string& text, bool decimal_comma) {
  constexpr std::array<std::pair<std::string_view, char>, 6> kNames = {
      {{"tab", '\t'}, {"\\t", '\t'}, {"comma", ','}, {"semicolon", ';'}, {"bar", '|'}, {"space", ' '}}};
  if (text.empty()) return 0;
  const auto named = std::ranges::find(kNames, text, [](const auto& entry) { return entry.first; });
  CsvFormat format{.delimiter = named != kNames.end() ? named->second : text.front()};
  try {
    if (named == kNames.end() && text.size() > 1) throw Error(ErrorCode::invalid_option, "");
    validate(format);
  } catch (const Error&) {
    refuse("--delimiter", text,
           "tab, comma, semicolon, bar, space, or one character that is no letter, digit, quote or sign");
  }
  if (decimal_comma && format.delimiter == ',') {
    refuse("--delimiter", text, "another one, with --decimal-comma a comma is part of a number");
  }
  return format.delimiter;
}

CsvFormat csv_format(const Flags& flags) {
  if (flags.header && flags.no_header) {
    throw Error(ErrorCode::invalid_option, "--header and --no-header contradict each other, expected one of them");
  }
  return {.delimiter = delimiter_of(flags.delimiter, flags.decimal_comma),
          .header = flags.header      ? CsvHeader::present
                    : flags.no_header ? CsvHeader::absent
                                      : CsvHeader::found,
          .decimal_comma = flags.decimal_comma};
}

// The words of a list with commas between.
std::vector<std::string> items_of(const std::string& text) {
  std::vector<std::string> items;
  std::size_t begin = 0;
  while (begin <= text.size()) {
    const std::size_t end = std::min(text.find(',', begin), text.size());
    items.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return items;
}

// "blocks" of "blocks:COLUMN"; refuses what is no design.
std::string design_kind(const std::string& text) {
  constexpr std::array<std::string_view, 4> kKinds = {"independent", "paired", "blocks", "clusters"};
  const auto colon = text.find(':');
  const std::string kind = text.substr(0, colon);
  const bool has_column = colon != std::string::npos;
  const bool wants_column = kind == "blocks" || kind == "clusters";
  const bool is_known = std::ranges::find(kKinds, kind) != kKinds.end();
  if (is_known && has_column == wants_column) return kind;
  refuse(
      "--design", text,
      fmt::format("independent, paired, blocks:COLUMN or clusters:COLUMN{}", is_known ? "" : suggestion(kind, kKinds)));
}

// A flag with a value; `letter` stands for it in the help text. Its default is what the variable holds.
CLI::Option* add_value(CLI::App& command, const std::string& flag, const std::string& letter, std::string& value,
                       const std::string& text) {
  return command.add_option(flag, value, text)->type_name(letter)->capture_default_str();
}

void add_settings(CLI::App& command, std::vector<std::string>& settings, const std::string& text) {
  command.add_option("--set", settings, text)
      ->type_name("NAME=VALUE")
      ->expected(1)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
}

}  // namespace

void add_comparison_flags(CLI::App& command, Flags& flags) {
  command
      .add_option("X", flags.x,
                  "first sample, one row per point: .csv, .tsv, .npy, .idx (also .gz), .npz or .npz:KEY, .parquet, "
                  ".json, .jsonl, a query \"sql:SELECT ...\", or - for standard input")
      ->required();
  command.add_option("Y", flags.y, "second sample; none with --group, or when X is an .npz file of arrays x and y");
  add_value(command, "--method", "ID", flags.method, "id of a method; `kqd methods` lists them");
  add_value(command, "--kernel", "KERNEL", flags.kernel,
            "gaussian, laplace, matern12, matern32, matern52, rq[:alpha], imq[:beta], linear[:offset], "
            "polynomial[:degree[:offset]], normalised-polynomial[:degree[:offset]], energy[:beta]; "
            "sums and products: gaussian@0.5+gaussian@2, gaussian*linear");
  add_value(command, "--bandwidth", "H", flags.bandwidth, "median, or a number > 0");
  add_value(command, "--directions", "FAMILY", flags.directions, "gaussian, linear, axis, principal or mixed");
  add_value(command, "--num-directions", "L", flags.num_directions, "number of directions");
  add_value(command, "--num-reference", "M", flags.num_reference, "number of reference points (default: min(64, N/8))");
  add_value(command, "--reference", "XI", flags.reference,
            "where reference points come from: gaussian, uniform, pooled, balanced, or a file of points");
  add_value(command, "--power", "P", flags.power, "order of the gap between quantiles, >= 1, or inf");
  add_value(command, "--weighting", "NU", flags.weighting,
            "weight of quantile levels: uniform, triangle[:ratio], reverse-triangle[:ratio], slope-up[:ratio], "
            "slope-down[:ratio], interval:low:high, beta:a:b, atom:level");
  add_value(command, "--compat", "NAMES", flags.compat,
            "what the paper's code does differently, by name: extra-direction, point-levels, jitter, unnormalised, "
            "median-diagonal, zero-centred");
  add_settings(command, flags.settings, "a parameter of the method; `kqd methods ID` lists them; may be repeated");
  add_value(command, "--seed", "S", flags.seed, "every random draw follows from it");
  add_value(command, "--threads", "T", flags.threads, "0 asks the system; changes the speed, not the result");
  command.add_flag("--whiten", flags.whiten, "principal directions count alike, whatever the spread along them");
  command.add_flag("--yes-quadratic", flags.yes_quadratic,
                   "run a method of quadratic or higher cost however long it takes");
  command.add_flag("--json", flags.json, "print one JSON object");
  command.add_flag("--quiet", flags.quiet, "print the number alone, and no notes");
}

void add_data_flags(CLI::App& command, Flags& flags) {
  const auto add = [&](const std::string& flag, const std::string& letter, std::string& value,
                       const std::string& text) { add_value(command, flag, letter, value, text)->group("Data"); };
  const auto add_switch = [&](const std::string& flag, bool& value, const std::string& text) {
    command.add_flag(flag, value, text)->group("Data");
  };
  add("--columns", "LIST", flags.columns,
      "columns to compare: names, numbers, ranges (a..d, 3-7), globs (temp_*), with commas between");
  add("--drop", "LIST", flags.drop, "columns to leave out, listed likewise");
  add("--group", "COLUMN", flags.group,
      "one file with both samples: a column with two values tells them apart, the first one met is X");
  add("--weights", "COLUMN", flags.weights_column, "column that holds the weights of the rows");
  add("--categorical", "HOW", flags.categorical,
      "columns of text: raise an error, onehot (a column for each text), hash (16 columns) or drop them");
  add_switch("--dates", flags.dates, "read ISO dates and times as numbers: days since 1970-01-01");
  add("--na", "HOW", flags.na, "missing values: raise an error, omit such rows, or impute-median of both samples");
  add("--na-values", "LIST", flags.na_values, "texts or numbers that mean missing too, such as -999,x");
  add("--standardize", "HOW", flags.standardize,
      "scale columns by both samples: none, zscore (mean, standard deviation) or iqr (median, quartiles)");
  add("--max-rows", "N", flags.max_rows, "at most N rows of each sample, drawn at random by the seed");
  add("--delimiter", "C", flags.delimiter,
      "what stands between the cells of CSV files: a character, or tab, comma, semicolon, bar, space (default: found "
      "by "
      "looking)");
  add_switch("--header", flags.header, "the first row of CSV files holds names, whatever it looks like");
  add_switch("--no-header", flags.no_header, "the first row of CSV files holds data, whatever it looks like");
  add_switch("--decimal-comma", flags.decimal_comma, "numbers of CSV files are written 1,5");
}

void add_test_flags(CLI::App& command, Flags& flags) {
  command.get_option("--method")->default_str("adaptive; ekqd when one of its options is given");
  add_value(command, "--permutations", "B", flags.permutations, "number of random labellings");
  add_value(command, "--alpha", "A", flags.alpha, "level of the decision, between 0 and 1");
  add_value(command, "--design", "DESIGN", flags.design,
            "independent, paired (row i of X with row i of Y), blocks:COLUMN (permute within), clusters:COLUMN "
            "(permute whole)");
  add_value(command, "--calibration", "NAME", flags.calibration,
            "permutation, sign-flip (swaps of x_i and y_i; nx = ny), or asymptotic (the limiting law, for methods that "
            "have one)");
  // A value needs the sign =, so that a bare flag never swallows a file.
  command
      .add_flag("--early-stop{betting}", flags.early_stop,
                "stop drawing when the decision is clear, by betting; --early-stop=besag-clifford: by another rule")
      ->disable_flag_override(false);
  add_value(command, "--set-aside", "yes|no", flags.set_aside, "pooled reference points leave the samples");
  command.add_flag("--randomise-ties", flags.randomise_ties, "share ties out at random: p is exactly uniform under H0");
  command.add_flag("--effect-interval", flags.effect_interval,
                   "add an interval for the effect size (200 half-samples)");
  command.add_flag("--null-distribution", flags.null_distribution, "with --json: the value of every labelling");
  command.add_flag("--exit-code", flags.exit_code, "exit with 1 when a difference is found");
}

void add_sample_flags(CLI::App& command, SampleFlags& flags) {
  command.add_option("NAME", flags.name, "the problem; `kqd sample list` lists them")->required();
  add_value(command, "-n,--rows", "N", flags.n, "rows of X");
  add_value(command, "-m,--rows-y", "N", flags.m, "rows of Y (default: as many as X)");
  add_value(command, "-d,--dim", "D", flags.dim, "columns; 0: the problem's default");
  add_settings(command, flags.settings, "a parameter of the problem; may be repeated");
  add_value(command, "--seed", "S", flags.seed, "every random draw follows from it");
  command.add_option("-o,--output", flags.outputs, "the two files to write: .csv, .tsv or .npy")
      ->type_name("X Y")
      ->expected(2);
}

TwoSampleOptions to_test_options(const Flags& flags) {
  TwoSampleOptions options;
  options.method = flags.method;
  options.statistic = to_options(flags);
  options.test.num_permutations =
      static_cast<std::int64_t>(whole_number("--permutations", flags.permutations, 1, 1'000'000'000));
  options.test.alpha = number("--alpha", flags.alpha, "a number between 0 and 1");
  if (!(options.test.alpha > 0.0 && options.test.alpha < 1.0))
    refuse("--alpha", flags.alpha, "a number between 0 and 1");
  options.test.early_stop = parse_early_stop(flags.early_stop);
  options.test.randomised_ties = flags.randomise_ties;
  options.test.keep_null_distribution = flags.null_distribution;
  options.calibration = parse_calibration(flags.calibration);
  if (flags.set_aside != "yes" && flags.set_aside != "no") refuse("--set-aside", flags.set_aside, "yes or no");
  options.set_aside = flags.set_aside == "yes";
  options.effect_interval = flags.effect_interval;
  static_cast<void>(design_kind(flags.design));  // refused here, before any file is read
  return options;
}

ReadOptions to_read_options(const Flags& flags) {
  ReadOptions options;
  options.columns = flags.columns;
  options.drop = flags.drop;
  options.weights_column = flags.weights_column;
  options.categorical = parse_categorical(flags.categorical);
  options.dates = flags.dates;
  options.na = parse_na_policy(flags.na);
  if (!flags.na_values.empty()) options.na_values = items_of(flags.na_values);
  options.standardize = parse_standardize(flags.standardize);
  if (!flags.max_rows.empty()) options.max_rows = whole_number("--max-rows", flags.max_rows, 1, kMostRows);
  options.seed.value = seed_of(flags.seed);
  options.csv = csv_format(flags);
  options.threads = thread_count(flags);
  options.map_files = true;  // main() turns the risk into a sentence
  const std::string kind = design_kind(flags.design);
  options.paired = kind == "paired";
  if (kind == "blocks" || kind == "clusters") options.unit_column = flags.design.substr(kind.size() + 1);
  return options;
}

Design design_of(const Flags& flags, std::vector<std::int64_t> units) {
  const std::string kind = design_kind(flags.design);
  if (kind == "independent") return Design::independent();
  if (kind == "paired") return Design::paired();
  return kind == "blocks" ? Design::blocks(std::move(units)) : Design::clusters(std::move(units));
}

ProblemRequest to_request(const SampleFlags& flags) {
  ProblemRequest request;
  request.name = flags.name;
  request.n_x = whole_number("--rows", flags.n, 1, kMostRows);
  request.n_y = flags.m.empty() ? request.n_x : whole_number("--rows-y", flags.m, 1, kMostRows);
  request.dim = whole_number("--dim", flags.dim, 0, 10'000'000);
  request.seed.value = seed_of(flags.seed);
  for (const std::string& setting : flags.settings) set_parameter(request, setting);
  return request;
}

KqdOptions to_options(const Flags& flags) {
  KqdOptions options;
  options.kernel = parse_kernel(flags.kernel);
  if (flags.bandwidth != "median") {
    const double bandwidth = number("--bandwidth", flags.bandwidth, "median, or a number > 0");
    if (!(bandwidth > 0.0) || std::isinf(bandwidth)) refuse("--bandwidth", flags.bandwidth, "median, or a number > 0");
    options.kernel = with_bandwidth(options.kernel, bandwidth);
    if (!first_bandwidth(options.kernel)) {
      refuse("--bandwidth", flags.bandwidth, fmt::format("none, kernel {} has no bandwidth", flags.kernel));
    }
  }
  options.directions.family = parse_direction_family(flags.directions);
  options.directions.num_directions = whole_number("--num-directions", flags.num_directions, 1, kLargestCount);
  if (!flags.num_reference.empty()) {
    options.directions.num_reference = whole_number("--num-reference", flags.num_reference, 1, kLargestCount);
  }
  set_reference(options.directions, flags);
  options.directions.whiten = flags.whiten;
  options.power = power(flags.power);
  options.weighting = parse_level_weights(flags.weighting);
  options.seed.value = seed_of(flags.seed);
  options.threads = thread_count(flags);
  options.allow_quadratic = flags.yes_quadratic;
  if (!flags.compat.empty()) apply_compat(flags.compat, options);
  const MethodInfo& method = find_method(flags.method);
  for (const std::string& setting : flags.settings) {
    set_parameter(options.parameters, method.id, method.parameters, setting);
  }
  validate_parameters(method, options.parameters);
  return options;
}

void choose_method(const CLI::App& test, Flags& flags) {
  // Who says how one statistic is made, or asks for what an aggregate of many cannot give, has one in mind.
  constexpr std::array<const char*, 10> kOfOneStatistic = {
      "--directions", "--num-directions", "--num-reference", "--reference",  "--power",
      "--weighting",  "--compat",         "--whiten",        "--early-stop", "--effect-interval"};
  if (test.count("--method") > 0) return;
  const bool one_statistic = std::ranges::any_of(kOfOneStatistic, [&](auto* flag) { return test.count(flag) > 0; });
  flags.method = one_statistic ? "ekqd" : "adaptive";
}

std::vector<std::string> unused_flags(const CLI::App& command, const MethodInfo& method) {
  const MethodUses& uses = method.uses;
  const std::array<std::pair<std::string, bool>, 8> used = {{
      {"--kernel", uses.kernel},
      {"--bandwidth", uses.kernel},
      {"--directions", uses.directions},
      {"--num-directions", uses.directions},
      {"--num-reference", uses.directions},
      {"--reference", uses.directions || uses.points},
      {"--power", uses.power},
      {"--weighting", uses.weighting},
  }};
  std::vector<std::string> unused;
  for (const auto& [flag, is_used] : used) {
    if (!is_used && command.count(flag) > 0) unused.push_back(flag);
  }
  return unused;
}

}  // namespace kqd::app
