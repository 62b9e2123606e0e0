#include "flags.hpp"

#include <fmt/format.h>

#include <charconv>
#include <cmath>
#include <limits>

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

// One bandwidth for every part of the kernel that leaves it open.
void set_bandwidth(KernelSpec& kernel, double bandwidth) {
  for (KernelSpec& part : kernel.parts) set_bandwidth(part, bandwidth);
  if (kernel.parts.empty() && !kernel.bandwidth) kernel.bandwidth = bandwidth;
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

KqdOptions to_options(const Flags& flags) {
  KqdOptions options;
  options.kernel = parse_kernel(flags.kernel);
  if (flags.bandwidth != "median") {
    const double bandwidth = number("--bandwidth", flags.bandwidth, "median, or a number > 0");
    if (!(bandwidth > 0.0) || std::isinf(bandwidth)) refuse("--bandwidth", flags.bandwidth, "median, or a number > 0");
    set_bandwidth(options.kernel, bandwidth);
  }
  options.directions.family = parse_direction_family(flags.directions);
  options.directions.num_directions = whole_number("--num-directions", flags.num_directions, 1, kLargestCount);
  if (!flags.num_reference.empty()) {
    options.directions.num_reference = whole_number("--num-reference", flags.num_reference, 1, kLargestCount);
  }
  set_reference(options.directions, flags.reference);
  options.power = power(flags.power);
  options.weighting = parse_level_weights(flags.weighting);
  options.seed.value = whole_number("--seed", flags.seed, 0, std::numeric_limits<std::uint64_t>::max());
  options.threads.value = static_cast<unsigned>(whole_number("--threads", flags.threads, 0, 1024));
  options.allow_quadratic = flags.yes_quadratic;
  if (!flags.compat.empty()) apply_compat(flags.compat, options);
  return options;
}

}  // namespace kqd::app
