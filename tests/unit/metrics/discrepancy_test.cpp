#include "kqd/metrics/discrepancy.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "kqd/metrics/methods.hpp"
#include "metrics/method.hpp"
#include "support/errors.hpp"
#include "support/levels.hpp"
#include "support/methods.hpp"
#include "support/oracles.hpp"
#include "support/rounding.hpp"
#include "support/source.hpp"
#include "support/warnings.hpp"

namespace kqd {
namespace {

using test::column;
using test::expect_error;
using test::Real;
using test::roundings;
using test::within;

using test::kInfinity;

// A case small enough to compute by definition: 2 samples in the plane, 4 reference points, 3 directions.
struct Definition {
  explicit Definition(std::uint64_t seed, std::size_t nx = 12, std::size_t ny = 18) {
    test::Source source(seed);
    x = test::normal_sample({nx, 2}, source);
    y = test::normal_sample({ny, 2}, source, 0.8, 1.4);
    options.kernel = parse_kernel("gaussian@1.5");
    options.directions.reference = ReferenceMeasure::points;
    options.directions.reference_points = test::normal_matrix({4, 2}, source);
    options.directions.coefficients = test::normal_matrix({4, 3}, source);
  }

  // u_i at every row of a sample, in long double.
  [[nodiscard]] std::vector<double> projected(std::size_t i, const Sample& sample) const {
    const auto k = test::gaussian_kernel(1.5);
    const auto& z = options.directions.reference_points;
    const auto& c = options.directions.coefficients;
    Real squared = 0;
    for (std::size_t a = 0; a < 4; ++a) {
      for (std::size_t b = 0; b < 4; ++b) squared += Real{c(a, i)} * c(b, i) * k(z.row(a), z.row(b));
    }
    std::vector<double> values;
    for (std::size_t j = 0; j < sample.points.rows(); ++j) {
      Real value = 0;
      for (std::size_t a = 0; a < 4; ++a) value += Real{c(a, i)} * k(z.row(a), sample.points.row(j));
      values.push_back(static_cast<double>(value / std::sqrt(squared)));
    }
    return values;
  }
  [[nodiscard]] Real mmd_squared() const { return test::mmd_squared(test::gaussian_kernel(1.5), x.points, y.points); }
  // |u(x)| is at most 1 and good to far less than 5000 roundings: exp of at most 10 with ten roundings of its argument,
  // four terms over a norm that is at least a hundredth of their size (asserted by the seeds used: norms above 0.1).
  static constexpr double kProjectionError = 5000;

