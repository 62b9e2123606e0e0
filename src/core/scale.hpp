#pragma once
#include <span>
#include <vector>

namespace kqd {

/// The interquartile range of N(0, 1), as the paper rounds it.
constexpr double kNormalIqr = 1.349;

/// The value at a fraction of the order statistics, by linear interpolation between neighbours. `values`, at least one,
/// are put in another order.
[[nodiscard]] double percentile(std::vector<double>& values, double fraction);

/// The same of values in ascending order, which stay as they are.
[[nodiscard]] double sorted_percentile(std::span<const double> sorted, double fraction);

/// The middle value, or the mean of the two middle ones. `values`, at least one, are put in another order.
[[nodiscard]] double median(std::vector<double>& values);

/// With n - 1 below the fraction; 0 for a single value.
[[nodiscard]] double standard_deviation(const std::vector<double>& values);

/// The interquartile range, or a substitute when at least half of the values are equal: 1.349 * 1.4826 * MAD,
/// then 1.349 standard deviations; 0 when all are equal. `values` are put in another order.
[[nodiscard]] double robust_range(std::vector<double>& values, double median);

}  // namespace kqd
