// The method "classifier" against direct computations: boosting with whole columns of residuals, pairs counted one by
// one.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <boost/math/special_functions/erf.hpp>
#include <cmath>
#include <numbers>
#include <vector>

#include "core/random.hpp"
#include "kqd/kqd.hpp"
#include "metrics/classifier/auc_plan.hpp"
#include "metrics/classifier/forward_fit.hpp"
#include "metrics/method.hpp"
#include "support/errors.hpp"
#include "support/source.hpp"

namespace kqd::classifier_test {
namespace {

using test::expect_error;

using Column = std::vector<double>;

double mean_of(const Column& values) {
  double sum = 0.0;
  for (const double v : values) sum += v / static_cast<double>(values.size());
  return sum;
}

double product_of(const Column& a, const Column& b) {
  double sum = 0.0;
  for (std::size_t i = 0; i < a.size(); ++i) sum += a[i] * b[i] / static_cast<double>(a.size());
  return sum;
}

Column times(const Column& a, const Column& b) {
  Column result(a.size());
  for (std::size_t i = 0; i < a.size(); ++i) result[i] = a[i] * b[i];
  return result;
}

// Normal quantile of the share of values below plus half of those equal.
Column normal_scores(const Column& values) {
  Column scores;
  for (const double v : values) {
    double rank = 0.0;
    for (const double w : values) rank += w < v ? 1.0 : (w == v ? 0.5 : 0.0);
    scores.push_back(std::numbers::sqrt2 * boost::math::erf_inv(2.0 * rank / static_cast<double>(values.size()) - 1.0));
  }
  return scores;
}

// All features of two columns, in the order of the dictionary; components in closed form.
std::vector<Column> features_of(const Matrix<double>& rows, Seed seed) {
  const std::size_t n = rows.rows();
  std::array<Column, 2> raw;
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t j = 0; j < 2; ++j) raw[j].push_back(rows(i, j));
  }
  const Column a = normal_scores(raw[0]);
  const Column b = normal_scores(raw[1]);
  const double aa = product_of(a, a);
  const double bb = product_of(b, b);
  const double ab = product_of(a, b);
  const double angle = 0.5 * std::atan2(2.0 * ab, aa - bb);  // of the axis with the larger variance
  std::array<Column, 2> component;
  for (std::size_t k = 0; k < 2; ++k) {
    const double turn = angle + 0.5 * std::numbers::pi * static_cast<double>(k);
    for (std::size_t i = 0; i < n; ++i) component[k].push_back(std::cos(turn) * a[i] + std::sin(turn) * b[i]);
    const double norm = std::sqrt(product_of(component[k], component[k]));
    for (double& v : component[k]) v /= norm;
  }
  const auto& [u, v] = component;
  std::vector<Column> features = {a,
                                  b,
                                  u,
                                  v,
                                  times(u, u),
                                  times(u, v),
                                  times(v, v),
                                  times(a, a),
                                  times(a, b),
                                  times(b, b),
                                  times(times(a, a), u),
                                  times(times(a, b), u),
                                  times(times(b, b), u)};
  RandomStream stream(seed, Purpose::landmarks);
  std::vector<std::size_t> landmarks = sample_without_replacement(n, std::min<std::size_t>(128, (n + 1) / 2), stream);
  std::ranges::sort(landmarks);
  for (const double variance : {2.0, 0.25}) {
    for (const std::size_t at : landmarks) {
      Column bump;
      for (std::size_t i = 0; i < n; ++i) {
        const double squared = (a[i] - a[at]) * (a[i] - a[at]) + (b[i] - b[at]) * (b[i] - b[at]);
        bump.push_back(std::exp(-0.5 * squared / variance));
      }
      features.push_back(bump);
    }
  }
  return features;
}

