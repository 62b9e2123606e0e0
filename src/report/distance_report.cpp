#include <fmt/format.h>

#include <array>
#include <string_view>

#include "kqd/metrics/methods.hpp"
#include "kqd/version.hpp"
#include "report/fields.hpp"
#include "report/json_csv.hpp"
#include "report/objects.hpp"

namespace kqd {
namespace {

Made made(const MethodInfo& method, const DistanceResult& result, const MethodOptions& options) {
  return {method, result.kernel, result.num_directions, result.num_reference, 0, options, result.details};
}

std::string title(const MethodInfo& method) {
  return fmt::format("{}: {}", method.id, method.summary);
}

Rows result_rows(const DistanceResult& result) {
  std::string value = fmt::format("{:.6g}", result.statistic);
  if (result.standard_error) {
    value += fmt::format("  (Monte Carlo error over directions {:.2g})", *result.standard_error);
  }
  return {{"distance", value}};
}

Rows closing_rows(const DistanceResult& result, const MethodOptions& options, const RunInfo& run) {
  return setting_rows(made(find_method(run.method), result, options)) +
         Rows{run_row(options.seed, options.threads, run.elapsed_s)} + warning_rows(result.warnings, run.option_names);
}

constexpr std::array<std::string_view, 28> kColumns = {
    "schema",         "version",        "method",        "x",         "y",     "statistic", "statistic_power",
    "standard_error", "mmd_squared",    "n_x",           "n_y",       "dim",   "kernel",    "bandwidth",
    "directions",     "num_directions", "num_reference", "reference", "power", "weighting", "parameters",
    "details",        "seed",           "threads",       "simd",      "bits",  "elapsed_s", "warnings"};

}  // namespace

Json distance_object(const DistanceResult& result, const MethodOptions& options, const RunInfo& run) {
  Json json;
  json["schema"] = "kqd.distance/1";
  json["version"] = kVersion;
  json["method"] = run.method;
  json["statistic"] = result.statistic;
  json["statistic_power"] = result.statistic_power;
  json["standard_error"] = result.standard_error ? Json(*result.standard_error) : Json(nullptr);
  if (const auto mmd_squared = find_detail(result.details, "mmd_squared")) json["mmd_squared"] = *mmd_squared;
  json["per_direction"] = result.per_direction;
  add_setting_fields(json, made(find_method(run.method), result, options), run, result.warnings);
  return json;
}

std::string distance_text(const DistanceResult& result, const MethodOptions& options, const RunInfo& run,
                          const TextStyle& style) {
  return title_text(title(find_method(run.method)), style) + text_of(data_rows(run), style) + "\n" +
         text_of(result_rows(result), style) + "\n" + text_of(closing_rows(result, options, run), style) + "\n";
}

std::string distance_markdown(const DistanceResult& result, const MethodOptions& options, const RunInfo& run) {
  return fmt::format("**{}**\n\n", title(find_method(run.method))) +
         markdown_of(data_rows(run) + result_rows(result) + closing_rows(result, options, run));
}

std::string distance_csv(const DistanceResult& result, const MethodOptions& options, const RunInfo& run) {
  return csv_of(distance_object(result, options, run), kColumns);
}

std::string distance_json(const DistanceResult& result, const MethodOptions& options, const RunInfo& run) {
  return dump(distance_object(result, options, run));
}

}  // namespace kqd
