#include "kqd/metrics/methods.hpp"

#include <algorithm>
#include <vector>

#include "core/executor.hpp"
#include "core/fail.hpp"
#include "core/parameter_values.hpp"
#include "core/text.hpp"
#include "metrics/mean/mmd_methods.hpp"
#include "metrics/quantile/methods.hpp"
#include "metrics/quantile/supkqd_opt.hpp"
#include "metrics/transport/gsw_methods.hpp"
#include "metrics/transport/sliced_methods.hpp"

namespace kqd {
namespace {

// In the order in which users see them, family by family. A new method is one line here.
const std::vector<MethodInfo>& table() {
  static const std::vector<MethodInfo> kTable = {
      ekqd_method(), ekqd_centered_method(), supkqd_method(), supkqd_centered_method(), supkqd_opt_method(),

      mmd_method(),  mmd_v_method(),

      sw_method(),   max_sw_method(),        gsw_method(),    max_gsw_method(),
  };
  return kTable;
}

}  // namespace

std::span<const MethodInfo> methods() {
  return table();
}

const MethodInfo& find_method(std::string_view id) {
  const auto method = std::ranges::find(table(), id, &MethodInfo::id);
  if (method != table().end()) return *method;
  std::vector<std::string_view> known;
  for (const MethodInfo& m : table()) known.push_back(m.id);
  fail(ErrorCode::invalid_option, "method \"{}\" is unknown, expected one of {}{}", id, join(known),
       suggestion(id, known));
}

void validate_parameters(const MethodInfo& method, const Parameters& parameters) {
  static_cast<void>(ParameterValues(method.id, method.parameters, parameters));
}

KqdResult distance(std::string_view id, const SampleView& x, const SampleView& y, const KqdOptions& options,
                   const RunControl* control) {
  const StopScope stoppable(control);
  const MethodInfo& method = find_method(id);
  validate_parameters(method, options.parameters);
  return method.distance(x, y, options);
}

}  // namespace kqd