// Componentwise boosting of the labels of the first `end` rows: scores of all rows.
Column boosted_scores(const std::vector<Column>& features, const std::vector<char>& is_x, std::size_t end) {
  Column label;
  for (std::size_t i = 0; i < end; ++i) label.push_back(is_x[i] != 0 ? 1.0 : 0.0);
  const double share = mean_of(label);
  Column residual;
  for (const double v : label) residual.push_back((v - share) / std::sqrt(share * (1.0 - share)));
  struct Candidate {
    Column standardised;  // on all rows, by the mean and deviation of the first `end`
    double correlation = 0.0;
  };
  std::vector<Candidate> candidates;
  for (const Column& feature : features) {
    const Column own(feature.begin(), feature.begin() + static_cast<std::ptrdiff_t>(end));
    const double mean = mean_of(own);
    Column centred;
    for (const double v : own) centred.push_back(v - mean);
    const double deviation = std::sqrt(product_of(centred, centred));
    Candidate candidate;
    for (const double v : feature) candidate.standardised.push_back((v - mean) / deviation);
    for (std::size_t i = 0; i < end; ++i) {
      candidate.correlation += candidate.standardised[i] * residual[i] / static_cast<double>(end);
    }
    candidates.push_back(candidate);
  }
  std::ranges::sort(candidates, std::greater{}, [](const Candidate& c) { return std::abs(c.correlation); });
  candidates.resize(std::min<std::size_t>(candidates.size(), 64));
  const double stop = 0.7 * std::sqrt(2.0 * std::log(static_cast<double>(features.size())) / static_cast<double>(end));
  Column scores(is_x.size(), 0.0);
  for (std::size_t step = 0; step < 200; ++step) {
    const Candidate* best = nullptr;
    double largest = 0.0;
    for (const Candidate& c : candidates) {
      double correlation = 0.0;
      for (std::size_t i = 0; i < end; ++i) correlation += c.standardised[i] * residual[i] / static_cast<double>(end);
      if (std::abs(correlation) <= std::abs(largest)) continue;
      largest = correlation;
      best = &c;
    }
    if (step >= 3 && std::abs(largest) < stop) break;
    for (std::size_t i = 0; i < scores.size(); ++i) scores[i] += 0.2 * largest * best->standardised[i];
    for (std::size_t i = 0; i < end; ++i) residual[i] -= 0.2 * largest * best->standardised[i];
  }
  return scores;
}

// Pairs within parts, one by one; of two equal scores the later row counts as the larger one.
double auc_of_pairs(const Column& scores, const std::vector<std::size_t>& ends, const std::vector<char>& is_x) {
  double above = 0.0;
  double pairs = 0.0;
  std::size_t begin = 0;
  for (const std::size_t end : ends) {
    for (std::size_t i = begin; i < end; ++i) {
      for (std::size_t j = begin; j < end; ++j) {
        if (is_x[i] == 0 || is_x[j] != 0) continue;
        pairs += 1.0;
        above += scores[i] > scores[j] || (scores[i] == scores[j] && i > j) ? 1.0 : 0.0;
      }
    }
    begin = end;
  }
  return above / pairs;
}

// Correlated columns; in Y the second column is that of X times -1 where the first is large.
Sample related(std::size_t rows, bool is_y, test::Source& source) {
  Sample sample{Matrix<double>(rows, 2), {}, {}};
  for (std::size_t i = 0; i < rows; ++i) {
    const double a = source.normal();
    sample.points(i, 0) = a;
    sample.points(i, 1) = (is_y && a > 0.3 ? 0.2 : 0.9) * a + 0.4 * source.normal();
  }
  return sample;
}

struct Data {
  Sample x;
  Sample y;
  TestPool pool;
  std::vector<char> is_x;

  Data(std::size_t nx, std::size_t ny, std::uint64_t seed) {
    test::Source source(seed);
    x = related(nx, false, source);
    y = related(ny, true, source);
    pool = make_test_pool(x, y, ThreadCount{1});
    for (const std::size_t row : pool.order) is_x.push_back(row < nx ? 1 : 0);
  }
  [[nodiscard]] Matrix<double> rows() const {
    Matrix<double> all(pool.order.size(), 2);
    copy_rows(pool.rows(), 0, all.view());
    return all;
  }
};

