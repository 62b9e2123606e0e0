#include "kqd/metrics/methods.hpp"

#include <algorithm>
#include <vector>

#include "core/executor.hpp"
#include "core/fail.hpp"
#include "core/finite.hpp"
#include "core/parameter_values.hpp"
#include "core/text.hpp"
#include "metrics/adaptive/adaptive.hpp"
#include "metrics/adaptive/mmd_aggregates.hpp"
#include "metrics/covariance/kce.hpp"
#include "metrics/data_warnings.hpp"
#include "metrics/mean/incomplete_methods.hpp"
#include "metrics/mean/location_methods.hpp"
#include "metrics/mean/mmd_methods.hpp"
#include "metrics/mean/mmd_nystrom.hpp"
#include "metrics/mean/mmd_rff.hpp"
#include "metrics/mean/monk.hpp"
#include "metrics/median/kmedian.hpp"
#include "metrics/quantile/methods.hpp"
#include "metrics/quantile/supkqd_opt.hpp"
#include "metrics/transport/energy.hpp"
#include "metrics/transport/gsw_methods.hpp"
#include "metrics/transport/sinkhorn.hpp"
#include "metrics/transport/sliced_methods.hpp"
#include "metrics/transport/wasserstein.hpp"

namespace kqd {
namespace {

// In the order in which users see them, family by family. A new method is one line here.
const std::vector<MethodInfo>& table() {
  static const std::vector<MethodInfo> kTable = {
      // clang-format off
      ekqd_method(),
      ekqd_centered_method(),
      supkqd_method(),
      supkqd_centered_method(),
      supkqd_opt_method(),
      adaptive_method(),

      mmd_method(),
      mmd_v_method(),
      mmd_agg_method(),
      mmd_fuse_method(),
      mmd_lin_method(),
      mmd_multi_method(),
      mmd_block_method(),
      mmd_nystrom_method(),
      mmd_rff_method(),
      me_method(),
      scf_method(),
      monk_method(),

      wasserstein_method(),
      sw_method(),
      max_sw_method(),
      gsw_method(),
      max_gsw_method(),
      sinkhorn_method(),
      energy_method(),

      kce_method(),
      kmedian_method(),
      // clang-format on
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

DistanceResult distance(std::string_view id, const SampleView& x, const SampleView& y, const MethodOptions& options,
                        const RunControl* control) {
  const StopScope stoppable(control);
  const ProgressScope progress(control, id);
  const MethodInfo& method = find_method(id);
  validate_parameters(method, options.parameters);
  if (method.distance == nullptr) {
    fail(ErrorCode::invalid_option, "{} is a test and has no distance of its own; use ekqd or another method", id);
  }
  DistanceResult result = method.distance(x, y, options);
  warn_about_scales({x.points, y.points}, result.warnings);
  require_finite_statistic(result.statistic);
  return result;
}

}  // namespace kqd
