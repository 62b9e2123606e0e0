// Tests at locations (me, scf) against statistics written out in the test for the same locations, and gradients against
// differences.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <string>
#include <vector>

#include "core/random.hpp"
#include "kqd/kqd.hpp"
#include "kqd/testing/permutations.hpp"
#include "metrics/features/hotelling.hpp"
#include "metrics/features/locations.hpp"
#include "metrics/features/mean_gap.hpp"
#include "metrics/method.hpp"
#include "support/errors.hpp"
#include "support/plans.hpp"
#include "support/warnings.hpp"

namespace kqd {
namespace {

using Real = long double;

using test::PlanCase;

const std::vector<PlanCase>& cases() {
  static const std::vector<PlanCase> all = {{"equal", 40, 40},
                                            {"unequal", 23, 40},
                                            {"more than one block of rows", 200, 150},
                                            {"ties", 31, 27, false, true},
                                            {"weights", 20, 33, true, false}};
  return all;
}

Sample draw(std::size_t n, std::size_t dim, const PlanCase& c, std::uint64_t index, double shift = 0.0) {
  return test::drawn_sample(n, dim, c, index, Seed{79}, shift);
}

Matrix<double> places() {
  return {3, 2, {0.4, -0.3, 1.1, 0.8, -0.9, 0.6}};
}

MethodOptions options_with(Parameters parameters) {
  MethodOptions options;
  options.kernel = parse_kernel("gaussian@1.4");
  options.parameters = std::move(parameters);
  options.seed = Seed{4};
  return options;
}

MethodOptions options_at(Matrix<double> points, Parameters parameters) {
  MethodOptions options = options_with(std::move(parameters));
  options.directions.reference = ReferenceMeasure::points;
  options.directions.reference_points = std::move(points);
  return options;
}

// ---- The statistics once more, from their formulas ----

using RealRows = std::vector<std::vector<Real>>;

RealRows bumps(const Sample& sample, const Matrix<double>& points) {
  RealRows features;
  for (std::size_t i = 0; i < sample.points.rows(); ++i) {
    features.emplace_back();
    for (std::size_t j = 0; j < points.rows(); ++j) {
      Real squared = 0;
      for (std::size_t k = 0; k < points.cols(); ++k) {
        const Real gap = static_cast<Real>(sample.points(i, k)) - points(j, k);
        squared += gap * gap;
      }
      features.back().push_back(std::exp(-squared / (2 * 1.4L * 1.4L)));
    }
  }
  return features;
}

RealRows waves(const Sample& sample, const Matrix<double>& points, const std::vector<Real>& origin) {
  RealRows features;
  for (std::size_t i = 0; i < sample.points.rows(); ++i) {
    features.emplace_back();
    for (std::size_t j = 0; j < points.rows(); ++j) {
      Real squared = 0;
      Real angle = 0;
      for (std::size_t k = 0; k < points.cols(); ++k) {
        const Real t = (sample.points(i, k) - origin[k]) / 1.4L;
        squared += t * t;
        angle += t * points(j, k);
      }
      features.back().push_back(std::exp(-squared / 2) * std::sin(angle));
      features.back().push_back(std::exp(-squared / 2) * std::cos(angle));
    }
  }
  return features;
}

std::vector<Real> mean_of(const RealRows& features, std::span<const double> shares) {
  std::vector<Real> mean(features[0].size(), 0);
  for (std::size_t i = 0; i < features.size(); ++i) {
    for (std::size_t k = 0; k < mean.size(); ++k) mean[k] += shares[i] * features[i][k];
  }
  return mean;
}

// z' (C_X + C_Y + ridge (s_x + s_y)/2)^-1 z by elimination, C = s/(1-s) sum a (g - m)(g - m)'.
Real hotelling_by_hand(const RealRows& gx, std::span<const double> a, const RealRows& gy, std::span<const double> b,
                       double ridge) {
  const std::size_t f = gx[0].size();
  std::vector<Real> z = mean_of(gx, a);
  const std::vector<Real> my = mean_of(gy, b);
  RealRows matrix(f, std::vector<Real>(f, 0));
  const auto add = [&](const RealRows& g, std::span<const double> shares) {
    const std::vector<Real> m = mean_of(g, shares);
    Real s = 0;
    for (const double share : shares) s += static_cast<Real>(share) * share;
    for (std::size_t i = 0; i < g.size(); ++i) {
      for (std::size_t k = 0; k < f; ++k) {
        for (std::size_t l = 0; l < f; ++l) {
          matrix[k][l] += s / (1 - s) * shares[i] * (g[i][k] - m[k]) * (g[i][l] - m[l]);
        }
      }
    }
    for (std::size_t k = 0; k < f; ++k) matrix[k][k] += ridge * s / 2;
  };
  add(gx, a);
  add(gy, b);
  for (std::size_t k = 0; k < f; ++k) z[k] -= my[k];
  Real total = 0;
  for (std::size_t k = 0; k < f; ++k) {  // an LDL' step: total += z_k^2 / pivot
    total += z[k] * z[k] / matrix[k][k];
    for (std::size_t i = k + 1; i < f; ++i) {
      const Real factor = matrix[i][k] / matrix[k][k];
      for (std::size_t j = k; j < f; ++j) matrix[i][j] -= factor * matrix[k][j];
      z[i] -= factor * z[k];
    }
  }
  return total;
}

Real mean_square_by_hand(const RealRows& gx, std::span<const double> a, const RealRows& gy, std::span<const double> b) {
  const std::vector<Real> mx = mean_of(gx, a);
  const std::vector<Real> my = mean_of(gy, b);
  Real total = 0;
  for (std::size_t k = 0; k < mx.size(); ++k) total += (mx[k] - my[k]) * (mx[k] - my[k]);
  return total / static_cast<Real>(mx.size());
}

std::vector<Real> pooled_mean_of(const Sample& x, const Sample& y) {
  std::vector<Real> mean(x.points.cols(), 0);
  const auto n = static_cast<Real>(x.points.rows() + y.points.rows());
  for (const Sample* sample : {&x, &y}) {
    for (std::size_t i = 0; i < sample->points.rows(); ++i) {
      for (std::size_t k = 0; k < mean.size(); ++k) mean[k] += sample->points(i, k) / n;
    }
  }
  return mean;
}

// Sums of at most 350 numbers below 1, each a few roundings off, and covariances whose condition number is below 1e5
// here (1e-9 leaves a factor of 100 above 1e5 roundings).
TEST(LocationMethods, equal_their_formulas_at_given_locations) {
  for (const PlanCase& c : cases()) {
    const Sample x = draw(c.nx, 2, c, 1);
    const Sample y = draw(c.ny, 2, c, 2, 0.4);
    const auto a = normalised_weights(x);
    const auto b = normalised_weights(y);
    const auto check = [&](const std::string& id, const RealRows& gx, const RealRows& gy) {
      SCOPED_TRACE(id + " " + c.name);
      for (const double ridge : {0.0, 1e-5, 0.01}) {
        const double expected = static_cast<double>(hotelling_by_hand(gx, a, gy, b, ridge));
        const DistanceResult found = distance(id, x, y, options_at(places(), {{"ridge", ridge}}));
        EXPECT_NEAR(found.statistic, expected, 1e-9 * expected) << "ridge " << ridge;
        EXPECT_EQ(found.num_reference, 3U);
      }
      const double expected = static_cast<double>(mean_square_by_hand(gx, a, gy, b));
      EXPECT_NEAR(distance(id, x, y, options_at(places(), {{"form", 0}})).statistic, expected, 1e-12 * expected);
    };
    check("me", bumps(x, places()), bumps(y, places()));
    const auto origin = pooled_mean_of(x, y);
    check("scf", waves(x, places(), origin), waves(y, places(), origin));
  }
}

// Methods C4: J = 1 is the square of Welch's t. The floor of the covariance takes 1e-12 of the pooled variance.
TEST(Hotelling, with_one_feature_is_the_square_of_welchs_t) {
  const Sample x{Matrix<double>(2, 1, {0, 2}), {}, {}};
  const Sample y{Matrix<double>(2, 1, {1, 5}), {}, {}};
  const TestPool pool = make_test_pool(x, y, ThreadCount{1});
  const FeatureMap identity{1, [](MatrixView<const double> rows, MatrixView<double> features) {
                              for (std::size_t i = 0; i < rows.rows(); ++i) features(i, 0) = rows(i, 0);
                            }};
  const WhitenedFeatures whitened = whiten(identity, PooledFeatures(identity, pool, pool.order, true, ThreadCount{1}));
  const PooledFeatures features(whitened.map, pool, pool.order, true, ThreadCount{1});
  const Hotelling plain(0.0, whitened.eigenvalues);
  EXPECT_NEAR(plain.value(features.observed_x(), features.observed_y(), features), 0.8, 1e-11);
  // kappa = 1: gamma/2 is added to 1 + 4.
  const Hotelling ridged(3.0, whitened.eigenvalues);
  EXPECT_NEAR(ridged.value(features.observed_x(), features.observed_y(), features), 4.0 / 6.5, 1e-11);
}

// A feature twice, and a constant one: neither adds a degree of freedom nor changes the value.
TEST(Hotelling, does_not_mind_copies_and_constants_among_the_features) {
  const Sample x = draw(20, 2, cases()[0], 1);
  const Sample y = draw(25, 2, cases()[0], 2, 0.5);
  const TestPool pool = make_test_pool(x, y, ThreadCount{1});
  const auto value = [&](const FeatureMap& map, std::size_t rank) {
    const WhitenedFeatures whitened = whiten(map, PooledFeatures(map, pool, pool.order, true, ThreadCount{1}));
    EXPECT_EQ(whitened.map.count, rank);
    const PooledFeatures features(whitened.map, pool, pool.order, true, ThreadCount{1});
    return Hotelling(0.0, whitened.eigenvalues).value(features.observed_x(), features.observed_y(), features);
  };
  const FeatureMap two{2, [](MatrixView<const double> rows, MatrixView<double> features) {
                         for (std::size_t i = 0; i < rows.rows(); ++i) std::ranges::copy(rows.row(i), &features(i, 0));
                       }};
  const FeatureMap four{4, [](MatrixView<const double> rows, MatrixView<double> features) {
                          for (std::size_t i = 0; i < rows.rows(); ++i) {
                            features(i, 0) = rows(i, 0);
                            features(i, 1) = 1e6;
                            features(i, 2) = rows(i, 1);
                            features(i, 3) = 2.0 * rows(i, 0);
                          }
                        }};
  const double expected = value(two, 2);
  EXPECT_NEAR(value(four, 2), expected, 1e-10 * expected);
}

// The ridge is in the units of the features, which a linear kernel squares: of columns a thousandth as large it is
// above every variance.
TEST(Hotelling, says_when_the_ridge_is_above_every_variance) {
  const Sample x = draw(40, 2, cases()[0], 1);
  const Sample y = draw(40, 2, cases()[0], 2);
  const auto warnings_of = [&](double unit) {
    const auto in_unit = [&](Sample sample) {
      for (double& v : sample.points.values()) v *= unit;
      return sample;
    };
    MethodOptions options;
    options.kernel = parse_kernel("linear");
    options.parameters = {{"locations", 2}};
    return distance("me", in_unit(x), in_unit(y), options).warnings;
  };
  EXPECT_TRUE(warnings_of(1.0).empty());
  const Warnings warnings = warnings_of(1e-3);
  ASSERT_EQ(test::ids(warnings), std::vector{WarningId::large_ridge});
  EXPECT_EQ(warnings[0].values[0], WarningValue(1e-5));
}

TEST(LocationMethods, say_when_one_outlier_draws_all_locations_away) {
  const Sample x = draw(50, 1, cases()[0], 1);
  Sample y = draw(50, 1, cases()[0], 2, 1.5);
  for (const std::string id : {"me", "scf"}) EXPECT_TRUE(distance(id, x, y, {}).warnings.empty()) << id;
  y.points(0, 0) = 1e6;
  for (const std::string id : {"me", "scf"}) {
    for (const double form : {0.0, 1.0}) {
      MethodOptions options;
      options.parameters = {{"form", form}};
      EXPECT_EQ(test::count(distance(id, x, y, options).warnings, WarningId::equal_features), 1) << id;
    }
  }
}

// ---- Plans ----

void expect_plan_equals_distances(const std::string& id, const PlanCase& c, const MethodOptions& options) {
  test::expect_plan_equals_distance(id, c, 3, options, test::kSameError, Seed{79}, 0.2, 67);
}

TEST(LocationMethods, have_plans_that_equal_the_distance_of_each_permutation) {
  for (const std::string id : {"me", "scf"}) {
    for (const PlanCase& c : cases()) {
      expect_plan_equals_distances(id, c, options_with({{"locations", 4}}));
      expect_plan_equals_distances(id, c, options_with({{"locations", 3}, {"ridge", 0}}));
      expect_plan_equals_distances(id, c, options_with({{"locations", 5}, {"form", 0}}));
      expect_plan_equals_distances(id, c, options_with({{"locations", 2}, {"optimise", 1}, {"iterations", 20}}));
    }
  }
  MethodOptions polynomial = options_with({{"locations", 3}, {"form", 0}});
  polynomial.kernel = parse_kernel("polynomial:2:1");
  expect_plan_equals_distances("me", cases()[1], polynomial);
}

// ---- Locations ----

// v = mean + sum_i c_i (z_i - mean) with normal c: over 4000 draws mean and covariance are those of the rows within six
// standard errors (of a mean: sd/sqrt(4000); of a variance: sqrt(2/4000) of it; the draws are normal).
TEST(Locations, have_the_mean_and_the_covariance_of_the_pool) {
  for (const bool weighted : {false, true}) {
    const Sample rows = draw(40, 2, {"", 40, 0, weighted}, 7, 3.0);
    const auto a = normalised_weights(rows);
    const Pool pool{rows.points, rows.points.view().row_range(0, 0)};
    const Matrix<double> drawn = draw_from_fitted_gaussian(pool, rows.weights, 4000, 0, Seed{2});
    double squares = 0.0;
    for (const double share : a) squares += share * share;
    const auto moments = [](const Matrix<double>& m, std::span<const double> w, double correction) {
      std::vector<double> mean(2, 0.0);
      for (std::size_t i = 0; i < m.rows(); ++i) {
        for (std::size_t k = 0; k < 2; ++k) mean[k] += w[i] * m(i, k);
      }
      std::vector<double> found = mean;
      for (std::size_t k = 0; k < 2; ++k) {
        for (std::size_t l = 0; l <= k; ++l) {
          double total = 0.0;
          for (std::size_t i = 0; i < m.rows(); ++i) total += w[i] * (m(i, k) - mean[k]) * (m(i, l) - mean[l]);
          found.push_back(total / correction);
        }
      }
      return found;  // mean_0, mean_1, var_0, cov, var_1
    };
    const auto expected = moments(rows.points, a, 1.0 - squares);
    const auto found = moments(drawn, std::vector<double>(4000, 1.0 / 4000), 1.0);
    const double largest = std::max(expected[2], expected[4]);
    for (std::size_t k = 0; k < 2; ++k) EXPECT_NEAR(found[k], expected[k], 6.0 * std::sqrt(largest / 4000.0));
    for (std::size_t k = 2; k < 5; ++k) EXPECT_NEAR(found[k], expected[k], 6.0 * largest * std::sqrt(2.0 / 4000.0));
  }
}

// Central differences with step h are off by h^2/6 of the third derivative and eps/h of the value: at h = 1e-5 both are
// below 1e-9 of the size of the statistic and its derivatives, which are within 1e3 of the gradient.
TEST(Locations, have_the_gradient_that_differences_show) {
  for (const bool weighted : {false, true}) {
    const PlanCase c{"", 0, 0, weighted};
    const Sample x = draw(30, 2, c, 1);
    const Sample y = draw(25, 2, c, 2, 0.7);
    const GaussianBumps bump_features;
    const WindowedWaves wave_features({0.3, 0.2});
    for (const LocationFeatures* features :
         {static_cast<const LocationFeatures*>(&bump_features), static_cast<const LocationFeatures*>(&wave_features)}) {
      const Locations at{places(), 1.4};
      const double ridge = 1e-3;
      const Criterion here = criterion(*features, at, x, y, ridge);
      const auto value_at = [&](const Locations& there) { return criterion(*features, there, x, y, ridge).value; };
      const double h = 1e-5;
      for (std::size_t i = 0; i < at.points.values().size(); ++i) {
        Locations above = at;
        Locations below = at;
        above.points.values()[i] += h;
        below.points.values()[i] -= h;
        const double slope = (value_at(above) - value_at(below)) / (2.0 * h);
        EXPECT_NEAR(here.by_points.values()[i], slope, 1e-6 * (std::abs(slope) + here.value)) << i;
      }
      Locations above = at;
      Locations below = at;
      above.width *= std::exp(h);
      below.width *= std::exp(-h);
      const double slope = (value_at(above) - value_at(below)) / (2.0 * h);
      EXPECT_NEAR(here.by_log_width, slope, 1e-6 * (std::abs(slope) + here.value));
    }
  }
}

TEST(Locations, criterion_is_the_hotelling_statistic) {
  const Sample x = draw(30, 2, cases()[4], 1);
  const Sample y = draw(25, 2, cases()[4], 2, 0.7);
  const double expected = distance("me", x, y, options_at(places(), {{"ridge", 0.01}})).statistic;
  EXPECT_NEAR(criterion(GaussianBumps(), {places(), 1.4}, x, y, 0.01).value, expected, 1e-9 * expected);
}

// Y has a bump of its own at 3, and a location starts on its slope: the top is where the samples differ most.
TEST(Locations, climb_to_where_the_samples_differ) {
  RandomStream stream(Seed{9}, Purpose::test_data);
  Sample x{Matrix<double>(300, 1), {}, {}};
  Sample y{Matrix<double>(300, 1), {}, {}};
  for (double& v : x.points.values()) v = stream.normal();
  for (double& v : y.points.values()) v = stream.normal();
  for (std::size_t i = 0; i < 60; ++i) y.points(i, 0) = 3.0 + 0.3 * stream.normal();
  const GaussianBumps features;
  const Locations start{Matrix<double>(1, 1, {2.2}), 0.6};
  const Locations found = optimise_locations(features, start, x, y, 1e-5, 400);
  EXPECT_GT(criterion(features, found, x, y, 1e-5).value, 1.5 * criterion(features, start, x, y, 1e-5).value);
  EXPECT_GT(found.points(0, 0), 2.7);
}

// ---- Tests ----

TEST(LocationMethods, by_the_chi_square_distribution_have_its_tail) {
  const Sample x = draw(200, 2, cases()[0], 1);
  const Sample y = draw(150, 2, cases()[0], 2, 0.1);
  TwoSampleOptions options;
  options.calibration = Calibration::asymptotic;
  // With two degrees of freedom the tail of the chi-square distribution is exp(-t/2).
  for (const auto& [id, locations] : {std::pair<std::string, double>{"me", 2}, {"scf", 1}}) {
    options.method = id;
    options.statistic = options_with({{"locations", locations}});
    const TwoSampleResult result = two_sample_test(x, y, options);
    EXPECT_EQ(result.limiting_distribution, "chi-square with 2 degrees of freedom");
    const double expected = std::exp(-0.5 * result.test.statistic);
    EXPECT_NEAR(result.test.pvalue, expected, 1e-12 * expected);
    EXPECT_NEAR(result.test.statistic, distance(id, x, y, options.statistic).statistic, 1e-12);
  }
  options.method = "me";
  options.statistic = options_with({{"form", 0}});
  test::expect_error(ErrorCode::invalid_option,
                     "me: calibration = asymptotic needs form = hotelling, unnormalised has no simple distribution",
                     [&] { static_cast<void>(two_sample_test(x, y, options)); });
}

TEST(LocationMethods, set_the_rows_aside_that_locations_are_fitted_on) {
  const Sample x = draw(40, 2, cases()[0], 1);
  const Sample y = draw(60, 2, cases()[0], 2, 1.0);
  for (const std::string id : {"me", "scf"}) {
    TwoSampleOptions options;
    options.method = id;
    options.statistic = options_with({{"locations", 2}, {"optimise", 1}, {"share", 0.25}});
    options.test.num_permutations = 99;
    const TwoSampleResult result = two_sample_test(x, y, options);
    EXPECT_EQ(result.num_set_aside, 25U);
    EXPECT_EQ(result.num_reference, 2U);
    EXPECT_LE(result.test.pvalue, 0.05);
    options.test.design = Design::paired();
    const Sample cut = draw(40, 2, cases()[0], 2, 1.0);
    EXPECT_LE(two_sample_test(x, cut, options).test.pvalue, 0.05);
  }
}

TEST(LocationMethods, see_no_difference_where_there_is_no_variation) {
  const Sample same{Matrix<double>(12, 2, 0.7), {}, {}};
  for (const std::string id : {"me", "scf"}) {
    for (const double form : {0.0, 1.0}) {
      TwoSampleOptions options;
      options.method = id;
      options.statistic.parameters = {{"locations", 3}, {"form", form}};
      const TwoSampleResult result = two_sample_test(same, same, options);
      EXPECT_EQ(result.test.statistic, 0.0);
      EXPECT_EQ(result.test.pvalue, 1.0);
    }
  }
}

TEST(LocationMethods, name_what_they_cannot_do) {
  const Sample x = draw(6, 2, cases()[0], 1);
  const Sample y = draw(9, 2, cases()[0], 2);
  const auto run = [&](const std::string& id, const MethodOptions& options) {
    return [&, id, options] { static_cast<void>(distance(id, x, y, options)); };
  };
  // Methods C4: J >= n - 1.
  test::expect_error(ErrorCode::invalid_option,
                     "me: 5 features and 6 rows of X: their covariance is singular; take fewer locations or ridge > 0",
                     run("me", options_with({{"locations", 5}, {"ridge", 0}})));
  EXPECT_GT(distance("me", x, y, options_with({{"locations", 4}, {"ridge", 0}})).statistic, 0.0);
  EXPECT_GT(distance("me", x, y, options_with({{"locations", 5}, {"ridge", 1e-3}})).statistic, 0.0);
  test::expect_error(ErrorCode::invalid_option,
                     "scf: 6 features and 6 rows of X: their covariance is singular; take fewer locations or ridge > 0",
                     run("scf", options_with({{"locations", 3}, {"ridge", 0}})));
  test::expect_error(ErrorCode::resource_limit,
                     "me: form = hotelling with 301 features, at most 300; take fewer locations or form = unnormalised",
                     run("me", options_with({{"locations", 301}})));
  MethodOptions laplace = options_with({{"optimise", 1}});
  laplace.kernel = parse_kernel("laplace@2");
  test::expect_error(ErrorCode::invalid_option, "me: optimise = 1 with kernel laplace@2, needs gaussian",
                     run("me", laplace));
  test::expect_error(ErrorCode::invalid_option,
                     "scf: kernel laplace@2, needs gaussian: its bandwidth is the width of the window",
                     run("scf", laplace));
  test::expect_error(ErrorCode::shape_mismatch,
                     "reference points have 3 columns and the data 2, expected the same number",
                     run("me", options_at(Matrix<double>(1, 3, 0.0), {})));
  const Sample one = draw(1, 2, cases()[0], 3);
  test::expect_error(ErrorCode::empty_sample, "X has one row, form = hotelling needs at least two", [&] {
    static_cast<void>(distance("me", one, y, options_with({{"locations", 2}})));
  });
  EXPECT_GT(distance("me", one, y, options_with({{"form", 0}})).statistic, 0.0);
}

}  // namespace
}  // namespace kqd