TEST(Classifier, equals_boosting_on_whole_columns_and_pairs_counted_one_by_one) {
  for (const auto& [nx, ny] : {std::pair<std::size_t, std::size_t>{120, 90}, {60, 180}}) {
    const Data data(nx, ny, nx);
    const std::size_t n = nx + ny;
    const std::vector<Column> features = features_of(data.rows(), Seed{3});
    Column expected;
    std::vector<std::size_t> ends;
    const std::size_t first = n / 8;
    for (std::size_t part = 1; part < 8; ++part) {
      const Column scores = boosted_scores(features, data.is_x, n * part / 8);
      for (std::size_t i = n * part / 8; i < n * (part + 1) / 8; ++i) expected.push_back(scores[i]);
      ends.push_back(expected.size());
    }
    std::vector<std::size_t> cuts;
    for (std::size_t k = 0; k <= 8; ++k) cuts.push_back(n * k / 8);
    const FeatureDictionary dictionary(data.pool.rows(), Seed{3}, ThreadCount{1});
    ASSERT_EQ(dictionary.size(), features.size());
    const ForwardFit found = fit_forward(dictionary, data.is_x, cuts, ThreadCount{1});
    ASSERT_EQ(found.scores.size(), expected.size());
    // Features have errors of some hundred roundings, and at most 200 steps add up as many of them.
    for (std::size_t i = 0; i < expected.size(); ++i) EXPECT_NEAR(found.scores[i], expected[i], 1e-9) << i;

    TwoSampleOptions options;
    options.method = "classifier";
    options.statistic.seed = Seed{3};
    options.test.num_permutations = 19;
    const std::vector<char> tested(data.is_x.begin() + static_cast<std::ptrdiff_t>(first), data.is_x.end());
    const TwoSampleResult result = two_sample_test(data.x, data.y, options);
    EXPECT_EQ(result.test.statistic, auc_of_pairs(expected, ends, tested));
    EXPECT_EQ(result.effect_size, result.test.statistic);
    EXPECT_EQ(result.num_set_aside, first);
    EXPECT_GT(result.test.statistic, 0.5);
  }
}

TEST(Classifier, scores_of_a_part_do_not_depend_on_its_labels_nor_on_later_ones) {
  Data data(70, 90, 5);
  const std::vector<std::size_t> cuts = {0, 40, 80, 120, 160};
  const FeatureDictionary dictionary(data.pool.rows(), Seed{3}, ThreadCount{1});
  const Column before = fit_forward(dictionary, data.is_x, cuts, ThreadCount{1}).scores;
  test::Source source(1);
  for (std::size_t i = 80; i < 160; ++i) data.is_x[i] = static_cast<char>(source.below(2));
  const Column after = fit_forward(dictionary, data.is_x, cuts, ThreadCount{1}).scores;
  for (std::size_t i = 40; i < 120; ++i) EXPECT_EQ(before[i - 40], after[i - 40]);
  EXPECT_FALSE(std::equal(before.begin() + 80, before.end(), after.begin() + 80));
}

TEST(Classifier, dictionary_depends_on_ranks_of_columns_only) {
  const Data data(30, 25, 6);
  Matrix<double> changed = data.rows();
  for (std::size_t i = 0; i < changed.rows(); ++i) {
    changed(i, 0) = std::exp(changed(i, 0));
    changed(i, 1) = 1e6 * changed(i, 1) - 3e7;
  }
  const Matrix<double> rows = data.rows();
  const MatrixView<const double> none(nullptr, 0, 2);
  const FeatureDictionary one({rows.view(), none}, Seed{1}, ThreadCount{1});
  const FeatureDictionary other({changed.view(), none}, Seed{1}, ThreadCount{1});
  std::vector<std::uint32_t> all(one.size());
  for (std::uint32_t k = 0; k < all.size(); ++k) all[k] = k;
  Matrix<double> of_one(rows.rows(), all.size());
  Matrix<double> of_other(rows.rows(), all.size());
  one.evaluate(0, all, of_one.view());
  other.evaluate(0, all, of_other.view());
  EXPECT_TRUE(std::ranges::equal(of_one.values(), of_other.values()));
}

std::vector<double> values_of_all_labels(const AucPlan& plan, std::size_t num_x) {
  const std::size_t n = plan.num_rows();
  std::vector<double> values;
  for (std::size_t bits = 0; bits < (std::size_t{1} << n); ++bits) {
    std::vector<char> is_x(n);
    std::size_t count = 0;
    for (std::size_t i = 0; i < n; ++i) {
      is_x[i] = static_cast<char>((bits >> i) & 1U);
      count += (bits >> i) & 1U;
    }
    if (count == num_x) values.push_back(plan.value(is_x));
  }
  std::ranges::sort(values);
  return values;
}

