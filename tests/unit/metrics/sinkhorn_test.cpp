// The Sinkhorn divergence: check values, limits, and plain iterations in the log domain written out here.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "metrics/transport/entropic.hpp"
#include "support/errors.hpp"
#include "support/plans.hpp"
#include "support/source.hpp"
#include "support/warnings.hpp"

namespace kqd {
namespace {

using test::column;

MethodOptions settings(double power, double epsilon, double tolerance = 1e-13) {
  MethodOptions options;
  options.power = power;
  options.threads = ThreadCount{1};
  options.parameters = {{"epsilon", epsilon}, {"tolerance", tolerance}, {"iterations", 100000}};
  return options;
}

double divergence(const SampleView& x, const SampleView& y, double power, double epsilon) {
  return distance("sinkhorn", x, y, settings(power, epsilon)).statistic;
}

double detail(const DistanceResult& result, const std::string& name) {
  return find_detail(result.details, name).value_or(std::numeric_limits<double>::quiet_NaN());
}

constexpr double kDigits = 1e-10;  // the check values are given to ten decimals

TEST(Sinkhorn, has_the_check_values) {
  EXPECT_NEAR(divergence(column({0, 1}), column({2, 3}), 1.0, 0.1), 1.9306898218, kDigits);
  EXPECT_NEAR(divergence(column({0, 1}), column({2, 3}), 1.0, 1.0), 1.6201145070, kDigits);
  EXPECT_NEAR(divergence(column({0, 1}), column({2, 3}), 1.0, 10.0), 1.5124947951, kDigits);
  EXPECT_NEAR(divergence(column({0, 1}), column({0, 3}), 1.0, 1.0), 0.8676628320, kDigits);
  EXPECT_NEAR(divergence(column({0, 1}), column({0, 3}), 1.0, 10.0), 0.5497929220, kDigits);
  EXPECT_NEAR(divergence(column({0, 1}), column({0, 3}), 2.0, 1.0), 2.1081051933, kDigits);
  EXPECT_NEAR(divergence(column({0, 1}), column({0, 3}), 2.0, 10.0), 1.3842002293, kDigits);
}

// Above 1000 rows the default epsilon comes from some of them, the same whichever sample is called X.
TEST(Sinkhorn, does_not_change_when_large_samples_change_places) {
  test::Source source(3);
  const Sample x = test::normal_sample({600, 2}, source, 0.0);
  const Sample y = test::normal_sample({500, 2}, source, 1.0);
  MethodOptions options;
  options.parameters = {{"tolerance", 1e-2}};
  EXPECT_EQ(detail(distance("sinkhorn", x, y, options), "epsilon"),
            detail(distance("sinkhorn", y, x, options), "epsilon"));
}

// The entropy costs at most eps log of the number of pairs; the other way the limit is approached like 1 / eps.
TEST(Sinkhorn, goes_to_transport_and_to_an_energy_distance_in_the_limits) {
  EXPECT_NEAR(divergence(column({0, 1}), column({2, 3}), 1.0, 1e-4), 2.0, 2e-4);
  EXPECT_NEAR(divergence(column({0, 1}), column({2, 3}), 1.0, 1e5), 1.5, 1e-4);
  EXPECT_NEAR(divergence(column({0, 1}), column({0, 3}), 1.0, 0.01), 1.0, 0.03);
  EXPECT_NEAR(divergence(column({0, 1}), column({0, 3}), 1.0, 1e5), 0.5, 1e-4);
  EXPECT_NEAR(divergence(column({0, 1}), column({0, 3}), 2.0, 0.05), 2.0, 0.15);
  EXPECT_NEAR(divergence(column({0, 1}), column({0, 3}), 2.0, 1e6), 1.0, 1e-4);
}

TEST(Sinkhorn, of_single_points_is_their_cost_for_every_epsilon) {
  for (const double epsilon : {0.01, 1.0, 1e3}) {
    for (const double p : {1.0, 2.0, 3.0}) {
      EXPECT_NEAR(divergence(column({1}), column({4}), p, epsilon), std::pow(3.0, p), 1e-11) << epsilon << " " << p;
    }
  }
}

TEST(Sinkhorn, of_two_points_to_themselves_is_the_closed_form) {
  for (const double cost : {0.2, 1.0, 30.0}) {
    for (const double epsilon : {0.5, 1.0, 4.0}) {
      const Matrix<double> costs(2, 2, {0, cost, cost, 0});
      const std::vector<double> a = {0.5, 0.5};
      const EntropicRule rule{.epsilon = epsilon, .tolerance = 1e-13};
      const double expected = -epsilon * std::log((1.0 + std::exp(-cost / epsilon)) / 2.0);
      EXPECT_NEAR(solve_entropic_self(costs, a, rule).value, expected, 1e-12);
      EXPECT_NEAR(solve_entropic(costs, a, a, rule).value, expected, 1e-12);
    }
  }
  const Matrix<double> costs(2, 2, {0, 1, 1, 0});
  EXPECT_NEAR(solve_entropic_self(costs, std::vector<double>{0.5, 0.5}, {.epsilon = 1.0}).value, 0.3798854930, kDigits);
}

// OT_eps by plain iterations in the log domain, until the potentials stand still.
double plain_transport(MatrixView<const double> costs, const std::vector<double>& a, const std::vector<double>& b,
                       double epsilon) {
  std::vector<double> f(a.size(), 0.0);
  std::vector<double> g(b.size(), 0.0);
  const auto softmin = [&](const std::vector<double>& mass, const auto& gain) {
    double largest = -std::numeric_limits<double>::infinity();
    for (std::size_t k = 0; k < mass.size(); ++k) largest = std::max(largest, gain(k));
    double total = 0.0;
    for (std::size_t k = 0; k < mass.size(); ++k) total += mass[k] * std::exp((gain(k) - largest) / epsilon);
    return -(largest + epsilon * std::log(total));
  };
  for (int sweep = 0; sweep < 50000; ++sweep) {
    double change = 0.0;
    for (std::size_t i = 0; i < a.size(); ++i) {
      const double before = f[i];
      f[i] = softmin(b, [&](std::size_t j) { return g[j] - costs(i, j); });
      change = std::max(change, std::abs(f[i] - before));
    }
    for (std::size_t j = 0; j < b.size(); ++j) g[j] = softmin(a, [&](std::size_t i) { return f[i] - costs(i, j); });
    if (change < 1e-14 * std::max(1.0, epsilon)) break;
  }
  double value = 0.0;
  for (std::size_t i = 0; i < a.size(); ++i) value += a[i] * f[i];
  for (std::size_t j = 0; j < b.size(); ++j) value += b[j] * g[j];
  return value;
}

std::vector<double> masses(std::size_t n, RandomStream& stream) {
  std::vector<double> weights(n);
  for (double& w : weights) w = 0.1 + stream.uniform();
  double total = 0.0;
  for (const double w : weights) total += w;
  for (double& w : weights) w /= total;
  return weights;
}

// From epsilons at which the matrix hardly varies to ones at which most of it underflows and factors must be absorbed.
TEST(Sinkhorn, transport_equals_plain_iterations_in_the_log_domain) {
  RandomStream stream(Seed{11}, Purpose::test_data);
  for (const auto& [n, m] : {std::pair<std::size_t, std::size_t>{1, 1}, {1, 6}, {5, 1}, {5, 5}, {5, 8}}) {
    Matrix<double> costs(n, m);
    for (double& c : costs.values()) c = 3.0 * stream.uniform();
    const auto a = masses(n, stream);
    const auto b = masses(m, stream);
    for (const double epsilon : {100.0, 1.0, 0.1, 0.02, 0.01}) {
      const EntropicRule rule{.epsilon = epsilon, .tolerance = 1e-13, .max_sweeps = 200000};
      const auto found = solve_entropic(costs, a, b, rule);
      EXPECT_TRUE(found.converged) << n << " " << m << " " << epsilon;
      const double expected = plain_transport(costs, a, b, epsilon);
      EXPECT_NEAR(found.value, expected, 1e-9 * std::max(1.0, epsilon * 1e-3)) << n << " " << m << " " << epsilon;
      const std::vector<double> elsewhere_f(n, -20.0);
      std::vector<double> elsewhere_g(m, 0.0);
      elsewhere_g[0] = 25.0;  // far off: factors of exp(2500) on the way at the smallest epsilon
      const auto again = solve_entropic(costs, a, b, rule, elsewhere_f, elsewhere_g);
      EXPECT_NEAR(again.value, expected, 1e-9) << "from other potentials";
    }
  }
}

TEST(Sinkhorn, self_transport_equals_plain_iterations_in_the_log_domain) {
  RandomStream stream(Seed{12}, Purpose::test_data);
  for (const std::size_t n : {1U, 2U, 5U, 9U}) {
    std::vector<double> points(n);
    for (double& v : points) v = stream.normal();
    Matrix<double> costs(n, n);
    for (std::size_t i = 0; i < n; ++i) {
      for (std::size_t j = 0; j < n; ++j) costs(i, j) = std::abs(points[i] - points[j]);
    }
    const auto a = masses(n, stream);
    for (const double epsilon : {10.0, 1.0, 0.2, 0.05}) {
      const EntropicRule rule{.epsilon = epsilon, .tolerance = 1e-13, .max_sweeps = 200000};
      const auto found = solve_entropic_self(costs, a, rule);
      EXPECT_TRUE(found.converged);
      EXPECT_NEAR(found.value, plain_transport(costs, a, a, epsilon), 1e-9);
      const std::vector<double> elsewhere(n, 30.0);
      EXPECT_NEAR(solve_entropic_self(costs, a, rule, elsewhere).value, found.value, 1e-9);
    }
  }
}

TEST(Sinkhorn, is_zero_on_equal_samples_and_symmetric) {
  const Sample x = test::drawn_sample(40, 2, {"", 40, 40}, 1);
  const Sample y = test::drawn_sample(30, 2, {"", 30, 30, true, false}, 2);
  EXPECT_NEAR(divergence(x, x, 2.0, 0.1), 0.0, 1e-12);
  EXPECT_NEAR(divergence(x, y, 1.0, 0.1), divergence(y, x, 1.0, 0.1), 1e-12);
  EXPECT_GT(divergence(x, y, 1.0, 0.1), 0.0);
}

TEST(Sinkhorn, weights_are_repetitions_and_rows_of_weight_0_do_not_count) {
  Sample x = column({0, 1, 5});
  x.weights = {1, 2, 0};
  EXPECT_NEAR(divergence(x, column({0, 3}), 1.0, 0.5), divergence(column({0, 1, 1}), column({0, 3}), 1.0, 0.5), 1e-12);
}

TEST(Sinkhorn, reports_how_it_went) {
  const Sample x = test::drawn_sample(60, 2, {"", 60, 60}, 3);
  const Sample y = test::drawn_sample(50, 2, {"", 50, 50}, 4);
  MethodOptions options;
  options.power = 2.0;
  const DistanceResult found = distance("sinkhorn", x, y, options);
  EXPECT_EQ(detail(found, "converged"), 1.0);
  EXPECT_LT(detail(found, "marginal_error"), 1e-6);
  EXPECT_NEAR(detail(found, "root"), std::sqrt(found.statistic), 1e-15);
  EXPECT_TRUE(found.warnings.empty());
  std::vector<double> costs;
  const Pool pool{x.points, y.points};
  for (std::size_t i = 0; i < 110; ++i) {
    for (std::size_t j = i + 1; j < 110; ++j) {
      const auto a = pool.row(i);
      const auto b = pool.row(j);
      costs.push_back((a[0] - b[0]) * (a[0] - b[0]) + (a[1] - b[1]) * (a[1] - b[1]));
    }
  }
  std::ranges::sort(costs);
  const std::size_t half = costs.size() / 2;
  const double median = costs.size() % 2 == 1 ? costs[half] : 0.5 * (costs[half - 1] + costs[half]);
  EXPECT_NEAR(detail(found, "epsilon"), 0.05 * median, 1e-13);

  options.parameters["iterations"] = 1;
  const DistanceResult early = distance("sinkhorn", x, y, options);
  EXPECT_EQ(detail(early, "converged"), 0.0);
  EXPECT_EQ(detail(early, "sweeps"), 1.0);
  ASSERT_EQ(test::ids(early.warnings), std::vector{WarningId::sinkhorn_not_converged});
  EXPECT_EQ(early.warnings[0].values[0], WarningValue(1));
  // An unfinished dual is a lower bound of each transport cost.
  EXPECT_LT(detail(early, "transport_cost"), detail(found, "transport_cost") + 1e-12);
}

TEST(Sinkhorn, has_the_same_bits_for_any_number_of_threads) {
  const Sample x = test::drawn_sample(300, 2, {"", 300, 300}, 5);
  const Sample y = test::drawn_sample(270, 2, {"", 270, 270}, 6);
  MethodOptions options;
  options.threads = ThreadCount{1};
  const double one = distance("sinkhorn", x, y, options).statistic;
  for (const unsigned threads : {2U, 3U, 8U}) {
    options.threads = ThreadCount{threads};
    EXPECT_EQ(distance("sinkhorn", x, y, options).statistic, one);
  }
}

// Both roads stop within the tolerance of their marginals, 1e-12, from different starts.
// Each is within 1e-11 of the limit.
// Expensive, so one power for each case and dimension; the cases take turns.
TEST(Sinkhorn, plan_equals_recomputation) {
  double p = 1.0;
  for (const test::PlanCase& c : test::plan_cases()) {
    for (const std::size_t dim : {1U, 3U}) {
      test::expect_plan_equals_distance("sinkhorn", c, dim, settings(p, 0.0, 1e-12),
                                        {.of_scale = 2e-11, .slack_of_scale = 1e-5});
      p = 3.0 - p;
    }
    p = 3.0 - p;
  }
}

TEST(Sinkhorn, plan_does_not_mind_which_group_is_called_x) {
  const Sample x = test::drawn_sample(15, 2, {"", 15, 15}, 7);
  const Sample y = test::drawn_sample(15, 2, {"", 15, 15}, 8);
  const TestPool pool = make_test_pool(x, y, ThreadCount{1});
  const PreparedPlan prepared = method_with_id("sinkhorn").prepare(pool, {}, {});
  LabelBatch batch;
  batch.count = 2;
  batch.num_x[0] = batch.num_x[1] = 15;
  for (std::size_t i = 0; i < 30; ++i) batch.words.push_back(i % 2 == 0 ? 1U : 2U);
  std::vector<double> values(2);
  prepared.plan->evaluate({&batch, 1}, values, ThreadCount{1});
  EXPECT_EQ(values[0], values[1]);
}

TEST(Sinkhorn, plan_says_when_its_permutations_do_not_converge) {
  const Sample x = test::drawn_sample(15, 2, {"", 15, 15}, 7);
  const Sample y = test::drawn_sample(12, 2, {"", 12, 12}, 8);
  const TestPool pool = make_test_pool(x, y, ThreadCount{1});
  MethodOptions options;
  EXPECT_TRUE(method_with_id("sinkhorn").prepare(pool, options, {}).warnings.empty());
  options.parameters["iterations"] = 1;
  const PreparedPlan early = method_with_id("sinkhorn").prepare(pool, options, {});
  ASSERT_EQ(test::ids(early.warnings), std::vector{WarningId::sinkhorn_not_converged_in_test});
  EXPECT_EQ(early.warnings[0].values[0], WarningValue(1));
}

TEST(Sinkhorn, refuses_what_it_cannot_do) {
  const Sample x = column({0, 1});
  const Sample y = column({2, 3});
  EXPECT_THROW((void)distance("sinkhorn", x, y, settings(1.0, -1.0)), Error);
  EXPECT_THROW((void)distance("sinkhorn", x, y, settings(std::numeric_limits<double>::infinity(), 1.0)), Error);
  EXPECT_THROW((void)distance("sinkhorn", x, y, settings(0.5, 1.0)), Error);
  EXPECT_THROW((void)distance("sinkhorn", column({0}), column({1e200}), settings(2.0, 1.0)), Error);
  test::expect_error(
      ErrorCode::invalid_option,
      "sinkhorn epsilon = 1e-12, needs a finite number >= 3e-09 for costs up to 3; method wasserstein is "
      "the limit at 0",
      [&] { (void)divergence(x, y, 1.0, 1e-12); });
  const Sample large{Matrix<double>(20001, 1, 0.0), {}, {}};
  EXPECT_THROW((void)divergence(large, y, 1.0, 1.0), Error);
}

TEST(Sinkhorn, of_identical_points_is_zero) {
  const Sample x = column({2, 2, 2});
  MethodOptions options;
  EXPECT_EQ(distance("sinkhorn", x, x, options).statistic, 0.0);
}

}  // namespace
}  // namespace kqd
