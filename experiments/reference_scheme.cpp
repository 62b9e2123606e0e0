#include "experiments/reference_scheme.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "core/executor.hpp"
#include "core/random.hpp"
#include "experiments/study.hpp"
#include "kqd/testing/pvalue.hpp"
#include "quantiles/sort.hpp"

namespace kqd::lab {
namespace {

using Kind = OrderedStatistic::Kind;

constexpr double kJitter = 1e-6;  // erratum 28

bool is_gap(const OrderedStatistic& statistic) {
  return statistic.kind == Kind::mean_gap || statistic.kind == Kind::largest_gap;
}

// Ascending values of both halves along one direction, and the gap between their means.
struct Halves {
  std::vector<double> x;
  std::vector<double> y;
  double mean_gap = 0.0;
};

void sort_halves(std::span<const double> values, const Order& order, Halves& halves) {
  const std::size_t n = order.size() / 2;
  halves.x.resize(n);
  halves.y.resize(n);
  halves.mean_gap = 0.0;
  for (std::size_t i = 0; i < n; ++i) {
    halves.x[i] = values[order[i]];
    halves.y[i] = values[order[n + i]];
    halves.mean_gap += halves.x[i] - halves.y[i];
  }
  halves.mean_gap /= static_cast<double>(n);
  sort_ascending(std::span(halves.x));
  sort_ascending(std::span(halves.y));
}

// sum_j w_j |gap_j|^p; a centered gap has the square gap^2 - <u, mu_P - mu_Q>^2 + MMD^2.
double tau(const Halves& halves, const OrderedStatistic& statistic, std::span<const double> masses, double mmd_v) {
  const auto weighted_sum = [&](auto function) {
    double sum = 0.0;
    for (std::size_t j = 0; j < masses.size(); ++j) sum += masses[j] * function(halves.x[j] - halves.y[j]);
    return sum;
  };
  const bool first_power = statistic.power == 1.0;
  if (!statistic.centered) {
    return first_power ? weighted_sum([](double gap) { return std::abs(gap); })
                       : weighted_sum([](double gap) { return gap * gap; });
  }
  const double shift = mmd_v - halves.mean_gap * halves.mean_gap;
  const auto squared = [shift](double gap) { return std::max(0.0, gap * gap + shift); };
  return first_power ? weighted_sum([&](double gap) { return std::sqrt(squared(gap)); }) : weighted_sum(squared);
}

// The data that the statistics of one test share over all orders.
class OrderedTest {
 public:
  OrderedTest(const PooledKernel& kernel, std::size_t n, const DirectionDraw& draw,
              std::span<const OrderedStatistic> statistics)
      : kernel_(kernel), n_(n), draw_(draw), statistics_(statistics) {
    for (const OrderedStatistic& statistic : statistics) {
      has_gaps_ = has_gaps_ || is_gap(statistic);
      needs_sums_ = needs_sums_ || statistic.centered || statistic.kind == Kind::mmd;
      masses_.push_back(is_gap(statistic) ? point_evaluated_masses(statistic.weighting, n) : std::vector<double>{});
      twins_.push_back(is_gap(statistic) ? first_with_gaps_of(statistic) : 0);
    }
  }

  // A row of values for each order.
  [[nodiscard]] Matrix<double> values(std::span<const Order> orders) const {
    Matrix<double> values(orders.size(), statistics_.size(), 0.0);
    const std::vector<HalfSums> sums =
        needs_sums_ ? kernel_.half_sums(orders) : std::vector<HalfSums>(orders.size(), HalfSums{});
    Matrix<double> projections(draw_.coefficients.cols(), 2 * n_);
    Halves halves;
    for (std::size_t b = 0; b < orders.size(); ++b) {
      stop_point();
      add_means(orders[b], sums[b], values.row(b));
      if (has_gaps_) add_gaps(orders[b], mmd_v_squared(sums[b], n_), projections, halves, values.row(b));
    }
    return values;
  }

 private:
  void add_means(const Order& order, const HalfSums& sums, std::span<double> values) const {
    for (std::size_t s = 0; s < statistics_.size(); ++s) {
      const Kind kind = statistics_[s].kind;
      if (kind == Kind::mmd) values[s] = mmd_unbiased(sums, n_);
      if (kind == Kind::mmd_multi) values[s] = kernel_.near_pairs(order, floor_log(n_) * floor_log(n_));
      if (kind == Kind::mmd_lin) values[s] = kernel_.split_pairs(order);
    }
  }