// This makes the test exact without fitting again: see docs/design/0008-classifier.md.
TEST(AucPlan, has_the_same_permutation_distribution_for_all_scores) {
  const std::vector<std::size_t> ends = {3, 7, 12};
  const std::vector<double> expected = values_of_all_labels(AucPlan(Column(12, 0.0), ends, false), 5);
  test::Source source(9);
  for (int repetition = 0; repetition < 5; ++repetition) {
    Column scores;
    for (std::size_t i = 0; i < 12; ++i) scores.push_back(std::floor(3.0 * source.normal()));
    EXPECT_EQ(values_of_all_labels(AucPlan(scores, ends, false), 5), expected);
  }
}

TEST(AucPlan, counts_pairs_of_every_permutation_for_any_threads) {
  test::Source source(4);
  const std::size_t n = 40'000;  // several tasks
  Column scores;
  for (std::size_t i = 0; i < n; ++i) scores.push_back(std::floor(50.0 * source.normal()));
  const std::vector<std::size_t> ends = {1000, 1001, 1001, 17'777, n};
  const AucPlan plan(scores, ends, false);
  LabelBatch batch;
  batch.count = 64;
  for (std::size_t i = 0; i < n; ++i) batch.words.push_back(source.bits());
  for (const unsigned threads : {1U, 3U}) {
    std::vector<double> values(64);
    plan.evaluate(std::span(&batch, 1), values, ThreadCount{threads});
    for (unsigned b = 0; b < 64; ++b) {
      std::vector<char> is_x(n);
      for (std::size_t i = 0; i < n; ++i) is_x[i] = batch.is_x(i, b) ? 1 : 0;
      EXPECT_EQ(values[b], plan.value(is_x));
    }
  }
  const std::vector<std::size_t> few = {100, 130, 250};
  const Column some(scores.begin(), scores.begin() + 250);
  std::vector<char> is_x;
  for (std::size_t i = 0; i < 250; ++i) is_x.push_back(static_cast<char>(source.below(2)));
  EXPECT_EQ(AucPlan(some, few, false).value(is_x), auc_of_pairs(some, few, is_x));
}

// Variance of the mean of Y below each x plus that of X above each y, part by part, pairs counted one by one.
TEST(AucPlan, has_the_standard_error_of_delong) {
  test::Source source(12);
  const std::vector<std::size_t> ends = {40, 110};
  Column scores;
  std::vector<char> is_x;
  for (std::size_t i = 0; i < 110; ++i) {
    is_x.push_back(i % 3 == 0 ? 1 : 0);
    scores.push_back(source.normal() + (is_x.back() != 0 ? 1.0 : 0.0));
  }
  double variance = 0.0;
  double pairs = 0.0;
  for (const auto& [begin, end] : {std::pair<std::size_t, std::size_t>{0, 40}, {40, 110}}) {
    Column of_x;
    Column of_y;
    for (std::size_t i = begin; i < end; ++i) {
      double share = 0.0;
      double others = 0.0;
      for (std::size_t j = begin; j < end; ++j) {
        if (is_x[i] == is_x[j]) continue;
        others += 1.0;
        share += (scores[i] > scores[j]) == (is_x[i] != 0) ? 1.0 : 0.0;
      }
      (is_x[i] != 0 ? of_x : of_y).push_back(share / others);
    }
    const auto squared_error = [](const Column& values) {
      double sum = 0.0;
      for (const double v : values) sum += (v - mean_of(values)) * (v - mean_of(values));
      const auto n = static_cast<double>(values.size());
      return sum / (n - 1.0) / n;
    };
    const double own = static_cast<double>(of_x.size() * of_y.size());
    pairs += own;
    variance += own * own * (squared_error(of_x) + squared_error(of_y));
  }
  const double expected = std::sqrt(variance) / pairs;
  // A difference of squares: some hundred roundings of numbers up to 1, next to a variance above 0.01.
  EXPECT_NEAR(AucPlan(scores, ends, false).standard_error(is_x), expected, 1e-12);
}

TwoSampleOptions few_permutations() {
  TwoSampleOptions options;
  options.method = "classifier";
  options.test.num_permutations = 99;
  return options;
}

TEST(Classifier, reports_the_auc_with_an_interval_as_effect_size) {
  const Data data(400, 300, 8);
  const TwoSampleResult result = two_sample_test(data.x, data.y, few_permutations());
  ASSERT_TRUE(result.effect_interval.has_value());
  EXPECT_LT(result.effect_interval->lower, result.effect_size);
  EXPECT_GT(result.effect_interval->upper, result.effect_size);
  EXPECT_GT(result.effect_interval->lower, 0.5);
  EXPECT_EQ(result.test.pvalue, 0.01);
}

TEST(Classifier, has_a_normal_limit) {
  const Data data(500, 400, 9);
  TwoSampleOptions options = few_permutations();
  options.test.keep_null_distribution = true;
  options.test.num_permutations = 1999;
  const TwoSampleResult permuted = two_sample_test(data.x, data.y, options);
  options.calibration = Calibration::asymptotic;
  const TwoSampleResult limit = two_sample_test(data.x, data.y, options);
  EXPECT_EQ(limit.test.statistic, permuted.test.statistic);
  EXPECT_LT(limit.test.pvalue, 1e-6);
  EXPECT_TRUE(limit.limiting_distribution.starts_with("normal with mean 0.5 and standard deviation 0.0"));
  // The deviation of 1999 permutations has a relative error of 1/sqrt(4000) = 0.016: within six of these.
  const double score = std::numbers::sqrt2 * boost::math::erfc_inv(2.0 * limit.test.pvalue);
  const double by_permutations = (permuted.test.statistic - 0.5) / permuted.test.permutation_sd;
  EXPECT_NEAR(score / by_permutations, 1.0, 0.1);
}

TEST(Classifier, tests_half_of_the_rows_in_designs_that_bind_rows) {
  const Data data(100, 100, 10);
  TwoSampleOptions options = few_permutations();
  options.test.design = Design::paired();
  const TwoSampleResult result = two_sample_test(data.x, data.y, options);
  EXPECT_EQ(result.num_set_aside, 100U);
  EXPECT_FALSE(result.effect_interval.has_value());
  options.effect_interval = true;
  expect_error(ErrorCode::invalid_option,
               "classifier has no interval for the effect size: rows of this design are not independent",
               [&] { static_cast<void>(two_sample_test(data.x, data.y, options)); });
}

TEST(Classifier, of_equal_rows_has_pvalue_one) {
  const Sample same{Matrix<double>(30, 2, 1.5), {}, {}};
  const TwoSampleResult result = two_sample_test(same, same, few_permutations());
  EXPECT_EQ(result.test.statistic, 0.5);
  EXPECT_EQ(result.test.pvalue, 1.0);
}

TEST(Classifier, stops_early_and_takes_few_rows) {
  const Data data(200, 200, 11);
  TwoSampleOptions options = few_permutations();
  options.test.early_stop = EarlyStop::besag_clifford;
  EXPECT_LE(two_sample_test(data.x, data.y, options).test.pvalue, 0.05);
  const Data tiny(1, 2, 12);
  EXPECT_GT(two_sample_test(tiny.x, tiny.y, few_permutations()).test.pvalue, 0.3);
}

TEST(Classifier, refuses_weights_and_normal_limits_of_few_rows) {
  Data data(30, 30, 13);
  TwoSampleOptions options = few_permutations();
  options.calibration = Calibration::asymptotic;
  try {
    static_cast<void>(two_sample_test(data.x, data.y, options));
    ADD_FAILURE();
  } catch (const Error& error) {
    EXPECT_TRUE(std::string(error.what()).starts_with("classifier: calibration = asymptotic needs 100 rows of each "))
        << error.what();
  }
  options.calibration = Calibration::permutation;
  options.weights_as = WeightsAs::frequency;
  data.x.weights = std::vector<double>(30, 2.0);
  expect_error(ErrorCode::invalid_weights,
               "classifier takes no weights: its ranks count rows, all alike; adaptive and ekqd take them",
               [&] { static_cast<void>(two_sample_test(data.x, data.y, options)); });
}

TEST(Classifier, same_bits_for_any_threads) {
  const Data data(3000, 2500, 14);
  TwoSampleOptions options = few_permutations();
  options.test.keep_null_distribution = true;
  options.statistic.threads = ThreadCount{1};
  const TwoSampleResult expected = two_sample_test(data.x, data.y, options);
  for (const unsigned threads : {2U, 5U}) {
    options.statistic.threads = ThreadCount{threads};
    const TwoSampleResult result = two_sample_test(data.x, data.y, options);
    EXPECT_EQ(result.test.statistic, expected.test.statistic);
    EXPECT_EQ(result.test.null_distribution, expected.test.null_distribution);
    EXPECT_EQ(result.effect_interval->lower, expected.effect_interval->lower);
  }
}

}  // namespace
}  // namespace kqd::classifier_test
