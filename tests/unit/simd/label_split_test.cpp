#include "simd/label_split.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "simd/label_words.hpp"
#include "support/source.hpp"
#include "unit/simd/each_target.hpp"
#include "unit/simd/labelled_pool.hpp"

namespace kqd {
namespace {

using test::Pool;

using test::kInfinity;

// Pieces of two groups' quantile functions, with random masses some of which are 0.
struct OwnedPieces {
  std::vector<double> mass;
  std::vector<std::uint8_t> step;

  [[nodiscard]] simd::LevelPieces view() const { return {mass.size(), mass, step}; }
};

// Breakpoints i/nx and j/ny, compared by integers.
OwnedPieces merged_grid(std::size_t num_x, std::size_t num_y, std::uint64_t seed) {
  RandomStream stream(Seed{seed}, Purpose::test_data, 99);
  OwnedPieces pieces;
  for (std::size_t i = 1, j = 1; i <= num_x && j <= num_y;) {
    const std::size_t end_x = i * num_y, end_y = j * num_x;
    pieces.mass.push_back(static_cast<double>(stream.below(5)));
    pieces.step.push_back(static_cast<std::uint8_t>((end_x <= end_y ? 1U : 0U) | (end_y <= end_x ? 2U : 0U)));
    i += end_x <= end_y ? 1 : 0;
    j += end_y <= end_x ? 1 : 0;
  }
  return pieces;
}

struct Groups {
  std::vector<double> x, y;
};

Groups split(const Pool& pool, const LabelBatch& labels, unsigned permutation) {
  Groups groups;
  for (std::size_t k = 0; k < pool.num_rows(); ++k) {
    (labels.is_x(pool.row(k), permutation) ? groups.x : groups.y).push_back(pool.value(k));
  }
  return groups;
}

// The specification.
long double integral(const Groups& groups, const simd::LevelPieces& pieces, double power) {
  long double result = 0.0L;
  for (std::size_t k = 0, i = 0, j = 0; k < pieces.count; ++k) {
    const long double mass = pieces.mass.empty() ? 1.0L : static_cast<long double>(pieces.mass[k]);
    const long double gap =
        std::abs(static_cast<long double>(groups.x.at(i)) - static_cast<long double>(groups.y.at(j)));
    if (std::isinf(power)) {
      if (mass > 0.0L) result = std::max(result, gap);
    } else {
      result += mass * std::pow(gap, static_cast<long double>(power));
    }
    const unsigned step = pieces.step.empty() ? 3U : pieces.step[k];
    i += step & 1U;
    j += (step >> 1U) & 1U;
  }
  return result;
}

struct Results {
  std::vector<double> integrals, x_sums;
  bool operator==(const Results&) const = default;
};

Results integrate(const Pool& pool, const LabelBatch& labels, const std::vector<simd::LevelPieces>& pieces,
                  double power) {
  Results results{std::vector<double>(labels.count), std::vector<double>(labels.count)};
  simd::LabelSplitter splitter;
  splitter.set_labels(pool.view().order, test::words_of(labels), labels.count);
  splitter.integrate(pool.view().values, pieces, power, results.integrals, results.x_sums);
  return results;
}

// Whole numbers below 7, powers up to 8: every sum is exact.
TEST(LabelSplit, is_exact_on_integers_for_equal_sizes) {
  test::on_each_target([] {
    for (const std::size_t n : test::awkward_lengths()) {
      if (n % 2 != 0) continue;
      const Pool pool(n, 1, test::small_integer);
      const LabelBatch labels = test::random_labels(n, std::vector<std::size_t>(7, n / 2), 2);
      const OwnedPieces grid = merged_grid(n / 2, n / 2, 3);
      for (const double power : {1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, kInfinity}) {
        for (const simd::LevelPieces& pieces :
             {simd::LevelPieces{n / 2, {}, {}}, simd::LevelPieces{n / 2, grid.mass, {}}, grid.view()}) {
          const Results results = integrate(pool, labels, {pieces}, power);
          for (unsigned b = 0; b < labels.count; ++b) {
            const Groups groups = split(pool, labels, b);
            EXPECT_EQ(results.integrals[b], integral(groups, pieces, power)) << n << ' ' << b << ' ' << power;
            EXPECT_EQ(results.x_sums[b], std::accumulate(groups.x.begin(), groups.x.end(), 0.0)) << n << ' ' << b;
          }
        }
      }
    }
  });
}

// Each permutation with sizes, hence pieces, of its own; among them 1 and N - 1.
TEST(LabelSplit, is_exact_on_integers_for_any_sizes) {
  test::on_each_target([] {
    for (const std::size_t n : test::awkward_lengths()) {
      if (n < 2) continue;
      const Pool pool(n, 4, test::small_integer);
      const std::vector<std::size_t> sizes = {1, n - 1, n / 2, (n + 2) / 3, n - n / 5 - 1, 1 + n / 100};
      const LabelBatch labels = test::random_labels(n, sizes, 5);
      std::vector<OwnedPieces> grids;
      std::vector<simd::LevelPieces> pieces;
      for (std::size_t b = 0; b < sizes.size(); ++b) grids.push_back(merged_grid(sizes[b], n - sizes[b], 6 + b));
      for (const OwnedPieces& grid : grids) pieces.push_back(grid.view());
      pieces[3].mass = {};  // 1 each
      for (const double power : {1.0, 2.0, 3.0, 5.0, kInfinity}) {
        const Results results = integrate(pool, labels, pieces, power);
        for (unsigned b = 0; b < labels.count; ++b) {
          const Groups groups = split(pool, labels, b);
          EXPECT_EQ(results.integrals[b], integral(groups, pieces[b], power)) << n << ' ' << sizes[b] << ' ' << power;
          EXPECT_EQ(results.x_sums[b], std::accumulate(groups.x.begin(), groups.x.end(), 0.0)) << n << ' ' << sizes[b];
        }
      }
    }
  });
}

TEST(LabelSplit, a_group_without_rows_integrates_to_zero) {
  test::on_each_target([] {
    for (const std::size_t n : {0UL, 1UL, 70UL, 3000UL}) {
      const Pool pool(n, 7, test::normal_value);
      const LabelBatch labels = test::random_labels(n, {0, n}, 8);
      const Results results = integrate(pool, labels, {simd::LevelPieces{}}, 2.0);
      EXPECT_EQ(results.integrals, std::vector<double>(2, 0.0));
      EXPECT_EQ(results.x_sums[0], 0.0);
    }
  });
}

// The reference works with 64 bits of precision: what it loses is far below the bound.
TEST(LabelSplit, stays_within_its_bound_on_real_values) {
  const std::size_t n = 6000;
  const Pool pool(n, 9, test::normal_value);
  const std::vector<std::size_t> sizes = {n / 2, n / 2, 2000, 4999, 3};
  const LabelBatch labels = test::random_labels(n, sizes, 10);
  std::vector<OwnedPieces> grids;
  std::vector<simd::LevelPieces> pieces;
  for (std::size_t b = 0; b < sizes.size(); ++b) grids.push_back(merged_grid(sizes[b], n - sizes[b], 11));
  for (const OwnedPieces& grid : grids) pieces.push_back(grid.view());
  pieces[0] = {n / 2, {}, {}};
  test::on_each_target([&] {
    for (const double power : {0.5, 1.0, 1.5, 2.0, 2.7, 3.0, 4.0, 7.0, 12.0, 25.5, 100.0, kInfinity}) {
      const Results results = integrate(pool, labels, pieces, power);
      for (unsigned b = 0; b < labels.count; ++b) {
        const long double expected = integral(split(pool, labels, b), pieces[b], power);
        const double bound = simd::label_split_relative_error(pieces[b].count, power);
        EXPECT_LT(bound, 1e-12);
        EXPECT_LE(test::relative_error(results.integrals[b], expected), bound) << power << ' ' << b;
      }
    }
  });
}

// One difference at a time, so that nothing hides in a sum. 745 > 708 > |p log a|: all results are normal doubles.
TEST(LabelSplit, real_powers_are_accurate_over_the_whole_range_of_doubles) {
  const std::vector<std::uint32_t> order = {0, 1};
  const Matrix<std::uint64_t> words(2, 1, {1, 0});
  test::on_each_target([&] {
    simd::LabelSplitter splitter;
    splitter.set_labels(order, words, 1);
    for (const double power : {0.25, 1.5, 2.5, 9.75}) {
      for (double exponent = -300.0; exponent <= 300.0; exponent += 0.37) {
        if (std::abs(power * exponent) > 306.0) continue;
        const std::vector<double> values = {0.0, std::pow(10.0, exponent)};
        std::vector<double> result(1);
        splitter.integrate(values, std::vector{simd::LevelPieces{1, {}, {}}}, power, result);
        const long double expected = std::pow(static_cast<long double>(values[1]), static_cast<long double>(power));
        EXPECT_LE(test::relative_error(result[0], expected), simd::label_split_relative_error(1, power))
            << values[1] << " to the power " << power;
      }
    }
  });
}

TEST(LabelSplit, real_powers_of_zero_are_zero_and_of_huge_differences_infinite) {
  const std::vector<std::uint32_t> order = {0, 1};
  const Matrix<std::uint64_t> words(2, 1, {1, 0});
  test::on_each_target([&] {
    simd::LabelSplitter splitter;
    splitter.set_labels(order, words, 1);
    std::vector<double> result(1);
    splitter.integrate(std::vector{3.0, 3.0}, std::vector{simd::LevelPieces{1, {}, {}}}, 1.5, result);
    EXPECT_EQ(result[0], 0.0);
    splitter.integrate(std::vector{0.0, 1e300}, std::vector{simd::LevelPieces{1, {}, {}}}, 1.5, result);
    EXPECT_EQ(result[0], kInfinity);
  });
}

TEST(LabelSplit, whole_powers_give_the_same_bits_on_every_instruction_set) {
  const std::size_t n = 5000;
  const Pool pool(n, 12, test::normal_value);
  const LabelBatch labels = test::random_labels(n, {n / 2, n / 2, 1700, 4321}, 13);
  std::vector<OwnedPieces> grids;
  std::vector<simd::LevelPieces> pieces;
  for (unsigned b = 0; b < 4; ++b) grids.push_back(merged_grid(labels.num_x[b], n - labels.num_x[b], 14));
  for (const OwnedPieces& grid : grids) pieces.push_back(grid.view());
  pieces[0] = {n / 2, {}, {}};
  for (const double power : {1.0, 2.0, 3.0, 6.0, kInfinity}) {
    const Results expected = integrate(pool, labels, pieces, power);
    test::on_each_target([&] { EXPECT_EQ(integrate(pool, labels, pieces, power), expected); });
  }
}

TEST(LabelSplit, a_permutation_gives_the_same_bits_in_any_company) {
  const std::size_t n = 4500;
  const Pool pool(n, 15, test::normal_value);
  const LabelBatch labels = test::random_labels(n, std::vector<std::size_t>(64, n / 2), 16);
  const Results together = integrate(pool, labels, {simd::LevelPieces{n / 2, {}, {}}}, 2.0);
  for (unsigned b = 0; b < 64; b += 9) {
    LabelBatch only;
    only.count = 1;
    for (const std::uint64_t word : labels.words) only.words.push_back((word >> b) & 1U);
    const Results result = integrate(pool, only, {simd::LevelPieces{n / 2, {}, {}}}, 2.0);
    EXPECT_EQ(result.integrals[0], together.integrals[b]);
    EXPECT_EQ(result.x_sums[0], together.x_sums[b]);
  }
}

TEST(LabelSplit, batches_together_give_the_same_bits_as_one_by_one) {
  const std::size_t n = 1300;
  const Pool pool(n, 19, test::normal_value);
  const std::vector pieces = {simd::LevelPieces{n / 2, {}, {}}};
  for (const std::size_t num_batches : {1UL, 3UL, 8UL}) {
    std::vector<LabelBatch> batches;
    std::vector<double> only;
    for (std::size_t i = 0; i < num_batches; ++i) {
      batches.push_back(test::random_labels(n, std::vector<std::size_t>(64, n / 2), 20 + i));
      for (const double value : integrate(pool, batches[i], pieces, 2.0).integrals) only.push_back(value);
    }
    std::vector<double> together(64 * num_batches);
    test::on_each_target([&] {
      simd::LabelSplitter splitter;
      splitter.set_labels(pool.view().order, simd::side_by_side(batches), together.size());
      splitter.integrate(pool.view().values, pieces, 2.0, together);
      EXPECT_EQ(together, only);
    });
  }
}

// Separated samples: half of the pool waits for its partners. A used splitter must not remember the last labels.
TEST(LabelSplit, separated_samples_and_used_splitters_give_the_same_as_fresh_ones) {
  const std::size_t n = 100'000;
  const Pool pool(n, 17, test::small_integer);
  LabelBatch separated;
  separated.count = 5;
  separated.words.resize(n);
  for (std::size_t k = 0; k < n; ++k) separated.words[pool.row(k)] = k < n / 2 ? 0b01101 : 0b10010;
  const LabelBatch mixed = test::random_labels(n, std::vector<std::size_t>(9, n / 2), 18);
  const std::vector pieces = {simd::LevelPieces{n / 2, {}, {}}};
  simd::LabelSplitter splitter;
  for (const LabelBatch& labels : {mixed, separated, mixed}) {
    std::vector<double> integrals(labels.count);
    splitter.set_labels(pool.view().order, test::words_of(labels), labels.count);
    splitter.integrate(pool.view().values, pieces, 2.0, integrals);
    for (unsigned b = 0; b < labels.count; ++b) {
      EXPECT_EQ(integrals[b], integral(split(pool, labels, b), pieces[0], 2.0)) << b;
    }
  }
}

}  // namespace
}  // namespace kqd
