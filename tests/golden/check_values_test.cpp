// The check values of the specification: numbers computed by other means than this code.
#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <limits>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "kqd/kqd.hpp"
#include "metrics/mean/mean_embedding.hpp"

namespace kqd {
namespace {

Sample column(std::initializer_list<double> values) {
  return {Matrix<double>(values.size(), 1, values), {}, {}};
}

KernelSpec gaussian(double bandwidth) {
  return {.family = KernelFamily::gaussian, .bandwidth = bandwidth};
}

MethodOptions golden_options(double power) {
  MethodOptions options;
  options.kernel = gaussian(2.0);
  options.directions.reference = ReferenceMeasure::points;
  options.directions.reference_points = Matrix<double>(4, 1, {4, 5, 6, 7});
  options.directions.coefficients = Matrix<double>(4, 2, {1, .3, -1, .7, .5, -1.2, 2, .4});
  options.power = power;
  return options;
}

constexpr double kDigits = 1e-9;  // the check values are given to ten decimals

TEST(CheckValues, diracs_have_the_same_gap_for_every_power_and_weighting) {
  MethodOptions options;
  options.kernel = gaussian(1.0);
  options.directions.reference = ReferenceMeasure::points;
  options.directions.reference_points = Matrix<double>(1, 1, {0.0});
  options.directions.coefficients = Matrix<double>(1, 1, {1.0});
  for (const double power : {1.0, 1.5, 2.0, 3.0, 20.0, std::numeric_limits<double>::infinity()}) {
    for (const char* weighting : {"uniform", "triangle", "slope-up:0.3", "beta:2:5", "atom:0.5", "interval:0.1:0.2"}) {
      options.power = power;
      options.weighting = parse_level_weights(weighting);
      EXPECT_NEAR(ekqd(column({0.0}), column({1.0}), options).statistic, 1.0 - std::exp(-0.5), 1e-15)
          << power << weighting;
    }
  }
}

TEST(CheckValues, linear_kernel_in_one_dimension_is_wasserstein) {
  MethodOptions options;
  options.kernel = parse_kernel("linear");
  const Sample x = column({0, 1});
  const Sample y = column({0.5, 2, 3});
  const std::vector<std::pair<double, double>> powers = {{1.0, 4.0 / 3.0}, {2.0, 9.0 / 4.0}, {3.0, 101.0 / 24.0}};
  for (const auto& [power, expected] : powers) {
    options.power = power;
    for (const DirectionFamily family : {DirectionFamily::gaussian, DirectionFamily::linear, DirectionFamily::axis}) {
      options.directions.family = family;
      EXPECT_NEAR(ekqd(x, y, options).statistic_power, expected, 1e-13) << power;
      EXPECT_NEAR(supkqd(x, y, options).statistic_power, expected, 1e-13) << power;
    }
  }
}

TEST(CheckValues, golden_norms_and_direction_values) {
  const MethodOptions options = golden_options(1.0);
  const KernelDirections directions(Kernel(gaussian(2.0)), options.directions.reference_points,
                                    options.directions.coefficients);
  EXPECT_NEAR(directions.norms()[0], 2.2014815438, 1e-10);
  EXPECT_NEAR(directions.norms()[1], 0.4491420297, 1e-10);
  Matrix<double> values(2, 4);
  directions.evaluate(options.directions.reference_points, 0, values, ThreadCount{1});
  const std::vector<double> expected = {.4860696493, .6980783816, .9034949977, .9808713886};
  for (std::size_t j = 0; j < 4; ++j) EXPECT_NEAR(values(0, j), expected[j], 1e-10);
}

TEST(CheckValues, golden_vector_equal_sizes) {
  const Sample x = column({4, 5});
  const Sample y = column({6, 7});
  EXPECT_NEAR(std::sqrt(mmd_v_squared(Kernel(gaussian(2.0)), x, y, ThreadCount{1})), 0.8199948524, kDigits);
  const double expected[3][4] = {{.5382249925, .7263408074, .8216721044, .8222538993},
                                 {.5757366332, .7320091793, .8238874476, .8250200167},
                                 {.6077169007, .7375479754, .8260826138, .8288941272}};
  for (std::size_t p = 1; p <= 3; ++p) {
    const MethodOptions options = golden_options(static_cast<double>(p));
    EXPECT_NEAR(ekqd(x, y, options).statistic, expected[p - 1][0], kDigits) << p;
    EXPECT_NEAR(supkqd(x, y, options).statistic, expected[p - 1][1], kDigits) << p;
    EXPECT_NEAR(ekqd_centered(x, y, options).statistic, expected[p - 1][2], kDigits) << p;
    EXPECT_NEAR(supkqd_centered(x, y, options).statistic, expected[p - 1][3], kDigits) << p;
  }
}

TEST(CheckValues, golden_vector_slope_up) {
  const double expected[2][2] = {{.5441259824, .7718008725}, {.5938923864, .7758069601}};
  for (std::size_t p = 1; p <= 2; ++p) {
    MethodOptions options = golden_options(static_cast<double>(p));
    options.weighting = parse_level_weights("slope-up:0");
    EXPECT_NEAR(ekqd(column({4, 5}), column({6, 7}), options).statistic, expected[p - 1][0], kDigits);
    EXPECT_NEAR(supkqd(column({4, 5}), column({6, 7}), options).statistic, expected[p - 1][1], kDigits);
  }
}

TEST(CheckValues, golden_vector_unequal_sizes) {
  const Sample x = column({4, 5});
  const Sample y = column({5.5, 6, 7});
  const double expected[2][4] = {{.4655031557, .6254575378, .6892784570, .6896328439},
                                 {.5003959670, .6351436310, .6931877047, .6961335812}};
  for (std::size_t p = 1; p <= 2; ++p) {
    const MethodOptions options = golden_options(static_cast<double>(p));
    EXPECT_NEAR(ekqd(x, y, options).statistic, expected[p - 1][0], kDigits) << p;
    EXPECT_NEAR(supkqd(x, y, options).statistic, expected[p - 1][1], kDigits) << p;
    EXPECT_NEAR(ekqd_centered(x, y, options).statistic, expected[p - 1][2], kDigits) << p;
    EXPECT_NEAR(supkqd_centered(x, y, options).statistic, expected[p - 1][3], kDigits) << p;
  }
  MethodOptions triangle = golden_options(2.0);
  triangle.weighting = parse_level_weights("triangle:0");
  EXPECT_NEAR(ekqd(x, y, triangle).statistic, .5064004427, kDigits);
  EXPECT_NEAR(supkqd(x, y, triangle).statistic, .6417836773, kDigits);
}

// The MMD witness is a direction too: its mean difference is MMD_V, and a gap of quantiles is at least that of means.
TEST(CheckValues, witness_direction_reaches_the_mmd) {
  MethodOptions options = golden_options(1.0);
  options.directions.coefficients = Matrix<double>(4, 1, {.5, .5, -.5, -.5});
  const double mmd = 0.8199948524;
  EXPECT_NEAR(ekqd(column({4, 5}), column({6, 7}), options).statistic, mmd, kDigits);
  for (const double power : {1.5, 2.0, 3.0, 10.0}) {
    options.power = power;
    EXPECT_GE(ekqd(column({4, 5}), column({6, 7}), options).statistic, mmd - kDigits);
  }
}

TEST(CheckValues, level_masses_are_the_published_fractions) {
  const auto expect = [](const char* weighting, const std::vector<double>& expected) {
    const auto masses = level_masses(parse_level_weights(weighting), expected.size());
    for (std::size_t j = 0; j < expected.size(); ++j) EXPECT_DOUBLE_EQ(masses[j], expected[j]) << weighting << " " << j;
  };
  expect("triangle:0", {.125, .375, .375, .125});
  expect("reverse-triangle:0", {.375, .125, .125, .375});
  expect("slope-up:0", {1.0 / 16, 3.0 / 16, 5.0 / 16, 7.0 / 16});
  expect("slope-down:0", {7.0 / 16, 5.0 / 16, 3.0 / 16, 1.0 / 16});
  expect("triangle:0.5", {5.0 / 24, 7.0 / 24, 7.0 / 24, 5.0 / 24});
  expect("slope-up:0.5", {5.0 / 12, 7.0 / 12});
  expect("triangle:1", {.25, .25, .25, .25});
  expect("interval:0.25:0.75", {0, .5, .5, 0});
  expect("atom:0.5", {0, 1, 0, 0});
  expect("atom:0", {1, 0, 0, 0});
  expect("beta:1:1", {.25, .25, .25, .25});
  expect("beta:2:1", {1.0 / 16, 3.0 / 16, 5.0 / 16, 7.0 / 16});
  const auto points = point_evaluated_masses(parse_level_weights("triangle:0"), 4);
  for (std::size_t j = 0; j < 4; ++j) EXPECT_DOUBLE_EQ(points[j], (j == 1 || j == 2) ? .5 : 0.0);
}

// The constants of the authors' unit tests, with the coefficients that their generator draws (float32 there: 1e-6).
class AuthorsConstants : public testing::Test {
 protected:
  static MethodOptions options(const std::string& key, const Sample& x, const Sample& y, double bandwidth,
                               double power) {
    std::ifstream file(std::string(KQD_PUBLISHED) + "/reference-stream.json");
    const auto rows = nlohmann::json::parse(file).at("unit_tests").at(key).get<std::vector<std::vector<double>>>();
    MethodOptions options;
    options.kernel = gaussian(bandwidth);
    options.power = power;
    options.directions.reference = ReferenceMeasure::points;
    options.directions.reference_points = Matrix<double>(x.points.rows() + y.points.rows(), 1);
    std::ranges::copy(x.points.values(), options.directions.reference_points.data());
    std::ranges::copy(y.points.values(), options.directions.reference_points.data() + x.points.rows());
    options.directions.coefficients = Matrix<double>(rows.size(), rows[0].size());
    for (std::size_t j = 0; j < rows.size(); ++j)
      std::ranges::copy(rows[j], options.directions.coefficients.row(j).begin());
    apply_compat("jitter", options);
    return options;
  }
};

TEST_F(AuthorsConstants, sup) {
  const Sample x = column({1, 2, 3}), y = column({4, 5, 6});
  const auto o = options("sup X={1,2,3} Y={4,5,6} sigma=1 l=5 p=2 -> tau^2 0.6356133819", x, y, 1.0, 2.0);
  EXPECT_NEAR(supkqd(x, y, o).statistic_power, 0.6356133819, 1e-6);
}

TEST_F(AuthorsConstants, expected) {
  const Sample x = column({4, 5}), y = column({6, 7});
  const auto o = options("e-KQD X={4,5} Y={6,7} sigma=2 l=3 p=2 -> 0.2308304459", x, y, 2.0, 2.0);
  EXPECT_NEAR(ekqd(x, y, o).statistic, 0.2308304459, 1e-6);
}

TEST_F(AuthorsConstants, centered) {
  const Sample x = column({7, 9}), y = column({8, 10});
  const auto o = options("centered e-KQD X={7,9} Y={8,10} sigma=1 l=2 p=2 -> 0.5697478056", x, y, 1.0, 2.0);
  EXPECT_NEAR(ekqd_centered(x, y, o).statistic, 0.5697478056, 1e-6);
}

TEST_F(AuthorsConstants, unnormalised_triangle) {
  const Sample x = column({1, 2, 3}), y = column({4, 5, 6});
  auto o = options("unnormalised triangle r=0 p=1 X={1,2,3} Y={4,5,6} sigma=2 l=3 -> 1.3815598488", x, y, 2.0, 1.0);
  o.weighting = parse_level_weights("triangle:0");
  apply_compat("unnormalised,point-levels", o);
  EXPECT_NEAR(ekqd(x, y, o).statistic, 1.3815598488, 1e-6);
}

}  // namespace
}  // namespace kqd
