#pragma once
#include <functional>
#include <string>
#include <vector>

#include "core/statistic_bundle.hpp"
#include "kqd/metrics/discrepancy.hpp"
#include "metrics/quantile/kqd_plan.hpp"

namespace kqd {

/// How the gaps along many directions become one number.
enum class GapSummary { average, largest };

/// Gaps of quantiles along many directions, each measured by what chance would make of it, tau_1(u_i) over its average
/// under permutation: their average, their largest, or both. Directions on different scales then count alike, a narrow
/// one as much as a wide one.
///
/// Directions are projected, sorted and scanned a few at a time and forgotten, so that memory stays within a bound
/// however many there are.
class DirectionalBundle : public StatisticBundle {
 public:
  /// Projections of the pooled rows on directions first .. first + count - 1, one row each.
  using Project = std::function<Matrix<double>(std::size_t first, std::size_t count, ThreadCount threads)>;

  DirectionalBundle(std::string name, std::vector<GapSummary> summaries, std::size_t num_directions,
                    std::size_t num_rows, Project project, std::vector<double> weights, Clock clock,
                    std::size_t max_bytes);

  /// While it is scanned: values and a sorted copy in doubles, order in 32 bits.
  [[nodiscard]] static constexpr std::size_t bytes_per_direction(std::size_t num_rows) {
    return num_rows * (2 * sizeof(double) + sizeof(std::uint32_t));
  }

  [[nodiscard]] std::vector<std::string> names() const override;
  void evaluate(std::span<const LabelBatch> batches, MatrixView<double> values, ThreadCount threads) const override;
  [[nodiscard]] double tie_slack(std::size_t r, double value) const override;

 private:
  std::string name_;
  std::vector<GapSummary> summaries_;
  std::size_t num_directions_;
  std::size_t num_rows_;
  Project project_;
  std::vector<double> weights_;
  Clock clock_;
  std::size_t directions_at_a_time_;
};

}  // namespace kqd
