#include "flags.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <cmath>
#include <limits>
#include <map>
#include <span>
#include <string_view>
#include <utility>

namespace kqd::app {
namespace {

constexpr std::uint64_t kLargestCount = 1U << 20U;
constexpr std::uint64_t kMostRows = 1'000'000'000;

// Values that are words, as help and completions list them; what follows a word in brackets or after : is a parameter.
template <std::size_t N>
using Words = std::array<std::string_view, N>;

constexpr Words<11> kKernels = {"gaussian",
                                "laplace",
                                "matern12",
                                "matern32",
                                "matern52",
                                "rq[:alpha]",
                                "imq[:beta]",
                                "linear[:offset]",
                                "polynomial[:degree[:offset]]",
                                "normalised-polynomial[:degree[:offset]]",
                                "energy[:beta]"};
constexpr Words<5> kFamilies = {"gaussian", "linear", "axis", "principal", "mixed"};
constexpr Words<4> kMeasures = {"gaussian", "uniform", "pooled", "balanced"};
constexpr Words<8> kWeightings = {"uniform",          "triangle[:ratio]",   "reverse-triangle[:ratio]",
                                  "slope-up[:ratio]", "slope-down[:ratio]", "interval:low:high",
                                  "beta:a:b",         "atom:level"};
constexpr std::string_view kFormats =
    ".csv, .tsv, .npy, .idx (also .gz), .npz or .npz:KEY, .parquet, .json, .jsonl, a query \"sql:SELECT ...\", or - "
    "for "
    "standard input";
constexpr const char* kConfigText = "take flags from a TOML file; those typed here win";
constexpr Words<4> kDesigns = {"independent", "paired", "blocks", "clusters"};
constexpr Words<3> kWeightsAs = {"frequency", "precision", "sampling"};
constexpr Words<3> kCalibrations = {"permutation", "sign-flip", "asymptotic"};

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

ReferenceMeasure reference_measure(const Flags& flags) {
  const std::string& text = flags.reference;
  if (names_a_file(text)) {
    if (!flags.num_reference.empty()) {
      refuse("--num-reference", flags.num_reference, fmt::format("no number, the points of {} are all used", text));
    }
    return ReferenceMeasure::points;
  }
  if (std::ranges::find(kMeasures, text) == kMeasures.end()) {
    refuse("--reference", text,
           fmt::format("{} or a file of points{}", fmt::join(kMeasures, ", "), suggestion(text, kMeasures)));
  }
  return parse_reference_measure(text);
}

// Bytes: a number and a unit, powers of 1000 as in MB or of 1024 as in MiB.
std::size_t bytes_of(const std::string& flag, const std::string& text) {
  constexpr std::array<std::pair<std::string_view, double>, 7> kUnits = {
      {{"B", 1.0}, {"kB", 1e3}, {"MB", 1e6}, {"GB", 1e9}, {"KiB", 0x1p10}, {"MiB", 0x1p20}, {"GiB", 0x1p30}}};
  const std::string expected = "a size of at least 1MB, as 800MB or 2GB";
  double value = 0.0;
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, value);
  const std::string_view unit(stop, end);
  const auto found = std::ranges::find_if(
      kUnits, [&](const auto& known) { return std::ranges::equal(known.first, unit, {}, ::tolower, ::tolower); });
  if (error != std::errc{} || found == kUnits.end()) refuse(flag, text, expected);
  const double bytes = value * found->second;
  if (!(bytes >= 1e6 && bytes <= 1e15)) refuse(flag, text, expected);
  return static_cast<std::size_t>(bytes);
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
           "tab, comma, semicolon, bar, space, or one character that is not a letter, digit, quote or sign");
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

// "blocks" of "blocks:COLUMN"; refuses what is not a design.
std::string design_kind(const std::string& text) {
  const auto colon = text.find(':');
  std::string kind = text.substr(0, colon);
  const bool has_column = colon != std::string::npos && colon + 1 < text.size();
  const bool wants_column = kind == "blocks" || kind == "clusters";
  const bool is_known = std::ranges::find(kDesigns, kind) != kDesigns.end();
  if (is_known && has_column == wants_column) return kind;
  refuse("--design", text,
         fmt::format("independent, paired, blocks:COLUMN or clusters:COLUMN{}",
                     is_known ? "" : suggestion(kind, kDesigns)));
}

// Words per option, next to what CLI11 keeps of it.
std::map<const CLI::Option*, std::vector<std::string>>& words_by_option() {
  static std::map<const CLI::Option*, std::vector<std::string>> words;
  return words;
}

// "rq" of "rq[:alpha]", "interval" of "interval:low:high".
std::string bare(std::string_view word) {
  return std::string(word.substr(0, word.find_first_of("[:")));
}

void offer(const CLI::Option* option, std::span<const std::string_view> words) {
  std::vector<std::string> bare_words;
  for (const std::string_view word : words) bare_words.push_back(bare(word));
  offer_words(*option, bare_words);
}

// add_value() for a value that is one of some words, with or without parameters, which stand for {} in the help text.
void add_choice(CLI::App& command, const std::string& flag, const std::string& letter, std::string& value,
                std::span<const std::string_view> words, const std::string& text) {
  offer(add_value(command, flag, letter, value, fmt::format(fmt::runtime(text), fmt::join(words, ", "))), words);
}

std::vector<std::string_view> method_ids() {
  std::vector<std::string_view> ids;
  for (const MethodInfo& method : methods()) ids.push_back(method.id);
  return ids;
}

std::vector<std::string_view> compat_names() {
  std::vector<std::string_view> names;
  for (const CompatFlag& flag : compat_flags()) names.push_back(flag.name);
  return names;
}

void add_settings(CLI::App& command, std::vector<std::string>& settings, const std::string& text) {
  command.add_option("--set", settings, text)
      ->type_name("NAME=VALUE")
      ->expected(1)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
}

// A list with commas between; given again it goes on. CLI11 cuts values where it joins them, so not at commas.
constexpr char kBetweenLists = '\x1f';
void add_list(CLI::App& command, const std::string& flag, std::string& value, const std::string& text) {
  add_value(command, flag, "LIST", value, text)->join(kBetweenLists);
}
std::string as_one_list(std::string lists, char separator = ',') {
  std::ranges::replace(lists, kBetweenLists, separator);
  return lists;
}

// Which columns and rows of the files are compared, and as what.
void add_data_flags(CLI::App& command, Flags& flags) {
  command.option_defaults()->group("Data");
  add_list(command, "--columns", flags.columns,
           "columns to compare: names, numbers, ranges (a..d, 3-7), globs (temp_*), with commas between");
  add_list(command, "--drop", flags.drop, "columns to leave out, listed likewise");
  add_value(command, "--weights", "COLUMN", flags.weights_column, "column that holds the weights of the rows");
  offer(add_value(command, "--categorical", "HOW", flags.categorical,
                  "columns of text: raise an error, onehot (a column for each text), hash (64 columns) or drop them"),
        Words<4>{"raise", "onehot", "hash", "drop"});
  command.add_flag("--dates", flags.dates, "read ISO dates and times as numbers: days since 1970-01-01");
  offer(add_value(command, "--na", "HOW", flags.na,
                  "missing values: raise an error, omit such rows, or impute-median of all samples"),
        Words<3>{"raise", "omit", "impute-median"});
  add_list(command, "--na-values", flags.na_values,
           "texts or numbers that mean missing too, such as -999,x; with --decimal-comma -999,9;x");
  command.add_flag("--no-default-na", flags.no_default_na,
                   "NA, none, -, ? and the like are texts; only empty cells and --na-values mean missing");
  offer(add_value(command, "--standardize", "HOW", flags.standardize,
                  "scale columns by all samples: none, zscore (mean, standard deviation) or iqr (median, quartiles)"),
        Words<3>{"none", "zscore", "iqr"});
  add_value(command, "--delimiter", "C", flags.delimiter,
            "what stands between the cells of CSV files: a character, or tab, comma, semicolon, bar, space (default: "
            "found by looking)");
  command.add_flag("--header", flags.header, "the first row of CSV files holds names, whatever it looks like");
  command.add_flag("--no-header", flags.no_header, "the first row of CSV files holds data, whatever it looks like");
  command.add_flag("--decimal-comma", flags.decimal_comma, "numbers of CSV files are written 1,5");
  add_value(command, "--max-rows", "N", flags.max_rows, "at most N rows of each sample, drawn at random by the seed");
  command.option_defaults()->group("Options");
}

void add_kernel_flags(CLI::App& command, Flags& flags) {
  add_choice(command, "--kernel", "KERNEL", flags.kernel, kKernels,
             "{}; sums and products: gaussian@0.5+gaussian@2, gaussian*linear");
  offer(add_value(command, "--bandwidth", "H", flags.bandwidth, "median, or a number > 0"), Words<1>{"median"});
}

// How a discrepancy is made.
void add_statistic_flags(CLI::App& command, Flags& flags) {
  offer(add_value(command, "--method", "ID", flags.method, "id of a method; `kqd methods` lists them"), method_ids());
  add_kernel_flags(command, flags);
  add_choice(command, "--directions", "FAMILY", flags.directions, kFamilies, "{}");
  add_value(command, "--num-directions", "L", flags.num_directions, "number of directions");
  add_value(command, "--num-reference", "M", flags.num_reference, "number of reference points (default: min(64, N/8))");
  add_choice(command, "--reference", "XI", flags.reference, kMeasures,
             "where reference points come from: {}, or a file of points");
  add_value(command, "--power", "P", flags.power, "order of the gap between quantiles, >= 1, or inf");
  add_choice(command, "--weighting", "NU", flags.weighting, kWeightings, "weight of quantile levels: {}");
  add_choice(command, "--compat", "NAMES", flags.compat, compat_names(),
             "what the paper's code does differently, by name: {}");
  add_settings(command, flags.settings, "a parameter of the method; `kqd methods ID` lists them; may be repeated");
  command.add_flag("--whiten", flags.whiten, "principal directions count alike, whatever the spread along them");
  command.add_flag("--yes-quadratic", flags.yes_quadratic,
                   "run a method of quadratic or higher cost however long it takes");
}

// How a permutation test is run.
void add_permutation_flags(CLI::App& command, Flags& flags) {
  add_value(command, "--permutations", "B", flags.permutations, "number of random permutations");
  add_value(command, "--alpha", "A", flags.alpha, "level of the decision, between 0 and 1");
}

void add_weights_as_flag(CLI::App& command, Flags& flags) {
  add_choice(command, "--weights-as", "KIND", flags.weights_as, kWeightsAs,
             "what the weights are: {} (default: frequency, if the weights of the samples look alike)");
}

void add_design_flag(CLI::App& command, Flags& flags) {
  // Two of them are nothing without the column behind them.
  offer_words(*add_value(command, "--design", "DESIGN", flags.design,
                         "independent, paired (row i of X with row i of Y), blocks:COLUMN (permute within), "
                         "clusters:COLUMN (permute whole)"),
              {"independent", "paired", "blocks:", "clusters:"});
}

// How it is run, and what is shown of it.
void add_run_flags(CLI::App& command, Flags& flags) {
  add_value(command, "--seed", "S", flags.seed, "every random draw follows from it");
  add_value(command, "--threads", "T", flags.threads, "0 asks the system; changes the speed, not the result");
  add_value(
      command, "--max-memory", "SIZE", flags.max_memory,
      "most memory to hold next to the data, as 800MB or 2GB, and for data from a pipe or .csv.gz; changes the speed, "
      "not the result");
  CLI::Option* const json = command.add_flag("--json", flags.json, "print one JSON object");
  CLI::Option* const csv = command.add_flag("--csv", flags.csv, "print a line of names and a line of values");
  CLI::Option* const markdown = command.add_flag("--markdown", flags.markdown, "print a table in Markdown");
  json->excludes(csv)->excludes(markdown);
  csv->excludes(markdown);
  command.add_flag("--quiet", flags.quiet,
                   "print the number only, and no notes; next to --json, --csv or --markdown: no notes");
  add_value(command, "--output", "FILE", flags.output, "write there instead of to standard output (-)");
  add_value(command, "--config", "FILE", flags.config, kConfigText);
}

void add_report_flag(CLI::App& command, Flags& flags, const std::string& text) {
  add_value(command, "--report", "FILE", flags.report, text + "; opens in a browser, without a network");
}

void add_image_flag(CLI::App& command, Flags& flags, const std::string& when) {
  add_value(command, "--image-shape", "HxW[xC]", flags.image_shape,
            when + "rows are pictures of this height and width; idx files tell it themselves");
}

// Where the two samples are.
void add_sample_arguments(CLI::App& command, Flags& flags) {
  command.add_option("X", flags.x, fmt::format("first sample, one row per point: {}", kFormats))->required();
  command.add_option("Y", flags.y, "second sample; none with --group, or when X is an .npz file of arrays x and y");
  add_value(command, "--group", "COLUMN", flags.group,
            "one file with both samples: a column with two values tells them apart, the first one met is X");
}

double alpha_of(const Flags& flags) {
  const double alpha = number("--alpha", flags.alpha, "a number between 0 and 1");
  if (!(alpha > 0.0 && alpha < 1.0)) refuse("--alpha", flags.alpha, "a number between 0 and 1");
  return alpha;
}

std::int64_t permutations_of(const Flags& flags) {
  return static_cast<std::int64_t>(whole_number("--permutations", flags.permutations, 1, 1'000'000'000));
}

KernelSpec kernel_of(const Flags& flags) {
  KernelSpec kernel = parse_kernel(flags.kernel);
  if (flags.bandwidth == "median") return kernel;
  const double bandwidth = number("--bandwidth", flags.bandwidth, "median, or a number > 0");
  if (!(bandwidth > 0.0) || std::isinf(bandwidth)) refuse("--bandwidth", flags.bandwidth, "median, or a number > 0");
  KernelSpec scaled = with_bandwidth(kernel, bandwidth);
  if (!first_bandwidth(scaled)) {
    refuse("--bandwidth", flags.bandwidth, fmt::format("none, kernel {} has no bandwidth", flags.kernel));
  }
  return scaled;
}

// What defines a statistic, but for points that are in a file and parameters that only one method has.
MethodOptions statistic_options(const Flags& flags) {
  MethodOptions options;
  options.kernel = kernel_of(flags);
  options.directions.family = parse_direction_family(flags.directions);
  options.directions.num_directions = whole_number("--num-directions", flags.num_directions, 1, kLargestCount);
  if (!flags.num_reference.empty()) {
    options.directions.num_reference = whole_number("--num-reference", flags.num_reference, 1, kLargestCount);
  }
  options.directions.reference = reference_measure(flags);
  options.directions.whiten = flags.whiten;
  options.power = power(flags.power);
  options.weighting = parse_level_weights(flags.weighting);
  options.seed.value = seed_of(flags.seed);
  options.threads = thread_count(flags.threads);
  if (!flags.max_memory.empty()) options.max_memory = bytes_of("--max-memory", flags.max_memory);
  options.allow_quadratic = flags.yes_quadratic;
  if (!flags.compat.empty()) apply_compat(flags.compat, options);
  return options;
}

// Those of some options that were typed, as flags.
std::vector<std::string> typed_flags(const CLI::App& command, const std::vector<std::string_view>& options) {
  std::vector<std::string> typed;
  for (const std::string_view option : options) {
    std::string flag = fmt::format("--{}", option);
    if (command.count(flag) > 0) typed.push_back(std::move(flag));
  }
  return typed;
}

}  // namespace

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

ThreadCount thread_count(const std::string& text) {
  return {static_cast<unsigned>(whole_number("--threads", text, 0, 1024))};
}

std::vector<std::string> items_of(const std::string& text, char separator) {
  std::vector<std::string> items;
  std::size_t begin = 0;
  while (begin <= text.size()) {
    const std::size_t end = std::min(text.find(separator, begin), text.size());
    items.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return items;
}

CLI::Option* add_value(CLI::App& command, const std::string& flag, const std::string& letter, std::string& value,
                       const std::string& text) {
  return command.add_option(flag, value, text)->type_name(letter)->capture_default_str();
}

void add_comparison_flags(CLI::App& command, Flags& flags) {
  add_sample_arguments(command, flags);
  add_data_flags(command, flags);
  add_statistic_flags(command, flags);
  add_run_flags(command, flags);
  add_report_flag(command, flags,
                  "write an HTML page too: the result, and where the samples differ, in words and charts");
  add_image_flag(command, flags, "with --report: ");
}

void add_explain_flags(CLI::App& command, Flags& flags) {
  add_sample_arguments(command, flags);
  add_data_flags(command, flags);
  add_kernel_flags(command, flags);
  flags.permutations.clear();
  add_permutation_flags(command, flags);
  command.get_option("--permutations")
      ->description(
          "number of random permutations (default: 999, or as many as adjusting for all columns and directions needs)");
  add_design_flag(command, flags);
  add_weights_as_flag(command, flags);
  add_image_flag(command, flags, "");
  add_run_flags(command, flags);
  command.get_option("--csv")->description("print a line of names and a line per column");
  command.get_option("--markdown")->description("print tables in Markdown");
  command.get_option("--quiet")->description("print the names of the columns that differ, a line each, and no notes");
}

void add_matrix_flags(CLI::App& command, MatrixFlags& flags) {
  command.add_option("FILES", flags.files, fmt::format("data sets, two or more, one row per point: {}", kFormats))
      ->required()
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
  add_data_flags(command, flags.shared);
  add_statistic_flags(command, flags.shared);
  command.add_flag("--test", flags.with_tests,
                   "test every pair too, by the adaptive test unless --method names another; p-values are adjusted for "
                   "all pairs");
  flags.shared.permutations.clear();
  add_permutation_flags(command, flags.shared);
  command.get_option("--permutations")
      ->description("number of permutations (default: 999, or as many as adjusting for all pairs needs)");
  add_weights_as_flag(command, flags.shared);
  add_run_flags(command, flags.shared);
  add_report_flag(command, flags.shared, "write an HTML page too: heat map, tree and nearest pairs");
  command.get_option("--csv")->description("print a square table; with --test a line per pair");
  command.get_option("--markdown")->description("print tables in Markdown");
  command.get_option("--quiet")->description("print the numbers only, and no notes; with --test adjusted p-values");
}

void add_methods_flags(CLI::App& command, MethodsFlags& flags) {
  offer(command.add_option("ID", flags.id, "the method to explain"), method_ids());
  CLI::Option* const json = command.add_flag("--json", flags.json, "print a JSON list");
  CLI::Option* const csv = command.add_flag("--csv", flags.csv, "print a line of names and a line per method");
  CLI::Option* const markdown = command.add_flag("--markdown", flags.markdown, "print a table in Markdown");
  json->excludes(csv)->excludes(markdown);
  csv->excludes(markdown);
}

void add_test_flags(CLI::App& command, Flags& flags) {
  command.get_option("--method")->default_str("adaptive; ekqd when one of its options is set");
  add_permutation_flags(command, flags);
  add_design_flag(command, flags);
  add_weights_as_flag(command, flags);
  offer(
      add_value(command, "--calibration", "NAME", flags.calibration,
                "permutation, sign-flip (swaps of x_i and y_i; nx = ny), or asymptotic (the limiting distribution, for "
                "methods that have one)"),
      kCalibrations);
  // A value needs the sign =, so that a bare flag never swallows a file.
  command
      .add_flag("--early-stop{betting}", flags.early_stop,
                "stop drawing when the decision is clear, by betting; --early-stop=besag-clifford: by another rule")
      ->disable_flag_override(false);
  offer(add_value(command, "--set-aside", "yes|no", flags.set_aside, "pooled reference points leave the samples"),
        Words<2>{"yes", "no"});
  command.add_flag("--randomise-ties", flags.randomise_ties,
                   "share ties out at random, by seed and data: p is exactly uniform under H0");
  command.add_flag("--effect-interval", flags.effect_interval,
                   "add an interval for the effect size (199 half-samples)");
  command.add_flag("--null-distribution", flags.null_distribution, "with --json: the value of every permutation");
  command.add_flag("--exit-code", flags.exit_code, "exit with 1 when a difference is found");
}

void add_sample_flags(CLI::App& command, SampleFlags& flags) {
  std::vector<std::string_view> problem_ids = {"list"};
  for (const ProblemInfo& problem : problems()) problem_ids.push_back(problem.id);
  offer(command.add_option("NAME", flags.name, "the problem; `kqd sample list` lists them")->required(), problem_ids);
  add_value(command, "-n,--rows", "N", flags.n, "rows of X");
  add_value(command, "-m,--rows-y", "N", flags.m, "rows of Y (default: as many as X)");
  add_value(command, "-d,--dim", "D", flags.dim, "columns; 0: the problem's default");
  add_settings(command, flags.settings, "a parameter of the problem; may be repeated");
  add_value(command, "--seed", "S", flags.seed, "every random draw follows from it");
  command.add_option("-o,--output", flags.outputs, "the two files to write: .csv, .tsv or .npy")
      ->type_name("X Y")
      ->expected(2);
  add_value(command, "--config", "FILE", flags.config, kConfigText);
}

TwoSampleOptions to_test_options(const Flags& flags) {
  TwoSampleOptions options;
  options.method = flags.method;
  options.statistic = to_options(flags);
  options.test.num_permutations = flags.permutations.empty() ? 0 : permutations_of(flags);
  options.test.alpha = alpha_of(flags);
  options.test.early_stop = parse_early_stop(flags.early_stop);
  options.test.randomised_ties = flags.randomise_ties;
  options.test.keep_null_distribution = flags.null_distribution;
  options.calibration = parse_calibration(flags.calibration);
  if (!flags.weights_as.empty()) options.weights_as = parse_weights_as(flags.weights_as);
  if (flags.set_aside != "yes" && flags.set_aside != "no") refuse("--set-aside", flags.set_aside, "yes or no");
  options.set_aside = flags.set_aside == "yes";
  options.effect_interval = flags.effect_interval;
  static_cast<void>(design_kind(flags.design));  // refused here, before any file is read
  return options;
}

ExplainOptions to_explain_options(const Flags& flags) {
  ExplainOptions options;
  options.kernel = kernel_of(flags);
  if (!flags.permutations.empty()) options.num_permutations = permutations_of(flags);
  options.alpha = alpha_of(flags);
  options.seed.value = seed_of(flags.seed);
  options.threads = thread_count(flags.threads);
  if (!flags.max_memory.empty()) options.max_memory = bytes_of("--max-memory", flags.max_memory);
  if (!flags.image_shape.empty()) options.image = parse_image_shape(flags.image_shape);
  if (!flags.weights_as.empty()) options.weights_as = parse_weights_as(flags.weights_as);
  static_cast<void>(design_kind(flags.design));  // refused here, before any file is read
  return options;
}

ReadOptions to_read_options(const Flags& flags) {
  ReadOptions options;
  options.columns = as_one_list(flags.columns);
  options.drop = as_one_list(flags.drop);
  options.weights_column = flags.weights_column;
  options.categorical = parse_categorical(flags.categorical);
  options.dates = flags.dates;
  options.na = parse_na_policy(flags.na);
  const char between_values = flags.decimal_comma ? ';' : ',';
  if (!flags.na_values.empty()) {
    options.na_values = items_of(as_one_list(flags.na_values, between_values), between_values);
  }
  options.default_na = !flags.no_default_na;
  options.standardize = parse_standardize(flags.standardize);
  if (!flags.max_rows.empty()) options.max_rows = whole_number("--max-rows", flags.max_rows, 1, kMostRows);
  options.seed.value = seed_of(flags.seed);
  options.csv = csv_format(flags);
  options.threads = thread_count(flags.threads);
  if (!flags.max_memory.empty()) options.max_memory = bytes_of("--max-memory", flags.max_memory);
  options.map_files = true;  // main() turns the risk into a sentence
  const std::string kind = design_kind(flags.design);
  options.paired = kind == "paired";
  if (kind == "blocks" || kind == "clusters") options.unit_column = flags.design.substr(kind.size() + 1);
  return options;
}

Design design_of(const Flags& flags, const SamplePair& data) {
  const std::string kind = design_kind(flags.design);
  if (kind == "independent") return Design::independent();
  if (kind == "paired") return Design::paired();
  Design design = kind == "blocks" ? Design::blocks(data.units) : Design::clusters(data.units);
  design.group_names = data.unit_names;
  return design;
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

MethodOptions to_options(const Flags& flags) {
  MethodOptions options = statistic_options(flags);
  const MethodInfo& method = find_method(flags.method);
  for (const std::string& setting : flags.settings) {
    set_parameter(options.parameters, method.id, method.parameters, setting);
  }
  validate_parameters(method, options.parameters);
  return options;
}

void choose_method(const CLI::App& test, Flags& flags) {
  if (test.count("--method") == 0) flags.method = default_test_method(statistic_options(flags));
}

std::vector<std::string> unused_flags(const CLI::App& command, const Flags& flags) {
  return typed_flags(command, unused_options(find_method(flags.method), parse_direction_family(flags.directions),
                                             names_a_file(flags.reference)));
}

std::vector<std::string> flags_unused_by_calibration(const CLI::App& test, const Flags& flags) {
  return typed_flags(test, unused_test_options(parse_calibration(flags.calibration)));
}

void offer_words(const CLI::Option& option, const std::vector<std::string>& words) {
  words_by_option()[&option] = words;
}

const std::vector<std::string>& value_words(const CLI::Option& option) {
  static const std::vector<std::string> kNone;
  const auto found = words_by_option().find(&option);
  return found == words_by_option().end() ? kNone : found->second;
}

bool takes_file(const CLI::Option& option) {
  const std::string type = option.get_type_name();
  const bool file_argument = option.get_positional() && value_words(option).empty();
  return file_argument || type == "FILE" || type == "X Y" || option.check_lname("reference");
}

}  // namespace kqd::app
