// The linear-time, multi-diagonal and block MMD against sums over pairs written out.
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <string>
#include <vector>

#include "kernel/kernel_block.hpp"
#include "kqd/kqd.hpp"
#include "support/errors.hpp"
#include "support/plans.hpp"
#include "support/source.hpp"
#include "support/warnings.hpp"

namespace kqd {
namespace {

using test::column;
using test::expect_error;

double gaussian(std::span<const double> a, std::span<const double> b, double s) {
  double r2 = 0.0;
  for (std::size_t k = 0; k < a.size(); ++k) r2 += (a[k] - b[k]) * (a[k] - b[k]);
  return std::exp(-r2 / (2.0 * s * s));
}

double h(const Sample& x, const Sample& y, std::size_t i, std::size_t j, double s) {
  const auto& a = x.points;
  const auto& b = y.points;
  return gaussian(a.row(i), a.row(j), s) + gaussian(b.row(i), b.row(j), s) - gaussian(a.row(i), b.row(j), s) -
         gaussian(a.row(j), b.row(i), s);
}

// The mean of h over the pairs i < j < n that `meet` names.
double mean_h(const Sample& x, const Sample& y, std::size_t n, double s,
              const std::function<bool(std::size_t, std::size_t)>& meet) {
  double total = 0.0;
  double count = 0.0;
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t j = i + 1; j < n; ++j) {
      if (!meet(i, j)) continue;
      total += h(x, y, i, j, s);
      count += 1.0;
    }
  }
  return total / count;
}

MethodOptions with_gaussian(double s, Parameters parameters = {}) {
  MethodOptions options;
  options.kernel = parse_kernel("gaussian@" + std::to_string(s));
  options.parameters = std::move(parameters);
  return options;
}

// Sums of at most n^2 terms below 4 in another order, and exponentials good to a few roundings: 1e-12 is wide.
constexpr double kRounding = 1e-12;

TEST(IncompleteMmd, linear_time_form_is_the_mean_over_rows_1_and_2_3_and_4) {
  test::Source source(1);
  for (const std::size_t n : {2UL, 3UL, 10UL, 2051UL, 4101UL}) {
    const Sample x = test::normal_sample({n, 3}, source);
    const Sample y = test::normal_sample({n, 3}, source, 0.5);
    double total = 0.0;
    for (std::size_t i = 0; i + 1 < n; i += 2) total += h(x, y, i, i + 1, 1.5);
    const std::size_t half = n / 2;
    const DistanceResult found = distance("mmd-lin", x, y, with_gaussian(1.5));
    EXPECT_NEAR(found.statistic, total / static_cast<double>(half), kRounding) << n;
    EXPECT_EQ(found.details.back().name, "pairs");
    EXPECT_EQ(found.details.back().value, static_cast<double>(half));
  }
}

TEST(IncompleteMmd, multi_form_is_the_mean_over_the_subdiagonals) {
  test::Source source(2);
  for (const std::size_t n : {2UL, 7UL, 60UL, 300UL}) {
    for (const std::size_t r : {1UL, 2UL, 5UL, 40UL, 299UL, 1000UL}) {
      const Sample x = test::normal_sample({n, 2}, source);
      const Sample y = test::normal_sample({n, 2}, source);
      const double expected = mean_h(x, y, n, 1.0, [&](std::size_t i, std::size_t j) { return j - i <= r; });
      const DistanceResult found =
          distance("mmd-multi", x, y, with_gaussian(1, {{"subdiagonals", static_cast<double>(r)}}));
      EXPECT_NEAR(found.statistic, expected, kRounding) << n << " " << r;
      const double width = static_cast<double>(std::min(r, n - 1));
      EXPECT_EQ(found.details.front().value, width);
      EXPECT_EQ(found.details.back().value, width * (2.0 * static_cast<double>(n) - width - 1.0) / 2.0);
    }
  }
}

// Erratum 13: floor(log n)^2, not log^2 n.
TEST(IncompleteMmd, multi_form_takes_floor_of_log_n_squared_subdiagonals) {
  test::Source source(3);
  for (const auto& [n, r] : {std::pair{2UL, 1.0}, {8UL, 4.0}, {200UL, 25.0}, {2000UL, 49.0}}) {
    const Sample x = test::normal_sample({n, 1}, source);
    EXPECT_EQ(distance("mmd-multi", x, x, with_gaussian(1)).details.front().value, r) << n;
  }
}

