// MONK against its definition with whole vectors of coefficients and Gram matrices written out.
#include "metrics/mean/monk.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "core/random.hpp"
#include "kqd/kqd.hpp"
#include "support/errors.hpp"
#include "support/plans.hpp"
#include "support/source.hpp"

namespace kqd {
namespace {

using test::column;
using test::expect_error;

constexpr double kBlockMedian = 0;
constexpr double kFast = 1;
constexpr double kBcd = 2;

MethodOptions monk_options(const std::string& kernel, Parameters parameters = {}) {
  MethodOptions options;
  options.kernel = parse_kernel(kernel);
  options.parameters = std::move(parameters);
  options.seed = Seed{5};
  return options;
}

using Rows = std::vector<std::size_t>;

// Block q of Q of a random order of n rows, counted from `offset` on.
std::vector<Rows> blocks_of(std::size_t n, std::size_t num_blocks, std::size_t stream_index, std::size_t offset) {
  RandomStream stream(Seed{5}, Purpose::partition, stream_index);
  const Rows order = sample_without_replacement(n, n, stream);
  std::vector<Rows> blocks(num_blocks);
  for (std::size_t q = 0; q < num_blocks; ++q) {
    for (std::size_t i = q * n / num_blocks; i < (q + 1) * n / num_blocks; ++i) blocks[q].push_back(offset + order[i]);
  }
  return blocks;
}

struct Oracle {
  std::size_t nx, ny, num_blocks;
  Matrix<double> gram;
  std::vector<Rows> x, y;

  Oracle(const Sample& a, const Sample& b, std::size_t blocks, double jitter)
      : nx(a.points.rows()), ny(b.points.rows()), num_blocks(blocks), gram(nx + ny, nx + ny) {
    for (std::size_t i = 0; i < nx + ny; ++i) {
      for (std::size_t j = 0; j < nx + ny; ++j) {
        const auto u = i < nx ? a.points.row(i) : b.points.row(i - nx);
        const auto v = j < nx ? a.points.row(j) : b.points.row(j - nx);
        double r2 = 0.0;
        for (std::size_t k = 0; k < u.size(); ++k) r2 += (u[k] - v[k]) * (u[k] - v[k]);
        gram(i, j) = std::exp(-r2 / 2.0) + (i == j ? jitter : 0.0);
      }
    }
  }

  void draw(std::size_t number) {
    x = blocks_of(nx, num_blocks, 2 * number, 0);
    y = blocks_of(ny, num_blocks, nx == ny ? 2 * number : 2 * number + 1, nx);
  }
  // The rows of block q, those of X first, and its l.
  [[nodiscard]] Rows rows(std::size_t q) const {
    Rows all = x[q];
    all.insert(all.end(), y[q].begin(), y[q].end());
    return all;
  }
  [[nodiscard]] std::vector<double> l(std::size_t q) const {
    std::vector<double> values(x[q].size(), 1.0 / static_cast<double>(x[q].size()));
    values.resize(x[q].size() + y[q].size(), -1.0 / static_cast<double>(y[q].size()));
    return values;
  }
  [[nodiscard]] double form(const Rows& p, const std::vector<double>& u, const Rows& q,
                            const std::vector<double>& v) const {
    double total = 0.0;
    for (std::size_t i = 0; i < p.size(); ++i) {
      for (std::size_t j = 0; j < q.size(); ++j) total += u[i] * v[j] * gram(p[i], q[j]);
    }
    return total;
  }
  static std::size_t median(const std::vector<double>& values) {
    std::vector<std::pair<double, std::size_t>> sorted;
    for (std::size_t q = 0; q < values.size(); ++q) sorted.emplace_back(values[q], q);
    std::ranges::sort(sorted);
    return sorted[sorted.size() / 2].second;
  }

  double block_median() {
    draw(0);
    std::vector<double> values;
    for (std::size_t q = 0; q < num_blocks; ++q) values.push_back(std::sqrt(form(rows(q), l(q), rows(q), l(q))));
    return values[median(values)];
  }

  double fast(std::size_t iterations, double beta, std::size_t reshuffles, std::size_t stall) {
    draw(0);
    std::vector<std::vector<double>> c;
    for (std::size_t q = 0; q < num_blocks; ++q) {
      c.emplace_back(rows(q).size(), 1.0);
      const double norm = std::sqrt(form(rows(q), c[q], rows(q), c[q]));
      for (double& v : c[q]) v /= norm;
    }
    const auto gains = [&] {
      std::vector<double> values;
      for (std::size_t q = 0; q < num_blocks; ++q) values.push_back(form(rows(q), l(q), rows(q), c[q]));
      return values;
    };
    std::size_t drawn = 1;
    for (std::size_t t = 0; t < iterations; ++t) {
      if (reshuffles > 1 && t > stall && (t - stall) % ((iterations - stall) / (reshuffles - 1)) == 0) draw(drawn++);
      const std::size_t m = median(gains());
      const double norm = std::sqrt(form(rows(m), l(m), rows(m), l(m)));
      const double step = 1.0 / (1.0 + beta * static_cast<double>(t));
      for (std::size_t i = 0; i < c[m].size(); ++i) c[m][i] += step * (l(m)[i] / norm - c[m][i]);
    }
    const auto last = gains();
    return last[median(last)];
  }

