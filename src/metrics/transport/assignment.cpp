#include "metrics/transport/assignment.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <utility>

#include "core/executor.hpp"
#include "core/fail.hpp"
#include "core/summation.hpp"
#include "simd/assignment_rows.hpp"

namespace kqd {
namespace {

constexpr std::size_t kNone = std::numeric_limits<std::size_t>::max();
constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr int kRowReductions = 2;       // passes of the augmenting row reduction, as in [JV87]
constexpr double kLargestSlack = 1e-9;  // of the largest cost

// The steps of [JV87]. Throughout, a row that has a column has the smallest reduced cost c_ij - v_j there, up to
// rounding: prices of columns are only lowered in ways that keep it so.
class Solver {
 public:
  explicit Solver(MatrixView<const double> costs)
      : costs_(costs), n_(costs.rows()), column_of_(n_, kNone), row_of_(n_, kNone), prices_(n_) {}

  Assignment solve() {
    reduce_columns();
    transfer_reduction();
    for (int pass = 0; pass < kRowReductions; ++pass) reduce_free_rows();
    closed_.resize(n_);
    distances_.resize(n_);
    reached_by_.resize(n_);
    for (const std::size_t row : free_rows_) augment_from(row);
    return result();
  }

 private:
  // v_j = min_i c_ij; a row that is the cheapest of some columns takes one of them.
  void reduce_columns() {
    std::vector<std::size_t> cheapest(n_, 0);
    std::ranges::copy(costs_.row(0), prices_.begin());
    for (std::size_t i = 1; i < n_; ++i) {
      stop_point();
      const auto row = costs_.row(i);
      for (std::size_t j = 0; j < n_; ++j) {
        if (row[j] < prices_[j]) {
          prices_[j] = row[j];
          cheapest[j] = i;
        }
      }
    }
    times_cheapest_.resize(n_);
    for (std::size_t j = n_; j-- > 0;) {
      if (++times_cheapest_[cheapest[j]] == 1) assign(cheapest[j], j);
    }
  }

  // The price of a row's only choice is lowered by the gap to its second best column.
  void transfer_reduction() {
    for (std::size_t i = 0; i < n_; ++i) {
      stop_point();
      if (times_cheapest_[i] == 0) {
        free_rows_.push_back(i);
      } else if (times_cheapest_[i] == 1 && n_ > 1) {
        const std::size_t own = column_of_[i];
        const auto best = simd::two_smallest(costs_.row(i), prices_);
        prices_[own] -= best.smallest_at == own ? best.second : best.smallest;
        if (!std::isfinite(prices_[own])) fail(ErrorCode::internal, "a price of the assignment is not finite");
      }
    }
  }

  // Augmenting row reduction: a free row takes its best column from the row that has it, and the
  // price of that column falls until the best and the second best cost the row the same. Rounding may cause steps
  // without progress, so their number is bounded.
  void reduce_free_rows() {
    std::vector<std::size_t> waiting = std::move(free_rows_);
    free_rows_.clear();
    std::size_t steps_left = 8 * n_ + waiting.size();
    std::ranges::reverse(waiting);
    while (!waiting.empty()) {
      stop_point();
      const std::size_t row = waiting.back();
      waiting.pop_back();
      if (steps_left == 0) {
        free_rows_.push_back(row);
        continue;
      }
      --steps_left;
      const auto best = simd::two_smallest(costs_.row(row), prices_);
      std::size_t column = best.smallest_at;
      const double lowered = prices_[column] - (best.second - best.smallest);
      const bool strictly_best = lowered < prices_[column] && std::isfinite(lowered);
      if (strictly_best) {
        prices_[column] = lowered;
      } else if (row_of_[column] != kNone) {
        column = best.second_at;  // as good, and maybe free
      }
      const std::size_t displaced = row_of_[column];
      assign(row, column);
      if (displaced == kNone) continue;
      column_of_[displaced] = kNone;
      if (strictly_best) {
        waiting.push_back(displaced);
      } else {
        free_rows_.push_back(displaced);
      }
    }
  }