TEST(IncompleteMmd, block_form_is_the_mean_of_unbiased_estimates_of_blocks) {
  test::Source source(4);
  for (const std::size_t n : {4UL, 11UL, 50UL, 700UL}) {
    for (const std::size_t given : {0UL, 2UL, 3UL, 10UL, 300UL, 5000UL}) {
      const std::size_t b =
          given == 0 ? static_cast<std::size_t>(std::sqrt(static_cast<double>(n))) : std::min(given, n);
      const Sample x = test::normal_sample({n, 2}, source);
      const Sample y = test::normal_sample({n, 2}, source, 1.0);
      const double expected =
          mean_h(x, y, n - n % b, 1.0, [&](std::size_t i, std::size_t j) { return i / b == j / b; });
      const DistanceResult found =
          distance("mmd-block", x, y, with_gaussian(1, {{"block", static_cast<double>(given)}}));
      EXPECT_NEAR(found.statistic, expected, kRounding) << n << " " << given;
      EXPECT_EQ(found.details.front().value, static_cast<double>(b));
    }
  }
}

// Methods C1: all subdiagonals, or one block of all rows, are the unbiased estimate without k(x_i, y_i).
TEST(IncompleteMmd, over_all_pairs_is_the_one_sample_u_statistic) {
  test::Source source(5);
  const Sample x = test::normal_sample({40, 2}, source);
  const Sample y = test::normal_sample({40, 2}, source, 1.0);
  const double full = distance("mmd", x, y, with_gaussian(1)).statistic;
  double pairs = 0.0;
  for (std::size_t i = 0; i < 40; ++i) pairs += gaussian(x.points.row(i), y.points.row(i), 1.0);
  // mmd averages k(x, y) over all 1600 pairs, the one-sample form over the 1560 of different rows.
  double cross = 0.0;
  for (std::size_t i = 0; i < 40; ++i) {
    for (std::size_t j = 0; j < 40; ++j) cross += gaussian(x.points.row(i), y.points.row(j), 1.0);
  }
  const double expected = full + 2.0 * cross / 1600.0 - 2.0 * (cross - pairs) / 1560.0;
  EXPECT_NEAR(distance("mmd-multi", x, y, with_gaussian(1, {{"subdiagonals", 39}})).statistic, expected, kRounding);
  EXPECT_NEAR(distance("mmd-block", x, y, with_gaussian(1, {{"block", 40}})).statistic, expected, kRounding);
}

TEST(IncompleteMmd, of_equal_samples_is_zero_to_the_last_bit) {
  test::Source source(6);
  for (const char* id : {"mmd-lin", "mmd-multi", "mmd-block"}) {
    for (const std::size_t dim : {1UL, 40UL}) {
      const Sample x = test::normal_sample({300, dim}, source);
      for (const char* kernel : {"gaussian", "laplace", "energy:1", "polynomial:3:1"}) {
        MethodOptions options;
        options.kernel = parse_kernel(kernel);
        EXPECT_EQ(distance(id, x, x, options).statistic, 0.0) << id << kernel;
      }
    }
  }
}

// Row with row by their formulas, crosswise through matrix products: two roads to the same kernel values.
TEST(KernelPairs, are_the_diagonal_of_the_kernel_matrix) {
  test::Source source(7);
  const Sample x = test::normal_sample({20, 40}, source);
  const Sample y = test::normal_sample({20, 40}, source);
  for (const char* text :
       {"gaussian", "laplace", "matern12", "matern32", "matern52", "rq:2", "imq", "linear", "polynomial:3:1",
        "normalised-polynomial:2:1", "energy:1", "gaussian*linear", "0.3 gaussian@1+0.7 laplace"}) {
    Warnings warnings;
    const Kernel kernel(resolve(parse_kernel(text), x, y, BandwidthRule::median, Seed{1}, warnings));
    Matrix<double> all(20, 20);
    kernel.evaluate(x.points, y.points, all);
    std::vector<double> pairs(20);
    evaluate_pairs(kernel, x.points, y.points, pairs);
    for (std::size_t i = 0; i < 20; ++i) EXPECT_NEAR(pairs[i], all(i, i), 1e-11 * (1.0 + std::abs(all(i, i)))) << text;
  }
}

TEST(IncompleteMmd, plans_equal_direct_recomputation) {
  test::Source source(8);
  for (const char* id : {"mmd-lin", "mmd-multi", "mmd-block"}) {
    for (const auto& [nx, ny] : {std::pair{40UL, 40UL}, {23UL, 40UL}, {3UL, 50UL}, {41UL, 2UL}}) {
      for (const char* kernel : {"gaussian", "energy:1", "linear"}) {
        MethodOptions options;
        options.kernel = parse_kernel(kernel);
        const Sample x = test::normal_sample({nx, 3}, source);
        const Sample y = test::normal_sample({ny, 3}, source);
        test::expect_plan_equals_distance(id, x, y, options);
      }
    }
  }
}

