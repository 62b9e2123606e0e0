#include "kqd/two_sample/two_sample_test.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <bit>
#include <cmath>
#include <numeric>
#include <set>

#include "core/pool.hpp"
#include "core/random.hpp"
#include "kqd/kqd.hpp"
#include "metrics/data_warnings.hpp"
#include "support/drawn_sample.hpp"
#include "support/errors.hpp"
#include "support/warnings.hpp"

namespace kqd {
namespace {

Sample normal(std::size_t n, std::size_t dim, std::uint64_t index, double shift = 0.0) {
  return test::drawn_sample(n, dim, {}, index, Seed{91}, shift);
}

TwoSampleOptions quick(std::int64_t num_permutations = 199) {
  TwoSampleOptions options;
  options.method = "ekqd";
  options.statistic.directions.num_directions = 8;
  options.statistic.directions.num_reference = 8;
  options.test.num_permutations = num_permutations;
  return options;
}

Sample reordered(const Sample& sample, std::uint64_t index) {
  RandomStream stream(Seed{5}, Purpose::test_data, index);
  const auto rows = sample_without_replacement(sample.points.rows(), sample.points.rows(), stream);
  return {gather({sample.points, MatrixView<const double>(nullptr, 0, sample.points.cols())}, rows), {}, {}};
}

TEST(TwoSampleTest, finds_a_shift_and_reports_its_size) {
  const TwoSampleResult result = two_sample_test(normal(100, 2, 1), normal(80, 2, 2, 1.5), quick());
  EXPECT_TRUE(result.test.reject);
  EXPECT_NEAR(result.test.pvalue, 1.0 / 200.0, 1e-15);
  EXPECT_GT(result.effect_size, 0.5);
  EXPECT_EQ(result.per_direction.size(), 8U);
}

// The order of rows within a sample carries no information, and the test does not see it: same bits.
TEST(TwoSampleTest, does_not_depend_on_the_order_of_rows_within_the_samples) {
  const Sample x = normal(60, 3, 3);
  const Sample y = normal(45, 3, 4, 0.3);
  for (const char* method : {"ekqd", "supkqd", "mmd", "ekqd-centered"}) {
    for (const ReferenceMeasure reference : {ReferenceMeasure::gaussian, ReferenceMeasure::pooled}) {
      TwoSampleOptions options = quick();
      options.method = method;
      options.statistic.directions.reference = reference;
      const TwoSampleResult one = two_sample_test(x, y, options);
      const TwoSampleResult other = two_sample_test(reordered(x, 1), reordered(y, 2), options);
      EXPECT_EQ(one.test.pvalue, other.test.pvalue) << method;
      EXPECT_EQ(one.test.statistic, other.test.statistic) << method;
    }
  }
}

TEST(TwoSampleTest, gives_the_same_result_for_one_to_eight_threads) {
  const Sample x = normal(700, 3, 5);
  const Sample y = normal(500, 3, 6, 0.05);
  for (const char* method : {"ekqd", "ekqd-centered", "mmd"}) {
    TwoSampleOptions options = quick();
    options.method = method;
    options.test.keep_null_distribution = true;
    options.statistic.threads = ThreadCount{1};
    const TwoSampleResult one = two_sample_test(x, y, options);
    for (unsigned threads = 2; threads <= 8; ++threads) {
      options.statistic.threads = ThreadCount{threads};
      const TwoSampleResult many = two_sample_test(x, y, options);
      EXPECT_EQ(one.test.null_distribution, many.test.null_distribution) << method << threads;
      EXPECT_EQ(one.test.statistic, many.test.statistic);
    }
  }
}

TEST(TwoSampleTest, statistic_is_the_distance_with_the_same_directions) {
  const Sample x = normal(50, 2, 7);
  const Sample y = normal(64, 2, 8, 0.4);
  TwoSampleOptions options = quick();
  options.statistic.directions.num_reference.reset();
  options.statistic.directions.reference = ReferenceMeasure::points;
  options.statistic.directions.reference_points = normal(6, 2, 9).points;
  options.statistic.directions.coefficients = normal(6, 4, 10).points;
  for (const char* method : {"ekqd", "supkqd", "ekqd-centered", "supkqd-centered", "mmd", "mmd-v"}) {
    options.method = method;
    const double direct = distance(method, x, y, options.statistic).statistic;
    EXPECT_NEAR(two_sample_test(x, y, options).test.statistic, direct, 1e-6 * std::abs(direct)) << method;
  }
}

TEST(TwoSampleTest, equal_samples_and_identical_points_give_p_value_one) {
  const Sample x = normal(30, 2, 11);
  EXPECT_EQ(two_sample_test(x, x, quick()).test.pvalue, 1.0);
  const Sample constant{Matrix<double>(10, 2, 3.0), {}, {}};
  const TwoSampleResult result = two_sample_test(constant, constant, quick());
  EXPECT_EQ(result.test.pvalue, 1.0);
  EXPECT_EQ(result.test.statistic, 0.0);
  EXPECT_FALSE(result.warnings.empty());
}

TEST(TwoSampleTest, one_row_per_sample_is_a_documented_result) {
  const TwoSampleResult result = two_sample_test(normal(1, 2, 12), normal(1, 2, 13), quick());
  EXPECT_TRUE(result.test.enumerated);
  EXPECT_EQ(result.test.pvalue, 1.0);
  TwoSampleOptions options = quick();
  options.method = "mmd";
  EXPECT_THROW(static_cast<void>(two_sample_test(normal(1, 2, 12), normal(5, 2, 13), options)), Error);
}

TEST(TwoSampleTest, refuses_what_would_not_be_exact) {
  TwoSampleOptions balanced = quick();
  balanced.statistic.directions.reference = ReferenceMeasure::balanced;
  EXPECT_THROW(static_cast<void>(two_sample_test(normal(9, 1, 1), normal(9, 1, 2), balanced)), Error);
  TwoSampleOptions flips = quick();
  flips.calibration = Calibration::sign_flip;
  EXPECT_THROW(static_cast<void>(two_sample_test(normal(9, 1, 1), normal(8, 1, 2), flips)), Error);
  flips.method = "ekqd-centered";
  EXPECT_THROW(static_cast<void>(two_sample_test(normal(9, 1, 1), normal(9, 1, 2), flips)), Error);
}

TEST(TwoSampleTest, sets_whole_pairs_and_clusters_aside) {
  TwoSampleOptions options = quick();
  options.statistic.directions.reference = ReferenceMeasure::pooled;
  options.statistic.directions.num_reference = 5;
  options.test.design = Design::paired();
  const TwoSampleResult paired = two_sample_test(normal(40, 2, 1), normal(40, 2, 2), options);
  EXPECT_EQ(paired.num_set_aside % 2, 0U);
  EXPECT_GE(paired.num_set_aside, 6U);
  std::vector<std::int64_t> clusters(80);
  for (std::size_t i = 0; i < 80; ++i) clusters[i] = static_cast<std::int64_t>(i / 4);
  options.test.design = Design::clusters(clusters);
  const TwoSampleResult clustered = two_sample_test(normal(40, 2, 1), normal(40, 2, 2), options);
  EXPECT_EQ(clustered.num_set_aside % 4, 0U);
}

// Landmarks of principal and mixed directions are pooled points: with hardly any rows they become fewer, or are
// refused.
TEST(TwoSampleTest, of_few_rows_along_pooled_landmarks_ends) {
  std::size_t tested = 0;
  for (const DirectionFamily family : {DirectionFamily::principal, DirectionFamily::mixed}) {
    for (const ReferenceMeasure reference : {ReferenceMeasure::gaussian, ReferenceMeasure::pooled}) {
      for (std::uint64_t seed = 0; seed < 20; ++seed) {
        for (const auto& [nx, ny] : {std::pair{1U, 3U}, {3U, 3U}, {3U, 61U}}) {
          TwoSampleOptions options = quick(19);
          options.statistic.directions.num_reference.reset();
          options.statistic.directions.family = family;
          options.statistic.directions.reference = reference;
          options.statistic.seed = Seed{seed};
          try {
            static_cast<void>(two_sample_test(normal(nx, 2, 1), normal(ny, 2, 2), options));
            ++tested;
          } catch (const Error& error) {
            EXPECT_EQ(error.code(), ErrorCode::empty_sample) << error.what();
          }
        }
      }
    }
  }
  EXPECT_GT(tested, 20U);
}

TEST(TwoSampleTest, along_axes_looks_for_no_bandwidth) {
  TwoSampleOptions options = quick();
  options.statistic.directions.family = DirectionFamily::axis;
  Sample x = normal(20, 2, 1);
  Sample y = normal(20, 2, 2, 1.0);
  const TwoSampleResult expected = two_sample_test(x, y, options);
  for (Sample* sample : {&x, &y}) {
    for (double& v : sample->points.values()) v = std::scalbn(v, 530);  // squares of distances overflow
  }
  const TwoSampleResult huge = two_sample_test(x, y, options);
  // Other numbers are other permutations: 199 of them move the mean by a fraction of their spread.
  EXPECT_GT(expected.effect_size, 0.3);
  EXPECT_NEAR(huge.effect_size, expected.effect_size, 0.05);
  EXPECT_EQ(huge.warnings, expected.warnings);
}

// Twice the area between the distribution functions of five rows against five, in whole numbers.
std::int64_t area(const std::vector<std::pair<std::int64_t, bool>>& sorted) {
  std::int64_t total = 0;
  std::int64_t ahead = 0;
  for (std::size_t k = 0; k + 1 < sorted.size(); ++k) {
    ahead += sorted[k].second ? 1 : -1;
    total += std::abs(ahead) * (sorted[k + 1].first - sorted[k].first);
  }
  return total;
}

// All 252 permutations in exact arithmetic. Next to outliers single precision would take others for ties.
TEST(TwoSampleTest, of_whole_numbers_with_outliers_counts_as_exact_arithmetic_does) {
  RandomStream stream(Seed{17}, Purpose::test_data);
  for (int run = 0; run < 60; ++run) {
    std::vector<std::int64_t> values(10);
    for (std::int64_t& v : values) v = static_cast<std::int64_t>(stream.below(30));
    values[static_cast<std::size_t>(stream.below(10))] = 1'000'000;
    if (run % 2 == 1) values[static_cast<std::size_t>(stream.below(10))] = 1'000'001 + run;
    std::vector<std::size_t> order(10);
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::ranges::sort(order, {}, [&](std::size_t i) { return values[i]; });
    std::vector<std::int64_t> areas;
    for (unsigned labels = 0; labels < 1024; ++labels) {
      if (std::popcount(labels) != 5) continue;
      std::vector<std::pair<std::int64_t, bool>> sorted;
      for (const std::size_t i : order) sorted.emplace_back(values[i], (labels >> i & 1U) != 0);
      areas.push_back(area(sorted));
    }
    const std::int64_t observed = areas.front();  // labels 11111: the first five rows are X
    const auto exceed = static_cast<double>(std::ranges::count_if(areas, [&](auto a) { return a >= observed; }));
    Sample x{Matrix<double>(5, 1), {}, {}};
    Sample y{Matrix<double>(5, 1), {}, {}};
    for (std::size_t i = 0; i < 5; ++i) {
      x.points(i, 0) = static_cast<double>(values[i]);
      y.points(i, 0) = static_cast<double>(values[5 + i]);
    }
    for (const std::string method : {"wasserstein", "sw"}) {
      EXPECT_DOUBLE_EQ(two_sample_test(x, y, {.method = method}).test.pvalue, exceed / 252.0) << method << ' ' << run;
    }
  }
}

TEST(TwoSampleTest, refuses_reference_points_that_are_rows_of_one_sample) {
  const Sample x = normal(30, 2, 61);
  const Sample y = normal(40, 2, 62);
  TwoSampleOptions options = quick(19);
  options.method = "ekqd";
  options.statistic.directions.reference = ReferenceMeasure::points;
  const auto with_points = [&](const Sample& sample, std::size_t first, std::size_t count) {
    options.statistic.directions.reference_points = Matrix<double>(sample.points.view().row_range(first, count));
    return two_sample_test(x, y, options);
  };
  test::expect_error(ErrorCode::invalid_option,
                     "8 of 8 reference points are rows of Y and not of X, or closer to them than 0.000937: seen from "
                     "rows of one sample the two differ even where their distributions do not; use reference = pooled, "
                     "which holds its rows out, or points from elsewhere",
                     [&] { static_cast<void>(with_points(y, 3, 8)); });
  EXPECT_TRUE(with_points(normal(8, 2, 63), 0, 8).warnings.empty());
  Sample some = normal(8, 2, 63);
  std::ranges::copy(x.points.row(7), some.points.row(2).begin());
  EXPECT_THROW(static_cast<void>(with_points(some, 0, 8)), Error);
  for (double& value : some.points.row(2)) value += 1e-9;
  EXPECT_THROW(static_cast<void>(with_points(some, 0, 8)), Error);
}

// One seed for many data sets: each breaks its ties in its own way, whatever the order of its rows.
TEST(TwoSampleTest, breaks_ties_by_the_data_too) {
  TwoSampleOptions options{.method = "energy"};
  options.test.num_permutations = 19;
  options.test.randomised_ties = true;
  std::set<double> pvalues;
  for (int run = 0; run < 20; ++run) {
    Sample x{Matrix<double>(20, 1, 0.0), {}, {}};
    for (double& v : x.points.values()) v = static_cast<double>(run);  // all values tie
    const double pvalue = two_sample_test(x, x, options).test.pvalue;
    pvalues.insert(pvalue);
    Sample y = x;
    y.points(3, 0) += 1.0;
    const double forth = two_sample_test(x, y, options).test.pvalue;
    EXPECT_EQ(two_sample_test(reordered(x, 1), reordered(y, 2), options).test.pvalue, forth);
  }
  EXPECT_EQ(pvalues.size(), 20U);
}

TEST(TwoSampleTest, warns_of_a_column_that_has_all_of_the_variance) {
  Sample x = normal(30, 3, 71);
  Sample y = normal(30, 3, 72);
  EXPECT_TRUE(two_sample_test(x, y, quick(19)).warnings.empty());
  for (Sample* sample : {&x, &y}) {
    for (std::size_t i = 0; i < 30; ++i) sample->points(i, 1) *= 1000.0;
  }
  for (const Warnings& warnings : {two_sample_test(x, y, quick(19)).warnings, distance("energy", x, y).warnings}) {
    ASSERT_EQ(test::ids(warnings), std::vector{WarningId::dominating_columns});
    EXPECT_TRUE(test::texts(warnings)[0].starts_with("of 3 columns, these have 100% of the variance"));
    EXPECT_EQ(warnings[0].values[0], WarningValue("2"));
  }
}

// Issue 22: two such columns hide each other from a rule for one.
TEST(TwoSampleTest, warns_of_several_columns_that_have_all_of_the_variance) {
  Sample x = normal(30, 6, 71);
  Sample y = normal(30, 6, 72);
  for (Sample* sample : {&x, &y}) {
    for (std::size_t i = 0; i < 30; ++i) {
      sample->points(i, 1) *= 1000.0;
      sample->points(i, 4) *= 900.0;
    }
  }
  const Warnings warnings = two_sample_test(x, y, quick(19)).warnings;
  ASSERT_EQ(test::ids(warnings), std::vector{WarningId::dominating_columns});
  EXPECT_EQ(warnings[0].values[0], WarningValue("2, 5"));
  EXPECT_EQ(warnings[0].values[2], WarningValue(6));
  const auto indices = [](std::vector<double> deviations) {
    const auto found = dominating_columns(deviations);
    return found ? found->indices : std::vector<std::size_t>{};
  };
  EXPECT_EQ(indices({1, 100, 1, 1, 90, 1}), (std::vector<std::size_t>{1, 4}));
  EXPECT_EQ(indices({1, 1e4, 1, 1, 100, 1}), (std::vector<std::size_t>{1}));
  EXPECT_EQ(indices({1, 0, 1000, 0}), (std::vector<std::size_t>{2}));
  // Half of the columns or more, a gradual descent, one column that varies, and equal ones.
  EXPECT_TRUE(indices({100, 100, 1}).empty());
  EXPECT_TRUE(indices({64, 32, 16, 8, 4, 2, 1, 0.5, 0.25}).empty());
  EXPECT_TRUE(indices({0, 5, 0}).empty());
  EXPECT_TRUE(indices({3, 3, 3, 3}).empty());
}

constexpr const char* kKindsOfWeights =
    "state what the weights are: weights_as = frequency (a row and its weight are exchanged together; valid when both "
    "samples were weighted in the same way), weights_as = precision (weights that do not depend on the values) or "
    "weights_as = sampling (survey or importance weights)";

TEST(TwoSampleTest, refuses_a_kind_of_weights_without_weights) {
  TwoSampleOptions options = quick(19);
  options.weights_as = WeightsAs::precision;
  test::expect_error(ErrorCode::invalid_option, "weights_as is given, but no sample has weights",
                     [&] { static_cast<void>(two_sample_test(normal(30, 2, 1), normal(30, 2, 2), options)); });
}

TEST(TwoSampleTest, refuses_weights_that_differ_between_the_samples_unless_it_knows_what_they_are) {
  Sample x = normal(30, 2, 1);
  Sample y = normal(30, 2, 2);
  for (std::size_t i = 0; i < 30; ++i) x.weights.push_back(i % 2 == 0 ? 0.01 : 0.02);
  test::expect_error(ErrorCode::invalid_weights, std::string("X has weights and Y has none; ") + kKindsOfWeights,
                     [&] { static_cast<void>(two_sample_test(x, y, quick())); });
  y.weights.assign(30, 1.0);
  test::expect_error(ErrorCode::invalid_weights,
                     std::string("X has weights and Y has the same weight for all rows; ") + kKindsOfWeights,
                     [&] { static_cast<void>(two_sample_test(x, y, quick())); });
  for (std::size_t i = 0; i < 30; ++i) y.weights[i] = i % 2 == 0 ? 1.0 : 2.0;
  test::expect_error(ErrorCode::invalid_weights,
                     std::string("the distributions of the weights of X and Y differ (none of 999 permutations is as "
                                 "extreme); ") +
                         kKindsOfWeights,
                     [&] { static_cast<void>(two_sample_test(x, y, quick())); });
  TwoSampleOptions options = quick(19);
  for (const WeightsAs weights_as : {WeightsAs::frequency, WeightsAs::precision, WeightsAs::sampling}) {
    options.weights_as = weights_as;
    const TwoSampleResult result = two_sample_test(x, y, options);
    EXPECT_EQ(result.notes.size(), weights_as == WeightsAs::frequency ? 0U : 1U);
    EXPECT_EQ(parse_weights_as(to_string(weights_as)), weights_as);
  }
  y.weights = x.weights;
  EXPECT_TRUE(two_sample_test(x, y, quick()).warnings.empty());
}

// Eight of twelve weights of X are larger and one of Y: of all permutations 0.009 have a distance as large.
TEST(TwoSampleTest, warns_of_weights_that_may_differ) {
  Sample x = normal(12, 2, 1);
  Sample y = normal(12, 2, 2);
  x.weights.assign(12, 1.0);
  y.weights.assign(12, 1.0);
  for (std::size_t i = 0; i < 8; ++i) x.weights[i] = 1.5;
  y.weights[0] = 1.5;
  const TwoSampleResult result = two_sample_test(x, y, quick(19));
  EXPECT_EQ(test::ids(result.warnings), std::vector{WarningId::weights_may_differ});
}

// Rows of precision weights are exchanged over fixed weights. With equal weights that is the ordinary test: the same
// statistic, and a p-value that differs by Monte Carlo error only, 6 standard errors of two draws of 999 at most.
TEST(TwoSampleTest, of_equal_precision_weights_is_that_of_no_weights) {
  Sample x = normal(15, 2, 1);
  Sample y = normal(25, 2, 2, 0.4);
  for (const char* method : {"energy", "ekqd", "mmd", "adaptive"}) {
    TwoSampleOptions options = quick(std::string(method) == "adaptive" ? 99 : 999);
    options.method = method;
    x.weights.clear();
    y.weights.clear();
    const TwoSampleResult plain = two_sample_test(x, y, options);
    x.weights.assign(15, 2.0);
    y.weights.assign(25, 2.0);
    options.weights_as = WeightsAs::precision;
    const TwoSampleResult weighted = two_sample_test(x, y, options);
    if (std::string(method) != "adaptive") {
      EXPECT_NEAR(weighted.test.statistic, plain.test.statistic, 1e-9 * (1.0 + std::abs(plain.test.statistic)));
    }
    const double p = 0.5 * (plain.test.pvalue + weighted.test.pvalue);
    const auto draws = static_cast<double>(options.test.num_permutations);
    EXPECT_NEAR(weighted.test.pvalue, plain.test.pvalue, 6.0 * std::sqrt(2.0 * p * (1.0 - p) / draws) + 1e-3) << method;
    EXPECT_FALSE(weighted.test.enumerated);
  }
}

TEST(TwoSampleTest, refuses_designs_that_kinds_of_weights_do_not_go_with) {
  Sample x = normal(6, 1, 1);
  Sample y = normal(6, 1, 2);
  x.weights.assign(6, 1.0);
  x.weights[0] = 2.0;
  y.weights = x.weights;
  TwoSampleOptions options = quick(19);
  options.test.design = Design::clusters({0, 0, 1, 1, 2, 2, 3, 3, 4, 4, 5, 5});
  options.weights_as = WeightsAs::precision;
  test::expect_error(
      ErrorCode::invalid_option,
      "weights_as = precision requires calibration = permutation and an independent, paired or blocks design, got "
      "clusters",
      [&] { static_cast<void>(two_sample_test(x, y, options)); });
  options.weights_as = WeightsAs::sampling;
  test::expect_error(ErrorCode::invalid_option, "weights_as = sampling requires an independent design, got clusters",
                     [&] { static_cast<void>(two_sample_test(x, y, options)); });
}

TEST(TwoSampleTest, reports_what_was_done_about_cluster_sizes_that_differ) {
  TwoSampleOptions options = quick(19);
  std::vector<std::int64_t> ids;  // X: 8 clusters of 2 and 4 of 1; Y: 8 of 1 and 4 of 2
  for (std::int64_t c = 0; c < 12; ++c) ids.insert(ids.end(), c < 8 ? 2 : 1, c);
  for (std::int64_t c = 12; c < 24; ++c) ids.insert(ids.end(), c < 20 ? 1 : 2, c);
  options.test.design = Design::clusters(ids);
  const TwoSampleResult strata = two_sample_test(normal(20, 1, 1), normal(16, 1, 2), options);
  EXPECT_EQ(strata.notes, test::only(WarningId::clusters_of_equal_size, 1, 2));
  ids.clear();  // X: 6 clusters of 3, Y: 5 of 1
  for (std::int64_t c = 0; c < 6; ++c) ids.insert(ids.end(), 3, c);
  for (std::int64_t c = 6; c < 11; ++c) ids.push_back(c);
  options.test.design = Design::clusters(ids);
  const TwoSampleResult reduced = two_sample_test(normal(18, 1, 1), normal(5, 1, 2), options);
  EXPECT_EQ(reduced.notes, test::only(WarningId::clusters_reduced_to_smallest, 1, 3, 6, 18, 5, 5));
  EXPECT_EQ(reduced.test.n_resamples, 462U);  // all of 11 over 5
}

// Weights travel with their rows, so that no permutation may decide whether they count: once a true null was rejected
// where those of X were much larger, as sums of Y are those of all less those of X.
TEST(TwoSampleTest, refuses_weights_next_to_which_the_others_vanish) {
  Sample x = normal(30, 2, 1);
  Sample y = normal(30, 2, 2);
  for (Sample* sample : {&x, &y}) {
    sample->weights.assign(30, 1.0);
    sample->weights[0] = 1e9;
  }
  for (const char* method : {"mmd-v", "energy", "kce"}) {
    TwoSampleOptions options = quick();
    options.method = method;
    try {
      static_cast<void>(two_sample_test(x, y, options));
      FAIL() << method;
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::invalid_weights) << method << ": " << error.what();
    }
  }
  EXPECT_GT(two_sample_test(x, y, quick()).test.pvalue, 0.0);  // by ekqd
  x.weights.assign(30, 1e9);
  y.weights.clear();
  for (const char* method : {"mmd", "mmd-v", "energy", "kce", "me"}) {
    TwoSampleOptions options = quick();
    options.method = method;
    EXPECT_GT(two_sample_test(x, y, options).test.pvalue, 0.0) << method;  // equal weights within a sample say nothing
    options.weights_as = WeightsAs::frequency;
    EXPECT_THROW(static_cast<void>(two_sample_test(x, y, options)), Error) << method;
  }
}

TEST(TwoSampleTest, refuses_levels_that_weighted_rows_do_not_have) {
  Sample x = normal(10, 1, 1);
  x.weights.assign(10, 1.0);
  x.weights[0] = 2.0;
  TwoSampleOptions options = quick();
  options.weights_as = WeightsAs::frequency;
  options.statistic.point_evaluated_levels = true;
  EXPECT_THROW(static_cast<void>(two_sample_test(x, normal(10, 1, 2), options)), Error);
}

// 16 clusters have 12,870 permutations, which are all evaluated however few are asked for.
TEST(TwoSampleTest, counts_all_permutations_when_it_says_how_long_they_take) {
  std::vector<std::int64_t> clusters(16 * 300);
  for (std::size_t i = 0; i < clusters.size(); ++i) clusters[i] = static_cast<std::int64_t>(i / 300);
  TwoSampleOptions options = quick(99);
  options.method = "wasserstein";
  options.test.design = Design::clusters(clusters);
  try {
    static_cast<void>(two_sample_test(normal(2400, 3, 1), normal(2400, 3, 2), options));
    FAIL() << "hours of work were begun";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::resource_limit);
    EXPECT_NE(std::string(error.what()).find("12870 permutations"), std::string::npos) << error.what();
  }
}

