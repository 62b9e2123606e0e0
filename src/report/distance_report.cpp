#include <fmt/format.h>

#include "kqd/metrics/methods.hpp"
#include "kqd/version.hpp"
#include "report/fields.hpp"

namespace kqd {
namespace {

Made made(const MethodInfo& method, const KqdResult& result, const KqdOptions& options) {
  return {method, result.kernel, result.num_directions, result.num_reference, 0, options, result.details};
}

}  // namespace

std::string distance_text(const KqdResult& result, const KqdOptions& options, const RunInfo& run) {
  const MethodInfo& method = find_method(run.method);
  std::string value = fmt::format("{:.6g}", result.statistic);
  if (result.standard_error) {
    value += fmt::format("  (Monte Carlo error over directions {:.2g})", *result.standard_error);
  }
  std::string text = fmt::format("\n{}: {}\n\n", method.id, method.summary);
  text += data_lines(run) + "\n" + line("distance", value);
  if (result.mmd_squared) text += line("MMD_V^2", fmt::format("{:.6g}", *result.mmd_squared));
  return text + "\n" + setting_lines(made(method, result, options)) + run_line(options, run) +
         warning_lines(result.warnings) + "\n";
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
  add_setting_fields(json, made(find_method(run.method), result, options), run, result.warnings);
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace kqd