TEST(IncompleteMmd, plans_equal_direct_recomputation_under_swaps_of_pairs) {
  test::Source source(9);
  for (const char* id : {"mmd-lin", "mmd-multi", "mmd-block"}) {
    for (const std::size_t n : {2UL, 3UL, 41UL, 400UL}) {
      for (const bool ties : {false, true}) {
        Sample x = test::normal_sample({n, 2}, source);
        Sample y = test::normal_sample({n, 2}, source);
        if (ties) {
          for (double& v : x.points.values()) v = std::floor(v);
          for (double& v : y.points.values()) v = std::floor(v);
        }
        test::expect_plan_equals_distance(id, x, y, with_gaussian(1), test::kOtherSums, Design::paired());
        // The observed permutation has the statistic of the samples as they stand.
        const test::Permuted found(id, x, y, with_gaussian(1), Design::paired());
        EXPECT_NEAR(found.values[0], distance(id, x, y, with_gaussian(1)).statistic, kRounding) << id << n;
      }
    }
  }
}

TEST(IncompleteMmd, plans_give_the_same_bits_for_any_threads) {
  test::Source source(10);
  const Sample x = test::normal_sample({150, 2}, source);
  const Sample y = test::normal_sample({150, 2}, source);
  for (const char* id : {"mmd-lin", "mmd-multi", "mmd-block"}) {
    test::expect_same_bits(id, x, y, with_gaussian(1));
    test::expect_same_bits(id, x, y, with_gaussian(1), Design::paired());
    MethodOptions one = with_gaussian(1);
    MethodOptions four = one;
    one.threads = ThreadCount{1};
    four.threads = ThreadCount{4};
    EXPECT_EQ(distance(id, x, y, one).statistic, distance(id, x, y, four).statistic);
  }
}

// Clusters change the sizes of the groups: whatever they are, a permutation has a finite value.
TEST(IncompleteMmd, plans_take_groups_of_any_size) {
  test::Source source(11);
  const Sample x = test::normal_sample({9, 1}, source);
  const Sample y = test::normal_sample({6, 1}, source);
  TwoSampleOptions options;
  options.test.design = Design::clusters({0, 1, 1, 1, 1, 1, 1, 1, 1, 2, 3, 3, 3, 3, 3});
  options.test.num_permutations = 50;
  for (const char* id : {"mmd-lin", "mmd-multi", "mmd-block"}) {
    options.method = id;
    EXPECT_TRUE(std::isfinite(two_sample_test(x, y, options).test.permutation_mean));
  }
}

TEST(IncompleteMmd, asymptotic_pvalue_is_the_normal_tail_of_the_terms) {
  test::Source source(12);
  const Sample x = test::normal_sample({61, 2}, source);
  const Sample y = test::normal_sample({61, 2}, source, 0.7);
  const auto expected = [&](std::size_t b) {
    std::vector<double> terms;
    for (std::size_t first = 0; first + b <= 61; first += b) {
      double total = 0.0;
      for (std::size_t i = first; i < first + b; ++i) {
        for (std::size_t j = i + 1; j < first + b; ++j) total += h(x, y, i, j, 1.0);
      }
      terms.push_back(total * 2.0 / static_cast<double>(b * (b - 1)));
    }
    const auto m = static_cast<double>(terms.size());
    double mean = 0.0, squares = 0.0;
    for (const double t : terms) mean += t / m;
    for (const double t : terms) squares += (t - mean) * (t - mean);
    return 0.5 * std::erfc(mean / std::sqrt(squares / (m - 1) / m) / std::sqrt(2.0));
  };
  TwoSampleOptions options;
  options.calibration = Calibration::asymptotic;
  options.statistic = with_gaussian(1);
  options.method = "mmd-lin";
  const TwoSampleResult lin = two_sample_test(x, y, options);
  EXPECT_NEAR(lin.test.pvalue, expected(2), 1e-11);
  EXPECT_EQ(lin.limiting_distribution, "normal, one-sided");
  options.method = "mmd-block";
  EXPECT_NEAR(two_sample_test(x, y, options).test.pvalue, expected(7), 1e-11);
  options.method = "mmd-multi";
  EXPECT_THROW(static_cast<void>(two_sample_test(x, y, options)), Error);
}

