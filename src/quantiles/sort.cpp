#include "quantiles/sort.hpp"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <limits>
#include <vector>

#include "core/fail.hpp"

namespace kqd {
namespace {

// Maps a float to an unsigned number in the same order; -0 and +0 become the same number.
std::uint32_t ordered_bits(float value) {
  const auto bits = std::bit_cast<std::uint32_t>(value + 0.0F);
  return (bits >> 31U) != 0 ? ~bits : bits | 0x80000000U;
}

constexpr double kLargestKey = std::numeric_limits<float>::max();

}  // namespace

void argsort(std::span<const double> values, std::span<std::uint32_t> order) {
  const std::size_t n = values.size();
  if (n > std::numeric_limits<std::uint32_t>::max()) {
    fail(ErrorCode::resource_limit, "{} rows are more than the 4294967295 that one sort can index", n);
  }
  std::vector<std::uint64_t> keys(n);
  for (std::size_t i = 0; i < n; ++i) {
    // Clamping and rounding to float keep the order weakly: values that they make equal are ordered below.
    const auto key = static_cast<float>(std::clamp(values[i], -kLargestKey, kLargestKey));
    keys[i] = (static_cast<std::uint64_t>(ordered_bits(key)) << 32U) | i;
  }
  sort_ascending(keys);
  for (std::size_t k = 0; k < n; ++k) order[k] = static_cast<std::uint32_t>(keys[k]);
  const auto before = [&](std::uint32_t a, std::uint32_t b) {
    return values[a] < values[b] || (values[a] == values[b] && a < b);
  };
  for (std::size_t begin = 0; begin < n;) {
    std::size_t end = begin + 1;
    while (end < n && (keys[end] >> 32U) == (keys[begin] >> 32U)) ++end;
    const auto run = order.subspan(begin, end - begin);
    if (!std::ranges::is_sorted(run, before)) std::ranges::sort(run, before);
    begin = end;
  }
}

}  // namespace kqd