  // Dijkstra's algorithm over columns, by reduced costs, from a free row to the nearest free column; then the prices of
  // the columns it went through follow, and the pairs along the path change places.
  void augment_from(std::size_t start) {
    std::ranges::fill(closed_, 0.0);
    std::ranges::fill(distances_, kInfinity);
    done_.clear();
    std::size_t row = start;
    double offset = 0.0;
    while (true) {
      stop_point();
      const auto nearest = simd::relax_columns(costs_.row(row), prices_, offset, static_cast<std::int64_t>(row),
                                               closed_, distances_, reached_by_);
      const std::size_t column = nearest.column;
      if (!(nearest.distance < kInfinity)) fail(ErrorCode::internal, "no augmenting path in an assignment problem");
      if (row_of_[column] == kNone) {
        for (const std::size_t j : done_) prices_[j] += distances_[j] - nearest.distance;
        flip_path(start, column);
        return;
      }
      closed_[column] = kInfinity;
      done_.push_back(column);
      row = row_of_[column];
      // From here on a path pays c_rj - v_j beyond what `row` pays for its own column.
      offset = nearest.distance - (costs_(row, column) - prices_[column]);
    }
  }

  void flip_path(std::size_t start, std::size_t column) {
    while (true) {
      const auto row = static_cast<std::size_t>(reached_by_[column]);
      const std::size_t next = column_of_[row];
      assign(row, column);
      if (row == start) return;
      column = next;
    }
  }

  void assign(std::size_t row, std::size_t column) {
    column_of_[row] = column;
    row_of_[column] = row;
  }

  Assignment result() {
    Assignment found;
    found.row_prices.resize(n_);
    CompensatedSum cost;
    CompensatedSum gap;
    for (std::size_t i = 0; i < n_; ++i) {
      stop_point();
      const double own_cost = costs_(i, column_of_[i]);
      // The largest price that violates no inequality of the row, so that the gap is a bound and not an identity.
      found.row_prices[i] = simd::two_smallest(costs_.row(i), prices_).smallest;
      const double slack = own_cost - prices_[column_of_[i]] - found.row_prices[i];
      found.largest_slack = std::max(found.largest_slack, slack);
      cost.add(own_cost);
      gap.add(slack);
    }
    if (found.largest_slack > 0.0) require_complementary_slackness(found.largest_slack);
    found.cost = cost.value();
    found.duality_gap = gap.value();
    found.column_of_row = std::move(column_of_);
    found.column_prices = std::move(prices_);
    return found;
  }

  void require_complementary_slackness(double largest_slack) const {
    double largest_cost = 0.0;
    for (std::size_t i = 0; i < n_; ++i) {
      for (const double cost : costs_.row(i)) largest_cost = std::max(largest_cost, std::abs(cost));
    }
    if (largest_slack <= kLargestSlack * largest_cost) return;
    fail(ErrorCode::internal, "an assignment violates complementary slackness by {:.3g}, largest cost {:.3g}",
         largest_slack, largest_cost);
  }

  MatrixView<const double> costs_;
  std::size_t n_;
  std::vector<std::size_t> column_of_;
  std::vector<std::size_t> row_of_;
  std::vector<double> prices_;  // v
  std::vector<std::uint32_t> times_cheapest_;
  std::vector<std::size_t> free_rows_;
  std::vector<double> closed_;
  std::vector<double> distances_;
  std::vector<std::int64_t> reached_by_;
  std::vector<std::size_t> done_;
};

}  // namespace

Assignment solve_assignment(MatrixView<const double> costs) {
  if (costs.rows() != costs.cols() || costs.rows() == 0) {
    fail(ErrorCode::shape_mismatch, "an assignment needs a square matrix of costs, got {} x {}", costs.rows(),
         costs.cols());
  }
  return Solver(costs).solve();
}

}  // namespace kqd
