#include <array>

#include "core/fail.hpp"
#include "core/text.hpp"
#include "kqd/metrics/discrepancy.hpp"

namespace kqd {
namespace {

// The numbers are those of the errata in docs/reproduction.md.
constexpr std::array<CompatFlag, 6> kFlags = {{
    {"extra-direction", "draw l + 1 directions when l are asked for (erratum 23)",
     [](MethodOptions& options) {
       options.directions.num_directions = options.directions.num_directions.value_or(kFewestDirections) + 1;
     },
     [](const MethodOptions&) { return false; }},
    {"point-levels", "weigh level j by the density of nu at (j-1)/(n-1) instead of its exact mass; needs nx = ny (29)",
     [](MethodOptions& options) { options.point_evaluated_levels = true; },
     [](const MethodOptions& options) { return options.point_evaluated_levels; }},
    {"jitter", "add 1e-6 to the squared norm of a direction (28)",
     [](MethodOptions& options) { options.directions.jitter = 1e-6; },
     [](const MethodOptions& options) { return options.directions.jitter > 0.0; }},
    {"unnormalised", "use f instead of f / ||f||, as one version of the code does (22)",
     [](MethodOptions& options) { options.directions.normalise = false; },
     [](const MethodOptions& options) { return !options.directions.normalise; }},
    {"median-diagonal", "take the median distance over all ordered pairs, a point with itself included (7)",
     [](MethodOptions& options) { options.bandwidth_rule = BandwidthRule::median_with_diagonal; },
     [](const MethodOptions& options) { return options.bandwidth_rule == BandwidthRule::median_with_diagonal; }},
    {"zero-centred", "centre Gaussian and uniform reference measures at 0 and not at the pooled median (14)",
     [](MethodOptions& options) { options.directions.zero_centred = true; },
     [](const MethodOptions& options) { return options.directions.zero_centred; }},
}};

}  // namespace

std::span<const CompatFlag> compat_flags() {
  return kFlags;
}

void apply_compat(std::string_view list, MethodOptions& options) {
  for (const std::string_view item : split(list, ',')) {
    const std::string_view name = trim(item);
    const auto* const flag = std::ranges::find(kFlags, name, &CompatFlag::name);
    if (flag == kFlags.end()) {
      std::array<std::string_view, kFlags.size()> known;
      std::ranges::transform(kFlags, known.begin(), &CompatFlag::name);
      fail_option("compat", name, fmt::format("one of {}{}", join(known), suggestion(name, known)));
    }
    flag->apply(options);
  }
}

}  // namespace kqd