TEST(TwoSampleTest, over_all_pairs_is_refused_above_an_hour_whatever_the_method) {
  const Sample x = normal(20'000, 2, 1);
  for (const char* method : {"mmd", "energy", "kce", "ekqd-centered"}) {
    TwoSampleOptions options = quick(999'999);
    options.method = method;
    try {
      static_cast<void>(two_sample_test(x, normal(20'000, 2, 2), options));
      FAIL() << method << ": hours of work were begun";
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::resource_limit) << method << ": " << error.what();
    }
  }
}

TEST(TwoSampleTest, weight_zero_rows_take_no_part) {
  Sample x = normal(30, 2, 14);
  Sample y = normal(30, 2, 15, 0.5);
  x.weights.assign(30, 1.0);
  y.weights.assign(30, 1.0);
  const TwoSampleResult plain = two_sample_test(x, y, quick());
  Sample longer{Matrix<double>(31, 2, 1e6), x.weights, {}};
  std::ranges::copy(x.points.values(), longer.points.data());
  longer.weights.push_back(0.0);
  EXPECT_EQ(two_sample_test(longer, y, quick()).test.pvalue, plain.test.pvalue);
}

TEST(TwoSampleTest, stops_when_asked) {
  std::atomic<bool> stop{true};
  RunControl control;
  control.stop = &stop;
  try {
    static_cast<void>(two_sample_test(normal(50, 2, 1), normal(50, 2, 2), quick(), &control));
    FAIL() << "no exception";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::interrupted);
  }
}

TEST(TwoSampleTest, early_stopping_agrees_with_the_full_run) {
  TwoSampleOptions options = quick(999);
  const Sample x = normal(80, 2, 16);
  const Sample y = normal(80, 2, 17, 1.0);
  const bool rejects = two_sample_test(x, y, options).test.reject;
  options.test.early_stop = EarlyStop::besag_clifford;
  EXPECT_EQ(two_sample_test(x, y, options).test.reject, rejects);
  options.test.early_stop = EarlyStop::betting;
  const TwoSampleResult betting = two_sample_test(x, y, options);
  EXPECT_EQ(betting.test.reject, rejects);
  EXPECT_TRUE(betting.test.stopped_early);
}

}  // namespace
}  // namespace kqd
