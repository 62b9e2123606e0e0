#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <functional>
#include <string>
#include <string_view>
#include <utility>

#include "kqd/metrics/methods.hpp"
#include "kqd/version.hpp"
#include "report/fields.hpp"
#include "report/json_csv.hpp"
#include "report/objects.hpp"

namespace kqd {
namespace {

Made made(const MethodInfo& method, const TwoSampleResult& result, const TwoSampleOptions& options) {
  return {method,
          result.kernel,
          result.num_directions,
          result.num_reference,
          result.num_set_aside,
          options.statistic,
          result.details};
}

std::string design_phrase(const TwoSampleOptions& options) {
  if (options.calibration == Calibration::sign_flip) return "swaps of x_i and y_i";
  switch (options.test.design.kind) {
    case DesignKind::independent:
      return "permutations";
    case DesignKind::paired:
      return "swaps within pairs";
    case DesignKind::blocks:
      return "permutations within blocks";
    case DesignKind::clusters:
      return "permutations of whole clusters";
  }
  return "";
}

// "p-value 0.012 (95 % interval 0.007 to 0.02 for ...)": what the number is, and how sure it is.
std::string pvalue_phrase(const TestOutcome& test, double confidence) {
  std::string text = fmt::format("{:.4g}", test.pvalue);
  if (test.n_resamples == 0) return text + "  (from the limiting distribution, no permutation was drawn)";
  if (test.enumerated) return text + "  (exact: all permutations were evaluated)";
  return text + fmt::format("  ({:g} % interval {:.3g} to {:.3g}{})", 100.0 * confidence, test.pvalue_lower,
                            test.pvalue_upper, test.stopped_early ? ", anytime-valid" : "");
}

std::string count_phrase(const TestOutcome& test, const TwoSampleOptions& options) {
  const std::string what = design_phrase(options);
  if (test.enumerated)
    return fmt::format("all {} {}; {} as far apart or further", test.n_resamples, what, test.n_exceed);
  return fmt::format("{} random {}{}; {} as far apart or further", test.n_resamples, what,
                     test.stopped_early ? " (stopped early)" : "", test.n_exceed);
}

std::string decision_phrase(const TestOutcome& test, double alpha) {
  return test.reject ? fmt::format("different: p <= {:g}, equal distributions are rejected at this level", alpha)
                     : fmt::format("no difference found at level {:g}", alpha);
}

// Tests of many statistics have no units of their own and tell the effect size of another method.
std::string effect_phrase(const TwoSampleResult& result, const std::string& method, double confidence) {
  std::string text = fmt::format("{:.3g}", result.effect_size);
  if (result.effect_interval) {
    text += fmt::format("  ({:g} % interval {:.3g} to {:.3g})", 100.0 * confidence, result.effect_interval->lower,
                        result.effect_interval->upper);
  }
  const std::string_view whose = result.configurations.empty() ? "" : method == "adaptive" ? "of ekqd, " : "of mmd, ";
  return fmt::format("{}  {}beyond chance, in units of the pooled spread", text, whose);
}

// The configurations that stand out most, most telling first.
std::vector<Configuration> most_telling(std::vector<Configuration> configurations) {
  constexpr std::size_t kShown = 6;
  std::ranges::stable_sort(configurations, std::greater{}, &Configuration::score);
  configurations.resize(std::min(configurations.size(), kShown));
  return configurations;
}

constexpr std::string_view kWhere = "where it was looked for";

// A name that leaves no room for the numbers next to it stands on a line of its own.
std::string configuration_lines(const std::vector<Configuration>& all, const TextStyle& style) {
  if (all.empty()) return "";
  const std::string numbers = fmt::format("score  p-value  adjusted for all {}", all.size());
  const std::vector<Configuration> shown = most_telling(all);
  std::size_t width = kWhere.size();
  for (const Configuration& c : shown) width = std::max(width, c.name.size());
  if (style.width > 0) {
    const std::size_t room = style.width - std::min(style.width, numbers.size() + 4);
    width = std::min(width, std::max(kWhere.size(), room));
  }
  std::string text = fmt::format("\n  {:<{}}  {}\n", kWhere, width, numbers);
  for (const Configuration& c : shown) {
    const bool fits = c.name.size() <= width;
    if (!fits) text += fmt::format("  {}\n", c.name);
    text += fmt::format("  {:<{}}  {:5.1f}  {:<7.4g}  {:.4g}\n", fits ? c.name : "", width, c.score, c.pvalue,
                        c.adjusted_pvalue);
  }
  return text;
}

std::string configuration_table(const std::vector<Configuration>& all) {
  if (all.empty()) return "";
  std::vector<std::vector<std::string>> lines = {
      {std::string(kWhere), "score", "p-value", fmt::format("adjusted for all {}", all.size())}};
  for (const Configuration& c : most_telling(all)) {
    lines.push_back({c.name, fmt::format("{:.1f}", c.score), fmt::format("{:.4g}", c.pvalue),
                     fmt::format("{:.4g}", c.adjusted_pvalue)});
  }
  return "\n" + markdown_table(lines);
}

std::string title(const MethodInfo& method) {
  return fmt::format("Two-sample test by {}: {}", method.id, method.summary);
}

Rows result_rows(const TwoSampleResult& result, const TwoSampleOptions& options) {
  const TestOutcome& test = result.test;
  const bool asymptotic = options.calibration == Calibration::asymptotic;
  Rows rows = {{"statistic", asymptotic ? fmt::format("{:.6g}", test.statistic)
                                        : fmt::format("{:.6g}  (under chance {:.6g} +- {:.2g})", test.statistic,
                                                      test.permutation_mean, test.permutation_sd)},
               {"p-value", pvalue_phrase(test, options.test.confidence)}};
  if (!asymptotic) rows.push_back({"effect size", effect_phrase(result, options.method, options.test.confidence)});
  rows.push_back({"decision", decision_phrase(test, options.test.alpha), test.reject ? Tone::alert : Tone::plain});
  return rows;
}

Rows closing_rows(const TwoSampleResult& result, const TwoSampleOptions& options, const RunInfo& run) {
  const bool asymptotic = options.calibration == Calibration::asymptotic;
  Rows rows = setting_rows(made(find_method(run.method), result, options));
  rows.push_back({"calibration", asymptotic ? result.limiting_distribution : count_phrase(result.test, options)});
  rows.push_back(run_row(options.statistic.seed, options.statistic.threads, run.elapsed_s));
  return std::move(rows) + note_rows(result.notes, run.option_names) + warning_rows(result.warnings, run.option_names);
}

constexpr std::array<std::string_view, 37> kColumns = {"schema",
                                                       "version",
                                                       "method",
                                                       "x",
                                                       "y",
                                                       "statistic",
                                                       "pvalue",
                                                       "pvalue_ci",
                                                       "n_exceed",
                                                       "n_resamples",
                                                       "reject",
                                                       "alpha",
                                                       "enumerated",
                                                       "stopped_early",
                                                       "calibration",
                                                       "design",
                                                       "effect_size",
                                                       "effect_size_ci",
                                                       "n_x",
                                                       "n_y",
                                                       "dim",
                                                       "kernel",
                                                       "bandwidth",
                                                       "directions",
                                                       "num_directions",
                                                       "num_reference",
                                                       "n_set_aside",
                                                       "reference",
                                                       "power",
                                                       "weighting",
                                                       "parameters",
                                                       "seed",
                                                       "threads",
                                                       "simd",
                                                       "bits",
                                                       "elapsed_s",
                                                       "warnings"};

}  // namespace

Json test_object(const TwoSampleResult& result, const TwoSampleOptions& options, const RunInfo& run) {
  const TestOutcome& test = result.test;
  Json json;
  json["schema"] = "kqd.test/1";
  json["version"] = kVersion;
  json["method"] = run.method;
  json["statistic"] = test.statistic;
  json["pvalue"] = test.pvalue;
  json["n_exceed"] = test.n_exceed;
  json["n_resamples"] = test.n_resamples;
  json["pvalue_ci"] = {test.pvalue_lower, test.pvalue_upper};
  json["confidence"] = options.test.confidence;
  json["reject"] = test.reject;
  json["alpha"] = options.test.alpha;
  json["enumerated"] = test.enumerated;
  json["stopped_early"] = test.stopped_early;
  json["early_stop"] = to_string(options.test.early_stop);
  json["calibration"] = to_string(options.calibration);
  json["design"] = to_string(options.test.design.kind);
  json["num_permutations"] = result.limiting_distribution.empty() ? Json(options.test.num_permutations) : Json(nullptr);
  json["randomised_ties"] = options.test.randomised_ties;
  json["set_aside"] = options.set_aside;
  json["weights_as"] = to_string(options.weights_as);
  json["notes"] = warnings_json(result.notes, run.option_names);
  const bool permuted = result.limiting_distribution.empty();  // a limiting distribution knows nothing of permutations
  const auto if_permuted = [&](double value) { return permuted ? Json(value) : Json(nullptr); };
  json["permutation_mean"] = if_permuted(test.permutation_mean);
  json["permutation_sd"] = if_permuted(test.permutation_sd);
  if (!permuted) json["limiting_distribution"] = result.limiting_distribution;
  json["effect_size"] = if_permuted(result.effect_size);
  json["effect_size_ci"] =
      result.effect_interval ? Json{result.effect_interval->lower, result.effect_interval->upper} : Json(nullptr);
  json["per_direction"] = result.per_direction;
  if (options.test.keep_null_distribution) json["null_distribution"] = test.null_distribution;
  if (!result.configurations.empty()) {
    json["configurations"] = Json::array();
    for (const Configuration& c : result.configurations) {
      json["configurations"].push_back({{"name", c.name},
                                        {"statistic", c.statistic},
                                        {"score", c.score},
                                        {"pvalue", c.pvalue},
                                        {"adjusted_pvalue", c.adjusted_pvalue}});
    }
  }
  add_setting_fields(json, made(find_method(run.method), result, options), run, result.warnings);
  return json;
}

std::string test_text(const TwoSampleResult& result, const TwoSampleOptions& options, const RunInfo& run,
                      const TextStyle& style) {
  return title_text(title(find_method(run.method)), style) + text_of(data_rows(run), style) + "\n" +
         text_of(result_rows(result, options), style) + configuration_lines(result.configurations, style) + "\n" +
         text_of(closing_rows(result, options, run), style) + "\n";
}

std::string test_markdown(const TwoSampleResult& result, const TwoSampleOptions& options, const RunInfo& run) {
  return fmt::format("**{}**\n\n", title(find_method(run.method))) +
         markdown_of(data_rows(run) + result_rows(result, options) + closing_rows(result, options, run)) +
         configuration_table(result.configurations);
}

std::string test_csv(const TwoSampleResult& result, const TwoSampleOptions& options, const RunInfo& run) {
  return csv_of(test_object(result, options, run), kColumns);
}

std::string test_json(const TwoSampleResult& result, const TwoSampleOptions& options, const RunInfo& run) {
  return dump(test_object(result, options, run));
}

}  // namespace kqd
