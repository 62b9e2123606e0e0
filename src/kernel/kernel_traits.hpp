#pragma once
#include <cstddef>
#include <optional>
#include <string_view>

#include "kqd/kernel/kernel.hpp"

namespace kqd {

/// The advice of errors about a kernel value or a distance beyond the largest double.
inline constexpr std::string_view kOverflowAdvice = "rescale the columns or take a bounded kernel";

[[nodiscard]] constexpr bool is_composite(KernelFamily family) {
  return family == KernelFamily::sum || family == KernelFamily::product;
}

/// Families of a distance divided by a scale; they are the shift-invariant ones.
[[nodiscard]] bool has_bandwidth(KernelFamily family);

/// The least bandwidth, and 1 over the largest: beyond them the bandwidth or its square leaves the range of numbers,
/// and kernel values would be NaN. 0 for families without a bandwidth.
[[nodiscard]] double smallest_bandwidth(KernelFamily family);

/// True for kernels of a point of origin, KernelSpec::origin.
[[nodiscard]] bool has_origin(KernelFamily family);

/// True for kernels that measure each column of a table in its own way, KernelSpec::column_scales.
[[nodiscard]] bool has_column_scales(KernelFamily family);

/// The largest degree of the monomials that are the features of a kernel; unset when there are infinitely many.
[[nodiscard]] std::optional<std::size_t> feature_degree(const KernelSpec& kernel);

/// visit(leaf) for a kernel, or for each kernel in a sum or product, depth first.
template <class Spec, class Visit>
void for_each_leaf(Spec& spec, const Visit& visit) {
  if (!is_composite(spec.family)) return visit(spec);
  for (auto& part : spec.parts) for_each_leaf(part, visit);
}

/// True when two specifications mean the same kernel, and so the same space.
[[nodiscard]] bool same_kernel(const KernelSpec& a, const KernelSpec& b);

}  // namespace kqd
