#include "kqd/metrics/embedding.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <vector>

#include "kqd/metrics/discrepancy.hpp"
#include "kqd/metrics/methods.hpp"
#include "support/errors.hpp"
#include "support/oracles.hpp"
#include "support/rounding.hpp"
#include "support/source.hpp"

namespace kqd {
namespace {

using test::column;
using test::expect_error;
using test::Real;
using test::roundings;
using test::within;

using Features = std::vector<Real>;

Real dot(const Features& a, const Features& b) {
  Real total = 0;
  for (std::size_t k = 0; k < a.size(); ++k) total += a[k] * b[k];
  return total;
}
Real length(const Features& a) {
  return std::sqrt(dot(a, a));
}
Features combine(Real s, const Features& a, Real t, const Features& b) {
  Features result(a.size());
  for (std::size_t k = 0; k < a.size(); ++k) result[k] = s * a[k] + t * b[k];
  return result;
}

// A kernel with a feature map of finite dimension: the embedding is then a vector that can be written down.
struct Explicit {
  const char* text;
  Features (*map)(std::span<const double> x);
};

Features linear_features(std::span<const double> x) {
  return {x.begin(), x.end()};
}

// (1 + x.z)^2 = phi(x).phi(z) in two dimensions.
Features square_features(std::span<const double> x) {
  const Real root = std::sqrt(Real{2});
  return {1, root * x[0], root * x[1], Real{x[0]} * x[0], Real{x[1]} * x[1], root * x[0] * x[1]};
}

const std::vector<Explicit> kExplicit = {{"linear", linear_features}, {"polynomial:2:1", square_features}};

// A sample and directions in feature space, and the embedding by its definition [KQE eq. 2].
class PlainEmbedding {
 public:
  PlainEmbedding(const Explicit& kernel, const Sample& sample, const Matrix<double>& reference,
                 const Matrix<double>& coefficients) {
    for (std::size_t i = 0; i < coefficients.cols(); ++i) {
      Features f(kernel.map(reference.row(0)).size(), 0);
      for (std::size_t j = 0; j < reference.rows(); ++j) {
        f = combine(1, f, coefficients(j, i), kernel.map(reference.row(j)));
      }
      directions_.push_back(combine(1 / length(f), f, 0, f));
    }
    mean_.assign(directions_[0].size(), 0);
    for (std::size_t i = 0; i < sample.points.rows(); ++i) {
      points_.push_back(kernel.map(sample.points.row(i)));
      mean_ = combine(1, mean_, 1 / static_cast<Real>(sample.points.rows()), points_.back());
      largest_ = std::max(largest_, length(points_.back()));
    }
  }

  [[nodiscard]] const Features& mean() const { return mean_; }
  [[nodiscard]] const Features& direction(std::size_t i) const { return directions_[i]; }
  [[nodiscard]] Real quantile(QuantileIndex at) const {
    std::vector<Real> values;
    for (const auto& point : points_) values.push_back(dot(directions_[at.direction], point));
    std::ranges::sort(values);
    const auto rank = static_cast<std::size_t>(std::ceil(at.level * static_cast<double>(values.size())));
    return values[std::max<std::size_t>(rank, 1) - 1];
  }
  [[nodiscard]] Features embedding(QuantileIndex at) const {
    return combine(quantile(at), direction(at.direction), 0, mean_);
  }
  [[nodiscard]] Features centered(QuantileIndex at) const {
    return combine(quantile(at) - dot(direction(at.direction), mean_), direction(at.direction), 1, mean_);
  }
  // The largest |phi(x_i)|: quantiles, means and embeddings are no longer than this (twice for centered ones).
  [[nodiscard]] Real largest() const { return largest_; }

 private:
  std::vector<Features> directions_;
  std::vector<Features> points_;
  Features mean_;
  Real largest_ = 0;
};

class EmbeddingOf : public testing::TestWithParam<Explicit> {
 protected:
  EmbeddingOf()
      : source_(1),
        x_(test::normal_sample({23, 2}, source_)),
        y_(test::normal_sample({31, 2}, source_, 0.7, 1.5)),
        reference_(test::normal_matrix({5, 2}, source_)),
        coefficients_(test::normal_matrix({5, 3}, source_)),
        plain_p_(GetParam(), x_, reference_, coefficients_),
        plain_q_(GetParam(), y_, reference_, coefficients_) {
    DirectionOptions options;
    options.reference = ReferenceMeasure::points;
    options.reference_points = reference_;
    options.coefficients = coefficients_;
    directions_ = draw_directions(Kernel(parse_kernel(GetParam().text)), x_, y_, options, Seed{}).directions;
  }