  void add_gaps(const Order& order, double mmd_v, Matrix<double>& projections, Halves& halves,
                std::span<double> values) const {
    std::vector<std::size_t> reference;
    for (const std::size_t index : draw_.indices) reference.push_back(order[index]);
    kernel_.project(reference, draw_.coefficients, kJitter, projections);
    std::vector<double> taus(statistics_.size());
    for (std::size_t i = 0; i < projections.rows(); ++i) {
      sort_halves(projections.row(i), order, halves);
      add_direction(halves, mmd_v, taus, values);
    }
  }

  // e-KQD and sup-KQD of the same gaps share one pass over the values.
  void add_direction(const Halves& halves, double mmd_v, std::span<double> taus, std::span<double> values) const {
    for (std::size_t s = 0; s < statistics_.size(); ++s) {
      if (!is_gap(statistics_[s])) continue;
      taus[s] = twins_[s] < s ? taus[twins_[s]] : tau(halves, statistics_[s], masses_[s], mmd_v);
      values[s] = statistics_[s].kind == Kind::mean_gap ? values[s] + taus[s] : std::max(values[s], taus[s]);
    }
  }

  [[nodiscard]] std::size_t first_with_gaps_of(const OrderedStatistic& wanted) const {
    const auto found = std::ranges::find_if(statistics_, [&](const OrderedStatistic& other) {
      return is_gap(other) && other.power == wanted.power && other.centered == wanted.centered &&
             to_string(other.weighting) == to_string(wanted.weighting);
    });
    return static_cast<std::size_t>(found - statistics_.begin());
  }

  const PooledKernel& kernel_;
  std::size_t n_;
  const DirectionDraw& draw_;
  std::span<const OrderedStatistic> statistics_;
  std::vector<std::vector<double>> masses_;
  std::vector<std::size_t> twins_;  // the first statistic with the same gaps
  bool has_gaps_ = false;
  bool needs_sums_ = false;
};

Order observed_order(std::size_t n) {
  Order order(2 * n);
  std::iota(order.begin(), order.end(), 0U);
  return order;
}

// Fisher-Yates. Stream 0 of this purpose belongs to the library's own tests of the same seed.
Order random_order(std::size_t n, Seed seed, std::size_t number) {
  RandomStream stream(seed, Purpose::row_order, number);
  Order order = observed_order(n);
  for (std::size_t i = order.size() - 1; i > 0; --i) std::swap(order[i], order[stream.below(i + 1)]);
  return order;
}

}  // namespace

std::vector<double> ordered_values(const PooledKernel& kernel, const Order& order, const DirectionDraw& draw,
                                   std::span<const OrderedStatistic> statistics) {
  const Matrix<double> values = OrderedTest(kernel, order.size() / 2, draw, statistics).values({&order, 1});
  return {values.row(0).begin(), values.row(0).end()};
}

std::vector<bool> reference_tests(const PooledKernel& kernel, std::size_t n, const DirectionDraw& draw,
                                  std::span<const OrderedStatistic> statistics, std::size_t permutations, Seed seed) {
  std::vector<Order> orders = {observed_order(n)};
  for (std::size_t b = 1; b <= permutations; ++b) orders.push_back(random_order(n, seed, b));
  const Matrix<double> values = OrderedTest(kernel, n, draw, statistics).values(orders);
  std::vector<bool> rejections;
  for (std::size_t s = 0; s < statistics.size(); ++s) {
    Exceedances draws{.num_draws = permutations};
    for (std::size_t b = 1; b <= permutations; ++b) {
      if (values(b, s) >= values(0, s)) ++draws.num_exceed;
    }
    rejections.push_back(permutation_pvalue(draws) <= kLevel);
  }
  return rejections;
}

DirectionDraw fresh_draw(std::size_t n, Seed seed) {
  const std::size_t m = floor_log(n);
  DirectionDraw draw{Matrix<double>(m, m + 1), {}};
  RandomStream coefficients(seed, Purpose::coefficients);
  for (double& value : draw.coefficients.values()) value = coefficients.normal();
  RandomStream indices(seed, Purpose::reference_points);
  draw.indices = sample_without_replacement(2 * n, m, indices);
  return draw;
}

}  // namespace kqd::lab
