#pragma once
#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <utility>
#include <vector>

#include "kqd/core/plan.hpp"

namespace kqd::test {

/// A plan that hands each permutation, as the values of its X rows and of its Y rows, to `statistic`.
template <class Statistic>
class ToyPlan final : public Plan {
 public:
  ToyPlan(std::vector<double> values, Statistic statistic) : values_(std::move(values)), statistic_(statistic) {}

  [[nodiscard]] std::size_t num_rows() const override { return values_.size(); }
  [[nodiscard]] std::size_t batches_per_call() const override { return batches_per_call_; }
  [[nodiscard]] double tie_slack(double) const override { return slack_; }
  void evaluate(std::span<const LabelBatch> batches, std::span<double> values, ThreadCount) const override {
    std::size_t k = 0;
    std::vector<double> x;
    std::vector<double> y;
    for (const LabelBatch& batch : batches) {
      for (unsigned b = 0; b < batch.count; ++b) {
        x.clear();
        y.clear();
        for (std::size_t row = 0; row < values_.size(); ++row) (batch.is_x(row, b) ? x : y).push_back(values_[row]);
        values[k++] = statistic_(x, y);
      }
    }
  }

  ToyPlan& with_slack(double slack) {
    slack_ = slack;
    return *this;
  }
  ToyPlan& with_batches_per_call(std::size_t number) {
    batches_per_call_ = number;
    return *this;
  }

 private:
  std::vector<double> values_;
  Statistic statistic_;
  double slack_ = 0.0;
  std::size_t batches_per_call_ = std::numeric_limits<std::size_t>::max();
};

inline double mean(const std::vector<double>& values) {
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

struct MeanOfX {
  double operator()(const std::vector<double>& x, const std::vector<double>&) const { return mean(x); }
};

struct MeanDifference {
  double operator()(const std::vector<double>& x, const std::vector<double>& y) const {
    return std::abs(mean(x) - mean(y));
  }
};

/// The integral of |F_x - F_y|, each permutation sorted again.
struct Wasserstein {
  double operator()(const std::vector<double>& x, const std::vector<double>& y) const {
    std::vector<double> pool = x;
    pool.insert(pool.end(), y.begin(), y.end());
    std::ranges::sort(pool);
    const auto share_not_above = [](const std::vector<double>& sample, double v) {
      return static_cast<double>(std::ranges::count_if(sample, [v](double s) { return s <= v; })) /
             static_cast<double>(sample.size());
    };
    double distance = 0.0;
    for (std::size_t i = 0; i + 1 < pool.size(); ++i) {
      distance += std::abs(share_not_above(x, pool[i]) - share_not_above(y, pool[i])) * (pool[i + 1] - pool[i]);
    }
    return distance;
  }
};

inline std::vector<std::size_t> rows_in_order(std::size_t count) {
  std::vector<std::size_t> rows(count);
  std::iota(rows.begin(), rows.end(), std::size_t{0});
  return rows;
}

}  // namespace kqd::test