  [[nodiscard]] KernelQuantileEmbedding p() const { return {x_, directions_}; }
  [[nodiscard]] KernelQuantileEmbedding q() const { return {y_, directions_}; }

  // Directions are sums of five features of length up to 10 over a norm that is not much smaller than its terms here
  // (asserted), so that u is good to 1e3 roundings, and sums over up to 31 points add less than that.
  void SetUp() override {
    for (std::size_t i = 0; i < 3; ++i) {
      Real terms = 0;
      Features f(plain_p_.mean().size(), 0);
      for (std::size_t j = 0; j < 5; ++j) {
        const Features z = GetParam().map(reference_.row(j));
        terms += std::abs(coefficients_(j, i)) * length(z);
        f = combine(1, f, coefficients_(j, i), z);
      }
      ASSERT_GT(length(f), terms / 20);
    }
  }
  [[nodiscard]] static Real bound(Real size) { return roundings(2000) * size; }

  test::Source source_;
  Sample x_, y_;
  Matrix<double> reference_, coefficients_;
  PlainEmbedding plain_p_, plain_q_;
  std::shared_ptr<const Directions> directions_;
};

const std::vector<QuantileIndex> kIndices = {{0.0, 0}, {0.1, 1}, {0.5, 2}, {0.77, 0}, {1.0, 1}};

TEST_P(EmbeddingOf, a_sample_has_the_values_of_its_vector) {
  const auto embedding = p();
  for (const QuantileIndex at : kIndices) {
    const Real size = plain_p_.largest();
    EXPECT_TRUE(within(embedding.quantile(at), plain_p_.quantile(at), bound(size)));
    EXPECT_TRUE(
        within(embedding.mean(at.direction), dot(plain_p_.direction(at.direction), plain_p_.mean()), bound(size)));
    for (std::size_t i = 0; i < 10; ++i) {
      const auto x = y_.points.row(i);
      const Features phi = GetParam().map(x);
      const Real value_size = 2 * size * length(phi);
      EXPECT_TRUE(within(embedding.evaluate(at, x), dot(plain_p_.embedding(at), phi), bound(value_size)));
      EXPECT_TRUE(within(embedding.evaluate_centered(at, x), dot(plain_p_.centered(at), phi), bound(2 * value_size)));
      EXPECT_TRUE(within(embedding.mean_embedding(x), dot(plain_p_.mean(), phi), bound(value_size)));
    }
  }
}

TEST_P(EmbeddingOf, two_samples_have_the_inner_products_of_their_vectors) {
  const auto ep = p();
  const auto eq = q();
  for (const QuantileIndex a : kIndices) {
    EXPECT_TRUE(within(norm(ep, a), length(plain_p_.embedding(a)), bound(plain_p_.largest())));
    // The root of a squared norm that is off by e is off by at most sqrt(e), or e over twice the norm.
    const Real squared_error = bound(9 * plain_p_.largest() * plain_p_.largest());
    const Real centered_length = length(plain_p_.centered(a));
    EXPECT_TRUE(within(norm_centered(ep, a), centered_length,
                       std::min(std::sqrt(squared_error), squared_error / centered_length)));
    for (const QuantileIndex b : kIndices) {
      const Real size = plain_p_.largest() * plain_q_.largest();
      EXPECT_TRUE(within(inner_product(ep, a, eq, b), dot(plain_p_.embedding(a), plain_q_.embedding(b)), bound(size)));
      EXPECT_TRUE(within(inner_product_centered(ep, a, eq, b), dot(plain_p_.centered(a), plain_q_.centered(b)),
                         bound(9 * size)));
    }
  }
}

// ||rho~_P - rho~_Q||^2 = D^2 - c^2 + MMD^2 with D = q_P - q_Q and c = <u, mu_P - mu_Q>, at each level [KQE Prop. 2].
TEST_P(EmbeddingOf, centered_distance_is_the_gap_less_the_mean_gap_plus_the_mmd) {
  const auto ep = p();
  const auto eq = q();
  const Features delta = combine(1, plain_p_.mean(), -1, plain_q_.mean());
  for (const QuantileIndex at : kIndices) {
    const Real left = Real{inner_product_centered(ep, at, ep, at)} + inner_product_centered(eq, at, eq, at) -
                      2 * Real{inner_product_centered(ep, at, eq, at)};
    const Real d = plain_p_.quantile(at) - plain_q_.quantile(at);
    const Real c = dot(plain_p_.direction(at.direction), delta);
    const Real size = std::max(plain_p_.largest(), plain_q_.largest());
    EXPECT_TRUE(within(left, d * d - c * c + dot(delta, delta), bound(36 * size * size)));
    // Uncentered, along one direction: the distance is the gap.
    const Real uncentered =
        Real{inner_product(ep, at, ep, at)} + inner_product(eq, at, eq, at) - 2 * Real{inner_product(ep, at, eq, at)};
    EXPECT_TRUE(within(uncentered, d * d, bound(4 * size * size)));
  }
}

TEST_P(EmbeddingOf, integral_of_the_quantiles_is_the_mean) {
  const auto embedding = p();
  for (std::size_t i = 0; i < 3; ++i) {
    Real integral = 0;
    for (std::size_t k = 1; k <= 23; ++k) {
      integral += Real{embedding.quantile({static_cast<double>(k) / 23.0, i})} / 23;
    }
    EXPECT_TRUE(within(embedding.mean(i), integral, bound(plain_p_.largest())));
  }
}

// Forms for many levels, directions and points against those for one, which the tests above compare with vectors.
TEST_P(EmbeddingOf, forms_for_many_elements_have_the_values_of_those_for_one) {
  const auto ep = p();
  const auto eq = q();
  const std::vector<double> levels = {0.0, 0.3, 0.5, 1.0};
  const std::vector<double> other_levels = {0.25, 0.9};
  const auto points = y_.points.view().row_range(0, 6);
  const Matrix<double> quantiles = ep.quantiles(levels);
  const Matrix<double> plain = ep.evaluate(levels, points);
  const Matrix<double> centered = ep.evaluate_centered(levels, points);
  const std::vector<double> means = ep.mean_embeddings(points);
  const Matrix<double> products = inner_products(ep, levels, eq, other_levels);
  const Matrix<double> centered_products = inner_products_centered(ep, levels, eq, other_levels);
  const Matrix<double> lengths = norms(ep, levels);
  const Matrix<double> centered_lengths = norms_centered(ep, levels);
  ASSERT_EQ(plain.rows(), 12);
  ASSERT_EQ(products.rows(), 12);
  ASSERT_EQ(products.cols(), 6);
  const Real size = plain_p_.largest() * plain_q_.largest();
  for (std::size_t i = 0; i < 3; ++i) {
    for (std::size_t a = 0; a < levels.size(); ++a) {
      const QuantileIndex at{levels[a], i};
      EXPECT_EQ(quantiles(i, a), ep.quantile(at));
      EXPECT_EQ(lengths(i, a), norm(ep, at));
      const Real squared_error = bound(9 * plain_p_.largest() * plain_p_.largest());
      const Real length_of = length(plain_p_.centered(at));
      EXPECT_TRUE(
          within(centered_lengths(i, a), length_of, std::min(std::sqrt(squared_error), squared_error / length_of)));
      for (std::size_t j = 0; j < points.rows(); ++j) {
        EXPECT_EQ(means[j], ep.mean_embedding(points.row(j)));
        const Real value_size = 4 * plain_p_.largest() * length(GetParam().map(points.row(j)));
        EXPECT_TRUE(within(plain(i * 4 + a, j), ep.evaluate(at, points.row(j)), bound(value_size)));
        EXPECT_TRUE(within(centered(i * 4 + a, j), ep.evaluate_centered(at, points.row(j)), bound(value_size)));
      }
      for (std::size_t k = 0; k < 3; ++k) {
        for (std::size_t b = 0; b < other_levels.size(); ++b) {
          const QuantileIndex other{other_levels[b], k};
          EXPECT_TRUE(within(products(i * 4 + a, k * 2 + b), dot(plain_p_.embedding(at), plain_q_.embedding(other)),
                             bound(size)));
          EXPECT_TRUE(within(centered_products(i * 4 + a, k * 2 + b),
                             dot(plain_p_.centered(at), plain_q_.centered(other)), bound(9 * size)));
        }
      }
    }
  }
}

// Directions that q does not have: their means over q are taken from the points.
TEST_P(EmbeddingOf, centered_products_of_embeddings_with_other_directions_are_those_of_their_vectors) {
  const Matrix<double> coefficients = test::normal_matrix({5, 2}, source_);
  const PlainEmbedding plain(GetParam(), y_, reference_, coefficients);
  const KernelQuantileEmbedding other(
      y_,
      draw_directions(
          Kernel(parse_kernel(GetParam().text)), x_, y_,
          {.reference = ReferenceMeasure::points, .reference_points = reference_, .coefficients = coefficients}, Seed{})
          .directions);
  const std::vector<double> level = {0.4};
  const Matrix<double> found = inner_products_centered(p(), level, other, level);
  for (std::size_t i = 0; i < 3; ++i) {
    for (std::size_t k = 0; k < 2; ++k) {
      const Real exact = dot(plain_p_.centered({0.4, i}), plain.centered({0.4, k}));
      EXPECT_TRUE(within(found(i, k), exact, 20 * bound(9 * plain_p_.largest() * plain_q_.largest())));
      EXPECT_TRUE(within(inner_product_centered(p(), {0.4, i}, other, {0.4, k}), exact,
                         20 * bound(9 * plain_p_.largest() * plain_q_.largest())));
    }
  }
}

TEST_P(EmbeddingOf, four_discrepancies_of_embeddings_are_those_of_their_samples) {
  MethodOptions options;
  options.kernel = parse_kernel(GetParam().text);
  options.directions.reference = ReferenceMeasure::points;
  options.directions.reference_points = reference_;
  options.directions.coefficients = coefficients_;
  for (const double power : {1.0, 2.0}) {
    options.power = power;
    for (const char* const id : {"ekqd", "supkqd", "ekqd-centered", "supkqd-centered"}) {
      const DistanceResult found = distance(id, p(), q(), options);
      const DistanceResult expected = distance(id, x_, y_, options);
      // Linear directions of samples are measured from the pooled mean, those of embeddings are not.
      const Real error = bound(4 * std::max(plain_p_.largest(), plain_q_.largest()));
      EXPECT_TRUE(within(found.statistic, expected.statistic, error)) << id;
      EXPECT_EQ(found.directions, directions_);
    }
  }
}

TEST_P(EmbeddingOf, terms_of_directions_give_their_values) {
  const DirectionTerms terms = directions_->terms();
  Matrix<double> values(3, 4);
  directions_->evaluate(y_.points.view().row_range(0, 4), 0, values, {});
  for (std::size_t i = 0; i < 3; ++i) {
    for (std::size_t j = 0; j < 4; ++j) {
      const auto x = y_.points.row(j);
      Real value = 0;
      for (std::size_t k = 0; k < terms.coefficients.rows(); ++k) {
        const Real term =
            terms.reference.empty() ? Real{x[k]} : dot(GetParam().map(terms.reference.row(k)), GetParam().map(x));
        value += terms.coefficients(k, i) * term;
      }
      EXPECT_TRUE(within(values(i, j), value, bound(length(GetParam().map(x)))));
    }
  }
}

INSTANTIATE_TEST_SUITE_P(ExplicitFeatures, EmbeddingOf, testing::ValuesIn(kExplicit),
                         [](const auto& tested) { return std::string(tested.param.text).substr(0, 6); });

std::shared_ptr<const Directions> gaussian_directions() {
  return std::make_shared<KernelDirections>(Kernel(parse_kernel("gaussian@1")), Matrix<double>(2, 1, {0, 1}),
                                            Matrix<double>(2, 2, {1, 1, 0, -2}));
}

TEST(Embedding, of_one_point_is_the_value_there_at_every_level) {
  const auto directions = gaussian_directions();
  const KernelQuantileEmbedding embedding(column({0.4}), directions);
  double value = 0.0;
  const double x = 0.4;
  directions->evaluate({&x, 1, 1}, 1, {&value, 1, 1}, ThreadCount{1});
  for (const double level : {0.0, 0.25, 1.0}) EXPECT_EQ(embedding.quantile({level, 1}), value);
  EXPECT_EQ(embedding.mean(1), value);
}

TEST(Embedding, of_weights_is_that_of_repeated_points) {
  const auto directions = gaussian_directions();
  const Sample repeated = column({0.3, 0.3, 0.3, -1, 2, 2});
  for (const double scale : {1.0, 0.1, 1e-300}) {
    Sample weighted = column({0.3, -1, 2});
    weighted.weights = {3 * scale, 1 * scale, 2 * scale};
    const KernelQuantileEmbedding a(weighted, directions);
    const KernelQuantileEmbedding b(repeated, directions);
    for (std::size_t i = 0; i < 2; ++i) {
      for (const double level : {0.0, 0.1, 1.0 / 6.0 + 1e-9, 0.4, 0.5 + 1e-9, 0.8, 1.0}) {
        EXPECT_EQ(a.quantile({level, i}), b.quantile({level, i})) << level;
      }
      // Kernel values below 1 over a norm above 0.3: means of a handful of terms.
      EXPECT_NEAR(a.mean(i), b.mean(i), roundings(20) * 10);
      EXPECT_NEAR(norm_centered(a, {0.4, i}), norm_centered(b, {0.4, i}), roundings(200) * 10);
    }
  }
}

TEST(Embedding, is_not_changed_by_the_number_of_threads) {
  test::Source source(3);
  const Sample x = test::normal_sample({9000, 1}, source);
  const auto directions = gaussian_directions();
  const KernelQuantileEmbedding only(x, directions, ThreadCount{1});
  for (unsigned threads = 2; threads <= 8; ++threads) {
    const KernelQuantileEmbedding together(x, directions, ThreadCount{threads});
    for (const double level : {0.0, 0.3, 0.9}) EXPECT_EQ(only.quantile({level, 0}), together.quantile({level, 0}));
    EXPECT_EQ(only.mean(1), together.mean(1));
  }
}

TEST(Embedding, refuses_levels_directions_and_points_that_do_not_exist) {
  const KernelQuantileEmbedding embedding(column({1, 2, 3}), gaussian_directions());
  expect_error(ErrorCode::invalid_option, "level = 1.5, needs a number in [0, 1]", [&] {
    static_cast<void>(embedding.quantile({1.5, 0}));
  });
  expect_error(ErrorCode::invalid_option, "level = nan, needs a number in [0, 1]", [&] {
    static_cast<void>(embedding.quantile({std::nan(""), 0}));
  });
  expect_error(ErrorCode::invalid_option, "direction = 2, needs < 2", [&] {
    static_cast<void>(embedding.quantile({0.5, 2}));
  });
  const std::vector<double> two = {1, 2};
  expect_error(ErrorCode::shape_mismatch, "points have 2 columns and the directions 1, expected the same number", [&] {
    static_cast<void>(embedding.evaluate({0.5, 0}, two));
  });
  expect_error(ErrorCode::shape_mismatch, "points have 2 columns and the directions 1, expected the same number", [&] {
    KernelQuantileEmbedding(Sample{Matrix<double>(3, 2, 0.0), {}, {}}, gaussian_directions());
  });
  expect_error(ErrorCode::non_finite_value, "sample: row 2, column 1 is nan, expected a finite number", [&] {
    KernelQuantileEmbedding(column({1, std::nan("")}), gaussian_directions());
  });
}

TEST(Embedding, checks_every_index_and_point_it_is_given) {
  const KernelQuantileEmbedding embedding(column({1, 2, 3}), gaussian_directions());
  const std::vector<double> two = {1, 2};
  expect_error(ErrorCode::invalid_option, "direction = 2, needs < 2", [&] { static_cast<void>(embedding.mean(2)); });
  expect_error(ErrorCode::shape_mismatch, "points have 2 columns and the directions 1, expected the same number",
               [&] { static_cast<void>(embedding.mean_embedding(two)); });
  expect_error(ErrorCode::shape_mismatch, "points have 0 columns and the directions 1, expected the same number",
               [&] { static_cast<void>(embedding.mean_embedding({})); });
}

// Level 0 is the sample's minimum, and a row without weight is not in the sample.
TEST(Embedding, rows_of_weight_zero_are_as_if_they_were_not_there) {
  const auto directions = std::make_shared<LinearDirections>(Matrix<double>(1, 1, {1.0}));
  Sample x = column({-5, 1, 2, 9});
  x.weights = {0, 1, 3, 0};
  const KernelQuantileEmbedding embedding(x, directions);
  EXPECT_EQ(embedding.quantile({0.0, 0}), 1.0);
  EXPECT_EQ(embedding.quantile({0.25, 0}), 1.0);
  EXPECT_EQ(embedding.quantile({1.0, 0}), 2.0);
  EXPECT_EQ(embedding.sample().size(), 2U);
  EXPECT_EQ(embedding.mean(0), 1.75);
}

TEST(Embedding, keeps_its_own_copy_of_the_sample) {
  std::unique_ptr<KernelQuantileEmbedding> embedding;
  {
    Sample x = column({1, 2, 3});
    x.weights = {1, 1, 2};
    embedding = std::make_unique<KernelQuantileEmbedding>(x, gaussian_directions());
    for (double& v : x.points.values()) v = -100;
    x.weights = {};
  }
  const double at = 2.0;
  const double expected = (std::exp(-0.5) + 1.0 + 2.0 * std::exp(-0.5)) / 4.0;
  EXPECT_NEAR(embedding->mean_embedding({&at, 1}), expected, roundings(10));
  EXPECT_EQ(embedding->sample().size(), 3U);
  const KernelQuantileEmbedding moved = std::move(*embedding);
  EXPECT_NEAR(moved.mean_embedding({&at, 1}), expected, roundings(10));
}

// --- e-KQD between embeddings ---

TEST(EkqdOfEmbeddings, is_that_of_the_samples) {
  test::Source source(4);
  const Sample x = test::normal_sample({50, 1}, source);
  const Sample y = test::normal_sample({70, 1}, source, 1.0);
  MethodOptions options;
  options.kernel = parse_kernel("gaussian@1");
  options.directions.reference = ReferenceMeasure::points;
  options.directions.reference_points = Matrix<double>(2, 1, {0, 1});
  options.directions.coefficients = Matrix<double>(2, 2, {1, 1, 0, -2});
  options.weighting = parse_level_weights("triangle:0.3");
  for (const double power : {1.0, 2.5, std::numeric_limits<double>::infinity()}) {
    options.power = power;
    const auto directions = gaussian_directions();
    const auto from_embeddings =
        ekqd(KernelQuantileEmbedding(x, directions), KernelQuantileEmbedding(y, directions), options);
    const auto from_samples = ekqd(x, y, options);
    EXPECT_EQ(from_embeddings.statistic, from_samples.statistic);
    EXPECT_EQ(from_embeddings.per_direction, from_samples.per_direction);
    EXPECT_EQ(from_embeddings.num_directions, 2U);
  }
}

TEST(EkqdOfEmbeddings, needs_the_same_directions) {
  const KernelQuantileEmbedding p(column({1, 2}), gaussian_directions());
  const KernelQuantileEmbedding q(column({1, 2}), gaussian_directions());
  expect_error(ErrorCode::shape_mismatch, "the embeddings have different directions, expected the same object",
               [&] { static_cast<void>(ekqd(p, q)); });
}

TEST(Embedding, centered_discrepancy_needs_directions_of_norm_one) {
  const auto long_ones = std::make_shared<KernelDirections>(
      Kernel(parse_kernel("gaussian@1")), Matrix<double>(1, 1, {0.0}), Matrix<double>(1, 1, {2.0}), false);
  const KernelQuantileEmbedding embedding(column({0.4, 1.0}), long_ones);
  expect_error(ErrorCode::invalid_option,
               "a centered discrepancy needs directions of norm 1, but direction 1 has norm 2",
               [&] { static_cast<void>(ekqd_centered(embedding, embedding)); });
  EXPECT_EQ(ekqd(embedding, embedding).statistic, 0.0);
}

TEST(Embedding, discrepancy_with_another_id_is_refused) {
  const KernelQuantileEmbedding embedding(column({0.4, 1.0}), gaussian_directions());
  expect_error(ErrorCode::invalid_option,
               "method = mmd: expected ekqd, supkqd, ekqd-centered or supkqd-centered for embeddings",
               [&] { static_cast<void>(distance("mmd", embedding, embedding)); });
}

}  // namespace
}  // namespace kqd