  double bcd(std::size_t iterations, double beta) {
    Rows all(nx + ny);
    for (std::size_t i = 0; i < all.size(); ++i) all[i] = i;
    std::vector<double> c(all.size(), 1.0);
    const double start = std::sqrt(form(all, c, all, c));
    for (double& v : c) v /= start;
    const auto gains = [&] {
      std::vector<double> values;
      for (std::size_t q = 0; q < num_blocks; ++q) values.push_back(form(rows(q), l(q), all, c));
      return values;
    };
    for (std::size_t t = 0; t < iterations; ++t) {
      draw(t);
      const std::size_t m = median(gains());
      const double norm = std::sqrt(form(rows(m), l(m), rows(m), l(m)));
      const double step = 1.0 / (1.0 + beta * static_cast<double>(t));
      for (double& v : c) v *= 1.0 - step;
      for (std::size_t i = 0; i < rows(m).size(); ++i) c[rows(m)[i]] += step * l(m)[i] / norm;
    }
    const auto last = gains();
    return last[median(last)];
  }
};

// Sums of some hundred terms in another order, over norms of about 0.3.
constexpr double kRounding = 1e-11;

TEST(Monk, is_what_its_definition_says) {
  test::Source source(1);
  for (const auto& [nx, ny] : {std::pair{40UL, 40UL}, {33UL, 50UL}}) {
    const Sample x = test::normal_sample({nx, 2}, source);
    const Sample y = test::normal_sample({ny, 2}, source, 0.5);
    for (const double jitter : {0.0, 1e-5, 0.1}) {
      for (const std::size_t blocks : {1UL, 3UL, 7UL, 11UL}) {
        const auto found = [&](double form, Parameters more = {}) {
          more.insert({{"form", form}, {"blocks", static_cast<double>(blocks)}, {"jitter", jitter}});
          return distance("monk", x, y, monk_options("gaussian@1", more)).statistic;
        };
        if (jitter == 0.0) {
          EXPECT_NEAR(found(kBlockMedian), Oracle(x, y, blocks, 0.0).block_median(), kRounding);
        }
        EXPECT_NEAR(found(kFast), Oracle(x, y, blocks, jitter).fast(100, 1e-3, 5, 10), kRounding) << blocks;
        EXPECT_NEAR(found(kFast, {{"iterations", 30}, {"beta", 0.5}, {"reshuffles", 3}, {"stall", 4}}),
                    Oracle(x, y, blocks, jitter).fast(30, 0.5, 3, 4), kRounding);
        EXPECT_NEAR(found(kBcd, {{"iterations", 40}}), Oracle(x, y, blocks, jitter).bcd(40, 1e-3), kRounding);
      }
    }
  }
}

// Methods C6.
TEST(Monk, of_one_block_is_the_mmd) {
  test::Source source(2);
  const Sample x = test::normal_sample({30, 2}, source);
  const Sample y = test::normal_sample({25, 2}, source, 0.5);
  const double mmd = distance("mmd-v", x, y, monk_options("gaussian@1")).statistic;
  for (const double form : {kBlockMedian, kFast, kBcd}) {
    EXPECT_NEAR(distance("monk", x, y, monk_options("gaussian@1", {{"form", form}, {"blocks", 1}})).statistic, mmd,
                kRounding);
  }
}

TEST(Monk, one_huge_outlier_leaves_the_block_median_bounded) {
  test::Source source(3);
  Sample x = test::normal_sample({60, 1}, source);
  const Sample y = test::normal_sample({60, 1}, source);
  // Without the outlier every block is at most the range of the data away, and so is the median with it.
  double range = 0.0;
  for (std::size_t i = 0; i < 60; ++i) range = std::max({range, std::abs(x.points(i, 0)), std::abs(y.points(i, 0))});
  x.points(17, 0) = 1e9;
  EXPECT_GT(distance("mmd-v", x, y, monk_options("linear")).statistic, 1e7);
  for (const double blocks : {3.0, 5.0, 11.0, 59.0}) {
    EXPECT_LE(distance("monk", x, y, monk_options("linear", {{"blocks", blocks}})).statistic, 2.0 * range) << blocks;
  }
}

TEST(Monk, iteration_with_one_partition_falls_short_of_the_closed_form) {
  test::Source source(4);
  for (int run = 0; run < 10; ++run) {
    const Sample x = test::normal_sample({50, 1}, source);
    const Sample y = test::normal_sample({50, 1}, source, 1.0);
    const double closed = distance("monk", x, y, monk_options("gaussian@1", {{"blocks", 7}})).statistic;
    const double iterated =
        distance("monk", x, y, monk_options("gaussian@1", {{"blocks", 7}, {"form", kFast}, {"reshuffles", 1}}))
            .statistic;
    EXPECT_LE(iterated, closed + kRounding);
    EXPECT_GT(iterated, 0.0);
  }
}

TEST(Monk, of_equal_samples_is_zero) {
  test::Source source(5);
  const Sample x = test::normal_sample({50, 2}, source);
  for (const double form : {kBlockMedian, kFast, kBcd}) {
    EXPECT_EQ(distance("monk", x, x, monk_options("gaussian", {{"form", form}})).statistic, 0.0) << form;
  }
}

TEST(Monk, chooses_eleven_blocks_or_as_many_as_give_two_rows_each) {
  test::Source source(6);
  for (const auto& [n, blocks] : {std::pair{1UL, 1.0},
                                  {2UL, 1.0},
                                  {5UL, 1.0},
                                  {6UL, 3.0},
                                  {9UL, 3.0},
                                  {10UL, 5.0},
                                  {22UL, 11.0},
                                  {500UL, 11.0}}) {
    const Sample x = test::normal_sample({n, 1}, source);
    EXPECT_EQ(distance("monk", x, test::normal_sample({600, 1}, source)).details.front().value, blocks) << n;
  }
}

TEST(Monk, plans_equal_direct_recomputation) {
  test::Source source(7);
  for (const double form : {kBlockMedian, kFast, kBcd}) {
    for (const auto& [nx, ny] : {std::pair{30UL, 30UL}, {17UL, 30UL}, {30UL, 3UL}}) {
      const Sample x = test::normal_sample({nx, 2}, source);
      const Sample y = test::normal_sample({ny, 2}, source);
      const MethodOptions options = monk_options("gaussian", {{"form", form}, {"iterations", 30}});
      test::expect_plan_equals_distance("monk", x, y, options);
    }
    const Sample x = test::normal_sample({30, 2}, source);
    const Sample y = test::normal_sample({30, 2}, source);
    const MethodOptions options = monk_options("gaussian@1", {{"form", form}, {"iterations", 30}});
    test::expect_plan_equals_distance("monk", x, y, options, test::kOtherSums, Design::paired());
    // Pairs keep their places under swaps: the observed permutation has the value of the samples as they stand.
    const test::Permuted paired("monk", x, y, options, Design::paired());
    EXPECT_NEAR(paired.values[0], distance("monk", x, y, options).statistic, kRounding);
  }
}

TEST(Monk, plans_give_the_same_bits_for_any_threads) {
  test::Source source(8);
  const Sample x = test::normal_sample({30, 2}, source);
  const Sample y = test::normal_sample({40, 2}, source);
  for (const double form : {kBlockMedian, kFast, kBcd}) {
    test::expect_same_bits("monk", x, y, monk_options("gaussian@1", {{"form", form}, {"iterations", 20}}));
  }
}

TEST(Monk, refuses_what_it_cannot_use) {
  const auto run = [](const Parameters& parameters) {
    return [parameters] {
      static_cast<void>(
          distance("monk", column({1, 2, 3, 4}), column({1, 2, 3, 5, 6}), monk_options("gaussian", parameters)));
    };
  };
  expect_error(ErrorCode::invalid_option,
               "monk: blocks = 4 is even, needs an odd number (one block is the median), such as 3 or 5",
               run({{"blocks", 4}}));
  expect_error(ErrorCode::invalid_option,
               "monk: blocks = 5 is more than the 4 rows of X, needs at most one block per row", run({{"blocks", 5}}));
  EXPECT_THROW(run({{"iterations", 0}})(), Error);
  EXPECT_THROW(run({{"beta", -1}})(), Error);
  Sample weighted = column({1, 2, 3});
  weighted.weights = {1, 1, 2};
  expect_error(ErrorCode::invalid_weights,
               "monk takes no weights: its median counts blocks of rows, all alike; mmd-v and kmedian take them",
               [&] { static_cast<void>(distance("monk", weighted, weighted)); });
  const Sample large{Matrix<double>(10'000, 1, 0.5), {}, {}};
  const TestPool pool = make_test_pool(large, large, ThreadCount{1});
  PlanRequest request;
  request.permutation_count = 1000;
  try {
    static_cast<void>(method_with_id("monk").prepare(pool, monk_options("gaussian@1", {{"form", kBcd}}), request));
    ADD_FAILURE();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::resource_limit);
    EXPECT_TRUE(std::string(error.what()).starts_with("monk of 10000 and 10000 rows in 11 blocks, 1000 times takes"));
  }
}

// 200 tests of equal normals at level 0.05: Binomial(200, 0.05) exceeds 24 with probability below 1e-4.
TEST(Monk, keeps_the_level) {
  for (const double form : {kBlockMedian, kFast}) {
    int num_rejected = 0;
    for (std::uint64_t run = 0; run < 200; ++run) {
      test::Source source(1000 + run);
      TwoSampleOptions options;
      options.method = "monk";
      options.test.num_permutations = 39;
      options.statistic = monk_options("gaussian", {{"form", form}});
      options.statistic.seed = Seed{run};
      const Sample x = test::normal_sample({12, 1}, source);
      num_rejected += two_sample_test(x, test::normal_sample({12, 1}, source), options).test.reject ? 1 : 0;
    }
    EXPECT_LE(num_rejected, 24) << form;
  }
}

}  // namespace
}  // namespace kqd
