#pragma once
#include <memory>
#include <string>
#include <vector>

#include "core/pool.hpp"
#include "core/statistic_bundle.hpp"
#include "kqd/metrics/discrepancy.hpp"
#include "metrics/quantile/kqd_plan.hpp"
#include "profile/function_set.hpp"
#include "profile/grouped_summary.hpp"

namespace kqd {

/// How the gaps along many directions become one number.
enum class GapSummary { average, largest };

/// The directions of a bundle: a name, their number, and functions of a row, of which they are the first.
struct BundleDirections {
  std::string name;
  std::size_t count = 0;
  SharedFunctions functions;
};

/// Memory that a bundle may take: to keep sorted projections from one call to the next, and while a call runs.
struct BundleMemory {
  std::size_t kept = 0;
  std::size_t at_work = 0;
};

/// Gaps of quantiles along many directions, each divided by its average under permutation, tau_1(u_i) / E tau_1(u_i):
/// their average, their largest, or both. So directions on different scales count alike, a narrow one as much as a wide
/// one.
///
/// Projections are sorted once, when all of them fit into the memory that may be kept. Otherwise each call projects,
/// sorts and scans a few directions at a time and drops them: a call serves 2048 permutations, so that a usual test
/// makes one, and memory stays within its bound however many directions there are. Same values both ways.
///
/// Rows in which a direction is not a number, because a value is missing, do not take part in its gap; these are
/// divided by the root of the share of the others more, as they vary more.
///
/// Of grouped rows, counts along a grid of each direction take the place of sorted projections.
class DirectionalBundle : public StatisticBundle {
 public:
  /// `rows` view samples that must outlive the bundle.
  DirectionalBundle(BundleDirections directions, std::vector<GapSummary> summaries, GapWeight gap_weight,
                    const Pool& rows, std::vector<double> row_weights, BundleMemory memory, ThreadCount threads);
  /// For permutations of groups of rows; `summary` collects the rows before the first evaluation.
  DirectionalBundle(BundleDirections directions, std::vector<GapSummary> summaries, GapWeight gap_weight,
                    GroupedSummary& summary, ThreadCount threads);
  /// The same from lines first_line, first_line + 1, ... of data; directions need no functions.
  DirectionalBundle(BundleDirections directions, std::vector<GapSummary> summaries, GapWeight gap_weight,
                    std::shared_ptr<const GroupedData> data, std::size_t first_line);

  [[nodiscard]] const BundleDirections& directions() const { return directions_; }
  [[nodiscard]] const std::vector<GapSummary>& summaries() const { return summaries_; }
  [[nodiscard]] GapWeight gap_weight() const { return gap_weight_; }

  /// While it is scanned: values and a sorted copy in doubles, order in 32 bits.
  [[nodiscard]] static constexpr std::size_t bytes_per_direction(std::size_t num_rows) {
    return num_rows * (2 * sizeof(double) + sizeof(std::uint32_t));
  }
  /// Bytes of sorted projections that it keeps.
  [[nodiscard]] std::size_t kept_bytes() const;

  [[nodiscard]] std::vector<std::string> names() const override;
  void evaluate(std::span<const LabelBatch> batches, MatrixView<double> values, ThreadCount threads) const override;
  [[nodiscard]] double tie_slack(std::size_t r, double value) const override;

 private:
  // Sorted directions that the same rows take part in.
  struct SortedPart {
    std::vector<std::size_t> positions;  // of the rows; empty: all
    std::unique_ptr<const KqdPlan> plan;
  };
  [[nodiscard]] std::vector<SortedPart> sorted(std::size_t first, std::size_t count, ThreadCount threads) const;
  // Adds directions with their gaps and expected gaps.
  void add_gaps(Matrix<double> taus, std::span<const double> expected, MatrixView<double> values) const;
  void add_sorted_gaps(const std::vector<SortedPart>& parts, std::span<const LabelBatch> batches,
                       MatrixView<double> values, ThreadCount threads) const;
  void add_grouped_gaps(std::span<const LabelBatch> batches, MatrixView<double> values, ThreadCount threads) const;

  BundleDirections directions_;
  std::vector<GapSummary> summaries_;
  GapWeight gap_weight_;
  Pool rows_;  // none of grouped rows
  std::vector<double> row_weights_;
  std::size_t directions_at_a_time_ = 0;
  std::vector<SortedPart> kept_;             // all directions; empty: they do not fit
  std::shared_ptr<const GroupedData> data_;  // of grouped rows
  std::size_t first_line_ = 0;               // of the data
};

}  // namespace kqd