  Sample x, y;
  MethodOptions options;
};

// tau of lists that are off by e each is off by 2 e (nu has mass 1); its own sums by far less than 2000 roundings.
Real tau_bound() {
  return roundings(2 * Definition::kProjectionError + 2000) * 2;
}

TEST(Discrepancy, follows_its_definition_for_every_power_and_weighting) {
  for (const std::uint64_t seed : {1UL, 2UL}) {
    for (const auto& [nx, ny] : {std::pair{12UL, 18UL}, std::pair{15UL, 15UL}}) {
      Definition d(seed, nx, ny);
      for (const auto& level : test::levels()) {
        for (const double power : {1.0, 1.5, 2.0, 3.0, 9.0, kInfinity}) {
          d.options.power = power;
          d.options.weighting = parse_level_weights(level.text);
          std::vector<Real> tau(3);
          for (std::size_t i = 0; i < 3; ++i) {
            tau[i] = test::quantile_gap(d.projected(i, d.x), d.projected(i, d.y), level.cdf, power);
          }
          const DistanceResult mean = ekqd(d.x, d.y, d.options);
          const DistanceResult sup = supkqd(d.x, d.y, d.options);
          ASSERT_EQ(mean.per_direction.size(), 3U);
          EXPECT_EQ(mean.per_direction, sup.per_direction);
          const Real largest = *std::ranges::max_element(tau);
          for (std::size_t i = 0; i < 3; ++i) EXPECT_TRUE(within(mean.per_direction[i], tau[i], tau_bound())) << power;
          const Real expected = test::power_gap(tau, std::vector<Real>(3, 1 / Real{3}), power);
          EXPECT_TRUE(within(mean.statistic, expected, tau_bound())) << level.text << power;
          EXPECT_TRUE(within(sup.statistic, largest, tau_bound())) << level.text << power;
          const double as_power = std::isinf(power) ? mean.statistic : std::pow(mean.statistic, power);
          EXPECT_DOUBLE_EQ(mean.statistic_power, as_power);
        }
      }
    }
  }
}

// (D^2 - c^2 + MMD^2)^(1/2) in place of |D|; here MMD^2 is above 0.1, so no root magnifies an error more than twice.
TEST(Discrepancy, centered_forms_follow_their_definition) {
  for (const std::uint64_t seed : {1UL, 2UL}) {
    Definition d(seed);
    const Real mmd_squared = d.mmd_squared();
    ASSERT_GT(mmd_squared, 0.1L);
    for (const double power : {1.0, 1.5, 2.0, 3.0, 9.0, kInfinity}) {
      d.options.power = power;
      std::vector<Real> tau;
      for (std::size_t i = 0; i < 3; ++i) {
        auto px = d.projected(i, d.x), py = d.projected(i, d.y);
        Real c = 0;
        for (const double v : px) c += Real{v} / 12;
        for (const double v : py) c -= Real{v} / 18;
        std::ranges::sort(px);
        std::ranges::sort(py);
        const auto xs = test::repeated(px, 3), ys = test::repeated(py, 2);
        std::vector<Real> gaps(36);
        for (std::size_t k = 0; k < 36; ++k) {
          const Real gap = Real{xs[k]} - ys[k];
          gaps[k] = std::sqrt(std::max<Real>(0, gap * gap - c * c + mmd_squared));
        }
        ASSERT_GT(*std::ranges::min_element(gaps), 0.2L);
        tau.push_back(test::power_gap(gaps, std::vector<Real>(36, 1 / Real{36}), power));
      }
      // g^2 is off by 2 |D| e + 2 |c| e + e with e the error of projections and MMD; |D|, |c| <= 2 and g > 0.2.
      const Real bound = 9 * tau_bound() / (2 * 0.2L);
      const DistanceResult mean = ekqd_centered(d.x, d.y, d.options);
      EXPECT_TRUE(within(mean.statistic, test::power_gap(tau, std::vector<Real>(3, 1 / Real{3}), power), bound))
          << power;
      EXPECT_TRUE(within(supkqd_centered(d.x, d.y, d.options).statistic, *std::ranges::max_element(tau), bound))
          << power;
      const std::optional<double> found = find_detail(mean.details, "mmd_squared");
      ASSERT_TRUE(found.has_value());
      EXPECT_TRUE(within(*found, mmd_squared, roundings(400) * 4));
    }
  }
}

// Methods A5: MMD^2 <= e-KQD~_2^2 <= e-KQD_2^2 + MMD^2, and the same for the maximum. All values are below 2, and sums
// of up to 200 terms are off by less than 2000 roundings of them.
TEST(Discrepancy, centered_forms_lie_between_the_mmd_and_the_sum_of_squares) {
  const double slack = roundings(2000) * 4;
  for (const std::uint64_t seed : test::seeds(20)) {
    test::Source source(seed);
    Sample x = test::normal_sample({5 + source.below(60), 3}, source);
    Sample y = test::normal_sample({5 + source.below(60), 3}, source, source.uniform(0, 1), source.uniform(0.5, 2));
    if (source.below(2) == 0) {
      for (std::size_t i = 0; i < x.points.rows(); ++i) x.weights.push_back(source.uniform());
    }
    MethodOptions options;
    options.power = 2.0;
    options.seed = Seed{seed};
    options.kernel = parse_kernel(source.below(2) == 0 ? "gaussian" : "laplace");
    const DistanceResult mean = ekqd_centered(x, y, options);
    const DistanceResult sup = supkqd_centered(x, y, options);
    const double mmd_squared = find_detail(mean.details, "mmd_squared").value();
    EXPECT_GE(mean.statistic_power, mmd_squared - slack);
    EXPECT_LE(mean.statistic_power, ekqd(x, y, options).statistic_power + mmd_squared + slack);
    EXPECT_GE(sup.statistic_power, mmd_squared - slack);
    EXPECT_LE(sup.statistic_power, supkqd(x, y, options).statistic_power + mmd_squared + slack);
    EXPECT_GE(sup.statistic, mean.statistic - slack);
  }
}

TEST(Discrepancy, at_power_infinity_the_mean_is_the_maximum) {
  Definition d(3);
  d.options.power = kInfinity;
  EXPECT_EQ(ekqd(d.x, d.y, d.options).statistic, supkqd(d.x, d.y, d.options).statistic);
  EXPECT_EQ(ekqd(d.x, d.y, d.options).statistic_power, ekqd(d.x, d.y, d.options).statistic);
}

TEST(Discrepancy, reports_what_was_used) {
  test::Source source(4);
  const Sample x = test::normal_sample({40, 3}, source);
  const Sample y = test::normal_sample({60, 3}, source);
  const DistanceResult plain = ekqd(x, y);
  EXPECT_EQ(plain.num_directions, 800U);
  EXPECT_EQ(plain.num_reference, 400U);
  EXPECT_EQ(plain.per_direction.size(), 800U);
  EXPECT_TRUE(plain.kernel.bandwidth.has_value());
  EXPECT_FALSE(find_detail(plain.details, "mmd_squared").has_value());
  EXPECT_TRUE(plain.standard_error.has_value());
  EXPECT_TRUE(plain.warnings.empty());
  MethodOptions axis;
  axis.directions.family = DirectionFamily::axis;
  const DistanceResult by_axis = ekqd(x, y, axis);
  EXPECT_EQ(by_axis.num_directions, 3U);
  EXPECT_EQ(by_axis.num_reference, 0U);
  EXPECT_EQ(to_string(by_axis.kernel), "linear");
}

// --- the standard error ---

// For p = 1 the statistic is a mean, whose jackknife is sd/sqrt(l) exactly; in general the delta method carries the
// error of mean(tau^p) through the root.
TEST(StandardError, is_that_of_a_mean_carried_through_the_root) {
  test::Source source(5);
  const Sample x = test::normal_sample({60, 2}, source);
  const Sample y = test::normal_sample({50, 2}, source, 0.5);
  for (const double power : {1.0, 2.0, 3.5}) {
    MethodOptions options;
    options.power = power;
    const DistanceResult result = ekqd(x, y, options);
    const auto l = static_cast<Real>(result.per_direction.size());
    Real total = 0;
    for (const double tau : result.per_direction) total += std::pow(Real{tau}, Real{power});
    // Leave one direction out at a time.
    Real spread = 0;
    for (const double tau : result.per_direction) {
      const Real without = (total - std::pow(Real{tau}, Real{power})) / (l - 1);
      spread += (without - total / l) * (without - total / l);
    }
    const Real of_mean = std::sqrt((l - 1) / l * spread);
    const Real expected = of_mean * std::pow(total / l, 1 / Real{power} - 1) / power;
    EXPECT_TRUE(within(result.standard_error.value(), expected, 1e-12L * expected)) << power;
  }
}

// Given the reference points the directions are independent, so over seeds the statistic of p = 1 has variance E[se^2].
// The variance of 400 statistics is good to sqrt(2/399 + kurtosis/400) = 8 % or so; 5 times that.
TEST(StandardError, is_the_spread_over_other_directions) {
  test::Source source(6);
  const Sample x = test::normal_sample({100, 2}, source);
  const Sample y = test::normal_sample({100, 2}, source, 0.7);
  MethodOptions options;
  options.kernel = parse_kernel("gaussian@1");
  options.directions.num_directions = 32;
  options.directions.reference = ReferenceMeasure::points;
  options.directions.reference_points = test::normal_matrix({10, 2}, source);
  const int repeats = 400;
  double mean = 0, squares = 0, claimed = 0;
  for (int i = 0; i < repeats; ++i) {
    options.seed = Seed{static_cast<std::uint64_t>(i)};
    const DistanceResult result = ekqd(x, y, options);
    mean += result.statistic / repeats;
    squares += result.statistic * result.statistic / repeats;
    claimed += *result.standard_error * *result.standard_error / repeats;
  }
  const double variance = (squares - mean * mean) * repeats / (repeats - 1.0);
  EXPECT_NEAR(variance / claimed, 1.0, 0.4);
}

TEST(StandardError, exists_only_for_means_of_several_directions) {
  Definition d(7);
  EXPECT_TRUE(ekqd(d.x, d.y, d.options).standard_error.has_value());
  EXPECT_TRUE(ekqd_centered(d.x, d.y, d.options).standard_error.has_value());
  EXPECT_FALSE(supkqd(d.x, d.y, d.options).standard_error.has_value());
  d.options.power = kInfinity;
  EXPECT_FALSE(ekqd(d.x, d.y, d.options).standard_error.has_value());
  d.options.power = 1.0;
  d.options.directions.coefficients = Matrix<double>(4, 1, {1, 2, 3, 4});
  EXPECT_FALSE(ekqd(d.x, d.y, d.options).standard_error.has_value());
  EXPECT_EQ(ekqd(d.x, d.x, Definition(7).options).standard_error, 0.0);
}

// --- weights ---

TEST(Discrepancy, rows_of_weight_zero_are_as_if_they_were_not_there) {
  test::Source source(8);
  const Sample y = test::normal_sample({20, 2}, source);
  Sample kept = test::normal_sample({3, 2}, source);
  kept.weights = {1, 2, 3};
  Sample padded{Matrix<double>(5, 2, 1e6), {0, 1, 2, 0, 3}, {}};
  for (std::size_t i = 0; i < 3; ++i) {
    std::ranges::copy(kept.points.row(i), padded.points.row(i == 2 ? 4 : i + 1).begin());
  }
  for (const auto& method : methods()) {
    if (!test::takes_weights(method)) continue;
    EXPECT_EQ(method_with_id(method.id).distance(padded, y, {}).statistic,
              method_with_id(method.id).distance(kept, y, {}).statistic)
        << method.id;
  }
}

// --- compat flags ---

TEST(CompatFlags, are_listed_with_a_description_and_applied_by_name) {
  std::vector<std::string_view> names;
  for (const CompatFlag& flag : compat_flags()) {
    names.push_back(flag.name);
    EXPECT_GT(flag.description.size(), 20U);
  }
  EXPECT_EQ(names, (std::vector<std::string_view>{"extra-direction", "point-levels", "jitter", "unnormalised",
                                                  "median-diagonal", "zero-centred"}));
  MethodOptions options;
  apply_compat("extra-direction, point-levels ,jitter,unnormalised,median-diagonal,zero-centred", options);
  EXPECT_EQ(options.directions.num_directions, 65U);
  EXPECT_TRUE(options.point_evaluated_levels);
  EXPECT_EQ(options.directions.jitter, 1e-6);
  EXPECT_FALSE(options.directions.normalise);
  EXPECT_EQ(options.bandwidth_rule, BandwidthRule::median_with_diagonal);
  EXPECT_TRUE(options.directions.zero_centred);
  expect_error(ErrorCode::invalid_option,
               "compat = jiter: expected one of extra-direction, point-levels, jitter, unnormalised, "
               "median-diagonal, zero-centred; did you mean jitter?",
               [&] { apply_compat("extra-direction,jiter", options); });
}

TEST(CompatFlags, extra_direction_adds_one_and_keeps_the_others) {
  test::Source source(9);
  const Sample x = test::normal_sample({40, 2}, source);
  const Sample y = test::normal_sample({40, 2}, source);
  MethodOptions options;
  options.directions.num_directions = 15;  // sixteen fill the tiles of a product, fifteen do not: see directions_test
  const auto before = ekqd(x, y, options).per_direction;
  apply_compat("extra-direction", options);
  const auto after = ekqd(x, y, options).per_direction;
  ASSERT_EQ(after.size(), 16U);
  for (std::size_t i = 0; i < 15; ++i) EXPECT_NEAR(after[i], before[i], roundings(5000)) << i;
}

TEST(CompatFlags, unnormalised_multiplies_each_gap_by_its_norm_and_jitter_divides_by_a_larger_one) {
  Definition d(10);
  const KernelDirections directions(Kernel(d.options.kernel), d.options.directions.reference_points,
                                    d.options.directions.coefficients);
  const auto plain = ekqd(d.x, d.y, d.options).per_direction;
  MethodOptions unnormalised = d.options;
  apply_compat("unnormalised", unnormalised);
  const auto f_gaps = ekqd(d.x, d.y, unnormalised).per_direction;
  MethodOptions jittered = d.options;
  apply_compat("jitter", jittered);
  const auto jittered_gaps = ekqd(d.x, d.y, jittered).per_direction;
  for (std::size_t i = 0; i < 3; ++i) {
    const double norm = directions.norms()[i];
    const double bound = static_cast<double>(tau_bound());
    EXPECT_NEAR(f_gaps[i], plain[i] * norm, bound * norm);
    EXPECT_NEAR(jittered_gaps[i], plain[i] * norm / std::sqrt(norm * norm + 1e-6), bound);
    EXPECT_LT(jittered_gaps[i], plain[i]);
  }
}

TEST(CompatFlags, median_diagonal_takes_the_smaller_bandwidth) {
  const Sample x = column({0}), y = column({2});
  MethodOptions options;
  EXPECT_DOUBLE_EQ(ekqd(x, y, options).kernel.bandwidth.value(), std::sqrt(2.0));
  apply_compat("median-diagonal", options);
  EXPECT_DOUBLE_EQ(ekqd(x, y, options).kernel.bandwidth.value(), 1.0);
}

// Around 1000 with unit spread, reference points around 0 see nothing: the reason why it is not the default.
TEST(CompatFlags, zero_centred_puts_reference_points_around_the_origin) {
  test::Source source(11);
  const Sample x = test::normal_sample({50, 1}, source, 1000.0);
  const Sample y = test::normal_sample({50, 1}, source, 1002.0);
  MethodOptions options;
  EXPECT_GT(ekqd(x, y, options).statistic, 0.1);
  apply_compat("zero-centred", options);
  const DistanceResult centred = ekqd(x, y, options);
  EXPECT_EQ(centred.statistic, 0.0);
  ASSERT_EQ(test::ids(centred.warnings), std::vector{WarningId::flat_directions_bandwidth});
  EXPECT_EQ(centred.warnings[0].values[0], WarningValue(800));
}

TEST(CompatFlags, point_levels_weigh_by_the_density_at_grid_points) {
  const Sample x = column({0, 0, 0, 0}), y = column({1, 2, 3, 4});
  MethodOptions options;
  options.directions.family = DirectionFamily::axis;
  options.weighting = parse_level_weights("triangle:0");
  EXPECT_DOUBLE_EQ(ekqd(x, y, options).statistic, .125 * 1 + .375 * 2 + .375 * 3 + .125 * 4);
  apply_compat("point-levels", options);
  EXPECT_DOUBLE_EQ(ekqd(x, y, options).statistic, 2.5);
  options.weighting = parse_level_weights("slope-up:0");
  EXPECT_DOUBLE_EQ(ekqd(x, y, options).statistic, (0 * 1 + 1 * 2 + 2 * 3 + 3 * 4) / 6.0);
  expect_error(ErrorCode::invalid_option, "point-evaluated level weights need samples of equal size, got 4 and 3", [&] {
    static_cast<void>(ekqd(x, column({1, 2, 3}), options));
  });
  Sample weighted = x;
  weighted.weights = {1, 1, 1, 1};
  expect_error(ErrorCode::invalid_option, "point-evaluated level weights need samples without row weights",
               [&] { static_cast<void>(ekqd(weighted, y, options)); });
}

// --- what is refused ---

TEST(Discrepancy, bad_options_and_samples_are_refused) {
  const Sample x = column({1, 2, 3});
  MethodOptions options;
  const auto refused = [&](ErrorCode code, const char* sentence) {
    expect_error(code, sentence, [&] { static_cast<void>(ekqd(x, x, options)); });
    expect_error(code, sentence, [&] { static_cast<void>(supkqd_centered(x, x, options)); });
  };
  options.power = 0.5;
  refused(ErrorCode::invalid_option, "power = 0.5: expected a number >= 1");
  options.power = std::nan("");
  refused(ErrorCode::invalid_option, "power = nan: expected a number >= 1");
  options = {};
  options.kernel.bandwidth = -1.0;
  refused(ErrorCode::invalid_option, "bandwidth = -1: expected a bandwidth in 1e-150 .. 1e150");
  options = {};
  options.directions.num_directions = 0;
  refused(ErrorCode::invalid_option, "num_directions = 0: expected a whole number in 1..1048576");
  options = {};
  expect_error(ErrorCode::shape_mismatch, "X has 1 column and Y has 2, expected the same number", [&] {
    static_cast<void>(ekqd(x, Sample{Matrix<double>(2, 2, 0.0), {}, {}}));
  });
  expect_error(ErrorCode::empty_sample, "X: no rows, expected at least one", [&] {
    static_cast<void>(ekqd(Sample{Matrix<double>(0, 1), {}, {}}, x));
  });
  expect_error(ErrorCode::invalid_weights, "Y: all 3 weights are 0, expected at least one > 0", [&] {
    static_cast<void>(ekqd(x, Sample{x.points, {0, 0, 0}, {}}));
  });
}

// k = x.y overflows although no value along a direction does. infinity - infinity is not a MMD, and certainly not 0.
TEST(Discrepancy, a_mean_embedding_that_overflows_is_refused) {
  MethodOptions options;
  options.directions.family = DirectionFamily::axis;
  const Sample x = column({1e200, 2e200}), y = column({3e200, 5e200});
  EXPECT_DOUBLE_EQ(ekqd(x, y, options).statistic, 2.5e200);
  expect_error(ErrorCode::non_finite_value,
               "the MMD overflows on this data; rescale the columns or take a bounded kernel",
               [&] { static_cast<void>(ekqd_centered(x, y, options)); });
}

// Both samples are finite along the direction, but the gap between them is not.
TEST(Discrepancy, a_gap_that_overflows_is_refused) {
  MethodOptions options;
  options.kernel = parse_kernel("polynomial:1:0");
  options.directions.reference = ReferenceMeasure::points;
  options.directions.reference_points = Matrix<double>(1, 1, {1.0});
  options.directions.coefficients = Matrix<double>(1, 1, {1.0});
  for (const double power : {1.0, 2.0, 2.5, kInfinity}) {
    options.power = power;
    EXPECT_DOUBLE_EQ(ekqd(column({0}), column({1.7e308}), options).statistic, 1.7e308) << power;
    expect_error(ErrorCode::non_finite_value,
                 "the gap along direction 1 overflows on this data; rescale the columns or take a bounded kernel",
                 [&] { static_cast<void>(ekqd(column({-1.7e308}), column({1.7e308}), options)); });
  }
}

TEST(Discrepancy, distances_that_overflow_are_refused) {
  expect_error(ErrorCode::non_finite_value,
               "distances between the pooled points overflow; rescale the columns or take a bounded "
               "kernel",
               [] {
                 static_cast<void>(ekqd(column({1e200, 2e200}), column({3e200, 4e200})));
               });
}

TEST(Discrepancy, centered_forms_need_normalised_directions) {
  MethodOptions options;
  options.directions.normalise = false;
  expect_error(ErrorCode::invalid_option, "a centered discrepancy needs directions of norm 1, got unnormalised ones",
               [&] {
                 static_cast<void>(ekqd_centered(column({1, 2}), column({3, 4}), options));
               });
}

TEST(Discrepancy, centered_forms_of_large_samples_ask_first) {
  const Sample large{Matrix<double>(300'000, 1, 0.0), {}, {}};
  MethodOptions options;
  options.directions.family = DirectionFamily::axis;
  expect_error(
      ErrorCode::resource_limit,
      "the MMD of the centered discrepancy takes 1.8e+11 kernel values for 600000 rows, about 13 minutes on one "
      "thread; use allow_quadratic = yes to run it, or a method whose cost is near-linear",
      [&] { static_cast<void>(ekqd_centered(large, large, options)); });
}

// --- warnings ---

TEST(Warnings, name_a_sample_of_one_row) {
  EXPECT_EQ(ekqd(column({1}), column({2, 3})).warnings, test::only(WarningId::one_row, "X"));
  EXPECT_EQ(ekqd(column({1, 2}), column({3})).warnings, test::only(WarningId::one_row, "Y"));
}

TEST(Warnings, count_and_name_constant_columns) {
  test::Source source(12);
  Sample x = test::normal_sample({5, 3}, source), y = test::normal_sample({6, 3}, source);
  const auto set = [&](std::size_t k, double value) {
    for (std::size_t i = 0; i < 5; ++i) x.points(i, k) = value;
    for (std::size_t i = 0; i < 6; ++i) y.points(i, k) = value;
  };
  set(1, 4.0);
  EXPECT_EQ(ekqd(x, y).warnings, test::only(WarningId::constant_columns, 1, 3, "2"));
  set(2, -1.0);
  EXPECT_EQ(ekqd(x, y).warnings, test::only(WarningId::constant_columns, 2, 3, "2, 3"));
  Sample named = x;
  named.column_names = {"age", "plan=basic", "income is missing"};
  EXPECT_EQ(ekqd(named, y).warnings,
            test::only(WarningId::constant_columns, 2, 3, "\"plan=basic\", \"income is missing\""));
  y.points(5, 1) = 4.5;  // not quite
  EXPECT_EQ(ekqd(x, y).warnings, test::only(WarningId::constant_columns, 1, 3, "3"));
  Sample wide{Matrix<double>(3, 13, 1.0), {}, {}};
  wide.points(0, 12) = 2.0;  // all points identical is another warning
  EXPECT_EQ(ekqd(wide, wide).warnings[0],
            make_warning(WarningId::constant_columns, 12, 13, "1, 2, 3, 4, 5, 6, 7, 8, 9, 10, ..."));
}

TEST(Warnings, identical_points_have_distance_zero_and_say_so) {
  const Sample same = column({3, 3, 3});
  for (const auto& method : methods()) {
    if (!method.has_distance) continue;
    const DistanceResult result = method_with_id(method.id).distance(same, column({3, 3}), {});
    EXPECT_EQ(result.statistic, 0.0) << method.id;
    EXPECT_EQ(result.warnings.front(), make_warning(WarningId::identical_points, 5)) << method.id;
  }
}

TEST(Warnings, count_flat_directions) {
  test::Source source(13);
  const Sample x = test::normal_sample({100, 1}, source), y = test::normal_sample({100, 1}, source);
  MethodOptions options;
  options.kernel = parse_kernel("gaussian@1e-9");  // every value is 0 but at the reference points
  EXPECT_EQ(ekqd(x, y, options).warnings, test::only(WarningId::flat_directions_bandwidth, 1024, 1024, 1e-9));
}

// 95 of 100 equal values are not over 95%, 96 are; wherever they sit and however they are split.
TEST(Warnings, a_direction_is_flat_above_95_percent) {
  MethodOptions axis;
  axis.directions.family = DirectionFamily::axis;
  const auto flat = [&](std::size_t nx, std::size_t num_equal, double other) {
    std::vector<double> pool(num_equal, 0.0);
    for (std::size_t i = num_equal; i < 100; ++i) pool.push_back(other + static_cast<double>(i));
    test::Source source(14);
    std::vector<double> x, y;
    for (const std::size_t i : test::shuffled(100, source)) (x.size() < nx ? x : y).push_back(pool[i]);
    const auto warnings = ekqd(column(x), column(y), axis).warnings;
    return !warnings.empty() && warnings.back() == make_warning(WarningId::flat_directions, 1, 1);
  };
  for (const std::size_t nx : {2UL, 20UL, 50UL, 97UL}) {
    for (const double other : {1.0, -1000.0}) {
      EXPECT_FALSE(flat(nx, 95, other)) << nx;
      EXPECT_TRUE(flat(nx, 96, other)) << nx;
    }
  }
}

TEST(Warnings, do_not_speak_of_a_bandwidth_that_is_not_used) {
  for (const DirectionFamily family : {DirectionFamily::axis, DirectionFamily::linear}) {
    MethodOptions options;
    options.directions.family = family;
    EXPECT_EQ(ekqd(column({0, 0, 0, 0, 1}), column({0, 0, 0, 0, 2}), options).warnings, Warnings{});
  }
}

TEST(Warnings, say_when_reference_points_use_up_the_pool) {
  MethodOptions options;
  options.directions.reference = ReferenceMeasure::pooled;
  options.directions.num_reference = 9;
  const DistanceResult result = ekqd(column({1, 2, 3}), column({4, 5}), options);
  EXPECT_EQ(result.warnings, test::only(WarningId::too_many_reference_points, 9, 5));
  EXPECT_EQ(result.num_reference, 5U);
}

// --- the registry ---

TEST(Methods, are_found_by_id_and_do_what_the_functions_do) {
  Definition d(15);
  d.options.power = 2.0;
  EXPECT_EQ(distance("ekqd", d.x, d.y, d.options).statistic, ekqd(d.x, d.y, d.options).statistic);
  EXPECT_EQ(distance("supkqd", d.x, d.y, d.options).statistic, supkqd(d.x, d.y, d.options).statistic);
  EXPECT_EQ(distance("ekqd-centered", d.x, d.y, d.options).statistic, ekqd_centered(d.x, d.y, d.options).statistic);
  EXPECT_EQ(distance("supkqd-centered", d.x, d.y, d.options).statistic, supkqd_centered(d.x, d.y, d.options).statistic);
  for (const MethodInfo& method : methods()) {
    EXPECT_EQ(&find_method(method.id), &method);
    for (const auto text : {method.family, method.summary, method.reports, method.cost, method.permutation,
                            method.calibrations, method.details, method.reference}) {
      EXPECT_FALSE(text.empty()) << method.id;
    }
  }
  try {
    static_cast<void>(find_method("ekdq"));
    ADD_FAILURE();
  } catch (const Error& error) {
    EXPECT_TRUE(std::string(error.what()).starts_with("method = ekdq: expected one of ekqd, "));
    EXPECT_TRUE(std::string(error.what()).ends_with("; did you mean ekqd?"));
    EXPECT_EQ(error.code(), ErrorCode::invalid_option);
  }
}

}  // namespace
}  // namespace kqd
