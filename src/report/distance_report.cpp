#include <fmt/format.h>

#include "kqd/metrics/methods.hpp"
#include "kqd/version.hpp"
#include "report/fields.hpp"

namespace kqd {

std::string distance_text(const KqdResult& result, const KqdOptions& options, const RunInfo& run) {
  const MethodInfo& method = find_method(run.method);
  std::string value = fmt::format("{:.6g}", result.statistic);
  if (result.standard_error) {
    value += fmt::format("  (Monte Carlo error over directions {:.2g})", *result.standard_error);
  }
  std::string text = fmt::format("\n{}: {}\n\n", method.id, method.summary);
  text += data_lines(run) + "\n" + line("distance", value);
  if (result.mmd_squared) text += line("MMD_V^2", fmt::format("{:.6g}", *result.mmd_squared));
  text += "\n" + setting_lines(result, options) + run_line(options, run);
  for (const std::string& warning : result.warnings) text += line("warning", warning);
  return text + "\n";
}

std::string distance_json(const KqdResult& result, const KqdOptions& options, const RunInfo& run) {
  Json json;
  json["schema"] = "kqd.distance/1";
  json["version"] = kVersion;
  json["method"] = run.method;
  json["statistic"] = result.statistic;
  json["statistic_power"] = result.statistic_power;
  json["standard_error"] = result.standard_error ? Json(*result.standard_error) : Json(nullptr);
  if (result.mmd_squared) json["mmd_squared"] = *result.mmd_squared;
  json["per_direction"] = result.per_direction;
  json["x"] = run.x_name;
  json["y"] = run.y_name;
  add_setting_fields(json, result, options, run);
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace kqd
