#include "flags.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <utility>

namespace kqd::app {
namespace {

constexpr std::uint64_t kLargestCount = 1U << 20U;

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

void set_reference(DirectionOptions& directions, const std::string& text) {
  const bool is_file = text.find('.') != std::string::npos || text.find('/') != std::string::npos;
  if (!is_file) {
    directions.reference = parse_reference_measure(text);
    if (directions.reference == ReferenceMeasure::points) {
      refuse("--reference", text, "gaussian, uniform, pooled, balanced or a file of points");
    }
    return;
  }
  directions.reference = ReferenceMeasure::points;
  directions.reference_points = read_sample(text).points;
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

// A column of whole numbers, taken out of both samples: one number per pooled row.
std::vector<std::int64_t> take_group_column(SamplePair& data, const std::string& name) {
  const auto& names = data.x.column_names;
  const auto found = std::ranges::find(names, name);
  if (found == names.end()) {
    throw Error(ErrorCode::invalid_option,
                fmt::format("--design names column \"{}\", which the data do not have; columns: {}", name,
                            names.empty() ? "without names" : fmt::format("{}", fmt::join(names, ", "))));
  }
  const auto column = static_cast<std::size_t>(found - names.begin());
  std::vector<std::int64_t> groups;
  for (Sample* sample : {&data.x, &data.y}) {
    Matrix<double> rest(sample->points.rows(), sample->points.cols() - 1);
    for (std::size_t i = 0; i < rest.rows(); ++i) {
      const auto row = sample->points.row(i);
      const double value = row[column];
      if (value != std::floor(value) || std::abs(value) > 9e15) {
        throw Error(ErrorCode::invalid_option,
                    fmt::format("{}: row {}, column \"{}\" is {}, a block or cluster needs a whole number",
                                sample == &data.x ? "X" : "Y", i + 1, name, value));
      }
      groups.push_back(static_cast<std::int64_t>(value));
      std::copy_n(row.begin(), column, rest.row(i).begin());
      std::copy(row.begin() + static_cast<std::ptrdiff_t>(column) + 1, row.end(),
                rest.row(i).begin() + static_cast<std::ptrdiff_t>(column));
    }
    sample->points = std::move(rest);
  }
  data.y.column_names.erase(data.y.column_names.begin() + static_cast<std::ptrdiff_t>(column));
  data.x.column_names.erase(data.x.column_names.begin() + static_cast<std::ptrdiff_t>(column));
  return groups;
}

Design to_design(const std::string& text, SamplePair& data) {
  if (text == "independent") return Design::independent();
  if (text == "paired") return Design::paired();
  const auto colon = text.find(':');
  const std::string kind = text.substr(0, colon);
  if (colon == std::string::npos || (kind != "blocks" && kind != "clusters")) {
    refuse("--design", text, "independent, paired, blocks:COLUMN or clusters:COLUMN");
  }
  auto groups = take_group_column(data, text.substr(colon + 1));
  return kind == "blocks" ? Design::blocks(std::move(groups)) : Design::clusters(std::move(groups));
}

}  // namespace

void add_comparison_flags(CLI::App& command, Flags& flags) {
  command.add_option("X", flags.x, "first sample: .csv, .tsv or .npy, one row per point")->required();
  command.add_option("Y", flags.y, "second sample")->required();
  command.add_option("--method", flags.method, "id of a method; `kqd methods` lists them")->capture_default_str();
  command
      .add_option("--kernel", flags.kernel,
                  "gaussian, laplace, matern12, matern32, matern52, rq[:alpha], imq[:beta], linear[:offset], "
                  "polynomial[:degree[:offset]], normalised-polynomial[:degree[:offset]], energy[:beta]; "
                  "sums and products: gaussian@0.5+gaussian@2, gaussian*linear")
      ->capture_default_str();
  command.add_option("--bandwidth", flags.bandwidth, "median, or a number > 0")->capture_default_str();
  command.add_option("--directions", flags.directions, "gaussian, linear or axis")->capture_default_str();
  command.add_option("--num-directions", flags.num_directions, "number l of directions")->capture_default_str();
  command.add_option("--num-reference", flags.num_reference, "number m of reference points (default: min(64, N/8))");
  command
      .add_option("--reference", flags.reference,
                  "where reference points come from: gaussian, uniform, pooled, balanced, or a file of points")
      ->capture_default_str();
  command.add_option("--power", flags.power, "order p >= 1 of the gap between quantiles, or inf")
      ->capture_default_str();
  command
      .add_option("--weighting", flags.weighting,
                  "weight of quantile levels: uniform, triangle[:ratio], reverse-triangle[:ratio], slope-up[:ratio], "
                  "slope-down[:ratio], interval:low:high, beta:a:b, atom:level")
      ->capture_default_str();
  command.add_option("--weights", flags.weights_column, "column that holds the weights of the rows");
  command.add_option("--compat", flags.compat,
                     "what the paper's code does differently, by name: extra-direction, point-levels, jitter, "
                     "unnormalised, median-diagonal, zero-centred");
  command.add_option("--seed", flags.seed, "every random draw follows from it")->capture_default_str();
  command.add_option("--threads", flags.threads, "0 asks the system; changes the speed, not the result")
      ->capture_default_str();
  command.add_flag("--yes-quadratic", flags.yes_quadratic, "run a method of quadratic cost however long it takes");
  command.add_flag("--json", flags.json, "print one JSON object");
  command.add_flag("--quiet", flags.quiet, "print the number alone, and no notes");
}

void add_test_flags(CLI::App& command, Flags& flags) {
  command.add_option("--permutations", flags.permutations, "number B of random labellings")->capture_default_str();
  command.add_option("--alpha", flags.alpha, "level of the decision")->capture_default_str();
  command
      .add_option("--design", flags.design,
                  "independent, paired (row i of X with row i of Y), blocks:COLUMN (permute within), clusters:COLUMN "
                  "(permute whole)")
      ->capture_default_str();
  command.add_option("--calibration", flags.calibration, "permutation, or sign-flip (swaps of x_i and y_i; nx = ny)")
      ->capture_default_str();
  command
      .add_option(
          "--early-stop", flags.early_stop,
          "stop drawing when the decision is clear: none, besag-clifford or betting (the default of a bare flag)")
      ->expected(0, 1)
      ->default_str("betting")
      ->capture_default_str();
  command.add_option("--set-aside", flags.set_aside, "yes or no: pooled reference points leave the samples")
      ->capture_default_str();
  command.add_flag("--randomise-ties", flags.randomise_ties, "share ties out at random: p is exactly uniform under H0");
  command.add_flag("--effect-interval", flags.effect_interval,
                   "add an interval for the effect size (200 half-samples)");
  command.add_flag("--null-distribution", flags.null_distribution, "with --json: the value of every labelling");
  command.add_flag("--exit-code", flags.exit_code, "exit with 1 when a difference is found");
}

void add_sample_flags(CLI::App& command, SampleFlags& flags) {
  command.add_option("NAME", flags.name, "the problem; `kqd sample list` lists them")->required();
  command.add_option("-n,--rows", flags.n, "rows of X")->capture_default_str();
  command.add_option("-m,--rows-y", flags.m, "rows of Y (default: as many as X)");
  command.add_option("-d,--dim", flags.dim, "columns; 0: the problem's default")->capture_default_str();
  command.add_option("--set", flags.settings, "a parameter of the problem: name=value; may be repeated");
  command.add_option("--seed", flags.seed, "every random draw follows from it")->capture_default_str();
  command.add_option("-o,--output", flags.outputs, "the two files to write: .csv, .tsv or .npy")->expected(2);
}

TwoSampleOptions to_test_options(const Flags& flags, SamplePair& data) {
  TwoSampleOptions options;
  options.method = flags.method;
  options.statistic = to_options(flags);
  options.test.num_permutations =
      static_cast<std::int64_t>(whole_number("--permutations", flags.permutations, 1, 1'000'000'000));
  options.test.alpha = number("--alpha", flags.alpha, "a number between 0 and 1");
  if (!(options.test.alpha > 0.0 && options.test.alpha < 1.0))
    refuse("--alpha", flags.alpha, "a number between 0 and 1");
  options.test.early_stop = parse_early_stop(flags.early_stop.empty() ? "betting" : flags.early_stop);
  options.test.randomised_ties = flags.randomise_ties;
  options.test.keep_null_distribution = flags.null_distribution;
  options.calibration = parse_calibration(flags.calibration);
  if (flags.set_aside != "yes" && flags.set_aside != "no") refuse("--set-aside", flags.set_aside, "yes or no");
  options.set_aside = flags.set_aside == "yes";
  options.effect_interval = flags.effect_interval;
  options.test.design = to_design(flags.design, data);
  return options;
}

ProblemRequest to_request(const SampleFlags& flags) {
  constexpr std::uint64_t kMostRows = 1'000'000'000;
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
  }
  options.directions.family = parse_direction_family(flags.directions);
  options.directions.num_directions = whole_number("--num-directions", flags.num_directions, 1, kLargestCount);
  if (!flags.num_reference.empty()) {
    options.directions.num_reference = whole_number("--num-reference", flags.num_reference, 1, kLargestCount);
  }
  set_reference(options.directions, flags.reference);
  options.power = power(flags.power);
  options.weighting = parse_level_weights(flags.weighting);
  options.seed.value = seed_of(flags.seed);
  options.threads.value = static_cast<unsigned>(whole_number("--threads", flags.threads, 0, 1024));
  options.allow_quadratic = flags.yes_quadratic;
  if (!flags.compat.empty()) apply_compat(flags.compat, options);
  return options;
}

}  // namespace kqd::app
