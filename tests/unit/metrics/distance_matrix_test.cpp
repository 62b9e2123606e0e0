#include "kqd/metrics/distance_matrix.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <string>
#include <vector>

#include "kqd/kqd.hpp"
#include "metrics/method.hpp"
#include "metrics/quantile/kqd.hpp"
#include "support/errors.hpp"
#include "support/rounding.hpp"
#include "support/source.hpp"
#include "support/warnings.hpp"

namespace kqd {
namespace {

// Five samples of different sizes; the last is shifted.
std::vector<Sample> five_samples(std::size_t dim = 3) {
  test::Source source(11);
  std::vector<Sample> samples;
  for (const std::size_t rows : {40U, 25U, 40U, 1U, 33U}) {
    samples.push_back(test::normal_sample({rows, dim}, source, samples.size() == 4 ? 1.0 : 0.0));
  }
  return samples;
}

std::vector<SampleView> views(const std::vector<Sample>& samples) {
  return {samples.begin(), samples.end()};
}

std::vector<std::string> letters(std::size_t count) {
  std::vector<std::string> names;
  for (std::size_t i = 0; i < count; ++i) names.emplace_back(1, static_cast<char>('A' + i));
  return names;
}

DistanceMatrix matrix_of(const std::vector<Sample>& samples, const DistanceMatrixOptions& options) {
  return distance_matrix(views(samples), letters(samples.size()), options);
}

DistanceMatrixOptions few_directions(const std::string& method) {
  DistanceMatrixOptions options{.method = method, .statistic = {}};
  options.statistic.directions.num_directions = 9;
  options.statistic.directions.num_reference = 7;
  return options;
}

void expect_pairwise_numbers(const std::vector<Sample>& samples, const DistanceMatrix& matrix, double tolerance) {
  for (std::size_t i = 0; i < samples.size(); ++i) {
    EXPECT_EQ(matrix.values(i, i), 0.0);
    for (std::size_t j = i + 1; j < samples.size(); ++j) {
      const double only = distance(matrix.method, samples[i], samples[j], matrix.shared).statistic;
      EXPECT_NEAR(matrix.values(i, j), only, tolerance * only) << matrix.method << " " << i << " " << j;
      EXPECT_EQ(matrix.values(i, j), matrix.values(j, i));
    }
  }
}

// The shared settings are explicit: reference points, coefficients, bandwidth. With them a pair by itself takes the
// same steps, so the same bits come out.
TEST(DistanceMatrix, has_one_epsilon_for_all_pairs) {
  std::vector<Sample> samples = five_samples(2);
  samples.resize(3);
  for (double& v : samples[2].points.values()) v *= 5.0;  // costs of its pairs are larger
  const DistanceMatrix matrix = matrix_of(samples, {.method = "sinkhorn", .statistic = {}});
  EXPECT_GT(matrix.shared.parameters.at("epsilon"), 0.0);
  expect_pairwise_numbers(samples, matrix, 1e-9);
}

TEST(DistanceMatrix, of_jittered_directions_divides_by_their_norm_once) {
  std::vector<Sample> samples = five_samples(2);
  for (Sample& sample : samples) {
    for (double& v : sample.points.values()) v *= 1e-3;  // squared norms near the jitter
  }
  DistanceMatrixOptions options = few_directions("ekqd");
  options.statistic.kernel = parse_kernel("linear");
  options.statistic.directions.jitter = 1e-6;
  samples.resize(2);  // a matrix of two is the distance itself
  const DistanceMatrix two = matrix_of(samples, options);
  EXPECT_NEAR(two.values(0, 1), distance("ekqd", samples[0], samples[1], options.statistic).statistic,
              1e-9 * two.values(0, 1));
}

TEST(DistanceMatrix, entries_are_the_pairwise_distances_with_the_shared_settings) {
  const auto samples = five_samples();
  for (const std::string method : {"ekqd", "supkqd"}) {
    for (const double power : {1.0, 2.0, 3.5, std::numeric_limits<double>::infinity()}) {
      for (const DirectionFamily family :
           {DirectionFamily::gaussian, DirectionFamily::principal, DirectionFamily::mixed}) {
        DistanceMatrixOptions options = few_directions(method);
        options.statistic.power = power;
        options.statistic.directions.family = family;
        expect_pairwise_numbers(samples, matrix_of(samples, options), 0.0);
      }
    }
  }
}

// Linear directions measure from the mean of all samples, a pair from its own: that is a rounding of each value (d
// products and sums, a subtraction) against a spread of about 1, and gaps are differences of two of them.
TEST(DistanceMatrix, linear_directions_agree_with_pairs_to_rounding) {
  const auto samples = five_samples();
  for (const std::string method : {"sw", "gsw"}) {
    expect_pairwise_numbers(samples, matrix_of(samples, few_directions(method)), test::roundings(200));
  }
  DistanceMatrixOptions options = few_directions("ekqd");
  options.statistic.directions.family = DirectionFamily::axis;
  expect_pairwise_numbers(samples, matrix_of(samples, options), test::roundings(200));
}

TEST(DistanceMatrix, other_methods_take_pairs_with_the_shared_bandwidth) {
  auto samples = five_samples();
  samples.erase(samples.begin() + 3);  // the unbiased MMD needs two rows
  for (const MethodInfo& method : methods()) {
    if (!method.has_distance || method_with_id(method.id).slices != nullptr) continue;
    const DistanceMatrix matrix = matrix_of(samples, few_directions(std::string(method.id)));
    expect_pairwise_numbers(samples, matrix, 0.0);
    EXPECT_FALSE(method.uses.kernel && needs_bandwidth(matrix.shared.kernel)) << method.id;
  }
}

TEST(DistanceMatrix, weighted_rows_count_by_their_weight_and_rows_of_weight_zero_not_at_all) {
  auto samples = five_samples();
  test::Source source(5);
  for (double& weight : samples[0].weights = std::vector<double>(40)) weight = source.uniform();
  const DistanceMatrix without = matrix_of(samples, few_directions("ekqd"));
  expect_pairwise_numbers(samples, without, 0.0);
  Sample longer{Matrix<double>(41, 3, 1e6), samples[0].weights, {}};
  std::ranges::copy(samples[0].points.values(), longer.points.data());
  longer.weights.push_back(0.0);
  samples[0] = longer;
  EXPECT_TRUE(std::ranges::equal(matrix_of(samples, few_directions("ekqd")).values.values(), without.values.values()));
}

// Draws from the pool do not depend on the samples: in another order they have the same distances.
TEST(DistanceMatrix, the_order_of_the_samples_does_not_matter) {
  auto samples = five_samples();
  const DistanceMatrix one = matrix_of(samples, few_directions("ekqd"));
  std::ranges::reverse(samples);
  const DistanceMatrix other = matrix_of(samples, few_directions("ekqd"));
  for (std::size_t i = 0; i < 5; ++i) {
    for (std::size_t j = 0; j < 5; ++j) EXPECT_EQ(one.values(i, j), other.values(4 - i, 4 - j));
  }
}

TEST(DistanceMatrix, thread_counts_change_no_bit) {
  const auto samples = five_samples();
  DistanceMatrixOptions options = few_directions("ekqd");
  options.statistic.threads = ThreadCount{1};
  const DistanceMatrix one = matrix_of(samples, options);
  options.statistic.threads = ThreadCount{4};
  EXPECT_TRUE(std::ranges::equal(matrix_of(samples, options).values.values(), one.values.values()));
}

// Axes, counting how many values they were asked for.
class CountingAxes : public LinearDirections {
 public:
  explicit CountingAxes(Matrix<double> axes) : LinearDirections(std::move(axes)) {}
  void evaluate_from(std::span<const double> origin, MatrixView<const double> points, std::size_t first,
                     MatrixView<double> values, ThreadCount threads) const override {
    num_values += values.rows() * points.rows();
    LinearDirections::evaluate_from(origin, points, first, values, threads);
  }
  mutable std::size_t num_values = 0;
};

// Every projection is sorted where it is made, so as many are sorted as are made: each sample once per direction, and
// not once per pair.
TEST(DistanceMatrix, each_sample_is_projected_and_sorted_once) {
  const auto samples = five_samples();
  Matrix<double> axes(3, 3, 0.0);
  std::size_t rows = 0;
  for (std::size_t k = 0; k < 3; ++k) axes(k, k) = 1.0;
  for (const Sample& sample : samples) rows += sample.points.rows();
  const CountingAxes directions(std::move(axes));
  const std::vector<double> origin(3, 0.0);
  const PairwiseGaps gaps = measure_all_pairs(directions, origin, views(samples), {}, Over::mean);
  EXPECT_EQ(directions.num_values, 3 * rows);
  EXPECT_EQ(gaps.distances.rows(), samples.size());
}

TEST(DistanceMatrix, warns_about_a_sample_of_one_row_by_its_name) {
  const DistanceMatrix matrix = matrix_of(five_samples(), few_directions("ekqd"));
  EXPECT_EQ(matrix.warnings, test::only(WarningId::one_row, "D"));
}

TEST(DistanceMatrix, refuses_what_makes_no_matrix) {
  const auto samples = five_samples();
  const auto two_columns = five_samples(2);
  const std::vector<SampleView> mixed = {samples[0], two_columns[0]};
  test::expect_error(ErrorCode::shape_mismatch, "A has 3 columns and B has 2, expected the same number",
                     [&] { (void)distance_matrix(mixed, letters(2)); });
  test::expect_error(ErrorCode::shape_mismatch, "a distance matrix of 1 sample, needs at least two",
                     [&] { (void)distance_matrix(std::span(mixed).first(1), letters(1)); });
  test::expect_error(ErrorCode::shape_mismatch, "1 names for 2 samples, expected one each",
                     [&] { (void)distance_matrix(mixed, letters(1)); });
  test::expect_error(ErrorCode::invalid_option,
                     "method = adaptive: expected a method with a distance; this one is only a test. Use ekqd or "
                     "another method",
                     [&] { (void)matrix_of(samples, few_directions("adaptive")); });
  DistanceMatrixOptions options;
  options.statistic.directions.reference = ReferenceMeasure::balanced;
  test::expect_error(ErrorCode::invalid_option,
                     "reference balanced takes half of its points from each of two samples; for a matrix use pooled, "
                     "gaussian or uniform",
                     [&] { (void)matrix_of(samples, options); });
}

TEST(DistanceMatrix, shows_progress_and_ends_at_a_stop_flag) {
  const auto samples = five_samples();
  for (const std::string method : {"ekqd", "energy"}) {
    std::atomic<bool> stop{false};
    std::vector<double> fractions;
    RunControl control{.progress = [&](const ProgressReport& at) { fractions.push_back(at.fraction()); },
                       .stop = &stop};
    (void)distance_matrix(views(samples), letters(5), few_directions(method), &control);
    ASSERT_FALSE(fractions.empty());
    EXPECT_TRUE(std::ranges::is_sorted(fractions)) << method;
    EXPECT_EQ(fractions.back(), 1.0);
    stop = true;
    test::expect_error(ErrorCode::interrupted, "stopped on request",
                       [&] { (void)distance_matrix(views(samples), letters(5), few_directions(method), &control); });
  }
}

// A power beyond the largest double is reported as that number, never as infinity.
TEST(StatisticPower, stays_finite_for_huge_powers) {
  const Sample x = test::column({0.0, 1.0});
  const Sample y = test::column({5.0, 9.0});
  MethodOptions options;
  options.power = 1e300;
  for (const std::string method : {"ekqd", "supkqd", "sw", "wasserstein", "max-sw", "supkqd-opt"}) {
    const DistanceResult result = distance(method, x, y, options);
    EXPECT_TRUE(std::isfinite(result.statistic)) << method;
    EXPECT_TRUE(std::isfinite(result.statistic_power)) << method;
    for (const Detail& detail : result.details) EXPECT_TRUE(std::isfinite(detail.value)) << method << detail.name;
  }
}

TEST(StatisticPower, costs_that_vanish_between_different_points_are_refused) {
  test::Source source(2);
  const Sample x = test::normal_sample({5, 2}, source);
  const Sample y = test::normal_sample({5, 2}, source);
  MethodOptions options;
  options.power = 1e300;
  test::expect_error(ErrorCode::non_finite_value,
                     "costs |x - y|^1e+300 between different points are 0 to rounding; take a smaller power",
                     [&] { (void)distance("wasserstein", x, y, options); });
  EXPECT_EQ(distance("wasserstein", x, x, {}).statistic, 0.0);
}

}  // namespace
}  // namespace kqd
