#include "kqd/metrics/methods.hpp"

#include <algorithm>
#include <vector>

#include "core/executor.hpp"
#include "core/fail.hpp"
#include "core/finite.hpp"
#include "core/parameter_values.hpp"
#include "core/text.hpp"
#include "metrics/all_methods.hpp"
#include "metrics/data_warnings.hpp"
#include "metrics/object_options.hpp"
#include "profile/grouped_rows.hpp"

namespace kqd {
namespace {

std::vector<Method> make_table() {
#define KQD_CALL_METHOD(name) name##_method(),
  std::vector<Method> table = {KQD_FOR_EACH_METHOD(KQD_CALL_METHOD)};
#undef KQD_CALL_METHOD
  for (Method& method : table) {
    method.info.has_distance = method.distance != nullptr;
    method.info.asymptotic = method.asymptotic != nullptr;
  }
  return table;
}

const std::vector<Method>& table() {
  static const std::vector<Method> kTable = make_table();
  return kTable;
}

}  // namespace

std::span<const MethodInfo> methods() {
  static const std::vector<MethodInfo> kInfos = [] {
    std::vector<MethodInfo> infos;
    for (const Method& method : table()) infos.push_back(method.info);
    return infos;
  }();
  return kInfos;
}

const Method& method_with_id(std::string_view id) {
  const auto method = std::ranges::find(table(), id, [](const Method& m) { return m.info.id; });
  if (method != table().end()) return *method;
  std::vector<std::string_view> known;
  for (const Method& m : table()) known.push_back(m.info.id);
  fail_option("method", id, fmt::format("one of {}{}", join(known), suggestion(id, known)));
}

const MethodInfo& find_method(std::string_view id) {
  return methods()[static_cast<std::size_t>(&method_with_id(id) - table().data())];
}

void validate_parameters(const MethodInfo& method, const Parameters& parameters) {
  static_cast<void>(ParameterValues(method.id, method.parameters, parameters));
}

std::vector<std::string> methods_with_maximiser() {
  std::vector<std::string> ids;
  for (const MethodInfo& method : methods()) {
    if (method.supremum) ids.emplace_back(method.id);
  }
  return ids;
}

void require_distance(const MethodInfo& method) {
  if (method.has_distance) return;
  fail_option("method", method.id, "a method with a distance; this one is only a test",
              fmt::format("Use {} or another method", method.effect_method));
}

DistanceResult distance(const Method& method, const SampleView& x, const SampleView& y, const MethodOptions& options,
                        const RunControl* control) {
  const StopScope stoppable(control);
  const ProgressScope progress(control, method.info.id);
  validate_parameters(method.info, options.parameters);
  if (method.distance == nullptr) require_distance(method.info);
  DistanceResult result = method.distance(x, y, adapted_to_objects(method.info, options));
  warn_about_scales(x, y, result.warnings);
  require_finite_statistic(result.statistic);
  return result;
}

DistanceResult distance(std::string_view id, const SampleView& x, const SampleView& y, const MethodOptions& options,
                        const RunControl* control) {
  return distance(method_with_id(id), x, y, options, control);
}

std::shared_ptr<const GroupedRows> group_rows(const TestPool& pool, std::span<const std::size_t> rows) {
  return std::make_shared<const GroupedRows>(pool.rows(), rows, pool.permutation_seed);
}

PreparedPlan plan_on_all_rows(const TestPool& pool, const MethodOptions& options) {
  PreparedPlan prepared;
  prepared.frozen = options;
  prepared.frozen.kernel = resolve_kernel(options, pool.rows(), prepared.warnings);
  prepared.rows = pool.order;
  return prepared;
}

}  // namespace kqd
