// The adaptive test as a whole.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "kqd/kqd.hpp"
#include "support/drawn_sample.hpp"
#include "support/errors.hpp"
#include "support/warnings.hpp"

namespace kqd {
namespace {

Sample draw(std::size_t n, std::size_t dim, std::uint64_t index, bool weighted = false, bool ties = false) {
  return test::drawn_sample(n, dim, {"", n, n, weighted, ties}, index, Seed{7});
}

TwoSampleOptions adaptive(std::int64_t permutations = 99) {
  TwoSampleOptions options;
  options.method = "adaptive";
  options.test.num_permutations = permutations;
  return options;
}

SyntheticPair problem(const std::string& name, std::size_t n, std::size_t dim,
                      const std::vector<std::string>& settings) {
  ProblemRequest request{.name = name, .n_x = n, .n_y = n, .dim = dim, .seed = Seed{11}};
  for (const std::string& setting : settings) set_parameter(request, setting);
  return make_problem(request);
}

// Over the configurations whose names have `part`.
double smallest_adjusted(const TwoSampleResult& result, std::string_view part) {
  double smallest = 1.0;
  for (const Configuration& c : result.configurations) {
    if (c.name.find(part) != std::string::npos) smallest = std::min(smallest, c.adjusted_pvalue);
  }
  return smallest;
}

// The p-value is the same in other units of any column, with columns in another order, with a column of one value, and
// for any seed as long as all rows are landmarks.
TEST(AdaptiveTest, depends_on_neither_units_nor_order_of_columns_nor_seed) {
  for (std::uint64_t run = 0; run < 12; ++run) {
    const Sample x = draw(40, 3, 200 + run, false, run % 3 == 2);
    Sample y = draw(50, 3, 300 + run, false, run % 3 == 2);
    for (std::size_t i = 0; i < y.points.rows(); ++i) y.points(i, 1) += 0.4;
    const double pvalue = two_sample_test(x, y, adaptive(199)).test.pvalue;
    const auto changed = [&](const Sample& sample) {
      Sample other{Matrix<double>(sample.points.rows(), 4), {}, {}};
      for (std::size_t i = 0; i < sample.points.rows(); ++i) {
        other.points(i, 0) = 1000.0 * sample.points(i, 2) - 7.0;
        other.points(i, 1) = 5.0;
        other.points(i, 2) = 0.003 * sample.points(i, 0) + 11.0;
        other.points(i, 3) = sample.points(i, 1) / 64.0;
      }
      return other;
    };
    EXPECT_EQ(two_sample_test(changed(x), changed(y), adaptive(199)).test.pvalue, pvalue) << run;
    TwoSampleOptions other_seed = adaptive(199);
    other_seed.statistic.seed = Seed{run + 5};
    EXPECT_EQ(two_sample_test(x, y, other_seed).test.pvalue, pvalue) << run;
    // Units matter where they are meant.
    TwoSampleOptions as_given = adaptive(199);
    as_given.own_scales = false;
    EXPECT_FALSE(two_sample_test(x, y, as_given).own_scales);
    EXPECT_TRUE(two_sample_test(x, y, adaptive(199)).own_scales);
  }
}

// The column keeps its mean and variance, and most of it its values.
TEST(AdaptiveTest, finds_a_change_of_shape_in_one_column_and_says_so) {
  const Sample x = draw(300, 6, 1);
  Sample y = draw(300, 6, 2);
  for (std::size_t i = 0; i < 300; ++i) {
    double& value = y.points(i, 3);
    value = value > 0.0 ? 0.798 + (value > 0.674 ? 0.6 : -0.6) : value;
  }
  const TwoSampleResult result = two_sample_test(x, y, adaptive(199));
  EXPECT_LE(result.test.pvalue, 0.01);
  EXPECT_LE(smallest_adjusted(result, "shapes of single columns"), 0.01);
}

// Correlations of both signs in two clusters, which cancel in every product of two columns.
TEST(AdaptiveTest, finds_correlations_that_cancel_between_clusters_and_says_so) {
  const SyntheticPair pair = problem("hdgm", 2000, 10, {});
  const TwoSampleResult result = two_sample_test(pair.x, pair.y, adaptive(199));
  EXPECT_LE(result.test.pvalue, 0.01);
  EXPECT_LE(smallest_adjusted(result, "products of columns and the first component"), 0.01);
  EXPECT_GT(smallest_adjusted(result, "products of columns and components"), 0.05);
}

TEST(AdaptiveTest, finds_a_change_of_variance_in_one_column_of_many_and_says_so) {
  const Sample x = draw(200, 50, 1);
  Sample y = draw(200, 50, 2);
  for (std::size_t i = 0; i < 200; ++i) y.points(i, 17) *= 1.8;
  const TwoSampleResult result = two_sample_test(x, y, adaptive(199));
  EXPECT_LE(result.test.pvalue, 0.01);
  EXPECT_LE(smallest_adjusted(result, "squares of columns"), 0.01);
}

TEST(AdaptiveTest, finds_a_change_in_a_column_of_small_units) {
  Sample x = draw(150, 3, 1);
  Sample y = draw(150, 3, 2);
  for (std::size_t i = 0; i < 150; ++i) {  // the relation between the two small columns turns round
    x.points(i, 1) = 1e-6 * (x.points(i, 0) + 0.5 * x.points(i, 1));
    y.points(i, 1) = 1e-6 * (-y.points(i, 0) + 0.5 * y.points(i, 1));
    for (Sample* sample : {&x, &y}) {
      sample->points(i, 0) *= 1e-6;
      sample->points(i, 2) *= 1e6;
    }
  }
  EXPECT_LE(two_sample_test(x, y, adaptive(199)).test.pvalue, 0.005);
}

// Samples of equal size tie with their own exchange: far from 0 rounding must not tell the two apart.
TEST(AdaptiveTest, p_value_does_not_change_when_samples_far_from_0_are_exchanged) {
  TwoSampleOptions options;
  options.method = "adaptive";
  for (std::uint64_t run = 0; run < 20; ++run) {
    Sample x = draw(4, 2, 100 + 2 * run, false, run % 2 == 1);
    Sample y = draw(4, 2, 101 + 2 * run, false, run % 2 == 1);
    for (double& v : x.points.values()) v += 1000.0;
    for (double& v : y.points.values()) v += 1003.0;
    const TestOutcome one = two_sample_test(x, y, options).test;
    ASSERT_TRUE(one.enumerated);
    EXPECT_EQ(one.pvalue, two_sample_test(y, x, options).test.pvalue) << run;
    EXPECT_GE(one.n_exceed, 2U) << run;
  }
}

// One row that differs among 100: every permutation is as far apart as any other.
TEST(AdaptiveTest, permutations_that_all_tie_give_1) {
  Sample x{Matrix<double>(50, 1, 0.0), {}, {}};
  const Sample y = x;
  x.points(17, 0) = 1.0;
  TwoSampleOptions options;
  options.method = "adaptive";
  options.test.num_permutations = 99;
  for (std::uint64_t seed = 0; seed < 12; ++seed) {
    options.statistic.seed = Seed{seed};
    EXPECT_EQ(two_sample_test(x, y, options).test.pvalue, 1.0) << seed;
  }
}

TEST(AdaptiveTest, finds_a_difference_in_few_of_many_columns_and_says_so) {
  const SyntheticPair data = problem("power-decay", 200, 100, {});
  const TwoSampleResult result = two_sample_test(data.x, data.y, adaptive());
  EXPECT_TRUE(result.test.reject);
  EXPECT_LE(smallest_adjusted(result, "single columns"), 0.02);
}

TEST(AdaptiveTest, finds_a_changed_spread_of_one_cluster_through_a_narrow_kernel_and_says_so) {
  const SyntheticPair data = problem("mixture", 400, 0, {"sd=2"});
  const TwoSampleResult result = two_sample_test(data.x, data.y, adaptive());
  EXPECT_TRUE(result.test.reject);
  EXPECT_LE(smallest_adjusted(result, "gaussian of bandwidth"), 0.02);
  EXPECT_GT(smallest_adjusted(result, "single columns"), 0.02);
}

TEST(AdaptiveTest, lists_every_configuration_with_adjusted_pvalues_at_least_as_large) {
  const Sample x = draw(30, 4, 1);
  const Sample y = draw(25, 4, 2);
  const TwoSampleResult result = two_sample_test(x, y, adaptive());
  EXPECT_GE(result.configurations.size(), 11U);
  for (const Configuration& c : result.configurations) {
    EXPECT_GE(c.pvalue, 0.01);
    EXPECT_GE(c.adjusted_pvalue, c.pvalue);
  }
}

TEST(AdaptiveTest, reports_no_directions_of_one_statistic) {
  const TwoSampleResult result = two_sample_test(draw(20, 2, 1), draw(20, 2, 2), adaptive(19));
  EXPECT_EQ(result.num_directions, 0U);
  EXPECT_TRUE(result.per_direction.empty());
}

TEST(AdaptiveTest, is_the_same_for_any_number_of_threads_and_any_order_of_rows) {
  const Sample x = draw(40, 3, 1);
  const Sample y = draw(31, 3, 2);
  Sample reversed = x;
  for (std::size_t i = 0; i < 40; ++i) std::ranges::copy(x.points.row(39 - i), reversed.points.row(i).begin());
  TwoSampleOptions options = adaptive();
  options.statistic.threads = ThreadCount{1};
  const TwoSampleResult one = two_sample_test(x, y, options);
  options.statistic.threads = ThreadCount{2};
  const TwoSampleResult two = two_sample_test(x, y, options);
  const TwoSampleResult turned = two_sample_test(reversed, y, options);
  EXPECT_EQ(one.test.statistic, two.test.statistic);
  EXPECT_EQ(one.test.pvalue, two.test.pvalue);
  EXPECT_EQ(one.effect_size, two.effect_size);
  EXPECT_EQ(turned.test.pvalue, two.test.pvalue);
}

TEST(AdaptiveTest, takes_weights_pairs_blocks_and_all_permutations_of_tiny_samples) {
  const Sample weighted_x = draw(20, 2, 1, true);
  const Sample weighted_y = draw(18, 2, 2, true);
  EXPECT_GT(two_sample_test(weighted_x, weighted_y, adaptive()).test.pvalue, 0.0);
  TwoSampleOptions pairs = adaptive();
  pairs.test.design = Design::paired();
  EXPECT_GT(two_sample_test(draw(20, 2, 1), draw(20, 2, 2), pairs).test.pvalue, 0.0);
  const TwoSampleResult tiny = two_sample_test(draw(4, 1, 1), draw(4, 1, 2), adaptive());
  EXPECT_TRUE(tiny.test.enumerated);
  EXPECT_EQ(tiny.test.n_resamples, 70U);
  EXPECT_NEAR(std::remainder(tiny.test.pvalue * 70.0, 2.0), 0.0,
              1e-12);  // a permutation and its mirror image are equally extreme
}

TEST(AdaptiveTest, of_equal_points_has_pvalue_one) {
  const Sample equal{Matrix<double>(10, 2, 3.0), {}, {}};
  EXPECT_EQ(two_sample_test(equal, equal, adaptive()).test.pvalue, 1.0);
}

// Issue 22: what is returned besides never changes the p-value. The effect size is that of e-KQD, and so is its
// interval.
TEST(AdaptiveTest, effect_interval_and_directions_are_those_of_ekqd_and_change_no_p_value) {
  const Sample x = draw(30, 2, 1);
  const Sample y = draw(30, 2, 2);
  for (const char* method : {"adaptive", "mmd-agg", "mmd-fuse"}) {
    TwoSampleOptions options = adaptive(63);
    options.method = method;
    const TwoSampleResult plain = two_sample_test(x, y, options);
    options.effect_interval = options.effect_directions = true;
    const TwoSampleResult more = two_sample_test(x, y, options);
    EXPECT_EQ(more.test.pvalue, plain.test.pvalue);
    EXPECT_EQ(more.test.statistic, plain.test.statistic);
    ASSERT_TRUE(more.effect_interval);
    options.method = options.method == "adaptive" ? "ekqd" : "mmd";
    if (options.method == "ekqd") options.statistic.directions = {.num_directions = 64, .num_reference = 64};
    const TwoSampleResult of_one = two_sample_test(x, y, options);
    EXPECT_NEAR(more.effect_interval->lower, of_one.effect_interval->lower, 1e-12);
    EXPECT_NEAR(more.effect_interval->upper, of_one.effect_interval->upper, 1e-12);
    EXPECT_EQ(more.per_direction, of_one.per_direction);
    EXPECT_TRUE(plain.per_direction.empty());
  }
}

TEST(DefaultTestMethod, is_adaptive_unless_an_option_of_one_statistic_is_set) {
  MethodOptions options;
  EXPECT_EQ(default_test_method(options), "adaptive");
  options.kernel = gram_kernel(Matrix<double>(1, 1, 1.0));
  EXPECT_EQ(default_test_method(options), "adaptive");
  options.kernel = {};
  options.kernel = parse_kernel("laplace@2");
  options.seed = Seed{3};
  EXPECT_EQ(default_test_method(options), "adaptive");
  for (const CompatFlag& flag : compat_flags()) {
    MethodOptions compatible;
    flag.apply(compatible);
    EXPECT_EQ(default_test_method(compatible), "ekqd") << flag.name;
  }
  options.power = 2.0;
  EXPECT_EQ(default_test_method(options), "ekqd");
}

TEST(AdaptiveTest, refuses_what_it_cannot_do_in_a_sentence) {
  const Sample x = draw(30, 2, 1);
  const Sample y = draw(30, 2, 2);
  TwoSampleOptions early = adaptive();
  early.test.early_stop = EarlyStop::betting;
  test::expect_error(ErrorCode::invalid_option,
                     "early stopping needs a method with one statistic, adaptive combines several; use method = ekqd",
                     [&] { static_cast<void>(two_sample_test(x, y, early)); });
  test::expect_error(ErrorCode::invalid_option,
                     "method = adaptive: expected a method with a distance; this one is only a test. Use ekqd or "
                     "another method",
                     [&] { static_cast<void>(distance("adaptive", x, y)); });
  TwoSampleOptions weighted = adaptive();
  weighted.method = "mmd-fuse";
  weighted.weights_as = WeightsAs::frequency;
  test::expect_error(ErrorCode::invalid_weights, "aggregated MMD tests take no weights; use mmd or adaptive",
                     [&] { static_cast<void>(two_sample_test(draw(9, 2, 1, true), y, weighted)); });
}

TEST(MmdAggregates, find_a_shift_and_name_their_kernels) {
  const Sample x = draw(60, 2, 1);
  Sample y = draw(60, 2, 2);
  for (double& v : y.points.values()) v += 1.0;
  for (const char* method : {"mmd-agg", "mmd-fuse"}) {
    TwoSampleOptions options = adaptive(199);
    options.method = method;
    const TwoSampleResult result = two_sample_test(x, y, options);
    EXPECT_TRUE(result.test.reject) << method;
    EXPECT_EQ(result.configurations.size(), 20U);
  }
}

// The published grid of MMDAgg starts at 0.05 whatever the unit: a "no difference" for that reason must not pass for
// one.
TEST(MmdAgg, says_that_rows_are_too_close_for_its_kernels) {
  const auto warnings = [](double unit, const char* method) {
    Sample x = draw(30, 2, 1);
    Sample y = draw(30, 2, 2);
    for (Sample* sample : {&x, &y}) {
      for (double& v : sample->points.values()) v *= unit;
    }
    TwoSampleOptions options = adaptive(99);
    options.method = method;
    return test::count(two_sample_test(x, y, options).warnings, WarningId::wide_bandwidths);
  };
  EXPECT_EQ(warnings(1e-20, "mmd-agg"), 2);  // one for each family
  EXPECT_EQ(warnings(1.0, "mmd-agg"), 0);
  EXPECT_EQ(warnings(1e-20, "mmd-fuse"), 0);
}

// The statistics of kernels without a bandwidth follow the unit of the data to a power; once their scores were NaN
// beyond 1e100, and every true null was rejected.
TEST(Adaptive, of_kernels_without_a_bandwidth_does_not_depend_on_the_unit) {
  const auto pvalue = [](const char* kernel, int exponent) {
    Sample x = draw(40, 2, 1);
    Sample y = draw(30, 2, 2);
    for (Sample* sample : {&x, &y}) {
      for (double& v : sample->points.values()) v = std::scalbn(v, exponent);
    }
    TwoSampleOptions options = adaptive(99);
    options.statistic.kernel = parse_kernel(kernel);
    return two_sample_test(x, y, options).test.pvalue;
  };
  // Other numbers are other permutations: with 99 of them p-values move by 0.05, and not to 0.01.
  for (const int exponent : {-200, 200}) {
    EXPECT_NEAR(pvalue("linear", exponent), pvalue("linear", 0), 0.25) << exponent;
  }
  EXPECT_NEAR(pvalue("polynomial:3:0", 66), pvalue("polynomial:3:0", 0), 0.25);
}

// log sum_r w_r exp(lambda MMD_r^2 / sqrt(N_r)) with one kernel is lambda MMD^2 / sqrt(N): from the distance and a
// double loop over the pool.
TEST(MmdFuse, of_one_kernel_is_its_normalised_mmd) {
  const Sample x = draw(12, 1, 1);
  const Sample y = draw(9, 1, 2);
  TwoSampleOptions options = adaptive();
  options.method = "mmd-fuse";
  options.statistic.parameters = {{"bandwidths", 1.0}, {"lambda", 5.0}};
  const TwoSampleResult result = two_sample_test(x, y, options);
  ASSERT_EQ(result.configurations.size(), 2U);
  double sum = 0.0;
  for (const Configuration& c : result.configurations) {
    const KernelSpec spec = parse_kernel(c.name);
    const Kernel kernel(spec);
    Matrix<double> pool(21, 1);
    for (std::size_t i = 0; i < 21; ++i) pool(i, 0) = i < 12 ? x.points(i, 0) : y.points(i - 12, 0);
    Matrix<double> gram(21, 21);
    kernel.evaluate(pool, pool, gram);
    double squares = 0.0;
    for (std::size_t i = 0; i < 21; ++i) {
      for (std::size_t j = 0; j < 21; ++j) squares += i == j ? 0.0 : gram(i, j) * gram(i, j);
    }
    MethodOptions own;
    own.kernel = spec;
    const double expected = 5.0 * mmd(x, y, own).statistic / std::sqrt(squares / (9.0 * 8.0));
    EXPECT_NEAR(c.statistic, expected, 1e-12);
    sum += 0.5 * std::exp(expected);
  }
  EXPECT_NEAR(result.test.statistic, std::log(sum), 1e-12);
}

}  // namespace
}  // namespace kqd
