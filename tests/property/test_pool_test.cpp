#include "metrics/test_pool.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include "core/random.hpp"

namespace kqd {
namespace {

// Rows with few different values, so that many are equal; weights too.
struct Row {
  std::vector<double> values;
  double weight;
  friend bool operator==(const Row&, const Row&) = default;
};

std::vector<Row> draw_rows(std::size_t count, std::uint64_t levels, RandomStream& stream) {
  std::vector<Row> rows(count);
  for (Row& row : rows) {
    row.values = {static_cast<double>(stream.below(levels)), static_cast<double>(stream.below(levels))};
    row.weight = 1.0 + static_cast<double>(stream.below(2));
  }
  return rows;
}

std::vector<Row> shuffled(const std::vector<Row>& rows, RandomStream& stream) {
  std::vector<Row> result;
  for (const std::size_t i : sample_without_replacement(rows.size(), rows.size(), stream)) result.push_back(rows[i]);
  return result;
}

Sample sample_of(std::span<const Row> rows) {
  Sample sample{Matrix<double>(rows.size(), 2), {}, {}};
  for (std::size_t i = 0; i < rows.size(); ++i) {
    std::ranges::copy(rows[i].values, sample.points.row(i).begin());
    sample.weights.push_back(rows[i].weight);
  }
  return sample;
}

// The row at each position of the pool whose first n_x rows are X.
std::vector<Row> pool_contents(const std::vector<Row>& rows, std::size_t n_x) {
  const Sample x = sample_of(std::span(rows).first(n_x));
  const Sample y = sample_of(std::span(rows).subspan(n_x));
  const TestPool pool = make_test_pool(x, y, ThreadCount{1});
  std::vector<Row> contents;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const auto values = pool.rows().row(i);
    contents.push_back({{values.begin(), values.end()}, pool.weight_of_row(pool.order[i])});
  }
  return contents;
}

TEST(TestPool, contents_follow_from_the_multiset_of_rows_whatever_their_labels_and_order) {
  for (std::uint64_t trial = 0; trial < 200; ++trial) {
    RandomStream stream(Seed{trial}, Purpose::test_data);
    const std::size_t n = 2 + static_cast<std::size_t>(stream.below(60));
    const std::vector<Row> rows = draw_rows(n, 1 + stream.below(40), stream);
    const std::vector<Row> contents = pool_contents(rows, 1 + static_cast<std::size_t>(stream.below(n - 1)));
    for (int again = 0; again < 5; ++again) {
      const std::size_t n_x = 1 + static_cast<std::size_t>(stream.below(n - 1));
      ASSERT_EQ(pool_contents(shuffled(rows, stream), n_x), contents) << "trial " << trial;
    }
  }
}

TEST(TestPool, order_is_a_permutation) {
  RandomStream stream(Seed{3}, Purpose::test_data);
  const std::vector<Row> rows = draw_rows(40, 1000, stream);
  const Sample x = sample_of(std::span(rows).first(15));
  const Sample y = sample_of(std::span(rows).subspan(15));
  std::vector<std::size_t> first = make_test_pool(x, y, ThreadCount{1}).order;
  std::ranges::sort(first);
  for (std::size_t i = 0; i < first.size(); ++i) EXPECT_EQ(first[i], i);
}

// The label of every position, as a word of X and Y.
std::string labels(const Sample& x, const Sample& y, std::uint64_t identity = 0) {
  std::string word;
  for (const std::size_t row : make_test_pool(x, y, ThreadCount{1}, identity).order) {
    word += row < x.points.rows() ? 'X' : 'Y';
  }
  return word;
}

TEST(TestPool, labels_by_position_do_not_change_with_the_order_of_rows_within_a_sample) {
  for (std::uint64_t trial = 0; trial < 100; ++trial) {
    RandomStream stream(Seed{trial}, Purpose::test_data, 1);
    const std::vector<Row> x = draw_rows(20, 3, stream);
    const std::vector<Row> y = draw_rows(12, 3, stream);
    EXPECT_EQ(labels(sample_of(x), sample_of(y)),
              labels(sample_of(shuffled(x, stream)), sample_of(shuffled(y, stream))));
  }
}

// Each data set must meet its own permutations, and only ranks and weights of its rows may decide which.
TEST(TestPool, permutation_seed_follows_from_both_samples_and_not_from_their_order) {
  for (std::uint64_t trial = 0; trial < 100; ++trial) {
    RandomStream stream(Seed{trial}, Purpose::test_data, 2);
    const std::vector<Row> x = draw_rows(20, 1000, stream);
    const std::vector<Row> y = draw_rows(12, 1000, stream);
    const auto seed_of = [](const std::vector<Row>& a, const std::vector<Row>& b) {
      const Sample first = sample_of(a);
      const Sample second = sample_of(b);
      return make_test_pool(first, second, ThreadCount{1}).permutation_seed.value;
    };
    const std::uint64_t seed = seed_of(x, y);
    EXPECT_EQ(seed_of(shuffled(x, stream), shuffled(y, stream)), seed);
    EXPECT_EQ(seed_of(y, x), seed);
    std::vector<Row> other_x = x;
    std::vector<Row> other_y = y;
    std::swap(other_x[3], other_y[5]);  // the same pool
    EXPECT_NE(seed_of(other_x, other_y), seed);
    other_x = x;
    other_x[0].weight += 1.0;
    EXPECT_NE(seed_of(other_x, y), seed);
  }
}

// Rows of a precomputed Gram matrix are known by their numbers only, which are the same for all data sets.
TEST(TestPool, seed_of_row_numbers_follows_from_the_kernel_values) {
  Sample x{Matrix<double>(3, 1), {}, {}};
  Sample y{Matrix<double>(2, 1), {}, {}};
  for (std::size_t i = 0; i < 5; ++i) (i < 3 ? x.points(i, 0) : y.points(i - 3, 0)) = static_cast<double>(i);
  const auto seed_of = [&](double scale) {
    const KernelSpec kernel = KernelSpec::custom("gram", [scale](auto a, auto b, auto values) {
      for (std::size_t i = 0; i < a.rows(); ++i) {
        for (std::size_t j = 0; j < b.rows(); ++j) values(i, j) = scale * std::min(a(i, 0) + 1.0, b(j, 0) + 1.0);
      }
    });
    return identity_of(x, y, kernel);
  };
  EXPECT_EQ(seed_of(1.0), seed_of(1.0));
  EXPECT_NE(seed_of(1.0), seed_of(2.0));
  x.points(0, 0) = 0.5;  // real data: its cells are hashed with the rows
  EXPECT_EQ(seed_of(1.0), 0U);
  EXPECT_EQ(seed_of(2.0), 0U);
}

// How often each sequence of labels occurs over identities of the data.
std::map<std::string, std::size_t> label_patterns(const Sample& x, const Sample& y, std::size_t count) {
  std::map<std::string, std::size_t> counts;
  for (std::uint64_t identity = 0; identity < count; ++identity) ++counts[labels(x, y, identity)];
  return counts;
}

double chi_square(const std::map<std::string, std::size_t>& counts, double expected, std::size_t num_patterns) {
  double sum = expected * static_cast<double>(num_patterns - counts.size());  // patterns that never came
  for (const auto& [pattern, count] : counts) {
    sum += (static_cast<double>(count) - expected) * (static_cast<double>(count) - expected) / expected;
  }
  return sum;
}

// Equal rows differ only by the random bits: every interleaving of their labels is equally likely
// over identities. The bounds are the points that chi-square of 19 and 14 degrees of freedom exceeds with probability
// 1e-6.
TEST(TestPool, equal_rows_of_x_and_y_are_interleaved_at_random) {
  constexpr std::size_t kSeeds = 20'000;
  const auto equal_rows = [](std::size_t count) { return Sample{Matrix<double>(count, 2, 1.5), {}, {}}; };
  EXPECT_LT(chi_square(label_patterns(equal_rows(3), equal_rows(3), kSeeds), kSeeds / 20.0, 20), 63.68);
  EXPECT_LT(chi_square(label_patterns(equal_rows(2), equal_rows(4), kSeeds), kSeeds / 15.0, 15), 54.64);
}

}  // namespace
}  // namespace kqd
