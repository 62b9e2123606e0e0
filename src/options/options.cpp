#include "kqd/options/options.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <string_view>

#include "core/fail.hpp"
#include "core/text.hpp"
#include "core/warning.hpp"
#include "kqd/kernel/objects.hpp"
#include "kqd/metrics/methods.hpp"
#include "metrics/object_options.hpp"

namespace kqd {
namespace {

void apply_bandwidth(const Settings& settings, KernelSpec& kernel) {
  if (!settings.bandwidth) return;
  KernelSpec scaled = with_bandwidth(kernel, *settings.bandwidth);
  if (!first_bandwidth(scaled)) {
    fail_option("bandwidth", *settings.bandwidth,
                fmt::format("none, because kernel {} has no bandwidth", to_string(kernel)));
  }
  kernel = std::move(scaled);
}

// Objects have kernel values, and no columns. Their reference points are other objects.
void adapt_to_objects(Settings& settings) {
  const std::string kernel =
      settings.object_kernel.empty() ? to_string(settings.test.statistic.kernel) : settings.object_kernel;
  require_takes_objects(find_method(settings.test.method), kernel);
  if (settings.bandwidth) {
    fail_option("bandwidth", *settings.bandwidth, fmt::format("none, because kernel {} has no bandwidth", kernel));
  }
  adapt_to_objects(kernel, settings.test.statistic.directions);
}

// Texts, graphs and sets are not rows of numbers, and options for these would be ignored.
void require_reads_objects(const Settings& settings) {
  constexpr std::array<std::string_view, 7> kOfNumbers = {"weights_column", "max_rows", "standardize", "na",
                                                          "types",          "dates",    "image_shape"};
  const bool is_gram = settings.object_kernel == "precomputed";
  for (const OptionInfo* option : changed_options(settings)) {
    const bool of_numbers = std::ranges::find(kOfNumbers, option->id) != kOfNumbers.end();
    if (option->id != "groups" && (is_gram || !of_numbers)) continue;
    fail_option(option->id, option->get(settings),
                fmt::format("none, because kernel {} compares objects, not rows of columns", settings.object_kernel));
  }
}

void require_one_set_of_reference_points(const Settings& settings) {
  const DirectionOptions& directions = settings.test.statistic.directions;
  if (directions.reference != ReferenceMeasure::points || !directions.num_reference) return;
  fail_option("num_reference", *directions.num_reference, "none, because the given reference points are all used");
}

void set_parameters(Settings& settings) {
  const MethodInfo& method = find_method(settings.test.method);
  Parameters& parameters = settings.test.statistic.parameters;
  for (const std::string& setting : settings.parameters) {
    set_parameter(parameters, method.id, method.parameters, setting);
  }
  validate_parameters(method, parameters);
}

void split_na_values(Settings& settings) {
  const char separator = settings.read.csv.decimal_comma ? ';' : ',';
  for (const std::string& list : settings.na_values) {
    for (const std::string_view value : split(list, separator)) settings.read.na_values.emplace_back(value);
  }
}

// Options that reading, the test and the explanation have in common.
void share(Settings& settings) {
  const MethodOptions& statistic = settings.test.statistic;
  settings.read.seed = settings.explain.seed = statistic.seed;
  settings.read.threads = settings.explain.threads = statistic.threads;
  settings.read.max_memory = settings.explain.max_memory = statistic.max_memory;
  settings.explain.kernel = statistic.kernel;
  settings.explain.num_permutations = settings.test.test.num_permutations;
  settings.explain.alpha = settings.test.test.alpha;
  settings.explain.weights_as = settings.test.weights_as;
  settings.explain.own_scales = settings.read.standardize == Standardize::automatic;
  settings.test.own_scales = settings.read.standardize != Standardize::none;
}

}  // namespace

Settings default_settings(Command command) {
  Settings settings;
  settings.command = command;
  if (command == kDistanceCommand || command == kEmbedCommand) settings.test.method = "ekqd";
  // As many as adjusted p-values need.
  if (command == kExplainCommand || command == kMatrixCommand || command == kMonitorCommand) {
    settings.test.test.num_permutations = 0;
  }
  return settings;
}

void set_option(Settings& settings, const OptionInfo& option, std::string_view text) {
  if (text.empty()) fail_option(option.id, "", "a value, but the text is empty");
  option.set(settings, option, text);
}

void require_no_files(const Settings& settings) {
  if (!settings.reference_file.empty()) {
    fail_option("reference", settings.reference_file, accepted_values(*find_option("reference")));
  }
  if (!settings.coefficients_file.empty()) fail_option("coefficients", settings.coefficients_file, "a matrix");
  if (!settings.weighting_file.empty()) {
    static_cast<void>(parse_level_weights(settings.weighting_file));  // throws, because it is not a word
  }
}

void complete(Settings& settings) {
  MethodOptions& statistic = settings.test.statistic;
  const bool of_objects = !settings.object_kernel.empty() || is_of_objects(statistic.kernel);
  if (!of_objects) apply_bandwidth(settings, statistic.kernel);
  if (!settings.object_kernel.empty()) require_reads_objects(settings);
  require_one_set_of_reference_points(settings);
  if (!settings.compat.empty()) apply_compat(settings.compat, statistic);
  if (settings.test.method.empty()) {
    const bool distances_only = settings.command == kMatrixCommand && !settings.test_pairs;
    settings.test.method = distances_only ? "ekqd" : default_test_method(statistic);
  }
  if (of_objects) adapt_to_objects(settings);
  set_parameters(settings);
  split_na_values(settings);
  if (settings.read.csv.delimiter == ',' && settings.read.csv.decimal_comma) {
    fail_option("delimiter", "comma", "another one, with " KQD_OPTION("decimal_comma") " a comma is part of a number");
  }
  share(settings);
}

std::vector<const OptionInfo*> changed_options(const Settings& settings) {
  const Settings defaults = default_settings(settings.command);
  std::vector<const OptionInfo*> changed;
  for (const OptionInfo& option : options()) {
    if (option.get(settings) != option.get(defaults)) changed.push_back(&option);
  }
  return changed;
}

void require_for_profiles(const Settings& settings) {
  constexpr std::array<std::string_view, 15> kAfterCounting = {
      "method",          "power",      "weighting",       "num_permutations", "alpha",
      "permute",         "early_stop", "randomised_ties", "confidence",       "keep_null_distribution",
      "effect_interval", "test_pairs", "tolerance",       "equivalent",       "against"};
  for (const OptionInfo* option : changed_options(settings)) {
    if (option->section == "Run" || option->section == "Output" || option->section == "Monitor") continue;
    if (std::ranges::find(kAfterCounting, option->id) != kAfterCounting.end()) continue;
    fail_option(option->id, option->get(settings), "none for profiles, whose rows are counted already");
  }
}

Warnings no_effect_warnings(const Settings& settings, std::span<const OptionInfo* const> given, OptionNames names) {
  std::vector<std::pair<std::string, std::vector<std::string>>> reasons;  // in the order in which they are found
  for (const OptionInfo* option : given) {
    const std::string reason = option->no_effect == nullptr ? "" : option->no_effect(settings);
    if (reason.empty()) continue;
    auto found = std::ranges::find(reasons, reason, [](const auto& entry) { return entry.first; });
    if (found == reasons.end()) found = reasons.insert(found, {reason, {}});
    found->second.push_back(names(option->id, ""));
  }
  Warnings warnings;
  for (const auto& [reason, options] : reasons) {
    warn(warnings, WarningId::options_without_effect, fmt::format("{}", fmt::join(options, ", ")),
         render(reason, names));
  }
  return warnings;
}

}  // namespace kqd
