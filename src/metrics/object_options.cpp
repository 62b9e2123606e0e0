#include "metrics/object_options.hpp"

#include "core/fail.hpp"
#include "kqd/kernel/objects.hpp"

namespace kqd {
void require_takes_objects(const MethodInfo& method, std::string_view kernel) {
  if (method.uses.kernel) return;
  fail_option("method", method.id,
              fmt::format("adaptive, ekqd, mmd or another one that needs kernel values only, with kernel {}", kernel));
}

void adapt_to_objects(std::string_view kernel, DirectionOptions& directions) {
  if (has_own_kernel(directions.family)) {
    fail_option("directions", to_string(directions.family),
                fmt::format("gaussian, principal or mixed, because kernel {} has no columns", kernel));
  }
  if (directions.reference == ReferenceMeasure::uniform) {
    fail_option("reference", "uniform", fmt::format("pooled, because kernel {} is known only on the objects", kernel));
  }
  if (directions.reference == ReferenceMeasure::gaussian) directions.reference = ReferenceMeasure::pooled;
}

MethodOptions adapted_to_objects(const MethodInfo& method, const MethodOptions& options) {
  MethodOptions adapted = options;
  if (!is_of_objects(options.kernel)) return adapted;
  require_takes_objects(method, to_string(options.kernel));
  adapt_to_objects(to_string(options.kernel), adapted.directions);
  return adapted;
}

}  // namespace kqd
