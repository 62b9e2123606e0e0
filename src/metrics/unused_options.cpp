#include "kqd/metrics/unused_options.hpp"

#include <array>
#include <utility>

namespace kqd {

std::vector<std::string_view> unused_options(const MethodInfo& method, DirectionFamily family, bool own_points) {
  const MethodUses& uses = method.uses;
  // Linear and axis directions have neither kernel nor reference points; axes are as many as columns.
  const bool axis = uses.directions && family == DirectionFamily::axis;
  const bool plain = uses.directions && has_own_kernel(family);
  const bool principal = family == DirectionFamily::principal || family == DirectionFamily::mixed;
  const std::array<std::pair<std::string_view, bool>, 11> used = {{
      {"kernel", uses.kernel && !plain},
      {"bandwidth", uses.kernel && !plain},
      {"directions", uses.directions},
      {"num-directions", uses.num_directions && !axis},
      {"num-reference", uses.directions && !plain},
      {"reference", (uses.directions && !plain && family != DirectionFamily::principal) || (uses.points && own_points)},
      {"power", uses.power},
      {"weighting", uses.weighting},
      {"compat", uses.kernel || uses.num_directions || uses.weighting},
      {"whiten", uses.directions && principal},
      {"max-memory", uses.max_memory},
  }};
  std::vector<std::string_view> unused;
  for (const auto& [name, is_used] : used) {
    if (!is_used) unused.push_back(name);
  }
  return unused;
}

}  // namespace kqd