TEST(IncompleteMmd, asymptotic_pvalue_of_terms_without_spread_is_one_with_a_warning) {
  TwoSampleOptions options;
  options.calibration = Calibration::asymptotic;
  options.method = "mmd-lin";
  const TwoSampleResult found = two_sample_test(column({0, 0, 0, 0}), column({1, 1, 1, 1}), options);
  EXPECT_EQ(found.test.pvalue, 1.0);
  EXPECT_EQ(found.warnings.back(), make_warning(WarningId::equal_terms, 2));
}

TEST(IncompleteMmd, says_which_rows_it_leaves_out) {
  const DistanceResult found = distance("mmd-lin", column({1, 2, 3}), column({4, 5, 6, 7, 9}), with_gaussian(1));
  EXPECT_EQ(found.warnings, test::only(WarningId::unmatched_rows, "mmd-lin", 2, 5, "Y"));
  EXPECT_EQ(found.statistic, distance("mmd-lin", column({1, 2}), column({4, 5}), with_gaussian(1)).statistic);
}

TEST(IncompleteMmd, refuses_what_it_cannot_use) {
  Sample weighted = column({1, 2, 3});
  weighted.weights = {1, 1, 2};
  expect_error(ErrorCode::invalid_weights,
               "mmd-multi takes no weights: it averages over pairs of rows, all alike; mmd and mmd-v take them", [&] {
                 static_cast<void>(distance("mmd-multi", weighted, column({1, 2, 3})));
               });
  expect_error(ErrorCode::empty_sample, "Y has one row, mmd-lin needs at least two (mmd-v takes one)", [&] {
    static_cast<void>(distance("mmd-lin", column({1, 2}), column({1})));
  });
  expect_error(ErrorCode::invalid_option, "mmd-block: block = 1 leaves no pairs, needs at least 2", [&] {
    static_cast<void>(distance("mmd-block", column({1, 2}), column({1, 3}), with_gaussian(1, {{"block", 1}})));
  });
  EXPECT_THROW(static_cast<void>(distance("mmd-lin", column({1, 2}), column({1, 3}), with_gaussian(1, {{"block", 3}}))),
               Error);
  TwoSampleOptions one_block;
  one_block.calibration = Calibration::asymptotic;
  one_block.method = "mmd-lin";
  expect_error(ErrorCode::empty_sample,
               "mmd-lin has one block of 2 rows, its limiting distribution needs at least two; use permutation", [&] {
                 static_cast<void>(two_sample_test(column({1, 2}), column({1, 3}), one_block));
               });
}

// All pairs of many rows: hours of kernel values, or more terms than fit.
TEST(IncompleteMmd, refuses_patterns_that_take_hours_or_all_memory) {
  const Sample x{Matrix<double>(60'000, 1, 0.5), {}, {}};
  const MethodOptions all_pairs = with_gaussian(1, {{"subdiagonals", 59'999}});
  const TestPool pool = make_test_pool(x, x, ThreadCount{1});
  PlanRequest request;
  request.permutation_count = 1000;
  try {
    static_cast<void>(method_with_id("mmd-multi").prepare(pool, all_pairs, request));
    ADD_FAILURE();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::resource_limit);
    EXPECT_TRUE(std::string(error.what()).starts_with("mmd-multi over 1.8e+09 pairs of rows, 1000 times takes about"));
  }
  request.swaps_only = true;
  expect_error(
      ErrorCode::resource_limit,
      "mmd-multi keeps the terms of 1.8e+09 pairs of rows, 14.4 GB; use allow_quadratic = yes to run it, fewer "
      "subdiagonals or smaller blocks",
      [&] { static_cast<void>(method_with_id("mmd-multi").prepare(pool, all_pairs, request)); });
}

// 300 tests of equal normals at level 0.05: Binomial(300, 0.05) is outside of [3, 33] with probability below 1e-4.
TEST(IncompleteMmd, keeps_the_level_under_both_calibrations) {
  for (const char* id : {"mmd-lin", "mmd-multi", "mmd-block"}) {
    for (const Calibration calibration : {Calibration::permutation, Calibration::sign_flip}) {
      int num_rejected = 0;
      for (std::uint64_t run = 0; run < 300; ++run) {
        test::Source source(100 + run);
        const Sample x = test::normal_sample({12, 1}, source);
        const Sample y = test::normal_sample({12, 1}, source);
        TwoSampleOptions options;
        options.method = id;
        options.calibration = calibration;
        options.test.num_permutations = 99;
        options.test.enumeration_limit = 0;
        options.statistic.seed = Seed{run};
        num_rejected += two_sample_test(x, y, options).test.reject ? 1 : 0;
      }
      EXPECT_GE(num_rejected, 3) << id;
      EXPECT_LE(num_rejected, 33) << id;
    }
  }
}

}  // namespace
}  // namespace kqd
